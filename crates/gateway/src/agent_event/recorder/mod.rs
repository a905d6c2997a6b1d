//! Steps of a script as the events of a run, in the order of each dialect.
//!
//! A message of the script is a step; its calls make a round of tools. One dialect announces the
//! calls and their results after the step, the other within it.
//!
//! - `round`: the calls of one message; `ending`: the end of a run;
//! - `sub_agents`: what sub-agents do; `traps`: the traps of a run.

mod ending;
mod round;
mod sub_agents;
mod traps;

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::event::{
    AwakenRunStart, Event, InferenceComplete, MessagesSnapshotData, RunIdentity, StateSnapshotData,
    StepStart, TextDeltaData, TokenUsage, ToolCallDeltaData, ToolCallReady, ToolCallStart, typed,
};
use super::message::{Message, Role, ToolCall, message_id};
use super::progress::{Activities, Lineage, Report, ToolStatus};
use super::run::Run;
use super::server::Dialect;
use super::state::{State, Totals};
use super::sub_agents::SubAgents;
use super::threads::{App, Thread};
use super::traps::{LEGACY_PROGRESS, MESSAGES_SNAPSHOT, SUSPEND_LIVE};
use super::wire::Wire;
use crate::agents::{MAIN, MessageKey, Step, Tool, call_id, tokens};
use crate::time::now_ms;
use round::{Round, RoundCall};

/// The name of the model behind all scripts.
const MODEL: &str = "scripted-1";
/// The tool that runs while another call waits.
const EXTRA_TOOL: &str = "watch_service";
/// Tokens that every request to the model has.
const HARNESS_TOKENS: usize = 512;

/// Writes one run.
pub(super) struct Recorder {
    pub(super) app: App,
    pub(super) thread: Arc<Thread>,
    pub(super) run: Arc<Run>,
    pub(super) dialect: Dialect,
    pub(super) wire: Wire,
    pub(super) state: State,
    pub(super) totals: Totals,
    pub(super) open: Option<OpenStep>,
    pub(super) round: Option<Round>,
    pub(super) sub_agents: SubAgents,
    /// Messages that are not stored in the thread yet.
    pub(super) uncommitted: Vec<Message>,
    activities: Activities,
    /// Whether progress is not reported.
    pub(super) quiet: bool,
    /// Whether a call was made up, and ran.
    pub(super) had_extra_call: bool,
    next_step: u32,
    /// The last answer in words.
    pub(super) response: String,
    /// The thread's version at this run's last write.
    version: u64,
}

/// A step that is being streamed.
pub(super) struct OpenStep {
    pub(super) key: MessageKey,
    pub(super) index: u32,
    message_id: String,
    pub(super) text: String,
    thinking: usize,
    calls: Vec<OpenCall>,
    /// Text deltas so far.
    pub(super) deltas: u64,
    began: Instant,
}

impl OpenStep {
    /// How long the step has taken so far.
    pub(super) fn milliseconds(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or_default()
    }
}

struct OpenCall {
    id: String,
    name: String,
    arguments: String,
}

impl Recorder {
    pub(super) fn new(app: App, thread: Arc<Thread>, run: Arc<Run>, wire: Wire) -> Self {
        let dialect = thread.server.dialect();
        let (state, version) = {
            let content = thread.content();
            (State::begin(dialect, content.state.clone(), &run.id), content.version)
        };
        Self {
            app,
            state,
            dialect,
            wire,
            totals: Totals::default(),
            open: None,
            round: None,
            sub_agents: SubAgents::default(),
            uncommitted: Vec::new(),
            activities: Activities::default(),
            quiet: false,
            had_extra_call: false,
            next_step: 0,
            response: String::new(),
            version,
            thread,
            run,
        }
    }

    /// The first event.
    pub(super) fn begin(&mut self) {
        self.wire.send(Event::RunStart(AwakenRunStart {
            thread_id: self.run.thread.clone(),
            run_id: self.run.id.clone(),
            parent_run_id: self.run.parent.clone(),
            identity: self.identity(),
        }));
        if self.wire.traps.has(&MESSAGES_SNAPSHOT) {
            let content = self.thread.content();
            let messages: Vec<Value> =
                content.messages.iter().map(|message| message.show(self.dialect)).collect();
            drop(content);
            self.wire.send(Event::MessagesSnapshot(MessagesSnapshotData { messages: typed(&messages) }));
        }
    }

