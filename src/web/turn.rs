//! The raw turn: plans its requests, takes what comes, and gives records to whoever asks.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use wasm_bindgen::prelude::*;

use crate::delivery::{ChangeBatch, TextArena};
use crate::error::{Error, ErrorCode, Result};
use crate::event::EventRef;
use crate::json::{ObjectWriter, Value};
use crate::protocol::Call;
use crate::turn::{Pending, StreamEnd, StreamPlan, TurnInput, TurnMachine, TurnReader, TurnStatus};

use super::client::Server;
use super::failure::{outcome, verdict};
use super::session::{Latest, Shared};

/// A turn. The package's `Turn` wraps it.
#[wasm_bindgen]
pub struct CoreTurn {
    session: Rc<Shared>,
    key: u32,
    input: RefCell<TurnInput>,
    /// Empty if the server is to decide.
    previous_turn_id: String,
    reader: RefCell<TurnReader>,
    /// Why the stream cannot be read any further.
    failure: Cell<Option<Error>>,
    /// The events' records that JavaScript reads.
    events: RefCell<(Vec<u32>, TextArena)>,
    changes: RefCell<ChangeBatch>,
    /// Where the records lie that were asked for last: three pairs of address and length.
    header: RefCell<[u32; 6]>,
    /// What the session waited for before this turn was started.
    before_start: RefCell<Option<Latest>>,
}

impl CoreTurn {
    pub(super) fn new(server: &Server, session: &Rc<Shared>, key: u32, previous_turn_id: String) -> Self {
        let reader = TurnReader::new(&server.protocol, TurnMachine::unstarted(), server.max_frame_bytes);
        Self {
            session: Rc::clone(session),
            key,
            input: RefCell::default(),
            previous_turn_id,
            reader: RefCell::new(reader),
            failure: Cell::default(),
            events: RefCell::default(),
            changes: RefCell::default(),
            header: RefCell::default(),
            before_start: RefCell::default(),
        }
    }

    /// Every pending call must be answered.
    fn check_pending(&self) -> Result<()> {
        self.session.check_pending(&self.previous_turn_id, &self.input.borrow())
    }

    /// The turn may start now.
    fn check_start(&self) -> Result<()> {
        self.session.check()?;
        self.check_pending()
    }

    fn read_input(&self, json: &str) -> Result<String> {
        self.session.check()?;
        let json = Value::parse(json);
        let json = json.map_err(|error| Error::new(ErrorCode::InvalidInput, &error.message()))?;
        let input = TurnInput::read(json)?;
        let sent = input.json().unwrap_or("[]").to_owned();
        self.input.replace(input);
        self.check_pending()?;
        Ok(sent)
    }

    /// Takes a turn as the server keeps it.
    fn read_record(&self, json: &str) -> Result<()> {
        let record = Value::parse(json).unwrap_or_default();
        let record = record.as_object().filter(|record| record.object("state").is_some());
        let record = record.ok_or_else(|| {
            Error::new(ErrorCode::UnexpectedResponse, "the server gave a turn without `state`")
        })?;
        let mut reader = self.reader.borrow_mut();
        reader.machine_mut().created(record.text("id"));
        self.session.adopt(self.key, record.text("previous_turn_id"));
        if let Some(state) = record.object("state") {
            reader.apply_state(state);
        }
        drop(reader);
        self.note_end();
        Ok(())
    }

    /// Tells the session what the turn waits for, once it has ended.
    fn note_end(&self) {
        let reader = self.reader.borrow();
        let machine = reader.machine();
        if machine.status().is_terminal() {
            let pending = Pending::Known(reader.index().pending().to_vec());
            self.session.end(self.key, machine.id().unwrap_or_default(), pending);
        }
    }

    /// The start is about to be sent: until the turn ends, nobody knows what it will wait for.
    fn begin(&self) {
        self.before_start.replace(Some(self.session.begin(self.key)));
    }

    /// If the start was refused, the session waits for what it waited for before.
    fn take_back(&self) {
        let is_unstarted = self.reader.borrow().machine().status() == TurnStatus::Unstarted;
        if let Some(latest) = self.before_start.take().filter(|_| is_unstarted) {
            self.session.restore(self.key, latest);
        }
    }

    fn plan_stream(&self, after: f64) -> Result<String> {
        let after = sequence_number(after)?;
        let is_start = self.reader.borrow().machine().status() == TurnStatus::Unstarted;
        if is_start {
            self.check_start()?;
        }
        let mut reader = self.reader.borrow_mut();
        let plan = reader.machine_mut().stream(Some(after))?;
        reader.connected();
        drop(reader);
        Ok(match plan {
            StreamPlan::Start => {
                self.begin();
                self.plan(Call::CreateTurnStream, 0)
            }
            StreamPlan::Subscribe { after } => self.plan(Call::SubscribeTurn, after),
        })
    }

    fn plan_start(&self) -> Result<String> {
        self.check_start()?;
        self.reader.borrow_mut().machine_mut().start()?;
        self.begin();
        Ok(self.plan(Call::CreateTurn, 0))
    }

