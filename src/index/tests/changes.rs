//! The contents of one set of changes: only what changed, with text as appended pieces.

use serde_json::{Value as Json, json};

use super::mirror::{Taken, take};
use super::{arguments, base, call, content, feed, finish, index_of, reasoning, response, thread_created};
use crate::event::TextField;
use crate::index::{EventIndex, Message};
use crate::json::Value;

fn keys(document: &Json) -> Vec<&str> {
    document.as_object().map(|members| members.keys().map(String::as_str).collect()).unwrap_or_default()
}

fn taken(index: &mut EventIndex, events: &[Json]) -> Taken {
    feed(index, events);
    take(index)
}

fn pieces(taken: &Taken) -> Vec<(usize, TextField, &str)> {
    taken.pieces.iter().map(|(slot, field, text)| (*slot, *field, &**text)).collect()
}

#[test]
fn the_first_taking_says_everything() {
    let mut index = EventIndex::new();
    let taken = take(&mut index);
    assert_eq!(keys(&taken.document), ["messages", "threads", "turn"]);
    assert_eq!(
        taken.document["turn"],
        json!({"required_actions": [], "mcp_servers": [], "sandbox_id": null})
    );
    assert_eq!(take(&mut index).document, Json::Null, "and then nothing");
}

/// The hot path: the document is empty, and the text is the appended piece.
#[test]
fn deltas_of_a_known_message_are_pieces_only() {
    let mut index = index_of(&[base("main", "m"), content("main", "m", "a"), call("main", "m", 0, "c", "f")]);
    take(&mut index);
    let taken = taken(
        &mut index,
        &[
            content("main", "m", "b"),
            reasoning("main", "m", "why"),
            content("main", "m", "c\u{1f600}"),
            arguments("main", "m", 0, "{"),
            arguments("main", "m", 0, "}"),
            content("main", "m", ""),
        ],
    );
    assert_eq!(taken.document, json!({"messages": []}));
    let expected = [
        (0, TextField::Content, "bc\u{1f600}"),
        (0, TextField::Reasoning, "why"),
        (0, TextField::Arguments(0), "{}"),
    ];
    assert_eq!(pieces(&taken), expected);
}

#[test]
fn only_changed_messages_are_said_again() {
    let mut index =
        index_of(&[content("main", "m0", "a"), content("main", "m1", "b"), content("main", "m2", "c")]);
    take(&mut index);
    let taken = taken(&mut index, &[finish("main", "m1", "stop"), content("main", "m2", "d")]);
    let messages = taken.document["messages"].as_array().expect("a list");
    assert_eq!(messages.len(), 1);
    assert_eq!((&messages[0]["slot"], &messages[0]["finish_reason"]), (&json!(1), &json!("stop")));
    assert_eq!(messages[0]["reset"], false, "its text goes on");
    assert_eq!(pieces(&taken), [(2, TextField::Content, "d")]);
}

#[test]
fn a_message_says_all_but_its_texts() {
    let mut whole = base("main", "m");
    whole["name"] = json!("bot");
    whole["content"] = json!([{"type": "text", "text": "a"}, {"type": "refusal", "refusal": "no"}]);
    let mut index = index_of(&[whole, call("main", "m", 0, "c", "f"), finish("main", "m", "tool_calls")]);
    let taken = take(&mut index);
    let expected = json!({
        "slot": 0, "reset": true, "id": "m", "thread_id": "main", "created_at": "2026-07-01T10:00:00Z",
        "name": "bot", "refusal": "no", "finish_reason": "tool_calls",
        "usage": {"input_tokens": 1, "output_tokens": 2},
        "tool_calls": [{
            "id": "c", "name": "shown f", "tool_info": {"type": "truefoundry-system", "name": "shown f"},
            "status": "running", "thread_id": null, "response": null
        }]
    });
    assert_eq!(taken.document["messages"], json!([expected]));
    assert_eq!(pieces(&taken), [(0, TextField::Content, "a")]);
}

