//! Messages as they go over the socket, and what of one that comes tells to whom it belongs.

use std::borrow::Cow;

use crate::bytes::find_quote;
use crate::json::{Object, ObjectWriter, Value, write_str, write_u64};

use super::Message;

/// How long the id of a request is, in characters: some servers demand just that.
const ID_LENGTH: usize = 21;
/// How many of them are the same in all requests of a client.
pub const ID_PREFIX_LENGTH: usize = ID_LENGTH - 8;

impl Message {
    /// The text that is sent. A request goes under `id`; every other message has no use for it.
    #[must_use]
    pub fn to_wire(&self, id: &str) -> String {
        let mut text = String::new();
        let mut object = ObjectWriter::new(&mut text);
        object.str("jsonrpc", "2.0");
        match self {
            Self::Request { method, params } => {
                object.str("id", id).str("method", method).raw("params", params)
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
pub(super) fn error_json(code: i64, message: &str) -> String {
    let mut error = String::new();
    ObjectWriter::new(&mut error).raw("code", &decimal(code)).str("message", message).end();
    error
}

/// A number in digits. Not by `to_string`: the module has none for `core::fmt`.
pub(super) fn decimal(number: i64) -> String {
    let mut text = if number < 0 { "-" } else { "" }.to_owned();
    write_u64(&mut text, number.unsigned_abs());
    text
}

/// The id of the request that a message responds to, if it is one that `is_own` knows. To parse each message for that
/// would double the work: quotes inside of texts are escaped in JSON, so that nothing which an agent says looks like a
/// member.
pub(super) fn find_id<'m>(message: &'m str, is_own: &dyn Fn(&str) -> bool) -> Option<&'m str> {
    let mut rest = message;
    loop {
        rest = rest.get(find_quote(rest.as_bytes())?..)?;
        if let Some(id) = response_id(rest)
            && is_own(id)
        {
            return Some(id);
        }
        rest = rest.get(1..)?;
    }
}

/// The id of a request, if `text` begins with a member that has one.
fn response_id(text: &str) -> Option<&str> {
    let id = text.strip_prefix(r#""id""#)?.trim_ascii_start().strip_prefix(':')?;
    let id = id.trim_ascii_start().strip_prefix('"')?;
    let len = find_quote(id.as_bytes()).filter(|len| *len == ID_LENGTH)?;
    id.get(..len)
}

/// What stands between the next two quotes; `rest` goes on behind them.
fn next_word<'m>(rest: &mut &'m str) -> Option<&'m str> {
    let inside = rest.get(find_quote(rest.as_bytes())? + 1..)?;
    let len = find_quote(inside.as_bytes())?;
    *rest = inside.get(len + 1..)?;
    inside.get(..len)
}

/// Whether a response is an error, or not even JSON.
#[must_use]
pub(super) fn is_refusal(message: &str) -> bool {
    let response = Value::parse(message).unwrap_or_default();
    response.as_object().is_none_or(|response| response.contains("error"))
}

/// What a message is about, as far as that decides where it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Envelope<'m> {
    /// Empty if it has none: it may be a response.
    pub(super) method: Cow<'m, str>,
    /// Whether the server asks for a response.
    is_request: bool,
}

impl<'m> Envelope<'m> {
    /// Looks at the beginning of a message, where almost all have their method. `None` if it is not there.
    pub(super) fn begin(message: &'m str) -> Option<Self> {
        let mut rest = message;
        let mut word = || next_word(&mut rest).unwrap_or_default();
        let mut first = word();
        if first == "jsonrpc" {
            word();
            first = word();
        }
        let (method, is_request) = match (first, word(), word()) {
            ("method", method, next) => (method, next == "id"),
            ("id", "method", method) => (method, true),
            ("id", _, "method") => (word(), true),
            _ => return None,
        };
        Some(Self { method: method.into(), is_request })
    }

    /// The same by reading all of the message.
    pub(super) fn parse(message: &str) -> Self {
        let value = Value::parse(message).unwrap_or_default();
        let object = value.as_object().unwrap_or(const { &Object::new() });
        Self { method: object.text("method").to_owned().into(), is_request: object.contains("id") }
    }

    /// Whether it goes to all streams: requests of the server's, what became of them, and turns that begin. They may be
    /// those of a thread that a stream's own thread has made, which only the reader of the stream can tell.
    pub(super) fn is_for_all(&self) -> bool {
        let is_request = self.is_request && !self.method.is_empty();
        is_request || matches!(&*self.method, "turn/started" | "serverRequest/resolved")
    }
}

/// The thread that a notification is about.
pub(super) fn thread_of<'o>(notification: &'o Object<'_>) -> Option<&'o str> {
    let thread = notification.object("params")?.text("threadId");
    (!thread.is_empty()).then_some(thread)
}

/// How a message that names the thread of this id has it: as a text of its own.
#[must_use]
pub(crate) fn thread_mark(thread: &str) -> String {
    let mut mark = String::new();
    write_str(&mut mark, thread);
    mark
}

/// A response as a stream has it: its first member, `response_to`, is the method of its request.
#[must_use]
pub fn response_to(response: &str, method: &str) -> String {
    let response = response.trim_ascii();
    // What is no object cannot be told whose response it is, and the decoder reports it as it is.
    let Some(members) = response.strip_prefix('{') else { return response.to_owned() };
    let mut message = r#"{"response_to":"#.to_owned();
    write_str(&mut message, method);
    message.push(',');
    message.push_str(members);
    message
}
