//! A turn: plans its requests, takes what comes, and gives records to whoever asks.

use crate::delivery::{ChangeBatch, TextArena};
use crate::error::{Error, ErrorCode, Result};
use crate::event::EventRef;
use crate::json::{Object, ObjectWriter, Value};
use crate::protocol::Call;
use crate::turn::{Pending, StreamEnd, StreamPlan, TurnInput, TurnMachine, TurnReader, TurnStatus};

use super::session::{Latest, Session};
use super::state::Lent;

/// A turn, as JavaScript uses it.
pub(super) struct Turn {
    /// The session's number.
    session: u32,
    key: u32,
    input: TurnInput,
    /// Empty if the server is to decide.
    previous_turn_id: String,
    reader: TurnReader,
    /// Why the stream cannot be read any further.
    failure: Option<Error>,
    /// The events' records that JavaScript reads.
    events: (Vec<u32>, TextArena),
    changes: ChangeBatch,
    /// What the session waited for before this turn was started.
    before_start: Option<Latest>,
}

impl Turn {
    pub(super) fn new(number: u32, session: &mut Session, previous_turn_id: String, is_newest: bool) -> Self {
        let key = session.key();
        if is_newest {
            session.begin(key);
        }
        Self {
            session: number,
            key,
            input: TurnInput::default(),
            previous_turn_id,
            reader: TurnReader::new(&session.protocol, TurnMachine::unstarted(), session.max_frame_bytes),
            failure: None,
            events: (Vec::new(), TextArena::default()),
            changes: ChangeBatch::default(),
            before_start: None,
        }
    }

    /// The session's number.
    pub(super) fn session(&self) -> u32 {
        self.session
    }

    /// Takes the input; gives it as it will be sent. Every pending call must be answered.
    pub(super) fn take_input(&mut self, session: &Session, json: &str) -> Result<String> {
        session.check()?;
        let json = Value::parse(json);
        let json = json.map_err(|error| Error::new(ErrorCode::InvalidInput, &error.message()))?;
        self.input = TurnInput::read(json)?;
        self.check_start(session)?;
        Ok(self.input.json().unwrap_or("[]").to_owned())
    }

    /// Takes the turn as the server keeps it.
    pub(super) fn take_record(&mut self, session: &mut Session, json: &str) -> Result<()> {
        let record = Value::parse(json).unwrap_or_default();
        let record = record.as_object().unwrap_or(const { &Object::new() });
        let state = record.object("state").ok_or_else(|| {
            Error::new(ErrorCode::UnexpectedResponse, "the server gave a turn without `state`")
        })?;
        self.reader.machine_mut().created(record.text("id"));
        session.adopt(self.key, record.text("previous_turn_id"));
        self.reader.apply_state(state);
        self.note_end(session);
        Ok(())
    }

    /// Takes events that were listed, not streamed.
    pub(super) fn apply_listed(&mut self, session: &mut Session, events: &str) {
        let events = Value::parse(events).unwrap_or_default();
        for event in events.as_array().unwrap_or_default().iter().filter_map(Value::as_object) {
            self.reader.apply_listed(EventRef::of(event));
        }
        self.note_end(session);
    }

    /// A later turn has answered what this one waited for.
    pub(super) fn settle(&mut self) {
        self.reader.settle();
    }

    /// What is known of the turn.
    pub(super) fn facts(&mut self) -> String {
        let mut json = String::new();
        let mut facts = ObjectWriter::new(&mut json);
        let machine = self.reader.machine();
        if let Some(id) = machine.id() {
            facts.str("id", id);
        }
        facts.str("status", machine.status().as_str()).u64("last", machine.cursor().last());
        if let Some(created) = self.reader.take_created() {
            facts.raw("created", &created);
        }
        if let Some(state) = self.reader.take_state() {
            facts.raw("state", &state);
        }
        facts.end();
        json
    }

    pub(super) fn set_wants_events(&mut self, wants_events: bool) {
        self.reader.set_wants_events(wants_events);
    }

    /// Begins a stream, after a sequence number; gives the call that brings it.
    pub(super) fn begin_stream(&mut self, session: &mut Session, after: f64) -> Result<String> {
        let after = sequence_number(after)?;
        if self.reader.machine().status() == TurnStatus::Unstarted {
            self.check_start(session)?;
        }
        let plan = self.reader.machine_mut().stream(Some(after))?;
        self.reader.connected();
        Ok(match plan {
            StreamPlan::Start => self.begin(session, Call::CreateTurnStream),
            StreamPlan::Subscribe { after } => self.plan(session, Call::SubscribeTurn, after),
        })
    }

