//! Frames that are taken at once become the events that they become one by one.

use proptest::prelude::*;
use serde_json::json;

use super::{Seen, TurnDecoder, call, decoder, result, stop};
use crate::protocol::tests::streams::{Reading, damaged};

fn read(stream: &[u8], sizes: &[usize], takes_runs: bool) -> Reading<TurnDecoder, Seen> {
    Reading::of(decoder(), stream, sizes, takes_runs)
}

/// A frame as servers may write it, or nearly.
fn frame() -> impl Strategy<Value = String> {
    let text = prop_oneof![
        4 => "[a-z ]{0,8}",
        1 => "\\PC{0,6}",
        1 => prop::sample::select(vec!["\"", "\\", "\n", "{\"delta\":\"", "\"}", "\u{1f600}", "\u{0}"]).prop_map(str::to_owned),
    ];
    let piece = (text, prop::sample::select(vec!["", "", "", "", "", " ", "  "]), any::<bool>());
    let piece = piece.prop_map(|(text, space, escape)| {
        let mut text = json!(text).to_string();
        if escape && text.len() > 2 {
            text = text.replace(|character: char| character.is_ascii_lowercase(), "\\u0061");
        }
        format!("{{{space}\"delta\":{text}{space}}}")
    });
    let other = prop::sample::select(vec![
        ("tool_call", call("1", "mine").1),
        ("tool_result", result("1", "so").1),
        ("turn_stop", stop("end_turn").1),
        ("text_delta", json!({"delta": 5})),
        ("text_delta", json!({"delta": "a", "more": 1})),
        ("text", json!({"text": "whole"})),
    ]);
    let name = prop::sample::select(vec![
        "text_delta",
        "text_delta",
        "text_delta",
        "thinking_delta",
        "text_delt",
        "",
    ]);
    let frame = prop_oneof![
        12 => (name.prop_map(str::to_owned), piece),
        1 => other.prop_map(|(name, data)| (name.to_owned(), data.to_string())),
    ];
    let end = prop::sample::select(vec!["\n", "\n", "\n", "\r\n", "\r"]);
    let colon = prop::sample::select(vec![": ", ": ", ":", ":  "]);
    let more =
        prop::sample::select(vec!["", "", "", "", ": ping", "id: 5", "retry: 5", "event: x", "data: x"]);
    (frame, end, colon, more, 0..3_usize).prop_map(|((name, data), end, colon, more, place)| {
        let mut lines = vec![format!("event{colon}{name}"), format!("data{colon}{data}")];
        if place == 0 {
            lines.reverse();
        }
        if !more.is_empty() {
            lines.insert(place, more.to_owned());
        }
        lines.iter().flat_map(|line| [line, end]).chain([end]).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn runs_equal_single_frames(
        frames in prop::collection::vec(frame(), 1..16),
        broken in prop::option::weighted(0.2, any::<(prop::sample::Index, u8)>()),
        sizes in prop::collection::vec(1..400_usize, 1..8),
    ) {
        let stream = damaged(frames.concat(), broken);
        let one_by_one = read(&stream, &[stream.len()], false);
        prop_assert_eq!(read(&stream, &sizes, true).seen.events, one_by_one.seen.events);
    }
}

/// Pieces as servers stream them are read in runs, wherever the stream is cut.
#[test]
fn pieces_are_read_in_runs() {
    for end in ["\n", "\r\n"] {
        for size in [7, 150, 1000, 100_000] {
            let frame = |at: u32| {
                let name = if at.is_multiple_of(7) { "thinking_delta" } else { "text_delta" };
                let text = if at.is_multiple_of(10) { "é\"\n".to_owned() } else { at.to_string() };
                format!("event: {name}{end}data: {}{end}{end}", json!({"delta": text}))
            };
            let stream: String = (0..500).map(frame).collect();
            let reading = read(stream.as_bytes(), &[size], true);
            // A CR may be the end of a frame or not: cut behind it, it is read line by line.
            if size == 100_000 || end == "\n" {
                assert_eq!(reading.taken, stream.len(), "chunks of {size}");
            }
            assert_eq!(reading.seen.pieces, 500);
        }
    }
}
