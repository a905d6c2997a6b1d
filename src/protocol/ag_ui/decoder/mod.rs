//! Frames → events: a run's stream in turnwire's form, and the conversation after it.
//!
//! Servers break the protocol's order in their own ways (section 3.1). Each violation is reported once, as a notice,
//! and the frames are read as they are meant. The end of a run is held until the stream ends, or is left: an error may
//! still follow.

mod calls;
mod chunks;
mod delta;
mod ending;
mod frames;
mod messages;
mod reading;
mod repeat;
mod snapshot;
mod state;
mod subagents;

use crate::error::{Error, ErrorCode};
use crate::event::EventRef;
use crate::json::{Object, Value, write_u64};
use crate::names::Names;
use crate::protocol::fields::{Problem, event, missing, object, put, text, text_or_null, unknown, with_text};
use crate::protocol::options::wire;
use crate::protocol::{EventDecoder, EventSink};
use crate::sse::{self, Frame};

use super::conversation::{Conversation, OpenRun};
use super::input::now;
use super::{Recovery, input};
use calls::Calls;
use chunks::Chunk;
use delta::DeltaReader;
use ending::{Phase, Runs};
use frames::{Kind, check, kind_of};
use messages::{Message, Reasoning};
use repeat::Repeat;
use subagents::Thread;

/// How long to read a stream after the end of its last run, in milliseconds. Real servers close it at once; a late
/// error, or another run, comes immediately (sections 1 and 3).
const GRACE: u32 = 1000;

/// The data of a run until it ends. If it never does, its turn has failed.
pub(super) const UNFINISHED: &str = "the stream ended before the run did";

/// Reads the response to a turn's start.
#[derive(Debug, Default)]
pub(super) struct RunDecoder {
    deltas: DeltaReader,
    run: Run,
}

/// The state of a turn. Its stream may have several runs, of which the last one counts.
#[derive(Debug, Default)]
struct Run {
    start: Start,
    /// The number of events so far.
    emitted: u64,
    is_begun: bool,
    phase: Phase,
    runs: Runs,
    repeat: Repeat,
    conversation: Conversation,
    /// The messages by their ids on the wire; keys of reasoning begin with a NUL character.
    names: Names,
    messages: Vec<Message>,
    calls: Calls,
    reasoning: Reasoning,
    threads: Vec<Thread>,
    chunks: Vec<Chunk>,
    /// The run's questions that are custom events.
    asked: Vec<Value<'static>>,
    /// The notices reported so far.
    told: Vec<&'static str>,
}

/// The parameters of a turn's start. The response does not repeat them.
#[derive(Debug, Default)]
struct Start {
    turn_id: String,
    /// Whether this page sent it, not one before a reload, and the server may have accepted it.
    is_posted: bool,
    /// The server's id of the turn's first run: the turn's own, unless the server makes another.
    run_id: String,
    previous_turn_id: Value<'static>,
    input: Value<'static>,
    /// The names of the tools whose calls the page answers.
    own_tools: Vec<String>,
    /// The actions that the input answers: their ids, the answers, and whether each is the result of a call.
    answers: Vec<(String, Value<'static>, bool)>,
}

impl EventDecoder for RunDecoder {
    fn begin(&mut self, params: &Object<'_>) {
        self.run = Run::started(params);
        self.run.start.is_posted = true;
    }

    fn resume(&mut self, params: &Object<'_>) {
        // After a reload of the page, the run is unknown.
        if self.run.start.turn_id.is_empty() {
            self.run = Run::started(params);
        }
        self.run.repeat(params);
    }

    fn cancelled(&mut self) {
        let Run { conversation, phase, .. } = &mut self.run;
        // The server's report of its end counts.
        if !matches!(phase, Phase::Over) {
            conversation.open_run = None;
            let mut state = with_text("status", "cancelled");
            put(&mut state, "reason", "client-cancelled");
            conversation.end_turn(Some(state));
        }
    }

