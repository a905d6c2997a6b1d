//! A conversation that the client keeps: from turn to turn, over a reload, and after turns that did not end.

use serde_json::{Value as Json, json};

use crate::error::{Error, ErrorCode, Result};
use crate::json::Value;
use crate::protocol::AnyProtocol;
use crate::protocol::ag_ui::AgUi;
use crate::session::{Goal, Session, SessionTurn};
use crate::turn::{Failure, Moment, Outcome, Reconnect, Step, TurnStatus};

const NOW: u64 = 1_767_225_600_000;
const MOMENT: Moment = Moment { now: 0.0, random: 0.5 };

fn session() -> Session {
    let mut session = Session::new("s".to_owned(), AnyProtocol::from(AgUi::new()), 1 << 20, true);
    session.set_terms(r#"{"tools":[{"name":"mine","description":""}]}"#);
    session
}

fn message(text: &str) -> Json {
    json!([{"type": "user.message", "content": text}])
}

fn answer(call_id: &str, content: &str) -> Json {
    json!([{"type": "user.tool_response", "thread_id": "main", "tool_call_id": call_id, "content": content}])
}

/// Begins a turn; returns it with the body of its start.
fn begin(session: &mut Session, id: &str, input: &Json) -> Result<(SessionTurn, Json)> {
    let mut turn = SessionTurn::new(session, "", id, false);
    turn.take_input(session, &input.to_string(), "", false)?;
    let step = turn.begin(session, Goal::Stream, 0, Reconnect::default(), NOW)?;
    let Step::Open(plan) = step else { panic!("{step:?}") };
    let Ok(Value::Object(params)) = Value::parse(&plan.params) else { panic!("{}", plan.params) };
    let request = session.protocol.protocol().request(plan.call, params)?;
    let body = serde_json::from_str(&request.body.expect("a body")).expect("JSON");
    Ok((turn, body))
}

fn push(session: &mut Session, turn: &mut SessionTurn, frames: &[Json]) {
    for frame in frames {
        assert!(turn.push(session, format!("data: {frame}\n\n").as_bytes()), "{frame}");
    }
}

/// The stream ends, or fails in this way; returns what is reported.
fn end(session: &mut Session, turn: &mut SessionTurn, outcome: Outcome<'_>) -> Result<()> {
    match turn.next(session, outcome, MOMENT) {
        Step::End(report) => report,
        // Nothing is asked or sent again.
        step => panic!("{step:?}"),
    }
}

/// A whole turn with these frames between its beginning and its end; returns the body of its start.
fn play(session: &mut Session, id: &str, input: &Json, frames: &[Json]) -> Json {
    let (mut turn, body) = begin(session, id, input).expect("a start");
    push(session, &mut turn, &[json!({"type": "RUN_STARTED", "threadId": "s", "runId": id})]);
    push(session, &mut turn, frames);
    push(session, &mut turn, &[json!({"type": "RUN_FINISHED", "threadId": "s", "runId": id})]);
    end(session, &mut turn, Outcome::Ended).expect("an end");
    assert_eq!(turn.reader().machine().status(), TurnStatus::Done);
    body
}

fn says(id: &str, text: &str) -> [Json; 3] {
    [
        json!({"type": "TEXT_MESSAGE_START", "messageId": id, "role": "assistant"}),
        json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": text}),
        json!({"type": "TEXT_MESSAGE_END", "messageId": id}),
    ]
}

fn calls(id: &str, name: &str) -> [Json; 3] {
    [
        json!({"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": name, "parentMessageId": "m"}),
        json!({"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": "{}"}),
        json!({"type": "TOOL_CALL_END", "toolCallId": id}),
    ]
}

fn texts(body: &Json) -> Vec<String> {
    let messages = body["messages"].as_array().expect("messages").iter();
    messages.map(|message| format!("{} {}", message["role"], message["content"]).replace('"', "")).collect()
}

#[test]
fn each_turn_sends_what_the_turns_before_it_left() {
    let mut session = session();
    assert_eq!(session.conversation(), "");
    let state = json!({"type": "STATE_SNAPSHOT", "snapshot": {"n": 1}});
    let first = play(&mut session, "t1", &message("One"), &[&says("a", "Yes")[..], &[state]].concat());
    assert_eq!(texts(&first), ["user One"]);
    let second = play(&mut session, "t2", &message("Two"), &says("b", "No"));
    assert_eq!(texts(&second), ["user One", "assistant Yes", "user Two"]);
    assert_eq!(second["state"], json!({"n": 1}));
    let third = play(&mut session, "t3", &message("Three"), &[]);
    assert_eq!(texts(&third).len(), 5);
    let messages = |body: &Json| body["messages"].as_array().expect("messages").clone();
    assert_eq!(messages(&third)[..3], messages(&second)[..]);
}

#[test]
fn a_message_is_refused_while_a_call_waits() {
    let mut session = session();
    play(&mut session, "t1", &message("One"), &calls("c", "mine"));
    let refused = begin(&mut session, "t2", &message("Two")).map(|_| ()).expect_err("an error");
    assert_eq!(refused.code, ErrorCode::InvalidInput);
}

#[test]
fn an_answer_is_part_of_the_conversation() {
    let mut session = session();
    play(&mut session, "t1", &message("One"), &calls("c", "mine"));
    let body = play(&mut session, "t2", &answer("c", "red"), &says("a", "Red it is"));
    assert_eq!(texts(&body), ["user One", "assistant null", "tool red"]);
    assert_eq!(body["messages"][1]["toolCalls"][0]["id"], "c");
    let next = play(&mut session, "t3", &message("Two"), &[]);
    assert_eq!(texts(&next), ["user One", "assistant null", "tool red", "assistant Red it is", "user Two"]);
}

#[test]
fn a_broken_stream_is_incomplete_and_is_not_sent_again() {
    let failure = || Outcome::Failed(Failure::from(Error::new(ErrorCode::Network, "it broke")));
    for outcome in [failure, || Outcome::Ended] {
        let mut session = session();
        let (mut turn, _) = begin(&mut session, "t1", &message("One")).expect("a start");
        push(&mut session, &mut turn, &[json!({"type": "RUN_STARTED"})]);
        push(&mut session, &mut turn, &says("m", "Hel")[..2]);
        push(&mut session, &mut turn, &calls("c", "server"));
        let error = end(&mut session, &mut turn, outcome()).expect_err("an error");
        assert_eq!(error.code, ErrorCode::Incomplete);
        assert_ne!(turn.reader().machine().status(), TurnStatus::Done);
        // What came stays, without the call that has no result.
        let next = play(&mut session, "t2", &message("Two"), &[]);
        assert_eq!(texts(&next), ["user One", "assistant Hel", "user Two"]);
        assert_eq!(next["messages"][1].get("toolCalls"), None);
    }
}

#[test]
fn a_start_that_fails_is_not_sent_again_and_leaves_its_message_unless_it_was_refused() {
    for error in [
        Error::new(ErrorCode::Network, "it broke"),
        Error::new(ErrorCode::Http, "500").with_status(Some(500)),
        Error::new(ErrorCode::Http, "503").with_status(Some(503)),
        Error::new(ErrorCode::Http, "409").with_status(Some(409)),
        Error::new(ErrorCode::Http, "422").with_status(Some(422)),
    ] {
        let mut session = session();
        let (mut turn, _) = begin(&mut session, "t1", &message("One")).expect("a start");
        let is_refused = error.status.is_some_and(|status| status < 500);
        end(&mut session, &mut turn, Outcome::Failed(Failure::from(error))).expect_err("an error");
        let expected = if is_refused { TurnStatus::Unstarted } else { TurnStatus::Incomplete };
        assert_eq!(turn.reader().machine().status(), expected);
        let said = r#"{"messages":[{"id":"t1:0","role":"user","content":"One"}],"ends":{"t1":{"status":"error","message":"the stream ended before the run did","code":"incomplete"}}}"#;
        assert_eq!(session.conversation(), if is_refused { "" } else { said });
        // The next run is sent it as well.
        let next = play(&mut session, "t2", &message("Two"), &[]);
        assert_eq!(texts(&next), if is_refused { vec!["user Two"] } else { vec!["user One", "user Two"] });
    }
}

#[test]
fn a_stream_without_events_is_unexpected() {
    for stream in ["", ": keepalive\r\n\r\n"] {
        let mut session = session();
        play(&mut session, "t1", &message("One"), &says("a", "Yes"));
        let before = session.conversation().to_owned();
        let (mut turn, _) = begin(&mut session, "t2", &message("Two")).expect("a start");
        assert!(turn.push(&mut session, stream.as_bytes()));
        let error = end(&mut session, &mut turn, Outcome::Ended).expect_err("an error");
        assert_eq!(error.code, ErrorCode::UnexpectedResponse);
        assert_eq!(session.conversation(), before);
    }
}

#[test]
fn a_late_error_makes_a_run_fail() {
    let mut session = session();
    let (mut turn, _) = begin(&mut session, "t1", &message("One")).expect("a start");
    push(&mut session, &mut turn, &[json!({"type": "RUN_STARTED"}), json!({"type": "RUN_FINISHED"})]);
    assert_eq!(turn.reader().machine().status(), TurnStatus::Running, "an error may follow");
    push(&mut session, &mut turn, &[json!({"type": "RUN_ERROR", "message": "it broke"})]);
    end(&mut session, &mut turn, Outcome::Ended).expect("the turn's end is known");
    assert_eq!(turn.reader().machine().status(), TurnStatus::Error);
}

#[test]
fn to_hang_up_is_to_cancel_and_what_came_stays() {
    let mut session = session();
    let (mut turn, _) = begin(&mut session, "t1", &message("One")).expect("a start");
    push(&mut session, &mut turn, &[json!({"type": "RUN_STARTED"})]);
    push(&mut session, &mut turn, &says("m", "Hel")[..2]);
    turn.driver_mut().cancel_by_disconnect();
    end(&mut session, &mut turn, Outcome::Aborted).expect("an end");
    assert_eq!(turn.reader().machine().status(), TurnStatus::Cancelled);
    let kept: Json = serde_json::from_str(session.conversation()).expect("JSON");
    assert_eq!(kept["ends"], json!({"t1": {"status": "cancelled", "reason": "client-cancelled"}}));
    let next = play(&mut session, "t2", &message("Two"), &[]);
    assert_eq!(texts(&next), ["user One", "assistant Hel", "user Two"]);
}

#[test]
fn a_stored_conversation_goes_on() {
    let mut before = session();
    play(&mut before, "t1", &message("One"), &calls("c", "mine"));
    let stored = before.conversation().to_owned();
    let reloaded = || {
        let mut session = session();
        session.set_conversation(&stored).expect("a conversation");
        session
    };
    begin(&mut reloaded(), "t2", &message("Two")).map(|_| ()).expect_err("a call waits");
    let body = play(&mut reloaded(), "t2", &answer("c", "red"), &[]);
    assert_eq!(body, play(&mut before, "t2", &answer("c", "red"), &[]), "as if there had been no reload");
}

#[test]
fn what_is_no_conversation_is_refused() {
    let mut session = session();
    for stored in ["", "no JSON", "[]", "null"] {
        let error = session.set_conversation(stored).expect_err("an error");
        assert_eq!(error.code, ErrorCode::InvalidOption);
    }
    assert_eq!(texts(&play(&mut session, "t1", &message("One"), &[])), ["user One"]);
    let mut other =
        Session::new("s".to_owned(), AnyProtocol::named("aap").expect("this build has it"), 1000, true);
    let error = other.set_conversation("{}").expect_err("an error");
    assert_eq!(error.code, ErrorCode::Unsupported);
}

#[test]
fn frames_are_handed_on_as_they_came() {
    let mut session = session();
    let (mut turn, _) = begin(&mut session, "t1", &message("One")).expect("a start");
    turn.reader_mut().set_wants_native(true);
    let frame = json!({"type": "RAW", "event": {"any": [1, null]}, "source": "lab"});
    push(&mut session, &mut turn, std::slice::from_ref(&frame));
    let text = String::from_utf8_lossy(turn.reader_mut().batch().text().ascii()).into_owned();
    assert!(text.contains(&frame.to_string()), "{text}");
}

#[test]
fn an_earlier_turn_does_not_take_the_conversation_back() {
    let mut session = session();
    let (mut turn, _) = begin(&mut session, "t1", &message("One")).expect("a start");
    push(&mut session, &mut turn, &[json!({"type": "RUN_STARTED"})]);
    end(&mut session, &mut turn, Outcome::Ended).expect_err("it is incomplete");
    play(&mut session, "t2", &message("Two"), &says("a", "Yes"));
    let kept = session.conversation().to_owned();
    let _ = turn.begin(&mut session, Goal::Stream, 0, Reconnect::default(), NOW);
    turn.next(&mut session, Outcome::Unsent, MOMENT);
    assert_eq!(session.conversation(), kept);
}

#[test]
fn the_state_is_replaced_alone_and_nothing_else_of_the_conversation_changes() {
    let mut session = session();
    play(&mut session, "t1", &message("Hi"), &says("m", "One"));
    session.set_conversation(r#"{"state":{"n":12345678901234567890.5}}"#).expect("a state");
    let kept: Json = serde_json::from_str(session.conversation()).expect("JSON");
    assert_eq!(kept["messages"].as_array().map(Vec::len), Some(2));
    assert!(session.conversation().contains("12345678901234567890.5"));
    let body = play(&mut session, "t2", &message("More"), &[]);
    assert_eq!(body["messages"].as_array().map(Vec::len), Some(3));
    session.set_conversation(r#"{"state":7}"#).expect("any JSON");
    assert_eq!(play(&mut session, "t3", &message("And"), &[])["state"], 7);
}

#[test]
fn what_the_user_said_is_kept_once_the_run_has_begun() {
    let mut session = session();
    let (mut turn, _) = begin(&mut session, "t1", &message("Hi")).expect("a start");
    assert_eq!(session.conversation(), "");
    push(&mut session, &mut turn, &[json!({"type": "RUN_STARTED", "threadId": "s", "runId": "t1"})]);
    let kept: Json = serde_json::from_str(session.conversation()).expect("JSON");
    assert_eq!(kept["messages"][0]["content"], "Hi");
}

#[test]
fn a_question_about_no_call_waits_by_itself() {
    let mut session = session();
    let (mut turn, _) = begin(&mut session, "t1", &message("Hi")).expect("a start");
    let interrupt = json!({"id": "i", "reason": "input_required", "message": "Which?"});
    let outcome = json!({"type": "interrupt", "interrupts": [interrupt]});
    let frames = [
        json!({"type": "RUN_STARTED", "threadId": "s", "runId": "t1"}),
        json!({"type": "RUN_FINISHED", "threadId": "s", "runId": "t1", "outcome": outcome}),
    ];
    push(&mut session, &mut turn, &frames);
    end(&mut session, &mut turn, Outcome::Ended).expect("nothing is missing");
    assert!(!turn.reader().index().hides_actions());
    let (_, body) = begin(&mut session, "t2", &answer("i", "blue")).expect("an answer");
    assert_eq!(body["resume"], json!([{"interruptId": "i", "status": "resolved", "payload": "blue"}]));
}

#[test]
fn a_question_about_no_call_is_refused_and_a_call_of_the_page_is_not() {
    let decide = |id: &str, status: &str| json!([{"type": "user.tool_approval", "thread_id": "main", "tool_call_id": id, "approval": {"status": status}}]);
    let mut session = session();
    let outcome = json!({"type": "interrupt", "interrupts": [{"id": "i", "reason": "input_required"}]});
    let (mut turn, _) = begin(&mut session, "t1", &message("Hi")).expect("a start");
    let asks = json!({"type": "RUN_FINISHED", "outcome": outcome});
    push(&mut session, &mut turn, &[json!({"type": "RUN_STARTED"}), asks]);
    end(&mut session, &mut turn, Outcome::Ended).expect("an end");
    let allowed = begin(&mut session, "t2", &decide("i", "allow")).map(|_| ()).expect_err("no answer");
    assert_eq!(allowed.code, ErrorCode::InvalidInput);
    let body = play(&mut session, "t2", &decide("i", "deny"), &calls("c", "mine"));
    assert_eq!(body["resume"], json!([{"interruptId": "i", "status": "cancelled"}]));
    let denied = begin(&mut session, "t3", &decide("c", "deny")).map(|_| ()).expect_err("it needs a result");
    assert_eq!(denied.code, ErrorCode::InvalidInput);
}

#[test]
fn a_file_can_be_given_by_its_address() {
    let file = |data: &str| json!([{"type": "user.message", "content": [{"type": "file", "name": "a.pdf", "data": data}]}]);
    let body = play(&mut session(), "t1", &file("https://a.test/a.pdf"), &[]);
    let source = json!({"type": "url", "value": "https://a.test/a.pdf"});
    assert_eq!(body["messages"][0]["content"][0]["source"], source);
    let refused = begin(&mut session(), "t1", &file("a.pdf")).map(|_| ()).expect_err("no address");
    assert_eq!(refused.code, ErrorCode::InvalidInput);
}

#[test]
fn a_connection_that_breaks_after_the_end_of_the_run_takes_nothing_away() {
    for code in [ErrorCode::Network, ErrorCode::Timeout] {
        let mut session = session();
        let (mut turn, _) = begin(&mut session, "t1", &message("One")).expect("a start");
        push(&mut session, &mut turn, &[json!({"type": "RUN_STARTED"})]);
        push(&mut session, &mut turn, &says("m", "Hello"));
        push(&mut session, &mut turn, &[json!({"type": "RUN_FINISHED", "threadId": "s", "runId": "t1"})]);
        let failure = Outcome::Failed(Failure::from(Error::new(code, "it was kept open")));
        end(&mut session, &mut turn, failure).expect("the end is known");
        assert_eq!(turn.reader().machine().status(), TurnStatus::Done);
    }
}
