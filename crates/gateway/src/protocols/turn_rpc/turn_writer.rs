//! Writes one turn: its items begin, grow and end, and all subscribers are notified.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use super::envelope::notification;
use super::event::Event;
use super::markdown;
use super::thread::Thread;
use super::traps::{DROP_DELTAS, HUGE_MARKDOWN, LATE_DELTA, NO_MARKDOWN};
use super::turn::Child;
use super::workspace::WORKSPACE;
use crate::faults::Traps;

/// The longest text of which every delta has the Markdown, in bytes. Beyond it the member is left out:
/// the work would grow with the square of the text.
const LONGEST_MARKDOWN: usize = 8 * 1024;

/// Writes one turn.
#[derive(Debug)]
pub(super) struct TurnWriter {
    pub(super) thread: Arc<Thread>,
    pub(super) turn: String,
    pub(super) traps: Arc<Traps>,
    /// Whose task this turn works on.
    pub(super) parent: Option<Parent>,
    deltas: u64,
    /// Deltas that come after the end of their items.
    late: HashMap<String, String>,
}

/// The turn that waits for another one.
#[derive(Debug, Clone)]
pub(super) struct Parent {
    pub(super) thread: Arc<Thread>,
    pub(super) turn: String,
    pub(super) child: Child,
}

/// A piece of an item.
#[derive(Debug, Clone, Copy)]
pub(super) struct Delta<'a> {
    pub(super) method: &'static str,
    pub(super) stream: &'static str,
    pub(super) item: &'a str,
    pub(super) text: &'a str,
    /// The whole text so far, this piece included.
    pub(super) whole: &'a str,
}

/// A piece of an item as it is written. It is frequent, so it is not built from maps.
#[derive(Debug, Serialize)]
struct ItemDelta<'a> {
    workspace_id: &'a str,
    thread_id: &'a str,
    turn_id: &'a str,
    item_id: &'a str,
    delta: &'a str,
    stream: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    markdown: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    markdown_version: Option<u64>,
}

impl TurnWriter {
    pub(super) fn new(thread: Arc<Thread>, turn: String, traps: Arc<Traps>) -> Self {
        Self { thread, turn, traps, parent: None, deltas: 0, late: HashMap::new() }
    }

    pub(super) fn start(&self, item: &Value) {
        self.record(Event::started(item));
    }

    pub(super) fn update(&self, item: &Value) {
        self.record(Event::updated(item));
    }

    pub(super) fn complete(&mut self, item: &Value) {
        self.record(Event::completed(item));
        let late = item["id"].as_str().and_then(|id| self.late.remove(id));
        if let Some(frame) = late {
            self.thread.notify(&self.turn, frame, true);
        }
    }

    pub(super) fn record(&self, event: Event) {
        if self.thread.record(&self.turn, event)
            && let Some(parent) = &self.parent
        {
            parent.notify("child_turn_changed");
        }
    }

    /// Sends a notification that is not kept.
    pub(super) fn notify(&self, method: &str, params: Value) {
        self.thread.notify(&self.turn, notification(method, params), false);
    }

    pub(super) fn delta(&mut self, delta: Delta<'_>) {
        self.deltas += 1;
        if self.traps.number(&DROP_DELTAS).is_some_and(|every| self.deltas.is_multiple_of(every)) {
            return;
        }
        let markdown = self.markdown(delta.whole);
        let params = ItemDelta {
            workspace_id: WORKSPACE,
            thread_id: &self.thread.id,
            turn_id: &self.turn,
            item_id: delta.item,
            delta: delta.text,
            stream: delta.stream,
            payload: payload(delta),
            markdown_version: markdown.is_some().then_some(markdown::VERSION),
            markdown,
        };
        let frame = notification(delta.method, params);
        if !self.traps.has(&LATE_DELTA) {
            self.thread.notify(&self.turn, frame, true);
        } else if let Some(before) = self.late.insert(delta.item.to_owned(), frame) {
            self.thread.notify(&self.turn, before, true);
        }
    }

    fn markdown(&self, whole: &str) -> Option<Value> {
        if self.traps.has(&NO_MARKDOWN) {
            return None;
        }
        if let Some(bytes) = self.traps.number(&HUGE_MARKDOWN) {
            let mut document = markdown::parse(whole);
            let padding =
                json!({"type": "code", "text": "x".repeat(usize::try_from(bytes).unwrap_or_default())});
            document["blocks"].as_array_mut()?.push(padding);
            return Some(document);
        }
        (whole.len() <= LONGEST_MARKDOWN).then(|| markdown::parse(whole))
    }
}

impl Parent {
    /// Notifies that its timeline has changed.
    pub(super) fn notify(&self, reason: &str) {
        let params = json!({
            "workspaceId": WORKSPACE,
            "threadId": self.thread.id,
            "turnId": self.turn,
            "taskId": self.child.task,
            "runId": self.child.run,
            "childThreadId": self.child.thread,
            "childTurnId": self.child.turn,
            "reason": reason,
        });
        self.thread.notify(&self.turn, notification("turn/timeline/changed", params), false);
    }
}

/// The payload of a tool's delta.
fn payload(delta: Delta<'_>) -> Option<Value> {
    match delta.stream {
        "stdout" | "stderr" | "file_change" => Some(json!({"kind": "output_chunk", "truncated": false})),
        "tool_progress" => Some(json!({"kind": "progress", "stage": "running", "metadata": {}})),
        _ => None,
    }
}
