//! An answer that is not streamed (section 4): the same events as from a stream, each message in a few pieces.

use crate::event::TextField;
use crate::json::{Object, Value};
use crate::protocol::EventSink;
use crate::protocol::fields::{Problem, missing, text};

use super::super::blocks::{Block, ToolUse, blocks, content};
use super::turn::Turn;

impl Turn {
    /// Reads an answer. One that does not say how the turn ended is like a stream that breaks off.
    pub(super) fn body(&mut self, body: Value<'_>, sink: &mut dyn EventSink) {
        if self.is_over {
            return;
        }
        self.created(sink);
        let read = match body.as_object() {
            Some(answer) => self.answer_body(answer, sink),
            None => Err("it is not an object".to_owned()),
        };
        match read {
            Ok(reason) => self.stop(&reason, sink),
            Err(problem) => self.unknown("", body, Some(problem), sink),
        }
    }

    /// Reads the messages of an answer. Returns the reason why the turn ended.
    fn answer_body(&mut self, answer: &Object<'_>, sink: &mut dyn EventSink) -> Result<String, Problem> {
        let Some(Value::Array(messages)) = answer.get("messages") else {
            return Err("it has no list `messages`".to_owned());
        };
        for message in messages {
            let role = message.as_object().map_or("", |message| message.text("role"));
            match (role, message.as_object()) {
                ("assistant", Some(message)) => self.spoken(message, sink),
                ("tool", Some(fields)) => {
                    let content = fields.get("content").ok_or_else(|| missing("content"));
                    let call_id = text(fields, "toolCallId");
                    if let Err(problem) = call_id.and_then(|call_id| self.result(call_id, content, sink)) {
                        self.unknown(role, message.clone(), Some(problem), sink);
                    }
                }
                _ => self.unknown(role, message.clone(), None, sink),
            }
        }
        text(answer, "stopReason").map(str::to_owned)
    }

    /// Reads a message of the agent, which continues the open one.
    fn spoken(&mut self, message: &Object<'_>, sink: &mut dyn EventSink) {
        for block in blocks(content(message)) {
            match block {
                Block::Text(text) => self.piece(TextField::Content, text, sink),
                Block::Thinking(text) => self.piece(TextField::Reasoning, text, sink),
                Block::Call(fields) => {
                    if let Err(problem) = ToolUse::of(fields).and_then(|call| self.call(call, sink)) {
                        self.unknown("tool_use", fields.clone().into(), Some(problem), sink);
                    }
                }
                Block::Image(_, block) | Block::Other(block) => {
                    let kind = block.as_object().map_or("", |block| block.text("type")).to_owned();
                    self.unknown(&kind, block.clone(), None, sink);
                }
            }
        }
    }
}
