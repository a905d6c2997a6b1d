//! Errors on their way into JavaScript.

use crate::error::{Error, Result};
use crate::json::ObjectWriter;

/// What stands before an error. No document that the core gives begins with it.
const MARK: char = '!';

/// A result as the one text that crosses: what was asked for, or a mark and the error as
/// `{ "code", "message", "status"?, "body"? }`, which the package's TypeScript makes an error of its
/// classes from.
///
/// Results that throw would need JavaScript values in the core: wasm-bindgen's table of them, and code
/// on both sides of every call.
pub(super) fn outcome(result: Result<String>) -> String {
    match result {
        Ok(text) => text,
        Err(error) => report(&error),
    }
}

/// The same where there is nothing to give: an empty text, or the error.
pub(super) fn verdict(result: Result<()>) -> String {
    outcome(result.map(|()| String::new()))
}

fn report(error: &Error) -> String {
    let mut report = String::from(MARK);
    let mut object = ObjectWriter::new(&mut report);
    object.str("code", error.code.as_str()).str("message", &error.message);
    if let Some(status) = error.status {
        object.u64("status", u64::from(status));
    }
    if let Some(body) = &error.body {
        object.str("body", body);
    }
    object.end();
    report
}
