//! Target `ag_ui`: a stream of AG-UI becomes the same events and the same conversation however it is cut into chunks, and
//! by whichever way its frames are read; and the next request is one that a server can take.

use serde_json::{Value as Json, json};
use turnwire::json::{Object, Value};
use turnwire::protocol::ag_ui::AgUi;
use turnwire::protocol::{Call, EventDecoder, Protocol};
use turnwire::sse::FrameDecoder;

use crate::input::{Input, Plan};
use crate::sink::{self, Sink};

/// Runs the target.
pub fn run(input: &[u8]) {
    let (mut plan, bytes) = Input::of(input);
    let params = params(&mut plan).to_string();
    let params = Value::parse(&params).expect("JSON");
    let params = params.as_object().expect("an object");
    let (whole, kept) = events(params, &[bytes]);
    for chunks in [plan.cut(bytes), bytes.chunks(1).collect()] {
        assert_eq!(events(params, &chunks), (whole.clone(), kept.clone()), "in {} chunks", chunks.len());
        assert_eq!(sink::run(decoder(params), &chunks), whole, "in {} chunks, in runs", chunks.len());
    }
    let ends = whole.iter().filter(|event| event["type"] == "turn.done").count();
    assert!(
        ends == 0 || ends == 1 && whole.last().is_some_and(|last| last["type"] == "turn.done"),
        "a turn ends once"
    );
    if let Some(kept) = kept {
        check_next(&kept);
    }
}

/// The parameters of a turn, with tools of the names that the recorded servers have.
fn params(plan: &mut Plan) -> Json {
    let tools: Vec<Json> = ["pick_color", "get_weather", "delete_file"][..plan.below(4)]
        .iter()
        .map(|name| json!({"name": name, "description": ""}))
        .collect();
    json!({"sessionId": "s", "turnId": "t", "input": [{"type": "user.message", "content": "Hi"}], "terms": {"tools": tools}})
}

fn decoder(params: &Object<'_>) -> Box<dyn EventDecoder> {
    let mut decoder = AgUi::new().decoder();
    decoder.begin(params);
    decoder
}

/// The events of a stream, and the conversation after it.
fn events(params: &Object<'_>, chunks: &[&[u8]]) -> (Vec<Json>, Option<String>) {
    let (mut decoder, mut frames, mut sink) = (decoder(params), FrameDecoder::default(), Sink::default());
    for chunk in chunks {
        if frames.feed(chunk, &mut |frame| decoder.decode(&frame, &mut sink)).is_err() {
            return (sink.0, decoder.conversation());
        }
    }
    decoder.end(&mut sink);
    (sink.0, decoder.conversation())
}

/// The next request has the conversation: no activity, nothing absent as `null`, and no call without a result.
fn check_next(kept: &str) {
    let call = format!(
        r#"{{"sessionId":"s","turnId":"n","input":[{{"type":"user.message","content":"Next"}}],"terms":{{"conversation":{}}}}}"#,
        Json::from(kept)
    );
    let Ok(Value::Object(call)) = Value::parse(&call) else { panic!("{call}") };
    let body = AgUi::new().request(Call::CreateTurnStream, call).expect("a request").body.expect("a body");
    let body = Value::parse(&body).expect("JSON");
    let messages = body.as_object().expect("an object").array("messages");
    let messages: Vec<&Object<'_>> =
        messages.iter().map(|message| message.as_object().expect("an object")).collect();
    let answered = |id: &str| messages.iter().any(|message| message.text("toolCallId") == id);
    for message in &messages {
        assert_ne!(message.text("role"), "activity");
        assert!(message.iter().all(|(_, value)| !value.is_null()));
        for call in message.array("toolCalls").iter().filter_map(Value::as_object) {
            assert!(answered(call.text("id")), "a call has no result");
        }
    }
}
