//! The owner of a turn reads it from the agent and writes it to the log.
//!
//! Its one rule: frames are delivered after the log has acknowledged them. At most one append is in flight. Frames that
//! arrive meanwhile form the next one, so a slow log gets fewer and larger appends. Until some time after the turn's
//! end, the owner is the log's replica: it appends again what the log has lost of the turn. An agent that keeps its
//! turns is asked for what a broken connection has not delivered, and for what neither log nor memory has.

use std::mem;

use super::{CutReason, End, UpstreamState};
use crate::mutant::mutant;

/// How many bytes the owner holds for its next append. At the limit it stops reading, and the agent has to wait.
const HELD: usize = 1 << 20;

/// How often an agent is asked for the rest of a turn without a new frame.
const TRIES: u32 = 6;

/// The limits of a turn.
const ENTRIES: u64 = 200_000;
const BYTES: u64 = 64 << 20;

/// An event in the life of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The agent answers with a stream.
    Answered,
    /// The agent can be asked for the rest of the turn from now on.
    Named,
    /// Frames arrived.
    Frames {
        /// How many.
        count: u64,
        /// Their size in bytes.
        bytes: u64,
        /// Whether the turn has ended with the last one.
        is_last: bool,
        /// Whether the turn has ended with the last one if the stream ends after it.
        may_be_last: bool,
    },
    /// The response has ended in good order.
    Ended,
    /// The connection broke, a frame was too large, or a time limit has passed.
    Cut(CutReason),
    /// The agent refused the start. Its response has arrived as one entry.
    Refused(u16),
    /// The user stops the turn.
    Stopped,
    /// The log has acknowledged the append.
    Appended,
    /// The log has refused the append.
    NotAppended(Refusal),
    /// Another owner has taken the turn, or it is closed.
    Fenced,
    /// The turn was removed from the log on purpose.
    Removed,
    /// The last frame in the log, which it returns instead of accepting an append, or to a beat.
    Tail(u64),
    /// The log may answer again.
    Again,
    /// The log has lost what follows this frame, and not all of it is in memory.
    Forgotten(u64),
    /// The process is shutting down, and another one may continue the turn.
    Left,
}

/// Why the log refuses an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// There is no room.
    Full,
    /// The result of the append is unknown, and the log may answer later.
    Away,
    /// It failed, or has lost more than is still in memory here.
    Lost,
}

/// What the owner's driver has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Append this many of the held frames, the first of them at `at`, and this end.
    Append {
        /// The offset of the first frame.
        at: u64,
        /// How many.
        count: u64,
        /// The turn's end, if it comes with them.
        end: Option<End>,
    },
    /// Repeat these: the frames from `at` on that the log has lost, and those of the append in flight.
    Repeat {
        /// The offset of the first frame.
        at: u64,
        /// How many.
        count: u64,
        /// The turn's end, if it comes with them.
        end: Option<End>,
    },
    /// Send [`Event::Again`] after a pause.
    Wait,
    /// Discard all frames that the log has not acknowledged.
    Discard,
    /// Show readers the frames of the acknowledged append, and its end if it had one.
    Deliver {
        /// The offset of the last frame so far.
        last: u64,
        /// The turn's end.
        end: Option<End>,
    },
    /// Inform readers that the log is gone. Nothing more is appended.
    Abandon(End),
    /// Let readers read the log: the turn has another owner now.
    Leave,
    /// Ask the agent for what follows this frame.
    Ask {
        /// The frame.
        after: u64,
        /// How often it was asked since the last new frame.
        tried: u32,
    },
    /// End the connection to the agent.
    HangUp,
}

/// The state of an owned turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    phase: Phase,
    /// The offset of the next append.
    next: u64,
    /// Frames that are in no append yet, and their bytes.
    held: u64,
    held_bytes: u64,
    /// The frames of the append in flight.
    in_flight: Option<InFlight>,
    /// All bytes so far, of the frames up to `counted`.
    bytes: u64,
    /// The last frame whose bytes are counted.
    counted: u64,
    /// How often the agent may still be asked for the rest until a new frame arrives, if it can be asked at all.
    tries: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct InFlight {
    /// The offset of its last frame.
    last: u64,
    end: Option<End>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The start is in flight.
    Asking,
    /// Frames arrive. The last one so far may be the turn's last.
    Reading { may_be_last: bool },
    /// The agent was asked for the rest of the turn.
    AskingAgain,
    /// The end is known and not acknowledged.
    Ending(End),
    /// Readers know the end. The log may still lose it.
    Shown(End),
    /// Nothing more happens.
    Over,
}

