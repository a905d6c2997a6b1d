//! Runs as turns: how they stand, and how they ended (sections 2 and 5).

use serde_json::{Value as Json, json};

use super::answers::{awaken, tirea};
use crate::event::TurnState;
use crate::protocol::Call;

fn tirea_run(status: &str, code: &Json, detail: &Json) -> Json {
    json!({"run_id": "run-1", "thread_id": "s1", "agent_id": "approver", "parent_run_id": "run-0",
           "origin": "user", "status": status, "termination_code": code, "termination_detail": detail,
           "created_at": 1_795_255_327_608_u64, "updated_at": 1_795_255_327_643_u64, "input_tokens": 42,
           "output_tokens": 17})
}

#[test]
fn section_2_a_turn() {
    let found = tirea(Call::GetTurn, &tirea_run("running", &Json::Null, &Json::Null));
    let expected = json!({"id": "run-1", "session_id": "s1", "previous_turn_id": "run-0",
        "agent_name": "approver", "state": {"status": "running"}, "created_by_subject": null,
        "created_at": "2026-11-21T10:02:07.608Z", "updated_at": "2026-11-21T10:02:07.643Z",
        "run_id": "run-1", "thread_id": "s1", "agent_id": "approver", "parent_run_id": "run-0",
        "origin": "user", "status": "running", "termination_code": null, "termination_detail": null,
        "input_tokens": 42, "output_tokens": 17});
    assert_eq!(found, expected);
}

#[test]
fn section_2_how_turns_end() {
    let completed = |mut state: Json, termination: Json| {
        state["completed_at"] = json!("2026-11-21T10:02:07.643Z");
        state["metrics"] = json!({"total_input_tokens": 42, "total_output_tokens": 17, "total_tokens": 59});
        if !termination.is_null() {
            state["termination"] = termination;
        }
        state
    };
    let done = json!({"status": "done", "output": null, "required_actions": []});
    let error = |message: &str| json!({"status": "error", "message": message});
    let cases = [
        (json!("natural"), Json::Null, done.clone(), json!({"type": "natural_end"})),
        (json!("behavior_requested"), Json::Null, done.clone(), json!({"type": "behavior_requested"})),
        (
            json!("cancelled"),
            Json::Null,
            json!({"status": "cancelled", "reason": null}),
            json!({"type": "cancelled"}),
        ),
        (json!("error"), json!("LLM: 401"), error("LLM: 401"), json!({"type": "error", "value": "LLM: 401"})),
        (json!("error"), Json::Null, error("the run failed"), json!({"type": "error"})),
        (
            json!("blocked"),
            json!("no tools"),
            error("the run was blocked: no tools"),
            json!({"type": "blocked", "value": "no tools"}),
        ),
        (
            json!("max_rounds_reached"),
            Json::Null,
            done.clone(),
            json!({"type": "stopped", "value": {"code": "max_rounds_reached"}}),
        ),
        (
            json!("tool_called"),
            json!("finish"),
            done.clone(),
            json!({"type": "stopped", "value": {"code": "tool_called", "detail": "finish"}}),
        ),
        (Json::Null, Json::Null, done, Json::Null),
    ];
    for (code, detail, state, termination) in cases {
        let expected = completed(state, termination);
        let run = tirea_run("done", &code, &detail);
        let found = tirea(Call::GetTurn, &run)["state"].clone();
        assert_eq!(found, expected);
        let list = tirea(Call::ListTurns, &json!({"items": [run], "total": 1, "has_more": false}));
        assert_eq!((&list["items"][0]["state"], &list["next"]), (&expected, &Json::Null));
        let state: TurnState = serde_json::from_value(found).expect("a state");
        assert!(matches!(state, TurnState::Terminal(_)));
    }
    let waiting = tirea(Call::GetTurn, &tirea_run("waiting", &json!("input_required"), &Json::Null));
    let done = json!({"status": "done", "output": null, "required_actions": []});
    assert_eq!(waiting["state"], completed(done, json!({"type": "suspended"})));
}

pub(super) fn awaken_run(status: &str, more: &Json) -> Json {
    let mut run = json!({"run_id": "run-1", "thread_id": "s1", "agent_id": "default", "parent_run_id": null,
        "status": status, "input": {"thread_id": "s1"}, "output": {"thread_id": "s1", "message_ids": ["m"]},
        "session_id": "not-a-thread", "dispatch_id": "d", "created_at": 1_795_256_357, "started_at": 1_795_256_357,
        "updated_at": 1_795_256_358, "steps": 1, "input_tokens": 42, "output_tokens": 17,
        "state": {"revision": 7, "extensions": {}}});
    run.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    run
}

