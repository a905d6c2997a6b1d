//! Messages, reasoning and calls, also of servers that break the order (sections 3.1 and 11).

use super::*;

#[test]
fn a_message_is_shown_with_its_first_text_or_call() {
    let turn = run(&[says("m", "Hello").as_slice(), &says("e", ""), &calls("c", "f", "{}", "e")].concat());
    assert_eq!(turn.shown(), ["m: Hello", "e: f({})"]);
    assert_eq!(warnings(&turn.seen), [""; 0]);
    let empty = run(&says("m", ""));
    assert_eq!(empty.shown(), [""; 0], "no empty bubble");
    assert!(empty.kept_messages().is_empty(), "an empty message is not sent");
}

#[test]
fn what_follows_reasoning_continues_its_message() {
    let thinks = |id: &str, text: &str| {
        vec![
            frame("REASONING_START", "span", ""),
            json!({"type": "REASONING_MESSAGE_START", "messageId": id, "role": "reasoning"}),
            frame("REASONING_MESSAGE_CONTENT", id, text),
            frame("REASONING_MESSAGE_END", id, ""),
            frame("REASONING_END", "span", ""),
        ]
    };
    let turn = run(&[thinks("r", "Hm."), says("m", "Yes")].concat());
    assert_eq!(turn.shown(), ["m: [Hm.] Yes"]);
    let roles: Vec<Json> = turn.kept_messages().iter().map(|message| message["role"].clone()).collect();
    assert_eq!(roles, ["reasoning", "assistant"]);
    let same = run(&[thinks("m", "Hm."), says("m", "Yes")].concat());
    assert_eq!(same.shown(), ["m: [Hm.] Yes"], "the same id twice");
    let call = run(&[thinks("r", "Hm."), calls("c", "f", "{}", "")].concat());
    assert_eq!(call.shown(), ["c: [Hm.] f({})"]);
    let two = run(&[thinks("r", "One."), thinks("q", "Two."), says("m", "Yes")].concat());
    assert_eq!(two.shown(), ["r: [One.]", "m: [Two.] Yes"]);
    let open = [
        vec![frame("TEXT_MESSAGE_START", "m", ""), frame("TEXT_MESSAGE_CONTENT", "m", "A")],
        thinks("r", "Hm."),
        vec![frame("TEXT_MESSAGE_CONTENT", "m", "B"), frame("TEXT_MESSAGE_END", "m", "")],
        says("n", "C"),
    ];
    assert_eq!(run(&open.concat()).shown(), ["m: AB", "r: [Hm.]", "n: C"], "reasoning inside of a text");
}

#[test]
fn encrypted_values_are_kept_for_the_server() {
    let value = |kind: &str, id: &str| json!({"type": "REASONING_ENCRYPTED_VALUE", "subtype": kind, "entityId": id, "encryptedValue": "enc"});
    let turn = run(&[
        vec![
            json!({"type": "REASONING_MESSAGE_START", "messageId": "r", "role": "reasoning"}),
            frame("REASONING_MESSAGE_END", "r", ""),
            value("message", "r"),
        ],
        says("m", "Yes"),
        calls("c", "f", "{}", "m"),
        vec![
            value("tool-call", "c"),
            result("x", "c", "1"),
            value("message", "x"),
            value("message", "nothing"),
        ],
    ]
    .concat());
    let kept = turn.kept_messages();
    assert_eq!(kept[0]["encryptedValue"], "enc");
    assert_eq!(kept[1]["toolCalls"][0]["encryptedValue"], "enc");
    assert_eq!(kept[2]["encryptedValue"], "enc");
    let encrypted: Vec<_> = turn
        .seen
        .of("model.message.delta")
        .iter()
        .map(|event| event["reasoning_encrypted"].clone())
        .filter(|value| !value.is_null())
        .collect();
    assert_eq!(encrypted, ["enc"]);
    assert_eq!(warnings(&turn.seen), ["value_of_unknown"]);
}

