//! Starting runs: the thread is found or created, the input stored, the script selected and played.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use super::decision::Decision;
use super::message::{Message, Role, message_id, plain_id};
use super::player::{Beginning, Player};
use super::recorder::Recorder;
use super::run::{Run, RunHead};
use super::server::{Dialect, Server};
use super::state::without_calls;
use super::threads::{App, Content, Thread};
use super::wire::Wire;
use crate::agents;
use crate::faults::Traps;
use crate::http::Delivery;
use crate::store::Turn;
use crate::turns::Stop;

/// The request for a run.
#[derive(Debug, Default)]
pub(super) struct Start {
    pub(super) agent: String,
    pub(super) thread_id: Option<String>,
    pub(super) run_id: Option<String>,
    pub(super) parent_run_id: Option<String>,
    pub(super) parent_thread_id: Option<String>,
    pub(super) input: Input,
}

/// Its input.
#[derive(Debug, Default)]
pub(super) struct Input {
    pub(super) resource_id: Option<String>,
    /// Replaces the thread's state.
    pub(super) state: Option<Map<String, Value>>,
    pub(super) messages: Vec<Message>,
    pub(super) decisions: Vec<Decision>,
}

/// How it is to be played.
#[derive(Debug, Default)]
pub(super) struct PlayOptions {
    pub(super) traps: Traps,
    pub(super) delivery: Delivery,
}

/// Starts a run, which plays in the background.
pub(super) async fn start(app: &App, server: Server, start: Start, options: PlayOptions) -> Arc<Run> {
    let dialect = server.dialect();
    let new_id = || match dialect {
        Dialect::Tirea => plain_id(),
        Dialect::Awaken => message_id(),
    };
    let thread_id = start.thread_id.unwrap_or_else(new_id);
    let thread = app.own.obtain(&app.store, server, &thread_id, &start.agent);
    let _starting = thread.session.starting.lock().await;
    let fits = |live: &Arc<Run>| !start.input.messages.is_empty() && live.agent == start.agent;
    let replaced = thread.content().runs.live.clone().filter(fits);
    if dialect == Dialect::Awaken {
        supersede(replaced.as_deref()).await;
    }
    let new = RunHead {
        id: start.run_id.unwrap_or_else(new_id),
        thread: thread_id,
        agent: start.agent,
        parent: start.parent_run_id,
        parent_thread: start.parent_thread_id,
        origin: "user",
    };
    let input = accept(&mut thread.content(), &new, start.input, dialect);
    if dialect == Dialect::Tirea {
        // The write above makes the previous run fail.
        supersede(replaced.as_deref()).await;
    }
    let turn = Turn::plain(new.id.clone(), input.text);
    let run = Arc::new(Run::new(new, turn));
    play(app, &thread, &run, input.preferred, input.beginning, options);
    run
}

/// What a thread returns for the input.
struct Accepted {
    text: String,
    beginning: Beginning,
    /// The script's own pace.
    preferred: Option<Duration>,
}

/// Stores the input. A message of the user cancels pending calls.
fn accept(content: &mut Content, run: &RunHead, input: Input, dialect: Dialect) -> Accepted {
    content.labels.parent_thread_id = run.parent_thread.clone().or(content.labels.parent_thread_id.take());
    content.labels.resource_id = input.resource_id.or(content.labels.resource_id.take());
    if let Some(state) = input.state {
        content.state = state;
    }
    let speaks = input.messages.iter().any(|message| message.role == Role::User);
    if speaks {
        content.suspension = None;
        without_calls(dialect, &mut content.state);
    }
    let text = store(content, input.messages, &run.id);
    let answers = !speaks && (content.suspension.is_some() || !input.decisions.is_empty());
    if answers {
        return Accepted { text, beginning: Beginning::Decisions(input.decisions), preferred: None };
    }
    let (steps, preferred) = agents::perform(&content.conversation.prompt(text.clone(), Vec::new()));
    Accepted { text, beginning: Beginning::Script(steps), preferred }
}

/// Ends the run that another one replaces.
async fn supersede(run: Option<&Run>) {
    if let Some(run) = run {
        run.turn.stop(Stop::NextTurn);
        run.turn.log.closed().await;
    }
}

/// Stores the messages that are new. Returns the text that selects the script.
fn store(content: &mut Content, messages: Vec<Message>, run: &str) -> String {
    let mut texts = Vec::new();
    let asked = !messages.is_empty();
    for mut message in messages {
        // A message whose id is known is dropped silently.
        if content.has(&message) {
            continue;
        }
        if message.role == Role::User {
            texts.push(message.content.clone());
        }
        message.run_id = Some(run.to_owned());
        content.messages.push(message);
    }
    content.writes.touch();
    if texts.is_empty() && asked {
        let said = content.messages.iter().rev().find(|message| message.role == Role::User);
        texts.extend(said.map(|message| message.content.clone()));
    }
    texts.join("\n\n")
}

/// Plays a run in the background, at the pace of its script.
fn play(
    app: &App,
    thread: &Arc<Thread>,
    run: &Arc<Run>,
    pace: Option<Duration>,
    beginning: Beginning,
    options: PlayOptions,
) {
    let server = thread.server;
    app.own.add(server, run);
    thread.session.add(&run.turn);
    {
        let mut content = thread.content();
        content.runs.live = Some(Arc::clone(run));
        content.runs.latest = Some(run.id.clone());
    }
    let events = server.keeps_events().then(|| app.own.events());
    let wire = Wire::new(server.dialect(), Arc::clone(run), events, options.traps);
    let player = Player {
        recorder: Recorder::new(app.clone(), Arc::clone(thread), Arc::clone(run), wire),
        clock: app.clock(&run.turn, options.delivery, pace),
        decisions: run.listen(),
        early: Vec::new(),
    };
    tokio::spawn(player.play(beginning));
}

/// Resumes a run with an answer, without a stream.
pub(super) fn resume_run(
    app: &App,
    thread: &Arc<Thread>,
    run: &Run,
    decision: Decision,
    options: PlayOptions,
) {
    let turn = Turn::plain(run.id.clone(), String::new());
    let recorded = run.turn.log.recorded();
    turn.log.append(|_, bytes| bytes.extend_from_slice(&recorded));
    let run = Arc::new(run.again(turn));
    play(app, thread, &run, None, Beginning::Decisions(vec![decision]), options);
}
