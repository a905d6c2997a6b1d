//! Threads of tirea: list, read, rename, delete, interrupt.

use axum::Json;
use axum::extract::{Path, Query};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::call::Call;
use super::super::error::Refusal;
use super::super::message::Message;
use super::super::paging::Paging;
use super::super::server::Dialect;
use super::super::threads::{Content, Labels, Queued};
use super::accepted;
use crate::json;
use crate::turns::Stop;

type Answer = Result<Response, Refusal>;

/// The most threads of a list of summaries.
const MOST: usize = 200;

#[derive(Debug, Deserialize)]
pub(super) struct Listing {
    parent_thread_id: Option<String>,
}

/// `GET /v1/threads`: ids in their own order.
pub(super) async fn list(call: Call, Query(listing): Query<Listing>, Query(paging): Query<Paging>) -> Answer {
    let parent = listing.parent_thread_id;
    let mut threads = call.own.all(call.server);
    threads.retain(|thread| parent.is_none() || thread.content().labels.parent_thread_id == parent);
    let page = paging.page_at_offset(threads.iter().map(|thread| &thread.id).collect());
    Ok(Json(json!({"items": page.items, "total": page.total, "has_more": page.more})).into_response())
}

/// `GET /v1/threads/summaries`: newest first, without those of sub-agents.
pub(super) async fn summaries(call: Call) -> Answer {
    let threads = call.own.all(call.server);
    let mut summaries: Vec<(u64, Value)> = threads
        .iter()
        .take(MOST)
        .filter_map(|thread| {
            let content = thread.content();
            content
                .labels
                .parent_thread_id
                .is_none()
                .then(|| (content.writes.updated_at, summary(&thread.id, &content)))
        })
        .collect();
    summaries.sort_by_key(|(updated_at, _)| std::cmp::Reverse(*updated_at));
    let summaries: Vec<Value> = summaries.into_iter().map(|(_, summary)| summary).collect();
    Ok(Json(summaries).into_response())
}

fn summary(id: &str, content: &Content) -> Value {
    json!({
        "id": id,
        "title": content.labels.title,
        "updated_at": content.writes.updated_at,
        "created_at": content.writes.created_at,
        "message_count": content.messages.len(),
    })
}

/// `GET /v1/threads/{id}`
pub(super) async fn get(call: Call, Path(id): Path<String>) -> Answer {
    let thread = call.thread(&id)?;
    let content = thread.content();
    let messages: Vec<Value> = content.messages.iter().map(|message| message.show(Dialect::Tirea)).collect();
    let mut state = content.state.clone();
    if let Some(run) = state.get_mut("__run").and_then(Value::as_object_mut) {
        run.remove("id");
    }
    let mut shown = json!({"id": id, "messages": messages, "state": state, "metadata": metadata(&content)});
    let Labels { parent_thread_id, resource_id, .. } = &content.labels;
    let optional = [("parent_thread_id", parent_thread_id.as_ref()), ("resource_id", resource_id.as_ref())];
    json::add(&mut shown, optional);
    Ok(Json(shown).into_response())
}

fn metadata(content: &Content) -> Value {
    let mut metadata =
        json!({"created_at": content.writes.created_at, "updated_at": content.writes.updated_at});
    json::add(&mut metadata, [("title", content.labels.title.as_ref())]);
    metadata
}

#[derive(Debug, Deserialize)]
pub(super) struct Reading {
    after: Option<i64>,
    before: Option<i64>,
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
    call: Call,
    Path(id): Path<String>,
    Query(reading): Query<Reading>,
    Query(paging): Query<Paging>,
) -> Answer {
    let thread = call.thread(&id)?;
    let content = thread.content();
    let mut fitting: Vec<(i64, &Message)> =
        (0..).zip(&content.messages).filter(|(cursor, message)| reading.fits(*cursor, message)).collect();
    if reading.order.as_deref() == Some("desc") {
        fitting.reverse();
    }
    let limit = paging.limit();
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
pub(super) async fn rename(call: Call, Path(id): Path<String>, Json(rename): Json<Rename>) -> Answer {
    let thread = call.thread(&id)?;
    let mut content = thread.content();
    content.labels.title = rename.title.or(content.labels.title.take());
    content.writes.version += 1;
    Ok(Json(metadata(&content)).into_response())
}

/// `DELETE /v1/threads/{id}`: also one that is not there.
pub(super) async fn delete(call: Call, Path(id): Path<String>) -> Answer {
    call.own.remove(&call.store, call.server, &id);
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// `POST /v1/threads/{id}/interrupt`: cancels what runs there, also if nothing does.
pub(super) async fn interrupt(call: Call, Path(id): Path<String>) -> Answer {
    let (cancelled, generation, superseded) = match call.thread(&id) {
        Ok(thread) => {
            let mut content = thread.content();
            content.runs.generation += 1;
            let live = content.runs.live.clone().filter(|run| run.is_live());
            let waited: Vec<String> = content.runs.queue.drain(..).map(|queued| queued.entry).collect();
            (live, content.runs.generation, waited)
        }
        Err(_) => (None, 1, Vec::new()),
    };
    if let Some(run) = &cancelled {
        run.turn.stop(Stop::Cancelled);
    }
    accepted(&json!({
        "status": "interrupt_requested",
        "thread_id": id,
        "generation": generation,
        "cancelled_run_id": cancelled.map(|run| run.id.clone()),
        "superseded_pending_count": superseded.len(),
        "superseded_pending_entry_ids": superseded,
    }))
}

/// `GET /v1/threads/{id}/mailbox`: the runs that wait for the thread to be free.
pub(super) async fn mailbox(call: Call, Path(id): Path<String>) -> Answer {
    let queue = call.thread(&id).map(|thread| thread.content().runs.queue.clone());
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
