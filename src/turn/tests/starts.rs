//! The driver, rule by rule: starts that are refused, or that may have arrived. A turn is never started twice.

use serde_json::{Value as Json, json};

use super::play::Act::{self, Aborted, Answers, Breaks, Brings, Fails, Unsent, Waited};
use super::play::{FRAME_LIMIT, Play, asking, frames, http, network, of_code, page, record};
use crate::error::ErrorCode;
use crate::turn::Reconnect;

/// A turn whose start is being streamed.
fn starting() -> Play {
    let mut play = Play::new();
    assert_eq!(play.stream(Reconnect::default()), "post stream");
    play
}

fn turns(items: &[Json]) -> Act {
    Answers(page(items, None))
}

/// A refused start did nothing: the turn may be started again.
#[test]
fn a_start_that_is_refused_ends_it() {
    for status in [400, 401, 402, 403, 404, 409, 410, 412, 413, 422, 424, 451] {
        let mut play = starting();
        assert_eq!(play.next(Fails(http(status))), format!("end unstarted: http {status}"));
        assert_eq!(play.stream(Reconnect::default()), "post stream");
        let mut play = Play::new();
        assert_eq!(play.start(), "post");
        assert_eq!(play.next(Fails(http(status))), format!("end unstarted: http {status}"));
    }
    let mut play = starting();
    assert_eq!(play.next(Fails(of_code(ErrorCode::InvalidOption))), "end unstarted: invalid_option");
}

#[test]
fn a_start_that_comes_too_early_is_sent_again() {
    for status in [425, 429] {
        let mut play = starting();
        let wait = format!("wait 250 #1 http {status}");
        let later = format!("wait 3500>=3000 #2 http {status}");
        play.plays(
            "later",
            &[
                (Fails(http(status)), &wait),
                (Waited, "post stream"),
                (Fails(asking(http(status), 3000)), &later),
                (Waited, "post stream"),
                (Brings(frames(1..=6)), "end done"),
            ],
        );
        let mut play = starting();
        for _ in 0..10 {
            assert!(play.next(Fails(http(status))).starts_with("wait"));
            assert_eq!(play.next(Waited), "post stream");
        }
        assert_eq!(play.next(Fails(http(status))), format!("end unstarted: http {status}"));
        let mut play = starting();
        assert_eq!(
            play.next(Fails(asking(http(status), 300_001))),
            format!("end unstarted: http {status}"),
            "it does not wait that long"
        );
    }
}

/// 503: most likely nothing happened, but only the session's turns can prove it.
#[test]
fn a_server_that_is_away_is_looked_at_before_the_start_is_sent_again() {
    let mut play = starting();
    play.plays(
        "absent",
        &[
            (Fails(asking(http(503), 1000)), "wait 1250>=1000 #1 http 503"),
            (Waited, "look"),
            (turns(&[]), "wait 1500>=1500 #2 http 503"),
            (Waited, "look"),
            (turns(&[]), "wait 3000>=3000 #3 http 503"),
            (Waited, "look"),
            (turns(&[]), "post stream"),
            (Fails(http(503)), "wait 2000 #4 http 503"),
            (Waited, "look"),
            (Fails(http(503)), "wait 4000 #5 http 503"),
            (Waited, "look"),
            (turns(&[]), "wait 1500>=1500 #6 http 503"),
            (Waited, "look"),
            (turns(&[]), "wait 3000>=3000 #7 http 503"),
            (Waited, "look"),
            (turns(&[]), "post stream"),
            (Brings(frames(1..=6)), "end done"),
        ],
    );
    let mut play = starting();
    play.plays(
        "begun",
        &[
            (Fails(http(503)), "wait 250 #1 http 503"),
            (Waited, "look"),
            (turns(&[record("running")]), "subscribe after 0"),
            (Brings(frames(1..=6)), "end done"),
        ],
    );
    let mut play = starting();
    // Every wait counts.
    for _ in 0..4 {
        assert!(play.next(Fails(http(503))).starts_with("wait"));
        for _ in 0..2 {
            assert_eq!(play.next(Waited), "look");
            assert!(play.next(turns(&[])).starts_with("wait"));
        }
        assert_eq!(play.next(Waited), "look");
        assert_eq!(play.next(turns(&[])), "post stream");
    }
    assert_eq!(play.next(Fails(http(503))), "look");
    for _ in 0..2 {
        assert!(play.next(turns(&[])).starts_with("wait"));
        assert_eq!(play.next(Waited), "look");
    }
    assert_eq!(play.next(turns(&[])), "end unstarted: http 503");
    assert_eq!(play.stream(Reconnect::default()), "post stream");
    let mut play = starting();
    play.plays(
        "too long",
        &[(Fails(asking(http(503), 300_001)), "look"), (turns(&[]), "end unstarted: http 503")],
    );
}

