//! Messages as they go over the socket, and what of one that comes tells to whom it belongs.

use crate::json::{ObjectWriter, Value, write_str, write_u64};

use super::Message;

/// How long the id of a request is, in characters: some servers demand just that.
pub const ID_LENGTH: usize = 21;

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

/// Whatever of a message may be the id of the request that it responds to. To parse each message for that would
/// double the work: quotes inside of texts are escaped in JSON, so that nothing which an agent says looks like a
/// member.
pub fn response_ids(message: &str) -> impl Iterator<Item = &str> {
    const NAME: &str = r#""id""#;
    message.match_indices(NAME).filter_map(|(at, _)| {
        let rest = message.get(at + NAME.len()..)?.trim_ascii_start().strip_prefix(':')?;
        let (id, _) = rest.trim_ascii_start().strip_prefix('"')?.split_once('"')?;
        (id.len() == ID_LENGTH).then_some(id)
    })
}

/// Whether a response is an error, or not even JSON.
#[must_use]
pub fn is_refusal(message: &str) -> bool {
    let response = Value::parse(message).unwrap_or_default();
    response.as_object().is_none_or(|response| response.contains("error"))
}

/// The thread that a server has unloaded, if this is the message by which it says so: it tells nothing more of it.
#[must_use]
pub fn closed_thread(message: &str) -> Option<String> {
    const CLOSED: &str = "thread/closed";
    // To parse each message for that would double the work.
    let value = message.contains(CLOSED).then(|| Value::parse(message).ok())??;
    let notification = value.as_object().filter(|message| message.text("method") == CLOSED)?;
    let thread = notification.get("params")?.as_object()?.text("threadId");
    (!thread.is_empty()).then(|| thread.to_owned())
}

/// How a message that names the thread of this id has it: as a text of its own.
#[must_use]
pub fn thread_mark(thread: &str) -> String {
    let mut mark = String::new();
    write_str(&mut mark, thread);
    mark
}

/// Whether a message goes to all streams: requests of the server's, what became of them, and turns that begin. They may
/// be those of a thread that a stream's own thread has made, which only who reads the stream can tell.
#[must_use]
pub fn is_for_all(message: &str) -> bool {
    // What stands between quotes.
    let mut words =
        message.split('"').skip(1).step_by(2).skip_while(|word| matches!(*word, "jsonrpc" | "2.0"));
    match [words.next(), words.next(), words.next()] {
        [Some("method"), Some("turn/started" | "serverRequest/resolved"), _] => true,
        [Some("method"), _, next] => next == Some("id"),
        [Some("id"), one, two] => one == Some("method") || two == Some("method"),
        _ => false,
    }
}

/// A message as the line of a stream, with its end; of a response, `response_to` is the method of its request.
#[must_use]
pub fn stream_line(message: &str, response_to: Option<&str>) -> String {
    let mut line = String::new();
    let mut rest = message.trim_ascii();
    // What is no object cannot be told whose response it is, and the decoder reports it as it is.
    if let Some((method, members)) = response_to.zip(rest.strip_prefix('{')) {
        line.push_str(r#"{"response_to":"#);
        write_str(&mut line, method);
        line.push(',');
        rest = members;
    }
    // Outside of texts, where JSON has no line ends, they mean nothing.
    for (at, piece) in rest.split(['\r', '\n']).enumerate() {
        line.push_str(if at > 0 { " " } else { "" });
        line.push_str(piece);
    }
    line.push('\n');
    line
}
