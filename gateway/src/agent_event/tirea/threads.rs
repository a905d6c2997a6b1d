//! Threads of tirea: list, read, rename, delete, interrupt.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::error::{Admitted, Refusal};
use super::super::message::Message;
use super::super::run::Halt;
use super::super::surface::{Dialect, Surface};
use super::super::threads::{Content, Queued, Thread};
use crate::server::App;

type Answer = Result<Response, Refusal>;

/// The most that a list gives at once.
const MOST: usize = 200;

#[derive(Debug, Deserialize)]
pub(super) struct Listing {
    #[serde(default)]
    offset: usize,
    #[serde(default = "fifty")]
    limit: usize,
    parent_thread_id: Option<String>,
}

fn fifty() -> usize {
    50
}

fn find(app: &App, id: &str) -> Result<Arc<Thread>, Refusal> {
    app.threads.thread(Surface::Tirea, id).ok_or_else(|| Refusal::no_thread(id))
}

/// `GET /v1/threads`: ids in their own order.
pub(super) async fn list(State(app): State<App>, _: Admitted, Query(listing): Query<Listing>) -> Answer {
    let threads = app.threads.all(Surface::Tirea);
    let parent = listing.parent_thread_id.as_ref();
    let fits = |thread: &&Arc<Thread>| {
        parent.is_none_or(|id| thread.content().parent_thread_id.as_ref() == Some(id))
    };
    let ids: Vec<&String> = threads.iter().filter(fits).map(|thread| &thread.id).collect();
    let limit = listing.limit.clamp(1, MOST);
    let items: Vec<&&String> = ids.iter().skip(listing.offset).take(limit).collect();
    let more = listing.offset + items.len() < ids.len();
    Ok(Json(json!({"items": items, "total": ids.len(), "has_more": more})).into_response())
}

/// `GET /v1/threads/summaries`: newest first, without those of sub-agents.
pub(super) async fn summaries(State(app): State<App>, _: Admitted) -> Answer {
    let threads = app.threads.all(Surface::Tirea);
    let mut summaries: Vec<(u64, Value)> = threads
        .iter()
        .take(MOST)
        .filter_map(|thread| {
            let content = thread.content();
            content.parent_thread_id.is_none().then(|| (content.updated_at, summary(&thread.id, &content)))
        })
        .collect();
    summaries.sort_by_key(|(updated_at, _)| std::cmp::Reverse(*updated_at));
    let summaries: Vec<Value> = summaries.into_iter().map(|(_, summary)| summary).collect();
    Ok(Json(summaries).into_response())
}

fn summary(id: &str, content: &Content) -> Value {
    json!({
        "id": id,
        "title": content.title,
        "updated_at": content.updated_at,
        "created_at": content.created_at,
        "message_count": content.messages.len(),
    })
}

/// `GET /v1/threads/{id}`
pub(super) async fn get(State(app): State<App>, _: Admitted, Path(id): Path<String>) -> Answer {
    let thread = find(&app, &id)?;
    let content = thread.content();
    let messages: Vec<Value> = content.messages.iter().map(|message| message.show(Dialect::Tirea)).collect();
    let mut state = content.state.clone();
    if let Some(run) = state.get_mut("__run").and_then(Value::as_object_mut) {
        run.remove("id");
    }
    let mut shown = json!({"id": id, "messages": messages, "state": state, "metadata": metadata(&content)});
    for (name, value) in
        [("parent_thread_id", &content.parent_thread_id), ("resource_id", &content.resource_id)]
    {
        if let Some(value) = value {
            shown[name] = json!(value);
        }
    }
    Ok(Json(shown).into_response())
}

fn metadata(content: &Content) -> Value {
    let mut metadata = json!({"created_at": content.created_at, "updated_at": content.updated_at});
    if let Some(title) = &content.title {
        metadata["title"] = json!(title);
    }
    metadata
}

#[derive(Debug, Deserialize)]
pub(super) struct Reading {
    after: Option<i64>,
    before: Option<i64>,
    #[serde(default = "fifty")]
    limit: usize,
    order: Option<String>,
    visibility: Option<String>,
    run_id: Option<String>,
}

impl Reading {
    fn fits(&self, cursor: i64, message: &Message) -> bool {
        let visible = match self.visibility.as_deref() {
            Some("internal") => message.internal,
            Some("none") => true,
            _ => !message.internal,
        };
        visible
            && self.after.is_none_or(|after| cursor > after)
            && self.before.is_none_or(|before| cursor < before)
            && self.run_id.as_ref().is_none_or(|run| message.run_id.as_ref() == Some(run))
    }
}

