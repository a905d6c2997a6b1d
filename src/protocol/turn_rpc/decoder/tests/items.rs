//! Items: what is said, thought and called (sections 5 and 7).

use serde_json::{Value as Json, json};

use super::Reading;

#[test]
fn an_answer_is_a_message_in_pieces() {
    let mut turn = Reading::gateway();
    turn.item("started", json!({"type": "agentMessage", "id": "a", "text": ""}));
    turn.delta("a", "Hel", "agent_message");
    turn.delta("a", "lo", "agent_message");
    turn.item("completed", json!({"type": "agentMessage", "id": "a", "text": "Hello"}));
    let deltas = ["model.message.delta"; 3];
    assert_eq!(turn.seen.types(), [&["model.message"][..], &deltas].concat());
    assert_eq!(turn.seen.last()["finish_reason"], "stop");
    assert_eq!(turn.seen.index.message("a").expect("a message").content(), "Hello");
    // What comes after it is not of it.
    turn.delta("a", " there", "agent_message");
    assert_eq!(turn.seen.events.len(), 5);
}

#[test]
fn what_an_item_said_in_the_end_is_the_truth() {
    let mut turn = Reading::gateway();
    turn.delta("a", "lost: lo", "agent_message");
    turn.item("completed", json!({"type": "agentMessage", "id": "a", "text": "Hello"}));
    assert_eq!(turn.seen.index.message("a").expect("a message").content(), "Hello");
    assert_eq!(turn.seen.last()["type"], "model.message");
    let count = turn.seen.events.len();
    turn.item("completed", json!({"type": "agentMessage", "id": "a", "text": ""}));
    turn.item("completed", json!({"type": "agentMessage", "id": "a", "text": "Hello"}));
    assert_eq!(turn.seen.events.len(), count, "it is known");
    turn.item("completed", json!({"type": "agentMessage", "id": "a", "text": "Hello!"}));
    assert_eq!(turn.seen.index.message("a").expect("a message").content(), "Hello!");
}

#[test]
fn an_answer_that_is_empty_in_the_end_is_empty() {
    let mut turn = Reading::gateway();
    turn.delta("a", "Hello", "agent_message");
    turn.item("completed", json!({"type": "agentMessage", "id": "a", "text": ""}));
    assert_eq!(turn.seen.index.message("a").expect("a message").content(), "");
    turn.notify("turn/completed", json!({"turn": {"id": "u", "status": "Completed"}}));
    assert_eq!(turn.seen.last()["state"]["output"], Json::Null);
}

#[test]
fn what_turns_out_to_be_a_call_is_one_of_its_own() {
    for is_said in [false, true] {
        let mut turn = Reading::gateway();
        let call = |id: &str, tool: &str| json!({"type": "dynamicToolCall", "id": id, "toolName": tool, "arguments": {}, "status": "completed"});
        turn.item("completed", json!({"type": "agentMessage", "id": "m", "text": "Hi"}));
        turn.item("completed", call("c", "look"));
        turn.item("started", json!({"type": "agentMessage", "id": "x", "text": ""}));
        if is_said {
            turn.delta("x", "Hel", "agent_message");
        }
        turn.item("completed", call("x", "other"));
        let tool = |message: &str| {
            let message = turn.seen.index.message(message).expect("a message");
            let call = message.calls()[0].as_ref().expect("a call");
            (call.id.clone(), call.name.clone(), call.response().is_some())
        };
        assert_eq!(tool("m"), ("c".into(), "look".into(), true));
        assert_eq!(tool("x"), ("x".into(), "other".into(), true));
    }
}

#[test]
fn reasoning_is_told_by_its_item_and_appears_with_its_first_words() {
    let mut turn = Reading::gateway();
    turn.item("started", json!({"type": "reasoning", "id": "r", "summary": [], "content": []}));
    assert!(turn.seen.types().is_empty());
    // Both kinds share a method; what is known of an item counts more than the stream.
    turn.delta("r", "First ", "agent_message");
    turn.delta("r", "second", "generic");
    turn.delta("r2", "early", "generic");
    turn.item("completed", json!({"type": "reasoning", "id": "r", "summary": [], "content": []}));
    let message = turn.seen.index.message("r").expect("a message");
    assert_eq!(
        (message.reasoning(), message.content(), message.finish_reason()),
        ("First second", "", "stop")
    );
    assert_eq!(turn.seen.index.message("r2").expect("a message").reasoning(), "early");
    turn.item("started", json!({"type": "reasoning", "id": "r3", "summary": [], "content": []}));
    turn.item("completed", json!({"type": "reasoning", "id": "r3", "summary": [], "content": []}));
    assert!(turn.seen.index.message("r3").is_none(), "nothing was thought");
}

