//! How a protocol lets a turn be started, found and recovered: everything this folder reads from its [`Capabilities`].

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
    /// The server recorded the stream's frames. They are read again, and the stream resumes after them.
    Frames(FrameRecords),
    /// The turn continues without a reader. Once it has ended, the session's transcript contains it.
    Transcript(Transcripts),
    /// The turn continues without a reader. Either its stream can be read again from the beginning, or the server
    /// returns what it has of the turn so far.
    Repeat(ClientConversations),
    /// The turn stops without a reader. The server still lists its events if it had just ended.
    Attached(AttachedReaders),
    /// The server keeps nothing.
    None(Transcripts),
}

/// How to find a turn whose start got no response.
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
    /// One by one. The paused turn continues under its old id.
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
    /// Whether the client makes the ids of turns.
    pub(super) client_ids: Option<ClientIds>,
    /// Whether a relay keeps the streams. `recovery` then applies only to what the relay has lost.
    pub(super) relay: Option<Relays>,
    /// Whether starting a turn always opens its stream.
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

    /// The marker of servers whose lists of events lack reasoning and sequence numbers.
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

    /// Whether starting a turn always opens its stream.
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

    /// The marker of servers that communicate over a socket.
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

/// How the server itself recovers a dropped stream. Behind a relay, only a server without turn ids can have a
/// transcript.
fn server_resumes(capabilities: &Capabilities) -> Resume {
    match capabilities.is_relayed() {
        true if capabilities.lacks_turn_ids() && capabilities.has(Capability::History) => Resume::History,
        true => Resume::None,
        false => capabilities.resume,
    }
}
