//! The driver, rule by rule: turns that stop once their stream is lost (protocol note of `AgentEvent`, sections 1.5 and
//! 2.4). A loss is reported, and nothing is sent twice.

use serde_json::{Value as Json, json};

use super::play::Act::{self, Aborted, Answers, Breaks, Brings, Fails, Unsent, Waited};
use super::play::{FRAME_LIMIT, Play, asking, http, network, of_code, page, trace};
use super::runs::{done, forsaken, listed, payloads, question, record, running, wrapped};
use crate::delivery::ChangeBatch;
use crate::error::ErrorCode;
use crate::turn::{Newest, Reconnect, StartTrace};

fn starting() -> Play {
    let mut play = forsaken();
    assert_eq!(play.stream(Reconnect::default()), "post stream");
    play
}

fn frames(until: usize) -> String {
    wrapped(&payloads(1..=until))
}

/// However the stream ends, the turn's state is read three times.
#[test]
fn a_lost_turn_is_looked_at_and_given_up() {
    let large = format!("{}data: {}", frames(3), "x".repeat(FRAME_LIMIT));
    let cases = [
        (Brings(frames(3)), "the stream ended before"),
        (Breaks(frames(3), network()), "it broke"),
        (Breaks(frames(3), of_code(ErrorCode::Timeout)), "it broke"),
        (Breaks(frames(1), network()), "it broke"),
    ];
    for (act, cause) in cases {
        let mut play = starting();
        let script = [
            (act.clone(), "read"),
            (Answers(running()), "wait 500 for history"),
            (Waited, "read"),
            (Answers(running()), "wait 1000 for history"),
            (Waited, "read"),
            (Answers(running()), "end incomplete: incomplete"),
        ];
        play.plays("lost", &script);
        assert!(play.reported().contains("cannot resume it"), "{}", play.reported());
        assert!(play.reported().contains(cause), "{}", play.reported());
        // The next run reads it instead of starting it.
        assert_eq!(play.stream(Reconnect::default()), "read");
        assert!(play.next(Answers(running())).starts_with("wait"));
        play.plays(
            "again",
            &[
                (Waited, "read"),
                (Answers(done()), "list"),
                (Answers(page(&[listed("ab")], None)), "end done"),
            ],
        );
        assert_eq!(play.content(), "ab");
    }
    let mut play = starting();
    play.plays("too large", &[(Brings(large), "end incomplete: frame_too_large")]);
    assert_eq!(play.stream(Reconnect::default()), "read");
}

/// The turn may have ended before its reader left: then its events are listed, each once.
#[test]
fn a_turn_that_ended_meanwhile_is_listed() {
    let mut play = starting();
    play.plays(
        "ended",
        &[
            (Breaks(frames(3), network()), "read"),
            (Answers(running()), "wait 500 for history"),
            (Waited, "read"),
            (Answers(done()), "list"),
            (Answers(page(&[], Some("p2"))), "list from p2"),
            (Answers(page(&[listed("ab")], None)), "end done"),
        ],
    );
    assert_eq!(play.delivered(), ["turn.created", "model.message m", "+a", "model.message m", "turn.done"]);
    // A whole message is not delivered again.
    let mut play = starting();
    play.plays(
        "whole",
        &[
            (Breaks(frames(6), network()), "read"),
            (Answers(done()), "list"),
            (Answers(page(&[listed("ab")], None)), "end done"),
        ],
    );
    let delivered = ["turn.created", "model.message m", "+a", "+b", "model.message.delta", "turn.done"];
    assert_eq!(play.delivered(), delivered);
    for (status, end) in [("cancelled", "end cancelled"), ("error", "end error")] {
        let mut play = starting();
        play.plays(
            status,
            &[
                (Breaks(frames(3), network()), "read"),
                (Answers(record(&json!({"status": status, "message": "m"}))), "list"),
                (Answers(page(&[], None)), end),
            ],
        );
    }
}

