//! Pending actions, and their answers (section 5).

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

/// The next run's request with these answers.
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

/// Some models name a call after its tool, or count from one in each turn.
fn answered_before() -> Json {
    json!({"messages": [
        {"id": "t0:0", "role": "user", "content": "Before"},
        {"id": "m", "role": "assistant", "toolCalls": [
            {"id": "c", "type": "function", "function": {"name": "mine", "arguments": "{\"old\":1}"}},
        ]},
        {"id": "r", "role": "tool", "toolCallId": "c", "content": "old"},
        {"id": "n", "role": "assistant", "content": "It was old."},
    ]})
}

#[test]
fn a_call_of_this_turn_can_have_the_id_of_an_earlier_one() {
    for (parent, maker) in [("p", "p"), ("", "c"), ("m", "t:call:c")] {
        let before = json!({"conversation": answered_before()});
        let turn = Turn::with(&hello(), &before)
            .feed(&[started()])
            .feed(&calls("c", "mine", r#"{"new":2}"#, parent))
            .feed(&[finished()])
            .end();
        assert_eq!(pending(&turn.seen), ["Response c"], "{parent}");
        let kept = turn.kept_messages();
        let call = |arguments: &str| json!([{"id": "c", "type": "function", "function": {"name": "mine", "arguments": arguments}}]);
        assert_eq!(kept[0]["toolCalls"], call("{\"old\":1}"));
        assert_eq!(kept[4]["toolCalls"], call("{\"new\":2}"), "{kept:?}");
        let shown = turn.shown();
        assert_eq!(shown, [format!(r#"{maker}: mine({{"new":2}})"#)]);
        let asked = &state(&turn.seen)["required_actions"][0]["tool_calls"][0];
        assert_eq!(asked["arguments"], r#"{"new":2}"#);
        // Its own result comes after it, and the old one stays.
        let next = Turn::with(&json!([response("c", "new")]), &json!({"conversation": turn.kept()}));
        let next = next.feed(&[started()]).feed(&says("a", "Done")).feed(&[finished()]).end();
        let results: Vec<_> =
            next.kept_messages().into_iter().filter(|message| message["role"] == "tool").collect();
        assert_eq!(results.iter().map(|result| &result["content"]).collect::<Vec<_>>(), ["old", "new"]);
    }
}

#[test]
fn a_call_that_waits_goes_on_though_an_earlier_turn_had_its_id() {
    let mut end = finished();
    end["outcome"] = interrupt(json!({"id": "c", "reason": "tool_call", "toolCallId": "c"}));
    let asked = Turn::with(&hello(), &json!({"conversation": answered_before()}))
        .feed(&[started()])
        .feed(&calls("c", "delete", r#"{"p":1}"#, "p"))
        .feed(&[end])
        .end();
    let input = json!([approval("c", json!({"status": "allow"}))]);
    // The question has its call's id: allowing it is not a refusal.
    let before = json!({"conversation": asked.kept()});
    let next = sent(&input, &before).expect("sent");
    assert_eq!(
        next["resume"],
        json!([{"interruptId": "c", "status": "resolved", "payload": {"approved": true}}])
    );
    let turn = Turn::with(&input, &before)
        .feed(&[started()])
        .feed(&calls("c", "delete", r#"{"p":2}"#, "p"))
        .feed(&[result("r2", "c", "deleted")])
        .feed(&says("q", "Done"))
        .feed(&[finished()])
        .end();
    assert_eq!(turn.shown(), ["q: Done"], "the turn that made the call shows it");
    let kept = turn.kept_messages();
    let of = |role: &str| kept.iter().filter(|message| message["role"] == role).cloned().collect::<Vec<_>>();
    let results: Vec<_> = of("tool").into_iter().map(|result| result["content"].clone()).collect();
    assert_eq!(results, ["old", "deleted"]);
    let arguments: Vec<_> =
        kept.iter().map(|message| message["toolCalls"][0]["function"]["arguments"].clone()).collect();
    assert_eq!(
        arguments.iter().filter(|text| !text.is_null()).collect::<Vec<_>>(),
        [r#"{"old":1}"#, r#"{"p":2}"#]
    );
}

#[test]
fn a_server_answers_a_call_whose_id_an_earlier_turn_had() {
    let before = json!({"conversation": answered_before()});
    let frames = [
        vec![started()],
        calls("c", "server", "{}", "p"),
        vec![result("r2", "c", "new")],
        says("q", "Done"),
        vec![finished()],
    ]
    .concat();
    let turn = Turn::with(&hello(), &before).feed(&frames).end();
    let said = |turn: &Turn| -> Vec<String> {
        let kept = turn.kept_messages().into_iter();
        kept.map(|message| format!("{} {}", message["id"], message["content"])).collect()
    };
    let expected = [
        "\"m\" null",
        "\"r\" \"old\"",
        "\"n\" \"It was old.\"",
        "\"t:0\" \"Hi\"",
        "\"p\" null",
        "\"r2\" \"new\"",
        "\"q\" \"Done\"",
    ];
    assert_eq!(said(&turn), expected);
    assert_eq!(turn.seen.of("tool.response").len(), 1);
    // A snapshot of all of it changes nothing, and can be the only place of such a call.
    let whole = json!({"type": "MESSAGES_SNAPSHOT", "messages": turn.kept()["messages"]});
    let again = Turn::with(&hello(), &before).feed(&frames[..8]).feed(&[whole.clone(), finished()]).end();
    assert_eq!(said(&again), expected);
    let only = Turn::with(&hello(), &before).feed(&[started(), whole, finished()]).end();
    assert_eq!(only.shown(), ["p: server({})", "q: Done"]);
    assert_eq!(only.seen.of("tool.response")[0]["content"], "new");
}

#[test]
fn a_call_without_a_result_is_not_sent_though_an_earlier_one_had_its_id() {
    let before = json!({"conversation": answered_before()});
    let turn = Turn::with(&hello(), &before)
        .feed(&[started()])
        .feed(&calls("c", "server", "{}", "p"))
        .feed(&[finished()])
        .end();
    let next = sent(&hello(), &json!({"conversation": turn.kept()})).expect("a request");
    let made: Vec<_> = next["messages"]
        .as_array()
        .expect("messages")
        .iter()
        .filter(|one| one["toolCalls"].is_array())
        .collect();
    assert_eq!(made.len(), 1, "{made:?}");
}

#[test]
fn what_expired_is_not_told_as_approved() {
    for end in ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.123456+00:00", "2026-01-01T02:00:00+02:00"] {
        let asked = json!({"id": "i", "reason": "tool_call", "toolCallId": "c", "expiresAt": end});
        let before = ends(&calls("c", "delete", "{}", "m"), interrupt(asked));
        let input = json!([approval("c", json!({"status": "allow"}))]);
        let at = |now: u64| json!({"conversation": before.kept(), "now": now});
        let resume = |now: u64| sent(&input, &at(now)).expect("a request")["resume"][0].clone();
        let late = 1_767_225_601_000;
        assert_eq!(resume(late), json!({"interruptId": "i", "status": "cancelled"}), "{end}");
        assert_eq!(resume(1_767_225_599_000)["status"], "resolved", "{end}");
        let after = Turn::with(&input, &at(late)).feed(&[started()]);
        let told = after.seen.of("tool.resumed");
        assert_eq!((&told[0]["tool_call_id"], &told[0]["result"]), (&json!("c"), &Json::Null));
    }
}

#[test]
fn a_time_without_a_zone_ends_nothing() {
    let asked = json!({"id": "i", "reason": "input_required", "expiresAt": "2026-01-01T00:00:00"});
    let terms = json!({"conversation": ends(&[], interrupt(asked)).kept(), "now": 1_893_456_000_000_u64});
    let resume = sent(&json!([response("i", "late")]), &terms).expect("a request")["resume"][0].clone();
    assert_eq!(resume["status"], "resolved");
}

#[test]
fn a_question_is_refused() {
    let asked =
        interrupt(json!({"id": "i", "reason": "input_required", "responseSchema": {"type": "string"}}));
    let before = ends(&[], asked);
    let deny = json!([approval("i", json!({"status": "deny", "reason": "no"}))]);
    let next = answered(&before, &deny);
    assert_eq!(next["resume"], json!([{"interruptId": "i", "status": "cancelled"}]));
    let after = Turn::with(&deny, &json!({"conversation": before.kept()})).feed(&[started()]);
    assert_eq!(after.seen.of("tool.resumed")[0]["result"], Json::Null);
    // A server that asks by a custom event gets an answer in any case.
    let value = r#"{"message": "Delete?"}"#;
    let legacy = run(&[json!({"type": "CUSTOM", "name": "on_interrupt", "value": value})]);
    let next = answered(&legacy, &json!([approval("t:asks", json!({"status": "deny"}))]));
    assert_eq!(next["forwardedProps"]["command"]["resume"], json!({"approved": false}));
}

#[test]
fn a_tool_of_the_page_that_failed_says_so_twice() {
    let turn = run(&calls("a", "mine", "{}", "m"));
    for (content, fails) in
        [("Tool execution failed: no", true), ("Tool execution timed out after 5 ms", true), ("red", false)]
    {
        let sent = answered(&turn, &json!([response("a", content)]))["messages"][2].clone();
        let expected = if fails { json!(content) } else { Json::Null };
        assert_eq!((&sent["content"], &sent["error"]), (&json!(content), &expected));
    }
}

/// A server that refuses an answer still waits for it, and so does one that never got it.
#[test]
fn an_answer_whose_run_failed_can_be_given_again() {
    let asked = interrupt(json!({"id": "i", "reason": "tool_call", "toolCallId": "c"}));
    let first = ends(&calls("c", "delete", "{}", "m"), asked);
    let input = json!([approval("c", json!({"status": "allow"}))]);
    let resumed = |frames: &[Json]| {
        let terms = json!({"conversation": first.kept()});
        Turn::with(&input, &terms).feed(&[started()]).feed(frames).end()
    };
    let refused = json!({"type": "RUN_ERROR", "message": "no", "code": "APPROVAL_RESUME_INVALID"});
    for frames in [vec![], vec![refused.clone()]] {
        let failed = resumed(&frames);
        assert_eq!(answered(&failed, &input)["resume"], answered(&first, &input)["resume"], "{frames:?}");
    }
    for frames in [vec![result("r", "c", "1"), refused], vec![finished()]] {
        let over = resumed(&frames);
        let again = sent(&input, &json!({"conversation": over.kept()}));
        assert!(again.is_err(), "{frames:?}");
    }
}
