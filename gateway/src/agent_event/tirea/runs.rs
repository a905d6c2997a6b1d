//! Runs of tirea: start and stream, list, feed, cancel.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::decision::Decision;
use super::super::error::{Admitted, Refusal};
use super::super::message::{Message, ToolCall, message_id, plain_id};
use super::super::run::{Halt, Run};
use super::super::start::{Input, Manner, Start, start};
use super::super::stream::{self, refuse_agent};
use super::super::surface::{Dialect, Surface};
use super::super::threads::{Queued, now_ms};
use super::super::traps::Traps;
use crate::http::Output;
use crate::server::App;

type Answer = Result<Response, Refusal>;

/// The body of a start. Both spellings of every field are taken; what is unknown is ignored.
#[derive(Debug, Deserialize)]
pub(super) struct NewRun {
    #[serde(rename = "agentId", alias = "agent_id")]
    agent_id: String,
    #[serde(rename = "threadId", alias = "thread_id", alias = "contextId", alias = "context_id", default)]
    thread_id: Option<String>,
    #[serde(rename = "runId", alias = "run_id", alias = "taskId", alias = "task_id", default)]
    run_id: Option<String>,
    #[serde(rename = "parentRunId", alias = "parent_run_id", default)]
    parent_run_id: Option<String>,
    #[serde(
        rename = "parentThreadId",
        alias = "parent_thread_id",
        alias = "parentContextId",
        alias = "parent_context_id",
        default
    )]
    parent_thread_id: Option<String>,
    #[serde(rename = "resourceId", alias = "resource_id", default)]
    resource_id: Option<String>,
    #[serde(default)]
    state: Option<Value>,
    #[serde(default)]
    messages: Vec<NewMessage>,
    #[serde(rename = "initialDecisions", alias = "initial_decisions", alias = "decisions", default)]
    decisions: Vec<Decision>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    System,
    User,
    Assistant,
    Tool,
}

