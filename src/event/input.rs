//! The input of a turn: user messages, answers to approvals, results of client-side tools.

use serde::{Deserialize, Serialize};
use tsify::Tsify;

/// One item of a turn's input.
///
/// User messages cannot be mixed with approvals and responses. Approvals and responses can be mixed with each other,
/// and together they must answer every waiting call. A turn paused by `mcp.auth_required` is resumed without input.
///
/// A field that an item, a part or an approval does not accept is refused before anything is sent, with an error that
/// names it. You may build an answer from an action of `snapshot().required_actions`, as `{ ...action, type, approval
/// }`: the action's `name`, `arguments`, `tool_info` and `suspension` are left out.
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
        /// The thread of the required action.
        thread_id: String,
        /// The pending call.
        tool_call_id: String,
        /// Allow it, or deny it.
        approval: Approval,
    },
    /// The answer to `tool.response_required`, one per pending call.
    #[serde(rename = "user.tool_response")]
    ToolResponse {
        /// The thread of the required action.
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
        /// Pieces of the text that represent something else. Only the JSON-RPC turn gateway accepts this.
        #[serde(rename = "textElements", skip_serializing_if = "Option::is_none")]
        text_elements: Option<Vec<TextElement>>,
    },
    /// A file. Events also have the other spelling.
    #[serde(rename = "file")]
    File {
        /// The file's name, as the agent sees it.
        name: String,
        /// `data:<mime>;base64,<payload>`; for protocols that take images by URL, any URL.
        data: String,
        /// The same file in the spelling of the reference pages.
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<FileUpload>,
    },
    /// A file in the spelling of the reference pages. Events also have the other spelling.
    #[serde(rename = "file_upload")]
    FileUpload {
        /// The file.
        file: FileUpload,
        /// `file.filename` in the servers' spelling.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// `file.file_data` in the servers' spelling.
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<String>,
    },
    /// An image by URL. Only the Agent Application Protocol and the socket protocols have this.
    #[serde(rename = "image")]
    Image {
        /// An `https:` URL, or a data URI.
        url: String,
    },
    /// Audio by URL. Only the socket protocols have this and the following parts.
    #[serde(rename = "audio")]
    Audio {
        /// An `https:` URL, or a data URI.
        url: String,
    },
    /// A video by URL.
    #[serde(rename = "video")]
    Video {
        /// An `https:` URL, or a data URI.
        url: String,
    },
    /// An image on the server's machine.
    #[serde(rename = "localImage")]
    LocalImage {
        /// Its path on that machine.
        path: String,
    },
    /// A file on the server's machine.
    #[serde(rename = "localFile")]
    LocalFile {
        /// Its path on that machine.
        path: String,
    },
    /// Audio on the server's machine.
    #[serde(rename = "localAudio")]
    LocalAudio {
        /// Its path on that machine.
        path: String,
    },
    /// A video on the server's machine.
    #[serde(rename = "localVideo")]
    LocalVideo {
        /// Its path on that machine.
        path: String,
    },
    /// An artifact that an agent created.
    #[serde(rename = "artifact", rename_all = "camelCase")]
    Artifact {
        /// The artifact's id.
        artifact_id: String,
        /// The version; by default the last one.
        #[serde(skip_serializing_if = "Option::is_none")]
        version_id: Option<String>,
    },
    /// Something that the text mentions.
    #[serde(rename = "mention")]
    Mention {
        /// Its name in the text.
        name: String,
        /// Its path.
        path: String,
    },
    /// A skill to use.
    #[serde(rename = "skill")]
    Skill {
        /// Its name in the text.
        name: String,
        /// Its path on the server's machine.
        path: String,
    },
}

/// A piece of a text that represents something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct TextElement {
    /// The position of the piece in the text.
    pub byte_range: ByteRange,
    /// The placeholder that it replaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
}

/// A range of a text, in UTF-8 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct ByteRange {
    /// The first byte.
    pub start: u64,
    /// The byte after the last one.
    pub end: u64,
}

/// A file in the spelling of the reference pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct FileUpload {
    /// The file's name, as the agent sees it.
    pub filename: String,
    /// `data:<mime>;base64,<payload>`
    pub file_data: String,
}

/// The decision on a tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum Approval {
    /// The call may run.
    Allow {
        /// The tool may always run from now on. Only the `AgentEvent` protocols, the Agent Application Protocol and
        /// Codex app-server accept this.
        #[serde(skip_serializing_if = "Option::is_none")]
        remember: Option<bool>,
        /// Further data for the server, in the form of `suspension.response_schema`. Only the `AgentEvent` protocols
        /// and Codex app-server accept this.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[tsify(type = "Record<string, unknown>")]
        result: Option<serde_json::Map<String, serde_json::Value>>,
    },
    /// The call must not run.
    Deny {
        /// The tool must never run from now on. Only the `AgentEvent` protocols and the Agent Application Protocol
        /// accept this.
        #[serde(skip_serializing_if = "Option::is_none")]
        remember: Option<bool>,
        /// A reason for the agent.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// Also ends the turn. Only Codex app-server accepts this.
        #[serde(skip_serializing_if = "Option::is_none")]
        cancel: Option<bool>,
    },
}
