//! What the relay has to know of the protocols that it holds sockets of. All else passes unread.

use crate::route::Protocol;

/// The words of a protocol.
#[derive(Debug)]
pub struct Words {
    /// The request that greets the agent. It may be sent once in a connection, so that later readers get the first answer.
    pub(super) greeting: &'static str,
    /// The notification that follows the greeting, once as well.
    pub(super) greeted: &'static str,
    /// The request after which a reader hears of a thread.
    pub(super) subscribe: &'static str,
    /// The notification that a request of the agent is settled. Its `requestId` is the request's id.
    pub(super) settled: &'static str,
    /// The notification with which a turn begins, and those with which it ends.
    pub(super) begins: &'static str,
    pub(super) ends: &'static [&'static str],
    /// Where parameters name their thread.
    pub(super) thread: &'static [&'static str],
}

/// The protocols over sockets, each with its words.
const SPOKEN: &[(Protocol, Words)] = &[(Protocol::Codex, CODEX), (Protocol::TurnRpc, TURN_RPC)];

/// Codex app-server: its messages as of version 0.169.
const CODEX: Words = Words {
    greeting: "initialize",
    greeted: "initialized",
    subscribe: "thread/resume",
    settled: "serverRequest/resolved",
    begins: "turn/started",
    ends: &["turn/completed"],
    thread: &["threadId"],
};

/// The JSON-RPC turn gateway. It has no greeting, and asks nothing.
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
    /// Those of a protocol, if it is spoken over sockets.
    #[must_use]
    pub fn of(protocol: Protocol) -> Option<&'static Self> {
        SPOKEN.iter().find(|(spoken, _)| *spoken == protocol).map(|(_, words)| words)
    }
}
