//! The history of a conversation that the client keeps: its turns and events, without a request.

use super::*;
use crate::protocol::ag_ui::decoder::UNFINISHED;

/// What a list has of a session with this conversation.
fn listed(call: Call, conversation: &Json, more: &Json) -> Vec<Json> {
    let mut params = json!({"sessionId": "s", "terms": {"conversation": conversation.to_string()}});
    for (name, value) in more.as_object().expect("an object") {
        params[name] = value.clone();
    }
    let page = with_params(&params, |params| {
        AgUi::new().local(call, params).map(Value::into_owned).expect("no request").to_json()
    });
    let page: Json = serde_json::from_str(&page).expect("JSON");
    assert_eq!(page["next"], Json::Null);
    page["items"].as_array().expect("items").clone()
}

fn call(id: &str) -> Json {
    json!({"id": id, "type": "function", "function": {"name": "clock", "arguments": "{\"zone\":1}"}})
}

fn conversation() -> Json {
    json!({
        "messages": [
            {"id": "sys", "role": "system", "content": "Be brief"},
            {"id": "t1:0", "role": "user", "content": "Hi"},
            {"id": "r1", "role": "reasoning", "content": "Hm."},
            {"id": "m1", "role": "assistant", "content": "Let me see", "toolCalls": [call("c1")]},
            {"id": "x1", "role": "tool", "toolCallId": "c1", "content": "noon"},
            {"id": "m2", "role": "assistant", "content": "Noon"},
            {"id": "t2:0", "role": "user", "content": [
                {"type": "text", "text": "And this?"},
                {"type": "image", "source": {"type": "data", "value": "AA==", "mimeType": "image/png"},
                 "metadata": {"filename": "a.png"}},
                {"type": "image", "source": {"type": "url", "value": "https://a.test/b.png"}},
                {"type": "audio", "source": {"type": "url", "value": "https://a.test/c.wav"}},
                {"type": "document", "source": {"type": "file", "value": "handle-1"}, "metadata": {"filename": "d.pdf"}},
                {"type": "binary", "mimeType": "image/gif", "data": "AB==", "filename": "e.gif"},
                {"type": "binary", "mimeType": "image/png", "url": "https://a.test/f.png"},
                {"type": "binary", "mimeType": "text/csv", "id": "handle-2"},
            ]},
            {"id": "m3", "role": "assistant", "toolCalls": [call("c2")]},
        ],
        "state": {"n": 1},
        "required_actions": [{"type": "tool.response_required", "id": "q", "thread_id": "main",
            "tool_calls": [{"id": "c2", "source_event_id": "m3", "event_id": "m3"}]}],
    })
}

#[test]
fn turns_begin_with_the_messages_of_the_user_and_have_their_ids() {
    let turns = listed(Call::ListTurns, &conversation(), &json!({}));
    let column = |name: &str| turns.iter().map(|turn| turn[name].clone()).collect::<Vec<_>>();
    assert_eq!(column("id"), [json!("t1"), json!("t2")]);
    assert_eq!(column("previous_turn_id"), [Json::Null, json!("t1")]);
    assert_eq!(turns[0]["input"], json!([{"type": "user.message", "content": "Hi"}]));
    assert_eq!(
        turns[1]["input"],
        json!([{"type": "user.message", "content": [
            {"type": "text", "text": "And this?"},
            {"type": "file", "name": "a.png", "data": "data:image/png;base64,AA=="},
            {"type": "image", "url": "https://a.test/b.png"},
            {"type": "file", "name": "", "data": "https://a.test/c.wav"},
            {"type": "file", "name": "d.pdf", "data": "handle-1"},
            {"type": "file", "name": "e.gif", "data": "data:image/gif;base64,AB=="},
            {"type": "image", "url": "https://a.test/f.png"},
            {"type": "file", "name": "", "data": "handle-2"},
        ]}])
    );
    let waiting = |turn: &Json| turn["state"]["required_actions"].as_array().map_or(0, Vec::len);
    assert_eq!(turns.iter().map(waiting).collect::<Vec<_>>(), [0, 1], "only the last turn can wait");
}

