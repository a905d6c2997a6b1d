//! The calls of a client to a server, and their HTTP requests.

use crate::json::ObjectWriter;

/// A call of a client to a server. A protocol without such a request returns
/// [`ErrorCode::Unsupported`](crate::ErrorCode::Unsupported).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Call {
    /// Creates a session for a saved agent.
    CreateSession,
    /// Lists sessions of an agent.
    ListSessions,
    /// Reads a session.
    GetSession,
    /// Cancels a session's running turn.
    CancelSession,
    /// Lists a session's turns, newest first.
    ListTurns,
    /// Starts a turn and streams it.
    CreateTurnStream,
    /// Starts a turn without a stream.
    CreateTurn,
    /// Reads a turn.
    GetTurn,
    /// Streams a started turn after a sequence number.
    SubscribeTurn,
    /// Lists a finished turn's events.
    ListTurnEvents,
    /// Lists the events of all finished turns of a session.
    ListSessionEvents,
    /// Creates a session whose agent can still be changed.
    CreateDraftSession,
    /// Lists drafts.
    ListDraftSessions,
    /// Reads a draft.
    GetDraftSession,
    /// Changes a draft's agent.
    UpdateDraftSession,
    /// Lists the caller's sessions and drafts.
    ListOwnedSessions,
    /// Searches sessions and drafts.
    SearchSessions,
    /// Reads a file from a sandbox.
    DownloadSandboxFile,
    /// Deletes a session.
    DeleteSession,
    /// Cancels one turn.
    CancelTurn,
    /// Stops the running turn of a session, which continues.
    InterruptSession,
    /// Answers waiting calls of a turn that still runs, or that the answer continues.
    AnswerTurn,
    /// Sets a session's title.
    RenameSession,
    /// Reads the state of a session's agent.
    GetSessionState,
    /// Lists the messages that the server keeps of a session.
    ListMessages,
    /// Lists the frames of a turn's stream, from its beginning or after a cursor.
    ListTurnFrames,
    /// Lists the agents of a server, with their capabilities.
    ListAgents,
    /// The first message on a new socket. Every other call gets its response as `connection`.
    Connect,
    /// Sent on a socket that has been silent for a while.
    Ping,
    /// Sends a message to a running turn.
    SteerTurn,
    /// Lists at least the newest of a session's turns, which a start needs to know.
    ListNewestTurns,
    /// Lists the turns of a session that a relay still reads, newest first.
    ListOpenTurns,
}

impl Call {
    /// Every call, in the order of its number.
    pub const ALL: [Self; 32] = [
        Self::CreateSession,
        Self::ListSessions,
        Self::GetSession,
        Self::CancelSession,
        Self::ListTurns,
        Self::CreateTurnStream,
        Self::CreateTurn,
        Self::GetTurn,
        Self::SubscribeTurn,
        Self::ListTurnEvents,
        Self::ListSessionEvents,
        Self::CreateDraftSession,
        Self::ListDraftSessions,
        Self::GetDraftSession,
        Self::UpdateDraftSession,
        Self::ListOwnedSessions,
        Self::SearchSessions,
        Self::DownloadSandboxFile,
        Self::DeleteSession,
        Self::CancelTurn,
        Self::InterruptSession,
        Self::AnswerTurn,
        Self::RenameSession,
        Self::GetSessionState,
        Self::ListMessages,
        Self::ListTurnFrames,
        Self::ListAgents,
        Self::Connect,
        Self::Ping,
        Self::SteerTurn,
        Self::ListNewestTurns,
        Self::ListOpenTurns,
    ];

    /// Whether the response is an event stream.
    #[must_use]
    pub fn streams(self) -> bool {
        matches!(self, Self::CreateTurnStream | Self::SubscribeTurn)
    }
}

/// An HTTP method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// `GET`
    Get,
    /// `POST`
    Post,
    /// `PATCH`
    Patch,
    /// `DELETE`
    Delete,
}

impl Method {
    /// The method's name on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// An HTTP request, without base URL and credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// Path and query relative to the base URL, percent-encoded, without a leading slash.
    pub path: String,
    /// Headers of this call, except `Authorization`.
    pub headers: Vec<(&'static str, String)>,
    /// The JSON body.
    pub body: Option<String>,
}

impl Request {
    /// The request as JSON: `{ "path", "method", "headers", "body"? }`.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut json = String::new();
        let mut object = ObjectWriter::new(&mut json);
        object.str("path", &self.path).str("method", self.method.as_str());
        let mut headers = ObjectWriter::new(object.member("headers"));
        for (name, value) in &self.headers {
            headers.str(name, value);
        }
        headers.end();
        if let Some(body) = &self.body {
            object.str("body", body);
        }
        object.end();
        json
    }
}