impl Role {
    fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Visibility {
    #[default]
    All,
    Internal,
}

/// A message as clients send it.
#[derive(Debug, Deserialize)]
struct NewMessage {
    #[serde(default)]
    id: Option<String>,
    role: Role,
    content: String,
    #[serde(default)]
    tool_calls: Option<Vec<NewCall>>,
    #[serde(default)]
    tool_call_id: Option<String>,
    #[serde(default)]
    visibility: Visibility,
}

#[derive(Debug, Deserialize)]
struct NewCall {
    id: String,
    name: String,
    arguments: Value,
}

impl From<NewMessage> for Message {
    fn from(new: NewMessage) -> Self {
        let calls = new.tool_calls.unwrap_or_default().into_iter();
        Self {
            id: new.id,
            role: new.role.as_str(),
            content: new.content,
            tool_calls: calls
                .map(|call| ToolCall { id: call.id, name: call.name, arguments: call.arguments })
                .collect(),
            tool_call_id: new.tool_call_id,
            internal: new.visibility == Visibility::Internal,
            run_id: None,
            step: None,
        }
    }
}

/// An id that is none when it is blank.
fn id(given: Option<String>) -> Option<String> {
    given.map(|id| id.trim().to_owned()).filter(|id| !id.is_empty())
}

fn state(given: Option<Value>) -> Option<Map<String, Value>> {
    match given {
        Some(Value::Object(state)) => Some(state),
        _ => None,
    }
}

/// `POST /v1/runs`: a run starts, and its events are the answer.
pub(super) async fn start_run(
    State(app): State<App>,
    _: Admitted,
    output: Output,
    Json(new): Json<NewRun>,
) -> Answer {
    let agent = new.agent_id.trim().to_owned();
    if agent.is_empty() {
        return Err(Refusal::bad(Dialect::Tirea, "agent_id cannot be empty"));
    }
    refuse_agent(&agent)?;
    let wanted = Start {
        agent,
        thread_id: id(new.thread_id),
        run_id: id(new.run_id),
        parent_run_id: id(new.parent_run_id),
        parent_thread_id: id(new.parent_thread_id),
        input: Input {
            resource_id: id(new.resource_id),
            state: state(new.state),
            messages: new.messages.into_iter().map(Message::from).collect(),
            decisions: new.decisions,
        },
    };
    let manner = Manner { traps: Traps::of(&output.injection), delay: output.delivery.delay };
    let run = start(&app, Surface::Tirea, wanted, manner).await;
    Ok(stream::answer(&app, &run, output, Surface::Tirea))
}

#[derive(Debug, Deserialize)]
pub(super) struct Listing {
    #[serde(default)]
    offset: usize,
    #[serde(default = "fifty")]
    limit: usize,
    thread_id: Option<String>,
    parent_run_id: Option<String>,
    status: Option<String>,
    #[serde(rename = "terminationCode", alias = "termination_code")]
    termination_code: Option<String>,
    origin: Option<String>,
    created_at_from: Option<u64>,
    created_at_to: Option<u64>,
    updated_at_from: Option<u64>,
    updated_at_to: Option<u64>,
}

fn fifty() -> usize {
    50
}

impl Listing {
    fn fits(&self, run: &Run) -> bool {
        let record = run.record();
        let lower = |text: &Option<String>| text.as_ref().map(|text| text.trim().to_lowercase());
        // A status or an origin that does not exist is no filter.
        let status = lower(&self.status).filter(|s| ["running", "waiting", "done"].contains(&s.as_str()));
        let origins = ["user", "subagent", "ag_ui", "ai_sdk", "a2a", "internal"];
        let origin =
            lower(&self.origin).map(|o| o.replace('-', "_")).filter(|o| origins.contains(&o.as_str()));
        let code = lower(&self.termination_code).filter(|code| !code.is_empty());
        self.thread_id.as_ref().is_none_or(|thread| *thread == run.thread)
            && self.parent_run_id.as_ref().is_none_or(|parent| run.parent.as_ref() == Some(parent))
            && status.is_none_or(|status| status == record.status.as_str())
            && code.is_none_or(|code| record.code.as_ref() == Some(&code))
            && origin.is_none_or(|origin| origin == run.origin)
            && self.created_at_from.is_none_or(|from| run.created_at >= from)
            && self.created_at_to.is_none_or(|to| run.created_at <= to)
            && self.updated_at_from.is_none_or(|from| record.updated_at >= from)
            && self.updated_at_to.is_none_or(|to| record.updated_at <= to)
    }
}

/// `GET /v1/runs`: oldest first.
pub(super) async fn list(State(app): State<App>, _: Admitted, Query(listing): Query<Listing>) -> Answer {
    let runs = app.threads.runs(Surface::Tirea);
    let fitting: Vec<_> = runs.iter().filter(|run| listing.fits(run)).collect();
    let limit = listing.limit.clamp(1, 200);
    let items: Vec<Value> = fitting.iter().skip(listing.offset).take(limit).map(|run| show(run)).collect();
    let more = listing.offset + items.len() < fitting.len();
    Ok(Json(json!({"items": items, "total": fitting.len(), "has_more": more})).into_response())
}

/// `GET /v1/runs/{id}`
pub(super) async fn get(State(app): State<App>, _: Admitted, Path(id): Path<String>) -> Answer {
    let run = find(&app, &id)?;
    Ok(Json(show(&run)).into_response())
}

fn find(app: &App, id: &str) -> Result<Arc<Run>, Refusal> {
    app.threads.run(Surface::Tirea, id).ok_or_else(|| Refusal::no_run(id))
}

/// A run's record.
fn show(run: &Run) -> Value {
    let record = run.record();
    let mut shown = json!({
        "run_id": run.id,
        "thread_id": run.thread,
        "agent_id": run.agent,
        "origin": run.origin,
        "status": record.status.as_str(),
        "created_at": run.created_at,
        "updated_at": record.updated_at,
        "input_tokens": record.input_tokens,
        "output_tokens": record.output_tokens,
    });
    let optional = [
        ("parent_run_id", &run.parent),
        ("parent_thread_id", &run.parent_thread),
        ("termination_code", &record.code),
        ("termination_detail", &record.detail),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            shown[name] = json!(value);
        }
    }
    shown
}

