//! An agent's data besides its messages: shared state, and reports of activities.
//!
//! So far only the `AgentEvent` protocols have these.

use serde::{Deserialize, Serialize};
use tsify::Tsify;

/// The agent's whole state (`state.snapshot`). It replaces the earlier state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct StateSnapshot {
    /// The event's id.
    pub id: String,
    /// `null`: the event belongs to the whole turn.
    pub thread_id: Option<String>,
    /// The state as the server sent it. Names that begin with `__` are internal to the server; snapshots leave them
    /// out.
    #[tsify(type = "unknown")]
    pub snapshot: serde_json::Value,
}

/// A change of the agent's state (`state.delta`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct StateDelta {
    /// The event's id.
    pub id: String,
    /// `null`: the event belongs to the whole turn.
    pub thread_id: Option<String>,
    /// A JSON Patch (RFC 6902).
    pub delta: Vec<PatchOperation>,
}

/// An operation of a JSON Patch (RFC 6902).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum PatchOperation {
    /// Adds a member, or inserts an element before this index.
    Add {
        /// A JSON pointer (RFC 6901).
        path: String,
        /// The value to add.
        #[tsify(type = "unknown")]
        value: serde_json::Value,
    },
    /// Removes the value.
    Remove {
        /// A JSON pointer.
        path: String,
    },
    /// Replaces the value.
    Replace {
        /// A JSON pointer.
        path: String,
        /// The new value.
        #[tsify(type = "unknown")]
        value: serde_json::Value,
    },
    /// Moves the value at `from`.
    Move {
        /// A JSON pointer.
        from: String,
        /// A JSON pointer.
        path: String,
    },
    /// Copies the value at `from`.
    Copy {
        /// A JSON pointer.
        from: String,
        /// A JSON pointer.
        path: String,
    },
    /// Tests that the value equals this one.
    Test {
        /// A JSON pointer.
        path: String,
        /// The expected value.
        #[tsify(type = "unknown")]
        value: serde_json::Value,
    },
}

/// A tool call's changes to the agent's state. The following `state.snapshot` includes them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
pub struct TrackedPatch {
    /// The operations, in order.
    pub patch: StateOperations,
    /// The patch's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<u64>,
    /// The patch's source, for example `"tool:get_weather"`.
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

/// One step of a path into the state: a name, or an index from 0 on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[serde(untagged)]
pub enum StateKey {
    /// An index of an array.
    Index(u64),
    /// A name of an object.
    Name(String),
}

/// An operation on the agent's state. Unlike in a JSON Patch, paths are lists, and `[]` is the whole state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum StateOperation {
    /// Sets the value at a path. Creates missing objects on the path, but no elements of arrays.
    Set {
        /// The path.
        path: Vec<StateKey>,
        /// The value.
        #[tsify(type = "unknown")]
        value: serde_json::Value,
    },
    /// Removes the value at a path, if there is one. Removing the whole state leaves `null`.
    Delete {
        /// The path.
        path: Vec<StateKey>,
    },
    /// Adds to the end of an array; creates a missing array.
    Append {
        /// The array.
        path: Vec<StateKey>,
        /// The value.
        #[tsify(type = "unknown")]
        value: serde_json::Value,
    },
    /// Sets members of an object; creates a missing object. Their values are not merged.
    MergeObject {
        /// The object.
        path: Vec<StateKey>,
        /// The members.
        #[tsify(type = "unknown")]
        value: serde_json::Value,
    },
    /// Adds to a number.
    Increment {
        /// The path of the number, which must exist.
        path: Vec<StateKey>,
        /// The amount.
        #[tsify(type = "number")]
        amount: serde_json::Number,
    },
    /// Subtracts from a number.
    Decrement {
        /// The path of the number, which must exist.
        path: Vec<StateKey>,
        /// The amount.
        #[tsify(type = "number")]
        amount: serde_json::Number,
    },
    /// Inserts an element before this index of an array.
    Insert {
        /// The array.
        path: Vec<StateKey>,
        /// The index, up to the array's length.
        index: u64,
        /// The element.
        #[tsify(type = "unknown")]
        value: serde_json::Value,
    },
    /// Removes the first equal element from an array, if there is one.
    Remove {
        /// The array.
        path: Vec<StateKey>,
        /// The element.
        #[tsify(type = "unknown")]
        value: serde_json::Value,
    },
    /// Merges by the server's own rules; for other readers it is `set`.
    LatticeMerge {
        /// The path.
        path: Vec<StateKey>,
        /// The value.
        #[tsify(type = "unknown")]
        value: serde_json::Value,
    },
}

