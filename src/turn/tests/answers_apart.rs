//! The driver, rule by rule: a turn that continues under its old id after answers sent as separate requests (protocol
//! note of `AgentEvent`, section 5). No answer is sent twice, and events from before the pause are not delivered.

use serde_json::{Value as Json, json};

use super::play::Act::{self, Aborted, Answers, Breaks, Brings, Fails, Unsent, Waited};
use super::play::{Play, asking, http, network, of_code, page, trace};
use super::runs::{
    answering, approval, done, finish, kept, listed, live, paused, payloads, recorded, running, stored,
};
use crate::error::ErrorCode;
use crate::json::Value;
use crate::turn::{Newest, Reconnect, StartTrace, TurnInput};

fn taken() -> Act {
    Answers(json!(null))
}

/// A pending call.
fn suspended(call: &str) -> Json {
    let suspension = json!({"suspension": {"id": call, "action": "tool:f"}, "resume_mode": "replay_tool_call",
                            "pending": {"id": call, "name": "f", "arguments": {}}});
    json!({"event_type": "tool_call_done", "id": call, "message_id": "", "outcome": "suspended",
           "result": {"tool_name": "f", "status": "pending", "data": null, "message": null, "metadata": {},
                      "suspension": suspension}})
}

/// The turn's five frames before the pause.
fn first_half() -> Vec<Json> {
    let mut frames = payloads(1..=2);
    for call in ["a", "b"] {
        frames.push(suspended(call));
    }
    frames.push(finish(&json!({"type": "suspended"})));
    frames
}

fn result(call: &str) -> [Json; 2] {
    [
        json!({"event_type": "run_start", "thread_id": "s", "run_id": "t"}),
        json!({"event_type": "tool_call_done", "id": call, "message_id": format!("r-{call}"), "outcome": "succeeded",
               "result": {"tool_name": "f", "status": "success", "data": 1, "message": null, "metadata": {}}}),
    ]
}

/// The turn's frames after the pause.
fn second_half() -> Vec<Json> {
    let mut frames = [result("a"), result("b")].concat();
    frames.push(json!({"event_type": "step_start", "message_id": "n"}));
    frames.push(json!({"event_type": "text_delta", "delta": "x"}));
    frames.push(finish(&json!({"type": "natural_end"})));
    frames
}

const SECOND: [&str; 6] =
    ["tool.response r-a", "tool.response r-b", "model.message n", "+x", "model.message.delta", "turn.done"];

/// Answers to both calls.
fn both() -> Play {
    let mut play = answering(&["a", "b"], "t");
    assert_eq!(play.stream(Reconnect::default()), "read");
    play
}

/// The same, when the first answer is the next request.
fn ready() -> Play {
    let mut play = both();
    play.plays(
        "ready",
        &[
            (Answers(paused(&["a", "b"], "1")), "frames"),
            (Answers(kept(&first_half(), None, "c5")), "answer a"),
        ],
    );
    play
}

#[test]
fn a_turn_goes_on_under_its_id() {
    let mut play = ready();
    play.plays(
        "goes on",
        &[
            (taken(), "answer b"),
            (taken(), "subscribe at c5"),
            (Brings(stored(6, &second_half())), "end done"),
        ],
    );
    assert_eq!(play.driver.reader().machine().id(), Some("t"));
    assert_eq!(play.delivered(), SECOND);
    let created: Json =
        serde_json::from_str(&play.driver.reader_mut().take_created().expect("it goes on")).expect("JSON");
    assert_eq!((&created["id"], &created["input"]), (&json!("t"), &json!([approval("a"), approval("b")])));
    // Its numbers continue, too.
    assert!(play.driver.reader().machine().cursor().last() > 6);
}

