//! HTTP requests from tables of calls.

use crate::error::Result;
use crate::json::{Object, Value, write_hex};
use crate::text::cut;

use super::calls::Calls;
use super::options::option_error;
use super::{Call, Method};

/// The request of a call. Its line in the table has the method, the path, and the names of what the call takes.
///
/// | | |
/// |---|---|
/// | `{name}` in the path | the parameter of that name, which is required |
/// | `name` | a parameter, sent in the body of a `POST` or `PATCH`, or else in the query |
/// | `!name` | it is required |
/// | `name>wire` | it is sent under another name. If several have the same one, the first given counts |
/// | `name>outer.inner` | it is sent inside an object |
/// | `wire=value` | is always sent, with this value |
/// | `\|` | what follows is not sent: the protocol's own code reads it |
#[derive(Debug, Clone, Copy)]
pub(super) struct Route {
    pub(super) method: Method,
    path: &'static str,
    names: &'static str,
}

impl Route {
    /// The route of a call; `unsupported` if the protocol lacks the call.
    pub(super) fn of(calls: Calls, call: Call) -> Result<Self> {
        let (method, rest) = cut(calls.line(call)?, b' ');
        let (path, names) = cut(rest, b' ');
        let method = match method {
            "GET" => Method::Get,
            "POST" => Method::Post,
            "PATCH" => Method::Patch,
            _ => Method::Delete,
        };
        Ok(Self { method, path, names })
    }

    pub(super) fn has_body(self) -> bool {
        matches!(self.method, Method::Post | Method::Patch)
    }

    /// Checks that every parameter belongs to the route, and that no required one is missing.
    pub(super) fn check(self, params: &Object<'_>) -> Result<()> {
        let is_named = |wanted: &str| words(self.names).any(|word| parameter(word) == wanted);
        for (name, _) in params.iter() {
            if !in_path(self.path, name) && !is_named(name) {
                return Err(option_error(name, " is not an option of this call"));
            }
        }
        for word in words(self.names) {
            if word.starts_with('!') && !params.contains(parameter(word)) {
                return Err(option_error(parameter(word), " is required"));
            }
        }
        Ok(())
    }

    /// What is sent besides the path, in the order of the names.
    pub(super) fn given<'a>(self, params: &Object<'a>) -> Object<'a> {
        let mut given = Object::new();
        for word in words(self.names).take_while(|word| *word != "|") {
            let (wire, fixed) = cut(word, b'=');
            if !fixed.is_empty() {
                given.set(wire, Value::parse(fixed).unwrap_or_default());
                continue;
            }
            let name = parameter(word);
            let wire = cut(word, b'>').1;
            let (wire, inner) = cut(if wire.is_empty() { name } else { wire }, b'.');
            if let Some(value) = params.get(name).filter(|_| !given.contains(wire)) {
                let mut value = value.clone();
                if !inner.is_empty() {
                    let mut outer = Object::new();
                    outer.set(inner, value);
                    value = outer.into();
                }
                given.set(wire, value);
            }
        }
        given
    }

    /// The path with its parameters, percent-encoded.
    pub(super) fn path(self, params: &Object<'_>) -> Result<String> {
        let mut path = String::new();
        let mut rest = self.path;
        while let Some((fixed, name, tail)) = split_at_name(rest) {
            path.push_str(fixed);
            let id = params.text(name);
            // URL parsers would resolve `.` and `..`, even percent-encoded.
            if matches!(id, "" | "." | "..") {
                return Err(option_error(name, " must be the id of something that exists"));
            }
            percent_encode(id, &mut path);
            rest = tail;
        }
        path.push_str(rest);
        Ok(path)
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

/// The name of the parameter that a word is about.
fn parameter(word: &'static str) -> &'static str {
    cut(word.strip_prefix('!').unwrap_or(word), b'>').0
}

/// The text before the first name in braces, the name, and the rest.
fn split_at_name(path: &str) -> Option<(&str, &str, &str)> {
    let (fixed, rest) = cut(path, b'{');
    let (name, tail) = cut(rest, b'}');
    (!name.is_empty()).then_some((fixed, name, tail))
}

fn in_path(path: &str, name: &str) -> bool {
    split_at_name(path).is_some_and(|(_, first, tail)| first == name || in_path(tail, name))
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
