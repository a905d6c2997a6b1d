//! Records read back as JavaScript reads them: words of 32 bits, text by offsets in UTF-16 units.

use proptest::prelude::*;

use super::{CHANGE_STRIDE, ChangeBatch, EVENT_STRIDE, EventBatch, Span, TextArena, kind};
use crate::event::{TextDelta, TextField};
use crate::index::EventIndex;
use crate::json::Value;

/// The arena's text, as a `TextDecoder` and a `slice` give it.
fn read(arena: &TextArena, span: Span) -> String {
    let block = if span.wide { arena.wide() } else { arena.ascii() };
    let units: Vec<u16> = std::str::from_utf8(block).expect("UTF-8").encode_utf16().collect();
    let (start, len) = (span.start as usize, span.len as usize);
    String::from_utf16(&units[start..start + len]).expect("whole characters")
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![2 => "[ -~]{0,10}", 1 => "\\PC{0,6}", 1 => Just("\u{1f600}é".to_owned())]
}

/// Which words there are, by their places.
fn words(record: &[u32], start: usize) -> Span {
    Span { start: record[start], len: record[start + 1], wide: record[0] & kind::WIDE != 0 }
}

fn field() -> impl Strategy<Value = TextField> {
    prop_oneof![
        Just(TextField::Content),
        Just(TextField::Reasoning),
        (0..1024_u32).prop_map(TextField::Arguments),
    ]
}

type Delta = (u64, String, String, Option<String>, TextField, String);

fn delta() -> impl Strategy<Value = Delta> {
    let time = prop_oneof![Just(None), Just(Some("2026-07-01T10:00:00Z".to_owned()))];
    (0..(1_u64 << 53), "m[0-3]é?", "[a-c]?", time, field(), text())
}

