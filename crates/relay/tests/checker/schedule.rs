//! A schedule of one relay: turns, their tabs, and faults, all by a seed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use reqwest::Client;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use turnwire_relay::log::{ReplayLog, SqliteLog, TurnKey};

use crate::history::{History, Kept};
use crate::laws::{Loss, Violation, judge};
use crate::process::{Relay, Scratch};
use crate::proxy::Proxy;
use crate::random::Random;
use crate::tab::{Page, Tabs};
use crate::upstream::{self, ENDINGS, Ending, Protocol, Script};

/// How long tabs may take to receive the end before the schedule fails. The laws allow less.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A fault of processes or connections. Each has ended before the next one begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// Crashes, and is started again.
    Kill,
    /// Is shut down, and started again.
    Terminate,
    /// Is suspended for a while.
    Pause,
    /// The tabs' connections are reset.
    CutTabs,
    /// The tabs' connections stay open, but silent.
    FreezeTabs,
    /// The same for the agent's connections.
    CutAgent,
    FreezeAgent,
    /// The agent refuses connections for a while.
    RefuseAgent,
    /// Nothing can be written to the disk for a while.
    FullDisk,
    /// A user stops a turn.
    Stop,
    /// A turn is started again with another message.
    Conflict,
}

const FAULTS: [Fault; 11] = [
    Fault::Kill,
    Fault::FullDisk,
    Fault::Terminate,
    Fault::CutTabs,
    Fault::CutAgent,
    Fault::Pause,
    Fault::RefuseAgent,
    Fault::FreezeTabs,
    Fault::FreezeAgent,
    Fault::Stop,
    Fault::Conflict,
];

/// Everything in a schedule.
struct World {
    random: Random,
    history: Arc<History>,
    relay: Relay,
    /// Between tabs and relay, and between relay and agent.
    near: Proxy,
    far: Proxy,
    tabs: Tabs,
    scripts: Vec<Script>,
}

/// Plays the schedule of this seed, and returns the laws that did not hold, and the relay's output.
pub(crate) async fn play(seed: u64, mutant: Option<&str>) -> (Vec<Violation>, String) {
    let mut random = Random::new(seed);
    let scratch = Scratch::new("one", seed, mutant);
    let history = Arc::new(History::default());
    let far = Proxy::start(upstream::start(history.clone()).await).await;
    let durability = random.of(&["process", "disk"]);
    let log = format!("store = \"sqlite:{}\"\ndurability = \"{durability}\"", scratch.log().display());
    let mut relay = Relay::new(&scratch, "relay", far.address, &log, mutant);
    let near = Proxy::start(relay.start().await).await;
    // Each request uses a new connection: a cut then affects one tab.
    let client = Client::builder().no_proxy().pool_max_idle_per_host(0).build().expect("a client");
    let scripts = scripts(&mut random, seed);
    let tabs = Tabs { history: history.clone(), client, relay: near.address, patient: 0 };
    let mut world = World { random, history, relay, near, far, tabs, scripts };

    let turns: Vec<_> = world
        .scripts
        .clone()
        .into_iter()
        .map(|script| begin(&mut world.random, &world.tabs, script))
        .collect();
    let count = world.random.within(2..5);
    for number in 0..count {
        let pause = world.random.millis(50..700);
        sleep(pause).await;
        let fault = if number == 0 {
            FAULTS[usize::try_from(seed).unwrap_or_default() % FAULTS.len()]
        } else {
            world.random.of(&FAULTS)
        };
        world.fault(fault).await;
    }
    // Until then, tabs connect for the first time.
    sleep(LAST_TAB).await;
    let quiet = Instant::now();
    let _ = timeout(PATIENCE, join_all(turns)).await;
    world.read_again().await;
    world.relay.terminate().await;
    world.read_log(&scratch).await;
    world.history.trace(world.relay.acknowledged());
    let violations = judge(&world.history.turns(), quiet, Loss::default());
    (violations, world.relay.said())
}

/// Tabs come within this time.
pub(crate) const LAST_TAB: Duration = Duration::from_millis(1200);

/// Some of the turns end well.
pub(crate) fn scripts(random: &mut Random, seed: u64) -> Vec<Script> {
    let count = random.within(4..9);
    let script = |number: u64| {
        let first = ENDINGS[usize::try_from(seed).unwrap_or_default() % ENDINGS.len()];
        let ending = match number {
            0 => first,
            _ if random.percent(50) => Ending::Done,
            _ => random.of(&ENDINGS),
        };
        Script { protocol: random.of(&[Protocol::Aap, Protocol::Tirea]), ending, seed: seed * 100 + number }
    };
    let mut scripts: Vec<_> = (0..count).map(script).collect();
    let ending = random.of(&[Ending::Done, Ending::Eof, Ending::Reset, Ending::Closed, Ending::Stall]);
    scripts.push(Script { protocol: Protocol::TrueFoundry, ending, seed: seed * 100 + count });
    scripts
}

