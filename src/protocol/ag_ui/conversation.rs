//! The conversation that the client keeps for a session: the wire's messages, the state, and the pending actions.
//!
//! Messages keep every field, also those that no event has, and the order of their fields. So a conversation that was
//! written and read again makes the same request, byte for byte. Activities are never sent, and are not kept.

use crate::json::{Object, Value};
use crate::protocol::fields::{put, with_text};
use crate::text::cut;

/// A session's conversation.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    pub(super) messages: Vec<Message>,
    /// The state after the last run, if there is one.
    pub(super) state: Option<Value<'static>>,
    /// The events of the pending actions.
    pub(super) required_actions: Vec<Value<'static>>,
    /// The events of the interrupts that were answered by runs none of which has succeeded. The server may not have taken
    /// the answers.
    pub(super) unconfirmed_actions: Vec<Value<'static>>,
    /// The run that has not ended here, if its server repeats runs.
    pub(super) open_run: Option<OpenRun>,
    /// The ends of unsuccessful turns, by their ids.
    pub(super) ends: Object<'static>,
}

/// A run that has begun and not ended.
#[derive(Debug, Clone)]
pub(super) struct OpenRun {
    /// The id of its turn. The ids of its input's messages begin with it.
    pub(super) turn_id: String,
    /// The state at its beginning.
    pub(super) state: Option<Value<'static>>,
    /// When it began, in milliseconds since 1970.
    pub(super) begun_at: u64,
}

/// A message of the wire. The parts that grow while it streams are kept separately.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Message {
    /// All fields. The growing ones are `null` in their places.
    fields: Object<'static>,
    /// The content, if it is a text.
    pub(super) text: Option<String>,
    pub(super) calls: Vec<Call>,
}

/// A call in a message.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Call {
    /// All fields, with the arguments `null` in their place.
    fields: Object<'static>,
    pub(super) arguments: String,
}

impl Conversation {
    /// The conversation in a session's terms.
    pub(super) fn of(terms: &Object<'_>) -> Self {
        let kept = Value::parse(terms.text("conversation")).unwrap_or_default();
        let kept = kept.as_object().unwrap_or(const { &Object::new() });
        let messages = kept.array("messages").iter().filter_map(Value::as_object);
        let actions = |name: &str| kept.array(name).iter().cloned().map(Value::into_owned).collect();
        Self {
            messages: messages.filter_map(Message::read).collect(),
            state: kept.get("state").cloned().map(Value::into_owned),
            required_actions: actions("required_actions"),
            unconfirmed_actions: actions("unconfirmed_actions"),
            open_run: kept.object("open_run").map(|run| OpenRun {
                turn_id: run.text("turn_id").to_owned(),
                state: run.get("state").cloned().map(Value::into_owned),
                begun_at: run.get("begun_at").and_then(Value::as_u64).unwrap_or(u64::MAX),
            }),
            ends: kept.object("ends").cloned().unwrap_or_default().into_owned(),
        }
    }

    /// The turns, oldest first: the id of each, and its messages. A turn is everything from the user's messages to the
    /// next ones; the answers in between continue it. Messages before the user's first one belong to no turn, unless
    /// they are the agent's.
    pub(super) fn turns(&self) -> Vec<(&str, &[Message])> {
        let mut ids = crate::names::Names::default();
        let mut turns = Vec::new();
        let mut rest = &*self.messages;
        while let Some((first, others)) = rest.split_first() {
            let said_at_once = others.iter().take_while(|other| is_said_with(first, other)).count();
            let answers = others.iter().skip(said_at_once).position(|message| message.role() == "user");
            let len = 1 + answers.map_or(others.len(), |answers| said_at_once + answers);
            let (messages, after) = rest.split_at_checked(len).unwrap_or_default();
            if messages.iter().any(|message| matches!(message.role(), "user" | "assistant")) {
                // Ids of a conversation that the page brought can be of any form.
                let id = turn_in(first.id());
                turns.push((if ids.number(id).1 { id } else { first.id() }, messages));
            }
            rest = after;
        }
        turns
    }

    /// Notes how the last turn ended; nothing if it is done.
    pub(super) fn end_turn(&mut self, state: Option<Object<'static>>) {
        let Some(id) = self.turns().last().map(|(id, _)| (*id).to_owned()) else { return };
        self.ends.remove(&id);
        if let Some(state) = state {
            self.ends.add(id, state.into());
        }
    }

