//! The route table: the request of each call (section 2).

use crate::error::{Error, ErrorCode, Result};
use crate::json::{Object, Value};
use crate::protocol::calls::{Calls, calls};
use crate::protocol::options::{option_error, wire};
use crate::protocol::route::Route;
use crate::protocol::{Call, Request};

use super::terms::Mode;
use super::{Aap, input};

/// The routes. [`session`] and [`turn`] make the bodies. Everything known about turns is in the session's history, which
/// is sent in one piece.
const CALLS: Calls = calls! {
    CreateSession "POST sessions messages tools | !agent_name agent_tools agent_options terms",
    ListSessions "GET sessions page_token>after | agent_name limit window_start terms",
    GetSession "GET sessions/{session_id} | terms",
    ListTurns "GET sessions/{session_id}/history | page_token limit terms",
    CreateTurnStream "POST sessions/{session_id}/turns | agent_name turn_id input previous_turn_id terms",
    GetTurn "GET sessions/{session_id}/history | turn_id input said is_begun is_awaited terms",
    ListTurnEvents "GET sessions/{session_id}/history | !turn_id input said is_begun is_awaited page_token limit order terms",
    ListSessionEvents "GET sessions/{session_id}/history | page_token limit order terms",
    DeleteSession "DELETE sessions/{session_id} | terms",
    ListMessages "GET sessions/{session_id}/history | page_token limit order terms",
    ListAgents "GET meta | terms",
};

/// The request for `call`.
pub(super) fn request(aap: Aap, call: Call, params: &Object<'_>) -> Result<Request> {
    let route = Route::of(CALLS, call)?;
    let params = wire(params);
    let aap = aap.with(&params);
    let (path, mut sent) = route.fill(&params)?;
    match call {
        Call::CreateSession => session(&params, &mut sent)?,
        Call::CreateTurnStream => turn(aap, &params, &mut sent)?,
        _ if path.ends_with("/history") => {
            let problem = "this agent keeps no history that could be read";
            let history = aap.history.ok_or_else(|| Error::new(ErrorCode::Unsupported, problem))?;
            sent.set("type", history.as_str().into());
        }
        _ => {}
    }
    let mut headers = route.headers(call);
    if call.streams()
        && aap.mode == Mode::None
        && let Some((_, accepted)) = headers.first_mut()
    {
        "application/json".clone_into(accepted);
    }
    Ok(route.request(path, &sent, headers))
}

/// Adds the agent to the body that makes a session.
fn session<'a>(params: &Object<'a>, body: &mut Object<'a>) -> Result<()> {
    for name in ["agent_tools", "messages", "tools"] {
        if params.get(name).is_some_and(|list| list.as_array().is_none()) {
            return Err(option_error(name, " must be a list"));
        }
    }
    if params.get("agent_options").is_some_and(|options| !is_texts(options)) {
        // The error has neither the name nor the value: it may be secret.
        return Err(option_error("agent_options", " must be an object of texts"));
    }
    let mut agent = Object::new();
    for (name, from) in [("name", "agent_name"), ("tools", "agent_tools"), ("options", "agent_options")] {
        set(&mut agent, name, params.get(from));
    }
    body.set("agent", agent.into());
    Ok(())
}

fn is_texts(options: &Value<'_>) -> bool {
    options.as_object().is_some_and(|options| options.iter().all(|(_, value)| value.is_string()))
}

/// Writes the body that starts a turn.
fn turn<'a>(aap: Aap, params: &Object<'a>, body: &mut Object<'a>) -> Result<()> {
    body.set("stream", aap.mode.as_str().into());
    let terms = params.object("terms").unwrap_or(const { &Object::new() });
    set(body, "agent", terms.get("agent"));
    set(body, "tools", terms.get("declare"));
    body.set("messages", input::messages(aap, params)?.into());
    Ok(())
}

/// Sets a value if there is one.
fn set<'a>(body: &mut Object<'a>, name: &'static str, value: Option<&Value<'a>>) {
    if let Some(value) = value.filter(|value| !value.is_null()) {
        body.set(name, value.clone());
    }
}
