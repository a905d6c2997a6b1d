//! The route maps: which request each call is, in both dialects (protocol note, sections 1.2 and 7).

use crate::error::{Error, ErrorCode, Result};
use crate::json::{Object, ObjectWriter, write_hex};
use crate::protocol::{Call, Method, Request};

use super::{Dialect, spelling};

/// One request. `{name}` in the path is replaced by the parameter of that name.
#[derive(Clone, Copy)]
struct Route {
    method: Method,
    path: &'static str,
    query: &'static [&'static str],
    body: Option<&'static [&'static str]>,
    required: &'static [&'static str],
}

const fn get(path: &'static str, query: &'static [&'static str]) -> Route {
    Route { method: Method::Get, path, query, body: None, required: &[] }
}

const fn post(path: &'static str, body: &'static [&'static str]) -> Route {
    Route { method: Method::Post, path, query: &[], body: Some(body), required: &[] }
}

/// A call that the dialect has no request for.
const NONE: Route = get("", &[]);

const fn requiring(route: Route, required: &'static [&'static str]) -> Route {
    Route { required, ..route }
}

const WINDOW: &[&str] = &["agent_name", "limit", "order", "page_token", "start_timestamp", "end_timestamp"];
const SEARCH: &[&str] = &[
    "agent_name",
    "created_by_subject_id",
    "created_by_subject_type",
    "session_type",
    "session_id",
    "limit",
    "order",
    "page_token",
    "start_timestamp",
    "end_timestamp",
];
const TURN_BODY: &[&str] = &["input", "previous_turn_id", "stream"];
const CURSOR: &[&str] = &["after_sequence_number"];
const PAGE: &[&str] = &["page_token", "limit"];
const EVENT_PAGE: &[&str] = &["page_token", "limit", "order"];
const SESSION_EVENT_PAGE: &[&str] = &["page_token", "last_turn_id", "limit"];

/// The gateway's routes (section 1.2), in the order of [`Call::ALL`].
static GATEWAY: [Route; Call::ALL.len()] = [
    /* CreateSession */
    requiring(post("v1/agents/sessions", &["agent_name", "title"]), &["agent_name"]),
    /* ListSessions */ requiring(get("v1/agents/sessions", WINDOW), &["agent_name"]),
    /* GetSession */ get("v1/agents/sessions/{session_id}", &[]),
    /* CancelSession */ post("v1/agents/sessions/{session_id}/cancel", &[]),
    /* ListTurns */ get("v1/agents/sessions/{session_id}/turns", PAGE),
    /* CreateTurnStream */ post("v1/agents/sessions/{session_id}/turns", TURN_BODY),
    /* CreateTurn */ post("v1/agents/sessions/{session_id}/turns", TURN_BODY),
    /* GetTurn */ get("v1/agents/sessions/{session_id}/turns/{turn_id}", &[]),
    /* SubscribeTurn */
    post("v1/agents/sessions/{session_id}/turns/{turn_id}/subscribe", CURSOR),
    /* ListTurnEvents */
    get("v1/agents/sessions/{session_id}/turns/{turn_id}/events", EVENT_PAGE),
    /* ListSessionEvents */
    get("v1/agents/sessions/{session_id}/events", SESSION_EVENT_PAGE),
    /* CreateDraftSession */
    requiring(post("v1/agents/draft-sessions", &["agent_spec", "agent_name"]), &["agent_spec"]),
    /* ListDraftSessions */ get("v1/agents/draft-sessions", WINDOW),
    /* GetDraftSession */ get("v1/agents/draft-sessions/{session_id}", &[]),
    /* UpdateDraftSession */
    Route { method: Method::Patch, ..post("v1/agents/draft-sessions/{session_id}", &["agent_spec"]) },
    /* ListOwnedSessions */ get("v1/x/agents/owned-sessions", WINDOW),
    /* SearchSessions */ get("v1/x/agents/search-sessions", SEARCH),
    /* DownloadSandboxFile */
    requiring(get("v1/agents/sandbox/{sandbox_id}/file", &["path"]), &["path"]),
    /* DeleteSession */ NONE,
];

/// The open-source sibling's routes (section 7). It has no drafts apart from sessions, and no search.
static TRUEFORGE: [Route; Call::ALL.len()] = [
    /* CreateSession */ requiring(post("api/v1/sessions", &["agent", "title"]), &["agent"]),
    /* ListSessions */ get("api/v1/sessions", PAGE),
    /* GetSession */ get("api/v1/sessions/{session_id}", &[]),
    /* CancelSession */ post("api/v1/sessions/{session_id}/cancel", &[]),
    /* ListTurns */ get("api/v1/sessions/{session_id}/turns", PAGE),
    /* CreateTurnStream */ post("api/v1/sessions/{session_id}/turns", TURN_BODY),
    /* CreateTurn */ post("api/v1/sessions/{session_id}/turns", TURN_BODY),
    /* GetTurn */ get("api/v1/sessions/{session_id}/turns/{turn_id}", &[]),
    /* SubscribeTurn */
    get("api/v1/sessions/{session_id}/turns/{turn_id}/subscribe", CURSOR),
    /* ListTurnEvents */
    get("api/v1/sessions/{session_id}/turns/{turn_id}/events", EVENT_PAGE),
    /* ListSessionEvents */ get("api/v1/sessions/{session_id}/events", SESSION_EVENT_PAGE),
    /* CreateDraftSession */
    requiring(post("api/v1/sessions", &["agent", "title"]), &["agent"]),
    /* ListDraftSessions */ NONE,
    /* GetDraftSession */ get("api/v1/sessions/{session_id}", &[]),
    /* UpdateDraftSession */
    Route { method: Method::Patch, ..post("api/v1/sessions/{session_id}", &["agent"]) },
    /* ListOwnedSessions */ get("api/v1/sessions", PAGE),
    /* SearchSessions */ NONE,
    /* DownloadSandboxFile */
    requiring(
        get("api/v1/sessions/{session_id}/turns/{turn_id}/download-sandbox-file", &["path"]),
        &["path"],
    ),
    /* DeleteSession */
    Route { method: Method::Delete, ..get("api/v1/sessions/{session_id}", &[]) },
];

/// The request for `call` in `dialect`.
pub(super) fn request(dialect: Dialect, call: Call, params: &Object<'_>) -> Result<Request> {
    let routes = match dialect {
        Dialect::Gateway => &GATEWAY,
        Dialect::TrueForge => &TRUEFORGE,
    };
    let route = routes.get(call as usize).filter(|route| !route.path.is_empty());
    let Some(route) = route else {
        return Err(Error::new(ErrorCode::Unsupported, "this protocol has no such request"));
    };
    let mut wire = Object::new();
    for (name, value) in params.iter() {
        if !value.is_null() {
            wire.insert(wire_name(name), value.clone());
        }
    }
    // The stream is asked for in the body, never by `Accept` (section 1.1).
    if matches!(call, Call::CreateTurnStream | Call::CreateTurn) {
        wire.set("stream", call.streams().into());
    }
    // Where a list begins that names no beginning: the gateway's own default is half an hour ago.
    let window_start = wire.remove(WINDOW_START);
    match dialect {
        Dialect::TrueForge => as_sibling(call, &mut wire),
        Dialect::Gateway => {
            if let Some(start) = window_start {
                spelling::default(&mut wire, "start_timestamp", start);
            }
        }
    }
    let mut headers = headers(call, route);
    if matches!(call, Call::CreateSession | Call::CreateDraftSession)
        && let Some(metadata) = wire.remove(METADATA)
    {
        headers.push(("x-tfy-metadata", ascii_json(&metadata.to_json())));
    }
    check(route, &wire)?;
    let mut path = path(route, &wire)?;
    add_query(route, &wire, &mut path);
    Ok(Request { method: route.method, path, headers, body: route.body.map(|names| body(names, &wire)) })
}

/// A parameter that becomes a header and is in no route.
const METADATA: &str = "metadata";

/// Stands in for `start_timestamp` where a list takes one and none is given.
const WINDOW_START: &str = "window_start";

/// The sibling names its agent in an object: `{name}` for a saved one, `{spec}` for one given inline. Its
/// list knows no agent.
fn as_sibling(call: Call, params: &mut Object<'_>) {
    match call {
        Call::ListSessions | Call::ListOwnedSessions => {
            params.remove("agent_name");
        }
        Call::CreateSession | Call::CreateDraftSession | Call::UpdateDraftSession => {
            let mut agent = Object::new();
            for (name, own) in &[("agent_spec", "spec"), ("agent_name", "name")] {
                if let Some(value) = params.remove(name).filter(|_| agent.is_empty()) {
                    agent.set(own, value);
                }
            }
            if !agent.is_empty() {
                params.set("agent", agent.into());
            }
        }
        _ => {}
    }
}

/// Every parameter has its place in the route, and nothing required is missing.
fn check(route: &Route, params: &Object<'_>) -> Result<()> {
    for (name, _) in params.iter() {
        let in_body = route.body.is_some_and(|body| body.contains(&name));
        if !in_body && !route.query.contains(&name) && !in_path(route.path, name) {
            return Err(option_error(name, " is not an option of this call"));
        }
    }
    for name in route.required {
        if !params.contains(name) {
            return Err(option_error(name, " is required"));
        }
    }
    Ok(())
}

fn path(route: &Route, params: &Object<'_>) -> Result<String> {
    let mut path = String::new();
    let mut rest = route.path;
    while let Some((fixed, name, tail)) = split_at_name(rest) {
        path.push_str(fixed);
        let id = params.text(name);
        // `.` and `..` would be resolved away by URL parsers, even when percent-encoded.
        if matches!(id, "" | "." | "..") {
            return Err(option_error(name, " must be the id of something that exists"));
        }
        percent_encode(id, &mut path);
        rest = tail;
    }
    path.push_str(rest);
    Ok(path)
}

/// What stands before the first name between braces, the name, and what follows it.
fn split_at_name(path: &str) -> Option<(&str, &str, &str)> {
    let find = |brace| path.bytes().position(|byte| byte == brace);
    let (start, end) = (find(b'{')?, find(b'}')?);
    Some((path.get(..start)?, path.get(start + 1..end)?, path.get(end + 1..)?))
}

fn add_query(route: &Route, params: &Object<'_>, path: &mut String) {
    let mut separator = "?";
    for name in route.query {
        let Some(value) = params.get(name) else {
            continue;
        };
        path.push_str(separator);
        separator = "&";
        path.push_str(name);
        path.push('=');
        match value.as_str() {
            Some(text) => percent_encode(text, path),
            None => percent_encode(&value.to_json(), path),
        }
    }
}

fn body(names: &[&str], params: &Object<'_>) -> String {
    let mut json = String::new();
    let mut body = ObjectWriter::new(&mut json);
    for name in names {
        if let Some(value) = params.get(name) {
            body.value(name, value);
        }
    }
    body.end();
    json
}

fn headers(call: Call, route: &Route) -> Vec<(&'static str, String)> {
    let accept = match call {
        _ if call.streams() => "text/event-stream",
        Call::DownloadSandboxFile => "*/*",
        _ => "application/json",
    };
    let mut headers = vec![("accept", accept.to_owned())];
    if route.body.is_some() {
        headers.push(("content-type", "application/json".to_owned()));
    }
    headers
}

/// A header holds no more than Latin-1, so everything beyond ASCII is escaped as JSON allows it.
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

fn in_path(path: &str, name: &str) -> bool {
    split_at_name(path).is_some_and(|(_, first, tail)| first == name || in_path(tail, name))
}

/// `pageToken` → `page_token`. Wire names stay as they are.
fn wire_name(name: &str) -> String {
    let mut wire = String::with_capacity(name.len() + 4);
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            wire.push('_');
        }
        wire.push(character.to_ascii_lowercase());
    }
    wire
}

fn option_error(wire: &str, problem: &str) -> Error {
    let mut name = String::with_capacity(wire.len());
    let mut upper = false;
    for character in wire.chars() {
        if character == '_' {
            upper = true;
        } else {
            name.push(if upper { character.to_ascii_uppercase() } else { character });
            upper = false;
        }
    }
    Error::of(ErrorCode::InvalidOption, &["`", &name, "`", problem])
}

/// Encodes all but the unreserved characters of RFC 3986.
fn percent_encode(text: &str, out: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push('%');
            write_hex(out, u16::from(byte), 2, b'A');
        }
    }
}
