//! Frames → events: a run's stream in turnwire's form.
//!
//! A stream of this protocol has no reliable numbers, repeats parts of itself, and leaves out what readers can add. So
//! the reader of frames keeps the state of the run ([`Run`]), and each file here handles one kind of frame. The
//! same frames always become the same events, with the same numbers and ids, so a stream can be read again from its
//! beginning.
//!
//! The state is bounded: every list has a limit beside it. It keeps only the text of calls' arguments, until a call has
//! its result, and of held reports.

mod activity;
mod calls;
mod delta;
mod ending;
mod fields;
mod messages;
mod nested;
mod report;
mod results;
mod run;
mod state;
#[cfg(test)]
mod tests;
mod waiting;

use crate::event::{EventRef, MAIN_THREAD};
use crate::json::{Object, Value, write_u64};
use crate::protocol::{EventDecoder, EventSink};
use crate::sse::{self, Frame};

use activity::Activities;
use calls::Call;
use delta::{DeltaReader, Part};
use ending::{Failure, Totals};
use fields::{Problem, event, unknown, wrong};
use messages::Message;
use nested::Lineage;
use run::Head;
use waiting::Waiting;

/// Reads the frames of one run's stream, whichever dialect each of them is in.
#[derive(Debug, Default)]
pub(super) struct RunDecoder {
    deltas: DeltaReader,
    run: Run,
}

/// The state of a run.
#[derive(Debug, Default)]
struct Run {
    /// The number of events so far.
    emitted: u64,
    /// The run's id, once the stream has sent it.
    id: String,
    /// The run's thread on the server: turnwire's session.
    session: String,
    /// The last message that began.
    message: Option<Message>,
    calls: Vec<Call>,
    /// The waiting calls.
    waiting: Vec<Waiting>,
    activities: Activities,
    lineage: Lineage,
    /// The last `error` of the run.
    failure: Option<Failure>,
    totals: Totals,
}

impl EventDecoder for RunDecoder {
    fn decode(&mut self, frame: &Frame<'_>, sink: &mut dyn EventSink) {
        let Self { deltas, run } = self;
        if let Some(delta) = deltas.read(frame.data.as_bytes(), Part::Data) {
            run.flush(sink);
            // A delta that the run refuses is read again by the general reader.
            if run.delta(delta.meaning.field, &delta.meaning.call_id, delta.text, sink).is_ok() {
                return;
            }
        }
        match Value::parse(frame.data) {
            Ok(json) => run.frame(frame.event, json, sink),
            Err(error) => run.unknown(None, frame.data.into(), Some(error.message()), sink),
        }
    }

    fn run(&mut self, bytes: &[u8], sink: &mut dyn EventSink) -> sse::Run {
        let Self { deltas, run } = self;
        let mut taken = sse::Run::default();
        while let Some(rest) = bytes.get(taken.len..).filter(|rest| !rest.is_empty()) {
            let Some(delta) = deltas.read(rest, Part::Frame) else { break };
            // After a frame without an id, the stream resumes nowhere, so the last frame with one ends the run.
            if delta.found.id.is_none() && taken.id.is_some() {
                break;
            }
            run.flush(sink);
            if run.delta(delta.meaning.field, &delta.meaning.call_id, delta.text, sink).is_err() {
                break;
            }
            taken.id = delta.found.id.map(|(start, end)| (taken.len + start, taken.len + end));
            taken.len += delta.len;
        }
        taken
    }

    fn end(&mut self, sink: &mut dyn EventSink) {
        self.run.stream_ended(sink);
    }

    fn restart(&mut self) {
        self.run = Run::default();
    }
}

impl Run {
    /// The number of the next event.
    fn next_number(&mut self) -> u64 {
        self.emitted += 1;
        self.emitted
    }

    /// The id of the next event, if it has none of its own.
    fn next_id(&self) -> String {
        let mut id = self.id.clone();
        id.push(':');
        write_u64(&mut id, self.emitted + 1);
        id
    }

