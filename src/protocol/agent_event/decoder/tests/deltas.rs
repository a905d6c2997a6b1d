//! The hot path says what the general way says, or says nothing.

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::super::Run;
use super::super::delta::{DeltaReader, Meaning, Part};
use super::super::messages::DeltaField;
use super::{RunDecoder, Seen, awaken, begin, call_start, frame, run_start, step, tirea};
use crate::json::Value;
use crate::protocol::EventDecoder;
use crate::sse::Frame;

/// The frames by the general way alone.
fn general<'d>(frames: impl IntoIterator<Item = &'d str>) -> Seen {
    let (mut run, mut seen) = (Run::default(), Seen::default());
    for data in frames {
        read_generally(&mut run, &frame(data), &mut seen);
    }
    seen
}

/// Reads one frame by the general way.
pub(super) fn read_generally(run: &mut Run, frame: &Frame<'_>, seen: &mut Seen) {
    match Value::parse(frame.data) {
        Ok(json) => run.frame(frame.event, json, seen),
        Err(error) => run.unknown(None, frame.data.into(), Some(error.message()), seen),
    }
}

fn hot<'d>(frames: impl IntoIterator<Item = &'d str>) -> Seen {
    let (mut decoder, mut seen) = (RunDecoder::default(), Seen::default());
    for data in frames {
        decoder.decode(&frame(data), &mut seen);
    }
    seen
}

/// A string of JSON as servers may write it: some characters escaped that need not be.
fn json_string(text: &str, escape: bool) -> String {
    if escape && !text.is_empty() {
        let units = text.encode_utf16().map(|unit| format!("\\u{unit:04x}"));
        return format!("\"{}\"", units.collect::<String>());
    }
    serde_json::to_string(text).expect("a string")
}

fn string() -> impl Strategy<Value = String> {
    let text = prop_oneof![
        3 => "[a-z ]{0,8}",
        1 => "\\PC{0,6}",
        1 => prop::sample::select(vec!["\"", "\\", "\n", "{\"a\":", "}", "\"}", "\u{1f600}", "\u{0}", "é"])
            .prop_map(str::to_owned),
    ];
    (text, prop::bool::weighted(0.1)).prop_map(|(text, escape)| json_string(&text, escape))
}

/// A string that is one of these, sometimes written otherwise.
fn name(names: &'static [&'static str]) -> impl Strategy<Value = String> {
    (prop::sample::select(names), prop::bool::weighted(0.05))
        .prop_map(|(name, escape)| json_string(name, escape))
}

fn odd() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "5",
        "null",
        "true",
        "[]",
        "{}",
        "[{\"a\":1}]",
        "\"x\"",
        "nul",
        "01",
        "1e5",
        "-0.5E-2",
    ])
    .prop_map(str::to_owned)
}

