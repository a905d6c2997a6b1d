//! The driver, rule by rule: the reads before the start of a turn in an unknown session.

use serde_json::{Value as Json, json};

use super::play::Act::{self, Aborted, Answers, Brings, Fails, Unsent, Waited};
use super::play::{Play, frames, http, network, of_code, page, record, trace};
use crate::error::ErrorCode;
use crate::turn::{Newest, Reconnect, StartTrace};

fn turns(items: &[Json]) -> Act {
    Answers(page(items, None))
}

/// An earlier finished turn, with the same input as [`record`]'s.
fn earlier(id: &str, previous: Option<&str>, created_at: &str) -> Json {
    let mut turn = record("done");
    turn["id"] = id.into();
    turn["previous_turn_id"] = previous.into();
    turn["created_at"] = created_at.into();
    turn
}

fn old() -> Json {
    earlier("t0", None, "2026-07-01T10:00:20Z")
}

/// The turn that the start makes.
fn ours() -> Json {
    let mut turn = record("running");
    turn["previous_turn_id"] = "t0".into();
    turn
}

/// A start with these turns listed before it, and whose response was lost.
fn lost(listed: Act) -> Play {
    let mut play = Play::new();
    assert_eq!(play.stream_unknown(), "newest");
    assert_eq!(play.params(), json!({"session_id": "s", "limit": 2}));
    assert_eq!(play.next(listed), "post stream");
    play.plays("lost", &[(Fails(network()), "wait 250 #1 network"), (Waited, "look")]);
    play
}

#[test]
fn the_newest_turn_is_read_before_the_start_and_is_not_taken_for_its_turn() {
    let mut play = lost(turns(&[old()]));
    assert_eq!(*play.driver.newest(), Newest::Turn("t0".to_owned()));
    assert_eq!(play.next(turns(&[ours(), old()])), "subscribe after 0");
    let mut play = lost(turns(&[old()]));
    play.plays(
        "absent",
        &[
            (turns(&[old()]), "wait 1500>=1500 #2 network"),
            (Waited, "look"),
            (turns(&[old()]), "wait 3000>=3000 #3 network"),
            (Waited, "look"),
            (turns(&[old()]), "end unstarted: network"),
        ],
    );
    let mut play = lost(turns(&[]));
    assert_eq!(*play.driver.newest(), Newest::None);
    assert_eq!(play.next(turns(&[ours()])), "subscribe after 0");
}

/// The order of turns decides, whatever the clocks say.
#[test]
fn what_was_read_just_before_needs_no_clock() {
    let mut play = lost(turns(&[earlier("t0", None, "2025-01-01T00:00:00Z")]));
    let mut late = ours();
    late["created_at"] = "2025-01-01T00:00:05Z".into();
    assert_eq!(play.next(turns(&[late, earlier("t0", None, "2025-01-01T00:00:00Z")])), "subscribe after 0");
}

/// Where the oldest turns come first, all of them are read.
#[test]
fn the_list_is_read_as_far_as_its_order_demands() {
    let of = |count: u32| -> Vec<Json> {
        let turn = |at: u32| {
            let previous = at.checked_sub(1).map(|before| format!("o{before}"));
            earlier(&format!("o{at}"), previous.as_deref(), &format!("2026-07-01T09:{at:02}:00Z"))
        };
        (0..count).map(turn).collect()
    };
    let list = of(5);
    let newest_first: Vec<Json> = list.iter().rev().cloned().collect();
    let mut play = Play::new();
    assert_eq!(play.stream_unknown(), "newest");
    assert_eq!(play.next(Answers(page(&newest_first[..2], Some("p2")))), "post stream");
    assert_eq!(*play.driver.newest(), Newest::Turn("o4".to_owned()));
    let mut play = Play::new();
    assert_eq!(play.stream_unknown(), "newest");
    assert_eq!(play.next(Answers(page(&list[..2], Some("p2")))), "newest from p2");
    assert_eq!(play.params(), json!({"session_id": "s", "limit": 25, "page_token": "p2"}));
    assert_eq!(play.next(Answers(page(&list[2..4], Some("p4")))), "newest from p4");
    assert_eq!(play.next(turns(&list[4..])), "post stream");
    assert_eq!(*play.driver.newest(), Newest::Turn("o4".to_owned()));
    assert_eq!(play.next(Brings(frames(1..=6))), "end done");
    // An endless list is not read endlessly.
    let mut play = Play::new();
    assert_eq!(play.stream_unknown(), "newest");
    for number in 1..40 {
        let token = format!("p{number}");
        assert_eq!(play.next(Answers(page(&list[..2], Some(&token)))), format!("newest from {token}"));
    }
    assert_eq!(play.next(Answers(page(&list[..2], Some("p40")))), "post stream");
    assert_eq!(*play.driver.newest(), Newest::Unknown);
    // A read for another purpose starts from its own beginning.
    play.plays("lost", &[(Fails(network()), "wait 250 #1 network"), (Waited, "look")]);
    assert_eq!(play.params(), json!({"session_id": "s", "limit": 25}));
    assert_eq!(play.next(turns(&[])), "wait 1500>=1500 #2 network");
}

