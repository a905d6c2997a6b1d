//! A turn: plans its requests, takes what comes, and gives records to whoever asks.

use crate::delivery::{ChangeBatch, EventBatch, TextArena};
use crate::error::{Error, ErrorCode, Result};
use crate::json::{Object, ObjectWriter, Value};
use crate::protocol::{Call, HAS_OTHERS};
use crate::text::cut;
use crate::turn::{
    Moment, Newest, Outcome, Pause, Pending, Plan, Reconnect, Step, TurnDriver, TurnInput, TurnMachine,
    TurnReader, TurnStatus, Waiting,
};

use super::session::Session;
use super::state::{Lent, write_error};

/// A turn, as JavaScript uses it.
pub(super) struct Turn {
    /// The session's number.
    session: u32,
    key: u32,
    driver: TurnDriver,
    /// Whether what waits is thrown away by a user's message.
    discards_pending: bool,
    /// Whether the session knows the turn's id.
    is_named: bool,
    /// Gaps that were told.
    gaps_told: usize,
    is_mismatch_told: bool,
    /// The events' records that JavaScript reads.
    events: (Vec<u32>, TextArena),
    changes: ChangeBatch,
}

/// What a turn is begun for; JavaScript names it by its number.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Goal {
    /// Its events.
    Stream,
    /// That it starts.
    Start,
    /// To find out whether it started.
    Look,
    /// Its end, with all that it says.
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
        let key = session.key();
        if is_newest {
            session.begin(key, 0);
        }
        let mut reader =
            TurnReader::new(session.protocol.protocol(), TurnMachine::unstarted(), session.max_frame_bytes);
        // The package's snapshots hold it.
        reader.give_away_text();
        // They wait until something takes them.
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

    /// The session's number.
    pub(super) fn session(&self) -> u32 {
        self.session
    }

    fn reader(&mut self) -> &mut TurnReader {
        self.driver.reader_mut()
    }

    fn machine(&self) -> &TurnMachine {
        self.driver.reader().machine()
    }

    /// Takes the input, and after a NUL character what the turn is started with besides, if it is anything; gives
    /// the input as it will be sent. Every pending call must be answered, unless what waits is to be thrown away.
    pub(super) fn take_input(
        &mut self,
        session: &Session,
        text: &str,
        discards_pending: bool,
    ) -> Result<String> {
        session.check()?;
        let (json, options) = cut(text, 0);
        if cfg!(feature = "socket") {
            self.driver.set_options(options);
        }
        let capabilities = self.driver.reader().capabilities();
        if discards_pending && !capabilities.can_discard_pending() {
            let problem = "this protocol has no way to throw away what waits";
            return Err(Error::new(ErrorCode::Unsupported, problem));
        }
        self.discards_pending = discards_pending && capabilities.can_discard_pending();
        let json = Value::parse(json);
        let json = json.map_err(|error| Error::new(ErrorCode::InvalidInput, &error.message()))?;
        let input = TurnInput::read(json, &capabilities)?;
        if capabilities.takes_text_only() && input.has_files() {
            return Err(Error::new(ErrorCode::InvalidInput, "this agent takes messages of text only"));
        }
        if !capabilities.takes_images() && input.has_images() {
            return Err(Error::new(ErrorCode::InvalidInput, "this agent takes no images by their address"));
        }
        self.driver.set_input(input);
        self.check_start(session)?;
        Ok(self.driver.input().json().unwrap_or("[]").to_owned())
    }

    /// Takes answers to calls that wait while the turn runs; gives them as they will be sent.
    pub(super) fn take_answers(&self, json: &str) -> Result<String> {
        if !self.driver.reader().capabilities().has_live_answers() {
            let problem = "this protocol takes no answers while a turn runs";
            return Err(Error::new(ErrorCode::Unsupported, problem));
        }
        let json = Value::parse(json);
        let json = json.map_err(|error| Error::new(ErrorCode::InvalidInput, &error.message()))?;
        let input = TurnInput::read(json, &self.driver.reader().capabilities())?;
        input.check_answers(self.driver.reader().index().pending())?;
        #[cfg(feature = "socket")]
        if self.driver.reader().capabilities().has_socket() {
            // The server asked by a message, which the answer responds to.
            return Ok(input.with_suspensions(self.driver.reader().index().pending()));
        }
        Ok(input.json().unwrap_or("[]").to_owned())
    }

    /// Answers were taken while the turn runs, or paused in that moment: what it waits for them is no end of it,
    /// where it goes on by itself; and over a socket they may get lost, and be asked for again.
    pub(super) fn answered(&mut self, json: &str) {
        let capabilities = self.driver.reader().capabilities();
        if capabilities.has_answers_apart() || capabilities.has_socket() {
            let json = Value::parse(json).unwrap_or_default();
            if let Ok(input) = TurnInput::read(json, &self.driver.reader().capabilities()) {
                self.driver.reader_mut().add_answered(&input);
            }
        }
    }

    /// Takes the turn as the server keeps it.
    pub(super) fn take_record(&mut self, session: &mut Session, json: &str) -> Result<()> {
        let record = Value::parse(json).unwrap_or_default();
        let record = record.as_object().unwrap_or(const { &Object::new() });
        if HAS_OTHERS && self.driver.reader().capabilities().is_unnamed() {
            // By that it is found.
            let input = Value::Array(record.array("input").to_vec());
            self.driver
                .set_input(TurnInput::read(input, &self.driver.reader().capabilities()).unwrap_or_default());
            if let Some(said) = record.get("said").and_then(Value::as_u64) {
                self.driver.set_user_message_count(Some(said));
            }
        }
        let state = record.object("state").ok_or_else(|| {
            Error::new(ErrorCode::UnexpectedResponse, "the server gave a turn without `state`")
        })?;
        let id = record.text("id");
        self.reader().machine_mut().created(id);
        session.begun(self.key, id, record.text("previous_turn_id"));
        self.driver.take_state(state);
        self.note(session);
        Ok(())
    }

    /// Takes events that were listed, not streamed; all that the turn has said if `is_all`.
    pub(super) fn apply_listed(&mut self, session: &mut Session, events: &str, is_all: bool) {
        let events = Value::parse(events).unwrap_or_default();
        self.driver.fill(events.as_array().unwrap_or_default(), is_all);
        self.note(session);
    }

    /// A later turn has answered what this one waited for.
    pub(super) fn settle(&mut self, is_discarded: bool) {
        self.reader().resolve_actions(is_discarded);
    }

    /// What is known of the turn.
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

    /// Begins what the turn is wanted for; gives the first step.
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
            self.driver.set_user_message_count(session.said);
        }
        if let Some((events, messages)) = self.paused_turn(session) {
            self.driver.reader_mut().follow(events, &messages);
        }
        self.driver.set_terms(&session.terms);
        let now = millis(now);
        let trace = session.trace(now);
        let step = match goal {
            Goal::Stream => self.driver.stream(Some(after), reconnect, trace)?,
            Goal::Start => self.driver.start(reconnect, trace)?,
            Goal::Look => self.driver.look(reconnect)?,
            Goal::End => self.driver.complete(reconnect, trace)?,
        };
        if is_start {
            session.begin(self.key, now);
        }
        self.step(session, step)
    }

    /// Cancels the turn when its stream is left.
    pub(super) fn cancel_by_disconnect(&mut self) {
        self.driver.cancel_by_disconnect();
    }

    /// The head of a stream's answer has come.
    pub(super) fn opened(&mut self, now: f64) {
        self.driver.opened(now);
    }

    /// Takes how a step went; gives the next one.
    pub(super) fn next(
        &mut self,
        session: &mut Session,
        outcome: Outcome<'_>,
        moment: Moment,
    ) -> Result<String> {
        if self.driver.is_looking() {
            self.driver.set_others(&session.others(self.key));
        }
        let step = self.driver.next(outcome, moment);
        session.learn(self.driver.newest());
        self.step(session, step)
    }

    /// A step as JSON: a request `{ call, params, after?, whole? }`, a wait before the next try `{ delay, least,
    /// attempt, error }` or before the next look `{ delay, for }`, or nothing: `{}`.
    fn step(&mut self, session: &mut Session, step: Step) -> Result<String> {
        self.note(session);
        if self.machine().status() == TurnStatus::Unstarted {
            session.refused(self.key);
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

    /// Takes a chunk of the stream; gives whether to read on.
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

    /// The next news of the stream, under its topic: a gap that was passed over, `{ gap: { after, next } }`, or
    /// two numbers of one frame, `{ mismatch: { id, sequence_number } }`; nothing if all is told.
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

    /// Takes the requests by which more of the turn is learnt, to be sent on the stream's socket.
    #[cfg(feature = "socket")]
    pub(super) fn follow_up_requests(&mut self) -> Option<crate::rpc::Messages> {
        self.reader().follow_up_requests()
    }

    /// Whether there are news of the stream to tell.
    pub(super) fn has_news(&self) -> bool {
        let reader = self.driver.reader();
        reader.gaps().len() > self.gaps_told || (reader.mismatch().is_some() && !self.is_mismatch_told)
    }

    /// Whether there have been events since they were last asked for. When there are no more to come, their
    /// memory is given back.
    pub(super) fn has_events(&mut self) -> bool {
        let has_events = !self.reader().batch().is_empty();
        if !has_events && self.machine().status().is_terminal() {
            self.events = (Vec::new(), TextArena::default());
            self.reader().release();
        }
        has_events
    }

    /// The records of the events since this was last asked.
    pub(super) fn events(&mut self) -> Lent<'_> {
        self.driver.reader_mut().batch().take(&mut self.events);
        (&self.events.0, &self.events.1)
    }

    /// What changed in the index.
    pub(super) fn take_changes(&mut self) -> String {
        self.driver.reader_mut().take_changes(&mut self.changes).unwrap_or_default()
    }

    /// The records that belong to the changes taken last.
    pub(super) fn change_records(&mut self) -> Lent<'_> {
        (self.changes.records(), self.changes.text())
    }

    /// What came of the turn that this one goes on with under the same id.
    fn paused_turn(&self, session: &Session) -> Option<(u64, Vec<String>)> {
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
        session.brought(id).map(|(events, messages)| (events, messages.to_vec()))
    }

    /// The turn may start now.
    fn check_start(&self, session: &Session) -> Result<()> {
        session.check()?;
        if self.discards_pending && self.driver.input().answer_count() == 0 {
            return Ok(());
        }
        session.check_pending(self.driver.previous_turn_id(), self.driver.input())
    }

    /// Tells the session that the turn has begun, and what it waits for once it has ended.
    fn note(&mut self, session: &mut Session) {
        let machine = self.driver.reader().machine();
        if let Some(id) = machine.id().filter(|_| !self.is_named) {
            session.begun(self.key, id, "");
            session.said = session.said.map(|said| said + self.driver.input().message_count());
            self.is_named = true;
        }
        if machine.status().is_terminal() {
            let index = self.driver.reader().index();
            let goes_on =
                self.driver.reader().capabilities().has_answers_apart() && !index.pending().is_empty();
            let messages = index.messages().iter().filter(|_| goes_on);
            let messages = messages.map(|message| message.id.clone()).collect();
            let pending = Pending::Known(index.pending().to_vec());
            session.ended(self.key, pending, (machine.cursor().last(), messages));
        } else if self.driver.reader().capabilities().has_client_ids() {
            let is_live = matches!(machine.status(), TurnStatus::Starting | TurnStatus::Running);
            session.stands(self.key, is_live, self.driver.reader().index().pending());
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
    Err(Error::new(ErrorCode::InvalidOption, "`afterSequenceNumber` must be a whole number from 0 on"))
}
