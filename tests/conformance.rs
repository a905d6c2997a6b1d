//! The conformance cases of `tests/conformance`, run through the index (protocol note, section 3.7).
#![cfg(not(target_arch = "wasm32"))]

use serde::Deserialize;
use serde_json::Value as Json;

use turnwire::event::{EventRef, TextDelta};
use turnwire::index::EventIndex;
use turnwire::protocol::truefoundry::{Dialect, TrueFoundry};
use turnwire::protocol::{EventSink, Protocol};
use turnwire::sse::Frame;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MergeCase {
    name: String,
    section: String,
    base: Json,
    deltas: Vec<Json>,
    expected: Json,
    error: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OrderCase {
    name: String,
    section: String,
    events: Vec<Json>,
    expected: Vec<Json>,
}

/// An index behind the protocol's decoder, as behind a stream.
#[derive(Default)]
struct Indexed {
    index: EventIndex,
    /// Ids of messages that deltas were for, and how many events were unknown.
    delta_ids: Vec<String>,
    unknown: usize,
}

impl EventSink for Indexed {
    fn delta(&mut self, _: u64, delta: TextDelta<'_>) {
        self.delta_ids.push(delta.id.to_owned());
        self.index.append(&delta);
    }

    fn event(&mut self, _: u64, event: EventRef<'_>) {
        match event.fields.text("type") {
            "unknown" => self.unknown += 1,
            "model.message.delta" => self.delta_ids.push(event.fields.text("id").to_owned()),
            _ => {}
        }
        self.index.apply(event);
    }
}

impl Indexed {
    fn of<'j>(events: impl IntoIterator<Item = &'j Json>) -> Self {
        let mut indexed = Self::default();
        let mut decoder = TrueFoundry::new(Dialect::Gateway).decoder();
        for event in events {
            let data = event.to_string();
            let frame = Frame { event: "", data: &data, id: None, has_own_id: false };
            decoder.decode(&frame, &mut indexed);
        }
        indexed
    }

    /// The message as JSON, its empty members dropped.
    fn message(&self, id: &str) -> Json {
        let message = self.index.message(id).expect("the message is in the index");
        let thread = &self.index.threads()[message.thread];
        let json = message.to_json(&thread.id);
        without_nothing(serde_json::from_str(&json).expect("the index writes JSON"))
    }
}

/// Drops empty members, from the inside out. Lists keep their holes.
fn without_nothing(json: Json) -> Json {
    match json {
        Json::Array(items) => items.into_iter().map(without_nothing).collect(),
        Json::Object(members) => {
            let said = members.into_iter().map(|(name, value)| (name, without_nothing(value)));
            said.filter(|(_, value)| !says_nothing(value)).collect()
        }
        other => other,
    }
}

fn says_nothing(json: &Json) -> bool {
    match json {
        Json::Null => true,
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(members) => members.is_empty(),
        Json::Bool(_) | Json::Number(_) => false,
    }
}

fn check(failures: &mut Vec<String>, case: &str, found: &Json, expected: &Json) {
    let expected = without_nothing(expected.clone());
    if *found != expected {
        failures.push(format!("{case}\n  found    {found}\n  expected {expected}"));
    }
}

#[test]
fn merge_cases() {
    let cases: Vec<MergeCase> = serde_json::from_str(include_str!("conformance/merge.json")).expect("cases");
    let mut failures = Vec::new();
    for MergeCase { name, section, base, deltas, expected, error } in &cases {
        let base = Some(base).filter(|base| !base.is_null());
        let indexed = Indexed::of(base.into_iter().chain(deltas));
        let case = format!("{section} {name}");
        let id = expected["id"].as_str().expect("an id");
        check(&mut failures, &case, &indexed.message(id), expected);
        // The reason for which the last delta was refused shows in its outcome.
        let is_stray = indexed.delta_ids.iter().any(|delta_id| delta_id != id);
        let is_unknown = indexed.unknown > 0 && deltas[0]["type"] == "model.message.delta";
        let refused = match error.as_deref() {
            None => !is_stray && !is_unknown,
            Some("id_mismatch") => is_stray,
            Some("malformed") => is_unknown,
            Some(other) => panic!("{case}: no such error as {other}"),
        };
        if !refused {
            failures.push(format!("{case}\n  expected the error {error:?}"));
        }
    }
    assert!(cases.len() > 50, "only {} cases", cases.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn late_base_cases() {
    let cases: Vec<OrderCase> =
        serde_json::from_str(include_str!("conformance/late-base.json")).expect("cases");
    let mut failures = Vec::new();
    for OrderCase { name, section, events, expected } in &cases {
        let indexed = Indexed::of(events);
        for message in expected {
            let id = message["id"].as_str().expect("an id");
            check(&mut failures, &format!("{section} {name}"), &indexed.message(id), message);
        }
    }
    assert!(cases.len() > 10, "only {} cases", cases.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn cases_have_names_of_their_own() {
    let cases: Vec<MergeCase> = serde_json::from_str(include_str!("conformance/merge.json")).expect("cases");
    let orders: Vec<OrderCase> =
        serde_json::from_str(include_str!("conformance/late-base.json")).expect("cases");
    let mut names: Vec<_> =
        cases.iter().map(|case| &case.name).chain(orders.iter().map(|case| &case.name)).collect();
    let all = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), all, "two cases have one name");
}
