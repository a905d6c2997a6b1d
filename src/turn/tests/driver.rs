//! The driver, rule by rule: its reaction to each thing that can happen to a turn that has begun.

use serde_json::json;

use super::play::Act::{self, Aborted, Answers, Breaks, Brings, Fails, Stands, Waited};
use super::play::{
    FRAME_LIMIT, Play, asking, frames, http, listed, network, numbered, of_code, offline, page, record,
    started, unnumbered,
};
use crate::error::ErrorCode;
use crate::turn::{Reconnect, TurnStatus};

#[test]
fn a_turn_that_is_not_interrupted_needs_one_request() {
    let mut play = Play::new();
    assert_eq!(play.stream(Reconnect::default()), "post stream");
    assert_eq!(play.next(Brings(frames(1..=6))), "end done");
    assert_eq!(play.content(), "ab");
}

/// After any interruption, a stream resumes after the last event received.
#[test]
fn an_interrupted_stream_is_resumed_after_the_cursor() {
    let cases = [
        (Brings(frames(3..=4)), "wait 250 #1 incomplete", 4),
        (Brings(String::new()), "wait 250 #1 incomplete", 2),
        (Breaks(frames(3..=3), network()), "wait 250 #1 network", 3),
        (Breaks(frames(3..=3), of_code(ErrorCode::Timeout)), "wait 250 #1 timeout", 3),
        (Fails(network()), "wait 250 #1 network", 2),
        (Fails(of_code(ErrorCode::Timeout)), "wait 250 #1 timeout", 2),
        // A captive portal.
        (Fails(of_code(ErrorCode::UnexpectedResponse)), "wait 250 #1 unexpected_response", 2),
        (Fails(of_code(ErrorCode::Token)), "wait 250 #1 token", 2),
        (Fails(http(408)), "wait 250 #1 http 408", 2),
        (Fails(http(409)), "wait 250 #1 http 409", 2),
        (Fails(http(425)), "wait 250 #1 http 425", 2),
        (Fails(http(429)), "wait 250 #1 http 429", 2),
        (Fails(http(500)), "wait 250 #1 http 500", 2),
        (Fails(http(502)), "wait 250 #1 http 502", 2),
        (Fails(http(503)), "wait 250 #1 http 503", 2),
        (Fails(http(504)), "wait 250 #1 http 504", 2),
    ];
    for (act, wait, after) in cases {
        let mut play = started(1..=2);
        let name = format!("{act:?}");
        let again = format!("again after {after}");
        play.plays(&name, &[(act, wait), (Waited, &again), (Brings(frames(after + 1..=6)), "end done")]);
        assert_eq!(play.content(), "ab", "{name}");
    }
}

/// A failure that would only recur ends the turn at once; received events are kept.
#[test]
fn what_cannot_be_recovered_from_is_reported_at_once() {
    for status in [400, 401, 403, 404, 410, 422, 501] {
        let mut play = started(1..=3);
        let ends = format!("end incomplete: http {status}");
        play.plays("status", &[(Fails(http(status)), &ends)]);
        assert_eq!(play.content(), "a");
        assert_eq!(play.stream(Reconnect::default()), "subscribe after 3");
    }
    let large = format!("{}data: {}", frames(4..=4), "x".repeat(FRAME_LIMIT));
    for act in [Brings(large.clone()), Breaks(large, network())] {
        let mut play = started(1..=3);
        play.plays("too large", &[(act, "end incomplete: frame_too_large")]);
        assert_eq!(play.content(), "ab");
    }
    let mut play = started(1..=3);
    play.plays("invalid", &[(Fails(of_code(ErrorCode::InvalidOption)), "end incomplete: incomplete")]);
}

