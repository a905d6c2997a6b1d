//! For any bytes in any chunks, the decoder does what the reference does.

use super::super::line::line_len;
use super::{FrameDecoder, Seen, cut, decode, reference};
use proptest::collection::vec;
use proptest::prelude::*;

/// Pieces that event streams are made of, and broken by.
const PIECES: &[&[u8]] = &[
    b"\n",
    b"\n\n",
    b"\r",
    b"\r\n",
    b":",
    b": ",
    b" ",
    b"\0",
    b"\xEF\xBB\xBF",
    b"\xEF\xBB",
    b"\xEF",
    b"data",
    b"data:",
    b"data: ",
    b"data: text\n",
    b"dat",
    b"event",
    b"event: ",
    b"id",
    b"id: ",
    b"id: 17\n",
    b"retry: ",
    b"retry:25\n",
    b"12",
    b"99999999999999999999",
    b"{\"type\":\"model.message.delta\"}",
    b"\xC3\xA9",
    b"\xE2\x82\xAC",
    b"\xF0\x9F\x98\x80",
    b"\xE2\x82",
    b"\xF0\x9F\x98",
    b"\xED\xA0\x80",
    b"\xC0",
    b"\x80",
    b"\xFF",
];

fn soup() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        9 => prop::sample::select(PIECES).prop_map(<[u8]>::to_vec),
        1 => vec(any::<u8>(), 1..4),
    ];
    vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

fn sizes() -> impl Strategy<Value = Vec<usize>> {
    let some_bytes = (0..12_usize, vec(0..12_usize, 0..20));
    // At least one chunk takes something, so that cutting ends.
    some_bytes.prop_map(|(first, mut sizes)| {
        sizes.push(first + 1);
        sizes
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn soup_in_any_chunks(stream in soup(), sizes in sizes()) {
        let want = reference::decode(&stream);
        prop_assert_eq!(&decode([&*stream]), &want);
        prop_assert_eq!(&decode(cut(&stream, &sizes)), &want);
        prop_assert_eq!(&decode(cut(&stream, &[1])), &want);
    }

    /// Whether a stream keeps a limit, and what comes before it does not, is a matter of its bytes.
    #[test]
    fn limits_do_not_depend_on_chunks(stream in soup(), sizes in sizes(), limit in 0..60_usize) {
        let run = |chunks: Vec<&[u8]>| {
            let mut decoder = FrameDecoder::with_limit(limit);
            let mut data = Vec::new();
            let result = chunks.into_iter().try_for_each(|chunk| {
                decoder.feed(chunk, &mut |frame| data.push(frame.data.to_owned()))
            });
            (data, result)
        };
        let whole = run(vec![&*stream]);
        prop_assert_eq!(&run(cut(&stream, &sizes)), &whole);
        prop_assert_eq!(&run(cut(&stream, &[1])), &whole);
    }

    /// The word-wise search stops where a bytewise one does.
    #[test]
    fn line_ends(bytes in vec(prop_oneof![4 => any::<u8>(), 1 => 0x08..=0x0E_u8], 0..40)) {
        let want = bytes.iter().position(|byte| *byte == b'\n' || *byte == b'\r');
        prop_assert_eq!(line_len(&bytes), want);
    }

    /// After a reset nothing of the old connection is left but the last id and the retry time.
    #[test]
    fn reset_starts_over(old in soup(), new in soup(), sizes in sizes()) {
        let mut decoder = FrameDecoder::default();
        decoder.feed(&old, &mut |_| {}).unwrap();
        decoder.reset();
        let (id, retry) = (decoder.last_event_id().map(str::to_owned), decoder.retry());
        prop_assert_eq!(&id, &reference::decode(&old).last_event_id);

        let mut frames: Vec<Seen> = Vec::new();
        for chunk in cut(&new, &sizes) {
            decoder.feed(chunk, &mut |frame| frames.push(frame.into())).unwrap();
        }
        let mut want = reference::decode(&new);
        for frame in &mut want.frames {
            frame.id = frame.id.take().or_else(|| id.clone());
        }
        prop_assert_eq!(frames, want.frames);
        let want_id = want.last_event_id.or(id);
        prop_assert_eq!(decoder.last_event_id(), want_id.as_deref());
        prop_assert_eq!(decoder.retry(), want.retry.or(retry));
        prop_assert_eq!(decoder.finish(), want.cut);
    }
}
