//! What a client can ask of a server, and the HTTP request that asks it.

use crate::json::ObjectWriter;

/// Everything that a client can ask of a server. A protocol that has no such request answers
/// [`ErrorCode::Unsupported`](crate::ErrorCode::Unsupported).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Call {
    /// Makes a session for a saved agent.
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
    /// Starts a turn and answers at once.
    CreateTurn,
    /// Reads a turn.
    GetTurn,
    /// Streams a started turn after a sequence number.
    SubscribeTurn,
    /// Lists a finished turn's events.
    ListTurnEvents,
    /// Lists the events of all finished turns of a session.
    ListSessionEvents,
    /// Makes a session whose agent is still being written.
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
    /// Reads a file of a sandbox.
    DownloadSandboxFile,
    /// Deletes a session.
    DeleteSession,
    /// Cancels one turn.
    CancelTurn,
    /// Stops whatever runs in a session, which goes on.
    InterruptSession,
    /// Answers calls that wait, of a turn that still runs or that goes on by the answer.
    AnswerTurn,
    /// Gives a session a title.
    RenameSession,
    /// Reads the state that a session's agent keeps.
    GetSessionState,
    /// Lists a session's messages as the server keeps them.
    ListMessages,
    /// Lists what a turn's stream brought, from its beginning, or after a cursor.
    ListTurnFrames,
    /// Lists the agents that a server has, with what each of them can do.
    ListAgents,
    /// What a new socket says first. What it answers every other call is told as `connection`.
    Connect,
    /// What a socket says when it has heard nothing for a while.
    Ping,
    /// Says more to a turn that runs.
    SteerTurn,
    /// Lists at least the newest of a session's turns: what a start has to know before it.
    ListNewestTurns,
}

impl Call {
    /// Every call, in the order of its number.
    pub const ALL: [Self; 31] = [
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
    ];

    /// Whether the answer is an event stream.
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

/// An HTTP request, as yet without base URL and credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// Path and query below the base URL, percent-encoded, without a leading slash.
    pub path: String,
    /// Headers of this call, apart from the `Authorization`.
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
