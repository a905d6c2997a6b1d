//! What a turn is given: user messages, answers to approvals, results of client-side tools.

use serde::{Deserialize, Serialize};
use tsify::Tsify;

/// One item of a turn's input.
///
/// User messages cannot be mixed with approvals and responses; approvals and responses can be mixed
/// with each other, and together they must answer every call that waits. A turn paused by
/// `mcp.auth_required` is resumed with no input at all.
///
/// A field that an item, a part or an approval does not take is refused by its name, before anything is sent. An answer
/// may be made of an action of `snapshot().required_actions`, `{ ...action, type, approval }`: the action's `name`,
/// `arguments`, `tool_info` and `suspension` are left out.
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
        /// What stands for something else in it. Only the JSON-RPC turn gateway takes this.
        #[serde(rename = "textElements", skip_serializing_if = "Option::is_none")]
        text_elements: Option<Vec<TextElement>>,
    },
    /// A file. On an event it carries the other spelling as well.
    #[serde(rename = "file")]
    File {
        /// The file's name, as the agent sees it.
        name: String,
        /// `data:<mime>;base64,<payload>`; for the JSON-RPC turn gateway any address.
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
    /// An image by its address. Only the Agent Application Protocol and those over a socket have this.
    #[serde(rename = "image")]
    Image {
        /// An `https:` address, or a data URI.
        url: String,
    },
    /// Sound by its address. This and the following ones only the protocols over a socket have.
    #[serde(rename = "audio")]
    Audio {
        /// An `https:` address, or a data URI.
        url: String,
    },
    /// A film by its address.
    #[serde(rename = "video")]
    Video {
        /// An `https:` address, or a data URI.
        url: String,
    },
    /// An image on the server's machine.
    #[serde(rename = "localImage")]
    LocalImage {
        /// Where it is there.
        path: String,
    },
    /// A file on the server's machine.
    #[serde(rename = "localFile")]
    LocalFile {
        /// Where it is there.
        path: String,
    },
    /// Sound on the server's machine.
    #[serde(rename = "localAudio")]
    LocalAudio {
        /// Where it is there.
        path: String,
    },
    /// A film on the server's machine.
    #[serde(rename = "localVideo")]
    LocalVideo {
        /// Where it is there.
        path: String,
    },
    /// Something that an agent has made.
    #[serde(rename = "artifact", rename_all = "camelCase")]
    Artifact {
        /// The artifact.
        artifact_id: String,
        /// Which version of it; the last one by default.
        #[serde(skip_serializing_if = "Option::is_none")]
        version_id: Option<String>,
    },
    /// Something that the text speaks of.
    #[serde(rename = "mention")]
    Mention {
        /// Its name in the text.
        name: String,
        /// What it is.
        path: String,
    },
    /// A skill that is to be used.
    #[serde(rename = "skill")]
    Skill {
        /// Its name in the text.
        name: String,
        /// Where it is on the server's machine.
        path: String,
    },
}

/// A piece of a text that stands for something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct TextElement {
    /// Which piece of the text.
    pub byte_range: ByteRange,
    /// What stands there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
}

/// A piece of a text, in bytes of its UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct ByteRange {
    /// Its first byte.
    pub start: u64,
    /// The byte after its last.
    pub end: u64,
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
        /// It may always run from now on. Only the `AgentEvent` protocols, the Agent Application Protocol and Codex
        /// app-server take this.
        #[serde(skip_serializing_if = "Option::is_none")]
        remember: Option<bool>,
        /// What the server is told besides, of the form that `suspension.response_schema` says. Only the
        /// `AgentEvent` protocols and Codex app-server take this.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[tsify(type = "Record<string, unknown>")]
        result: Option<serde_json::Map<String, serde_json::Value>>,
    },
    /// The call must not run.
    Deny {
        /// It must not run from now on. Only the `AgentEvent` protocols and the Agent Application Protocol take this.
        #[serde(skip_serializing_if = "Option::is_none")]
        remember: Option<bool>,
        /// Told to the agent.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The turn ends with it. Only Codex app-server takes this.
        #[serde(skip_serializing_if = "Option::is_none")]
        cancel: Option<bool>,
    },
}
