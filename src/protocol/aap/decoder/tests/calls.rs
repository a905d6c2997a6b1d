//! Tool calls: parallel, interleaved, with reused ids, and which of them are pending (section 5).

use serde_json::{Value as Json, json};

use super::super::calls::{MAX_CALLS, REMEMBERED_CALLS};
use super::{Wire, call, called, play, result, says, start, stop};

#[test]
fn a_call_comes_whole_under_its_index() {
    let seen = play([&start(), &call("a", "mine"), &call("b", "ours")]);
    let delta = |index: u64, id: &str, name: &str| {
        let mut call = called(id, name);
        call["index"] = index.into();
        json!({"type": "model.message.delta", "id": "t:0", "thread_id": "main", "tool_calls": [call]})
    };
    assert_eq!(seen.events[2..], [delta(0, "a", "mine"), delta(1, "b", "ours")]);
}

#[test]
fn indexes_begin_anew_in_each_message() {
    let seen = play([&call("a", "x"), &result("a", ""), &call("b", "x"), &call("c", "x")]);
    let calls = seen.events.iter().filter_map(|event| event.get("tool_calls")).map(|calls| &calls[0]);
    let indexes: Vec<_> = calls.map(|call| (call["id"].clone(), call["index"].clone())).collect();
    assert_eq!(indexes, [(json!("a"), json!(0)), (json!("b"), json!(0)), (json!("c"), json!(1))]);
}