#[test]
fn tries_are_counted_until_something_new_comes() {
    let mut play = started(1..=2);
    play.plays(
        "progress",
        &[
            (Fails(network()), "wait 250 #1 network"),
            (Waited, "again after 2"),
            (Fails(network()), "wait 500 #2 network"),
            (Waited, "again after 2"),
            (Breaks(frames(3..=3), network()), "wait 250 #1 network"),
            (Waited, "again after 3"),
            // Events that were already delivered are not progress.
            (Breaks(frames(1..=3), network()), "wait 500 #2 network"),
            (Waited, "again after 3"),
            (Brings(frames(4..=6)), "end done"),
        ],
    );
}

pub(super) const WAITS: [&str; 4] = ["wait 250 #1", "wait 500 #2", "wait 1000 #3", "wait 2000 #4"];

/// A play with no attempts left.
pub(super) fn exhausted() -> Play {
    let mut play = started(1..=2);
    for wait in
        WAITS.into_iter().map(str::to_owned).chain((5..=10).map(|attempt| format!("wait 4000 #{attempt}")))
    {
        assert_eq!(play.next(Fails(network())), format!("{wait} network"));
        assert_eq!(play.next(Waited), "again after 2");
    }
    play
}

/// The last resort is to read the turn's state.
#[test]
fn after_the_last_try_the_turn_itself_is_asked() {
    let failed = "end incomplete: incomplete";
    let cases: [&[(Act, &str)]; 3] = [
        &[(Fails(network()), failed)],
        &[(Fails(http(404)), failed)],
        &[(Answers(record("done")), "list"), (Answers(page(&[listed()], None)), "end done")],
    ];
    for script in cases {
        let mut play = exhausted();
        assert_eq!(play.next(Fails(network())), "read");
        play.plays("exhausted", script);
    }
    let mut play = exhausted();
    assert_eq!(play.next(Fails(network())), "read");
    assert_eq!(play.next(Fails(network())), failed);
    assert_eq!(play.stream(Reconnect::default()), "subscribe after 2", "it can be tried anew");
    assert_eq!(play.next(Fails(network())), "wait 250 #1 network");
}

/// The report has the last failure and the number of attempts.
#[test]
fn the_last_failure_is_told() {
    let mut play = exhausted();
    assert_eq!(play.next(Fails(of_code(ErrorCode::Timeout))), "read");
    assert_eq!(play.next(Fails(network())), "end incomplete: incomplete");
    let reported = play.reported();
    assert!(
        reported.contains("10 times") && reported.contains("it broke") && reported.contains("kept"),
        "{reported}"
    );
}

#[test]
fn as_many_tries_are_made_as_are_allowed() {
    for max_attempts in 1..5 {
        let mut play = started(1..=2);
        assert_eq!(play.next(Aborted), "end running: aborted");
        assert_eq!(play.stream(Reconnect { max_attempts, ..Reconnect::default() }), "subscribe after 2");
        for _ in 0..max_attempts {
            assert!(play.next(Fails(network())).starts_with("wait"));
            assert_eq!(play.next(Waited), "again after 2");
        }
        assert_eq!(play.next(Fails(network())), "read", "{max_attempts}");
    }
}

/// Such an attempt does not count. The wait is not shortened either: it ends when there is a network again.
#[test]
fn without_a_network_there_is_no_end_of_tries() {
    let mut play = started(1..=2);
    for _ in 0..50 {
        assert_eq!(play.next(Fails(offline())), "wait 4000 #1 network");
        assert_eq!(play.next(Waited), "again after 2");
    }
    assert_eq!(play.next(Brings(frames(3..=6))), "end done");
}

