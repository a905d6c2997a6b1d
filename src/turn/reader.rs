//! The whole way of the data for one turn: bytes in, index and records out. Still without any I/O.

use crate::delivery::{ChangeBatch, EventBatch};
use crate::error::{Error, ErrorCode, Result};
use crate::event::{EventKind, EventRef, TextDelta};
use crate::index::EventIndex;
use crate::index::Message;
use crate::json::{Object, Value, write_u64};
use crate::names::Names;
use crate::protocol::{Capabilities, EventDecoder, EventSink, HAS_OTHERS, HAS_UNCURSORED, Protocol};
use crate::sse::{Frame, FrameError, FrameSink, Run};

use super::answered::{AnsweredCalls, Skim};
use super::frames::Frames;
use super::prints::Prints;
use super::results::Results;
use super::{Admission, Cursor, TurnInput, TurnMachine};

/// A gap that is met so often in the same place is lost: connections that break leave out events, too.
const GAP_MEETINGS: u32 = 4;
/// After so many gaps that the server could not fill, its numbers are taken for what they are: not dense.
const MAX_UNFILLED: usize = 3;

/// Reads a turn's streams.
pub struct TurnReader {
    frames: Frames,
    decoder: Box<dyn EventDecoder>,
    intake: Intake,
    capabilities: Capabilities,
    /// The server's name of the last frame that came, where the stream can go on after it.
    frame_cursor: String,
}

/// Everything behind the decoder.
struct Intake {
    machine: TurnMachine,
    index: EventIndex,
    batch: EventBatch,
    wants_events: bool,
    wants_native: bool,
    /// The ids of the events that came, apart from deltas.
    seen: Names,
    /// Whether a gap may be filled by subscribing again.
    refills: bool,
    /// Where the last gap was met, and how often: if it is met there again and again, the server cannot fill it.
    gap_at: (u64, u32),
    /// The gaps that were passed over: the numbers on both sides.
    gaps: Vec<(u64, u64)>,
    /// The first frame whose `id` is not the number in its JSON: both.
    mismatch: Option<(u64, u64)>,
    /// Why nothing more of this connection is taken.
    broken: Option<Error>,
    /// What each event was, if what was delivered may come again under numbers that are only counted.
    prints: Option<Prints>,
    results: Results,
    /// What was answered, and is not waited for any more.
    answered: AnsweredCalls,
    /// The JSON of `turn.created`, until it is taken.
    created: Option<String>,
    /// The JSON of the terminal state, until it is taken.
    state: Option<String>,
}

impl std::fmt::Debug for TurnReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TurnReader").field("machine", &self.intake.machine).finish_non_exhaustive()
    }
}

impl TurnReader {
    /// A reader for a turn that `machine` follows. Frames may have up to `max_frame_bytes` bytes.
    #[must_use]
    pub fn new(protocol: &dyn Protocol, machine: TurnMachine, max_frame_bytes: usize) -> Self {
        Self {
            frames: Frames::with_limit(max_frame_bytes),
            decoder: protocol.decoder(),
            capabilities: protocol.capabilities(),
            frame_cursor: String::new(),
            intake: Intake {
                machine,
                index: EventIndex::new(),
                batch: EventBatch::default(),
                wants_events: false,
                wants_native: false,
                seen: Names::default(),
                refills: false,
                gap_at: (0, 0),
                gaps: Vec::new(),
                mismatch: None,
                broken: None,
                prints: protocol.capabilities().has_frames().then(Prints::default),
                results: Results::default(),
                answered: AnsweredCalls::default(),
                created: None,
                state: None,
            },
        }
    }

    /// What the protocol can do.
    #[must_use]
    pub fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// The turn's life.
    #[must_use]
    pub fn machine(&self) -> &TurnMachine {
        &self.intake.machine
    }

    /// The turn's life, to be moved on.
    pub fn machine_mut(&mut self) -> &mut TurnMachine {
        &mut self.intake.machine
    }

    /// The index.
    #[must_use]
    pub fn index(&self) -> &EventIndex {
        &self.intake.index
    }

    /// Whether somebody wants the events themselves, and not only the index.
    pub fn set_wants_events(&mut self, wants_events: bool) {
        self.intake.wants_events = wants_events;
    }