/// The deltas that a batch of records holds, its names among them.
fn decode(records: &[u32], arena: &TextArena, names: &mut Vec<String>) -> Vec<Delta> {
    let mut deltas = Vec::new();
    for record in records.chunks(EVENT_STRIDE) {
        let text = read(arena, words(record, 5));
        let field = match record[0] & 0xff {
            kind::CONTENT => TextField::Content,
            kind::REASONING => TextField::Reasoning,
            kind::ARGUMENTS => TextField::Arguments(record[9]),
            kind::NAME => {
                names.push(text);
                continue;
            }
            other => panic!("a record of kind {other}"),
        };
        let time = Span { start: record[7], len: record[8], wide: false };
        let time = (record[0] & kind::TIMED != 0).then(|| read(arena, time));
        let sequence_number = u64::from(record[3]) | u64::from(record[4]) << 32;
        let name = |word: usize| names[record[word] as usize].clone();
        deltas.push((sequence_number, name(1), name(2), time, field, text));
    }
    deltas
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn an_arena_gives_every_text_back(texts in prop::collection::vec(text(), 0..20), clear_at in 0..20_usize) {
        let mut arena = TextArena::default();
        let mut kept = Vec::new();
        for (at, text) in texts.iter().enumerate() {
            if at == clear_at {
                arena.clear();
                kept.clear();
            }
            let span = arena.push(text);
            prop_assert_eq!(span.wide, !text.is_ascii());
            kept.push((span, text));
        }
        for (span, text) in kept {
            prop_assert_eq!(&read(&arena, span), text);
        }
        prop_assert!(arena.ascii().is_ascii());
    }

    /// Names are announced once, whatever is taken in between.
    #[test]
    fn an_event_batch_gives_every_delta_back(
        deltas in prop::collection::vec((delta(), prop::bool::weighted(0.3)), 0..20),
    ) {
        let mut batch = EventBatch::default();
        let (mut taken, mut names, mut found) = ((Vec::new(), TextArena::default()), Vec::new(), Vec::new());
        for ((sequence_number, id, thread_id, time, field, text), take) in &deltas {
            let delta = TextDelta { id, thread_id, created_at: time.as_deref(), field: *field, text, others: None, source: 0 };
            batch.delta(*sequence_number, &delta);
            if *take {
                batch.take(&mut taken);
                prop_assert!(batch.is_empty());
                found.extend(decode(&taken.0, &taken.1, &mut names));
            }
        }
        found.extend(decode(batch.records(), batch.text(), &mut names));
        let expected: Vec<Delta> = deltas.into_iter().map(|(delta, _)| delta).collect();
        prop_assert_eq!(found, expected);
        let mut once = names.clone();
        once.sort();
        once.dedup();
        prop_assert_eq!(once.len(), names.len());
    }

    #[test]
    fn a_change_batch_gives_every_piece_back(pieces in prop::collection::vec((0..3_usize, field(), text()), 0..20)) {
        let (mut index, mut batch) = (EventIndex::new(), ChangeBatch::default());
        let mut expected: Vec<(u32, TextField, String)> = Vec::new();
        let ids = ["a", "b", "c"];
        // Messages take their slots in this order.
        for id in ids {
            let field = TextField::Content;
            index.append(&TextDelta { id, thread_id: "main", created_at: None, field, text: "", others: None, source: 0 });
        }
        for (slot, field, text) in &pieces {
            index.append(&TextDelta { id: ids[*slot], thread_id: "main", created_at: None, field: *field, text, others: None, source: 0 });
            let slot = u32::try_from(*slot).expect("small");
            match expected.iter_mut().find(|(known, known_field, _)| *known == slot && known_field == field) {
                Some((_, _, known)) => known.push_str(text),
                None => expected.push((slot, *field, text.clone())),
            }
        }
        expected.retain(|(_, _, text)| !text.is_empty());
        prop_assert!(batch.fill(&mut index).is_some());
        let mut found: Vec<_> = batch.records().chunks(CHANGE_STRIDE).map(|record| {
            let field = match record[1] & 0xff {
                0 => TextField::Content,
                1 => TextField::Reasoning,
                2 => TextField::Arguments(record[2]),
                other => panic!("field {other}"),
            };
            let span = Span { start: record[3], len: record[4], wide: record[1] & kind::WIDE != 0 };
            (record[0], field, read(batch.text(), span))
        }).collect();
        let by_place = |(slot, field, _): &(u32, TextField, String)| match field {
            TextField::Content => (*slot, 0, 0),
            TextField::Reasoning => (*slot, 1, 0),
            TextField::Arguments(call) => (*slot, 2, *call),
        };
        found.sort_by_key(by_place);
        expected.sort_by_key(by_place);
        prop_assert_eq!(found, expected);
        prop_assert_eq!(batch.fill(&mut index), None);
        prop_assert!(batch.records().is_empty());
    }
}

#[test]
fn an_event_that_is_no_delta_is_its_json() {
    for source in
        [r#"{"type":"turn.created","turn_id":"t"}"#, r#"{"type":"tool.response","content":"é\u0000"}"#]
    {
        let event = Value::parse(source).expect("JSON");
        let mut batch = EventBatch::default();
        batch.event(u64::from(u32::MAX) + 7, event.as_object().expect("an object"));
        let record = batch.records();
        assert_eq!(record.len(), EVENT_STRIDE);
        assert_eq!(record[0] & 0xff, kind::JSON);
        assert_eq!((record[3], record[4]), (6, 1), "the number's halves");
        assert_eq!(read(batch.text(), words(record, 5)), source);
    }
}

/// A time that is not ASCII is none, and its delta does without.
#[test]
fn a_time_that_is_none_is_left_out() {
    let mut batch = EventBatch::default();
    let field = TextField::Content;
    batch.delta(
        1,
        &TextDelta {
            id: "m",
            thread_id: "main",
            created_at: Some("gestern\u{fc}"),
            field,
            text: "a",
            others: None,
            source: 0,
        },
    );
    let deltas = decode(batch.records(), batch.text(), &mut Vec::new());
    assert_eq!(deltas[0].3, None);
    assert_eq!(deltas[0].5, "a");
}
