//! Target `sse`: any bytes, in any chunks, give the result of a plain implementation of the standard, and take no more
//! memory than the limit allows.

use turnwire::sse::{DEFAULT_LIMIT, Frame, FrameDecoder, FrameError};

use crate::allocated;
use crate::input::{Input, Plan};

/// A frame, kept.
#[derive(Debug, Clone, PartialEq)]
struct Seen {
    event: String,
    data: String,
    id: Option<String>,
    has_own_id: bool,
}

/// The result of a stream.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    frames: Vec<Seen>,
    last_event_id: Option<String>,
    retry: Option<u64>,
    failure: Option<FrameError>,
    was_cut: bool,
}

impl From<Frame<'_>> for Seen {
    fn from(frame: Frame<'_>) -> Self {
        Self {
            event: frame.event.to_owned(),
            data: frame.data.to_owned(),
            id: frame.id.map(str::to_owned),
            has_own_id: frame.has_own_id,
        }
    }
}

/// Runs the target.
pub fn run(input: &[u8]) {
    let (mut plan, bytes) = Input::of(input);
    let limit = match plan.below(3) {
        0 => plan.below(64),
        1 => plan.below(4096),
        _ => DEFAULT_LIMIT,
    };
    let chunks = plan.cut(bytes);
    let whole = decode(limit, [bytes]);
    assert_eq!(decode(limit, chunks.iter().copied()), whole, "in chunks of {:?}", sizes(&chunks));
    assert_eq!(decode(limit, bytes.chunks(1)), whole, "byte by byte");
    if limit >= bytes.len() {
        assert_eq!(whole, reference(bytes), "as the standard says");
    }
    check_memory(limit.min(plan.below(128)), &chunks);
    check_reset(&mut plan, bytes);
}

fn sizes(chunks: &[&[u8]]) -> Vec<usize> {
    chunks.iter().map(|chunk| chunk.len()).collect()
}

fn decode<'b>(limit: usize, chunks: impl IntoIterator<Item = &'b [u8]>) -> Outcome {
    let mut decoder = FrameDecoder::with_limit(limit);
    let mut outcome = Outcome::default();
    for chunk in chunks {
        let fed = decoder.feed(chunk, &mut |frame| outcome.frames.push(frame.into()));
        assert!(outcome.failure.is_none() || fed.is_err(), "a failed decoder stays so");
        outcome.failure = fed.err();
    }
    outcome.last_event_id = decoder.last_event_id().map(str::to_owned);
    outcome.retry = decoder.retry();
    outcome.was_cut = decoder.finish();
    outcome
}

/// The decoder holds a frame's data, a line, an event's name and two ids, each up to the limit; buffers
/// double as they grow, and every broken byte of a text becomes three.
fn check_memory(limit: usize, chunks: &[&[u8]]) {
    let before = allocated();
    let mut decoder = FrameDecoder::with_limit(limit);
    for chunk in chunks {
        let _ = decoder.feed(chunk, &mut |_| {});
        let held = allocated().saturating_sub(before);
        assert!(held <= 512 + 24 * limit, "{held} bytes are held with a limit of {limit}");
    }
}

/// After a reset, only the last id and the retry time of the earlier connection remain.
fn check_reset(plan: &mut Plan, bytes: &[u8]) {
    let (old, new) = bytes.split_at(plan.below(bytes.len() + 1));
    let mut decoder = FrameDecoder::default();
    let _ = decoder.feed(old, &mut |_| {});
    decoder.reset();
    let (id, retry) = (decoder.last_event_id().map(str::to_owned), decoder.retry());
    let mut frames: Vec<Seen> = Vec::new();
    for chunk in plan.cut(new) {
        let _ = decoder.feed(chunk, &mut |frame| frames.push(frame.into()));
    }
    let mut expected = decode(DEFAULT_LIMIT, [new]);
    for frame in &mut expected.frames {
        frame.id = frame.id.take().or_else(|| id.clone());
    }
    assert_eq!(frames, expected.frames, "after a reset");
    assert_eq!(decoder.retry(), expected.retry.or(retry));
}

/// The standard's algorithm, step by step, over the whole text.
fn reference(bytes: &[u8]) -> Outcome {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n").replace('\r', "\n");
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut outcome = Outcome::default();
    let (mut event, mut data, mut id) = (String::new(), String::new(), None);
    let (mut lines, mut rest) = (text.split('\n').peekable(), "");
    while let Some(line) = lines.next() {
        if lines.peek().is_none() {
            rest = line;
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "" if line.is_empty() => {
                let has_own_id = id.is_some();
                outcome.last_event_id = id.take().or(outcome.last_event_id);
                if let Some(all) = data.strip_suffix('\n') {
                    let id = outcome.last_event_id.clone();
                    outcome.frames.push(Seen { event: event.clone(), data: all.to_owned(), id, has_own_id });
                }
                event.clear();
                data.clear();
            }
            "event" => value.clone_into(&mut event),
            "data" => data.extend([value, "\n"]),
            "id" if !value.contains('\0') => id = Some(value.to_owned()),
            "retry" if value.bytes().all(|byte| byte.is_ascii_digit()) => {
                outcome.retry = value.parse().ok().or(outcome.retry);
            }
            _ => {}
        }
    }
    let in_frame = !data.is_empty() || !event.is_empty() || id.is_some();
    outcome.was_cut = in_frame || !(rest.is_empty() || rest.starts_with(':'));
    outcome
}
