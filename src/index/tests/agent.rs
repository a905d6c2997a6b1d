//! The parts of agents besides their messages: their state, and reports of their activities (protocol note of
//! `AgentEvent`, sections 1.3 and 1.6).

use serde_json::{Value as Json, json};

use super::mirror::Mirror;
use super::{apply, called, told};
use crate::index::EventIndex;

fn snapshot(state: &Json) -> Json {
    json!({"type": "state.snapshot", "id": "s", "thread_id": null, "snapshot": state})
}

fn delta(operations: &Json) -> Json {
    json!({"type": "state.delta", "id": "d", "thread_id": null, "delta": operations})
}

/// The result of a call with these operations on the state.
fn tracked(operations: &Json) -> Json {
    json!({"type": "tool.response", "id": "r", "thread_id": "main", "tool_call_id": "c", "content": "{}",
           "patch": {"patch": {"ops": operations}, "source": "tool:f"}})
}

/// A report on the call `c`.
fn report(content: &Json) -> Json {
    json!({"type": "activity.snapshot", "id": "a", "thread_id": "main", "message_id": "tool_call:c",
           "activity_type": "tool-call-progress", "content": content, "replace": true, "tool_call_id": "c"})
}

fn amendment(message_id: &str, operations: &Json) -> Json {
    json!({"type": "activity.delta", "id": "a", "thread_id": "main", "message_id": message_id,
           "activity_type": "tool-call-progress", "patch": operations})
}

/// The state after these events, and whether there is a problem with it.
fn state_after(events: &[Json]) -> (Json, bool) {
    let turn = told(events).turn;
    let problem = turn.get("agent_state_problem");
    assert!(problem.is_none_or(|problem| problem.as_str().is_some_and(|text| !text.is_empty())));
    (turn.get("agent_state").cloned().unwrap_or_default(), problem.is_some())
}

/// Each operation, with the result of the real server's library; `None` is an error there.
#[test]
fn operations_do_what_the_server_does() {
    let cases = [
        (json!({}), json!({"op": "set", "path": ["a", "b"], "value": 1}), Some(json!({"a": {"b": 1}}))),
        (json!({"a": [1]}), json!({"op": "set", "path": ["a", 1], "value": 2}), None),
        (json!({"a": [1]}), json!({"op": "set", "path": ["a", 3], "value": 2}), None),
        (json!({}), json!({"op": "delete", "path": ["zz"]}), Some(json!({}))),
        (json!({"a": 1}), json!({"op": "append", "path": ["a"], "value": 1}), None),
        (json!({}), json!({"op": "append", "path": ["a"], "value": 1}), Some(json!({"a": [1]}))),
        (
            json!({}),
            json!({"op": "merge_object", "path": ["a"], "value": {"x": 1}}),
            Some(json!({"a": {"x": 1}})),
        ),
        (json!({}), json!({"op": "increment", "path": ["n"], "amount": 1}), None),
        (json!({"n": 1}), json!({"op": "increment", "path": ["n"], "amount": 1.5}), Some(json!({"n": 2.5}))),
        (json!({"a": [1, 2]}), json!({"op": "insert", "path": ["a"], "index": 5, "value": 0}), None),
        (
            json!({"a": [1, 2, 1]}),
            json!({"op": "remove", "path": ["a"], "value": 1}),
            Some(json!({"a": [2, 1]})),
        ),
        (json!({"a": [1, 2]}), json!({"op": "delete", "path": ["a", 0]}), Some(json!({"a": [2]}))),
        (json!({"a": 1}), json!({"op": "set", "path": [], "value": {"b": 2}}), Some(json!({"b": 2}))),
        (json!({"a": 1}), json!({"op": "delete", "path": []}), Some(json!(null))),
        (json!({"a": 1}), json!({"op": "set", "path": ["a", "b"], "value": 1}), Some(json!({"a": {"b": 1}}))),
        (
            json!({"a": null}),
            json!({"op": "set", "path": ["a", "b"], "value": 1}),
            Some(json!({"a": {"b": 1}})),
        ),
        (json!({}), json!({"op": "set", "path": ["a", 0], "value": 1}), None),
        (
            json!({"c": {"_": 1}}),
            json!({"op": "lattice_merge", "path": ["c"], "value": {"_": 3}}),
            Some(json!({"c": {"_": 3}})),
        ),
    ];
    check_operations(&cases);
}

