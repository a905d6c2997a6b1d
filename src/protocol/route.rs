//! HTTP requests from tables of calls.

use crate::error::Result;
use crate::json::{Object, Value, write_hex};
use crate::text::cut;

use super::calls::Calls;
use super::options::option_error;
use super::{Call, Method, Request};

/// The request of a call. Its line in the table has the method, the path, and what the call takes:
///
/// | | |
/// |---|---|
/// | `{name}` in the path | the parameter of that name, which is required |
/// | `name` | a parameter, sent in the body of a `POST` or `PATCH`, or else in the query |
/// | `!name` | it is required |
/// | `name>wire` | it is sent under another name. If several have the same one, the first given counts |
/// | `wire=value` | is always sent, with this value |
/// | `\|` | what follows is not sent: the protocol's own code reads it |
#[derive(Debug, Clone, Copy)]
pub(super) struct Route {
    pub(super) method: Method,
    path: &'static str,
    words: &'static str,
}

impl Route {
    /// The route of a call; `unsupported` if the protocol lacks the call.
    pub(super) fn of(calls: Calls, call: Call) -> Result<Self> {
        let (method, rest) = cut(calls.line(call)?, b' ');
        let (path, words) = cut(rest, b' ');
        let method = match method {
            "GET" => Method::Get,
            "POST" => Method::Post,
            "PATCH" => Method::Patch,
            _ => Method::Delete,
        };
        Ok(Self { method, path, words })
    }

    pub(super) fn has_body(self) -> bool {
        matches!(self.method, Method::Post | Method::Patch)
    }

    /// The path, percent-encoded, and what is sent besides it. Every parameter must belong to the route, and no required
    /// one may be missing.
    pub(super) fn fill<'a>(self, params: &Object<'a>) -> Result<(String, Object<'a>)> {
        let mut rest = params.clone();
        // That a parameter does not belong to the route says more than that one is missing.
        let mut problem = None;
        let mut path = String::new();
        let mut template = self.path;
        loop {
            let (fixed, after) = cut(template, b'{');
            path.push_str(fixed);
            let (name, after) = cut(after, b'}');
            if name.is_empty() {
                break;
            }
            let id = rest.remove(name).unwrap_or_default();
            let id = id.as_str().unwrap_or_default();
            // URL parsers would resolve `.` and `..`, even percent-encoded.
            if matches!(id, "" | "." | "..") {
                problem = Some(option_error(name, " must be a non-empty id"));
            }
            percent_encode(id, &mut path);
            template = after;
        }
        let mut sent = Object::new();
        let mut is_sent = true;
        for word in words(self.words) {
            let (fixed, value) = cut(word, b'=');
            if !value.is_empty() {
                sent.set(fixed, Value::parse(value).unwrap_or_default());
                continue;
            }
            is_sent &= word != "|";
            let (name, wire) = cut(word.strip_prefix('!').unwrap_or(word), b'>');
            let wire = if wire.is_empty() { name } else { wire };
            match rest.remove(name) {
                Some(value) if is_sent && !sent.contains(wire) => sent.set(wire, value),
                None if word.starts_with('!') => problem = Some(option_error(name, " is required")),
                _ => {}
            }
        }
        if let Some((name, _)) = rest.iter().next() {
            problem = Some(option_error(name, " is not an option of this call"));
        }
        problem.map_or(Ok((path, sent)), Err)
    }

    /// The request with these headers. What is sent is its body, or else its query.
    pub(super) fn request(
        self,
        mut path: String,
        sent: &Object<'_>,
        headers: Vec<(&'static str, String)>,
    ) -> Request {
        let body = if self.has_body() {
            Some(sent.to_json())
        } else {
            add_query(sent, &mut path);
            None
        };
        Request { method: self.method, path, headers, body }
    }

    /// The headers of every request of this route.
    pub(super) fn headers(self, call: Call) -> Vec<(&'static str, String)> {
        let accept = match call {
            _ if call.streams() => "text/event-stream",
            Call::DownloadSandboxFile => "*/*",
            _ => "application/json",
        };
        let mut headers = vec![("accept", accept.to_owned())];
        if self.has_body() {
            headers.push(("content-type", "application/json".to_owned()));
        }
        headers
    }
}

/// The words of a line.
pub(super) fn words(line: &'static str) -> impl Iterator<Item = &'static str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let (word, others) = cut(rest, b' ');
        rest = others;
        (!word.is_empty()).then_some(word)
    })
}

/// Adds a query to a path that has none.
pub(super) fn add_query(query: &Object<'_>, path: &mut String) {
    let mut separator = "?";
    for (name, value) in query.iter() {
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

/// Encodes all but the unreserved characters of RFC 3986.
pub(super) fn percent_encode(text: &str, out: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push('%');
            write_hex(out, u16::from(byte), 2, b'A');
        }
    }
}