    pub(super) fn identity(&self) -> Option<RunIdentity> {
        (self.dialect == Dialect::Awaken).then(|| RunIdentity {
            thread_id: self.run.thread.clone(),
            run_id: self.run.id.clone(),
            parent_run_id: self.run.parent.clone(),
            agent_id: self.run.agent.clone(),
            dispatch_id: Some(self.run.dispatch.clone()),
            session_id: Some(self.run.session.clone()),
            origin: Some(self.run.origin.to_owned()),
            parent_tool_call_id: None,
        })
    }

    /// Writes the events of a step of the script.
    pub(super) fn record(&mut self, step: Step) {
        match step {
            Step::BeginMessage { message, thread } if thread == MAIN => self.begin_step(message),
            Step::BeginMessage { message, thread } => self.sub_agents.begin_message(message, thread),
            Step::Text { message, text } => self.text(message, text),
            Step::Reasoning { message, text } => self.reasoning(message, text),
            Step::BeginCall { message, index, call, tool } => self.begin_call(message, index, call, tool),
            Step::Arguments { message, index, text } => self.arguments(message, index, text),
            Step::EndMessage { message, .. } => self.end_message(message),
            Step::ToolResult { thread, call, content } if thread == MAIN => self.result(&call, &content),
            Step::ToolResult { thread, call, content } => self.sub_result(&thread, &call, &content),
            Step::BeginThread(agent) => self.begin_sub_agent(agent),
            Step::EndThread { agent, failure } => {
                let content = self.end_sub_agent(&agent, failure);
                self.result(&agent.parent_call, &content);
            }
            Step::AwaitApproval { thread, calls } => self.await_consent(&thread, &calls),
            Step::AwaitResponse { calls, .. } => self.await_answers(&calls),
            Step::WriteFile { sandbox, path, bytes } => self.app.store.sandboxes.write(&sandbox, path, bytes),
            Step::CreateSandbox { sandbox } => self.app.store.sandboxes.create(&sandbox),
            Step::Remember { key, value } => {
                let operation = self.state.remember(key, &value);
                if let Some(round) = &mut self.round {
                    round.operations.push(operation);
                }
                self.thread.content().memory.insert(key, value);
            }
            Step::Wait(_) | Step::Connect { .. } | Step::AwaitAuthorization { .. } | Step::End(_) => {}
        }
    }

    pub(super) fn begin_step(&mut self, key: MessageKey) {
        self.finish_round();
        self.state.begin_step();
        self.start_step(key, String::new());
        if self.open.as_ref().is_some_and(|open| open.index == 0) {
            self.apply_step_traps();
        }
    }

    fn start_step(&mut self, key: MessageKey, text: String) {
        let index = self.next_step;
        self.next_step += 1;
        let message_id = message_id();
        self.wire.set_step(Some(index));
        self.wire.send(Event::StepStart(StepStart { message_id: message_id.clone() }));
        self.open = Some(OpenStep {
            key,
            index,
            message_id,
            text,
            thinking: 0,
            calls: Vec::new(),
            deltas: 0,
            began: Instant::now(),
        });
    }

    fn open_step(&mut self, key: MessageKey) -> Option<&mut OpenStep> {
        self.open.as_mut().filter(|open| open.key == key)
    }

    fn text(&mut self, key: MessageKey, text: String) {
        let Some(open) = self.open_step(key) else {
            return self.sub_agents.text(key, &text);
        };
        open.text.push_str(&text);
        open.deltas += 1;
        let deltas = open.deltas;
        self.wire.send(Event::TextDelta(TextDeltaData { delta: text }));
        self.apply_text_traps(key, deltas);
    }

    fn reasoning(&mut self, key: MessageKey, text: String) {
        if let Some(open) = self.open_step(key) {
            open.thinking += tokens(&text);
            self.wire.send(Event::ReasoningDelta(TextDeltaData { delta: text }));
        }
    }