/// The result does not depend on which events were delivered before the pause, or by which client.
#[test]
fn what_was_said_before_is_not_delivered() {
    for follows in [false, true] {
        for pages in [vec![5], vec![2, 5], vec![1, 2, 3, 4, 5]] {
            let mut play = both();
            if follows {
                play.driver.reader_mut().follow(4, &["m".to_owned()]);
            }
            let mut step = play.next(Answers(paused(&["a", "b"], "1")));
            let mut from = 0;
            for until in pages {
                assert!(step.starts_with("frames"), "{step}");
                let token = format!("c{until}");
                step = play.next(Answers(kept(
                    &first_half()[from..until],
                    (until < 5).then_some(&*token),
                    &token,
                )));
                from = until;
            }
            assert_eq!(step, "answer a");
            play.plays(
                "cut",
                &[
                    (taken(), "answer b"),
                    (taken(), "subscribe at c5"),
                    (Breaks(stored(6, &second_half()[..3]), network()), "wait 250 #1 network"),
                    (Waited, "again at c8"),
                    (Fails(http(410)), "wait 500 #2 http 410"),
                    (Waited, "frames"),
                    (Answers(kept(&[first_half(), second_half()].concat(), None, "c12")), "end done"),
                ],
            );
            assert_eq!(play.delivered(), SECOND);
        }
    }
}

/// A record that lacks delivered events is not used. In that case, or without a record, the list shows the events from
/// before the pause, and the turn's end is awaited.
#[test]
fn without_a_record_the_list_tells_what_was_said_before() {
    let response = |call: &str| json!({"type": "tool.response", "id": format!("r-{call}"), "thread_id": "main", "tool_call_id": call, "content": "1"});
    let before = [listed("before"), response("z")];
    let all = [&before[..], &[response("a"), response("b")]].concat();
    for frames in
        [Fails(http(404)), Answers(kept(&[], None, "")), Answers(kept(&payloads(1..=2), None, "c2"))]
    {
        let mut play = both();
        play.driver.reader_mut().follow(4, &["m".to_owned()]);
        play.plays(
            "without",
            &[
                (Answers(paused(&["a", "b"], "1")), "frames"),
                (frames, "list"),
                (Answers(page(&before[..1], Some("p2"))), "list from p2"),
                (Answers(page(&before[1..], None)), "answer a"),
                (taken(), "answer b"),
                (taken(), "read"),
                // After the answers, the record shows the pause for a moment longer.
                (Answers(paused(&["a", "b"], "1")), "wait 500 for turn"),
                (Waited, "read"),
                (Answers(paused(&["b"], "2")), "wait 1000 for turn"),
                (Waited, "read"),
                (Answers(running()), "wait 2000 for turn"),
                (Waited, "read"),
                (Answers(done()), "list"),
                (Answers(page(&all, None)), "end done"),
            ],
        );
        assert_eq!(play.delivered(), ["tool.response r-a", "tool.response r-b", "turn.done"]);
    }
}

/// An answered call that becomes pending again ends the turn, after a limited number of reads.
#[test]
fn a_call_that_waits_again_ends_the_turn() {
    let mut play = both();
    play.plays(
        "polled",
        &[
            (Answers(paused(&["a", "b"], "1")), "frames"),
            (Fails(http(404)), "list"),
            (Answers(page(&[], None)), "answer a"),
            (taken(), "answer b"),
            (taken(), "read"),
        ],
    );
    for _ in 0..15 {
        assert!(play.next(Answers(paused(&["b"], "2"))).starts_with("wait"));
        assert_eq!(play.next(Waited), "read");
    }
    play.plays("again", &[(Answers(paused(&["b"], "2")), "list"), (Answers(page(&[], None)), "end done")]);
    assert_eq!(play.driver.reader().index().pending().len(), 1);

    // On a stream, a resumed call shows it.
    let mut play = ready();
    let start = result("a")[0].clone();
    let pause = finish(&json!({"type": "suspended"}));
    let between = [&result("a")[..], std::slice::from_ref(&pause)].concat();
    play.plays("goes on", &[(taken(), "answer b"), (taken(), "subscribe at c5")]);
    let goes_on = json!({"event_type": "tool_call_resumed", "target_id": "b", "result": {"approved": true}});
    let again = [between, vec![start, goes_on, suspended("b"), pause]].concat();
    assert_eq!(play.next(Brings(stored(6, &again))), "end done");
    let delivered = play.delivered();
    assert_eq!(delivered.iter().filter(|event| *event == "turn.done").count(), 1, "{delivered:?}");
    let pending = play.driver.reader().index().pending();
    assert_eq!(pending.iter().map(|action| &*action.id).collect::<Vec<_>>(), ["b"]);
}