    /// A call's number and parameters as JSON.
    fn plan(&self, call: Call, after: u64) -> String {
        let mut json = String::new();
        let mut plan = ObjectWriter::new(&mut json);
        plan.u64("call", call as u64);
        let mut params = ObjectWriter::new(plan.member("params"));
        params.str("session_id", &self.session.id);
        if call == Call::SubscribeTurn {
            params.str("turn_id", self.reader.borrow().machine().id().unwrap_or_default());
            if after > 0 {
                params.u64("after_sequence_number", after);
            }
        } else {
            if let Some(input) = self.input.borrow().json() {
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

    /// Points the header to records and their text, and gives the header's address.
    fn point(&self, records: &[u32], text: &TextArena) -> u32 {
        let mut header = self.header.borrow_mut();
        *header = [
            word(records.as_ptr().addr()),
            word(records.len()),
            word(text.ascii().as_ptr().addr()),
            word(text.ascii().len()),
            word(text.wide().as_ptr().addr()),
            word(text.wide().len()),
        ];
        word(header.as_ptr().addr())
    }
}

/// An address or a length in the wasm memory, which has no more than 2^32 bytes.
fn word(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl fmt::Debug for CoreTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoreTurn").field("reader", &self.reader).finish_non_exhaustive()
    }
}

#[wasm_bindgen]
impl CoreTurn {
    /// What is known of the turn, as JSON: `{ id?, status, last, created?, state? }`. What the server said
    /// of it (`turn.created`, and the terminal state) is given once.
    pub fn facts(&self) -> String {
        let mut reader = self.reader.borrow_mut();
        let mut json = String::new();
        let mut facts = ObjectWriter::new(&mut json);
        let machine = reader.machine();
        if let Some(id) = machine.id() {
            facts.str("id", id);
        }
        facts.str("status", machine.status().as_str()).u64("last", machine.cursor().last());
        if let Some(created) = reader.take_created() {
            facts.raw("created", &created);
        }
        if let Some(state) = reader.take_state() {
            facts.raw("state", &state);
        }
        facts.end();
        json
    }

    /// Takes the input (JSON) of a turn that this client makes; gives it as it will be sent. The turn is
    /// not to be used if that fails.
    #[wasm_bindgen(js_name = takeInput)]
    pub fn take_input(&self, json: &str) -> String {
        outcome(self.read_input(json))
    }

    /// Whether events are wanted themselves, and not only what they change.
    #[wasm_bindgen(js_name = setWantsEvents)]
    pub fn set_wants_events(&self, wants_events: bool) {
        self.reader.borrow_mut().set_wants_events(wants_events);
    }

    /// Begins a stream: gives the call that brings it, `{ call, params }`, which starts the turn, or
    /// subscribes to it after a sequence number, 0 for the last one that came.
    #[wasm_bindgen(js_name = beginStream)]
    pub fn begin_stream(&self, after: f64) -> String {
        outcome(self.plan_stream(after))
    }

    /// Takes a chunk of the stream, cut anywhere; gives whether to read on. If not, `failure` says
    /// whether that is because it cannot be read.
    pub fn push(&self, chunk: &[u8]) -> bool {
        let mut reader = self.reader.borrow_mut();
        let pushed = reader.push(chunk);
        let is_over = reader.machine().status().is_terminal();
        drop(reader);
        if is_over {
            self.note_end();
        }
        let goes_on = pushed.is_ok() && !is_over;
        self.failure.set(pushed.err());
        goes_on
    }

    /// Why the last chunk could not be read.
    pub fn failure(&self) -> String {
        verdict(self.failure.take().map_or(Ok(()), Err))
    }

    /// The stream, or the start without one, has ended: by itself, or by an error with this code, of an
    /// answer with this status (0 if there was none). Gives the error that is to be reported.
    pub fn end(&self, code: &str, message: &str, status: u16) -> String {
        let end = stream_end(code, message, (status > 0).then_some(status));
        let ended = self.reader.borrow_mut().machine_mut().stream_ended(end);
        self.take_back();
        verdict(ended)
    }

    /// Begins a start without a stream: gives the call.
    #[wasm_bindgen(js_name = beginStart)]
    pub fn begin_start(&self) -> String {
        outcome(self.plan_start())
    }

    /// Takes the turn as the server keeps it (JSON).
    #[wasm_bindgen(js_name = takeRecord)]
    pub fn take_record(&self, json: &str) -> String {
        verdict(self.read_record(json))
    }

    /// Takes events that were listed (a JSON array), not streamed.
    #[wasm_bindgen(js_name = applyListed)]
    pub fn apply_listed(&self, events: &str) {
        let events = Value::parse(events).unwrap_or_default();
        let mut reader = self.reader.borrow_mut();
        for event in events.as_array().unwrap_or_default().iter().filter_map(Value::as_object) {
            reader.apply_listed(EventRef::of(event));
        }
        drop(reader);
        self.note_end();
    }

    /// A later turn has answered what this one waited for.
    pub fn settle(&self) {
        self.reader.borrow_mut().settle();
    }

    /// The address of the header of the records of the events since this was last asked; 0 if there are
    /// none. They stay there until it is asked again.
    pub fn events(&self) -> u32 {
        let mut reader = self.reader.borrow_mut();
        let batch = reader.batch();
        if batch.is_empty() {
            return 0;
        }
        let mut taken = self.events.borrow_mut();
        batch.take(&mut taken);
        self.point(&taken.0, &taken.1)
    }

    /// Takes what changed in the index: a JSON document, empty if nothing did. Appended text lies at
    /// `changeRecords`.
    #[wasm_bindgen(js_name = takeChanges)]
    pub fn take_changes(&self) -> String {
        self.reader.borrow_mut().take_changes(&mut self.changes.borrow_mut()).unwrap_or_default()
    }

    /// The address of the header of the records that belong to the changes taken last.
    #[wasm_bindgen(js_name = changeRecords)]
    pub fn change_records(&self) -> u32 {
        let changes = self.changes.borrow();
        self.point(changes.records(), changes.text())
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
