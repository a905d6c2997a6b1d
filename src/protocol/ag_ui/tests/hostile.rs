//! Frames of any content, in any order: no panic, no endless work, and a conversation that can be sent.

use proptest::prelude::*;

use super::*;

const KINDS: [&str; 38] = [
    "RUN_STARTED",
    "RUN_FINISHED",
    "RUN_ERROR",
    "STEP_STARTED",
    "STEP_FINISHED",
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_END",
    "TEXT_MESSAGE_CHUNK",
    "TOOL_CALL_START",
    "TOOL_CALL_ARGS",
    "TOOL_CALL_END",
    "TOOL_CALL_CHUNK",
    "TOOL_CALL_RESULT",
    "STATE_SNAPSHOT",
    "STATE_DELTA",
    "MESSAGES_SNAPSHOT",
    "ACTIVITY_SNAPSHOT",
    "ACTIVITY_DELTA",
    "REASONING_START",
    "REASONING_END",
    "REASONING_MESSAGE_START",
    "REASONING_MESSAGE_CONTENT",
    "REASONING_MESSAGE_END",
    "REASONING_MESSAGE_CHUNK",
    "REASONING_ENCRYPTED_VALUE",
    "SUBAGENT_STARTED",
    "SUBAGENT_FINISHED",
    "SUBAGENT_ERROR",
    "RAW",
    "CUSTOM",
    "THINKING_START",
    "THINKING_END",
    "THINKING_TEXT_MESSAGE_START",
    "THINKING_TEXT_MESSAGE_CONTENT",
    "THINKING_TEXT_MESSAGE_END",
    "NEWER",
    "",
];

fn id() -> impl Strategy<Value = Json> {
    prop_oneof![
        9 => prop::sample::select(vec!["a", "b", "c", "", "main", "on_interrupt", "mine", "assistant", "user", "reasoning"]).prop_map(Json::from),
        1 => prop::sample::select(vec![json!(null), json!(7), json!([]), json!({})]),
    ]
}

fn message() -> impl Strategy<Value = Json> {
    (id(), id(), id(), id(), id()).prop_map(|(id, role, content, call, of)| {
        json!({"id": id, "role": role, "content": content, "toolCallId": of, "toolCalls": [{"id": call, "type": "function", "function": {"name": "mine", "arguments": "{}"}}]})
    })
}

/// A frame with any fields that some frame has.
pub(super) fn any_frame() -> impl Strategy<Value = Json> {
    let ids = prop::collection::vec((0..FIELDS.len(), id()), 0..8);
    let messages = prop::collection::vec(message(), 0..4);
    (prop::sample::select(KINDS.to_vec()), ids, messages, 0..4_u8).prop_map(|(kind, ids, messages, outcome)| {
        let mut frame = json!({"type": kind});
        for (field, id) in ids {
            frame[FIELDS[field]] = id;
        }
        frame["messages"] = messages.into();
        if kind == "STATE_DELTA" || kind == "ACTIVITY_DELTA" {
            frame["delta"] = json!([{"op": "add", "path": "/a", "value": 1}]);
            frame["patch"] = json!([{"op": "remove", "path": "/a"}]);
        }
        match outcome {
            1 => frame["outcome"] = json!({"type": "interrupt", "interrupts": [{"id": "i", "reason": "x", "toolCallId": "a"}, {"id": "a"}, 7]}),
            2 => frame["outcome"] = json!({"type": "success", "pendingToolCallIds": ["a", 7]}),
            _ => {}
        }
        frame
    })
}

const FIELDS: [&str; 18] = [
    "messageId",
    "toolCallId",
    "toolCallName",
    "parentMessageId",
    "delta",
    "role",
    "name",
    "subagentRunId",
    "content",
    "value",
    "snapshot",
    "entityId",
    "subtype",
    "encryptedValue",
    "activityType",
    "message",
    "stepName",
    "metadata",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn any_frames_make_events_and_a_conversation(frames in prop::collection::vec(any_frame(), 0..40)) {
        let turn = Turn::new().feed(&frames).end();
        prop_assert!(turn.seen.of("turn.done").len() <= 1);
        if frames.is_empty() {
            return Ok(());
        }
        let next = sent(&json!([{"type": "user.message", "content": "Next"}]), &json!({"conversation": turn.kept()}));
        let next = next.expect("a request");
        let messages = next["messages"].as_array().expect("messages");
        prop_assert!(messages.iter().all(|message| message["role"] != "activity"));
        let mut answered: Vec<&Json> = messages.iter().map(|message| &message["toolCallId"]).collect();
        answered.retain(|id| !id.is_null());
        let calls = messages.iter().flat_map(|message| message["toolCalls"].as_array().into_iter().flatten());
        for call in calls {
            prop_assert!(answered.contains(&&call["id"]), "{call}");
        }
    }
}

#[test]
fn very_many_messages_and_calls_take_little_time() {
    let begin = std::time::Instant::now();
    let mut frames = Vec::new();
    for number in 0..4_000 {
        frames.extend(calls(&format!("c{number}"), "mine", "{}", &format!("m{number}")));
        frames.push(result(&format!("r{number}"), &format!("c{number}"), "1"));
    }
    let turn = run(&frames);
    assert_eq!(turn.seen.index.messages().len(), 4_000);
    assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
}

#[test]
fn a_message_has_so_many_calls_and_no_more() {
    let frames: Vec<Json> = (0..1100)
        .map(|number| {
            let mut start = frame("TOOL_CALL_START", &format!("c{number}"), "f");
            start["parentMessageId"] = "m".into();
            start
        })
        .collect();
    let turn = run(&frames);
    assert_eq!(turn.seen.index.message("m").map(|message| message.calls().len()), Some(1024));
    assert_eq!(turn.seen.of("unknown").len(), 1100 - 1024);
}
