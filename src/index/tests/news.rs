//! Output of running calls, and notices of the turn.

use serde_json::{Value as Json, json};

use super::super::EventIndex;
use crate::event::EventRef;
use crate::json::Value;

fn apply(index: &mut EventIndex, event: &Json) {
    let text = event.to_string();
    let json = Value::parse(&text).expect("JSON");
    index.apply(EventRef::of(json.as_object().expect("an object")));
}

fn with_a_call() -> EventIndex {
    let mut index = EventIndex::new();
    let call = json!({"id": "c", "function": {"name": "sh", "arguments": "{}"}});
    apply(
        &mut index,
        &json!({"type": "model.message", "id": "m", "thread_id": "main", "tool_calls": [call]}),
    );
    index
}

fn put_out(index: &mut EventIndex, stream: &str, delta: &str) {
    let event = json!({"type": "tool.output", "thread_id": "main", "tool_call_id": "c", "stream": stream, "delta": delta});
    apply(index, &event);
}

fn output<'i>(index: &'i EventIndex, stream: &str) -> Option<&'i str> {
    index.message("m").expect("a message").call("c").expect("a call").output(stream)
}

#[test]
fn output_is_told_by_its_stream() {
    let mut index = with_a_call();
    index.take_changes(&mut |_, _, _| ());
    put_out(&mut index, "stdout", "a");
    put_out(&mut index, "stderr", "b");
    put_out(&mut index, "stdout", "c");
    assert_eq!(
        (output(&index, "stdout"), output(&index, "stderr"), output(&index, "x")),
        (Some("ac"), Some("b"), None)
    );
    let changes = index.take_changes(&mut |_, _, _| ()).expect("a change");
    let changes: Json = serde_json::from_str(&changes).expect("JSON");
    assert_eq!(changes["messages"][0]["tool_calls"][0]["output"], json!({"stdout": "ac", "stderr": "b"}));
    let whole = json!({"type": "tool.output", "thread_id": "main", "tool_call_id": "c", "stream": "stdout", "delta": "ac", "replace": true});
    apply(&mut index, &whole);
    // After the message is replaced, the output is still there.
    let call = json!({"id": "c", "function": {"name": "sh", "arguments": "{}"}});
    let message = json!({"type": "model.message", "id": "m", "thread_id": "main", "tool_calls": [call], "finish_reason": "tool_calls"});
    apply(&mut index, &message);
    assert_eq!(output(&index, "stdout"), Some("ac"));
    let other = json!({"type": "tool.output", "thread_id": "main", "tool_call_id": "x", "stream": "stdout", "delta": "x"});
    apply(&mut index, &other);
}

#[test]
fn of_much_output_the_end_is_kept() {
    let mut index = with_a_call();
    for _ in 0..100 {
        put_out(&mut index, "stdout", &"é".repeat(1000));
    }
    put_out(&mut index, "stdout", "end");
    let kept = output(&index, "stdout").expect("output");
    assert!(kept.ends_with("éend") && (30_000..=66_000).contains(&kept.len()), "{}", kept.len());
    for stream in 0..100 {
        put_out(&mut index, &stream.to_string(), "x");
    }
    assert!(
        output(&index, "stdout").is_some()
            && output(&index, "99").is_some()
            && output(&index, "50").is_none()
    );
}

#[test]
fn the_last_news_are_kept() {
    let mut index = EventIndex::new();
    for number in 0..300 {
        apply(
            &mut index,
            &json!({"type": "notice", "id": number.to_string(), "level": "info", "code": "c", "message": ""}),
        );
    }
    let ids: Vec<Json> = index
        .notices()
        .map(|notice| serde_json::from_str::<Json>(notice).expect("JSON")["id"].clone())
        .collect();
    assert_eq!((ids.len(), &ids[0], &ids[255]), (256, &json!("44"), &json!("299")));
    let changes = index.take_changes(&mut |_, _, _| ()).expect("a change");
    let changes: Json = serde_json::from_str(&changes).expect("JSON");
    assert_eq!(changes["turn"]["notices"].as_array().map(Vec::len), Some(256));
}
