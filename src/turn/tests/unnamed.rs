//! The driver, rule by rule: turns whose server knows no turns (protocol note of the Agent Application Protocol,
//! section 6). The session's history shows the result of a turn, which is found by its input; nothing is sent twice.

use serde_json::{Value as Json, json};

use super::play::Act::{self, Aborted, Answers, Breaks, Brings, Fails, Waited};
use super::play::{Play, asking, http, network};
use crate::json::Value;
use crate::protocol::aap::Aap;
use crate::turn::{Failure, Reconnect, TurnInput};

pub(in crate::turn) fn turn_with(terms: &str) -> Play {
    let parsed = Value::parse(terms).expect("JSON");
    let aap = Aap::of_terms(parsed.as_object().expect("an object"));
    let mut play = Play::of(Box::new(aap), Value::from("hi"), "");
    play.driver.set_start("agent", "t");
    play.driver.set_terms(terms);
    play.driver.set_user_message_count(Some(4));
    assert_eq!(play.stream(Reconnect::default()), "post stream");
    play
}

pub(in crate::turn) fn starting() -> Play {
    turn_with("{}")
}

fn frames(list: &[(&str, Json)]) -> String {
    let frames = list.iter().map(|(event, data)| format!("event: {event}\ndata: {data}\n\n"));
    frames.collect::<Vec<_>>().concat()
}

/// The stream up to a piece of text.
pub(in crate::turn) fn part() -> String {
    frames(&[("turn_start", json!({})), ("text_delta", json!({"delta": "a"}))])
}

pub(in crate::turn) fn record(status: &str) -> Json {
    let state = match status {
        "done" => json!({"status": "done", "output": listed(), "required_actions": []}),
        _ => json!({"status": status}),
    };
    let events = if status == "done" { vec![listed()] } else { Vec::new() };
    json!({"id": "t", "session_id": "s", "previous_turn_id": null, "state": state, "input": [], "events": events,
           "is_exact": true})
}

/// The same with another answer.
fn record_saying(content: &str, is_exact: bool) -> Json {
    let message = json!({"type": "model.message", "id": "t:0", "thread_id": "main", "content": content,
                         "finish_reason": "stop"});
    let mut record = record("done");
    record["state"]["output"] = message.clone();
    record["events"] = json!([message]);
    record["is_exact"] = json!(is_exact);
    record
}

fn listed() -> Json {
    json!({"type": "model.message", "id": "t:0", "thread_id": "main", "content": "ab", "finish_reason": "stop"})
}

fn content(play: &Play) -> String {
    play.driver.reader().index().message("t:0").map_or("", |message| message.content()).to_owned()
}

/// However the stream ends before its last frame, the history is read until it has the answer. That is not a failure,
/// and uses up no attempts.
#[test]
fn a_lost_answer_is_waited_for_in_the_history() {
    for act in [Brings(part()), Breaks(part(), network())] {
        let mut play = starting();
        let script: [(Act, &str); 8] = [
            (act, "read"),
            (Answers(record("running")), "wait 500 for history"),
            (Waited, "read"),
            (Fails(http(502)), "wait 250 #1 http 502"),
            (Waited, "read"),
            (Answers(record("running")), "wait 1000 for history"),
            (Waited, "read"),
            (Answers(record("done")), "end done"),
        ];
        play.plays("found", &script);
        assert_eq!(content(&play), "ab");
    }
}

/// Reads a history until another step follows; returns the number of reads, the total wait, and that step. `record`
/// returns the history at each read.
fn watches(play: &mut Play, record: impl Fn(u32) -> Json) -> (u32, u32, String) {
    let (mut looks, mut waited, mut step) = (0, 0, "read".to_owned());
    while step == "read" && looks < 2000 {
        step = play.next(Answers(record(looks)));
        looks += 1;
        if let Some(delay) = step.strip_prefix("wait ").and_then(|step| step.strip_suffix(" for history")) {
            waited += delay.parse::<u32>().expect("a number");
            step = play.next(Waited);
        }
    }
    (looks, waited, step)
}

/// An unchanged history proves nothing: the wait is longer than any usual silence of a turn, but has an end.
#[test]
fn an_answer_that_never_comes_leaves_the_turn_incomplete() {
    let mut play = starting();
    assert_eq!(play.next(Breaks(part(), network())), "read");
    let (looks, waited, step) = watches(&mut play, |_| record("running"));
    assert_eq!(step, "end incomplete: incomplete");
    assert_eq!((looks, waited), (301, 597_500));
    assert!(
        play.reported().contains("has not changed for 10 minutes; received events are kept"),
        "{}",
        play.reported()
    );
    assert_eq!(content(&play), "a");
    // The next run looks for it instead of starting it.
    assert_eq!(play.stream(Reconnect::default()), "read");
}

