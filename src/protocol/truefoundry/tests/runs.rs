//! Frames that are taken at once say what the same frames say one by one.

use proptest::prelude::*;
use serde_json::json;

use super::deltas::delta;
use super::{Seen, TurnDecoder, without_nulls};
use crate::event::EventRef;
use crate::json::parse_u64;
use crate::protocol::EventSink;
use crate::protocol::tests::streams::{Reading, damaged};
use crate::protocol::truefoundry::{canonical, counting};
use crate::sse::FrameDecoder;

fn in_runs(stream: &[u8], sizes: &[usize]) -> Reading<TurnDecoder, Vec<Seen>> {
    Reading::of(TurnDecoder::default(), stream, sizes, true)
}

/// Everything by the general reader.
fn one_by_one(stream: &[u8]) -> Vec<Seen> {
    let mut seen = Vec::new();
    let mut frames = FrameDecoder::default();
    frames
        .feed(stream, &mut |frame| {
            let id = frame.id.filter(|_| frame.has_own_id).and_then(|id| parse_u64(id.as_bytes()));
            let (said, event) = canonical::event_of(frame.data);
            let number = counting(canonical::sequence_number(id), said, &mut seen);
            seen.event(number, EventRef::of(&event));
        })
        .expect("small frames");
    seen
}

/// The same, but for the nulls, which the hot path may leave out.
fn comparable(seen: Vec<Seen>) -> Vec<Seen> {
    let plain = |mut seen: Seen| {
        seen.event = without_nulls(seen.event);
        Seen { is_hot: false, ..seen }
    };
    seen.into_iter().map(plain).collect()
}

/// A frame as servers may write it, or nearly.
fn frame() -> impl Strategy<Value = Vec<u8>> {
    let end = prop::sample::select(vec!["\n", "\n", "\n", "\r\n", "\r"]);
    let id = prop_oneof![
        6 => (1..50_u64).prop_map(|id| Some(id.to_string())),
        2 => Just(None),
        1 => prop::sample::select(vec!["", "007", "x", "-1", "9007199254740993", "99999999999999999999"])
            .prop_map(|id| Some(id.to_owned())),
    ];
    let colon = prop::sample::select(vec![": ", ": ", ":", ":  "]);
    let place = 0..4_u8;
    let more = prop::sample::select(vec![
        "",
        "",
        "",
        "",
        ": ping",
        "event: message",
        "retry: 5",
        "data: x",
        "id: 9",
    ]);
    (delta(), end, id, colon, place, more).prop_map(|(data, end, id, colon, place, more)| {
        // A line's end inside the data would be one of the frame.
        let mut lines = vec![format!("data{colon}{}", data.replace(['\n', '\r'], " "))];
        let at = usize::from(place == 0);
        if let Some(id) = id {
            lines.insert(1 - at, format!("id{colon}{id}"));
        }
        if !more.is_empty() {
            lines.insert(usize::from(place) % (lines.len() + 1), more.to_owned());
        }
        lines.iter().flat_map(|line| [line, end]).chain([end]).collect::<String>().into_bytes()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn runs_equal_single_frames(
        frames in prop::collection::vec(frame().prop_map(|frame| String::from_utf8(frame).expect("UTF-8")), 1..16),
        broken in prop::option::weighted(0.2, any::<(prop::sample::Index, u8)>()),
        sizes in prop::collection::vec(1..600_usize, 1..8),
    ) {
        let stream = damaged(frames.concat(), broken);
        prop_assert_eq!(comparable(in_runs(&stream, &sizes).seen), comparable(one_by_one(&stream)));
    }
}

/// A turn as servers stream it is read in runs, but for what is no delta, whatever shape its frames have.
#[test]
fn streams_are_read_in_runs() {
    let shapes: [fn(&str, u32) -> String; 6] = [
        |data, id| format!("data: {data}\nid: {id}\n\n"),
        |data, id| format!("id: {id}\ndata: {data}\n\n"),
        |data, id| format!("event: message\r\ndata: {data}\r\nid: {id}\r\n\r\n"),
        |data, _| format!("data:{data}\n\n"),
        |data, id| format!("data: {},\"sequence_number\":{id}}}\n\n", data.trim_end_matches('}')),
        |data, id| {
            format!(
                "data: {},\"ms\":{},\"region\":\"eu\"}}\nid: {id}\n\n",
                data.trim_end_matches('}'),
                id * 7
            )
        },
    ];
    for shape in shapes {
        for chunk in [1, 7, 150, 1000, 100_000] {
            let stream: String = (1..500_u32)
                .map(|id| {
                    let message = format!("m{}", id % 3);
                    let text = if id % 10 == 0 { "é\"\n".to_owned() } else { id.to_string() };
                    shape(&json!({"type": "model.message.delta", "id": message, "thread_id": message, "content": text}).to_string(), id)
                })
                .collect();
            let running = in_runs(stream.as_bytes(), &[chunk]);
            // A CR may be the end of a frame or not: cut behind it, it is read line by line.
            if chunk == 100_000 || !stream.contains('\r') {
                assert_eq!(running.taken, stream.len(), "chunks of {chunk}: {}", &stream[..200]);
            }
            assert_eq!(running.seen.len(), 499);
        }
    }
}
