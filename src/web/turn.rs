//! A turn as JavaScript uses it: plans its requests, takes their results, and returns records.

use crate::delivery::{ChangeBatch, EventBatch, TextArena};
use crate::error::{Error, ErrorCode, Result};
use crate::json::{Object, ObjectWriter, Value};
use crate::protocol::{Call, HAS_OTHERS};
use crate::text::cut;
use crate::turn::{
    Moment, Newest, Outcome, Pause, Pending, Plan, Reconnect, Step, TurnDriver, TurnInput, TurnMachine,
    TurnReader, TurnStatus, Waiting,
};

use super::boundary::{Lent, write_error};
use crate::session::{PausedStream, Session};

/// A turn, as JavaScript uses it.
pub(super) struct Turn {
    /// The number of its session.
    session: u32,
    key: u32,
    driver: TurnDriver,
    /// Whether a user's message discards pending calls.
    discards_pending: bool,
    /// Whether the session knows the turn's id.
    is_named: bool,
    /// The number of reported gaps.
    gaps_told: usize,
    is_mismatch_told: bool,
    /// The records of events that JavaScript reads.
    events: (Vec<u32>, TextArena),
    changes: ChangeBatch,
}

/// What a turn is read for. JavaScript passes the number.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Goal {
    /// Its events.
    Stream,
    /// Its start, without a stream.
    Start,
    /// Whether it has started.
    Look,
    /// Its end, with all its events.
    End,
}

impl Turn {
    pub(super) fn new(
        number: u32,
        session: &mut Session,
        previous_turn_id: &str,
        turn_id: &str,
        is_newest: bool,
    ) -> Self {
        let key = session.new_key();
        if is_newest {
            session.add_newest(key, 0);
        }
        let mut reader =
            TurnReader::new(session.protocol.protocol(), TurnMachine::unstarted(), session.max_frame_bytes);
        // The package's snapshots keep the text.
        reader.release_taken_text();
        // Events wait until they are taken.
        reader.set_wants_events(true);
        let mut driver = TurnDriver::new(reader, &session.id, previous_turn_id);
        driver.set_start(&session.agent_name, turn_id);
        Self {
            session: number,
            key,
            driver,
            discards_pending: false,
            is_named: false,
            gaps_told: 0,
            is_mismatch_told: false,
            events: (Vec::new(), TextArena::default()),
            changes: ChangeBatch::default(),
        }
    }

    /// The number of its session.
    pub(super) fn session(&self) -> u32 {
        self.session
    }

    fn reader(&mut self) -> &mut TurnReader {
        self.driver.reader_mut()
    }

    fn machine(&self) -> &TurnMachine {
        self.driver.reader().machine()
    }

    /// Takes the input, and after a NUL character further options of the start, if any. Returns the input as it will
    /// be sent. Every pending call must be answered, unless they are to be discarded.
    pub(super) fn take_input(
        &mut self,
        session: &Session,
        text: &str,
        discards_pending: bool,
    ) -> Result<String> {
        session.check_open()?;
        let (json, options) = cut(text, 0);
        if cfg!(feature = "socket") {
            self.driver.set_options(options);
        }
        let capabilities = self.driver.reader().capabilities();
        if discards_pending && !capabilities.can_discard_pending() {
            let problem = "this protocol cannot discard pending calls";
            return Err(Error::new(ErrorCode::Unsupported, problem));
        }
        self.discards_pending = discards_pending && capabilities.can_discard_pending();
        let json = Value::parse(json);
        let json = json.map_err(|error| Error::new(ErrorCode::InvalidInput, &error.message()))?;
        let input = TurnInput::read(json, &capabilities)?;
        if capabilities.takes_text_only() && input.has_files() {
            return Err(Error::new(ErrorCode::InvalidInput, "this agent accepts only text messages"));
        }
        if !capabilities.takes_images() && input.has_images() {
            return Err(Error::new(ErrorCode::InvalidInput, "this agent does not accept URLs of images"));
        }
        self.driver.set_input(input);
        self.check_start(session)?;
        Ok(self.driver.input().json().unwrap_or("[]").to_owned())
    }

