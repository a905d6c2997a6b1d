//! HTTP responses: the meaning of their status, type and body.

use crate::error::{Error, ErrorCode, Result};
use crate::features::{ClientConversations, Transcripts};
use crate::json::{Object, Value, write_u64};

use super::{Call, Protocol};

/// An HTTP response with its body.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// The status.
    pub status: u16,
    /// The status text; empty in newer versions of HTTP.
    pub status_text: &'a str,
    /// The `Content-Type`.
    pub content_type: &'a str,
    /// The body.
    pub body: &'a str,
}

impl Answer<'_> {
    fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Whether it is an event stream.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        const TYPE: &str = "text/event-stream";
        let given = self.content_type.trim_ascii_start().get(..TYPE.len());
        self.is_success() && given.is_some_and(|given| given.eq_ignore_ascii_case(TYPE))
    }

    /// Returns the JSON of the response to `call` in turnwire's form, or the error that the response means. `params`
    /// are those of the request.
    pub fn read(&self, protocol: &dyn Protocol, call: Call, params: &Object<'_>) -> Result<String> {
        if protocol.capabilities().has_socket() {
            return super::response::read(protocol, call, params, self.body);
        }
        if !self.is_success() {
            return Err(self.refusal(protocol));
        }
        let answer = if call.streams() && !protocol.capabilities().may_answer_whole() {
            Err(self.unexpected("an event stream"))
        } else if self.body.trim_ascii().is_empty() {
            protocol.answer(call, params, Value::Null)
        } else {
            let json = Value::parse(self.body).map_err(|_| self.unexpected("JSON"));
            json.and_then(|json| protocol.answer(call, params, json))
        };
        match answer {
            Ok(json) => Ok(json.to_json()),
            // An answer can hold the news that something is not there.
            Err(error) if Transcripts::EXISTS && error.status.is_some() => Err(error),
            Err(error) => Err(error.with_response(self.status, self.body)),
        }
    }

    fn refusal(&self, protocol: &dyn Protocol) -> Error {
        let mut status = String::new();
        write_u64(&mut status, u64::from(self.status));
        let said = protocol.error_message(self.body);
        let said = said.as_deref().unwrap_or(self.status_text);
        // Only servers to which the client sends a conversation repeat parts of it.
        let body = if ClientConversations::EXISTS { protocol.readable(self.body) } else { self.body.into() };
        let colon = if said.is_empty() { "" } else { ": " };
        Error::of(ErrorCode::Http, &["the server answered ", &status, colon, said])
            .with_response(self.status, &body)
    }

    fn unexpected(&self, expected: &str) -> Error {
        let parts = ["the response is not ", expected, " (`", self.content_type, "`)"];
        Error::of(ErrorCode::UnexpectedResponse, &parts)
    }
}
