//! Snapshots of the messages, as servers send them (sections 3.1 and 6).

use super::*;

fn snapshot(messages: Json) -> Json {
    json!({"type": "MESSAGES_SNAPSHOT", "messages": messages})
}

fn user() -> Json {
    json!({"id": "t:0", "role": "user", "content": "Hi"})
}

fn ids(turn: &Turn) -> Vec<String> {
    let kept = turn.kept();
    let messages = kept["messages"].as_array().expect("messages").clone();
    messages.iter().map(|message| message["id"].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn a_snapshot_can_be_the_only_place_of_a_message_and_a_result() {
    let call = json!({"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let turn = run(&[snapshot(json!([
        user(),
        {"id": "m", "role": "assistant", "content": "Look", "toolCalls": [call]},
        {"id": "r", "role": "tool", "toolCallId": "c", "content": "1"},
        {"id": "n", "role": "assistant", "content": "Done"},
    ]))]);
    assert_eq!(turn.shown(), ["m: Look f({})", "n: Done"]);
    assert_eq!(turn.seen.of("tool.response")[0]["content"], "1");
    assert_eq!(ids(&turn), ["t:0", "m", "r", "n"]);
    assert_eq!(state(&turn.seen)["output"]["content"], "Done");
}

#[test]
fn a_snapshot_that_only_repeats_shows_nothing_again() {
    let messages = json!([user(), {"id": "m", "role": "assistant", "content": "Yes"}]);
    let turn = run(&[says("m", "Yes"), vec![snapshot(messages.clone()), snapshot(messages)]].concat());
    assert_eq!(turn.seen.of("model.message").len(), 1);
    assert_eq!(turn.shown(), ["m: Yes"]);
}

