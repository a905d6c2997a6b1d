//! The hot path says what the general reader says, or says nothing.

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::{Seen, TurnDecoder, decode, without_nulls};
use crate::json::Value;
use crate::protocol::truefoundry::canonical;
use crate::protocol::truefoundry::delta::DeltaReader;

/// The general reader's number and event.
fn general(data: &str) -> (u64, Json) {
    let (number, event) = canonical::event_of(data);
    let json = serde_json::from_str(&Value::Object(event).to_json()).expect("an event is JSON");
    (number, without_nulls(json))
}

/// A delta by the hot path, if that takes it.
fn read(reader: &mut DeltaReader, data: &str) -> Option<Seen> {
    let mut seen = Vec::new();
    reader.read(data, 0, &mut seen).then(|| seen.remove(0))
}

/// Both readers on one delta. Returns whether the hot path took it.
fn compare(reader: &mut DeltaReader, data: &str) -> Result<bool, String> {
    let Some(Seen { sequence_number, event, .. }) = read(reader, data) else { return Ok(false) };
    let (hot, general) = ((sequence_number, without_nulls(event)), general(data));
    if hot == general { Ok(true) } else { Err(format!("{data}\n  hot path {hot:?}\n  general  {general:?}")) }
}

/// A string of JSON as servers may write it: some characters escaped that need not be.
fn json_string(text: &str, escape: bool) -> String {
    let mut json = serde_json::to_string(text).expect("a string");
    if escape && !text.is_empty() {
        let units = text.encode_utf16().map(|unit| format!("\\u{unit:04x}"));
        json = format!("\"{}\"", units.collect::<String>());
    }
    json
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-z ]{0,8}",
        1 => "\\PC{0,6}",
        1 => prop::sample::select(vec!["\"", "\\", "\n", "{\"a\":", "}", "\"}", "\u{1f600}", "\u{0}", "é"])
            .prop_map(str::to_owned),
    ]
}

fn string() -> impl Strategy<Value = String> {
    (text(), prop::bool::weighted(0.1)).prop_map(|(text, escape)| json_string(&text, escape))
}

fn name(names: &'static [&'static str]) -> impl Strategy<Value = String> {
    (prop::sample::select(names), prop::bool::weighted(0.05))
        .prop_map(|(name, escape)| json_string(name, escape))
}

fn nothing() -> impl Strategy<Value = String> {
    Just("null".to_owned())
}

fn calls() -> impl Strategy<Value = String> {
    let index = prop_oneof![
        8 => (0..3_u32).prop_map(|index| index.to_string()),
        1 => prop::sample::select(vec!["-1", "1.0", "1e0", "1023", "1024", "null", "\"0\"", "01"])
            .prop_map(str::to_owned),
    ];
    let arguments = prop_oneof![8 => string(), 1 => nothing()];
    let extra = prop_oneof![
        10 => Just(String::new()),
        1 => Just(",\"id\":\"c\"".to_owned()),
        1 => Just(",\"id\":null".to_owned()),
        1 => Just(",\"index\":0".to_owned()),
        1 => Just(",\"function\":null".to_owned()),
        1 => Just("},{\"index\":1".to_owned()),
    ];
    (index, arguments, extra, any::<bool>()).prop_map(|(index, arguments, extra, function_first)| {
        let function = format!("\"function\":{{\"arguments\":{arguments}}}");
        let index = format!("\"index\":{index}");
        let (one, other) = if function_first { (function, index) } else { (index, function) };
        format!("[{{{one},{other}{extra}}}]")
    })
}

fn piece() -> impl Strategy<Value = (&'static str, String)> {
    prop_oneof![
        4 => string().prop_map(|text| ("content", text)),
        2 => string().prop_map(|text| ("reasoning_content", text)),
        3 => calls().prop_map(|calls| ("tool_calls", calls)),
    ]
}

/// A sequence number, or what stands in its place.
fn number() -> impl Strategy<Value = String> {
    let odd =
        vec!["0", "-1", "007", "1.0", "1.5", "1e3", "\"1\"", "null", "9007199254740991", "9007199254740992"];
    prop_oneof![
        6 => (1..200_u64).prop_map(|number| number.to_string()),
        1 => any::<u64>().prop_map(|number| number.to_string()),
        1 => prop::sample::select(odd).prop_map(str::to_owned),
    ]
}