    fn conversation(&self) -> Option<String> {
        let Run { is_begun, start, conversation, .. } = &self.run;
        // A message whose run never answered was sent. An answer is not kept: it can be given again.
        let was_said = start.is_posted && start.answers.is_empty();
        (*is_begun || was_said).then(|| conversation.to_json())
    }

    fn grace(&self) -> u32 {
        if matches!(self.run.phase, Phase::Held(_)) { GRACE } else { 0 }
    }

    fn failure(&mut self) -> Option<Error> {
        if self.run.is_begun {
            return None;
        }
        // The response to the start shows it; a stream that repeats other runs does not.
        self.run.start.is_posted &= self.run.repeat.is_on();
        let problem = "the stream ended without an event: the server has begun no run";
        Some(Error::new(ErrorCode::UnexpectedResponse, problem))
    }

    fn decode(&mut self, frame: &Frame<'_>, sink: &mut dyn EventSink) {
        if matches!(self.run.phase, Phase::Over) {
            return;
        }
        match Value::parse(frame.data) {
            Ok(json) => self.run.frame(json, sink),
            Err(error) => {
                let problem = error.message();
                self.run.unreadable(frame.data.into(), problem, sink);
            }
        }
    }

    fn run(&mut self, bytes: &[u8], sink: &mut dyn EventSink) -> sse::Run {
        let Self { deltas, run } = self;
        let mut len = 0;
        // A delta can also end a chunk.
        while run.takes_deltas()
            && let Some(rest) = bytes.get(len..).filter(|rest| !rest.is_empty())
        {
            let Some(piece) = deltas.read(rest) else { break };
            if !run.delta(piece.meaning, piece.text, sink) {
                break;
            }
            len += piece.len;
        }
        sse::Run { len, id: None }
    }

    fn body(&mut self, body: Value<'_>, sink: &mut dyn EventSink) {
        self.run.thread(&body, sink);
    }

    fn end(&mut self, sink: &mut dyn EventSink) {
        self.run.stream_ended(sink);
    }
}

impl Run {
    /// A turn that starts with these parameters.
    fn started(params: &Object<'_>) -> Self {
        let params = wire(params);
        let none = const { &Object::new() };
        let terms = params.object("terms").unwrap_or(none);
        let turn_id = params.text("turn_id");
        let mut conversation = Conversation::of(terms).before(turn_id);
        let open = conversation.open_run.take();
        let begins = || OpenRun {
            turn_id: turn_id.to_owned(),
            state: conversation.state.clone(),
            begun_at: now(terms),
        };
        conversation.open_run =
            (Recovery::of_terms(terms) != Recovery::None).then(|| open.unwrap_or_else(begins));
        let answers = input::add(&mut conversation, &params).map(|sent| sent.answers).unwrap_or_default();
        conversation.begin_answers();
        let mut unfinished = with_text("status", "error");
        put(&mut unfinished, "message", UNFINISHED);
        put(&mut unfinished, "code", "incomplete");
        conversation.end_turn(Some(unfinished));
        let declared = terms.array("tools").iter().filter_map(|tool| tool.get("name")?.as_str());
        let own_tools = declared.chain(terms.array("answerable").iter().filter_map(Value::as_str));
        let given = |name: &str| params.get(name).cloned().unwrap_or_default().into_owned();
        let start = Start {
            turn_id: turn_id.to_owned(),
            is_posted: false,
            run_id: turn_id.to_owned(),
            previous_turn_id: given("previous_turn_id"),
            input: if params.contains("input") { given("input") } else { Vec::new().into() },
            own_tools: own_tools.map(str::to_owned).collect(),
            answers,
        };
        let mut run = Self { start, conversation, ..Self::default() };
        run.know_conversation();
        run
    }