/// Lists have neither reasoning nor the model's name: the received values stay.
#[test]
fn what_lists_leave_out_stays() {
    let reasoning = json!({"event_type": "reasoning_delta", "delta": "why"});
    for (until, delivers) in [(3, true), (6, false)] {
        for releases_text in [true, false] {
            let mut play = starting();
            if releases_text {
                play.driver.reader_mut().release_taken_text();
            }
            let mut came = payloads(1..=until);
            came.insert(2, reasoning.clone());
            let stream = wrapped(&came);
            play.driver.opened(0.0);
            play.driver.reader_mut().push(stream.as_bytes()).expect("frames are small");
            let mut changes = ChangeBatch::default();
            play.driver.reader_mut().take_changes(&mut changes);
            play.delivered();
            play.plays(
                "listed",
                &[
                    (Breaks(String::new(), network()), "read"),
                    (Answers(done()), "list"),
                    (Answers(page(&[listed("ab")], None)), "end done"),
                ],
            );
            let expected = if delivers { vec!["model.message m", "turn.done"] } else { vec!["turn.done"] };
            assert_eq!(play.delivered(), expected);
            let message = play.driver.reader().index().message("m").expect("it came");
            assert_eq!(message.reasoning(), if releases_text { "" } else { "why" });
            let document = play.driver.reader_mut().take_changes(&mut changes).unwrap_or("{}".to_owned());
            let document: Json = serde_json::from_str(&document).expect("JSON");
            let head = &document["messages"][0];
            if delivers {
                assert_eq!((&head["reset"], &head["content_reset"]), (&json!(false), &json!(true)));
            } else {
                assert_eq!(head, &Json::Null);
            }
        }
    }
}