    /// The conversation from before this turn's run, if the run is open. No other run is open any more.
    pub(super) fn before(mut self, turn_id: &str) -> Self {
        self.open_run = self.open_run.filter(|run| run.turn_id == turn_id);
        if let Some(run) = &self.open_run {
            let is_of_run = |message: &Message| turn_in(message.id()) == turn_id;
            let begin = self.messages.iter().position(is_of_run);
            self.messages.truncate(begin.unwrap_or(self.messages.len()));
            self.state.clone_from(&run.state);
        }
        self
    }

    /// The conversation as stored JSON.
    pub(super) fn to_json(&self) -> String {
        let mut kept = Object::new();
        kept.set("messages", self.wire_messages().into());
        if let Some(state) = &self.state {
            kept.set("state", state.clone());
        }
        let actions = [
            ("required_actions", &self.required_actions),
            ("unconfirmed_actions", &self.unconfirmed_actions),
        ];
        for (name, actions) in actions.into_iter().filter(|(_, actions)| !actions.is_empty()) {
            kept.set(name, actions.clone().into());
        }
        if let Some(run) = &self.open_run {
            let mut open = with_text("turn_id", &run.turn_id);
            if let Some(state) = &run.state {
                open.set("state", state.clone());
            }
            open.set("begun_at", run.begun_at.into());
            kept.set("open_run", open.into());
        }
        if !self.ends.is_empty() {
            kept.set("ends", self.ends.clone().into());
        }
        kept.to_json()
    }

    /// The messages in the wire's form.
    pub(super) fn wire_messages(&self) -> Vec<Value<'static>> {
        self.messages.iter().map(|message| message.to_object().into()).collect()
    }

    /// The call in the event of an action that can be answered. Its id is that of a call or an interrupt.
    pub(super) fn action(&self, id: &str) -> Option<&Object<'static>> {
        let events = self.required_actions.iter().chain(&self.unconfirmed_actions);
        events.filter_map(asked).find(|asked| asked.text("id") == id)
    }

    /// A run begins: it answers the pending actions. Results of calls are in the conversation from now on.
    pub(super) fn begin_answers(&mut self) {
        for event in std::mem::take(&mut self.required_actions) {
            if asked(&event).is_some_and(|asked| asked.contains("suspension")) {
                self.unconfirmed_actions.push(event);
            }
        }
    }

    /// A call has its result, so the server has taken the answer about it.
    pub(super) fn confirm(&mut self, call_id: &str) {
        self.unconfirmed_actions.retain(|event| asked(event).is_none_or(|asked| asked.text("id") != call_id));
    }

    /// Whether the pending action with this id is about no call.
    pub(super) fn is_question(&self, id: &str) -> bool {
        !self.messages.iter().any(|message| message.call(id).is_some())
    }

    /// Removes the calls without results. Providers refuse a conversation that continues after such a call.
    pub(super) fn drop_unanswered_calls(&mut self) {
        let mut answered = crate::names::Names::default();
        // A later turn can have a call with the same id, and each result answers one.
        let mut results: Vec<u32> = Vec::new();
        for message in self.messages.iter().filter(|message| message.role() == "tool") {
            let (number, is_new) = answered.number(message.call_id());
            if is_new {
                results.push(0);
            }
            if let Some(count) = results.get_mut(number as usize) {
                *count += 1;
            }
        }
        for message in &mut self.messages {
            message.calls.retain(|call| {
                let number = answered.get(call.id()).unwrap_or(u32::MAX);
                // A result without a call's id answers no call.
                let Some(left) = results.get_mut(number as usize).filter(|_| !call.id().is_empty()) else {
                    return false;
                };
                let has_one = *left > 0;
                *left -= u32::from(has_one);
                has_one
            });
        }
        self.drop_empty_messages();
    }

    /// The user's messages from `begin` on may repeat the ones directly before them, after a run that never answered.
    /// They count as one message: a server that did not get the first has it once, and a model should not read it
    /// twice. Returns the first.
    pub(super) fn drop_said_again(&mut self, begin: usize) -> Vec<Message> {
        let (before, said) = self.messages.split_at_checked(begin).unwrap_or_default();
        let Some(first) = begin.checked_sub(said.len()) else { return Vec::new() };
        let is_same = |(known, said): (&Message, &Message)| {
            said.role() == "user"
                && known.role() == "user"
                && known.text == said.text
                && known.get("content") == said.get("content")
        };
        let has_failed = |message: &Message| self.ends.contains(turn_in(message.id()));
        if !before.iter().skip(first).all(has_failed) || !before.iter().skip(first).zip(said).all(is_same) {
            return Vec::new();
        }
        let mut said = self.messages.split_off(begin);
        let before = self.messages.split_off(first);
        self.messages.append(&mut said);
        for message in &before {
            self.ends.remove(turn_in(message.id()));
        }
        before
    }

    /// Removes the agent's empty messages.
    pub(super) fn drop_empty_messages(&mut self) {
        self.messages.retain(|message| {
            message.role() != "assistant"
                || message.text.as_ref().is_some_and(|text| !text.is_empty())
                || !message.calls.is_empty()
                || message.fields.get("content").is_some_and(|content| !content.is_null())
                || message.fields.contains("encryptedValue")
        });
    }
}

