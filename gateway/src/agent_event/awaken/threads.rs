//! Threads of awaken: make, list, read, change, delete, interrupt.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::error::{Admitted, Refusal};
use super::super::message::{Message, message_id};
use super::super::run::RunStatus;
use super::super::surface::{Dialect, Surface};
use super::super::threads::{Content, Thread};
use super::On;
use super::paging::{Page, Paging};
use super::runs::{active_run, halt};
use crate::server::App;

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
        (!self.root || content.parent_thread_id.is_none())
            && parent.is_none_or(|id| content.parent_thread_id.as_ref() == Some(id))
            && self.resource_id.as_ref().is_none_or(|id| content.resource_id.as_ref() == Some(id))
    }

    fn page(&self, app: &App, surface: Surface, paging: &Paging) -> Result<Page<Arc<Thread>>, Refusal> {
        if self.root && self.parent_thread_id.is_some() {
            let message = "root=true cannot be combined with parentThreadId";
            return Err(Refusal::bad(Dialect::Awaken, message));
        }
        let threads = app.threads.all(surface).into_iter();
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
pub(super) async fn list(
    State(app): State<App>,
    _: Admitted,
    On(surface): On,
    Query(listing): Query<Listing>,
    Query(paging): Query<Paging>,
) -> Answer {
    let page = listing.page(&app, surface, &paging)?;
    let items: Vec<Value> = page.items.iter().map(|thread| json!(thread.id)).collect();
    Ok(list_of(&page, &items))
}

/// `GET /v1/threads/summaries`
pub(super) async fn summaries(
    State(app): State<App>,
    _: Admitted,
    On(surface): On,
    Query(listing): Query<Listing>,
    Query(paging): Query<Paging>,
) -> Answer {
    let page = listing.page(&app, surface, &paging)?;
    let items: Vec<Value> = page.items.iter().map(|thread| summary(&app, thread)).collect();
    Ok(list_of(&page, &items))
}

fn summary(app: &App, thread: &Thread) -> Value {
    let content = thread.content();
    let run = content.latest_run.as_ref().and_then(|run| app.threads.run(thread.surface, run));
    json!({
        "id": thread.id,
        "resource_id": content.resource_id,
        "parent_thread_id": content.parent_thread_id,
        "title": content.title,
        "updated_at": content.updated_at,
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
pub(super) async fn create(
    State(app): State<App>,
    _: Admitted,
    On(surface): On,
    Json(new): Json<NewThread>,
) -> Answer {
    let thread = app.threads.obtain(&app, surface, &message_id(), "");
    {
        let mut content = thread.content();
        content.title = new.title;
        content.resource_id = new.resource_id;
        content.parent_thread_id = new.parent_thread_id;
    }
    Ok((StatusCode::CREATED, Json(show(&app, &thread))).into_response())
}

fn find(app: &App, surface: Surface, id: &str) -> Result<Arc<Thread>, Refusal> {
    app.threads.thread(surface, id).ok_or_else(|| Refusal::no_thread(id))
}

/// `GET /v1/threads/{id}`: without its messages.
pub(super) async fn get(
    State(app): State<App>,
    _: Admitted,
    On(surface): On,
    Path(id): Path<String>,
) -> Answer {
    let thread = find(&app, surface, &id)?;
    Ok(Json(show(&app, &thread)).into_response())
}

fn show(app: &App, thread: &Thread) -> Value {
    let open = active_run(app, thread);
    let content = thread.content();
    let mut shown = json!({
        "id": thread.id,
        "metadata": {"created_at": content.created_at, "updated_at": content.updated_at},
    });
    if let Some(title) = &content.title {
        shown["metadata"]["title"] = json!(title);
    }
    let running = open.as_ref().filter(|run| run.record().status == RunStatus::Running);
    let optional = [
        ("resource_id", content.resource_id.clone()),
        ("parent_thread_id", content.parent_thread_id.clone()),
        ("active_run_id", running.map(|run| run.id.clone())),
        ("open_run_id", open.as_ref().map(|run| run.id.clone())),
        ("latest_run_id", content.latest_run.clone()),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            shown[name] = json!(value);
        }
    }
    shown
}

#[derive(Debug, Deserialize)]
pub(super) struct Update {
    #[serde(default)]
    title: Option<String>,
}

/// `PATCH /v1/threads/{id}/metadata`
pub(super) async fn update(
    State(app): State<App>,
    _: Admitted,
    On(surface): On,
    Path(id): Path<String>,
    Json(update): Json<Update>,
) -> Answer {
    let thread = find(&app, surface, &id)?;
    {
        let mut content = thread.content();
        content.title = update.title.or(content.title.take());
        content.touch();
    }
    Ok(Json(show(&app, &thread)).into_response())
}

/// `DELETE /v1/threads/{id}`
pub(super) async fn delete(
    State(app): State<App>,
    _: Admitted,
    On(surface): On,
    Path(id): Path<String>,
) -> Answer {
    if app.threads.remove(&app, surface, &id) {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    Err(Refusal::no_thread(&id))
}

/// `POST /v1/threads/{id}/interrupt`
pub(super) async fn interrupt(
    State(app): State<App>,
    _: Admitted,
    On(surface): On,
    Path(id): Path<String>,
) -> Answer {
    let thread = find(&app, surface, &id)?;
    let run = active_run(&app, &thread).ok_or_else(|| Refusal::no_thread(&id))?;
    halt(&app, surface, &run);
    let answer = json!({"status": "interrupt_requested", "thread_id": id, "superseded_dispatches": 0});
    Ok((StatusCode::ACCEPTED, Json(answer)).into_response())
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
    State(app): State<App>,
    _: Admitted,
    On(surface): On,
    Path(id): Path<String>,
    Query(reading): Query<Reading>,
    Query(paging): Query<Paging>,
) -> Answer {
    let thread = find(&app, surface, &id)?;
    let newest_first = match reading.order.as_deref().map(str::trim).filter(|order| !order.is_empty()) {
        None => false,
        Some(order) if order.eq_ignore_ascii_case("asc") => false,
        Some(order) if order.eq_ignore_ascii_case("desc") => true,
        Some(_) => return Err(Refusal::bad(Dialect::Awaken, "order must be asc or desc")),
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
