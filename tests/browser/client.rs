//! Clients, sessions and turns as a front end written in Rust uses them, against the development gateway and against a
//! `fetch` whose connections break.

use std::cell::RefCell;
use std::rc::Rc;

use futures::StreamExt;
use futures::future::join;
use js_sys::{Array, Function, Reflect};
use turnwire::event::{Event, TerminalState, TurnState};
use turnwire::protocol::{Call, Resume};
use turnwire::snapshot::{RequiredAction, TurnSnapshot};
use turnwire::turn::{Reconnect, TurnStatus};
use turnwire::{Client, ConnectOptions, ConnectionEvent, ErrorCode, Session, Token};
use wasm_bindgen::JsValue;

use super::gateway::{gateway_url, in_time, journal, plan};
use super::wasm_bindgen_test;

const STREAM: &str = include_str!("../fixtures/truefoundry/plain.sse");

const QUICK: Reconnect = Reconnect { max_attempts: 3, base_delay: 1, max_delay: 5 };

/// Answers with `pieces` of the stream, one a request: the first to the start, the others to subscriptions. Before
/// the start the session's newest turn is read.
const FETCH: &str = "
    const asked = [];
    globalThis.fetch = async (request) => {
        const { pathname, search } = new URL(request.url);
        if (pathname.endsWith('/s1')) return Response.json({ data: { id: 's1', type: 'session' } });
        if (request.method === 'GET') {
            asked.push(`${pathname}${search}`);
            return Response.json({ data: [], pagination: {} });
        }
        const piece = pieces[asked.length - 1];
        asked.push(`${pathname} ${await request.text()}`);
        if (piece === '') return new Response('{}', { status: 503, headers: { 'retry-after': '0' } });
        return new Response(piece, { headers: { 'content-type': 'text/event-stream' } });
    };
    return asked;";

/// The stream up to the middle of a frame, an answer that is not a stream, and the stream again from a
/// bit before.
fn pieces() -> Array {
    let at = STREAM.find("id: 40\n").expect("it has forty events");
    let before = STREAM.find("id: 37\n").and_then(|at| STREAM[at..].find("data").map(|next| at + next));
    let before = before.expect("and thirty-seven");
    [&STREAM[..at - 9], "", &STREAM[before..]].into_iter().map(JsValue::from_str).collect()
}

fn connect(base_url: &str, protocol: &str) -> Client {
    let options = ConnectOptions { reconnect: QUICK, ..ConnectOptions::new(base_url).protocol(protocol) };
    Client::connect(options).expect("the options are right")
}

/// A new session at the gateway, over HTTP, whose turns send an event at this interval, in milliseconds.
async fn paced_session(delay: &str) -> Session {
    let headers = vec![("x-turnwire-delay-ms".to_owned(), delay.to_owned())];
    let base_url = [gateway_url(), "/demo"].concat();
    let options = ConnectOptions { reconnect: QUICK, headers, ..ConnectOptions::new(base_url) };
    let client = Client::connect(options).expect("the options are right");
    client.create_session("support-bot").await.expect("the agent is there")
}

/// A new session at the gateway, over HTTP.
async fn session() -> Session {
    let client = connect(&[gateway_url(), "/demo"].concat(), "truefoundry");
    client.create_session("support-bot").await.expect("the agent is there")
}

/// A new session at the gateway, over a WebSocket.
async fn socket_session() -> Session {
    let client = connect(&[gateway_url(), "/turn-rpc"].concat(), "turn-rpc");
    client.create_session("Chat").await.expect("the agent is there")
}

fn waiting(snapshot: &TurnSnapshot) -> Vec<turnwire::snapshot::WaitingCall> {
    let call = |action: &RequiredAction| match action {
        RequiredAction::Approval(call) | RequiredAction::Response(call) => Some(call.clone()),
        RequiredAction::Authorization { .. } => None,
    };
    snapshot.required_actions().iter().filter_map(call).collect()
}

