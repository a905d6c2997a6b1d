//! The driver, rule by rule: turns that continue although no sequence number resumes their streams (protocol note of
//! `AgentEvent`, section 5). The server's record of the stream is read from its beginning and compared; then the stream
//! resumes. Without a record, the turn's end is awaited, and its events are listed.

use serde_json::{Value as Json, json};

use super::play::Act::{Aborted, Answers, Breaks, Brings, Fails, Waited};
use super::play::{Play, http, network, page, trace};
use super::runs::{
    done, envelope, finish, kept, listed, live, paused, payloads, record, recorded, running, stored,
};
use crate::turn::{Newest, Reconnect, StartTrace};

/// The whole turn, event by event.
const WHOLE: [&str; 6] = ["turn.created", "model.message m", "+a", "+b", "model.message.delta", "turn.done"];

/// A turn whose stream broke after three frames.
fn broken() -> Play {
    let mut play = recorded();
    assert_eq!(play.stream(Reconnect::default()), "post stream");
    play.plays(
        "broken",
        &[(Breaks(live(&payloads(1..=3)), network()), "wait 250 #1 network"), (Waited, "frames")],
    );
    play
}

#[test]
fn what_was_kept_is_read_and_the_stream_goes_on() {
    let mut play = broken();
    play.plays(
        "goes on",
        &[
            (Answers(kept(&payloads(1..=2), Some("c2"), "c2")), "frames from c2"),
            (Answers(kept(&payloads(3..=4), None, "c4")), "again at c4"),
            (Breaks(stored(5, &payloads(5..=5)), network()), "wait 250 #1 network"),
            (Waited, "again at c5"),
            (Brings(stored(6, &payloads(6..=7))), "end done"),
        ],
    );
    assert_eq!(play.delivered(), WHOLE);
    assert_eq!(play.content(), "ab");
}

/// The record may have the end already, or nothing yet.
#[test]
fn a_record_may_have_everything_or_nothing() {
    let mut play = broken();
    assert_eq!(play.next(Answers(kept(&payloads(1..=7), None, "c7"))), "end done");
    assert_eq!(play.delivered(), WHOLE);
    let mut play = broken();
    play.plays(
        "not yet",
        &[
            (Answers(kept(&[], None, "")), "wait 500 for turn"),
            (Waited, "read"),
            (Answers(running()), "frames"),
            (Answers(kept(&payloads(1..=7), None, "c7")), "end done"),
        ],
    );
    assert_eq!(play.delivered(), WHOLE);
    // A record that stays empty after the turn's end is none.
    let mut play = broken();
    play.plays(
        "never",
        &[
            (Answers(kept(&[], None, "")), "wait 500 for turn"),
            (Waited, "read"),
            (Answers(done()), "frames"),
            (Answers(kept(&[], None, "")), "read"),
            (Answers(done()), "list"),
            (Answers(page(&[listed("ab")], None)), "end done"),
        ],
    );
}

/// A turn may wait for capacity, or for its first words, for any length of time.
#[test]
fn a_record_that_is_still_empty_is_waited_for_while_the_turn_runs() {
    let mut play = broken();
    for wait in ["500", "1000", "2000"].into_iter().chain(std::iter::repeat_n("2000", 100)) {
        assert_eq!(play.next(Answers(kept(&[], None, ""))), format!("wait {wait} for turn"));
        play.plays("running", &[(Waited, "read"), (Answers(running()), "frames")]);
    }
    assert_eq!(play.next(Answers(kept(&payloads(1..=7), None, "c7"))), "end done");
    assert_eq!(play.delivered(), WHOLE);
}

/// Wherever the stream broke, and wherever the record's pages end: every event once.
#[test]
fn every_event_comes_once() {
    for cut in 1..=6 {
        for first in 0..=7 {
            let mut play = recorded();
            assert_eq!(play.stream(Reconnect::default()), "post stream");
            assert!(play.next(Breaks(live(&payloads(1..=cut)), network())).starts_with("wait"));
            assert_eq!(play.next(Waited), "frames");
            let begin = if first == 0 { Vec::new() } else { payloads(1..=first) };
            let mut step = play.next(Answers(kept(&begin, Some("c"), "c")));
            if first < 7 {
                assert_eq!(step, "frames from c");
                step = play.next(Answers(kept(&payloads(first + 1..=7), None, "c7")));
            }
            assert_eq!(
                (step.as_str(), play.delivered()),
                ("end done", WHOLE.map(str::to_owned).to_vec()),
                "{cut} {first}"
            );
        }
    }
}

/// An expired position is no reason to give up: the record has a new one.
#[test]
fn an_expired_place_is_forgotten() {
    let mut play = broken();
    play.plays(
        "expired",
        &[
            (Answers(kept(&payloads(1..=4), None, "c4")), "again at c4"),
            (Fails(http(410)), "wait 250 #1 http 410"),
            (Waited, "frames"),
            (Answers(kept(&payloads(1..=5), None, "d5")), "again at d5"),
            (Brings(stored(6, &payloads(6..=7))), "end done"),
        ],
    );
    assert_eq!(play.delivered(), WHOLE);
}

