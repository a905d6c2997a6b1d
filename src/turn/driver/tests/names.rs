//! The names of states, for the table of transitions.

use crate::turn::driver::TurnDriver;
use crate::turn::driver::states::State;

/// Each state: its name, its requests, and its purpose.
pub(super) const STATES: [(&str, &str, &str); 16] = [
    ("Ended", "–", "Nothing is being done: before the first run, and after each."),
    ("ReadingNewest", "`ListNewestTurns`", "Which turn is the session's newest is read before the start."),
    (
        "Answering",
        "`GetTurn`, `ListTurnFrames` or `ListTurnEvents`, `AnswerTurn`",
        "A paused turn is read, and its calls are answered one by one.",
    ),
    ("Starting", "`CreateTurnStream` or `CreateTurn`", "The turn is started, with its stream or without."),
    ("Locating", "`ListTurns` or `GetTurn`", "A start got no answer: its turn is looked for."),
    ("Streaming", "`SubscribeTurn`", "The stream of a turn that has begun is read."),
    ("Replaying", "`ListTurnFrames`", "The server's record of the stream is read, frame by frame."),
    (
        "Checking",
        "`GetTurn`",
        "The stream brought nothing or has expired once: the turn's record tells more.",
    ),
    ("Polling", "`GetTurn`", "There is no stream to go back to: the turn's end is waited for."),
    ("LastResort", "`GetTurn`", "All attempts have failed: the turn is read once."),
    ("Abandoned", "`GetTurn`", "The turn stops without a reader: it is read a few times."),
    (
        "Watching",
        "`GetTurn`",
        "Only the session's transcript tells of the turn: it is read until it has all of it.",
    ),
    ("ReadingSession", "`GetSession`", "The turn has paused, and only its session says what it waits for."),
    ("Listing", "`ListTurnEvents`", "The turn has ended: the events that no stream brought are listed."),
    ("Explaining", "`ListSessionEvents`", "A call that waits was made in an earlier turn: it is looked for."),
    ("BackingOff", "–", "A wait before what another state asks for."),
];

impl State {
    fn number(&self) -> usize {
        match self {
            Self::Ended(_) => 0,
            Self::ReadingNewest(_) => 1,
            Self::Answering(_) => 2,
            Self::Starting => 3,
            Self::Locating(_) => 4,
            Self::Streaming => 5,
            Self::Replaying(_) => 6,
            Self::Checking(_) => 7,
            Self::Polling(_) => 8,
            Self::LastResort(..) => 9,
            Self::Abandoned(_) => 10,
            Self::Watching(_) => 11,
            Self::ReadingSession(_) => 12,
            Self::Listing(_) => 13,
            Self::Explaining(_) => 14,
        }
    }

    fn name(&self) -> String {
        let name = STATES[self.number()].0;
        match self {
            Self::Ended(Some(_)) => format!("{name} (the start may have arrived)"),
            _ => name.to_owned(),
        }
    }
}

impl TurnDriver {
    /// The name of the state.
    pub(super) fn state(&self) -> String {
        let name = self.state.name();
        if self.is_backing_off && !name.starts_with("Ended") {
            format!("BackingOff → {name}")
        } else {
            name
        }
    }
}