impl Default for Owner {
    fn default() -> Self {
        Self {
            phase: Phase::Asking,
            next: 1,
            held: 0,
            held_bytes: 0,
            in_flight: None,
            bytes: 0,
            counted: 0,
            tries: None,
        }
    }
}

impl Owner {
    /// The next owner of a turn whose agent can be asked for the rest. The log has `last` frames with this many bytes.
    /// For the new owner, the connection to the agent has just broken.
    pub fn next_after(last: u64, bytes: u64) -> (Self, Vec<Command>) {
        let mut owner = Self {
            phase: Phase::Reading { may_be_last: false },
            next: last + 1,
            bytes,
            counted: last,
            tries: Some(TRIES),
            ..Self::default()
        };
        let commands = owner.on(Event::Cut(CutReason::UpstreamLost));
        (owner, commands)
    }

    /// Whether more of the agent's response may be read.
    pub fn is_reading(&self) -> bool {
        !matches!(self.phase, Phase::Ending(_) | Phase::Shown(_) | Phase::Over)
            && self.held_bytes < HELD as u64
    }

    /// Whether readers get nothing more.
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Shown(_) | Phase::Over)
    }

    /// Whether readers know the end, and this owner can append it again.
    pub fn is_replica(&self) -> bool {
        matches!(self.phase, Phase::Shown(_))
    }

    /// Handles an event and returns what to do, in this order.
    pub fn on(&mut self, event: Event) -> Vec<Command> {
        let mut commands = Vec::new();
        match (self.phase, event) {
            (Phase::Over, _) => {}
            (Phase::Shown(end), event) => self.shown(end, event, &mut commands),
            (_, Event::Appended) => self.acknowledged(&mut commands),
            (_, Event::NotAppended(refusal)) => self.refused(refusal, &mut commands),
            (_, Event::Fenced) => self.fenced(&mut commands),
            (_, Event::Removed) => {
                self.phase = Phase::Over;
                let end = cut(CutReason::LogLost, UpstreamState::Running);
                commands.extend([Command::HangUp, Command::Abandon(end)]);
            }
            (_, Event::Tail(last)) => self.settle(last, &mut commands),
            (_, Event::Again) => self.repeat(self.next, &mut commands),
            (_, Event::Forgotten(last)) => self.forgotten(last, &mut commands),
            (_, Event::Left) => {
                self.phase = Phase::Over;
                commands.extend([Command::HangUp, Command::Leave]);
            }
            // The end is known: later events of the agent's connection change nothing.
            (Phase::Ending(_), _) | (Phase::Reading { .. }, Event::Answered) => {}
            (Phase::Asking | Phase::AskingAgain, Event::Answered) => {
                self.phase = Phase::Reading { may_be_last: false };
            }
            (_, Event::Named) => self.tries = Some(TRIES),
            (_, Event::Frames { count, bytes, is_last, may_be_last }) => {
                self.hold(count, bytes);
                self.tries = self.tries.map(|_| TRIES);
                if is_last {
                    // The agent may still clean up after its last frame: its connection ends by itself.
                    self.phase = Phase::Ending(End::Done);
                } else if self.next + self.held > ENTRIES || self.bytes > BYTES {
                    self.end(cut(CutReason::LogFull, UpstreamState::Running), &mut commands);
                } else {
                    self.phase = Phase::Reading { may_be_last };
                }
            }
            (Phase::Reading { may_be_last }, Event::Ended) if may_be_last || mutant!("any_end_is_done") => {
                self.phase = Phase::Ending(End::Done);
            }
            // A silent connection may be broken.
            (_, Event::Ended | Event::Cut(CutReason::UpstreamLost | CutReason::Silent))
                if self.tries.is_some() && !mutant!("not_asked_again") =>
            {
                self.ask(self.received(), &mut commands);
            }
            (_, Event::Ended) => self.phase = Phase::Ending(End::Eof),
            (Phase::Asking, Event::Cut(reason)) => {
                self.end(cut(reason, UpstreamState::Unknown), &mut commands);
            }
            (_, Event::Cut(reason)) => {
                let upstream = if reason == CutReason::UpstreamLost {
                    UpstreamState::Gone
                } else {
                    UpstreamState::Running
                };
                self.end(cut(reason, upstream), &mut commands);
            }
            (_, Event::Refused(status)) => self.end(End::Refused { status }, &mut commands),
            (_, Event::Stopped) => self.end(End::Stopped, &mut commands),
        }
        self.append(&mut commands);
        commands
    }

    fn hold(&mut self, count: u64, bytes: u64) {
        self.held += count;
        self.held_bytes += bytes;
        // Frames that the log has lost arrive again, and are counted once.
        let received = self.received();
        if received > self.counted {
            self.counted = received;
            self.bytes += bytes;
        }
    }

    /// The last frame that has arrived.
    fn received(&self) -> u64 {
        self.in_flight.map_or(self.next - 1, |in_flight| in_flight.last) + self.held
    }

    /// Asks the agent for what follows a frame, unless that was tried too often.
    fn ask(&mut self, after: u64, commands: &mut Vec<Command>) {
        let left = self.tries.unwrap_or(0);
        let Some(next) = left.checked_sub(1) else {
            return self.end(cut(CutReason::UpstreamLost, UpstreamState::Gone), commands);
        };
        self.tries = Some(next);
        self.phase = Phase::AskingAgain;
        commands.extend([Command::HangUp, Command::Ask { after, tried: TRIES - left }]);
    }

    /// Only the agent still has the frames that the log has lost. All later frames arrive again, too.
    fn forgotten(&mut self, last: u64, commands: &mut Vec<Command>) {
        if self.tries.is_none() || matches!(self.phase, Phase::Ending(end) if end != End::Done) {
            return self.refused(Refusal::Lost, commands);
        }
        self.next = last + 1;
        self.in_flight = None;
        self.held = 0;
        self.held_bytes = 0;
        commands.push(Command::Discard);
        self.ask(last, commands);
    }

    fn end(&mut self, end: End, commands: &mut Vec<Command>) {
        self.phase = Phase::Ending(end);
        commands.push(Command::HangUp);
    }

    /// Appends the held frames, unless an append is in flight.
    fn append(&mut self, commands: &mut Vec<Command>) {
        let end = match self.phase {
            Phase::Ending(end) => Some(end),
            Phase::Shown(_) | Phase::Over => return,
            Phase::Asking | Phase::Reading { .. } | Phase::AskingAgain => None,
        };
        if self.in_flight.is_some() || self.held == 0 && end.is_none() {
            return;
        }
        let count = mem::take(&mut self.held);
        self.held_bytes = 0;
        self.in_flight = Some(InFlight { last: self.next + count - 1, end });
        commands.push(Command::Append { at: self.next, count, end });
    }

    fn acknowledged(&mut self, commands: &mut Vec<Command>) {
        let Some(InFlight { last, end }) = self.in_flight.take() else { return };
        self.next = last + 1;
        if let Some(end) = end {
            self.phase = Phase::Shown(end);
        }
        commands.push(Command::Deliver { last, end });
    }

    /// Handles the log's responses after the end, when it is asked whether it still has the turn.
    fn shown(&mut self, end: End, event: Event, commands: &mut Vec<Command>) {
        match event {
            // It returns this only for a turn without an end.
            Event::Tail(last) => {
                self.in_flight = Some(InFlight { last: self.next - 1, end: Some(end) });
                self.repeat(last + 1, commands);
            }
            Event::Appended | Event::NotAppended(Refusal::Away) => self.in_flight = None,
            Event::NotAppended(Refusal::Full | Refusal::Lost)
            | Event::Forgotten(_)
            | Event::Fenced
            | Event::Removed => self.phase = Phase::Over,
            _ => {}
        }
    }

    /// The log ends with `last`. Only this owner appends to it, so it has the append in flight, or has lost something.
    fn settle(&mut self, last: u64, commands: &mut Vec<Command>) {
        match self.in_flight {
            Some(InFlight { last: wanted, end: None }) if last >= wanted => self.acknowledged(commands),
            None if last + 1 >= self.next => {}
            _ => self.repeat(last + 1, commands),
        }
    }

    fn repeat(&mut self, at: u64, commands: &mut Vec<Command>) {
        let InFlight { last, end } =
            *self.in_flight.get_or_insert(InFlight { last: self.next - 1, end: None });
        let count = (last + 1).saturating_sub(at);
        if count == 0 && end.is_none() {
            self.in_flight = None;
        } else {
            commands.push(Command::Repeat { at, count, end });
        }
    }

    fn fenced(&mut self, commands: &mut Vec<Command>) {
        self.phase = Phase::Over;
        commands.extend([Command::HangUp, Command::Leave]);
    }

    /// Without the log nothing can be shown: readers are informed that the rest is missing.
    fn refused(&mut self, refusal: Refusal, commands: &mut Vec<Command>) {
        let Some(InFlight { last, end }) = self.in_flight else { return };
        let (reason, is_last) = match refusal {
            Refusal::Away => return commands.push(Command::Wait),
            // There may be room for an end where there is none for frames.
            Refusal::Full => (CutReason::LogFull, end.is_some() && last < self.next),
            Refusal::Lost => (CutReason::LogLost, true),
        };
        self.in_flight = None;
        commands.push(Command::HangUp);
        if is_last {
            self.phase = Phase::Over;
            // A turn that can be continued is not over.
            commands.push(match self.tries {
                Some(_) => Command::Leave,
                None => Command::Abandon(cut(reason, UpstreamState::Running)),
            });
        } else {
            self.held = 0;
            self.held_bytes = 0;
            self.phase = Phase::Ending(FULL);
            commands.push(Command::Discard);
        }
    }
}