/// A turn that continues with one answer may report that it waits for another one, which was also sent.
#[test]
fn a_pause_that_was_answered_is_none() {
    let mut frames = result("a").to_vec();
    frames.push(finish(&json!({"type": "suspended"})));
    let at = frames.len();
    frames.extend(second_half()[2..].to_vec());
    for cut in [at, at + 1, frames.len()] {
        let mut play = ready();
        play.plays("goes on", &[(taken(), "answer b"), (taken(), "subscribe at c5")]);
        let mut step = play.next(Breaks(stored(6, &frames[..cut]), network()));
        if cut < frames.len() {
            assert_eq!((step.as_str(), play.status()), ("wait 250 #1 network", "running"));
            assert_eq!(play.next(Waited), format!("again at c{}", 5 + cut));
            step = play.next(Brings(stored(6 + cut, &frames[cut..])));
        }
        assert_eq!(step, "end done");
        assert_eq!(play.delivered(), SECOND, "{cut}");
    }
}

/// A turn may pause while answers are in flight. The server's response to them decides whether that is its end.
#[test]
fn a_pause_while_answers_are_on_their_way() {
    let both = json!([approval("a"), approval("b")]).to_string();
    let on_their_way = || {
        let mut play = recorded();
        assert_eq!(play.stream(Reconnect::default()), "post stream");
        let frames = first_half();
        play.driver.opened(0.0);
        let reader = play.driver.reader_mut();
        reader.push(live(&frames[..4]).as_bytes()).expect("frames are small");
        let input = Value::parse(&both).expect("JSON");
        let input = TurnInput::read(input, &reader.capabilities()).expect("answers");
        reader.add_answered(&input);
        let step = play.next(Brings(live(&frames[4..])));
        assert_eq!((step.as_str(), play.status()), ("wait 250 #1 incomplete", "running"));
        (play, input)
    };
    let (mut play, answers) = on_their_way();
    play.driver.reader_mut().confirm_answered(&answers, true);
    let whole = [first_half(), second_half()].concat();
    play.plays("taken", &[(Waited, "frames"), (Answers(kept(&whole, None, "c12")), "end done")]);
    assert_eq!((play.delivered().last().expect("an event").as_str(), play.waiting().len()), ("turn.done", 0));

    let (mut play, answers) = on_their_way();
    play.driver.reader_mut().confirm_answered(&answers, false);
    play.plays("refused", &[(Waited, "end done")]);
    assert_eq!(play.delivered().last().expect("an event"), "turn.done");
    assert_eq!(play.waiting(), ["a", "b"]);
}

/// The answered turn is the named one, or the newest.
#[test]
fn the_turn_is_the_named_or_the_newest_one() {
    let known = StartTrace { newest: Newest::Turn("t".to_owned()), ..trace() };
    for (named, trace, step) in [
        ("t", trace(), "read"),
        ("", known.clone(), "read"),
        ("auto", known, "read"),
        ("", trace(), "end unstarted: invalid_input"),
        ("none", trace(), "end unstarted: invalid_input"),
    ] {
        let mut play = answering(&["a"], named);
        assert_eq!(play.stream_traced(trace), step, "{named}");
        if step == "read" {
            assert_eq!(play.params(), json!({"session_id": "s", "turn_id": "t"}));
        }
    }
}

/// A failure before the first answer changes nothing.
#[test]
fn what_fails_before_the_answers_leaves_it_unstarted() {
    let cases: [(Act, &str); 7] = [
        (Answers(running()), "end unstarted: turn_not_running"),
        (Answers(done()), "end unstarted: turn_not_running"),
        (Fails(http(404)), "end unstarted: http 404"),
        (Fails(http(401)), "end unstarted: http 401"),
        (Fails(of_code(ErrorCode::Token)), "end unstarted"),
        (Aborted, "end unstarted"),
        (Unsent, "end unstarted"),
    ];
    for (act, end) in cases {
        let mut play = both();
        let name = format!("{act:?}");
        play.plays(&name, &[(act, end)]);
        assert_eq!(play.stream(Reconnect::default()), "read");
    }
    let mut play = both();
    play.plays(
        "persistent",
        &[
            (Fails(http(500)), "wait 250 #1 http 500"),
            (Waited, "read"),
            (Answers(paused(&["a", "b"], "1")), "frames"),
            (Fails(network()), "wait 500 #2 network"),
            (Waited, "frames"),
            (Aborted, "end unstarted"),
        ],
    );
}