#[test]
fn a_call_that_begins_again_begins_its_arguments_anew() {
    let turn = run(&[calls("c", "f", r#"{"a":1}"#, "m"), calls("c", "f", r#"{"a":2}"#, "m")].concat());
    assert_eq!(turn.shown(), [r#"m: f({"a":2})"#]);
    assert_eq!(turn.kept_messages()[0]["toolCalls"][0]["function"]["arguments"], r#"{"a":2}"#);
    // One server repeats starts and ends, but not the arguments.
    let start = frame("TOOL_CALL_START", "c", "f");
    let end = frame("TOOL_CALL_END", "c", "");
    let arguments = frame("TOOL_CALL_ARGS", "c", "{}");
    let turn = run(&[start.clone(), arguments, start, end.clone(), end]);
    assert_eq!(turn.shown(), ["c: f({})"]);
    assert_eq!(warnings(&turn.seen), ["start_of_open", "end_without_start"]);
}

#[test]
fn what_breaks_the_order_is_told_once_and_read() {
    let turn = run(&[
        frame("TEXT_MESSAGE_CONTENT", "m", "A"),
        frame("TEXT_MESSAGE_END", "m", ""),
        frame("TEXT_MESSAGE_CONTENT", "m", "B"),
        frame("TEXT_MESSAGE_END", "m", ""),
        frame("TEXT_MESSAGE_END", "none", ""),
        frame("TOOL_CALL_END", "none", ""),
        frame("TOOL_CALL_ARGS", "c", "{}"),
        result("r", "unknown", "1"),
        started(),
    ]);
    assert_eq!(turn.shown(), ["m: AB", "c: ({})"]);
    let expected = [
        "content_without_start",
        "end_without_start",
        "arguments_without_start",
        "result_of_unknown",
        "run_in_run",
    ];
    assert_eq!(warnings(&turn.seen), expected);
    assert_eq!(state(&turn.seen)["status"], "done");
    let early = Turn::new().feed(&says("m", "A")).feed(&[started(), finished()]).end();
    assert_eq!((early.shown(), warnings(&early.seen)), (vec!["m: A".to_owned()], vec!["outside_of_run"]));
}

#[test]
fn parallel_calls_keep_their_arguments_apart() {
    let turn = run(&[
        frame("TOOL_CALL_START", "a", "f"),
        frame("TOOL_CALL_START", "b", "g"),
        frame("TOOL_CALL_ARGS", "a", "{"),
        frame("TOOL_CALL_ARGS", "b", "["),
        frame("TOOL_CALL_ARGS", "a", "}"),
        frame("TOOL_CALL_ARGS", "b", "]"),
        result("r1", "b", "2"),
        result("r2", "a", "1"),
        frame("TOOL_CALL_END", "b", ""),
        frame("TOOL_CALL_END", "a", ""),
    ]);
    assert_eq!(turn.shown(), ["a: f({})", "b: g([])"]);
    // Each result is kept beside its call.
    let ids: Vec<Json> = turn.kept_messages().iter().map(|message| message["id"].clone()).collect();
    assert_eq!(ids, ["a", "r2", "b", "r1"]);
}

#[test]
fn reasoning_of_version_0_has_an_id_of_ours() {
    let turn = run(&[
        vec![
            json!({"type": "THINKING_START", "title": "x"}),
            json!({"type": "THINKING_TEXT_MESSAGE_START"}),
            json!({"type": "THINKING_TEXT_MESSAGE_CONTENT", "delta": "Hm."}),
            json!({"type": "THINKING_TEXT_MESSAGE_END"}),
            json!({"type": "THINKING_END"}),
        ],
        says("m", "Yes"),
    ]
    .concat());
    assert_eq!(turn.shown(), ["m: [Hm.] Yes"]);
    assert_eq!(turn.kept_messages()[0]["role"], "reasoning");
}

#[test]
fn other_roles_are_kept_and_not_shown() {
    let mut message = says("m", "For the record");
    message[0]["role"] = "system".into();
    let turn = run(&message);
    assert_eq!(turn.shown(), [""; 0]);
    assert_eq!(turn.kept_messages(), [json!({"id": "m", "role": "system", "content": "For the record"})]);
}

#[test]
fn subagents_are_threads() {
    let of = |mut frames: Vec<Json>, id: &str| {
        for frame in &mut frames {
            frame["subagentRunId"] = id.into();
        }
        frames
    };
    let turn = run(&[
        calls("t", "task", "{}", "m"),
        vec![json!({"type": "SUBAGENT_STARTED", "subagentRunId": "s1", "name": "searcher", "parentToolCallId": "t"})],
        of(says("a", "Found"), "s1"),
        vec![json!({"type": "SUBAGENT_FINISHED", "subagentRunId": "s1"})],
        of(says("b", "Unannounced"), "s2"),
        vec![json!({"type": "SUBAGENT_ERROR", "subagentRunId": "s2", "message": "broke"})],
        says("n", "Done"),
    ]
    .concat());
    let threads: Vec<_> = turn
        .seen
        .index
        .threads()
        .iter()
        .map(|thread| (&*thread.id, format!("{:?}", thread.status)))
        .collect();
    assert_eq!(threads.len(), 3);
    assert_eq!(threads[1], ("s1", "Done".to_owned()));
    assert_eq!(threads[2], ("s2", r#"Error("broke")"#.to_owned()));
    assert_eq!(turn.seen.of("thread.created")[0]["parent"]["tool_call_id"], "t");
    assert_eq!(turn.kept_messages()[1]["subagentRunId"], "s1");
    assert_eq!(state(&turn.seen)["output"]["content"], "Done");
}

#[test]
fn metadata_is_kept_member_by_member() {
    let mut frames = says("m", "Yes");
    frames[0]["metadata"] = json!({"a": 1, "b": 1});
    frames[2]["metadata"] = json!({"a": 2});
    let mut call = calls("c", "f", "{}", "m");
    call[2]["metadata"] = json!({"ms": 12});
    let kept = run(&[frames, call].concat()).kept_messages();
    assert_eq!(kept[0]["metadata"], json!({"a": 2, "b": 1}));
    assert_eq!(kept[0]["toolCalls"][0]["metadata"], json!({"ms": 12}));
}
