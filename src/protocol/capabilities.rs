//! What a protocol can do, so that callers need not find out by failing.

use crate::json::ObjectWriter;

/// What a protocol can do beyond streaming a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
pub struct Capabilities {
    /// What becomes of a turn whose stream drops.
    pub resume: Resume,
    /// A running turn can be cancelled.
    pub cancel: bool,
    /// A session can be stopped and still be used.
    pub interrupt: bool,
    /// What was said in a session can be read again.
    pub history: bool,
    /// Calls of a turn that still runs can be answered.
    pub live_answers: bool,
    /// More can be said to a turn that runs.
    pub steer: bool,
    /// What waits can be thrown away by a user's message.
    pub discard_pending: bool,
    /// A user's message can have files.
    pub files: bool,
    /// Sessions whose agent is still being written.
    pub drafts: bool,
    /// Sessions can be searched.
    pub search: bool,
    /// Files of sandboxes can be downloaded.
    pub sandbox_files: bool,
    /// A new session can be given a title.
    pub titles: bool,
    /// Sessions can be renamed.
    pub rename: bool,
    /// Sessions can be deleted.
    pub delete: bool,
    /// The state that an agent keeps can be read.
    pub state: bool,
    /// A turn can be started without a stream. Otherwise whoever starts it must read it.
    pub detached: bool,
    /// Sessions and turns have ids that the client makes, and every turn names its agent.
    pub client_ids: bool,
    /// A server takes the turn's id from the client, so that a start whose answer was lost can be looked for.
    pub turn_ids: bool,
    /// Each answer to a call is a request of its own, and the turn goes on under its old id.
    pub answers_apart: bool,
    /// The agents of a server can be listed, with what each of them can do.
    pub agents: bool,
    /// A user's message can have images by their address.
    pub images: bool,
    /// A user's message can have parts of kinds that only this protocol has.
    pub native_parts: bool,
    /// The server knows no turns: what became of one is found by its input, among the session's messages.
    pub unnamed: bool,
    /// A turn's answer comes as a whole once the turn has ended, and not as a stream.
    pub whole_answers: bool,
    /// It is spoken over a socket, and not over HTTP.
    pub socket: bool,
    /// Which fields an input's items and parts take by their types, a line each: `text:type, text`. A line that begins with
    /// `.` is of the member of that name, or with that status.
    pub input_fields: &'static str,
    /// The longest silence that is life, in milliseconds: what servers without heartbeats need.
    pub silence: u32,
}

/// What becomes of a turn whose stream drops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resume {
    /// The stream goes on after the last event.
    Cursor,
    /// The turn goes on, and what it said is read once it has ended.
    History,
    /// Nothing more is to be had of the turn.
    None,
}

impl Resume {
    /// The word for JavaScript.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cursor => "cursor",
            Self::History => "history",
            Self::None => "none",
        }
    }
}

// What the protocols of this build have. Where all of them are alike, the compiler leaves out what only others need.

/// Whether it has another family than `TrueFoundry`'s.
pub(crate) const HAS_OTHERS: bool = cfg!(feature = "client-ids");
/// Whether it has a protocol whose streams are resumed after a sequence number.
const HAS_CURSORED: bool = cfg!(feature = "cursors");
/// Whether it has one whose streams are not, so that a turn has to be read by what starts it.
const HAS_UNCURSORED: bool = cfg!(any(feature = "frame-replay", feature = "transcripts"));
/// Whether it has one whose servers know turns: a start whose answer was lost is looked for in the list of turns.
const HAS_LOOKS: bool = cfg!(feature = "turn-records");
/// Whether it has one that is spoken over HTTP.
pub(crate) const HAS_HTTP: bool = cfg!(feature = "http");

/// What a protocol can do or not, by its names in JavaScript.
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
    /// Whether a stream goes on after a sequence number.
    #[must_use]
    pub fn has_cursor(&self) -> bool {
        HAS_CURSORED && (!HAS_UNCURSORED || self.resume == Resume::Cursor)
    }

    /// Whether a turn goes on although its stream cannot be resumed after a sequence number.
    #[must_use]
    pub fn has_history_only(&self) -> bool {
        HAS_UNCURSORED && self.resume == Resume::History
    }

    /// Whether the server keeps what a turn's stream brought, frame by frame.
    #[must_use]
    pub fn has_frames(&self) -> bool {
        self.has_history_only() && !self.is_unnamed()
    }

    /// Whether a turn's answer comes as a whole.
    #[must_use]
    pub fn has_whole_answers(&self) -> bool {
        cfg!(feature = "whole-answers") && self.whole_answers
    }

    /// Whether each answer is a request of its own.
    #[must_use]
    pub fn has_answers_apart(&self) -> bool {
        cfg!(feature = "separate-answers") && self.answers_apart
    }

    /// Whether calls of a turn that still runs can be answered.
    #[must_use]
    pub fn has_live_answers(&self) -> bool {
        cfg!(feature = "live-answers") && self.live_answers
    }

    /// Whether what waits can be thrown away by a user's message.
    #[must_use]
    pub fn can_discard_pending(&self) -> bool {
        cfg!(feature = "discard-pending") && self.discard_pending
    }

    /// Whether a user's message cannot have files.
    #[must_use]
    pub fn takes_text_only(&self) -> bool {
        HAS_UNCURSORED && !self.files
    }

    /// Whether a user's message can have images by their address.
    #[must_use]
    pub fn takes_images(&self) -> bool {
        cfg!(feature = "images") && self.images
    }

    /// Whether a user's message can have parts of kinds that only this protocol has.
    #[must_use]
    pub fn takes_native_parts(&self) -> bool {
        cfg!(feature = "socket") && (!HAS_HTTP || self.native_parts)
    }

    /// Whether a turn is found by its input only.
    #[must_use]
    pub fn is_unnamed(&self) -> bool {
        cfg!(feature = "transcripts") && (!HAS_LOOKS || self.unnamed)
    }

    /// Whether it is spoken over a socket.
    #[must_use]
    pub fn has_socket(&self) -> bool {
        cfg!(feature = "socket") && (!HAS_HTTP || self.socket)
    }

    /// Whether the client makes ids, and every turn names its agent.
    #[must_use]
    pub fn has_client_ids(&self) -> bool {
        HAS_OTHERS && self.client_ids
    }

    /// Whether a turn has to be read by whoever starts it.
    #[must_use]
    pub fn must_be_read(&self) -> bool {
        HAS_UNCURSORED && (!HAS_CURSORED || !self.detached)
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