/// A refused answer was not accepted; one that came too early is sent again.
#[test]
fn an_answer_that_is_refused() {
    for status in [400, 404, 409, 422] {
        let mut play = ready();
        assert_eq!(play.next(Fails(http(status))), format!("end unstarted: http {status}"));
    }
    let mut play = ready();
    play.plays(
        "early",
        &[
            (Fails(asking(http(429), 1000)), "wait 1250>=1000 #1 http 429"),
            (Waited, "answer a"),
            (taken(), "answer b"),
            (Fails(http(429)), "wait 500 #2 http 429"),
            (Waited, "answer b"),
            (taken(), "subscribe at c5"),
        ],
    );
}

/// Only the turn shows whether a lost answer arrived: it is read as often as after a lost start.
#[test]
fn an_answer_that_is_lost_is_looked_for() {
    let mut play = ready();
    play.plays(
        "arrived",
        &[
            (taken(), "answer b"),
            (Fails(network()), "wait 250 #1 network"),
            (Waited, "read"),
            (Answers(paused(&["a", "b"], "1")), "wait 1500>=1500 #2 network"),
            (Waited, "read"),
            (Answers(running()), "subscribe at c5"),
            (Brings(stored(6, &second_half())), "end done"),
        ],
    );
    assert_eq!(play.delivered(), SECOND);
    let looks = |play: &mut Play, end: &str| {
        play.plays(
            "looks",
            &[
                (Fails(network()), "wait 250 #1 network"),
                (Waited, "read"),
                (Answers(paused(&["a", "b"], "1")), "wait 1500>=1500 #2 network"),
                (Waited, "read"),
                (Answers(paused(&["a", "b"], "1")), "wait 3000>=3000 #3 network"),
                (Waited, "read"),
                (Answers(paused(&["a", "b"], "1")), end),
            ],
        );
    };
    let mut play = ready();
    looks(&mut play, "end unstarted: network");
    assert_eq!(play.stream(Reconnect::default()), "read");

    // The server accepted the first answer, so the turn has changed, and only the second is sent again.
    let mut play = ready();
    assert_eq!(play.next(taken()), "answer b");
    looks(&mut play, "end incomplete: incomplete");
    assert_eq!(play.stream(Reconnect::default()), "read");
    play.plays(
        "the rest",
        &[
            (Answers(paused(&["b"], "2")), "wait 1500>=1500 #1 network"),
            (Waited, "read"),
            (Answers(paused(&["b"], "2")), "wait 3000>=3000 #2 network"),
            (Waited, "read"),
            (Answers(paused(&["b"], "2")), "read"),
            (Answers(paused(&["b"], "2")), "frames"),
            (Answers(kept(&[&first_half()[..], &result("a")].concat(), None, "c7")), "answer b"),
            (taken(), "subscribe at c7"),
        ],
    );
}

