//! Steps of a script as TrueFoundry events: numbered on the stream, complete ones kept.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::caller::{Dialect, Subject};
use super::message::{self, Head};
use super::wire::{
    AgentInfo, CallRef, Event, McpAuthorization, McpSession, Metrics, Parent, Required, ThreadState,
    TurnState,
};
use crate::agents::{Drafts, MAIN, MessageKey, Resume, Server, Step, SubAgent, tokens};
use crate::context::App;
use crate::http::write_frame;
use crate::store::{Entry, Pending, PendingCall, Turn};
use crate::time::{iso, now};
use crate::turns::Stop;

/// Writes one running turn.
pub(crate) struct TurnRecorder {
    app: App,
    turn: Arc<Turn>,
    /// Where the user's browser reaches this gateway.
    origin: String,
    drafts: Drafts<Head>,
    /// The message that each call stands in.
    sources: HashMap<String, String>,
    /// The last complete message of each thread.
    outputs: HashMap<String, Box<RawValue>>,
    required: Vec<Box<RawValue>>,
    pending: Pending,
    metrics: Metrics,
    /// Tokens that a message starting now would read.
    context_tokens: usize,
}

impl TurnRecorder {
    /// Begins a turn with its `turn.created`.
    pub(crate) fn begin(app: App, turn: Arc<Turn>, dialect: Dialect, origin: String) -> Self {
        let recorder = Self {
            context_tokens: tokens(&turn.text),
            app,
            turn,
            origin,
            drafts: Drafts::default(),
            sources: HashMap::new(),
            outputs: HashMap::new(),
            required: Vec::new(),
            pending: Pending::default(),
            metrics: Metrics::default(),
        };
        let created = Event::TurnCreated {
            id: recorder.next_id(),
            turn_id: recorder.turn.id.clone(),
            previous_turn_id: recorder.turn.previous.clone(),
            input: recorder.turn.input.clone(),
            state: TurnState::Running,
            created_by: (dialect == Dialect::Gateway).then(|| Subject::of(&recorder.turn.creator)),
            created_at: iso(recorder.turn.created_at),
            thread_id: (),
        };
        recorder.keep(raw(&created), true);
        recorder.send(&created);
        recorder
    }

    fn next_id(&self) -> String {
        self.app.store.ids.next()
    }

    fn send(&self, event: &impl Serialize) {
        send(&self.turn, event);
    }

    /// Keeps an event for the lists that are read after the turn.
    fn keep(&self, json: Box<RawValue>, lifecycle: bool) {
        let entry = Entry { json, lifecycle };
        self.turn.progress().history.push(entry);
    }

    /// An event that is both streamed and kept.
    fn publish(&self, event: &Event) -> Box<RawValue> {
        let json = raw(event);
        self.keep(json.clone(), false);
        self.send(&json);
        json
    }

    fn begin_message(&mut self, key: MessageKey, thread: String) {
        let head = Head { id: self.next_id(), created_at: iso(now()), fresh: true };
        self.send(&head.base(&thread));
        self.drafts.begin(key, thread, head);
    }

    /// Adds to a message, and streams what was added.
    fn add(&mut self, step: &Step) {
        let Some(draft) = self.drafts.add(step) else {
            return;
        };
        if let Step::BeginCall { call, .. } = step {
            self.sources.insert(call.clone(), draft.own.id.clone());
        }
        send(&self.turn, &message::delta(draft, step));
        draft.own.fresh = false;
    }

    fn end_message(&mut self, key: MessageKey, reason: &'static str) {
        let Some(draft) = self.drafts.end(key) else {
            return;
        };
        let usage = message::usage(&draft, self.context_tokens);
        self.send(&message::last_delta(&draft, reason, usage));
        self.metrics.total_input_tokens += usage.input_tokens;
        self.metrics.total_output_tokens += usage.output_tokens;
        self.context_tokens += usage.output_tokens;
        let json = raw(&message::complete(&draft, reason, usage));
        self.keep(json.clone(), false);
        self.outputs.insert(draft.thread, json);
    }