    /// Whether somebody wants the frames as they come.
    pub fn set_wants_native(&mut self, wants_native: bool) {
        self.intake.wants_native = wants_native;
    }

    /// A new connection begins: what was left of the last one is forgotten. Events that are missing in it
    /// are waited for on another one if `refills`; otherwise they are passed over.
    pub fn connected(&mut self, refills: bool) {
        self.frames.reset();
        self.intake.refills = refills;
        self.intake.broken = None;
    }

    /// Takes bytes of the stream, cut anywhere. After an error nothing more of this connection is taken.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.take(|frames, incoming| frames.feed(bytes, incoming))
    }

    /// Takes a message of the stream's socket. After an error nothing more of this connection is taken.
    #[cfg(feature = "turn-rpc")]
    pub fn push_message(&mut self, message: &str) -> Result<()> {
        self.take(|frames, incoming| frames.take(message, incoming))
    }

    fn take(
        &mut self,
        feed: impl FnOnce(&mut Frames, &mut Incoming<'_>) -> Result<(), FrameError>,
    ) -> Result<()> {
        let Self { frames, decoder, intake, frame_cursor, capabilities } = self;
        let mut incoming = Incoming {
            decoder: &mut **decoder,
            intake,
            frame_cursor: capabilities.has_frames().then_some(frame_cursor),
            has_names: capabilities.is_unnamed(),
        };
        if let Err(FrameError::TooLarge { limit }) = feed(frames, &mut incoming) {
            let parts = ["an event is larger than `maxFrameBytes` (", &digits(limit as u64), " bytes)"];
            intake.broken = Some(Error::of(ErrorCode::FrameTooLarge, &parts));
        }
        intake.broken.clone().map_or(Ok(()), Err)
    }

    /// The stream has ended: some things only its end tells.
    pub fn ended(&mut self) {
        if self.intake.broken.is_none() {
            self.decoder.end(&mut self.intake);
        }
    }

    /// A request with these parameters starts the turn: what comes next is its answer.
    pub(super) fn begin(&mut self, params: &str) {
        let params = Value::parse(params).unwrap_or_default();
        self.decoder.begin(params.as_object().unwrap_or(const { &Object::new() }));
    }

    /// A request with these parameters asks for a stream that goes on with the turn.
    #[cfg(feature = "turn-rpc")]
    pub(super) fn resume(&mut self, params: &str) {
        let params = Value::parse(params).unwrap_or_default();
        self.decoder.resume(params.as_object().unwrap_or(const { &Object::new() }));
    }

    /// Whether there are follow-up requests.
    #[cfg(feature = "turn-rpc")]
    #[must_use]
    pub fn has_follow_up_requests(&self) -> bool {
        self.decoder.has_follow_up_requests()
    }

    /// Takes the requests by which more of the turn is learnt, to be sent on the stream's socket. The responses are
    /// part of the stream.
    #[cfg(feature = "turn-rpc")]
    pub fn follow_up_requests(&mut self) -> Option<crate::rpc::Messages> {
        self.decoder.follow_up_requests()
    }

    /// Takes an answer that is no stream but says all at once.
    pub(super) fn push_body(&mut self, body: &Object<'_>) {
        self.intake.native(None, &body.to_json());
        self.decoder.body(Value::Object(body.clone()), &mut self.intake);
    }

    /// What the stream brought comes again from its beginning, by [`push_frame`](Self::push_frame).
    pub fn replay(&mut self) {
        self.connected(false);
        self.decoder.restart();
    }

    /// Takes the data of a frame that was listed, not streamed.
    pub fn push_frame(&mut self, data: &str) -> Result<()> {
        let frame = Frame { event: "", data, id: None, has_own_id: false };
        self.decoder.decode(&frame, &mut self.intake);
        self.intake.broken.clone().map_or(Ok(()), Err)
    }

    /// Takes the data of a listed frame that is not to be delivered. Gives the number of the last event in
    /// it; 0 if there is none.
    pub fn skim_frame(&mut self, data: &str) -> u64 {
        let frame = Frame { event: "", data, id: None, has_own_id: false };
        let mut skim = Skim { seen: &mut self.intake.seen, last: 0 };
        self.decoder.decode(&frame, &mut skim);
        skim.last
    }

    /// Takes a listed event that is not to be delivered.
    pub fn skim(&mut self, event: EventRef<'_>) {
        self.intake.seen.number(id_of(event));
    }

    /// The server's name of the last frame that came; empty if it names none.
    #[must_use]
    pub fn frame_cursor(&self) -> &str {
        if HAS_UNCURSORED { &self.frame_cursor } else { "" }
    }

    /// The stream goes on after the frame of this name.
    pub fn set_frame_cursor(&mut self, cursor: &str) {
        cursor.clone_into(&mut self.frame_cursor);
    }

    /// The server does not know the last frame any more.
    pub fn forget_frames(&mut self) {
        self.frame_cursor.clear();
    }

    /// Whether what came again was not what had come.
    #[must_use]
    pub fn is_divergent(&self) -> bool {
        HAS_UNCURSORED && self.intake.prints.as_ref().is_some_and(|prints| prints.is_divergent)
    }

    /// The turn goes on where another one had paused: the events up to this number, and these messages, were
    /// delivered with that one.
    pub fn follow(&mut self, events: u64, messages: &[String]) {
        self.intake.machine.advance(events);
        for id in messages {
            self.intake.seen.number(id);
        }
    }

    /// The turn goes on with the answers to these calls, by their threads and ids.
    pub(super) fn set_answered(&mut self, calls: Vec<(String, String)>) {
        self.intake.answered = AnsweredCalls::new(calls);
    }

    /// These answers were taken while the turn runs.
    pub fn add_answered(&mut self, input: &TurnInput) {
        let calls = input.answered_calls(input.answer_count());
        #[cfg(feature = "turn-rpc")]
        self.decoder.answered(&calls);
        if self.capabilities.has_answers_apart() {
            self.intake.answered.add(calls);
        }
    }

    /// Whether a turn in this state waits only for what was answered.
    pub(super) fn was_answered(&self, state: &Object<'_>) -> bool {
        self.intake.answered.explain(state)
    }

    /// Why nothing more of the connection was taken, if that is so.
    pub fn take_failure(&mut self) -> Option<Error> {
        self.intake.broken.take()
    }

    /// What the stream last said of the time to wait before it is asked for again, in milliseconds.
    #[must_use]
    pub fn retry(&self) -> u64 {
        self.frames.retry()
    }

    /// Gaps that were passed over: the numbers on both sides of what is lost.
    #[must_use]
    pub fn gaps(&self) -> &[(u64, u64)] {
        &self.intake.gaps
    }

    /// The `id` of the first frame of all streams that says another number than its JSON, and that number.
    #[must_use]
    pub fn mismatch(&self) -> Option<(u64, u64)> {
        self.intake.mismatch.filter(|_| cfg!(feature = "truefoundry"))
    }

    /// Whether all that the turn has said by now came, or was listed. An action that waits has its call then.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !self.index().is_unread() && !self.index().hides_actions()
    }

    /// Events of the turn are missing, or are not missing any more.
    pub(super) fn set_unread(&mut self, is_unread: bool) {
        self.intake.index.set_unread(is_unread);
    }

    /// Takes a message of an earlier turn, which may have made a call that waits in this one.
    pub(super) fn explain(&mut self, event: &Object<'_>) {
        self.intake.index.explain(event);
    }

    /// Takes an event that was listed, not streamed.
    pub fn apply_listed(&mut self, event: EventRef<'_>) {
        self.intake.index.apply(event);
        self.intake.machine.observe(event);
    }

    /// Takes an event that was listed because the stream is gone. What the stream brought is not delivered
    /// again; a message that came in part is, whole.
    pub fn apply_missed(&mut self, event: EventRef<'_>) {
        let (intake, fields) = (&mut self.intake, event.fields);
        let number = listed_number(fields);
        let id = fields.text("id");
        if !self.capabilities.has_cursor() {
            intake.index.expect_bare(id);
        }
        let is_known = if event.kind == EventKind::ModelMessage && intake.index.message(id).is_some() {
            let known = intake.index.message(id);
            known.is_some_and(|message| {
                let whole = Message::of(fields);
                message.has_base
                    && message.finish_reason() == whole.finish_reason()
                    && call_ids(message).eq(call_ids(&whole))
                    && message.says(&whole)
            })
        } else {
            let counts = !self.capabilities.has_cursor() && event.kind == EventKind::ToolResponse;
            let is_counted = counts && intake.results.is_known(fields.text("tool_call_id"));
            let is_nameless = number > 0 && id_of(event).is_empty();
            intake.seen.get(id_of(event)).is_some() && !is_nameless || is_counted
        };
        // How the turn ended comes last; how it began is known.
        if is_known || matches!(event.kind, EventKind::TurnDone | EventKind::TurnCreated) {
            return;
        }
        let is_new = intake.machine.admit_listed(number);
        // The number of a message may be that of its beginning, which came. Its rest has none.
        if is_new || event.kind == EventKind::ModelMessage && intake.machine.admit_listed(0) {
            intake.index.expect_whole(id);
            intake.take(if is_new { number } else { 0 }, event);
        }
    }

    /// Whether listed messages go on as those do that came.
    #[cfg(feature = "aap")]
    pub(super) fn goes_on_with(&self, events: &[Value<'_>]) -> bool {
        let messages = events.iter().filter_map(Value::as_object);
        let mut messages = messages.filter(|event| event.text("type") == "model.message");
        messages.all(|event| {
            let known = self.index().message(event.text("id"));
            known.is_none_or(|known| known.begins(&Message::of(event)))
        })
    }

    /// The turn's events are listed, from the first one on.
    pub(super) fn begin_list(&mut self) {
        let intake = &mut self.intake;
        intake.results.begin_list();
        // Its last message may be shown already, as the record of the turn has it.
        let is_new = intake.seen.is_empty() && intake.machine.cursor() == &Cursor::default();
        if is_new && intake.index.is_unread() {
            intake.index.start_over();
        }
    }

    /// Whether a message came only in part.
    pub(super) fn is_ragged(&self) -> bool {
        self.index().messages().iter().any(|message| message.finish_reason().is_empty())
    }

    /// Takes the terminal state of a turn whose stream is gone. It stands for the `turn.done` that will not
    /// come: an event with the turn's id, and without a number.
    pub fn end_missed(&mut self, state: &Object<'_>) {
        // It may say more than the record did by which the turn was known to have ended.
        self.intake.state = Some(state.to_json());
        let mut done = Object::new();
        done.set("type", "turn.done".into());
        done.set("id", self.machine().id().unwrap_or_default().to_owned().into());
        done.set("created_at", state.get("completed_at").cloned().unwrap_or_default());
        done.set("thread_id", Value::Null);
        done.set("state", Value::Object(state.clone()));
        self.intake.take(0, EventRef { kind: EventKind::TurnDone, fields: &done });
    }

    /// Takes the turn as the server keeps it, in place of the `turn.created` that did not come.
    pub fn found(&mut self, record: &Object<'_>) {
        self.machine_mut().created(record.text("id"));
        self.intake.created = Some(record.to_json());
    }

    /// Takes a state that was fetched, not streamed. Returns whether the turn has ended by it.
    pub fn apply_state(&mut self, state: &Object<'_>) -> bool {
        let machine = &mut self.intake.machine;
        // A stream that is being read brings everything up to the end, and then the end.
        let is_end = !machine.is_streaming() && !machine.status().is_terminal() && machine.state(state);
        if is_end {
            self.intake.index.turn_found_ended(state);
            self.intake.state = Some(state.to_json());
        }
        is_end
    }

    /// A later turn has answered what this one waited for, or has thrown it away.
    pub fn settle(&mut self, is_discarded: bool) {
        #[cfg(feature = "agent-event")]
        if is_discarded {
            return self.intake.index.discard();
        }
        let _ = is_discarded;
        self.intake.index.settle();
    }

    /// The events since they were last taken.
    pub fn batch(&mut self) -> &mut EventBatch {
        &mut self.intake.batch
    }

    /// Gives the memory back that only a stream needs, once the turn has ended and its events were taken.
    pub fn release(&mut self) {
        if self.machine().status().is_terminal() {
            self.frames.reset();
            self.intake.batch = EventBatch::default();
            self.intake.seen = Names::default();
        }
    }

    /// Text that is taken as a change is not kept: see [`EventIndex::give_away_text`].
    pub fn give_away_text(&mut self) {
        self.intake.index.give_away_text();
    }

    /// Fills `batch` with what changed in the index; gives the document.
    pub fn take_changes(&mut self, batch: &mut ChangeBatch) -> Option<String> {
        batch.fill(&mut self.intake.index)
    }

    /// Takes the JSON of `turn.created`, once it has come.
    pub fn take_created(&mut self) -> Option<String> {
        self.intake.created.take()
    }

    /// Takes the JSON of the terminal state, once it has come.
    pub fn take_state(&mut self) -> Option<String> {
        self.intake.state.take()
    }
}