/// Begins a turn with its tabs: all at once, or one after the other.
pub(crate) fn begin(random: &mut Random, tabs: &Tabs, script: Script) -> JoinHandle<()> {
    let count = random.of(&[1, 1, 2, 5]);
    let (are_starts, are_together) = (random.percent(60), random.percent(50));
    tabs.history.with(&script.id(), |turn| turn.is_shared = are_starts && count > 1);
    let first = random.millis(0..1000);
    let pages: Vec<_> = (0..count)
        .map(|number| {
            let later = if are_together { Duration::ZERO } else { random.millis(0..200) };
            let page = tabs.page(random, script, number == 0 || are_starts);
            let wait = if number == 0 { first } else { first + later };
            async move {
                sleep(wait).await;
                page.read().await;
            }
        })
        .collect();
    tokio::spawn(async move {
        join_all(pages).await;
    })
}

impl World {
    fn page(&mut self, script: Script, starts: bool) -> Page {
        self.tabs.page(&mut self.random, script, starts)
    }

    async fn fault(&mut self, fault: Fault) {
        let a_while = self.random.millis(100..1500);
        match fault {
            Fault::Kill => {
                self.relay.kill();
                self.start_again().await;
            }
            Fault::Terminate => {
                self.relay.terminate().await;
                self.start_again().await;
            }
            Fault::Pause => {
                self.relay.pause();
                sleep(a_while * 2).await;
                self.relay.go_on();
            }
            Fault::CutTabs => self.near.cut(),
            Fault::FreezeTabs => self.near.freeze(),
            Fault::CutAgent => self.far.cut(),
            Fault::FreezeAgent => self.far.freeze(),
            Fault::RefuseAgent => {
                self.far.refuse();
                sleep(a_while).await;
                self.far.welcome().await;
            }
            Fault::FullDisk => {
                self.relay.fill_disk(true);
                sleep(a_while).await;
                self.relay.fill_disk(false);
            }
            Fault::Stop => {
                let script = self.random.of(&self.scripts);
                self.page(script, false).stop().await;
            }
            Fault::Conflict => self.conflict().await,
        }
    }

    async fn start_again(&mut self) {
        let pause = self.random.millis(0..300);
        sleep(pause).await;
        let address = self.relay.start().await;
        self.near.aim(vec![address]);
    }

    /// Only for a turn that has begun: otherwise the other message may be the first.
    async fn conflict(&mut self) {
        let script = self.random.of(&self.scripts);
        let has_begun =
            self.history.with(&script.id(), |turn| turn.tabs.iter().any(|tab| !tab.connections.is_empty()));
        if has_begun && let Some(surprise) = self.page(script, false).conflict().await {
            self.surprise(script, &surprise);
        }
    }

    fn surprise(&self, script: Script, surprise: &str) {
        self.history.with(&script.id(), |turn| {
            turn.tabs.iter_mut().take(1).for_each(|tab| tab.surprises.push(surprise.to_owned()));
        });
    }

    /// At the end, each turn is read from its beginning, and its start is repeated.
    async fn read_again(&mut self) {
        for script in self.scripts.clone() {
            let page = self.page(script, false);
            let _ = timeout(PATIENCE, page.read()).await;
            if let Some(surprise) = self.page(script, true).start_again().await {
                self.surprise(script, &surprise);
            }
        }
    }

    async fn read_log(&self, scratch: &Scratch) {
        let log = SqliteLog::beside(&scratch.log()).expect("the log");
        read_log(&log, &self.history, &self.scripts).await;
    }
}

/// What the log has of each turn, read without a relay.
pub(crate) async fn read_log(log: &dyn ReplayLog, history: &History, scripts: &[Script]) {
    for script in scripts {
        let upstream = format!("{:?}", script.protocol).to_lowercase();
        let key = TurnKey { upstream, subject: "local".to_owned(), turn: script.id() };
        let Ok(head) = log.head(key.clone()).await else { continue };
        let frames = log.read(key, 0, usize::MAX).await.expect("frames");
        let frames = frames.iter().map(|frame| String::from_utf8_lossy(frame).into_owned()).collect();
        history.with(&script.id(), |turn| turn.kept = Some(Kept { head, frames }));
    }
}