#[wasm_bindgen_test]
async fn a_connection_that_breaks_is_resumed() {
    let platform = Reflect::get(&js_sys::global(), &"fetch".into()).expect("there is a global object");
    let replace = Function::new_with_args("pieces", FETCH);
    let asked: Array = replace.call1(&JsValue::NULL, &pieces()).expect("it is replaced").into();
    let client = connect("http://server.test/acme", "truefoundry");
    let turn = client.session("s1").await.and_then(|session| session.create_turn("plain"));
    let turn = turn.expect("a text is an input");
    let told = Rc::new(RefCell::new(Vec::new()));
    let heard = Rc::clone(&told);
    turn.on_connection(move |event| heard.borrow_mut().push(event.clone()));
    let read: Vec<_> = turn.stream().expect("it is new").numbered().collect().await;
    Reflect::set(&js_sys::global(), &"fetch".into(), &platform).expect("it is put back");

    let asked: Vec<String> = asked.iter().filter_map(|request| request.as_string()).collect();
    assert_eq!(asked.len(), 4, "{asked:?}");
    assert_eq!(asked[0], "/acme/v1/agents/sessions/s1/turns?limit=2");
    assert!(asked[1].starts_with("/acme/v1/agents/sessions/s1/turns {"), "{asked:?}");
    assert!(asked[3].ends_with("/subscribe {\"after_sequence_number\":39}"), "{asked:?}");
    let events: Vec<(u64, Event)> = read.into_iter().map(|event| event.expect("no error")).collect();
    let numbers: Vec<u64> = events.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "each event comes once, in order");
    let said: String = events
        .iter()
        .filter_map(|(_, event)| match event {
            Event::ModelMessageDelta(delta) => delta.content.clone(),
            _ => None,
        })
        .collect();
    let snapshot = turn.snapshot();
    assert_eq!((snapshot.status, snapshot.text()), (TurnStatus::Done, said));
    let told = told.borrow();
    assert!(matches!(told[0], ConnectionEvent::Reconnecting { attempt: 1, .. }), "{told:?}");
    assert_eq!(told.last(), Some(&ConnectionEvent::Resumed { after: 39 }));
}

#[wasm_bindgen_test]
async fn errors_name_the_url_and_the_likely_causes() {
    let error_at = async |base_url: &str| {
        let token = Some(Token::Fixed("secret".to_owned()));
        let options = ConnectOptions { token, reconnect: Reconnect::OFF, ..ConnectOptions::new(base_url) };
        let client = Client::connect(options).expect("the options are right");
        client.session("none").await.expect_err("there is no such session")
    };
    let base_url = [gateway_url(), "/acme"].concat();
    let refusal = error_at(&base_url).await;
    assert_eq!((refusal.code, refusal.status), (ErrorCode::Http, Some(404)));
    let named = [" (", &base_url, "/v1/agents/sessions/none)"].concat();
    assert!(refusal.message.ends_with(&named), "{refusal}");
    // Nothing listens on the port of the discard protocol.
    let lost = error_at("http://127.0.0.1:9/acme").await;
    assert_eq!(lost.code, ErrorCode::Network);
    assert!(lost.message.contains("did not get through") && lost.message.contains("CORS"), "{lost}");
    assert!(lost.message.ends_with("(http://127.0.0.1:9/acme/v1/agents/sessions/none)"), "{lost}");
    assert!(!lost.message.contains("secret"));
}

#[wasm_bindgen_test]
async fn options_that_cannot_work_are_refused_at_once() {
    let code = |options: ConnectOptions| Client::connect(options).expect_err("it is refused").code;
    assert_eq!(code(ConnectOptions::new("127.0.0.1:8822/demo")), ErrorCode::InvalidUrl);
    assert_eq!(code(ConnectOptions::new("https://server.test/?a=b")), ErrorCode::InvalidUrl);
    assert_eq!(code(ConnectOptions::new("https://server.test").protocol("soap")), ErrorCode::InvalidOption);
    let token = Some(Token::Fixed("secret".to_owned()));
    let socket = ConnectOptions { token, ..ConnectOptions::new("wss://server.test").protocol("turn-rpc") };
    assert_eq!(code(socket), ErrorCode::InvalidOption);
}

#[wasm_bindgen_test]
async fn a_dropped_stream_is_not_the_end_and_another_one_goes_on() {
    let turn = session().await.create_turn("plain").expect("a text is an input");
    let mut events = turn.stream().expect("it is new").numbered();
    assert_eq!(turn.stream().expect_err("it is streamed").code, ErrorCode::TurnAlreadyStreamed);
    let mut numbers = Vec::new();
    while numbers.len() < 5 {
        numbers.push(events.next().await.expect("there are more").expect("no error").0);
    }
    drop(events);
    assert!(turn.snapshot().error.is_none(), "not to read on is no error");
    let rest: Vec<_> = turn.stream().expect("it still runs").numbered().collect().await;
    numbers.extend(rest.into_iter().map(|event| event.expect("no error").0));
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    assert_eq!(turn.status(), TurnStatus::Done);
}

