//! Tests of the protocol: the events of frames, the client's conversation, and its requests. Section numbers are the
//! protocol note's.
#![allow(clippy::needless_pass_by_value, reason = "JSON is written where it is used")]

mod chunks;
mod disorder;
mod endings;
mod errors;
mod history;
mod hostile;
mod messages;
mod readings;
mod repeats;
mod requests;
mod same;
mod snapshots;
mod states;
mod waits;

use serde_json::{Value as Json, json};

use super::AgUi;
use super::decoder::RunDecoder;
use crate::json::{Object, Value};
use crate::protocol::tests::seen::Seen;
use crate::protocol::{Call, EventDecoder, Protocol};
use crate::sse::Frame;

/// The pending calls: the kind of action, and their ids.
fn pending(seen: &Seen) -> Vec<String> {
    seen.index.pending().iter().map(|action| format!("{:?} {}", action.kind, action.id)).collect()
}

/// The codes of a stream's warnings.
fn warnings(seen: &Seen) -> Vec<&str> {
    let notices = seen.of("notice").into_iter();
    notices
        .filter(|notice| notice["level"] == "warning")
        .filter_map(|notice| notice["code"].as_str())
        .collect()
}

/// The state in which the turn ended.
fn state(seen: &Seen) -> Json {
    seen.of("turn.done").first().map_or(Json::Null, |done| done["state"].clone())
}

/// A turn and its results.
struct Turn {
    decoder: RunDecoder,
    seen: Seen,
}

impl Turn {
    /// The turn `t` of a page with the tools `mine` and `ours`, in a session with these terms besides.
    fn with(input: &Json, terms: &Json) -> Self {
        let mut decoder = RunDecoder::default();
        with_params(&params(input, terms), |params| decoder.begin(params));
        Self { decoder, seen: Seen::default() }
    }

    fn new() -> Self {
        Self::with(&hello(), &json!({}))
    }

    fn feed(mut self, frames: &[Json]) -> Self {
        for frame in frames {
            let frame = Frame { event: "", data: &frame.to_string(), id: None, has_own_id: false };
            self.decoder.decode(&frame, &mut self.seen);
        }
        self
    }

    /// Ends the stream.
    fn end(mut self) -> Self {
        self.decoder.end(&mut self.seen);
        self
    }

    /// The same, after a stream that repeats its run was requested.
    fn again(self) -> Self {
        let mut turn = self.end();
        with_params(&params(&hello(), &repeating()), |params| turn.decoder.resume(params));
        turn
    }

    /// The client's conversation.
    fn kept(&self) -> Json {
        self.decoder.conversation().map_or(Json::Null, |kept| serde_json::from_str(&kept).expect("JSON"))
    }

    /// The client's messages after the user's first one.
    fn kept_messages(&self) -> Vec<Json> {
        self.kept()["messages"].as_array().expect("messages")[1..].to_vec()
    }

    /// The texts of the shown messages, after their ids: reasoning in brackets, then text, then calls.
    fn shown(&self) -> Vec<String> {
        let messages = self.seen.index.messages().iter().map(|message| {
            let mut shown = format!("{}:", message.id);
            if !message.reasoning().is_empty() {
                shown += &[" [", message.reasoning(), "]"].concat();
            }
            if !message.content().is_empty() {
                shown += &[" ", message.content()].concat();
            }
            for call in message.calls().iter().flatten() {
                shown += &[" ", &call.name, "(", call.arguments(), ")"].concat();
            }
            shown
        });
        messages.collect()
    }
}

/// A message.
fn hello() -> Json {
    json!([{"type": "user.message", "content": "Hi"}])
}

/// The terms of a session whose server repeats runs.
fn repeating() -> Json {
    json!({"recovery": "connect"})
}

fn params(input: &Json, terms: &Json) -> Json {
    let mut terms = terms.clone();
    if terms["conversation"].is_object() {
        terms["conversation"] = terms["conversation"].to_string().into();
    }
    terms["tools"] =
        json!([{"name": "mine", "description": "", "parameters": {}}, {"name": "ours", "description": ""}]);
    json!({"sessionId": "s", "turnId": "t", "agentName": "", "input": input, "terms": terms})
}

fn with_params<T>(params: &Json, then: impl FnOnce(&Object<'_>) -> T) -> T {
    let text = params.to_string();
    then(Value::parse(&text).expect("JSON").as_object().expect("an object"))
}

/// The body of a start with this input, after a turn that left this conversation.
fn sent(input: &Json, terms: &Json) -> Result<Json, crate::Error> {
    let request = with_params(&params(input, terms), |params| {
        AgUi::new().request(Call::CreateTurnStream, params.clone())
    })?;
    assert_eq!(request.path, "", "the base URL is the endpoint");
    Ok(serde_json::from_str(&request.body.expect("a body")).expect("JSON"))
}

/// Reads a run with these frames, from its beginning to its end.
fn run(frames: &[Json]) -> Turn {
    Turn::new().feed(&[started()]).feed(frames).feed(&[finished()]).end()
}

fn started() -> Json {
    json!({"type": "RUN_STARTED", "threadId": "s", "runId": "t"})
}

fn finished() -> Json {
    json!({"type": "RUN_FINISHED", "threadId": "s", "runId": "t"})
}

/// A frame about a message or a call.
fn frame(kind: &str, id: &str, delta: &str) -> Json {
    let name = if kind.starts_with("TOOL_CALL") { "toolCallId" } else { "messageId" };
    let mut frame = json!({"type": kind, name: id});
    if kind.ends_with("_CONTENT") || kind.ends_with("_ARGS") {
        frame["delta"] = delta.into();
    }
    if kind == "TOOL_CALL_START" {
        frame["toolCallName"] = delta.into();
    }
    frame
}

/// A whole text.
fn says(id: &str, text: &str) -> Vec<Json> {
    vec![
        frame("TEXT_MESSAGE_START", id, ""),
        frame("TEXT_MESSAGE_CONTENT", id, text),
        frame("TEXT_MESSAGE_END", id, ""),
    ]
}

/// A whole call of a tool, in a message.
fn calls(id: &str, name: &str, arguments: &str, parent: &str) -> Vec<Json> {
    let mut start = frame("TOOL_CALL_START", id, name);
    if !parent.is_empty() {
        start["parentMessageId"] = parent.into();
    }
    vec![start, frame("TOOL_CALL_ARGS", id, arguments), frame("TOOL_CALL_END", id, "")]
}

fn result(id: &str, call_id: &str, content: &str) -> Json {
    json!({"type": "TOOL_CALL_RESULT", "messageId": id, "toolCallId": call_id, "content": content, "role": "tool"})
}
