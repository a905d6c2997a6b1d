//! Steps of a script as the events of a run, in the order of each dialect.
//!
//! A message of the script is a step; its calls make a round of tools. One dialect announces the
//! calls and their results after the step, the other within it.
//!
//! - `round`: the calls of one message; `ending`: the end of a run;
//! - `commit`: what is written into the thread;
//! - `sub_agents`: what sub-agents do; `traps`: the traps of a run.

mod commit;
mod ending;
mod round;
mod sub_agents;
mod traps;

use std::sync::Arc;

use serde_json::Value;
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
use crate::agents::{Draft, Drafts, MAIN, MessageKey, Step, tokens};
use commit::Commits;
use round::{Round, RoundCall};

/// The name of the model behind all scripts.
const MODEL: &str = "scripted-1";
/// Tokens that every request to the model has.
const HARNESS_TOKENS: usize = 512;

/// Writes one run.
pub(super) struct Recorder {
    pub(super) app: App,
    pub(super) thread: Arc<Thread>,
    pub(super) run: Arc<Run>,
    pub(super) wire: Wire,
    pub(super) state: State,
    pub(super) totals: Totals,
    /// The message of the main thread: the step that streams.
    pub(super) drafts: Drafts<OpenStep>,
    pub(super) round: Option<Round>,
    pub(super) sub_agents: SubAgents,
    pub(super) activities: Activities,
    pub(super) commits: Commits,
}

/// A step that is being streamed.
#[derive(Debug)]
pub(super) struct OpenStep {
    index: u32,
    message_id: String,
    /// Text deltas so far.
    deltas: u64,
    began: Instant,
}

impl OpenStep {
    /// How long the step has taken so far.
    fn milliseconds(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or_default()
    }
}