/// Rules of the same library that its examples do not show.
#[test]
fn operations_keep_to_the_rules_of_the_server() {
    let cases = [
        // Names create objects in place of anything on their path; indexes create nothing.
        (
            json!({"a": [1]}),
            json!({"op": "set", "path": ["a", "b"], "value": 1}),
            Some(json!({"a": {"b": 1}})),
        ),
        (json!(null), json!({"op": "set", "path": ["a"], "value": 1}), Some(json!({"a": 1}))),
        (json!({"a": [1]}), json!({"op": "set", "path": ["a", 0], "value": 2}), Some(json!({"a": [2]}))),
        (
            json!({"a": [{}]}),
            json!({"op": "set", "path": ["a", 0, "b"], "value": 2}),
            Some(json!({"a": [{"b": 2}]})),
        ),
        // A missing value is not deleted, whatever the path.
        (json!({"a": 1}), json!({"op": "delete", "path": ["a", "b"]}), Some(json!({"a": 1}))),
        (json!({"a": [1]}), json!({"op": "delete", "path": ["a", 1]}), Some(json!({"a": [1]}))),
        (json!({"a": [1]}), json!({"op": "delete", "path": ["a", "b"]}), Some(json!({"a": [1]}))),
        (json!({"a": {"b": 1}}), json!({"op": "delete", "path": ["a", "b"]}), Some(json!({"a": {}}))),
        // `null` counts as nothing.
        (json!({"a": null}), json!({"op": "append", "path": ["a"], "value": 1}), Some(json!({"a": [1]}))),
        (
            json!({"a": 5}),
            json!({"op": "append", "path": ["a", "b"], "value": 1}),
            Some(json!({"a": {"b": [1]}})),
        ),
        (
            json!({"a": {"x": {"y": 1}, "z": 1}}),
            json!({"op": "merge_object", "path": ["a"], "value": {"x": {"w": 2}}}),
            Some(json!({"a": {"x": {"w": 2}, "z": 1}})),
        ),
        (json!({"a": [1]}), json!({"op": "merge_object", "path": ["a"], "value": {}}), None),
        (json!({"a": {}}), json!({"op": "merge_object", "path": ["a"], "value": 1}), None),
        (json!({"n": 1}), json!({"op": "increment", "path": ["n"], "amount": 2}), Some(json!({"n": 3}))),
        (json!({"n": 1.5}), json!({"op": "increment", "path": ["n"], "amount": 2}), Some(json!({"n": 3.5}))),
        (json!({"n": 1}), json!({"op": "decrement", "path": ["n"], "amount": 2}), Some(json!({"n": -1}))),
        (
            json!({"n": 1.5}),
            json!({"op": "decrement", "path": ["n"], "amount": 0.5}),
            Some(json!({"n": 1.0})),
        ),
        (json!({"n": "1"}), json!({"op": "increment", "path": ["n"], "amount": 1}), None),
        (json!({"n": i64::MAX}), json!({"op": "increment", "path": ["n"], "amount": 1}), None),
        (json!({"n": i64::MIN}), json!({"op": "decrement", "path": ["n"], "amount": 1}), None),
        (json!({"n": f64::MAX}), json!({"op": "increment", "path": ["n"], "amount": f64::MAX}), None),
        (json!({"n": 1}), json!({"op": "increment", "path": ["n"]}), None),
        (
            json!({"a": [1]}),
            json!({"op": "insert", "path": ["a"], "index": 0, "value": 0}),
            Some(json!({"a": [0, 1]})),
        ),
        (
            json!({"a": [1]}),
            json!({"op": "insert", "path": ["a"], "index": 1, "value": 2}),
            Some(json!({"a": [1, 2]})),
        ),
        (json!({}), json!({"op": "insert", "path": ["a"], "index": 0, "value": 0}), None),
        (json!({"a": {}}), json!({"op": "insert", "path": ["a"], "index": 0, "value": 0}), None),
        (json!({"a": [1]}), json!({"op": "remove", "path": ["a"], "value": 3}), Some(json!({"a": [1]}))),
        (json!({}), json!({"op": "remove", "path": ["a"], "value": 3}), None),
        (json!({"a": 1}), json!({"op": "remove", "path": ["a"], "value": 1}), None),
        // Invalid operations.
        (json!({"a": 1}), json!({"op": "swap", "path": ["a"]}), None),
        (json!({"a": 1}), json!({"op": "set", "path": "/a", "value": 2}), None),
        (json!({"a": 1}), json!({"op": "set", "path": ["a", null], "value": 2}), None),
        (json!({"a": [1]}), json!({"op": "set", "path": ["a", -1], "value": 2}), None),
        // Names have no order.
        (
            json!({"l": [{"b": 1}]}),
            json!({"op": "set", "path": ["l", 0, "a"], "value": {"d": 1, "c": 2}}),
            Some(json!({"l": [{"a": {"c": 2, "d": 1}, "b": 1}]})),
        ),
    ];
    check_operations(&cases);
}

