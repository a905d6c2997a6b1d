//! Chunks: what begins, continues and ends them (section 3.2).

use super::*;

fn chunk(kind: &str, fields: Json) -> Json {
    let mut chunk = fields;
    chunk["type"] = format!("{kind}_CHUNK").into();
    chunk
}

fn text(id: &str, delta: &str) -> Json {
    let id = if id.is_empty() { json!({}) } else { json!({"messageId": id}) };
    let mut chunk = chunk("TEXT_MESSAGE", id);
    chunk["delta"] = delta.into();
    chunk
}

#[test]
fn chunks_of_one_message_go_on() {
    let turn = run(&[
        text("m", "He"),
        text("", "llo"),
        text("m", "!"),
        chunk("TEXT_MESSAGE", json!({"metadata": {"a": 1}})),
    ]);
    assert_eq!(turn.shown(), ["m: Hello!"]);
    assert_eq!(turn.kept_messages()[0]["metadata"], json!({"a": 1}));
    assert_eq!(warnings(&turn.seen), [""; 0]);
}

#[test]
fn another_id_begins_another_message() {
    let turn = run(&[text("m", "A"), text("n", "B"), text("m", "C")]);
    assert_eq!(turn.shown(), ["m: AC", "n: B"]);
}

/// Whether a chunk without an id still continues after this frame.
fn goes_on_after(between: &Json) -> bool {
    let turn = run(&[text("m", "A"), between.clone(), text("", "B")]);
    let has_failed = turn.seen.of("unknown").iter().any(|event| event["problem"] == "`messageId` is missing");
    assert_eq!(turn.shown().contains(&"m: AB".to_owned()), !has_failed, "{between}");
    !has_failed
}

#[test]
fn some_frames_end_what_chunks_began() {
    let closers = [
        json!({"type": "STEP_STARTED", "stepName": "s"}),
        json!({"type": "STEP_FINISHED", "stepName": "s"}),
        json!({"type": "STATE_SNAPSHOT", "snapshot": 1}),
        json!({"type": "STATE_DELTA", "delta": []}),
        json!({"type": "CUSTOM", "name": "x", "value": 1}),
        json!({"type": "MESSAGES_SNAPSHOT", "messages": []}),
        frame("REASONING_START", "r", ""),
        frame("TOOL_CALL_START", "c", "f"),
        result("r", "c", "1"),
        chunk("TOOL_CALL", json!({"toolCallId": "c", "toolCallName": "f"})),
        chunk("REASONING_MESSAGE", json!({"messageId": "r", "delta": "Hm"})),
        frame("TEXT_MESSAGE_START", "n", ""),
    ];
    for closer in &closers {
        assert!(!goes_on_after(closer), "{closer}");
    }
    let others = [
        json!({"type": "RAW", "event": 1}),
        json!({"type": "ACTIVITY_SNAPSHOT", "messageId": "a", "activityType": "x", "content": {}}),
        json!({"type": "ACTIVITY_DELTA", "messageId": "a", "activityType": "x", "patch": []}),
        json!({"type": "REASONING_ENCRYPTED_VALUE", "subtype": "message", "entityId": "m", "encryptedValue": "e"}),
        json!({"type": "SUBAGENT_STARTED", "subagentRunId": "s1", "name": "x"}),
        json!({"type": "TEXT_MESSAGE_CHUNK", "messageId": "o", "delta": "x", "subagentRunId": "s1"}),
    ];
    for other in &others {
        assert!(goes_on_after(other), "{other}");
    }
}

#[test]
fn chunks_that_could_be_several_are_not_guessed() {
    let of = |id: &str, lane: &str| json!({"type": "TEXT_MESSAGE_CHUNK", "messageId": id, "delta": "x", "subagentRunId": lane});
    let turn = run(&[of("a", "s1"), of("b", "s2"), text("", "?")]);
    assert_eq!(turn.seen.of("unknown")[0]["problem"], "it may belong to several messages");
    let only = run(&[of("a", "s1"), text("", "!")]);
    assert_eq!(only.shown(), ["a: x!"]);
}

#[test]
fn the_first_chunk_of_a_call_needs_its_name() {
    let turn = run(&[chunk("TOOL_CALL", json!({"toolCallId": "c", "delta": "{"}))]);
    assert_eq!(turn.seen.of("unknown")[0]["problem"], "`toolCallName` is missing");
    let begun = chunk("TOOL_CALL", json!({"toolCallId": "c", "toolCallName": "f", "delta": "{"}));
    let renamed = chunk("TOOL_CALL", json!({"toolCallName": "g", "delta": "}"}));
    let turn = run(&[begun, renamed]);
    assert_eq!(
        (turn.shown(), warnings(&turn.seen)),
        (vec!["c: f({})".to_owned()], vec!["conflicting_chunk"])
    );
}
