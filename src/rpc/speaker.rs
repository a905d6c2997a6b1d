//! What a connection needs to know about its protocol.

use std::fmt::Debug;

use crate::error::Result;

use super::Messages;

/// A protocol over a socket. Parameters, facts, responses and results are JSON.
pub trait Speaker {
    /// The kinds of calls.
    type Call: Copy + Debug + PartialEq;
    /// The call that greets the server; its result contains the facts of the connection.
    const GREETING: Self::Call;
    /// A call without effect, to get a sign of life.
    const PING: Self::Call;
    /// The call whose result is the record of a thread: an object with `id` and `created_at`. The response to a
    /// subscription reads like its response.
    const RECORD: Self::Call;

    /// Whether a relay holds the socket to the server, so that a client uses the relay's
    /// [subprotocol](super::SUBPROTOCOL).
    fn is_held(&self) -> bool;

    /// Whether a stream follows the response to a call.
    fn streams(call: Self::Call) -> bool;

    /// The result of a call that needs no server.
    fn local(&self, call: Self::Call, params: &str) -> Option<String>;

    /// The messages of a call on a connection with these facts.
    fn messages(&self, call: Self::Call, params: &str, facts: &str) -> Result<Messages>;

    /// Reads the response to the first request of a call. Returns its result, or an empty text if a stream follows.
    /// Fails with the server's error.
    fn read(&self, call: Self::Call, params: &str, response: &str) -> Result<String>;

    /// Whether messages with this method go to the readers of all threads.
    fn is_for_all(&self, method: &str) -> bool;

    /// The thread that the server has unloaded, according to this message.
    fn unloaded(&self, method: &str, message: &str) -> Option<String>;
}
