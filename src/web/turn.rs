//! The raw turn: starts, streams, is polled, and gives records to whoever asks.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use js_sys::Promise;
use wasm_bindgen::prelude::*;
use web_sys::AbortSignal;

use crate::delivery::{ChangeBatch, TextArena};
use crate::error::{Error, ErrorCode, Result};
use crate::json::{Object, Value};
use crate::protocol::Call;
use crate::turn::{Pending, StreamEnd, StreamPlan, TurnInput, TurnMachine, TurnReader, TurnStatus};

use super::failure::{Failure, promise, throw};
use super::io;
use super::session::{Latest, Shared};
use super::transport::Transport;

/// A turn. The package's `Turn` wraps it.
#[wasm_bindgen]
#[derive(Clone)]
pub struct CoreTurn {
    inner: Rc<Inner>,
}

struct Inner {
    transport: Rc<Transport>,
    session: Rc<Shared>,
    key: u32,
    input: Option<TurnInput>,
    previous_turn_id: Option<String>,
    reader: RefCell<TurnReader>,
    changes: RefCell<ChangeBatch>,
    /// Where the records lie that were asked for last: three pairs of address and length.
    header: RefCell<[u32; 6]>,
    failure: RefCell<Option<Failure>>,
    before_start: RefCell<Option<Latest>>,
}

impl CoreTurn {
    pub(super) fn prepare(
        transport: &Rc<Transport>,
        session: &Rc<Shared>,
        key: u32,
        input: TurnInput,
        previous_turn_id: Option<String>,
    ) -> Self {
        Self::new(
            transport,
            session,
            key,
            Some(input),
            previous_turn_id,
            TurnMachine::unstarted(),
        )
    }

    pub(super) fn attach(
        transport: &Rc<Transport>,
        session: &Rc<Shared>,
        key: u32,
        json: &str,
    ) -> Result<Self> {
        let record = Value::parse(json)
            .map_err(|error| Error::new(ErrorCode::UnexpectedResponse, error.to_string()))?;
        let id = record.get("id").and_then(Value::as_str).unwrap_or_default();
        let turn = Self::new(
            transport,
            session,
            key,
            None,
            None,
            TurnMachine::started(id),
        );
        turn.take_record(&record)?;
        Ok(turn)
    }

    fn new(
        transport: &Rc<Transport>,
        session: &Rc<Shared>,
        key: u32,
        input: Option<TurnInput>,
        previous_turn_id: Option<String>,
        machine: TurnMachine,
    ) -> Self {
        let reader = TurnReader::new(&*transport.protocol, machine, transport.max_frame_bytes);
        let inner = Inner {
            transport: Rc::clone(transport),
            session: Rc::clone(session),
            key,
            input,
            previous_turn_id,
            reader: RefCell::new(reader),
            changes: RefCell::default(),
            header: RefCell::default(),
            failure: RefCell::default(),
            before_start: RefCell::default(),
        };
        Self {
            inner: Rc::new(inner),
        }
    }

    /// Every pending call must be answered. A turn that does not follow the session's newest one
    /// answers to another history, which only the server knows.
    pub(super) fn check_pending(&self) -> Result<()> {
        match (&self.inner.input, self.inner.previous_turn_id.as_deref()) {
            (Some(input), None | Some("auto")) => {
                input.check_pending(&self.inner.session.pending())
            }
            _ => Ok(()),
        }
    }

    /// Takes a turn as the server keeps it.
    fn take_record(&self, record: &Value<'_>) -> Result<()> {
        let state = record.get("state").ok_or_else(|| {
            Error::new(
                ErrorCode::UnexpectedResponse,
                "the server gave a turn without `state`",
            )
        })?;
        let read = self.inner.transport.protocol.turn_state(state)?;
        let mut reader = self.inner.reader.borrow_mut();
        if let Some(id) = record.get("id").and_then(Value::as_str) {
            reader.machine_mut().created(id);
        }
        reader.apply_state(&read, state.to_json());
        drop(reader);
        self.inner.note_end();
        Ok(())
    }
}

impl Inner {
    /// Tells the session what the turn waits for, once it has ended.
    fn note_end(&self) {
        let reader = self.reader.borrow();
        if reader.machine().status().is_terminal() {
            self.session
                .end(self.key, Pending::Known(reader.index().pending().to_vec()));
        }
    }