    /// Begins a start without a stream; gives the call.
    pub(super) fn begin_start(&mut self, session: &mut Session) -> Result<String> {
        self.check_start(session)?;
        self.reader.machine_mut().start()?;
        Ok(self.begin(session, Call::CreateTurn))
    }

    /// Takes a chunk of the stream; gives whether to read on.
    pub(super) fn push(&mut self, session: &mut Session, chunk: &[u8]) -> bool {
        self.failure = self.reader.push(chunk).err();
        self.note_end(session);
        self.failure.is_none() && !self.reader.machine().status().is_terminal()
    }

    /// Whether the last chunk could be read.
    pub(super) fn failure(&mut self) -> Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }

    /// The stream, or the start without one, has ended. Gives the error that is to be reported.
    pub(super) fn end(
        &mut self,
        session: &mut Session,
        code: &str,
        message: &str,
        status: Option<u16>,
    ) -> Result<()> {
        let machine = self.reader.machine_mut();
        let ended = machine.stream_ended(stream_end(code, message, status));
        // If the start was refused, the session waits for what it waited for before.
        if let Some(before) = self.before_start.take()
            && machine.status() == TurnStatus::Unstarted
        {
            session.restore(self.key, before);
        }
        ended
    }

    /// Whether there have been events since they were last asked for.
    pub(super) fn has_events(&mut self) -> bool {
        !self.reader.batch().is_empty()
    }

    /// The records of the events since this was last asked.
    pub(super) fn events(&mut self) -> Lent<'_> {
        self.reader.batch().take(&mut self.events);
        (&self.events.0, &self.events.1)
    }

    /// What changed in the index.
    pub(super) fn take_changes(&mut self) -> String {
        self.reader.take_changes(&mut self.changes).unwrap_or_default()
    }

    /// The records that belong to the changes taken last.
    pub(super) fn change_records(&mut self) -> Lent<'_> {
        (self.changes.records(), self.changes.text())
    }

    /// The turn may start now.
    fn check_start(&self, session: &Session) -> Result<()> {
        session.check()?;
        session.check_pending(&self.previous_turn_id, &self.input)
    }

    /// Tells the session what the turn waits for, once it has ended.
    fn note_end(&self, session: &mut Session) {
        let machine = self.reader.machine();
        if machine.status().is_terminal() {
            let pending = Pending::Known(self.reader.index().pending().to_vec());
            session.end(self.key, machine.id().unwrap_or_default(), pending);
        }
    }

    /// The start is about to be sent: until the turn ends, nobody knows what it will wait for.
    fn begin(&mut self, session: &mut Session, call: Call) -> String {
        self.before_start = Some(session.begin(self.key));
        self.plan(session, call, 0)
    }

    /// A call's number and parameters as JSON.
    fn plan(&self, session: &Session, call: Call, after: u64) -> String {
        let mut json = String::new();
        let mut plan = ObjectWriter::new(&mut json);
        plan.u64("call", call as u64);
        let mut params = ObjectWriter::new(plan.member("params"));
        params.str("session_id", &session.id);
        if call == Call::SubscribeTurn {
            params.str("turn_id", self.reader.machine().id().unwrap_or_default());
            if after > 0 {
                params.u64("after_sequence_number", after);
            }
        } else {
            if let Some(input) = self.input.json() {
                params.raw("input", input);
            }
            if !self.previous_turn_id.is_empty() {
                params.str("previous_turn_id", &self.previous_turn_id);
            }
        }
        params.end();
        plan.end();
        json
    }
}

/// What an error of this code means for a stream.
fn stream_end(code: &str, message: &str, status: Option<u16>) -> StreamEnd {
    let failed = |code| Error::new(code, message).with_status(status);
    match code {
        "" => StreamEnd::Eof,
        "aborted" => StreamEnd::Aborted,
        "frame_too_large" => StreamEnd::Failed(failed(ErrorCode::FrameTooLarge)),
        "network" => StreamEnd::Failed(failed(ErrorCode::Network)),
        "http" => StreamEnd::Rejected(failed(ErrorCode::Http)),
        "unexpected_response" => StreamEnd::Rejected(failed(ErrorCode::UnexpectedResponse)),
        // The request was never sent.
        _ => StreamEnd::Refused,
    }
}

/// A sequence number from JavaScript.
fn sequence_number(number: f64) -> Result<u64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
    if (0.0..=9_007_199_254_740_991.0).contains(&number) && number.fract() == 0.0 {
        return Ok(number as u64);
    }
    Err(Error::new(ErrorCode::InvalidOption, "`afterSequenceNumber` must be a whole number from 0 on"))
}
