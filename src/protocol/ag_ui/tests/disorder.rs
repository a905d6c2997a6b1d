//! Streams that break the protocol's order in several ways at once (section 3).

use super::*;

fn error(fields: Json) -> Json {
    let mut error = json!({"type": "RUN_ERROR"});
    for (name, value) in fields.as_object().expect("fields") {
        error[name] = value.clone();
    }
    error
}

fn snapshot(messages: Json) -> Json {
    json!({"type": "MESSAGES_SNAPSHOT", "messages": messages})
}

fn user() -> Json {
    json!({"id": "t:0", "role": "user", "content": "Hi"})
}

fn called(id: &str, arguments: &str) -> Json {
    json!({"id": id, "type": "function", "function": {"name": "mine", "arguments": arguments}})
}

/// A server may end each run in a `finally`.
#[test]
fn an_end_after_an_error_is_no_success() {
    let turn = run(&[error(json!({"message": "boom", "code": "E"}))]);
    let expected = json!({"status": "error", "message": "boom", "code": "E"});
    assert_eq!((state(&turn.seen), warnings(&turn.seen)), (expected, vec!["outside_of_run"]));
    let other_run =
        Turn::new().feed(&[started(), error(json!({"message": "boom"})), started(), finished()]).end();
    assert_eq!(state(&other_run.seen)["status"], "done", "the last run counts");
}

#[test]
fn a_second_end_takes_back_no_question() {
    let mut asks = finished();
    asks["outcome"] =
        json!({"type": "interrupt", "interrupts": [{"id": "i", "reason": "tool_call", "toolCallId": "c"}]});
    let frames = calls("c", "server", "{}", "m");
    for ends in [[asks.clone(), finished()], [finished(), asks]] {
        let turn = Turn::new().feed(&[started()]).feed(&frames).feed(&ends).end();
        assert_eq!(pending(&turn.seen), ["Approval c"]);
    }
}

#[test]
fn an_error_counts_however_it_is_written() {
    for (fields, message, code) in [
        (json!({"message": "boom", "code": 500}), "boom", json!("500")),
        (json!({"message": {"text": "boom"}}), "{\"text\":\"boom\"}", Json::Null),
        (json!({"code": null}), "the server reports an error, and does not say which", Json::Null),
    ] {
        for late in [false, true] {
            let ends = [finished(), error(fields.clone())];
            let turn = Turn::new().feed(&[started()]).feed(&ends[usize::from(!late)..]).end();
            let state = state(&turn.seen);
            assert_eq!(
                (&state["status"], &state["message"], &state["code"]),
                (&"error".into(), &message.into(), &code),
                "{fields} {late}"
            );
        }
    }
}

/// The next request needs the message of a call together with its result.
#[test]
fn a_message_that_goes_on_after_a_snapshot_without_it_is_kept() {
    let empty = [frame("TEXT_MESSAGE_START", "m", ""), frame("TEXT_MESSAGE_END", "m", "")];
    let turn = run(&[&empty[..], &[snapshot(json!([user()]))], &calls("c", "mine", "{}", "m")].concat());
    assert_eq!(
        turn.kept_messages(),
        [json!({"id": "m", "role": "assistant", "toolCalls": [called("c", "{}")]})]
    );
    assert_eq!(pending(&turn.seen), ["Response c"]);
    // The server dropped the first part on purpose: it was complete.
    let again = run(&[&says("m", "Hel")[..], &[snapshot(json!([user()]))], &says("m", "lo")].concat());
    assert_eq!(again.kept_messages(), [json!({"id": "m", "role": "assistant", "content": "lo"})]);
}

/// A snapshot has what was complete when it was taken.
#[test]
fn what_still_streams_or_waits_for_the_page_survives_a_snapshot() {
    let open = run(&[
        frame("TEXT_MESSAGE_START", "m", ""),
        frame("TEXT_MESSAGE_CONTENT", "m", "Hel"),
        snapshot(json!([user()])),
        frame("TEXT_MESSAGE_CONTENT", "m", "lo"),
        frame("TEXT_MESSAGE_END", "m", ""),
    ]);
    assert_eq!(open.kept_messages(), [json!({"id": "m", "role": "assistant", "content": "Hello"})]);
    let cut = run(&[
        frame("TOOL_CALL_START", "c", "mine"),
        frame("TOOL_CALL_ARGS", "c", "{\"a\":"),
        snapshot(json!([user()])),
        frame("TOOL_CALL_ARGS", "c", "1}"),
        frame("TOOL_CALL_END", "c", ""),
    ]);
    let kept = json!({"id": "c", "role": "assistant", "toolCalls": [called("c", "{\"a\":1}")]});
    assert_eq!((cut.kept_messages(), pending(&cut.seen)), (vec![kept], vec!["Response c".to_owned()]));
    let closed = run(&[&calls("c", "mine", "{}", "m")[..], &[snapshot(json!([user()]))]].concat());
    let kept = json!({"id": "m", "role": "assistant", "toolCalls": [called("c", "{}")]});
    assert_eq!((closed.kept_messages(), pending(&closed.seen)), (vec![kept], vec!["Response c".to_owned()]));
}

