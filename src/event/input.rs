//! What a turn is given: user messages, answers to approvals, results of client-side tools.

use serde::{Deserialize, Serialize};
use tsify::Tsify;

/// One item of a turn's input.
///
/// User messages cannot be mixed with approvals and responses; approvals and responses can be mixed
/// with each other, and together they must answer every call that waits. A turn paused by
/// `mcp.auth_required` is resumed with no input at all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(tag = "type")]
pub enum TurnInputItem {
    /// The user's next message.
    #[serde(rename = "user.message")]
    UserMessage {
        /// Plain text, or parts.
        content: UserContent,
    },
    /// The answer to `tool.approval_required`, one per pending call.
    #[serde(rename = "user.tool_approval")]
    ToolApproval {
        /// The thread named by the required action.
        thread_id: String,
        /// The pending call.
        tool_call_id: String,
        /// Allow it, or deny it.
        approval: Approval,
    },
    /// The answer to `tool.response_required`, one per pending call.
    #[serde(rename = "user.tool_response")]
    ToolResponse {
        /// The thread named by the required action.
        thread_id: String,
        /// The pending call.
        tool_call_id: String,
        /// The result that the agent gets.
        content: String,
    },
}

/// The content of a user's message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[serde(untagged)]
pub enum UserContent {
    /// Plain text.
    Text(String),
    /// Text and files, in order.
    Parts(Vec<ContentPart>),
}

/// A part of a user's message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[serde(tag = "type")]
pub enum ContentPart {
    /// Text.
    #[serde(rename = "text")]
    Text {
        /// The text.
        text: String,
    },
    /// A file. On an event it carries the other spelling as well.
    #[serde(rename = "file")]
    File {
        /// The file's name, as the agent sees it.
        name: String,
        /// `data:<mime>;base64,<payload>`
        data: String,
        /// The same, as the reference pages spell it.
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<FileUpload>,
    },
    /// A file, as the reference pages spell it. On an event it carries the other spelling as well.
    #[serde(rename = "file_upload")]
    FileUpload {
        /// The file.
        file: FileUpload,
        /// `file.filename`, as servers spell it.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// `file.file_data`, as servers spell it.
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<String>,
    },
    /// An image by its address. Only the Agent Application Protocol has this.
    #[serde(rename = "image")]
    Image {
        /// An `https:` address, or a data URI.
        url: String,
    },
}

/// A file in the reference pages' spelling.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct FileUpload {
    /// The file's name, as the agent sees it.
    pub filename: String,
    /// `data:<mime>;base64,<payload>`
    pub file_data: String,
}

/// The verdict on a tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum Approval {
    /// The call may run.
    Allow {
        /// It may always run from now on. Only the `AgentEvent` protocols have this; others leave it out.
        #[serde(skip_serializing_if = "Option::is_none")]
        remember: Option<bool>,
        /// What the server is told besides, of the form that `suspension.response_schema` says. Only the
        /// `AgentEvent` protocols have this; others leave it out.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[tsify(type = "Record<string, unknown>")]
        result: Option<serde_json::Map<String, serde_json::Value>>,
    },
    /// The call must not run.
    Deny {
        /// It must not run from now on. Only the `AgentEvent` protocols have this; others leave it out.
        #[serde(skip_serializing_if = "Option::is_none")]
        remember: Option<bool>,
        /// Told to the agent.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}
