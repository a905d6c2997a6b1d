//! Which turn is the newest, and what the next input must answer.

use serde_json::{Value as Json, json};

use crate::error::ErrorCode;
use crate::json::Value;
use crate::protocol::{AnyProtocol, Capability};
use crate::session::{PausedStream, Session};
use crate::turn::{Newest, Pending, TurnInput};

/// The numbers of protocols: one whose servers check answers themselves, and one whose servers do not.
const TRUEFOUNDRY: u8 = 0;
const TIREA: u8 = 2;

fn session(protocol: u8, is_new: bool) -> Session {
    let protocol = AnyProtocol::numbered(protocol).expect("a known protocol");
    Session::new("s".to_owned(), protocol, 1000, is_new)
}

fn id(id: &str) -> Newest {
    Newest::Turn(id.to_owned())
}

fn approval(call: &str) -> String {
    let call = json!({"id": call, "type": "function", "function": {"name": "f", "arguments": "{}"}});
    json!([{"type": "tool.approval_required", "id": "q", "thread_id": "main", "tool_calls": [call]}])
        .to_string()
}

/// Whether the session accepts this input for a turn that follows `previous_turn_id`.
fn accepts(session: &Session, previous_turn_id: &str, input: &Json) -> bool {
    let text = input.to_string();
    let json = Value::parse(&text).expect("JSON");
    let input = TurnInput::read(json, &session.protocol.protocol().capabilities()).expect("an input");
    match session.check_pending(previous_turn_id, &input) {
        Ok(()) => true,
        Err(error) => {
            assert_eq!(error.code, ErrorCode::InvalidInput);
            false
        }
    }
}

fn allow(call: &str) -> Json {
    let approval = json!({"status": "allow"});
    json!({"type": "user.tool_approval", "thread_id": "main", "tool_call_id": call, "approval": approval})
}

#[test]
fn the_newest_turn_is_the_last_one_that_began_here() {
    let mut session = session(TRUEFOUNDRY, true);
    assert_eq!(session.newest(), Newest::None);
    let (first, second) = (session.new_key(), session.new_key());
    session.add_newest(first, 100);
    assert_eq!(session.newest(), Newest::None, "it has not begun");
    session.turn_begun(first, "t1", "");
    assert_eq!(session.newest(), id("t1"));
    session.add_newest(second, 200);
    let trace = session.start_trace(300);
    assert_eq!((trace.newest, trace.started_at, trace.newest_started_at), (id("t1"), 300, 100));
    session.start_refused(second);
    assert_eq!(session.newest(), id("t1"));
    session.add_newest(second, 400);
    session.turn_begun(second, "t2", "");
    assert_eq!(session.newest(), id("t2"));
    assert_eq!(session.other_ids(second), ["t1"]);
}

#[test]
fn a_turn_of_another_client_is_the_newest_only_after_a_list_of_all() {
    let mut session = session(TRUEFOUNDRY, false);
    assert_eq!(session.newest(), Newest::Unknown);
    let key = session.new_key();
    session.add_newest(key, 0);
    session.turn_begun(key, "t1", "");
    assert_eq!(session.newest(), Newest::Unknown, "the session may have newer ones");
    session.turns_listed();
    assert_eq!(session.newest(), id("t1"));
}

#[test]
fn a_session_whose_list_is_empty_has_no_newest_turn() {
    let mut session = session(TRUEFOUNDRY, false);
    session.turns_listed();
    assert_eq!(session.newest(), Newest::None);
}

#[test]
fn the_newest_turn_that_was_read_before_a_start_is_kept() {
    let mut session = session(TRUEFOUNDRY, false);
    session.newest_read(&id("t1"));
    assert_eq!(session.newest(), id("t1"));
    session.newest_read(&id("t0"));
    assert_eq!(session.newest(), id("t1"), "an older answer changes nothing");
}

#[test]
fn a_turn_that_follows_the_newest_becomes_the_newest() {
    let mut session = session(TIREA, true);
    let (own, follower, other) = (session.new_key(), session.new_key(), session.new_key());
    session.add_newest(own, 1);
    session.turn_begun(own, "t1", "");
    session.turn_ended(own, Pending::Known(Vec::new()), PausedStream::default());
    session.turn_begun(other, "x", "elsewhere");
    assert!(!accepts(&session, "auto", &json!([allow("c1")])), "nothing waits in t1");
    session.turn_begun(follower, "t2", "t1");
    assert!(accepts(&session, "auto", &json!([allow("c1")])), "what t2 waits for is unknown");
}