#[test]
fn calls_of_the_page_wait_wherever_the_run_began() {
    let call = calls("c", "mine", "{}", "m");
    let without_start = Turn::new().feed(&call).feed(&[finished()]).end();
    assert_eq!(pending(&without_start.seen), ["Response c"]);
    let started_twice = run(&[&call[..], &[started()]].concat());
    assert_eq!(pending(&started_twice.seen), ["Response c"]);
    assert!(warnings(&started_twice.seen).contains(&"run_in_run"));
    let mut other = started();
    other["runId"] = "other".into();
    let in_two_runs = run(&[&call[..], &[finished(), other], &call].concat());
    assert_eq!(pending(&in_two_runs.seen), ["Response c"]);
}

#[test]
fn an_approved_call_that_begins_again_waits_for_the_page() {
    let mut asks = finished();
    asks["outcome"] =
        json!({"type": "interrupt", "interrupts": [{"id": "i", "reason": "tool_call", "toolCallId": "c"}]});
    let call = calls("c", "mine", "{}", "m");
    let first = Turn::new().feed(&[started()]).feed(&call).feed(&[asks]).end();
    let input = json!([{"type": "user.tool_approval", "thread_id": "main", "tool_call_id": "c", "approval": {"status": "allow"}}]);
    let next = Turn::with(&input, &json!({"conversation": first.kept()}))
        .feed(&[started()])
        .feed(&call)
        .feed(&[finished()])
        .end();
    assert_eq!(pending(&next.seen), ["Response c"]);
}

#[test]
fn a_result_before_its_call_answers_it() {
    let turn =
        run(&[&[result("r", "c", "1")], &calls("c", "mine", "{}", "m")[..], &says("n", "Done")].concat());
    assert_eq!(pending(&turn.seen), [""; 0]);
    let call = turn.seen.index.message("m").and_then(|message| message.calls()[0].as_ref());
    assert!(call.expect("a call").response().is_some());
    assert_eq!(
        turn.kept_messages(),
        [
            json!({"id": "m", "role": "assistant", "toolCalls": [called("c", "{}")]}),
            json!({"id": "r", "role": "tool", "toolCallId": "c", "content": "1"}),
            json!({"id": "n", "role": "assistant", "content": "Done"}),
        ]
    );
}

#[test]
fn a_result_that_cannot_be_read_is_neither_shown_nor_sent() {
    for content in [Json::Null, json!({"a": 1}), json!(4)] {
        let mut bad = result("r", "c", "");
        bad["content"] = content;
        let turn = run(&[&calls("c", "mine", "{}", "m")[..], &[bad]].concat());
        assert_eq!((turn.seen.of("unknown").len(), pending(&turn.seen)), (1, vec!["Response c".to_owned()]));
        assert_eq!(turn.kept_messages().len(), 1);
    }
}

#[test]
fn chunks_of_calls_alternate() {
    let chunk = |id: &str, delta: &str| json!({"type": "TOOL_CALL_CHUNK", "toolCallId": id, "toolCallName": "mine", "delta": delta});
    let state = json!({"type": "STATE_SNAPSHOT", "snapshot": 1});
    for between in [chunk("d", "{\"b\":"), state] {
        let turn = run(&[chunk("c", "{\"a\":"), between, chunk("c", "1}")]);
        assert!(turn.shown().contains(&"c: mine({\"a\":1})".to_owned()), "{:?}", turn.shown());
        assert_eq!(turn.kept_messages()[0]["toolCalls"], json!([called("c", "{\"a\":1}")]));
    }
}

#[test]
fn a_frame_of_an_unknown_type_ends_no_chunk() {
    let chunk = |delta: &str| json!({"type": "TEXT_MESSAGE_CHUNK", "delta": delta});
    let mut first = chunk("He");
    first["messageId"] = "m".into();
    let turn = run(&[first, json!({"type": "FUTURE_THING"}), chunk("llo")]);
    assert_eq!(turn.shown(), ["m: Hello"]);
}
