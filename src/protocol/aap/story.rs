//! Messages of a history → the events that a turn's stream would have had, whole.
//!
//! Messages are counted by the same rule as in a stream (section 4), so that both have the same ids: a message contains
//! everything from the agent until a tool's result.

use crate::event::MAIN_THREAD;
use crate::json::{Object, Value};
use crate::names::Names;
use crate::protocol::fields::{Problem, event, put, text_or_null, unknown, with_text};

use super::blocks::{Block, ToolUse, blocks, content};
use super::ids::{self, Maker};
use super::terms::{own_tools, trusted};
use super::{results, waiting};

/// The events of a turn's messages.
pub(super) struct Story<'p, 'a> {
    turn_id: &'p str,
    events: Vec<Object<'a>>,
    /// The open message, which receives the agent's text, and its index among the events.
    open: Option<(usize, Message<'a>)>,
    /// The number of messages.
    messages: u64,
    /// The calls by their ids.
    names: Names,
    calls: Vec<Call>,
    /// The calls of the last message on the server, and the number of the message that makes them here.
    last: Vec<(u64, ToolUse)>,
    /// Whether the last message is text of the agent.
    is_spoken: bool,
    /// The calls of an earlier turn that this one answers; `None` if it answers none.
    answered: Option<&'p [String]>,
}

/// A session's tools by who runs them, if that is known; all others ask for permission.
pub(super) struct Tools {
    /// The client's tools.
    pub(super) own: Vec<String>,
    /// The tools that the server runs without asking.
    pub(super) trusted: Vec<String>,
}

impl Tools {
    /// The tools in a call's parameters.
    pub(super) fn of(params: &Object<'_>) -> Self {
        Self { own: own_tools(params), trusted: trusted(params) }
    }
}

/// The newest call of an id.
#[derive(Default)]
struct Call {
    maker: Maker,
    is_answered: bool,
}

/// A message that is not complete.
#[derive(Default)]
struct Message<'a> {
    content: String,
    reasoning: String,
    calls: Vec<Value<'a>>,
}