/// The body of further input.
#[derive(Debug, Deserialize)]
pub(super) struct Inputs {
    #[serde(rename = "agentId", alias = "agent_id", default)]
    agent_id: Option<String>,
    #[serde(default)]
    messages: Vec<NewMessage>,
    #[serde(default)]
    state: Option<Value>,
    #[serde(rename = "resourceId", alias = "resource_id", default)]
    resource_id: Option<String>,
    #[serde(rename = "runId", alias = "run_id", default)]
    run_id: Option<String>,
    #[serde(rename = "decisions", alias = "initialDecisions", alias = "initial_decisions", default)]
    decisions: Vec<Decision>,
}

/// `POST /v1/runs/{id}/inputs`: decisions for a run that goes on, or a run in the background that
/// follows this one.
pub(super) async fn inputs(
    State(app): State<App>,
    _: Admitted,
    Path(run_id): Path<String>,
    output: Output,
    Json(inputs): Json<Inputs>,
) -> Answer {
    if inputs.messages.is_empty() && inputs.decisions.is_empty() {
        return Err(Refusal::bad(Dialect::Tirea, "messages and decisions cannot both be empty"));
    }
    let run = find(&app, &run_id)?;
    if inputs.messages.is_empty() {
        if !inputs.decisions.into_iter().all(|decision| run.decide(decision)) {
            return Err(not_active());
        }
        let forwarded = json!({"status": "decision_forwarded", "run_id": run_id, "thread_id": run.thread});
        return Ok((StatusCode::ACCEPTED, Json(forwarded)).into_response());
    }
    let Some(agent) = id(inputs.agent_id) else {
        return Err(Refusal::bad(Dialect::Tirea, "agent_id is required when messages are provided"));
    };
    let wanted = Start {
        agent,
        thread_id: Some(run.thread.clone()),
        run_id: id(inputs.run_id),
        parent_run_id: Some(run_id.clone()),
        parent_thread_id: run.parent_thread.clone(),
        input: Input {
            resource_id: id(inputs.resource_id),
            state: state(inputs.state),
            messages: inputs.messages.into_iter().map(Message::from).collect(),
            decisions: inputs.decisions,
        },
    };
    let manner = Manner { traps: Traps::of(&output.injection), delay: output.delivery.delay };
    continue_later(&app, wanted, manner).await;
    let started = json!({"status": "continuation_started", "parent_run_id": run_id, "thread_id": run.thread});
    Ok((StatusCode::ACCEPTED, Json(started)).into_response())
}

/// Starts a run as soon as its thread is free. One that waits for an answer is never free.
async fn continue_later(app: &App, wanted: Start, manner: Manner) {
    let thread = wanted.thread_id.as_ref().and_then(|id| app.threads.thread(Surface::Tirea, id));
    let Some(thread) = thread else {
        return;
    };
    let live = thread.content().live.clone();
    if live.is_none() && thread.content().suspension.is_none() {
        start(app, Surface::Tirea, wanted, manner).await;
        return;
    }
    let entry = message_id();
    let queued = Queued {
        entry: entry.clone(),
        run: wanted.run_id.clone().unwrap_or_else(plain_id),
        agent: wanted.agent.clone(),
        parent: wanted.parent_run_id.clone(),
        messages: wanted.input.messages.clone(),
        created_at: now_ms(),
    };
    let wanted = Start { run_id: Some(queued.run.clone()), ..wanted };
    thread.content().queue.push(queued);
    let app = app.clone();
    tokio::spawn(async move {
        if let Some(live) = live {
            live.turn.log.closed().await;
        }
        let free = {
            let mut content = thread.content();
            let place = content.queue.iter().position(|queued| queued.entry == entry);
            let free = content.suspension.is_none() && content.live.is_none();
            place.filter(|_| free).map(|place| content.queue.remove(place)).is_some()
        };
        if free {
            start(&app, Surface::Tirea, wanted, manner).await;
        }
    });
}

fn not_active() -> Refusal {
    Refusal::bad(Dialect::Tirea, "run is not active")
}

/// `POST /v1/runs/{id}/cancel`
pub(super) async fn cancel(State(app): State<App>, _: Admitted, Path(id): Path<String>) -> Answer {
    let run = find(&app, &id)?;
    if !run.is_live() {
        return Err(not_active());
    }
    run.halt(Halt::Cancelled);
    let cancelled = json!({"status": "cancel_requested", "run_id": id});
    Ok((StatusCode::ACCEPTED, Json(cancelled)).into_response())
}
