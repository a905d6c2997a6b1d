//! The one error type: a closed set of codes, and a message that says what happened, what was kept and what to do.

use std::fmt;
use std::ops::Deref;

use crate::features::{Causes, Part};

/// The kind of an error, for code. The set may grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorCode {
    /// An option has a wrong name, type or value.
    InvalidOption,
    /// `baseUrl` is not an absolute `http` or `https` URL.
    InvalidUrl,
    /// A turn's input breaks a rule; nothing was sent.
    InvalidInput,
    /// The turn has not started, so there is nothing to list, cancel or wait for.
    TurnNotStarted,
    /// The turn has already started; a second start would send its input twice.
    TurnAlreadyStarted,
    /// The turn is already being streamed, or its stream was read to its end.
    TurnAlreadyStreamed,
    /// The turn has ended; `listEvents` returns its events.
    TurnNotRunning,
    /// The session was cancelled and takes no further turns.
    SessionCancelled,
    /// The protocol does not support the call.
    Unsupported,
    /// The server responded with an error status.
    Http,
    /// The server responded over a socket with an error; `body` is that error as JSON.
    Rpc,
    /// The request or its response was lost.
    Network,
    /// A response, a stream's data or the whole call did not arrive in time.
    Timeout,
    /// The `token` function threw, or did not return a string.
    Token,
    /// The response does not follow the protocol: it is not an event stream, or not JSON.
    UnexpectedResponse,
    /// An event is larger than `maxFrameBytes`.
    FrameTooLarge,
    /// The stream ended before the turn did.
    Incomplete,
    /// The relay has lost the rest of the turn; `body` says why, as JSON.
    Cut,
    /// The caller stopped the reading.
    Aborted,
    /// The server ended the turn with an error.
    TurnFailed,
}

impl ErrorCode {
    /// The code in JavaScript. Stable.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidOption => "invalid_option",
            Self::InvalidUrl => "invalid_url",
            Self::InvalidInput => "invalid_input",
            Self::TurnNotStarted => "turn_not_started",
            Self::TurnAlreadyStarted => "turn_already_started",
            Self::TurnAlreadyStreamed => "turn_already_streamed",
            Self::TurnNotRunning => "turn_not_running",
            Self::SessionCancelled => "session_cancelled",
            Self::Unsupported => "unsupported",
            Self::Http => "http",
            Self::Rpc => "rpc",
            Self::Network => "network",
            Self::Timeout => "timeout",
            Self::Token => "token",
            Self::UnexpectedResponse => "unexpected_response",
            Self::FrameTooLarge => "frame_too_large",
            Self::Incomplete => "incomplete",
            Self::Cut => "cut",
            Self::Aborted => "aborted",
            Self::TurnFailed => "turn_failed",
        }
    }
}

/// An error of any part of turnwire.
///
/// One pointer wide, so that results stay small.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(Box<ErrorDetails>);

/// The data of an [`Error`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorDetails {
    /// The kind of the error.
    pub code: ErrorCode,
    /// For people: what happened, what was kept, what to do. Contains no token and no header.
    pub message: String,
    /// The HTTP status of the response, if there was one.
    pub status: Option<u16>,
    /// The body of the error response, cut to [`Error::BODY_LIMIT`] bytes.
    pub body: Option<String>,
    source: Part<Option<Error>, { Causes::COUNT }>,
}

impl Deref for Error {
    type Target = ErrorDetails;

    fn deref(&self) -> &ErrorDetails {
        &self.0
    }
}

impl Error {
    /// The most bytes of an error response's body that are kept.
    pub const BODY_LIMIT: usize = 64 * 1024;

    /// An error with a message.
    pub fn new(code: ErrorCode, message: &str) -> Self {
        Self(Box::new(ErrorDetails {
            code,
            message: message.to_owned(),
            status: None,
            body: None,
            source: Part::default(),
        }))
    }

    /// An error with a message of several parts.
    pub(crate) fn of(code: ErrorCode, parts: &[&str]) -> Self {
        Self::new(code, &sentence(parts))
    }

    /// The same error with the status of its response.
    #[must_use]
    pub fn with_status(mut self, status: Option<u16>) -> Self {
        self.0.status = status;
        self
    }

    /// The same error with its response.
    #[must_use]
    pub fn with_response(self, status: u16, body: &str) -> Self {
        self.with_status(Some(status)).with_body(body)
    }

    /// The same error with the failure behind it, except in the npm package's module.
    #[must_use]
    pub fn with_source(mut self, source: Option<Error>) -> Self {
        if let Some(kept) = self.0.source.get_mut() {
            *kept = source;
        }
        self
    }

    /// The failure behind this one, for instance of the last attempt to reconnect.
    #[must_use]
    pub fn cause(&self) -> Option<&Error> {
        self.0.source.get()?.as_ref()
    }

    /// The same error, whose message also names the URL that was asked, without its query.
    #[cfg(target_arch = "wasm32")]
    #[must_use]
    pub(crate) fn with_url(mut self, url: &str) -> Self {
        let end = url.bytes().position(|byte| byte == b'?').unwrap_or(url.len());
        self.0.message = [&*self.0.message, " (", &url[..end], ")"].concat();
        self
    }

    /// The same error with the body of its response, cut to the limit.
    #[must_use]
    pub(crate) fn with_body(mut self, body: &str) -> Self {
        let mut end = body.len().min(Self::BODY_LIMIT);
        while !body.is_char_boundary(end) {
            end -= 1;
        }
        self.0.body = body.get(..end).map(str::to_owned);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause().map(|source| source as _)
    }
}

/// As `{ code, message, status?, source? }`.
impl serde::Serialize for Error {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut error = serializer.serialize_map(None)?;
        error.serialize_entry("code", self.code.as_str())?;
        error.serialize_entry("message", &self.message)?;
        if let Some(status) = self.status {
            error.serialize_entry("status", &status)?;
        }
        if let Some(source) = self.cause() {
            error.serialize_entry("source", source)?;
        }
        error.end()
    }
}

/// The result of fallible functions of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Joins the parts of a message. `format!` would bring the formatting code into the module, and `concat` is four
/// times as large.
pub(crate) fn sentence(parts: &[&str]) -> String {
    let mut sentence = String::new();
    for part in parts {
        sentence.push_str(part);
    }
    sentence
}