/// Lists have parsed arguments, not the model's original text.
#[test]
fn arguments_that_came_whole_are_not_delivered_again() {
    let mut came = payloads(1..=2);
    came.push(json!({"event_type": "tool_call_start", "id": "c", "name": "f"}));
    came.push(json!({"event_type": "tool_call_delta", "id": "c", "args_delta": "{ \"y\": 1, \"x\": [ ] }"}));
    came.extend(payloads(5..=5));
    for (arguments, delivers) in [("{\"x\":[],\"y\":1}", false), ("{\"x\":[],\"y\":2}", true)] {
        let mut play = starting();
        assert_eq!(play.next(Breaks(wrapped(&came), network())), "read");
        play.delivered();
        let mut whole = listed("");
        whole["finish_reason"] = json!("tool_calls");
        whole["tool_calls"] =
            json!([{"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}]);
        play.plays("listed", &[(Answers(done()), "list"), (Answers(page(&[whole], None)), "end done")]);
        let expected = if delivers { vec!["model.message m", "turn.done"] } else { vec!["turn.done"] };
        assert_eq!(play.delivered(), expected);
    }
}

/// The server stores each attempt as a separate message; here they are one whole message.
#[test]
fn attempts_that_came_whole_stay_one_message() {
    for releases_text in [true, false] {
        let mut play = starting();
        if releases_text {
            play.driver.reader_mut().release_taken_text();
        }
        let mut came = payloads(1..=3);
        came.push(json!({"event_type": "step_end"}));
        came.push(json!({"event_type": "step_start", "message_id": "n"}));
        play.driver.opened(0.0);
        play.driver.reader_mut().push(wrapped(&came).as_bytes()).expect("frames are small");
        play.driver.reader_mut().take_changes(&mut ChangeBatch::default());
        assert_eq!(play.next(Breaks(wrapped(&payloads(4..=6)), network())), "read");
        play.delivered();
        let (first, mut second) = (listed("a"), listed("b"));
        second["id"] = json!("n");
        play.plays(
            "listed",
            &[(Answers(done()), "list"), (Answers(page(&[first, second], None)), "end done")],
        );
        assert_eq!(play.delivered(), ["turn.done"]);
        let messages = play.driver.reader().index().messages();
        assert_eq!(messages.iter().map(|message| &*message.id).collect::<Vec<_>>(), ["n"]);
        assert_eq!(messages[0].content(), if releases_text { "b" } else { "ab" });
    }
}

/// Only the session shows what the turn waits for.
#[test]
fn a_turn_that_paused_meanwhile_says_what_it_waits_for() {
    let state = json!({"status": "done", "output": null, "required_actions": [], "termination": {"type": "suspended"}});
    let session = json!({"id": "s", "required_actions": [question("c")]});
    let mut play = starting();
    play.plays(
        "paused",
        &[
            (Breaks(frames(6), network()), "read"),
            (Answers(record(&state)), "session"),
            (Fails(http(500)), "wait 250 #1 http 500"),
            (Waited, "session"),
            (Answers(session), "list"),
            (Answers(page(&[listed("ab")], None)), "end done"),
        ],
    );
    let pending = play.driver.reader().index().pending();
    assert_eq!(pending.iter().map(|action| &*action.id).collect::<Vec<_>>(), ["c"]);
    let state: Json =
        serde_json::from_str(&play.driver.reader_mut().take_state().expect("it ended")).expect("JSON");
    assert_eq!(state["required_actions"], json!([question("c")]));
}

#[test]
fn looks_that_fail_leave_it_open() {
    let cases = [
        (Fails(http(404)), "end incomplete: http 404"),
        (Fails(http(401)), "end incomplete: http 401"),
        (Aborted, "end incomplete: aborted"),
    ];
    for (act, end) in cases {
        let mut play = starting();
        let name = format!("{act:?}");
        play.plays(&name, &[(Breaks(frames(3), network()), "read"), (act, end)]);
        assert_eq!(play.stream(Reconnect::default()), "read", "it is not started again");
    }
    let mut play = starting();
    assert_eq!(play.next(Breaks(frames(3), network())), "read");
    for _ in 0..10 {
        assert!(play.next(Fails(http(503))).starts_with("wait"));
        assert_eq!(play.next(Waited), "read");
    }
    assert_eq!(play.next(Fails(http(503))), "end incomplete: incomplete");
}

/// A turn without a reader stops: to leave it is to lose it.
#[test]
fn an_aborted_stream_is_lost() {
    let mut play = starting();
    play.driver.opened(0.0);
    play.driver.reader_mut().push(frames(3).as_bytes()).expect("frames are small");
    assert_eq!(play.next(Aborted), "end incomplete: aborted");
    assert!(!play.reported().contains("goes on"), "{}", play.reported());
    assert_eq!(play.stream(Reconnect::default()), "read");
    let mut play = starting();
    play.plays("without reconnects", &[(Unsent, "end unstarted")]);
    assert_eq!(play.stream(Reconnect::OFF), "post stream");
    assert_eq!(play.next(Breaks(frames(3), network())), "end incomplete: incomplete");
}

/// A run that was replaced by another one ends with an error and nothing else.
#[test]
fn an_error_at_the_end_is_the_end() {
    let error = json!({"event_type": "error", "message": "Version conflict", "code": "STATE_ERROR"});
    for ends in [true, false] {
        let stream = frames(3) + &wrapped(std::slice::from_ref(&error));
        let mut play = starting();
        assert_eq!(play.next(if ends { Brings(stream) } else { Breaks(stream, network()) }), "end error");
        let delivered =
            ["turn.created", "model.message m", "+a", "server.error", "model.message.delta", "turn.done"];
        assert_eq!(play.delivered(), delivered);
    }
    // A failure before the beginning has no id.
    let mut play = starting();
    assert_eq!(play.next(Brings(wrapped(&[error]))), "end error");
}

/// The turn has the client's id, and is looked for by it.
#[test]
fn a_lost_start_is_looked_for_by_its_id() {
    let begin = || {
        let mut play = starting();
        play.plays("lost", &[(Fails(network()), "wait 250 #1 network"), (Waited, "read")]);
        assert_eq!(play.params(), json!({"session_id": "s", "turn_id": "t"}));
        play
    };
    let mut play = begin();
    play.plays(
        "absent",
        &[
            (Fails(http(404)), "wait 1500>=1500 #2 network"),
            (Waited, "read"),
            (Fails(http(404)), "wait 3000>=3000 #3 network"),
            (Waited, "read"),
            (Fails(http(404)), "end unstarted: network"),
        ],
    );
    assert_eq!(play.stream(Reconnect::default()), "post stream");
    assert_eq!(play.params()["turn_id"], "t");

    let mut play = begin();
    play.plays("runs", &[(Answers(running()), "read")]);
    for _ in 0..2 {
        assert!(play.next(Answers(running())).starts_with("wait"));
        assert_eq!(play.next(Waited), "read");
    }
    assert_eq!(play.next(Answers(running())), "end incomplete: incomplete");
    assert_eq!(play.stream(Reconnect::default()), "read", "it has begun");

    let mut play = begin();
    play.plays(
        "done",
        &[
            (Answers(done()), "read"),
            (Answers(done()), "list"),
            (Answers(page(&[listed("ab")], None)), "end done"),
        ],
    );
    assert_eq!(play.delivered(), ["model.message m", "turn.done"]);

    let mut play = begin();
    play.plays("unknown", &[(Fails(http(403)), "end incomplete: incomplete 403")]);
    assert_eq!(play.stream(Reconnect::default()), "read", "it is looked for once more");
    assert!(play.next(Fails(http(404))).starts_with("wait"));
}

/// A repeated start is the same start: server and client recognise it by its ids.
#[test]
fn a_start_is_sent_again_with_its_ids() {
    let mut play = starting();
    let sent = play.params();
    assert_eq!(sent["turn_id"], "t");
    play.plays(
        "away",
        &[
            (Fails(asking(http(503), 1000)), "wait 1250>=1000 #1 http 503"),
            (Waited, "read"),
            (Fails(http(404)), "wait 1500>=1500 #2 http 503"),
            (Waited, "read"),
            (Fails(http(404)), "wait 3000>=3000 #3 http 503"),
            (Waited, "read"),
            (Fails(http(404)), "post stream"),
        ],
    );
    assert_eq!(play.params(), sent);
    assert_eq!(play.next(Brings(frames(7))), "end done");
    let mut play = starting();
    play.plays("early", &[(Fails(http(429)), "wait 250 #1 http 429"), (Waited, "post stream")]);
    assert_eq!(play.params(), sent);
}

#[test]
fn a_mere_look_starts_nothing() {
    let cases = [
        (vec![(Answers(running()), "end running")]),
        (vec![(Answers(done()), "end done")]),
        (vec![
            (Fails(http(404)), "wait 1500>=1500 #1 network"),
            (Waited, "read"),
            (Fails(http(404)), "wait 3000>=3000 #2 network"),
            (Waited, "read"),
            (Fails(http(404)), "end unstarted: network"),
        ]),
    ];
    for script in cases {
        let mut play = starting();
        play.plays(
            "lost",
            &[(Fails(network()), "wait 250 #1 network"), (Aborted, "end incomplete: aborted")],
        );
        assert_eq!(play.look(), "read");
        play.plays("look", &script);
    }
}

/// There is no start without a stream.
#[test]
fn who_starts_a_turn_reads_it() {
    let mut play = forsaken();
    assert_eq!(play.start(), "post stream");
    assert_eq!(play.next(Brings(frames(7))), "end done");
    assert_eq!(play.content(), "ab");
}

/// The fields of every turn: its agent, its own id, and its previous turn.
#[test]
fn a_start_has_the_clients_ids() {
    let input = json!([{"type": "user.message", "content": "hi"}]);
    let after = |newest: Newest| {
        let mut play = forsaken();
        assert_eq!(play.stream_traced(StartTrace { newest, ..trace() }), "post stream");
        play.params()
    };
    let first = json!({"session_id": "s", "input": input, "agent_name": "bot", "turn_id": "t"});
    assert_eq!(after(Newest::None), first);
    assert_eq!(after(Newest::Unknown), first);
    let mut next = first.clone();
    next["previous_turn_id"] = json!("t0");
    assert_eq!(after(Newest::Turn("t0".to_owned())), next);
}

/// A refused start did nothing.
#[test]
fn a_start_that_is_refused_ends_it() {
    let cases: [(Act, &str); 3] = [
        (Fails(http(400)), "end unstarted: http 400"),
        (Fails(http(422)), "end unstarted: http 422"),
        (Fails(of_code(ErrorCode::Token)), "end unstarted"),
    ];
    for (act, end) in cases {
        let mut play = starting();
        assert_eq!(play.next(act), end);
        assert_eq!(play.stream(Reconnect::default()), "post stream");
    }
}