/// The end of a turn for whose frames the log has no room.
const FULL: End = End::Cut { reason: CutReason::LogFull, upstream: UpstreamState::Running };

fn cut(reason: CutReason, upstream: UpstreamState) -> End {
    End::Cut { reason, upstream }
}

#[cfg(test)]
mod tests {
    use super::Event::{Answered, Cut, Ended, Stopped};
    use super::*;
    use proptest::prelude::*;

    fn events() -> impl Strategy<Value = Vec<Event>> {
        let frames = (1..4u64, 0..400_000u64, prop::bool::weighted(0.05), any::<bool>()).prop_map(
            |(count, bytes, is_last, may_be_last)| Event::Frames { count, bytes, is_last, may_be_last },
        );
        let event = prop_oneof![
            8 => frames,
            8 => Just(Event::Appended),
            1 => Just(Event::Answered),
            1 => Just(Event::Named),
            1 => Just(Event::Ended),
            1 => Just(Event::Cut(CutReason::UpstreamLost)),
            1 => Just(Event::Refused(500)),
            1 => Just(Event::Stopped),
            1 => Just(Event::NotAppended(Refusal::Full)),
            1 => Just(Event::NotAppended(Refusal::Lost)),
        ];
        prop::collection::vec(event, 0..60)
    }

