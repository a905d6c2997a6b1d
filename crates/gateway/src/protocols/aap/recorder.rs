//! Turns the steps of a script into messages: streamed in the requested mode, and stored.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Serialize;

use super::message::{Block, Call, Content, Message};
use super::session::{App, Session};
use super::sub_agents::SubAgents;
use super::traps::{
    BLOCK_RESULTS, PLAIN_CONTENT, SILENT_GRANT, TEXT_FIRST, THROW, TWICE_STORED, UNKNOWN_TERMINATION,
    USE_DENIED,
};
use super::wire::{Event, Mode, StopReason, Wire};
use crate::agents::{Draft, Drafts, FinishReason, MAIN, Step};
use crate::faults::Traps;

/// Writes one turn.
pub(super) struct Recorder {
    app: App,
    pub(super) session: Arc<Session>,
    pub(super) wire: Wire,
    pub(super) traps: Traps,
    pub(super) sub_agents: SubAgents,
    /// Calls that need no result any more.
    pub(super) settled: HashSet<String>,
    drafts: Drafts<()>,
    /// What the turn adds to the conversation.
    messages: Vec<Message>,
    /// Pieces of text so far.
    deltas: u64,
    finish: Option<FinishReason>,
}

/// The answer of a turn that is not streamed.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TurnResponse {
    stop_reason: StopReason,
    messages: Vec<Message>,
}

impl Recorder {
    pub(super) fn new(app: App, session: Arc<Session>, wire: Wire, traps: Traps) -> Self {
        Self {
            app,
            session,
            wire,
            traps,
            sub_agents: SubAgents::default(),
            settled: HashSet::new(),
            drafts: Drafts::default(),
            messages: Vec::new(),
            deltas: 0,
            finish: None,
        }
    }

    /// Writes the events of a step. Returns the calls of a message that ends with some.
    pub(super) fn record(&mut self, step: Step) -> Option<Vec<Call>> {
        if let Step::EndMessage { message, reason } = step
            && self.drafts.on(MAIN).is_some_and(|(key, _)| key == message)
        {
            self.finish = Some(reason);
            return self.end_message();
        }
        if let Some((call, content)) = self.aside(step) {
            self.result(&call, content);
        }
        None
    }

    /// Records a step that does not end a message of the agent. Returns a call's id and result, if the step has one.
    pub(super) fn aside(&mut self, step: Step) -> Option<(String, String)> {
        self.say(&step);
        match step {
            Step::BeginMessage { message, thread } => self.drafts.begin(message, thread, ()),
            Step::EndMessage { message, .. } => self.sub_agents.said(self.drafts.end(message)?),
            Step::WriteFile { sandbox, path, bytes } => self.app.store.sandboxes.write(&sandbox, path, bytes),
            Step::CreateSandbox { sandbox } => self.app.store.sandboxes.create(&sandbox),
            Step::Remember { key, value } => {
                self.session.state().conversation.memory.insert(key, value);
            }
            other => return self.sub_agents.follow(other),
        }
        None
    }

    /// Adds to a message, and sends what was added if it is the agent's own message.
    fn say(&mut self, step: &Step) {
        if self.drafts.add(step).is_none_or(|draft| draft.thread != MAIN) {
            return;
        }
        let event = match step {
            Step::Text { text, .. } => Event::TextDelta { delta: text },
            Step::Reasoning { text, .. } => Event::ThinkingDelta { delta: text },
            _ => return,
        };
        self.deltas += 1;
        if self.wire.mode == Mode::Delta {
            self.wire.send(&event);
        }
    }

    /// Whether the model has failed by now, under the trap.
    pub(super) fn has_thrown(&self) -> bool {
        self.traps.number(&THROW).is_some_and(|after| self.deltas >= after)
    }

