//! Target `protocol`: every frame is one event, the same by the hot path and by the general one, for a used decoder and
//! for a new one; and events and changes can be taken at any time.

use serde_json::Value as Json;
use turnwire::event::{EventKind, EventRef, TextDelta};
use turnwire::json::{Object, Value};
use turnwire::protocol::truefoundry::{Dialect, TrueFoundry};
use turnwire::protocol::{Answer, Call, EventDecoder, EventSink, Protocol};
use turnwire::sse::{Frame, FrameDecoder};

use crate::generate;
use crate::input::Plan;
use crate::plain;
use crate::turn::{Reading, Story};

/// Servers that speak the protocol.
pub const DIALECTS: [Dialect; 2] = [Dialect::Gateway, Dialect::TrueForge];

/// Runs the target.
pub fn run(input: &[u8]) {
    let (mut plan, stream) = generate::stream(input);
    let protocol = TrueFoundry::new(DIALECTS[plan.below(2)]);
    let mut warm = protocol.decoder();
    let mut frames = FrameDecoder::default();
    let fed = frames.feed(&stream, &mut |frame| check_frame(&protocol, &mut *warm, &frame));
    if fed.is_ok() {
        check_taking(&mut plan, &protocol, &stream);
    }
    check_answer(&mut plan, &protocol, &String::from_utf8_lossy(&stream));
}

/// What a frame became.
#[derive(Debug, PartialEq)]
struct Seen {
    number: u64,
    event: Json,
    is_hot: bool,
}

/// What frames became.
#[derive(Debug, Default)]
struct Sink(Vec<Seen>);

impl EventSink for Sink {
    fn delta(&mut self, number: u64, delta: TextDelta<'_>) {
        self.0.push(Seen { number, event: plain::of_delta(&delta), is_hot: true });
    }

    fn event(&mut self, number: u64, event: EventRef<'_>) {
        let EventRef { kind, fields } = event;
        assert_eq!(kind, EventKind::of(fields.text("type")));
        let _ = event.to_event();
        self.0.push(Seen { number, event: plain::of(&Value::from(fields.clone())), is_hot: false });
    }
}

fn check_frame(protocol: &dyn Protocol, warm: &mut dyn EventDecoder, frame: &Frame<'_>) {
    let seen = decode(warm, frame);
    let cold = decode(&mut *protocol.decoder(), frame);
    assert_eq!((seen.number, &seen.event), (cold.number, &cold.event), "warm and cold: {}", frame.data);
    let (said, general) = general(protocol, frame.data);
    assert_eq!(seen.number, if number(frame) > 0 { number(frame) } else { said }, "{}", frame.data);
    match general {
        Some(general) if seen.is_hot => {
            assert_eq!(seen.event, plain::without_nulls(general), "hot and general: {}", frame.data);
        }
        Some(general) => assert_eq!(seen.event, general, "streamed and listed: {}", frame.data),
        None => assert_eq!(seen.event["type"], "unknown", "{}", frame.data),
    }
}

/// A frame is always exactly one event.
fn decode(decoder: &mut dyn EventDecoder, frame: &Frame<'_>) -> Seen {
    let mut sink = Sink::default();
    decoder.decode(frame, &mut sink);
    assert_eq!(sink.0.len(), 1, "{}", frame.data);
    sink.0.remove(0)
}

/// The number of an event, and the event without it, by the general reader, which lists use; `None` if it is not an
/// object.
fn general(protocol: &dyn Protocol, data: &str) -> (u64, Option<Json>) {
    let Some(event) = Value::parse(data).ok().filter(|event| event.as_object().is_some()) else {
        return (0, None);
    };
    let mut page = Object::new();
    page.insert("data", vec![event]);
    let page = protocol.answer(Call::ListTurnEvents, &Object::new(), page.into()).expect("a list");
    let items = page.as_object().expect("a page").array("items");
    let mut event = items.first().and_then(Value::as_object).expect("an event").clone();
    let said = event.remove("sequence_number").and_then(|number| number.as_u64()).unwrap_or(0);
    (said, Some(plain::of(&event.into())))
}

/// Decimals that JavaScript can count.
fn number(frame: &Frame<'_>) -> u64 {
    let id = frame.id.filter(|id| frame.has_own_id && id.bytes().all(|byte| byte.is_ascii_digit()));
    id.and_then(|id| id.parse().ok()).filter(|number| *number < 1 << 53).unwrap_or(0)
}

/// Events and changes that are taken in several steps add up to those that are taken once.
fn check_taking(plan: &mut Plan, protocol: &dyn Protocol, stream: &[u8]) {
    let refills = plan.once_in(2);
    let mut often = Reading::new(protocol, refills);
    for chunk in plan.cut(stream) {
        often.push(chunk);
        if plan.once_in(2) {
            often.take_events();
        }
        if plan.once_in(2) {
            often.take_changes();
        }
    }
    let mut once = Reading::new(protocol, refills);
    once.push(stream);
    let often: Story = often.end();
    // Before its changes are taken, an index has all texts itself.
    once.check(&often.mirror);
    let once = once.end();
    assert_eq!(often, once, "taken often and once");

    // Whether events are wanted affects nothing else.
    let mut silent = Reading::new(protocol, refills);
    for chunk in plan.cut(stream) {
        silent.want_events(plan.once_in(2));
        silent.push(chunk);
    }
    let silent = silent.end();
    assert_eq!((&silent.mirror, &silent.facts), (&once.mirror, &once.facts), "unwanted events");
    assert!(silent.events.iter().all(|event| once.events.contains(event)));
}

/// Answers and parameters of any kind are read or refused.
fn check_answer(plan: &mut Plan, protocol: &dyn Protocol, text: &str) {
    let body = text.split_once("data: ").map_or(text, |(_, data)| data.split('\n').next().unwrap_or(data));
    let call = Call::ALL[plan.below(Call::ALL.len())];
    let status = [200, 204, 404, 500][plan.below(4)];
    let answer = Answer { status, status_text: "", content_type: "application/json", body };
    if let Ok(json) = answer.read(protocol, call, &Object::new()) {
        assert!(Value::parse(&json).is_ok(), "{json}");
    }
    if let Ok(Value::Object(params)) = Value::parse(body)
        && let Ok(request) = protocol.request(call, params)
    {
        assert!(Value::parse(&request.to_json()).is_ok());
    }
}
