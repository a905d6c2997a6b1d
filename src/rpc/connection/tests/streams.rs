//! Streams: which messages belong to which, what is kept until it is read, and how they end.

use super::*;

const DELTA: &str = r#"{"workspace_id":"ws_1","thread_id":"s1","turn_id":"u","item_id":"m","delta":"x"}"#;
const CLOSED: &str = r#"{"workspaceId":"ws_1","threadId":"s1"}"#;
const NONE: &[&str] = &[];

#[test]
fn what_comes_before_a_stream_is_read_is_kept_in_its_place() {
    let mut play = Play::connected();
    assert_eq!(play.starts(2), ["thread/start"]);
    assert_eq!(play.replies("thread/start", &thread("s1", 1)), ["turn/start"]);
    assert_eq!(play.tells("item/agent_message/delta", DELTA), NONE);
    assert_eq!(play.replies("turn/start", r#"{"turn":{"id":"u"}}"#), ["answer 2"]);
    assert_eq!(play.tells("item/agent_message/delta", DELTA), NONE);
    play.told.clear();
    assert_eq!(play.hears(Input::Read(2)), ["deliver 2 kept 3"]);
    assert!(play.told[1].starts_with(r#"{"response_to":"turn/start","#), "{}", play.told[1]);
    assert_eq!(play.tells("item/agent_message/delta", DELTA), ["deliver 2"]);
}

#[test]
fn a_message_belongs_to_the_streams_whose_threads_it_names_or_to_all() {
    let mut play = Play::streaming();
    let other = DELTA.replace("s1", "s2");
    assert_eq!(play.tells("item/agent_message/delta", &other), NONE);
    let named = r#"{"thread_id":"s2","item":{"parent":"s1"}}"#;
    assert_eq!(play.tells("item/started", named), ["deliver 2"]);
    let quoted = r#"{"thread_id":"s2","delta":"\"s1\""}"#;
    assert_eq!(play.tells("item/agent_message/delta", quoted), NONE, "in a text of an agent's");
    assert_eq!(play.tells("turn/started", r#"{"thread_id":"s2"}"#), ["deliver 2"]);
    assert_eq!(play.tells("serverRequest/resolved", r#"{"threadId":"s2"}"#), ["deliver 2"]);
    let request = r#"{"id":0,"method":"item/tool/call","params":{"threadId":"s2"}}"#;
    assert_eq!(play.hears(Input::Message(request)), ["deliver 2"]);
    for other in ["", "7", "{\"thread_id\":", r#"["s2"]"#] {
        assert_eq!(play.hears(Input::Message(other)), NONE, "{other}");
    }
    assert_eq!(play.hears(Input::Message(r#"["s1"]"#)), ["deliver 2"]);
    assert_eq!(play.hears(Input::Binary), NONE);
}

#[test]
fn several_streams_share_a_message() {
    let mut play = Play::streaming();
    let params = r#"{"sessionId":"s2","turnId":"v","input":[]}"#;
    play.asks(3, Call::CreateTurnStream, params);
    play.replies("thread/start", &thread("s2", 1));
    play.replies("turn/start", r#"{"turn":{"id":"v"}}"#);
    play.hears(Input::Read(3));
    assert_eq!(play.tells("item/agent_message/delta", DELTA), ["deliver 2"]);
    assert_eq!(play.tells("item/agent_message/delta", &DELTA.replace("s1", "s2")), ["deliver 3"]);
    assert_eq!(play.tells("item/started", r#"{"thread_id":"s2","of":"s1"}"#), ["deliver 2", "deliver 3"]);
}

#[test]
fn a_stream_that_is_resumed_reads_on_once_the_server_tells_of_its_thread() {
    let mut play = Play::connected();
    assert_eq!(play.resumes(2), ["thread/start"]);
    assert_eq!(
        play.replies("thread/start", &thread("s1", 1)),
        ["answer 2", "turn/get", "turn/items", "turn/timeline"]
    );
    play.hears(Input::Read(2));
    assert_eq!(play.replies("turn/get", "{}"), ["deliver 2 kept 1"]);
    assert!(play.told.last().is_some_and(|message| message.starts_with(r#"{"response_to":"turn/get""#)));
}

#[test]
fn a_refused_start_leaves_nothing_behind_in_the_stream_of_the_second_one() {
    let mut play = Play::streaming();
    play.hears(Input::Forget { id: 2, is_overdue: false });
    assert_eq!(play.starts(3), ["turn/start"]);
    assert_eq!(play.refuses("turn/start", -32600), ["thread/start"]);
    play.replies("thread/start", &thread("s1", 1));
    assert_eq!(play.replies("turn/start", r#"{"turn":{"id":"u"}}"#), ["answer 3"]);
    assert_eq!(play.hears(Input::Read(3)), ["deliver 3 kept 1"]);
}

#[test]
fn a_thread_that_the_server_unloads_ends_its_streams_and_is_subscribed_to_anew() {
    let mut play = Play::streaming();
    assert_eq!(play.tells("x/y", r#"{"threadId":"s9","note":"thread/closed"}"#), NONE);
    assert_eq!(play.tells("thread/closed", &CLOSED.replace("s1", "s9")), NONE);
    assert_eq!(play.tells("thread/closed", CLOSED), ["end 2"]);
    assert_eq!(play.starts(3), ["thread/start"]);
}

#[test]
fn a_thread_is_unloaded_also_where_nothing_reads_it_and_however_that_is_written() {
    let mut play = Play::streaming();
    play.hears(Input::Forget { id: 2, is_overdue: false });
    play.hears(Input::Message(&format!(r#"{{"params":{CLOSED},"method":"thread/closed"}}"#)));
    assert_eq!(play.starts(3), ["thread/start"]);
    // A notice from before the response is outdated, and ends no request in flight.
    play.tells("thread/closed", CLOSED);
    assert_eq!(play.replies("thread/start", &thread("s1", 1)), ["turn/start"]);
    assert_eq!(play.tells("thread/closed", CLOSED), NONE);
    assert_eq!(play.replies("turn/start", r#"{"turn":{"id":"u"}}"#), ["answer 3"]);
}

#[test]
fn a_thread_of_codex_that_cannot_be_heard_of_yet_is_read_again_once_its_turn_has_begun() {
    let mut play = Play::of(Dialect::Codex);
    play.starts_codex(1);
    play.hears(Input::Opened);
    assert_eq!(play.replies("initialize", "{}"), ["thread/resume"]);
    assert_eq!(play.refuses("thread/resume", -32600), ["turn/start"]);
    assert_eq!(play.replies("turn/start", r#"{"turn":{"id":"u"}}"#), ["answer 1"]);
    assert_eq!(play.hears(Input::Read(1)), ["deliver 1 kept 1", "end 1"]);
}

#[test]
fn follow_up_requests_are_gathered_and_their_responses_are_part_of_the_stream() {
    let mut play = Play::streaming();
    assert_eq!(play.hears(Input::FollowUp(2)), NONE);
    assert_eq!(play.wake(), "200");
    assert_eq!(play.passes(100), NONE);
    play.hears(Input::FollowUp(2));
    assert_eq!(play.passes(100), ["gather 2"]);
    let list = vec![Message::Request { method: "turn/timeline", params: "{}".to_owned() }];
    let said = Messages { list, ..Messages::default() };
    assert_eq!(play.hears(Input::Say(2, said)), ["turn/timeline"]);
    assert_eq!(play.replies("turn/timeline", "{}"), ["deliver 2 kept 1"]);
    assert_eq!(play.passes(1000), ["workspace/default"], "only a sign of life");
}

#[test]
fn what_a_stream_needs_and_cannot_be_sent_ends_the_connection() {
    let mut play = Play::streaming();
    play.buffered = Some(16 * MIB);
    let list = vec![Message::Request { method: "turn/timeline", params: "{}".to_owned() }];
    let said = Messages { list, ..Messages::default() };
    assert_eq!(play.hears(Input::Say(2, said)), ["close", "end 2 network"]);
    assert!(play.told.last().is_some_and(|message| message.contains("bytes wait")));
}

#[test]
fn a_stream_that_was_left_gets_nothing_more() {
    let mut play = Play::connected();
    play.resumes(2);
    play.replies("thread/start", &thread("s1", 1));
    play.hears(Input::Read(2));
    play.hears(Input::Forget { id: 2, is_overdue: false });
    assert_eq!(play.replies("turn/get", "{}"), NONE);
    assert_eq!(play.tells("item/agent_message/delta", DELTA), NONE);
    assert_eq!(play.passes(5000), NONE, "nor does it cost the connection");
    assert_eq!(play.connection.call_count(), 0);
}
