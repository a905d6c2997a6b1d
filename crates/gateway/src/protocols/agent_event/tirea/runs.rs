//! Runs of tirea: start and stream, list, feed, cancel.

use axum::Json;
use axum::extract::{Path, Query};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::call::{Call, options};
use super::super::decision::Decision;
use super::super::error::Refusal;
use super::super::message::{Message, Role, ToolCall, message_id, plain_id};
use super::super::paging::Paging;
use super::super::run::Run;
use super::super::server::Server;
use super::super::start::{Input, PlayOptions, Start, start};
use super::super::threads::{App, Queued};
use super::accepted;
use crate::http::Output;
use crate::json;
use crate::time::now_ms;
use crate::turns::Stop;

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
    tool_calls: Option<Vec<ToolCall>>,
    #[serde(default)]
    tool_call_id: Option<String>,
    #[serde(default)]
    visibility: Visibility,
}

impl From<NewMessage> for Message {
    fn from(new: NewMessage) -> Self {
        Self {
            id: new.id,
            role: new.role,
            content: new.content,
            tool_calls: new.tool_calls.unwrap_or_default(),
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
pub(super) async fn start_run(call: Call, output: Output, Json(new): Json<NewRun>) -> Answer {
    let agent = new.agent_id.trim().to_owned();
    if agent.is_empty() {
        return call.bad("agent_id cannot be empty");
    }
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
    call.stream(wanted, output).await
}

#[derive(Debug, Deserialize)]
pub(super) struct Listing {
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
pub(super) async fn list(call: Call, Query(listing): Query<Listing>, Query(paging): Query<Paging>) -> Answer {
    let runs = call.own.runs(call.server);
    let page = paging.page_at_offset(runs.iter().filter(|run| listing.fits(run)).collect());
    let items: Vec<Value> = page.items.iter().map(|run| show(run)).collect();
    Ok(Json(json!({"items": items, "total": page.total, "has_more": page.more})).into_response())
}

/// `GET /v1/runs/{id}`
pub(super) async fn get(call: Call, Path(id): Path<String>) -> Answer {
    Ok(Json(show(&*call.run(&id)?)).into_response())
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
        ("parent_run_id", run.parent.as_ref()),
        ("parent_thread_id", run.parent_thread.as_ref()),
        ("termination_code", record.code.as_ref()),
        ("termination_detail", record.detail.as_ref()),
    ];
    json::add(&mut shown, optional);
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

/// `POST /v1/runs/{id}/inputs`: decisions for a live run, or a run in the background that
/// follows this one.
pub(super) async fn inputs(
    call: Call,
    Path(run_id): Path<String>,
    output: Output,
    Json(inputs): Json<Inputs>,
) -> Answer {
    if inputs.messages.is_empty() && inputs.decisions.is_empty() {
        return call.bad("messages and decisions cannot both be empty");
    }
    let run = call.run(&run_id)?;
    if inputs.messages.is_empty() {
        if !inputs.decisions.into_iter().all(|decision| run.decide(decision)) {
            return not_active(&call);
        }
        let thread = &run.thread;
        return accepted(&json!({"status": "decision_forwarded", "run_id": run_id, "thread_id": thread}));
    }
    let Some(agent) = id(inputs.agent_id) else {
        return call.bad("agent_id is required when messages are provided");
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
    continue_later(&call, wanted, options(&output)).await;
    accepted(&json!({"status": "continuation_started", "parent_run_id": run_id, "thread_id": run.thread}))
}

/// Starts a run as soon as its thread is free. One that waits for an answer is never free.
async fn continue_later(call: &Call, wanted: Start, options: PlayOptions) {
    let thread = wanted.thread_id.as_ref().and_then(|id| call.thread(id).ok());
    let Some(thread) = thread else {
        return;
    };
    let live = thread.content().runs.live.clone();
    if live.is_none() && thread.content().suspension.is_none() {
        call.start(wanted, options).await;
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
    thread.content().runs.queue.push(queued);
    let app = App::clone(call);
    tokio::spawn(async move {
        if let Some(live) = live {
            live.turn.log.closed().await;
        }
        let free = {
            let mut content = thread.content();
            let place = content.runs.queue.iter().position(|queued| queued.entry == entry);
            let free = content.suspension.is_none() && content.runs.live.is_none();
            place.filter(|_| free).map(|place| content.runs.queue.remove(place)).is_some()
        };
        if free {
            start(&app, Server::Tirea, wanted, options).await;
        }
    });
}

fn not_active<T>(call: &Call) -> Result<T, Refusal> {
    call.bad("run is not active")
}

/// `POST /v1/runs/{id}/cancel`
pub(super) async fn cancel(call: Call, Path(id): Path<String>) -> Answer {
    let run = call.run(&id)?;
    if !run.is_live() {
        return not_active(&call);
    }
    run.turn.stop(Stop::Cancelled);
    accepted(&json!({"status": "cancel_requested", "run_id": id}))
}
