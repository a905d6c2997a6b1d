//! Pieces of text: the hot path, and the general way, which must agree.

use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::{Seen, decoder, frame, play, says, start, stop, thinks};
use crate::protocol::EventDecoder;

#[test]
fn pieces_open_a_message_and_are_appended() {
    let seen = play([&start(), &says("The weather "), &says("is fine.")]);
    let expected = [
        json!({"type": "model.message", "id": "t:0", "thread_id": "main"}),
        json!({"type": "model.message.delta", "id": "t:0", "thread_id": "main", "content": "The weather "}),
        json!({"type": "model.message.delta", "id": "t:0", "thread_id": "main", "content": "is fine."}),
    ];
    assert_eq!(seen.events[1..], expected);
    assert_eq!(seen.pieces, 2);
}

#[test]
fn thinking_and_text_are_of_one_message() {
    let seen = play([&start(), &thinks("Hm. "), &says("Yes"), &thinks("Sure."), &says("!")]);
    let expected = json!({"id": "t:0", "content": "Yes!", "reasoning_content": "Hm. Sure."});
    assert_eq!(seen.messages(), [expected]);
}

#[test]
fn an_empty_piece_says_nothing() {
    for written in [r#"{"delta":""}"#, r#"{ "delta": "" }"#] {
        for kind in ["text_delta", "thinking_delta"] {
            let (mut decoder, mut seen) = (decoder(), Seen::default());
            decoder.decode(&frame(kind, written), &mut seen);
            assert_eq!(seen.types(), ["turn.created"]);
        }
    }
    // Nor does it end what is open.
    let seen = play([&says("a"), &says(""), &says("b"), &stop("end_turn")]);
    assert_eq!(seen.messages().len(), 1);
}

/// What a frame of the data comes to by the hot path, if that takes it, and by the general way.
fn both_ways(data: &str) -> (Option<Vec<Json>>, Vec<Json>) {
    let stream = format!("event: text_delta\ndata: {data}\n\n");
    let (mut hot, mut seen) = (decoder(), Seen::default());
    let run = hot.run(stream.as_bytes(), &mut seen);
    assert!(run.len == stream.len() || run.len == 0 && seen.events.is_empty());
    let (mut general, mut slow) = (decoder(), Seen::default());
    general.decode(&frame("text_delta", data), &mut slow);
    ((run.len > 0).then_some(seen.events), slow.events)
}

#[test]
fn however_a_piece_is_written_it_is_the_same() {
    for (written, text, is_hot) in [
        (r#"{"delta":"a"}"#, "a", true),
        (r#"{ "delta" : "a" }"#, "a", true),
        (r#"{"delta":"a" }"#, "a", true),
        (r#"{"delta":"line1\nline2\t\"\\\/"}"#, "line1\nline2\t\"\\/", true),
        (r#"{"delta":"\u00e9\ud83d\ude00"}"#, "é😀", true),
        (r#"{"delta":"\ud83d"}"#, "\u{fffd}", true),
        (r#"{"delta":"a}"}"#, "a}", true),
        (r#"{"delta":"a","delta":"b"}"#, "b", false),
        ("{\"\\u0064elta\":\"\u{2028}\u{0085}\"}", "\u{2028}\u{0085}", false),
        ("{\"delta\":\"\u{2028}\u{0085}\"}", "\u{2028}\u{0085}", true),
    ] {
        let (hot, slow) = both_ways(written);
        assert_eq!(slow.last().expect("an event")["content"], text, "{written}");
        assert_eq!(hot, is_hot.then_some(slow), "{written}");
    }
}

#[test]
fn what_is_not_quite_a_piece_is_kept() {
    for written in [
        r#"{"delta":"a"#,
        r#"{"delta":"a"}}"#,
        r#"{"delta":"a"},"#,
        r#"{"delta":"a",}"#,
        r#"{"delta":a}"#,
        r#"{"delta":"\x"}"#,
        "{\"delta\":\"a\nb\"}",
        r#"{"delta":5}"#,
        r#"{"delta":null}"#,
        r#"{"delta":["a"]}"#,
        r#"{"text":"a"}"#,
        "{}",
    ] {
        let (mut decoder, mut seen) = (decoder(), Seen::default());
        decoder.decode(&frame("text_delta", written), &mut seen);
        assert_eq!(seen.types(), ["turn.created", "unknown"], "{written}");
        let (wire_type, raw, problem) = seen.unknown()[0];
        assert_eq!(wire_type, "text_delta");
        assert!(problem.is_some(), "{written}");
        let raw = raw.as_str().map_or_else(|| raw.to_string(), str::to_owned);
        assert_eq!(raw, written);
    }
}

/// A JSON text in ASCII.
fn escaped(json: &str) -> String {
    let mut escaped = String::new();
    for character in json.chars() {
        if character.is_ascii() {
            escaped.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            write!(escaped, "\\u{unit:04x}").expect("a text takes everything");
        }
    }
    escaped
}

proptest! {
    #[test]
    fn the_hot_path_and_the_general_way_agree(text in any::<String>(), cut in any::<prop::sample::Index>(), escape in any::<bool>()) {
        let mut data = json!({"delta": text}).to_string();
        if escape {
            data = escaped(&data);
        }
        let (hot, slow) = both_ways(&data);
        prop_assert_eq!(slow.last().and_then(|event| event["content"].as_str()).unwrap_or_default(), text);
        prop_assert_eq!(hot, Some(slow));
        // Cut short, it is no piece at all.
        let end = (0..cut.index(data.len())).rev().find(|at| data.is_char_boundary(*at)).unwrap_or(0);
        let (mut decoder, mut seen) = (decoder(), Seen::default());
        decoder.decode(&frame("text_delta", &data[..end]), &mut seen);
        prop_assert_eq!(seen.types(), ["turn.created", "unknown"]);
    }
}
