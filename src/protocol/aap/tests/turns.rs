//! A history as turns (section 6).

use serde_json::{Value as Json, json};

use super::{agent, call, full, item, read, result, user};
use crate::event::TurnRecord;
use crate::protocol::Call;

fn turns(messages: &Json) -> Json {
    let params = json!({"sessionId": "s", "terms": {"tools": ["mine"]}});
    let page = read(Call::ListTurns, &params, &full(messages));
    for record in page["items"].as_array().expect("a list") {
        serde_json::from_value::<TurnRecord>(record.clone()).expect("a record");
    }
    page
}

fn column(page: &Json, name: &str) -> Vec<Json> {
    page["items"].as_array().expect("a list").iter().map(|record| record[name].clone()).collect()
}

fn output(id: &str, content: &str) -> Json {
    json!({"type": "model.message", "id": id, "thread_id": "main", "content": content, "finish_reason": "stop"})
}

#[test]
fn a_history_of_nothing_has_no_turns() {
    assert_eq!(turns(&json!([])), json!({"items": [], "next": null, "user_messages": 0}));
    // Messages for the agent before the conversation are not a turn.
    assert_eq!(turns(&json!([{"role": "system", "content": "Be brief."}]))["items"], json!([]));
}

#[test]
fn section_6_a_turn_is_what_follows_a_users_message() {
    let page = turns(&json!([
        {"role": "system", "content": "Be brief."}, user("Hi"), agent("Yes?"),
        user("Weather?"), agent(json!([call("c", "x")])), result("c", "18°C"), agent("Warm."),
    ]));
    let record = |id: &str, before: Json, said: u64, input: Json, output: Json| {
        json!({"id": id, "session_id": "s", "previous_turn_id": before, "said": said, "input": [input],
            "state": {"status": "done", "output": output, "required_actions": []},
            "created_by_subject": null, "created_at": null})
    };
    let expected = [
        record("turn-1", Json::Null, 0, item("Hi"), output("turn-1:0", "Yes?")),
        record("turn-2", json!("turn-1"), 1, item("Weather?"), output("turn-2:1", "Warm.")),
    ];
    assert_eq!(page, json!({"items": expected, "next": null, "user_messages": 2}));
}

#[test]
fn messages_without_an_answer_between_them_begin_one_turn() {
    let page =
        turns(&json!([user("a"), {"role": "system", "content": "x"}, user("b"), agent("c"), user("d")]));
    assert_eq!(column(&page, "input"), [json!([item("a"), item("b")]), json!([item("d")])]);
    assert_eq!(column(&page, "id"), ["turn-1", "turn-2"]);
    assert_eq!(page["user_messages"], 3, "messages are counted, not turns");
    assert_eq!(column(&page, "said"), [0, 2], "those before it");
}

/// A compacted history can begin anywhere, and so can one with seeds (finding 10).
#[test]
fn what_stands_before_the_first_message_is_a_turn_of_its_own() {
    let page = turns(&json!([agent("Hello!"), user("Hi"), agent("Yes?")]));
    assert_eq!(column(&page, "id"), ["turn-0", "turn-1"]);
    assert_eq!(column(&page, "input"), [json!([]), json!([item("Hi")])]);
    assert_eq!(column(&page, "previous_turn_id"), [Json::Null, json!("turn-0")]);
}

#[test]
fn what_the_user_said_is_an_input() {
    let image = json!({"type": "image", "url": "https://a.example/b.png"});
    let text = json!({"type": "text", "text": "a"});
    for (content, expected) in [
        (json!("a"), json!("a")),
        (json!([]), json!([])),
        (json!([text, image]), json!([text, image])),
        (json!([{"type": "text", "text": "a", "x": 1}]), json!([text])),
        (json!(null), json!([])),
        (json!(5), json!([])),
    ] {
        let page = turns(&json!([user(content.clone())]));
        assert_eq!(page["items"][0]["input"], json!([item(expected)]), "{content}");
    }
}

