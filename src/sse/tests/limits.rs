//! What a hostile or broken server cannot do, and that frames are lent rather than copied.

use super::{FrameDecoder, FrameError, Seen, decode};

const TOO_LARGE: FrameError = FrameError::TooLarge { limit: 16 };

fn feed(decoder: &mut FrameDecoder, chunk: &[u8]) -> Result<Vec<Seen>, FrameError> {
    let mut frames = Vec::new();
    decoder.feed(chunk, &mut |frame| frames.push(frame.into()))?;
    Ok(frames)
}

#[test]
fn a_frame_up_to_the_limit_passes() {
    let mut decoder = FrameDecoder::with_limit(16);
    let frames = feed(&mut decoder, b"data: 0123456789\n\n").unwrap();
    assert_eq!(frames[0].data, "0123456789");
    assert_eq!(feed(&mut decoder, b"data: 0123456789X"), Err(TOO_LARGE));
}

#[test]
fn lines_of_one_frame_add_up_and_frames_do_not() {
    let mut decoder = FrameDecoder::with_limit(16);
    for _ in 0..10 {
        assert_eq!(feed(&mut decoder, b"data:0123\n").unwrap(), []);
        assert_eq!(feed(&mut decoder, b"data:0\n\n").unwrap().len(), 1);
    }
    // Three lines of 3 bytes with their ends, and 8 more, are 17.
    assert_eq!(feed(&mut decoder, b"data:01\ndata:01\ndata:01\ndata:012"), Err(TOO_LARGE));
}

#[test]
fn frames_before_a_large_one_are_delivered() {
    let mut decoder = FrameDecoder::with_limit(16);
    let mut data = String::new();
    let chunk = b"data: a\nid: 5\n\ndata: far too much for it\n\ndata: b\n\n";
    let result = decoder.feed(chunk, &mut |frame| data.push_str(frame.data));
    assert_eq!((result, data.as_str()), (Err(TOO_LARGE), "a"));
    assert_eq!(decoder.last_event_id(), Some("5"));
}

#[test]
fn a_failed_decoder_stays_failed_until_reset() {
    let mut decoder = FrameDecoder::with_limit(16);
    assert_eq!(feed(&mut decoder, &[b'x'; 17]), Err(TOO_LARGE));
    assert_eq!(feed(&mut decoder, b"\n\ndata: a\n\n"), Err(TOO_LARGE));
    decoder.reset();
    assert_eq!(feed(&mut decoder, b"data: a\n\n").unwrap().len(), 1);
}

#[test]
fn an_endless_line_is_refused_unless_it_is_a_comment() {
    for start in ["data: ", "event: ", "id: ", "unknown: ", "noise"] {
        let mut decoder = FrameDecoder::with_limit(16);
        let begun = feed(&mut decoder, start.as_bytes());
        assert_eq!(begun, Ok(vec![]));
        assert_eq!(feed(&mut decoder, &[b'.'; 16]), Err(TOO_LARGE), "{start}");
    }
    let mut decoder = FrameDecoder::with_limit(16);
    feed(&mut decoder, b": ").unwrap();
    for _ in 0..1_000 {
        feed(&mut decoder, &[b'.'; 1_000]).unwrap();
    }
    assert!(decoder.capacity() <= 16);
    assert_eq!(feed(&mut decoder, b"\ndata: a\n\n").unwrap().len(), 1);
}

#[test]
fn repeated_fields_do_not_add_up() {
    let mut decoder = FrameDecoder::with_limit(16);
    for _ in 0..1_000 {
        let fields = b"event: 012345678\nid: 0123456789\nother: 01234567\nretry: 5\n: comment\n";
        feed(&mut decoder, fields).unwrap();
    }
    assert_eq!(feed(&mut decoder, b"data: a\n\n").unwrap().len(), 1);
}

#[test]
fn large_buffers_are_given_back() {
    let mut decoder = FrameDecoder::default();
    let value = "x".repeat(300_000);
    let stream = format!("data: {value}\ndata: {value}\n\n");
    let (head, tail) = stream.as_bytes().split_at(400_000);
    feed(&mut decoder, head).unwrap();
    assert!(decoder.capacity() >= 400_000 - "data: ".len() * 2);
    let frames = feed(&mut decoder, tail).unwrap();
    assert_eq!(frames[0].data, format!("{value}\n{value}"));
    assert!(decoder.capacity() < 150_000);
}

#[test]
fn whole_frames_are_lent_from_their_chunk() {
    let chunk = b": ping\nevent: x\ndata: {\"a\":1}\nid: 17\n\n".as_slice();
    let mut decoder = FrameDecoder::default();
    let mut lent = false;
    let mut sink = |frame: super::Frame<'_>| {
        lent = chunk.as_ptr_range().contains(&frame.data.as_ptr());
    };
    decoder.feed(chunk, &mut sink).unwrap();
    assert!(lent);
    assert_eq!(decoder.capacity(), 0);
}

/// Searching the line again for every byte would be 10^13 steps.
#[test]
fn a_long_frame_byte_by_byte_takes_linear_time() {
    let value = "y".repeat(3_000_000);
    let stream = format!("data: {value}\n\n");
    let outcome = decode(stream.as_bytes().chunks(1));
    assert_eq!(outcome.frames[0].data, value);
}

#[test]
fn the_error_says_what_happened() {
    let message = TOO_LARGE.to_string();
    assert_eq!(message, "an event-stream frame is larger than 16 bytes");
}
