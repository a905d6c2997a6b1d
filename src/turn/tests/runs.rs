//! Runs of the `AgentEvent` servers, for tests of turns that no sequence number resumes: `t` says "ab" in seven frames,
//! which are six events.

use std::ops::RangeInclusive;

use serde_json::{Value as Json, json};

use super::play::Play;
use crate::json::Value;
use crate::protocol::agent_event::{AgentEvent, Dialect};

/// A turn of a server that finishes no turn without a reader.
pub(in crate::turn) fn forsaken() -> Play {
    let mut play = Play::of(Box::new(AgentEvent::new(Dialect::Tirea)), Value::from("hi"), "");
    play.driver.set_start("bot", "t");
    play
}

/// A turn of a server that finishes its turns, and may keep their streams.
pub(in crate::turn) fn recorded() -> Play {
    let mut play = Play::of(Box::new(AgentEvent::new(Dialect::Awaken)), Value::from("hi"), "");
    play.driver.set_start("bot", "mine");
    play
}

/// The answers to these calls, as a turn that continues with them.
pub(in crate::turn) fn answering(calls: &[&str], previous_turn_id: &str) -> Play {
    let input: Vec<Json> = calls.iter().map(|call| approval(call)).collect();
    let input = Json::Array(input).to_string();
    let input = Value::parse(&input).expect("JSON");
    let mut play = Play::of(Box::new(AgentEvent::new(Dialect::Awaken)), input, previous_turn_id);
    play.driver.set_start("bot", "mine");
    play
}

pub(in crate::turn) fn approval(call: &str) -> Json {
    json!({"type": "user.tool_approval", "thread_id": "main", "tool_call_id": call,
           "approval": {"status": "allow"}})
}

/// The payloads of the run, from number 1 on.
fn run() -> [Json; 7] {
    [
        json!({"event_type": "run_start", "thread_id": "s", "run_id": "t"}),
        json!({"event_type": "step_start", "message_id": "m"}),
        json!({"event_type": "text_delta", "delta": "a"}),
        json!({"event_type": "text_delta", "delta": "b"}),
        json!({"event_type": "inference_complete", "model": "x", "duration_ms": 1}),
        json!({"event_type": "step_end"}),
        finish(&json!({"type": "natural_end"})),
    ]
}

pub(in crate::turn) fn finish(termination: &Json) -> Json {
    json!({"event_type": "run_finish", "thread_id": "s", "run_id": "t", "termination": termination})
}

pub(in crate::turn) fn payloads(numbers: RangeInclusive<usize>) -> Vec<Json> {
    run()[numbers.start() - 1..*numbers.end()].to_vec()
}

/// The frames of a start's stream.
pub(in crate::turn) fn live(payloads: &[Json]) -> String {
    payloads.iter().map(|payload| format!("data: {payload}\n\n")).collect::<Vec<_>>().concat()
}

/// The same in envelopes, as tirea has them.
pub(in crate::turn) fn wrapped(payloads: &[Json]) -> String {
    let wrap = |payload: &Json| {
        let mut data = payload.clone();
        let members = data.as_object_mut().expect("an object");
        let kind = members.remove("event_type").expect("a type");
        for name in ["run_id", "thread_id"] {
            members.remove(name);
        }
        json!({"type": kind, "run_id": "t", "thread_id": "s", "data": data})
    };
    live(&payloads.iter().map(wrap).collect::<Vec<_>>())
}

/// The frames of an event store's stream, with ids from this number on.
pub(in crate::turn) fn stored(from: usize, payloads: &[Json]) -> String {
    let frames = (from..).zip(payloads);
    frames
        .map(|(at, payload)| format!("id: c{at}\ndata: {}\n\n", envelope(payload)))
        .collect::<Vec<_>>()
        .concat()
}

pub(in crate::turn) fn envelope(payload: &Json) -> Json {
    json!({"event_id": "e", "event_kind": "AgentEvent", "payload": payload})
}

/// A page of an event store.
pub(in crate::turn) fn kept(payloads: &[Json], next: Option<&str>, cursor: &str) -> Json {
    json!({"items": payloads, "next": next, "cursor": cursor})
}

/// The server's record of the turn.
pub(in crate::turn) fn record(state: &Json) -> Json {
    json!({"id": "t", "session_id": "s", "previous_turn_id": null, "state": state,
           "created_at": "2026-07-01T10:00:30Z"})
}

pub(in crate::turn) fn running() -> Json {
    record(&json!({"status": "running"}))
}

pub(in crate::turn) fn done() -> Json {
    record(
        &json!({"status": "done", "output": null, "required_actions": [], "termination": {"type": "natural_end"}}),
    )
}

/// The record of a turn that has waited for these calls since then.
pub(in crate::turn) fn paused(calls: &[&str], since: &str) -> Json {
    let actions: Vec<Json> = calls.iter().map(|call| question(call)).collect();
    record(&json!({"status": "done", "output": null, "required_actions": actions, "completed_at": since,
                   "termination": {"type": "suspended"}}))
}

pub(in crate::turn) fn question(call: &str) -> Json {
    json!({"type": "tool.approval_required", "id": "", "thread_id": "main",
           "tool_calls": [{"id": call, "source_event_id": "", "event_id": "", "name": "f", "arguments": "{}"}]})
}

/// The message as it is listed.
pub(in crate::turn) fn listed(content: &str) -> Json {
    json!({"type": "model.message", "id": "m", "thread_id": "main", "content": content, "finish_reason": "stop"})
}

impl Play {
    /// The calls that the turn waits for.
    pub(in crate::turn) fn waiting(&self) -> Vec<String> {
        self.driver.reader().index().pending().iter().map(|action| action.id.clone()).collect()
    }

    pub(in crate::turn) fn status(&self) -> &'static str {
        self.driver.reader().machine().status().as_str()
    }
}