    fn create_params(&self) -> Object<'static> {
        let mut params = self.turn_params(false);
        if let Some(input) = self.input.as_ref().filter(|input| !input.is_empty()) {
            params.insert("input", input.json().clone());
        }
        if let Some(previous) = &self.previous_turn_id {
            params.insert("previous_turn_id", previous.clone());
        }
        params
    }

    fn turn_params(&self, with_turn: bool) -> Object<'static> {
        let mut params = Object::new();
        params.insert("session_id", self.session.id.clone());
        if with_turn {
            let reader = self.reader.borrow();
            params.insert(
                "turn_id",
                reader.machine().id().unwrap_or_default().to_owned(),
            );
        }
        params
    }

    fn ended_by(&self, failure: Failure) -> StreamEnd {
        let error = failure.error.clone();
        self.failure.replace(Some(failure));
        match error.code {
            ErrorCode::Aborted => StreamEnd::Aborted,
            ErrorCode::Network | ErrorCode::FrameTooLarge => StreamEnd::Failed(error),
            _ => StreamEnd::Rejected(error),
        }
    }

    /// The error to report in JavaScript: with the cause of the failure that led to it.
    fn report(&self, error: Error) -> Failure {
        let mut failure = Failure::from(error);
        if let Some(first) = self.failure.take() {
            let is_same = first.error.code == failure.error.code;
            failure.cause = if is_same { first.cause } else { first.into() };
        }
        failure
    }

    /// A start is on its way: until the turn ends, nobody knows what it will wait for.
    fn begin(&self) {
        self.before_start
            .replace(Some(self.session.begin(self.key)));
    }

    /// A start was refused: the session waits for what it waited for before.
    fn take_back(&self) {
        let is_unstarted = self.reader.borrow().machine().status() == TurnStatus::Unstarted;
        if let Some(latest) = self.before_start.take().filter(|_| is_unstarted) {
            self.session.restore(latest);
        }
    }

    /// Points the header to records and their text, and gives the header's address.
    fn point(&self, records: &[u32], text: &TextArena) -> u32 {
        let mut header = self.header.borrow_mut();
        *header = [
            address(records.as_ptr().cast()),
            length(records.len()),
            address(text.ascii().as_ptr()),
            length(text.ascii().len()),
            address(text.wide().as_ptr()),
            length(text.wide().len()),
        ];
        address(header.as_ptr().cast())
    }
}

/// An address in the wasm memory, which has no more than 2^32 bytes.
fn address(pointer: *const u8) -> u32 {
    length(pointer.addr())
}

fn length(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

impl fmt::Debug for CoreTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoreTurn")
            .field("reader", &self.inner.reader)
            .finish_non_exhaustive()
    }
}

#[wasm_bindgen]
impl CoreTurn {
    /// The turn's id, once it is known.
    #[wasm_bindgen(getter)]
    pub fn id(&self) -> Option<String> {
        self.inner.reader.borrow().machine().id().map(str::to_owned)
    }

    /// Where the turn stands: a `TurnStatus` of the package.
    #[wasm_bindgen(getter)]
    pub fn status(&self) -> String {
        self.inner
            .reader
            .borrow()
            .machine()
            .status()
            .as_str()
            .to_owned()
    }

    /// Whether a stream is being read.
    #[wasm_bindgen(getter, js_name = isStreaming)]
    pub fn is_streaming(&self) -> bool {
        self.inner.reader.borrow().machine().is_streaming()
    }

