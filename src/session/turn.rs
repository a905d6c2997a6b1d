//! A turn of a session: the driver of its requests, and what the session learns from it.

use crate::error::{Error, ErrorCode, Result};
use crate::features::{ClientConversations, ClientIds, Sockets};
use crate::json::{Object, Value};
use crate::turn::{
    Moment, Newest, Outcome, Pending, Reconnect, Step, TurnDriver, TurnInput, TurnMachine, TurnReader,
    TurnStatus,
};

use super::{PausedStream, Session};

/// A turn of a session. Its methods get the session that made it.
#[derive(Debug)]
pub struct SessionTurn {
    key: u32,
    driver: TurnDriver,
    /// Whether a user's message discards pending calls.
    discards_pending: bool,
    /// Whether the session knows the turn's id.
    is_named: bool,
}

/// What a turn is read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// Its events.
    Stream,
    /// Its start, without a stream.
    Start,
    /// Whether it has started.
    Look,
    /// Its end, with all its events.
    End,
}

impl SessionTurn {
    /// A turn that follows `previous_turn_id`, and is called `turn_id` if clients make ids. It takes its input next, or
    /// the server's record of it. The next turn's input must answer the actions of the session's newest turn.
    #[must_use]
    pub fn new(session: &mut Session, previous_turn_id: &str, turn_id: &str, is_newest: bool) -> Self {
        let key = session.new_key();
        if is_newest {
            session.add_newest(key, 0);
        }
        let protocol = session.protocol.protocol();
        let mut reader = TurnReader::new(protocol, TurnMachine::unstarted(), session.max_frame_bytes);
        // Events wait until they are taken.
        reader.set_wants_events(true);
        let mut driver = TurnDriver::new(reader, &session.id, previous_turn_id);
        driver.set_start(&session.agent_name, turn_id);
        Self { key, driver, discards_pending: false, is_named: false }
    }

    /// Whether its message discards the session's pending calls.
    #[must_use]
    pub fn discards_pending(&self) -> bool {
        self.discards_pending
    }

    /// Plans the turn's requests.
    #[must_use]
    pub fn driver(&self) -> &TurnDriver {
        &self.driver
    }

    /// Plans the turn's requests.
    pub fn driver_mut(&mut self) -> &mut TurnDriver {
        &mut self.driver
    }

    /// Reads the turn's streams.
    #[must_use]
    pub fn reader(&self) -> &TurnReader {
        self.driver.reader()
    }

    /// Reads the turn's streams.
    pub fn reader_mut(&mut self) -> &mut TurnReader {
        self.driver.reader_mut()
    }

    fn machine(&self) -> &TurnMachine {
        self.driver.reader().machine()
    }

