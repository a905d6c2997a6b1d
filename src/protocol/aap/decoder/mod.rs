//! Frames → events: a turn's answer in turnwire's form, streamed or whole.
//!
//! A stream of this protocol has no numbers and no ids, and does not say where a message begins. The decoder adds them
//! ([`turn::Turn`]), by the rule of section 4, so that a history has the same ids.
//!
//! Its memory is bounded: every list has a limit beside it. It keeps the text of the last message, and the arguments of
//! calls until they have a result.

mod begin;
mod body;
mod calls;
mod delta;
mod ending;
mod messages;
#[cfg(test)]
mod tests;
mod turn;

use crate::event::TextField;
use crate::json::{Object, Value};
use crate::protocol::fields::{Problem, missing, text};
use crate::protocol::{EventDecoder, EventSink};
use crate::sse::Frame;

use super::blocks::ToolUse;
use delta::DeltaReader;
use turn::Turn;

/// Reads the answer to one turn's start.
#[derive(Debug, Default)]
pub(super) struct TurnDecoder {
    deltas: DeltaReader,
    turn: Turn,
}

impl EventDecoder for TurnDecoder {
    fn begin(&mut self, params: &Object<'_>) {
        self.turn = Turn::started(params);
    }

    fn decode(&mut self, frame: &Frame<'_>, sink: &mut dyn EventSink) {
        let Self { deltas, turn } = self;
        let field = match frame.event {
            "text_delta" => Some(TextField::Content),
            "thinking_delta" => Some(TextField::Reasoning),
            _ => None,
        };
        if let Some(field) = field
            && let Some(text) = deltas.read(frame.data)
        {
            return turn.piece(field, text, sink);
        }
        // The first end is the end (section 9).
        if turn.is_over {
            return;
        }
        let json = Value::parse(frame.data);
        match json.map_err(|error| error.message()) {
            Ok(json) => turn.frame(frame.event, json, sink),
            Err(problem) => {
                turn.created(sink);
                turn.unknown(frame.event, frame.data.into(), Some(problem), sink);
            }
        }
    }

    fn body(&mut self, body: Value<'_>, sink: &mut dyn EventSink) {
        self.turn.body(body, sink);
    }

    fn restart(&mut self) {
        self.turn.restart();
    }
}

impl Turn {
    /// Reads a frame without the hot path.
    fn frame(&mut self, event: &str, json: Value<'_>, sink: &mut dyn EventSink) {
        let is_first = self.created(sink);
        let known = match json.as_object() {
            Some(fields) => self.read(event, is_first, fields, sink),
            None => Err("it is not an object".to_owned()),
        };
        match known {
            Ok(true) => {}
            Ok(false) => self.unknown(event, json, None, sink),
            Err(problem) => self.unknown(event, json, Some(problem), sink),
        }
    }

    /// Reads a frame by its type. Returns whether the type is known.
    fn read(
        &mut self,
        event: &str,
        is_first: bool,
        fields: &Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<bool, Problem> {
        match event {
            "turn_start" if is_first => {}
            "turn_start" => return Err("the turn has begun already".to_owned()),
            "text_delta" => self.piece(TextField::Content, text(fields, "delta")?, sink),
            "thinking_delta" => self.piece(TextField::Reasoning, text(fields, "delta")?, sink),
            "text" => self.piece(TextField::Content, text(fields, "text")?, sink),
            "thinking" => self.piece(TextField::Reasoning, text(fields, "thinking")?, sink),
            "tool_call" => self.call(ToolUse::of(fields)?, sink)?,
            "tool_result" => {
                let content = fields.get("content").ok_or_else(|| missing("content"));
                self.result(text(fields, "toolCallId")?, content, sink)?;
            }
            "turn_stop" => self.stop(text(fields, "stopReason")?, sink),
            _ => return Ok(false),
        }
        Ok(true)
    }
}
