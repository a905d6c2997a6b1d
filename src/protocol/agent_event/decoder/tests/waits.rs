//! Calls that wait for the client.

use serde_json::{Value as Json, json};

use super::{awaken, begin, call_delta, call_done, calling, finish, play, run_start, tirea};

fn suspension() -> Json {
    json!({"id": "fc_c", "action": "tool:PermissionConfirm", "message": "May it?", "parameters": {"a": 1},
        "response_schema": {"type": "object"}})
}

/// tirea's snapshot, in which these calls wait.
fn waiting(calls: &[(&str, &str)]) -> Json {
    let mut scopes = json!({"done": {"tool_call_state": {"status": "succeeded"}}});
    for (id, mode) in calls {
        scopes[*id] = json!({"suspended_call": {
            "call_id": id, "tool_name": "search", "arguments": {"q": 1}, "resume_mode": mode, "suspension": suspension(),
            "pending": {"id": "fc_c", "name": "PermissionConfirm", "arguments": {"tool_name": "search"}}}});
    }
    tirea("state_snapshot", json!({"snapshot": {"notes": ["a"], "__tool_call_scope": scopes}}))
}

const REPLAY: &str = "replay_tool_call";

#[test]
fn a_snapshot_is_given_as_it_came() {
    for snapshot in [json!({"b": [1, {"a": null}], "__run": {"id": "r"}}), json!(null), json!("s"), json!([])]
    {
        let seen = begin([&run_start(), &tirea("state_snapshot", json!({"snapshot": snapshot}))]);
        assert_eq!(
            *seen.last(),
            json!({"type": "state.snapshot", "id": "r:2", "thread_id": null, "snapshot": snapshot})
        );
    }
}

#[test]
fn a_call_that_waits_is_told_once() {
    let mut frames = vec![run_start()];
    frames.extend(calling("m", "c"));
    frames.extend([waiting(&[("c", REPLAY)]), waiting(&[("c", REPLAY)]), finish("suspended")]);
    let seen = play(&frames);
    let mut asked = suspension();
    asked["resume_mode"] = REPLAY.into();
    let told = json!({
        "type": "tool.approval_required", "id": "r:7", "thread_id": "main", "tool_calls": [{
            "id": "c", "source_event_id": "m", "event_id": "m", "name": "search", "arguments": "{\"q\":1}",
            "suspension": asked}]
    });
    assert_eq!(seen.of("tool.approval_required"), [&told]);
    let state = &seen.last()["state"];
    assert_eq!(state["status"], "done");
    assert_eq!(state["output"], json!(null));
    assert_eq!(state["required_actions"], json!([told]));
    assert_eq!(state["termination"], json!({"type": "suspended"}));
}

/// To replay a call is to allow it; everything else wants something from the client.
#[test]
fn the_mode_says_what_is_asked() {
    let cases = [
        (REPLAY, "tool.approval_required", REPLAY),
        ("", "tool.approval_required", REPLAY),
        ("use_decision_as_tool_result", "tool.response_required", "use_decision_as_tool_result"),
        ("pass_decision_to_tool", "tool.response_required", "pass_decision_to_tool"),
        ("a newer one", "tool.response_required", "a newer one"),
    ];
    for (mode, kind, said) in cases {
        // Of a call that an earlier run made, the message is not known.
        let seen = begin([&waiting(&[("c", mode)])]);
        assert_eq!(seen.last()["type"], kind);
        let call = &seen.last()["tool_calls"][0];
        assert_eq!(call["suspension"]["resume_mode"], said);
        assert_eq!(call["source_event_id"], "");
    }
}

/// Section 5: awaken keeps little of a question in its state; a call's end says all of it, and comes first.
#[test]
fn awakens_calls_wait_by_their_end_and_by_the_state() {
    let mut asked = suspension();
    asked["id"] = "perm_c".into();
    let ticket = json!({"suspension": asked, "resume_mode": REPLAY,
        "pending": {"id": "perm_c", "name": "PermissionConfirm", "arguments": {"tool_name": "search"}}});
    let result = json!({"tool_name": "search", "status": "pending", "data": null, "message": "suspended", "suspension": ticket});
    let done = awaken(
        "tool_call_done",
        json!({"id": "c", "message_id": "", "result": result, "outcome": "suspended"}),
    );
    let calls = json!({
        "c": {"call_id": "c", "tool_name": "search", "arguments": {"q": 1}, "status": "suspended", "resume_mode": REPLAY,
              "suspension_id": "perm_c", "suspension_reason": "tool:PermissionConfirm"},
        "d": {"call_id": "d", "tool_name": "other", "arguments": {}, "status": "succeeded", "resume_mode": REPLAY}
    });
    let snapshot = awaken(
        "state_snapshot",
        json!({"snapshot": {"revision": 8, "extensions": {
        "__runtime.tool_call_states": {"calls": calls}}}}),
    );
    let mut frames = vec![run_start()];
    frames.extend(calling("m", "c"));
    frames.extend([done.clone(), snapshot.clone(), finish("suspended")]);
    let seen = play(&frames);
    assert_eq!(seen.of("tool.response").len(), 0, "it has none yet");
    let told = seen.of("tool.approval_required");
    assert_eq!(told.len(), 1);
    let call = &told[0]["tool_calls"][0];
    assert_eq!(call["suspension"]["message"], "May it?");
    assert_eq!(call["suspension"]["id"], "perm_c");
    assert_eq!(call["name"], "search");
    assert_eq!(call["source_event_id"], "m");
    assert_eq!(call["arguments"], "{}", "those of the call, not of the question");
    assert_eq!(seen.last()["state"]["required_actions"][0], *told[0]);

    // A late piece changes nothing of what the call is made with.
    let mut frames = calling("m", "c");
    frames.extend([call_delta("c", "late"), done.clone()]);
    assert_eq!(begin(&frames).last()["tool_calls"][0]["arguments"], "{}");

    // By the state alone.
    let seen = begin([&snapshot]);
    let call = &seen.last()["tool_calls"][0];
    assert_eq!(call["arguments"], "{\"q\":1}");
    assert_eq!(
        call["suspension"],
        json!({"id": "perm_c", "action": "tool:PermissionConfirm", "resume_mode": REPLAY})
    );
    assert_eq!(seen.of("tool.approval_required").len(), 1);

    // A state that leaves it out, at the next step, takes nothing back that a call's end has said.
    let cleared = awaken(
        "state_snapshot",
        json!({"snapshot": {"extensions": {"__runtime.tool_call_states": {"calls": {}}}}}),
    );
    let seen = play([&done, &cleared, &finish("suspended")]);
    assert_eq!(seen.last()["state"]["required_actions"].as_array().map(Vec::len), Some(1));
}

