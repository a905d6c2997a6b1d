//! Runs of awaken: start and stream, list, decide, cancel.

use std::time::Duration;

use axum::Json;
use axum::extract::{Path, Query};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::super::call::{Call, options};
use super::super::decision::{Action, Decision};
use super::super::error::Refusal;
use super::super::message::{Message, Role};
use super::super::paging::Paging;
use super::super::run::{Run, RunStatus};
use super::super::start::{Input, Start, resume_run};
use super::super::suspension::{SuspendedCall, Suspension};
use super::named::{Named, active_run};
use crate::http::Output;
use crate::turns::Stop;

type Answer = Result<Response, Refusal>;

/// How long a run may take to end, in milliseconds.
const ENDING_MS: u32 = 50;

/// The body of a start.
#[derive(Debug, Deserialize)]
pub(super) struct NewRun {
    #[serde(rename = "agentId", alias = "agent_id")]
    agent_id: String,
    #[serde(rename = "threadId", alias = "thread_id", default)]
    thread_id: Option<String>,
    #[serde(default)]
    messages: Vec<NewMessage>,
}

#[derive(Debug, Deserialize)]
struct NewMessage {
    role: String,
    content: String,
}

impl NewMessage {
    /// The message, if its role is one that may speak.
    fn accepted(self) -> Option<Message> {
        let role = serde_json::from_value(json!(self.role)).ok().filter(|role| *role != Role::Tool)?;
        Some(Message::new(role, self.content))
    }
}

/// `POST /v1/runs`: a run starts, and its events are the response. It continues without its reader.
pub(super) async fn start_run(call: Call, output: Output, Json(new): Json<NewRun>) -> Answer {
    let agent = new.agent_id.trim().to_owned();
    if agent.is_empty() {
        return call.bad("agent_id cannot be empty");
    }
    let messages: Vec<Message> = new.messages.into_iter().filter_map(NewMessage::accepted).collect();
    if messages.is_empty() {
        return call.bad("at least one message is required");
    }
    let thread_id = new.thread_id.map(|id| id.trim().to_owned()).filter(|id| !id.is_empty());
    let input = Input { messages, ..Input::default() };
    call.stream(Start { agent, thread_id, input, ..Start::default() }, output).await
}

#[derive(Debug, Deserialize)]
pub(super) struct Listing {
    status: Option<String>,
}

/// `GET /v1/runs`
pub(super) async fn list(call: Call, Query(listing): Query<Listing>, Query(paging): Query<Paging>) -> Answer {
    page_of(&call, &listing, &paging, |_| true)
}

/// `GET /v1/threads/{id}/runs`
pub(super) async fn list_of_thread(
    call: Call,
    Path(thread): Path<String>,
    Query(listing): Query<Listing>,
    Query(paging): Query<Paging>,
) -> Answer {
    page_of(&call, &listing, &paging, |run| run.thread == thread)
}

fn page_of(call: &Call, listing: &Listing, paging: &Paging, fits: impl Fn(&Run) -> bool) -> Answer {
    let status = listing.status.as_deref();
    if let Some(other) = status.filter(|s| !["created", "running", "waiting", "done"].contains(s)) {
        return call.bad(format!("invalid status filter: {other}"));
    }
    let runs = call.own.runs(call.server).into_iter();
    let fitting = runs
        .filter(|run| fits(run) && status.is_none_or(|status| status == run.record().status.as_str()))
        .collect();
    let page = paging.page(fitting)?;
    let items: Vec<Value> = page.items.iter().map(|run| show(call, run)).collect();
    Ok(Json(json!({"items": items, "total": page.total, "has_more": page.more})).into_response())
}

/// `GET /v1/runs/{id}`
pub(super) async fn get(call: Call, Path(id): Path<String>) -> Answer {
    let run = call.run(&id)?;
    Ok(Json(show(&call, &run)).into_response())
}

/// `GET /v1/threads/{id}/runs/latest`
pub(super) async fn latest(call: Call, Path(id): Path<String>) -> Answer {
    let latest = call.thread(&id).ok().and_then(|thread| thread.content().runs.latest.clone());
    let run = latest.and_then(|run| call.own.run(call.server, &run));
    let run = run.ok_or_else(|| Refusal::no_run(&format!("no runs for thread {id}")))?;
    Ok(Json(show(&call, &run)).into_response())
}

/// `GET /v1/threads/{id}/runs/active`: the run that is live, or waits.
pub(super) async fn active(call: Call, Path(id): Path<String>) -> Answer {
    let run = call.thread(&id).ok().and_then(|thread| active_run(&call, &thread));
    let active = run.map(|run| {
        let full = show(&call, &run);
        let names = [
            "thread_id",
            "run_id",
            "agent_id",
            "status",
            "termination_reason",
            "dispatch_id",
            "session_id",
            "waiting",
        ];
        let fields = names.into_iter().filter_map(|name| Some((name.to_owned(), full.get(name)?.clone())));
        Value::Object(fields.collect())
    });
    Ok(Json(json!({"active_run": active})).into_response())
}

