//! The methods of threads: start or resume, get, history, unsubscribe.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::asked::Asked;
use super::envelope::{Failure, notification};
use super::reply::Reply;
use super::thread::{Left, Settings, Thread};
use super::workspace::WORKSPACE;

/// The only sandbox policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) enum Sandbox {
    FullAccess,
}

#[derive(Debug, Deserialize)]
struct Start {
    thread_id: String,
    workspace_id: String,
    #[serde(rename = "sandbox")]
    _sandbox: Option<Sandbox>,
    #[serde(flatten)]
    settings: Settings,
}

/// `thread/start`: makes a thread, or loads one; in either case this socket is subscribed from then on.
pub(super) fn start(asked: &Asked<'_>, reply: Reply) {
    match open(asked) {
        Err(failure) => reply.fail(&failure),
        Ok(thread) => {
            // No notification may be sent between the subscription, this snapshot, and the response.
            let mut state = thread.state();
            state.subscribe(asked.peer.number, &asked.peer.outbox);
            let shown = thread.show(&state);
            reply.ok(json!({"thread": shown, "sandbox": {"mode": "FullAccess"}}));
            asked.peer.outbox.send(notification("thread/started", json!({"thread": shown})));
        }
    }
}

fn open(asked: &Asked<'_>) -> Result<Arc<Thread>, Failure> {
    let start: Start = asked.request.params()?;
    asked.required("thread_id", &start.thread_id)?;
    asked.required("workspace_id", &start.workspace_id)?;
    if start.workspace_id != WORKSPACE {
        let message = format!("failed to start thread: workspace `{}` was not found", start.workspace_id);
        return Err(Failure::refused(message));
    }
    let thread = asked.app.own.find_or_make(&asked.app.store, &start.thread_id, start.settings);
    asked.open.leave(&thread.id);
    asked.open.join(&thread.id);
    Ok(thread)
}

#[derive(Debug, Deserialize)]
struct Get {
    thread_id: String,
    limit: Option<usize>,
}

fn find(asked: &Asked<'_>) -> Result<(Arc<Thread>, Get), Failure> {
    let get: Get = asked.request.params()?;
    asked.required("thread_id", &get.thread_id)?;
    let thread = asked.app.own.find(&get.thread_id);
    let missing = || Failure::refused(format!("thread `{}` was not found", get.thread_id));
    Ok((thread.ok_or_else(missing)?, get))
}

/// `thread/get`
pub(super) fn get(asked: &Asked<'_>) -> Result<Value, Failure> {
    let (thread, _) = find(asked)?;
    let state = thread.state();
    Ok(json!({"thread": thread.show(&state)}))
}

/// `thread/history`: the events of all turns, oldest first; with a limit the latest of them.
pub(super) fn history(asked: &Asked<'_>) -> Result<Value, Failure> {
    let (thread, get) = find(asked)?;
    let state = thread.state();
    let mut events: Vec<Value> =
        state.turns.iter().flat_map(|turn| turn.history(thread.place(&turn.id))).collect();
    if let Some(limit) = get.limit {
        events.drain(..events.len().saturating_sub(limit));
    }
    Ok(json!({"workspace_id": WORKSPACE, "thread_id": thread.id, "events": events}))
}

#[derive(Debug, Deserialize)]
struct Unsubscribe {
    #[serde(rename = "threadId")]
    thread_id: String,
}

/// `thread/unsubscribe`
pub(super) fn unsubscribe(asked: &Asked<'_>, reply: Reply) {
    let params: Result<Unsubscribe, Failure> = asked.request.params();
    let params = params.and_then(|params| asked.required("threadId", &params.thread_id).map(|()| params));
    let id = match params {
        Ok(params) => params.thread_id,
        Err(failure) => return reply.fail(&failure),
    };
    let thread = asked.app.own.find(&id);
    let left = thread.map_or(Left::NotLoaded, |thread| thread.leave(asked.peer.number));
    let (status, unloaded) = match left {
        Left::NotLoaded => ("notLoaded", false),
        Left::NotSubscribed => ("notSubscribed", false),
        Left::Unsubscribed { unloaded } => ("unsubscribed", unloaded),
    };
    asked.open.leave(&id);
    reply.ok(json!({"status": status}));
    if unloaded {
        let params = json!({"workspaceId": WORKSPACE, "threadId": id});
        asked.peer.outbox.send(notification("thread/closed", params));
    }
}