#[test]
fn events_are_those_of_whole_messages_with_the_reasoning_before_them() {
    let events = listed(Call::ListSessionEvents, &conversation(), &json!({}));
    let shown: Vec<_> =
        events.iter().map(|listed| (listed["turn_id"].as_str(), listed["event"]["type"].as_str())).collect();
    let (one, two) = (Some("t1"), Some("t2"));
    assert_eq!(
        shown,
        [
            (one, Some("turn.created")),
            (one, Some("model.message")),
            (one, Some("tool.response")),
            (one, Some("model.message")),
            (two, Some("turn.created")),
            (two, Some("model.message")),
            (two, Some("state.snapshot")),
        ]
    );
    let first = &events[1]["event"];
    assert_eq!((&first["reasoning_content"], &first["content"]), (&json!("Hm."), &json!("Let me see")));
    assert_eq!(first["tool_calls"][0]["function"]["arguments"], "{\"zone\":1}");
    assert_eq!(events[2]["event"]["content"], "noon");
    assert_eq!(events[6]["event"]["snapshot"], json!({"n": 1}));
    let own = listed(Call::ListTurnEvents, &conversation(), &json!({"turnId": "t2"}));
    assert_eq!(
        own.iter().map(|event| event["type"].clone()).collect::<Vec<_>>(),
        ["turn.created", "model.message", "state.snapshot"]
    );
}

#[test]
fn what_is_no_conversation_has_no_turns() {
    let nothing = json!({});
    for odd in [
        json!({}),
        json!({"messages": 1}),
        json!({"messages": [1, {}, {"role": "system", "content": "x"}]}),
        json!(null),
    ] {
        assert_eq!(listed(Call::ListTurns, &odd, &nothing), Vec::<Json>::new(), "{odd}");
        assert_eq!(listed(Call::ListSessionEvents, &odd, &nothing), Vec::<Json>::new(), "{odd}");
    }
    let agent_first = json!({"messages": [{"id": "m0", "role": "assistant", "content": "Welcome"}]});
    assert_eq!(listed(Call::ListTurns, &agent_first, &nothing)[0]["id"], "m0");
}

/// The turns of a stored conversation: their states.
fn states(turn: &Turn) -> Vec<Json> {
    let turns = listed(Call::ListTurns, &turn.kept(), &json!({}));
    turns.iter().map(|turn| turn["state"].clone()).collect()
}

fn begun(terms: &Json) -> Turn {
    Turn::with(&hello(), terms).feed(&[started()]).feed(&says("m", "Half")[..2])
}

/// The whole message of the agent in the history has a reason for its end, or none.
fn finish_reason(turn: &Turn) -> Json {
    let events = listed(Call::ListSessionEvents, &turn.kept(), &json!({}));
    let said = events.iter().find(|listed| listed["event"]["id"] == "m").expect("the message");
    said["event"]["finish_reason"].clone()
}

#[test]
fn turns_keep_how_they_ended() {
    let none = json!({});
    let cut = begun(&none).end();
    assert_eq!(states(&cut), [json!({"status": "error", "message": UNFINISHED, "code": "incomplete"})]);
    assert_eq!(finish_reason(&cut), Json::Null);
    let failed = begun(&none).feed(&[json!({"type": "RUN_ERROR", "message": "it broke", "code": "E"})]).end();
    assert_eq!(states(&failed), [json!({"status": "error", "message": "it broke", "code": "E"})]);
    let mut end = finished();
    end["outcome"] = json!({"type": "cancelled"});
    let cancelled = begun(&none).feed(&[end]).end();
    assert_eq!(states(&cancelled), [json!({"status": "cancelled", "reason": "server"})]);
    let done = begun(&none).feed(&[finished()]).end();
    assert_eq!(states(&done)[0]["status"], "done");
    assert_eq!(finish_reason(&done), "stop");
    assert_eq!(done.kept().get("ends"), None, "nothing is kept of the usual end");
}

