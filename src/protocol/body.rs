//! Bodies of responses: their required form, and the pages of lists.

use crate::error::{Error, ErrorCode, Result};
use crate::json::{Object, Value};
use crate::text::is_at_most;

/// The message of an error response: a message of the server itself, or the plain text of a body that could not be
/// read. Long texts and HTML come from something in between, and are not used.
pub(super) fn error_message(body: &str) -> Option<String> {
    const LONGEST: usize = 300;
    let message = match Value::parse(body) {
        Ok(json) => {
            let error = json.get("error")?;
            error.as_str().or_else(|| error.get("message")?.as_str())?.to_owned()
        }
        Err(_) => body.trim_ascii().to_owned(),
    };
    let is_one = !message.is_empty() && !message.starts_with('<');
    (is_one && is_at_most(&message, LONGEST)).then_some(message)
}

/// A page of a list.
pub(super) fn page<'a>(items: Vec<Value<'a>>, next: Value<'a>) -> Value<'a> {
    let mut page = Object::new();
    page.set("items", items.into());
    page.set("next", next);
    page.into()
}

/// The object that a response, or a part of it, must be.
pub(super) fn object(value: Value<'_>) -> Result<Object<'_>> {
    match value {
        Value::Object(members) => Ok(members),
        _ => Err(unexpected("the response, or an item in it, is not an object")),
    }
}

/// The list with this name that a response must have.
pub(super) fn take_list<'a>(body: &mut Object<'a>, name: &str) -> Result<Vec<Value<'a>>> {
    match body.get_mut(name).map(std::mem::take) {
        Some(Value::Array(items)) => Ok(items),
        _ => Err(Error::of(ErrorCode::UnexpectedResponse, &["the response has no list `", name, "`"])),
    }
}

/// The error of a response that does not follow the protocol.
pub(super) fn unexpected(problem: &str) -> Error {
    Error::new(ErrorCode::UnexpectedResponse, problem)
}