/// `Retry-After` and `retry:` are minimums; the random part is added.
#[test]
fn the_server_says_how_long_to_wait_at_least() {
    let retry = |millis: &str| Brings(format!("retry: {millis}\n\n"));
    let cases = [
        (Fails(asking(http(503), 3000)), "wait 3250>=3000 #1 http 503"),
        (Fails(asking(http(500), 1)), "wait 251>=1 #1 http 500"),
        (Fails(asking(http(429), 300_000)), "wait 300250>=300000 #1 http 429"),
        (Fails(asking(http(429), 300_001)), "end incomplete: http 429"),
        (Fails(asking(http(503), u32::MAX)), "end incomplete: http 503"),
        (retry("100"), "wait 350>=100 #1 incomplete"),
        (retry("30000"), "wait 30250>=30000 #1 incomplete"),
        // Longer than allowed; not a number.
        (retry("30001"), "wait 30250>=30000 #1 incomplete"),
        (retry("99999999999999999999"), "wait 250 #1 incomplete"),
        (retry("-5"), "wait 250 #1 incomplete"),
    ];
    for (act, expected) in cases {
        let mut play = started(1..=2);
        play.plays("bound", &[(act, expected)]);
    }
    // The stream's value is kept, and the larger one counts, also if the turn is read first.
    let mut play = started(1..=2);
    play.plays(
        "both",
        &[
            (retry("2000"), "wait 2250>=2000 #1 incomplete"),
            (Waited, "again after 2"),
            (Fails(asking(http(503), 5000)), "wait 5500>=5000 #2 http 503"),
            (Waited, "again after 2"),
            (Fails(asking(http(503), 1000)), "wait 3000>=2000 #3 http 503"),
            (Waited, "again after 2"),
            (Brings(String::new()), "wait 4000>=2000 #4 incomplete"),
            (Waited, "read"),
            (Answers(record("running")), "again after 2"),
        ],
    );
}

/// Section 2.1: 412 means that the stream no longer exists.
#[test]
fn a_stream_that_is_gone_is_replaced_by_the_list_of_events() {
    let mut play = started(1..=3);
    let response =
        json!({"type": "tool.response", "id": "r", "thread_id": "main", "tool_call_id": "c", "content": ""});
    play.plays(
        "ended",
        &[
            (Fails(http(412)), "read"),
            (Answers(record("done")), "list"),
            (Answers(page(&[listed()], Some("p2"))), "list from p2"),
            (Answers(page(&[response], None)), "end done"),
        ],
    );
    assert_eq!(play.content(), "ab");
    assert!(play.driver.reader_mut().take_state().is_some());

    let mut play = started(1..=3);
    play.plays(
        "running",
        &[
            (Fails(http(412)), "read"),
            (Answers(record("running")), "again after 3"),
            (Brings(frames(4..=4)), "wait 250 #1 incomplete"),
            (Waited, "again after 4"),
            // The stream does not come back although the turn runs: its end is awaited.
            (Fails(http(412)), "read"),
            (Answers(record("running")), "again after 4"),
            (Fails(http(412)), "read"),
            (Answers(record("running")), "wait 500 for turn"),
            (Waited, "read"),
            (Fails(network()), "wait 250 #1 network"),
            (Waited, "read"),
            (Answers(record("running")), "wait 1000 for turn"),
            (Waited, "read"),
            (Answers(record("done")), "list"),
            (Answers(page(&[listed()], None)), "end done"),
        ],
    );
}

#[test]
fn reading_the_turn_and_its_events_is_tried_again() {
    let mut play = started(1..=3);
    play.plays(
        "reading",
        &[
            (Fails(http(412)), "read"),
            (Fails(network()), "wait 250 #1 network"),
            (Waited, "read"),
            (Fails(asking(http(503), 1000)), "wait 1500>=1000 #2 http 503"),
            (Waited, "read"),
            (Answers(record("done")), "list"),
            (Fails(http(409)), "wait 1000 #3 http 409"),
            (Waited, "list"),
            (Answers(page(&[listed()], Some("p2"))), "list from p2"),
            // A page is progress.
            (Fails(network()), "wait 250 #1 network"),
            (Waited, "list from p2"),
            (Answers(page(&[], Some("p2"))), "end done"),
        ],
    );
    for status in [400, 401, 403, 404, 410, 501] {
        let mut play = started(1..=3);
        assert_eq!(play.next(Fails(http(412))), "read");
        assert_eq!(play.next(Fails(http(status))), format!("end incomplete: http {status}"));
    }
}