    fn begin_call(&mut self, key: MessageKey, index: usize, call: String, tool: Tool) {
        let name = match tool {
            Tool::Remote { name, .. } | Tool::System { name } => name.to_owned(),
        };
        let Some(open) = self.open_step(key) else {
            return self.begin_sub_call(key, &call, &name);
        };
        debug_assert_eq!(index, open.calls.len(), "calls begin in order");
        open.calls.push(OpenCall { id: call.clone(), name: name.clone(), arguments: String::new() });
        self.wire.send(Event::ToolCallStart(ToolCallStart { id: call, name }));
    }

    fn arguments(&mut self, key: MessageKey, index: usize, text: String) {
        let Some(open) = self.open_step(key) else {
            return self.sub_agents.arguments(key, index, &text);
        };
        if let Some(call) = open.calls.get_mut(index) {
            call.arguments.push_str(&text);
            let id = call.id.clone();
            self.wire.send(Event::ToolCallDelta(ToolCallDeltaData { id, args_delta: text }));
        }
    }

    /// A call that no script made, for traps.
    pub(super) fn extra_call(&mut self, name: &str, arguments: &Value) {
        let Some(open) = &self.open else {
            return;
        };
        let (key, index) = (open.key, open.calls.len());
        let id = call_id();
        if let Some(open) = &mut self.open {
            open.calls.push(OpenCall { id: id.clone(), name: name.to_owned(), arguments: String::new() });
        }
        self.wire.send(Event::ToolCallStart(ToolCallStart { id, name: name.to_owned() }));
        self.arguments(key, index, arguments.to_string());
    }

    fn end_message(&mut self, key: MessageKey) {
        if self.open_step(key).is_none() {
            return self.end_sub_message(key);
        }
        let calls = self.open.as_ref().is_some_and(|open| !open.calls.is_empty());
        if calls && self.wire.traps.take(&SUSPEND_LIVE).is_some() {
            self.extra_call(EXTRA_TOOL, &json!({"service": "shop-web"}));
        }
        let Some(open) = self.open.take() else {
            return;
        };
        let calls: Vec<ToolCall> = open
            .calls
            .iter()
            .map(|call| ToolCall {
                id: call.id.clone(),
                name: call.name.clone(),
                arguments: serde_json::from_str(&call.arguments).unwrap_or(json!({})),
            })
            .collect();
        if self.dialect == Dialect::Awaken {
            self.announce(&calls);
        }
        self.infer(&open);
        let mut message = Message::new(Role::Assistant, open.text.clone());
        message.id = Some(open.message_id.clone());
        message.tool_calls.clone_from(&calls);
        message.run_id = Some(self.run.id.clone());
        message.step = Some(open.index);
        self.uncommitted.push(message);
        self.response = open.text;
        let round = Round::new(open.index, calls);
        match self.dialect {
            Dialect::Tirea => {
                self.checkpoint();
                self.wire.send(Event::StepEnd);
                self.wire.set_step(None);
                self.announce(&round.tool_calls());
                self.round = (!round.calls.is_empty()).then_some(round);
            }
            // The step ends with its round of tools.
            Dialect::Awaken => {
                let waits = !round.calls.is_empty();
                self.round = Some(round);
                if !waits {
                    self.finish_round();
                }
            }
        }
    }

    fn announce(&mut self, calls: &[ToolCall]) {
        for call in calls {
            self.wire.send(Event::ToolCallReady(ToolCallReady {
                id: call.id.clone(),
                name: call.name.clone(),
                arguments: call.arguments.clone(),
            }));
        }
    }

    fn infer(&mut self, open: &OpenStep) {
        let arguments: usize = open.calls.iter().map(|call| tokens(&call.arguments)).sum();
        let completion = tokens(&open.text) + arguments + open.thinking;
        let prompt = HARNESS_TOKENS + self.context_tokens();
        self.totals.input_tokens += prompt;
        self.totals.output_tokens += completion;
        self.totals.steps += 1;
        if !open.text.is_empty() {
            self.totals.texts.push(open.text.clone());
        }
        let usage = TokenUsage {
            prompt_tokens: Some(prompt as u64),
            completion_tokens: Some(completion as u64),
            total_tokens: Some((prompt + completion) as u64),
            cache_read_tokens: Some(HARNESS_TOKENS as u64 / 2),
            cache_creation_tokens: None,
            thinking_tokens: Some(open.thinking as u64),
        };
        self.state.inferred(&self.totals);
        self.wire.send(Event::InferenceComplete(InferenceComplete {
            model: MODEL.to_owned(),
            usage: Some(usage),
            duration_ms: open.milliseconds(),
        }));
    }