/// Section 2.2: a snapshot can be older than the answer that the stream has told of.
#[test]
fn a_stale_snapshot_does_not_ask_again() {
    let resumed = tirea("tool_call_resumed", json!({"target_id": "c", "result": true}));
    for answered in [call_done("c"), resumed] {
        let mut frames = vec![run_start()];
        frames.extend(calling("m", "c"));
        frames.extend([waiting(&[("c", REPLAY)]), answered.clone(), waiting(&[("c", REPLAY)])]);
        let told = |frames: &[Json]| {
            let seen = play(frames);
            (seen.of("tool.approval_required").len(), seen.last()["state"]["required_actions"].clone())
        };
        let mut natural = frames.clone();
        natural.push(finish("natural_end"));
        assert_eq!(told(&natural), (1, json!([])));
        // Only the run's end says that it waits after all.
        let mut suspended = frames.clone();
        suspended.push(finish("suspended"));
        let (count, actions) = told(&suspended);
        assert_eq!(count, 2);
        assert_eq!(actions.as_array().map(Vec::len), Some(1));
        // A newer snapshot that leaves it out settles it.
        suspended.insert(frames.len(), waiting(&[]));
        assert_eq!(told(&suspended), (1, json!([])));
    }
}

/// A call that a tool suspends once more is asked about once more.
#[test]
fn a_call_can_wait_again() {
    let result = json!({"tool_name": "search", "status": "pending", "data": null, "message": null, "metadata": {},
        "suspension": {"suspension": suspension(), "pending": {"id": "c", "name": "search", "arguments": {"q": 2}}, "resume_mode": REPLAY}});
    let frames = [
        run_start(),
        waiting(&[("c", REPLAY)]),
        tirea("tool_call_resumed", json!({"target_id": "c", "result": true})),
        tirea("tool_call_done", json!({"id": "c", "message_id": "m", "result": result})),
        waiting(&[("c", REPLAY)]),
        finish("suspended"),
    ];
    let seen = play(&frames);
    assert_eq!(
        seen.types(),
        [
            "turn.created",
            "state.snapshot",
            "tool.approval_required",
            "tool.resumed",
            "tool.approval_required",
            "state.snapshot",
            "turn.done"
        ]
    );
    assert_eq!(seen.events[4]["tool_calls"][0]["arguments"], "{\"q\":2}");
}

#[test]
fn several_calls_wait_together() {
    let modes = [("a", REPLAY), ("b", "use_decision_as_tool_result"), ("c", REPLAY)];
    let seen = play([&run_start(), &waiting(&modes), &waiting(&modes[..2]), &finish("suspended")]);
    assert_eq!(
        seen.types(),
        [
            "turn.created",
            "state.snapshot",
            "tool.approval_required",
            "tool.response_required",
            "tool.approval_required",
            "state.snapshot",
            "turn.done"
        ]
    );
    let actions = seen.last()["state"]["required_actions"].as_array().expect("a list").clone();
    let ids: Vec<_> = actions.iter().map(|action| &action["tool_calls"][0]["id"]).collect();
    assert_eq!(ids, ["a", "b"], "the last snapshot counts");
}

/// Section 2.2: an answer to nothing leaves the run suspended, and says no more of it.
#[test]
fn a_suspended_run_may_ask_nothing() {
    let seen = play([&run_start(), &finish("suspended")]);
    assert_eq!(seen.last()["state"]["required_actions"], json!([]));
    assert_eq!(seen.last()["state"]["termination"]["type"], "suspended");
}

#[test]
fn what_does_not_look_like_waiting_is_none() {
    let snapshots = [
        json!({"__tool_call_scope": []}),
        json!({"__tool_call_scope": {"c": null, "d": {"suspended_call": true}}}),
        json!({"extensions": {"__runtime.tool_call_states": {"calls": [{"status": "suspended"}]}}}),
        json!({"extensions": {"__runtime.tool_call_states": {"calls": {"c": "suspended"}}}}),
    ];
    for snapshot in snapshots {
        assert_eq!(
            begin([&tirea("state_snapshot", json!({"snapshot": snapshot}))]).types(),
            ["state.snapshot"]
        );
    }
    // Fields of other types are left out.
    let odd = json!({"__tool_call_scope": {"c": {"suspended_call": {"suspension": {"id": 5, "action": [], "message": 1, "parameters": null}}}}});
    let seen = begin([&tirea("state_snapshot", json!({"snapshot": odd}))]);
    let call = json!({"id": "c", "source_event_id": "", "event_id": "", "name": "",
        "suspension": {"id": "c", "action": "", "resume_mode": REPLAY}});
    assert_eq!(seen.last()["tool_calls"], json!([call]));
}
