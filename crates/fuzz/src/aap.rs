//! Target `aap`: the response to a turn of the Agent Application Protocol becomes the same events however a stream is
//! cut into chunks, and whichever way its frames are read. Whole responses, to a turn or to any other call, are read or
//! refused. A turn that a history contains is found in it with its events.

use serde_json::{Value as Json, json};
use turnwire::event::{EventKind, EventRef};
use turnwire::json::{Object, Value};
use turnwire::protocol::aap::Aap;
use turnwire::protocol::{Answer, Call, EventDecoder, Protocol};
use turnwire::sse::{Frame, FrameDecoder};

use crate::input::{Input, Plan};
use crate::plain;
use crate::sink::{self, Sink};

/// Runs the target.
pub fn run(input: &[u8]) {
    let (mut plan, bytes) = Input::of(input);
    let text = String::from_utf8_lossy(bytes);
    let document = Value::parse(&text).ok();
    let params = params(&mut plan, document.as_ref()).to_string();
    let params = Value::parse(&params).expect("JSON");
    let params = params.as_object().expect("an object");
    let whole = events(params, &[bytes], &str::to_owned);
    for chunks in [vec![bytes], plan.cut(bytes), bytes.chunks(1).collect()] {
        assert_eq!(events(params, &chunks, &str::to_owned), whole, "in {} chunks", chunks.len());
        assert_eq!(sink::run(decoder(params), &chunks), whole, "in {} chunks, in runs", chunks.len());
    }
    let general: Vec<_> = events(params, &[bytes], &with_a_list).iter().map(known).collect();
    let hot: Vec<_> = whole.iter().map(known).collect();
    assert_eq!(general, hot, "the general way and the hot path");
    if let Some(document) = document {
        check_body(params, &document);
    }
    check_answers(&mut plan, params, &text);
}

/// The parameters of a turn that could be one of this history: of its words, or its calls.
fn params(plan: &mut Plan, document: Option<&Value<'_>>) -> Json {
    let mut items = vec![json!({"type": "user.message", "content": "Hi"})];
    collect(document.unwrap_or(&Value::Null), &mut items);
    let item = items.swap_remove(plan.below(items.len()));
    let history = ["full", "compacted"][plan.below(2)];
    let mut params = json!({"sessionId": "s", "turnId": "t", "input": [item], "isBegun": plan.once_in(2),
        "terms": {"history": history, "images": ["data", "http"], "tools": ["get_weather", "get_time"]}});
    if plan.once_in(2) {
        params["said"] = plan.below(4).into();
    }
    params
}

/// What users said, and which calls were made.
fn collect(value: &Value<'_>, items: &mut Vec<Json>) {
    match value {
        Value::Array(elements) => elements.iter().for_each(|element| collect(element, items)),
        Value::Object(members) => {
            let call_id = members.text("toolCallId");
            if members.text("role") == "user" {
                items.push(json!({"type": "user.message", "content": members.get("content").map(plain::of)}));
            } else if !call_id.is_empty() {
                items.push(json!({"type": "user.tool_response", "tool_call_id": call_id, "content": "x"}));
            }
            members.iter().for_each(|(_, member)| collect(member, items));
        }
        _ => {}
    }
}

fn decoder(params: &Object<'_>) -> Box<dyn EventDecoder> {
    let mut decoder = Aap::new().decoder();
    decoder.begin(params);
    decoder
}

/// The events of a stream whose data are changed on the way.
fn events(params: &Object<'_>, chunks: &[&[u8]], change: &dyn Fn(&str) -> String) -> Vec<Json> {
    let (mut decoder, mut frames, mut sink) = (decoder(params), FrameDecoder::default(), Sink::default());
    for chunk in chunks {
        let fed = frames.feed(chunk, &mut |frame| {
            let data = change(frame.data);
            decoder.decode(&Frame { data: &data, ..frame }, &mut sink);
        });
        if fed.is_err() {
            return sink.0;
        }
    }
    decoder.end(&mut sink);
    sink.0
}

/// An additional member keeps a frame off the hot path.
fn with_a_list(data: &str) -> String {
    match Value::parse(data) {
        Ok(Value::Object(mut members)) => {
            members.insert("fuzzed", Value::Array(Vec::new()));
            Value::Object(members).to_json()
        }
        _ => data.to_owned(),
    }
}

/// What must stay the same if only that list was added to a frame.
fn known(event: &Json) -> Json {
    if event["type"] == "unknown" { event["type"].clone() } else { event.clone() }
}

/// An answer that comes whole ends the turn, or is kept as it is.
fn check_body(params: &Object<'_>, document: &Value<'_>) {
    let (mut decoder, mut sink) = (decoder(params), Sink::default());
    decoder.body(document.clone(), &mut sink);
    decoder.end(&mut sink);
    let last = sink.0.last().expect("an event");
    assert!(last["type"] == "turn.done" || last["raw"] == plain::of(document), "{last}");
    decoder.restart();
    let mut again = Sink::default();
    decoder.body(document.clone(), &mut again);
    assert_eq!(again.0, sink.0, "read again");
}

fn check_answers(plan: &mut Plan, params: &Object<'_>, body: &str) {
    let read = |status: u16, call: Call| {
        let answer = Answer { status, status_text: "", content_type: "application/json", body };
        answer.read(&Aap::new(), call, params)
    };
    for call in Call::ALL {
        let request = Aap::new().request(call, params.clone());
        assert!(request.is_ok_and(|request| request.path.is_ascii()) || call != Call::GetTurn);
        match read(200, call) {
            Ok(json) => {
                Value::parse(&json).expect("JSON");
            }
            Err(error) => assert!(!error.message.is_empty()),
        }
        read(if plan.once_in(2) { 404 } else { 500 }, call).expect_err("a failure");
    }
    let (turn, listed) = (read(200, Call::GetTurn), read(200, Call::ListTurnEvents));
    assert_eq!(turn.is_ok(), listed.is_ok(), "the turn and its events");
    let listed = listed.unwrap_or_default();
    let page = Value::parse(&listed).unwrap_or_default();
    let items = page.get("items").and_then(Value::as_array).unwrap_or_default();
    for event in items.iter().filter_map(Value::as_object) {
        let event = EventRef::of(event);
        assert_eq!(event.kind, EventKind::of(event.fields.text("type")));
        let _ = event.to_event();
    }
}
