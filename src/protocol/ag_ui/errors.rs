//! Bodies of error responses (section 8). Some repeat the request, which may contain secrets.

use std::borrow::Cow;

use crate::error::sentence;
use crate::json::{Object, Value};
use crate::protocol::body::error_message;
use crate::text::{cut, is_at_most};

/// The message in a body: `{"detail"}` or a list from servers that check with pydantic, else `{"error", "message"}`.
pub(super) fn message(body: &str) -> Option<String> {
    let json = Value::parse(body).unwrap_or_default();
    let problems = json.get("detail").unwrap_or(&json);
    if let Some(first) = problems.as_array().and_then(|problems| problems.first()?.as_object()) {
        return problem(first);
    }
    let said = problems.as_str().or_else(|| json.get("message")?.as_str());
    let said = said.filter(|said| !said.is_empty()).and_then(|said| short(own(said)));
    said.or_else(|| error_message(body).map(|said| own(&said).to_owned()))
}

/// The beginning of a text, before pydantic's details, which repeat its input: `[type=missing, input_value=…`.
pub(super) fn own(text: &str) -> &str {
    let mut rest = text;
    while !rest.is_empty() {
        let (_, after) = cut(rest, b'[');
        if after.starts_with("type=") {
            return text.get(..text.len() - after.len() - 1).unwrap_or_default().trim_ascii_end();
        }
        rest = after;
    }
    text
}

/// A text that is short enough to be the server's own.
fn short(text: &str) -> Option<String> {
    const LONGEST: usize = 300;
    is_at_most(text, LONGEST).then(|| text.to_owned())
}

/// The problem of the request, and its place.
fn problem(problem: &Object<'_>) -> Option<String> {
    let mut place = String::new();
    for step in problem.array("loc") {
        place.push_str(if place.is_empty() { " at " } else { "." });
        place.push_str(step.as_str().or_else(|| step.number_text()).unwrap_or_default());
    }
    short(problem.text("msg")).filter(|said| !said.is_empty()).map(|said| sentence(&[&said, &place]))
}

/// A body without the parts of the request in it. JSON stays JSON.
pub(super) fn without_input(body: &str) -> Cow<'_, str> {
    let Ok(mut json) = Value::parse(body) else { return own(body).into() };
    if remove_input(&mut json) { json.to_json().into() } else { body.into() }
}

/// Removes the input next to each problem of a list, and after each text. Returns whether there was one.
fn remove_input(json: &mut Value<'_>) -> bool {
    match json {
        Value::String(text) => {
            let said = own(text);
            let has_more = said.len() < text.len();
            if has_more {
                *json = said.to_owned().into();
            }
            has_more
        }
        Value::Array(items) => items.iter_mut().fold(false, |has_removed, item| {
            let problem = item.as_object_mut();
            let given = problem.is_some_and(|problem| {
                ["input", "ctx"].iter().filter(|name| problem.remove(name).is_some()).count() > 0
            });
            remove_input(item) | given | has_removed
        }),
        Value::Object(members) => {
            members.values_mut().fold(false, |has_removed, value| remove_input(value) | has_removed)
        }
        _ => false,
    }
}