/// Takes the frames of one chunk.
struct Incoming<'r> {
    decoder: &'r mut dyn EventDecoder,
    intake: &'r mut Intake,
    /// Where frames have names by which a stream goes on.
    frame_cursor: Option<&'r mut String>,
    /// Whether only a frame's name tells what it is.
    has_names: bool,
}

impl FrameSink for Incoming<'_> {
    fn frame(&mut self, frame: Frame<'_>) {
        let Self { decoder, intake, frame_cursor, has_names } = self;
        #[cfg(feature = "turn-rpc")]
        let concerns = !intake.wants_native || decoder.concerns(frame.data);
        #[cfg(not(feature = "turn-rpc"))]
        let concerns = true;
        if concerns {
            intake.native(has_names.then_some(frame.event), frame.data);
        }
        let before = intake.machine.cursor().last();
        decoder.decode(&frame, *intake);
        #[cfg(feature = "turn-rpc")]
        if let Some(error) = decoder.failure() {
            intake.broken.get_or_insert(error);
        }
        let Some(frame_cursor) = frame_cursor else { return };
        if frame.has_own_id && intake.broken.is_none() {
            frame.id.unwrap_or_default().clone_into(frame_cursor);
        } else if intake.machine.cursor().last() != before {
            // What comes after the last name would come again, and count as new.
            frame_cursor.clear();
        }
    }

    fn takes_runs(&self) -> bool {
        !self.intake.wants_native && self.intake.broken.is_none()
    }

    fn run(&mut self, bytes: &[u8]) -> Run {
        let before = self.intake.machine.cursor().last();
        let run = self.decoder.run(bytes, self.intake);
        if let Some(frame_cursor) = &mut self.frame_cursor {
            let id = run.id.and_then(|(start, end)| str::from_utf8(bytes.get(start..end)?).ok());
            if let Some(id) = id.filter(|_| self.intake.broken.is_none()) {
                id.clone_into(frame_cursor);
            } else if self.intake.machine.cursor().last() != before {
                frame_cursor.clear();
            }
        }
        run
    }
}

