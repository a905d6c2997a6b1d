//! The beginning and the end of runs (sections 2, 3 and 5). The last run of a stream counts, and its end is held until
//! the stream ends.

use crate::error::sentence;
use crate::event::MAIN_THREAD;
use crate::json::{Object, Value};
use crate::protocol::EventSink;

use super::super::conversation::Message;
use super::super::errors::own;
use super::super::waiting::{Asked, legacy_suspension, question, suspension};
use super::calls::Call;
use super::{Run, event, put, with_text};

/// The state of a stream.
#[derive(Debug, Default)]
pub(super) enum Phase {
    /// Before its first run.
    #[default]
    Before,
    /// A run is in progress.
    Open,
    /// Its last run has reported how it ends.
    Held(Hold),
    /// The stream has ended. Later frames are ignored.
    Over,
}

/// The runs of a stream so far.
#[derive(Debug, Default)]
pub(super) struct Runs {
    pub(super) count: u64,
    /// The id of the last one.
    newest: String,
}

/// How a run ends.
#[derive(Debug)]
pub(super) enum Hold {
    /// It has finished, or has pending actions.
    Finished { outcome: Object<'static>, result: Value<'static>, metrics: Option<Object<'static>> },
    /// It has failed.
    Failed { message: String, code: String, metrics: Option<Object<'static>> },
}

/// The message of an error that has none.
const UNEXPLAINED: &str = "the server reports an error, and does not say which";

/// The token counts: the server's name of each, and its name in a turn's metrics. The first three are always present.
const TOKENS: [(&str, &str); 6] = [
    ("inputTokens", "total_input_tokens"),
    ("outputTokens", "total_output_tokens"),
    ("totalTokens", "total_tokens"),
    ("cachedInputTokens", "total_cache_read_tokens"),
    ("cacheWriteInputTokens", "total_cache_write_tokens"),
    ("reasoningTokens", "total_reasoning_tokens"),
];

impl Run {
    /// Begins a stream that contains the run.
    pub(super) fn await_run(&mut self) {
        self.phase = Phase::Before;
    }

    /// Continues a run that began in an earlier stream.
    pub(super) fn reopen_run(&mut self) {
        self.phase = Phase::Open;
    }

    /// Begins a run. Its input is known, except in a stream that repeats earlier runs.
    pub(super) fn run_started(&mut self, fields: &Object<'_>) {
        let id = fields.text("runId");
        let is_told_again = self.is_open() && (id.is_empty() || id == self.runs.newest);
        self.phase = Phase::Open;
        if self.runs.count == 0 && !id.is_empty() {
            id.clone_into(&mut self.start.run_id);
        }
        if !is_told_again {
            self.runs.count += 1;
            id.clone_into(&mut self.runs.newest);
            self.asked.clear();
        }
        let given = fields.object("input").map(|input| input.array("messages")).unwrap_or_default();
        let given = given.iter().filter_map(Value::as_object).filter_map(Message::read);
        for message in given.filter(|message| matches!(message.role(), "user" | "tool")) {
            let messages = &mut self.conversation.messages;
            let is_known = |known: &Message| {
                known.role() == message.role() && known.id() == message.id()
                    || known.role() == "tool" && known.call_id() == message.call_id()
            };
            if !messages.iter().any(is_known) {
                messages.push(message);
                self.know_conversation();
            }
        }
    }

    /// Takes the end of the run. A run has one end: of two, the first counts, unless only the second has an outcome.
    pub(super) fn run_finished(&mut self, fields: &mut Object<'_>) {
        let outcome = match fields.get_mut("outcome").map(std::mem::take) {
            Some(Value::Object(outcome)) => outcome.into_owned(),
            _ => Object::new(),
        };
        let has_ended = match &self.phase {
            Phase::Held(Hold::Failed { .. }) => true,
            Phase::Held(Hold::Finished { outcome: first, .. }) => outcome.is_empty() || !first.is_empty(),
            _ => false,
        };
        if has_ended {
            return;
        }
        let result = fields.get_mut("result").map(std::mem::take).unwrap_or_default().into_owned();
        self.phase = Phase::Held(Hold::Finished { outcome, result, metrics: metrics(fields) });
    }

    /// Takes the failure of the run, which may have finished before.
    pub(super) fn run_error(&mut self, fields: &Object<'_>, sink: &mut dyn EventSink) {
        let message = words(fields, "message");
        let message = if message.is_empty() { UNEXPLAINED } else { own(&message) }.to_owned();
        let code = words(fields, "code");
        let mut error = event("server.error", self.next_id(), "");
        put(&mut error, "message", &message);
        if !code.is_empty() {
            put(&mut error, "code", &code);
        }
        self.emit(&error, sink);
        self.phase = Phase::Held(Hold::Failed { message, code, metrics: metrics(fields) });
    }

    /// Ends the stream. A run without an end may have failed.
    pub(super) fn stream_ended(&mut self, sink: &mut dyn EventSink) {
        if !self.is_begun || matches!(self.phase, Phase::Over) {
            return;
        }
        let Phase::Held(hold) = std::mem::replace(&mut self.phase, Phase::Over) else { return };
        self.finish_all(sink);
        self.conversation.open_run = None;
        let (mut state, metrics) = match hold {
            Hold::Failed { message, code, metrics } => {
                let mut state = with_text("status", "error");
                put(&mut state, "message", &message);
                if !code.is_empty() {
                    put(&mut state, "code", &code);
                }
                (state, metrics)
            }
            Hold::Finished { outcome, metrics, .. } if outcome.text("type") == "cancelled" => {
                let mut state = with_text("status", "cancelled");
                put(&mut state, "reason", "server");
                (state, metrics)
            }
            Hold::Finished { outcome, result, metrics } => (self.done(&outcome, result, sink), metrics),
        };
        self.conversation.end_turn((state.text("status") != "done").then(|| state.clone()));
        if let Some(metrics) = metrics {
            state.set("metrics", metrics.into());
        }
        self.conversation.drop_empty_messages();
        let mut done = event("turn.done", self.next_id(), "");
        done.set("state", state.into());
        self.emit(&done, sink);
    }

    fn done(
        &mut self,
        outcome: &Object<'static>,
        result: Value<'static>,
        sink: &mut dyn EventSink,
    ) -> Object<'static> {
        let questions = self.questions(outcome);
        for question in &questions {
            self.emit(question, sink);
        }
        let mut state = with_text("status", "done");
        let output = if questions.is_empty() { self.output() } else { None };
        state.set("output", output.map_or(Value::Null, Value::Object));
        let questions: Vec<Value<'_>> = questions.into_iter().map(Value::Object).collect();
        self.conversation.required_actions.clone_from(&questions);
        self.conversation.unconfirmed_actions.clear();
        state.set("required_actions", questions.into());
        if !outcome.text("type").is_empty() {
            state.set("termination", with_text("type", outcome.text("type")).into());
        }
        if !result.is_null() {
            state.set("result", result);
        }
        state
    }

    /// The answer: the last shown message, if it has a text.
    fn output(&mut self) -> Option<Object<'static>> {
        let is_shown = |message: &super::messages::Message| message.is_shown && !message.is_reasoning();
        let number = self.messages.iter().rposition(is_shown)?;
        let said = self.kept(number)?.text.clone().filter(|text| !text.is_empty())?;
        let message = self.messages.get(number).filter(|message| message.thread_id == MAIN_THREAD)?;
        let reason = if message.calls > 0 { "tool_calls" } else { "stop" };
        let mut output = event("model.message", message.id.clone(), MAIN_THREAD);
        put(&mut output, "content", &said);
        put(&mut output, "finish_reason", reason);
        Some(output)
    }

