//! What waits for the client, and how it is answered (section 5).

use super::*;

/// Reads a run that ends in this way.
fn ends(frames: &[Json], outcome: Json) -> Turn {
    let mut end = finished();
    end["outcome"] = outcome;
    Turn::new().feed(&[started()]).feed(frames).feed(&[end]).end()
}

fn interrupt(fields: Json) -> Json {
    json!({"type": "interrupt", "interrupts": [fields]})
}

/// What the next run is sent with these answers.
fn answered(turn: &Turn, input: &Json) -> Json {
    sent(input, &json!({"conversation": turn.kept()})).expect("a request")
}

fn response(id: &str, content: &str) -> Json {
    json!({"type": "user.tool_response", "thread_id": "main", "tool_call_id": id, "content": content})
}

fn approval(id: &str, approval: Json) -> Json {
    json!({"type": "user.tool_approval", "thread_id": "main", "tool_call_id": id, "approval": approval})
}

#[test]
fn calls_of_the_page_wait_and_no_others() {
    let frames = [
        calls("a", "mine", "{}", "m"),
        calls("b", "ours", "{}", "m"),
        calls("c", "server", "{}", "m"),
        calls("d", "mine", "{}", "m"),
        vec![result("r", "d", "1")],
    ]
    .concat();
    let derived = run(&frames);
    assert_eq!(pending(&derived.seen), ["Response a", "Response b"]);
    let named = ends(&frames, json!({"type": "success", "pendingToolCallIds": ["b", "c", "none"]}));
    assert_eq!(pending(&named.seen), ["Response b"], "a tool that the page did not declare is not its own");
    let none = ends(&frames, json!({"type": "success", "pendingToolCallIds": []}));
    assert_eq!(pending(&none.seen), [""; 0]);
    let asked = &state(&derived.seen)["required_actions"][0]["tool_calls"][0];
    assert_eq!(
        asked,
        &json!({"id": "a", "source_event_id": "m", "event_id": "m", "name": "mine", "arguments": "{}"})
    );
}