    proptest! {
        /// Compared with a plain model: lists of what was sent and what was appended, and how far readers may see.
        #[test]
        fn nothing_is_shown_before_the_log_has_it(events in events()) {
            let mut owner = Owner::default();
            let (mut sent, mut appended, mut shown) = (0_u64, 0_u64, 0_u64);
            let mut in_flight: Option<(u64, Option<End>)> = None;
            let mut end = None;
            for event in events {
                let was_reading = !matches!(owner.phase, Phase::Ending(_) | Phase::Over);
                if let Event::Frames { count, .. } = event && was_reading {
                    sent += count;
                }
                if matches!(event, Event::NotAppended(_)) && in_flight.is_some() {
                    in_flight = None;
                }
                for command in owner.on(event) {
                    match command {
                        Command::Append { at, count, end: its } => {
                            prop_assert!(in_flight.is_none(), "one append at a time");
                            prop_assert_eq!(at, appended + 1, "no place but the tail");
                            prop_assert!(appended + count <= sent, "nothing but what was sent");
                            prop_assert!(count > 0 || its.is_some());
                            if its.is_some() {
                                prop_assert_eq!(appended + count, sent, "the end comes after everything");
                            }
                            in_flight = Some((count, its));
                        }
                        Command::Deliver { last, end: its } => {
                            let (count, expected) = in_flight.take().expect("an append before");
                            appended += count;
                            prop_assert_eq!(last, appended);
                            prop_assert_eq!(its, expected);
                            prop_assert!(end.is_none());
                            shown = last;
                            end = its;
                        }
                        Command::Abandon(_) => {
                            prop_assert!(end.is_none() && in_flight.is_none());
                            end = Some(End::Eof);
                        }
                        Command::Discard => sent = appended,
                        Command::Ask { after, tried } => {
                            prop_assert_eq!(after, sent, "for what has not come");
                            prop_assert!(tried < TRIES);
                        }
                        Command::Leave => {
                            prop_assert!(owner.tries.is_some() && owner.is_over() && in_flight.is_none());
                            end = Some(End::Eof);
                        }
                        Command::HangUp => {}
                        other => prop_assert!(false, "{other:?}"),
                    }
                }
                prop_assert!(shown <= appended && appended <= sent);
                prop_assert_eq!(owner.is_over(), end.is_some());
            }
        }
    }

    #[test]
    fn a_turn_that_was_removed_is_cut_and_written_no_more() {
        let frames = Event::Frames { count: 1, bytes: 1, is_last: false, may_be_last: false };
        for events in [&[Answered][..], &[Answered, Event::Named, frames, frames]] {
            let mut owner = Owner::default();
            for &event in events {
                owner.on(event);
            }
            let told = Command::Abandon(cut(CutReason::LogLost, UpstreamState::Running));
            assert_eq!(owner.on(Event::Removed), [Command::HangUp, told]);
            assert!(owner.is_over() && !owner.is_replica());
            assert_eq!(owner.on(Event::Appended), []);
        }
    }

