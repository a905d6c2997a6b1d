//! The end of a turn (sections 6, 7 and 14): by a notification, or by the server's record.

use crate::error::sentence;
use crate::event::MAIN_THREAD;
use crate::iso::iso;
use crate::json::{Object, Value};
use crate::protocol::EventSink;
use crate::protocol::fields::{event, put, with_text};

use super::super::fields::{number, objects};
use super::Turn;
use super::begin::Life;
use super::items::{Kind, Place};

/// Where the end of a turn is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum EndReport {
    /// In the server's record. Unknown statuses are not an end, since later versions may add some.
    Record,
    /// In a notification that the turn is completed, whatever its status is.
    Completed,
    /// In a notification that the turn has failed.
    Failed,
}

/// The state of a turn.
pub(in super::super) fn state_of(turn: &Object<'_>, report: EndReport) -> Object<'static> {
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
        _ if report == EndReport::Failed => failed(message),
        "Completed" | "completed" => done(),
        _ if report == EndReport::Record => return with_text("status", "running"),
        _ => done(),
    };
    if let Some(code) = error.and_then(|error| error.get("codexErrorInfo")).filter(|code| !code.is_null()) {
        let text = code.as_str().map_or_else(|| code.to_json(), str::to_owned);
        if state.text("status") == "error" {
            put(&mut state, "code", &text);
        }
    }
    if let Some(seconds) = number(turn, "completedAt") {
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

/// Whether a state is terminal.
pub(in super::super) fn is_end(state: &Object<'_>) -> bool {
    state.text("status") != "running"
}

impl Turn {
    /// Takes a report on the turn, and ends the turn if that says so.
    pub(super) fn end(&mut self, turn: &Object<'_>, report: EndReport, sink: &mut dyn EventSink) {
        let mut state = state_of(turn, report);
        if !is_end(&state) {
            return;
        }
        self.created(sink);
        let place = Place::default();
        for item in objects(turn, "items") {
            // Items that cannot be read here were received before.
            let _ = self.item("item/completed", &place, item, sink);
        }
        if let Some(manifest) = turn.object("prompt_manifest")
            && self.facts.is_new("prompt_manifest")
        {
            let level = if manifest.array("diagnostics").is_empty() { "info" } else { "warning" };
            self.notice(0, (level, "prompt_manifest", ""), "", Some(manifest.clone().into()), sink);
        }
        if let Some(metrics) = self.usage.metrics() {
            state.set("metrics", metrics.into());
        }
        if self.timeline.is_behind() {
            // Data of tasks is still to be read.
            self.timeline.ending = Some(state);
            return;
        }
        self.finish(state, sink);
    }

    /// Ends the turn, and everything open in it.
    pub(super) fn finish(&mut self, mut state: Object<'static>, sink: &mut dyn EventSink) {
        self.resolve_all(sink);
        for at in 0..self.items.list.len() {
            self.close(at, sink);
        }
        if state.text("status") == "done"
            && let Some((at, text)) = self.items.answer.take().filter(|(_, text)| !text.is_empty())
            && let Some(item) = self.items.get(at)
        {
            let mut output = event("model.message", item.id.clone(), MAIN_THREAD);
            output.set("content", text.into());
            put(&mut output, "finish_reason", "stop");
            state.set("output", output.into());
        }
        let mut done = event("turn.done", sentence(&[&*self.turn_id, ":done"]), "");
        done.set("state", state.into());
        self.emit(&done, sink);
        // The state is not needed any more.
        let emitted = self.emitted;
        *self = Self::default();
        (self.life, self.emitted) = (Life::Over, emitted);
    }

    /// Closes an item that was never completed: one of a failed attempt, or one that the turn's end cut off. Items of
    /// tasks stay open.
    fn close(&mut self, at: usize, sink: &mut dyn EventSink) {
        let Some(item) = self.items.get(at).filter(|item| item.is_announced && item.thread == 0) else {
            return;
        };
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
        self.emit(&event, sink);
    }
}