    /// The events of the pending actions.
    fn questions(&self, outcome: &Object<'static>) -> Vec<Object<'static>> {
        let mut questions = Vec::new();
        let interrupts = if outcome.text("type") == "interrupt" { outcome.array("interrupts") } else { &[] };
        let interrupts: Vec<&Object<'_>> = interrupts.iter().filter_map(Value::as_object).collect();
        let mut asked: Vec<&str> = Vec::new();
        for interrupt in interrupts.iter().filter(|interrupt| !interrupt.text("id").is_empty()) {
            let call_id = interrupt.text("toolCallId");
            // A second question about a call has its own id.
            let is_first = !asked.contains(&call_id);
            let call = self.call(call_id).filter(|_| is_first);
            asked.push(call_id);
            let mut is_about = self.asked_about(call.map_or(interrupt.text("id"), |call| &call.id));
            if call.is_none() {
                let thread_id = interrupt.text("subagentRunId");
                let is_known = self.threads.iter().any(|thread| thread.is(thread_id));
                is_about.thread_id = if is_known { thread_id } else { MAIN_THREAD };
            }
            let kind = if call.is_some() { "tool.approval_required" } else { "tool.response_required" };
            let id = self.question_id(questions.len());
            questions.push(question(kind, id, &is_about, Some(suspension(interrupt))));
        }
        // One command answers all custom events of a run.
        if let Some(value) = self.asked.first().filter(|_| interrupts.is_empty()) {
            let id = sentence(&[&self.start.turn_id, ":asks"]);
            let suspension = legacy_suspension(&id, value);
            let event_id = self.question_id(questions.len());
            let about = self.asked_about(&id);
            questions.push(question("tool.response_required", event_id, &about, Some(suspension)));
        }
        let named = outcome.get("pendingToolCallIds").and_then(Value::as_array);
        for call in &self.calls.list {
            let is_named = match named {
                Some(named) => named.iter().any(|id| id.as_str() == Some(&call.id)),
                None => call.run == Some(self.runs.count) && !call.is_answered(),
            };
            if is_named && self.is_own(call) && !asked.contains(&&*call.id) {
                let id = self.question_id(questions.len());
                questions.push(question("tool.response_required", id, &self.asked_about(&call.id), None));
            }
        }
        questions
    }

    /// Whether a call is of a tool that the page has declared. All others are the server's.
    fn is_own(&self, call: &Call) -> bool {
        self.start.own_tools.contains(&call.name)
    }

    /// Whether only the page can answer a call.
    pub(super) fn is_for_page(&self, call: &Call) -> bool {
        self.is_own(call) && !call.is_answered()
    }

    fn question_id(&self, before: usize) -> String {
        let mut id = sentence(&[&self.start.turn_id, ":asks"]);
        crate::json::write_u64(&mut id, before as u64);
        id
    }

    /// The subject of a question: the call with this id, or only the id itself.
    fn asked_about<'s>(&'s self, id: &'s str) -> Asked<'s> {
        let call = self.call(id);
        let message = call.and_then(|call| self.messages.get(call.message));
        let kept = self.conversation.messages.iter().rev().find_map(|message| message.call(id));
        Asked {
            id,
            name: call.map_or("", |call| &call.name),
            arguments: kept.map_or("", |call| &call.arguments),
            message_id: message.map_or("", |message| &message.id),
            thread_id: message.map_or(MAIN_THREAD, |message| &message.thread_id),
        }
    }
}

/// A text of an error. Servers may send a number or an object there, and the error counts all the same.
fn words(fields: &Object<'_>, name: &str) -> String {
    match fields.get(name) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.to_string(),
        Some(other) => other.to_json(),
    }
}

/// The token counts of all models together, if there are any.
fn metrics(fields: &Object<'_>) -> Option<Object<'static>> {
    let mut totals = Object::new();
    let count = |counts: &Object<'_>, name: &str| counts.get(name).and_then(Value::as_u64);
    for usage in fields.array("usage").iter().filter_map(Value::as_object) {
        for (wire, name) in TOKENS {
            if let Some(more) = count(usage, wire) {
                totals.set(name, count(&totals, name).unwrap_or_default().saturating_add(more).into());
            }
        }
    }
    let [(_, input), (_, output), (_, total), ..] = TOKENS;
    let [input_count, output_count] = [input, output].map(|name| count(&totals, name).unwrap_or_default());
    let implied =
        [(input, input_count), (output, output_count), (total, input_count.saturating_add(output_count))];
    let has_any = totals.iter().next().is_some();
    for (name, implied) in implied {
        if !totals.contains(name) {
            totals.set(name, implied.into());
        }
    }
    has_any.then_some(totals)
}
