//! Messages as they are sent over the socket, and the parts of a message that show where it belongs.

use crate::bytes::find_quote;
use crate::json::{ObjectWriter, Value, write_str, write_u64};

use super::Message;

/// The length of a request's id, in characters. Some servers demand exactly this length.
const ID_LENGTH: usize = 21;
/// The length of the part that all requests of a client share.
pub const ID_PREFIX_LENGTH: usize = ID_LENGTH - 8;

impl Message {
    /// The text to send. The id of a request is the prefix and its number, in eight letters.
    #[must_use]
    pub fn to_wire(&self, id_prefix: &str, number: u32) -> String {
        let mut text = String::new();
        let mut object = ObjectWriter::new(&mut text);
        object.str("jsonrpc", "2.0");
        match self {
            Self::Request { method, params } => {
                let id = object.member("id");
                id.push('"');
                id.push_str(id_prefix);
                for at in (0..8).rev() {
                    id.push(char::from(b'a' + (number >> (4 * at) & 15) as u8));
                }
                id.push('"');
                object.str("method", method).raw("params", params)
            }
            Self::Notification { method, params } => object.str("method", method).raw("params", params),
            Self::Response { id, result } => object.raw("id", id).raw("result", result),
            Self::Refusal { id, code, message } => {
                object.raw("id", id).raw("error", &error_json(*code, message))
            }
        };
        object.end();
        text
    }
}

/// The error of a response.
fn error_json(code: i64, message: &str) -> String {
    let mut error = String::new();
    ObjectWriter::new(&mut error).raw("code", &decimal(code)).str("message", message).end();
    error
}

/// A number in digits. `to_string` would add `core::fmt` to the module.
pub(crate) fn decimal(number: i64) -> String {
    let mut text = if number < 0 { "-" } else { "" }.to_owned();
    write_u64(&mut text, number.unsigned_abs());
    text
}

/// The number of the request that a message responds to, if its id has this prefix. Parsing each message would double
/// the work. JSON escapes quotes inside strings, so no text of an agent can look like an id.
pub(super) fn own_number(message: &str, id_prefix: &str) -> Option<u32> {
    let mut rest = message.as_bytes();
    loop {
        rest = rest.get(find_quote(rest)? + 1..)?;
        if let Some([digits @ .., b'"']) = rest.get(..=ID_LENGTH)
            && let Some(digits) = digits.strip_prefix(id_prefix.as_bytes())
        {
            return Some(
                digits.iter().fold(0, |number, digit| number << 4 | u32::from(digit.wrapping_sub(b'a'))),
            );
        }
    }
}

/// The method of a message, and whether the server expects a response, if the message begins with both, as almost all
/// do.
pub(super) fn method_at_start(message: &str) -> Option<(&str, bool)> {
    let mut rest = message;
    let mut word = || {
        let inside = rest.get(find_quote(rest.as_bytes())? + 1..)?;
        let len = find_quote(inside.as_bytes())?;
        rest = inside.get(len + 1..)?;
        inside.get(..len)
    };
    let mut name = word()?;
    if name == "jsonrpc" {
        word()?;
        name = word()?;
    }
    if name == "method" { Some((word()?, word()? == "id")) } else { None }
}

/// Whether a response is an error or is not valid JSON.
pub(super) fn is_refusal(message: &str) -> bool {
    let response = Value::parse(message).unwrap_or_default();
    response.as_object().is_none_or(|response| response.contains("error"))
}

/// How a message names this thread: its id as a quoted string.
#[must_use]
pub(crate) fn thread_mark(thread: &str) -> String {
    let mut mark = String::new();
    write_str(&mut mark, thread);
    mark
}

/// A response as part of a stream: its first member, `response_to`, is the method of its request.
#[must_use]
pub fn response_to(response: &str, method: &str) -> String {
    let response = response.trim_ascii();
    // Only an object can have a member; the decoder reports any other message as it is.
    let Some(members) = response.strip_prefix('{') else { return response.to_owned() };
    let mut message = r#"{"response_to":"#.to_owned();
    write_str(&mut message, method);
    message.push(',');
    message.push_str(members);
    message
}