/// After a frame without an id, the stream's position is unknown.
#[test]
fn a_frame_without_a_name_makes_the_place_unknown() {
    let mut play = broken();
    let nameless = format!("data: {}\n\n", envelope(&payloads(5..=5)[0]));
    play.plays(
        "nameless",
        &[
            (Answers(kept(&payloads(1..=4), None, "c4")), "again at c4"),
            (Breaks(nameless, network()), "wait 250 #1 network"),
            (Waited, "frames"),
            (Answers(kept(&payloads(1..=5), None, "c5")), "again at c5"),
            (Brings(stored(6, &payloads(6..=7))), "end done"),
        ],
    );
    assert_eq!(play.delivered(), WHOLE);
}

/// Without a record, the turn's end is awaited for any length of time, and its events are listed from the first page.
#[test]
fn without_a_record_the_end_is_waited_for() {
    for status in [404, 405, 410, 501] {
        for pages in [0, 1] {
            let mut play = broken();
            if pages == 1 {
                assert_eq!(play.next(Answers(kept(&payloads(1..=2), Some("c2"), "c2"))), "frames from c2");
            }
            assert_eq!(play.next(Fails(http(status))), "read");
            for wait in ["500", "1000", "2000"].into_iter().chain(std::iter::repeat_n("2000", 1000)) {
                assert_eq!(play.next(Answers(running())), format!("wait {wait} for turn"));
                assert_eq!(play.next(Waited), "read");
            }
            play.plays(
                "ends",
                &[(Answers(done()), "list"), (Answers(page(&[listed("ab")], None)), "end done")],
            );
            let delivered = ["turn.created", "model.message m", "+a", "model.message m", "turn.done"];
            assert_eq!(play.delivered(), delivered, "{status} {pages}");
        }
    }
    // The next run may wait for it again.
    let mut play = broken();
    play.plays(
        "waits",
        &[
            (Fails(http(404)), "read"),
            (Answers(running()), "wait 500 for turn"),
            (Aborted, "end running: aborted"),
        ],
    );
    assert_eq!(play.stream(Reconnect::default()), "read");
}

/// A record that differs from the stream cannot be continued: there would be no way to know which of its events are
/// new.
#[test]
fn another_record_is_none() {
    let mut other = payloads(1..=7);
    other[2]["delta"] = json!("A");
    let mut play = broken();
    assert_eq!(play.next(Answers(kept(&other, None, "c7"))), "read");
    assert_eq!(play.next(Answers(running())), "wait 500 for turn");
    play.plays(
        "ends",
        &[(Waited, "read"), (Answers(done()), "list"), (Answers(page(&[listed("Ab")], None)), "end done")],
    );
    assert_eq!(play.delivered(), ["turn.created", "model.message m", "+a", "model.message m", "turn.done"]);
    assert_eq!(play.content(), "Ab");
}

/// Failures to read the record count as attempts; after them the turn is read, and awaited if it runs.
#[test]
fn a_record_that_cannot_be_had_is_given_up() {
    for status in [500, 503] {
        let mut play = broken();
        for _ in 0..9 {
            assert!(play.next(Fails(http(status))).starts_with("wait"));
            assert_eq!(play.next(Waited), "frames");
        }
        assert_eq!(play.next(Fails(http(status))), "read");
        assert_eq!(play.next(Answers(running())), "wait 500 for turn");
        assert_eq!(play.next(Aborted), "end running: aborted");
        assert_eq!(play.stream(Reconnect::default()), "frames");
        assert_eq!(play.next(Answers(kept(&payloads(1..=7), None, "c7"))), "end done");
        assert_eq!(play.delivered(), WHOLE);
    }
}

/// Streams that bring nothing end, too.
#[test]
fn a_stream_that_brings_nothing_is_given_up() {
    let mut play = broken();
    assert_eq!(play.next(Answers(kept(&payloads(1..=4), None, "c4"))), "again at c4");
    for _ in 0..10 {
        assert!(play.next(Brings(": heartbeat\n\n".to_owned())).starts_with("wait"));
        assert_eq!(play.next(Waited), "again at c4");
    }
    play.plays(
        "asked",
        &[
            (Brings(String::new()), "read"),
            (Answers(done()), "list"),
            (Answers(page(&[listed("ab")], None)), "end done"),
        ],
    );
}

/// Pages that form a cycle end.
#[test]
fn a_record_whose_pages_go_round_ends() {
    let mut play = broken();
    let mut step = play.next(Answers(kept(&payloads(1..=2), Some("a"), "a")));
    for at in 0..10_000 {
        let token = if at % 2 == 0 { "b" } else { "a" };
        if !step.starts_with("frames") {
            return;
        }
        step = play.next(Answers(kept(&[], Some(token), token)));
    }
    panic!("it goes on");
}

