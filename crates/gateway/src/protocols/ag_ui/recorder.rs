//! Turns the steps of a script into events, in the order of the specification.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Value, json};

use super::event::{
    CallEvent, Event, Frame, MessageEvent, Outcome, ReasoningEvent, SubagentEvent, SubagentOutcome, Usage,
    VERSION,
};
use super::threads::App;
use super::wire::Wire;
use crate::agents::{FinishReason, MAIN, MessageKey, Server, Step, SubAgent, Tool, tokens};

/// The model's name that all scripts report.
pub(super) const MODEL: &str = "scripted-1";

/// The ids of one run.
#[derive(Debug, Clone)]
pub(super) struct RunIds {
    pub(super) thread: String,
    pub(super) run: String,
    /// What the ids of its messages begin with.
    pub(super) base: String,
}

/// Writes one run.
pub(super) struct Recorder {
    app: App,
    pub(super) wire: Wire,
    pub(super) ids: RunIds,
    /// The messages that are being streamed.
    open: HashMap<MessageKey, Open>,
    /// Sub-agents by thread.
    pub(super) lanes: BTreeMap<String, Lane>,
    /// Calls that need no result any more.
    pub(super) settled: HashSet<String>,
    /// Arguments that the user has changed, by call.
    pub(super) edited: HashMap<String, Value>,
    /// The questions that must be answered before the script continues.
    pub(super) wanted: Vec<Wanted>,
    messages: u64,
    /// Characters of input and output.
    input_tokens: usize,
    output: usize,
}

/// A question of a script.
#[derive(Debug, Clone)]
pub(super) enum Wanted {
    Consent { thread: String, call: String },
    Response { thread: String, call: String },
    Authorization(Vec<Server>),
}

/// A message that is being streamed.
#[derive(Debug)]
struct Open {
    id: String,
    lane: Option<String>,
    reasoning: Option<String>,
    /// Whether its text is open, and whether it ever was.
    has_text: bool,
    has_begun: bool,
    calls: Vec<String>,
}

/// A sub-agent at work.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) agent: SubAgent,
    is_open: bool,
    /// Its last message.
    words: String,
}

impl Recorder {
    pub(super) fn new(app: App, wire: Wire, ids: RunIds) -> Self {
        let said = wire.conversation.messages.iter().map(|message| tokens(&message.text()));
        Self {
            app,
            input_tokens: said.sum(),
            wire,
            ids,
            open: HashMap::new(),
            lanes: BTreeMap::new(),
            settled: HashSet::new(),
            edited: HashMap::new(),
            wanted: Vec::new(),
            messages: 0,
            output: 0,
        }
    }

    /// The first event. Some servers repeat the request in it.
    pub(super) fn begin(&mut self, input: Option<Value>) {
        self.wire.send(Event::RunStarted {
            thread_id: self.ids.thread.clone(),
            run_id: self.ids.run.clone(),
            protocol_version: Some(VERSION),
            input,
        });
    }

    /// The last event of a run that did not fail.
    pub(super) fn finish(&mut self, outcome: Outcome) {
        let output_tokens = self.output.div_ceil(4);
        let usage = Usage {
            provider: "scripted",
            model: MODEL,
            input_tokens: self.input_tokens,
            output_tokens,
            total_tokens: self.input_tokens + output_tokens,
        };
        self.wire.send(Event::RunFinished {
            thread_id: Some(self.ids.thread.clone()),
            run_id: Some(self.ids.run.clone()),
            outcome: Some(outcome),
            usage: Some(vec![usage]),
        });
    }

    pub(super) fn fail(&mut self, message: impl Into<String>, code: Option<&'static str>) {
        self.wire.send(Event::RunError { message: message.into(), code });
    }

    fn send(&mut self, lane: Option<&String>, event: impl Into<Event>) {
        self.wire.send(Frame { lane: lane.cloned(), ..Frame::from(event.into()) });
    }

