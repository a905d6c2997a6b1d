//! The driver, rule by rule: turns whose streams a relay keeps (`docs/relay.md`). Frames have numbers, and each frame
//! is taken once across all connections; the server receives a start once.

use serde_json::{Value as Json, json};

use super::play::Act::{self, Aborted, Answers, Breaks, Brings, Fails, Waited};
use super::play::{Play, asking, http, network};
use super::{runs, unnamed};
use crate::error::ErrorCode;
use crate::index::Message;
use crate::json::Value;
use crate::protocol::Protocol;
use crate::protocol::aap::Aap;
use crate::protocol::agent_event::{AgentEvent, Dialect};
use crate::protocol::relay::Relayable;
use crate::turn::{Failure, Reconnect, Step, TurnInput};

fn behind<P: Protocol + 'static>(server: P) -> Box<dyn Protocol> {
    Box::new(Relayable::direct(server).behind_relay().expect("a relay keeps its turns"))
}

/// A turn whose start is in flight.
pub(in crate::turn) fn aap() -> Play {
    let mut play = Play::of(behind(Aap::new()), Value::from("hi"), "");
    play.driver.set_start("agent", "t");
    play.driver.set_terms("{}");
    play.driver.set_user_message_count(Some(4));
    assert_eq!(play.stream(Reconnect::default()), "post stream");
    play
}

fn tirea() -> Play {
    let mut play = Play::of(behind(AgentEvent::new(Dialect::Tirea)), Value::from("hi"), "");
    play.driver.set_start("bot", "t");
    assert_eq!(play.stream(Reconnect::default()), "post stream");
    play
}

/// A turn that is resumed after its second frame.
pub(in crate::turn) fn attached() -> Play {
    let mut play = aap();
    play.next(Breaks(relayed("L", 1, &whole(false)[..2]), network()));
    play.next(Waited);
    play
}

/// The relay's event for a missing rest.
pub(in crate::turn) fn cut(reason: &str) -> String {
    format!("event: turnwire.cut\ndata: {}\n\n", json!({"reason": reason, "last": 2, "upstream": "gone"}))
}

/// The frames of a whole turn, as its server writes them.
fn whole(is_tirea: bool) -> Vec<String> {
    if is_tirea {
        let frames = runs::wrapped(&runs::payloads(1..=7));
        return frames.split_inclusive("\n\n").map(str::to_owned).collect();
    }
    let frame = |event: &str, data: Json| format!("event: {event}\ndata: {data}\n\n");
    let mut frames = vec![frame("turn_start", json!({}))];
    frames.extend(["a", "b", "\"\n", "d", "c"].map(|text| frame("text_delta", json!({"delta": text}))));
    frames.push(frame("turn_stop", json!({"stopReason": "end_turn"})));
    frames
}

/// The head of a relay's response, and these frames, numbered from `first` on.
fn relayed(log: &str, first: usize, frames: &[String]) -> String {
    let numbered = (first..).zip(frames).map(|(number, frame)| format!("id: {number}\n{frame}"));
    let head = format!("event: turnwire.log\ndata: {log}\n\n");
    std::iter::once(head).chain(numbered).collect::<Vec<_>>().concat()
}

fn began(is_tirea: bool) -> Play {
    if is_tirea { tirea() } else { aap() }
}

/// The events of a turn without interruptions.
fn undisturbed(is_tirea: bool) -> Vec<String> {
    let mut play = began(is_tirea);
    assert_eq!(play.next(Brings(relayed("L", 1, &whole(is_tirea)))), "end done");
    play.delivered()
}

fn text(play: &Play) -> String {
    let index = play.driver.reader().index();
    index.messages().iter().map(Message::content).collect::<Vec<_>>().concat()
}