#[test]
fn parts_of_reasoning_stand_apart() {
    let mut turn = Reading::codex();
    turn.item("started", json!({"type": "reasoning", "id": "r", "summary": [], "content": []}));
    for (at, part) in ["One.", "Two."].iter().enumerate() {
        turn.notify("item/reasoning/summaryPartAdded", json!({"itemId": "r", "summaryIndex": at}));
        turn.notify(
            "item/reasoning/summaryTextDelta",
            json!({"itemId": "r", "delta": part, "summaryIndex": at}),
        );
    }
    let count = turn.seen.events.len();
    turn.item(
        "completed",
        json!({"type": "reasoning", "id": "r", "summary": ["One.", "Two."], "content": ["raw"]}),
    );
    assert_eq!(turn.seen.index.message("r").expect("a message").reasoning(), "One.\n\nTwo.");
    assert_eq!(turn.seen.events.len(), count + 1, "it was what had come");
}

#[test]
fn calls_are_made_in_the_message_of_their_round() {
    let mut turn = Reading::gateway();
    turn.item("started", json!({"type": "dynamicToolCall", "id": "c0", "toolName": "x", "arguments": 1, "status": "in_progress"}));
    turn.item("started", json!({"type": "reasoning", "id": "r", "summary": [], "content": []}));
    for id in ["c1", "c2"] {
        turn.item("started", json!({"type": "webSearch", "id": id, "toolName": "web_search", "arguments": {"q": id}, "status": "in_progress"}));
    }
    let calls = |id: &str| -> Vec<String> {
        let message = turn.seen.index.message(id).expect("a message");
        message.calls().iter().flatten().map(|call| format!("{} {}", call.id, call.arguments())).collect()
    };
    assert_eq!(calls("calls:c0"), ["c0 1"]);
    assert_eq!(calls("r"), ["c1 {\"q\":\"c1\"}", "c2 {\"q\":\"c2\"}"]);
    let message = turn.seen.index.message("r").expect("a message");
    assert_eq!(message.finish_reason(), "tool_calls");
    // Its words replaced, it still makes them.
    turn.item("completed", json!({"type": "reasoning", "id": "r", "summary": [], "content": ["Hm"]}));
    let message = turn.seen.index.message("r").expect("a message");
    assert_eq!(
        (message.reasoning(), message.calls().len(), message.finish_reason()),
        ("Hm", 2, "tool_calls")
    );
}

#[test]
fn calls_put_out_and_are_answered() {
    let mut turn = Reading::gateway();
    let mut item = json!({"type": "commandExecution", "id": "c", "toolName": "exec_command", "arguments": {}, "status": "in_progress"});
    turn.item("started", item.clone());
    let put_out = |turn: &mut Reading, method: &str, params| turn.notify(&format!("item/{method}"), params);
    let chunk = json!({"kind": "output_chunk", "truncated": false});
    put_out(
        &mut turn,
        "command_execution/output_delta",
        json!({"item_id": "c", "delta": "a\n", "payload": chunk}),
    );
    put_out(
        &mut turn,
        "command_execution/output_delta",
        json!({"item_id": "c", "delta": "b\n", "stream": "stderr"}),
    );
    put_out(&mut turn, "file_change/output_delta", json!({"item_id": "c", "delta": "d"}));
    let progress = json!({"kind": "progress", "stage": "half", "metadata": {}});
    put_out(&mut turn, "tool/progress", json!({"item_id": "c", "delta": "", "payload": progress}));
    assert_eq!(turn.seen.last()["payload"]["stage"], "half");
    let call = |turn: &Reading| {
        turn.seen.index.message("calls:c").expect("a message").calls()[0].clone().expect("a call")
    };
    assert_eq!(call(&turn).output("stdout"), Some("a\n"));
    assert_eq!(call(&turn).output("stderr"), Some("b\n"));
    assert_eq!(call(&turn).output("file_change"), Some("d"));
    item["status"] = json!("failed");
    item["success"] = json!(false);
    item["display"] =
        json!({"kind": "summary", "title": "T", "lines": ["one", "two"], "metadata": {}, "truncated": false});
    turn.item("completed", item.clone());
    let response = turn.seen.last();
    assert_eq!((&response["content"], &response["outcome"]), (&json!("T\none\ntwo"), &json!("failed")));
    assert_eq!(response["result"]["data"]["display"]["title"], "T");
    let count = turn.seen.events.len();
    turn.item("completed", item);
    assert_eq!(turn.seen.events.len(), count, "its result is known");
}

