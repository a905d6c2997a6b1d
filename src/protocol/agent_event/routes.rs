//! The route tables: the request of each call, in both dialects (protocol note, sections 2 and 5).

use crate::error::{Error, ErrorCode, Result};
use crate::json::{Object, Value};
use crate::protocol::options::{option_error, unsupported, wire};
use crate::protocol::route::{Route, add_query};
use crate::protocol::{Call, Request};

use super::pages::{LONGEST, offset};
use super::{Dialect, input};

/// tirea's routes (section 2), with the names of the callers' parameters; [`query`] and [`body`] handle these. A
/// session begins with its first turn. The only stream is the response to a start.
const TIREA: &str = "\
POST
GET v1/threads/summaries agent_name limit page_token window_start
GET v1/threads/{session_id}
POST v1/threads/{session_id}/interrupt
GET v1/runs !session_id limit page_token
POST v1/runs !session_id !agent_name turn_id input previous_turn_id
POST
GET v1/runs/{turn_id} session_id
GET
GET v1/threads/{session_id}/messages !turn_id limit page_token order
GET v1/threads/{session_id}/messages limit page_token order
POST
GET
GET
PATCH
GET
GET
GET
DELETE v1/threads/{session_id}
POST v1/runs/{turn_id}/cancel session_id
POST v1/threads/{session_id}/interrupt
POST v1/runs/{turn_id}/inputs session_id !input
PATCH v1/threads/{session_id}/metadata !title
GET v1/threads/{session_id}
GET v1/threads/{session_id}/messages limit page_token order visibility
";

/// awaken's routes (section 5). The agent's state is in a thread's last run, not in the thread.
const AWAKEN: &str = "\
POST
GET v1/threads/summaries agent_name limit page_token window_start
GET v1/threads/{session_id}
POST v1/threads/{session_id}/interrupt
GET v1/threads/{session_id}/runs limit page_token
POST v1/runs !session_id !agent_name turn_id input previous_turn_id
POST
GET v1/runs/{turn_id} session_id
GET v1/runs/{turn_id}/events/stream session_id cursor
GET v1/threads/{session_id}/messages !turn_id limit page_token order
GET v1/threads/{session_id}/messages limit page_token order
POST
GET
GET
PATCH
GET
GET
GET
DELETE v1/threads/{session_id}
POST v1/runs/{turn_id}/cancel session_id
POST v1/threads/{session_id}/interrupt
POST v1/runs/{turn_id}/decision session_id !input
PATCH v1/threads/{session_id}/metadata !title
GET v1/threads/{session_id}/runs/latest
GET v1/threads/{session_id}/messages limit page_token order visibility
GET v1/runs/{turn_id}/events session_id cursor limit
";

/// The request for `call` in `dialect`.
pub(super) fn request(dialect: Dialect, call: Call, params: &Object<'_>) -> Result<Request> {
    let table = match dialect {
        Dialect::Tirea => TIREA,
        Dialect::Awaken => AWAKEN,
    };
    let mut params = wire(params);
    let mut listed = call;
    if dialect == Dialect::Awaken && call == Call::ListNewestTurns {
        // Its state is that of the thread's last run: the response is the run.
        listed = Call::GetSessionState;
        params.remove("limit");
    }
    let route = Route::of(table, listed).ok_or_else(unsupported)?;
    if call == Call::CreateTurnStream && params.text("agent_name").is_empty() {
        let problem = "`agentName` is required, since every turn names its agent: give it to \
                       `getSession(id, { agentName })`";
        return Err(Error::new(ErrorCode::InvalidOption, problem));
    }
    route.check(&params)?;
    let mut path = route.path(&params)?;
    let body = if route.has_body() {
        Some(body(dialect, route, call, &params)?)
    } else {
        if is_beyond_summaries(dialect, call, &params) {
            "v1/threads".clone_into(&mut path);
        }
        add_query(&query(dialect, call, &params)?, &mut path);
        None
    };
    Ok(Request { method: route.method, path, headers: route.headers(call), body })
}

/// The response to a call that needs no server: a session begins with its first turn, and the client makes its id
/// (section 2.1).
pub(super) fn local<'a>(call: Call, params: &Object<'a>) -> Option<Value<'a>> {
    if call != Call::CreateSession {
        return None;
    }
    let params = wire(params);
    let mut session = Object::new();
    session.set("type", "session".into());
    for name in ["id", "agent_name", "title", "created_by_subject", "created_at", "updated_at"] {
        session.set(name, params.get(name).cloned().unwrap_or_default());
    }
    Some(session.into())
}