/// When an in-flight request arrives is unknown, so the turn is looked for several times. It is never sent again.
#[test]
fn a_start_without_an_answer_is_looked_for() {
    let cases = [
        (Fails(network()), "network", true),
        (Fails(of_code(ErrorCode::Timeout)), "timeout", true),
        (Fails(of_code(ErrorCode::UnexpectedResponse)), "unexpected_response", true),
        (Fails(http(408)), "http 408", true),
        (Fails(http(504)), "http 504", true),
        (Fails(http(500)), "http 500", false),
        (Fails(http(502)), "http 502", false),
        (Brings(String::new()), "incomplete", true),
        (Brings(": hello\n\n".to_owned()), "incomplete", true),
        // `turn.created` itself is missing.
        (Brings(frames(2..=3)), "incomplete", true),
        (Breaks(String::new(), network()), "network", true),
    ];
    for (act, cause, looks_again) in cases {
        for is_streamed in [true, false] {
            if !is_streamed && !matches!(act, Fails(_)) {
                continue;
            }
            let begin = || {
                let mut play = Play::new();
                let first = if is_streamed { play.stream(Reconnect::default()) } else { play.start() };
                assert!(first.starts_with("post"));
                assert_eq!(play.next(act.clone()), format!("wait 250 #1 {cause}"));
                assert_eq!(play.next(Waited), "look");
                play
            };
            let then = if is_streamed { "subscribe after 0" } else { "end running" };
            assert_eq!(begin().next(turns(&[record("running")])), then, "{cause}");

            let mut play = begin();
            if looks_again {
                assert_eq!(play.next(turns(&[])), format!("wait 1500>=1500 #2 {cause}"));
                assert_eq!(play.next(Waited), "look");
                assert_eq!(play.next(turns(&[])), format!("wait 3000>=3000 #3 {cause}"));
                assert_eq!(play.next(Waited), "look");
            }
            assert_eq!(play.next(turns(&[])), format!("end unstarted: {cause}"));
            assert_eq!(play.stream(Reconnect::default()), "post stream", "the server has no such turn");
        }
    }
    // If nothing can be expected, the server is asked at once.
    let mut play = starting();
    play.plays("not implemented", &[(Fails(http(501)), "look"), (turns(&[]), "end unstarted: http 501")]);
}

#[test]
fn a_turn_that_ended_before_it_was_found_is_streamed_from_its_log() {
    let mut play = starting();
    play.plays(
        "ended",
        &[
            (Fails(network()), "wait 250 #1 network"),
            (Waited, "look"),
            (turns(&[record("done")]), "subscribe after 0"),
            (Brings(frames(1..=6)), "end done"),
        ],
    );
    assert_eq!(play.content(), "ab");
    let mut play = Play::new();
    assert_eq!(play.start(), "post");
    play.plays("without a stream", &[(Fails(network()), "wait 250 #1 network"), (Waited, "look")]);
    assert_eq!(play.next(turns(&[record("done")])), "end done");
}

