//! Tests of the index: how events are joined, which actions are pending, and that its changes are complete.

mod actions;
mod agent;
mod agent_messages;
mod calls;
mod changes;
mod mirror;
mod news;
mod patches;
mod properties;
mod threads;

use serde_json::{Value as Json, json};

use crate::event::{EventRef, TextDelta};
use crate::index::EventIndex;
use crate::json::Value;
use crate::protocol::truefoundry::{Dialect, TrueFoundry};
use crate::protocol::{EventSink, Protocol};
use crate::sse::Frame;

impl EventSink for EventIndex {
    fn delta(&mut self, _: u64, delta: TextDelta<'_>) {
        self.append(&delta);
    }

    fn event(&mut self, _: u64, event: EventRef<'_>) {
        self.apply(event);
    }
}

/// Passes in wire events as a stream does: on the hot path, and all others.
fn feed<'j>(index: &mut EventIndex, events: impl IntoIterator<Item = &'j Json>) {
    let mut decoder = TrueFoundry::new(Dialect::Gateway).decoder();
    for event in events {
        let data = event.to_string();
        decoder.decode(&Frame { event: "", data: &data, id: None, has_own_id: false }, index);
    }
}

fn index_of(events: &[Json]) -> EventIndex {
    let mut index = EventIndex::new();
    feed(&mut index, events);
    index
}

/// Passes in events that are already in turnwire's form.
fn apply<'j>(index: &mut EventIndex, events: impl IntoIterator<Item = &'j Json>) {
    for event in events {
        let json = event.to_string();
        let json = Value::parse(&json).expect("JSON");
        index.apply(EventRef::of(json.as_object().expect("an object")));
    }
}

/// The changes for events in turnwire's form: the same, however often they are taken, and whether text is released or
/// kept.
fn told(events: &[Json]) -> mirror::Mirror {
    let mirrors =
        [(false, false), (false, true), (true, false), (true, true)].map(|(releases_text, is_taken)| {
            let (mut index, mut mirror) = (EventIndex::new(), mirror::Mirror::default());
            if releases_text {
                index.release_taken_text();
            }
            for event in events {
                apply(&mut index, [event]);
                if is_taken {
                    mirror.follow(&mut index);
                }
            }
            mirror.follow(&mut index);
            mirror
        });
    let [first, others @ ..] = mirrors;
    for other in others {
        assert_eq!(first, other, "{events:?}");
    }
    first
}

/// A message that is a list of complete calls.
fn called(id: &str, calls: &[&str]) -> Json {
    let calls: Vec<Json> = calls
        .iter()
        .map(|call| json!({"id": call, "type": "function", "function": {"name": "f", "arguments": "{}"}}))
        .collect();
    json!({"type": "model.message", "id": id, "thread_id": "main", "content": "", "tool_calls": calls,
           "finish_reason": "tool_calls"})
}

fn base(thread: &str, id: &str) -> Json {
    json!({"type": "model.message", "id": id, "thread_id": thread, "created_at": "2026-07-01T10:00:00Z"})
}

fn content(thread: &str, id: &str, text: &str) -> Json {
    json!({"type": "model.message.delta", "id": id, "thread_id": thread, "content": text})
}

fn reasoning(thread: &str, id: &str, text: &str) -> Json {
    json!({"type": "model.message.delta", "id": id, "thread_id": thread, "reasoning_content": text})
}

/// The first piece of a call.
fn call(thread: &str, id: &str, index: u32, call_id: &str, name: &str) -> Json {
    json!({"type": "model.message.delta", "id": id, "thread_id": thread, "tool_calls": [{
        "index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": ""},
        "tool_info": {"type": "truefoundry-system", "name": format!("shown {name}")}
    }]})
}

fn arguments(thread: &str, id: &str, index: u32, text: &str) -> Json {
    json!({"type": "model.message.delta", "id": id, "thread_id": thread,
           "tool_calls": [{"index": index, "function": {"arguments": text}}]})
}

fn finish(thread: &str, id: &str, reason: &str) -> Json {
    json!({"type": "model.message.delta", "id": id, "thread_id": thread, "finish_reason": reason,
           "usage": {"input_tokens": 1, "output_tokens": 2}})
}

fn response(thread: &str, call_id: &str, content: &str) -> Json {
    json!({"type": "tool.response", "id": format!("r-{call_id}"), "thread_id": thread,
           "tool_call_id": call_id, "content": content})
}

fn required(kind: &str, thread: &str, calls: &[&str], source: &str) -> Json {
    let calls: Vec<Json> =
        calls.iter().map(|call| json!({"id": call, "source_event_id": source, "event_id": source})).collect();
    json!({"type": kind, "id": "q", "thread_id": thread, "tool_calls": calls})
}

fn approval(thread: &str, calls: &[&str], source: &str) -> Json {
    required("tool.approval_required", thread, calls, source)
}

fn question(thread: &str, calls: &[&str], source: &str) -> Json {
    required("tool.response_required", thread, calls, source)
}

fn sign_in(server: &str) -> Json {
    json!({"type": "mcp.auth_required", "id": "q", "thread_id": null,
           "mcp_servers": [{"id": server, "name": server, "auth_url": "https://a.example"}]})
}

fn thread_created(id: &str, parent: &str, call_id: &str) -> Json {
    json!({"type": "thread.created", "id": "e", "thread_id": id, "title": format!("title of {id}"),
           "parent": {"thread_id": parent, "tool_call_id": call_id},
           "agent_info": {"type": "dynamic", "name": id, "input": "go"}})
}

fn thread_done(id: &str, state: &Json) -> Json {
    json!({"type": "thread.done", "id": "e", "thread_id": id, "title": format!("title of {id}"), "state": state})
}

fn turn_done(required_actions: &[Json]) -> Json {
    json!({"type": "turn.done", "id": "e",
           "state": {"status": "done", "output": null, "required_actions": required_actions}})
}

fn turn_ended(status: &str) -> Json {
    json!({"type": "turn.done", "id": "e", "state": {"status": status, "message": "m", "reason": "r"}})
}