#[test]
fn results_are_known_by_their_calls() {
    let call = json!({"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let frames = [
        calls("c", "f", "{}", "m"),
        vec![result("c", "c", "1")],
        says("n", "Done"),
        vec![snapshot(json!([
            user(),
            {"id": "m", "role": "assistant", "content": "", "toolCalls": [call]},
            {"id": "real", "role": "tool", "toolCallId": "c", "content": "1"},
            {"id": "n", "role": "assistant", "content": "Done"},
        ]))],
    ];
    let turn = run(&frames.concat());
    assert_eq!(ids(&turn), ["t:0", "m", "real", "n"]);
    assert_eq!(turn.seen.of("tool.response").len(), 1);
}

#[test]
fn new_ids_and_trimmed_texts_are_the_same_messages() {
    let of = |user: &str, agent: &str| {
        snapshot(
            json!([{"id": user, "role": "user", "content": "Hi"}, {"id": agent, "role": "assistant", "content": "Yes."}]),
        )
    };
    let turn = run(&[says("m", "Yes. "), vec![of("x1", "y1"), of("x2", "y2")]].concat());
    assert_eq!(turn.shown(), ["m: Yes. "]);
    let expected = json!([user(), {"id": "m", "role": "assistant", "content": "Yes. "}]);
    assert_eq!(turn.kept()["messages"], expected);
}

#[test]
fn equal_texts_are_told_apart_by_their_order_and_ids() {
    let frames = [
        says("a", "OK"),
        says("b", "OK"),
        vec![snapshot(json!([
            user(),
            {"id": "b", "role": "assistant", "content": "OK"},
            {"id": "new", "role": "assistant", "content": "OK"},
        ]))],
    ];
    let turn = run(&frames.concat());
    assert_eq!(ids(&turn), ["t:0", "b", "new"], "what comes before cannot be the later one");
}

#[test]
fn what_a_snapshot_leaves_out_is_dropped_but_for_reasoning() {
    let thinks = [
        json!({"type": "REASONING_MESSAGE_START", "messageId": "r", "role": "reasoning"}),
        frame("REASONING_MESSAGE_CONTENT", "r", "Hm"),
        frame("REASONING_MESSAGE_END", "r", ""),
    ];
    let frames =
        |list: Json| [says("x", "Gone"), thinks.to_vec(), says("m", "Yes"), vec![snapshot(list)]].concat();
    let turn = run(&frames(json!([user(), {"id": "m", "role": "assistant", "content": "Yes"}])));
    assert_eq!(ids(&turn), ["t:0", "r", "m"]);
    let own = json!([user(), {"id": "q", "role": "reasoning", "content": "Own"}, {"id": "m", "role": "assistant", "content": "Yes"}]);
    assert_eq!(ids(&run(&frames(own))), ["t:0", "q", "m"], "the snapshot has reasoning of its own");
}

#[test]
fn what_a_snapshot_lacks_of_a_message_stays() {
    let mut frames = says("m", "Yes");
    frames[2]["metadata"] = json!({"k": 1});
    let call = json!({"id": "c", "type": "function", "function": {"name": "f", "arguments": ""}});
    frames.extend(calls("c", "f", "{\"a\":1}", "m"));
    frames.push(json!({"type": "REASONING_ENCRYPTED_VALUE", "subtype": "tool-call", "entityId": "c", "encryptedValue": "e"}));
    frames.push(snapshot(
        json!([user(), {"id": "m", "role": "assistant", "content": "Yes", "toolCalls": [call, call]}]),
    ));
    let turn = run(&frames);
    let kept = &turn.kept_messages()[0];
    assert_eq!(kept["metadata"], json!({"k": 1}));
    let expected = json!([{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{\"a\":1}"}, "encryptedValue": "e"}]);
    assert_eq!(kept["toolCalls"], expected, "repeated calls are one, and keep what they had");
}

#[test]
fn an_empty_text_replaces_no_streamed_one() {
    let empty = snapshot(json!([user(), {"id": "m", "role": "assistant", "content": ""}]));
    let turn = run(&[says("m", "It is 42."), vec![empty]].concat());
    assert_eq!(turn.shown(), ["m: It is 42."]);
    assert_eq!(state(&turn.seen)["output"]["content"], "It is 42.");
    let expected = json!([user(), {"id": "m", "role": "assistant", "content": "It is 42."}]);
    assert_eq!(turn.kept()["messages"], expected);
}

#[test]
fn earlier_messages_are_not_of_the_turn() {
    let stored = json!({"messages": [{"id": "u", "role": "user", "content": "Before"}, {"id": "a", "role": "assistant", "content": "Then"}]});
    let input = json!([{"type": "user.message", "content": "Hi"}]);
    let all = json!([
        {"id": "u", "role": "user", "content": "Before"},
        {"id": "a", "role": "assistant", "content": "Then"},
        {"id": "hidden", "role": "assistant", "content": "Of another client"},
        user(),
        {"id": "n", "role": "assistant", "content": "Now"},
    ]);
    let turn = Turn::with(&input, &json!({"conversation": stored}))
        .feed(&[started(), snapshot(all), finished()])
        .end();
    assert_eq!(turn.shown(), ["n: Now"]);
    assert_eq!(ids(&turn), ["u", "a", "hidden", "t:0", "n"]);
}

#[test]
fn an_activity_in_a_snapshot_is_shown_and_not_kept() {
    let turn = run(&[snapshot(
        json!([user(), {"id": "a", "role": "activity", "activityType": "PLAN", "content": {"x": 1}}]),
    )]);
    assert_eq!(turn.seen.index.activity("a"), Some(json!({"x": 1})));
    assert_eq!(ids(&turn), ["t:0"]);
}

#[test]
fn a_snapshot_that_is_none_changes_nothing() {
    let turn = run(&[says("m", "Yes"), vec![snapshot(json!(7)), snapshot(json!(["text"]))]].concat());
    assert_eq!(turn.seen.of("unknown").len(), 2);
    assert_eq!(ids(&turn), ["t:0", "m"]);
}

#[test]
fn messages_without_ids_are_as_many_as_they_are() {
    let said = |text: &str| json!({"role": "assistant", "content": text});
    let once = snapshot(json!([user(), said("Yes"), said("Yes"), said("No")]));
    let turn = run(&[once.clone(), once]);
    let shown = turn.shown();
    let texts: Vec<_> = shown.iter().filter_map(|text| text.split_once(": ")).map(|(_, text)| text).collect();
    assert_eq!(texts, ["Yes", "Yes", "No"]);
    let mut ids = ids(&turn);
    assert_eq!(ids.len(), 4);
    ids.sort();
    ids.dedup();
    assert!(ids.len() == 4 && !ids.contains(&String::new()), "{ids:?}");
    // Those that were streamed keep their ids.
    let turn =
        run(&[says("m", "Yes"), says("n", "Yes"), vec![snapshot(json!([user(), said("Yes"), said("Yes")]))]]
            .concat());
    assert_eq!(turn.shown(), ["m: Yes", "n: Yes"]);
}