#[wasm_bindgen_test]
async fn a_wait_reads_the_turn_and_snapshots_follow_it() {
    let session = session().await;
    plan(&session.id(), serde_json::json!([{ "on": "create", "fault": "eof:9", "times": 1 }])).await;
    let turn = session.create_turn("plain").expect("a text is an input");
    let mut lengths = Vec::new();
    let shown = async {
        let mut snapshots = Box::pin(turn.snapshots());
        while let Some(snapshot) = snapshots.next().await {
            lengths.push(snapshot.text().len());
            if snapshot.status.is_terminal() {
                break;
            }
        }
    };
    let (ended, ()) = join(turn.wait_for_completion(), shown).await;
    assert!(matches!(ended, Ok(TerminalState::Done { .. })), "{ended:?}");
    assert!(lengths.len() > 1 && lengths.is_sorted(), "the text only grows: {lengths:?}");
    assert_eq!(lengths.last(), Some(&turn.snapshot().text().len()));

    // As after a reload: the turn has ended, and its events are listed.
    let id = turn.id().expect("it has started");
    let again = session.turn(&id).await.expect("it is there");
    assert_eq!(again.stream().expect_err("it is over").code, ErrorCode::TurnNotRunning);
    assert!(again.wait_for_completion().await.is_ok());
    assert_eq!(again.snapshot().text(), turn.snapshot().text());
    assert!(session.resume().await.expect("turns are listed").is_none());
}

#[wasm_bindgen_test]
async fn a_running_turn_is_found_after_a_reload() {
    let session = paced_session("5").await;
    let turn = session.create_turn("long 60").expect("a text is an input");
    let mut events = turn.stream().expect("it is new");
    assert!(matches!(events.next().await, Some(Ok(Event::TurnCreated(_)))));
    drop(events);
    let found = session.resume().await.expect("turns are listed").expect("one runs");
    assert_eq!(found.id(), turn.id());
    in_time("resumed", found.wait_for_completion()).await.expect("it ends");
    let said = found.snapshot().text();
    assert!(said.len() > 60, "{said}");
}

/// A client of the agents behind the relay, which is called through the gateway, for its faults.
fn relayed(protocol: &str) -> Client {
    let base_url = [gateway_url(), "/relay/", protocol].concat();
    let options = ConnectOptions { reconnect: QUICK, relay: true, ..ConnectOptions::new(base_url) };
    Client::connect(options.protocol(protocol)).expect("the options are right")
}

#[wasm_bindgen_test]
async fn a_relay_keeps_what_a_broken_connection_leaves() {
    for protocol in ["aap", "tirea"] {
        let client = relayed(protocol);
        assert_eq!(client.capabilities().resume, Resume::Cursor);
        let session = client.create_session("support-bot").await.expect("the agent is there");
        let faults = serde_json::json!([
            { "on": "create", "fault": "eof:5", "times": 1 },
            { "on": "subscribe", "fault": "gap:3:1+eof:9", "times": 1 },
        ]);
        plan(&session.id(), faults).await;
        let turn = session.create_turn("plain").expect("a text is an input");
        let told = Rc::new(RefCell::new(Vec::new()));
        let heard = Rc::clone(&told);
        turn.on_connection(move |event| heard.borrow_mut().push(event.clone()));
        let read: Vec<_> =
            in_time("read", turn.stream().expect("it is new").numbered().collect::<Vec<_>>()).await;
        let events: Vec<(u64, Event)> = read.into_iter().map(|event| event.expect("no error")).collect();
        let numbers: Vec<u64> = events.iter().map(|(number, _)| *number).collect();
        assert_eq!(
            numbers,
            (1..=numbers.len() as u64).collect::<Vec<_>>(),
            "{protocol}: each event comes once"
        );
        let said: String = events
            .iter()
            .filter_map(|(_, event)| match event {
                Event::ModelMessageDelta(delta) => delta.content.clone(),
                _ => None,
            })
            .collect();
        let snapshot = turn.snapshot();
        assert_eq!((snapshot.status, snapshot.text()), (TurnStatus::Done, said));
        let resumed =
            told.borrow().iter().filter(|event| matches!(event, ConnectionEvent::Resumed { .. })).count();
        assert_eq!(resumed, 2, "{protocol}: {:?}", told.borrow());
        // One start before the relay, and one after it.
        let starts = journal(&session.id()).await;
        assert_eq!(
            starts.iter().filter(|request| request["on"] == "create").count(),
            2,
            "{protocol}: {starts:?}"
        );
    }
}

