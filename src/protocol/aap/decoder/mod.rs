//! Frames → events: a turn's answer in turnwire's form, streamed or whole.
//!
//! A stream of this protocol has no numbers and no ids, and does not say where a message begins. The decoder adds them
//! ([`Turn`]), by the rule of section 4, so that a history has the same ids.
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

use crate::event::{EventRef, TextField};
use crate::json::{Object, Value};
use crate::protocol::fields::{Problem, missing, text, text_or_null, unknown};
use crate::protocol::{EventDecoder, EventSink};
use crate::sse::{Frame, Run};

use super::blocks::ToolUse;
use super::ids;
use calls::Call;
use delta::DeltaReader;
use messages::Message;

/// Reads the answer to one turn's start.
#[derive(Debug, Default)]
pub(super) struct TurnDecoder {
    deltas: DeltaReader,
    turn: Turn,
}

/// The state of a turn.
#[derive(Debug, Default)]
struct Turn {
    start: Start,
    /// The number of events so far.
    emitted: u64,
    is_begun: bool,
    is_over: bool,
    /// The last message that began.
    message: Option<Message>,
    /// The number of messages so far.
    messages: u64,
    calls: Vec<Call>,
}

/// The parameters of a turn's start. The answer does not repeat them.
#[derive(Debug, Default, Clone)]
struct Start {
    turn_id: String,
    previous_turn_id: Value<'static>,
    input: Value<'static>,
    /// The names of the client's own tools.
    own_tools: Vec<String>,
}

impl EventDecoder for TurnDecoder {
    fn begin(&mut self, params: &Object<'_>) {
        self.turn = Turn::started(params);
    }

    fn decode(&mut self, frame: &Frame<'_>, sink: &mut dyn EventSink) {
        let turn = &mut self.turn;
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

    fn run(&mut self, bytes: &[u8], sink: &mut dyn EventSink) -> Run {
        let Self { deltas, turn } = self;
        let mut len = 0;
        while let Some(rest) = bytes.get(len..).filter(|rest| !rest.is_empty()) {
            let Some(piece) = deltas.read(rest) else { break };
            turn.piece(*piece.meaning, piece.text, sink);
            len += piece.len;
        }
        Run { len, id: None }
    }

    fn body(&mut self, body: Value<'_>, sink: &mut dyn EventSink) {
        self.turn.body(body, sink);
    }

    fn restart(&mut self) {
        self.turn.restart();
    }
}

impl Turn {
    /// The same turn from its beginning.
    fn restart(&mut self) {
        *self = Self { start: std::mem::take(&mut self.start), ..Self::default() };
    }

    /// The number of the next event.
    fn next_number(&mut self) -> u64 {
        self.emitted += 1;
        self.emitted
    }

    /// The id of the next event, if it has none of its own.
    fn next_id(&self) -> String {
        ids::event(&self.start.turn_id, self.emitted + 1)
    }

    /// Emits an event.
    fn emit(&mut self, event: &Object<'_>, sink: &mut dyn EventSink) {
        let number = self.next_number();
        sink.event(number, EventRef::of(event));
    }

    /// Emits an event for data that could not be read.
    fn unknown(
        &mut self,
        wire_type: &str,
        raw: Value<'_>,
        problem: Option<Problem>,
        sink: &mut dyn EventSink,
    ) {
        self.emit(&unknown(text_or_null(wire_type), raw, problem), sink);
    }

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
            "turn_start" => return Err("the turn has already begun".to_owned()),
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
