//! Turns made of related events: few messages, threads and calls, so that events refer to each other.
//!
//! Random bytes hardly ever produce a second event about the call of a first one.

use std::borrow::Cow;
use std::fmt::Write;

use arbitrary::{Arbitrary, Unstructured};
use serde_json::{Value as Json, json};

use crate::input::{Input, Plan};

/// How many events a generated stream has at most: more make slow runs.
const MOST: usize = 64;

/// The stream that an input stands for: its bytes as they are, or frames of generated events.
pub fn stream(input: &[u8]) -> (Plan, Cow<'_, [u8]>) {
    let is_generated = input.first().is_some_and(|first| first & 1 == 1);
    let (mut plan, bytes) = Input::of(input);
    if !is_generated {
        return (plan, bytes.into());
    }
    let events = Vec::<Event<'_>>::arbitrary_take_rest(Unstructured::new(bytes)).unwrap_or_default();
    let frames = frames(&mut plan, &events[..events.len().min(MOST)]);
    (plan, frames.into_bytes().into())
}

/// Most are numbered as servers do it.
fn frames(plan: &mut Plan, events: &[Event<'_>]) -> String {
    let mut frames = String::new();
    let mut number = 0_u64;
    let is_regular = !plan.once_in(4);
    let is_in_json = plan.once_in(3);
    for event in events {
        number += 1;
        let data = match event {
            Event::Text(text) => text.replace(['\r', '\n'], " "),
            event => event.json().to_string(),
        };
        if let Some(members) = data.strip_suffix('}').filter(|_| is_in_json && !plan.once_in(8)) {
            let odd = ["-1", "1.0", "\"1\"", "null", "9007199254740992"].get(plan.below(40));
            let said = odd.map_or_else(|| number.to_string(), |odd| (*odd).to_owned());
            let id = if plan.once_in(8) { format!("id: {number}\n") } else { String::new() };
            let _ = write!(frames, "{id}data: {members},\"sequence_number\":{said}}}\n\n");
            continue;
        }
        // Writing into a string cannot fail.
        let _ = match plan.below(if is_regular { 1 } else { 8 }) {
            5 => write!(frames, "data: {data}\n\n"),
            6 => write!(frames, "id: {}\ndata: {data}\n\n", number.saturating_sub(2)),
            7 => write!(frames, ": a comment\nid: x{number}\nevent: e\ndata: {data}\n\n"),
            _ => write!(frames, "data: {data}\nid: {number}\n\n"),
        };
    }
    frames
}

/// A message by its number; its thread follows from that.
#[derive(Debug, Clone, Copy, Arbitrary)]
struct Message(u8);

impl Message {
    fn id(self) -> String {
        format!("m{}", self.0 % 5)
    }

    fn thread(self) -> &'static str {
        Thread(self.0 % 5).id()
    }
}

#[derive(Debug, Clone, Copy, Arbitrary)]
struct Thread(u8);

impl Thread {
    fn id(self) -> &'static str {
        ["main", "main", "t1", "t2", "main"][usize::from(self.0 % 5)]
    }
}

/// Some models number their calls from the start in every message.
#[derive(Debug, Clone, Copy, Arbitrary)]
struct Call(u8);

impl Call {
    fn id(self) -> String {
        format!("c{}", self.0 % 3)
    }

    fn index(self) -> Json {
        match self.0 / 3 {
            80 => json!(1023),
            81 => json!(1024),
            82 => json!(-1),
            index => json!(index % 3),
        }
    }
}