/// The call in the event of an action.
fn asked<'e>(event: &'e Value<'static>) -> Option<&'e Object<'static>> {
    event.as_object()?.array("tool_calls").first()?.as_object()
}

/// The id of the turn in the id of a user's message, which is the turn's, a colon and a number.
fn turn_in(id: &str) -> &str {
    cut(id, b':').0
}

/// Whether a user said both messages at once: an input can have several.
fn is_said_with(first: &Message, other: &Message) -> bool {
    let (turn, number) = cut(other.id(), b':');
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    first.role() == "user" && other.role() == "user" && is_number && turn == turn_in(first.id())
}

impl Message {
    /// A message at its beginning.
    pub(super) fn new(id: &str, role: &str) -> Self {
        let mut fields = Object::new();
        put(&mut fields, "id", id);
        put(&mut fields, "role", role);
        Self { fields, ..Self::default() }
    }

    /// A message of the wire; `None` for an activity, or for anything else.
    pub(super) fn read(message: &Object<'_>) -> Option<Self> {
        if matches!(message.text("role"), "" | "activity") {
            return None;
        }
        let mut read = Self { fields: without_nulls(message), ..Self::default() };
        if let Some(content) = read.fields.get_mut("content")
            && let Some(text) = content.as_str()
        {
            read.text = Some(text.to_owned());
            *content = Value::Null;
        }
        if let Some(calls) = read.fields.get_mut("toolCalls") {
            read.calls = calls.as_array().unwrap_or_default().iter().filter_map(Call::read).collect();
            *calls = Value::Null;
        }
        Some(read)
    }

    pub(super) fn id(&self) -> &str {
        self.fields.text("id")
    }

    pub(super) fn role(&self) -> &str {
        self.fields.text("role")
    }

    /// The call that a tool message answers; empty for other messages.
    pub(super) fn call_id(&self) -> &str {
        self.fields.text("toolCallId")
    }

    /// Sets the call that a tool message answers.
    pub(super) fn set_call_id(&mut self, id: &str) {
        self.fields.set("toolCallId", id.to_owned().into());
    }