fn check_operations(cases: &[(Json, Json, Option<Json>)]) {
    for (before, operation, after) in cases {
        let made = state_after(&[snapshot(before), tracked(&json!([operation]))]);
        let expected = (after.clone().unwrap_or_else(|| before.clone()), after.is_none());
        assert_eq!(made, expected, "{before} {operation}");
        // A patch applies as a whole or not at all.
        let others = json!([{"op": "set", "path": ["other"], "value": 1}, operation]);
        if after.is_none() {
            assert_eq!(state_after(&[snapshot(before), tracked(&others)]), expected, "{others}");
        }
    }
}

/// All nine in one patch, as the real server's serializer writes it.
#[test]
fn operations_are_done_in_their_order() {
    let before =
        json!({"tmp": 1, "list": [2, 2], "cfg": {"b": 0}, "n": 1, "f": 1.5, "arr": [null], "crdt": {"_": 1}});
    let operations = json!([
        {"op": "set", "path": ["user", "name"], "value": "Al"},
        {"op": "delete", "path": ["tmp"]},
        {"op": "append", "path": ["list"], "value": 1},
        {"op": "merge_object", "path": ["cfg"], "value": {"a": 1}},
        {"amount": 2, "op": "increment", "path": ["n"]},
        {"amount": 0.5, "op": "decrement", "path": ["f"]},
        {"index": 0, "op": "insert", "path": ["list"], "value": "x"},
        {"op": "remove", "path": ["list"], "value": 2},
        {"op": "lattice_merge", "path": ["crdt"], "value": {"_": 3}}
    ]);
    let after = json!({"arr": [null], "cfg": {"a": 1, "b": 0}, "crdt": {"_": 3}, "f": 1.0, "list": ["x", 2, 1],
                       "n": 3, "user": {"name": "Al"}});
    assert_eq!(state_after(&[snapshot(&before), tracked(&operations)]), (after, false));
    let operations = json!([
        {"op": "set", "path": ["l"], "value": [{"b": 1}]},
        {"op": "set", "path": ["l", 0, "a"], "value": 2},
        {"op": "remove", "path": ["l"], "value": {"a": 2, "b": 1}}
    ]);
    assert_eq!(state_after(&[snapshot(&json!({})), tracked(&operations)]), (json!({"l": []}), false));
}