/// Fields beside the ones that every delta has.
fn extra() -> impl Strategy<Value = (&'static str, String)> {
    let names = vec![
        "content",
        "reasoning_content",
        "refusal",
        "tool_calls",
        "finish_reason",
        "usage",
        "thread_id",
        "created_at",
        "name",
        "x_new",
        "x_more",
        "sequence_number",
        "id",
        "type",
    ];
    let value = prop_oneof![
        4 => nothing(),
        1 => string(),
        3 => prop::sample::select(vec![
            "5", "17", "0", "-1", "1.5", "1e3", "05", "9007199254740993", "true", "false", "[]", "{}", "[null]", "nul",
            r#"{"a":1,"b":["x",2]}"#, r#"{"a":17,"b":["\u0078",2]}"#, r#"{"a":{"a":{"a":{"a":{"a":1}}}}}"#,
        ])
        .prop_map(str::to_owned),
    ];
    (prop::sample::select(names), value)
}

/// A delta's fields, put in an order, with or without white space.
pub(super) fn delta() -> impl Strategy<Value = String> {
    let kind = prop_oneof![
        30 => Just("\"model.message.delta\"".to_owned()),
        1 => Just("\"model.message.delt\\u0061\"".to_owned()),
        1 => Just("\"model.message\"".to_owned()),
    ];
    let thread = prop_oneof![6 => name(&["main", "t1"]).prop_map(Some), 1 => Just(None), 1 => nothing().prop_map(Some)];
    let time = prop_oneof![
        3 => Just(None),
        2 => name(&["2026-07-01T10:00:00Z", "2026-07-01T10:00:01Z", "gestern \u{fc}"]).prop_map(Some),
    ];
    let number = prop_oneof![2 => Just(None), 3 => number().prop_map(Some)];
    let extras = prop_oneof![4 => Just(Vec::new()), 1 => prop::collection::vec(extra(), 1..3)];
    let orders = prop_oneof![3 => Just(0_u64), 1 => any::<u64>()];
    let space = prop::sample::select(vec!["", "", "", " ", "\n\t"]);
    (kind, name(&["m1", "m2"]), thread, time, piece(), number, (extras, orders, space)).prop_map(
        |(kind, id, thread, time, piece, number, (extras, order, space))| {
            let mut fields = vec![("type", kind), ("id", id)];
            fields.extend(thread.map(|thread| ("thread_id", thread)));
            fields.extend(time.map(|time| ("created_at", time)));
            fields.push(piece);
            fields.extend(number.map(|number| ("sequence_number", number)));
            fields.extend(extras);
            shuffle(&mut fields, order);
            let members =
                fields.iter().map(|(name, value)| format!("{space}\"{name}\"{space}:{space}{value}{space}"));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        },
    )
}

