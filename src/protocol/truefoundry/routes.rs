//! The route maps: which request each call is, in both dialects (protocol note, sections 1.2 and 7).

use std::borrow::Cow;

use crate::error::{Error, ErrorCode, Result, sentence};
use crate::json::{Object, Value};
use crate::protocol::{Call, Method, Request};

use super::Dialect;

/// One request. `{name}` in the path is replaced by the parameter of that name.
struct Route {
    method: Method,
    path: &'static str,
    query: &'static [&'static str],
    body: Option<&'static [&'static str]>,
    required: &'static [&'static str],
}

const fn get(path: &'static str, query: &'static [&'static str]) -> Route {
    Route {
        method: Method::Get,
        path,
        query,
        body: None,
        required: &[],
    }
}

const fn post(path: &'static str, body: &'static [&'static str]) -> Route {
    Route {
        method: Method::Post,
        path,
        query: &[],
        body: Some(body),
        required: &[],
    }
}

const fn requiring(route: Route, required: &'static [&'static str]) -> Route {
    Route { required, ..route }
}

const WINDOW: &[&str] = &[
    "agent_name",
    "limit",
    "order",
    "page_token",
    "start_timestamp",
    "end_timestamp",
];
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
const PAGE: &[&str] = &["page_token", "limit"];
const EVENT_PAGE: &[&str] = &["page_token", "limit", "order"];
const SESSION_EVENT_PAGE: &[&str] = &["page_token", "last_turn_id", "limit"];

/// The gateway's routes (section 1.2).
fn gateway(call: Call) -> Option<Route> {
    Some(match call {
        Call::CreateSession => requiring(
            post("v1/agents/sessions", &["agent_name", "title"]),
            &["agent_name"],
        ),
        Call::ListSessions => requiring(get("v1/agents/sessions", WINDOW), &["agent_name"]),
        Call::GetSession => get("v1/agents/sessions/{session_id}", &[]),
        Call::CancelSession => post("v1/agents/sessions/{session_id}/cancel", &[]),
        Call::ListTurns => get("v1/agents/sessions/{session_id}/turns", PAGE),
        Call::CreateTurnStream | Call::CreateTurn => {
            post("v1/agents/sessions/{session_id}/turns", TURN_BODY)
        }
        Call::GetTurn => get("v1/agents/sessions/{session_id}/turns/{turn_id}", &[]),
        Call::SubscribeTurn => post(
            "v1/agents/sessions/{session_id}/turns/{turn_id}/subscribe",
            &["after_sequence_number"],
        ),
        Call::ListTurnEvents => get(
            "v1/agents/sessions/{session_id}/turns/{turn_id}/events",
            EVENT_PAGE,
        ),
        Call::ListSessionEvents => {
            get("v1/agents/sessions/{session_id}/events", SESSION_EVENT_PAGE)
        }
        Call::CreateDraftSession => requiring(
            post("v1/agents/draft-sessions", &["agent_spec", "agent_name"]),
            &["agent_spec"],
        ),
        Call::ListDraftSessions => get("v1/agents/draft-sessions", WINDOW),
        Call::GetDraftSession => get("v1/agents/draft-sessions/{session_id}", &[]),
        Call::UpdateDraftSession => Route {
            method: Method::Patch,
            ..post("v1/agents/draft-sessions/{session_id}", &["agent_spec"])
        },
        Call::ListOwnedSessions => get("v1/x/agents/owned-sessions", WINDOW),
        Call::SearchSessions => get("v1/x/agents/search-sessions", SEARCH),
        Call::DownloadSandboxFile => requiring(
            get("v1/agents/sandbox/{sandbox_id}/file", &["path"]),
            &["path"],
        ),
        Call::DeleteSession => return None,
    })
}

/// The open-source sibling's routes (section 7). It has no drafts apart from sessions, and no search.
fn trueforge(call: Call) -> Option<Route> {
    Some(match call {
        Call::CreateSession => requiring(post("api/v1/sessions", &["agent", "title"]), &["agent"]),
        Call::ListSessions | Call::ListOwnedSessions => get("api/v1/sessions", PAGE),
        Call::GetSession | Call::GetDraftSession => get("api/v1/sessions/{session_id}", &[]),
        Call::CancelSession => post("api/v1/sessions/{session_id}/cancel", &[]),
        Call::ListTurns => get("api/v1/sessions/{session_id}/turns", PAGE),
        Call::CreateTurnStream | Call::CreateTurn => {
            post("api/v1/sessions/{session_id}/turns", TURN_BODY)
        }
        Call::GetTurn => get("api/v1/sessions/{session_id}/turns/{turn_id}", &[]),
        Call::SubscribeTurn => get(
            "api/v1/sessions/{session_id}/turns/{turn_id}/subscribe",
            &["after_sequence_number"],
        ),
        Call::ListTurnEvents => get(
            "api/v1/sessions/{session_id}/turns/{turn_id}/events",
            EVENT_PAGE,
        ),
        Call::ListSessionEvents => get("api/v1/sessions/{session_id}/events", SESSION_EVENT_PAGE),
        Call::CreateDraftSession => {
            requiring(post("api/v1/sessions", &["agent", "title"]), &["agent"])
        }
        Call::UpdateDraftSession => Route {
            method: Method::Patch,
            ..post("api/v1/sessions/{session_id}", &["agent"])
        },
        Call::DownloadSandboxFile => requiring(
            get(
                "api/v1/sessions/{session_id}/turns/{turn_id}/download-sandbox-file",
                &["path"],
            ),
            &["path"],
        ),
        Call::DeleteSession => Route {
            method: Method::Delete,
            ..get("api/v1/sessions/{session_id}", &[])
        },
        Call::ListDraftSessions | Call::SearchSessions => return None,
    })
}

/// The request for `call` in `dialect`.
pub(super) fn request(dialect: Dialect, call: Call, params: &Object<'_>) -> Result<Request> {
    let route = match dialect {
        Dialect::Gateway => gateway(call),
        Dialect::TrueForge => trueforge(call),
    };
    let route = route
        .ok_or_else(|| Error::new(ErrorCode::Unsupported, "this protocol has no such request"))?;
    let params = Params::of(dialect, call, params);
    params.check(&route)?;
    let mut request = Request {
        method: route.method,
        path: params.path(&route)?,
        headers: params.headers(call, &route),
        body: route.body.map(|names| params.body(names)),
    };
    params.add_query(&route, &mut request.path);
    Ok(request)
}

/// A call's parameters under their wire names.
struct Params<'a> {
    entries: Vec<(Cow<'a, str>, Cow<'a, Value<'a>>)>,
}

/// A parameter that becomes a header and is in no route.
const METADATA: &str = "metadata";

impl<'a> Params<'a> {
    fn of(dialect: Dialect, call: Call, params: &'a Object<'a>) -> Self {
        let mut entries: Vec<_> = params
            .iter()
            .map(|(name, value)| (wire_name(name), Cow::Borrowed(value)))
            .collect();
        match call {
            // The stream is asked for in the body, never by `Accept` (section 1.1).
            Call::CreateTurnStream => {
                entries.push(("stream".into(), Cow::Owned(Value::Bool(true))))
            }
            Call::CreateTurn => entries.push(("stream".into(), Cow::Owned(Value::Bool(false)))),
            Call::CreateSession | Call::CreateDraftSession | Call::UpdateDraftSession
                if dialect == Dialect::TrueForge =>
            {
                agent_of(&mut entries);
            }
            // The sibling's list takes no agent and no time window.
            Call::ListSessions | Call::ListOwnedSessions if dialect == Dialect::TrueForge => {
                entries.retain(|(name, _)| {
                    !matches!(
                        &**name,
                        "agent_name" | "order" | "start_timestamp" | "end_timestamp"
                    )
                });
            }
            _ => {}
        }
        Self { entries }
    }

    fn get(&self, name: &str) -> Option<&Value<'a>> {
        self.entries
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| &**value)
    }

    /// Every parameter has its place in the route, and nothing required is missing.
    fn check(&self, route: &Route) -> Result<()> {
        for (name, _) in &self.entries {
            let known = in_path(route.path, name)
                || route.query.contains(&&**name)
                || route.body.is_some_and(|body| body.contains(&&**name))
                || (name == METADATA && matches!(route.method, Method::Post));
            if !known {
                return Err(option_error(name, " is not an option of this call"));
            }
        }
        match route
            .required
            .iter()
            .find(|name| self.get(name).is_none_or(Value::is_null))
        {
            Some(name) => Err(option_error(name, " is required")),
            None => Ok(()),
        }
    }

    fn path(&self, route: &Route) -> Result<String> {
        let mut path = String::with_capacity(route.path.len() + 64);
        for segment in route.path.split_inclusive(['{', '}']) {
            if let Some(name) = segment.strip_suffix('}') {
                let id = self.get(name).and_then(Value::as_str).unwrap_or_default();
                // `.` and `..` would be resolved away by URL parsers, even when percent-encoded.
                if id.is_empty() || id == "." || id == ".." {
                    return Err(option_error(
                        name,
                        " must be the id of something that exists",
                    ));
                }
                percent_encode(id, &mut path);
            } else {
                path.push_str(segment.strip_suffix('{').unwrap_or(segment));
            }
        }
        Ok(path)
    }

    fn add_query(&self, route: &Route, path: &mut String) {
        let mut separator = '?';
        for name in route.query {
            let Some(value) = self.get(name).filter(|value| !value.is_null()) else {
                continue;
            };
            path.push(separator);
            separator = '&';
            path.push_str(name);
            path.push('=');
            match value {
                Value::String(text) => percent_encode(text, path),
                other => percent_encode(&other.to_json(), path),
            }
        }
    }

    fn body(&self, names: &[&'static str]) -> String {
        let mut body = Object::new();
        for name in names {
            if let Some(value) = self.get(name).filter(|value| !value.is_null()) {
                body.insert(*name, value.clone());
            }
        }
        Value::Object(body).to_json()
    }

    fn headers(&self, call: Call, route: &Route) -> Vec<(&'static str, String)> {
        let accept = match call {
            _ if call.streams() => "text/event-stream",
            Call::DownloadSandboxFile => "*/*",
            _ => "application/json",
        };
        let mut headers = vec![("accept", accept.to_owned())];
        if route.body.is_some() {
            headers.push(("content-type", "application/json".to_owned()));
        }
        if let Some(metadata) = self.get(METADATA).filter(|value| !value.is_null()) {
            headers.push(("x-tfy-metadata", ascii_json(&metadata.to_json())));
        }
        headers
    }
}