#[test]
fn a_stream_that_breaks_after_any_frame_goes_on_after_it() {
    for is_tirea in [false, true] {
        let frames = whole(is_tirea);
        for at in 1..frames.len() {
            let mut play = began(is_tirea);
            let first = relayed("L", 1, &frames[..at]);
            // The last frame may be partial.
            let torn = format!("{first}id: {}\n{}", at + 1, &frames[at][..frames[at].len() - 1]);
            assert_eq!(play.next(Breaks(torn, network())), "wait 250 #1 network", "{is_tirea}, {at}");
            assert_eq!(play.next(Waited), format!("again after={at}&log=L"));
            // Repeated frames are dropped.
            let from = at.saturating_sub(2);
            assert_eq!(play.next(Brings(relayed("L", from + 1, &frames[from..]))), "end done");
            assert_eq!(play.delivered(), undisturbed(is_tirea), "{is_tirea}, {at}");
        }
    }
}

/// The result does not depend on chunk boundaries, or on which of the two code paths takes the frames.
#[test]
fn chunks_make_no_difference() {
    for is_tirea in [false, true] {
        let bytes = relayed("L", 1, &whole(is_tirea));
        let expected = undisturbed(is_tirea);
        for at in 0..bytes.len() {
            let mut play = began(is_tirea);
            play.driver.opened(0.0);
            let (first, second) = bytes.as_bytes().split_at(at);
            for chunk in [first, second] {
                play.driver.reader_mut().push(chunk).expect("small frames");
            }
            assert_eq!(play.next(Brings(String::new())), "end done");
            assert_eq!(play.delivered(), expected, "{is_tirea}, {at}");
        }
    }
}

#[test]
fn each_frame_of_a_connection_for_itself() {
    for is_tirea in [false, true] {
        let frames = whole(is_tirea);
        let mut play = began(is_tirea);
        for (at, frame) in frames.iter().enumerate() {
            let bytes = relayed("L", at + 1, std::slice::from_ref(frame));
            let step = play.next(Breaks(bytes, network()));
            if at + 1 < frames.len() {
                // Not every frame has an event.
                assert!(step.starts_with("wait ") && step.ends_with(" network"), "{step}");
                assert_eq!(play.next(Waited), format!("again after={}&log=L", at + 1));
            } else {
                assert_eq!(step, "end done");
            }
        }
        assert_eq!(play.delivered(), undisturbed(is_tirea));
    }
}

#[test]
fn a_lost_start_is_sent_again_under_the_same_id() {
    for is_tirea in [false, true] {
        for failure in [network(), http(502), http(503), http(504), http(408)] {
            let mut play = began(is_tirea);
            let first = play.params();
            assert!(play.next(Fails(failure.clone())).starts_with("wait 250 #1 "), "{failure:?}");
            assert_eq!(play.next(Waited), "post stream");
            assert_eq!(play.params(), first, "{failure:?}");
            assert_eq!(play.next(Brings(relayed("L", 1, &whole(is_tirea)))), "end done");
            assert_eq!(play.delivered(), undisturbed(is_tirea));
        }
    }
}

#[test]
fn a_start_that_brings_nothing_is_sent_again() {
    let mut play = aap();
    let script: [(Act, &str); 3] = [
        (Brings(relayed("L", 1, &[])), "wait 250 #1 incomplete"),
        (Waited, "post stream"),
        (Brings(relayed("L", 1, &whole(false))), "end done"),
    ];
    play.plays("nothing", &script);
}

/// The relay keeps nothing of a turn that the agent has refused: the same id is good again.
#[test]
fn a_busy_agent_is_asked_again() {
    let mut play = aap();
    let first = play.params();
    for status in [503, 429, 425] {
        let step = play.next(Fails(asking(http(status), 2000)));
        assert!(step.ends_with(&format!(" http {status}")) && step.contains(">=2000 "), "{step}");
        assert_eq!(play.next(Waited), "post stream");
        assert_eq!(play.params(), first);
    }
    assert_eq!(play.next(Brings(relayed("L", 1, &whole(false)))), "end done");
}

#[test]
fn a_refused_start_gets_another_id() {
    let mut play = aap();
    for (status, next) in [(400, "tx"), (409, "txx"), (422, "txxx")] {
        assert_eq!(play.next(Fails(http(status))), format!("end unstarted: http {status}"));
        assert_eq!(play.stream(Reconnect::default()), "post stream");
        assert_eq!(play.params()["turn_id"], next);
    }
}

