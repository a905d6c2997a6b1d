//! A history as events: those that a stream would have come to (sections 4 and 6).

use serde_json::{Value as Json, json};

use super::{agent, call, full, read, result, user};
use crate::event::Event;
use crate::protocol::Call;

fn session_events(messages: &Json) -> Vec<Json> {
    let params = json!({"sessionId": "s", "terms": {"tools": ["mine"]}});
    let page = read(Call::ListSessionEvents, &params, &full(messages));
    page["items"].as_array().expect("a list").clone()
}

/// The events of the one turn that a history has after its user's message.
fn events(messages: &Json) -> Vec<Json> {
    let mut all = vec![user("Hi")];
    all.extend(messages.as_array().expect("a list").iter().cloned());
    let params = json!({"sessionId": "s", "turnId": "t", "said": 0, "input": [{"type": "user.message", "content": "Hi"}],
        "terms": {"tools": ["mine"]}});
    let page = read(Call::ListTurnEvents, &params, &full(&json!(all)));
    let events = page["items"].as_array().expect("a list").clone();
    for event in &events {
        let typed: Event = serde_json::from_value(event.clone()).expect("an event");
        assert_eq!(matches!(typed, Event::Unknown(_)), event["type"] == "unknown", "{event}");
    }
    events
}

fn kinds(events: &[Json]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().expect("a type")).collect()
}

#[test]
fn section_6_the_events_of_a_session() {
    let items = session_events(&json!([
        user("Hi"),
        agent("Yes?"),
        user("Weather?"),
        agent(json!([call("c", "mine")]))
    ]));
    let told: Vec<_> =
        items.iter().map(|item| (item["turn_id"].clone(), item["event"]["type"].clone())).collect();
    let expected = [
        (json!("turn-1"), json!("turn.created")),
        (json!("turn-1"), json!("model.message")),
        (json!("turn-2"), json!("turn.created")),
        (json!("turn-2"), json!("model.message")),
        (json!("turn-2"), json!("tool.response_required")),
    ];
    assert_eq!(told, expected);
    assert_eq!(items[2]["event"]["previous_turn_id"], "turn-1");
    assert_eq!(items[2]["event"]["input"], json!([{"type": "user.message", "content": "Weather?"}]));
    // What was asked in a turn that another one follows is asked no more.
    let items = session_events(&json!([user("Hi"), agent(json!([call("c", "mine")])), user("No")]));
    assert!(items.iter().all(|item| item["event"]["type"] != "tool.response_required"));
}

#[test]
fn the_order_is_the_callers() {
    let messages = json!([user("Hi"), agent("Yes?")]);
    let params = |order: &str| json!({"sessionId": "s", "order": order});
    let up = read(Call::ListSessionEvents, &params("asc"), &full(&messages));
    let mut down = read(Call::ListSessionEvents, &params("desc"), &full(&messages));
    assert_ne!(up, down);
    down["items"].as_array_mut().expect("a list").reverse();
    assert_eq!(up, down);
}

#[test]
fn section_4_a_message_is_whole() {
    let told = events(&json!([
        agent(json!([
            {"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "a"}, call("c", "x"), {"type": "thinking", "thinking": "."},
            {"type": "text", "text": "b"},
        ])),
        result("c", "1")
    ]));
    let calls = json!([{"id": "c", "type": "function", "function": {"name": "x", "arguments": "{}"}}]);
    let message = json!({"type": "model.message", "id": "t:0", "thread_id": "main", "content": "ab",
        "reasoning_content": "Hm.", "tool_calls": calls, "finish_reason": "tool_calls"});
    let response = json!({"type": "tool.response", "id": "t:0:c", "thread_id": "main", "tool_call_id": "c", "content": "1"});
    assert_eq!(told, [message, response]);
}

/// Finding 3.
#[test]
fn section_6_results_that_come_twice_are_told_once() {
    let told = events(&json!([
        agent(json!([call("c", "x")])),
        result("c", "1"),
        result("c", "1"),
        agent("Done."),
        result("c", "2")
    ]));
    assert_eq!(kinds(&told), ["model.message", "tool.response", "model.message"]);
    // A call that is made again has other events.
    let told = events(&json!([
        agent(json!([call("c", "x")])),
        result("c", "1"),
        agent(json!([call("c", "x")])),
        result("c", "2")
    ]));
    let responses: Vec<_> = told.iter().filter(|event| event["type"] == "tool.response").collect();
    assert_eq!((&responses[0]["id"], &responses[1]["id"]), (&json!("t:0:c"), &json!("t:1:c")));
    assert_eq!(responses[1]["content"], "2");
}

#[test]
fn blocks_and_roles_that_are_merely_new_are_kept() {
    let audio = json!({"type": "audio", "url": "x"});
    let image = json!({"type": "image", "url": "https://a.example/b.png"});
    let odd = json!({"type": "thinking", "thinking": null});
    let critic = json!({"role": "critic", "content": "No."});
    let told = events(&json!([
        agent(json!([{"type": "text", "text": "a"}, audio, image, odd, 5])),
        critic,
        agent("b"),
        null
    ]));
    assert_eq!(told[0]["content"], "ab");
    let kept: Vec<_> = told[1..]
        .iter()
        .map(|event| (event["wire_type"].clone(), event["raw"].clone(), event.get("problem")))
        .collect();
    let expected = [
        (json!("audio"), audio, None),
        (json!("image"), image, None),
        (json!("thinking"), odd, None),
        (json!(null), json!(5), None),
        (json!("critic"), critic, None),
        (json!(null), json!(null), None),
    ];
    assert_eq!(kept, expected);
}

#[test]
fn calls_and_results_that_are_none_are_kept() {
    let no_name = json!({"type": "tool_use", "toolCallId": "a"});
    let no_call = json!({"role": "tool", "content": "x"});
    let number = json!({"role": "tool", "toolCallId": "b", "content": 5});
    let told =
        events(&json!([agent(json!([no_name, call("b", "mine"), call("b", "mine")])), no_call, number]));
    let kept: Vec<_> = told.iter().filter(|event| event["type"] == "unknown").collect();
    assert_eq!((&kept[0]["raw"], &kept[0]["problem"]), (&no_name, &json!("`name` is missing")));
    assert_eq!(kept[1]["problem"], "the message already has this call");
    assert_eq!(kept[2]["raw"], no_call);
    assert_eq!(
        (&kept[3]["raw"], &kept[3]["problem"]),
        (&number, &json!("`content` is neither a string nor a list of blocks"))
    );
    assert_eq!(
        kinds(&told).iter().filter(|kind| kind.starts_with("tool.")).count(),
        0,
        "the call has its result"
    );
}