/// The sibling names its agent in an object: `{name}` for a saved one, `{spec}` for one given inline.
fn agent_of<'a>(entries: &mut Vec<(Cow<'a, str>, Cow<'a, Value<'a>>)>) {
    let mut agent = Object::new();
    entries.retain(|(name, value)| match &**name {
        "agent_name" => {
            agent.insert("name", value.as_ref().clone());
            false
        }
        "agent_spec" => {
            agent.insert("spec", value.as_ref().clone());
            false
        }
        _ => true,
    });
    if agent.contains("spec") {
        agent.remove("name");
    }
    if !agent.is_empty() {
        entries.push(("agent".into(), Cow::Owned(Value::Object(agent))));
    }
}

/// A header holds no more than Latin-1, so everything beyond ASCII is escaped as JSON allows it.
fn ascii_json(json: &str) -> String {
    let mut ascii = String::with_capacity(json.len());
    for unit in json.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii() => ascii.push(char::from(byte)),
            _ => {
                ascii.push_str("\\u");
                for shift in [12, 8, 4, 0] {
                    ascii.push(char::from(HEX[usize::from(unit >> shift & 15)]));
                }
            }
        }
    }
    ascii
}

fn in_path(path: &str, name: &str) -> bool {
    path.split(['{', '}'])
        .skip(1)
        .step_by(2)
        .any(|segment| segment == name)
}

/// `pageToken` → `page_token`. Wire names stay as they are.
fn wire_name(name: &str) -> Cow<'_, str> {
    if !name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Cow::Borrowed(name);
    }
    let mut wire = String::with_capacity(name.len() + 4);
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            wire.push('_');
        }
        wire.push(character.to_ascii_lowercase());
    }
    Cow::Owned(wire)
}

fn option_error(wire: &str, problem: &str) -> Error {
    let mut name = String::with_capacity(wire.len());
    let mut upper = false;
    for character in wire.chars() {
        if character == '_' {
            upper = true;
        } else {
            name.push(if upper {
                character.to_ascii_uppercase()
            } else {
                character
            });
            upper = false;
        }
    }
    Error::new(
        ErrorCode::InvalidOption,
        sentence(&["`", &name, "`", problem]),
    )
}

const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// Encodes all but the unreserved characters of RFC 3986.
fn percent_encode(text: &str, out: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
}