    #[test]
    fn frames_that_come_again_are_counted_once() {
        let frames = |mebibytes: u64| Event::Frames {
            count: 1,
            bytes: mebibytes << 20,
            is_last: false,
            may_be_last: false,
        };
        let mut owner = Owner::default();
        for event in [Answered, Event::Named, frames(40), Event::Appended] {
            owner.on(event);
        }
        assert_eq!(owner.on(Event::Forgotten(0)).last(), Some(&Command::Ask { after: 0, tried: 0 }));
        for event in [Answered, frames(40), Event::Appended, frames(24), Event::Appended] {
            assert!(!owner.on(event).contains(&Command::HangUp), "{event:?}");
        }
        assert!(owner.is_reading());
        assert!(owner.on(frames(1)).contains(&Command::HangUp), "the turn is too large");
    }

    #[test]
    fn done_is_only_what_the_agent_finished() {
        let frames = |is_last, may_be_last| Event::Frames { count: 1, bytes: 1, is_last, may_be_last };
        let end = |events: &[Event]| {
            let mut owner = Owner::default();
            let mut end = None;
            for &event in events {
                for command in owner.on(event) {
                    if let Command::Append { end: Some(its), .. } = command {
                        end = Some(its);
                    }
                }
                owner.on(Event::Appended).into_iter().for_each(|command| {
                    if let Command::Append { end: Some(its), .. } = command {
                        end = Some(its);
                    }
                });
            }
            end
        };
        assert_eq!(end(&[Answered, frames(true, false)]), Some(End::Done));
        assert_eq!(end(&[Answered, frames(false, true), Ended]), Some(End::Done));
        assert_eq!(end(&[Answered, frames(false, true), frames(false, false), Ended]), Some(End::Eof));
        assert_eq!(end(&[Answered, Stopped, frames(true, false)]), Some(End::Stopped));
        let gone = |upstream| Some(End::Cut { reason: CutReason::UpstreamLost, upstream });
        assert_eq!(
            end(&[Answered, frames(false, true), Cut(CutReason::UpstreamLost)]),
            gone(UpstreamState::Gone)
        );
        assert_eq!(end(&[Cut(CutReason::UpstreamLost)]), gone(UpstreamState::Unknown));
    }

    #[test]
    fn an_agent_that_keeps_its_turns_is_asked_again_a_few_times() {
        let asks = |commands: &[Command]| {
            commands.iter().find_map(|command| match command {
                Command::Ask { after, tried } => Some((*after, *tried)),
                _ => None,
            })
        };
        let (mut owner, commands) = Owner::next_after(7, 700);
        assert_eq!(asks(&commands), Some((7, 0)));
        let frame = |is_last| Event::Frames { count: 1, bytes: 1, is_last, may_be_last: false };
        owner.on(Answered);
        owner.on(frame(false));
        for tried in 0..TRIES {
            // A normal end without the turn's last frame also counts as a break.
            let event = if tried % 2 == 0 { Ended } else { Cut(CutReason::UpstreamLost) };
            assert_eq!(asks(&owner.on(event)), Some((8, tried)));
            owner.on(Answered);
        }
        let mut given_up = owner.clone();
        given_up.on(Ended);
        assert_eq!(given_up.phase, Phase::Ending(cut(CutReason::UpstreamLost, UpstreamState::Gone)));
        // A new frame resets the count.
        owner.on(frame(false));
        assert_eq!(asks(&owner.on(Ended)), Some((9, 0)));
        // What the agent itself no longer has is lost.
        let mut lost = owner.clone();
        lost.on(Cut(CutReason::LogLost));
        assert_eq!(lost.phase, Phase::Ending(cut(CutReason::LogLost, UpstreamState::Running)));
        owner.on(Answered);
        owner.on(frame(true));
        assert_eq!(owner.phase, Phase::Ending(End::Done));
        assert_eq!(asks(&owner.on(Ended)), None);
    }

    #[test]
    fn an_agent_waits_for_a_slow_log() {
        let mut owner = Owner::default();
        let large = Event::Frames { count: 1, bytes: HELD as u64, is_last: false, may_be_last: false };
        owner.on(Event::Answered);
        owner.on(large);
        assert!(owner.is_reading(), "it is on its way");
        owner.on(large);
        assert!(!owner.is_reading());
        owner.on(Event::Appended);
        assert!(owner.is_reading());
    }
}