fn shuffle<T>(items: &mut [T], mut order: u64) {
    for at in (1..items.len()).rev() {
        let other = usize::try_from(order % (at as u64 + 1)).expect("small");
        items.swap(at, other);
        order /= at as u64 + 1;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// In sequences, so that templates of earlier deltas stand in the way of later ones.
    #[test]
    fn the_hot_path_equals_the_general_reader(deltas in prop::collection::vec(delta(), 1..24)) {
        let mut reader = DeltaReader::default();
        for data in &deltas {
            if let Err(difference) = compare(&mut reader, data) {
                prop_assert!(false, "{}", difference);
            }
        }
    }

    /// The same delta, cut or changed by a byte, right after itself: nothing but its text may differ.
    #[test]
    fn a_warm_template_takes_nothing_else(data in delta(), at in any::<prop::sample::Index>(), byte in "[ -~]") {
        let mut reader = DeltaReader::default();
        read(&mut reader, &data);
        let at = at.index(data.len());
        if data.is_char_boundary(at) && data.is_char_boundary(at + 1) {
            let (cut, changed) = (data[..at].to_owned(), [&data[..at], &byte, &data[at + 1..]].concat());
            let longer = [&data, &*byte].concat();
            for data in [cut, changed, longer] {
                if let Err(difference) = compare(&mut reader, &data) {
                    prop_assert!(false, "{}", difference);
                }
            }
        }
    }
}

/// The deltas that servers really send must not fall off the hot path, cold or warm.
#[test]
fn plain_deltas_take_the_hot_path() {
    let head = r#""type":"model.message.delta","id":"m1","thread_id":"main""#;
    let cases = [
        format!(r#"{{{head},"content":"a"}}"#),
        format!(r#"{{{head},"created_at":"2026-07-01T10:00:00Z","content":"a"}}"#),
        format!(r#"{{{head},"content":"a","created_at":"2026-07-01T10:00:00Z"}}"#),
        format!(r#"{{{head},"content":"a \"quote\" \ud83d\ude00"}}"#),
        format!(r#"{{{head},"reasoning_content":"a"}}"#),
        format!(r#"{{{head},"tool_calls":[{{"index":3,"function":{{"arguments":"{{\"a\""}}}}]}}"#),
        format!(
            r#"{{{head},"content":"a","refusal":null,"tool_calls":null,"finish_reason":null,"usage":null}}"#
        ),
        format!(r#"{{{head},"content":"a","created_at":null}}"#),
        // Too long to be learnt from.
        format!(r#"{{{head},"content":"{}"}}"#, "long ".repeat(2000)),
        format!(r#"{{ {head} , "content" : "a" }}"#),
        r#"{"content":"a","id":"m1","type":"model.message.delta"}"#.to_owned(),
        format!(r#"{{{head},"x_new":1,"content":"a","x_more":{{"a":[1,"b"]}}}}"#),
        format!(r#"{{{head},"x_new":"same","content":"a","x_more":null}}"#),
        // With a number, in every order of the three that vary.
        format!(r#"{{{head},"content":"a","sequence_number":7}}"#),
        format!(r#"{{"sequence_number":7,{head},"reasoning_content":"a"}}"#),
        format!(r#"{{"sequence_number":7,{head},"created_at":"2026-07-01T10:00:00Z","content":"a"}}"#),
        format!(r#"{{"sequence_number":7,{head},"content":"a","created_at":"2026-07-01T10:00:00Z"}}"#),
        format!(r#"{{{head},"created_at":"2026-07-01T10:00:00Z","sequence_number":7,"content":"a"}}"#),
        format!(r#"{{{head},"created_at":"2026-07-01T10:00:00Z","content":"a","sequence_number":7}}"#),
        format!(r#"{{{head},"content":"a","sequence_number":7,"created_at":"2026-07-01T10:00:00Z"}}"#),
        format!(
            r#"{{{head},"content":"a","created_at":"2026-07-01T10:00:00Z","sequence_number":9007199254740991}}"#
        ),
        format!(r#"{{{head},"content":"a","sequence_number":null}}"#),
    ];
    let mut warm = DeltaReader::default();
    for _ in 0..3 {
        for data in &cases {
            assert_eq!(compare(&mut DeltaReader::default(), data), Ok(true), "cold: {data}");
            assert_eq!(compare(&mut warm, data), Ok(true), "warm: {data}");
        }
    }
}

/// Numbers grow; a template must not take the number that it was learnt with.
#[test]
fn a_warm_template_reads_each_number() {
    let mut reader = DeltaReader::default();
    for number in [8, 9, 10, 99, 100, (1 << 53) - 1] {
        let data = format!(
            r#"{{"type":"model.message.delta","id":"m1","content":"a","sequence_number":{number},"created_at":"t"}}"#
        );
        let read = read(&mut reader, &data).expect("the hot path takes it");
        let expected = json!({"type": "model.message.delta", "id": "m1", "thread_id": "main", "content": "a", "created_at": "t"});
        assert_eq!((read.sequence_number, read.event), (number, expected));
    }
}

/// What the hot path must leave to the general reader, because it carries more than a piece of text.
#[test]
fn deltas_that_say_more_do_not_take_the_hot_path() {
    let cases = [
        json!({"type": "model.message.delta", "id": "m1", "content": "a", "finish_reason": "stop"}),
        json!({"type": "model.message.delta", "id": "m1", "content": "a", "reasoning_content": "b"}),
        json!({"type": "model.message.delta", "id": "m1", "content": "a", "refusal": "b"}),
        json!({"type": "model.message.delta", "id": "m1", "content": "a", "usage": {"input_tokens": 1}}),
        json!({"type": "model.message.delta", "id": "m1", "content": "a", "__proto__": 1}),
        json!({"type": "model.message.delta", "id": "m1"}),
        json!({"type": "model.message.delta", "id": "m1", "tool_calls": []}),
        json!({"type": "model.message.delta", "id": "m1", "tool_calls": [{"index": 0}]}),
        json!({"type": "model.message.delta", "id": "m1", "tool_calls": [
            {"index": 0, "function": {"arguments": "a"}}, {"index": 1, "function": {"arguments": "b"}}]}),
        json!({"type": "model.message.delta", "id": "m1", "tool_calls": [
            {"index": 0, "function": {"name": "f", "arguments": "a"}}]}),
        json!({"type": "model.message", "id": "m1", "content": "a"}),
    ];
    for wire in cases {
        let seen = decode(&mut TurnDecoder::default(), &wire.to_string());
        assert!(!seen.is_hot, "{wire}");
        assert_eq!(seen.event["type"], wire["type"]);
        assert_eq!(seen.event["content"], wire["content"]);
    }
}

/// More messages at a time than there are templates.
#[test]
fn many_messages_interleave() {
    let mut reader = DeltaReader::default();
    for round in 0..5 {
        for message in 0..20 {
            let id = format!("m{message}");
            let text = format!("{round}-{message}");
            let data = json!({"type": "model.message.delta", "id": id, "thread_id": id, "content": text});
            let read = read(&mut reader, &data.to_string()).map(|seen| seen.event);
            assert_eq!(read, Some(data));
        }
    }
}
