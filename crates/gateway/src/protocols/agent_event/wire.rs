//! Events as frames: one line of `data:`, nothing else.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::canonical::EventStore;
use super::event::{ErrorData, Event, Termination};
use super::message::Message;
use super::run::Run;
use super::server::Dialect;
use super::traps::{ERROR_EOF, LEAK, RELAY_ERROR, UNKNOWN_TERMINATION};
use crate::faults::Traps;
use crate::http::write_frame;
use crate::time::now_ms;

/// The envelope of a frame (`AgentEvent` protocol, envelope); keys in the order of the wire.
#[derive(Debug, Serialize)]
struct Envelope {
    #[serde(rename = "type")]
    kind: Value,
    #[serde(flatten)]
    context: Option<Context>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    data: Map<String, Value>,
}

#[derive(Debug, Clone, Serialize)]
struct Context {
    run_id: String,
    thread_id: String,
    seq: u64,
    timestamp_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    step_id: Option<String>,
}

/// Writes the frames of one run.
pub(super) struct Wire {
    dialect: Dialect,
    run: Arc<Run>,
    events: Option<Arc<EventStore>>,
    pub(super) traps: Traps,
    seq: u64,
    step: Option<u32>,
    next_step: u32,
    /// Nothing more is written after a broken end.
    broken: bool,
}

impl Wire {
    pub(super) fn new(
        dialect: Dialect,
        run: Arc<Run>,
        events: Option<Arc<EventStore>>,
        traps: Traps,
    ) -> Self {
        Self { dialect, run, events, traps, seq: 0, step: None, next_step: 0, broken: false }
    }

    /// Whether the stream ended early.
    pub(super) fn is_broken(&self) -> bool {
        self.broken
    }

    /// Assigns later frames to a new step, and returns its number.
    pub(super) fn begin_step(&mut self) -> u32 {
        let step = self.next_step;
        (self.step, self.next_step) = (Some(step), step + 1);
        step
    }

    /// Assigns later frames to no step.
    pub(super) fn end_step(&mut self) {
        self.step = None;
    }

    pub(super) fn send(&mut self, mut event: Event) {
        if self.broken {
            return;
        }
        if let Event::RunFinish(finish) = &mut event
            && self.traps.has(&UNKNOWN_TERMINATION)
        {
            finish.termination = Termination::QuotaExhausted { limit: 3 }.into();
        }
        if let Some(events) = &self.events {
            events.observe(&self.run, &event);
        }
        let terminal = matches!(event, Event::RunFinish(_));
        match self.dialect {
            Dialect::Tirea => self.write(&self.envelope(&event)),
            Dialect::Awaken => self.write(&event),
        }
        self.seq += 1;
        if !terminal {
            self.break_off();
        }
    }

    /// A frame of an unknown type or form.
    pub(super) fn send_raw(&mut self, frame: &Value) {
        if !self.broken {
            self.write(frame);
            self.seq += 1;
            self.break_off();
        }
    }

    /// Stores a message, after so many others.
    pub(super) fn committed(&self, message: &Message, before: usize) {
        let Some(events) = &self.events else {
            return;
        };
        let payload = json!({
            "thread_id": self.run.thread,
            "run_id": self.run.id,
            "message_id": message.id,
            "message_seq": before + 1,
            "role": message.role,
            "content_blocks": message.show(self.dialect)["content"],
        });
        events.note(&self.run, "MessageCommitted", &payload);
    }

    /// A write was refused: the stream ends without a terminal event.
    pub(super) fn conflict(&mut self, reason: &str) {
        let message = format!("State error: state commit failed: checkpoint append failed: {reason}");
        self.send(Event::Error(ErrorData { message, code: Some("STATE_ERROR".to_owned()) }));
        self.broken = true;
    }

    /// Ends the stream where a trap demands it.
    fn break_off(&mut self) {
        if self.traps.number(&ERROR_EOF) == Some(self.seq) {
            self.traps.take(&ERROR_EOF);
            self.conflict("Version conflict: expected 1, actual 2");
        } else if self.traps.number(&RELAY_ERROR) == Some(self.seq) {
            self.write(&json!({"type": "error", "message": "upstream relay failed", "code": "RELAY_ERROR"}));
            self.broken = true;
        }
    }

    fn write(&self, frame: &impl Serialize) {
        self.run.turn.log.append(|_, bytes| write_frame(bytes, "", frame, ""));
    }

    fn envelope(&self, event: &Event) -> Envelope {
        let context = Context {
            run_id: self.run.id.clone(),
            thread_id: self.run.thread.clone(),
            seq: self.seq,
            timestamp_ms: now_ms(),
            step_id: self.step.map(|step| format!("step:{step}")),
        };
        let context = if self.traps.has(&LEAK) && !matches!(event, Event::RunStart(_) | Event::RunFinish(_)) {
            leaked(context)
        } else {
            Some(context)
        };
        let mut data = match serde_json::to_value(event) {
            Ok(Value::Object(data)) => data,
            _ => Map::new(),
        };
        let kind = data.remove("event_type").unwrap_or_default();
        // The envelope contains these.
        for name in ["thread_id", "run_id", "identity"] {
            data.remove(name);
        }
        Envelope { kind, context, data }
    }
}

/// An envelope as the real server confuses them: of another run, late, or empty.
fn leaked(own: Context) -> Option<Context> {
    match own.seq % 4 {
        1 => Some(Context {
            run_id: format!("leaked-run-{}", own.seq % 3),
            thread_id: format!("leaked-thread-{}", own.seq % 3),
            seq: own.seq.saturating_mul(7) % 50,
            timestamp_ms: own.timestamp_ms.saturating_sub(60_000),
            step_id: Some("step:9".to_owned()),
        }),
        2 => Some(Context { seq: own.seq - 1, step_id: None, ..own }),
        3 => None,
        _ => Some(own),
    }
}