/// RFC 6902, all six operations.
#[test]
fn deltas_are_json_patches() {
    let before = json!({"a": 1, "l": [1, 2], "o": {"p": {"q": 1}}});
    let cases = [
        (
            json!([{"op": "add", "path": "/b", "value": 2}]),
            Some(json!({"a": 1, "b": 2, "l": [1, 2], "o": {"p": {"q": 1}}})),
        ),
        (
            json!([{"op": "add", "path": "/l/-", "value": 3}]),
            Some(json!({"a": 1, "l": [1, 2, 3], "o": {"p": {"q": 1}}})),
        ),
        (
            json!([{"op": "add", "path": "/l/0", "value": 0}]),
            Some(json!({"a": 1, "l": [0, 1, 2], "o": {"p": {"q": 1}}})),
        ),
        (json!([{"op": "remove", "path": "/l/0"}]), Some(json!({"a": 1, "l": [2], "o": {"p": {"q": 1}}}))),
        (
            json!([{"op": "replace", "path": "/o/p/q", "value": 2}]),
            Some(json!({"a": 1, "l": [1, 2], "o": {"p": {"q": 2}}})),
        ),
        (json!([{"op": "replace", "path": "", "value": {"z": 1}}]), Some(json!({"z": 1}))),
        (
            json!([{"op": "move", "from": "/o/p", "path": "/p"}]),
            Some(json!({"a": 1, "l": [1, 2], "o": {}, "p": {"q": 1}})),
        ),
        (
            json!([{"op": "copy", "from": "/a", "path": "/l/1"}]),
            Some(json!({"a": 1, "l": [1, 1, 2], "o": {"p": {"q": 1}}})),
        ),
        (
            json!([{"op": "test", "path": "/a", "value": 1}, {"op": "remove", "path": "/a"}]),
            Some(json!({"l": [1, 2], "o": {"p": {"q": 1}}})),
        ),
        (
            json!([{"op": "add", "path": "/b~1c~0d", "value": 2}]),
            Some(json!({"a": 1, "b/c~d": 2, "l": [1, 2], "o": {"p": {"q": 1}}})),
        ),
        (json!([]), Some(before.clone())),
        (json!([{"op": "remove", "path": "/a"}, {"op": "test", "path": "/l/0", "value": 2}]), None),
        (json!([{"op": "replace", "path": "/b", "value": 2}]), None),
        (json!([{"op": "add", "path": "/a", "value": 5}, {"op": "remove", "path": "/b"}]), None),
        (json!([{"op": "add", "path": "/l/3", "value": 5}]), None),
        (json!([{"op": "move", "from": "/o", "path": "/o/p"}]), None),
        (json!([{"op": "increment", "path": "/a", "amount": 5}]), None),
        (json!([{"op": "add", "path": ["a"], "value": 5}]), None),
        (json!([{"op": "add", "path": "/b"}]), None),
        (json!([{"op": "move", "path": "/b"}]), None),
        (json!(["remove"]), None),
    ];
    for (operations, after) in cases {
        let expected = (after.clone().unwrap_or_else(|| before.clone()), after.is_none());
        assert_eq!(state_after(&[snapshot(&before), delta(&operations)]), expected, "{operations}");
    }
}

/// After a failed change, the state stays the same until the next whole state, and the failure is reported.
#[test]
fn a_change_that_does_not_fit_is_told_until_the_next_snapshot() {
    let misfits = [
        delta(&json!([{"op": "remove", "path": "/b"}])),
        tracked(&json!([{"op": "append", "path": ["a"], "value": 1}])),
    ];
    let fits = [
        delta(&json!([{"op": "add", "path": "/b", "value": 1}])),
        tracked(&json!([{"op": "set", "path": ["b"], "value": 1}])),
    ];
    for misfit in misfits {
        let mut events = vec![snapshot(&json!({"a": 1})), misfit.clone()];
        assert_eq!(state_after(&events), (json!({"a": 1}), true), "{misfit}");
        for fits in &fits {
            // Missing events stay missing: the remaining changes apply to another state.
            events.push(fits.clone());
            assert_eq!(state_after(&events), (json!({"a": 1}), true), "{misfit} {fits}");
        }
        events.push(snapshot(&json!({"c": 1})));
        assert_eq!(state_after(&events), (json!({"c": 1}), false), "{misfit}");
        events.push(fits[0].clone());
        assert_eq!(state_after(&events), (json!({"b": 1, "c": 1}), false), "{misfit}");
    }
}

