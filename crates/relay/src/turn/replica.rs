//! The owner with a failing log, which answers late or not at all, and loses data. If the agent can be asked again, the
//! owner need not have in memory what the log has lost.

use proptest::prelude::*;

use super::{Command, End, Event, Owner, Refusal};

/// How many frames the owner keeps in memory of a turn whose agent can be asked again.
const MEMORY: u64 = 3;

/// An event of the log or of the turn.
#[derive(Debug, Clone, Copy)]
enum Happening {
    /// This many frames arrive from the agent.
    Frames(u64),
    /// The append in flight is done, and acknowledged.
    Done,
    /// It is done, and its response is lost.
    DoneUnheard,
    /// It is lost.
    Lost,
    /// The log loses this many of its last frames.
    Shorter(usize),
    /// The owner asks the log for its last frame.
    Beat,
}

fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    let happening = prop_oneof![
        4 => (1..4_u64).prop_map(Happening::Frames),
        4 => Just(Happening::Done),
        2 => Just(Happening::DoneUnheard),
        2 => Just(Happening::Lost),
        2 => (0..5_usize).prop_map(Happening::Shorter),
        2 => Just(Happening::Beat),
    ];
    prop::collection::vec(happening, 0..60)
}

/// A plain list for the log, and lists for what the owner's driver keeps.
#[derive(Default)]
struct World {
    owner: Owner,
    can_be_asked: bool,
    /// The last frame that has arrived from the agent.
    sent: u64,
    /// The last frame that the log has acknowledged.
    delivered: u64,
    log: Vec<u64>,
    end: Option<End>,
    held: Vec<u64>,
    in_flight: Vec<u64>,
    shown: Vec<u64>,
    told: Option<End>,
    /// The append in flight: its offset, its frames, and the end.
    asked: Option<(u64, Vec<u64>, Option<End>)>,
    waits: bool,
}

impl World {
    fn tail(&self) -> u64 {
        self.log.len() as u64
    }

    fn on(&mut self, event: Event) {
        for command in self.owner.on(event) {
            match command {
                Command::Append { at, count, end } => {
                    assert!(self.asked.is_none(), "one at a time");
                    self.in_flight = self.held.drain(..usize::try_from(count).expect("few")).collect();
                    self.asked = Some((at, self.in_flight.clone(), end));
                }
                Command::Repeat { at, .. } if self.can_be_asked && at + MEMORY <= self.delivered => {
                    self.on(Event::Forgotten(at - 1));
                }
                Command::Repeat { at, count, end } => {
                    assert!(self.asked.is_none(), "one at a time");
                    let delivered = usize::try_from(self.delivered).expect("few");
                    let all: Vec<u64> =
                        self.shown[..delivered].iter().chain(&self.in_flight).copied().collect();
                    let from = usize::try_from(at - 1).expect("few");
                    assert_eq!((all.len() - from) as u64, count);
                    self.asked = Some((at, all[from..].to_vec(), end));
                }
                Command::Wait => self.waits = true,
                Command::Deliver { last, end } => {
                    // Repeated frames must equal the first ones.
                    let known = self.shown.len() as u64;
                    self.shown.extend(self.in_flight.drain(..).filter(|&frame| frame > known));
                    assert!(self.shown.len() as u64 >= last);
                    self.delivered = last;
                    self.told = end;
                }
                Command::Discard => {
                    self.held.clear();
                    self.in_flight.clear();
                }
                Command::Ask { after, .. } => {
                    self.sent = after;
                    self.delivered = self.delivered.min(after);
                    self.on(Event::Answered);
                }
                Command::HangUp => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// The append reaches the log. Returns the log's response.
    fn append(&mut self) -> Event {
        let (at, frames, end) = self.asked.take().expect("an append");
        if self.end.is_some() {
            // As it answers a repeated end.
            return if self.end == end && self.tail() + 1 == at + frames.len() as u64 {
                Event::Appended
            } else {
                Event::Fenced
            };
        }
        if at != self.tail() + 1 {
            return Event::Tail(self.tail());
        }
        self.log.extend(frames);
        self.end = end;
        Event::Appended
    }

    /// This many frames arrive, and possibly the turn's last one after them.
    fn comes(&mut self, count: u64, is_last: bool) {
        if self.owner.is_reading() {
            let count = count + u64::from(is_last);
            self.held.extend(self.sent + 1..=self.sent + count);
            self.sent += count;
            self.on(Event::Frames { count, bytes: count, is_last, may_be_last: !self.can_be_asked });
        }
    }

    fn happens(&mut self, happening: Happening) {
        match happening {
            Happening::Frames(count) => {
                self.comes(count, false);
            }
            Happening::Done | Happening::DoneUnheard | Happening::Lost if self.asked.is_none() => {
                if std::mem::take(&mut self.waits) {
                    self.on(Event::Again);
                }
            }
            Happening::Done => {
                let answer = self.append();
                self.on(answer);
            }
            Happening::DoneUnheard => {
                self.append();
                self.on(Event::NotAppended(Refusal::Away));
            }
            Happening::Lost => {
                self.asked = None;
                self.on(Event::NotAppended(Refusal::Away));
            }
            Happening::Shorter(count) => {
                self.log.truncate(self.log.len().saturating_sub(count));
                // An end is lost together with the frames before it.
                self.end = self.end.filter(|_| count == 0);
            }
            Happening::Beat => {
                // A log that has the end returns that instead.
                if self.asked.is_none() && !self.waits && self.end.is_none() {
                    self.on(Event::Tail(self.tail()));
                }
            }
        }
    }
}

proptest! {
    /// Whatever happens, even after the end, the log finally has the complete turn, and readers have seen nothing else.
    #[test]
    fn the_owner_repairs_its_log(
        before in happenings(),
        after in happenings(),
        can_be_asked in any::<bool>(),
    ) {
        let mut world = World { can_be_asked, ..World::default() };
        world.on(Event::Answered);
        if can_be_asked {
            world.on(Event::Named);
        }
        let mut most = 0;
        for happening in before {
            world.happens(happening);
            most = most.max(world.sent);
            let all: Vec<u64> = (1..=world.shown.len() as u64).collect();
            assert_eq!(world.shown, all);
        }
        if !can_be_asked {
            world.on(Event::Ended);
        }
        for _ in 0..100 {
            if !world.owner.is_over() {
                if can_be_asked {
                    let rest = most - world.sent.min(most);
                    world.comes(rest, true);
                }
                world.happens(Happening::Done);
            }
        }
        let all: Vec<u64> = (1..=world.sent).collect();
        assert_eq!((&world.log, &world.shown), (&all, &all));
        assert!(world.owner.is_over() && world.told.is_some() && world.told == world.end);
        for happening in after.into_iter().chain([Happening::Done, Happening::Beat, Happening::Done]) {
            world.happens(happening);
        }
        assert_eq!(world.shown, all);
        if world.owner.is_replica() {
            assert_eq!((&world.log, world.told), (&all, world.end));
        } else {
            // The turn's next owner asks the agent for what this one does not have in memory.
            assert!(can_be_asked);
        }
    }
}