    /// Whether a run is in progress.
    fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open)
    }

    /// Whether deltas can be read without checking anything else.
    fn takes_deltas(&self) -> bool {
        self.is_open() && self.chunks.is_empty() && !self.repeat.is_on()
    }

    /// The number of the next event.
    fn next_number(&mut self) -> u64 {
        self.emitted += 1;
        self.emitted
    }

    /// The id for the next event, if it has none.
    fn next_id(&self) -> String {
        let mut id = self.start.turn_id.clone();
        id.push_str(":e");
        write_u64(&mut id, self.emitted + 1);
        id
    }

    /// Emits an event.
    fn emit(&mut self, event: &Object<'_>, sink: &mut dyn EventSink) {
        let number = self.next_number();
        sink.event(number, EventRef::of(event));
    }

    /// Emits an event for data that could not be read.
    fn unknown(
        &mut self,
        wire_type: &str,
        raw: Value<'_>,
        problem: Option<Problem>,
        sink: &mut dyn EventSink,
    ) {
        self.emit(&unknown(text_or_null(wire_type), raw, problem), sink);
    }

    /// Emits a notice, which is not part of the conversation.
    fn notice(
        &mut self,
        level: &'static str,
        code: &str,
        message: &str,
        details: Option<Value<'_>>,
        sink: &mut dyn EventSink,
    ) {
        let mut notice = event("notice", self.next_id(), "");
        put(&mut notice, "level", level);
        put(&mut notice, "code", code);
        put(&mut notice, "message", message);
        if let Some(details) = details {
            notice.set("details", details);
        }
        self.emit(&notice, sink);
    }

    /// Reports once for each kind of violation that the server breaks the protocol's order. `id` names the place. A
    /// stream that repeats a run has a different order.
    fn violation(&mut self, code: &'static str, id: &str, sink: &mut dyn EventSink) {
        if !self.told.contains(&code) && !self.repeat.is_on() {
            self.told.push(code);
            let details = with_text("id", id);
            self.notice("warning", code, "the server breaks the order of events", Some(details.into()), sink);
        }
    }

    /// Reports the turn's beginning, once, with the answers in its input. No server repeats them.
    fn created(&mut self, sink: &mut dyn EventSink) {
        if std::mem::replace(&mut self.is_begun, true) {
            return;
        }
        let mut created = event("turn.created", self.next_id(), "");
        put(&mut created, "turn_id", &self.start.turn_id);
        created.set("previous_turn_id", std::mem::take(&mut self.start.previous_turn_id));
        created.set("created_at", Value::Null);
        created.set("input", std::mem::take(&mut self.start.input));
        created.set("state", with_text("status", "running").into());
        self.emit(&created, sink);
        for (id, answer, is_result) in std::mem::take(&mut self.start.answers) {
            let thread_id = self.thread_of_call(&id);
            let mut event =
                event(if is_result { "tool.response" } else { "tool.resumed" }, self.next_id(), &thread_id);
            put(&mut event, "tool_call_id", &id);
            event.set(if is_result { "content" } else { "result" }, answer);
            self.emit(&event, sink);
        }
        if let Some(state) = self.conversation.state.clone() {
            let mut snapshot = event("state.snapshot", self.next_id(), "");
            snapshot.set("snapshot", state);
            self.emit(&snapshot, sink);
        }
    }

    /// Reads a frame without the hot path.
    fn frame(&mut self, mut json: Value<'_>, sink: &mut dyn EventSink) {
        let Some(fields) = json.as_object_mut() else {
            return self.unreadable(json, "it is not an object".to_owned(), sink);
        };
        let wire_type = fields.text("type").to_owned();
        let (kind, texts) = kind_of(&wire_type);
        self.thread_frame(kind, fields, sink);
        if self.is_left_out(kind, fields, sink) {
            return;
        }
        self.created(sink);
        self.check_order(kind, &wire_type, sink);
        self.close_chunks(kind, fields, sink);
        let read = check(fields, texts).and_then(|()| self.read(kind, &wire_type, fields, sink));
        let problem = read.err().or_else(|| wire_type.is_empty().then(|| "it has no `type`".to_owned()));
        if kind == Kind::Unknown || problem.is_some() {
            self.unknown(&wire_type, json, problem, sink);
        }
    }

    /// A frame that is no object.
    fn unreadable(&mut self, raw: Value<'_>, problem: Problem, sink: &mut dyn EventSink) {
        if !self.is_left_out(Kind::Unknown, const { &Object::new() }, sink) {
            self.created(sink);
            self.unknown("", raw, Some(problem), sink);
        }
    }

    /// Reports frames outside of a run.
    fn check_order(&mut self, kind: Kind, wire_type: &str, sink: &mut dyn EventSink) {
        match (self.is_open(), kind) {
            (true, Kind::RunStarted) => self.violation("run_in_run", "", sink),
            (false, Kind::RunStarted | Kind::RunError) | (true, _) => {}
            (false, _) => self.violation("outside_of_run", wire_type, sink),
        }
    }

    /// Reads a frame that has its texts.
    fn read(
        &mut self,
        kind: Kind,
        wire_type: &str,
        fields: &mut Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let role = if wire_type.starts_with("REASONING") { REASONING } else { "assistant" };
        match kind {
            Kind::RunStarted => self.run_started(fields),
            Kind::RunFinished => self.run_finished(fields),
            Kind::RunError => self.run_error(fields, sink),
            Kind::Step => {
                let code = if wire_type == "STEP_STARTED" { "step_started" } else { "step_finished" };
                self.notice("info", code, fields.text("stepName"), None, sink);
            }
            Kind::MessageStart => self.message_start(role, fields, sink),
            Kind::MessageContent => self.message_content(role, fields, sink),
            Kind::MessageEnd => self.close(&key(role, fields.text("messageId")), fields, sink),
            Kind::Encrypted => self.encrypted(fields, sink),
            Kind::ThinkingStart => {
                self.thinking_start(sink);
            }
            Kind::ThinkingContent => {
                let number = self.reasoning.unnamed.unwrap_or_else(|| self.thinking_start(sink));
                self.piece(number, fields.text("delta"), sink);
            }
            Kind::ThinkingEnd => self.reasoning.unnamed = None,
            Kind::CallStart => self.call_start(fields, sink)?,
            Kind::CallArguments => self.call_arguments(fields, sink)?,
            Kind::CallEnd => self.call_end(fields, sink),
            Kind::CallResult => self.call_result(fields, sink)?,
            Kind::Chunk => self.chunk(wire_type, fields, sink)?,
            Kind::State if wire_type == "STATE_DELTA" => self.state_delta(fields, sink)?,
            Kind::State => {
                let snapshot = fields.get_mut("snapshot").map(std::mem::take);
                self.tell_state(snapshot.ok_or_else(|| missing("snapshot"))?.into_owned(), sink);
            }
            Kind::MessagesSnapshot => self.messages_snapshot(fields, sink)?,
            Kind::Activity => self.activity(fields, sink)?,
            Kind::SubagentStarted => self.subagent_started(fields, sink)?,
            Kind::SubagentEnded => self.subagent_ended(fields, sink),
            Kind::Custom => self.custom(fields, sink),
            Kind::Raw | Kind::Nothing | Kind::Unknown => {}
        }
        Ok(())
    }

    /// Takes something that only the server and the page know. One server asks in this way.
    fn custom(&mut self, fields: &mut Object<'_>, sink: &mut dyn EventSink) {
        let value = fields.get_mut("value").map(std::mem::take).unwrap_or_default();
        let name = fields.text("name");
        if name == super::waiting::LEGACY {
            self.asked.push(value.clone().into_owned());
        }
        self.notice("info", name, "", Some(value), sink);
    }
}

/// The role of reasoning.
const REASONING: &str = "reasoning";

/// The key of a message of this role.
fn key(role: &str, id: &str) -> String {
    if role == REASONING { reasoning_key(id) } else { id.to_owned() }
}

/// The key of a reasoning message, which may have the same id as a text.
fn reasoning_key(id: &str) -> String {
    let mut key = "\0".to_owned();
    key.push_str(id);
    key
}
