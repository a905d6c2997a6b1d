//! The agent's state, activities, steps and custom events (section 6).

use super::*;

#[test]
fn a_change_that_does_not_fit_changes_nothing() {
    let turn = run(&[
        json!({"type": "STATE_SNAPSHOT", "snapshot": {"n": 1}}),
        json!({"type": "STATE_DELTA", "delta": [{"op": "replace", "path": "/n", "value": 9}, {"op": "remove", "path": "/no"}]}),
        json!({"type": "STATE_DELTA", "delta": [{"op": "replace", "path": "/n", "value": 2}, {"op": "later", "path": "/n"}]}),
    ]);
    assert_eq!(turn.kept()["state"], json!({"n": 2}));
    assert_eq!(turn.seen.index.agent_state(), Some(json!({"n": 2})));
    assert_eq!(turn.seen.index.agent_state_problem(), None);
    assert_eq!(warnings(&turn.seen), ["state_delta_failed"]);
}

#[test]
fn a_state_is_any_json_and_goes_to_the_next_run() {
    for snapshot in [json!(null), json!(0), json!(""), json!([1]), json!({"big": 12_345_678_901_234_567_u64})]
    {
        let turn = run(&[json!({"type": "STATE_SNAPSHOT", "snapshot": snapshot})]);
        let next = sent(
            &json!([{"type": "user.message", "content": "Next"}]),
            &json!({"conversation": turn.kept()}),
        );
        assert_eq!(next.expect("a request")["state"], snapshot);
    }
    let turn = run(&[json!({"type": "STATE_DELTA", "delta": [{"op": "add", "path": "/a", "value": 1}]})]);
    assert_eq!(turn.kept()["state"], json!({"a": 1}), "without a state it is empty");
    assert_eq!(turn.seen.index.agent_state(), Some(json!({"a": 1})));
}

#[test]
fn a_turn_begins_with_the_state_of_the_session() {
    let terms = json!({"conversation": {"messages": [], "state": {"n": 1}}});
    let input = json!([{"type": "user.message", "content": "Hi"}]);
    let turn = Turn::with(&input, &terms).feed(&[
        started(),
        json!({"type": "STATE_DELTA", "delta": [{"op": "replace", "path": "/n", "value": 2}]}),
    ]);
    assert_eq!(turn.seen.index.agent_state(), Some(json!({"n": 2})));
}

#[test]
fn paths_that_name_a_prototype_are_only_names() {
    let turn = run(&[
        json!({"type": "STATE_SNAPSHOT", "snapshot": {}}),
        json!({"type": "STATE_DELTA", "delta": [{"op": "add", "path": "/__proto__", "value": {"x": 1}}]}),
    ]);
    assert_eq!(turn.kept()["state"], json!({"__proto__": {"x": 1}}));
}

#[test]
fn activities_are_shown_and_not_kept() {
    let snapshot = |content: Json, replace: Option<bool>| {
        let mut frame = json!({"type": "ACTIVITY_SNAPSHOT", "messageId": "a", "activityType": "PLAN", "content": content});
        if let Some(replace) = replace {
            frame["replace"] = replace.into();
        }
        frame
    };
    let turn = run(&[
        snapshot(json!({"x": 1}), None),
        json!({"type": "ACTIVITY_DELTA", "messageId": "a", "activityType": "PLAN", "patch": [{"op": "replace", "path": "/x", "value": 2}]}),
        json!({"type": "ACTIVITY_DELTA", "messageId": "none", "activityType": "PLAN", "patch": []}),
        snapshot(json!({"x": 3}), Some(false)),
    ]);
    assert_eq!(turn.seen.index.activity("a"), Some(json!({"x": 2})));
    assert!(turn.kept_messages().is_empty());
}

#[test]
fn steps_and_custom_events_are_notices_and_raw_ones_are_nothing() {
    let turn = run(&[
        json!({"type": "STEP_STARTED", "stepName": "plan"}),
        json!({"type": "STEP_STARTED", "stepName": "plan"}),
        json!({"type": "STEP_FINISHED", "stepName": "plan"}),
        json!({"type": "CUSTOM", "name": "lab.note", "value": null}),
        json!({"type": "RAW", "event": {"any": 1}}),
    ]);
    let notices: Vec<_> = turn.seen.of("notice").iter().map(|notice| notice["code"].clone()).collect();
    assert_eq!(notices, ["step_started", "step_started", "step_finished", "lab.note"]);
    assert!(turn.seen.of("unknown").is_empty());
}

#[test]
fn unknown_frames_are_handed_on() {
    let frames = [
        json!({"type": "NEWER", "x": 1}),
        json!({"no": "type"}),
        json!({"type": "TEXT_MESSAGE_START"}),
        json!(7),
    ];
    let turn = run(&frames);
    let unknown: Vec<_> = turn.seen.of("unknown").iter().map(|event| event["raw"].clone()).collect();
    assert_eq!(unknown, frames);
    assert_eq!(state(&turn.seen)["status"], "done");
}