impl<'p, 'a> Story<'p, 'a> {
    /// Reads a turn's messages.
    pub(super) fn of(turn_id: &'p str, messages: &[Value<'a>], answered: Option<&'p [String]>) -> Self {
        let mut story = Self {
            turn_id,
            events: Vec::new(),
            open: None,
            messages: 0,
            names: Names::default(),
            calls: Vec::new(),
            last: Vec::new(),
            is_spoken: false,
            answered,
        };
        for message in messages {
            story.message(message);
        }
        story.close();
        story
    }

    /// The events of a turn that another one has followed, oldest first.
    pub(super) fn into_past(self) -> Vec<Object<'a>> {
        self.events
    }

    /// The events, oldest first, and after them the questions that end the turn.
    pub(super) fn into_events(mut self, tools: &Tools) -> Vec<Object<'a>> {
        let questions = self.questions(tools).unwrap_or_default();
        self.events.extend(questions);
        self.events
    }

    /// The turn's state. It has ended if its last message is text of the agent, or if it waits for answers.
    pub(super) fn state(&self, tools: &Tools, is_followed: bool) -> Object<'a> {
        let questions = if is_followed { Some(Vec::new()) } else { self.questions(tools) };
        let ended = questions.filter(|questions| is_followed || self.is_spoken || !questions.is_empty());
        let Some(questions) = ended else {
            return with_text("status", "running");
        };
        let is_paused = !questions.is_empty();
        let last = self.events.iter().rfind(|event| event.text("type") == "model.message");
        let output = last.filter(|_| self.is_spoken && !is_paused).cloned();
        done(output, questions)
    }

    fn message(&mut self, message: &Value<'a>) {
        let role = message.as_object().map_or("", |message| message.text("role"));
        match (role, message.as_object()) {
            ("assistant", Some(message)) => self.agent_message(message),
            ("tool", Some(message)) if !message.text("toolCallId").is_empty() => self.result(message),
            ("system" | "user", _) => {}
            _ => self.unknown(role, message.clone(), None),
        }
    }

    /// Reads a message of the agent.
    fn agent_message(&mut self, message: &Object<'a>) {
        self.is_spoken = true;
        self.last.clear();
        for block in blocks(content(message)) {
            match block {
                Block::Text("") | Block::Thinking("") => {}
                Block::Text(text) => self.open().content.push_str(text),
                Block::Thinking(text) => self.open().reasoning.push_str(text),
                Block::Call(fields) => {
                    if let Err(problem) = ToolUse::of(fields).and_then(|call| self.call(call)) {
                        self.unknown("tool_use", fields.clone().into(), Some(problem));
                    }
                }
                Block::Image(_, block) | Block::Other(block) => {
                    let kind = block.as_object().map_or("", |block| block.text("type"));
                    self.unknown(kind, block.clone(), None);
                }
            }
        }
    }

    /// The open message; opens one if needed.
    fn open(&mut self) -> &mut Message<'a> {
        if self.open.is_none() {
            self.events.push(Object::new());
            self.messages += 1;
        }
        let at = self.events.len().saturating_sub(1);
        &mut self.open.get_or_insert_with(|| (at, Message::default())).1
    }

    fn call(&mut self, call: ToolUse) -> Result<(), Problem> {
        self.open();
        let number = self.messages - 1;
        let known = self.known(&call.id);
        if known.maker == Some(number) {
            return Err("the message already has this call".to_owned());
        }
        *known = Call { maker: Some(number), is_answered: false };
        self.open().calls.push(call.to_call().into());
        self.last.push((number, call));
        Ok(())
    }

    fn known(&mut self, call_id: &str) -> &mut Call {
        let (number, is_new) = self.names.number(call_id);
        if is_new {
            self.calls.push(Call::default());
        }
        &mut self.calls[number as usize]
    }

    /// Reads a tool's result. A server may have it twice (section 9).
    fn result(&mut self, message: &Object<'a>) {
        let call_id = message.text("toolCallId");
        let is_early = self.messages == 0 && self.names.get(call_id).is_none();
        let is_foreign = |answered: &[String]| is_early && !answered.iter().any(|id| id == call_id);
        if self.answered.is_some_and(is_foreign) {
            // The result belongs to the turn before, which answered some of its calls itself.
            return;
        }
        self.close();
        self.is_spoken = false;
        let known = self.known(call_id);
        if !std::mem::replace(&mut known.is_answered, true) {
            let maker = known.maker;
            match results::check(content(message)) {
                Ok(()) => {
                    self.events.push(results::response(self.turn_id, maker, call_id, content(message)));
                }
                Err(problem) => self.unknown("tool", message.clone().into(), Some(problem)),
            }
        }
    }

    /// Completes the open message.
    fn close(&mut self) {
        let Some((at, message)) = self.open.take() else { return };
        let mut event = event("model.message", ids::message(self.turn_id, self.messages - 1), MAIN_THREAD);
        let reason = if message.calls.is_empty() { "stop" } else { "tool_calls" };
        for (name, text) in [("content", message.content), ("reasoning_content", message.reasoning)] {
            if !text.is_empty() {
                event.set(name, text.into());
            }
        }
        if !message.calls.is_empty() {
            event.set("tool_calls", message.calls.into());
        }
        event.set("finish_reason", reason.into());
        if let Some(place) = self.events.get_mut(at) {
            *place = event;
        }
    }

    /// The questions to the client: the calls of the last message without a result. While the server runs one of them
    /// nothing is known, since it runs tools before it asks.
    fn questions(&self, tools: &Tools) -> Option<Vec<Object<'a>>> {
        let waits = |(number, call): &&(u64, ToolUse)| {
            let known = self.names.get(&call.id).and_then(|known| self.calls.get(known as usize));
            known.is_some_and(|known| known.maker == Some(*number) && !known.is_answered)
        };
        let waiting = || self.last.iter().filter(waits);
        if waiting().any(|(_, call)| tools.trusted.contains(&call.name)) {
            return None;
        }
        let question = |(number, call): &(u64, ToolUse)| {
            waiting::question(self.turn_id, Some(*number), call, &tools.own)
        };
        Some(waiting().map(question).collect())
    }

    fn unknown(&mut self, wire_type: &str, raw: Value<'a>, problem: Option<Problem>) {
        self.events.push(unknown(text_or_null(wire_type), raw, problem));
    }
}

/// The state of a turn that has ended, or waits.
pub(super) fn done<'a>(output: Option<Object<'a>>, questions: Vec<Object<'a>>) -> Object<'a> {
    let mut state = with_text("status", "done");
    state.set("output", output.map_or(Value::Null, Value::Object));
    state.set("required_actions", questions.into_iter().map(Value::Object).collect::<Vec<_>>().into());
    state
}

/// The event that begins a turn.
pub(super) fn created<'a>(
    turn_id: &str,
    event_id: String,
    previous_turn_id: Value<'a>,
    input: Value<'a>,
) -> Object<'a> {
    let mut created = event("turn.created", event_id, "");
    put(&mut created, "turn_id", turn_id);
    created.set("previous_turn_id", previous_turn_id);
    created.set("created_at", Value::Null);
    created.set("input", input);
    created.set("state", with_text("status", "running").into());
    created
}
