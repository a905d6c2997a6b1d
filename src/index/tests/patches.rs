//! JSON Patch behaves like the `json-patch` crate, for valid and invalid operations.

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use crate::json::{Value, is_same, patch};

fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&["a", "b", "~", "/", "~1", "0", "1", "-", "", "é"])
}

fn document() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Json::from),
        (0..3_u8).prop_map(Json::from),
        "[a\u{0}é]{0,2}".prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::vec((name(), inner), 0..4).prop_map(|members| {
                Json::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
            }),
        ]
    })
}

/// Mostly pointers into documents such as these; sometimes not a pointer at all.
fn pointer() -> impl Strategy<Value = String> {
    let token = prop_oneof![
        8 => name().prop_map(|name| name.replace('~', "~0").replace('/', "~1")),
        1 => prop::sample::select(&["01", "+1", "2", "99999999999999999999", "~", "~2", "1x"]).prop_map(str::to_owned),
    ];
    let tokens = prop::collection::vec(token, 0..4);
    prop_oneof![
        20 => tokens.prop_map(|tokens| tokens.iter().flat_map(|token| ["/", token]).collect()),
        1 => Just("a".to_owned()),
    ]
}

fn operation() -> impl Strategy<Value = Json> {
    let op = prop::sample::select(&["add", "remove", "replace", "move", "copy", "test"]);
    (op, pointer(), pointer(), document())
        .prop_map(|(op, path, from, value)| json!({"op": op, "path": path, "from": from, "value": value}))
}

/// A value of ours.
fn ours(json: &Json) -> Value<'static> {
    Value::parse(&json.to_string()).expect("JSON").into_owned()
}

fn theirs(value: &Value<'_>) -> Json {
    serde_json::from_str(&value.to_json()).expect("JSON")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn patches_are_those_of_the_crate(before in document(), delta in prop::collection::vec(operation(), 0..4)) {
        let expected = serde_json::from_value::<json_patch::Patch>(Json::Array(delta.clone()))
            .map_err(|_| "it is not a JSON Patch".to_owned())
            .and_then(|operations| {
                let mut after = before.clone();
                // Without undoing a failed patch, which panics if a value was moved to the root.
                json_patch::patch_unsafe(&mut after, &operations)
                    .map(|()| after)
                    .map_err(|error| format!("a JSON Patch fails at `{}`", error.path))
            });
        let delta: Vec<Value<'_>> = delta.iter().map(ours).collect();
        let mut after = ours(&before);
        let made = patch(&mut after, &delta).map(|()| theirs(&after));
        prop_assert_eq!(made, expected);
    }

    #[test]
    fn the_same_is_what_the_crate_takes_for_it(one in document(), other in document()) {
        prop_assert_eq!(is_same(&ours(&one), &ours(&other)), one == other);
        prop_assert!(is_same(&ours(&one), &ours(&one)));
    }
}

/// Objects are compared without the order of names, or names that a later one overrides.
#[test]
fn objects_are_the_same_by_what_counts_in_them() {
    let same = |one: &str, other: &str| {
        is_same(&Value::parse(one).expect("JSON"), &Value::parse(other).expect("JSON"))
    };
    assert!(same(r#"{"a":1,"b":[{"c":2,"d":3}]}"#, r#"{"b":[{"d":3,"c":2}],"a":1}"#));
    assert!(same(r#"{"a":0,"a":1}"#, r#"{"a":1}"#));
    assert!(!same(r#"{"a":1,"a":0}"#, r#"{"a":1}"#));
    assert!(!same(r#"{"a":1}"#, r#"{"a":1,"b":2}"#));
    assert!(!same(r#"{"a":1}"#, r#"{"a":1.0}"#));
}

#[test]
fn members_keep_their_order() {
    let mut document = ours(&json!(null));
    for (name, expected) in [("b", r#"{"b":0}"#), ("a", r#"{"b":0,"a":0}"#)] {
        let path = format!("/{name}");
        if document.is_null() {
            document = Value::parse("{}").expect("JSON");
        }
        patch(&mut document, &[ours(&json!({"op": "add", "path": path, "value": 0}))]).expect("it fits");
        assert_eq!(document.to_json(), expected);
    }
}
