//! Threads → sessions, runs → turns (sections 2 and 5).

use crate::error::{Result, sentence};
use crate::iso::iso;
use crate::json::{Object, Value};
use crate::protocol::body::unexpected;

use super::waiting;

/// The session of a thread, or of its summary.
pub(super) fn session<'a>(thread: &Object<'a>) -> Result<Object<'a>> {
    let metadata = thread.object("metadata").unwrap_or(const { &Object::new() });
    let said = |name: &str| thread.get(name).or_else(|| metadata.get(name)).cloned().unwrap_or_default();
    let text = |name: &str| Some(said(name)).filter(Value::is_string).unwrap_or_default();
    if thread.text("id").is_empty() {
        return Err(unexpected("a thread has no `id`"));
    }
    let mut session = Object::new();
    session.set("type", "session".into());
    session.set("id", text("id"));
    // tirea keeps it only for runs.
    session.set("agent_name", text("agent_id"));
    session.set("title", text("title"));
    session.set("created_by_subject", Value::Null);
    session.set("created_at", time(&said("created_at")));
    session.set("updated_at", time(&said("updated_at")));
    Ok(session)
}

/// The session of a thread, with its waiting calls. awaken has them in its turns, not in its threads.
pub(super) fn session_with_actions<'a>(thread: &Object<'a>) -> Result<Object<'a>> {
    let mut session = session(thread)?;
    let actions = thread.get("state").map(waiting::in_state).unwrap_or_default();
    session.set("required_actions", actions.into());
    Ok(session)
}

/// The turn of a run, with all other fields of the server. It has no `input`: servers keep that among the session's
/// messages.
pub(super) fn turn(run: Object<'_>) -> Result<Object<'_>> {
    if run.text("run_id").is_empty() {
        return Err(unexpected("a run has no `run_id`"));
    }
    let field = |name: &str| run.get(name).cloned().unwrap_or_default();
    let mut turn = Object::new();
    turn.set("id", field("run_id"));
    turn.set("session_id", field("thread_id"));
    turn.set("previous_turn_id", field("parent_run_id"));
    turn.set("agent_name", field("agent_id"));
    turn.set("state", state(&run)?.into());
    turn.set("created_by_subject", Value::Null);
    turn.set("created_at", time(&field("created_at")));
    for (name, value) in run {
        // awaken uses this name for something else.
        if name == "input" || turn.contains(&name) {
            continue;
        }
        let value = if name.ends_with("_at") { time(&value) } else { value };
        turn.insert(name, value);
    }
    Ok(turn)
}

fn state<'a>(run: &Object<'a>) -> Result<Object<'a>> {
    match run.text("status") {
        // A run whose stream was lost stays in this state forever with tirea (section 2.4).
        "running" | "created" => {
            let mut state = Object::new();
            state.set("status", "running".into());
            Ok(state)
        }
        "waiting" => Ok(waits(run)),
        "done" => Ok(ended(run)),
        _ => Err(unexpected("a run has an unknown `status`")),
    }
}

/// A run that waits for answers is a done turn. awaken has the calls in the run; tirea has them in the session.
fn waits<'a>(run: &Object<'a>) -> Object<'a> {
    let tickets = run.object("waiting").map(|waiting| waiting.array("tickets")).unwrap_or_default();
    let mut state = Object::new();
    state.set("status", "done".into());
    state.set("output", Value::Null);
    state.set("required_actions", waiting::of_tickets(tickets).into());
    let mut termination = Object::new();
    termination.set("type", "suspended".into());
    // awaken counts a run's time in seconds, in which it may have continued and wait again; the time of tickets is
    // exact.
    let since = tickets.iter().filter_map(|ticket| ticket.get("updated_at")?.as_u64()).max();
    add_rest(run, &mut state, termination, since.map(Value::from).as_ref());
    state
}

fn ended<'a>(run: &Object<'a>) -> Object<'a> {
    let termination = termination(run);
    let value = termination.get("value").cloned().unwrap_or_default();
    let mut state = Object::new();
    match termination.text("type") {
        "cancelled" => {
            state.set("status", "cancelled".into());
            state.set("reason", Value::Null);
        }
        kind @ ("error" | "blocked") => {
            let why = value.as_str().unwrap_or_default();
            let message = match (kind, why) {
                ("error", "") => "the run failed".to_owned(),
                ("error", why) => why.to_owned(),
                (_, why) => sentence(&["the run was blocked", if why.is_empty() { "" } else { ": " }, why]),
            };
            state.set("status", "error".into());
            state.set("message", message.into());
        }
        _ => {
            state.set("status", "done".into());
            state.set("output", Value::Null);
            state.set("required_actions", Vec::new().into());
            let outcome = run.object("outcome").and_then(|outcome| outcome.get("final_output"));
            if let Some(Value::String(response)) = run.get("final_output").or(outcome) {
                let mut result = Object::new();
                result.set("response", Value::String(response.clone()));
                state.set("result", result.into());
            }
        }
    }
    add_rest(run, &mut state, termination, None);
    state
}

/// Why a run ended, in the words of streams: awaken keeps those, tirea a code and a detail.
fn termination<'a>(run: &Object<'a>) -> Object<'a> {
    let outcome = run.object("outcome").unwrap_or(const { &Object::new() });
    if let Some(reason) = run.object("termination_reason").or_else(|| outcome.object("termination_reason")) {
        return reason.clone();
    }
    let mut termination = Object::new();
    let code = run.text("termination_code");
    let detail = run.get("termination_detail").filter(|detail| detail.is_string());
    let kind = match code {
        "" => return termination,
        "natural" => "natural_end",
        "behavior_requested" => "behavior_requested",
        "cancelled" => "cancelled",
        "error" => "error",
        "blocked" => "blocked",
        _ => "stopped",
    };
    termination.set("type", kind.into());
    if kind == "stopped" {
        let mut reason = Object::new();
        reason.set("code", code.to_owned().into());
        if let Some(detail) = detail {
            reason.set("detail", detail.clone());
        }
        termination.set("value", reason.into());
    } else if let Some(detail) = detail {
        termination.set("value", detail.clone());
    }
    termination
}

/// The fields of a state besides how it ended.
fn add_rest<'a>(
    run: &Object<'a>,
    state: &mut Object<'a>,
    termination: Object<'a>,
    since: Option<&Value<'_>>,
) {
    let at = ["finished_at", "updated_at"].into_iter().find_map(|name| run.get(name));
    let at = since.or(at).map(time).unwrap_or_default();
    if !at.is_null() {
        state.set("completed_at", at);
    }
    let count = |name: &str| run.get(name).and_then(Value::as_u64);
    if let (Some(read), Some(written)) = (count("input_tokens"), count("output_tokens")) {
        let mut metrics = Object::new();
        metrics.set("total_input_tokens", read.into());
        metrics.set("total_output_tokens", written.into());
        metrics.set("total_tokens", read.saturating_add(written).into());
        state.set("metrics", metrics.into());
    }
    if !termination.is_empty() {
        state.set("termination", termination.into());
    }
}

/// Milliseconds since 1970 as ISO 8601; awaken counts runs in seconds. `null` for anything else.
fn time(value: &Value<'_>) -> Value<'static> {
    /// As milliseconds a day in 1973, as seconds the year 5138.
    const LEAST_MS: u64 = 100_000_000_000;
    match value.as_u64() {
        Some(seconds) if seconds < LEAST_MS => iso(seconds * 1000).into(),
        Some(ms) => iso(ms).into(),
        None => Value::Null,
    }
}