    /// Takes answers to pending calls of a running turn. Returns them as they will be sent.
    pub(super) fn take_answers(&self, json: &str) -> Result<String> {
        if !self.driver.reader().capabilities().has_live_answers() {
            let problem = "this protocol accepts no answers while a turn runs";
            return Err(Error::new(ErrorCode::Unsupported, problem));
        }
        let json = Value::parse(json);
        let json = json.map_err(|error| Error::new(ErrorCode::InvalidInput, &error.message()))?;
        let input = TurnInput::read(json, &self.driver.reader().capabilities())?;
        input.check_answers(self.driver.reader().index().pending())?;
        #[cfg(feature = "socket")]
        if self.driver.reader().capabilities().has_socket() {
            // The server asked in a message, and needs its id for the response.
            return Ok(input.with_suspensions(self.driver.reader().index().pending()));
        }
        Ok(input.json().unwrap_or("[]").to_owned())
    }

    /// Notes that answers were accepted while the turn runs, or paused just then. If the turn continues by itself,
    /// its pause is not its end. Over a socket, answers may get lost and be requested again.
    pub(super) fn answered(&mut self, json: &str) {
        let capabilities = self.driver.reader().capabilities();
        if capabilities.has_answers_apart() || capabilities.has_socket() {
            let json = Value::parse(json).unwrap_or_default();
            if let Ok(input) = TurnInput::read(json, &self.driver.reader().capabilities()) {
                self.driver.reader_mut().add_answered(&input);
            }
        }
    }

    /// Takes the server's record of the turn.
    pub(super) fn take_record(&mut self, session: &mut Session, json: &str) -> Result<()> {
        let record = Value::parse(json).unwrap_or_default();
        let record = record.as_object().unwrap_or(const { &Object::new() });
        if HAS_OTHERS && self.driver.reader().capabilities().lacks_turn_ids() {
            // The turn is found by its input.
            let input = Value::Array(record.array("input").to_vec());
            self.driver
                .set_input(TurnInput::read(input, &self.driver.reader().capabilities()).unwrap_or_default());
            if let Some(said) = record.get("said").and_then(Value::as_u64) {
                self.driver.set_user_message_count(Some(said));
            }
        }
        let state = record.object("state").ok_or_else(|| {
            Error::new(ErrorCode::UnexpectedResponse, "the server returned a turn without `state`")
        })?;
        let id = record.text("id");
        self.reader().machine_mut().created(id);
        session.turn_begun(self.key, id, record.text("previous_turn_id"));
        self.driver.take_state(state);
        self.note(session);
        Ok(())
    }

    /// Takes listed events; with `is_all`, all events of the turn.
    pub(super) fn apply_listed(&mut self, session: &mut Session, events: &str, is_all: bool) {
        let events = Value::parse(events).unwrap_or_default();
        self.driver.fill(events.as_array().unwrap_or_default(), is_all);
        self.note(session);
    }

    /// A later turn has answered the pending calls of this one.
    pub(super) fn settle(&mut self, is_discarded: bool) {
        self.reader().resolve_actions(is_discarded);
    }

    /// The known facts about the turn.
    pub(super) fn facts(&mut self) -> String {
        let mut json = String::new();
        let mut facts = ObjectWriter::new(&mut json);
        let machine = self.machine();
        if let Some(id) = machine.id() {
            facts.str("id", id);
        }
        facts.str("status", machine.status().as_str()).u64("last", machine.cursor().last());
        if !self.driver.reader().is_complete() {
            facts.bool("lacks", true);
        }
        if let Some(created) = self.reader().take_created() {
            facts.raw("created", &created);
        }
        if let Some(state) = self.reader().take_state() {
            facts.raw("state", &state);
        }
        facts.end();
        json
    }

    pub(super) fn set_wants_native(&mut self, wants_native: bool) {
        self.reader().set_wants_native(wants_native);
    }

    pub(super) fn set_wants_events(&mut self, wants_events: bool) {
        let reader = self.reader();
        reader.set_wants_events(wants_events);
        if !wants_events {
            *reader.batch() = EventBatch::default();
            self.has_events();
        }
    }

    /// Begins to read the turn for a goal. Returns the first step.
    pub(super) fn begin(
        &mut self,
        session: &mut Session,
        goal: Goal,
        after: f64,
        reconnect: Reconnect,
        now: f64,
    ) -> Result<String> {
        let after = sequence_number(after)?;
        let is_start = self.machine().status() == TurnStatus::Unstarted;
        if is_start {
            self.check_start(session)?;
            self.driver.set_user_message_count(session.user_message_count);
        }
        if let Some(paused) = self.paused_stream(session) {
            self.driver.reader_mut().follow(paused.events, &paused.messages);
        }
        self.driver.set_terms(&session.terms);
        let now = millis(now);
        let trace = session.start_trace(now);
        let step = match goal {
            Goal::Stream => self.driver.stream(Some(after), reconnect, trace)?,
            Goal::Start => self.driver.start(reconnect, trace)?,
            Goal::Look => self.driver.look(reconnect)?,
            Goal::End => self.driver.complete(reconnect, trace)?,
        };
        if is_start {
            session.add_newest(self.key, now);
        }
        self.step(session, step)
    }