/// A whole report of an activity (`activity.snapshot`). Reports of one activity share `message_id`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
pub struct ActivitySnapshot {
    /// The event's id.
    pub id: String,
    /// The thread of the activity.
    pub thread_id: String,
    /// The activity's id: for a tool's progress `"tool_call:"` and the call's id, or the id alone.
    pub message_id: String,
    /// `"tool-call-progress"` and `"progress"` report on a tool call ([`ToolProgress`]); agents may use other types.
    pub activity_type: String,
    /// The report.
    #[tsify(type = "ToolProgress | Record<string, unknown>")]
    pub content: serde_json::Value,
    /// `false` if the report counts only while none is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replace: Option<bool>,
    /// The tool call of the activity, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
}

/// A change of an earlier report (`activity.delta`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
pub struct ActivityDelta {
    /// The event's id.
    pub id: String,
    /// The thread of the activity.
    pub thread_id: String,
    /// The id of the activity whose report changes.
    pub message_id: String,
    /// As in [`ActivitySnapshot`].
    pub activity_type: String,
    /// A JSON Patch (RFC 6902) of the report's content.
    pub patch: Vec<PatchOperation>,
}

/// The progress of a tool call (`tool-call-progress.v1`; the older `progress` has only the first three fields).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(default)]
#[tsify(missing_as_null)]
pub struct ToolProgress {
    /// Usually from 0 to 1.
    #[tsify(optional)]
    pub progress: Option<f64>,
    /// The total amount of work, in the tool's own unit.
    #[tsify(optional)]
    pub total: Option<f64>,
    /// For people.
    #[tsify(optional)]
    pub message: Option<String>,
    /// The amount of work done, in the tool's own unit.
    #[tsify(optional)]
    pub loaded: Option<f64>,
    /// `"pending"`, `"running"`, `"done"`, `"failed"`, `"cancelled"`, or a newer value.
    #[tsify(optional)]
    pub status: Option<String>,
    /// The call.
    #[tsify(optional)]
    pub call_id: Option<String>,
    /// The tool.
    #[tsify(optional)]
    pub tool_name: Option<String>,
    /// The call that made this one.
    #[tsify(optional)]
    pub parent_call_id: Option<String>,
    /// `"tool_call:"` and the call's id.
    #[tsify(optional)]
    pub node_id: Option<String>,
    /// `"tool_call:"` and the parent call's id, or `"run:"` and the run's id.
    #[tsify(optional)]
    pub parent_node_id: Option<String>,
    /// The run that makes the call. It differs from the turn's if a sub-agent makes the call.
    #[tsify(optional)]
    pub run_id: Option<String>,
    /// The run that started that run.
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

/// The session's messages as the server keeps them (`messages.snapshot`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct MessagesSnapshot {
    /// The event's id.
    pub id: String,
    /// `null`: the event belongs to the whole turn.
    pub thread_id: Option<String>,
    /// The messages, oldest first.
    pub messages: Vec<ThreadMessage>,
}

/// A message in the form of an `AgentEvent` server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
pub struct ThreadMessage {
    /// The id; missing if the sender set none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The role of the sender.
    #[tsify(type = "\"system\" | \"user\" | \"assistant\" | \"tool\" | (string & {})")]
    pub role: String,
    /// A text; for a tool its [`ToolResult`](super::ToolResult) as JSON. Newer servers may send parts.
    #[tsify(type = "string | unknown[]")]
    pub content: serde_json::Value,
    /// The calls that it makes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[tsify(optional)]
    pub tool_calls: Vec<ThreadToolCall>,
    /// The call that it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// `"internal"` if users should not see the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visibility: Option<String>,
    /// The index among the session's messages, from 0 on, if the server sends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<u64>,
    /// Further data of the server.
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
    /// The arguments.
    #[tsify(type = "unknown")]
    pub arguments: serde_json::Value,
}
