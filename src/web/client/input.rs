//! The input of a turn.

use crate::event::{ContentPart, TurnInputItem, UserContent};

/// The start of a turn: a user's message, or answers to the session's pending calls.
#[derive(Debug, Clone, Default)]
pub struct TurnOptions {
    /// The items. Empty to continue after an authorization.
    pub input: Vec<TurnInputItem>,
    /// `"auto"` follows the session's last turn (the default), `"none"` follows none, and an id branches off from that
    /// turn, if the protocol supports it.
    pub previous_turn_id: Option<String>,
    /// Lets a user's message discard pending calls, if the protocol supports it. By default such a message is refused.
    pub discard_pending: bool,
    /// More options of the start, as a JSON object (`turn-rpc`, `codex`). By default none.
    pub turn_options: Option<serde_json::Value>,
}

impl From<&str> for TurnOptions {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<String> for TurnOptions {
    fn from(text: String) -> Self {
        TurnInputItem::UserMessage { content: UserContent::Text(text) }.into()
    }
}

impl From<Vec<ContentPart>> for TurnOptions {
    fn from(parts: Vec<ContentPart>) -> Self {
        TurnInputItem::UserMessage { content: UserContent::Parts(parts) }.into()
    }
}

impl From<TurnInputItem> for TurnOptions {
    fn from(item: TurnInputItem) -> Self {
        vec![item].into()
    }
}

impl From<Vec<TurnInputItem>> for TurnOptions {
    fn from(input: Vec<TurnInputItem>) -> Self {
        Self { input, ..Self::default() }
    }
}