/// The relay reports that it knows the turn but has none of its frames: then its server is asked.
#[test]
fn a_start_that_the_relay_knows_is_looked_for() {
    for (is_tirea, failures) in [
        (false, vec![http(504), http(504)]),
        (true, vec![http(504), http(504)]),
        (false, vec![http(500), http(500)]),
        (true, vec![http(502), http(502)]),
        (true, vec![http(408), http(408)]),
        (true, vec![http(412)]),
    ] {
        let mut play = began(is_tirea);
        let mut step = String::new();
        for failure in failures {
            step = play.next(Fails(failure));
            if step.starts_with("wait") {
                step = play.next(Waited);
            }
        }
        assert_eq!(step, "read");
    }
    let mut play = aap();
    let cut = format!("{}{}", relayed("L", 1, &[]), cut("upstream_lost"));
    assert!(play.next(Brings(cut)).starts_with("wait "));
    assert_eq!(play.next(Waited), "read");
}

#[test]
fn a_start_that_was_left_is_sent_again_and_joins_the_turn() {
    let mut play = aap();
    assert_eq!(play.next(Aborted), "end incomplete: aborted");
    assert_eq!(play.stream(Reconnect::default()), "post stream");
    assert_eq!(play.params()["turn_id"], "t");
    // A mere look, as before a cancellation, starts nothing.
    let mut play = aap();
    play.next(Aborted);
    assert_eq!(play.look(), "read");
}

#[test]
fn a_reader_that_leaves_comes_back() {
    for is_tirea in [false, true] {
        let frames = whole(is_tirea);
        let mut play = began(is_tirea);
        play.driver.opened(0.0);
        play.driver.reader_mut().push(relayed("L", 1, &frames[..3]).as_bytes()).expect("small");
        assert_eq!(play.next(Aborted), "end running: aborted");
        assert_eq!(play.stream(Reconnect::default()), "attach after=3&log=L");
        assert_eq!(play.next(Brings(relayed("L", 4, &frames[3..]))), "end done");
        assert_eq!(play.delivered(), undisturbed(is_tirea));
    }
}

/// A second client reads a turn that it did not start.
#[test]
fn another_client_reads_the_turn_from_its_beginning() {
    for is_tirea in [false, true] {
        let protocol: Box<dyn Protocol> =
            if is_tirea { behind(AgentEvent::new(Dialect::Tirea)) } else { behind(Aap::new()) };
        let mut play = Play::of(protocol, Value::from("hi"), "");
        play.driver.set_terms("{}");
        play.found(&unnamed::record("running"));
        assert_eq!(play.stream(Reconnect::default()), "attach after=0");
        let frames = whole(is_tirea);
        assert!(play.next(Breaks(relayed("L", 1, &frames[..2]), network())).starts_with("wait"));
        assert_eq!(play.next(Waited), "again after=2&log=L");
        assert_eq!(play.next(Brings(relayed("L", 3, &frames[2..]))), "end done");
        assert_eq!(play.delivered(), undisturbed(is_tirea));
    }
}

