//! What a protocol supports, so that callers need not find out by failing.

use crate::json::ObjectWriter;

/// What a protocol supports beyond streaming a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
pub struct Capabilities {
    /// What happens to a turn whose stream drops.
    pub resume: Resume,
    /// A running turn can be cancelled.
    pub cancel: bool,
    /// A session's running turn can be stopped, and the session still be used.
    pub interrupt: bool,
    /// A session's messages can be read again.
    pub history: bool,
    /// Calls can be answered while their turn runs.
    pub live_answers: bool,
    /// Messages can be sent to a running turn.
    pub steer: bool,
    /// A user's message can discard the waiting calls.
    pub discard_pending: bool,
    /// A user's message can have files.
    pub files: bool,
    /// The client can supply a session's agent, and change it.
    pub drafts: bool,
    /// Sessions can be searched.
    pub search: bool,
    /// Files of sandboxes can be downloaded.
    pub sandbox_files: bool,
    /// A new session can have a title.
    pub titles: bool,
    /// Sessions can be renamed.
    pub rename: bool,
    /// Sessions can be deleted.
    pub delete: bool,
    /// The agent's state can be read.
    pub state: bool,
    /// A turn can be started without a stream. Otherwise the client that starts it must read it.
    pub detached: bool,
    /// The client makes the ids of sessions and turns, and every turn names its agent.
    pub client_ids: bool,
    /// The server takes the turn's id from the client, so that a lost start can be looked for.
    pub turn_ids: bool,
    /// Each answer to a call is a separate request, and the turn continues under its old id.
    pub answers_apart: bool,
    /// The server's agents can be listed, with their capabilities.
    pub agents: bool,
    /// A user's message can have images by URL.
    pub images: bool,
    /// A user's message can have parts of kinds that only this protocol has.
    pub native_parts: bool,
    /// The server has no ids for turns: a turn's state is found by its input, among the session's messages.
    pub unnamed: bool,
    /// A turn's answer comes as a whole when the turn has ended, and not as a stream.
    pub whole_answers: bool,
    /// The protocol uses a socket, and not HTTP.
    pub socket: bool,
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

// What the protocols of this build have. If all of them are alike, the compiler removes the code for others.

/// Whether the build has another family than `TrueFoundry`'s.
pub(crate) const HAS_OTHERS: bool = cfg!(feature = "client-ids");
/// Whether the build has a protocol whose streams resume after a sequence number.
const HAS_CURSORED: bool = cfg!(feature = "cursors");
/// Whether the build has a protocol whose streams do not, so that the client that starts a turn must read it.
const HAS_UNCURSORED: bool = cfg!(any(feature = "frame-replay", feature = "transcripts"));
/// Whether the build has a protocol whose servers have ids for turns: a lost start is looked for in the list of turns.
const HAS_LOOKS: bool = cfg!(feature = "turn-records");
/// Whether the build has a protocol that uses HTTP.
pub(crate) const HAS_HTTP: bool = cfg!(feature = "http");

/// The boolean capabilities, by their names in JavaScript.
const NAMES: [&str; 21] = [
    "cancel",
    "interrupt",
    "history",
    "liveAnswers",
    "steer",
    "discardPending",
    "files",
    "drafts",
    "search",
    "sandboxFiles",
    "titles",
    "rename",
    "delete",
    "state",
    "detached",
    "clientIds",
    "answersApart",
    "agents",
    "images",
    "unnamed",
    "socket",
];

impl Capabilities {
    /// Whether a stream continues after a sequence number.
    #[must_use]
    pub fn has_cursor(&self) -> bool {
        HAS_CURSORED && (!HAS_UNCURSORED || self.resume == Resume::Cursor)
    }

    /// Whether a turn's answer comes as a whole.
    #[must_use]
    pub fn has_whole_answers(&self) -> bool {
        cfg!(feature = "whole-answers") && self.whole_answers
    }

    /// Whether each answer is a separate request.
    #[must_use]
    pub fn has_answers_apart(&self) -> bool {
        cfg!(feature = "separate-answers") && self.answers_apart
    }

    /// Whether calls can be answered while their turn runs.
    #[must_use]
    pub fn has_live_answers(&self) -> bool {
        cfg!(feature = "live-answers") && self.live_answers
    }

    /// Whether a user's message can discard the waiting calls.
    #[must_use]
    pub fn can_discard_pending(&self) -> bool {
        cfg!(feature = "discard-pending") && self.discard_pending
    }

    /// Whether a user's message cannot have files.
    #[must_use]
    pub fn takes_text_only(&self) -> bool {
        HAS_UNCURSORED && !self.files
    }

    /// Whether a user's message can have images by URL.
    #[must_use]
    pub fn takes_images(&self) -> bool {
        cfg!(feature = "images") && self.images
    }

    /// Whether a user's message can have parts of kinds that only this protocol has.
    #[must_use]
    pub fn takes_native_parts(&self) -> bool {
        cfg!(feature = "socket") && (!HAS_HTTP || self.native_parts)
    }

    /// Whether a turn can be found only by its input.
    #[must_use]
    pub fn is_unnamed(&self) -> bool {
        cfg!(feature = "transcripts") && (!HAS_LOOKS || self.unnamed)
    }

    /// Whether the protocol uses a socket.
    #[must_use]
    pub fn has_socket(&self) -> bool {
        cfg!(feature = "socket") && (!HAS_HTTP || self.socket)
    }

    /// Whether the client makes the ids, and every turn names its agent.
    #[must_use]
    pub fn has_client_ids(&self) -> bool {
        HAS_OTHERS && self.client_ids
    }

    /// The capabilities as JSON, in camelCase.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut json = String::new();
        let mut object = ObjectWriter::new(&mut json);
        object.str("resume", self.resume.as_str());
        let can = [
            self.cancel,
            self.interrupt,
            self.history,
            self.live_answers,
            self.steer,
            self.discard_pending,
            self.files,
            self.drafts,
            self.search,
            self.sandbox_files,
            self.titles,
            self.rename,
            self.delete,
            self.state,
            self.detached,
            self.client_ids,
            self.answers_apart,
            self.agents,
            self.images,
            self.unnamed,
            self.socket,
        ];
        for (name, can) in NAMES.iter().zip(can) {
            object.bool(name, can);
        }
        object.u64("silence", u64::from(self.silence));
        object.end();
        json
    }
}
