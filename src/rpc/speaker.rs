//! What a connection needs to know of the protocol that is spoken on it.

use std::fmt::Debug;

use crate::error::Result;

use super::Messages;

/// A protocol over a socket. Parameters, facts, responses and results are JSON.
pub trait Speaker {
    /// What a client can ask.
    type Call: Copy + Debug + PartialEq;
    /// The call that greets the server; its result are the facts of the connection.
    const GREETING: Self::Call;
    /// A call without effect, which asks for a sign of life.
    const PING: Self::Call;
    /// The call whose result is the record of a thread: an object with `id` and `created_at`. The response to a
    /// subscription reads like its response.
    const RECORD: Self::Call;

    /// Whether a relay holds the socket to the server, so that a client speaks the relay's
    /// [subprotocol](super::SUBPROTOCOL).
    fn is_held(&self) -> bool;

    /// Whether the response to a call is followed by a stream.
    fn streams(call: Self::Call) -> bool;

    /// The result of a call that needs no server.
    fn local(&self, call: Self::Call, params: &str) -> Option<String>;

    /// What a call says on a connection with these facts.
    fn messages(&self, call: Self::Call, params: &str, facts: &str) -> Result<Messages>;

    /// Reads the response to the first request of a call. Returns its result, or nothing if a stream follows. Fails with
    /// the server's error.
    fn read(&self, call: Self::Call, params: &str, response: &str) -> Result<String>;

    /// Whether messages with this method are for the readers of all threads.
    fn is_for_all(&self, method: &str) -> bool;

    /// The thread that the server has unloaded, if this message says so.
    fn unloaded(&self, method: &str, message: &str) -> Option<String>;
}
