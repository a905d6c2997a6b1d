//! The driver, rule by rule: waiting for a server that responds uses up no attempts.

use super::driver::{WAITS, exhausted};
use super::play::Act::{Answers, Fails, Waited};
use super::play::{http, listed, network, page, record};

/// A server that reports a running turn has not failed, whatever happens to its streams.
#[test]
fn a_turn_that_runs_is_waited_for_when_its_stream_cannot_be_had() {
    let mut play = exhausted();
    play.plays(
        "exhausted",
        &[
            (Fails(network()), "read"),
            (Answers(record("running")), "wait 500 for turn"),
            (Waited, "read"),
            (Answers(record("running")), "wait 1000 for turn"),
            (Waited, "read"),
        ],
    );
    for _ in 0..1000 {
        play.plays("running", &[(Answers(record("running")), "wait 2000 for turn"), (Waited, "read")]);
    }
    // A failed read is a failed attempt; a response resets the count.
    for _ in 0..2 {
        for wait in WAITS {
            assert_eq!(play.next(Fails(network())), format!("{wait} network"));
            assert_eq!(play.next(Waited), "read");
        }
        play.plays("answered", &[(Answers(record("running")), "wait 2000 for turn"), (Waited, "read")]);
    }
    play.plays("ends", &[(Answers(record("done")), "list"), (Answers(page(&[listed()], None)), "end done")]);
    assert_eq!(play.content(), "ab");
}

/// While a turn is awaited, only failures use up attempts.
#[test]
fn a_server_that_is_gone_while_its_turn_is_waited_for_ends_it() {
    let mut play = exhausted();
    play.plays(
        "waiting",
        &[(Fails(network()), "read"), (Answers(record("running")), "wait 500 for turn"), (Waited, "read")],
    );
    for _ in 0..10 {
        assert!(play.next(Fails(http(502))).starts_with("wait"));
        assert_eq!(play.next(Waited), "read");
    }
    assert_eq!(play.next(Fails(http(502))), "end incomplete: incomplete");
}
