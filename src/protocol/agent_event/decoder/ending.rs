//! The end of a run (sections 1.3 to 1.5): `run_finish`, or an `error` after which the stream ends.

use crate::error::sentence;
use crate::index::MAIN_THREAD;
use crate::json::{Object, Value};
use crate::protocol::EventSink;

use super::fields::{Problem, event, object, optional_text, put, text, with_text};
use super::run::{Head, Run};

/// The data of an `error`.
#[derive(Debug)]
pub(super) struct Failure {
    message: String,
    code: String,
}

/// The token counts: the server's name of each, its name in a message's usage and in a turn's metrics. The first two
/// are always present.
const TOKENS: [(&str, &str, &str); 5] = [
    ("prompt_tokens", "input_tokens", "total_input_tokens"),
    ("completion_tokens", "output_tokens", "total_output_tokens"),
    ("cache_read_tokens", "cache_read_tokens", "total_cache_read_tokens"),
    ("cache_creation_tokens", "cache_write_tokens", "total_cache_write_tokens"),
    ("thinking_tokens", "reasoning_tokens", "total_reasoning_tokens"),
];

/// The token counts of all messages together.
#[derive(Debug, Default)]
pub(super) struct Totals([Option<u64>; 5]);

impl Totals {
    /// Adds a message's usage, and returns it in turnwire's form.
    pub(super) fn add<'a>(&mut self, said: &Object<'_>) -> Object<'a> {
        let mut usage = Object::new();
        for (at, ((name, field, _), total)) in TOKENS.iter().zip(&mut self.0).enumerate() {
            let count = said.get(name).and_then(Value::as_u64);
            if let Some(count) = count.or((at < 2).then_some(0)) {
                usage.set(field, count.into());
                *total = Some(total.unwrap_or(0).saturating_add(count));
            }
        }
        usage
    }

    /// A turn's metrics, if any usage was reported.
    fn metrics(&self) -> Option<Object<'static>> {
        let [Some(input), Some(output), ..] = self.0 else { return None };
        let mut metrics = object("total_tokens", input.saturating_add(output).into());
        for ((_, _, field), total) in TOKENS.iter().zip(self.0) {
            if let Some(total) = total {
                metrics.set(field, total.into());
            }
        }
        Some(metrics)
    }
}

impl Run {
    /// An error on the server. The run's end says whether the run failed.
    pub(super) fn error(&mut self, fields: &Object<'_>, sink: &mut dyn EventSink) -> Result<(), Problem> {
        let message = text(fields, "message")?;
        let code = optional_text(fields, "code")?.unwrap_or_default();
        self.give_error(message, code, sink);
        self.failure = Some(Failure { message: message.to_owned(), code: code.to_owned() });
        Ok(())
    }

    /// An event store cannot continue its stream (section 5). The run itself has not failed.
    pub(super) fn stream_failed(
        &mut self,
        root: &Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        self.give_error(text(root, "error")?, "", sink);
        Ok(())
    }

    fn give_error(&mut self, message: &str, code: &str, sink: &mut dyn EventSink) {
        let mut error = self.turn_event("server.error");
        put(&mut error, "message", message);
        if !code.is_empty() {
            put(&mut error, "code", code);
        }
        self.give(&error, sink);
    }

    /// The run has ended, or waits for the client.
    pub(super) fn run_finish(
        &mut self,
        head: &Head,
        fields: &mut Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        if self.id.is_empty() {
            // A failure before the beginning.
            self.id.clone_from(&head.run_id);
        } else if !head.run_id.is_empty() && head.run_id != self.id {
            return Err("it is of another run".to_owned());
        }
        let termination = fields.object("termination").cloned().unwrap_or_default();
        let result = fields.get_mut("result").map(std::mem::take).unwrap_or_default();
        let mut state = match termination.text("type") {
            "cancelled" => self.cancelled(sink),
            "suspended" => self.suspended(sink),
            "natural_end" | "behavior_requested" | "plugin_requested" | "stopped" => self.done(&result, sink),
            _ => self.failed(&termination, sink),
        };
        if let Some(metrics) = self.totals.metrics() {
            state.set("metrics", metrics.into());
        }
        head.stamp(&mut state, "completed_at");
        if !termination.text("type").is_empty() {
            state.set("termination", termination.into());
        }
        if !result.is_null() && state.text("status") == "done" {
            state.set("result", result);
        }
        let mut done = self.turn_event("turn.done");
        head.stamp(&mut done, "created_at");
        done.set("state", state.into());
        self.failure = None;
        self.give(&done, sink);
        Ok(())
    }

    fn done<'a>(&mut self, result: &Value<'_>, sink: &mut dyn EventSink) -> Object<'a> {
        self.finish_message("stop", sink);
        let response = result.as_object().map_or("", |result| result.text("response"));
        let mut state = with_text("status", "done");
        let output = if response.is_empty() { Value::Null } else { self.output(response).into() };
        state.set("output", output);
        state.set("required_actions", Vec::new().into());
        state
    }

    /// The answer: the text of the last message.
    fn output<'a>(&self, response: &str) -> Object<'a> {
        let id = self.message.as_ref().map_or_else(|| self.next_id(), |message| message.id.clone());
        let mut output = event("model.message", id, MAIN_THREAD);
        put(&mut output, "content", response);
        output.set("finish_reason", "stop".into());
        output
    }

    fn cancelled<'a>(&mut self, sink: &mut dyn EventSink) -> Object<'a> {
        self.finish_message("cancelled", sink);
        let mut state = with_text("status", "cancelled");
        state.set("reason", Value::Null);
        state
    }

    fn suspended<'a>(&mut self, sink: &mut dyn EventSink) -> Object<'a> {
        self.finish_message("stop", sink);
        let mut state = with_text("status", "done");
        state.set("output", Value::Null);
        state.set("required_actions", self.report_all(sink).into());
        state
    }

    /// The run failed, was blocked, or ended in an unknown way.
    fn failed<'a>(&mut self, termination: &Object<'_>, sink: &mut dyn EventSink) -> Object<'a> {
        self.finish_message("error", sink);
        let said = termination.text("value");
        let before = self.failure.as_ref();
        let message = match termination.text("type") {
            "error" if !said.is_empty() => said.to_owned(),
            "error" => before.map_or_else(|| "the run failed".to_owned(), |failure| failure.message.clone()),
            "blocked" if said.is_empty() => "the run was blocked".to_owned(),
            "blocked" => sentence(&["the run was blocked: ", said]),
            "" => "the run ended, and the server did not say how".to_owned(),
            newer => sentence(&["the run ended with the unknown termination `", newer, "`"]),
        };
        failed_state(message, before.map_or("", |failure| &failure.code))
    }

    /// The stream has ended. After an `error` this is also the run's end: a run that another one replaced, or whose
    /// stream could not continue, has no other.
    pub(super) fn stream_ended(&mut self, sink: &mut dyn EventSink) {
        self.flush(sink);
        let Some(failure) = self.failure.take() else { return };
        self.finish_message("error", sink);
        let mut done = self.turn_event("turn.done");
        let mut state = failed_state(failure.message, &failure.code);
        if let Some(metrics) = self.totals.metrics() {
            state.set("metrics", metrics.into());
        }
        done.set("state", state.into());
        self.give(&done, sink);
    }
}

fn failed_state<'a>(message: String, code: &str) -> Object<'a> {
    let mut state = with_text("status", "error");
    state.set("message", message.into());
    if !code.is_empty() {
        put(&mut state, "code", code);
    }
    state
}
