//! What the relay must know of the protocols whose sockets it holds. Everything else passes unread.

use crate::route::Protocol;

/// The method names of a protocol.
#[derive(Debug)]
pub struct Words {
    /// The request that greets the agent. It may be sent once per connection, so later readers get the first response.
    pub(super) greeting: &'static str,
    /// The notification that follows the greeting, also once.
    pub(super) greeted: &'static str,
    /// The request that subscribes a reader to a thread.
    pub(super) subscribe: &'static str,
    /// The notification that a request of the agent is settled. Its `requestId` is the request's id.
    pub(super) settled: &'static str,
    /// The notification that begins a turn, and those that end it.
    pub(super) begins: &'static str,
    pub(super) ends: &'static [&'static str],
    /// The parameters that name a thread.
    pub(super) thread: &'static [&'static str],
}

/// The protocols over sockets, each with its method names.
const SPOKEN: &[(Protocol, Words)] = &[(Protocol::Codex, CODEX), (Protocol::TurnRpc, TURN_RPC)];

/// Codex app-server, as of version 0.169.
const CODEX: Words = Words {
    greeting: "initialize",
    greeted: "initialized",
    subscribe: "thread/resume",
    settled: "serverRequest/resolved",
    begins: "turn/started",
    ends: &["turn/completed"],
    thread: &["threadId"],
};

/// The JSON-RPC turn gateway. It has no greeting and sends no requests.
const TURN_RPC: Words = Words {
    greeting: "",
    greeted: "",
    subscribe: "thread/start",
    settled: "",
    begins: "turn/started",
    ends: &["turn/completed", "turn/failed"],
    thread: &["thread_id", "threadId"],
};

impl Words {
    /// The method names of a protocol that uses sockets.
    #[must_use]
    pub fn of(protocol: Protocol) -> Option<&'static Self> {
        SPOKEN.iter().find(|(spoken, _)| *spoken == protocol).map(|(_, words)| words)
    }
}