    fn context_tokens(&self) -> usize {
        self.thread.content().messages.iter().map(|message| tokens(&message.content)).sum()
    }

    /// The provider broke off: this step ends without an inference, the next one continues.
    pub(super) fn retry_step(&mut self) {
        let Some(open) = self.open.take() else {
            return;
        };
        self.wire.send(Event::StepEnd);
        self.wire.set_step(None);
        self.start_step(open.key, open.text);
        if let Some(next) = &mut self.open {
            next.deltas = open.deltas;
        }
    }

    /// A result of a call of the main thread.
    pub(super) fn result(&mut self, call: &str, content: &str) {
        let Some(round) = &mut self.round else {
            return;
        };
        if let Some(call) = round.calls.iter_mut().find(|known| known.call.id == call) {
            call.result = Some(self.dialect.result(&call.call.name, content));
            call.suspended = None;
        }
    }

    /// A report about a call of the main thread.
    pub(super) fn report(&mut self, call: &str, status: ToolStatus, done: u32, all: u32, message: &str) {
        let Some(tool) = self.round.as_ref().and_then(|round| round.tool(call)) else {
            return;
        };
        let lineage = Lineage {
            thread_id: self.run.thread.clone(),
            run_id: self.run.id.clone(),
            parent_call_id: None,
            parent_run_id: self.run.parent.clone(),
        };
        let report = Report { call: call.to_owned(), tool, status, done, all, message: message.to_owned() };
        self.send_report(&report, &lineage);
    }

    pub(super) fn send_report(&mut self, report: &Report, lineage: &Lineage) {
        if self.quiet {
            return;
        }
        let legacy = self.wire.traps.has(&LEGACY_PROGRESS);
        for event in self.activities.report(self.dialect, report, lineage, legacy) {
            self.wire.send(event);
        }
    }

    pub(super) fn snapshot(&mut self) {
        let snapshot = self.state.snapshot();
        self.wire.send(Event::StateSnapshot(StateSnapshotData { snapshot }));
    }

    /// Stores what is complete, unless the thread was written to in the meantime.
    pub(super) fn checkpoint(&mut self) {
        if self.wire.is_broken() {
            return;
        }
        if let Some(conflict) = self.conflict() {
            return self.wire.conflict(&conflict);
        }
        let mut content = self.thread.content();
        for message in &self.uncommitted {
            self.wire.committed(message, content.messages.len());
        }
        content.messages.append(&mut self.uncommitted);
        content.state = self.state.tree();
        content.touch();
        self.version = content.version;
        drop(content);
        let mut record = self.run.record();
        record.steps = self.totals.steps;
        record.updated_at = now_ms();
    }

    /// Why this run may not write: tirea tolerates no other writer, whatever it wrote.
    pub(super) fn conflict(&self) -> Option<String> {
        if self.dialect == Dialect::Awaken {
            return None;
        }
        let id = &self.run.thread;
        if self.app.own.thread(self.thread.server, id).is_none_or(|now| !Arc::ptr_eq(&now, &self.thread)) {
            return Some(format!("Thread not found: {id}"));
        }
        let (expected, actual) = (self.version, self.thread.content().version);
        (expected != actual).then(|| format!("Version conflict: expected {expected}, actual {actual}"))
    }

    /// The calls of the round that have no result and do not wait.
    pub(super) fn unsettled(&self) -> Vec<String> {
        let calls = self.round.iter().flat_map(|round| &round.calls);
        calls.filter(|call| !call.is_settled()).map(|call| call.call.id.clone()).collect()
    }

    /// The calls of the round that have a result.
    pub(super) fn settled(&self) -> Vec<String> {
        let calls = self.round.iter().flat_map(|round| &round.calls);
        calls.filter(|call| call.result.is_some()).map(|call| call.call.id.clone()).collect()
    }

    /// A call of the round.
    pub(super) fn round_call(&mut self, id: &str) -> Option<&mut RoundCall> {
        self.round.as_mut()?.calls.iter_mut().find(|call| call.call.id == id)
    }
}
