//! The tables of requests that may pass.

use super::{Action, Place, Protocol, Route};
use Action::{Attach, Create, Delete, List, Public, Socket, Start, Stream, Use};
use Place::{Body, Nowhere, Query, Session, Turn};

const ANY: &[&str] = &[];

const fn route(method: &'static str, pattern: &'static str, action: Action, place: Place) -> Route {
    Route { method, pattern, action, place, keys: ANY }
}

const fn with_keys(route: Route, keys: &'static [&'static str]) -> Route {
    Route { keys, ..route }
}

/// The routes of a protocol. The first match counts.
pub(super) fn of(protocol: Protocol) -> &'static [Route] {
    match protocol {
        Protocol::Aap => AAP,
        Protocol::Tirea => TIREA,
        Protocol::Awaken => AWAKEN,
        Protocol::TrueFoundry => TRUEFOUNDRY,
        Protocol::TrueForge => TRUEFORGE,
        Protocol::AgUi => AG_UI,
        Protocol::TurnRpc | Protocol::Codex => SOCKETS,
    }
}

const AAP: &[Route] = &[
    route("GET", "meta", Public, Nowhere),
    route("GET", "sessions", List("/sessions", "/sessionId"), Nowhere),
    route("POST", "sessions", Create("/sessionId"), Nowhere),
    route("GET", "sessions/{session}", Use, Session),
    route("DELETE", "sessions/{session}", Delete, Session),
    route("GET", "sessions/{session}/history", Use, Session),
    route("POST", "sessions/{session}/turns", Start, Session),
];

/// The server also accepts these keys in other spellings, and it is unknown which one takes precedence.
const RUN: &[&str] =
    &["agentId", "threadId", "runId", "parentRunId", "state", "messages", "decisions", "initialDecisions"];
/// With a message, this request would start a run that the relay does not follow.
const DECISIONS: &[&str] = &["decisions"];

const TIREA: &[Route] = &[
    route("GET", "v1/threads/summaries", List("", "/id"), Nowhere),
    route("GET", "v1/threads", List("/items", ""), Nowhere),
    route("GET", "v1/threads/{session}", Use, Session),
    route("DELETE", "v1/threads/{session}", Delete, Session),
    route("PATCH", "v1/threads/{session}/metadata", Use, Session),
    route("POST", "v1/threads/{session}/interrupt", Use, Session),
    route("GET", "v1/threads/{session}/messages", Use, Session),
    route("GET", "v1/runs", Use, Query("thread_id")),
    with_keys(route("POST", "v1/runs", Start, Body), RUN),
    route("GET", "v1/runs/{turn}", Use, Turn),
    with_keys(route("POST", "v1/runs/{turn}/inputs", Use, Turn), DECISIONS),
    route("POST", "v1/runs/{turn}/cancel", Use, Turn),
];

const AWAKEN: &[Route] = &[
    route("GET", "v1/threads/summaries", List("/items", "/id"), Nowhere),
    route("GET", "v1/threads/{session}", Use, Session),
    route("DELETE", "v1/threads/{session}", Delete, Session),
    route("PATCH", "v1/threads/{session}/metadata", Use, Session),
    route("POST", "v1/threads/{session}/interrupt", Use, Session),
    route("GET", "v1/threads/{session}/messages", Use, Session),
    route("GET", "v1/threads/{session}/runs", Use, Session),
    route("GET", "v1/threads/{session}/runs/latest", Use, Session),
    with_keys(route("POST", "v1/runs", Start, Body), RUN),
    route("GET", "v1/runs/{turn}", Use, Turn),
    route("POST", "v1/runs/{turn}/cancel", Use, Turn),
    route("POST", "v1/runs/{turn}/decision", Use, Turn),
    route("GET", "v1/runs/{turn}/events", Use, Turn),
    route("GET", "v1/runs/{turn}/events/stream", Stream, Turn),
];

/// Files of sandboxes and searches are left out: their requests name no session.
const TRUEFOUNDRY: &[Route] = &[
    route("POST", "v1/agents/sessions", Create("/data/id"), Nowhere),
    route("GET", "v1/agents/sessions", List("/data", "/id"), Nowhere),
    route("GET", "v1/agents/sessions/{session}", Use, Session),
    route("POST", "v1/agents/sessions/{session}/cancel", Use, Session),
    route("GET", "v1/agents/sessions/{session}/turns", Use, Session),
    route("POST", "v1/agents/sessions/{session}/turns", Start, Session),
    route("GET", "v1/agents/sessions/{session}/turns/{turn}", Use, Session),
    route("POST", "v1/agents/sessions/{session}/turns/{turn}/subscribe", Attach, Session),
    route("GET", "v1/agents/sessions/{session}/turns/{turn}/events", Use, Session),
    route("GET", "v1/agents/sessions/{session}/events", Use, Session),
    route("POST", "v1/agents/draft-sessions", Create("/data/id"), Nowhere),
    route("GET", "v1/agents/draft-sessions", List("/data", "/id"), Nowhere),
    route("GET", "v1/agents/draft-sessions/{session}", Use, Session),
    route("PATCH", "v1/agents/draft-sessions/{session}", Use, Session),
];

/// It also has sessions that are drafts.
const TRUEFORGE: &[Route] = &[
    route("POST", "api/v1/sessions", Create("/data/id"), Nowhere),
    route("GET", "api/v1/sessions", List("/data", "/id"), Nowhere),
    route("GET", "api/v1/sessions/{session}", Use, Session),
    route("PATCH", "api/v1/sessions/{session}", Use, Session),
    route("DELETE", "api/v1/sessions/{session}", Delete, Session),
    route("POST", "api/v1/sessions/{session}/cancel", Use, Session),
    route("GET", "api/v1/sessions/{session}/turns", Use, Session),
    route("POST", "api/v1/sessions/{session}/turns", Start, Session),
    route("GET", "api/v1/sessions/{session}/turns/{turn}", Use, Session),
    route("GET", "api/v1/sessions/{session}/turns/{turn}/subscribe", Attach, Session),
    route("GET", "api/v1/sessions/{session}/turns/{turn}/events", Use, Session),
    route("GET", "api/v1/sessions/{session}/turns/{turn}/download-sandbox-file", Use, Session),
    route("GET", "api/v1/sessions/{session}/events", Use, Session),
];

/// A parent run is left out, as its owner is unknown. Many servers also accept `thread_id`.
const AG_UI_RUN: &[&str] = &[
    "threadId",
    "runId",
    "protocolVersion",
    "state",
    "messages",
    "tools",
    "context",
    "forwardedProps",
    "resume",
];

/// The agent's address is the endpoint itself. `run` and its siblings belong to `CopilotKit`, where the address is the
/// agent's folder; `agent` and `agents/state` belong to ADK, where it is the root.
const AG_UI: &[Route] = &[
    with_keys(route("POST", "", Start, Body), AG_UI_RUN),
    with_keys(route("POST", "run", Start, Body), AG_UI_RUN),
    with_keys(route("POST", "connect", Stream, Body), AG_UI_RUN),
    route("POST", "stop/{session}", Use, Session),
    with_keys(route("POST", "agent", Start, Body), AG_UI_RUN),
    with_keys(route("POST", "agents/state", Use, Body), &["threadId"]),
];

const SOCKETS: &[Route] = &[route("GET", "", Socket, Nowhere)];