/// Without a known state, a change shows nothing of the rest.
#[test]
fn a_state_is_not_known_by_its_changes() {
    let turn = told(&[tracked(
        &json!([{"op": "set", "path": ["a"], "value": 1}, {"op": "increment", "path": ["n"], "amount": 1}]),
    )])
    .turn;
    assert_eq!((turn.get("agent_state"), turn.get("agent_state_problem")), (None, None));
    let turn = told(&[delta(&json!([{"op": "replace", "path": "/a", "value": 1}]))]).turn;
    assert_eq!(turn.get("agent_state"), None);
    // It may be the whole state.
    assert_eq!(
        state_after(&[delta(&json!([{"op": "add", "path": "", "value": {"a": 1}}]))]),
        (json!({"a": 1}), false)
    );
}

#[test]
fn a_snapshot_replaces_the_state() {
    let states =
        [json!({"a": 1}), json!([1]), json!(null), json!("text"), json!({}), json!({"\u{e9}\"\\": "\n"})];
    let mut events = Vec::new();
    for state in states {
        events.push(snapshot(&state));
        assert_eq!(state_after(&events), (state, false));
    }
    let mut index = EventIndex::new();
    assert_eq!(index.agent_state(), None);
    apply(&mut index, [&snapshot(&json!({"a": 1, "__run": {}}))]);
    assert_eq!(index.agent_state(), Some(json!({"a": 1})));
    assert_eq!(index.agent_state_problem(), None);
    apply(&mut index, [&delta(&json!([null]))]);
    assert_eq!(index.agent_state_problem(), Some("it is not a JSON Patch"));
}

/// The server's private values are kept, since patches change them, but not shown.
#[test]
fn the_servers_own_names_are_hidden() {
    let state = json!({"a": {"__typename": "x"}, "__run": {"id": "r"}, "__tool_call_scope": {}, "_b": 1});
    let shown = json!({"a": {"__typename": "x"}, "_b": 1});
    assert_eq!(state_after(&[snapshot(&state)]), (shown.clone(), false));
    let patches = [
        tracked(&json!([{"op": "set", "path": ["__tool_call_scope", "c", "tool_call_state"], "value": {}}])),
        tracked(&json!([{"op": "set", "path": ["__run", "status"], "value": "running"}])),
        delta(&json!([{"op": "replace", "path": "/__run/id", "value": "s"}])),
    ];
    for patch in patches {
        assert_eq!(state_after(&[snapshot(&state), patch.clone()]), (shown.clone(), false), "{patch}");
    }
    // A server that keeps the state of its extensions apart.
    let apart = json!({"revision": 3, "extensions": {"__runtime.run_lifecycle": {}, "notes": [1]}});
    let shown = json!({"revision": 3, "extensions": {"notes": [1]}});
    assert_eq!(state_after(&[snapshot(&apart)]), (shown, false));
}

fn activities(mirror: &Mirror) -> Vec<(&str, &Json)> {
    let list = mirror.turn.get("activities").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
    list.iter()
        .map(|activity| (activity["message_id"].as_str().expect("a text"), &activity["content"]))
        .collect()
}

fn progress(mirror: &Mirror, message: usize, call: usize) -> &Json {
    &mirror.messages[message].head["tool_calls"][call]["progress"]
}

#[test]
fn the_last_report_on_something_counts() {
    let other = json!({"type": "activity.snapshot", "id": "a", "thread_id": "main", "message_id": "x",
                       "activity_type": "plan", "content": {"steps": 1}});
    let mut kept = other.clone();
    kept["replace"] = json!(false);
    kept["content"] = json!({"steps": 9});
    let events = [
        called("m", &["c"]),
        report(&json!({"loaded": 0})),
        other.clone(),
        report(&json!({"loaded": 1})),
        kept.clone(),
    ];
    let mirror = told(&events);
    assert_eq!(activities(&mirror), [("tool_call:c", &json!({"loaded": 1})), ("x", &json!({"steps": 1}))]);
    assert_eq!(progress(&mirror, 0, 0), &json!({"loaded": 1}));
    let expected = json!({"message_id": "x", "activity_type": "plan", "thread_id": "main", "tool_call_id": null,
                          "content": {"steps": 1}});
    assert_eq!(mirror.turn["activities"][1], expected);
    // What counts only where nothing is known counts there.
    assert_eq!(activities(&told(&[kept])), [("x", &json!({"steps": 9}))]);

    let mut index = EventIndex::new();
    apply(&mut index, &events);
    assert_eq!(index.activity("x"), Some(&json!({"steps": 1})).cloned());
    assert_eq!(index.activity("y"), None);
}

