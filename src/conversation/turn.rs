//! A turn of the tree, and its state.

use super::call::Call;
use super::{Activity, After, End, Key, Text};

/// A turn: on the server, or on its way there.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) key: Key,
    /// The server's id; empty until it is known.
    pub(super) id: Text,
    /// The key's name is made of the id.
    pub(super) listed: bool,
    pub(super) parent: Parent,
    pub(super) joint: Joint,
    pub(super) state: TurnState,
    /// It begins with a message of the person.
    pub(super) asks: bool,
    pub(super) calls: Vec<Call>,
    /// The answers wait for a person, who lets them go: they have failed once, or come from an earlier page.
    pub(super) is_held: bool,
    pub(super) steered: Vec<Steered>,
    /// The number of the last page that had been asked for when it got its id.
    pub(super) begun: u32,
    /// The same when something was heard of it: what that page says of its state is stale.
    pub(super) heard: u32,
}

/// A message that was steered into the turn.
#[derive(Debug)]
pub(super) struct Steered {
    pub(super) key: Key,
    /// Empty once the turn's own record has it.
    pub(super) text: Text,
}

/// What a turn follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Parent {
    /// None: it is a first turn.
    Nothing,
    /// A turn of the tree.
    Turn(Key),
    /// A turn that is not loaded; the id is empty if it is not known.
    Unlisted(Text),
}

/// Whether the server lists the turn before it in the tree right before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    /// No page had it.
    Unlisted,
    /// A page began with it: there may be others before it.
    Open,
    /// A page had both, or it is the first.
    Joined,
}

/// The state of a turn.
#[derive(Debug)]
pub(super) enum TurnState {
    /// The session is being created for it.
    Prepared(Outgoing),
    /// It is on its way.
    Starting(Outgoing, IsStopping),
    /// It may have arrived.
    Unknown(Outgoing),
    /// It has not arrived.
    Failed(Outgoing),
    /// It runs.
    Running(Running),
    /// It has begun, and its end is unknown.
    Incomplete,
    /// It has ended.
    Ended(End),
}

/// Whether it is being cancelled.
pub(super) type IsStopping = bool;

/// A turn that the server has not named.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) input: Input,
    pub(super) after: After,
    pub(super) discard: bool,
    /// It is a sibling of another turn.
    pub(super) is_fork: bool,
    /// It may have arrived once: the server's list may still bring it.
    pub(super) was_lost: bool,
}

/// What an outgoing turn says.
#[derive(Debug)]
pub(super) enum Input {
    Message(Text),
    /// Answers to the calls of the turn before it, which keeps them.
    Answers(Key),
    Nothing,
}

/// A turn that runs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Running {
    pub(super) activity: Activity,
    pub(super) is_stopping: IsStopping,
    /// It is being read.
    pub(super) is_watched: bool,
}

impl Turn {
    pub(super) fn new(key: Key, parent: Parent, state: TurnState) -> Self {
        Self {
            key,
            id: Text::new(),
            listed: false,
            parent,
            joint: Joint::Unlisted,
            state,
            asks: false,
            calls: Vec::new(),
            is_held: false,
            steered: Vec::new(),
            begun: 0,
            heard: 0,
        }
    }

    /// It runs, or will as soon as it arrives.
    pub(super) fn is_active(&self) -> bool {
        matches!(self.state, TurnState::Prepared(_) | TurnState::Starting(..) | TurnState::Running(_))
    }

    /// What is known to be on the server.
    pub(super) fn is_named(&self) -> bool {
        self.outgoing().is_none()
    }

    /// What it says, while the server has not named it.
    pub(super) fn outgoing(&self) -> Option<&Outgoing> {
        match &self.state {
            TurnState::Prepared(out)
            | TurnState::Starting(out, _)
            | TurnState::Unknown(out)
            | TurnState::Failed(out) => Some(out),
            _ => None,
        }
    }

    /// It was left behind beside the turns that follow each other: not sent, or perhaps not.
    pub(super) fn is_aside(&self) -> bool {
        match &self.state {
            TurnState::Unknown(out) | TurnState::Failed(out) => !out.is_fork,
            _ => false,
        }
    }

    /// The message of the person, while the server has not named it.
    pub(super) fn message(&self) -> &str {
        match self.outgoing().map(|out| &out.input) {
            Some(Input::Message(text)) => text,
            _ => "",
        }
    }
}