/// A message that starts over has its whole text.
#[test]
fn a_replaced_text_is_a_reset() {
    let mut index = index_of(&[base("main", "m"), content("main", "m", "streamed")]);
    take(&mut index);
    let mut whole = base("main", "m");
    whole["content"] = json!("listed");
    whole["reasoning_content"] = json!("why");
    whole["finish_reason"] = json!("stop");
    let replaced = taken(&mut index, &[whole, content("main", "m", "!")]);
    assert_eq!(replaced.document["messages"][0]["reset"], true);
    assert_eq!(pieces(&replaced), [(0, TextField::Content, "listed!"), (0, TextField::Reasoning, "why")]);
    let after = taken(&mut index, &[finish("main", "m", "stop")]);
    assert_eq!(after.document["messages"][0]["reset"], false, "once");
}

#[test]
fn threads_and_the_turn_are_said_when_they_change() {
    let mut index = EventIndex::new();
    take(&mut index);
    let cases = [
        (json!({"type": "sandbox.created", "sandbox_id": "s"}), "/turn/sandbox_id", json!("s")),
        (
            json!({"type": "mcp.initialize", "mcp_servers": [{"id": "a", "name": "n"}]}),
            "/turn/mcp_servers/0/id",
            json!("a"),
        ),
        (thread_created("t1", "main", "c"), "/threads/1/id", json!("t1")),
        (response("main", "x", "kept"), "/threads/0/tool_responses/0/content", json!("kept")),
    ];
    for (event, pointer, expected) in cases {
        let taken = taken(&mut index, &[event]);
        assert_eq!(taken.document.pointer(pointer), Some(&expected), "{}", taken.document);
    }
}

/// The server's newest status counts, in the order of statuses.
#[test]
fn servers_are_listed_once() {
    let initialize = |id: &str, session: &str| json!({"type": "mcp.initialize", "mcp_servers": [{"id": id, "name": id, "session_id": session}]});
    let mut index = index_of(&[initialize("a", "1"), initialize("b", "2"), initialize("a", "3")]);
    let servers = take(&mut index).document["turn"]["mcp_servers"].clone();
    let found: Vec<_> = servers
        .as_array()
        .expect("a list")
        .iter()
        .map(|server| (&server["id"], &server["session_id"]))
        .collect();
    assert_eq!(found, [(&json!("b"), &json!("2")), (&json!("a"), &json!("3"))]);
}

/// Unknown events, and events without index data, change nothing.
#[test]
fn what_says_nothing_changes_nothing() {
    let mut index = EventIndex::new();
    take(&mut index);
    feed(
        &mut index,
        [
            &json!({"type": "turn.created", "turn_id": "t"}),
            &json!({"type": "turn.paused"}),
            &json!({"type": "tool.response", "tool_call_id": 5}),
        ],
    );
    assert!(!index.has_changes());
}

/// Released text can still be compared by what is left of it.
#[test]
fn text_that_is_given_away_is_not_kept() {
    let mut index =
        index_of(&[base("main", "m"), content("main", "m", "one "), reasoning("main", "m", "why")]);
    index.release_taken_text();
    take(&mut index);
    feed(&mut index, &[content("main", "m", "two")]);
    let message = index.message("m").expect("it came");
    assert_eq!((message.content(), message.reasoning()), ("two", ""));
    let says = |content: &str, reasoning: &str| {
        let json = json!({"id": "m", "content": content, "reasoning_content": reasoning}).to_string();
        let whole = Value::parse(&json).expect("JSON");
        message.has_same_text(&Message::from_base(whole.as_object().expect("an object")))
    };
    assert!(says("one two", "why"));
    assert!(!says("one two three", "why") && !says("one", "why") && !says("one two", ""));
}

/// Text that comes before its message's beginning is placed after it, and taken again.
#[test]
fn text_before_its_base_is_kept() {
    let mut index = index_of(&[content("main", "m", "world")]);
    index.release_taken_text();
    take(&mut index);
    let mut begun = base("main", "m");
    begun["content"] = json!("hello ");
    let taken = taken(&mut index, &[begun]);
    assert_eq!(pieces(&taken), [(0, TextField::Content, "hello world")]);
}