    fn connect(&self, thread: String, servers: Vec<Server>) {
        let session = |server: Server| McpSession {
            id: server.id,
            name: server.name,
            session_id: uuid::Uuid::new_v4().to_string(),
            transport_type: "streamable-http",
        };
        self.publish(&Event::McpInitialize {
            id: self.next_id(),
            thread_id: thread,
            created_at: iso(now()),
            mcp_servers: servers.into_iter().map(session).collect(),
        });
    }

    fn begin_thread(&self, agent: SubAgent) {
        self.publish(&Event::ThreadCreated {
            id: self.next_id(),
            thread_id: agent.thread,
            created_at: iso(now()),
            title: agent.title,
            parent: Parent { thread_id: agent.parent_thread, tool_call_id: agent.parent_call },
            agent_info: AgentInfo {
                kind: "dynamic",
                name: agent.name,
                input: agent.input,
                model: agent.model,
            },
        });
    }

    /// A sub-agent's end is first an empty result of the call that started it.
    fn end_thread(&mut self, agent: SubAgent, failure: Option<String>) {
        self.respond(agent.parent_thread.clone(), agent.parent_call.clone(), String::new());
        let output = self.outputs.remove(&agent.thread);
        self.publish(&Event::ThreadDone {
            id: self.next_id(),
            thread_id: agent.thread,
            created_at: iso(now()),
            title: agent.title,
            parent: Parent { thread_id: agent.parent_thread, tool_call_id: agent.parent_call },
            state: match failure {
                None => ThreadState::Done { output },
                Some(error) => ThreadState::Error { error, output },
            },
        });
    }

    fn respond(&mut self, thread_id: String, tool_call_id: String, content: String) {
        self.context_tokens += tokens(&content);
        self.publish(&Event::ToolResponse {
            id: self.next_id(),
            thread_id,
            created_at: iso(now()),
            tool_call_id,
            content,
        });
    }

    fn require(&mut self, thread: &str, calls: Vec<String>, approval: bool) {
        let reference = |id: &String| CallRef {
            id: id.clone(),
            source_event_id: self.sources.get(id).cloned().unwrap_or_default(),
        };
        let required = Required {
            id: self.next_id(),
            thread_id: thread.to_owned(),
            created_at: iso(now()),
            tool_calls: calls.iter().map(reference).collect(),
        };
        let json = self.publish(&if approval {
            Event::ApprovalRequired(required)
        } else {
            Event::ResponseRequired(required)
        });
        self.required.push(json);
        let pending = calls.into_iter().map(|call| PendingCall { thread: thread.to_owned(), call, approval });
        self.pending.calls.extend(pending);
    }

    fn require_authorization(&mut self, servers: Vec<Server>) {
        let authorization = |server: Server| McpAuthorization {
            id: server.id,
            name: server.name,
            auth_url: format!("{}/authorize/{}", self.origin, server.name),
        };
        let json = self.publish(&Event::McpAuthRequired {
            id: self.next_id(),
            thread_id: (),
            created_at: iso(now()),
            mcp_servers: servers.into_iter().map(authorization).collect(),
        });
        self.required.push(json);
        self.pending.authorization = true;
    }

    fn create_sandbox(&self, sandbox: String) {
        self.app.store.sandboxes.create(&sandbox);
        self.publish(&Event::SandboxCreated {
            id: self.next_id(),
            thread_id: (),
            created_at: iso(now()),
            sandbox_id: sandbox,
        });
    }

