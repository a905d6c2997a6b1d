//! The steps of a scripted agent, independent of any wire protocol.
//!
//! A script yields steps; a protocol's recorder turns each of them into that protocol's events.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::prompt::Answers;

/// The steps of one turn, produced on demand.
pub(crate) type Steps = Box<dyn Iterator<Item = Step> + Send>;

/// How a paused turn continues once its questions are answered. It may be called more than once,
/// since a client may fork two turns from the same pause.
pub(crate) type Resume = Arc<dyn Fn(&Answers) -> Steps + Send + Sync>;

/// The thread that every turn has: the agent itself.
pub(crate) const MAIN: &str = "main";

/// One model message of a running turn. Unique in the process; each protocol has its own id for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct MessageKey(u64);

impl MessageKey {
    pub(crate) fn next() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed))
    }
}

/// A tool server that an agent is connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Server {
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
}

/// A tool, and who runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tool {
    /// A tool of a connected tool server.
    Remote { server: Server, name: &'static str },
    /// A tool that the agent's host provides.
    System { name: &'static str },
}

impl Tool {
    /// The name by which its host knows it.
    pub(crate) fn name(self) -> &'static str {
        let (Self::Remote { name, .. } | Self::System { name }) = self;
        name
    }
}

/// Why a model message ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FinishReason {
    Stop,
    Length,
    ToolCalls,
    /// The model, or a filter behind it, refused to continue.
    Refusal,
}

impl FinishReason {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ToolCalls => "tool_calls",
            Self::Refusal => "content_filter",
        }
    }
}

/// A sub-agent's thread and the call that started it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SubAgent {
    pub(crate) thread: String,
    pub(crate) title: String,
    pub(crate) name: String,
    pub(crate) input: String,
    pub(crate) model: Option<&'static str>,
    pub(crate) parent_thread: String,
    pub(crate) parent_call: String,
}

/// One thing that a scripted agent does.
#[derive(Debug)]
pub(crate) enum Step {
    /// Nothing happens for this many beats; one beat is the pause between two events.
    Wait(u32),
    /// Sessions with tool servers are opened for a thread.
    Connect {
        thread: String,
        servers: Vec<Server>,
    },
    /// A sandbox is made for the session.
    CreateSandbox {
        sandbox: String,
    },
    /// A file is written in a sandbox. Not an event; the file can be downloaded.
    WriteFile {
        sandbox: String,
        path: String,
        bytes: Vec<u8>,
    },
    BeginMessage {
        message: MessageKey,
        thread: String,
    },
    Text {
        message: MessageKey,
        text: String,
    },
    Reasoning {
        message: MessageKey,
        text: String,
    },
    /// A tool call begins: its id and tool, no arguments yet.
    BeginCall {
        message: MessageKey,
        index: usize,
        call: String,
        tool: Tool,
    },
    /// A piece of the JSON text of a call's arguments.
    Arguments {
        message: MessageKey,
        index: usize,
        text: String,
    },
    EndMessage {
        message: MessageKey,
        reason: FinishReason,
    },
    ToolResult {
        thread: String,
        call: String,
        content: String,
    },
    BeginThread(SubAgent),
    /// A sub-agent has ended: its last message is its output, or it failed with a text.
    EndThread {
        agent: SubAgent,
        failure: Option<String>,
    },
    /// These calls wait for the user's consent.
    AwaitApproval {
        thread: String,
        calls: Vec<String>,
    },
    /// These calls wait for a result from the client.
    AwaitResponse {
        thread: String,
        calls: Vec<String>,
    },
    /// These servers wait for the user's authorization.
    AwaitAuthorization {
        servers: Vec<Server>,
    },
    /// A fact kept for the later turns of this conversation. Not an event.
    Remember {
        key: &'static str,
        value: String,
    },
    /// The last step of every turn.
    End(Ending),
}

impl Step {
    /// Whether the step is seen on the wire, so that the pace of the turn counts it.
    pub(crate) fn is_event(&self) -> bool {
        !matches!(self, Self::Wait(_) | Self::WriteFile { .. } | Self::Remember { .. } | Self::End(_))
    }

    /// Whether the agent's own message begins here, or the script ends.
    pub(crate) fn begins_talk(&self) -> bool {
        match self {
            Self::BeginMessage { thread, .. } => thread == MAIN,
            Self::End(_) => true,
            _ => false,
        }
    }
}

/// How a turn ends.
pub(crate) enum Ending {
    Done,
    /// The turn ends because something must be answered first.
    Paused(Resume),
    Failed(String),
}

impl fmt::Debug for Ending {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done => formatter.write_str("Done"),
            Self::Paused(_) => formatter.write_str("Paused"),
            Self::Failed(message) => formatter.debug_tuple("Failed").field(message).finish(),
        }
    }
}