/// If a turn paused while its stream was gone, its record says what it waits for, or else its session does.
#[test]
fn a_turn_that_paused_meanwhile_waits() {
    let silent = record(
        &json!({"status": "done", "output": null, "required_actions": [], "termination": {"type": "suspended"}}),
    );
    let session = json!({"id": "s", "required_actions": paused(&["c"], "1")["state"]["required_actions"]});
    for turn in [Some(paused(&["c"], "1")), None] {
        let mut play = broken();
        assert_eq!(play.next(Fails(http(404))), "read");
        if let Some(turn) = turn {
            assert_eq!(play.next(Answers(turn)), "list");
        } else {
            assert_eq!(play.next(Answers(silent.clone())), "session");
            assert_eq!(play.next(Answers(session.clone())), "list");
        }
        assert_eq!(play.next(Answers(page(&[listed("ab")], None))), "end done");
        let pending = play.driver.reader().index().pending();
        assert_eq!(pending.iter().map(|action| &*action.id).collect::<Vec<_>>(), ["c"]);
    }
}

/// Servers with client-made turn ids return neither a turn's input nor its previous turn: a lost start is the only new
/// turn, or unknown.
#[test]
fn a_lost_start_is_the_only_new_turn() {
    let turn = |id: &str, at: &str| json!({"id": id, "session_id": "s", "previous_turn_id": null, "created_at": at, "state": {"status": "running"}});
    let (old, new, other) = (
        turn("t0", "2026-07-01T09:00:00Z"),
        turn("t", "2026-07-01T10:00:30Z"),
        turn("u", "2026-07-01T10:00:31Z"),
    );
    let (beside, late) = (turn("b", "2026-07-01T09:00:00Z"), turn("l", "2026-07-01T09:00:01Z"));
    let known = StartTrace { newest: Newest::Turn("t0".to_owned()), ..trace() };
    let read = StartTrace { started_at: 0, ..known.clone() };
    let (found, unclear, absent) = ("frames", "end incomplete: incomplete", "wait 1500>=1500 #2 network");
    let cases: [(&StartTrace, Vec<&Json>, &str); 10] = [
        (&known, vec![&new, &old], found),
        (&known, vec![&other, &new, &old], unclear),
        (&known, vec![&old], absent),
        (&trace(), vec![&new], found),
        (&trace(), vec![&other, &new], unclear),
        (&trace(), vec![], absent),
        // It is newer, but older than the start by this machine's clock; or it is from the same second.
        (&known, vec![&late, &old], unclear),
        (&read, vec![&late, &old], found),
        (&read, vec![&beside, &old], unclear),
        // The newest one is not in the list.
        (&known, vec![&new], unclear),
    ];
    for (trace, turns, step) in cases {
        let mut play = recorded();
        assert_eq!(play.stream_traced(trace.clone()), "post stream");
        assert!(play.params().get("previous_turn_id").is_none() || trace.newest != Newest::None);
        play.plays("lost", &[(Fails(network()), "wait 250 #1 network"), (Waited, "look")]);
        let turns: Vec<Json> = turns.into_iter().cloned().collect();
        assert_eq!(play.next(Answers(page(&turns, None))), step, "{turns:?}");
    }
    // The newest turn before the start could not be read, so it is unknown.
    let unknown = StartTrace { newest: Newest::Unknown, ..trace() };
    for (turns, step) in [(vec![new.clone(), old.clone()], unclear), (vec![old.clone()], absent)] {
        let mut play = recorded();
        assert_eq!(play.stream_traced(unknown.clone()), "newest");
        play.plays(
            "lost",
            &[(Fails(http(404)), "post stream"), (Fails(network()), "wait 250 #1 network"), (Waited, "look")],
        );
        assert_eq!(play.next(Answers(page(&turns, None))), step, "{turns:?}");
    }
    let mut play = recorded();
    assert_eq!(play.stream_unknown(), "newest");
    assert_eq!(play.next(Answers(page(std::slice::from_ref(&old), None))), "post stream");
    assert_eq!(play.params()["previous_turn_id"], "t0");
    play.plays("lost", &[(Fails(network()), "wait 250 #1 network"), (Waited, "look")]);
    assert_eq!(play.next(Answers(page(&[new, old], None))), found);
}

/// The stream of a suspended turn ends, and the turn no longer runs.
#[test]
fn a_suspended_turn_is_done() {
    let mut play = recorded();
    assert_eq!(play.stream(Reconnect::default()), "post stream");
    let stream = live(&payloads(1..=4)) + &live(&[finish(&json!({"type": "suspended"}))]);
    assert_eq!(play.next(Brings(stream)), "end done");
}
