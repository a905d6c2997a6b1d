//! Messages as events: what the servers answered.

use serde_json::{Value as Json, json};

use super::answers::{BOTH, answer, tirea};
use crate::event::{Event, SessionEvent, ThreadMessage};
use crate::protocol::Call;
use crate::protocol::agent_event::Dialect;

/// The result of the tool in [`messages_with_a_tool`], as the server keeps it.
const RESULT: &str = r#"{"tool_name":"serverInfo","status":"success","data":{"server":"tirea-agentos","timestamp":1795255327},"message":null,"metadata":{}}"#;

/// The messages of a run with a tool, as tirea 0.5.0 answered them.
fn messages_with_a_tool() -> Json {
    json!({"has_more": false, "messages": [
        {"content": "TOOL please", "cursor": 0, "role": "user"},
        {"content": "", "cursor": 1, "id": "01a1fd8e-5947", "metadata": {"step_index": 0}, "role": "assistant",
         "tool_calls": [{"arguments": {"a": [2], "b": 1}, "id": "call_1", "name": "serverInfo"}]},
        {"content": RESULT, "cursor": 2, "id": "01a1fd8e-598d", "metadata": {"step_index": 0}, "role": "tool",
         "tool_call_id": "call_1"},
        {"content": "Tool said: …", "cursor": 3, "id": "01a1fd8e-5999", "metadata": {"step_index": 1},
         "role": "assistant"},
    ], "next_cursor": 3, "prev_cursor": 0})
}

fn created(id: &str, turn_id: &str, contents: &[&str]) -> Json {
    let input: Vec<Json> =
        contents.iter().map(|content| json!({"type": "user.message", "content": content})).collect();
    json!({"type": "turn.created", "id": id, "turn_id": turn_id, "previous_turn_id": null, "thread_id": null,
           "input": input, "state": {"status": "running"}})
}

fn said(id: &str, content: &str) -> Json {
    json!({"type": "model.message", "id": id, "thread_id": "main", "content": content, "finish_reason": "stop"})
}

#[test]
fn section_2_messages_are_events() {
    let call = json!({"id": "call_1", "type": "function",
                      "function": {"name": "serverInfo", "arguments": "{\"a\":[2],\"b\":1}"}});
    let expected = [
        created("message:0", "message:0", &["TOOL please"]),
        json!({"type": "model.message", "id": "01a1fd8e-5947", "thread_id": "main", "content": "",
               "tool_calls": [call], "finish_reason": "tool_calls"}),
        json!({"type": "tool.response", "id": "01a1fd8e-598d", "thread_id": "main", "tool_call_id": "call_1",
               "content": RESULT, "outcome": "succeeded",
               "result": serde_json::from_str::<Json>(RESULT).expect("JSON")}),
        said("01a1fd8e-5999", "Tool said: …"),
    ];
    let found = tirea(Call::ListTurnEvents, &messages_with_a_tool());
    assert_eq!(found, json!({"items": expected, "next": null}));
    for event in expected.iter().cloned() {
        let event: Event = serde_json::from_value(event).expect("an event");
        assert!(!matches!(event, Event::Unknown(_)));
    }
    let found = tirea(Call::ListSessionEvents, &messages_with_a_tool());
    for (item, event) in found["items"].as_array().expect("items").iter().zip(&expected) {
        assert_eq!(*item, json!({"turn_id": "message:0", "event": event}));
        serde_json::from_value::<SessionEvent>(item.clone()).expect("an entry");
    }
    // The content keeps the order of its members: it is what the agent reads.
    assert_eq!(found["items"][2]["event"]["content"], RESULT);

    let found = tirea(Call::ListMessages, &messages_with_a_tool());
    assert_eq!(found, json!({"items": messages_with_a_tool()["messages"], "next": null}));
    for message in found["items"].as_array().expect("items") {
        serde_json::from_value::<ThreadMessage>(message.clone()).expect("a message");
    }
}

/// A whole thread as tirea 0.5.0 answered it: its messages have no place there, and the first has no id.
#[test]
fn section_2_a_captured_thread() {
    let text = include_str!("../../../../tests/fixtures/agent-event/tirea/tool-thread.json");
    let thread: Json = serde_json::from_str(text).expect("JSON");
    let session = tirea(Call::GetSession, &thread);
    assert_eq!((&session["id"], &session["required_actions"]), (&json!("thread-tool-1"), &json!([])));
    assert_eq!(tirea(Call::GetSessionState, &thread), json!({"state": {}}));

    let found = entries(Dialect::Tirea, &thread["messages"]);
    let kept = thread["messages"].as_array().expect("messages");
    assert_eq!(found.len(), kept.len());
    for ((_, event), message) in found.iter().zip(kept).skip(1) {
        assert_eq!((&event["id"], &event["content"]), (&message["id"], &message["content"]));
    }
    let types: Vec<&Json> = found.iter().map(|(_, event)| &event["type"]).collect();
    assert_eq!(types, ["turn.created", "model.message", "tool.response", "model.message"]);
    assert_eq!(found[2].1["result"]["data"]["server"], "tirea-agentos");
}