    /// The beginning of the next event, in the main thread.
    fn main_event<'a>(&self, kind: &'static str) -> Object<'a> {
        event(kind, self.next_id(), MAIN_THREAD)
    }

    /// The beginning of the next event, if it belongs to the whole turn.
    fn turn_event<'a>(&self, kind: &'static str) -> Object<'a> {
        event(kind, self.next_id(), "")
    }

    /// Emits an event.
    fn emit(&mut self, event: &Object<'_>, sink: &mut dyn EventSink) {
        let number = self.next_number();
        sink.event(number, EventRef::of(event));
    }

    /// Emits an event for data that could not be read.
    fn unknown(
        &mut self,
        wire_type: Option<String>,
        raw: Value<'_>,
        problem: Option<String>,
        sink: &mut dyn EventSink,
    ) {
        self.flush(sink);
        self.emit(&unknown(wire_type.map_or(Value::Null, Value::from), raw, problem), sink);
    }

    /// Takes a frame by the general way. `event` is its type for the stream, which only event stores use.
    fn frame(&mut self, event: &str, mut json: Value<'_>, sink: &mut dyn EventSink) {
        // An event store keeps frames in envelopes (section 5), together with frames that streams do not have.
        if json.get("event_kind").is_some() {
            match json.as_object_mut().and_then(|envelope| envelope.get_mut("payload")) {
                Some(payload) if payload.get("event_type").is_some() => json = std::mem::take(payload),
                _ => return,
            }
        }
        let Some(root) = json.as_object_mut() else {
            return self.unknown(None, json, Some("it is not an object".to_owned()), sink);
        };
        let is_flat = root.get("event_type").is_some_and(Value::is_string);
        let wire_type = root.get(if is_flat { "event_type" } else { "type" }).and_then(Value::as_str);
        let wire_type = wire_type.map(str::to_owned);
        if wire_type.as_deref() != Some("activity_snapshot") {
            self.flush(sink);
        }
        let known = match &wire_type {
            Some(wire_type) => self.read(wire_type, is_flat, root, sink),
            None if event == "error" => self.stream_failed(root, sink).map(|()| true),
            None => Err("it has no `type`".to_owned()),
        };
        match known {
            Ok(true) => {}
            Ok(false) => self.unknown(wire_type, json, None, sink),
            Err(problem) => self.unknown(wire_type, json, Some(problem), sink),
        }
    }

    /// Reads a frame by its type. Returns whether the type is known.
    fn read(
        &mut self,
        wire_type: &str,
        is_flat: bool,
        root: &mut Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<bool, Problem> {
        let head = Head::of(is_flat, root);
        let has_data = root.get("data").is_some_and(|data| !data.is_null());
        let mut nothing = Object::new();
        let fields = if is_flat || (wire_type == "error" && !has_data) {
            // A relay's error has its fields at the top, too (section 1.4).
            root
        } else if has_data {
            let data = root.get_mut("data").and_then(Value::as_object_mut);
            data.ok_or_else(|| wrong("data", "an object"))?
        } else {
            &mut nothing
        };
        match wire_type {
            "run_start" => self.run_start(&head, fields, sink),
            "run_finish" => self.run_finish(&head, fields, sink),
            "step_start" => self.step_start(fields, sink),
            "step_end" => {
                self.step_end();
                Ok(())
            }
            "text_delta" | "reasoning_delta" | "tool_call_delta" => self.any_delta(wire_type, fields, sink),
            "reasoning_encrypted_value" => self.reasoning_encrypted(fields, sink),
            "inference_complete" => self.inference_complete(fields, sink),
            "stream_reset" => self.stream_reset(fields, sink),
            "tool_call_start" => self.call_start(fields, sink),
            "tool_call_ready" => self.call_ready(fields, sink),
            "tool_call_cancel" => self.call_cancel(fields, sink),
            "tool_call_stream_delta" => self.call_output(fields, sink),
            "tool_call_done" => self.call_done(&head, fields, sink),
            "tool_call_resumed" => self.call_resumed(&head, fields, sink),
            "state_snapshot" => self.state_snapshot(fields, sink),
            "state_delta" => self.state_delta(fields, sink),
            "messages_snapshot" => self.messages_snapshot(fields, sink),
            "activity_snapshot" => self.activity_snapshot(fields, sink),
            "activity_delta" => self.activity_delta(fields, sink),
            "error" => self.error(fields, sink),
            _ => return Ok(false),
        }
        .map(|()| true)
    }
}
