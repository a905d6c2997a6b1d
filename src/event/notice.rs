//! News of a turn that are no part of the conversation.

use serde::{Deserialize, Serialize};
use tsify::Tsify;

/// What the server tells of a turn beside what is said in it (`notice`): retries, timeouts, limits, warnings;
/// and what the user said while it ran (`user_message`). Only the protocols that are spoken over a socket have this.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct Notice {
    /// The event's id.
    pub id: String,
    /// `null` where it concerns the whole turn.
    pub thread_id: Option<String>,
    /// How bad it is.
    #[tsify(type = "\"info\" | \"warning\" | \"error\"")]
    pub level: String,
    /// What it is, in the server's words, for example `"item/retry_scheduled"` or `"capability.rejected"`.
    pub code: String,
    /// For people; may be empty.
    pub message: String,
    /// The message or call that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item_id: Option<String>,
    /// All that the server says of it: of `"capability.rejected"` `{ rejected: RejectedCapability[] }`, of
    /// `"prompt_manifest"` a `PromptManifest`, of a notification (`"item/retry_scheduled"`) its parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "unknown")]
    pub details: Option<serde_json::Value>,
}