#[test]
fn section_5_own_tools_wait_for_results_and_others_for_permission() {
    let frames = [
        call("a", "mine"),
        call("b", "theirs"),
        call("c", "ours"),
        result("b", "done"),
        call("d", "unheard-of"),
        stop("tool_use"),
    ];
    let seen = play(&frames);
    assert_eq!(seen.pending(), ["Response a", "Response c", "Approval d"]);
    let question = json!({"type": "tool.response_required", "id": "t:asks:0:a", "thread_id": "main", "tool_calls": [
        {"id": "a", "source_event_id": "t:0", "event_id": "t:0", "name": "mine", "arguments": r#"{"of":"a"}"#}]});
    assert_eq!(seen.of("tool.response_required")[0], &question);
    assert_eq!(seen.of("tool.approval_required")[0]["tool_calls"][0]["event_id"], "t:1");
    let state = seen.state();
    assert_eq!(state["required_actions"][0], question);
    assert_eq!(state["required_actions"].as_array().map(Vec::len), Some(3));
    assert_eq!(state["output"], Json::Null);
}

#[test]
fn only_a_turn_that_stops_for_tools_waits() {
    for reason in ["end_turn", "max_tokens", "refusal", "error", "paused"] {
        let seen = play([&call("a", "mine"), &stop(reason)]);
        assert!(seen.pending().is_empty(), "{reason}");
    }
}

#[test]
fn inputs_are_json_as_it_came() {
    for (input, arguments) in [
        (json!({}), "{}"),
        (json!(null), "{}"),
        (json!({"b": [1, {"c": null}], "a": "é"}), r#"{"a":"é","b":[1,{"c":null}]}"#),
        // No input: the tool itself has to refuse it.
        (json!([1]), "[1]"),
        (json!("text"), "\"text\""),
        (json!(5), "5"),
    ] {
        let seen = play([&("tool_call", json!({"toolCallId": "a", "name": "n", "input": input}))]);
        assert_eq!(seen.messages()[0]["tool_calls"][0]["function"]["arguments"], arguments, "{input}");
    }
    let seen = play([&("tool_call", json!({"toolCallId": "a", "name": "n"}))]);
    assert_eq!(seen.messages()[0]["tool_calls"][0]["function"]["arguments"], "{}");
}

#[test]
fn a_call_that_is_none_is_kept_and_the_turn_goes_on() {
    for (wire, problem) in [
        (json!({}), "`toolCallId` is missing"),
        (json!({"toolCallId": "", "name": "n"}), "`toolCallId` is missing"),
        (json!({"toolCallId": 5, "name": "n"}), "`toolCallId` is not a string"),
        (json!({"toolCallId": "a"}), "`name` is missing"),
        (json!({"toolCallId": "a", "name": {}}), "`name` is not a string"),
    ] {
        let frame: Wire = ("tool_call", wire.clone());
        let seen = play([&says("a"), &frame, &says("b"), &stop("end_turn")]);
        assert_eq!(seen.unknown(), [(&json!("tool_call"), &wire, Some(problem))]);
        assert_eq!(seen.state()["output"]["content"], "ab");
    }
}

#[test]
fn a_message_makes_a_call_once() {
    let again = ("tool_call", json!({"toolCallId": "a", "name": "other"}));
    let seen = play([&call("a", "mine"), &again, &stop("tool_use")]);
    let problem = Some("the message already has this call");
    assert_eq!(seen.unknown(), [(&json!("tool_call"), &again.1, problem)]);
    assert_eq!(seen.messages()[0]["tool_calls"], json!([called("a", "mine")]));
    assert_eq!(seen.pending(), ["Response a"]);
}

/// Some models reuse call ids in every message.
#[test]
fn calls_of_one_id_in_two_messages_are_two() {
    let frames =
        [call("0", "theirs"), result("0", "first"), call("0", "mine"), call("1", "mine"), stop("tool_use")];
    let seen = play(&frames);
    assert!(seen.unknown().is_empty());
    assert_eq!(seen.of("tool.response")[0]["id"], "t:0:0");
    let ids: Vec<_> = seen.of("tool.response_required").iter().map(|event| event["id"].clone()).collect();
    assert_eq!(ids, ["t:asks:1:0", "t:asks:1:1"]);
    // A result belongs to the newest call.
    let seen = play(&[&frames[..4], &[result("0", "second"), stop("tool_use")]].concat());
    assert_eq!(seen.of("tool.response")[1]["id"], "t:1:0");
    assert_eq!(seen.pending(), ["Response 1"]);
}

fn many(count: u64) -> Vec<Wire> {
    (0..count).map(|number| call(&number.to_string(), "mine")).collect()
}

#[test]
fn calls_of_one_message_have_a_limit() {
    let most = u64::from(MAX_CALLS);
    let seen = play(&[many(most), vec![stop("tool_use")]].concat());
    assert_eq!((seen.unknown().len(), seen.pending().len() as u64), (0, most));
    let seen = play(&[many(most + 2), vec![stop("tool_use")]].concat());
    assert_eq!(seen.pending().len() as u64, most);
    let problems: Vec<_> = seen.unknown().iter().map(|unknown| unknown.2).collect();
    assert_eq!(problems, [Some("the message has too many calls"); 2]);
}

/// Pending calls are never forgotten: calls with results make room, and without room a call is a problem.
#[test]
fn calls_that_wait_are_remembered() {
    let round = |number: usize, is_answered: bool| {
        let id = format!("c{number}");
        let answer = if is_answered { result(&id, "") } else { result("nobody's", "") };
        [call(&id, "mine"), answer]
    };
    let frames: Vec<Wire> =
        (0..REMEMBERED_CALLS + 10).flat_map(|number| round(number, number % 2 == 1)).collect();
    let seen = play(frames.iter().chain([&stop("tool_use")]));
    assert!(seen.unknown().is_empty());
    assert_eq!(seen.of("tool.response_required").len(), REMEMBERED_CALLS / 2 + 5);
    assert_eq!(seen.of("tool.response_required")[0]["tool_calls"][0]["id"], "c0");

    let frames: Vec<Wire> = (0..=REMEMBERED_CALLS).flat_map(|number| round(number, false)).collect();
    let seen = play(frames.iter().chain([&stop("tool_use")]));
    assert_eq!(seen.unknown().len(), 1);
    assert_eq!(seen.unknown()[0].2, Some("too many calls have no result"));
    assert_eq!(seen.of("tool.response_required").len(), REMEMBERED_CALLS);
}
