//! What a call says over a socket, as yet without ids.

/// A message of the client's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// Wants a response. `params` is a JSON object.
    Request {
        /// The method.
        method: &'static str,
        /// Its parameters.
        params: String,
    },
    /// Wants none.
    Notification {
        /// The method.
        method: &'static str,
        /// Its parameters.
        params: String,
    },
    /// Responds to a request of the server's.
    Response {
        /// The request's id, as the JSON that it was.
        id: String,
        /// The result as JSON.
        result: String,
    },
    /// Responds to a request of the server's that is not to be answered.
    Refusal {
        /// The request's id, as the JSON that it was.
        id: String,
        /// What is wrong, as JSON-RPC numbers it.
        code: i64,
        /// What is wrong.
        message: &'static str,
    },
}

/// What a call says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Messages {
    /// The thread that the call is about; empty if it is about none. A stream gets the messages that name it.
    pub thread: String,
    /// Said before, once in a connection: it makes the connection hear of the thread.
    pub subscribe: Option<Message>,
    /// Whether what this says makes the connection hear of the thread that the response names, or of `thread`.
    pub subscribes: bool,
    /// Whether a server that has lost the thread creates it anew by this, without what was said in it.
    pub recreates_thread: bool,
    /// Said in this order, without waiting between them. The response to the first one is the call's answer; a
    /// stream gets the responses to all of them, in the place in which they come.
    pub list: Vec<Message>,
}

impl Messages {
    /// A call that is one request.
    #[must_use]
    pub fn request(method: &'static str, params: String) -> Self {
        Self { list: vec![Message::Request { method, params }], ..Self::default() }
    }
}
