//! Sessions of AG-UI as a front end written in Rust uses them, against the development gateway: the client keeps the
//! conversation.

use serde_json::json;
use turnwire::event::TerminalState;
use turnwire::snapshot::{RequiredAction, TurnSnapshot, WaitingCall};
use turnwire::turn::{Reconnect, TurnStatus};
use turnwire::{Client, ConnectOptions, ErrorCode, Session};

use super::gateway::{gateway_url, in_time};
use super::wasm_bindgen_test;

const QUICK: Reconnect = Reconnect { max_attempts: 3, base_delay: 1, max_delay: 5 };

/// A client whose runs have this fault, if any.
fn connect(fault: &str) -> Client {
    let headers = vec![("x-turnwire-fault".to_owned(), fault.to_owned())];
    let headers = if fault.is_empty() { Vec::new() } else { headers };
    let base_url = [gateway_url(), "/ag-ui"].concat();
    let options =
        ConnectOptions { reconnect: QUICK, headers, ..ConnectOptions::new(base_url).protocol("ag-ui") };
    Client::connect(options).expect("the options are right")
}

async fn session() -> Session {
    connect("").create_session("agent").await.expect("it needs no server")
}

/// Plays a turn to its end. Returns its text.
async fn play(session: &Session, text: &str) -> String {
    let turn = session.create_turn(text).expect("nothing waits");
    let ended = in_time(text, turn.wait_for_completion()).await;
    assert!(matches!(ended, Ok(TerminalState::Done { .. })), "{text}: {ended:?}");
    turn.snapshot().text()
}

fn waiting(snapshot: &TurnSnapshot) -> Vec<WaitingCall> {
    let call = |action: &RequiredAction| match action {
        RequiredAction::Approval(call) | RequiredAction::Response(call) => Some(call.clone()),
        RequiredAction::Authorization { .. } => None,
    };
    snapshot.required_actions().iter().filter_map(call).collect()
}

#[wasm_bindgen_test]
async fn an_approval_is_answered_in_a_session_that_was_stored() {
    let before = session().await;
    assert!(play(&before, "plain").await.contains("not a word is lost"));
    let turn = before.create_turn("approval").expect("nothing waits");
    in_time("approval", turn.wait_for_completion()).await.expect("it ends");
    let calls = waiting(&turn.snapshot());
    assert_eq!(calls.len(), 1);
    assert_eq!(before.create_turn("something else").expect_err("a call waits").code, ErrorCode::InvalidInput);

    // As after a reload.
    let (id, stored) = (before.id(), before.conversation());
    let after = connect("").restore_session(&id, &stored).expect("it is a conversation");
    assert_eq!((after.id(), after.conversation()), (id, stored));
    assert_eq!(
        after.create_turn("something else").expect_err("it waits still").code,
        ErrorCode::InvalidInput
    );
    let answers: Vec<_> = calls.iter().map(WaitingCall::allow).collect();
    let next = after.create_turn(answers).expect("all are answered");
    in_time("allowed", next.wait_for_completion()).await.expect("it ends");
    assert!(next.snapshot().text().contains("is running again"), "{}", next.snapshot().text());
    assert!(next.snapshot().required_actions().is_empty());
    assert!(play(&after, "plain").await.contains("not a word is lost"));
}

#[wasm_bindgen_test]
async fn tools_of_the_page_are_answered_together() {
    let session = session().await;
    let tool = |name: &str| json!({"name": name, "description": "", "parameters": {"type": "object"}});
    session.set_run_options(json!({"tools": [tool("clock"), tool("calculator")]}));
    let turn = session.create_turn("page").expect("nothing waits");
    in_time("page", turn.wait_for_completion()).await.expect("it ends");
    let calls = waiting(&turn.snapshot());
    assert_eq!(calls.len(), 2);
    let answers: Vec<_> = calls.iter().map(|call| call.respond("42")).collect();
    let next = session.create_turn(answers).expect("both are answered");
    in_time("answered", next.wait_for_completion()).await.expect("it ends");
    assert!(next.snapshot().text().contains("42"), "{}", next.snapshot().text());
}

#[wasm_bindgen_test]
async fn a_run_whose_connection_breaks_is_incomplete_with_what_came() {
    let session = connect("eof:8").create_session("agent").await.expect("it needs no server");
    let turn = session.create_turn("plain").expect("nothing waits");
    let error = in_time("cut", turn.wait_for_completion()).await.expect_err("it is not whole");
    assert_eq!(error.code, ErrorCode::Incomplete);
    assert_eq!(turn.status(), TurnStatus::Incomplete);
    assert!(!turn.snapshot().text().is_empty());
}

#[wasm_bindgen_test]
async fn a_path_without_an_agent_is_an_error_with_its_status() {
    let base_url = [gateway_url(), "/nowhere"].concat();
    let client = Client::connect(ConnectOptions::new(base_url).protocol("ag-ui")).expect("it is a URL");
    let session = client.create_session("agent").await.expect("it needs no server");
    let turn = session.create_turn("plain").expect("nothing waits");
    let error = in_time("nowhere", turn.wait_for_completion()).await.expect_err("no agent is there");
    assert_eq!((error.code, error.status), (ErrorCode::Http, Some(404)));
}
