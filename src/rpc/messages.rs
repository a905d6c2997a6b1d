//! The messages of a call over a socket, before they get ids.

/// A message of the client's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// Expects a response. `params` is a JSON object.
    Request {
        /// The method.
        method: &'static str,
        /// Its parameters.
        params: String,
    },
    /// Expects no response.
    Notification {
        /// The method.
        method: &'static str,
        /// Its parameters.
        params: String,
    },
    /// Responds to a request of the server's.
    Response {
        /// The request's id, as its original JSON.
        id: String,
        /// The result as JSON.
        result: String,
    },
    /// Refuses a request of the server's.
    Refusal {
        /// The request's id, as its original JSON.
        id: String,
        /// The JSON-RPC error code.
        code: i64,
        /// The error's message.
        message: &'static str,
    },
}

/// The messages of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Messages {
    /// The thread of the call; empty if it has none. A stream gets the messages that name its thread.
    pub thread: String,
    /// Sent first, once per connection: it subscribes the connection to the thread.
    pub subscribe: Option<Message>,
    /// Whether this call subscribes the connection, to `thread` or to the thread named in the response.
    pub subscribes: bool,
    /// Whether a server that has lost the thread creates an empty one on this call.
    pub recreates_thread: bool,
    /// Sent in this order, without waiting in between. The response to the first one is the call's; a stream gets the
    /// responses to all of them, in the order in which they arrive.
    pub list: Vec<Message>,
}

impl Messages {
    /// A call with a single request.
    #[must_use]
    pub fn request(method: &'static str, params: String) -> Self {
        Self { list: vec![Message::Request { method, params }], ..Self::default() }
    }
}