    /// Takes the input (JSON), and further options of the start, if any. Every pending call must be answered, unless
    /// they are to be discarded.
    pub fn take_input(
        &mut self,
        session: &Session,
        json: &str,
        options: &str,
        discards_pending: bool,
    ) -> Result<()> {
        session.check_open()?;
        if Sockets::EXISTS {
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
        self.check_start(session)
    }

    /// Takes answers to pending calls of a running turn. Returns them as they will be sent. If the turn continues by
    /// itself, a pause for these calls no longer ends it: it may pause while they are in flight.
    pub fn take_answers(&mut self, json: &str) -> Result<String> {
        if !self.driver.reader().capabilities().has_live_answers() {
            let problem = "this protocol accepts no answers while a turn runs";
            return Err(Error::new(ErrorCode::Unsupported, problem));
        }
        let json = Value::parse(json);
        let json = json.map_err(|error| Error::new(ErrorCode::InvalidInput, &error.message()))?;
        let input = TurnInput::read(json, &self.driver.reader().capabilities())?;
        input.check_answers(self.driver.reader().index().pending())?;
        if self.driver.reader().capabilities().has_socket() {
            // The server asked in a message, and needs its id for the response.
            return Ok(input.with_suspensions(self.driver.reader().index().pending()));
        }
        self.driver.reader_mut().add_answered(&input);
        Ok(input.json().unwrap_or("[]").to_owned())
    }

    /// Notes whether the server accepted answers. If not, a pause for their calls ends the turn again. Over a socket,
    /// answers may be lost and requested again.
    pub fn answered(&mut self, json: &str, is_taken: bool) {
        let capabilities = self.driver.reader().capabilities();
        let is_open = if is_taken { capabilities.has_socket() } else { capabilities.has_answers_apart() };
        if is_open {
            let json = Value::parse(json).unwrap_or_default();
            if let Ok(input) = TurnInput::read(json, &capabilities) {
                self.driver.reader_mut().confirm_answered(&input, is_taken);
            }
        }
    }

    /// Takes the server's record of the turn.
    pub fn take_record(&mut self, session: &mut Session, json: &str) -> Result<()> {
        let record = Value::parse(json).unwrap_or_default();
        let record = record.as_object().unwrap_or(const { &Object::new() });
        if ClientIds::EXISTS && self.driver.reader().capabilities().lacks_turn_ids() {
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
        self.reader_mut().machine_mut().created(id);
        session.turn_begun(self.key, id, record.text("previous_turn_id"));
        self.driver.take_state(state);
        self.note(session);
        Ok(())
    }

    /// Takes listed events; with `is_all`, all events of the turn.
    pub fn apply_listed(&mut self, session: &mut Session, events: &str, is_all: bool) {
        let events = Value::parse(events).unwrap_or_default();
        self.driver.fill(events.as_array().unwrap_or_default(), is_all);
        self.note(session);
    }

    /// Removes the turn from the session: it ended before everything that this client may still request.
    pub fn forget(&self, session: &mut Session) {
        session.forget(self.key);
    }

    /// A later turn has answered the pending calls of this one.
    pub fn settle(&mut self, is_discarded: bool) {
        self.reader_mut().resolve_actions(is_discarded);
    }

    /// Begins to read the turn for a goal, after a sequence number, or 0 for its last one. `now` is in milliseconds
    /// since 1970. Returns the first step.
    pub fn begin(
        &mut self,
        session: &mut Session,
        goal: Goal,
        after: u64,
        reconnect: Reconnect,
        now: u64,
    ) -> Result<Step> {
        let is_start = self.machine().status() == TurnStatus::Unstarted;
        if is_start {
            self.check_start(session)?;
            self.driver.set_user_message_count(session.user_message_count);
        }
        if let Some(paused) = self.paused_stream(session) {
            self.driver.reader_mut().follow(paused.events, &paused.messages);
        }
        self.driver.set_terms(&session.terms_at(now));
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
        self.stepped(session);
        Ok(step)
    }

    /// Takes the outcome of a step. Returns the next one.
    pub fn next(&mut self, session: &mut Session, outcome: Outcome<'_>, moment: Moment) -> Step {
        if self.driver.is_looking() {
            self.driver.set_others(&session.other_ids(self.key));
        }
        let step = self.driver.next(outcome, moment);
        session.newest_read(self.driver.newest());
        self.stepped(session);
        step
    }

    fn stepped(&mut self, session: &mut Session) {
        self.note(session);
        self.keep_conversation(session);
        if self.machine().status() == TurnStatus::Unstarted {
            session.start_refused(self.key);
        }
    }

    fn keep_conversation(&mut self, session: &mut Session) {
        // A start that is in flight, or was refused, has changed nothing.
        if ClientConversations::EXISTS
            && !matches!(self.machine().status(), TurnStatus::Unstarted | TurnStatus::Starting)
        {
            session.keep_conversation(self.key, self.driver.reader_mut().conversation());
        }
    }

    /// Takes a chunk of the stream. Returns whether to read on.
    pub fn push(&mut self, session: &mut Session, chunk: &[u8]) -> bool {
        let pushed = self.reader_mut().push(chunk);
        self.note(session);
        pushed.is_ok() && !self.machine().status().is_terminal()
    }

    /// Takes a message of the stream's socket; returns whether to read on.
    pub fn push_message(&mut self, session: &mut Session, message: &str) -> bool {
        let pushed = self.reader_mut().push_message(message);
        self.note(session);
        pushed.is_ok() && !self.machine().status().is_terminal()
    }

    /// Takes messages like an earlier one, as [`TurnReader::push_like`] does, and returns how many. None of them is the
    /// turn's end.
    pub fn push_like(&mut self, session: &mut Session, template: u32, texts: &str) -> u32 {
        let count = self.reader_mut().push_like(template, texts);
        self.note(session);
        count
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
        if let Some(id) = self.driver.reader().machine().id().filter(|_| !self.is_named) {
            session.turn_begun(self.key, id, "");
            let count = self.driver.input().message_count();
            session.user_message_count = session.user_message_count.map(|before| before + count);
            self.is_named = true;
            // What the user said outlives a reload while the answer streams.
            self.keep_conversation(session);
        }
        let machine = self.driver.reader().machine();
        if machine.status().is_terminal() {
            let index = self.driver.reader().index();
            let continue_message =
                self.driver.reader().capabilities().has_answers_apart() && !index.pending().is_empty();
            let messages = index.messages().iter().filter(|_| continue_message);
            let messages = messages.map(|message| message.id.clone()).collect();
            // Whether the server took the answers of a turn that failed is not known. They can be given again.
            let may_wait = machine.status() == TurnStatus::Error && self.driver.input().answer_count() > 0;
            let pending = if may_wait { Pending::Unknown } else { Pending::Known(index.pending().to_vec()) };
            let paused = PausedStream { events: machine.cursor().last(), messages };
            session.turn_ended(self.key, pending, paused);
        } else if self.driver.reader().capabilities().has_client_ids() {
            let is_live = matches!(machine.status(), TurnStatus::Starting | TurnStatus::Running);
            session.set_live(self.key, is_live, self.driver.reader().index().pending());
        }
    }
}
