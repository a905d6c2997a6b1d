//! How a turn ends (sections 6, 7 and 14): by one notification, or by what the server keeps of it.

use crate::error::sentence;
use crate::event::MAIN_THREAD;
use crate::iso::iso;
use crate::json::{Object, Value};
use crate::protocol::EventSink;
use crate::protocol::fields::{event, put, with_text};

use super::Turn;
use super::items::{Kind, Place};

/// Where a turn is told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Told {
    /// Among what the server keeps. Words that are not known are no end: later versions have more of them.
    Kept,
    /// By a notification that it is done, whatever its status is called.
    Completed,
    /// By a notification that it has failed.
    Failed,
}

/// The state that a turn is in.
pub(in super::super) fn state_of(turn: &Object<'_>, told: Told) -> Object<'static> {
    let error = turn.get("error");
    let message = error.and_then(|error| error.as_str().or_else(|| error.get("message")?.as_str()));
    let message = message.unwrap_or_default();
    let mut state = match turn.text("status") {
        "Interrupted" | "interrupted" => {
            let mut state = with_text("status", "cancelled");
            put(&mut state, "reason", if message.is_empty() { "interrupted" } else { message });
            state
        }
        "Failed" | "failed" => failed(message),
        _ if told == Told::Failed => failed(message),
        "Completed" | "completed" => done(),
        _ if told == Told::Kept => return with_text("status", "running"),
        _ => done(),
    };
    if let Some(code) = error.and_then(|error| error.get("codexErrorInfo")).filter(|code| !code.is_null()) {
        let text = code.as_str().map_or_else(|| code.to_json(), str::to_owned);
        if state.text("status") == "error" {
            put(&mut state, "code", &text);
        }
    }
    if let Some(seconds) = turn.get("completedAt").and_then(Value::as_u64) {
        state.set("completed_at", iso(seconds.saturating_mul(1000)).into());
    }
    state
}

fn done() -> Object<'static> {
    let mut state = with_text("status", "done");
    state.set("output", Value::Null);
    state.set("required_actions", Vec::new().into());
    state
}

fn failed(message: &str) -> Object<'static> {
    let mut state = with_text("status", "error");
    put(&mut state, "message", if message.is_empty() { "the turn failed" } else { message });
    state
}

/// Whether a state is an end.
pub(in super::super) fn is_end(state: &Object<'_>) -> bool {
    state.text("status") != "running"
}

impl Turn {
    /// The turn has ended, as the server says here.
    pub(super) fn end(&mut self, turn: &Object<'_>, told: Told, sink: &mut dyn EventSink) {
        let mut state = state_of(turn, told);
        if !is_end(&state) {
            return;
        }
        self.created(sink);
        let place = Place::default();
        for item in turn.array("items").iter().filter_map(Value::as_object) {
            // What cannot be read here has come by itself.
            let _ = self.item("item/completed", &place, item, sink);
        }
        if let Some(manifest) = turn.object("prompt_manifest")
            && self.is_new_fact("prompt_manifest")
        {
            let level = if manifest.array("diagnostics").is_empty() { "info" } else { "warning" };
            self.notice((level, "prompt_manifest", ""), "", Some(manifest.clone().into()), sink);
        }
        if let Some(metrics) = self.usage.metrics() {
            state.set("metrics", metrics.into());
        }
        if self.timeline.is_behind() {
            // Tasks have brought something that is still to be read.
            self.ending = Some(state);
            return;
        }
        self.finish(state, sink);
    }

    /// Ends the turn, and whatever is open in it: nothing more comes of that.
    pub(super) fn finish(&mut self, mut state: Object<'static>, sink: &mut dyn EventSink) {
        self.all_answered(sink);
        for at in 0..self.items.len() {
            self.close(at, sink);
        }
        if state.text("status") == "done"
            && let Some((at, text)) = self.answer.take().filter(|(_, text)| !text.is_empty())
            && let Some(item) = self.items.get(at)
        {
            let mut output = event("model.message", item.id.clone(), MAIN_THREAD);
            output.set("content", text.into());
            put(&mut output, "finish_reason", "stop");
            state.set("output", output.into());
        }
        let mut done = event("turn.done", sentence(&[&*self.turn_id, ":done"]), "");
        done.set("state", state.into());
        self.give(&done, sink);
        // Nothing of it is asked for any more.
        *self = Self { is_begun: true, is_over: true, given: self.given, ..Self::default() };
    }

    /// Closes an item that was never completed: a failed attempt's, or one that the turn's end cut off. Those of tasks
    /// go on.
    fn close(&mut self, at: usize, sink: &mut dyn EventSink) {
        let Some(item) = self.items.get(at).filter(|item| item.is_told && item.thread == 0) else { return };
        if item.is_completed || item.kind == Kind::Calls {
            return;
        }
        let mut event = if item.kind == Kind::Call {
            let mut cancelled = event("tool.cancelled", self.next_id(), MAIN_THREAD);
            put(&mut cancelled, "tool_call_id", &item.id);
            put(&mut cancelled, "reason", "the turn has ended");
            cancelled
        } else {
            event("model.message.delta", item.id.clone(), MAIN_THREAD)
        };
        if item.kind != Kind::Call {
            put(
                &mut event,
                "finish_reason",
                if item.calls.is_empty() { "interrupted" } else { "tool_calls" },
            );
        }
        self.give(&event, sink);
    }
}