#[test]
fn what_was_put_out_in_truth_takes_the_place_of_pieces() {
    let display = |truncated: bool| json!({"kind": "shell", "stdout": "one\ntwo\n", "stderr": "three", "truncated": truncated});
    let gateway =
        json!({"type": "commandExecution", "id": "c", "toolName": "exec_command", "status": "completed"});
    for (pieces, truncated, expected) in [
        (&[("stdout", "one\n"), ("stdout", "two\n"), ("stderr", "three")][..], false, &[][..]),
        (&[("stdout", "two\n"), ("stderr", "three")], false, &[("stdout", "one\ntwo\n")]),
        (&[("stdout", "two\n")], false, &[("stdout", "one\ntwo\n"), ("stderr", "three")]),
        (&[("stdout", "two\n")], true, &[]),
        (&[], false, &[]),
    ] {
        let mut turn = Reading::gateway();
        turn.item("started", gateway.clone());
        for (stream, text) in pieces {
            turn.notify(
                "item/command_execution/output_delta",
                json!({"item_id": "c", "delta": text, "stream": stream}),
            );
        }
        let mut item = gateway.clone();
        item["display"] = display(truncated);
        for _ in 0..2 {
            turn.item("completed", item.clone());
        }
        let told = turn.seen.of("tool.output");
        let corrections = told.iter().filter(|event| event["replace"] == true);
        let corrections: Vec<_> = corrections
            .map(|event| (event["stream"].as_str().unwrap(), event["delta"].as_str().unwrap()))
            .collect();
        assert_eq!(corrections, expected);
        assert_eq!(turn.seen.last()["type"], "tool.response");
        let call = turn.seen.index.message("calls:c").expect("a message").calls()[0].clone().expect("a call");
        for (stream, whole) in expected {
            assert_eq!(call.output(stream), Some(*whole));
        }
    }
    let mut mixed = Reading::gateway();
    for (stream, text) in [("stdout", "one\n"), ("stderr", "two\n")] {
        mixed.notify(
            "item/command_execution/output_delta",
            json!({"item_id": "c", "delta": text, "stream": stream}),
        );
    }
    let mut item = gateway;
    item["display"] = json!({"kind": "shell", "stdout": "one\ntwo\n", "truncated": false});
    mixed.item("completed", item);
    assert_eq!(mixed.seen.of("tool.output").len(), 2, "it does not tell them apart");
    let mut codex = Reading::codex();
    codex.notify("item/commandExecution/outputDelta", json!({"itemId": "c", "delta": "\u{fffd}b"}));
    codex.item(
        "completed",
        json!({"type": "commandExecution", "id": "c", "command": "ls", "aggregatedOutput": "ab"}),
    );
    let message = codex.seen.index.message("calls:c").expect("a message");
    assert_eq!(message.calls()[0].as_ref().expect("a call").output("output"), Some("ab"));
}

