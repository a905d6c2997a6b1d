//! The hot path and the general reader have the same result, however a stream is cut, and whatever is broken in it.

use proptest::prelude::*;
use proptest::sample::Index;

use super::hostile::any_frame;
use super::*;
use crate::protocol::tests::streams::{Reading, damaged};

fn decoder() -> RunDecoder {
    Turn::new().decoder
}

/// A piece as servers write it, or nearly so.
fn piece() -> impl Strategy<Value = String> {
    let kind =
        prop::sample::select(vec!["TEXT_MESSAGE_CONTENT", "REASONING_MESSAGE_CONTENT", "TOOL_CALL_ARGS"]);
    let text = prop::sample::select(vec!["", "a", r"\n", r"\u00e9", r"\ud800", "é", "\u{2028}", r#"\""#]);
    let more = prop::sample::select(vec![
        "",
        r#","timestamp":1795365993824"#,
        r#","timestamp":0"#,
        r#","metadata":{"a":1}"#,
        r#","subagentRunId":"s""#,
        r#","delta":"x""#,
    ]);
    (kind, prop::sample::select(vec!["a", "b"]), text, more, any::<bool>()).prop_map(
        |(kind, id, text, more, is_spaced)| {
            let name = if kind == "TOOL_CALL_ARGS" { "toolCallId" } else { "messageId" };
            let space = if is_spaced { " " } else { "" };
            format!("data: {{\"type\":{space}\"{kind}\",\"{name}\":\"{id}\",\"delta\":\"{text}\"{more}}}\n\n")
        },
    )
}

fn stream() -> impl Strategy<Value = String> {
    let other = any_frame().prop_map(|frame| format!("data: {frame}\n\n"));
    let frames = prop::collection::vec(prop_oneof![6 => piece(), 1 => other], 0..30);
    frames.prop_map(|frames| {
        let head = [
            started(),
            frame("TEXT_MESSAGE_START", "a", ""),
            json!({"type": "REASONING_MESSAGE_START", "messageId": "b", "role": "reasoning"}),
            frame("TOOL_CALL_START", "a", "mine"),
        ];
        head.iter().map(|frame| format!("data: {frame}\n\n")).chain(frames).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn runs_and_frames_say_the_same(
        stream in stream(),
        broken in prop::option::of((any::<Index>(), any::<u8>())),
        sizes in prop::collection::vec(1..80_usize, 1..6),
    ) {
        let stream = damaged(stream, broken);
        let slow: Reading<_, Seen> = Reading::of(decoder(), &stream, &[stream.len()], false);
        let fast: Reading<_, Seen> = Reading::of(decoder(), &stream, &sizes, true);
        prop_assert_eq!(&slow.seen.events, &fast.seen.events);
    }
}

#[test]
fn pieces_are_taken_by_templates() {
    let mut frames = vec![started(), frame("TEXT_MESSAGE_START", "a", "")];
    for time in 0..100 {
        frames.push(json!({"type": "TEXT_MESSAGE_CONTENT", "timestamp": 1_795_365_900_000_u64 + time, "messageId": "a", "delta": "x"}));
    }
    let stream =
        frames.iter().fold(String::new(), |stream, frame| stream + "data: " + &frame.to_string() + "\n\n");
    let reading: Reading<_, Seen> = Reading::of(decoder(), stream.as_bytes(), &[stream.len()], true);
    assert_eq!(reading.seen.pieces, 100);
    assert!(reading.taken > stream.len() * 9 / 10, "{} of {}", reading.taken, stream.len());
}
