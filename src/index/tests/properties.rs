//! All changes, replayed, add up to the index, whenever they were taken.

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::mirror::Mirror;
use super::{
    approval, arguments, base, call, content, feed, finish, question, reasoning, response, sign_in,
    thread_created, thread_done, turn_done, turn_ended,
};
use crate::index::EventIndex;

const THREADS: [&str; 3] = ["main", "t1", "t2"];

/// Messages belong to a thread each; two per thread.
fn message() -> impl Strategy<Value = (&'static str, String)> {
    (prop::sample::select(&THREADS), 0..2)
        .prop_map(|(thread, number)| (thread, format!("{thread}-m{number}")))
}

/// Some models reuse call ids in every message, so ids are shared.
fn call_id() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&["c0", "c1", "c2"])
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-z ]{1,4}", 1 => Just("é\u{1f600}".to_owned()), 1 => Just(String::new())]
}

/// The events of a model.
fn model_event() -> impl Strategy<Value = Json> {
    let index = 0..3_u32;
    prop_oneof![
        2 => message().prop_map(|(thread, id)| base(thread, &id)),
        1 => (message(), text()).prop_map(|((thread, id), text)| {
            let mut whole = base(thread, &id);
            whole["content"] = text.into();
            whole["reasoning_content"] = "why".into();
            whole["finish_reason"] = "stop".into();
            whole
        }),
        1 => (message(), call_id(), text()).prop_map(|((thread, id), call_id, text)| {
            let mut whole = base(thread, &id);
            whole["content"] = json!([{"type": "text", "text": text}, {"type": "refusal", "refusal": "no"}]);
            whole["tool_calls"] = json!([null, {"id": call_id, "function": {"name": "f", "arguments": text}}]);
            whole
        }),
        6 => (message(), text()).prop_map(|((thread, id), text)| content(thread, &id, &text)),
        2 => (message(), text()).prop_map(|((thread, id), text)| reasoning(thread, &id, &text)),
        3 => (message(), index.clone(), call_id())
            .prop_map(|((thread, id), index, call_id)| call(thread, &id, index, call_id, "f")),
        4 => (message(), index, text())
            .prop_map(|((thread, id), index, text)| arguments(thread, &id, index, &text)),
        2 => message().prop_map(|(thread, id)| finish(thread, &id, "tool_calls")),
    ]
}

fn thread() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&THREADS)
}

/// The events of a harness.
fn harness_event() -> impl Strategy<Value = Json> {
    let source = || message().prop_map(|(_, id)| id);
    let calls = || prop::collection::vec(call_id(), 1..3);
    prop_oneof![
        4 => (thread(), call_id(), text()).prop_map(|(thread, call, text)| response(thread, call, &text)),
        2 => (thread(), calls(), source())
            .prop_map(|(thread, calls, source)| approval(thread, &calls, &source)),
        2 => (thread(), calls(), source())
            .prop_map(|(thread, calls, source)| question(thread, &calls, &source)),
        1 => prop::sample::select(&["s1", "s2"]).prop_map(sign_in),
        1 => prop::sample::select(&["s1", "s2"]).prop_map(|server| {
            json!({"type": "mcp.initialize", "thread_id": "main", "mcp_servers": [{"id": server, "name": server}]})
        }),
        1 => "[a-z]{2}".prop_map(|id| json!({"type": "sandbox.created", "sandbox_id": id})),
        2 => (thread(), thread(), call_id())
            .prop_map(|(thread, parent, call)| thread_created(thread, parent, call)),
        1 => thread().prop_map(|thread| thread_done(thread, &json!({"status": "error", "error": "refused"}))),
        1 => (message(), text()).prop_map(|((thread, id), text)| {
            let mut output = base(thread, &id);
            output["content"] = text.into();
            output["finish_reason"] = "stop".into();
            thread_done(thread, &json!({"status": "done", "output": output}))
        }),
        1 => (thread(), calls(), source())
            .prop_map(|(thread, calls, source)| turn_done(&[approval(thread, &calls, &source), sign_in("s1")])),
        1 => prop::sample::select(&["cancelled", "error"]).prop_map(turn_ended),
        1 => Just(json!({"type": "turn.paused"})),
    ]
}

/// Events, and for each whether changes are taken after it.
fn story() -> impl Strategy<Value = Vec<(Json, bool)>> {
    (0..4_u32).prop_flat_map(|rarity| {
        let event = prop_oneof![3 => model_event(), 1 => harness_event()];
        let take = prop::bool::weighted(1.0 / f64::from(1 << rarity));
        prop::collection::vec((event, take), 0..50)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn replaying_changes_gives_the_index(story in story()) {
        let (mut index, mut mirror) = (EventIndex::new(), Mirror::default());
        for (event, take) in &story {
            feed(&mut index, [event]);
            if *take {
                mirror.follow(&mut index);
            }
        }
        mirror.follow(&mut index);
        let texts = index.messages().iter().map(|message| (message.content(), message.reasoning()));
        let mirrored = mirror.messages.iter().map(|message| (&*message.content, &*message.reasoning));
        prop_assert!(texts.eq(mirrored), "texts differ");
        for (message, mirrored) in index.messages().iter().zip(&mirror.messages) {
            for (at, call) in message.calls().iter().enumerate() {
                let arguments = mirrored.arguments.get(at).map_or("", String::as_str);
                prop_assert_eq!(call.as_ref().map_or("", |call| call.arguments()), arguments);
            }
        }

        let mut at_once = EventIndex::new();
        feed(&mut at_once, story.iter().map(|(event, _)| event));
        prop_assert_eq!(&mirror, &Mirror::of(at_once));

        let (mut index, mut alone) = (EventIndex::new(), Mirror::default());
        index.release_taken_text();
        for (event, take) in &story {
            feed(&mut index, [event]);
            if *take {
                alone.follow(&mut index);
            }
        }
        alone.follow(&mut index);
        prop_assert_eq!(alone, mirror, "what is given away is not missed");
    }

    /// Taking changes twice returns nothing the second time.
    #[test]
    fn changes_are_taken_once(story in story()) {
        let mut index = EventIndex::new();
        feed(&mut index, story.iter().map(|(event, _)| event));
        let mirror = { let mut mirror = Mirror::default(); mirror.follow(&mut index); mirror };
        let mut again = mirror.clone();
        again.follow(&mut index);
        prop_assert_eq!(again, mirror);
    }
}
