//! The route table: the request of each call (section 2).

use crate::error::{Error, ErrorCode, Result};
use crate::json::{Object, Value};
use crate::protocol::options::{option_error, unsupported, wire};
use crate::protocol::route::{Route, add_query};
use crate::protocol::{Call, Request};

use super::terms::Mode;
use super::{Aap, input};

/// The routes, with the names of the callers' parameters; [`query`], [`session`] and [`turn`] handle these. Everything
/// known about turns is in the session's history.
const ROUTES: &str = "\
POST sessions !agent_name agent_tools agent_options messages tools terms
GET sessions agent_name page_token limit window_start terms
GET sessions/{session_id} terms
POST
GET sessions/{session_id}/history page_token limit terms
POST sessions/{session_id}/turns agent_name turn_id input previous_turn_id terms
POST
GET sessions/{session_id}/history turn_id input said is_begun is_awaited terms
GET
GET sessions/{session_id}/history !turn_id input said is_begun is_awaited page_token limit order terms
GET sessions/{session_id}/history page_token limit order terms
POST
GET
GET
PATCH
GET
GET
GET
DELETE sessions/{session_id} terms
POST
POST
POST
PATCH
GET
GET sessions/{session_id}/history page_token limit order terms
GET
GET meta terms
";

/// The request for `call`.
pub(super) fn request(aap: Aap, call: Call, params: &Object<'_>) -> Result<Request> {
    let route = Route::of(ROUTES, call).ok_or_else(unsupported)?;
    let params = wire(params);
    let aap = aap.with(&params);
    route.check(&params)?;
    let mut path = route.path(&params)?;
    let mut headers = route.headers(call);
    let body = if route.has_body() {
        let given = route.given(&params);
        let body = if call == Call::CreateSession { session(&given) } else { turn(aap, &given) };
        Some(body?.to_json())
    } else {
        add_query(&query(aap, call, &params)?, &mut path);
        None
    };
    if call.streams() && aap.mode == Mode::None {
        headers.retain(|(name, _)| *name != "accept");
        headers.insert(0, ("accept", "application/json".to_owned()));
    }
    Ok(Request { method: route.method, path, headers, body })
}

fn query<'a>(aap: Aap, call: Call, params: &Object<'a>) -> Result<Object<'a>> {
    let mut query = Object::new();
    match call {
        Call::ListSessions => {
            if let Some(token) = params.get("page_token") {
                query.set("after", token.clone());
            }
        }
        Call::ListAgents | Call::GetSession | Call::DeleteSession => {}
        // Every other call without a body reads the history.
        _ => {
            let problem = "this agent keeps no history that could be read";
            let history = aap.history.ok_or_else(|| Error::new(ErrorCode::Unsupported, problem))?;
            query.set("type", history.as_str().into());
        }
    }
    Ok(query)
}

fn session<'a>(params: &Object<'a>) -> Result<Object<'a>> {
    let mut agent = Object::new();
    for (name, from) in [("name", "agent_name"), ("tools", "agent_tools"), ("options", "agent_options")] {
        set(&mut agent, name, params.get(from));
    }
    if params.get("agent_options").is_some_and(|options| !is_texts(options)) {
        // The error has neither the name nor the value: it may be secret.
        return Err(option_error("agent_options", " must be an object of texts"));
    }
    let mut session = Object::new();
    session.set("agent", agent.into());
    for name in ["agent_tools", "messages", "tools"] {
        if params.get(name).is_some_and(|list| list.as_array().is_none()) {
            return Err(option_error(name, " must be a list"));
        }
    }
    for name in ["messages", "tools"] {
        set(&mut session, name, params.get(name));
    }
    Ok(session)
}

fn is_texts(options: &Value<'_>) -> bool {
    options.as_object().is_some_and(|options| options.iter().all(|(_, value)| value.is_string()))
}

fn turn<'a>(aap: Aap, params: &Object<'a>) -> Result<Object<'a>> {
    let mut turn = Object::new();
    turn.set("stream", aap.mode.as_str().into());
    let terms = params.object("terms").unwrap_or(const { &Object::new() });
    set(&mut turn, "agent", terms.get("agent"));
    set(&mut turn, "tools", terms.get("declare"));
    turn.set("messages", input::messages(aap, params)?.into());
    Ok(turn)
}

/// Sets a value if there is one.
fn set<'a>(body: &mut Object<'a>, name: &'static str, value: Option<&Value<'a>>) {
    if let Some(value) = value.filter(|value| !value.is_null()) {
        body.set(name, value.clone());
    }
}
