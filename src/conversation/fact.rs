//! Facts: what a person does, and what the server, the turns, other tabs and the storage report.

use super::{Key, WhenBusy};

/// A text that crosses unread: JSON without line breaks, as `JSON.stringify` writes it; or an id.
pub type Text = String;

/// What has happened. Facts of a turn that is gone change nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    // What a person does.
    /// Sends an input. `Taken::key` is the key of its turn, or of its place in the queue.
    Send {
        /// The input (JSON).
        input: Text,
        /// What happens while a turn runs; by default the plan's option.
        when_busy: Option<WhenBusy>,
        /// It throws away what waits for an answer.
        discard: bool,
    },
    /// Stops what runs, cancels it on the server, and holds the queue.
    Stop,
    /// Answers a call that waits; `None` takes the answer back while it is kept here.
    Answer {
        /// The turn that asks.
        turn: Key,
        /// The call.
        call: Text,
        /// The answer (JSON).
        answer: Option<Text>,
    },
    /// Goes on: after a sign-in, with tools that were halted, with answers that could not be sent.
    Proceed,
    /// Runs what failed again. What never arrived keeps its key. A turn whose end is unknown is read again.
    Retry {
        /// The turn.
        turn: Key,
        /// The input (JSON) of its question (see [`Plan::question_of`](super::Plan::question_of)), if the server has it.
        input: Text,
    },
    /// Asks a question again, for another answer: a sibling where the protocol can fork.
    Regenerate {
        /// The turn of the answer.
        turn: Key,
        /// The input (JSON) of its question (see [`Plan::question_of`](super::Plan::question_of)).
        input: Text,
    },
    /// Asks something else in place of a question.
    Edit {
        /// The turn of the question.
        turn: Key,
        /// The new input (JSON).
        input: Text,
    },
    /// Goes to the branch with this turn.
    Show {
        /// The turn.
        turn: Key,
    },
    /// Takes back what was not sent; the text is given back.
    Dismiss {
        /// The turn.
        turn: Key,
    },
    /// What is written and not sent yet (JSON).
    Draft {
        /// The draft; empty if there is none.
        text: Text,
    },
    /// Changes an input in the queue.
    EditQueued {
        /// The input's key.
        key: Key,
        /// The new input (JSON).
        input: Text,
    },
    /// Takes an input out of the queue; the text is given back.
    RemoveQueued {
        /// The input's key.
        key: Key,
    },
    /// Moves an input in the queue.
    MoveQueued {
        /// The input's key.
        key: Key,
        /// Its new place, from 0.
        to: u32,
    },
    /// Sends an input of the queue next, and stops for it what runs.
    SendNow {
        /// The input's key.
        key: Key,
    },
    /// Sends an input of the queue to the turn that runs.
    SteerQueued {
        /// The input's key.
        key: Key,
    },
    /// Holds all that waits in the queue, or lets it go.
    Hold {
        /// Whether it is held.
        on: bool,
    },
    /// The conversation is shown. The first time, it is loaded.
    Attach,
    /// The conversation is not shown any more. Cancels nothing.
    Detach,
    /// The page wants earlier turns.
    LoadEarlier,
    /// The server may have news from other tabs or people.
    CatchUp,

    // What the server reports.
    /// The session was created, or is that of the conversation that was opened.
    SessionReady,
    /// The session could not be created.
    SessionFailed,
    /// A page of the session's turns, as asked for by the last `Load`.
    Page(Page),
    /// The page could not be read.
    PageFailed,

    // What the turns report.
    /// The turn has begun, and has an id.
    Named {
        /// The turn.
        turn: Key,
        /// Its id. A turn that continues another one may have the same.
        id: Text,
        /// The id of the turn before it, if the server says so; empty for none.
        previous: Option<Text>,
    },
    /// What the turn does now.
    Active {
        /// The turn.
        turn: Key,
        /// What it does.
        activity: Activity,
    },
    /// The calls that wait now, while the turn runs: all of them.
    Waits {
        /// The turn.
        turn: Key,
        /// The calls.
        calls: Vec<Waiting>,
    },
    /// The turn has ended, and waits for these calls.
    Ended {
        /// The turn.
        turn: Key,
        /// How it ended.
        end: End,
        /// The calls.
        calls: Vec<Waiting>,
    },
    /// The turn has begun, and its end is unknown.
    Incomplete {
        /// The turn.
        turn: Key,
    },
    /// The server does not have the turn, and will not: it was refused, or not sent.
    Refused {
        /// The turn.
        turn: Key,
    },
    /// The start may have arrived.
    Lost {
        /// The turn.
        turn: Key,
    },
    /// The turn could not be cancelled.
    CancelFailed {
        /// The turn.
        turn: Key,
    },
    /// What came of an answer that was sent while the turn runs.
    Answered {
        /// The turn.
        turn: Key,
        /// The call.
        call: Text,
        /// What came of it.
        delivery: Delivery,
    },
    /// A tool of the page has ended: its result (JSON), or none if it was stopped.
    ToolEnded {
        /// The turn.
        turn: Key,
        /// The call.
        call: Text,
        /// The result (JSON).
        result: Option<Text>,
    },
    /// What came of a steered message.
    Steered {
        /// The message's key.
        key: Key,
        /// What came of it.
        delivery: Delivery,
    },
    /// The turn's own record has this steered message. To be told before the turn's end.
    Said {
        /// The turn.
        turn: Key,
        /// The message, as it was sent (JSON).
        input: Text,
    },

    // What other tabs and the storage report.
    /// What an earlier page has stored. To be told before all else.
    Restored {
        /// What the last `Store` had.
        text: Text,
    },
    /// Whether this tab is the one that runs the page's tools.
    Leading {
        /// Whether it is.
        on: bool,
    },
}

/// A page of a session's turns. They are in the server's order, oldest or newest first, all branches inline.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// The turns.
    pub turns: Vec<Listed>,
    /// There are earlier ones.
    pub has_earlier: bool,
}

/// A turn in a server's list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listed {
    /// The turn's id.
    pub id: Text,
    /// The id of the turn before it; empty for none, and where the protocol cannot fork.
    pub previous: Text,
    /// ISO 8601; empty if unknown.
    pub created_at: Text,
    /// The input (JSON) in the form in which it is sent; empty if it has no message of the person.
    pub input: Text,
    /// Its state.
    pub state: ListedState,
    /// The calls for which it waits, if it has ended.
    pub calls: Vec<Waiting>,
    /// The messages (JSON) that were steered into it.
    pub said: Vec<Text>,
}

/// The state of a turn in a server's list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ListedState {
    /// It runs.
    #[default]
    Running,
    /// It has ended.
    Ended(End),
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It said all, or waits for calls.
    Done,
    /// It failed.
    Failed,
    /// It was cancelled.
    Cancelled,
}

/// What a turn does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Activity {
    /// Nothing to show yet.
    #[default]
    Thinking,
    /// Text or arguments come.
    Answering,
    /// Tools run.
    Working,
    /// The connection is lost, and is being restored.
    Reconnecting,
}

/// A call that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The call's id, or that of the question if a server asks more than once about a call.
    pub id: Text,
    /// Who answers.
    pub who: Who,
}

/// Who answers a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// A person.
    Person,
    /// A tool of the page.
    Tool,
    /// A person signs in elsewhere, and then goes on.
    SignIn,
}

/// What came of something that was sent to a running turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// The server has it.
    Taken,
    /// The server does not have it, and will not.
    Refused,
    /// It may have arrived.
    Lost,
}