/// The history of a turn that makes one tool call after the other.
fn growing(calls: u32) -> Json {
    let call = |number: u32| json!({"type": "tool.response", "id": number.to_string(), "thread_id": "main", "tool_call_id": "c", "content": ""});
    let mut record = record("running");
    record["events"] = (0..calls).map(call).collect();
    record
}

/// A growing history is awaited while it grows, at a constant rate.
#[test]
fn a_history_that_grows_is_waited_for() {
    let mut play = starting();
    assert_eq!(play.next(Breaks(part(), network())), "read");
    // It grows every nine minutes, for an hour.
    let (looks, waited, step) = watches(&mut play, |look| growing(look / 270));
    assert_eq!((looks, step.as_str()), (2000, "read"));
    assert!(waited > 60 * 60 * 1000, "{waited}");
    let (.., step) = watches(&mut play, |_| record("done"));
    assert_eq!(step, "end done");
    assert_eq!(content(&play), "ab");
}

/// Only failed reads use up attempts, however long the wait was before.
#[test]
fn reads_that_fail_while_it_is_waited_use_up_the_tries() {
    let mut play = starting();
    assert_eq!(play.next(Breaks(part(), network())), "read");
    for _ in 0..40 {
        assert!(play.next(Answers(record("running"))).ends_with("for history"));
        assert_eq!(play.next(Waited), "read");
        for _ in 0..9 {
            assert!(play.next(Fails(http(500))).ends_with("http 500"));
            assert_eq!(play.next(Waited), "read");
        }
    }
    play.next(Answers(record("running")));
    assert_eq!(play.next(Waited), "read");
    for _ in 0..10 {
        assert!(play.next(Fails(network())).ends_with("network"));
        assert_eq!(play.next(Waited), "read");
    }
    assert_eq!(play.next(Fails(network())), "end incomplete: incomplete");
    assert!(play.reported().contains("10 times in a row"), "{}", play.reported());
}

/// After a reload there is no stream: that is a wait, too, and does not depend on `reconnect`.
#[test]
fn a_turn_that_was_found_running_is_waited_for() {
    for reconnect in [Reconnect::default(), Reconnect::OFF] {
        let mut play = turn_with("{}");
        play.driver.reader_mut().machine_mut().created("t");
        assert_eq!(play.next(Aborted), "end running: aborted");
        assert_eq!(play.stream(reconnect), "read");
        for wait in ["500", "1000", "2000", "2000"] {
            assert_eq!(play.next(Answers(record("running"))), format!("wait {wait} for history"));
            assert_eq!(play.next(Waited), "read");
        }
        assert_eq!(play.next(Answers(record("done"))), "end done");
    }
}

/// A server without such a history will not have it later.
#[test]
fn a_history_that_is_refused_ends_the_search() {
    for status in [403, 404] {
        let mut play = starting();
        assert_eq!(play.next(Breaks(part(), network())), "read");
        assert_eq!(play.next(Fails(http(status))), format!("end incomplete: http {status}"));
        assert_eq!(play.stream(Reconnect::default()), "read");
    }
}