/// Section 6: the last message's calls without results are pending.
#[test]
fn section_6_how_the_last_turn_stands() {
    let state = |messages: Json| {
        turns(&messages)["items"].as_array().expect("a list").last().expect("a turn")["state"].clone()
    };
    let waits = |state: &Json| -> Vec<String> {
        let actions = state["required_actions"].as_array().into_iter().flatten();
        actions
            .map(|action| {
                format!("{} {}", action["type"].as_str().expect("a type"), action["tool_calls"][0]["id"])
            })
            .collect()
    };
    let running = json!({"status": "running"});
    assert_eq!(state(json!([user("Hi")])), running);
    let asking = agent(json!([{"type": "text", "text": "See:"}, call("a", "mine"), call("b", "theirs")]));
    let both = ["tool.response_required \"a\"", "tool.approval_required \"b\""];
    let paused = state(json!([user("Hi"), asking]));
    assert_eq!(waits(&paused), both);
    assert_eq!((&paused["status"], &paused["output"]), (&json!("done"), &Json::Null));
    assert_eq!(paused["required_actions"][0]["tool_calls"][0]["event_id"], "turn-1:0");
    assert_eq!(waits(&state(json!([user("Hi"), asking, result("a", "1")]))), both[1..]);
    // It is unknown whether the agent continues after all results are there.
    assert_eq!(state(json!([user("Hi"), asking, result("a", "1"), result("b", "2")])), running);
    let done = state(json!([user("Hi"), asking, result("a", "1"), result("b", "2"), agent("Done.")]));
    assert_eq!(done["output"], output("turn-1:1", "Done."));
    // A new message ends the wait.
    assert!(waits(&state(json!([user("Hi"), asking, agent("Never mind.")]))).is_empty());
}

/// A turn that another one follows has no pending calls.
#[test]
fn a_turn_that_is_followed_has_ended() {
    let page =
        turns(&json!([user("Hi"), agent(json!([call("a", "mine")])), user("Never mind"), user("Hi?")]));
    assert_eq!(page["items"][0]["state"]["status"], "done");
    assert_eq!(page["items"][0]["state"]["required_actions"], json!([]));
    let page = turns(&json!([user("Hi"), agent(json!([])), user("Hello?"), agent("Yes?")]));
    assert_eq!(page["items"][0]["state"], json!({"status": "done", "output": null, "required_actions": []}));
}

/// The server runs such a tool before it asks for anything else.
#[test]
fn section_5_a_turn_runs_while_a_trusted_tool_does() {
    let asks = agent(json!([call("c1", "lookup"), call("c2", "restart"), call("c3", "clock")]));
    let params =
        |trusted: &[&str]| json!({"session_id": "s", "terms": {"tools": ["clock"], "trusted": trusted}});
    let state = |trusted: &[&str], messages: Json| {
        let turns = read(Call::ListTurns, &params(trusted), &full(&messages));
        turns["items"][0]["state"].clone()
    };
    let kinds = |state: &Json| -> Vec<String> {
        let actions = state["required_actions"].as_array().expect("a list");
        actions.iter().map(|action| action["type"].as_str().expect("a type").to_owned()).collect()
    };
    let waiting = json!([user("hi"), asks]);
    assert_eq!(state(&["lookup"], waiting.clone())["status"], "running");
    let (approval, response) = ("tool.approval_required", "tool.response_required");
    assert_eq!(kinds(&state(&[], waiting)), [approval, approval, response]);
    let run = json!([user("hi"), asks, result("c1", "found")]);
    assert_eq!(kinds(&state(&["lookup"], run)), [approval, response]);
    // Nor do its events ask anything.
    let events = read(Call::ListSessionEvents, &params(&["lookup"]), &full(&json!([user("hi"), asks])));
    let events = events["items"].as_array().expect("a list");
    let kinds: Vec<_> = events.iter().map(|item| item["event"]["type"].as_str().expect("a type")).collect();
    assert_eq!(kinds, ["turn.created", "model.message"]);
}
