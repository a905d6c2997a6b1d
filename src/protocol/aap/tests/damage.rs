//! JSON that no server should send.

use proptest::prelude::*;
use serde_json::Value as Json;

use crate::protocol::tests::damage::place;

pub(in crate::protocol::aap) fn any_json() -> impl Strategy<Value = Json> {
    let words = vec![
        "c",
        "d",
        "tool_use",
        "end_turn",
        "assistant",
        "tool",
        "user",
        "text",
        "image",
        "data:",
        "data:image/png",
        "https:",
    ];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        "\\PC{0,8}".prop_map(Json::from),
        prop::sample::select(words).prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let name = prop_oneof![
            "[a-z_]{1,8}",
            prop::sample::select(vec!["type", "role", "content", "toolCallId"]).prop_map(str::to_owned)
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Json::from),
            prop::collection::vec((name, inner), 0..3)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

/// This JSON with some of its values replaced.
pub(in crate::protocol::aap) fn damaged(json: Json) -> impl Strategy<Value = Json> {
    prop::collection::vec((any::<prop::sample::Index>(), any_json()), 0..3).prop_map(move |damages| {
        let mut json = json.clone();
        for (at, value) in damages {
            *place(&mut json, at) = value;
        }
        json
    })
}