/// Its result is then known, so it has ended; the missing events are reported.
#[test]
fn a_list_that_cannot_be_read_ends_the_turn_with_an_error() {
    let mut play = started(1..=3);
    play.plays(
        "forbidden",
        &[
            (Fails(http(412)), "read"),
            (Answers(record("done")), "list"),
            (Fails(http(403)), "end done: incomplete 403"),
        ],
    );
    assert_eq!(play.content(), "a", "received events are kept");
    let mut play = started(1..=3);
    assert_eq!(play.next(Fails(http(412))), "read");
    assert_eq!(play.next(Answers(record("done"))), "list");
    for _ in 0..10 {
        assert!(play.next(Fails(network())).starts_with("wait"));
        assert_eq!(play.next(Waited), "list");
    }
    assert_eq!(play.next(Fails(network())), "end done: incomplete");
}

/// A server that ends its stream again and again may have nothing to send.
#[test]
fn streams_that_bring_nothing_lead_to_the_turn_itself() {
    let nothing = || Brings(String::new());
    let mut play = started(1..=3);
    play.plays(
        "it runs",
        &[
            (nothing(), "wait 250 #1 incomplete"),
            (Waited, "again after 3"),
            (nothing(), "wait 500 #2 incomplete"),
            (Waited, "read"),
            (Answers(record("running")), "again after 3"),
            (nothing(), "wait 1000 #3 incomplete"),
            (Waited, "read"),
            (Answers(record("done")), "again after 3"),
            // It has ended, and its stream has the rest.
            (Brings(frames(4..=6)), "end done"),
        ],
    );
    let mut play = started(1..=3);
    play.plays(
        "it has ended",
        &[
            (nothing(), "wait 250 #1 incomplete"),
            (Waited, "again after 3"),
            (nothing(), "wait 500 #2 incomplete"),
            (Waited, "read"),
            (Answers(record("done")), "again after 3"),
            (nothing(), "wait 1000 #3 incomplete"),
            (Waited, "again after 3"),
            (nothing(), "wait 2000 #4 incomplete"),
            (Waited, "again after 3"),
            (nothing(), "list"),
            (Answers(page(&[listed()], None)), "end done"),
        ],
    );
    assert_eq!(play.content(), "ab");
}

/// A proxy may cut silent connections, or heartbeats may be missing: the turn may still run for a long time.
#[test]
fn long_silent_connections_are_no_failures_while_the_turn_runs() {
    let silence = || Stands(60_000.0, String::new());
    let mut play = started(1..=3);
    play.plays("first", &[(silence(), "wait 250 #1 incomplete"), (Waited, "again after 3")]);
    for _ in 0..50 {
        play.plays(
            "running",
            &[
                (silence(), "wait 500 #2 incomplete"),
                (Waited, "read"),
                (Answers(record("running")), "again after 3"),
            ],
        );
    }
    // A stream that stays silent after the turn's end has nothing left.
    play.plays(
        "ended",
        &[
            (silence(), "wait 500 #2 incomplete"),
            (Waited, "read"),
            (Answers(record("done")), "again after 3"),
            (silence(), "list"),
            (Answers(page(&[listed()], None)), "end done"),
        ],
    );
}