/// tirea has summaries of the first [`LONGEST`] threads, without those of sub-agents. Of the others it lists only ids,
/// on pages that continue after the summaries.
fn is_beyond_summaries(dialect: Dialect, call: Call, params: &Object<'_>) -> bool {
    dialect == Dialect::Tirea && call == Call::ListSessions && !params.text("page_token").is_empty()
}

fn query<'a>(dialect: Dialect, call: Call, params: &Object<'a>) -> Result<Object<'a>> {
    let is_tirea = dialect == Dialect::Tirea;
    let mut query = Object::new();
    let mut copy = |name: &str, wire: &'static str| {
        if let Some(value) = params.get(name) {
            query.set(wire, value.clone());
        }
    };
    match call {
        Call::ListSessions if is_beyond_summaries(dialect, call, params) => add_place(params, &mut query)?,
        Call::ListSessions if is_tirea => {}
        Call::ListSessions => {
            copy("limit", "limit");
            copy("page_token", "cursor");
            // Without threads of sub-agents.
            query.set("root", true.into());
        }
        Call::ListTurns => {
            if is_tirea {
                copy("session_id", "thread_id");
            }
            add_place(params, &mut query)?;
        }
        Call::ListTurnEvents | Call::ListSessionEvents | Call::ListMessages => {
            copy("turn_id", "run_id");
            query.set("limit", params.get("limit").cloned().unwrap_or_else(|| LONGEST.into()));
            add_position(dialect, params, &mut query)?;
            add_visibility(dialect, params, &mut query)?;
        }
        Call::SubscribeTurn | Call::ListTurnFrames => {
            copy("cursor", "cursor");
            copy("limit", "limit");
        }
        _ => {}
    }
    Ok(query)
}

/// The offset of a page in a list without a cursor.
fn add_place<'a>(params: &Object<'a>, query: &mut Object<'a>) -> Result<()> {
    let offset = offset(params).ok_or_else(|| option_error("page_token", " must be a token of this list"))?;
    query.set("offset", offset.into());
    query.set("limit", params.get("limit").cloned().unwrap_or_else(|| LONGEST.into()));
    Ok(())
}

/// Where a page of messages begins, and its order: the oldest first by default.
fn add_position<'a>(dialect: Dialect, params: &Object<'a>, query: &mut Object<'a>) -> Result<()> {
    let is_newest_first = match params.get("order").map(Value::as_str) {
        None | Some(Some("asc")) => false,
        Some(Some("desc")) => true,
        _ => return Err(option_error("order", " must be `asc` or `desc`")),
    };
    if is_newest_first {
        query.set("order", "desc".into());
    }
    if let Some(token) = params.get("page_token") {
        let name = match dialect {
            Dialect::Awaken => "cursor",
            Dialect::Tirea if is_newest_first => "before",
            Dialect::Tirea => "after",
        };
        query.set(name, token.clone());
    }
    Ok(())
}

/// Which messages to list: those for users by default.
fn add_visibility(dialect: Dialect, params: &Object<'_>, query: &mut Object<'_>) -> Result<()> {
    let name = match (params.get("visibility").map(Value::as_str), dialect) {
        (None, _) => return Ok(()),
        (Some(Some("internal")), _) => "internal",
        (Some(Some("all")), Dialect::Awaken) => "all",
        // Without a filter.
        (Some(Some("all")), Dialect::Tirea) => "none",
        _ => return Err(option_error("visibility", " must be `all` or `internal`")),
    };
    query.set("visibility", name.into());
    Ok(())
}

fn body(dialect: Dialect, route: Route, call: Call, params: &Object<'_>) -> Result<String> {
    match call {
        Call::CreateTurnStream => input::start(dialect, params),
        Call::AnswerTurn => input::answer(dialect, params),
        Call::RenameSession if params.get("title").and_then(Value::as_str).is_none() => {
            Err(option_error("title", " must be a string"))
        }
        Call::RenameSession => Ok(route.given(params).to_json()),
        _ => Ok("{}".to_owned()),
    }
}
