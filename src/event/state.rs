//! What an agent keeps beside its messages: shared state, and reports of what is going on.
//!
//! From the `AgentEvent` protocols, the only ones so far that have these.

use serde::{Deserialize, Serialize};
use tsify::Tsify;

/// The agent's whole state (`state.snapshot`). It replaces whatever was known of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct StateSnapshot {
    /// The event's id.
    pub id: String,
    /// `null`: it concerns the whole turn.
    pub thread_id: Option<String>,
    /// The state as the server sent it. Names that begin with `__` are the server's own business; snapshots
    /// leave them out.
    #[tsify(type = "unknown")]
    pub snapshot: serde_json::Value,
}

/// A change of the agent's state (`state.delta`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct StateDelta {
    /// The event's id.
    pub id: String,
    /// `null`: it concerns the whole turn.
    pub thread_id: Option<String>,
    /// A JSON Patch (RFC 6902).
    pub delta: Vec<PatchOperation>,
}

/// An operation of a JSON Patch (RFC 6902).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum PatchOperation {
    /// Adds a member, or an element before this place.
    Add {
        /// A JSON pointer (RFC 6901).
        path: String,
        /// What is added.
        #[tsify(type = "unknown")]
        value: serde_json::Value,
    },
    /// Removes what is there.
    Remove {
        /// A JSON pointer.
        path: String,
    },
    /// Replaces what is there.
    Replace {
        /// A JSON pointer.
        path: String,
        /// What takes its place.
        #[tsify(type = "unknown")]
        value: serde_json::Value,
    },
    /// Moves what is at `from`.
    Move {
        /// A JSON pointer.
        from: String,
        /// A JSON pointer.
        path: String,
    },
    /// Copies what is at `from`.
    Copy {
        /// A JSON pointer.
        from: String,
        /// A JSON pointer.
        path: String,
    },
    /// Says what must be there.
    Test {
        /// A JSON pointer.
        path: String,
        /// What must be there.
        #[tsify(type = "unknown")]
        value: serde_json::Value,
    },
}

/// What a tool call changed in the agent's state. The `state.snapshot` that follows has it, too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
pub struct TrackedPatch {
    /// The operations, in order.
    pub patch: StateOperations,
    /// Names the patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<u64>,
    /// Who made it, for example `"tool:get_weather"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// The operations of a [`TrackedPatch`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
pub struct StateOperations {
    /// In order.
    pub ops: Vec<StateOperation>,
}

/// One step of the way into the state: a name, or an index from 0 on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[serde(untagged)]
pub enum StateKey {
    /// Of an array.
    Index(u64),
    /// Of an object.
    Name(String),
}

/// An operation on the agent's state. Not a JSON Patch: paths are lists, `[]` is the whole state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum StateOperation {
    /// Puts a value there; objects on the way are made, elements of arrays are not.
    Set {
        /// Where.
        path: Vec<StateKey>,
        /// What.
        #[tsify(type = "unknown")]
        value: serde_json::Value,
    },
    /// Takes away what is there, if anything is; of the whole state it leaves `null`.
    Delete {
        /// Where.
        path: Vec<StateKey>,
    },
    /// Adds to the end of an array, which is made if need be.
    Append {
        /// The array.
        path: Vec<StateKey>,
        /// What.
        #[tsify(type = "unknown")]
        value: serde_json::Value,
    },
    /// Puts members into an object, which is made if need be. What they hold is not merged.
    MergeObject {
        /// The object.
        path: Vec<StateKey>,
        /// The members.
        #[tsify(type = "unknown")]
        value: serde_json::Value,
    },
    /// Adds to a number.
    Increment {
        /// The number, which must be there.
        path: Vec<StateKey>,
        /// How much.
        #[tsify(type = "number")]
        amount: serde_json::Number,
    },
    /// Takes from a number.
    Decrement {
        /// The number, which must be there.
        path: Vec<StateKey>,
        /// How much.
        #[tsify(type = "number")]
        amount: serde_json::Number,
    },
    /// Puts an element before this place of an array.
    Insert {
        /// The array.
        path: Vec<StateKey>,
        /// The place, up to the array's length.
        index: u64,
        /// What.
        #[tsify(type = "unknown")]
        value: serde_json::Value,
    },
    /// Takes the first equal element out of an array, if there is one.
    Remove {
        /// The array.
        path: Vec<StateKey>,
        /// What.
        #[tsify(type = "unknown")]
        value: serde_json::Value,
    },
    /// Joins with what is there by the server's own rules; to anybody else it is `set`.
    LatticeMerge {
        /// Where.
        path: Vec<StateKey>,
        /// What.
        #[tsify(type = "unknown")]
        value: serde_json::Value,
    },
}

