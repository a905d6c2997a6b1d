//! What a protocol supports, so that callers need not find out by failing.

use crate::features::{
    ClientConversations, ClientIds, Cursors, DiscardPending, Http, Images, LiveAnswers, OtherRecoveries,
    Relays, SeparateAnswers, Sockets, Transcripts, TurnLists, WholeAnswers,
};
use crate::json::write_u64;

/// Lists the capabilities: those that users see, with their names in JavaScript, and those that only this package needs.
/// Names and texts are for tests and generated files. No module contains them.
macro_rules! capabilities {
    (
        published { $($(#[doc = $doc:literal])+ $name:ident $js:literal,)* }
        internal { $($(#[doc = $internal_doc:literal])+ $internal:ident,)* }
    ) => {
        /// One thing that a protocol supports, or requires of its client.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Capability {
            $($(#[doc = $doc])+ $name,)*
            $($(#[doc = $internal_doc])+ $internal,)*
        }

        impl Capability {
            /// The published capabilities in the order of their numbers, each with its name in JavaScript and its meaning.
            pub const PUBLISHED: &'static [(Self, &'static str, &'static str)] =
                &[$((Self::$name, $js, concat!($($doc, "\n",)+)),)*];
        }
    };
}

capabilities! {
    published {
        /// `turn.cancel()`
        Cancel "cancel",
        /// `session.interrupt()`
        Interrupt "interrupt",
        /// `session.cancel()`
        CancelSession "cancelSession",
        /// `session.history()`, `session.resume()`, and the lists of turns and events
        History "history",
        /// `session.listMessages()`
        Messages "messages",
        /// `pageToken` and `limit` of `listTurns()` and `listEvents()`: without it each list is one page
        Pages "pages",
        /// `session.listTurns()` begins with the newest turn
        NewestFirst "newestFirst",
        /// Turns have ids of the server's, which stay the same after a reload
        TurnIds "turnIds",
        /// `createTurn({ previousTurnId })` may name any turn: the conversation can branch
        Fork "fork",
        /// `turn.state()` can start a turn, without a stream
        Detached "detached",
        /// `turn.answer()` while the turn runs
        LiveAnswers "liveAnswers",
        /// `turn.steer()`
        Steer "steer",
        /// `createTurn({ discardPending: true })`
        DiscardPending "discardPending",
        /// Files in messages of the user
        Files "files",
        /// Files of any type: without it only images, and sound if the server takes it
        Documents "documents",
        /// Images by URL in messages of the user: parts `{ type: "image", url }`
        Images "images",
        /// Tools of the page: `session.tools()` and `session.run()`
        PageTools "pageTools",
        /// `result` of a tool's response is the server's record of the whole call; its text for people is `content`
        ToolRecords "toolRecords",
        /// `client.agents.list()`
        Agents "agents",
        /// The listed agents say what they support (`agent.capabilities`). A session supports what its agent does
        AgentCapabilities "agentCapabilities",
        /// `client.agents.listSessions()`
        ListSessions "listSessions",
        /// `session.title` and `session.createdAt` are known to the server
        SessionInfo "sessionInfo",
        /// `client.agents.createSession(agentName, { title })`
        Titles "titles",
        /// `session.rename()`
        Rename "rename",
        /// `session.delete()`
        Delete "delete",
        /// `session.state()`
        State "state",
        /// Sessions with an agent that the client supplies: `createDraftSession()` and related methods, and their
        /// `update({ agentSpec })`
        Drafts "drafts",
        /// `client.agents.searchSessions()`
        Search "search",
        /// `client.agents.downloadSandboxFile()`
        SandboxFiles "sandboxFiles",
    }
    internal {
        // The package's TypeScript reads the first three, by their places.
        /// The client makes the ids of sessions and turns, and every turn names its agent.
        ClientIds,
        /// Each answer to a call is a separate request, and the turn continues under its old id.
        SeparateAnswers,
        /// The protocol uses a `WebSocket`, and not HTTP.
        Socket,
        /// The server takes the turn's id from the client, so that a lost start can be looked for.
        ClientTurnIds,
        /// A user's message can have parts of kinds that only this protocol has.
        NativeParts,
        /// The client keeps a session's conversation.
        ClientConversation,
        /// A start may be answered with the whole turn, as JSON in place of a stream.
        MayAnswerWhole,
        /// Every turn is answered in this way.
        WholeAnswers,
        /// A relay keeps the turns' streams.
        Relayed,
        /// A relay holds the socket to the server.
        Held,
    }
}

/// How many capabilities there are.
const COUNT: u32 = Capability::Held as u32 + 1;

/// What a protocol supports beyond streaming a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// What happens to a turn whose stream drops.
    pub resume: Resume,
    /// One bit for each [`Capability`].
    pub(super) set: u64,
    /// The fields of an input's items and parts by their types, one line each: `text:type, text`. A line that begins
    /// with `.` is for the member with that name, or with that status.
    pub input_fields: &'static str,
    /// The longest normal silence of a connection, in milliseconds: what servers without heartbeats need.
    pub silence: u32,
}

/// What happens to a turn whose stream drops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resume {
    /// The stream continues after the last event.
    Cursor,
    /// The turn continues, and its messages are read once it has ended.
    History,
    /// Nothing more can be read of the turn.
    None,
}

impl Resume {
    /// The name for JavaScript.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cursor => "cursor",
            Self::History => "history",
            Self::None => "none",
        }
    }
}

impl Capabilities {
    /// A protocol that supports only what is listed.
    #[must_use]
    pub const fn of(supported: &[Capability]) -> Self {
        let none = Self { resume: Resume::None, set: 0, input_fields: "", silence: 60_000 };
        none.and(supported)
    }

    /// The same protocol, which supports these as well.
    #[must_use]
    pub const fn and(mut self, supported: &[Capability]) -> Self {
        let mut rest = supported;
        while let [first, others @ ..] = rest {
            self.set |= 1 << *first as u64;
            rest = others;
        }
        self
    }

    /// The same protocol, which supports this only if `holds`.
    #[must_use]
    pub const fn only_if(mut self, holds: bool, capability: Capability) -> Self {
        self.set &= !((!holds as u64) << capability as u64);
        self
    }

    /// Whether the protocol supports this, or requires it of its client.
    #[must_use]
    pub const fn has(&self, capability: Capability) -> bool {
        self.set >> capability as u64 & 1 == 1
    }

    /// Whether a stream of the server itself continues after a sequence number.
    #[must_use]
    pub fn has_cursor(&self) -> bool {
        Cursors::EXISTS && (!OtherRecoveries::EXISTS || self.resume == Resume::Cursor) && !self.is_relayed()
    }

    /// Whether a relay keeps the turns' streams.
    #[must_use]
    pub fn is_relayed(&self) -> bool {
        Relays::EXISTS && self.has(Capability::Relayed)
    }

    /// Whether a turn's answer comes as a whole.
    #[must_use]
    pub fn has_whole_answers(&self) -> bool {
        WholeAnswers::EXISTS && self.has(Capability::WholeAnswers)
    }

    /// Whether a call that streams may be answered with JSON.
    #[must_use]
    pub fn may_answer_whole(&self) -> bool {
        WholeAnswers::EXISTS && self.has(Capability::MayAnswerWhole)
    }

    /// Whether each answer is a separate request.
    #[must_use]
    pub fn has_answers_apart(&self) -> bool {
        SeparateAnswers::EXISTS && self.has(Capability::SeparateAnswers)
    }

    /// Whether calls can be answered while their turn runs.
    #[must_use]
    pub fn has_live_answers(&self) -> bool {
        LiveAnswers::EXISTS && self.has(Capability::LiveAnswers)
    }

    /// Whether a user's message can discard the waiting calls.
    #[must_use]
    pub fn can_discard_pending(&self) -> bool {
        DiscardPending::EXISTS && self.has(Capability::DiscardPending)
    }

    /// Whether a user's message cannot have files.
    #[must_use]
    pub fn takes_text_only(&self) -> bool {
        OtherRecoveries::EXISTS && !self.has(Capability::Files)
    }

    /// Whether a user's message can have images by URL.
    #[must_use]
    pub fn takes_images(&self) -> bool {
        Images::EXISTS && self.has(Capability::Images)
    }

    /// Whether a user's message can have parts of kinds that only this protocol has.
    #[must_use]
    pub fn takes_native_parts(&self) -> bool {
        Sockets::EXISTS && (!Http::EXISTS || self.has(Capability::NativeParts))
    }

    /// Whether the server has no ids for turns, so that a turn can be found only by its input.
    #[must_use]
    pub fn lacks_turn_ids(&self) -> bool {
        Transcripts::EXISTS && (!TurnLists::EXISTS || !self.has(Capability::TurnIds))
    }

    /// Whether the protocol uses a socket.
    #[must_use]
    pub fn has_socket(&self) -> bool {
        Sockets::EXISTS && (!Http::EXISTS || self.has(Capability::Socket))
    }

    /// Whether the client keeps a session's conversation.
    #[must_use]
    pub fn has_client_conversation(&self) -> bool {
        ClientConversations::EXISTS && self.has(Capability::ClientConversation)
    }

    /// Whether the client makes the ids, and every turn names its agent.
    #[must_use]
    pub fn has_client_ids(&self) -> bool {
        ClientIds::EXISTS && self.has(Capability::ClientIds)
    }

    /// The capabilities as a text: the name of [`Resume`], the silence, and `1` or `0` for each [`Capability`] in the
    /// order of their numbers, with a space between the three. The package has the names.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = self.resume.as_str().to_owned();
        text.push(' ');
        write_u64(&mut text, u64::from(self.silence));
        text.push(' ');
        for at in 0..COUNT {
            text.push(if self.set >> at & 1 == 1 { '1' } else { '0' });
        }
        text
    }
}