/// While the search fails, the turn's fate is unknown; `stream()` searches again, and then starts the turn if it does
/// not exist.
#[test]
fn a_look_that_fails_leaves_it_open() {
    let ends: [&[(Act, &str)]; 3] = [
        &[(Fails(http(404)), "end incomplete: incomplete 404")],
        &[(Fails(http(401)), "end incomplete: incomplete 401")],
        &[(Fails(http(500)), "wait 500 #2 http 500"), (Aborted, "end incomplete: aborted")],
    ];
    for script in ends {
        let again: [&[(Act, &str)]; 2] = [
            &[
                (turns(&[]), "wait 1500>=1500 #1 network"),
                (Waited, "look"),
                (turns(&[]), "wait 3000>=3000 #2 network"),
                (Waited, "look"),
                (turns(&[]), "post stream"),
                (Brings(frames(1..=6)), "end done"),
            ],
            &[(turns(&[record("running")]), "subscribe after 0"), (Brings(frames(1..=6)), "end done")],
        ];
        for again in again {
            let mut play = starting();
            play.plays("lost", &[(Fails(network()), "wait 250 #1 network"), (Waited, "look")]);
            play.plays("look", script);
            assert_eq!(play.stream(Reconnect::default()), "look");
            play.plays("again", again);
        }
    }
    let mut play = starting();
    play.plays("lost", &[(Fails(network()), "wait 250 #1 network"), (Waited, "look")]);
    for _ in 0..9 {
        assert!(play.next(Fails(network())).starts_with("wait"));
        assert_eq!(play.next(Waited), "look");
    }
    assert_eq!(play.next(Fails(network())), "end incomplete: incomplete");
}

/// A name, the acts before, the decisive act, and the step after it.
type Phase = (&'static str, Vec<(Act, &'static str)>, Act, &'static str);

/// How an abort, or a failure before anything was sent, affects a start.
#[test]
fn an_aborted_start_may_have_arrived_unless_it_was_not_sent() {
    let tokenless = || Fails(of_code(ErrorCode::Token));
    let busy = || (Fails(http(429)), "wait 250 #1 http 429");
    let lost = || (Fails(network()), "wait 250 #1 network");
    let cases: [Phase; 9] = [
        ("posting", vec![], Aborted, "end incomplete: aborted"),
        ("not yet posting", vec![], Unsent, "end unstarted"),
        ("no token", vec![], tokenless(), "end unstarted"),
        ("waiting to post again", vec![busy()], Aborted, "end unstarted"),
        ("posting again", vec![busy(), (Waited, "post stream")], Aborted, "end incomplete: aborted"),
        ("waiting to look", vec![lost()], Aborted, "end incomplete: aborted"),
        ("looking", vec![lost(), (Waited, "look")], Aborted, "end incomplete: aborted"),
        ("not yet looking", vec![lost(), (Waited, "look")], Unsent, "end incomplete: aborted"),
        ("no token to look", vec![lost(), (Waited, "look")], tokenless(), "wait 500 #2 token"),
    ];
    for (phase, script, act, expected) in cases {
        let mut play = starting();
        play.plays(phase, &script);
        assert_eq!(play.next(act), expected, "{phase}");
        let again = match expected {
            "end unstarted" => "post stream",
            "end incomplete: aborted" => "look",
            _ => continue,
        };
        assert_eq!(play.stream(Reconnect::default()), again, "{phase}");
    }
}

/// It only looks: cancelling a turn must not begin it.
#[test]
fn a_mere_look_starts_nothing() {
    let cases: [&[(Act, &str)]; 3] = [
        &[
            (turns(&[]), "wait 1500>=1500 #1 network"),
            (Waited, "look"),
            (turns(&[]), "wait 3000>=3000 #2 network"),
            (Waited, "look"),
            (turns(&[]), "end unstarted: network"),
        ],
        &[(turns(&[record("running")]), "end running")],
        &[(Fails(http(403)), "end incomplete: incomplete 403")],
    ];
    for script in cases {
        let mut play = starting();
        play.plays(
            "lost",
            &[(Fails(network()), "wait 250 #1 network"), (Aborted, "end incomplete: aborted")],
        );
        assert_eq!(play.look(), "look");
        play.plays("look", script);
    }
    let mut play = starting();
    play.plays(
        "refused in the end",
        &[(Fails(http(500)), "wait 250 #1 http 500"), (Aborted, "end incomplete: aborted")],
    );
    assert_eq!(play.look(), "look");
    // Nothing was in flight any more.
    assert_eq!(play.next(turns(&[])), "end unstarted: http 500");
    assert_eq!(play.start(), "post");
}

