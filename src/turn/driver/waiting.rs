//! Waiting for a server that can be reached, and has not said the rest yet. That is no failure, and uses up no tries.

use super::{Call, Step, TurnDriver};
#[cfg(feature = "aap")]
use super::{Error, ErrorCode, StreamEnd};

/// The first wait, in milliseconds.
const FIRST_WAIT: u32 = 500;
/// How often it doubles: to 2 seconds, between two looks from then on.
const DOUBLINGS: u32 = 2;
/// Looks in a row, over 10 minutes, at a history that stays the same, before its turn is given up. Servers may store
/// a turn when it has ended, and a tool may run for minutes.
#[cfg(feature = "aap")]
const MOST_UNCHANGED: u32 = 300;

/// A wait for what the server has not said yet. It uses up no tries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Waiting {
    /// How long until the server is asked again, in milliseconds.
    pub delay: f64,
    /// What is waited for.
    pub awaited: Awaited,
}

/// What a server that can be reached has not said yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// The turn's end: the server says that it runs, or has just taken answers, and has no stream of it.
    Turn,
    /// The turn's answer in what the server keeps of the session. Nothing tells whether the server still works on it.
    History,
    /// The rest of the list of the turn's events: it has ended.
    Events,
}

impl Awaited {
    /// The word for JavaScript.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::History => "history",
            Self::Events => "events",
        }
    }
}

impl TurnDriver {
    /// Waits for a server that is there, and asks it once more: soon at first, then at a steady pace.
    pub(super) fn wait(&mut self, call: Call, awaited: Awaited) -> Step {
        self.call = call;
        self.is_waiting = true;
        self.attempts = 0;
        let delay = f64::from(FIRST_WAIT << self.waits.min(DOUBLINGS));
        self.waits += 1;
        Step::Wait(Waiting { delay, awaited })
    }

    /// The history does not have the whole of the turn. Nothing tells whether the server goes on with it: one that
    /// stores a turn when it has ended shows nothing before, and one that has lost it shows nothing ever. So it is
    /// waited for as long as more comes, and for some time after that.
    #[cfg(feature = "aap")]
    pub(super) fn not_yet(&mut self, told: usize) -> Step {
        if std::mem::replace(&mut self.told, told) != told {
            self.waits = self.waits.min(DOUBLINGS);
        }
        if self.waits < MOST_UNCHANGED {
            return self.wait(Call::GetTurn, Awaited::History);
        }
        let problem = "the session's history does not have the whole answer, and has not changed for 10 minutes; \
                       what came is kept, and `stream()` looks again";
        let error = Error::new(ErrorCode::Incomplete, problem);
        let is_over = self.reader.machine().status().is_terminal();
        if is_over { self.give_up(error) } else { self.end(StreamEnd::Lost(error)) }
    }
}
