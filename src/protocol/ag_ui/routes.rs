//! The requests: a run (sections 1 and 4), and the additional ones of some servers (section 7).

use crate::error::Result;
use crate::json::{Object, Value};
use crate::protocol::calls::{Calls, calls};
use crate::protocol::fields::{put, with_text};
use crate::protocol::options::{unsupported, wire};
use crate::protocol::route::Route;
use crate::protocol::{Call, Request};

use super::conversation::Conversation;
use super::{Recovery, history, input};

/// The base URL is the endpoint itself, so the path is empty; some servers have other endpoints beside it. A session
/// begins with its first run, and its lists are made from the conversation.
const CALLS: Calls = calls! {
    CreateTurnStream "POST  | !session_id agent_name !turn_id input previous_turn_id terms",
    SubscribeTurn "POST ../connect | !session_id !turn_id input is_begun is_awaited said terms",
    CancelTurn "POST ../stop/{session_id} | turn_id terms",
    ListTurns "GET  | session_id page_token limit terms",
    ListTurnEvents "GET  | session_id turn_id page_token limit order terms",
    ListSessionEvents "GET  | session_id page_token limit order terms",
};

/// The request for `call`.
pub(super) fn request(call: Call, params: &Object<'_>) -> Result<Request> {
    let route = Route::of(CALLS, call)?;
    let params = wire(params);
    let terms = params.object("terms").unwrap_or(const { &Object::new() });
    let recovery = Recovery::of_terms(terms);
    let is_offered = match call {
        Call::SubscribeTurn => recovery != Recovery::None,
        Call::CancelTurn => recovery == Recovery::Connect,
        _ => true,
    };
    if !is_offered {
        return Err(unsupported());
    }
    let (mut path, _) = route.fill(&params)?;
    let body = match (call, recovery) {
        (Call::CreateTurnStream, _) | (Call::SubscribeTurn, Recovery::Connect) => run(&params)?,
        (Call::CancelTurn, _) => Object::new(),
        // The response to a run without messages is the thread.
        (Call::SubscribeTurn, Recovery::Snapshot) => {
            path.clear();
            run_of(&params, &Conversation::default(), input::Sent::default())
        }
        (Call::SubscribeTurn, Recovery::State) => {
            "../agents/state".clone_into(&mut path);
            with_text("threadId", params.text("session_id"))
        }
        _ => return Err(unsupported()),
    };
    Ok(route.request(path, &body, route.headers(call)))
}

/// Writes the start of a run.
fn run(params: &Object<'_>) -> Result<Object<'static>> {
    let terms = params.object("terms").unwrap_or(const { &Object::new() });
    let mut conversation = Conversation::of(terms).before(params.text("turn_id"));
    let sent = input::add(&mut conversation, params)?;
    Ok(run_of(params, &conversation, sent))
}

/// A run of this conversation. Servers of version 0.x need every list, also an empty one.
fn run_of(params: &Object<'_>, conversation: &Conversation, sent: input::Sent) -> Object<'static> {
    let terms = params.object("terms").unwrap_or(const { &Object::new() });
    let term = |name: &str| terms.get(name).filter(|value| !value.is_null()).cloned().map(Value::into_owned);
    let mut props = match term("forwarded_props") {
        Some(Value::Object(props)) => props,
        _ => Object::new(),
    };
    if let Some(command) = sent.command {
        props.set("command", command);
    }
    let mut body = Object::new();
    put(&mut body, "threadId", params.text("session_id"));
    put(&mut body, "runId", params.text("turn_id"));
    body.set("protocolVersion", "1.0".into());
    body.set("state", conversation.state.clone().unwrap_or_else(|| Object::new().into()));
    body.set("messages", conversation.wire_messages().into());
    body.set("tools", term("tools").unwrap_or_else(|| Vec::new().into()));
    body.set("context", term("context").unwrap_or_else(|| Vec::new().into()));
    body.set("forwardedProps", props.into());
    if !sent.resume.is_empty() {
        body.set("resume", sent.resume.into());
    }
    body
}

/// The response to a call that needs no server: the client makes a session's id, and keeps its conversation.
pub(super) fn local<'a>(call: Call, params: &Object<'a>) -> Option<Value<'a>> {
    let params = wire(params);
    if call != Call::CreateSession {
        // The request itself refuses a wrong option.
        Route::of(CALLS, call).ok()?.fill(&params).ok()?;
        return history::read(call, &params);
    }
    let mut session = Object::new();
    session.set("type", "session".into());
    for name in ["id", "agent_name", "title", "created_by_subject", "created_at", "updated_at"] {
        session.set(name, params.get(name).cloned().unwrap_or_default());
    }
    Some(session.into())
}