#[test]
fn without_reconnects_the_turn_is_not_looked_for() {
    let large = format!("data: {}", "x".repeat(FRAME_LIMIT));
    let cases = [
        (Fails(http(400)), "end unstarted: http 400"),
        (Fails(http(429)), "end unstarted: http 429"),
        (Fails(http(408)), "end incomplete: http 408"),
        (Fails(http(503)), "end incomplete: http 503"),
        (Fails(network()), "end incomplete: network"),
        (Fails(of_code(ErrorCode::UnexpectedResponse)), "end incomplete: unexpected_response"),
        (Fails(of_code(ErrorCode::Token)), "end unstarted"),
        (Brings(String::new()), "end incomplete: incomplete"),
        (Brings(large), "end incomplete: frame_too_large"),
        (Brings(frames(1..=2)), "end incomplete: incomplete"),
    ];
    for (act, expected) in cases {
        let mut play = Play::new();
        assert_eq!(play.stream(Reconnect::OFF), "post stream");
        let name = format!("{act:?}");
        play.plays(&name, &[(act, expected)]);
    }
}

/// A search without a token finds nothing out, so the turn cannot be started again.
#[test]
fn a_look_without_a_token_leaves_it_open() {
    for reconnect in [Reconnect::OFF, Reconnect { max_attempts: 1, ..Reconnect::default() }] {
        let mut play = Play::new();
        assert_eq!(play.stream(Reconnect::OFF), "post stream");
        assert_eq!(play.next(Fails(http(504))), "end incomplete: http 504");
        assert_eq!(play.stream(reconnect), "look");
        let mut next = play.next(Fails(of_code(ErrorCode::Token)));
        if next == "wait 250 #1 token" {
            assert_eq!(play.next(Waited), "look");
            next = play.next(Fails(of_code(ErrorCode::Token)));
        }
        assert_eq!(next, "end incomplete: incomplete");
        assert_eq!(play.stream(reconnect), "look");
    }
}

/// The parameters of each request in a turn's recovery.
#[test]
fn requests_carry_what_servers_take() {
    let mut play = Play::new();
    play.stream(Reconnect::default());
    let input = json!([{"type": "user.message", "content": "hi"}]);
    assert_eq!(play.params(), json!({"session_id": "s", "input": input}));
    play.plays("lost", &[(Fails(network()), "wait 250 #1 network"), (Waited, "look")]);
    assert_eq!(play.params(), json!({"session_id": "s", "limit": 25}));
    assert_eq!(play.next(turns(&[record("running")])), "subscribe after 0");
    assert_eq!(play.params(), json!({"session_id": "s", "turn_id": "t"}));
    play.plays(
        "gone",
        &[(Breaks(frames(1..=3), network()), "wait 250 #1 network"), (Waited, "again after 3")],
    );
    assert_eq!(play.params(), json!({"session_id": "s", "turn_id": "t", "after_sequence_number": 3}));
    play.plays("gone", &[(Waited, "again after 3"), (Fails(http(412)), "read")]);
    assert_eq!(play.params(), json!({"session_id": "s", "turn_id": "t"}));
    assert_eq!(play.next(Answers(record("done"))), "list");
    let list = json!({"session_id": "s", "turn_id": "t", "limit": 25, "order": "asc"});
    assert_eq!(play.params(), list);
}

#[test]
fn a_start_names_the_turn_that_it_follows() {
    let mut play = Play::following("t0");
    play.stream(Reconnect::default());
    assert_eq!(play.params()["previous_turn_id"], "t0");
}
