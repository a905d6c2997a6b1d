//! The driver, rule by rule: turns whose server knows no turns (protocol note of the Agent Application Protocol,
//! section 6). The session's history tells what became of one, found by its input; nothing is sent twice.

use serde_json::{Value as Json, json};

use super::play::Act::{self, Aborted, Answers, Breaks, Brings, Fails, Waited};
use super::play::{Play, asking, http, network};
use crate::json::Value;
use crate::protocol::aap::Aap;
use crate::turn::{Failure, Reconnect, TurnInput};

fn turn_with(terms: &str) -> Play {
    let parsed = Value::parse(terms).expect("JSON");
    let aap = Aap::of_terms(parsed.as_object().expect("an object"));
    let mut play = Play::of(Box::new(aap), Value::from("hi"), "");
    play.driver.set_start("agent", "t");
    play.driver.set_terms(terms);
    play.driver.set_said(Some(4));
    assert_eq!(play.stream(Reconnect::default()), "post stream");
    play
}

fn starting() -> Play {
    turn_with("{}")
}

fn frames(list: &[(&str, Json)]) -> String {
    let frames = list.iter().map(|(event, data)| format!("event: {event}\ndata: {data}\n\n"));
    frames.collect::<Vec<_>>().concat()
}

/// The stream up to a piece of text.
fn part() -> String {
    frames(&[("turn_start", json!({})), ("text_delta", json!({"delta": "a"}))])
}

fn record(status: &str) -> Json {
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

/// However the stream ends before its last frame: the history is read until it has the answer.
#[test]
fn a_lost_answer_is_waited_for_in_the_history() {
    for (act, cause) in [(Brings(part()), "incomplete"), (Breaks(part(), network()), "network")] {
        let mut play = starting();
        let (first, second) = (format!("wait 250 #1 {cause}"), format!("wait 500 #2 {cause}"));
        let script: [(Act, &str); 6] = [
            (act, "read"),
            (Answers(record("running")), &first),
            (Waited, "read"),
            (Fails(http(404)), &second),
            (Waited, "read"),
            (Answers(record("done")), "end done"),
        ];
        play.plays("found", &script);
        assert_eq!(content(&play), "ab");
    }
}

#[test]
fn an_answer_that_never_comes_leaves_the_turn_incomplete() {
    let mut play = starting();
    let mut step = play.next(Breaks(part(), network()));
    let mut reads = 0;
    while step == "read" {
        reads += 1;
        step = play.next(Answers(record("running")));
        if step.starts_with("wait") {
            step = play.next(Waited);
        }
    }
    assert_eq!(step, "end incomplete: incomplete");
    assert_eq!(reads, 1 + Reconnect::default().max_attempts);
    assert!(play.reported().contains("history"), "{}", play.reported());
    assert_eq!(content(&play), "a");
    // Once more: it is looked for, and not started.
    assert_eq!(play.stream(Reconnect::default()), "read");
}

/// Its input names it, and how much was said before.
#[test]
fn a_turn_is_found_by_its_input() {
    let mut play = turn_with(r#"{"history":"full"}"#);
    assert_eq!(play.params()["terms"], json!({"history": "full"}));
    play.next(Breaks(part(), network()));
    let params = play.params();
    assert_eq!(params["turn_id"], "t");
    assert_eq!(params["input"], json!([{"type": "user.message", "content": "hi"}]));
    assert_eq!((&params["is_begun"], &params["said"]), (&json!(true), &json!(4)));
    let mut play = starting();
    play.next(Fails(network()));
    play.next(Waited);
    assert_eq!(play.params()["is_begun"], json!(false));
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

/// A history that does not have a turn proves nothing: it may be stored when it has ended.
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
        assert!(play.reported().contains("whether the turn began is not known"), "{}", play.reported());
        assert_eq!(play.stream(Reconnect::default()), "read");
    }
    // Who says when to come again has not taken it.
    let (step, _) = absent(asking(http(503), 1000));
    assert_eq!(step, "post stream");
    let mut play = starting();
    play.plays("refused", &[(Fails(http(400)), "end unstarted: http 400")]);
}

/// What the history says has to go on as the stream did.
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

/// Where there is no history, the stream is all there is, and nothing is asked.
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
    play.driver.hang_up();
    play.driver.opened(0.0);
    play.driver.reader_mut().push(part().as_bytes()).expect("frames are small");
    play.plays("begun", &[(Aborted, "end cancelled")]);
    assert_eq!(content(&play), "a");
    let mut play = starting();
    play.driver.hang_up();
    play.plays("on its way", &[(Aborted, "end cancelled")]);
}

/// An answer that is no stream says all at once; whatever it is, it says it once.
/// A turn whose end was found without its stream is read with what it said, or that is reported.
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
    let mut step = play.next(Fails(http(404)));
    while step.starts_with("wait") {
        assert_eq!(play.next(Waited), "read");
        step = play.next(Fails(http(404)));
    }
    assert_eq!(step, "end done: incomplete");
    assert_eq!(play.complete(), "read");
}

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
    let count =
        |json: &str| TurnInput::read(Value::parse(json).expect("JSON")).expect("an input").message_count();
    assert_eq!(count(r#""hi""#), 1);
    assert_eq!(count("[]"), 0);
    assert_eq!(count(r#"[{"type":"user.message","content":"a"},{"type":"user.message","content":"b"}]"#), 2);
    let answer = r#"{"type":"user.tool_response","thread_id":"main","tool_call_id":"c","content":"1"}"#;
    assert_eq!(count(answer), 0);
}