#[derive(Debug, Arbitrary)]
enum Event<'a> {
    Created { turn: bool },
    Base { message: Message, text: &'a str, is_whole: bool, has_parts: bool, call: Option<Call> },
    Content { message: Message, text: &'a str, time: bool },
    Reasoning { message: Message, text: &'a str },
    Refusal { message: Message, text: &'a str },
    Call { message: Message, call: Call, text: &'a str, has_info: bool },
    Arguments { message: Message, call: Call, text: &'a str },
    Several { message: Message, calls: (Call, Call), text: &'a str },
    Finish { message: Message },
    Response { thread: Thread, call: Call, text: &'a str },
    Required { thread: Thread, calls: (Call, Call), source: Message, is_approval: bool },
    SignIn { server: bool },
    ThreadCreated { thread: Thread, parent: Thread, call: Call },
    ThreadDone { thread: Thread, output: Option<Message>, text: &'a str },
    Servers { text: &'a str },
    Sandbox { text: &'a str },
    Done { status: u8, output: Option<Message>, waits: Option<(Thread, Call, Message)>, text: &'a str },
    Text(&'a str),
}

impl Event<'_> {
    /// The event as a server writes it.
    fn json(&self) -> Json {
        let delta = |message: Message, fields: Json| with(head("model.message.delta", message), fields);
        match *self {
            Event::Created { turn } => json!({
                "type": "turn.created", "id": "e1", "turn_id": if turn { "u1" } else { "u2" },
                "created_by": {"subject_id": "u", "subject_type": "user", "subject_slug": "ada@example.com"},
                "created_at": TIME, "input": [{"type": "user.message", "content": "Hi"}]
            }),
            Event::Base { message, text, is_whole, has_parts, call } => {
                let mut base = head("model.message", message);
                base["content"] = json!(text);
                if has_parts {
                    base["content"] =
                        json!([{"type": "text", "text": text}, {"type": "refusal", "refusal": "no"}]);
                }
                if is_whole {
                    base["finish_reason"] = json!("stop");
                }
                if let Some(call) = call {
                    base["tool_calls"] = json!([null, whole_call(call, text)]);
                }
                base
            }
            Event::Content { message, text, time: true } => {
                delta(message, json!({"content": text, "created_at": TIME}))
            }
            Event::Content { message, text, time: false } => delta(message, json!({"content": text})),
            Event::Reasoning { message, text } => delta(message, json!({"reasoning_content": text})),
            Event::Refusal { message, text } => delta(message, json!({"refusal": text, "content": text})),
            Event::Call { message, call, text, has_info } => {
                let mut fields = whole_call(call, text);
                fields["index"] = call.index();
                if !has_info {
                    fields["tool_info"] = Json::Null;
                }
                delta(message, json!({"tool_calls": [fields]}))
            }
            Event::Arguments { message, call, text } => {
                let call = json!({"index": call.index(), "function": {"arguments": text}});
                delta(message, json!({"tool_calls": [call]}))
            }
            Event::Several { message, calls: (one, other), text } => {
                let call = |call: Call| json!({"index": call.index(), "function": {"arguments": text}});
                delta(
                    message,
                    json!({"tool_calls": [call(one), null, call(other)], "reasoning_content": text}),
                )
            }
            Event::Finish { message } => delta(
                message,
                json!({"finish_reason": "tool_calls", "usage": {"input_tokens": 1, "output_tokens": 2}}),
            ),
            Event::Response { thread, call, text } => json!({
                "type": "tool.response", "id": format!("r-{text}"), "thread_id": thread.id(),
                "tool_call_id": call.id(), "content": text
            }),
            Event::Required { thread, calls: (one, other), source, is_approval } => {
                required(thread, &[one, other], source, is_approval)
            }
            Event::SignIn { server } => sign_in(server),
            Event::ThreadCreated { thread, parent, call } => json!({
                "type": "thread.created", "id": "e3", "thread_id": thread.id(), "title": "A task",
                "parent": {"thread_id": parent.id(), "tool_call_id": call.id()},
                "agent_info": {"type": "dynamic", "name": "reader"}
            }),
            Event::ThreadDone { thread, output, text } => {
                let state = match output {
                    Some(message) => json!({"status": "done", "output": whole(message, text)}),
                    None => json!({"status": "error", "error": text}),
                };
                json!({"type": "thread.done", "id": "e4", "thread_id": thread.id(), "state": state})
            }
            Event::Servers { text } => json!({
                "type": "mcp.initialize", "id": "e5", "thread_id": "main",
                "mcp_servers": [{"id": text, "name": text, "transport_type": "http"}]
            }),
            Event::Sandbox { text } => json!({"type": "sandbox.created", "id": "e6", "sandbox_id": text}),
            Event::Done { status, output, waits, text } => {
                let actions = waits.map(|(thread, call, source)| required(thread, &[call], source, true));
                let status = ["done", "done", "cancelled", "error", "running", text][usize::from(status % 6)];
                json!({"type": "turn.done", "id": "e7", "state": {
                    "status": status, "message": text, "completed_at": TIME,
                    "output": output.map(|message| whole(message, text)),
                    "required_actions": Vec::from_iter(actions)
                }})
            }
            Event::Text(text) => json!(text),
        }
    }
}

const TIME: &str = "2026-11-20T09:00:01.000Z";

fn head(kind: &str, message: Message) -> Json {
    json!({"type": kind, "id": message.id(), "thread_id": message.thread()})
}

fn with(mut event: Json, fields: Json) -> Json {
    if let (Some(event), Json::Object(fields)) = (event.as_object_mut(), fields) {
        event.extend(fields);
    }
    event
}

fn whole(message: Message, text: &str) -> Json {
    with(head("model.message", message), json!({"content": text, "finish_reason": "stop"}))
}

fn whole_call(call: Call, text: &str) -> Json {
    json!({
        "id": call.id(), "type": "function", "function": {"name": "restart", "arguments": text},
        "tool_info": {"type": "mcp", "server_id": "s1", "server_name": "console", "name": "restart"},
        "provider_specific_fields": {"signature": text}
    })
}

fn required(thread: Thread, calls: &[Call], source: Message, is_approval: bool) -> Json {
    let kind = if is_approval { "tool.approval_required" } else { "tool.response_required" };
    let calls: Vec<Json> =
        calls.iter().map(|call| json!({"id": call.id(), "source_event_id": source.id()})).collect();
    json!({"type": kind, "id": "e2", "thread_id": thread.id(), "tool_calls": calls})
}

fn sign_in(server: bool) -> Json {
    let id = if server { "s1" } else { "s2" };
    json!({"type": "mcp.auth_required", "id": "e8", "thread_id": null,
           "mcp_servers": [{"id": id, "name": id, "auth_url": "https://a.example/x"}]})
}