#[test]
fn a_session_can_name_tools_whose_calls_are_answered() {
    let frames = calls("c", "adk_request_confirmation", "{}", "");
    let input = json!([{"type": "user.message", "content": "Hi"}]);
    let terms = json!({"answerable": ["adk_request_confirmation"]});
    let turn = Turn::with(&input, &terms).feed(&[started()]).feed(&frames).feed(&[finished()]).end();
    assert_eq!(pending(&turn.seen), ["Response c"]);
    let next = answered(&turn, &json!([response("c", r#"{"confirmed":true}"#)]));
    let expected =
        json!({"id": "t:0", "role": "tool", "toolCallId": "c", "content": r#"{"confirmed":true}"#});
    assert_eq!(next["messages"].as_array().expect("messages").last(), Some(&expected));
}

#[test]
fn a_result_that_only_a_snapshot_has_ends_the_wait() {
    let mut frames = calls("a", "mine", "{}", "m");
    frames.push(json!({"type": "MESSAGES_SNAPSHOT", "messages": [
        {"id": "m", "role": "assistant", "toolCalls": [{"id": "a", "type": "function", "function": {"name": "mine", "arguments": "{}"}}]},
        {"id": "x", "role": "tool", "toolCallId": "a", "content": "done"},
    ]}));
    let turn = run(&frames);
    assert_eq!(pending(&turn.seen), [""; 0]);
    assert_eq!(turn.seen.of("tool.response")[0]["content"], "done");
}

#[test]
fn approvals_are_answered_in_the_form_of_their_schema() {
    let allow = json!({"status": "allow", "result": {"editedArgs": {"path": "b"}}});
    let deny = json!({"status": "deny", "reason": "no"});
    let cases = [
        (
            json!({"type": "object", "properties": {"approved": {}, "editedArgs": {}, "reason": {}}}),
            json!({"approved": true, "editedArgs": {"path": "b"}}),
            json!({"approved": false, "reason": "no"}),
        ),
        (
            json!({"type": "object", "properties": {"accepted": {}}}),
            json!({"accepted": true, "editedArgs": {"path": "b"}}),
            json!({"accepted": false}),
        ),
        (json!({"type": "boolean"}), json!(true), json!(false)),
        (
            json!(null),
            json!({"approved": true, "editedArgs": {"path": "b"}}),
            json!({"approved": false, "reason": "no"}),
        ),
    ];
    for (schema, yes, no) in cases {
        let asked = interrupt(
            json!({"id": "i", "reason": "tool_call", "toolCallId": "c", "message": "Sure?", "responseSchema": schema}),
        );
        let turn = ends(&calls("c", "delete", "{}", "m"), asked);
        assert_eq!(pending(&turn.seen), ["Approval c"]);
        for (verdict, payload) in [(&allow, yes), (&deny, no)] {
            let next = answered(&turn, &json!([approval("c", verdict.clone())]));
            assert_eq!(
                next["resume"],
                json!([{"interruptId": "i", "status": "resolved", "payload": payload}])
            );
            assert_eq!(next["messages"].as_array().map(Vec::len), Some(2), "no message answers it");
        }
    }
}

#[test]
fn interrupts_without_a_call_wait_under_their_own_id() {
    let asked = interrupt(
        json!({"id": "i", "reason": "lab:choice", "message": "Which?", "metadata": {"a": 1}, "expiresAt": "2026-01-01T00:00:00Z"}),
    );
    let turn = ends(&[], asked);
    assert_eq!(pending(&turn.seen), ["Response i"]);
    let suspension = &state(&turn.seen)["required_actions"][0]["tool_calls"][0]["suspension"];
    let expected = json!({"id": "i", "action": "lab:choice", "message": "Which?", "expires_at": "2026-01-01T00:00:00Z", "parameters": {"a": 1}});
    assert_eq!(suspension, &expected);
    for (content, payload) in [(r#"{"x":1}"#, json!({"x": 1})), ("red", json!("red")), ("true", json!(true))]
    {
        let next = answered(&turn, &json!([response("i", content)]));
        assert_eq!(next["resume"][0]["payload"], payload);
    }
}

#[test]
fn an_answer_after_the_end_of_its_time_cancels() {
    let turn = ends(
        &[],
        interrupt(json!({"id": "i", "reason": "input_required", "expiresAt": "2026-01-01T00:00:00Z"})),
    );
    let at = |now: u64| {
        let terms = json!({"conversation": turn.kept(), "now": now});
        sent(&json!([response("i", "late")]), &terms).expect("a request")["resume"][0].clone()
    };
    assert_eq!(at(1_767_225_599_000)["status"], "resolved");
    assert_eq!(at(1_767_225_601_000), json!({"interruptId": "i", "status": "cancelled"}));
}

#[test]
fn calls_and_interrupts_are_answered_together() {
    let frames = [calls("a", "mine", "{}", "m"), calls("c", "delete", "{}", "m")].concat();
    let turn = ends(&frames, interrupt(json!({"id": "i", "reason": "tool_call", "toolCallId": "c"})));
    assert_eq!(pending(&turn.seen), ["Approval c", "Response a"]);
    let input = json!([approval("c", json!({"status": "allow"})), response("a", "red")]);
    let next = answered(&turn, &input);
    assert_eq!(
        next["resume"],
        json!([{"interruptId": "i", "status": "resolved", "payload": {"approved": true}}])
    );
    assert_eq!(
        next["messages"][2],
        json!({"id": "t:1", "role": "tool", "toolCallId": "a", "content": "red"})
    );
    // No server repeats the answers.
    let after = Turn::with(&input, &json!({"conversation": turn.kept()})).feed(&[started()]);
    assert_eq!(after.seen.types(), ["turn.created", "tool.resumed", "tool.response"]);
    assert_eq!(after.seen.events[1]["result"], json!({"approved": true}));
    assert_eq!(after.kept().get("required_actions"), None);
}

#[test]
fn two_questions_about_one_call_are_two() {
    let asked = json!({"type": "interrupt", "interrupts": [
        {"id": "i", "reason": "tool_call", "toolCallId": "c"},
        {"id": "j", "reason": "confirmation", "toolCallId": "c"},
    ]});
    let turn = ends(&calls("c", "mine", "{}", "m"), asked);
    assert_eq!(pending(&turn.seen), ["Approval c", "Response j"]);
}

#[test]
fn a_custom_event_can_ask() {
    let value = r#"{"message": "Delete?", "responseSchema": {"type": "object"}}"#;
    let turn = run(&[json!({"type": "CUSTOM", "name": "on_interrupt", "value": value})]);
    assert_eq!(pending(&turn.seen), ["Response t:asks"]);
    let suspension = &state(&turn.seen)["required_actions"][0]["tool_calls"][0]["suspension"];
    assert_eq!((&suspension["action"], &suspension["message"]), (&json!("on_interrupt"), &json!("Delete?")));
    let next = answered(&turn, &json!([response("t:asks", r#"{"approved":true}"#)]));
    assert_eq!(next["forwardedProps"], json!({"command": {"resume": {"approved": true}}}));
    assert_eq!(next.get("resume"), None);
}

#[test]
fn a_resumed_call_that_begins_again_is_the_same_call() {
    let before = ends(
        &calls("c", "delete", r#"{"p":1}"#, "m"),
        interrupt(json!({"id": "i", "reason": "tool_call", "toolCallId": "c"})),
    );
    let input = json!([approval("c", json!({"status": "allow"}))]);
    let turn = Turn::with(&input, &json!({"conversation": before.kept()}))
        .feed(&[started()])
        .feed(&calls("c", "delete", r#"{"p":2}"#, "m"))
        .feed(&[result("r", "c", "deleted")])
        .feed(&says("n", "Done"))
        .feed(&[finished()])
        .end();
    assert_eq!(turn.shown(), ["n: Done"], "the turn that made the call shows it");
    assert_eq!(turn.kept_messages()[0]["toolCalls"][0]["function"]["arguments"], r#"{"p":2}"#);
    assert_eq!(turn.seen.of("tool.response")[0]["tool_call_id"], "c");
    assert_eq!(warnings(&turn.seen), [""; 0]);
}

#[test]
fn an_approval_of_a_call_that_needs_a_result_is_refused() {
    let turn = run(&calls("a", "mine", "{}", "m"));
    let input = json!([approval("a", json!({"status": "allow"}))]);
    let error = sent(&input, &json!({"conversation": turn.kept()})).expect_err("an error");
    assert_eq!(error.code, crate::ErrorCode::InvalidInput);
}