    /// A field that does not grow.
    pub(super) fn get(&self, name: &str) -> Option<&Value<'static>> {
        self.fields.get(name)
    }

    /// Sets a text that does not grow.
    pub(super) fn put(&mut self, name: &'static str, text: &str) {
        put(&mut self.fields, name, text);
    }

    /// Takes the texts of a frame that are not empty.
    pub(super) fn put_texts(&mut self, names: &[&'static str], frame: &Object<'_>) {
        for name in names.iter().filter(|name| !frame.text(name).is_empty()) {
            self.put(name, frame.text(name));
        }
    }

    /// The content, whether it grows or not.
    pub(super) fn content(&self) -> Option<Value<'static>> {
        let text = self.text.clone().map(Value::from);
        text.or_else(|| self.fields.get("content").filter(|content| !content.is_null()).cloned())
    }

    /// Sets the content of a message that does not grow.
    pub(super) fn set_content(&mut self, content: Value<'_>) {
        self.text = content.as_str().map(str::to_owned);
        let is_text = self.text.is_some();
        self.fields.set("content", if is_text { Value::Null } else { content.into_owned() });
    }

    /// Adds to the metadata, member by member.
    pub(super) fn add_metadata(&mut self, fields: &Object<'_>) {
        add_metadata(&mut self.fields, fields);
    }

    /// The call with this id.
    pub(super) fn call(&self, id: &str) -> Option<&Call> {
        self.calls.iter().find(|call| call.id() == id)
    }

    /// The message in the wire's form.
    pub(super) fn to_object(&self) -> Object<'static> {
        let mut message = self.fields.clone();
        if let Some(text) = &self.text {
            message.set("content", text.clone().into());
        }
        if self.calls.is_empty() {
            message.remove("toolCalls");
        } else {
            let calls: Vec<_> = self.calls.iter().map(|call| call.to_object().into()).collect();
            message.set("toolCalls", calls.into());
        }
        message
    }

    /// Takes the parts that a snapshot of the same message omits.
    pub(super) fn complete_from(&mut self, ours: &Self) {
        complete(
            &mut self.fields,
            &ours.fields,
            &["encryptedValue", "metadata", "error", "name", "subagentRunId"],
        );
        // One server has an empty text where it streamed one in several blocks.
        if self.id() == ours.id() && self.text.as_deref() == Some("") && ours.text.is_some() {
            self.text.clone_from(&ours.text);
        }
        for call in &mut self.calls {
            let Some(known) = ours.call(call.id()) else { continue };
            complete(&mut call.fields, &known.fields, &["encryptedValue", "metadata"]);
            // One server has empty arguments in its snapshots.
            if call.arguments.is_empty() {
                call.arguments.clone_from(&known.arguments);
            }
        }
    }

    /// Keeps the first of several calls with the same id.
    pub(super) fn drop_repeated_calls(&mut self) {
        let mut seen = crate::names::Names::default();
        self.calls.retain(|call| seen.number(call.id()).1);
    }
}

impl Call {
    /// A call at its beginning.
    pub(super) fn new(id: &str, name: &str) -> Self {
        let mut function = Object::new();
        put(&mut function, "name", name);
        function.set("arguments", Value::Null);
        let mut fields = Object::new();
        put(&mut fields, "id", id);
        fields.set("type", "function".into());
        fields.set("function", function.into());
        Self { fields, arguments: String::new() }
    }

    fn read(call: &Value<'static>) -> Option<Self> {
        let mut fields = without_nulls(call.as_object()?);
        let mut arguments = String::new();
        if let Some(Value::Object(function)) = fields.get_mut("function") {
            function.text("arguments").clone_into(&mut arguments);
            function.set("arguments", Value::Null);
        }
        Some(Self { fields, arguments })
    }

    pub(super) fn id(&self) -> &str {
        self.fields.text("id")
    }

    pub(super) fn name(&self) -> &str {
        self.fields.object("function").map_or("", |function| function.text("name"))
    }

    /// Sets a text that does not grow.
    pub(super) fn put(&mut self, name: &'static str, text: &str) {
        put(&mut self.fields, name, text);
    }

    /// The call in the form of the events.
    pub(super) fn shown(&self) -> Object<'static> {
        let mut function = with_text("name", self.name());
        put(&mut function, "arguments", &self.arguments);
        let mut shown = with_text("id", self.id());
        put(&mut shown, "type", "function");
        shown.set("function", function.into());
        shown
    }

    /// Adds to the metadata, member by member.
    pub(super) fn add_metadata(&mut self, fields: &Object<'_>) {
        add_metadata(&mut self.fields, fields);
    }

    fn to_object(&self) -> Object<'static> {
        let mut call = self.fields.clone();
        if let Some(Value::Object(function)) = call.get_mut("function") {
            function.set("arguments", self.arguments.clone().into());
        }
        call
    }
}

/// The members that have a value. Version 1.0 forbids `null` for missing values; servers of version 0.x send it.
fn without_nulls(object: &Object<'_>) -> Object<'static> {
    let mut kept = Object::new();
    for (name, value) in object.iter().filter(|(_, value)| !value.is_null()) {
        kept.insert(name.to_owned(), value.clone().into_owned());
    }
    kept
}

fn add_metadata(fields: &mut Object<'static>, frame: &Object<'_>) {
    let Some(added) = frame.object("metadata") else { return };
    let mut metadata = fields.object("metadata").cloned().unwrap_or_default();
    for (name, value) in added.iter() {
        metadata.insert(name.to_owned(), value.clone().into_owned());
    }
    fields.set("metadata", metadata.into());
}

fn complete(fields: &mut Object<'static>, known: &Object<'static>, names: &[&'static str]) {
    for name in names {
        if let Some(value) = known.get(name).filter(|_| !fields.contains(name)) {
            fields.set(name, value.clone());
        }
    }
}
