//! One case: what its seed draws, the lives of its turn (an abandoned or failed stream can be requested again),
//! and the checks after each.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use turnwire::json::Value;
use turnwire::protocol::truefoundry::{Dialect, TrueFoundry};
use turnwire::turn::{Newest, Reconnect, TurnDriver, TurnInput, TurnMachine, TurnReader, TurnStatus};

use super::check;
use super::drive::{Clocks, Drive};
use super::facts::Facts;
use super::history::{History, INPUT, START};
use super::network::Network;
use super::page::{FRAME_LIMIT, Page, Uncut};
use super::profile::{Profile, Schedule};
use super::random::Random;
use super::script::Script;
use super::server::Server;
use super::wire::{ListNumbers, Numbering};

/// The data of a case that are counted.
#[derive(Debug)]
pub(crate) struct Summary {
    pub(crate) profile: Profile,
    pub(crate) numbers: (Numbering, ListNumbers),
    pub(crate) faults: BTreeMap<&'static str, u32>,
    /// How the case ended: with exactly the events of the stream, or with data from elsewhere.
    pub(crate) ending: &'static str,
    /// How the first life ended.
    pub(crate) first: String,
    /// If the turn was looked for: what was known before it, and the result.
    pub(crate) look: Option<String>,
    pub(crate) events: u64,
    pub(crate) requests: u32,
}

/// How often a turn is requested at most.
const LIVES: u32 = 6;

/// Plays the case of a seed. If a check fails, prints everything that happened.
pub(crate) fn play(seed: u64) -> Option<Summary> {
    let mut case = Case::draw(seed);
    let played = catch_unwind(AssertUnwindSafe(|| case.play()));
    if played.is_err() {
        let Server { script, hole, numbering, list_numbers, .. } = &case.drive.network.server;
        eprintln!("\nseed {seed}, {:?}: {} events, lost {hole:?}", case.profile, script.log.len());
        eprintln!("numbers in {numbering:?}, in lists {list_numbers:?}");
        eprintln!("{:?}", case.drive.network.server.history);
        eprintln!("{}", case.drive.facts.record.trace.join("\n"));
        eprintln!("{:?}", case.drive.driver.reader());
        eprintln!("again: TURNWIRE_MODEL_SEED={seed} TURNWIRE_MODEL_CASES=1");
    }
    played.ok()
}

struct Case {
    profile: Profile,
    drive: Drive,
    /// The state of a page without faults.
    uncut: Uncut,
    random: Random,
}

impl Case {
    fn draw(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let profile = Profile::of(seed);
        let (script, uncut) = Script::draw(&mut random);
        let history = History::draw(&mut random);
        let driver = driver(&history);
        let mut server = Server::new(script, history, &mut random);
        if profile == Profile::Expire || profile == Profile::Abort && random.percent(30) {
            server.expires_after = Some(u32::try_from(random.below(4)).expect("small"));
        }
        if profile == Profile::Hole {
            let first = random.between(1, server.script.last());
            server.hole = Some((first, first + random.between(1, 6)));
            server.hole_until = random.pick(&[2, 3, u32::MAX]);
        }
        // A client that waits only for a short time needs a server that is never silent for longer.
        let (idle, heartbeat) = random.pick(&[
            (10_000, Some(5000)),
            (60_000, None),
            (60_000, Some(15_000)),
            (60_000, Some(50_000)),
        ]);
        let mut network = Network::new(server, heartbeat, &mut random);
        network.may_lose = matches!(profile, Profile::Hole | Profile::Endless | Profile::Off);
        let drive = Drive {
            driver,
            page: Page::default(),
            network,
            facts: Facts::default(),
            schedule: Schedule::draw(profile, &mut random),
            clocks: Clocks { connect: 30_000, idle },
            reconnect: profile.reconnect(&mut random),
            now: START,
            abort_at: None,
            leaves_list: false,
            random: random.fork(),
        };
        Self { profile, drive, uncut, random }
    }

