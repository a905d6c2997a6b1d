//! Which requests may pass: one table for each protocol. All other requests are refused before an agent receives them.
//!
//! A path is matched segment by segment and rebuilt from the match, so that an agent never gets a path that it could
//! interpret differently than the relay.

mod body;
mod ends;
mod path;
mod rest;
mod tables;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use axum::http::Method;

pub(crate) use body::{Named, StartBody};
pub(crate) use ends::Mark;
pub(crate) use path::{Matched, Unmatched, query};
pub(crate) use rest::Request;

/// The protocol of an agent's server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// The Agent Application Protocol.
    Aap,
    /// `AgentEvent` as tirea speaks it.
    Tirea,
    /// `AgentEvent` as awaken speaks it.
    Awaken,
    /// The `TrueFoundry` gateway.
    TrueFoundry,
    /// `TrueForge`, its open-source sibling.
    TrueForge,
    /// AG-UI.
    AgUi,
    /// JSON-RPC over a socket.
    TurnRpc,
    /// Codex app-server, over a socket.
    Codex,
}

const NAMES: [(&str, Protocol); 8] = [
    ("aap", Protocol::Aap),
    ("tirea", Protocol::Tirea),
    ("awaken", Protocol::Awaken),
    ("truefoundry", Protocol::TrueFoundry),
    ("trueforge", Protocol::TrueForge),
    ("ag-ui", Protocol::AgUi),
    ("turn-rpc", Protocol::TurnRpc),
    ("codex", Protocol::Codex),
];

impl FromStr for Protocol {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = NAMES.iter().find(|(name, _)| *name == text);
        known.map(|&(_, protocol)| protocol).ok_or_else(|| {
            let names: Vec<&str> = NAMES.iter().map(|&(name, _)| name).collect();
            format!("`{text}` is not spoken here; these are: {}", names.join(", "))
        })
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMES.iter().find(|(_, protocol)| protocol == self).map_or("", |&(name, _)| name);
        f.write_str(name)
    }
}

impl Protocol {
    /// Whether a turn is lost when its connection breaks, unless the relay keeps it.
    pub(crate) fn needs_log(self) -> bool {
        matches!(self, Self::Aap | Self::Tirea)
    }

    /// Whether it uses a WebSocket.
    pub(crate) fn is_socket(self) -> bool {
        matches!(self, Self::TurnRpc | Self::Codex)
    }

    /// The request that asks the agent to end a turn. If there is none, closing the connection is all that can be done.
    pub(crate) fn cancel(self, session: Option<&str>, turn: &str) -> Option<Request> {
        let (target, body) = match self {
            Self::Tirea => (format!("/v1/runs/{}/cancel", path::encoded(turn)), None),
            // Only the last turn of a session can be running.
            Self::TrueFoundry => {
                (format!("/v1/agents/sessions/{}/cancel", path::encoded(session?)), Some("{}"))
            }
            Self::TrueForge => (format!("/api/v1/sessions/{}/cancel", path::encoded(session?)), Some("{}")),
            _ => return None,
        };
        Some(Request { method: Method::POST, target, body: body.map(str::to_owned) })
    }

    /// The request that checks whether a session exists, if clients choose the ids of sessions.
    pub(crate) fn probe(self, session: &str) -> Option<String> {
        match self {
            Self::Tirea | Self::Awaken => Some(format!("/v1/threads/{}", path::encoded(session))),
            _ => None,
        }
    }

    /// The request that returns a turn's session, and where the response names it.
    pub(crate) fn record(self, turn: &str) -> Option<(String, &'static str)> {
        match self {
            Self::Tirea | Self::Awaken => Some((format!("/v1/runs/{}", path::encoded(turn)), "/thread_id")),
            _ => None,
        }
    }
}

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Concerns no user's data.
    Public,
    /// Creates a session; the pointer finds its id in the response.
    Create(&'static str),
    /// Lists sessions: where the list is in the response, and where the id is in each.
    List(&'static str, &'static str),
    /// Starts a turn.
    Start,
    /// Reads the rest of a turn from an agent that keeps it.
    Attach,
    /// Reads, changes, answers or cancels something in a session.
    Use,
    /// Reads a turn or a session as a stream.
    Stream,
    /// Removes a session.
    Delete,
    /// Opens a socket.
    Socket,
}

/// Where a request names its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Nowhere: it concerns none, or a new one.
    Nowhere,
    /// In the segment `{session}`.
    Session,
    /// In the segment `{turn}`, which names a turn of the session.
    Turn,
    /// In this parameter of the query.
    Query(&'static str),
    /// In its body.
    Body,
}

/// A request that may pass.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Route {
    pub(crate) method: &'static str,
    pub(crate) pattern: &'static str,
    pub(crate) action: Action,
    pub(crate) place: Place,
    /// The keys that a body may have; empty for any. Other keys may name other users' data.
    pub(crate) keys: &'static [&'static str],
}

#[cfg(test)]
impl Protocol {
    pub(crate) const ALL: [Self; NAMES.len()] = {
        let mut all = [Self::Aap; NAMES.len()];
        let mut place = 0;
        while place < all.len() {
            all[place] = NAMES[place].1;
            place += 1;
        }
        all
    };

    /// All requests that may pass.
    pub(crate) fn routes(self) -> &'static [Route] {
        tables::of(self)
    }
}

impl Protocol {
    /// Finds the route of a request, by its path below the agent's base.
    pub(crate) fn route(self, method: &Method, path: &str) -> Result<Matched, Unmatched> {
        path::matched(tables::of(self), method, path)
    }
}