fn page_of(messages: &Json) -> Json {
    json!({"messages": messages, "has_more": false})
}

/// The turn and the kind of each entry of a page.
fn entries(dialect: Dialect, messages: &Json) -> Vec<(String, Json)> {
    let found = answer(dialect, Call::ListSessionEvents, &page_of(messages)).expect("a list");
    let items = found["items"].as_array().expect("items").iter();
    items.map(|item| (item["turn_id"].as_str().expect("a text").to_owned(), item["event"].clone())).collect()
}

/// Messages of this client are named after their turn; messages of others are not.
#[test]
fn turns_are_told_by_their_messages() {
    let messages = json!([
        {"content": "late", "cursor": 4, "id": "m0", "role": "assistant"},
        {"content": "a", "cursor": 5, "id": "turn:1:0", "role": "user"},
        {"content": "b", "cursor": 6, "id": "turn:1:1", "role": "user"},
        {"content": "c", "cursor": 7, "id": "m1", "role": "assistant"},
        {"content": "d", "cursor": 8, "id": "other", "role": "user"},
        {"content": "e", "cursor": 9, "id": "m2", "role": "assistant"},
        {"content": "f", "cursor": 10, "role": "user"},
        {"content": "g", "cursor": 11, "id": ":7", "role": "user"},
        {"content": "h", "cursor": 12, "id": "x7", "role": "user"},
        {"content": "i", "cursor": 13, "id": "x:", "role": "user"},
    ]);
    let expected = [
        ("", said("m0", "late")),
        ("turn:1", created("turn:1:0", "turn:1", &["a", "b"])),
        ("turn:1", said("m1", "c")),
        ("message:other", created("other", "message:other", &["d"])),
        ("message:other", said("m2", "e")),
        ("message:10", created("message:10", "message:10", &["f"])),
        ("message::7", created(":7", "message::7", &["g"])),
        ("message:x7", created("x7", "message:x7", &["h"])),
        ("message:x:", created("x:", "message:x:", &["i"])),
    ];
    let mut expected: Vec<_> = expected.into_iter().map(|(turn, event)| (turn.to_owned(), event)).collect();
    assert_eq!(entries(Dialect::Tirea, &messages), expected);

    // The newest first: the same, backwards.
    let mut reversed = messages.as_array().expect("a list").clone();
    reversed.reverse();
    expected.reverse();
    assert_eq!(entries(Dialect::Tirea, &reversed.into()), expected);
}

