//! Time limits: of calls, of the responses that a stream needs, of silence, and of an unused connection.

use super::*;

const GET: &str = r#"{"sessionId":"s1"}"#;
const NONE: &[&str] = &[];

#[test]
fn a_connection_has_to_be_made_and_greeted_in_time() {
    let mut play = Play::of(Dialect::Gateway);
    play.asks(1, Call::GetSession, GET);
    assert_eq!(play.wake(), "500");
    assert_eq!(play.passes(499), NONE);
    assert_eq!(play.passes(1), ["fail 1 timeout unsent"]);
    assert!(play.told[0].contains("no answer within 500 ms (`connectTimeout`)"));
    play.asks(2, Call::GetSession, GET);
    assert_eq!(play.passes(500), ["fail 2 timeout unsent", "close"], "the connection may take a second");
    play.asks(3, Call::GetSession, GET);
    play.hears(Input::Opened);
    play.passes(400);
    play.asks(4, Call::GetSession, GET);
    play.passes(100);
    play.asks(5, Call::GetSession, GET);
    assert_eq!(play.passes(499), ["fail 4 timeout unsent"]);
    assert_eq!(play.passes(1), ["fail 5 timeout unsent", "close"], "greeting counts as making it");
}

#[test]
fn a_request_that_nothing_answers_while_nothing_comes_costs_the_connection() {
    // The call's limit is shorter than the time that the server may take.
    let mut play = Play::connected();
    play.asks(2, Call::GetSession, GET);
    assert_eq!(play.passes(500), ["fail 2 timeout"]);
    assert_eq!(play.wake(), "500");
    assert_eq!(play.passes(500), ["close"]);
    assert_eq!(play.asks(3, Call::GetSession, GET), ["connect"]);

    let mut play = Play::connected();
    play.asks(2, Call::GetSession, GET);
    play.passes(500);
    play.hears(Input::Binary);
    assert_eq!(play.passes(500), NONE, "the server was heard of");
    assert_eq!(play.asks(3, Call::GetSession, GET), ["thread/get"]);
}

/// Clocks are coarse, and some browsers make them coarser.
#[test]
fn a_message_right_after_a_request_is_a_sign_of_life() {
    let mut play = Play::connected();
    play.asks(2, Call::GetSession, GET);
    play.hears(Input::Binary);
    assert_eq!(play.passes(500), ["fail 2 timeout"]);
    assert_eq!(play.passes(500), NONE);
    assert_eq!(play.asks(3, Call::GetSession, GET), ["thread/get"]);
}

#[test]
fn a_call_that_its_caller_gave_up_as_overdue_casts_the_same_doubt() {
    for (is_overdue, expected) in [(true, vec!["close"]), (false, vec![])] {
        let mut play = Play::connected();
        play.asks(2, Call::GetSession, GET);
        play.hears(Input::Forget { id: 2, is_overdue });
        assert_eq!(play.passes(1000), expected, "{is_overdue}");
    }
}

#[test]
fn a_stream_is_asked_for_signs_of_life_and_given_up_without_them() {
    let mut play = Play::streaming();
    assert_eq!(play.passes(999), NONE);
    assert_eq!(play.passes(1), ["workspace/default"]);
    assert_eq!(play.passes(500), NONE, "once");
    assert_eq!(play.replies("workspace/default", HELLO), NONE);
    assert_eq!(play.passes(1000), ["workspace/default"]);
    assert_eq!(play.passes(999), NONE);
    assert_eq!(play.passes(1), ["close", "end 2 timeout after 2000"]);
    assert!(play.told.last().is_some_and(|told| told.contains("nothing came for 2000 ms (`idleTimeout`)")));
}

#[test]
fn whatever_comes_is_a_sign_of_life_also_where_the_ping_got_lost() {
    let mut play = Play::streaming();
    assert_eq!(play.passes(1000), ["workspace/default"]);
    play.passes(500);
    play.tells("x/y", "{}");
    assert_eq!(play.passes(1000), ["workspace/default"], "the next silence is asked about, too");
}

#[test]
fn a_sign_of_life_that_cannot_be_asked_for_is_asked_for_later() {
    let mut play = Play::streaming();
    play.buffered = Some(16 * MIB);
    assert_eq!(play.passes(1000), NONE);
    play.buffered = Some(0);
    assert_eq!(play.wake(), "500");
    assert_eq!(play.passes(500), ["workspace/default"]);
}

#[test]
fn a_response_that_a_stream_needs_has_a_clock() {
    let mut play = Play::connected();
    play.resumes(2);
    play.replies("thread/start", &thread("s1", 1));
    play.hears(Input::Read(2));
    play.replies("turn/get", "{}");
    play.replies("turn/items", "{}");
    play.passes(900);
    play.hears(Input::Binary);
    assert_eq!(play.passes(100), ["close", "end 2 timeout"]);
    assert!(play.told.last().is_some_and(|told| told.contains("a request had no response within 1000 ms")));
}

#[test]
fn a_connection_that_is_not_used_is_closed_after_a_minute_and_a_closed_clients_after_a_second() {
    let mut play = Play::connected();
    play.passes(59_000);
    play.asks(2, Call::GetSession, GET);
    play.replies("thread/get", &thread("s1", 1));
    assert_eq!(play.passes(59_000), NONE, "each use counts");
    assert_eq!(play.passes(1000), ["close"]);
    play.hears(Input::Close);
    play.asks(3, Call::GetSession, GET);
    play.hears(Input::Opened);
    play.requests.retain(|(_, method)| method != "thread/get");
    play.replies("workspace/default", HELLO);
    play.replies("thread/get", &thread("s1", 1));
    assert_eq!(play.passes(1000), ["close"]);
}

#[test]
fn a_machine_that_slept_does_not_trust_its_connection() {
    let mut play = Play::connected();
    play.now += 3_600_000;
    assert_eq!(play.asks(2, Call::GetSession, GET), ["close", "connect"]);
}

#[test]
fn a_clock_that_is_set_back_stops_nothing() {
    let mut play = Play::streaming();
    play.now -= 3_600_000;
    assert_eq!(play.passes(0), NONE);
    assert_eq!(play.passes(1000), ["workspace/default"]);
}

#[test]
fn the_carrier_is_not_woken_for_every_message() {
    let mut play = Play::streaming();
    let count = play.wakes.len();
    for _ in 0..100 {
        play.now += 1;
        play.tells("item/agent_message/delta", r#"{"thread_id":"s1"}"#);
    }
    assert_eq!(play.wakes.len(), count);
}