#[wasm_bindgen_test]
async fn a_second_client_finds_the_turn_that_the_relay_reads_and_stops_it() {
    let session = relayed("aap").create_session("support-bot").await.expect("the agent is there");
    let turn = session.create_turn("slow").expect("a text is an input");
    let mut events = turn.stream().expect("it is new");
    events.next().await.expect("there are some").expect("no error");
    let there = relayed("aap").session(&session.id()).await.expect("it is there");
    let found = there.resume().await.expect("turns are listed").expect("one runs");
    assert_eq!(found.id(), turn.id());
    let mut seen = found.stream().expect("it runs");
    seen.next().await.expect("there are some").expect("no error");
    in_time("stopped", found.cancel()).await.expect("it is stopped");
    for events in [&mut events, &mut seen] {
        while let Some(event) = in_time("told", events.next()).await {
            event.expect("no error");
        }
    }
    assert_eq!((turn.status(), found.status()), (TurnStatus::Cancelled, TurnStatus::Cancelled));
}

#[wasm_bindgen_test]
async fn a_server_that_is_not_a_relay_is_reported() {
    let base_url = [gateway_url(), "/aap"].concat();
    let options = ConnectOptions { reconnect: QUICK, relay: true, ..ConnectOptions::new(base_url) };
    let client = Client::connect(options.protocol("aap")).expect("the options are right");
    let error = client.create_session("support-bot").await.expect_err("it is none");
    assert_eq!(error.code, ErrorCode::UnexpectedResponse);
    assert!(error.message.contains("no relay"), "{error}");
}

#[wasm_bindgen_test]
async fn an_approval_is_answered_by_the_next_turn() {
    let session = session().await;
    let turn = session.create_turn("approval").expect("a text is an input");
    let ended = turn.wait_for_completion().await;
    assert!(
        matches!(ended, Ok(TerminalState::Done { ref required_actions, .. }) if !required_actions.is_empty())
    );
    let calls = waiting(&turn.snapshot());
    let refused = session.create_turn("something else").expect_err("a call waits");
    assert_eq!(refused.code, ErrorCode::InvalidInput);
    let answers: Vec<_> = calls.iter().map(turnwire::snapshot::WaitingCall::allow).collect();
    let next = session.create_turn(answers).expect("all are answered");
    let ended = next.wait_for_completion().await;
    assert!(
        matches!(ended, Ok(TerminalState::Done { ref required_actions, .. }) if required_actions.is_empty())
    );
    assert!(next.snapshot().required_actions().is_empty());
    // The turn that had asked shows what became of its calls.
    let asked = turn.snapshot();
    assert!(asked.required_actions().is_empty());
    let calls_of = |snapshot: &TurnSnapshot| -> Vec<_> {
        let messages = snapshot.threads.iter().flat_map(|thread| thread.messages.clone());
        messages.flat_map(|message| message.tool_calls.clone()).collect()
    };
    let answered: Vec<_> = calls_of(&asked)
        .into_iter()
        .filter(|call| calls.iter().any(|one| one.tool_call_id == call.id))
        .collect();
    assert!(!answered.is_empty() && answered.iter().all(|call| call.response.is_some()), "{answered:?}");
}

#[wasm_bindgen_test]
async fn a_turn_is_cancelled() {
    for session in [paced_session("5").await, socket_session().await] {
        let turn = session.create_turn("long 5000").expect("a text is an input");
        let mut events = turn.stream().expect("it is new");
        let first = events.next().await.expect("there are some");
        first.expect("no error");
        in_time("cancelled", turn.cancel()).await.expect("it is stopped");
        while let Some(event) = events.next().await {
            event.expect("no error");
        }
        assert_eq!(turn.status(), TurnStatus::Cancelled);
        assert!(matches!(turn.snapshot().state.as_deref(), Some(TurnState::Terminal(_))));
        turn.cancel().await.expect("it is over");
    }
}

#[wasm_bindgen_test]
async fn a_session_over_a_socket_has_one_turn_at_a_time() {
    let session = socket_session().await;
    let first = session.create_turn("plain").expect("a text is an input");
    let second = session.create_turn("plain").expect("a text is an input");
    let (one, two) = join(first.wait_for_completion(), second.wait_for_completion()).await;
    assert!(one.is_ok() && two.is_ok(), "{one:?} {two:?}");
    assert_eq!(first.snapshot().text(), second.snapshot().text());
    let again = connect(&[gateway_url(), "/turn-rpc"].concat(), "turn-rpc");
    let again = again.session(&session.id()).await.expect("it is kept");
    assert_eq!(again.list_turns().await.map(|turns| turns.len()), Ok(2));
}