impl Intake {
    /// A frame as it came: its data; with its name where only that tells what it is.
    fn native(&mut self, name: Option<&str>, data: &str) {
        if !self.wants_native {
            return;
        }
        match name {
            Some(name) if HAS_OTHERS => {
                let mut frame = Object::new();
                frame.set("event", name.to_owned().into());
                frame.set("data", Value::parse(data).unwrap_or_else(|_| data.into()));
                self.batch.native(&frame.to_json());
            }
            _ => self.batch.native(data),
        }
    }

    /// Whether an event is to be taken.
    #[inline]
    fn admits(&mut self, sequence_number: u64) -> bool {
        self.broken.is_none()
            && match self.machine.admit(sequence_number) {
                Admission::New => true,
                Admission::Repeat => false,
                Admission::Gap => self.passes(sequence_number),
            }
    }

    /// What comes again must be what came before: its number is nothing but a count.
    fn compare(&mut self, sequence_number: u64, parts: &[&str]) {
        let is_over = self.broken.is_some() || self.machine.status().is_terminal();
        let last = self.machine.cursor().last();
        let Some(prints) = self.prints.as_mut().filter(|_| !is_over) else {
            return;
        };
        if !prints.fits(sequence_number, last, parts) {
            let problem = "the server's record of the turn is not what its stream brought";
            self.broken = Some(Error::new(ErrorCode::Incomplete, problem));
        }
    }