/// It is identified by its input and the number of earlier messages.
#[test]
fn a_turn_is_found_by_its_input() {
    let mut play = turn_with(r#"{"history":"full"}"#);
    assert_eq!(play.params()["terms"], json!({"history": "full"}));
    play.next(Breaks(part(), network()));
    let params = play.params();
    assert_eq!(params["turn_id"], "t");
    assert_eq!(params["input"], json!([{"type": "user.message", "content": "hi"}]));
    assert_eq!((&params["is_begun"], &params["said"]), (&json!(true), &json!(4)));
    assert_eq!(params["is_awaited"], true);
    let mut play = starting();
    play.next(Fails(network()));
    play.next(Waited);
    assert_eq!((&play.params()["is_begun"], &play.params()["is_awaited"]), (&json!(false), &json!(false)));
}

#[test]
fn a_lost_start_is_looked_for() {
    let mut play = starting();
    play.plays(
        "found",
        &[
            (Fails(network()), "wait 250 #1 network"),
            (Waited, "read"),
            (Answers(record("done")), "read"),
            (Answers(record("done")), "end done"),
        ],
    );
    assert_eq!(content(&play), "ab");
}

/// A history without the turn proves nothing: the turn may be stored when it has ended.
#[test]
fn a_start_that_may_have_arrived_is_never_sent_again() {
    let absent = |failure: Failure| {
        let mut play = starting();
        let mut step = play.next(Fails(failure));
        for _ in 0..10 {
            step = match &*step {
                wait if wait.starts_with("wait") => play.next(Waited),
                "read" => play.next(Fails(http(404))),
                _ => break,
            };
        }
        (step, play)
    };
    for failure in [network(), http(500), http(503)] {
        let (step, mut play) = absent(failure);
        assert!(step.starts_with("end incomplete: "), "{step}");
        assert!(play.reported().contains("the turn may have begun"), "{}", play.reported());
        assert_eq!(play.stream(Reconnect::default()), "read");
    }
    // A server that says when to retry has not accepted the request.
    let (step, _) = absent(asking(http(503), 1000));
    assert_eq!(step, "post stream");
    let mut play = starting();
    play.plays("refused", &[(Fails(http(400)), "end unstarted: http 400")]);
}

/// The history must continue the stream's text.
#[test]
fn another_answer_to_the_same_words_is_not_taken() {
    for (other, is_exact, expected) in
        [("b", true, "wait"), ("", true, "wait"), ("ab", true, "end done"), ("b", false, "end done")]
    {
        let mut play = starting();
        assert_eq!(play.next(Breaks(part(), network())), "read");
        let step = play.next(Answers(record_saying(other, is_exact)));
        assert!(step.starts_with(expected), "{other}: {step}");
        let said = if expected == "wait" { "a" } else { other };
        assert_eq!(content(&play), said);
    }
}

/// Without a history the stream is all there is, and nothing is read.
#[test]
fn without_a_history_what_is_lost_is_lost() {
    let mut play = turn_with(r#"{"history":null}"#);
    play.plays("begun", &[(Breaks(part(), network()), "end incomplete: incomplete")]);
    assert_eq!(content(&play), "a");
    let mut play = turn_with(r#"{"history":null}"#);
    play.plays("not begun", &[(Fails(network()), "end incomplete: incomplete")]);
    assert!(play.reported().contains("keeps no history"), "{}", play.reported());
}

#[test]
fn to_hang_up_is_to_cancel() {
    let mut play = starting();
    play.driver.cancel_by_disconnect();
    play.driver.opened(0.0);
    play.driver.reader_mut().push(part().as_bytes()).expect("frames are small");
    play.plays("begun", &[(Aborted, "end cancelled")]);
    assert_eq!(content(&play), "a");
    let mut play = starting();
    play.driver.cancel_by_disconnect();
    play.plays("on its way", &[(Aborted, "end cancelled")]);
}

/// A turn whose end was found without its stream is read with its events, or a failure is reported.
#[test]
fn a_turn_that_was_found_ended_is_read_whole() {
    let left = || {
        let mut play = starting();
        play.driver.reader_mut().push(part().as_bytes()).expect("frames are small");
        assert_eq!(play.next(Aborted), "end running: aborted");
        play.found(&record("done"));
        assert_eq!(play.complete(), "read");
        play
    };
    let mut play = left();
    assert_eq!(play.next(Answers(record("done"))), "end done");
    assert_eq!(content(&play), "ab");
    assert_eq!(play.complete(), "end done");
    let mut play = left();
    assert_eq!(play.next(Fails(http(404))), "end done: incomplete 404");
    assert_eq!(play.complete(), "read");
}

/// A response that is not a stream has everything at once; it is delivered once.
#[test]
fn an_answer_can_come_whole() {
    let mut play = turn_with(r#"{"stream":"none"}"#);
    let body = json!({"stopReason": "end_turn", "messages": [{"role": "assistant", "content": "ab"}]});
    play.plays("whole", &[(Answers(body), "end done")]);
    assert_eq!(content(&play), "ab");
    let events = play.delivered();
    assert_eq!(events.first().map(String::as_str), Some("turn.created"));
    assert_eq!(events.last().map(String::as_str), Some("turn.done"));
}

/// The user's messages are counted, answers are not.
#[test]
fn messages_of_an_input_are_counted() {
    let count = |json: &str| {
        let input = TurnInput::read(
            Value::parse(json).expect("JSON"),
            &crate::protocol::Protocol::capabilities(&Aap::new()),
        );
        input.expect("an input").message_count()
    };
    assert_eq!(count(r#""hi""#), 1);
    assert_eq!(count("[]"), 0);
    assert_eq!(count(r#"[{"type":"user.message","content":"a"},{"type":"user.message","content":"b"}]"#), 2);
    let answer = r#"{"type":"user.tool_response","thread_id":"main","tool_call_id":"c","content":"1"}"#;
    assert_eq!(count(answer), 0);
}
