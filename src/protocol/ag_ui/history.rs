//! Turns the client's conversation into turns and their events, for a page that was reloaded.
//!
//! No server is asked. The id of a user's message begins with that of its turn, so turns have the same ids as before.

use crate::error::sentence;
use crate::event::MAIN_THREAD;
use crate::json::{Object, Value, write_u64};
use crate::protocol::fields::{event, put, with_text};
use crate::protocol::{Call, body::page};

use super::conversation::{Conversation, Message};
use super::parts::{read_content, text_of};

/// The answer to a call that reads the history; `None` for another call.
pub(super) fn read(call: Call, params: &Object<'_>) -> Option<Value<'static>> {
    if !matches!(call, Call::ListTurns | Call::ListSessionEvents | Call::ListTurnEvents) {
        return None;
    }
    let conversation = Conversation::of(params.object("terms").unwrap_or(const { &Object::new() }));
    let turns = conversation.turns().into_iter();
    let turns: Vec<_> =
        turns.map(|(id, messages)| Turn { id, messages, end: conversation.ends.object(id) }).collect();
    let mut items = Vec::new();
    let mut before = Value::Null;
    for (at, turn) in turns.iter().enumerate() {
        let kept = (at + 1 == turns.len()).then_some(&conversation);
        let is_asked_for = !params.contains("turn_id") || params.text("turn_id") == turn.id;
        if call == Call::ListTurns {
            items.push(turn.record(std::mem::take(&mut before), kept));
            before = turn.id.to_owned().into();
        } else if is_asked_for {
            turn.events(kept, &mut |event| items.push(listed(call, turn.id, event)));
        }
    }
    Some(page(items, Value::Null))
}

/// An event in the list of a session, which names its turn, or in the list of the turn.
fn listed(call: Call, turn_id: &str, event: Object<'static>) -> Value<'static> {
    if call == Call::ListTurnEvents {
        return event.into();
    }
    let mut listed = with_text("turn_id", turn_id);
    listed.set("event", event.into());
    listed.into()
}

/// A turn in a conversation.
struct Turn<'c> {
    id: &'c str,
    messages: &'c [Message],
    /// How it ended, unless it is done.
    end: Option<&'c Object<'static>>,
}

impl Turn<'_> {
    /// The input of its user.
    fn input(&self) -> Value<'static> {
        let said = self.messages.iter().filter(|message| message.role() == "user");
        let items = said.map(|message| {
            let mut item = with_text("type", "user.message");
            item.set("content", read_content(message.content().as_ref()));
            Value::from(item)
        });
        items.collect::<Vec<_>>().into()
    }

    /// Its record. `kept` is the conversation, if this is the last turn: only that can have pending actions.
    fn record(&self, previous_turn_id: Value<'static>, kept: Option<&Conversation>) -> Value<'static> {
        let is_open = kept.and_then(|kept| kept.open_run.as_ref()).is_some_and(|run| run.turn_id == self.id);
        let state = match self.end {
            _ if is_open => with_text("status", "running"),
            Some(end) => end.clone(),
            None => {
                let mut done = with_text("status", "done");
                done.set("output", Value::Null);
                let waiting = kept.map(|kept| kept.required_actions.clone()).unwrap_or_default();
                done.set("required_actions", waiting.into());
                done
            }
        };
        let mut record = with_text("id", self.id);
        record.set("previous_turn_id", previous_turn_id);
        record.set("input", self.input());
        record.set("state", state.into());
        for name in ["session_id", "created_by_subject", "created_at"] {
            record.set(name, Value::Null);
        }
        record.into()
    }

    /// Its events. The last turn also has the state.
    fn events(&self, kept: Option<&Conversation>, emit: &mut dyn FnMut(Object<'static>)) {
        let mut created = event("turn.created", self.event_id(0), "");
        put(&mut created, "turn_id", self.id);
        created.set("previous_turn_id", Value::Null);
        created.set("created_at", Value::Null);
        created.set("input", self.input());
        created.set("state", with_text("status", "running").into());
        emit(created);
        // The message after it continues it.
        let mut reasoning = String::new();
        let last = self.messages.iter().rposition(|message| message.role() == "assistant");
        let mut threads: Vec<&str> = Vec::new();
        for (at, message) in self.messages.iter().enumerate() {
            let thread_id = self.thread_at(at);
            if thread_id != MAIN_THREAD && !threads.contains(&thread_id) {
                threads.push(thread_id);
            }
            match message.role() {
                "reasoning" => reasoning.push_str(message.text.as_deref().unwrap_or_default()),
                "assistant" => {
                    let is_whole = self.end.is_none() || last > Some(at);
                    emit(said(message, thread_id, &std::mem::take(&mut reasoning), is_whole));
                }
                "tool" => {
                    let mut response = event("tool.response", self.event_id(at + 1), thread_id);
                    put(&mut response, "tool_call_id", message.call_id());
                    let content = message.content();
                    response.set("content", text_of(content.as_ref()).into());
                    if let Some(parts) = content.filter(|content| content.as_array().is_some()) {
                        response.set("parts", parts);
                    }
                    emit(response);
                }
                _ => {}
            }
        }
        // The end of each subagent is not stored. A subagent with a question has not ended.
        let asks = kept.is_some_and(|kept| kept.open_run.is_some() || !kept.required_actions.is_empty());
        for thread_id in threads.into_iter().filter(|_| self.end.is_none() && !asks) {
            let mut done = event("thread.done", sentence(&[self.id, ":h:", thread_id]), thread_id);
            put(&mut done, "status", "done");
            done.set("state", with_text("status", "done").into());
            emit(done);
        }
        if let Some(state) = kept.and_then(|kept| kept.state.clone()) {
            let mut snapshot = event("state.snapshot", self.event_id(self.messages.len() + 1), "");
            snapshot.set("snapshot", state);
            emit(snapshot);
        }
    }

    /// The thread of a message: its subagent's. A result is in the thread of its call.
    fn thread_at(&self, at: usize) -> &str {
        let call_id = self.messages.get(at).map_or("", Message::call_id);
        let mut before = self.messages.iter().take(at + 1).rev();
        let of = before.find(|message| call_id.is_empty() || message.call(call_id).is_some());
        let id = of.and_then(|of| of.get("subagentRunId")?.as_str()).unwrap_or_default();
        if id.is_empty() { MAIN_THREAD } else { id }
    }

    fn event_id(&self, at: usize) -> String {
        let mut id = self.id.to_owned();
        id.push_str(":h");
        write_u64(&mut id, at as u64);
        id
    }
}

/// A message of the agent, with the reasoning before it. A message that may have been cut off has no finish reason.
fn said(message: &Message, thread_id: &str, reasoning: &str, is_whole: bool) -> Object<'static> {
    let mut said = event("model.message", message.id().to_owned(), thread_id);
    put(&mut said, "content", message.text.as_deref().unwrap_or_default());
    if is_whole {
        put(&mut said, "finish_reason", if message.calls.is_empty() { "stop" } else { "tool_calls" });
    }
    if !reasoning.is_empty() {
        put(&mut said, "reasoning_content", reasoning);
    }
    let calls = message.calls.iter().map(|call| call.shown().into());
    let calls: Vec<Value<'_>> = calls.collect();
    if !calls.is_empty() {
        said.set("tool_calls", calls.into());
    }
    said
}