type Field = (&'static str, String);

/// The payload's fields.
fn payload() -> impl Strategy<Value = Vec<Field>> {
    let id = prop_oneof![9 => name(&["c1", "c2"]), 1 => odd()];
    let piece = prop_oneof![12 => string(), 1 => odd()];
    let fields = prop_oneof![
        4 => piece.prop_map(|piece| vec![("delta", piece)]),
        3 => (string(), id).prop_map(|(piece, id)| vec![("args_delta", piece), ("id", id)]),
    ];
    let extra = prop::collection::vec(
        (prop::sample::select(vec!["delta", "id", "args_delta", "x", "type"]), odd()),
        1..3,
    );
    let extra = prop_oneof![6 => Just(Vec::new()), 1 => extra];
    (fields, extra).prop_map(|(mut fields, extra)| {
        fields.extend(extra);
        fields
    })
}

fn kind() -> impl Strategy<Value = String> {
    name(&[
        "text_delta",
        "text_delta",
        "reasoning_delta",
        "tool_call_delta",
        "tool_call_delta",
        "text_delt",
        "step_end",
    ])
}

fn envelope() -> impl Strategy<Value = Vec<Field>> {
    let number =
        prop_oneof![9 => (0..1_800_000_000_000_u64).prop_map(|number| number.to_string()), 1 => odd()];
    let run = prop_oneof![6 => name(&["r", "another"]), 1 => odd()];
    let extra = (
        prop::sample::select(vec!["x", "seq", "event_kind", "payload", "delta", "event_type", "data"]),
        odd(),
    );
    let extra = prop_oneof![9 => Just(None), 1 => extra.prop_map(Some)];
    (run, number.clone(), number, extra).prop_map(|(run, seq, time, extra)| {
        let mut fields =
            vec![("run_id", run), ("seq", seq), ("timestamp_ms", time), ("step_id", "\"step:0\"".to_owned())];
        fields.extend(extra);
        fields
    })
}

fn shuffle<T>(items: &mut [T], mut order: u64) {
    for at in (1..items.len()).rev() {
        let other = usize::try_from(order % (at as u64 + 1)).expect("small");
        items.swap(at, other);
        order /= at as u64 + 1;
    }
}

fn write(mut fields: Vec<Field>, order: u64, space: &str) -> String {
    shuffle(&mut fields, order);
    let members =
        fields.iter().map(|(name, value)| format!("{space}\"{name}\"{space}:{space}{value}{space}"));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

/// A frame of either dialect, in any order, with or without white space.
pub(super) fn delta() -> impl Strategy<Value = String> {
    let orders = prop_oneof![3 => Just(0_u64), 1 => any::<u64>()];
    let space = prop::sample::select(vec!["", "", "", " ", "\n\t"]);
    (kind(), payload(), envelope(), prop::bool::weighted(0.7), orders, space).prop_map(
        |(kind, payload, mut fields, is_nested, order, space)| {
            if is_nested {
                fields.insert(0, ("type", kind));
                fields.push(("data", write(payload, order, space)));
                return write(fields, order, space);
            }
            let mut fields = vec![("event_type", kind)];
            fields.extend(payload);
            write(fields, order, space)
        },
    )
}

fn beginning() -> Vec<String> {
    [run_start(), step("m"), call_start("c1")].iter().map(Json::to_string).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// In sequences, so that templates of earlier deltas stand in the way of later ones.
    #[test]
    fn the_hot_path_equals_the_general_way(deltas in prop::collection::vec(delta(), 1..24)) {
        let mut frames = beginning();
        frames.extend(deltas);
        let texts = || frames.iter().map(String::as_str);
        prop_assert_eq!(hot(texts()).events, general(texts()).events);
    }

    /// The same delta, cut or changed by a byte, right after itself: nothing but its text and envelope may differ.
    /// The byte makes no exponent of a number's digit: serde, by which events are compared, has no such numbers.
    #[test]
    fn a_warm_template_takes_nothing_else(data in delta(), at in any::<prop::sample::Index>(), byte in "[ -DF-df-~]") {
        let at = at.index(data.len());
        if data.is_char_boundary(at) && data.is_char_boundary(at + 1) {
            let mut frames = beginning();
            frames.extend([
                data.clone(),
                data[..at].to_owned(),
                [&data[..at], &byte, &data[at + 1..]].concat(),
                [&data, &*byte].concat(),
            ]);
            let texts = || frames.iter().map(String::as_str);
            prop_assert_eq!(hot(texts()).events, general(texts()).events);
        }
    }
}

/// The deltas that servers really send must not fall off the hot path, cold or warm.
#[test]
fn plain_deltas_take_the_hot_path() {
    let head = r#""run_id":"r","thread_id":"s","seq":46,"timestamp_ms":1795255726637,"step_id":"step:0""#;
    let cases = [
        format!(r#"{{"type":"text_delta",{head},"data":{{"delta":"tok00 "}}}}"#),
        format!(r#"{{"type":"reasoning_delta",{head},"data":{{"delta":"a \"quote\" \ud83d\ude00\n"}}}}"#),
        format!(r#"{{"type":"tool_call_delta",{head},"data":{{"args_delta":"{{\"a\"","id":"c1"}}}}"#),
        r#"{"type":"text_delta","data":{"delta":"a"}}"#.to_owned(),
        r#"{"event_type":"text_delta","delta":"a"}"#.to_owned(),
        r#"{"event_type":"tool_call_delta","id":"c1","args_delta":"é"}"#.to_owned(),
        r#"{ "data" : { "delta" : "a" } , "type" : "text_delta" }"#.to_owned(),
    ];
    let read = |reader: &mut DeltaReader, data: &str| {
        reader.read(data.as_bytes(), Part::Data).map(|piece| format!("{:?} {:?}", piece.meaning, piece.text))
    };
    let mut warm = DeltaReader::default();
    for _ in 0..3 {
        for data in &cases {
            let cold = read(&mut DeltaReader::default(), data);
            assert!(cold.is_some(), "{data}");
            assert_eq!(read(&mut warm, data), cold, "{data}");
        }
    }
}

/// Consecutive frames differ in their envelopes and texts alone, and one template does for all of them.
#[test]
fn a_template_lets_envelopes_and_texts_change() {
    let mut reader = DeltaReader::default();
    for number in 0..1000_u64 {
        let data = format!(
            r#"{{"type":"text_delta","run_id":"r\"{}","thread_id":"","seq":{number},"timestamp_ms":{},"step_id":"step:{}","data":{{"delta":"tok{number}"}}}}"#,
            number % 7,
            1_795_255_726_637 + number,
            number / 100,
        );
        let piece = reader.read(data.as_bytes(), Part::Data).expect("a delta");
        assert_eq!(*piece.meaning, Meaning { field: DeltaField::Content, call_id: String::new() });
        assert_eq!(piece.text, format!("tok{number}"));
    }
    assert_eq!(reader.learnt(), 1);
}

#[test]
fn what_says_more_does_not_take_the_hot_path() {
    let cases = [
        json!({"type": "text_delta", "data": {"delta": "a", "more": [1]}}),
        json!({"type": "text_delta", "data": {"delta": "a"}, "more": {}}),
        json!({"type": "text_delta", "event_type": "text_delta", "delta": "b", "data": {"delta": "a"}}),
        json!({"type": "text_delta", "data": {"delta": null}}),
        json!({"type": "tool_call_delta", "data": {"args_delta": "a"}}),
        json!({"event_kind": "x", "type": "text_delta", "data": {"delta": "a"}}),
        tirea("step_end", json!({})),
        awaken("step_end", json!({})),
    ];
    for wire in cases {
        assert!(DeltaReader::default().read(wire.to_string().as_bytes(), Part::Data).is_none(), "{wire}");
    }
    // Fields that say nothing here may be there.
    let seen =
        begin([&step("m"), &json!({"type": "text_delta", "data": {"delta": "a", "more": 1}, "delta": "b"})]);
    assert_eq!(seen.text("m", "content"), "a");
}
