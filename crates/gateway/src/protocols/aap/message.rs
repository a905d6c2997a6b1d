//! Messages as they are sent and kept.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::content;

/// One message of a history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub(super) enum Message {
    System {
        content: String,
    },
    User {
        content: Content,
    },
    Assistant {
        content: Content,
    },
    Tool {
        #[serde(rename = "toolCallId")]
        tool_call_id: String,
        content: Content,
    },
}

/// The content of a message: a text, or blocks.
pub(super) type Content = content::Content<Block>;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Block {
    Text { text: String },
    Thinking { thinking: String },
    ToolUse(Call),
    Image { url: String },
}

/// A tool call, complete.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Call {
    #[serde(rename = "toolCallId")]
    pub(super) id: String,
    pub(super) name: String,
    pub(super) input: Map<String, Value>,
}

impl Content {
    /// All text, parts joined by blank lines.
    pub(super) fn text(&self) -> String {
        self.text_by(|block| match block {
            Block::Text { text } => Some(text.as_str()),
            _ => None,
        })
    }

    /// The addresses of all images.
    pub(super) fn images(&self) -> impl Iterator<Item = &str> {
        self.parts().iter().filter_map(|block| match block {
            Block::Image { url } => Some(url.as_str()),
            _ => None,
        })
    }

    /// All calls.
    pub(super) fn calls(&self) -> impl Iterator<Item = &Call> {
        self.parts().iter().filter_map(|block| match block {
            Block::ToolUse(call) => Some(call),
            _ => None,
        })
    }
}

impl Message {
    pub(super) fn result(call: &str, content: Content) -> Self {
        Self::Tool { tool_call_id: call.to_owned(), content }
    }
}

/// The calls of a history's last assistant message that have no result.
pub(super) fn unanswered(history: &[Message]) -> Vec<Call> {
    let Some(last) = history.iter().rposition(|message| matches!(message, Message::Assistant { .. })) else {
        return Vec::new();
    };
    let Message::Assistant { content } = &history[last] else {
        return Vec::new();
    };
    let later = &history[last + 1..];
    if later.iter().any(|message| matches!(message, Message::User { .. })) {
        return Vec::new();
    }
    let answered = |call: &Call| {
        later
            .iter()
            .any(|message| matches!(message, Message::Tool { tool_call_id, .. } if *tool_call_id == call.id))
    };
    content.calls().filter(|call| !answered(call)).cloned().collect()
}

/// How much of a history a compacted one keeps.
const COMPACTED: usize = 10;

/// The end of a history. It never begins with a result whose call is missing.
pub(super) fn compacted(history: &[Message]) -> &[Message] {
    let mut start = history.len().saturating_sub(COMPACTED);
    while matches!(history.get(start), Some(Message::Tool { .. })) {
        start += 1;
    }
    &history[start..]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn history(json: Value) -> Vec<Message> {
        serde_json::from_value(json).expect("a history")
    }

    #[test]
    fn messages_are_kept_as_they_came() {
        let messages = json!([
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image", "url": "data:,"}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "b"},
                {"type": "tool_use", "toolCallId": "c", "name": "d", "input": {"e": 1}},
            ]},
            {"role": "tool", "toolCallId": "c", "content": "f"},
        ]);
        assert_eq!(json!(history(messages.clone())), messages);
    }

    #[test]
    fn calls_wait_until_they_are_answered_or_talked_over() {
        let call = |id: &str| json!({"type": "tool_use", "toolCallId": id, "name": "x", "input": {}});
        let asked = json!({"role": "assistant", "content": [call("a"), call("b")]});
        let answer = json!({"role": "tool", "toolCallId": "a", "content": "1"});
        let waiting = |messages: Value| {
            unanswered(&history(messages)).into_iter().map(|call| call.id).collect::<Vec<_>>()
        };
        assert_eq!(waiting(json!([asked])), ["a", "b"]);
        assert_eq!(waiting(json!([asked, answer])), ["b"]);
        assert!(waiting(json!([asked, {"role": "user", "content": "no"}])).is_empty());
        assert!(waiting(json!([])).is_empty());
    }

    #[test]
    fn a_compacted_history_does_not_begin_with_a_result() {
        let mut all = vec![json!({"role": "tool", "toolCallId": "a", "content": "1"}); 3];
        all.resize(11, json!({"role": "user", "content": "x"}));
        assert_eq!(compacted(&history(json!(all))).len(), 8);
    }
}