    /// The number of the last event that came; 0 before the first.
    #[wasm_bindgen(getter, js_name = lastSequenceNumber)]
    #[expect(
        clippy::cast_precision_loss,
        reason = "sequence numbers are at most 2^53 - 1"
    )]
    pub fn last_sequence_number(&self) -> f64 {
        self.inner.reader.borrow().machine().cursor().last() as f64
    }

    /// Whether events are wanted themselves, and not only what they change.
    #[wasm_bindgen(js_name = setWantsEvents)]
    pub fn set_wants_events(&self, wants_events: bool) {
        self.inner
            .reader
            .borrow_mut()
            .set_wants_events(wants_events);
    }

    /// The input as JSON, where this client made the turn.
    #[wasm_bindgen(getter)]
    pub fn input(&self) -> Option<String> {
        self.inner
            .input
            .as_ref()
            .map(|input| input.json().to_json())
    }

    /// Starts the turn, or subscribes to it after a sequence number, and calls `wake` after every
    /// chunk that was read. Throws if that is not possible now; the promise resolves when `turn.done`
    /// has come, and rejects if anything else ended the stream.
    pub fn stream(
        &self,
        after: Option<f64>,
        signal: Option<AbortSignal>,
        wake: js_sys::Function,
    ) -> Result<Promise, JsValue> {
        let after = after.map(sequence_number).transpose().map_err(throw)?;
        let plan = self
            .inner
            .reader
            .borrow_mut()
            .machine_mut()
            .stream(after)
            .map_err(throw)?;
        if plan == StreamPlan::Start {
            if let Err(error) = self.check_pending() {
                let rejected = StreamEnd::Refused;
                let _ = self
                    .inner
                    .reader
                    .borrow_mut()
                    .machine_mut()
                    .stream_ended(rejected);
                return Err(throw(error));
            }
            self.inner.begin();
        }
        let turn = self.clone();
        Ok(promise(async move {
            let end = match turn.read_stream(plan, signal.as_ref(), wake).await {
                Ok(()) => StreamEnd::Eof,
                Err(failure) => turn.inner.ended_by(failure),
            };
            let ended = turn
                .inner
                .reader
                .borrow_mut()
                .machine_mut()
                .stream_ended(end);
            turn.inner.take_back();
            turn.inner.note_end();
            ended
                .map(|()| JsValue::UNDEFINED)
                .map_err(|error| turn.inner.report(error))
        }))
    }

    /// Starts the turn without a stream. Throws if that is not possible now.
    pub fn start(&self, signal: Option<AbortSignal>) -> Result<Promise, JsValue> {
        self.check_pending().map_err(throw)?;
        self.inner.reader.borrow_mut().machine_mut().start().map_err(throw)?;
        self.inner.begin();
        let turn = self.clone();
        Ok(promise(async move {
            let params = turn.inner.create_params();
            let answer = turn.inner.transport.call(Call::CreateTurn, &params, signal.as_ref()).await;
            let taken = answer.and_then(|record| {
                turn.take_record(&record)?;
                turn.inner.reader.borrow_mut().set_created(record.to_json());
                Ok(JsValue::UNDEFINED)
            });
            let Err(failure) = taken else { return taken };
            let end = turn.inner.ended_by(failure);
            let failed = turn.inner.reader.borrow_mut().machine_mut().start_failed(end);
            turn.inner.take_back();
            failed.map(|()| JsValue::UNDEFINED).map_err(|error| turn.inner.report(error))
        }))
    }

    /// Asks the server how the turn stands; the promise gives the turn as JSON. Throws if it has not
    /// started; `what` is the method that needs it.
    pub fn refresh(&self, what: &str, signal: Option<AbortSignal>) -> Result<Promise, JsValue> {
        self.require_started(what)?;
        let turn = self.clone();
        Ok(promise(async move { Ok(turn.read_record(signal.as_ref()).await?.to_json().into()) }))
    }

    /// Asks the server how the turn stands, again and again, until it has ended. The first questions
    /// come soon, for turns that are short; later ones every three seconds.
    pub fn poll(&self, signal: Option<AbortSignal>) -> Promise {
        const DELAYS: [u32; 4] = [250, 500, 1000, 2000];
        let turn = self.clone();
        promise(async move {
            let mut delays = DELAYS.iter().copied();
            while !turn.inner.reader.borrow().machine().status().is_terminal() {
                io::sleep(delays.next().unwrap_or(3000), signal.as_ref()).await;
                if let Some(signal) = signal.as_ref().filter(|signal| signal.aborted()) {
                    return Err(Failure::aborted(signal));
                }
                turn.read_record(signal.as_ref()).await?;
            }
            Ok(JsValue::UNDEFINED)
        })
    }

    /// Throws unless the turn has started. `what` is the method that needs it.
    #[wasm_bindgen(js_name = requireStarted)]
    pub fn require_started(&self, what: &str) -> Result<(), JsValue> {
        self.inner
            .reader
            .borrow()
            .machine()
            .started_id(what)
            .map(drop)
            .map_err(throw)
    }

    /// Takes events that were listed (a JSON array), not streamed.
    #[wasm_bindgen(js_name = applyListed)]
    pub fn apply_listed(&self, events: &str) -> Result<(), JsValue> {
        let events = Value::parse(events)
            .map_err(|error| throw(Error::new(ErrorCode::UnexpectedResponse, error.to_string())))?;
        let mut reader = self.inner.reader.borrow_mut();
        for json in events.as_array().unwrap_or_default() {
            reader.apply_listed(&self.inner.transport.protocol.event(json));
        }
        drop(reader);
        self.inner.note_end();
        Ok(())
    }

    /// The address of the header of the events' records; 0 if there are none. They stay there until
    /// `clearEvents`.
    pub fn events(&self) -> u32 {
        let reader = self.inner.reader.borrow();
        let batch = reader.batch();
        if batch.is_empty() {
            0
        } else {
            self.inner.point(batch.records(), batch.text())
        }
    }

    /// Forgets the events' records.
    #[wasm_bindgen(js_name = clearEvents)]
    pub fn clear_events(&self) {
        self.inner.reader.borrow_mut().clear_batch();
    }

    /// Takes what changed in the index: a JSON document, or nothing. Appended text lies at
    /// `changeRecords`.
    #[wasm_bindgen(js_name = takeChanges)]
    pub fn take_changes(&self) -> Option<String> {
        self.inner
            .reader
            .borrow_mut()
            .take_changes(&mut self.inner.changes.borrow_mut())
    }

    /// The address of the header of the records that belong to the changes taken last.
    #[wasm_bindgen(js_name = changeRecords)]
    pub fn change_records(&self) -> u32 {
        let changes = self.inner.changes.borrow();
        self.inner.point(changes.records(), changes.text())
    }

    /// Takes the JSON of `turn.created`, or of the record that stands for it, once it has come.
    #[wasm_bindgen(js_name = takeCreated)]
    pub fn take_created(&self) -> Option<String> {
        self.inner.reader.borrow_mut().take_created()
    }

    /// Takes the JSON of the terminal state, once it has come.
    #[wasm_bindgen(js_name = takeState)]
    pub fn take_state(&self) -> Option<String> {
        self.inner.reader.borrow_mut().take_state()
    }
}