#[test]
fn reports_are_amended() {
    let cases = [
        (
            "tool_call:c",
            json!([{"op": "replace", "path": "/loaded", "value": 5}]),
            json!({"loaded": 5, "total": 9}),
        ),
        (
            "tool_call:c",
            json!([{"op": "remove", "path": "/total"}, {"op": "remove", "path": "/nothing"}]),
            json!({"loaded": 0, "total": 9}),
        ),
        ("tool_call:c", json!("no patch"), json!({"loaded": 0, "total": 9})),
        ("unseen", json!([{"op": "add", "path": "", "value": 5}]), json!({"loaded": 0, "total": 9})),
    ];
    for (message_id, operations, expected) in cases {
        let events = [
            called("m", &["c"]),
            report(&json!({"loaded": 0, "total": 9})),
            amendment(message_id, &operations),
        ];
        let mirror = told(&events);
        assert_eq!(activities(&mirror), [("tool_call:c", &expected)], "{operations}");
        assert_eq!(progress(&mirror, 0, 0), &expected, "{operations}");
    }
}

/// A call shows its report, whenever the call comes.
#[test]
fn a_report_may_come_before_its_call() {
    let report = report(&json!({"loaded": 1}));
    let piece = json!({"type": "model.message.delta", "id": "m", "thread_id": "main",
                       "tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}}]});
    for call in [called("m", &["c"]), piece] {
        let mirror = told(&[report.clone(), call]);
        assert_eq!(progress(&mirror, 0, 0), &json!({"loaded": 1}));
    }
    // The report has found its call: a later call with the same id is another one.
    let mirror = told(&[report.clone(), called("m", &["c"]), called("n", &["c"])]);
    assert_eq!((progress(&mirror, 0, 0), progress(&mirror, 1, 0)), (&json!({"loaded": 1}), &json!(null)));
    let mut elsewhere = called("m", &["c"]);
    elsewhere["thread_id"] = json!("t1");
    assert_eq!(progress(&told(&[report, elsewhere]), 0, 0), &json!(null));
}

/// A message that is listed again still has its calls' reports.
#[test]
fn a_report_stays_with_its_call() {
    let mirror = told(&[called("m", &["b", "c"]), report(&json!({"loaded": 1})), called("m", &["b", "c"])]);
    assert_eq!((progress(&mirror, 0, 0), progress(&mirror, 0, 1)), (&json!(null), &json!({"loaded": 1})));
}

#[test]
fn a_report_is_on_the_newest_call_of_its_id() {
    let mirror = told(&[called("m", &["c"]), called("n", &["b", "c"]), report(&json!({"loaded": 1}))]);
    assert_eq!((progress(&mirror, 0, 0), progress(&mirror, 1, 1)), (&json!(null), &json!({"loaded": 1})));
}

/// Each copy of the whole into itself doubles it; each member added to the last one is a level deeper.
#[test]
fn what_patches_build_up_is_bounded() {
    let copies = (0..40).map(|at| json!({"op": "copy", "from": "", "path": format!("/k{at}")})).collect();
    let levels = (1..300).map(|at| json!({"op": "add", "path": "/k".repeat(at), "value": {}})).collect();
    for operations in [copies, levels] {
        let mut index = EventIndex::new();
        apply(&mut index, &[snapshot(&json!({"a": 1})), delta(&operations)]);
        assert_eq!(index.agent_state(), Some(json!({"a": 1})));
        assert!(index.agent_state_problem().is_some());
    }
    let path: Vec<String> = (0..300).map(|at| at.to_string()).collect();
    let mut index = EventIndex::new();
    apply(&mut index, &[snapshot(&json!({})), tracked(&json!([{"op": "set", "path": path, "value": 1}]))]);
    assert_eq!(index.agent_state_problem(), Some("its `path` is too deep"));
}