    /// Writes the events of a step.
    pub(super) fn record(&mut self, step: Step) {
        match step {
            Step::BeginMessage { message, thread } => self.begin_message(message, &thread),
            Step::Text { message, text } => self.with_open(message, |this, open| this.text(open, text)),
            Step::Reasoning { message, text } => {
                self.with_open(message, |this, open| this.reasoning(open, text));
            }
            Step::BeginCall { message, call, tool, .. } => {
                self.with_open(message, |this, open| this.begin_call(open, call, tool));
            }
            Step::Arguments { message, index, text } => self.with_open(message, |this, open| {
                if let Some(tool_call_id) = open.calls.get(index).cloned() {
                    this.output += text.len();
                    this.send(open.lane.as_ref(), CallEvent::Args { tool_call_id, delta: text });
                }
            }),
            Step::EndMessage { message, reason } => {
                if let Some(mut open) = self.open.remove(&message) {
                    self.end_message(&mut open, Some(reason));
                }
            }
            Step::ToolResult { thread, call, content } => self.result(&thread, &call, content),
            Step::BeginThread(agent) => self.begin_thread(agent),
            Step::EndThread { agent, failure } => self.end_thread(&agent, failure),
            Step::AwaitApproval { thread, calls } => {
                let wanted = calls.into_iter().map(|call| Wanted::Consent { thread: thread.clone(), call });
                self.wanted.extend(wanted);
            }
            Step::AwaitResponse { thread, calls } => {
                let wanted = calls.into_iter().map(|call| Wanted::Response { thread: thread.clone(), call });
                self.wanted.extend(wanted);
            }
            Step::AwaitAuthorization { servers } => self.wanted.push(Wanted::Authorization(servers)),
            Step::Remember { key, value } => self.remember(key, &value),
            Step::WriteFile { sandbox, path, bytes } => self.app.store.sandboxes.write(&sandbox, path, bytes),
            Step::CreateSandbox { sandbox } => self.app.store.sandboxes.create(&sandbox),
            Step::Connect { .. } | Step::Wait(_) | Step::End(_) => {}
        }
    }

    fn with_open(&mut self, key: MessageKey, act: impl FnOnce(&mut Self, &mut Open)) {
        if let Some(mut open) = self.open.remove(&key) {
            act(self, &mut open);
            self.open.insert(key, open);
        }
    }

    fn begin_message(&mut self, key: MessageKey, thread: &str) {
        let lane = self.lane(thread);
        if let Some(lane) = self.lanes.get_mut(thread) {
            lane.words.clear();
        }
        self.messages += 1;
        let id = format!("{}-{}", self.ids.base, self.messages);
        let open = Open { id, lane, reasoning: None, has_text: false, has_begun: false, calls: Vec::new() };
        self.open.insert(key, open);
    }

    fn begin_text(&mut self, open: &mut Open) {
        open.has_text = true;
        open.has_begun = true;
        let start = MessageEvent::Start { message_id: open.id.clone(), role: "assistant", name: None };
        self.send(open.lane.as_ref(), start);
    }

    fn text(&mut self, open: &mut Open, text: String) {
        self.end_reasoning(open);
        if !open.has_text {
            self.begin_text(open);
        }
        self.output += text.len();
        if let Some(lane) = open.lane.as_ref().and_then(|thread| self.lanes.get_mut(thread)) {
            lane.words.push_str(&text);
        }
        let content = MessageEvent::Content { message_id: open.id.clone(), delta: text };
        self.send(open.lane.as_ref(), content);
    }

    fn reasoning(&mut self, open: &mut Open, text: String) {
        if open.reasoning.is_none() {
            let id = format!("{}-reasoning", open.id);
            let lane = open.lane.as_ref();
            self.send(lane, ReasoningEvent::Begin { message_id: id.clone() });
            self.send(lane, ReasoningEvent::Start { message_id: id.clone(), role: "reasoning" });
            open.reasoning = Some(id);
        }
        if let Some(message_id) = open.reasoning.clone() {
            self.output += text.len();
            self.send(open.lane.as_ref(), ReasoningEvent::Content { message_id, delta: text });
        }
    }

