//! Threads of awaken: make, list, read, change, delete, interrupt.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::call::Call;
use super::super::error::Refusal;
use super::super::message::{Message, message_id};
use super::super::paging::{Page, Paging};
use super::super::run::RunStatus;
use super::super::server::Dialect;
use super::super::threads::{Content, Thread};
use super::named::active_run;
use crate::json;

type Answer = Result<Response, Refusal>;

#[derive(Debug, Deserialize)]
pub(super) struct Listing {
    #[serde(alias = "resourceId")]
    resource_id: Option<String>,
    #[serde(alias = "parentThreadId")]
    parent_thread_id: Option<String>,
    #[serde(default)]
    root: bool,
}

impl Listing {
    fn fits(&self, content: &Content) -> bool {
        let parent = self.parent_thread_id.as_ref();
        (!self.root || content.labels.parent_thread_id.is_none())
            && parent.is_none_or(|id| content.labels.parent_thread_id.as_ref() == Some(id))
            && self.resource_id.as_ref().is_none_or(|id| content.labels.resource_id.as_ref() == Some(id))
    }

    fn page(&self, call: &Call, paging: &Paging) -> Result<Page<Arc<Thread>>, Refusal> {
        if self.root && self.parent_thread_id.is_some() {
            return call.bad("root=true cannot be combined with parentThreadId");
        }
        let threads = call.own.all(call.server).into_iter();
        paging.page(threads.filter(|thread| self.fits(&thread.content())).collect())
    }
}

fn list_of<T>(page: &Page<T>, items: &[Value]) -> Response {
    let list = json!({
        "items": items,
        "offset": page.offset,
        "limit": page.limit,
        "total": page.total,
        "has_more": page.more,
        "next_cursor": page.next,
    });
    Json(list).into_response()
}

/// `GET /v1/threads`: ids.
pub(super) async fn list(call: Call, Query(listing): Query<Listing>, Query(paging): Query<Paging>) -> Answer {
    let page = listing.page(&call, &paging)?;
    let items: Vec<Value> = page.items.iter().map(|thread| json!(thread.id)).collect();
    Ok(list_of(&page, &items))
}

/// `GET /v1/threads/summaries`
pub(super) async fn summaries(
    call: Call,
    Query(listing): Query<Listing>,
    Query(paging): Query<Paging>,
) -> Answer {
    let page = listing.page(&call, &paging)?;
    let items: Vec<Value> = page.items.iter().map(|thread| summary(&call, thread)).collect();
    Ok(list_of(&page, &items))
}

fn summary(call: &Call, thread: &Thread) -> Value {
    let content = thread.content();
    let run = content.runs.latest.as_ref().and_then(|run| call.own.run(thread.server, run));
    json!({
        "id": thread.id,
        "resource_id": content.labels.resource_id,
        "parent_thread_id": content.labels.parent_thread_id,
        "title": content.labels.title,
        "updated_at": content.writes.updated_at,
        "agent_id": run.map(|run| run.agent.clone()),
    })
}

#[derive(Debug, Deserialize)]
pub(super) struct NewThread {
    #[serde(default)]
    title: Option<String>,
    #[serde(default, alias = "resourceId")]
    resource_id: Option<String>,
    #[serde(default, alias = "parentThreadId")]
    parent_thread_id: Option<String>,
}

/// `POST /v1/threads`
pub(super) async fn create(call: Call, Json(new): Json<NewThread>) -> Answer {
    let thread = call.own.obtain(&call.store, call.server, &message_id(), "");
    {
        let mut content = thread.content();
        content.labels.title = new.title;
        content.labels.resource_id = new.resource_id;
        content.labels.parent_thread_id = new.parent_thread_id;
    }
    Ok((StatusCode::CREATED, Json(show(&call, &thread))).into_response())
}

/// `GET /v1/threads/{id}`: without its messages.
pub(super) async fn get(call: Call, Path(id): Path<String>) -> Answer {
    let thread = call.thread(&id)?;
    Ok(Json(show(&call, &thread)).into_response())
}

fn show(call: &Call, thread: &Thread) -> Value {
    let open = active_run(call, thread);
    let content = thread.content();
    let mut shown = json!({
        "id": thread.id,
        "metadata": {"created_at": content.writes.created_at, "updated_at": content.writes.updated_at},
    });
    json::add(&mut shown["metadata"], [("title", content.labels.title.as_ref())]);
    let running = open.as_ref().filter(|run| run.record().status == RunStatus::Running);
    let optional = [
        ("resource_id", content.labels.resource_id.as_ref()),
        ("parent_thread_id", content.labels.parent_thread_id.as_ref()),
        ("active_run_id", running.map(|run| &run.id)),
        ("open_run_id", open.as_ref().map(|run| &run.id)),
        ("latest_run_id", content.runs.latest.as_ref()),
    ];
    json::add(&mut shown, optional);
    shown
}

#[derive(Debug, Deserialize)]
pub(super) struct Update {
    #[serde(default)]
    title: Option<String>,
}

/// `PATCH /v1/threads/{id}/metadata`
pub(super) async fn update(call: Call, Path(id): Path<String>, Json(update): Json<Update>) -> Answer {
    let thread = call.thread(&id)?;
    {
        let mut content = thread.content();
        content.labels.title = update.title.or(content.labels.title.take());
        content.writes.touch();
    }
    Ok(Json(show(&call, &thread)).into_response())
}

/// `DELETE /v1/threads/{id}`
pub(super) async fn delete(call: Call, Path(id): Path<String>) -> Answer {
    if call.own.remove(&call.store, call.server, &id) {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    Err(Refusal::no_thread(&id))
}

#[derive(Debug, Deserialize)]
pub(super) struct Reading {
    visibility: Option<String>,
    after: Option<u64>,
    before: Option<u64>,
    order: Option<String>,
    #[serde(alias = "runId")]
    run_id: Option<String>,
}

impl Reading {
    /// Positions count from 1.
    fn fits(&self, position: u64, message: &Message) -> bool {
        let visible = match self.visibility.as_deref().map(str::to_lowercase).as_deref() {
            Some("all") => true,
            Some("internal") => message.internal,
            _ => !message.internal,
        };
        visible
            && self.after.is_none_or(|after| position > after)
            && self.before.is_none_or(|before| position < before)
            && self.run_id.as_ref().is_none_or(|run| message.run_id.as_ref() == Some(run))
    }
}

/// `GET /v1/threads/{id}/messages`
pub(super) async fn messages(
    call: Call,
    Path(id): Path<String>,
    Query(reading): Query<Reading>,
    Query(paging): Query<Paging>,
) -> Answer {
    let thread = call.thread(&id)?;
    let newest_first = match reading.order.as_deref().map(str::trim).filter(|order| !order.is_empty()) {
        None => false,
        Some(order) if order.eq_ignore_ascii_case("asc") => false,
        Some(order) if order.eq_ignore_ascii_case("desc") => true,
        Some(_) => return call.bad("order must be asc or desc"),
    };
    let content = thread.content();
    let messages = (1..).zip(&content.messages);
    let mut fitting: Vec<Value> = messages
        .filter(|(position, message)| reading.fits(*position, message))
        .map(|(_, message)| message.show(Dialect::Awaken))
        .collect();
    if newest_first {
        fitting.reverse();
    }
    let page = paging.page(fitting)?;
    let list = json!({
        "messages": page.items,
        "total": page.total,
        "has_more": page.more,
        "next_cursor": page.next,
    });
    Ok(Json(list).into_response())
}