    /// Ends the turn: its state can be read before its last event is seen.
    fn close(&mut self, state: impl FnOnce(String, Metrics) -> TurnState) {
        let mut metrics = self.metrics;
        metrics.total_tokens = metrics.total_input_tokens + metrics.total_output_tokens;
        metrics.total_cost_in_usd = cost(&metrics);
        let at = iso(now());
        let state = state(at.clone(), metrics);
        let done =
            Event::TurnDone { id: self.next_id(), state: state.clone(), created_at: at, thread_id: () };
        self.keep(raw(&done), true);
        self.turn.progress().state = Some(raw(&state));
        self.send(&done);
        self.turn.log.close();
    }
}

impl TurnRecorder {
    /// Records a step.
    pub(super) fn record(&mut self, step: Step) {
        match step {
            Step::Wait(_) | Step::End(_) => {}
            Step::Connect { thread, servers } => self.connect(thread, servers),
            Step::CreateSandbox { sandbox } => self.create_sandbox(sandbox),
            Step::WriteFile { sandbox, path, bytes } => self.app.store.sandboxes.write(&sandbox, path, bytes),
            Step::BeginMessage { message, thread } => self.begin_message(message, thread),
            Step::Text { .. } | Step::Reasoning { .. } | Step::BeginCall { .. } | Step::Arguments { .. } => {
                self.add(&step);
            }
            Step::EndMessage { message, reason } => self.end_message(message, reason.as_str()),
            Step::ToolResult { thread, call, content } => self.respond(thread, call, content),
            Step::BeginThread(agent) => self.begin_thread(agent),
            Step::EndThread { agent, failure } => self.end_thread(agent, failure),
            Step::AwaitApproval { thread, calls } => self.require(&thread, calls, true),
            Step::AwaitResponse { thread, calls } => self.require(&thread, calls, false),
            Step::AwaitAuthorization { servers } => self.require_authorization(servers),
            Step::Remember { key, value } => {
                self.turn.progress().memory.insert(key, value);
            }
        }
    }

    /// The turn ends because something must be answered first.
    pub(super) fn pause(&mut self, resume: Resume) {
        {
            let mut progress = self.turn.progress();
            progress.pending = std::mem::take(&mut self.pending);
            progress.resume = Some(resume);
        }
        let required_actions = std::mem::take(&mut self.required);
        self.done(None, required_actions);
    }

    /// The script has ended, or the agent failed.
    pub(super) fn end(&mut self, failure: Option<String>) {
        match failure {
            None => {
                let output = self.outputs.remove(MAIN);
                self.done(output, Vec::new());
            }
            Some(message) => {
                self.close(|completed_at, metrics| TurnState::Error { message, completed_at, metrics });
            }
        }
    }

    fn done(&mut self, output: Option<Box<RawValue>>, required_actions: Vec<Box<RawValue>>) {
        self.close(|completed_at, metrics| TurnState::Done {
            output,
            required_actions,
            completed_at,
            metrics,
        });
    }

    pub(super) fn stop(&mut self, reason: Stop) {
        let reason = match reason {
            Stop::Cancelled | Stop::Abandoned => "client-cancelled",
            Stop::NextTurn => "cancelled-for-next-turn",
            Stop::TimeLimit => "server-execution-timeout",
        };
        self.close(|completed_at, metrics| TurnState::Cancelled { reason, completed_at, metrics });
    }
}

/// Writes an event to a turn's stream: data first, then its number.
fn send(turn: &Turn, event: &impl Serialize) {
    turn.log.append(|number, bytes| write_frame(bytes, "", event, &id_line(number)));
}

/// How a frame says its number.
pub(super) fn id_line(number: u64) -> String {
    format!("id: {number}\n")
}

/// The JSON of an event. Our own types always serialize; `null` would show a defect.
fn raw(event: &impl Serialize) -> Box<RawValue> {
    to_raw_value(event).unwrap_or_default()
}

/// What the tokens would cost at common prices.
#[allow(clippy::cast_precision_loss)] // token counts are far below 2^52
fn cost(metrics: &Metrics) -> f64 {
    (metrics.total_input_tokens as f64).mul_add(3e-6, metrics.total_output_tokens as f64 * 15e-6)
}
