//! Bytes → frames → events: what servers write, and what the standard allows them to.

use super::{Seen, decoder};
use crate::protocol::EventDecoder;
use crate::sse::FrameDecoder;

fn read<'c>(chunks: impl IntoIterator<Item = &'c [u8]>) -> Seen {
    let (mut decoder, mut frames, mut seen) = (decoder(), FrameDecoder::default(), Seen::default());
    for chunk in chunks {
        frames.feed(chunk, &mut |frame| decoder.decode(&frame, &mut seen)).expect("frames are small");
    }
    decoder.end(&mut seen);
    seen
}

const PLAIN: &str = "event: turn_start\ndata: {}\n\nevent: text_delta\ndata: {\"delta\":\"Grüße\"}\n\n\
                     event: turn_stop\ndata: {\"stopReason\":\"end_turn\"}\n\n";

#[test]
fn section_4_a_stream() {
    let seen = read([PLAIN.as_bytes()]);
    assert_eq!(seen.state()["output"]["content"], "Grüße");
    assert!(seen.unknown().is_empty());
    assert_eq!(read(PLAIN.as_bytes().chunks(1)).events, seen.events);
}

#[test]
fn section_4_what_the_standard_allows() {
    let expected = read([PLAIN.as_bytes()]).events;
    let noisy = PLAIN.replace("event: text", ": heartbeat\n\nretry: 100\nid: 5\nevent: text");
    let folded = PLAIN.replace("{\"delta\":", "{\ndata: \"delta\":\ndata: ");
    for written in [
        format!("\u{feff}{PLAIN}"),
        PLAIN.replace('\n', "\r\n"),
        PLAIN.replace('\n', "\r"),
        PLAIN.replace(": ", ":"),
        noisy,
        folded,
    ] {
        assert_eq!(read([written.as_bytes()]).events, expected, "{written:?}");
    }
}

/// A frame that is not at its end when the stream is says nothing: the turn has not ended.
#[test]
fn the_last_frame_needs_its_end() {
    for cut in 1..=2 {
        let seen = read([&PLAIN.as_bytes()[..PLAIN.len() - cut]]);
        assert!(seen.of("turn.done").is_empty(), "{cut}");
        assert_eq!(seen.messages()[0]["content"], "Grüße");
    }
}

#[test]
fn bytes_that_are_no_text_become_what_stands_for_them() {
    let bytes = b"event: text_delta\ndata: {\"delta\":\"a\xff\xc3(\xf0\x9f\"}\n\n";
    for seen in [read([&bytes[..]]), read(bytes.chunks(1))] {
        assert_eq!(seen.messages()[0]["content"], "a\u{fffd}\u{fffd}(\u{fffd}");
    }
    let bytes = b"event: tool_call\ndata: {\"toolCallId\":\"\xff\",\"name\":\"mine\",\"input\":{\"\xff\":\"\xfe\"}}\n\n";
    let seen = read([&bytes[..]]);
    assert_eq!(seen.messages()[0]["tool_calls"][0]["function"]["arguments"], "{\"\u{fffd}\":\"\u{fffd}\"}");
    assert_eq!(seen.messages()[0]["tool_calls"][0]["id"], "\u{fffd}");
}

#[test]
fn a_frame_without_a_type_is_kept() {
    let seen = read([&b"data: {\"delta\":\"a\"}\n\nevent: message\ndata: {}\n\n"[..]]);
    let kinds: Vec<_> = seen.unknown().iter().map(|unknown| unknown.0.clone()).collect();
    assert_eq!(kinds, [serde_json::Value::Null, "message".into()]);
}