#[wasm_bindgen_test]
async fn each_protocol_of_the_gateway_has_a_turn() {
    let agents = [("tirea", "tirea", "chat"), ("awaken", "awaken", "chat"), ("aap", "aap", "support-bot")];
    for (protocol, path, agent) in agents {
        let client = connect(&[gateway_url(), "/", path].concat(), protocol);
        let session = client.create_session(agent).await.expect(protocol);
        let turn = session.create_turn("plain").expect("a text is an input");
        let ended = in_time(protocol, turn.wait_for_completion()).await;
        assert!(ended.is_ok(), "{protocol}: {ended:?}");
        assert!(!turn.snapshot().text().is_empty(), "{protocol}");
        let again = client.session(&session.id()).await.expect(protocol);
        assert!(again.create_turn("plain").is_ok(), "{protocol}");
    }
}

#[wasm_bindgen_test]
async fn an_error_of_the_server_is_in_the_snapshot() {
    let turn = session().await.create_turn("error").expect("a text is an input");
    assert!(matches!(turn.wait_for_completion().await, Ok(TerminalState::Error { .. })));
    let error = turn.snapshot().error.expect("it failed");
    assert_eq!(error.code, ErrorCode::TurnFailed);
}

#[wasm_bindgen_test]
async fn sessions_are_listed_read_again_and_cancelled() {
    let client = connect(&[gateway_url(), "/demo"].concat(), "truefoundry");
    let session = client.create_session("support-bot").await.expect("the agent is there");
    let turn = session.create_turn("plain").expect("a text is an input");
    turn.wait_for_completion().await.expect("it ends");
    let listed = client.list_sessions("support-bot").await.expect("they are listed");
    assert!(listed.iter().any(|record| record.id == session.id()), "{listed:?}");
    session.refresh().await.expect("it is read again");
    assert_eq!(session.record().agent_name.as_deref(), Some("support-bot"));
    let events = session.list_events().await.expect("they are listed");
    assert!(!events.is_empty() && events.iter().all(|one| Some(&one.turn_id) == turn.id().as_ref()));
    let asked = serde_json::json!({ "session_id": session.id() });
    let read = client.request(Call::GetSession, &asked).await.expect("any call can be made");
    assert_eq!(read["id"], session.id());
    session.cancel().await.expect("it is cancelled");
    let refused = session.create_turn("plain").expect_err("it takes no turns");
    assert_eq!(refused.code, ErrorCode::SessionCancelled);
}

#[wasm_bindgen_test]
async fn a_draft_has_an_agent_of_the_clients() {
    let client = connect(&[gateway_url(), "/demo"].concat(), "truefoundry");
    let spec = serde_json::json!({ "model": { "name": "test" }, "instructions": "Be brief." });
    let draft = client.create_draft_session(spec).await.expect("it is made");
    assert_eq!(draft.record().r#type, "session/draft");
    assert!(draft.create_turn("plain").expect("a text is an input").wait_for_completion().await.is_ok());
}

#[wasm_bindgen_test]
async fn an_answer_continues_in_the_next_turn_of_tirea() {
    let client = connect(&[gateway_url(), "/tirea"].concat(), "tirea");
    let session = client.create_session("chat").await.expect("sessions begin with their first turn");
    let turn = session.create_turn("approval").expect("a text is an input");
    let ended = turn.wait_for_completion().await;
    assert!(matches!(ended, Ok(TerminalState::Done { .. })), "{ended:?}");
    let answers: Vec<_> = waiting(&turn.snapshot()).iter().map(|call| call.deny(Some("no"))).collect();
    assert!(!answers.is_empty(), "it waits for an answer");
    let next = session.create_turn(answers).expect("all are answered");
    assert!(matches!(next.wait_for_completion().await, Ok(TerminalState::Done { .. })));
    assert!(!next.snapshot().text().is_empty());
}

#[wasm_bindgen_test]
async fn missing_features_of_a_protocol_are_refused() {
    let turn = session().await.create_turn("plain").expect("a text is an input");
    assert_eq!(turn.steer("more").await.map_err(|error| error.code), Err(ErrorCode::Unsupported));
    assert_eq!(turn.cancel().await.map_err(|error| error.code), Err(ErrorCode::TurnNotStarted));
    turn.wait_for_completion().await.expect("it ends");
    assert_eq!(turn.answer(Vec::new()).await.map_err(|error| error.code), Err(ErrorCode::Unsupported));
}