/// awaken counts a run's time in seconds, and some of its names mean something else in turnwire.
#[test]
fn section_5_turns() {
    let run = awaken_run(
        "done",
        &json!({"termination_reason": {"type": "natural_end"}, "final_output": "Hello",
               "finished_at": 1_795_256_358}),
    );
    let found = awaken(Call::GetTurn, &run);
    assert_eq!(found["session_id"], "s1");
    assert_eq!(found["created_at"], "2026-11-21T10:19:17.000Z");
    assert_eq!(found["finished_at"], "2026-11-21T10:19:18.000Z");
    assert_eq!(found["output"], json!({"thread_id": "s1", "message_ids": ["m"]}));
    assert_eq!(found.get("input"), None);
    let metrics = json!({"total_input_tokens": 42, "total_output_tokens": 17, "total_tokens": 59});
    assert_eq!(
        found["state"],
        json!({"status": "done", "output": null, "required_actions": [], "result": {"response": "Hello"},
               "completed_at": "2026-11-21T10:19:18.000Z", "metrics": metrics,
               "termination": {"type": "natural_end"}})
    );
    let status = |more: Json| awaken(Call::GetTurn, &awaken_run("done", &more))["state"].clone();
    let blocked = status(json!({"outcome": {"termination_reason": {"type": "blocked", "value": "no"}}}));
    assert_eq!(
        (&blocked["status"], &blocked["message"]),
        (&json!("error"), &json!("the run was blocked: no"))
    );
    let answered = json!({"outcome": {"termination_reason": {"type": "natural_end"}, "final_output": "Hi"}});
    assert_eq!(status(answered)["result"], json!({"response": "Hi"}));
    let stopped = json!({"type": "stopped", "value": {"code": "timeout"}});
    let state = status(json!({"termination_reason": stopped}));
    assert_eq!((&state["status"], &state["termination"]), (&json!("done"), &stopped));
    assert_eq!(status(json!({"termination_reason": {"type": "cancelled"}}))["status"], "cancelled");
    for running in ["created", "running"] {
        let found = awaken(Call::GetTurn, &awaken_run(running, &json!({})));
        assert_eq!(found["state"], json!({"status": "running"}));
    }
}

/// A waiting run of awaken says what it waits for, and since when by the millisecond.
#[test]
fn section_5_what_a_turn_waits_for() {
    let tickets = json!([
        {"ticket_id": "call_ask1", "tool_call_id": "call_ask1", "tool_name": "askUserQuestion",
         "arguments": {"message": "Which colour?"}, "resume_mode": "use_decision_as_tool_result",
         "reason": "tool:askUserQuestion", "updated_at": 1_795_256_444_793_u64},
        {"ticket_id": "perm_c2", "tool_call_id": "c2", "tool_name": "rm", "resume_mode": "replay_tool_call",
         "updated_at": 1_795_256_444_794_u64},
    ]);
    let waiting = json!({"waiting": {"reason": "tool_permission", "ticket_ids": ["a"], "tickets": tickets}});
    let found = awaken(Call::GetTurn, &awaken_run("waiting", &waiting));
    let state = &found["state"];
    assert_eq!(state["status"], "done");
    assert_eq!(state["termination"], json!({"type": "suspended"}));
    assert_eq!(state["completed_at"], "2026-11-21T10:20:44.794Z");
    assert_eq!(
        state["required_actions"],
        json!([
            {"type": "tool.response_required", "id": "", "thread_id": "main", "tool_calls": [{
                "id": "call_ask1", "source_event_id": "", "event_id": "", "name": "askUserQuestion",
                "arguments": "{\"message\":\"Which colour?\"}", "suspension": {"id": "call_ask1",
                    "action": "tool:askUserQuestion", "resume_mode": "use_decision_as_tool_result"}}]},
            {"type": "tool.approval_required", "id": "", "thread_id": "main", "tool_calls": [{
                "id": "c2", "source_event_id": "", "event_id": "", "name": "rm", "suspension": {"id": "perm_c2",
                    "action": "", "resume_mode": "replay_tool_call"}}]},
        ])
    );
    serde_json::from_value::<TurnState>(state.clone()).expect("a state");
}
