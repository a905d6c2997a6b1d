//! Frames that are taken at once become the events that they become one by one.

use proptest::prelude::*;
use serde_json::Value as Json;

use super::super::Run;
use super::deltas::{delta, read_generally};
use super::{RunDecoder, Seen, call_start, complete, run_start, step, step_end};
use crate::protocol::EventDecoder;
use crate::protocol::tests::streams::{damaged, feed};
use crate::sse::{self, Frame, FrameSink};

/// Reads a stream, and keeps its place: the id of the last frame, unless events came after it without one.
#[derive(Default)]
struct Reading<R> {
    reader: R,
    seen: Seen,
    place: Option<String>,
    /// The bytes that were taken as runs.
    taken: usize,
}

impl<R> Reading<R> {
    fn note(&mut self, id: Option<&str>, before: usize) {
        if id.is_some() || self.seen.events.len() > before {
            self.place = id.map(str::to_owned);
        }
    }
}

impl FrameSink for Reading<RunDecoder> {
    fn frame(&mut self, frame: Frame<'_>) {
        let before = self.seen.events.len();
        self.reader.decode(&frame, &mut self.seen);
        self.note(frame.id.filter(|_| frame.has_own_id), before);
    }

    fn takes_runs(&self) -> bool {
        true
    }

    fn run(&mut self, bytes: &[u8]) -> sse::Run {
        let before = self.seen.events.len();
        let run = self.reader.run(bytes, &mut self.seen);
        self.taken += run.len;
        let id = run.id.map(|(start, end)| str::from_utf8(&bytes[start..end]).expect("an id is UTF-8"));
        self.note(id, before);
        run
    }
}

/// Each frame by the general way.
impl FrameSink for Reading<Run> {
    fn frame(&mut self, frame: Frame<'_>) {
        let before = self.seen.events.len();
        read_generally(&mut self.reader, &frame, &mut self.seen);
        self.note(frame.id.filter(|_| frame.has_own_id), before);
    }
}

fn read<R>(stream: &[u8], sizes: &[usize]) -> (Reading<R>, Option<String>)
where
    R: Default,
    Reading<R>: FrameSink,
{
    let mut reading = Reading::<R>::default();
    let decoder = feed(stream, sizes, &mut reading);
    (reading, decoder.last_event_id().map(str::to_owned))
}

/// A frame as servers may write it, or nearly.
fn frame() -> impl Strategy<Value = String> {
    let other = prop::sample::select(vec![step("m"), call_start("c1"), step_end(), complete()]);
    let data = prop_oneof![9 => delta(), 1 => other.prop_map(|frame| frame.to_string())];
    let end = prop::sample::select(vec!["\n", "\n", "\n", "\r\n", "\r"]);
    let id = prop::sample::select(vec![
        None,
        None,
        None,
        Some("c1"),
        Some("c2"),
        Some(""),
        Some("é"),
        Some("a\0b"),
    ]);
    let more = prop::sample::select(vec![
        "",
        "",
        "",
        "",
        ": ping",
        "event: error",
        "event: x",
        "retry: 5",
        "data: x",
    ]);
    let colon = prop::sample::select(vec![": ", ": ", ":"]);
    (data, end, id, more, colon, 0..3_usize).prop_map(|(data, end, id, more, colon, place)| {
        // A line's end inside the data would be one of the frame.
        let mut lines = vec![format!("data{colon}{}", data.replace(['\n', '\r'], " "))];
        if let Some(id) = id {
            lines.insert(place % 2, format!("id{colon}{id}"));
        }
        if !more.is_empty() {
            lines.insert(place % (lines.len() + 1), more.to_owned());
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
        sizes in prop::collection::vec(1..900_usize, 1..8),
    ) {
        let begin = format!("data: {}\n\ndata: {}\n\n", run_start(), step("m"));
        let stream = damaged(begin + &frames.concat(), broken);
        let (hot, id) = read::<RunDecoder>(&stream, &sizes);
        let (general, general_id) = read::<Run>(&stream, &[stream.len()]);
        prop_assert_eq!(hot.seen.events, general.seen.events);
        prop_assert_eq!((hot.place, id), (general.place, general_id));
    }
}

/// Deltas as servers stream them are read in runs, wherever the stream is cut.
#[test]
fn deltas_are_read_in_runs() {
    let shapes: [fn(&str, usize) -> String; 4] = [
        |text, at| {
            format!(
                "data: {{\"type\":\"text_delta\",\"run_id\":\"r\",\"thread_id\":\"s\",\"seq\":{at},\"timestamp_ms\":{},\"step_id\":\"step:{}\",\"data\":{{\"delta\":{text}}}}}\n\n",
                1_795_255_726_637_u64 + at as u64,
                at / 100,
            )
        },
        |text, _| format!("data: {{\"event_type\":\"text_delta\",\"delta\":{text}}}\n\n"),
        |text, at| {
            let id = at % 2;
            format!(
                "data: {{\"event_type\":\"tool_call_delta\",\"id\":\"c{id}\",\"args_delta\":{text}}}\r\n\r\n"
            )
        },
        |text, at| format!("id: run/{at}\ndata: {{\"event_type\":\"reasoning_delta\",\"delta\":{text}}}\n\n"),
    ];
    for shape in shapes {
        for size in [7, 150, 1000, 100_000] {
            let frame = |at: usize| {
                let text = if at.is_multiple_of(10) { "é\"\n".to_owned() } else { at.to_string() };
                shape(&Json::from(text).to_string(), at)
            };
            let stream: String = (0..500).map(frame).collect();
            let (reading, _) = read::<RunDecoder>(stream.as_bytes(), &[size]);
            // A CR may be the end of a frame or not: cut behind it, it is read line by line.
            if size == 100_000 || !stream.contains('\r') {
                assert_eq!(reading.taken, stream.len(), "chunks of {size}: {}", &stream[..200]);
            }
            assert_eq!(reading.seen.pieces, 500);
        }
    }
}