#[test]
fn a_turn_that_the_user_has_stopped_is_cancelled() {
    for terms in [json!({}), repeating()] {
        let mut turn = begun(&terms);
        turn.decoder.cancelled();
        assert_eq!(states(&turn), [json!({"status": "cancelled", "reason": "client-cancelled"})], "{terms}");
        assert_eq!(turn.kept().get("open_run"), None);
    }
    let mut done = begun(&json!({})).feed(&[finished()]).end();
    done.decoder.cancelled();
    assert_eq!(states(&done)[0]["status"], "done");
}

/// What follows a question continues its turn, which ends as that ends.
#[test]
fn an_earlier_turn_keeps_its_end_and_an_answer_has_that_of_its_question() {
    let cut = begun(&json!({})).end();
    let mut more = params(&hello(), &json!({"conversation": cut.kept()}));
    more["turnId"] = "t2".into();
    more["input"] = json!([{"type": "user.message", "content": "More"}]);
    let mut next = Turn { decoder: RunDecoder::default(), seen: Seen::default() };
    with_params(&more, |params| next.decoder.begin(params));
    let next = next.feed(&[started()]).feed(&calls("c", "mine", "{}", "n")).feed(&[finished()]).end();
    let statuses = |turn: &Turn| states(turn).iter().map(|state| state["status"].clone()).collect::<Vec<_>>();
    assert_eq!(statuses(&next), ["error", "done"]);
    let answer =
        json!([{"type": "user.tool_response", "thread_id": "main", "tool_call_id": "c", "content": "red"}]);
    let asked = json!({"conversation": next.kept()});
    let failed = Turn::with(&answer, &asked).feed(&[started()]).end();
    assert_eq!(statuses(&failed), ["error", "error"]);
    let retried = Turn::with(&answer, &asked).feed(&[started(), finished()]).end();
    assert_eq!(statuses(&retried), ["error", "done"]);
}

#[test]
fn what_subagents_said_is_in_their_threads() {
    let sub = |mut frame: Json| {
        frame["subagentRunId"] = "s1".into();
        frame
    };
    let mut frames = vec![json!({"type": "SUBAGENT_STARTED", "subagentRunId": "s1", "name": "helper"})];
    frames.extend(says("m2", "Sub").into_iter().map(sub));
    frames.extend(calls("c", "server", "{}", "m2").into_iter().map(sub));
    frames.push(result("r", "c", "42"));
    frames.push(json!({"type": "SUBAGENT_FINISHED", "subagentRunId": "s1"}));
    frames.extend(says("m3", "Main"));
    let events = listed(Call::ListTurnEvents, &run(&frames).kept(), &json!({"turnId": "t"}));
    let shown: Vec<_> = events
        .iter()
        .map(|event| format!("{} {}", event["type"].as_str().expect("a type"), event["thread_id"]))
        .collect();
    assert_eq!(
        shown,
        [
            "turn.created null",
            "model.message \"s1\"",
            "tool.response \"s1\"",
            "model.message \"main\"",
            "thread.done \"s1\"",
        ]
    );
}

/// An input can have several messages. The ids of a conversation that the page brings can be of any form.
#[test]
fn a_turn_is_what_was_said_at_once() {
    let said = |id: &str| json!({"id": id, "role": "user", "content": id});
    let answer = |id: &str| json!({"id": id, "role": "assistant", "content": "Yes"});
    for (messages, expected) in [
        (json!([said("t1:0"), said("t1:1"), answer("a"), said("t2:0")]), json!([["t1", 2], ["t2", 1]])),
        (
            json!([said("user:1"), answer("assistant:1"), said("user:2"), answer("b")]),
            json!([["user", 1], ["user:2", 1]]),
        ),
        (json!([said("1"), said("2"), answer("a")]), json!([["1", 1], ["2", 1]])),
    ] {
        let turns = listed(Call::ListTurns, &json!({"messages": messages}), &json!({}));
        let inputs =
            turns.iter().map(|turn| json!([turn["id"], turn["input"].as_array().expect("a list").len()]));
        assert_eq!(inputs.collect::<Json>(), expected, "{messages}");
    }
}