#[test]
fn a_turn_that_is_answered_whole_can_be_read_by_another_client() {
    let mut play = Play::of(behind(Aap::new()), Value::from("hi"), "");
    play.driver.set_terms(r#"{"stream":"none"}"#);
    play.found(&unnamed::record("running"));
    assert_eq!(play.stream(Reconnect::default()), "attach after=0");
    let answer = json!({"stopReason": "end_turn", "messages": [{"role": "assistant", "content": "ab"}]});
    assert_eq!(play.next(Answers(answer)), "end done");
    assert_eq!(text(&play), "ab");
}

#[test]
fn another_log_that_begins_with_the_same_frames_goes_on() {
    let frames = whole(false);
    let mut play = attached();
    let script: [(Act, &str); 5] = [
        (Fails(http(412)), "again after=0"),
        // It breaks before the position reached in the first log.
        (Breaks(relayed("M", 1, &frames[..1]), network()), "wait 500 #2 network"),
        (Waited, "again after=1&log=M"),
        (Breaks(relayed("M", 2, &frames[1..4]), network()), "wait 250 #1 network"),
        (Waited, "again after=4&log=M"),
    ];
    play.plays("another log", &script);
    assert_eq!(play.next(Brings(relayed("M", 5, &frames[4..]))), "end done");
    assert_eq!(play.delivered(), undisturbed(false));
}

#[test]
fn another_log_with_other_frames_is_not_read() {
    let mut frames = whole(false);
    frames[1] = frames[2].clone();
    let mut play = attached();
    assert_eq!(play.next(Fails(http(412))), "again after=0");
    assert_eq!(play.next(Brings(relayed("M", 1, &frames))), "wait 250 #1 cut");
    assert_eq!(play.next(Waited), "read");
    assert_eq!(text(&play), "a");
}

#[test]
fn what_the_relay_does_not_have_is_read_from_the_history() {
    for (failures, at) in
        [(vec![http(412), http(412)], "expired"), (vec![http(404)], "unknown"), (vec![http(403)], "refused")]
    {
        let mut play = attached();
        let mut step = String::new();
        for failure in failures {
            step = play.next(Fails(failure));
        }
        assert_eq!(step, "read", "{at}");
        assert_eq!(play.next(Answers(done("ab"))), "end done", "{at}");
        assert_eq!(text(&play), "ab", "{at}");
    }
}

fn done(content: &str) -> Json {
    let mut record = unnamed::record("done");
    record["state"]["output"]["content"] = content.into();
    record["events"][0]["content"] = content.into();
    record
}

/// Only `turn.done` is success; the history may contain it.
#[test]
fn a_cut_turn_is_read_from_the_history_and_says_why() {
    for reason in ["upstream_lost", "relay_restarted", "drained", "log_full", "a_new_one"] {
        let mut play = attached();
        let bytes = format!("{}{}", relayed("L", 3, &[]), cut(reason));
        assert_eq!(play.next(Brings(bytes)), "wait 250 #1 cut");
        let Some(Step::Retry(pause)) = play.step() else { panic!("{:?}", play.step()) };
        assert_eq!(pause.cause.code, ErrorCode::Cut);
        let body: Json = serde_json::from_str(pause.cause.body.as_deref().expect("a body")).expect("JSON");
        assert_eq!(body, json!({"reason": reason, "last": 2, "upstream": "gone"}));
        assert!(pause.cause.message.contains(reason), "{}", pause.cause.message);
        assert_eq!(play.next(Waited), "read");
        assert_eq!(play.next(Answers(done("ab"))), "end done");
        assert_eq!(text(&play), "ab");
    }
    let mut play = tirea();
    let bytes = format!("{}{}", relayed("L", 1, &whole(true)[..3]), cut("upstream_lost"));
    let script: [(Act, &str); 7] = [
        (Brings(bytes), "wait 250 #1 cut"),
        (Waited, "read"),
        (Answers(runs::running()), "wait 500 for history"),
        (Waited, "read"),
        (Answers(runs::running()), "wait 1000 for history"),
        (Waited, "read"),
        (Answers(runs::running()), "end incomplete: incomplete"),
    ];
    play.plays("cut", &script);
    assert!(play.reported().contains("upstream_lost"), "{}", play.reported());
    assert_eq!(play.content(), "a");
}

#[test]
fn a_cut_is_reported_where_nothing_is_recovered() {
    let mut play = Play::of(behind(Aap::new()), Value::from("hi"), "");
    play.driver.set_start("agent", "t");
    play.driver.set_terms("{}");
    assert_eq!(play.stream(Reconnect::OFF), "post stream");
    let bytes = format!("{}{}", relayed("L", 1, &whole(false)[..2]), cut("drained"));
    assert_eq!(play.next(Brings(bytes)), "end incomplete: incomplete");
    assert!(play.reported().contains("drained"), "{}", play.reported());
}

#[test]
fn a_stopped_turn_is_cancelled() {
    for is_tirea in [false, true] {
        let mut play = began(is_tirea);
        let bytes = format!("{}{}", relayed("L", 1, &whole(is_tirea)[..3]), cut("stopped"));
        assert_eq!(play.next(Brings(bytes)), "end cancelled");
        assert_eq!(play.delivered().last().map(String::as_str), Some("turn.done"));
    }
}

/// The relay closes a stream without an end if the agent did: after two such streams in a row, the turn is given up.
#[test]
fn a_stream_that_ends_without_an_end_is_given_up() {
    let mut play = aap();
    let script: [(Act, &str); 6] = [
        (Brings(relayed("L", 1, &whole(false)[..2])), "wait 250 #1 incomplete"),
        (Waited, "again after=2&log=L"),
        (Brings(relayed("L", 3, &[])), "wait 500 #2 incomplete"),
        (Waited, "again after=2&log=L"),
        (Brings(relayed("L", 3, &[])), "read"),
        (Answers(done("ab")), "end done"),
    ];
    play.plays("ended", &script);
}

/// tirea ends a failed run with an error and the end of its stream; only an empty stream proves that end.
#[test]
fn a_failed_run_ends_with_the_stream_that_follows_its_error() {
    let error = json!({"event_type": "error", "message": "no", "code": "X"});
    let mut frames = whole(true)[..3].to_vec();
    frames.push(runs::wrapped(&[error]));
    let mut play = tirea();
    assert_eq!(play.next(Brings(relayed("L", 1, &frames))), "wait 250 #1 incomplete");
    assert_eq!(play.next(Waited), "again after=4&log=L");
    assert_eq!(play.next(Brings(relayed("L", 5, &[]))), "end error");
    // A broken connection proves nothing.
    let mut play = tirea();
    assert_eq!(play.next(Breaks(relayed("L", 1, &frames), network())), "wait 250 #1 network");
    assert_eq!(play.next(Waited), "again after=4&log=L");
    assert_eq!(play.next(Brings(relayed("L", 5, &whole(true)[3..]))), "end done");
}

#[test]
fn a_missing_frame_is_asked_for_again() {
    let frames = whole(false);
    let mut play = aap();
    let with_gap = format!("{}id: 4\n{}", relayed("L", 1, &frames[..2]), frames[3]);
    assert_eq!(play.next(Brings(with_gap)), "wait 250 #1 incomplete");
    assert_eq!(play.next(Waited), "again after=2&log=L");
    assert_eq!(play.next(Brings(relayed("L", 3, &frames[2..]))), "end done");
    assert_eq!(play.delivered(), undisturbed(false));
}

#[test]
fn a_server_that_is_no_relay_is_told() {
    let mut play = aap();
    play.driver.opened(0.0);
    let error =
        play.driver.reader_mut().push(whole(false).concat().as_bytes()).expect_err("it has no numbers");
    assert_eq!(error.code, ErrorCode::UnexpectedResponse);
    assert!(error.message.contains("no relay"), "{error}");
    assert!(play.delivered().is_empty());
}

#[test]
fn a_relay_that_stays_away_leaves_the_history() {
    let mut play = attached();
    let mut step = String::from("again after=2&log=L");
    let mut attempts = 0;
    while step == "again after=2&log=L" {
        let failure: Failure = network();
        step = play.next(Fails(failure));
        attempts += 1;
        if step.starts_with("wait") {
            step = play.next(Waited);
        }
    }
    assert_eq!((attempts, &*step), (10, "read"));
}

#[test]
fn an_input_of_another_protocol_is_not_behind_a_relay() {
    let awaken = Relayable::direct(AgentEvent::new(Dialect::Awaken)).behind_relay();
    assert_eq!(awaken.expect_err("awaken keeps its turns").code, ErrorCode::Unsupported);
    assert!(TurnInput::read(Value::from("hi"), &behind(Aap::new()).capabilities()).is_ok());
}
