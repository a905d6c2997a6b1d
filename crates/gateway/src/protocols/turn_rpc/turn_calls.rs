//! The methods of turns: start, cancel, get, items.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::asked::Asked;
use super::capability::{self, Capability};
use super::envelope::Failure;
use super::event::Event;
use super::input::{UserInput, files, text};
use super::model_writer::item_id;
use super::player::Player;
use super::recorder::Recorder;
use super::reply::Reply;
use super::scripts;
use super::thread::{Mode, State, Thread};
use super::thread_calls::Sandbox;
use super::traps::EARLY_EVENTS;
use super::turn::{Opening, Record, manifest};
use super::workspace::WORKSPACE;
use crate::agents::Prompt;
use crate::faults::traps_of;
use crate::store::Turn;

/// How many notifications come before the response under the trap.
const EARLY_NOTIFICATIONS: u32 = 2;

#[derive(Debug, Deserialize)]
struct Start {
    thread_id: String,
    turn_id: String,
    #[serde(default)]
    input: Vec<UserInput>,
    #[serde(default)]
    capabilities: Vec<Capability>,
    model: Option<String>,
    model_provider: Option<String>,
    mode: Option<Mode>,
    #[serde(rename = "sandbox_policy")]
    _sandbox: Option<SandboxPolicy>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct SandboxPolicy {
    #[serde(rename = "mode")]
    _mode: Sandbox,
}

/// `turn/start`: the response, the turn's beginning and the user's message come from here, what follows
/// from the player.
pub(super) fn start(asked: &Asked<'_>, reply: Reply) {
    let (start, thread) = match check(asked) {
        Ok(checked) => checked,
        Err(failure) => return reply.fail(&failure),
    };
    let mut state = thread.state();
    if let Err(failure) = may_start(asked, &thread, &state, &start.turn_id) {
        return reply.fail(&failure);
    }
    let words = text(&start.input);
    state.take_over(&start, &words);
    let traps = Arc::new(traps_of(asked.peer.faults.iter().chain(&asked.faults)));
    let prompt = Prompt {
        text: words.clone(),
        files: files(&start.input),
        memory: state.memory.clone(),
        turns_before: state.turns.len(),
    };
    let script = scripts::choose(&prompt);
    let rejected = capability::rejected(&start.capabilities);
    let mut events = user_message(&start, &words);
    if !rejected.is_empty() {
        events.push(Event::completed(&capability::event(&item_id(), &rejected)));
    }
    let kept = Turn::plain(start.turn_id.clone(), words);
    thread.kept.add(&kept);
    let input = serde_json::to_value(&start.input).unwrap_or_default();
    let mut record = Record::new(Arc::clone(&kept), input);
    let mode = state.settings.mode.unwrap_or_default();
    if mode == Mode::Agent || !start.capabilities.is_empty() {
        record.manifest = Some(manifest(&capability::diagnostics(&rejected)));
    }
    let left = if traps.has(&EARLY_EVENTS) { EARLY_NOTIFICATIONS } else { script.early };
    record.opening = Some(Opening { reply, left, events });
    state.begin(&thread, record);
    drop(state);
    let recorder = Recorder::new(asked.app.clone(), Arc::clone(&thread), start.turn_id, mode, traps);
    let clock = asked.app.clock(&kept, asked.peer.delivery, script.beat);
    let player = Player { recorder, clock };
    tokio::spawn(player.play(script.acts));
}

fn check(asked: &Asked<'_>) -> Result<(Start, Arc<Thread>), Failure> {
    let start: Start = asked.request.params()?;
    asked.required("thread_id", &start.thread_id)?;
    asked.required("turn_id", &start.turn_id)?;
    if let Some(problem) = start.input.iter().find_map(UserInput::problem) {
        return Err(Failure::invalid_params(&asked.request.method, problem));
    }
    let thread = asked.app.own.find(&start.thread_id);
    let thread = thread.ok_or_else(|| not_loaded(&start.thread_id))?;
    Ok((start, thread))
}

fn not_loaded(thread: &str) -> Failure {
    Failure::refused(format!("failed to start turn: thread `{thread}` is not loaded"))
}

fn may_start(asked: &Asked<'_>, thread: &Thread, state: &State, turn: &str) -> Result<(), Failure> {
    let (thread, socket) = (&thread.id, asked.peer.number);
    if !state.loaded {
        return Err(not_loaded(thread));
    }
    let problem = if !state.subscribers.contains_key(&socket) {
        format!("connection `{socket}` is not subscribed to thread `{thread}`")
    } else if state.running().is_some() {
        format!("thread `{thread}` already has a running turn")
    } else if state.turns.iter().any(|record| record.id == turn) {
        format!("turn `{turn}` already exists in thread `{thread}`")
    } else {
        return Ok(());
    };
    Err(Failure::refused(format!("failed to start turn: {problem}")))
}

impl State {
    /// The model of a turn is that of the thread from then on.
    fn take_over(&mut self, start: &Start, words: &str) {
        let settings = &mut self.settings;
        settings.mode = start.mode.or(settings.mode);
        settings.model = start.model.clone().or_else(|| settings.model.take());
        settings.provider = start.model_provider.clone().or_else(|| settings.provider.take());
        if self.preview.is_empty() {
            self.preview = words.chars().take(120).collect();
        }
    }
}

/// The user's message, which begins and ends at once.
fn user_message(start: &Start, words: &str) -> Vec<Event> {
    let mut item = json!({"type": "userMessage", "id": format!("user_{}", start.turn_id), "text": words});
    let chips = start.capabilities.iter().map(Capability::chip);
    let attachments: Vec<Value> = start.input.iter().filter_map(UserInput::attachment).chain(chips).collect();
    if !attachments.is_empty() {
        item["attachments"] = json!(attachments);
    }
    vec![Event::started(&item), Event::completed(&item)]
}

#[derive(Debug, Deserialize)]
struct Named {
    thread_id: String,
    turn_id: String,
    reason: Option<String>,
}

/// The thread of a turn, if that turn exists.
fn find(asked: &Asked<'_>) -> Result<(Arc<Thread>, Named), Failure> {
    let named: Named = asked.request.params()?;
    asked.required("thread_id", &named.thread_id)?;
    asked.required("turn_id", &named.turn_id)?;
    let thread = asked.app.own.find(&named.thread_id);
    let thread = thread.filter(|thread| thread.change(&named.turn_id, |_| ()).is_some());
    let missing = || {
        Failure::refused(format!("turn `{}` in thread `{}` was not found", named.turn_id, named.thread_id))
    };
    Ok((thread.ok_or_else(missing)?, named))
}

fn shown(thread: &Thread, turn: &str) -> Value {
    let turn = thread.change(turn, |record| record.show());
    json!({"thread_id": thread.id, "workspace_id": WORKSPACE, "turn": turn})
}

/// `turn/cancel`: all subscribers are notified before the answer is sent.
pub(super) fn cancel(asked: &Asked<'_>) -> Result<Value, Failure> {
    let (thread, named) = find(asked)?;
    let socket = asked.peer.number;
    if !thread.state().subscribers.contains_key(&socket) {
        let problem = format!("connection `{socket}` is not subscribed to thread `{}`", thread.id);
        return Err(Failure::refused(format!("failed to cancel turn: {problem}")));
    }
    let reason = named.reason.unwrap_or_else(|| "turn cancelled by user".to_owned());
    thread.interrupt(&named.turn_id, reason);
    Ok(shown(&thread, &named.turn_id))
}

/// `turn/get`
pub(super) fn get(asked: &Asked<'_>) -> Result<Value, Failure> {
    let (thread, named) = find(asked)?;
    Ok(shown(&thread, &named.turn_id))
}

/// `turn/items`
pub(super) fn items(asked: &Asked<'_>) -> Result<Value, Failure> {
    let (thread, named) = find(asked)?;
    let (events, last) = thread
        .change(&named.turn_id, |record| {
            let place = thread.place(&named.turn_id);
            let events: Vec<Value> = record.events.iter().map(|stored| stored.show(place)).collect();
            (events, record.last_sequence())
        })
        .unwrap_or_default();
    Ok(json!({
        "thread_id": thread.id,
        "workspace_id": WORKSPACE,
        "turn_id": named.turn_id,
        "events": events,
        "last_sequence": last,
    }))
}