impl Recorder {
    pub(super) fn new(app: App, thread: Arc<Thread>, run: Arc<Run>, wire: Wire) -> Self {
        let (state, commits) = {
            let content = thread.content();
            let state = State::begin(thread.server.dialect(), content.state.clone(), &run.id);
            (state, Commits::after(content.writes.version))
        };
        Self {
            app,
            thread,
            run,
            wire,
            state,
            totals: Totals::default(),
            drafts: Drafts::default(),
            round: None,
            sub_agents: SubAgents::default(),
            activities: Activities::default(),
            commits,
        }
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.thread.server.dialect()
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
                content.messages.iter().map(|message| message.show(self.dialect())).collect();
            drop(content);
            self.wire.send(Event::MessagesSnapshot(MessagesSnapshotData { messages: typed(&messages) }));
        }
    }

    pub(super) fn identity(&self) -> Option<RunIdentity> {
        (self.dialect() == Dialect::Awaken).then(|| RunIdentity {
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
            Step::BeginMessage { message, thread } => self.sub_agents.drafts.begin(message, thread, ()),
            Step::Text { .. } | Step::Reasoning { .. } | Step::BeginCall { .. } | Step::Arguments { .. } => {
                self.add(step);
            }
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
                self.thread.content().conversation.memory.insert(key, value);
            }
            Step::Wait(_) | Step::Connect { .. } | Step::AwaitAuthorization { .. } | Step::End(_) => {}
        }
    }

    fn begin_step(&mut self, key: MessageKey) {
        self.finish_round();
        self.state.begin_step();
        if self.start_step(key, 0) == 0 {
            self.apply_step_traps();
        }
    }

    /// Starts a step. Returns its number.
    fn start_step(&mut self, key: MessageKey, deltas: u64) -> u32 {
        let message_id = message_id();
        let index = self.wire.begin_step();
        self.wire.send(Event::StepStart(StepStart { message_id: message_id.clone() }));
        let step = OpenStep { index, message_id, deltas, began: Instant::now() };
        self.drafts.begin(key, MAIN.to_owned(), step);
        index
    }

    fn end_step(&mut self) {
        self.wire.send(Event::StepEnd);
        self.wire.end_step();
    }

    /// Adds to a message of the run or of a sub-agent, and sends what was added.
    pub(super) fn add(&mut self, step: Step) {
        let Some(draft) = self.drafts.add(&step) else {
            return self.add_of_sub_agent(&step);
        };
        match step {
            Step::Text { text, .. } => {
                draft.own.deltas += 1;
                let deltas = draft.own.deltas;
                self.wire.send(Event::TextDelta(TextDeltaData { delta: text }));
                self.apply_text_traps(deltas);
            }
            Step::Reasoning { text, .. } => {
                self.wire.send(Event::ReasoningDelta(TextDeltaData { delta: text }));
            }
            Step::BeginCall { call, tool, .. } => {
                let name = tool.name().to_owned();
                self.wire.send(Event::ToolCallStart(ToolCallStart { id: call, name }));
            }
            Step::Arguments { index, text, .. } => {
                let id = draft.calls[index].id.clone();
                self.wire.send(Event::ToolCallDelta(ToolCallDeltaData { id, args_delta: text }));
            }
            _ => {}
        }
    }

    fn end_message(&mut self, key: MessageKey) {
        if let Some(draft) = self.sub_agents.drafts.end(key) {
            return self.end_sub_message(draft);
        }
        let has_calls = self.drafts.on(MAIN).is_some_and(|(_, draft)| !draft.calls.is_empty());
        if has_calls && self.wire.traps.take(&SUSPEND_LIVE).is_some() {
            self.extra_call();
        }
        let Some(draft) = self.drafts.end(key) else {
            return;
        };
        let calls = tool_calls(&draft);
        if self.dialect() == Dialect::Awaken {
            self.announce(&calls);
        }
        self.infer(&draft);
        let Draft { own: step, text, .. } = draft;
        let mut message = Message::new(Role::Assistant, text.clone());
        message.id = Some(step.message_id);
        message.tool_calls.clone_from(&calls);
        message.run_id = Some(self.run.id.clone());
        message.step = Some(step.index);
        self.commits.add(message);
        self.totals.response = text;
        let round = Round::new(step.index, calls);
        match self.dialect() {
            Dialect::Tirea => {
                self.checkpoint();
                self.end_step();
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

    fn infer(&mut self, draft: &Draft<OpenStep>) {
        let arguments: usize = draft.calls.iter().map(|call| tokens(&call.arguments)).sum();
        let thinking = tokens(&draft.reasoning);
        let completion = tokens(&draft.text) + arguments + thinking;
        let prompt = HARNESS_TOKENS + self.context_tokens();
        self.totals.input_tokens += prompt;
        self.totals.output_tokens += completion;
        self.totals.steps += 1;
        if !draft.text.is_empty() {
            self.totals.texts.push(draft.text.clone());
        }
        let usage = TokenUsage {
            prompt_tokens: Some(prompt as u64),
            completion_tokens: Some(completion as u64),
            total_tokens: Some((prompt + completion) as u64),
            cache_read_tokens: Some(HARNESS_TOKENS as u64 / 2),
            cache_creation_tokens: None,
            thinking_tokens: Some(thinking as u64),
        };
        self.state.inferred(&self.totals);
        self.wire.send(Event::InferenceComplete(InferenceComplete {
            model: MODEL.to_owned(),
            usage: Some(usage),
            duration_ms: draft.own.milliseconds(),
        }));
    }

    fn context_tokens(&self) -> usize {
        self.thread.content().messages.iter().map(|message| tokens(&message.content)).sum()
    }

    /// The provider broke off: this step ends without an inference, the next one continues with its text.
    pub(super) fn retry_step(&mut self) {
        let Some((message, _)) = self.drafts.on(MAIN) else {
            return;
        };
        let Some(Draft { own: step, text, .. }) = self.drafts.end(message) else {
            return;
        };
        self.end_step();
        self.start_step(message, step.deltas);
        self.drafts.add(&Step::Text { message, text });
    }

    /// A result of a call of the main thread.
    pub(super) fn result(&mut self, call: &str, content: &str) {
        let dialect = self.dialect();
        let Some(round) = &mut self.round else {
            return;
        };
        if let Some(call) = round.calls.iter_mut().find(|known| known.call.id == call) {
            call.result = Some(dialect.result(&call.call.name, content));
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
        let legacy = self.wire.traps.has(&LEGACY_PROGRESS);
        for event in self.activities.report(self.dialect(), report, lineage, legacy) {
            self.wire.send(event);
        }
    }

    pub(super) fn snapshot(&mut self) {
        let snapshot = self.state.snapshot();
        self.wire.send(Event::StateSnapshot(StateSnapshotData { snapshot }));
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

/// The calls of a message, complete.
fn tool_calls<T>(draft: &Draft<T>) -> Vec<ToolCall> {
    let calls = draft.calls.iter().map(|call| ToolCall {
        id: call.id.clone(),
        name: call.tool.name().to_owned(),
        arguments: Value::Object(call.input()),
    });
    calls.collect()
}
