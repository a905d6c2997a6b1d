//! The route tables: the request of each call, in both dialects (protocol note, sections 1.2 and 7).

use crate::error::Result;
use crate::json::{Object, Value, write_hex};
use crate::protocol::calls::{Calls, calls};
use crate::protocol::fields::object;
use crate::protocol::options::wire;
use crate::protocol::route::Route;
use crate::protocol::{Call, Request};

use super::Dialect;

/// The gateway's routes (section 1.2). The default beginning of a list is ours: its own is half an hour ago. The body of a
/// start requests the stream, never `Accept` (section 1.1). A cancel stops whichever turn of the session runs.
const GATEWAY: Calls = calls! {
    CreateSession "POST v1/agents/sessions !agent_name title | metadata",
    ListSessions "GET v1/agents/sessions !agent_name limit order page_token start_timestamp \
        window_start>start_timestamp end_timestamp",
    GetSession "GET v1/agents/sessions/{session_id}",
    CancelSession "POST v1/agents/sessions/{session_id}/cancel",
    ListTurns "GET v1/agents/sessions/{session_id}/turns page_token limit",
    ListNewestTurns "GET v1/agents/sessions/{session_id}/turns page_token limit",
    CreateTurnStream "POST v1/agents/sessions/{session_id}/turns input previous_turn_id stream=true",
    CreateTurn "POST v1/agents/sessions/{session_id}/turns input previous_turn_id stream=false",
    GetTurn "GET v1/agents/sessions/{session_id}/turns/{turn_id}",
    SubscribeTurn "POST v1/agents/sessions/{session_id}/turns/{turn_id}/subscribe after_sequence_number",
    ListTurnEvents "GET v1/agents/sessions/{session_id}/turns/{turn_id}/events page_token limit order",
    ListSessionEvents "GET v1/agents/sessions/{session_id}/events page_token last_turn_id limit",
    CreateDraftSession "POST v1/agents/draft-sessions !agent_spec agent_name | metadata",
    ListDraftSessions "GET v1/agents/draft-sessions agent_name limit order page_token start_timestamp \
        window_start>start_timestamp end_timestamp",
    GetDraftSession "GET v1/agents/draft-sessions/{session_id}",
    UpdateDraftSession "PATCH v1/agents/draft-sessions/{session_id} agent_spec",
    ListOwnedSessions "GET v1/x/agents/owned-sessions agent_name limit order page_token start_timestamp \
        window_start>start_timestamp end_timestamp",
    SearchSessions "GET v1/x/agents/search-sessions agent_name created_by_subject_id created_by_subject_type \
        session_type session_id limit order page_token start_timestamp end_timestamp",
    DownloadSandboxFile "GET v1/agents/sandbox/{sandbox_id}/file !path",
    CancelTurn "POST v1/agents/sessions/{session_id}/cancel | turn_id",
    InterruptSession "POST v1/agents/sessions/{session_id}/cancel",
};

/// The routes of `TrueForge` (section 7). A draft is a session with an inline agent: there is one list of both, from which
/// the answer keeps those of the agent, and no search. Turns are listed oldest first; the events of a session begin with
/// those of the newest turn, even of a running one. The agent is named in an object: `{name}` for a saved one, `{spec}`
/// for an inline one.
const TRUEFORGE: Calls = calls! {
    CreateSession "POST api/v1/sessions !agent_name>name",
    ListSessions "GET api/v1/sessions limit order page_token start_timestamp end_timestamp | agent_name window_start",
    GetSession "GET api/v1/sessions/{session_id}",
    CancelSession "POST api/v1/sessions/{session_id}/cancel",
    ListTurns "GET api/v1/sessions/{session_id}/turns page_token limit",
    ListNewestTurns "GET api/v1/sessions/{session_id}/events limit=1 | limit",
    CreateTurnStream "POST api/v1/sessions/{session_id}/turns input previous_turn_id stream=true",
    CreateTurn "POST api/v1/sessions/{session_id}/turns input previous_turn_id stream=false",
    GetTurn "GET api/v1/sessions/{session_id}/turns/{turn_id}",
    SubscribeTurn "GET api/v1/sessions/{session_id}/turns/{turn_id}/subscribe after_sequence_number",
    ListTurnEvents "GET api/v1/sessions/{session_id}/turns/{turn_id}/events page_token limit order",
    ListSessionEvents "GET api/v1/sessions/{session_id}/events page_token last_turn_id limit",
    CreateDraftSession "POST api/v1/sessions !agent_spec>spec",
    ListDraftSessions "GET api/v1/sessions limit order page_token start_timestamp end_timestamp | window_start",
    GetDraftSession "GET api/v1/sessions/{session_id}",
    UpdateDraftSession "PATCH api/v1/sessions/{session_id} agent_spec>spec",
    ListOwnedSessions "GET api/v1/sessions limit order page_token start_timestamp end_timestamp | agent_name window_start",
    DownloadSandboxFile "GET api/v1/sessions/{session_id}/turns/{turn_id}/download-sandbox-file !path",
    DeleteSession "DELETE api/v1/sessions/{session_id}",
    CancelTurn "POST api/v1/sessions/{session_id}/cancel | turn_id",
    InterruptSession "POST api/v1/sessions/{session_id}/cancel",
};

/// The request for `call` in `dialect`.
pub(super) fn request(dialect: Dialect, call: Call, params: &Object<'_>) -> Result<Request> {
    let calls = match dialect {
        Dialect::Gateway => GATEWAY,
        Dialect::TrueForge => TRUEFORGE,
    };
    let route = Route::of(calls, call)?;
    let params = wire(params);
    let (path, mut sent) = route.fill(&params)?;
    let mut headers = route.headers(call);
    if let Some(metadata) = params.get("metadata") {
        headers.push(("x-tfy-metadata", ascii_json(&metadata.to_json())));
    }
    if dialect == Dialect::TrueForge {
        match call {
            Call::ListSessions | Call::ListDraftSessions | Call::ListOwnedSessions
                if sent.get("limit").and_then(Value::as_u64) > Some(LARGEST_PAGE) =>
            {
                sent.set("limit", LARGEST_PAGE.into());
            }
            Call::CreateSession | Call::CreateDraftSession | Call::UpdateDraftSession if !sent.is_empty() => {
                sent = object("agent", sent.into());
            }
            _ => {}
        }
    }
    Ok(route.request(path, &sent, headers))
}

/// The most sessions on a page of `TrueForge`'s list: it refuses a larger `limit`.
const LARGEST_PAGE: u64 = 25;

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