    /// Whether a gap before this number is passed over.
    fn passes(&mut self, sequence_number: u64) -> bool {
        let last = self.machine.cursor().last();
        let met = if self.gap_at.0 == last { self.gap_at.1 + 1 } else { 1 };
        self.gap_at = (last, met);
        if self.refills && met < GAP_MEETINGS && self.gaps.len() < MAX_UNFILLED {
            let parts = ["event ", &digits(last + 1), " is missing: ", &digits(sequence_number), " came"];
            self.broken = Some(Error::of(ErrorCode::Incomplete, &parts));
            return false;
        }
        self.gaps.push((last, sequence_number));
        self.index.set_unread(true);
        self.machine.pass(sequence_number);
        true
    }

    /// Whether an event says that another turn begins. What follows would be of that one.
    fn is_foreign(&self, event: EventRef<'_>) -> bool {
        event.kind == EventKind::TurnCreated
            && self.machine.id().is_some_and(|id| id != event.fields.text("turn_id"))
    }

    fn take(&mut self, sequence_number: u64, event: EventRef<'_>) {
        self.seen.number(id_of(event));
        if HAS_OTHERS && event.kind == EventKind::ToolResponse {
            self.results.came(event.fields.text("tool_call_id"));
        }
        if self.machine.status().is_terminal() {
            // It comes after the turn's last event.
            return self.index.mend(event);
        }
        self.machine.observe(event);
        self.index.apply(event);
        match event.kind {
            EventKind::TurnCreated => self.created = Some(event.fields.to_json()),
            EventKind::TurnDone => self.state = Some(event.fields.json("state")),
            _ => {}
        }
        if self.wants_events {
            self.batch.event(sequence_number, event.fields);
        }
    }
}