/// awaken says which run made a message, though not of messages that it was given (section 5).
#[test]
fn section_5_messages_are_events() {
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let of_run = |run: &str| json!({"run_id": run, "step_index": 0});
    let messages = json!([
        {"id": "01a", "role": "user", "content": text("fails at once")},
        {"id": "01b", "role": "user", "content": text("WEATHER")},
        {"id": "01c", "role": "assistant", "metadata": of_run("r1"), "content":
            [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Check"}, {"type": "text", "text": "ing."}],
         "tool_calls": [{"id": "c1", "name": "get_weather", "arguments": {"location": "Tokyo ☃"}}]},
        {"id": "01d", "role": "tool", "metadata": of_run("r1"), "tool_call_id": "c1",
         "content": text("Tool 'get_weather' suspended: awaiting decision")},
        {"id": "01e", "role": "tool", "metadata": of_run("r1"), "tool_call_id": "c1",
         "content": text("Tool 'get_weather' suspended: awaiting approval")},
        {"id": "01f", "role": "tool", "metadata": of_run("r1"), "tool_call_id": "c1",
         "content": text("{\"condition\":\"Sunny\"}")},
        {"id": "01g", "role": "assistant", "metadata": of_run("r2"), "content": text("Sunny.")},
    ]);
    let call = json!({"id": "c1", "type": "function",
                      "function": {"name": "get_weather", "arguments": "{\"location\":\"Tokyo ☃\"}"}});
    let expected = [
        ("message:01a", created("01a", "message:01a", &["fails at once"])),
        ("r1", created("01b", "r1", &["WEATHER"])),
        (
            "r1",
            json!({"type": "model.message", "id": "01c", "thread_id": "main", "content": "Checking.",
                   "reasoning_content": "hm", "tool_calls": [call], "finish_reason": "tool_calls"}),
        ),
        (
            "r1",
            json!({"type": "tool.response", "id": "01f", "thread_id": "main", "tool_call_id": "c1",
                   "content": "{\"condition\":\"Sunny\"}"}),
        ),
        ("r2", said("01g", "Sunny.")),
    ];
    let mut expected: Vec<_> = expected.into_iter().map(|(turn, event)| (turn.to_owned(), event)).collect();
    assert_eq!(entries(Dialect::Awaken, &messages), expected);
    for (_, event) in &expected {
        serde_json::from_value::<Event>(event.clone()).expect("an event");
    }
    let mut reversed = messages.as_array().expect("a list").clone();
    reversed.reverse();
    expected.reverse();
    assert_eq!(entries(Dialect::Awaken, &reversed.into()), expected);
}

/// Sections 2.2 and 2.3.
#[test]
fn what_is_not_for_users_is_left_out() {
    let interrupted = |how: &str| {
        format!("The previous run was interrupted {how}. Please continue from the current context.")
    };
    let messages = json!([
        {"content": "be kind", "cursor": 0, "role": "system"},
        {"content": "hidden", "cursor": 1, "role": "user", "visibility": "internal"},
        {"content": interrupted("during inference"), "cursor": 2, "id": "m2", "role": "user"},
        {"content": interrupted("while using tools"), "cursor": 3, "id": "m3", "role": "user"},
        {"content": "Tool 'serverInfo' is awaiting approval. Execution paused.", "cursor": 4, "id": "m4",
         "role": "tool", "tool_call_id": "call_1"},
        {"content": "{\"status\":\"success\"}", "cursor": 5, "id": "m5", "role": "tool", "tool_call_id": "call_1"},
        {"content": "[1]", "cursor": 6, "id": "m6", "role": "tool", "tool_call_id": "call_1"},
        {"content": "{\"tool_name\":\"x\",\"status\":\"pending\"}", "cursor": 7, "id": "m7", "role": "tool",
         "tool_call_id": "call_1"},
        {"content": "The previous run was interrupted by me.", "cursor": 8, "id": "t:0", "role": "user"},
    ]);
    let expected = created("t:0", "t", &["The previous run was interrupted by me."]);
    assert_eq!(entries(Dialect::Tirea, &messages), [("t".to_owned(), expected)]);
}

#[test]
fn the_outcome_of_a_tool_is_that_of_its_result() {
    let outcomes = [("success", "succeeded"), ("warning", "succeeded"), ("error", "failed")];
    for (status, outcome) in outcomes {
        let result =
            json!({"tool_name": "t", "status": status, "data": null, "message": "m", "metadata": {}});
        let message = json!({"content": result.to_string(), "cursor": 0, "id": "m", "role": "tool", "tool_call_id": "c"});
        let found = entries(Dialect::Tirea, &json!([message]));
        assert_eq!((&found[0].1["outcome"], &found[0].1["result"]), (&json!(outcome), &result));
    }
}

/// Nothing is dropped in silence: a newer role is an event that is not known.
#[test]
fn a_role_that_is_new() {
    for (role, wire_type) in [(json!("critic"), json!("critic")), (json!(5), Json::Null)] {
        let message = json!({"content": "x", "cursor": 0, "role": role});
        let found = entries(Dialect::Tirea, &json!([message]));
        assert_eq!(found[0].1, json!({"type": "unknown", "wire_type": wire_type, "raw": message}));
        serde_json::from_value::<Event>(found[0].1.clone()).expect("an event");
    }
}

#[test]
fn pages_of_messages() {
    let message = json!({"content": "x", "cursor": 3, "id": "m", "role": "user"});
    let cases = [
        (json!({"messages": [message], "has_more": true, "next_cursor": 3, "prev_cursor": 3}), json!("3")),
        (json!({"messages": [message], "has_more": true, "next_cursor": "msg_x"}), json!("msg_x")),
        (json!({"messages": [message], "has_more": false, "next_cursor": 3}), Json::Null),
        (json!({"messages": [message], "next_cursor": 3}), Json::Null),
        (json!({"messages": [message], "has_more": true}), Json::Null),
        (json!({"messages": [message], "has_more": true, "next_cursor": null}), Json::Null),
        // A page without messages would be asked for again and again.
        (json!({"messages": [], "has_more": true, "next_cursor": 3}), Json::Null),
        (json!({"messages": [], "has_more": false}), Json::Null),
    ];
    for (page, next) in cases {
        for call in [Call::ListTurnEvents, Call::ListSessionEvents, Call::ListMessages] {
            for dialect in BOTH {
                assert_eq!(answer(dialect, call, &page).expect("a page")["next"], next, "{page}");
            }
        }
    }
}