#[test]
fn a_call_whose_beginning_was_missed_is_named_in_the_end() {
    let mut turn = Reading::codex();
    turn.notify("item/commandExecution/outputDelta", json!({"itemId": "c", "delta": "x"}));
    let item = json!({"type": "commandExecution", "id": "c", "command": "ls", "cwd": "/", "status": "declined", "aggregatedOutput": null, "exitCode": null});
    turn.item("completed", item);
    let message = turn.seen.index.message("calls:c").expect("a message");
    let call = message.calls()[0].as_ref().expect("a call");
    assert_eq!(
        (&*call.name, call.arguments(), call.output("output")),
        ("commandExecution", r#"{"command":"ls","cwd":"/"}"#, Some("x"))
    );
    assert_eq!(
        (&turn.seen.last()["content"], &turn.seen.last()["outcome"]),
        (&json!("declined"), &json!("failed"))
    );
}

#[test]
fn tools_of_servers_are_known_by_both_names() {
    let mut turn = Reading::codex();
    let mut item = json!({"type": "mcpToolCall", "id": "c", "server": "s", "tool": "t", "arguments": {"a": 1}, "status": "inProgress", "result": null, "error": null});
    turn.item("started", item.clone());
    turn.notify("item/mcpToolCall/progress", json!({"itemId": "c", "message": "half"}));
    item["result"] = json!({"content": [{"type": "text", "text": "ok"}]});
    item["status"] = json!("completed");
    turn.item("completed", item);
    let call = turn.seen.index.message("calls:c").expect("a message").calls()[0].clone().expect("a call");
    assert_eq!(
        (call.display_name(), call.arguments(), call.output("tool_progress")),
        ("t", r#"{"a":1}"#, Some("half"))
    );
    assert_eq!(
        (&turn.seen.last()["content"], &turn.seen.last()["outcome"]),
        (&json!("ok"), &json!("succeeded"))
    );
}

#[test]
fn the_user_message_is_the_input_and_its_chips_are_told() {
    let mut turn = Reading::gateway();
    let chip = json!({"type": "skill", "capability": {"id": "c", "label": "Docs", "slug": "s", "sourceKind": "workspace"}});
    let item = json!({"type": "userMessage", "id": "user_u", "text": "Hi", "attachments": [chip, {"type": "image", "url": "u"}]});
    turn.item("started", item.clone());
    turn.item("completed", item);
    assert_eq!(turn.seen.types(), ["notice"]);
    assert_eq!(
        (&turn.seen.last()["code"], &turn.seen.last()["details"]),
        (&json!("capability.attached"), &json!([chip]))
    );
    // Said while the turn runs.
    for _ in 0..2 {
        turn.item("completed", json!({"type": "userMessage", "id": "other", "text": "And"}));
    }
    assert_eq!(turn.seen.types(), ["notice", "notice"]);
    let said = |words: &str, after: Json| json!({"input": [{"type": "user.message", "content": words}], "after": after});
    assert_eq!(turn.seen.last()["message"], "And");
    assert_eq!(turn.seen.last()["details"], said("And", Json::Null));
}

#[test]
fn what_is_said_while_a_turn_runs_has_its_words_and_its_place() {
    let mut turn = Reading::codex();
    let message = |id: &str, content: Json| json!({"type": "userMessage", "id": id, "content": content});
    let text = |words: &str| json!({"type": "text", "text": words, "text_elements": []});
    turn.item("completed", message("one", json!([text("Hi")])));
    // Reasoning that says nothing is no message.
    turn.item("started", json!({"type": "agentMessage", "id": "a", "text": "Let me"}));
    turn.item("started", json!({"type": "reasoning", "id": "r", "summary": [], "content": []}));
    let image = json!({"type": "image", "url": "https://server/a.png"});
    turn.item("started", message("two", json!([text("Look"), image, text("here")])));
    turn.item(
        "started",
        json!({"type": "commandExecution", "id": "c", "command": "ls", "status": "inProgress"}),
    );
    turn.item("completed", message("three", json!([image])));
    let told: Vec<_> =
        turn.seen.of("notice").iter().map(|notice| (&notice["message"], &notice["details"])).collect();
    let parts = |parts: Json| json!([{"type": "user.message", "content": parts}]);
    let plain = |words: &str| json!({"type": "text", "text": words});
    assert_eq!(
        told,
        [
            (
                &json!("Look\nhere"),
                &json!({"input": parts(json!([plain("Look"), image, plain("here")])), "after": "a"})
            ),
            // By then the call has been made in it.
            (&json!(""), &json!({"input": parts(json!([image])), "after": "r"})),
        ]
    );
}

#[test]
fn changes_of_files_say_what_was_done_to_which() {
    let change = |kind: &str, path: &str| json!({"path": path, "kind": {"type": kind}, "diff": "one\n"});
    for (status, outcome, content) in [
        ("completed", "succeeded", "add /a\nupdate /b"),
        ("declined", "failed", "declined"),
        ("failed", "failed", "failed"),
    ] {
        let mut turn = Reading::codex();
        let changes = json!([change("add", "/a"), change("update", "/b")]);
        let item = |status| json!({"type": "fileChange", "id": "f", "changes": changes, "status": status});
        turn.item("started", item("inProgress"));
        turn.item("completed", item(status));
        assert_eq!(
            (&turn.seen.last()["content"], &turn.seen.last()["outcome"]),
            (&json!(content), &json!(outcome)),
            "{status}"
        );
    }
}

#[test]
fn news_are_kept_in_order() {
    let mut turn = Reading::gateway();
    let event = json!({"type": "systemEvent", "id": "s", "level": "warning", "message": "no", "code": "capability.rejected", "details": {"rejected": []}});
    turn.item("completed", event.clone());
    turn.item("completed", event);
    turn.notify("item/retry_scheduled", json!({"item_id": "a", "item_type": "agent_message", "recovery_job_id": "j", "attempt_number": 2, "reason": "503"}));
    turn.notify("context/compressing", json!({"message": "…"}));
    turn.notify("context/compressing", json!({"message": "…"}));
    let mut codex = Reading::codex();
    codex.notify("error", json!({"error": {"message": "busy", "codexErrorInfo": null}, "willRetry": true}));
    codex.notify("warning", json!({"message": "old"}));
    let told = |turn: &Reading| -> Vec<String> {
        let notices = turn
            .seen
            .index
            .notices()
            .map(|notice| serde_json::from_str::<serde_json::Value>(notice).expect("JSON"));
        notices
            .map(|notice| {
                format!("{} {} {} {}", notice["level"], notice["code"], notice["message"], notice["item_id"])
            })
            .collect()
    };
    assert_eq!(
        told(&turn),
        [
            r#""warning" "capability.rejected" "no" "s""#,
            r#""warning" "item/retry_scheduled" "503" "a""#,
            r#""info" "context/compressing" "…" null"#,
            r#""info" "context/compressing" "…" null"#,
        ]
    );
    assert_eq!(told(&codex), [r#""warning" "error" "busy" null"#, r#""warning" "warning" "old" null"#]);
}

#[test]
fn what_is_of_the_thread_is_no_event_of_the_turn() {
    let mut turn = Reading::codex();
    for method in ["thread/readState/changed", "thread/goal/cleared", "thread/name/updated"] {
        turn.hear(&json!({"method": method, "params": {"threadId": "t"}}));
    }
    assert_eq!(turn.seen.types(), [""; 0]);
    // Of a turn, or of nothing that is known, it is.
    turn.hear(&json!({"method": "thread/goal/updated", "params": {"threadId": "t", "turnId": "u"}}));
    turn.hear(&json!({"method": "thread/mood/changed", "params": {"threadId": "t"}}));
    assert_eq!(turn.seen.types(), ["unknown", "unknown"]);
}

#[test]
fn items_that_are_neither_said_nor_called_are_news() {
    let mut turn = Reading::codex();
    for kind in ["started", "completed"] {
        turn.item(kind, json!({"type": "subAgentActivity", "id": "s", "kind": "started", "agentThreadId": "x", "agentPath": "p"}));
    }
    turn.item("completed", json!({"type": "plan", "id": "p", "text": "First this."}));
    assert_eq!(turn.seen.types(), ["thread.created", "notice", "notice"]);
    let notices = turn.seen.of("notice");
    assert_eq!(
        (&notices[0]["code"], &notices[0]["details"]["agentThreadId"]),
        (&json!("subAgentActivity"), &json!("x"))
    );
    assert_eq!((&notices[1]["code"], &notices[1]["message"]), (&json!("plan"), &json!("First this.")));
}

#[test]
fn what_an_item_is_its_type_says_and_not_its_deltas() {
    let answer = json!({"type": "agentMessage", "id": "a", "text": "Hello"});
    let thought = json!({"type": "reasoning", "id": "a", "summary": ["Hello"]});
    for (stream, item, is_answer) in [("generic", answer, true), ("agent_message", thought, false)] {
        for is_started in [false, true] {
            let mut turn = Reading::gateway();
            turn.delta("a", "Hel", stream);
            if is_started {
                turn.item("started", json!({"type": item["type"], "id": "a", "text": "", "summary": []}));
                turn.delta("a", "lo", stream);
            }
            turn.item("completed", item.clone());
            let message = turn.seen.index.message("a").expect("a message");
            let expected = if is_answer { ("Hello", "") } else { ("", "Hello") };
            assert_eq!((message.content(), message.reasoning()), expected, "{stream} {is_started}");
        }
    }
}
