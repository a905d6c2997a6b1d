//! The route tables: the request of each call, in both dialects (protocol note, sections 1.2 and 7).

use crate::error::Result;
use crate::json::{Object, Value, write_hex};
use crate::protocol::options::{unsupported, wire};
use crate::protocol::route::{Route, add_query};
use crate::protocol::{Call, Request};

use super::{Dialect, spelling};

/// The gateway's routes (section 1.2). Parameters are in the body of a `POST` or `PATCH`, or else in the query. The
/// dialect does not support a call without a path.
const GATEWAY: &str = "\
POST v1/agents/sessions !agent_name title
GET v1/agents/sessions !agent_name limit order page_token start_timestamp end_timestamp
GET v1/agents/sessions/{session_id}
POST v1/agents/sessions/{session_id}/cancel
GET v1/agents/sessions/{session_id}/turns page_token limit
POST v1/agents/sessions/{session_id}/turns input previous_turn_id stream
POST v1/agents/sessions/{session_id}/turns input previous_turn_id stream
GET v1/agents/sessions/{session_id}/turns/{turn_id}
POST v1/agents/sessions/{session_id}/turns/{turn_id}/subscribe after_sequence_number
GET v1/agents/sessions/{session_id}/turns/{turn_id}/events page_token limit order
GET v1/agents/sessions/{session_id}/events page_token last_turn_id limit
POST v1/agents/draft-sessions !agent_spec agent_name
GET v1/agents/draft-sessions agent_name limit order page_token start_timestamp end_timestamp
GET v1/agents/draft-sessions/{session_id}
PATCH v1/agents/draft-sessions/{session_id} agent_spec
GET v1/x/agents/owned-sessions agent_name limit order page_token start_timestamp end_timestamp
GET v1/x/agents/search-sessions agent_name created_by_subject_id created_by_subject_type session_type \
session_id limit order page_token start_timestamp end_timestamp
GET v1/agents/sandbox/{sandbox_id}/file !path
DELETE
POST v1/agents/sessions/{session_id}/cancel
POST v1/agents/sessions/{session_id}/cancel
";

/// The routes of `TrueForge` (section 7). A draft is a session with an inline agent: there is one list of both, and no
/// search.
const TRUEFORGE: &str = "\
POST api/v1/sessions !agent
GET api/v1/sessions limit order page_token start_timestamp end_timestamp
GET api/v1/sessions/{session_id}
POST api/v1/sessions/{session_id}/cancel
GET api/v1/sessions/{session_id}/turns page_token limit
POST api/v1/sessions/{session_id}/turns input previous_turn_id stream
POST api/v1/sessions/{session_id}/turns input previous_turn_id stream
GET api/v1/sessions/{session_id}/turns/{turn_id}
GET api/v1/sessions/{session_id}/turns/{turn_id}/subscribe after_sequence_number
GET api/v1/sessions/{session_id}/turns/{turn_id}/events page_token limit order
GET api/v1/sessions/{session_id}/events page_token last_turn_id limit
POST api/v1/sessions !agent
GET api/v1/sessions limit order page_token start_timestamp end_timestamp
GET api/v1/sessions/{session_id}
PATCH api/v1/sessions/{session_id} agent
GET api/v1/sessions limit order page_token start_timestamp end_timestamp
GET
GET api/v1/sessions/{session_id}/turns/{turn_id}/download-sandbox-file !path
DELETE api/v1/sessions/{session_id}
POST api/v1/sessions/{session_id}/cancel
POST api/v1/sessions/{session_id}/cancel
";

/// The request for `call` in `dialect`.
pub(super) fn request(dialect: Dialect, call: Call, params: &Object<'_>) -> Result<Request> {
    let table = match dialect {
        Dialect::Gateway => GATEWAY,
        Dialect::TrueForge => TRUEFORGE,
    };
    let listed = match (call, dialect) {
        (Call::ListNewestTurns, Dialect::Gateway) => Call::ListTurns,
        // Its turns are listed oldest first. Its events begin with those of the newest turn, even of a running one.
        (Call::ListNewestTurns, Dialect::TrueForge) => Call::ListSessionEvents,
        _ => call,
    };
    let route = Route::of(table, listed).ok_or_else(unsupported)?;
    let mut params = wire(params);
    if listed == Call::ListSessionEvents && call != listed {
        params.set("limit", 1.into());
    }
    if call == Call::CancelTurn {
        // The servers cancel whichever turn of the session runs.
        params.remove("turn_id");
    }
    // The body requests the stream, never `Accept` (section 1.1).
    if matches!(call, Call::CreateTurnStream | Call::CreateTurn) {
        params.set("stream", call.streams().into());
    }
    // The default beginning of a list: the gateway's own is half an hour ago.
    let window_start = params.remove(WINDOW_START);
    match dialect {
        Dialect::TrueForge => as_sibling(call, &mut params),
        Dialect::Gateway => {
            if let Some(start) = window_start {
                spelling::default(&mut params, "start_timestamp", start);
            }
        }
    }
    let mut headers = route.headers(call);
    if dialect == Dialect::Gateway
        && matches!(call, Call::CreateSession | Call::CreateDraftSession)
        && let Some(metadata) = params.remove(METADATA)
    {
        headers.push(("x-tfy-metadata", ascii_json(&metadata.to_json())));
    }
    route.check(&params)?;
    let mut path = route.path(&params)?;
    let given = route.given(&params);
    let mut body = None;
    if route.has_body() {
        body = Some(given.to_json());
    } else {
        add_query(&given, &mut path);
    }
    Ok(Request { method: route.method, path, headers, body })
}

/// A parameter that becomes a header if the server supports it, and is in no route.
const METADATA: &str = "metadata";

/// Replaces `start_timestamp` if a list takes one and none is given.
const WINDOW_START: &str = "window_start";

/// The most sessions on a page of `TrueForge`'s list: it refuses a larger `limit`.
const LARGEST_PAGE: u64 = 25;

/// `TrueForge` names the agent in an object: `{name}` for a saved one, `{spec}` for an inline one. Its list cannot
/// filter by agent: sessions of others are removed from the response.
fn as_sibling(call: Call, params: &mut Object<'_>) {
    let (name, own) = match call {
        Call::ListSessions | Call::ListDraftSessions | Call::ListOwnedSessions => {
            if call != Call::ListDraftSessions {
                params.remove("agent_name");
            }
            if params.get("limit").and_then(Value::as_u64) > Some(LARGEST_PAGE) {
                params.set("limit", LARGEST_PAGE.into());
            }
            return;
        }
        Call::CreateSession => ("agent_name", "name"),
        Call::CreateDraftSession | Call::UpdateDraftSession => ("agent_spec", "spec"),
        _ => return,
    };
    if let Some(value) = params.remove(name) {
        let mut agent = Object::new();
        agent.set(own, value);
        params.set("agent", agent.into());
    }
}

/// A header can contain only Latin-1, so JSON escapes replace everything beyond ASCII.
fn ascii_json(json: &str) -> String {
    let mut ascii = String::with_capacity(json.len());
    for character in json.chars() {
        if character.is_ascii() {
            ascii.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            ascii.push_str("\\u");
            write_hex(&mut ascii, *unit, 4, b'a');
        }
    }
    ascii
}