/// The start does not depend on this read. Without it, no turn with the same input counts as its own, however new.
#[test]
fn a_start_goes_on_without_what_could_not_be_read() {
    let failures = [network(), http(401), http(404), http(503), of_code(ErrorCode::UnexpectedResponse)];
    for failure in failures {
        let mut play = lost(Fails(failure.clone()));
        assert_eq!(play.next(turns(&[ours()])), "end incomplete: incomplete", "{failure:?}");
        assert_eq!(play.stream_unknown(), "look");
        assert_eq!(play.next(turns(&[ours(), old()])), "end incomplete: incomplete");
        // No listed turn matches.
        let mut play = lost(Fails(failure));
        assert_eq!(play.next(turns(&[])), "wait 1500>=1500 #2 network");
    }
    let mut play = Play::new();
    assert_eq!(play.stream_unknown(), "newest");
    play.plays("well", &[(Fails(http(500)), "post stream"), (Brings(frames(1..=6)), "end done")]);
}

/// Nothing was sent: the turn can be started again, and the unread list is requested again.
#[test]
fn what_is_stopped_before_the_start_leaves_it_unstarted() {
    for act in [Aborted, Unsent, Fails(of_code(ErrorCode::Token))] {
        let mut play = Play::new();
        assert_eq!(play.stream_unknown(), "newest");
        assert_eq!(play.next(Answers(page(&[old(), ours()], Some("p2")))), "newest from p2");
        assert_eq!(play.next(act), "end unstarted");
        assert_eq!(play.stream_unknown(), "newest");
        play.plays("anew", &[(turns(&[old()]), "post stream"), (Brings(frames(1..=6)), "end done")]);
    }
}

/// Known turns are not read; nor is a list that no search would use.
#[test]
fn it_is_read_only_where_it_is_needed() {
    for newest in [Newest::None, Newest::Turn("t0".to_owned())] {
        assert_eq!(Play::new().stream_traced(StartTrace { newest, ..trace() }), "post stream");
    }
    assert_eq!(Play::new().stream_off(), "post stream");
    for (previous, first) in [("", "newest"), ("auto", "newest"), ("none", "newest"), ("t0", "post stream")] {
        assert_eq!(Play::following(previous).stream_unknown(), first, "{previous}");
    }
    let mut play = Play::new();
    assert_eq!(play.start_unknown(), "newest");
    play.plays("without a stream", &[(turns(&[old()]), "post"), (Answers(record("running")), "end running")]);
}

/// The list is read once: a repeated start is compared with the same turns.
#[test]
fn a_start_that_is_sent_again_is_told_from_the_same_turns() {
    let mut play = Play::new();
    assert_eq!(play.stream_unknown(), "newest");
    play.plays(
        "away",
        &[
            (turns(&[old()]), "post stream"),
            (Fails(http(429)), "wait 250 #1 http 429"),
            (Waited, "post stream"),
            (Fails(network()), "wait 500 #2 network"),
            (Waited, "look"),
            (turns(&[ours(), old()]), "subscribe after 0"),
        ],
    );
}

/// If several turns match, none is chosen, in this search or a later one.
#[test]
fn of_several_turns_none_is_taken() {
    let mut twin = ours();
    twin["id"] = "u".into();
    twin["previous_turn_id"] = "t".into();
    let mut play = lost(turns(&[old()]));
    for _ in 0..3 {
        assert_eq!(play.next(turns(&[twin.clone(), ours(), old()])), "end incomplete: incomplete");
        assert_eq!(play.stream(Reconnect::default()), "look");
    }
    assert_eq!(play.next(Aborted), "end incomplete: aborted");
    assert_eq!(play.look(), "look");
    assert_eq!(play.next(turns(&[old(), ours(), twin])), "end incomplete: incomplete");
}
