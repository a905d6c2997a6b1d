//! Notices about a turn. Not part of the conversation.

use serde::{Deserialize, Serialize};
use tsify::Tsify;

/// A notice about a turn, apart from its messages (`notice`): retries, timeouts, limits, warnings; and messages that
/// the user sent while it ran (`user_message`). Only the socket protocols have this.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct Notice {
    /// The event's id.
    pub id: String,
    /// `null` if the notice belongs to the whole turn.
    pub thread_id: Option<String>,
    /// The severity.
    #[tsify(type = "\"info\" | \"warning\" | \"error\"")]
    pub level: String,
    /// The kind of notice, in the server's words, for example `"item/retry_scheduled"` or `"capability.rejected"`.
    pub code: String,
    /// For people; may be empty.
    pub message: String,
    /// The message or call that the notice belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item_id: Option<String>,
    /// The server's data: for `"capability.rejected"` `{ rejected: RejectedCapability[] }`, for `"prompt_manifest"` a
    /// `PromptManifest`, for a notification (`"item/retry_scheduled"`) its parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "unknown")]
    pub details: Option<serde_json::Value>,
}
