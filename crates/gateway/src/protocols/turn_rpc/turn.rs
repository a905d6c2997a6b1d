//! One turn as it is kept: its state, its durable events, and what its tasks did.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use super::event::{Event, ItemRef, Place};
use super::reply::Reply;
use crate::{json, store};

/// The state of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) enum Status {
    InProgress,
    Completed,
    Failed,
    Interrupted,
}

/// A durable event with its number.
#[derive(Debug, Clone)]
pub(super) struct Stored {
    pub(super) sequence: u64,
    /// In milliseconds.
    pub(super) occurred_at: i64,
    pub(super) event: Event,
}

impl Stored {
    pub(super) fn show(&self, place: Place<'_>) -> Value {
        json!({
            "sequence": self.sequence,
            "created_at": self.occurred_at / 1000,
            "payload": self.event.payload(place),
        })
    }
}

/// What happened to a task of a turn.
#[derive(Debug, Clone)]
pub(super) struct TaskEvent {
    pub(super) task: String,
    pub(super) run: String,
    pub(super) sequence: u64,
    pub(super) occurred_at: i64,
    pub(super) event: Value,
    /// Whether it is listed only on request.
    pub(super) collapsed: bool,
}

/// The turn of another thread that works on a task of this one.
#[derive(Debug, Clone)]
pub(super) struct Child {
    pub(super) task: String,
    pub(super) run: String,
    pub(super) thread: String,
    pub(super) turn: String,
}

/// A recovery that runs.
#[derive(Debug, Clone)]
pub(super) struct Job {
    pub(super) id: String,
    pub(super) item: ItemRef,
    pub(super) attempt: u64,
}

/// What is sent when a turn begins, held back because the agent is faster.
#[derive(Debug)]
pub(super) struct Opening {
    pub(super) reply: Reply,
    /// How many notifications of the agent come before.
    pub(super) left: u32,
    pub(super) events: Vec<Event>,
}

/// A turn of a thread.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) id: String,
    pub(super) status: Status,
    pub(super) error: Option<String>,
    /// Whether it works on a task of another turn.
    pub(super) is_task: bool,
    pub(super) manifest: Option<Value>,
    pub(super) input: Value,
    /// In milliseconds.
    pub(super) began: i64,
    pub(super) ended: i64,
    pub(super) events: Vec<Stored>,
    pub(super) tasks: Vec<TaskEvent>,
    pub(super) children: Vec<Child>,
    pub(super) job: Option<Job>,
    pub(super) opening: Option<Opening>,
    /// The same turn as the gateway's own endpoints see it.
    pub(super) kept: Arc<store::Turn>,
}

impl Record {
    pub(super) fn new(kept: Arc<store::Turn>, input: Value) -> Self {
        Self {
            id: kept.id.clone(),
            status: Status::InProgress,
            error: None,
            is_task: false,
            manifest: None,
            input,
            began: now(),
            ended: 0,
            events: Vec::new(),
            tasks: Vec::new(),
            children: Vec::new(),
            job: None,
            opening: None,
            kept,
        }
    }

    pub(super) fn is_running(&self) -> bool {
        self.status == Status::InProgress
    }

    /// As it is shown. The account of the prompt is known when the turn is over.
    pub(super) fn show(&self) -> Value {
        let (kind, origin) =
            if self.is_task { ("task_run", "attached_task") } else { ("conversation", "user") };
        let mut turn = json!({"id": self.id, "status": self.status, "turn_kind": kind, "origin": origin});
        json::add(&mut turn, [("error", self.error.as_ref())]);
        json::add(&mut turn, [("prompt_manifest", self.manifest.as_ref().filter(|_| !self.is_running()))]);
        turn
    }

    pub(super) fn last_sequence(&self) -> u64 {
        self.events.last().map_or(0, |stored| stored.sequence)
    }

    pub(super) fn store(&mut self, event: Event) {
        let sequence = self.last_sequence() + 1;
        self.events.push(Stored { sequence, occurred_at: now(), event });
    }

    /// The durable events with the turn's own beginning and end, as a history lists them.
    pub(super) fn history(&self, place: Place<'_>) -> Vec<Value> {
        let entry = |sequence: u64, at: i64, payload: Value| json!({"turn_id": self.id, "sequence": sequence, "created_at": at / 1000, "payload": payload});
        let mut began = self.show();
        began["status"] = json!(Status::InProgress);
        let own = |kind: &str, turn: Value| json!({"type": kind, "workspaceId": place.workspace, "threadId": place.thread, "turn": turn});
        let mut first = own("turnStarted", began);
        first["input"] = self.input.clone();
        let mut history = vec![entry(0, self.began, first)];
        history.extend(
            self.events
                .iter()
                .map(|stored| entry(stored.sequence, stored.occurred_at, stored.event.payload(place))),
        );
        let kind = match self.status {
            Status::InProgress => return history,
            Status::Completed => "turnCompleted",
            Status::Failed | Status::Interrupted => "turnFailed",
        };
        history.push(entry(self.last_sequence() + 1, self.ended, own(kind, self.show())));
        history
    }
}

/// The present in milliseconds.
pub(super) fn now() -> i64 {
    crate::time::now().as_millisecond()
}

/// An account of the prompt.
pub(super) fn manifest(diagnostics: &[Value]) -> Value {
    json!({
        "compiler_version": "1",
        "profile": "assistant_full",
        "section_ids": ["identity", "tools"],
        "fingerprint_stable": "sha256:5ca1ab1e",
        "fingerprint_dynamic": "sha256:d15ea5ed",
        "fingerprint_full": "sha256:c0ffee11",
        "diagnostics": diagnostics,
        "hook_sources": [],
    })
}