    /// Cancels the turn when its stream is left.
    pub(super) fn cancel_by_disconnect(&mut self) {
        self.driver.cancel_by_disconnect();
    }

    /// The head of a stream's response has come.
    pub(super) fn opened(&mut self, now: f64) {
        self.driver.opened(now);
    }

    /// Takes the result of a step. Returns the next one.
    pub(super) fn next(
        &mut self,
        session: &mut Session,
        outcome: Outcome<'_>,
        moment: Moment,
    ) -> Result<String> {
        if self.driver.is_looking() {
            self.driver.set_others(&session.other_ids(self.key));
        }
        let step = self.driver.next(outcome, moment);
        session.newest_read(self.driver.newest());
        self.step(session, step)
    }

    /// A step as JSON: a request `{ call, params, after?, whole? }`, a wait before the next attempt `{ delay, least,
    /// attempt, error }` or before the next poll `{ delay, for }`, or `{}` at the end.
    fn step(&mut self, session: &mut Session, step: Step) -> Result<String> {
        self.note(session);
        if self.machine().status() == TurnStatus::Unstarted {
            session.start_refused(self.key);
        }
        let mut json = String::new();
        let mut object = ObjectWriter::new(&mut json);
        match step {
            Step::Open(plan) | Step::Ask(plan) => {
                write_plan(&mut object, &plan);
                if plan.call == Call::CreateTurnStream
                    && self.driver.reader().capabilities().has_whole_answers()
                {
                    object.bool("whole", true);
                }
            }
            Step::Retry(Pause { delay, least, attempt, cause }) => {
                object.u64("delay", millis(delay)).u64("least", millis(least)).u64("attempt", attempt.into());
                write_error(object.member("error"), &cause);
            }
            Step::Wait(Waiting { delay, awaited }) => {
                object.u64("delay", millis(delay)).str("for", awaited.as_str());
            }
            Step::End(ended) => ended?,
        }
        object.end();
        Ok(json)
    }

    /// Takes a chunk of the stream. Returns whether to read on.
    pub(super) fn push(&mut self, session: &mut Session, chunk: &[u8]) -> bool {
        let pushed = self.reader().push(chunk);
        self.note(session);
        pushed.is_ok() && !self.machine().status().is_terminal()
    }

    /// Takes a message of the stream's socket; returns whether to read on.
    #[cfg(feature = "socket")]
    pub(super) fn push_message(&mut self, session: &mut Session, message: &str) -> bool {
        let pushed = self.reader().push_message(message);
        self.note(session);
        pushed.is_ok() && !self.machine().status().is_terminal()
    }

    /// Takes the next report about the stream, under its topic: a gap `{ gap: { after, next } }`, or a frame with two
    /// numbers `{ mismatch: { id, sequence_number } }`; `None` if there are no more.
    pub(super) fn take_news(&mut self) -> String {
        let mut json = String::new();
        let reader = self.driver.reader();
        let (topic, one, other, numbers) = if let Some(gap) = reader.gaps().get(self.gaps_told) {
            self.gaps_told += 1;
            ("gap", "after", "next", *gap)
        } else if let Some(mismatch) = reader.mismatch().filter(|_| !self.is_mismatch_told) {
            self.is_mismatch_told = true;
            ("mismatch", "id", "sequence_number", mismatch)
        } else {
            return json;
        };
        let mut news = ObjectWriter::new(&mut json);
        ObjectWriter::new(news.member(topic)).u64(one, numbers.0).u64(other, numbers.1).end();
        news.end();
        json
    }

    /// Whether the turn has [follow-up requests](Self::follow_up_requests).
    #[cfg(feature = "socket")]
    pub(super) fn has_follow_up_requests(&self) -> bool {
        self.driver.reader().has_follow_up_requests()
    }

    /// Takes the requests that read more of the turn, to be sent on the stream's socket.
    #[cfg(feature = "socket")]
    pub(super) fn follow_up_requests(&mut self) -> Option<crate::rpc::Messages> {
        self.reader().follow_up_requests()
    }