/// A report of what is going on (`activity.snapshot`), whole. Reports of one thing share `message_id`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
pub struct ActivitySnapshot {
    /// The event's id.
    pub id: String,
    /// The thread that it is of.
    pub thread_id: String,
    /// Names what it is about: for a tool's progress `"tool_call:"` and the call's id, or the id alone.
    pub message_id: String,
    /// `"tool-call-progress"` and `"progress"` report on a tool call ([`ToolProgress`]); others are free.
    pub activity_type: String,
    /// The report.
    #[tsify(type = "ToolProgress | Record<string, unknown>")]
    pub content: serde_json::Value,
    /// `false` if it counts only where nothing is known yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replace: Option<bool>,
    /// The tool call that it reports on, where it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
}

/// A change of an earlier report (`activity.delta`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
pub struct ActivityDelta {
    /// The event's id.
    pub id: String,
    /// The thread that it is of.
    pub thread_id: String,
    /// The report that changes.
    pub message_id: String,
    /// As in [`ActivitySnapshot`].
    pub activity_type: String,
    /// A JSON Patch (RFC 6902) of its content.
    pub patch: Vec<PatchOperation>,
}

/// How far a tool call is (`tool-call-progress.v1`; the older `progress` has the first three only).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(default)]
#[tsify(missing_as_null)]
pub struct ToolProgress {
    /// From 0 to 1, as a rule.
    #[tsify(optional)]
    pub progress: Option<f64>,
    /// How much there is to do, in the tool's own unit.
    #[tsify(optional)]
    pub total: Option<f64>,
    /// For people.
    #[tsify(optional)]
    pub message: Option<String>,
    /// How much is done, in the tool's own unit.
    #[tsify(optional)]
    pub loaded: Option<f64>,
    /// `"pending"`, `"running"`, `"done"`, `"failed"`, `"cancelled"`, or a newer word.
    #[tsify(optional)]
    pub status: Option<String>,
    /// The call.
    #[tsify(optional)]
    pub call_id: Option<String>,
    /// The tool.
    #[tsify(optional)]
    pub tool_name: Option<String>,
    /// The call inside of which this one is made.
    #[tsify(optional)]
    pub parent_call_id: Option<String>,
    /// `"tool_call:"` and the call's id.
    #[tsify(optional)]
    pub node_id: Option<String>,
    /// `"tool_call:"` and the parent call's id, or `"run:"` and the run's.
    #[tsify(optional)]
    pub parent_node_id: Option<String>,
    /// The run that makes the call: another one than the turn's if a sub-agent makes it.
    #[tsify(optional)]
    pub run_id: Option<String>,
    /// The run that started that one.
    #[tsify(optional)]
    pub parent_run_id: Option<String>,
    /// The session of that run.
    #[tsify(optional)]
    pub thread_id: Option<String>,
    /// Milliseconds since 1970.
    #[tsify(optional)]
    pub updated_at_ms: Option<u64>,
    /// `"tool-call-progress.v1"`.
    #[tsify(optional)]
    pub schema: Option<String>,
}

/// The session's messages (`messages.snapshot`), as the server keeps them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct MessagesSnapshot {
    /// The event's id.
    pub id: String,
    /// `null`: it concerns the whole turn.
    pub thread_id: Option<String>,
    /// The messages, oldest first.
    pub messages: Vec<ThreadMessage>,
}

/// A message as an `AgentEvent` server keeps it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
pub struct ThreadMessage {
    /// Missing where its sender gave none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Who speaks.
    #[tsify(type = "\"system\" | \"user\" | \"assistant\" | \"tool\" | (string & {})")]
    pub role: String,
    /// A text; of a tool, its [`ToolResult`](super::ToolResult) as JSON. Newer servers may give parts.
    #[tsify(type = "string | unknown[]")]
    pub content: serde_json::Value,
    /// The calls that it makes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[tsify(optional)]
    pub tool_calls: Vec<ThreadToolCall>,
    /// The call that it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// `"internal"` for what users are not meant to see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visibility: Option<String>,
    /// Its place among the session's messages, from 0 on, where the server says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<u64>,
    /// Whatever the server adds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "Record<string, unknown>")]
    pub metadata: Option<serde_json::Map<String, serde_json::Value>>,
}

/// A tool call in a [`ThreadMessage`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
pub struct ThreadToolCall {
    /// The call's id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What it is called with.
    #[tsify(type = "unknown")]
    pub arguments: serde_json::Value,
}