    fn end_reasoning(&mut self, open: &mut Open) {
        let Some(id) = open.reasoning.take() else {
            return;
        };
        let lane = open.lane.as_ref();
        self.send(lane, ReasoningEvent::End { message_id: id.clone() });
        let encrypted_value = format!("sealed:{}", &self.ids.base);
        self.send(
            lane,
            ReasoningEvent::Encrypted { subtype: "message", entity_id: id.clone(), encrypted_value },
        );
        self.send(lane, ReasoningEvent::Finish { message_id: id });
    }

    fn end_text(&mut self, open: &mut Open, metadata: Option<Value>) {
        if std::mem::take(&mut open.has_text) {
            let event = Event::from(MessageEvent::End { message_id: open.id.clone() });
            self.wire.send(Frame { lane: open.lane.clone(), metadata, ..Frame::from(event) });
        }
    }

    fn begin_call(&mut self, open: &mut Open, call: String, tool: Tool) {
        self.end_reasoning(open);
        if !open.has_begun {
            self.begin_text(open);
        }
        self.end_text(open, None);
        let (Tool::Remote { name, .. } | Tool::System { name }) = tool;
        let start = CallEvent::Start {
            tool_call_id: call.clone(),
            tool_call_name: name.to_owned(),
            parent_message_id: Some(open.id.clone()),
        };
        self.send(open.lane.as_ref(), start);
        open.calls.push(call);
    }

    fn end_message(&mut self, open: &mut Open, reason: Option<FinishReason>) {
        self.end_reasoning(open);
        if !open.has_begun {
            self.begin_text(open);
        }
        let metadata = match reason {
            Some(reason @ (FinishReason::Length | FinishReason::Refusal)) => {
                Some(json!({"finishReason": reason.as_str()}))
            }
            _ => None,
        };
        self.end_text(open, metadata);
        for tool_call_id in std::mem::take(&mut open.calls) {
            self.send(open.lane.as_ref(), CallEvent::End { tool_call_id });
        }
    }

    /// The result of a call, which may be one of an earlier run.
    pub(super) fn result(&mut self, thread: &str, call: &str, content: String) {
        if !self.settled.insert(call.to_owned()) {
            return;
        }
        let lane = self.lane(thread);
        let content = match self.edited.remove(call) {
            None => Value::String(content),
            // The tool has run with the user's arguments, and reports them.
            Some(edited) => {
                let result = serde_json::from_str(&content).unwrap_or(Value::String(content));
                Value::String(json!({"arguments": edited, "result": result}).to_string())
            }
        };
        let event = CallEvent::Result {
            message_id: uuid::Uuid::new_v4().to_string(),
            tool_call_id: call.to_owned(),
            content,
            role: "tool",
        };
        self.send(lane.as_ref(), event);
    }

    /// A call that no script makes, complete.
    pub(super) fn extra_call(&mut self, id: &str, name: &str, arguments: &Value) {
        let id = || id.to_owned();
        self.send(
            None,
            CallEvent::Start { tool_call_id: id(), tool_call_name: name.to_owned(), parent_message_id: None },
        );
        self.send(None, CallEvent::Args { tool_call_id: id(), delta: arguments.to_string() });
        self.send(None, CallEvent::End { tool_call_id: id() });
    }

    /// The lane of a thread. A sub-agent of an earlier run starts again.
    fn lane(&mut self, thread: &str) -> Option<String> {
        if thread == MAIN {
            return None;
        }
        let lane = self.lanes.get_mut(thread)?;
        if !std::mem::replace(&mut lane.is_open, true) {
            let agent = lane.agent.clone();
            self.start(&agent);
        }
        Some(thread.to_owned())
    }

