//! Requests from tables: one line per call, with its method, its path and the names of its parameters.

use crate::error::Result;
use crate::json::{Object, write_hex};
use crate::text::cut;

use super::options::option_error;
use super::{Call, Method};

/// One request, as a line of a table describes it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Route {
    pub(super) method: Method,
    /// `{name}` is replaced by the parameter of that name.
    path: &'static str,
    /// The names of its other parameters. Those after a `!` are required.
    names: &'static str,
}

impl Route {
    /// The route of a call; `None` if the table has none. A table has one line per call, in the order of [`Call::ALL`],
    /// and may end early. Texts take half the space of nested slices.
    pub(super) fn of(table: &'static str, call: Call) -> Option<Self> {
        let mut rest = table;
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

    /// The names of the parameters outside the path, and whether each is required.
    fn names(self) -> impl Iterator<Item = (&'static str, bool)> {
        let mut rest = self.names;
        std::iter::from_fn(move || {
            let (name, others) = cut(rest, b' ');
            rest = others;
            let required = name.strip_prefix('!');
            (!name.is_empty()).then(|| (required.unwrap_or(name), required.is_some()))
        })
    }

    pub(super) fn has_body(self) -> bool {
        matches!(self.method, Method::Post | Method::Patch)
    }

    /// Checks that every parameter belongs to the route, and that no required one is missing.
    pub(super) fn check(self, params: &Object<'_>) -> Result<()> {
        for (name, _) in params.iter() {
            if !in_path(self.path, name) && !self.names().any(|(known, _)| known == name) {
                return Err(option_error(name, " is not an option of this call"));
            }
        }
        for (name, is_required) in self.names() {
            if is_required && !params.contains(name) {
                return Err(option_error(name, " is required"));
            }
        }
        Ok(())
    }

    /// The given parameters outside the path, in the order of the names.
    pub(super) fn given<'a>(self, params: &Object<'a>) -> Object<'a> {
        let mut given = Object::new();
        for (name, _) in self.names() {
            if let Some(value) = params.get(name) {
                given.set(name, value.clone());
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
