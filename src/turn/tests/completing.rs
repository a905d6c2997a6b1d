//! The driver, rule by rule: bringing a turn to its end, with all its events. A running turn is streamed. If a turn's
//! end was found without its stream, its events are listed, and every required action has its call.

use serde_json::{Value as Json, json};

use super::play::Act::{Aborted, Answers, Brings, Fails, Waited};
use super::play::{
    Play, asking_for_call, calling, frames, http, listed, network, page, paused, record, started,
};
use crate::turn::Reconnect;

/// The names of the pending calls that are shown.
fn shown(play: &mut Play) -> Vec<Json> {
    let mut batch = crate::delivery::ChangeBatch::default();
    let document = play.driver.reader_mut().take_changes(&mut batch).unwrap_or_default();
    let document: Json = serde_json::from_str(&document).unwrap_or_default();
    let actions = document["turn"]["required_actions"].as_array().cloned().unwrap_or_default();
    actions.iter().map(|action| action["name"].clone()).collect()
}

fn event(number: u64, event: &Json) -> String {
    format!("data: {event}\nid: {number}\n\n")
}

/// A turn that begins, calls and pauses.
fn pausing() -> String {
    let done = json!({"type": "turn.done", "id": "e", "state": paused()["state"]});
    [frames(1..=1), event(2, &calling()), event(3, &asking_for_call()), event(4, &done)].concat()
}

#[test]
fn a_turn_that_runs_is_streamed() {
    let mut play = Play::new();
    assert_eq!(play.complete(), "post stream");
    assert_eq!(play.next(Brings(frames(1..=6))), "end done");
    assert_eq!(play.complete(), "end done", "it is whole");

    let mut play = Play::new();
    play.found(&record("running"));
    assert_eq!(play.complete(), "subscribe after 0");
    assert_eq!(play.next(Brings(pausing())), "end done");
    assert_eq!(shown(&mut play), ["f"]);
}

#[test]
fn a_turn_that_was_found_ended_is_listed() {
    let mut play = Play::new();
    play.found(&paused());
    assert_eq!(shown(&mut play), Vec::<Json>::new());
    assert_eq!(play.complete(), "list");
    let says = json!({"type": "model.message", "id": "m0", "thread_id": "main", "content": "a", "finish_reason": "stop"});
    play.plays(
        "pages",
        &[
            (Answers(page(&[says], Some("p2"))), "list from p2"),
            (Answers(page(&[calling(), asking_for_call()], None)), "end done"),
        ],
    );
    assert_eq!(shown(&mut play), ["f"]);
    assert_eq!(play.complete(), "end done");
}

/// The response to a start may say that the turn is already done.
#[test]
fn a_start_can_bring_the_end() {
    let mut play = Play::new();
    assert_eq!(play.start(), "post");
    assert_eq!(play.next(Answers(record("done"))), "end done");
    assert_eq!(play.complete(), "list");
    assert_eq!(play.next(Answers(page(&[listed()], None))), "end done");
    assert_eq!(play.content(), "ab");
}

/// The turn has ended and its result is kept. The missing events are reported, and requested again by the next run.
#[test]
fn a_list_that_cannot_be_read_is_reported_each_time() {
    let mut play = Play::new();
    play.found(&paused());
    for _ in 0..2 {
        assert_eq!(play.complete(), "list");
        assert_eq!(play.next(Fails(http(403))), "end done: incomplete 403");
        assert!(play.reported().contains("the turn has ended"), "{}", play.reported());
        assert_eq!(shown(&mut play), Vec::<Json>::new());
    }
    assert_eq!(play.complete(), "list");
    play.plays(
        "it passes",
        &[
            (Fails(network()), "wait 250 #1 network"),
            (Waited, "list"),
            (Answers(page(&[calling()], None)), "end done"),
        ],
    );
    assert_eq!(shown(&mut play), ["f"]);
}

/// Leaving the list undoes nothing.
#[test]
fn a_list_that_is_left_is_begun_again() {
    let mut play = Play::new();
    play.found(&paused());
    assert_eq!(play.complete(), "list");
    assert_eq!(play.next(Answers(page(&[listed()], Some("p2")))), "list from p2");
    assert_eq!(play.next(Aborted), "end done");
    assert_eq!(play.complete(), "list");
    assert_eq!(play.next(Answers(page(&[calling()], None))), "end done");
    assert_eq!(shown(&mut play), ["f"]);
}

/// A partial message of the stream is completed.
#[test]
fn a_turn_that_was_left_within_a_call_is_listed() {
    let mut play = started(1..=2);
    assert_eq!(play.next(Aborted), "end running: aborted");
    play.found(&paused());
    assert_eq!(play.complete(), "list");
    assert_eq!(play.next(Answers(page(&[calling()], None))), "end done");
    assert_eq!(shown(&mut play), ["f"]);
}