    /// A sub-agent of an earlier run continues in this one.
    pub(super) fn expect(&mut self, agent: SubAgent) {
        let thread = agent.thread.clone();
        self.lanes.insert(thread, Lane { agent, is_open: false, words: String::new() });
    }

    fn begin_thread(&mut self, agent: SubAgent) {
        let thread = agent.thread.clone();
        self.start(&agent);
        self.lanes.insert(thread, Lane { agent, is_open: true, words: String::new() });
    }

    fn start(&mut self, agent: &SubAgent) {
        let call = &agent.parent_call;
        let mut messages = self.wire.conversation.messages.iter().rev();
        let parent = messages.find(|message| message.calls().any(|made| made.id == call));
        let event = SubagentEvent::Started {
            subagent_run_id: agent.thread.clone(),
            name: agent.name.clone(),
            description: agent.input.clone(),
            parent_tool_call_id: call.clone(),
            parent_message_id: parent.map(|message| message.id().to_owned()),
        };
        self.send(None, event);
    }

    fn end_thread(&mut self, agent: &SubAgent, failure: Option<String>) {
        self.lane(&agent.thread);
        let words = self.lanes.remove(&agent.thread).map(|lane| lane.words).unwrap_or_default();
        let subagent_run_id = agent.thread.clone();
        let (event, result) = match failure {
            None => {
                let (result, outcome) = (Some(words.clone()), SubagentOutcome::Success);
                (SubagentEvent::Finished { subagent_run_id, result, outcome }, words)
            }
            Some(message) => {
                let result = format!("Error: {message}");
                (SubagentEvent::Error { subagent_run_id, message }, result)
            }
        };
        self.send(None, event);
        self.result(&agent.parent_thread, &agent.parent_call, result);
    }

    /// Sub-agents do not outlive the run: their questions are sent, and they continue in a later run.
    pub(super) fn suspend(&mut self, interrupts: &[(String, String)]) -> Vec<SubAgent> {
        let lanes = std::mem::take(&mut self.lanes);
        let mut agents = Vec::new();
        for (thread, lane) in lanes {
            let ids = interrupts.iter().filter(|(of, _)| *of == thread).map(|(_, id)| id.clone());
            let interrupt_ids: Vec<String> = ids.collect();
            if lane.is_open {
                let outcome = SubagentOutcome::Suspended { interrupt_ids };
                self.send(None, SubagentEvent::Finished { subagent_run_id: thread, result: None, outcome });
            }
            agents.push(lane.agent);
        }
        agents
    }

    /// The user stops the run: what is open ends where it is.
    pub(super) fn stop(&mut self) {
        let mut open: Vec<Open> = self.open.drain().map(|(_, open)| open).collect();
        open.sort_by(|a, b| a.id.cmp(&b.id));
        for mut open in open {
            if open.has_begun || open.reasoning.is_some() {
                self.end_reasoning(&mut open);
                self.end_text(&mut open, None);
                for tool_call_id in std::mem::take(&mut open.calls) {
                    self.send(open.lane.as_ref(), CallEvent::End { tool_call_id });
                }
            }
        }
        for (thread, lane) in std::mem::take(&mut self.lanes) {
            if lane.is_open {
                let message = "Run stopped by user".to_owned();
                self.send(None, SubagentEvent::Error { subagent_run_id: thread, message });
            }
        }
        self.wire.send(Event::RunFinished { thread_id: None, run_id: None, outcome: None, usage: None });
    }

    /// Facts are in the state, which the client sends back.
    fn remember(&mut self, key: &str, value: &str) {
        if self.wire.state.is_object() {
            let delta = json!([{"op": "add", "path": format!("/{key}"), "value": value}]);
            self.wire.send(Event::StateDelta { delta });
        } else {
            self.wire.send(Event::StateSnapshot { snapshot: json!({key: value}) });
        }
    }
}