    fn play(&mut self) -> Summary {
        let mut first = None;
        for life in 0..LIVES {
            self.prepare(life);
            let ended = self.live(life);
            first.get_or_insert_with(|| check::words(&ended, self.status()));
            check::life(&self.drive, &self.uncut, self.profile, life, &ended);
            if self.status().is_terminal() {
                break;
            }
        }
        let look = self.drive.facts.search.has_looked.then(|| self.look());
        let ending = check::end(&mut self.drive, &mut self.uncut);
        let server = &self.drive.network.server;
        Summary {
            look,
            profile: self.profile,
            numbers: (server.numbering, server.list_numbers),
            faults: std::mem::take(&mut self.drive.facts.record.faults),
            ending,
            first: first.expect("there was a life"),
            events: self.drive.page.events.len() as u64,
            requests: self.drive.facts.record.requests,
        }
    }

    /// What was known before a turn that was looked for, and the result.
    fn look(&self) -> String {
        let knowledge = self.drive.network.server.history.knowledge;
        let newest = match self.drive.driver.newest() {
            Newest::Unknown => "unknown",
            Newest::None => "none",
            Newest::Turn(_) => "known",
        };
        let status = if self.status().is_terminal() { "it has ended" } else { self.status().as_str() };
        format!("{knowledge:?}, newest {newest}: {status}")
    }

    fn status(&self) -> TurnStatus {
        self.drive.driver.reader().machine().status()
    }

    /// Prepares the faults of the next life. The last one has none.
    fn prepare(&mut self, life: u32) {
        let drive = &mut self.drive;
        drive.abort_at = None;
        drive.leaves_list = false;
        if life > 0 {
            // A proxy reported that.
            if self.profile == Profile::Abort && self.random.percent(50) {
                drive.network.server.expires_after = None;
            }
            let repeats =
                matches!(self.profile, Profile::Recover | Profile::Expire | Profile::Abort | Profile::Off);
            if repeats && life < LIVES - 2 && self.random.percent(50) {
                drive.schedule = Schedule::draw(self.profile, &mut self.random);
            } else {
                drive.schedule = Schedule::clean();
                drive.reconnect = Reconnect::default();
            }
            drive.now += self.random.pick(&[0, 10, 100_000]);
        }
        let is_left = match self.profile {
            Profile::Abort => life < 2,
            Profile::Unnumbered => life == 0 && self.random.percent(50),
            _ => false,
        };
        if is_left && self.random.percent(30) {
            drive.leaves_list = true;
        } else if is_left {
            let most = self.random.pick(&[200, 5000, 200_000]);
            drive.abort_at = Some(drive.now + self.random.between(1, most));
        }
    }

    /// Requests the turn, and drives it to the end of this life.
    fn live(&mut self, life: u32) -> Result<(), turnwire::Error> {
        let drive = &mut self.drive;
        let trace = drive.network.server.history.trace(drive.now);
        let reconnect = drive.reconnect;
        let machine = drive.driver.reader().machine();
        let is_lost = machine.id().is_none() && machine.status() == TurnStatus::Incomplete;
        drive.facts.search.is_only_look = is_lost && self.random.percent(30);
        let before = if drive.facts.search.is_only_look {
            Some(drive.driver.look(reconnect).expect("its state is unknown"))
        } else if life == 0 && self.random.percent(20) {
            Some(drive.driver.start(reconnect, trace.clone()).expect("it is new"))
        } else {
            None
        };
        if let Some(step) = before {
            let ended = drive.run(step);
            let machine = drive.driver.reader().machine();
            // A turn that had ended when it was found is not streamed.
            drive.facts.search.was_found_ended = machine.status().is_terminal();
            if ended.is_err() || machine.id().is_none() || machine.status().is_terminal() {
                return ended;
            }
        }
        let step = drive.driver.stream(None, reconnect, trace).expect("it has not ended");
        drive.run(step)
    }
}

fn driver(history: &History) -> TurnDriver {
    let protocol = TrueFoundry::new(Dialect::Gateway);
    let mut reader = TurnReader::new(&protocol, TurnMachine::unstarted(), FRAME_LIMIT);
    reader.set_wants_events(true);
    let mut driver = TurnDriver::new(reader, "s", &history.previous_turn_id);
    driver.set_input(TurnInput::read(Value::from(INPUT), &driver.reader().capabilities()).expect("an input"));
    driver
}