/// A run's record; its times are in seconds.
fn show(call: &Call, run: &Run) -> Value {
    let record = run.record().clone();
    let mut shown = json!({
        "run_id": run.id,
        "thread_id": run.thread,
        "agent_id": run.agent,
        "parent_run_id": run.parent,
        "status": record.status.as_str(),
        "dispatch_id": run.dispatch,
        "session_id": run.session,
        "created_at": run.created_at / 1000,
        "started_at": run.created_at / 1000,
        "updated_at": record.updated_at / 1000,
        "steps": record.steps,
        "input_tokens": record.input_tokens,
        "output_tokens": record.output_tokens,
        "state": null,
    });
    let reason = record.code.as_deref().map(|code| match (code, &record.detail) {
        ("natural", _) => json!({"type": "natural_end"}),
        ("input_required", _) => json!({"type": "suspended"}),
        ("error", detail) => json!({"type": "error", "value": detail}),
        ("cancelled", _) => json!({"type": "cancelled"}),
        (code, detail) => json!({"type": "stopped", "value": {"code": code, "detail": detail}}),
    });
    if let Some(reason) = reason {
        shown["termination_reason"] = reason.clone();
        if record.status == RunStatus::Done {
            shown["finished_at"] = json!(record.updated_at / 1000);
            shown["outcome"] = json!({"termination_reason": reason});
        }
    }
    if let Some(output) = &record.output {
        shown["final_output"] = json!(output);
        shown["outcome"]["final_output"] = json!(output);
    }
    if record.status == RunStatus::Waiting
        && let Ok(thread) = call.thread(&run.thread)
        && let Some(suspension) = &thread.content().suspension
    {
        shown["waiting"] = waiting(suspension, record.updated_at);
    }
    shown
}

/// What a run waits for.
fn waiting(suspension: &Suspension, updated_at: u64) -> Value {
    let ids: Vec<String> = suspension.calls.iter().map(|call| call.pending_id("perm_")).collect();
    let ticket = |call: &SuspendedCall| {
        json!({
            "ticket_id": call.pending_id("perm_"),
            "tool_call_id": call.call,
            "tool_name": call.tool,
            "arguments": call.arguments,
            "resume_mode": call.resume_mode(),
            "reason": call.ticket("perm_")["suspension"]["action"],
            "updated_at": updated_at,
        })
    };
    let consent = suspension.calls.iter().any(SuspendedCall::asks_consent);
    json!({
        "reason": if consent { "tool_permission" } else { "user_input" },
        "ticket_ids": ids,
        "tickets": suspension.calls.iter().map(ticket).collect::<Vec<_>>(),
    })
}

/// The body of a decision.
#[derive(Debug, Deserialize)]
pub(super) struct Answered {
    #[serde(rename = "toolCallId", alias = "tool_call_id")]
    tool_call_id: String,
    action: String,
    #[serde(default)]
    payload: Value,
}

impl Answered {
    fn decision(&self, call: &Call) -> Result<Decision, Refusal> {
        let action = match self.action.as_str() {
            "resume" => Action::Resume,
            "cancel" => Action::Cancel,
            other => return call.bad(format!("invalid action: {other}, expected 'resume' or 'cancel'")),
        };
        Ok(Decision::new(self.tool_call_id.clone(), action, self.payload.clone()))
    }
}

/// `POST …/decision`: resumes a run, without a stream.
pub(super) async fn decide(
    call: Call,
    Path(named): Path<Named>,
    output: Output,
    Json(answered): Json<Answered>,
) -> Answer {
    let decision = answered.decision(&call)?;
    let run = named.run(&call)?;
    if !deliver(&call, &run, decision, &output).await {
        return Err(named.missing());
    }
    let call = answered.tool_call_id;
    Ok(named.accepted(json!({"status": "decision_submitted", "tool_call_id": call})))
}

/// Passes a decision to a live run, or resumes one that waits for it.
async fn deliver(call: &Call, run: &Run, decision: Decision, output: &Output) -> bool {
    let Ok(thread) = call.thread(&run.thread) else {
        return false;
    };
    let _starting = thread.session.starting.lock().await;
    if call.server.keeps_events() {
        let payload = json!({
            "thread_id": run.thread,
            "run_id": run.id,
            "tool_call_id": decision.target_id,
            "decision_id": decision.decision_id,
            "action": decision.action,
            "result": decision.result(),
        });
        call.own.events().note(run, "MailboxDecisionReceived", &payload);
    }
    // A run that is ending takes no decisions, and is not yet recorded as waiting.
    for _ in 0..ENDING_MS {
        if run.decide(decision.clone()) {
            return true;
        }
        if run.record().status != RunStatus::Running {
            break;
        }
        sleep(Duration::from_millis(1)).await;
    }
    let waits = {
        let content = thread.content();
        let suspension = content.suspension.as_ref();
        suspension.is_some_and(|suspension| suspension.target(&decision.target_id).is_some())
    };
    if !waits || run.record().status != RunStatus::Waiting {
        return false;
    }
    resume_run(call, &thread, run, decision, options(output));
    true
}

/// `POST …/cancel`
pub(super) async fn cancel(call: Call, Path(named): Path<Named>) -> Answer {
    let run = named.run(&call)?;
    if !halt(&call, &run) {
        return Err(named.missing());
    }
    Ok(named.accepted(json!({"status": "cancel_requested"})))
}

/// `POST /v1/threads/{id}/interrupt`
pub(super) async fn interrupt(call: Call, Path(named): Path<Named>) -> Answer {
    halt(&call, &*named.run(&call)?);
    Ok(named.accepted(json!({"status": "interrupt_requested", "superseded_dispatches": 0})))
}

/// Cancels a run that is live, or that waits. `false` if it is over.
fn halt(call: &Call, run: &Run) -> bool {
    if run.is_live() {
        run.turn.stop(Stop::Cancelled);
        return true;
    }
    if run.record().status != RunStatus::Waiting {
        return false;
    }
    if let Ok(thread) = call.thread(&run.thread) {
        thread.content().suspension = None;
    }
    run.finish(RunStatus::Done, Some("cancelled".to_owned()), None);
    true
}