#[test]
fn the_mark_changes_when_a_turn_starts_or_ends_here() {
    let mut session = session(TIREA, true);
    let new = session.mark();
    let (first, second) = (session.new_key(), session.new_key());
    assert_eq!(session.mark(), new, "it was made, but not started");
    session.add_newest(first, 100);
    let started = session.mark();
    session.turn_begun(first, "t1", "");
    assert_eq!(session.mark(), started);
    session.turn_ended(first, Pending::Known(Vec::new()), PausedStream::default());
    let ended = session.mark();
    session.add_newest(second, 200);
    assert!(started != new && ended != started && session.mark() != ended);
    session.start_refused(second);
    assert_eq!(session.mark(), ended, "the turn before it is the newest again");
}

#[test]
fn the_next_input_answers_what_the_record_waits_for() {
    let mut session = session(TIREA, false);
    session.take_record("agent", &approval("c1"));
    assert_eq!(session.agent_name, "agent");
    assert!(accepts(&session, "auto", &json!([allow("c1")])));
    assert!(!accepts(&session, "auto", &json!([allow("c2")])));
    assert!(!accepts(&session, "", &json!("Hello")));
    assert!(accepts(&session, "t9", &json!("Hello")), "only the server knows what waits after another turn");
}

#[test]
fn the_next_input_answers_what_the_history_waits_for() {
    let mut session = session(TIREA, false);
    session.history_read(3, &approval("c1"));
    assert_eq!(session.user_message_count, Some(3));
    assert!(!accepts(&session, "auto", &json!("Hello")));
    session.history_read(4, "[]");
    assert!(accepts(&session, "auto", &json!("Hello")));
    assert!(!accepts(&session, "auto", &json!([allow("c1")])));
}

#[test]
fn a_running_turn_is_answered_live_where_a_new_turn_would_ask_again() {
    for (protocol, is_accepted) in [(TRUEFOUNDRY, true), (TIREA, false)] {
        let mut session = session(protocol, true);
        let key = session.new_key();
        session.add_newest(key, 1);
        session.turn_begun(key, "t1", "");
        session.set_live(key, true, &[]);
        assert_eq!(accepts(&session, "auto", &json!([allow("c1")])), is_accepted, "protocol {protocol}");
    }
}

#[test]
fn a_new_session_has_no_calls_to_answer() {
    for (protocol, is_accepted) in [(TRUEFOUNDRY, true), (TIREA, false)] {
        let session = session(protocol, true);
        assert_eq!(accepts(&session, "", &json!([allow("c1")])), is_accepted, "protocol {protocol}");
    }
}

#[test]
fn a_paused_turn_is_known_by_its_id() {
    let mut session = session(TIREA, true);
    let key = session.new_key();
    session.add_newest(key, 1);
    session.turn_begun(key, "t1", "");
    let paused = PausedStream { events: 7, messages: vec!["m1".to_owned()] };
    session.turn_ended(key, Pending::Unknown, paused.clone());
    assert_eq!(session.paused_stream("t1"), Some(&paused));
    assert_eq!(session.paused_stream("t2"), None);
}

#[test]
fn a_cancelled_session_takes_no_turn() {
    let mut session = session(TRUEFOUNDRY, true);
    session.check_open().expect("it is open");
    session.cancelled();
    assert_eq!(session.check_open().expect_err("it was cancelled").code, ErrorCode::SessionCancelled);
}

#[test]
fn terms_change_what_the_session_supports() {
    const AAP: u8 = 4;
    let mut session = session(AAP, true);
    assert!(session.protocol.protocol().capabilities().has(Capability::History));
    let terms = r#"{"history":null,"images":["data"]}"#;
    session.set_terms(terms);
    assert_eq!(session.terms, terms);
    let capabilities = session.protocol.protocol().capabilities();
    assert_eq!((capabilities.has(Capability::History), capabilities.has(Capability::Files)), (false, true));
}