/// The stream brought everything except the call: the call was made before the stream's start, or in an earlier turn.
#[test]
fn a_stream_without_the_call_is_followed_by_lists() {
    let asked = [
        frames(1..=2),
        event(3, &asking_for_call()),
        event(4, &json!({"type": "turn.done", "id": "e", "state": paused()["state"]})),
    ]
    .concat();
    for reconnect in [Reconnect::default(), Reconnect::OFF] {
        let mut play = Play::new();
        assert_eq!(play.stream(reconnect), "post stream");
        assert_eq!(play.next(Brings(asked.clone())), "list");
        assert_eq!(shown(&mut play), Vec::<Json>::new());
        assert_eq!(play.next(Answers(page(&[calling()], None))), "end done");
        assert_eq!(shown(&mut play), ["f"]);

        let mut play = Play::new();
        assert_eq!(play.stream(reconnect), "post stream");
        let item = |event: Json| json!({"turn_id": "t0", "event": event});
        play.plays(
            "an earlier turn",
            &[
                (Brings(asked.clone()), "list"),
                (Answers(page(&[listed()], None)), "calls"),
                (Answers(page(&[item(asking_for_call())], Some("p2"))), "calls from p2"),
                (Answers(page(&[item(calling())], Some("p3"))), "end done"),
            ],
        );
        assert_eq!(shown(&mut play), ["f"]);
    }
    let mut play = Play::new();
    assert_eq!(play.stream(Reconnect::default()), "post stream");
    play.plays(
        "nowhere",
        &[
            (Brings(asked), "list"),
            (Answers(page(&[listed()], None)), "calls"),
            (Answers(page(&[], None)), "end done: incomplete"),
        ],
    );
    assert!(play.reported().contains("no pending call with this id"), "{}", play.reported());
}

/// A gap in the call's arguments may leave text that looks whole.
#[test]
fn a_call_with_a_gap_is_shown_when_it_is_whole() {
    let delta = |text: &str| {
        json!({"type": "model.message.delta", "id": "m", "thread_id": "main",
        "tool_calls": [{"index": 0, "function": {"arguments": text}}]})
    };
    let head = json!({"type": "model.message.delta", "id": "m", "thread_id": "main",
        "tool_calls": [{"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": "{"}}]});
    let mut play = started(1..=2);
    play.driver.reader_mut().connected(false);
    let lossy = [event(3, &head), event(5, &delta("}")), event(6, &asking_for_call())].concat();
    play.driver.reader_mut().push(lossy.as_bytes()).expect("it goes on");
    assert_eq!(shown(&mut play), Vec::<Json>::new());
    let done = json!({"type": "turn.done", "id": "e", "state": paused()["state"]});
    assert_eq!(play.next(Brings(event(7, &done))), "list");
    assert_eq!(shown(&mut play), Vec::<Json>::new());
    assert_eq!(play.next(Answers(page(&[calling()], None))), "end done");
    assert_eq!(shown(&mut play), ["f"]);
}

/// A search stopped within its list of turns does not affect the list of events.
#[test]
fn a_list_after_a_search_that_was_left_begins_anew() {
    let says = |id: &str| json!({"type": "model.message", "id": id, "thread_id": "main", "content": id, "finish_reason": "stop"});
    let mut play = Play::new();
    assert_eq!(play.stream(Reconnect::default()), "post stream");
    play.plays(
        "left",
        &[
            (Fails(network()), "wait 250 #1 network"),
            (Waited, "look"),
            (Answers(page(&[], Some("p2"))), "look"),
            (Aborted, "end incomplete: aborted"),
        ],
    );
    let mut found = record("done");
    found["state"]["output"] = says("m2");
    play.found(&found);
    shown(&mut play);
    assert_eq!(play.complete(), "list");
    assert_eq!(play.next(Answers(page(&[says("m1"), says("m2")], None))), "end done");
    let messages = play.driver.reader().index().messages().iter();
    assert_eq!(messages.map(|message| &*message.id).collect::<Vec<_>>(), ["m1", "m2"]);
}

/// Once a turn was found, the result of its start no longer matters.
#[test]
fn a_turn_that_was_found_elsewhere_is_not_looked_for() {
    let mut play = Play::new();
    assert_eq!(play.stream(Reconnect::default()), "post stream");
    play.plays("left", &[(Fails(network()), "wait 250 #1 network"), (Aborted, "end incomplete: aborted")]);
    play.found(&record("running"));
    assert_eq!(play.complete(), "subscribe after 0");
    play.plays(
        "expired",
        &[
            (Fails(http(412)), "read"),
            (Answers(record("done")), "list"),
            (Answers(page(&[listed()], None)), "end done"),
        ],
    );
}
