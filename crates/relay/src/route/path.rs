//! Matches a path with a table's patterns, and rebuilds it.

use axum::http::Method;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::Route;

/// The characters of a segment that must be encoded.
const ENCODED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b':').remove(b'@');
/// The longest id.
pub(super) const LONGEST: usize = 512;

/// A request that may pass.
#[derive(Debug, Clone)]
pub(crate) struct Matched {
    pub(crate) route: &'static Route,
    pub(crate) session: Option<String>,
    pub(crate) turn: Option<String>,
    /// The path below the agent's base, with a leading slash.
    pub(crate) path: String,
}

/// Why a request may not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unmatched {
    /// There is no such path, or agents may read its spelling differently.
    Path,
    /// The path exists, but not with this method.
    Method,
}

/// A segment, encoded for use in a path.
pub(super) fn encoded(segment: &str) -> String {
    utf8_percent_encode(segment, ENCODED).to_string()
}

pub(super) fn matched(table: &'static [Route], method: &Method, path: &str) -> Result<Matched, Unmatched> {
    let segments = segments(path).ok_or(Unmatched::Path)?;
    let mut failure = Unmatched::Path;
    for route in table {
        let Some(found) = fits(route, &segments) else { continue };
        if route.method == method.as_str() {
            return Ok(found);
        }
        failure = Unmatched::Method;
    }
    Err(failure)
}

/// The decoded segments of a path that begins with a slash, or is empty. `None` if one of them is ambiguous.
fn segments(path: &str) -> Option<Vec<String>> {
    if matches!(path, "" | "/") {
        return Some(Vec::new());
    }
    path.strip_prefix('/')?.split('/').map(segment).collect()
}

fn segment(raw: &str) -> Option<String> {
    // Some decoders accept a percent sign that begins no escape, and others do not.
    let mut rest = raw;
    while let Some(at) = rest.find('%') {
        let digits = rest.as_bytes().get(at + 1..at + 3)?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        rest = &rest[at + 3..];
    }
    let text = percent_decode_str(raw).decode_utf8().ok()?;
    let is_plain = !text.is_empty()
        && text.len() <= LONGEST
        && text != "."
        && text != ".."
        // A second decoding must not change anything.
        && !text.chars().any(|char| matches!(char, '/' | '\\' | '%' | '?' | '#' | ';') || char.is_control());
    is_plain.then(|| text.into_owned())
}

fn fits(route: &'static Route, segments: &[String]) -> Option<Matched> {
    let pattern: Vec<&str> = route.pattern.split('/').filter(|part| !part.is_empty()).collect();
    if pattern.len() != segments.len() {
        return None;
    }
    let mut found = Matched { route, session: None, turn: None, path: String::new() };
    for (part, segment) in pattern.into_iter().zip(segments) {
        match part {
            "{session}" => found.session = Some(segment.clone()),
            "{turn}" => found.turn = Some(segment.clone()),
            _ if part == segment => {}
            _ => return None,
        }
        found.path.push('/');
        found.path.push_str(&encoded(segment));
    }
    Some(found)
}

/// The decoded parameters of the query. `None` if they are ambiguous.
pub(crate) fn query(raw: Option<&str>) -> Option<Vec<(String, String)>> {
    let decoded = |text: &str| {
        let text = text.replace('+', " ");
        percent_decode_str(&text).decode_utf8().ok().map(std::borrow::Cow::into_owned)
    };
    raw.unwrap_or_default()
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decoded(name)?, decoded(value)?))
        })
        .collect()
}

impl Matched {
    /// The path and query for the agent, rebuilt.
    pub(crate) fn target(&self, query: &[(String, String)]) -> String {
        let mut target = if self.path.is_empty() { "/".to_owned() } else { self.path.clone() };
        for (place, (name, value)) in query.iter().enumerate() {
            target.push(if place == 0 { '?' } else { '&' });
            target.push_str(&encoded(name));
            target.push('=');
            target.push_str(&encoded(value));
        }
        target
    }
}
