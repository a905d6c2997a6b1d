//! Snapshots of the messages. A message or a result may come only in a snapshot (section 6).

use crate::json::{Object, Value};
use crate::names::Names;
use crate::protocol::EventSink;
use crate::protocol::fields::wrong;

use super::super::conversation::Message;
use super::super::reconcile::{Matched, matched, merged};
use super::calls::CallAnswer;
use super::{Problem, Run, check, event, put, with_text};

impl Run {
    pub(super) fn messages_snapshot(
        &mut self,
        fields: &Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let all = fields.get("messages").and_then(Value::as_array);
        let all: Option<Vec<&Object<'_>>> = all.and_then(|all| all.iter().map(Value::as_object).collect());
        let all = all.ok_or_else(|| wrong("messages", "a list of messages"))?;
        self.emit_snapshot(&all, sink);
        for activity in all.iter().filter(|message| message.text("role") == "activity") {
            let mut report = Object::clone(activity);
            put(&mut report, "messageId", activity.text("id"));
            report.set("replace", false.into());
            check(&report, "messageId activityType")?;
            self.activity(&mut report, sink)?;
        }
        let snapshot = all.into_iter().filter_map(Message::read).collect();
        let mut matched = matched(&self.conversation.messages, snapshot);
        let is_unnamed = |message: &Message| message.id().is_empty() && message.role() != "tool";
        let unnamed = matched.iter_mut().filter(|one| is_unnamed(&one.message));
        for (at, one) in unnamed.enumerate() {
            one.message.put("id", &self.made_up_id(at));
        }
        let messages = merged(&self.conversation.messages, &matched, &self.unfinished(&matched));
        // Earlier turns have shown everything before the user's last message.
        let last = matched.iter().rposition(|one| one.message.role() == "user");
        let results = self.unheard_results(&matched, last);
        let ids = self.unshown_messages(&matched, last);
        self.conversation.messages = messages;
        self.know_conversation();
        for id in ids {
            self.show_whole(&id, sink);
        }
        for (id, call_id, content) in results {
            self.respond(&id, &call_id, &content, sink)?;
        }
        Ok(())
    }

    /// For each message of the conversation, whether it is one of this turn's that still stream, or have a call that the page has to answer and that is not
    /// in the snapshot. A snapshot may have only what was complete when it was taken.
    fn unfinished(&self, matched: &[Matched]) -> Vec<bool> {
        let mut calls = Names::default();
        for call in matched.iter().flat_map(|one| &one.message.calls) {
            calls.number(call.id());
        }
        let mut unfinished = vec![false; self.conversation.messages.len()];
        let mut mark = |message: &super::messages::Message| {
            if let Some(is_unfinished) = message.place.and_then(|place| unfinished.get_mut(place)) {
                *is_unfinished = true;
            }
        };
        self.messages.iter().filter(|message| message.is_open && message.is_of_turn).for_each(&mut mark);
        for call in self.calls.list.iter().filter(|call| call.is_of_turn() && self.is_for_page(call)) {
            if calls.get(&call.id).is_none() {
                self.messages.get(call.message).map(&mut mark);
            }
        }
        unfinished
    }

    fn emit_snapshot(&mut self, list: &[&Object<'_>], sink: &mut dyn EventSink) {
        let mut snapshot = event("messages.snapshot", self.next_id(), "");
        let messages = list.iter().map(|message| Value::from(thread_message(message))).collect::<Vec<_>>();
        snapshot.set("messages", messages.into());
        self.emit(&snapshot, sink);
    }

    /// The results that no event has brought: their ids, calls and contents.
    fn unheard_results(
        &self,
        matched: &[Matched],
        last: Option<usize>,
    ) -> Vec<(String, String, Value<'static>)> {
        let mut results = Vec::new();
        for (at, Matched { message, ours }) in matched.iter().enumerate() {
            let call_id = message.call_id();
            let is_unheard = match self.call(call_id).map(|call| call.answer) {
                Some(CallAnswer::Missing) => true,
                Some(CallAnswer::Given) => false,
                Some(CallAnswer::Past) | None => ours.is_none() && last.is_none_or(|last| at > last),
            };
            if message.role() == "tool" && is_unheard {
                let content = message.content().unwrap_or_else(|| "".into());
                results.push((message.id().to_owned(), call_id.to_owned(), content));
            }
        }
        results
    }

    /// The ids of the agent's messages that no event has brought.
    fn unshown_messages(&self, matched: &[Matched], last: Option<usize>) -> Vec<String> {
        let is_unshown = |(at, one): &(usize, &Matched)| {
            let Matched { message, ours } = one;
            let known = self.names.get(message.id()).and_then(|number| self.messages.get(number as usize));
            let is_of_turn = match (ours, known) {
                (Some(_), Some(known)) => known.is_of_turn && !known.is_shown,
                (Some(_), None) => false,
                (None, _) => last.is_none_or(|last| *at > last),
            };
            message.role() == "assistant" && is_of_turn
        };
        let unshown = matched.iter().enumerate().filter(is_unshown);
        unshown.map(|(_, one)| one.message.id().to_owned()).collect()
    }

    /// Shows a message of the conversation as a whole.
    fn show_whole(&mut self, id: &str, sink: &mut dyn EventSink) {
        let Some(number) = self.names.get(id).map(|number| number as usize) else { return };
        let Some(kept) = self.kept(number).cloned() else { return };
        let mut calls = Vec::new();
        for call in &kept.calls {
            // A call shown in another message is not shown again.
            if self.show_call(call.id(), number) {
                calls.push(call.shown().into());
            }
        }
        let text = kept.text.as_deref().unwrap_or_default();
        if text.is_empty() && calls.is_empty() {
            return;
        }
        self.show(number, sink);
        let Some(message) = self.messages.get(number) else { return };
        let mut whole = event("model.message", message.id.clone(), &message.thread_id);
        put(&mut whole, "content", text);
        put(&mut whole, "finish_reason", if calls.is_empty() { "stop" } else { "tool_calls" });
        if !calls.is_empty() {
            whole.set("tool_calls", calls.into());
        }
        self.emit(&whole, sink);
    }
}

/// A message in turnwire's form. The index has the agent's messages by their ids; reasoning is not a separate message
/// there.
fn thread_message(message: &Object<'_>) -> Object<'static> {
    let mut shown = Object::new();
    let is_reasoning = message.text("role") == "reasoning";
    if !message.text("id").is_empty() && !is_reasoning {
        put(&mut shown, "id", message.text("id"));
    }
    put(&mut shown, "role", message.text("role"));
    shown.set("content", message.get("content").cloned().unwrap_or_default().into_owned());
    let calls = message.array("toolCalls").iter().filter_map(Value::as_object);
    let calls: Vec<Value<'_>> = calls.map(|call| thread_call(call).into()).collect();
    if !calls.is_empty() {
        shown.set("tool_calls", calls.into());
    }
    if !message.text("toolCallId").is_empty() {
        put(&mut shown, "tool_call_id", message.text("toolCallId"));
    }
    shown
}

fn thread_call(call: &Object<'_>) -> Object<'static> {
    let mut shown = with_text("id", call.text("id"));
    let function = call.object("function").unwrap_or(const { &Object::new() });
    put(&mut shown, "name", function.text("name"));
    let arguments = function.text("arguments");
    let parsed = Value::parse(arguments).map(Value::into_owned);
    shown.set("arguments", parsed.unwrap_or_else(|_| arguments.to_owned().into()));
    shown
}
