//! The hot path and the general one come to the same.

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::super::delta::DeltaReader;
use super::Reading;

/// A piece as the gateway writes it, with the whole text so far.
fn gateway(text: &str, stream: &str, whole: &str) -> String {
    let [text, whole] = [text, whole].map(|text| serde_json::to_string(text).expect("JSON"));
    format!(
        r#"{{"jsonrpc":"2.0","method":"item/agent_message/delta","params":{{"workspace_id":"w","thread_id":"t","turn_id":"u","item_id":"a","delta":{text},"stream":"{stream}","markdown":{{"blocks":[{{"type":"paragraph","text":{whole},"marks":[]}}]}},"markdown_version":1}}}}"#
    )
}

fn codex(text: &str) -> String {
    let text = serde_json::to_string(text).expect("JSON");
    format!(
        r#"{{"method":"item/agentMessage/delta","params":{{"threadId":"t","turnId":"u","itemId":"a","delta":{text}}},"emittedAtMs":1795257438453}}"#
    )
}

fn events(frame: &str, is_codex: bool) -> Vec<Json> {
    let mut turn = if is_codex { Reading::codex() } else { Reading::gateway() };
    turn.line(frame);
    turn.seen.events
}

/// A frame with a member that the hot path does not know.
fn general(frame: &str) -> String {
    format!("{},\"more\":[]}}", frame.strip_suffix('}').expect("an object"))
}

proptest! {
    #[test]
    fn both_ways_say_the_same(text in ".{0,40}", whole in ".{0,40}", is_reasoning: bool) {
        let stream = if is_reasoning { "generic" } else { "agent_message" };
        for (frame, is_codex) in [(gateway(&text, stream, &whole), false), (codex(&text), true)] {
            prop_assert!(DeltaReader::default().read(&frame).is_some());
            let other = general(&frame);
            prop_assert!(DeltaReader::default().read(&other).is_none());
            prop_assert_eq!(events(&frame, is_codex), events(&other, is_codex));
        }
    }
}

/// A piece of what a command puts out, as the gateway writes it.
fn output(text: &str, payload: &str, whole: &str) -> String {
    gateway(text, "stdout", whole)
        .replace("item/agent_message/delta", "item/command_execution/output_delta")
        .replace(r#""stream":"stdout","#, &format!(r#""stream":"stdout",{payload}"#))
}

const PAYLOADS: [&str; 4] = [
    "",
    r#""payload":null,"#,
    r#""payload":{"kind":"output_chunk","truncated":false},"#,
    r#""payload":{"kind":"progress","stage":"linking","metadata":{"of":{"kind":"number","value":"3"}}},"#,
];

proptest! {
    #[test]
    fn both_ways_say_the_same_of_output(text in ".{0,40}", whole in ".{0,40}", payload in proptest::sample::select(&PAYLOADS)) {
        let frame = output(&text, payload, &whole);
        let other = general(&frame);
        prop_assert!(DeltaReader::default().read(&frame).is_some());
        prop_assert!(DeltaReader::default().read(&other).is_none());
        prop_assert_eq!(events(&frame, false), events(&other, false));
    }
}

#[test]
fn what_stands_behind_the_document_is_read() {
    let late = r#""markdown":{"blocks":[]},"payload":{"kind":"progress","stage":"linking","metadata":{}},"markdown_version""#;
    let frame = output("x", "", "x");
    let from = frame.find(r#""markdown":"#).expect("it has one");
    let to = frame.find(r#""markdown_version""#).expect("it has one");
    let frame = [&frame[..from], late, &frame[to + r#""markdown_version""#.len()..]].concat();
    assert_eq!(events(&frame, false), events(&general(&frame), false));
    assert_eq!(events(&frame, false).last().expect("one")["payload"]["stage"], "linking");
}

#[test]
fn what_is_unusual_is_left_to_the_general_reader() {
    let usual = gateway("x", "agent_message", "x");
    for (from, to) in [
        (r#""item_id":"a""#, r#""item_id":"\u0061""#),
        (r#""item_id":"a""#, r#""item_id":1"#),
        (r#""delta":"x""#, r#""delta":"x","delta":"y""#),
        (r#""delta":"x""#, r#""delta":null"#),
        (r#""delta":"x""#, r#""delta":"x","payload":{},"payload":{}"#),
        (r#""jsonrpc":"2.0""#, r#""id":1"#),
    ] {
        let frame = usual.replace(from, to);
        assert_ne!(frame, usual);
        assert!(DeltaReader::default().read(&frame).is_none(), "{frame}");
    }
}

#[test]
fn pieces_of_others_are_not_taken() {
    for (from, to) in [(r#""thread_id":"t""#, r#""thread_id":"o""#), (r#""turn_id":"u""#, r#""turn_id":"o""#)]
    {
        let frame = gateway("x", "agent_message", "x").replace(from, to);
        assert_eq!(events(&frame, false), [] as [Json; 0]);
        assert_eq!(events(&general(&frame), false), [] as [Json; 0]);
    }
    assert_eq!(events(&gateway("x", "agent_message", "x"), false).len(), 3);
    assert_eq!(json!(events(&gateway("x", "generic", "x"), false)[2])["reasoning_content"], "x");
}