impl EventSink for Intake {
    #[inline]
    fn delta(&mut self, sequence_number: u64, delta: TextDelta<'_>) {
        if HAS_UNCURSORED && self.prints.is_some() {
            self.compare(sequence_number, &[delta.id, delta.text]);
        }
        if !self.admits(sequence_number) {
            return;
        }
        self.index.append(&delta);
        if self.wants_events {
            self.batch.delta(sequence_number, &delta);
        }
    }

    fn event(&mut self, sequence_number: u64, event: EventRef<'_>) {
        if self.broken.is_none() && self.is_foreign(event) {
            let problem = "the stream went over to another turn";
            self.broken = Some(Error::new(ErrorCode::UnexpectedResponse, problem));
        }
        if HAS_UNCURSORED && self.prints.is_some() {
            self.compare(sequence_number, &[event.fields.text("type"), id_of(event)]);
        }
        // What cannot be read, and has no number, has no place in the order either.
        let is_stray = sequence_number == 0 && event.kind == EventKind::Unknown;
        let is_over = self.broken.is_some() || self.machine.status().is_terminal();
        if if is_stray { !is_over } else { self.admits(sequence_number) } && !self.answered.explains(event) {
            self.take(sequence_number, event);
        }
    }

    #[cfg(feature = "truefoundry")]
    fn mismatch(&mut self, id: u64, sequence_number: u64) {
        self.mismatch.get_or_insert((id, sequence_number));
    }
}

fn call_ids(message: &Message) -> impl Iterator<Item = &str> {
    message.calls().iter().flatten().map(|call| &*call.id)
}

/// The number of a listed event; 0 if it has none, as in the lists of all protocols but one.
fn listed_number(fields: &Object<'_>) -> u64 {
    let number = fields.get("sequence_number").filter(|_| cfg!(feature = "truefoundry"));
    // The output in a turn's state was not checked.
    number.and_then(Value::as_u64).filter(|number| *number < 1 << 53).unwrap_or(0)
}

/// The id of an event, also of one that this version does not know.
fn id_of(event: EventRef<'_>) -> &str {
    event.fields.object("raw").unwrap_or(event.fields).text("id")
}

fn digits(number: u64) -> String {
    let mut digits = String::new();
    write_u64(&mut digits, number);
    digits
}