/// `GET /v1/threads/{id}/messages`: a page of messages with their positions.
pub(super) async fn messages(
    State(app): State<App>,
    _: Admitted,
    Path(id): Path<String>,
    Query(reading): Query<Reading>,
) -> Answer {
    let thread = find(&app, &id)?;
    let content = thread.content();
    let mut fitting: Vec<(i64, &Message)> =
        (0..).zip(&content.messages).filter(|(cursor, message)| reading.fits(*cursor, message)).collect();
    if reading.order.as_deref() == Some("desc") {
        fitting.reverse();
    }
    let limit = reading.limit.clamp(1, MOST);
    let more = fitting.len() > limit;
    fitting.truncate(limit);
    let messages: Vec<Value> = fitting
        .iter()
        .map(|(cursor, message)| {
            let mut shown = message.show(Dialect::Tirea);
            shown["cursor"] = json!(cursor);
            shown
        })
        .collect();
    let mut page = json!({"messages": messages, "has_more": more});
    if let (Some((first, _)), Some((last, _))) = (fitting.first(), fitting.last()) {
        page["prev_cursor"] = json!(first);
        page["next_cursor"] = json!(last);
    }
    Ok(Json(page).into_response())
}

#[derive(Debug, Deserialize)]
pub(super) struct Rename {
    title: Option<String>,
}

/// `PATCH /v1/threads/{id}/metadata`
pub(super) async fn rename(
    State(app): State<App>,
    _: Admitted,
    Path(id): Path<String>,
    Json(rename): Json<Rename>,
) -> Answer {
    let thread = find(&app, &id)?;
    let mut content = thread.content();
    content.title = rename.title.or(content.title.take());
    content.version += 1;
    Ok(Json(metadata(&content)).into_response())
}

/// `DELETE /v1/threads/{id}`: also one that is not there.
pub(super) async fn delete(State(app): State<App>, _: Admitted, Path(id): Path<String>) -> Answer {
    app.threads.remove(&app, Surface::Tirea, &id);
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// `POST /v1/threads/{id}/interrupt`: cancels what runs there, also if nothing does.
pub(super) async fn interrupt(State(app): State<App>, _: Admitted, Path(id): Path<String>) -> Answer {
    let (cancelled, generation, superseded) = match app.threads.thread(Surface::Tirea, &id) {
        Some(thread) => {
            let mut content = thread.content();
            content.generation += 1;
            let live = content.live.clone().filter(|run| run.is_live());
            let waited: Vec<String> = content.queue.drain(..).map(|queued| queued.entry).collect();
            (live, content.generation, waited)
        }
        None => (None, 1, Vec::new()),
    };
    if let Some(run) = &cancelled {
        run.halt(Halt::Cancelled);
    }
    let answer = json!({
        "status": "interrupt_requested",
        "thread_id": id,
        "generation": generation,
        "cancelled_run_id": cancelled.map(|run| run.id.clone()),
        "superseded_pending_count": superseded.len(),
        "superseded_pending_entry_ids": superseded,
    });
    Ok((StatusCode::ACCEPTED, Json(answer)).into_response())
}

/// `GET /v1/threads/{id}/mailbox`: the runs that wait for the thread to be free.
pub(super) async fn mailbox(State(app): State<App>, _: Admitted, Path(id): Path<String>) -> Answer {
    let queue = app.threads.thread(Surface::Tirea, &id).map(|thread| thread.content().queue.clone());
    let items: Vec<Value> = queue.iter().flatten().map(|queued| entry(&id, queued)).collect();
    Ok(Json(json!({"items": items, "total": items.len(), "has_more": false})).into_response())
}

fn entry(thread: &str, queued: &Queued) -> Value {
    let messages: Vec<Value> = queued.messages.iter().map(|message| message.show(Dialect::Tirea)).collect();
    json!({
        "entry_id": queued.entry,
        "mailbox_id": thread,
        "origin": "external",
        "status": "queued",
        "attempt_count": 1,
        "last_error": "thread busy during sweep",
        "priority": 0,
        "generation": 0,
        "available_at": queued.created_at,
        "created_at": queued.created_at,
        "updated_at": queued.created_at,
        "payload": {
            "agent_id": queued.agent,
            "thread_id": thread,
            "run_id": queued.run,
            "parent_run_id": queued.parent,
            "parent_thread_id": null,
            "resource_id": null,
            "origin": "user",
            "state": null,
            "messages": messages,
            "initial_decisions": [],
        },
    })
}
