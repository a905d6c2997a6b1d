//! Calls with responses: the connection they share, subscriptions, refusals.

use super::*;

const GET: &str = r#"{"sessionId":"s1"}"#;
const CANCEL: &str = r#"{"sessionId":"s1","turnId":"u"}"#;
const NONE: &[&str] = &[];

#[test]
fn all_calls_share_a_connection_that_is_greeted_first() {
    let mut play = Play::of(Dialect::Gateway);
    assert_eq!(play.asks(1, Call::GetSession, GET), ["connect"]);
    assert_eq!(play.asks(2, Call::GetSession, GET), NONE);
    assert_eq!(play.hears(Input::Opened), ["workspace/default"]);
    assert_eq!(play.asks(3, Call::GetSession, GET), NONE);
    assert_eq!(play.replies("workspace/default", HELLO), ["thread/get", "thread/get", "thread/get"]);
    assert_eq!(play.replies("thread/get", &thread("s1", 1)), ["answer 1"]);
    assert!(play.told[0].contains(r#""id":"s1""#), "{}", play.told[0]);
    assert_eq!(play.refuses("thread/get", -32600), ["fail 2 rpc 404"]);
    assert_eq!(play.replies("thread/get", "7"), ["fail 3 unexpected_response"]);
}

#[test]
fn codex_is_told_that_its_greeting_arrived() {
    let mut play = Play::of(Dialect::Codex);
    play.asks(1, Call::ListAgents, "{}");
    assert_eq!(play.hears(Input::Opened), ["initialize", "initialized"]);
    assert_eq!(play.replies("initialize", "{}"), ["model/list"]);
}

#[test]
fn what_needs_no_server_needs_no_connection() {
    assert_eq!(Play::of(Dialect::Gateway).asks(1, Call::ListAgents, "{}"), ["answer 1"]);
}

#[test]
fn responses_are_known_by_their_ids_wherever_they_stand_and_taken_once() {
    let mut play = Play::connected();
    play.asks(2, Call::GetSession, GET);
    play.asks(3, Call::GetSession, GET);
    let (second, third) = (play.requests[0].0.clone(), play.requests[1].0.clone());
    let message = format!("{{ \"result\": {} ,\n\"id\" : \"{third}\" }}", thread("s1", 1));
    assert_eq!(play.hears(Input::Message(&message)), ["answer 3"]);
    assert_eq!(play.hears(Input::Message(&message)), NONE);
    assert_eq!(
        play.hears(Input::Message(&format!(r#"[{{"id":"{second}"}}]"#))),
        ["fail 2 unexpected_response"]
    );
    for other in ["", "7", "{", r#"{"id":"ABCDEFGHIJKLMzzzzzzzz","result":{}}"#, r#"{"id":7,"result":{}}"#] {
        assert_eq!(play.hears(Input::Message(other)), NONE, "{other}");
    }
}

#[test]
fn a_response_beyond_the_limit_costs_the_others_nothing() {
    let mut play = Play::connected();
    play.asks(2, Call::GetSession, GET);
    let large = format!(r#"{{"thread":{{"id":"s1","preview":"{}"}}}}"#, "x".repeat(2000));
    assert_eq!(play.replies("thread/get", &large), ["fail 2 frame_too_large"]);
    assert_eq!(play.asks(3, Call::GetSession, GET), ["thread/get"]);
}

#[test]
fn options_that_the_protocol_does_not_know_are_refused_before_anything_is_sent() {
    let mut play = Play::connected();
    assert_eq!(play.asks(2, Call::GetSession, r#"{"sessionId":"s1","mood":1}"#), ["fail 2 invalid_option"]);
    assert_eq!(play.asks(3, Call::SearchSessions, "{}"), ["fail 3 unsupported"]);
}

#[test]
fn a_call_subscribes_to_its_thread_once_in_a_connection() {
    let mut play = Play::connected();
    assert_eq!(play.asks(2, Call::CancelTurn, CANCEL), ["thread/start"]);
    // Another call does not rely on a subscription in flight.
    assert_eq!(play.asks(3, Call::CancelTurn, CANCEL), ["thread/start"]);
    assert_eq!(play.replies("thread/start", &thread("s1", 1)), ["turn/cancel"]);
    assert_eq!(play.asks(4, Call::CancelTurn, CANCEL), ["turn/cancel"]);
    assert_eq!(play.replies("thread/start", &thread("s1", 1)), ["turn/cancel"]);
}

#[test]
fn what_is_refused_on_a_thread_that_was_heard_of_is_sent_once_more_after_a_subscription() {
    let mut play = Play::streaming();
    assert_eq!(play.asks(3, Call::CancelTurn, CANCEL), ["turn/cancel"]);
    assert_eq!(play.refuses("turn/cancel", -32600), ["thread/start"]);
    assert_eq!(play.replies("thread/start", &thread("s1", 1)), ["turn/cancel"]);
    assert_eq!(play.refuses("turn/cancel", -32600), ["fail 3 rpc"]);

    assert_eq!(play.asks(4, Call::CancelTurn, CANCEL), ["turn/cancel"]);
    assert_eq!(play.refuses("turn/cancel", -32602), ["fail 4 rpc"], "any other error is no refusal");

    assert_eq!(play.asks(5, Call::CancelTurn, CANCEL), ["turn/cancel"]);
    assert_eq!(play.refuses("turn/cancel", -32600), ["thread/start"]);
    assert_eq!(play.refuses("thread/start", -32600), ["fail 5 rpc"]);
}

#[test]
fn a_refused_call_that_was_just_subscribed_is_not_sent_again() {
    let mut play = Play::connected();
    play.asks(2, Call::CancelTurn, CANCEL);
    play.replies("thread/start", &thread("s1", 1));
    assert_eq!(play.refuses("turn/cancel", -32600), ["fail 2 rpc"]);
}

#[test]
fn a_conversation_that_the_server_has_lost_does_not_go_on() {
    let mut play = Play::connected();
    play.asks(2, Call::CancelTurn, CANCEL);
    assert_eq!(play.replies("thread/start", &thread("s1", 2)), ["fail 2 rpc 404"]);
    assert!(play.told.last().is_some_and(|message| message.contains("no longer has")));
    // Nor with the next call.
    play.asks(3, Call::CancelTurn, CANCEL);
    assert_eq!(play.replies("thread/start", &thread("s1", 2)), ["fail 3 rpc 404"]);
    // If a server omits the creation time, the thread is not taken as lost.
    play.asks(4, Call::CancelTurn, CANCEL);
    assert_eq!(play.replies("thread/start", r#"{"thread":{"id":"s1"}}"#), ["turn/cancel"]);
}

#[test]
fn a_thread_is_heard_of_from_its_creation_on() {
    let mut play = Play::connected();
    assert_eq!(play.asks(2, Call::CreateSession, r#"{"id":"s1","agentName":"Chat"}"#), ["thread/start"]);
    assert_eq!(play.replies("thread/start", &thread("s1", 3)), ["answer 2"]);
    assert_eq!(play.asks(3, Call::CancelTurn, CANCEL), ["turn/cancel"]);

    let mut play = Play::of(Dialect::Codex);
    play.asks(1, Call::CreateSession, r#"{"agentName":"codex"}"#);
    play.hears(Input::Opened);
    play.replies("initialize", "{}");
    assert_eq!(play.replies("thread/start", r#"{"thread":{"id":"s1"}}"#), ["answer 1"]);
    assert_eq!(play.starts_codex(2), ["turn/start"]);
}

#[test]
fn an_answer_to_the_server_has_no_response() {
    let mut play = Play::of(Dialect::Codex);
    play.asks(1, Call::ListAgents, "{}");
    play.hears(Input::Opened);
    play.replies("initialize", "{}");
    let answer = r#"{"sessionId":"t","turnId":"u","input":[{"type":"user.tool_approval","thread_id":"main","tool_call_id":"c","approval":{"status":"allow"},"suspension":{"id":"7","action":"item/commandExecution/requestApproval"}}]}"#;
    assert_eq!(play.asks(2, Call::AnswerTurn, answer), ["respond", "answer 2"]);
}

#[test]
fn what_a_socket_does_not_take_is_not_sent() {
    let mut play = Play::connected();
    play.buffered = Some(16 * MIB - 10);
    assert_eq!(play.asks(2, Call::GetSession, GET), ["fail 2 network unsent"]);
    play.buffered = Some(16 * MIB - 1000);
    assert_eq!(play.asks(3, Call::GetSession, GET), ["thread/get"]);
    play.buffered = Some(0);
    let large = format!(r#"{{"sessionId":"{}"}}"#, "x".repeat(16 * 1024 * 1024));
    assert_eq!(play.asks(4, Call::GetSession, &large), ["fail 4 invalid_input"]);
}