    /// Whether there are reports about the stream.
    pub(super) fn has_news(&self) -> bool {
        let reader = self.driver.reader();
        reader.gaps().len() > self.gaps_told || (reader.mismatch().is_some() && !self.is_mismatch_told)
    }

    /// The flags for what was read: 1 if more is to be read, plus 2 if there are reports, plus 8 if there are events.
    pub(super) fn flags(&mut self, goes_on: bool) -> u8 {
        u8::from(goes_on) + 2 * u8::from(self.has_news()) + 8 * u8::from(self.has_events())
    }

    /// Whether there were events since they were last taken. After the last ones, their memory is freed.
    pub(super) fn has_events(&mut self) -> bool {
        let has_events = !self.reader().batch().is_empty();
        if !has_events && self.machine().status().is_terminal() {
            self.events = (Vec::new(), TextArena::default());
            self.reader().release();
        }
        has_events
    }

    /// The records of the events since the last call.
    pub(super) fn events(&mut self) -> Lent<'_> {
        self.driver.reader_mut().batch().take(&mut self.events);
        (&self.events.0, &self.events.1)
    }

    /// The changes of the index.
    pub(super) fn take_changes(&mut self) -> String {
        self.driver.reader_mut().take_changes(&mut self.changes).unwrap_or_default()
    }

    /// The records of the last taken changes.
    pub(super) fn change_records(&mut self) -> Lent<'_> {
        (self.changes.records(), self.changes.text())
    }

    /// How much the turn has delivered that this one continues under the same id.
    fn paused_stream<'s>(&self, session: &'s Session) -> Option<&'s PausedStream> {
        let (machine, input) = (self.machine(), self.driver.input());
        let is_answer = self.driver.reader().capabilities().has_answers_apart() && input.answer_count() > 0;
        if !is_answer || machine.status() != TurnStatus::Unstarted {
            return None;
        }
        let Newest::Turn(newest) = session.newest() else {
            return None;
        };
        let named = self.driver.previous_turn_id();
        let id = if matches!(named, "" | "auto") { &newest } else { named };
        session.paused_stream(id)
    }

    /// Whether the turn may start now.
    fn check_start(&self, session: &Session) -> Result<()> {
        session.check_open()?;
        if self.discards_pending && self.driver.input().answer_count() == 0 {
            return Ok(());
        }
        session.check_pending(self.driver.previous_turn_id(), self.driver.input())
    }

    /// Updates the session: the turn has begun, and after its end, these calls are pending.
    fn note(&mut self, session: &mut Session) {
        let machine = self.driver.reader().machine();
        if let Some(id) = machine.id().filter(|_| !self.is_named) {
            session.turn_begun(self.key, id, "");
            let count = self.driver.input().message_count();
            session.user_message_count = session.user_message_count.map(|before| before + count);
            self.is_named = true;
        }
        if machine.status().is_terminal() {
            let index = self.driver.reader().index();
            let continue_message =
                self.driver.reader().capabilities().has_answers_apart() && !index.pending().is_empty();
            let messages = index.messages().iter().filter(|_| continue_message);
            let messages = messages.map(|message| message.id.clone()).collect();
            let pending = Pending::Known(index.pending().to_vec());
            let paused = PausedStream { events: machine.cursor().last(), messages };
            session.turn_ended(self.key, pending, paused);
        } else if self.driver.reader().capabilities().has_client_ids() {
            let is_live = matches!(machine.status(), TurnStatus::Starting | TurnStatus::Running);
            session.set_live(self.key, is_live, self.driver.reader().index().pending());
        }
    }
}

fn write_plan(object: &mut ObjectWriter<'_>, plan: &Plan) {
    object.u64("call", plan.call as u64).raw("params", &plan.params);
    if let Some(after) = plan.resumes_after {
        object.u64("after", after);
    }
}

/// Whole milliseconds.
fn millis(delay: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is not that large, and not negative"
    )]
    let millis = delay as u64;
    millis
}

/// A sequence number from JavaScript.
fn sequence_number(number: f64) -> Result<u64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
    if (0.0..=9_007_199_254_740_991.0).contains(&number) && number.fract() == 0.0 {
        return Ok(number as u64);
    }
    Err(Error::new(ErrorCode::InvalidOption, "`afterSequenceNumber` must be a whole number, at least 0"))
}
