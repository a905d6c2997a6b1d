//! What crosses the boundary to JavaScript: records with their text, errors as JSON, numbers of calls, and codes.

use crate::delivery::TextArena;
use crate::error::{Error, ErrorCode, Result};
use crate::json::ObjectWriter;
use crate::protocol::Call;

/// Records and the text that they point into.
pub(super) type Lent<'a> = (&'a [u32], &'a TextArena);

/// The first character of a text that is an error. No other text of the core begins with it.
const MARK: char = '!';

/// An error as the text that a call returns in place of its result: the mark, and the JSON.
pub(super) fn report(error: &Error) -> String {
    let mut report = String::from(MARK);
    write_error(&mut report, error);
    report
}

/// An error as JSON: `{ "code", "message", "status"?, "body"? }`.
pub(super) fn write_error(out: &mut String, error: &Error) {
    let mut object = ObjectWriter::new(out);
    object.str("code", error.code.as_str()).str("message", &error.message);
    if let Some(status) = error.status {
        object.u64("status", u64::from(status));
    }
    if let Some(body) = &error.body {
        object.str("body", body);
    }
    object.end();
}

/// The error code for a code of the package, as far as the next step depends on it.
pub(super) fn failure_code(code: &str) -> ErrorCode {
    match code {
        "http" => ErrorCode::Http,
        "rpc" => ErrorCode::Rpc,
        "network" | "unsent" => ErrorCode::Network,
        "timeout" => ErrorCode::Timeout,
        "token" => ErrorCode::Token,
        "unexpected_response" => ErrorCode::UnexpectedResponse,
        _ => ErrorCode::InvalidOption,
    }
}

/// The call with this number: its place in [`Call::ALL`].
pub(super) fn call_of(number: u8) -> Result<Call> {
    let call = Call::ALL.get(usize::from(number)).copied();
    call.ok_or_else(|| Error::new(ErrorCode::Unsupported, "the call is unknown"))
}
