//! What a turn adds to a conversation, made of its answer in any mode by the rule of the protocol.

use serde_json::{Value, json};

use super::client::{Answer, Frame, Gateway, text};

/// What a turn came to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) stop_reason: String,
    pub(crate) messages: Vec<Value>,
}

impl Outcome {
    pub(crate) fn of(mode: &str, answer: &Answer) -> Self {
        if mode != "none" {
            return Self::of_frames(&answer.frames());
        }
        assert_eq!((answer.status.as_u16(), answer.content_type()), (200, "application/json"));
        let body = answer.json();
        let messages = body["messages"].as_array().expect("messages").clone();
        Self { stop_reason: text(&body["stopReason"]), messages }
    }

    /// Deltas go to the open message, calls too; a result closes it.
    fn of_frames(frames: &[Frame]) -> Self {
        let (first, last) = (frames.first().expect("a frame"), frames.last().expect("a frame"));
        assert_eq!((first.event.as_str(), &first.data), ("turn_start", &json!({})));
        assert_eq!(last.event, "turn_stop");
        let mut messages: Vec<Value> = Vec::new();
        let mut open = false;
        for Frame { event, data } in &frames[1..frames.len() - 1] {
            if event == "tool_result" {
                let mut message = data.clone();
                message["role"] = json!("tool");
                messages.push(message);
                open = false;
                continue;
            }
            if !open {
                messages.push(json!({"role": "assistant", "content": []}));
                open = true;
            }
            let blocks = messages.last_mut().and_then(|message| message["content"].as_array_mut());
            add(blocks.expect("blocks"), event, data);
        }
        Self { stop_reason: text(&last.data["stopReason"]), messages }
    }

    /// The calls without results.
    pub(crate) fn waiting(&self) -> Vec<Value> {
        let settled: Vec<&Value> = self.messages.iter().map(|message| &message["toolCallId"]).collect();
        let waits = |call: &&Value| !settled.contains(&&call["toolCallId"]);
        calls(&self.messages).into_iter().filter(waits).cloned().collect()
    }

    /// All text of the agent.
    pub(crate) fn said(&self) -> String {
        let blocks = blocks(&self.messages);
        blocks.iter().filter_map(|block| block["text"].as_str()).collect()
    }
}

fn add(blocks: &mut Vec<Value>, event: &str, data: &Value) {
    let (kind, field, from) = match event {
        "text_delta" => ("text", "text", "delta"),
        "thinking_delta" => ("thinking", "thinking", "delta"),
        "text" => ("text", "text", "text"),
        "thinking" => ("thinking", "thinking", "thinking"),
        "tool_call" => {
            let mut call = data.clone();
            call["type"] = json!("tool_use");
            return blocks.push(call);
        }
        other => panic!("no event of a message: {other}"),
    };
    let piece = text(&data[from]);
    match blocks.last_mut().filter(|block| block["type"] == kind) {
        Some(block) => block[field] = json!(text(&block[field]) + &piece),
        None => blocks.push(json!({"type": kind, field: piece})),
    }
}

fn blocks(messages: &[Value]) -> Vec<&Value> {
    let assistant = messages.iter().filter(|message| message["role"] == "assistant");
    assistant.flat_map(|message| message["content"].as_array().expect("blocks")).collect()
}

/// All calls of messages.
pub(crate) fn calls(messages: &[Value]) -> Vec<&Value> {
    blocks(messages).into_iter().filter(|block| block["type"] == "tool_use").collect()
}

/// The same messages with the ids of calls by their order, so that two dialogs can be compared.
pub(crate) fn numbered(messages: &[Value]) -> Vec<Value> {
    let mut json = json!(messages).to_string();
    for (number, call) in calls(messages).into_iter().enumerate() {
        json = json.replace(&text(&call["toolCallId"]), &format!("call-{number}"));
    }
    serde_json::from_str(&json).expect("JSON")
}

impl Gateway {
    /// What a turn of these words comes to.
    pub(crate) async fn outcome(&self, session: &str, mode: &str, words: &str) -> Outcome {
        Outcome::of(mode, &self.say(session, mode, words).await)
    }

    /// What a turn of these answers comes to.
    pub(crate) async fn answered(&self, session: &str, mode: &str, answers: Value) -> Outcome {
        Outcome::of(mode, &self.turn(session, mode, answers).await)
    }
}
