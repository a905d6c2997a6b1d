//! How a protocol lets a turn be started, found and recovered: all that this folder reads of its
//! [`Capabilities`] for that.

use crate::features::{
    AttachedReaders, ClientConversations, ClientIds, Cursors, FrameRecords, OtherRecoveries, PartialLists,
    Relays, SeparateAnswers, Sockets, Transcripts, TurnLists,
};
use crate::protocol::{Capabilities, Capability, Resume};

/// What becomes of a turn whose stream drops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recovery {
    /// The stream resumes after the last sequence number.
    Cursor(Cursors),
    /// The server recorded the frames of the stream. They are read again, and the stream resumes after them.
    Frames(FrameRecords),
    /// The turn goes on without a reader. The session's transcript has it once it has ended.
    Transcript(Transcripts),
    /// The turn goes on without a reader. Its stream can be read again, from the beginning; or else what the server has of
    /// the turn by now.
    Repeat(ClientConversations),
    /// The turn stops without a reader. The server still lists its events if it had just ended.
    Attached(AttachedReaders),
    /// The server keeps nothing.
    None(Transcripts),
}

/// How a turn is found whose start got no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Locate {
    /// By the id that the client made. Servers that know such ids list turns by them.
    ClientId(ClientIds, TurnLists),
    /// In the session's list of turns: it is newer than the newest turn before the start.
    TurnList(TurnLists),
    /// In the session's transcript, by its input.
    Transcript(Transcripts),
}

/// How answers to pending calls are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answers {
    /// As the input of the next turn.
    NextTurn,
    /// One by one. The paused turn goes on under its old id.
    OneByOne(SeparateAnswers),
}

/// Where a turn's last message is found, if the turn's record does not have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    /// Nowhere: the record always has it.
    InRecord,
    /// It is the last listed message that calls no tool.
    Listed(PartialLists),
    /// It is the last stored item that ends the agent's own text.
    Stored(Sockets),
}

/// The conventions of one protocol.
#[derive(Debug, Clone, Copy)]
pub(super) struct Conventions {
    pub(super) recovery: Recovery,
    pub(super) locate: Locate,
    pub(super) answers: Answers,
    pub(super) output: Output,
    /// Whether a turn has ids that the client makes.
    pub(super) client_ids: Option<ClientIds>,
    /// Whether a relay keeps the streams. What is said of recovery holds for what it has lost.
    pub(super) relay: Option<Relays>,
    /// Whether a turn can only be started together with its stream.
    start_needs_stream: bool,
}

impl Conventions {
    /// The conventions of a protocol with these capabilities.
    pub(super) fn of(capabilities: &Capabilities) -> Self {
        let transcripts = Transcripts::when(capabilities.lacks_turn_ids());
        let recovery = match (transcripts, server_resumes(capabilities)) {
            (Some(transcripts), Resume::None) => Some(Recovery::None(transcripts)),
            (Some(transcripts), _) => ClientConversations::when(capabilities.has_client_conversation())
                .map(Recovery::Repeat)
                .or(Some(Recovery::Transcript(transcripts))),
            (None, resume) => FrameRecords::when(resume == Resume::History)
                .map(Recovery::Frames)
                .or(Cursors::when(!OtherRecoveries::EXISTS || resume == Resume::Cursor).map(Recovery::Cursor))
                .or(AttachedReaders::when(true).map(Recovery::Attached)),
        };
        let client_ids = ClientIds::when(capabilities.has(Capability::ClientIds));
        let locate = match (transcripts, client_ids.filter(|_| capabilities.has(Capability::ClientTurnIds))) {
            (Some(transcripts), _) => Some(Locate::Transcript(transcripts)),
            (None, Some(ids)) => TurnLists::when(true).map(|lists| Locate::ClientId(ids, lists)),
            (None, None) => TurnLists::when(true).map(Locate::TurnList),
        };
        let output = if let Some(stored) = Sockets::when(capabilities.has_socket()) {
            Output::Stored(stored)
        } else {
            let partial = PartialLists::when(!capabilities.has_cursor());
            partial.map_or(Output::InRecord, Output::Listed)
        };
        Self {
            recovery: recovery.expect("every build has a way to recover"),
            locate: locate.expect("every build has a way to locate a turn"),
            answers: SeparateAnswers::when(capabilities.has(Capability::SeparateAnswers))
                .map_or(Answers::NextTurn, Answers::OneByOne),
            output,
            client_ids,
            relay: Relays::when(capabilities.is_relayed()),
            start_needs_stream: !capabilities.has(Capability::Detached),
        }
    }

    /// Whether lists of events lack what a stream brings: reasoning, and sequence numbers.
    pub(super) fn partial_lists(self) -> Option<PartialLists> {
        PartialLists::when(!matches!(self.recovery, Recovery::Cursor(_)))
    }

    /// Whether a turn stops when its reader leaves.
    pub(super) fn requires_attached_reader(self) -> bool {
        matches!(self.recovery, Recovery::Attached(_) | Recovery::None(_))
    }

    /// The marker of servers that repeat a turn's stream.
    pub(super) fn repeats(self) -> Option<ClientConversations> {
        match self.recovery {
            Recovery::Repeat(by) => Some(by),
            _ => None,
        }
    }

    /// Whether a turn can only be started together with its stream.
    pub(super) fn start_needs_stream(self) -> bool {
        OtherRecoveries::EXISTS && (!Cursors::EXISTS || self.start_needs_stream)
    }

    /// The marker of servers whose list of turns is searched for a turn, `is_named` if the client made its id.
    pub(super) fn turn_lists(self, is_named: bool) -> Option<TurnLists> {
        match self.locate {
            Locate::TurnList(lists) => Some(lists),
            Locate::ClientId(_, lists) => (!is_named).then_some(lists),
            Locate::Transcript(_) => None,
        }
    }

    /// The marker of servers that are spoken to over a socket.
    pub(super) fn sockets(self) -> Option<Sockets> {
        match self.output {
            Output::Stored(sockets) => Some(sockets),
            _ => None,
        }
    }

    /// The marker of servers that know no turns.
    pub(super) fn transcripts(self) -> Option<Transcripts> {
        match self.locate {
            Locate::Transcript(transcripts) => Some(transcripts),
            _ => None,
        }
    }
}

/// What the server itself can do about a stream that drops. Behind a relay, only a server without ids for turns can have a
/// transcript of them.
fn server_resumes(capabilities: &Capabilities) -> Resume {
    match capabilities.is_relayed() {
        true if capabilities.lacks_turn_ids() && capabilities.has(Capability::History) => Resume::History,
        true => Resume::None,
        false => capabilities.resume,
    }
}
