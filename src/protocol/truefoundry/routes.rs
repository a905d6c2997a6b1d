//! The route maps: which request each call is, in both dialects (protocol note, sections 1.2 and 7).

use crate::error::{Error, ErrorCode, Result};
use crate::json::{Object, ObjectWriter, write_hex};
use crate::protocol::{Call, Method, Request};

use super::{Dialect, spelling};
use crate::text::cut;

/// One request, as a line of a table says it.
#[derive(Clone, Copy)]
struct Route {
    method: Method,
    /// `{name}` is replaced by the parameter of that name.
    path: &'static str,
    /// The names of its other parameters: in the body of a `POST` or `PATCH`, or else in the query. Whatever
    /// follows a `!` must be given.
    names: &'static str,
}

/// The gateway's routes (section 1.2), in the order of [`Call::ALL`]: method, path, and the names of
/// parameters. A call without a path is none of this dialect. Texts weigh half of what slices of slices do.
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

/// The open-source sibling's routes (section 7). It has no drafts apart from sessions, and no search.
const TRUEFORGE: &str = "\
POST api/v1/sessions !agent title
GET api/v1/sessions page_token limit
GET api/v1/sessions/{session_id}
POST api/v1/sessions/{session_id}/cancel
GET api/v1/sessions/{session_id}/turns page_token limit
POST api/v1/sessions/{session_id}/turns input previous_turn_id stream
POST api/v1/sessions/{session_id}/turns input previous_turn_id stream
GET api/v1/sessions/{session_id}/turns/{turn_id}
GET api/v1/sessions/{session_id}/turns/{turn_id}/subscribe after_sequence_number
GET api/v1/sessions/{session_id}/turns/{turn_id}/events page_token limit order
GET api/v1/sessions/{session_id}/events page_token last_turn_id limit
POST api/v1/sessions !agent title
GET
GET api/v1/sessions/{session_id}
PATCH api/v1/sessions/{session_id} agent
GET api/v1/sessions page_token limit
GET
GET api/v1/sessions/{session_id}/turns/{turn_id}/download-sandbox-file !path
DELETE api/v1/sessions/{session_id}
POST api/v1/sessions/{session_id}/cancel
POST api/v1/sessions/{session_id}/cancel
";

impl Route {
    /// The route of a call; nothing if the dialect has none.
    fn of(dialect: Dialect, call: Call) -> Option<Self> {
        let mut rest = match dialect {
            Dialect::Gateway => GATEWAY,
            Dialect::TrueForge => TRUEFORGE,
        };
        let mut line = "";
        for _ in 0..=call as usize {
            (line, rest) = cut(rest, b'\n');
        }
        let (method, rest) = cut(line, b' ');
        let (path, names) = cut(rest, b' ');
        let method = match method {
            "GET" => Method::Get,
            "POST" => Method::Post,
            "PATCH" => Method::Patch,
            _ => Method::Delete,
        };
        (!path.is_empty()).then_some(Self { method, path, names })
    }

    /// The names of the parameters outside of the path, and whether each must be given.
    fn names(self) -> impl Iterator<Item = (&'static str, bool)> {
        let mut rest = self.names;
        std::iter::from_fn(move || {
            let (name, others) = cut(rest, b' ');
            rest = others;
            let required = name.strip_prefix('!');
            (!name.is_empty()).then(|| (required.unwrap_or(name), required.is_some()))
        })
    }

    fn has_body(self) -> bool {
        matches!(self.method, Method::Post | Method::Patch)
    }
}

/// The request for `call` in `dialect`.
pub(super) fn request(dialect: Dialect, call: Call, params: &Object<'_>) -> Result<Request> {
    let Some(route) = Route::of(dialect, call) else {
        return Err(super::unsupported());
    };
    let mut wire = Object::new();
    for (name, value) in params.iter() {
        // The servers cancel whatever turn of the session runs.
        if !value.is_null() && (call != Call::CancelTurn || wire_name(name) != "turn_id") {
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
    let mut body = None;
    if route.has_body() {
        body = Some(body_of(route, &wire));
    } else {
        add_query(route, &wire, &mut path);
    }
    Ok(Request { method: route.method, path, headers, body })
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
fn check(route: Route, params: &Object<'_>) -> Result<()> {
    for (name, _) in params.iter() {
        if !in_path(route.path, name) && !route.names().any(|(known, _)| known == name) {
            return Err(option_error(name, " is not an option of this call"));
        }
    }
    for (name, is_required) in route.names() {
        if is_required && !params.contains(name) {
            return Err(option_error(name, " is required"));
        }
    }
    Ok(())
}

fn path(route: Route, params: &Object<'_>) -> Result<String> {
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
    let (fixed, rest) = cut(path, b'{');
    let (name, tail) = cut(rest, b'}');
    (!name.is_empty()).then_some((fixed, name, tail))
}

fn add_query(route: Route, params: &Object<'_>, path: &mut String) {
    let mut separator = "?";
    for (name, _) in route.names() {
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

fn body_of(route: Route, params: &Object<'_>) -> String {
    let mut json = String::new();
    let mut body = ObjectWriter::new(&mut json);
    for (name, _) in route.names() {
        if let Some(value) = params.get(name) {
            body.value(name, value);
        }
    }
    body.end();
    json
}

fn headers(call: Call, route: Route) -> Vec<(&'static str, String)> {
    let accept = match call {
        _ if call.streams() => "text/event-stream",
        Call::DownloadSandboxFile => "*/*",
        _ => "application/json",
    };
    let mut headers = vec![("accept", accept.to_owned())];
    if route.has_body() {
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
