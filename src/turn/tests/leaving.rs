//! The driver, rule by rule: a turn that is left, or whose connection is not recovered, and that continues later.

use serde_json::json;

use super::play::Act::{self, Aborted, Answers, Breaks, Brings, Fails, Unsent, Waited};
use super::play::{frames, http, listed, network, of_code, page, record, started, unnumbered};
use crate::delivery::EVENT_STRIDE;
use crate::error::ErrorCode;
use crate::turn::Reconnect;

/// In each phase: how the caller's abort affects the turn. On the server the turn continues.
#[test]
fn an_abort_stops_listening_wherever_it_stands() {
    let gone = || vec![(Fails(http(412)), "read")];
    let phases: [(&str, Vec<(Act, &str)>); 6] = [
        ("streaming", vec![]),
        ("waiting", vec![(Fails(network()), "wait 250 #1 network")]),
        ("asking again", vec![(Fails(network()), "wait 250 #1 network"), (Waited, "again after 3")]),
        ("reading", gone()),
        ("listing", [gone(), vec![(Answers(record("done")), "list")]].concat()),
        (
            "waiting to list",
            [gone(), vec![(Answers(record("done")), "list"), (Fails(network()), "wait 250 #1 network")]]
                .concat(),
        ),
    ];
    for (phase, script) in phases {
        let mut play = started(1..=3);
        play.plays(phase, &script);
        assert_eq!(play.next(Aborted), "end running: aborted", "{phase}");
        assert_eq!(play.content(), "a", "{phase}");
        assert_eq!(play.stream(Reconnect::default()), "subscribe after 3", "{phase}");
        assert_eq!(play.next(Brings(frames(4..=6))), "end done", "{phase}");
        assert_eq!(play.content(), "ab", "{phase}");
    }
    // It was stopped before the request was sent.
    let mut play = started(1..=3);
    play.plays("unsent", &[(Fails(network()), "wait 250 #1 network"), (Waited, "again after 3")]);
    assert_eq!(play.next(Unsent), "end running");
}

/// Its stream would repeat events that were already taken from the list. Lists may number a message by its beginning.
#[test]
fn a_list_that_was_left_is_gone_on_with() {
    let mut numbered = listed();
    numbered["sequence_number"] = json!(2);
    for listed in [listed(), numbered] {
        let mut play = started(1..=3);
        play.plays("first", &[(Fails(http(412)), "read"), (Answers(record("done")), "list")]);
        let first = page(std::slice::from_ref(&listed), Some("p2"));
        assert_eq!(play.next(Answers(first)), "list from p2", "{listed}");
        assert_eq!(play.next(Aborted), "end running: aborted", "{listed}");
        play.driver.reader_mut().batch().take(&mut Default::default());
        assert_eq!(play.stream(Reconnect::default()), "read", "{listed}");
        play.plays(
            "second",
            &[(Answers(record("done")), "list"), (Answers(page(&[listed], None)), "end done")],
        );
        let records = play.driver.reader_mut().batch().records().len() / EVENT_STRIDE;
        assert_eq!(records, 1, "only `turn.done`");
    }
}

/// The same while waiting for a list that was incomplete.
#[test]
fn a_list_that_lacks_something_is_gone_on_with() {
    for number in [0, 9] {
        let response = json!({"type": "tool.response", "id": "r", "thread_id": "main", "tool_call_id": "c",
                              "content": "", "sequence_number": number});
        let mut play = started(1..=3);
        play.plays(
            "left",
            &[
                (Fails(http(412)), "read"),
                (Answers(record("done")), "list"),
                (Answers(page(std::slice::from_ref(&response), None)), "wait 500 for events"),
                (Aborted, "end running: aborted"),
            ],
        );
        assert_eq!(play.stream(Reconnect::default()), "read", "{number}");
        let end = page(&[response, listed()], None);
        play.plays("again", &[(Answers(record("done")), "list"), (Answers(end), "end done")]);
        assert_eq!(play.content(), "ab");
    }
}

/// Nor does a stream resume if its last events had no number.
#[test]
fn a_turn_of_unnumbered_events_is_read_to_its_end() {
    let mut play = started(1..=2);
    play.plays(
        "left",
        &[(Breaks(unnumbered(3..=3), network()), "wait 250 #1 network"), (Aborted, "end running: aborted")],
    );
    assert_eq!(play.stream(Reconnect::default()), "read");
    play.plays(
        "again",
        &[
            (Answers(record("running")), "wait 500 for turn"),
            (Waited, "read"),
            (Answers(record("done")), "list"),
            (Answers(page(&[listed()], None)), "end done"),
        ],
    );
    assert_eq!(play.content(), "ab");
}

#[test]
fn without_reconnects_the_first_failure_is_reported() {
    let cases = [
        (Brings(frames(3..=3)), "end incomplete: incomplete"),
        (Breaks(frames(3..=3), network()), "end incomplete: incomplete"),
        (Fails(http(503)), "end running: http 503"),
        (Fails(http(412)), "end running: http 412"),
        (Fails(of_code(ErrorCode::Token)), "end running"),
        (Brings(format!("{}{}", frames(3..=3), frames(5..=6))), "end done"),
        (Brings(frames(3..=6)), "end done"),
    ];
    for (act, expected) in cases {
        let mut play = started(1..=2);
        assert_eq!(play.next(Aborted), "end running: aborted");
        assert_eq!(play.stream(Reconnect::OFF), "subscribe after 2");
        let name = format!("{act:?}");
        play.plays(&name, &[(act, expected)]);
    }
}
