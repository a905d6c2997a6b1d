//! Whatever a server sends, a frame is one event and never a panic (section 2.2).

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value as Json, json};

use super::{Seen, TurnDecoder, complete_events, decode, event_of, type_of};
use crate::event::EventRef;
use crate::index::EventIndex;
use crate::json::{MAX_DEPTH, Value};
use crate::protocol::tests::damage::place;
use crate::protocol::truefoundry::canonical;

#[test]
fn types_that_are_merely_new_are_unknown_without_a_problem() {
    for kind in ["turn.paused", "model.message.delta.v2", "", "unknown", "Turn.Done"] {
        let wire = json!({"type": kind, "id": "e", "payload": [1, {"a": null}]});
        let event = event_of(&wire.to_string());
        assert_eq!(event, json!({"type": "unknown", "wire_type": kind, "raw": wire}));
    }
}

#[test]
fn what_is_not_json_is_kept_as_text() {
    let deep = "[".repeat(100_000);
    let broken = [
        "[DONE]",
        "",
        " ",
        "{",
        "{\"type\":\"turn.created\"",
        "{\"type\":}",
        "nul",
        "'a'",
        "{\"a\":1,}",
        "\u{0}",
        "\u{feff}{}",
        "{\"type\":\"turn.done\"}{}",
        "{\"type\":\"\\ud83\"}",
        "\u{fffd}",
        &deep,
    ];
    for data in broken {
        let event = event_of(data);
        assert_eq!(event["type"], "unknown");
        assert_eq!(event["wire_type"], Json::Null);
        assert_eq!(event["raw"], data);
        assert!(!event["problem"].as_str().expect("a problem").is_empty());
    }
}

#[test]
fn what_is_not_an_object_with_a_type_is_kept_as_json() {
    let values = [
        json!(null),
        json!(true),
        json!(5),
        json!("turn.done"),
        json!([]),
        json!([{"type": "turn.done"}]),
        json!({}),
        json!({"id": "e"}),
        json!({"type": null}),
        json!({"type": 5}),
        json!({"type": ["turn.done"]}),
    ];
    for raw in values {
        let event = event_of(&raw.to_string());
        assert_eq!(event["type"], "unknown");
        assert_eq!(event["wire_type"], Json::Null);
        assert_eq!(event["raw"], raw);
        assert!(!event["problem"].as_str().expect("a problem").is_empty());
    }
}

/// Section 2.2: an untyped event is not guessed by its shape.
#[test]
fn an_event_without_a_type_is_not_guessed() {
    for mut wire in complete_events() {
        wire.as_object_mut().expect("an object").remove("type");
        assert_eq!(event_of(&wire.to_string())["type"], "unknown");
    }
}

/// Deeper than serde's own limit, so that the event is looked at as it is.
#[test]
fn nesting_up_to_the_limit_is_read() {
    let wire = |levels: usize| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        format!(r#"{{"type":"sandbox.created","sandbox_id":"s","extra":{open}{close}}}"#)
    };
    let depth = MAX_DEPTH as usize;
    assert_eq!(canonical::event_of(&wire(depth - 1)).1.text("type"), "sandbox.created");
    let too_deep = wire(depth);
    let (_, event) = canonical::event_of(&too_deep);
    assert_eq!(event.text("type"), "unknown");
    assert_eq!(event.text("raw"), too_deep);
}

/// Of members with one name the last one counts, in objects as in events.
#[test]
fn of_doubled_fields_the_last_one_counts() {
    let data = r#"{"type":"turn.done","sandbox_id":"one","type":"sandbox.created","sandbox_id":"other"}"#;
    assert_eq!(event_of(data), json!({"type": "sandbox.created", "sandbox_id": "other", "thread_id": null}));
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        "\\PC{0,8}".prop_map(Json::from),
        prop::sample::select(vec!["done", "error", "main", "m1", "text", "tool.approval_required"])
            .prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let name = prop::sample::select(vec!["id", "type", "thread_id", "text", "status", "state", "x"]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Json::from),
            prop::collection::vec((name, inner), 0..3).prop_map(|members| members
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect()),
        ]
    })
}

/// One event with some of its nodes replaced.
fn damaged_event() -> impl Strategy<Value = Json> {
    let edits = prop::collection::vec((any::<Index>(), any_json()), 1..4);
    (prop::sample::select(complete_events()), edits).prop_map(|(mut event, edits)| {
        for (at, value) in edits {
            let place = place(&mut event, at);
            // The root stays an object: other roots are a case of their own.
            if !place["type"].is_string() {
                *place = value;
            }
        }
        event
    })
}

/// What becomes of an event in the index, and as a Rust type: nothing may panic.
fn follow(index: &mut EventIndex, Seen { event, .. }: &Seen) {
    let text = event.to_string();
    let json = Value::parse(&text).expect("JSON");
    let event = EventRef::of(json.as_object().expect("an object"));
    index.apply(event);
    let _ = event.to_event();
    index.take_changes(&mut |_, _, _| {});
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn damaged_events_are_themselves_or_unknown(events in prop::collection::vec(damaged_event(), 1..6)) {
        let (mut decoder, mut index) = (TurnDecoder::default(), EventIndex::new());
        for wire in events {
            let seen = decode(&mut decoder, &wire.to_string());
            match type_of(&seen.event) {
                "unknown" => {
                    let named = wire["type"].as_str().map_or(Json::Null, Json::from);
                    prop_assert_eq!(&seen.event["wire_type"], &named);
                    prop_assert!(seen.event.get("raw").is_some());
                }
                kind => prop_assert_eq!(kind, &wire["type"]),
            }
            follow(&mut index, &seen);
        }
    }

    #[test]
    fn any_text_is_one_event(data in "\\PC{0,40}", cut in any::<Index>()) {
        let mut decoder = TurnDecoder::default();
        decode(&mut decoder, &data);
        let event = complete_events()[cut.index(complete_events().len())].to_string();
        let end = (0..=cut.index(event.len())).rev().find(|at| event.is_char_boundary(*at)).unwrap_or(0);
        let seen = decode(&mut decoder, &event[..end]);
        prop_assert_eq!(type_of(&seen.event), "unknown");
        follow(&mut EventIndex::new(), &seen);
    }
}