/// A turn with only some of its calls answered has neither begun nor kept its former state.
#[test]
fn a_half_answered_turn_is_incomplete() {
    let cases: [(Act, &str); 6] = [
        (Fails(http(400)), "end incomplete: incomplete 400"),
        (Fails(http(409)), "end incomplete: incomplete 409"),
        (Aborted, "end incomplete: aborted"),
        (Unsent, "end incomplete: aborted"),
        (Fails(of_code(ErrorCode::InvalidOption)), "end incomplete: incomplete"),
        (Fails(asking(http(503), 300_001)), "read"),
    ];
    for (act, end) in cases {
        let mut play = ready();
        play.plays("half", &[(taken(), "answer b"), (act, end)]);
        if end == "read" {
            continue;
        }
        assert_eq!(play.stream(Reconnect::default()), "read");
        // It continued; its own events say what it still waits for.
        assert_eq!(play.next(Answers(running())), "subscribe at c5");
        let paused = [&result("a")[..], &[finish(&json!({"type": "suspended"}))]].concat();
        assert_eq!(play.next(Brings(stored(6, &paused))), "end done");
        let pending = play.driver.reader().index().pending();
        assert_eq!(pending.iter().map(|action| &*action.id).collect::<Vec<_>>(), ["b"]);
    }
    let mut play = answering(&["a", "b"], "t");
    assert_eq!(play.stream(Reconnect::OFF), "read");
    play.plays(
        "without reconnects",
        &[
            (Answers(paused(&["a", "b"], "1")), "frames"),
            (Answers(kept(&first_half(), None, "c5")), "answer a"),
            (taken(), "answer b"),
            (Fails(http(400)), "end incomplete: incomplete 400"),
        ],
    );
}

/// Even after a 503, which most likely means that nothing was done, the turn is read first.
#[test]
fn an_answer_to_a_server_that_is_away_is_sent_again() {
    let mut play = ready();
    play.plays("away", &[(Fails(http(503)), "wait 250 #1 http 503"), (Waited, "read")]);
    for _ in 0..2 {
        assert!(play.next(Answers(paused(&["a", "b"], "1"))).starts_with("wait"));
        assert_eq!(play.next(Waited), "read");
    }
    play.plays(
        "again",
        &[
            (Answers(paused(&["a", "b"], "1")), "read"),
            (Answers(paused(&["a", "b"], "1")), "frames"),
            (Answers(kept(&first_half(), None, "c5")), "answer a"),
            (taken(), "answer b"),
            (taken(), "subscribe at c5"),
            (Brings(stored(6, &second_half())), "end done"),
        ],
    );
    assert_eq!(play.delivered(), SECOND);
}

/// Another page reads such a turn from its beginning: a pause followed by more events is not its end.
#[test]
fn a_pause_in_a_record_is_not_the_end_of_a_turn_that_went_on() {
    let whole = [first_half(), second_half()].concat();
    for cut in 1..whole.len() {
        let mut play = recorded();
        play.found(&running());
        assert_eq!(play.stream(Reconnect::default()), "frames");
        play.plays(
            "goes on",
            &[
                (Answers(kept(&whole[..cut], Some("c"), "c")), "frames from c"),
                (Answers(kept(&whole[cut..], None, "c12")), "end done"),
            ],
        );
        let delivered = play.delivered();
        let ends = delivered.iter().filter(|event| *event == "turn.done").count();
        assert_eq!((ends, &delivered[delivered.len() - 6..]), (1, &SECOND.map(str::to_owned)[..]), "{cut}");
    }
    // It continues with one answer and waits for the other one; its stream follows.
    let mut play = recorded();
    play.found(&running());
    assert_eq!(play.stream(Reconnect::default()), "frames");
    play.plays(
        "follows",
        &[
            (Answers(kept(&whole[..7], None, "c7")), "subscribe at c7"),
            (Brings(stored(8, &[finish(&json!({"type": "suspended"}))])), "end done"),
        ],
    );
    assert_eq!(play.waiting(), ["b"]);
}

/// The end of the record is the turn's state: it pauses there.
#[test]
fn a_pause_at_the_end_of_a_record_is_one() {
    let mut play = recorded();
    play.found(&running());
    assert_eq!(play.stream(Reconnect::default()), "frames");
    play.plays(
        "pauses",
        &[
            (Answers(kept(&first_half(), Some("c"), "c5")), "frames from c"),
            (Answers(kept(&[], None, "c5")), "end done"),
        ],
    );
    assert_eq!(play.waiting(), ["a", "b"]);
}

/// A message starts a new turn.
#[test]
fn a_message_is_no_answer() {
    let mut play = recorded();
    assert_eq!(play.stream(Reconnect::default()), "post stream");
    assert_eq!(play.params()["turn_id"], "mine");
}