impl CoreTurn {
    /// Reads the turn as the server keeps it.
    async fn read_record(&self, signal: Option<&AbortSignal>) -> Result<Value<'static>, Failure> {
        let params = self.inner.turn_params(true);
        let record = self.inner.transport.call(Call::GetTurn, &params, signal).await?;
        self.take_record(&record)?;
        Ok(record)
    }

    /// Opens the stream and reads it to its end: one call from JavaScript for each chunk, and one back
    /// to say that there is something new.
    async fn read_stream(
        &self,
        plan: StreamPlan,
        signal: Option<&AbortSignal>,
        wake: js_sys::Function,
    ) -> Result<(), Failure> {
        let (call, params) = match plan {
            StreamPlan::Start => (Call::CreateTurnStream, self.inner.create_params()),
            StreamPlan::Subscribe { after } => {
                let mut params = self.inner.turn_params(true);
                if after > 0 {
                    params.insert("after_sequence_number", after);
                }
                (Call::SubscribeTurn, params)
            }
        };
        self.inner.reader.borrow_mut().connected();
        let Some(body) = self.inner.transport.open(call, &params, signal).await? else {
            return Ok(());
        };
        let broken = Rc::new(RefCell::new(None));
        let push = self.chunk_sink(wake, Rc::clone(&broken));
        let read = io::pump(&body, &push, signal).await;
        if let Some(error) = broken.take() {
            return Err(Failure::from(error));
        }
        match (read, signal) {
            (_, Some(signal)) if signal.aborted() => Err(Failure::aborted(signal)),
            (Err(cause), _) => {
                Err(Failure::new(ErrorCode::Network, "the connection broke").caused_by(cause))
            }
            (Ok(_), _) => Ok(()),
        }
    }

    /// Takes a chunk; gives whether to read on.
    fn chunk_sink(
        &self,
        wake: js_sys::Function,
        broken: Rc<RefCell<Option<Error>>>,
    ) -> Closure<dyn FnMut(js_sys::Uint8Array) -> bool> {
        let inner = Rc::clone(&self.inner);
        let mut bytes = Vec::new();
        Closure::new(move |chunk: js_sys::Uint8Array| {
            bytes.resize(chunk.length() as usize, 0);
            chunk.copy_to(&mut bytes);
            let (pushed, is_over) = {
                let mut reader = inner.reader.borrow_mut();
                let pushed = reader.push(&bytes);
                (pushed, reader.machine().status().is_terminal())
            };
            if is_over {
                inner.note_end();
            }
            // A listener that throws is the package's to report; the stream goes on.
            let _ = wake.call0(&JsValue::UNDEFINED);
            match pushed {
                Ok(()) => !is_over,
                Err(error) => {
                    broken.replace(Some(error));
                    false
                }
            }
        })
    }
}

/// A sequence number from JavaScript.
fn sequence_number(number: f64) -> Result<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range is checked"
    )]
    if number >= 0.0 && number <= 9_007_199_254_740_991.0 && number.fract() == 0.0 {
        return Ok(number as u64);
    }
    Err(Error::new(
        ErrorCode::InvalidOption,
        "`afterSequenceNumber` must be a whole number from 0 on",
    ))
}