/// Events are missing: the stream is requested a few more times, and then the gap is skipped and reported.
#[test]
fn gaps_are_refilled_or_passed_over() {
    let mut play = started(1..=2);
    play.plays(
        "refilled",
        &[
            (Brings(frames(4..=6)), "wait 250 #1 incomplete"),
            (Waited, "again after 2"),
            (Brings(frames(3..=6)), "end done"),
        ],
    );
    assert_eq!((play.content(), play.driver.reader().gaps()), ("ab", &[][..]));
    let lost: [&[(Act, &str)]; 3] = [
        &[(Answers(page(&[listed()], None)), "end done")],
        &[
            (Fails(network()), "wait 250 #1 network"),
            (Waited, "list"),
            (Answers(page(&[listed()], None)), "end done"),
        ],
        // The turn is done, but its messages are not whole.
        &[(Fails(http(404)), "end done: incomplete 404")],
    ];
    for (script, content) in lost.into_iter().zip(["ab", "ab", "b"]) {
        let mut play = started(1..=2);
        play.plays(
            "passed over",
            &[
                (Brings(frames(4..=6)), "wait 250 #1 incomplete"),
                (Waited, "again after 2"),
                (Brings(frames(4..=6)), "wait 500 #2 incomplete"),
                (Waited, "again after 2"),
                (Brings(frames(4..=6)), "wait 1000 #3 incomplete"),
                (Waited, "again after 2"),
                (Brings(frames(4..=6)), "list"),
            ],
        );
        assert_eq!(play.driver.reader().gaps(), [(2, 4)]);
        assert_eq!(play.content(), "b");
        play.plays("mended", script);
        assert_eq!(play.content(), content);
    }
}

/// A repeat cannot be distinguished from an event without a number: such a stream is not requested again.
#[test]
fn unnumbered_events_are_never_asked_for_twice() {
    let mut play = started(1..=2);
    play.plays(
        "cut",
        &[
            (Breaks(unnumbered(3..=3), network()), "wait 250 #1 network"),
            (Waited, "read"),
            (Answers(record("running")), "wait 500 for turn"),
            (Waited, "read"),
            (Fails(network()), "wait 250 #1 network"),
            (Waited, "read"),
            (Answers(record("done")), "list"),
            (Answers(page(&[listed()], None)), "end done"),
        ],
    );
    assert_eq!(play.content(), "ab");
    // A complete turn needs nothing more.
    let mut play = Play::new();
    assert_eq!(play.stream(Reconnect::default()), "post stream");
    assert_eq!(play.next(Brings(unnumbered(1..=6))), "end done");
    assert_eq!(play.content(), "ab");
}

/// A server may write numbers into the JSON of its events instead of an `id`. They are equivalent.
#[test]
fn a_stream_that_is_numbered_in_its_json_is_resumed() {
    let mut play = Play::new();
    assert_eq!(play.stream(Reconnect::default()), "post stream");
    play.plays(
        "cut",
        &[
            (Breaks(numbered(1..=3), network()), "wait 250 #1 network"),
            (Waited, "again after 3"),
            // Repeats are dropped, and missing events are requested.
            (Brings(numbered(2..=4) + &numbered(6..=6)), "wait 250 #1 incomplete"),
            (Waited, "again after 4"),
            // Each frame counts separately.
            (Brings(frames(5..=5)), "wait 250 #1 incomplete"),
            (Waited, "again after 5"),
            (Brings(numbered(6..=6)), "end done"),
        ],
    );
    assert_eq!(play.content(), "ab");
    assert_eq!(play.driver.reader().machine().cursor().last(), 6);
}

#[test]
fn a_stream_of_another_turn_is_asked_for_anew() {
    let other =
        "data: {\"type\":\"turn.created\",\"id\":\"x\",\"turn_id\":\"other\",\"input\":[]}\nid: 4\n\n";
    let mut play = started(1..=3);
    play.plays(
        "foreign",
        &[
            (Brings(format!("{other}{}", frames(4..=6))), "wait 250 #1 unexpected_response"),
            (Waited, "again after 3"),
            (Brings(frames(4..=6)), "end done"),
        ],
    );
    assert_eq!(play.driver.reader().machine().id(), Some("t"));
}

/// Whatever the server says about pages, reading them ends.
#[test]
fn pages_that_go_round_end() {
    let mut play = started(1..=3);
    play.plays("gone", &[(Fails(http(412)), "read"), (Answers(record("done")), "list")]);
    let ends = (0..100_000).any(|turn| {
        let token = if turn % 2 == 0 { "p1" } else { "p2" };
        play.next(Answers(page(&[listed()], Some(token)))) == "end done"
    });
    assert!(ends);
    assert_eq!(play.driver.reader().machine().status(), TurnStatus::Done);
}
