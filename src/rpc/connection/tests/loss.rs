//! Connections that cannot be opened, and connections that are lost.

use super::*;

const GET: &str = r#"{"sessionId":"s1"}"#;
const NONE: &[&str] = &[];

#[test]
fn a_connection_that_is_refused_has_sent_nothing_and_is_tried_again_by_the_next_call() {
    let mut play = Play::of(Dialect::Gateway);
    play.asks(1, Call::GetSession, GET);
    assert_eq!(play.hears(Input::Closed(1006, "")), ["close", "fail 1 network unsent"]);
    assert!(play.told[0].contains("did not open"));
    assert_eq!(play.hears(Input::Broken), NONE);
    assert_eq!(play.asks(2, Call::GetSession, GET), ["connect"]);
    let token = Error::new(ErrorCode::Token, "no token");
    assert_eq!(play.hears(Input::Failed(token)), ["close", "fail 2 token unsent"]);
    play.asks(3, Call::GetSession, GET);
    let platform = Error::new(ErrorCode::Unsupported, "no WebSocket");
    assert_eq!(play.hears(Input::Failed(platform)), ["close", "fail 3 unsupported"]);
}

#[test]
fn a_greeting_that_is_refused_is_the_error_of_all_calls_that_wait() {
    let mut play = Play::of(Dialect::Gateway);
    play.asks(1, Call::GetSession, GET);
    play.starts(2);
    play.hears(Input::Opened);
    assert_eq!(play.refuses("workspace/default", -32040), ["close", "fail 1 rpc 401", "fail 2 rpc 401"]);
    assert_eq!(play.asks(3, Call::GetSession, GET), ["connect"]);
}

#[test]
fn whatever_is_on_its_way_fails_with_its_connection() {
    let mut play = Play::streaming();
    play.asks(3, Call::GetSession, GET);
    let lost = play.hears(Input::Closed(4401, "authentication is over"));
    assert_eq!(lost, ["close", "fail 3 network", "end 2 network"]);
    assert!(play.told.last().is_some_and(|told| told.contains("(4401: authentication is over)")));
    assert_eq!(play.hears(Input::Message(r#"{"method":"turn/started"}"#)), NONE, "late words");
    // The next connection is greeted and subscribed to again.
    assert_eq!(play.resumes(4), ["connect"]);
    assert_eq!(play.hears(Input::Opened), ["workspace/default"]);
    play.requests.retain(|(_, method)| method == "workspace/default");
    assert_eq!(play.replies("workspace/default", HELLO), ["thread/start"]);
}

#[test]
fn a_stream_that_is_lost_before_it_is_read_brings_first_what_had_come() {
    let mut play = Play::connected();
    play.resumes(2);
    play.replies("thread/start", &thread("s1", 1));
    assert_eq!(play.hears(Input::Broken), ["close"]);
    assert_eq!(play.hears(Input::Read(2)), ["deliver 2 kept 1", "end 2 network"]);
}

#[test]
fn a_start_that_was_not_sent_yet_is_unsent_and_one_that_was_is_not() {
    let mut play = Play::connected();
    play.starts(2);
    assert_eq!(play.hears(Input::Broken), ["close", "fail 2 network"], "the thread may have been made");
    let mut play = Play::connected();
    play.starts(2);
    play.replies("thread/start", &thread("s1", 1));
    assert_eq!(play.hears(Input::Broken), ["close", "fail 2 network"]);
}

#[test]
fn a_server_that_is_closing_is_told_nothing_more() {
    let mut play = Play::streaming();
    play.buffered = None;
    assert_eq!(play.asks(3, Call::GetSession, GET), ["close", "connect", "end 2 network"]);
    assert_eq!(play.hears(Input::Opened), ["workspace/default"]);
}

#[test]
fn closing_the_client_ends_what_stands_and_what_is_being_made() {
    let mut play = Play::streaming();
    assert_eq!(play.hears(Input::Close), ["close", "end 2 network"]);
    assert!(play.told.last().is_some_and(|told| told.contains("the client was closed")));
    assert_eq!(play.hears(Input::Close), NONE);
    assert_eq!(play.asks(3, Call::GetSession, GET), ["connect"]);
    assert_eq!(play.hears(Input::Close), ["close", "fail 3 network unsent"]);
    assert_eq!(play.asks(4, Call::GetSession, GET), ["connect"]);
}

#[test]
fn a_page_that_was_away_trusts_no_connection_on_which_something_streams() {
    let mut play = Play::connected();
    assert_eq!(play.hears(Input::Away), NONE);
    let mut play = Play::streaming();
    assert_eq!(play.hears(Input::Away), ["close", "end 2 network"]);
}