    /// Ends the open message, if there is one: streams it if that is not done yet, and stores it.
    fn end_message(&mut self) -> Option<Vec<Call>> {
        let Draft { reasoning, text, calls, .. } = self.drafts.end_on(MAIN)?;
        let calls = calls.iter().map(|call| {
            let name = call.tool.name().to_owned();
            Call { id: call.id.clone(), name, input: call.input() }
        });
        let calls: Vec<Call> = calls.collect();
        let mut said = Vec::new();
        if !reasoning.is_empty() {
            said.push(Block::Thinking { thinking: reasoning });
        }
        if !text.is_empty() {
            said.push(Block::Text { text });
        }
        if self.traps.has(&TEXT_FIRST) {
            said.reverse();
        }
        if self.wire.mode == Mode::Message {
            for block in &said {
                match block {
                    Block::Text { text } => self.wire.send(&Event::Text { text }),
                    Block::Thinking { thinking } => self.wire.send(&Event::Thinking { thinking }),
                    Block::ToolUse(_) | Block::Image { .. } => {}
                }
            }
        }
        for call in &calls {
            self.wire.send(&Event::ToolCall(call));
        }
        said.extend(calls.iter().cloned().map(Block::ToolUse));
        if !said.is_empty() {
            let content = self.content(said);
            self.store(Message::Assistant { content });
        }
        (!calls.is_empty()).then_some(calls)
    }

    /// A server tool ran without permission being needed.
    pub(super) fn result(&mut self, call: &str, content: String) {
        if !self.settled.insert(call.to_owned()) {
            return;
        }
        let content = self.result_content(content);
        self.wire.send(&Event::ToolResult { tool_call_id: call, content: &content });
        let message = Message::result(call, content);
        if self.traps.has(&TWICE_STORED) {
            self.session.state().history.push(message.clone());
        }
        self.store(message);
    }

    /// A server tool ran because it was allowed to.
    pub(super) fn granted(&mut self, call: &str, content: String) {
        if !self.settled.insert(call.to_owned()) {
            return;
        }
        let content = self.result_content(content);
        if self.traps.has(&SILENT_GRANT) {
            self.session.state().history.push(Message::result(call, content));
            return;
        }
        self.wire.send(&Event::ToolResult { tool_call_id: call, content: &content });
        self.store(Message::result(call, content));
    }

    /// The client's own result, or the replacement for a denied one: it appears only in the history.
    pub(super) fn settle(&mut self, call: &str, content: Content) {
        self.settled.insert(call.to_owned());
        self.session.state().history.push(Message::result(call, content));
    }

    /// What is stored in place of the result of a call that was denied.
    pub(super) fn denial(&self, reason: Option<&str>) -> String {
        let what = if self.traps.has(&USE_DENIED) { "Tool use denied" } else { "Tool call denied" };
        reason.map_or_else(|| what.to_owned(), |reason| format!("{what}: {reason}"))
    }

    /// The content of a server tool's result.
    fn result_content(&self, text: String) -> Content {
        if self.traps.has(&BLOCK_RESULTS) {
            Content::Parts(vec![Block::Text { text }])
        } else {
            Content::Text(text)
        }
    }

    /// The content of an assistant's message.
    fn content(&self, mut blocks: Vec<Block>) -> Content {
        match blocks.pop() {
            Some(Block::Text { text }) if blocks.is_empty() && self.traps.has(&PLAIN_CONTENT) => {
                Content::Text(text)
            }
            last => {
                blocks.extend(last);
                Content::Parts(blocks)
            }
        }
    }

    fn store(&mut self, message: Message) {
        self.session.state().history.push(message.clone());
        self.messages.push(message);
    }

    /// The reason for which a turn ends at the end of its script.
    pub(super) fn reason(&self) -> StopReason {
        match self.finish {
            Some(FinishReason::Length) => StopReason::MaxTokens,
            Some(FinishReason::Refusal) => StopReason::Refusal,
            Some(FinishReason::Stop | FinishReason::ToolCalls) | None => StopReason::EndTurn,
        }
    }

    /// The last event, and the response for clients that read no events.
    pub(super) fn stop(&mut self, reason: StopReason) -> TurnResponse {
        // The part of a message before it broke off belongs to the conversation.
        self.end_message();
        let unknown = self.traps.has(&UNKNOWN_TERMINATION);
        let stop_reason = if unknown { StopReason::QuotaExhausted } else { reason };
        self.wire.send(&Event::TurnStop { stop_reason });
        TurnResponse { stop_reason, messages: std::mem::take(&mut self.messages) }
    }

    /// The model failed, and the server does not handle that.
    pub(super) fn throw(&mut self) {
        self.drafts.end_on(MAIN);
        let stop_reason = StopReason::Error;
        if self.wire.mode == Mode::Delta {
            self.wire.send(&Event::TurnStop { stop_reason });
            self.wire.send(&Event::TurnStop { stop_reason });
        }
    }
}
