//! The whole data flow for one turn: bytes in, index and records out. Without any I/O.

use crate::delivery::{ChangeBatch, EventBatch};
use crate::error::{Error, ErrorCode, Result};
use crate::event::EventRef;
use crate::index::{EventIndex, Message};
use crate::json::{Object, Value};
use crate::names::Names;
use crate::protocol::relay::gate::Gate;
use crate::protocol::{Capabilities, EventDecoder, EventSink, Protocol};
use crate::sse::{Frame, FrameError};

use super::answered::{AnsweredCalls, Skim};
use super::conventions::{Answers, Conventions, Recovery};
use super::frames::Frames;
use super::incoming::{FrameRecord, Incoming, Recorded};
use super::intake::{Intake, id_of};
use super::{TurnInput, TurnMachine, TurnStatus, digits};
use crate::features::{ClientConversations, DiscardPending, Relays, SeparateAnswers, Sockets};

/// Reads a turn's streams.
pub struct TurnReader {
    frames: Frames,
    decoder: Box<dyn EventDecoder>,
    intake: Intake,
    capabilities: Capabilities,
    conventions: Conventions,
    /// The cursor as it was when the connection began.
    position: u64,
    /// If the server records the frames of streams, and the record is of use.
    record: Option<FrameRecord>,
    /// If a relay keeps the streams, and has not lost this one.
    gate: Option<Gate>,
}

/// Where a stream resumes by its frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FramePlace {
    /// After the last frame.
    After,
    /// Nothing tells; the record of frames does.
    Unknown,
    /// Nowhere: the server has no record of use.
    Unrecorded,
}

impl std::fmt::Debug for TurnReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TurnReader").field("machine", &self.intake.machine).finish_non_exhaustive()
    }
}

impl TurnReader {
    /// A reader for the turn that `machine` follows. A frame may have up to `max_frame_bytes` bytes.
    #[must_use]
    pub fn new(protocol: &dyn Protocol, machine: TurnMachine, max_frame_bytes: usize) -> Self {
        let capabilities = protocol.capabilities();
        let conventions = Conventions::of(&capabilities);
        let record = match conventions.recovery {
            Recovery::Frames(by) => Some(FrameRecord { _by: by, cursor: String::new(), pause: None }),
            _ => None,
        };
        Self {
            frames: Frames::with_limit(max_frame_bytes),
            decoder: protocol.decoder(),
            intake: Intake::new(machine, conventions),
            capabilities,
            conventions,
            position: 0,
            record,
            gate: conventions.relay.map(Gate::new),
        }
    }

    /// What the protocol can do.
    #[must_use]
    pub fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// How the protocol starts, finds and recovers turns.
    pub(super) fn conventions(&self) -> Conventions {
        self.conventions
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

    /// The index, whose changes are taken.
    pub fn index_mut(&mut self) -> &mut EventIndex {
        &mut self.intake.index
    }

    /// Sets whether the caller takes the events themselves, and not only the index.
    pub fn set_wants_events(&mut self, wants_events: bool) {
        self.intake.output.wants_events = wants_events;
    }

    /// Sets whether the caller takes the frames as they come.
    pub fn set_wants_native(&mut self, wants_native: bool) {
        self.intake.output.wants_native = wants_native;
    }

    /// A new connection begins: what was left of the last one is dropped. If `refills`, a gap ends the connection, so
    /// that another one can fill it; otherwise gaps are passed over.
    pub fn connected(&mut self, refills: bool) {
        self.frames.reset();
        self.position = self.machine().cursor().last();
        self.intake.numbering.connected(refills);
        self.intake.broken = None;
    }

    /// Whether the connection has brought something new.
    pub(super) fn has_progressed(&self) -> bool {
        let cursor = self.machine().cursor();
        cursor.is_unsure() || cursor.last() != self.position
    }

    /// Takes bytes of the stream, cut anywhere. After an error nothing more of this connection is taken.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.take(|frames, incoming| frames.feed(bytes, incoming))
    }

    /// Takes a message of the stream's socket. After an error nothing more of this connection is taken.
    pub fn push_message(&mut self, message: &str) -> Result<()> {
        self.take(|frames, incoming| frames.take(message, incoming))
    }

    /// The message that was pushed last as a [template](EventDecoder::template), if it is one, and if the caller does not
    /// take messages as they come.
    pub fn template(&self, message: &str) -> Option<String> {
        if self.intake.output.wants_native { None } else { self.decoder.template(message) }
    }

    /// Takes messages that equal the template of this number outside its holes, and are not too large. `texts` has the
    /// inside of the string that is the piece of text of each, and the quote after it. Returns how many were taken: the
    /// next one must be [pushed](Self::push_message).
    pub fn push_like(&mut self, template: u32, texts: &str) -> u32 {
        if self.intake.output.wants_native || self.intake.broken.is_some() {
            return 0;
        }
        self.decoder.decode_like(template, texts, &mut self.intake)
    }

    fn take(
        &mut self,
        feed: impl FnOnce(&mut Frames, &mut Incoming<'_>) -> Result<(), FrameError>,
    ) -> Result<()> {
        let Self { frames, decoder, intake, record, gate, conventions, .. } = self;
        let names = conventions.transcripts();
        let mut incoming = Incoming { decoder: &mut **decoder, intake, record, gate, names };
        if let Err(FrameError::TooLarge { limit }) = feed(frames, &mut incoming) {
            let parts = ["an event is larger than `maxFrameBytes` (", &digits(limit as u64), " bytes)"];
            intake.broken = Some(Error::of(ErrorCode::FrameTooLarge, &parts));
        }
        intake.broken.clone().map_or(Ok(()), Err)
    }

    /// The stream has ended. Some protocols have events that only its end tells.
    pub fn ended(&mut self) {
        if self.intake.broken.is_none() {
            self.decoder.end(&mut self.intake);
        }
    }

    /// How long the stream is still read, in milliseconds since this was 0: the server has said how the turn ends, and
    /// only the end of the stream is missing. The caller then leaves the stream, as if it had broken.
    #[must_use]
    pub fn grace(&self) -> u32 {
        if ClientConversations::EXISTS { self.decoder.grace() } else { 0 }
    }

    /// What is wrong with a stream that the server has closed. One that broke off within a frame has only broken.
    pub(super) fn closing_failure(&mut self) -> Option<Error> {
        if ClientConversations::EXISTS && !self.frames.is_unfinished() {
            self.decoder.failure()
        } else {
            None
        }
    }

    /// The session's conversation (JSON), if the client keeps it and the turn has begun, or may have.
    pub(crate) fn conversation(&mut self) -> Option<String> {
        if self.machine().status() == TurnStatus::Cancelled {
            self.decoder.cancelled();
        }
        self.decoder.conversation()
    }

    /// A request with these parameters starts the turn: what comes next is its answer.
    pub(super) fn begin(&mut self, params: &str) {
        if Relays::EXISTS {
            self.gate = self.conventions.relay.map(Gate::new);
        }
        let params = Value::parse(params).unwrap_or_default();
        self.decoder.begin(params.as_object().unwrap_or(const { &Object::new() }));
    }

    /// A request with these parameters asks for a stream that resumes the turn.
    pub(super) fn resume(&mut self, params: &str) {
        if Relays::EXISTS && self.gate.as_ref().is_some_and(Gate::is_new) {
            return self.begin(params);
        }
        let params = Value::parse(params).unwrap_or_default();
        self.decoder.resume(params.as_object().unwrap_or(const { &Object::new() }));
    }

    /// Whether there are follow-up requests.
    #[must_use]
    pub fn has_follow_up_requests(&self) -> bool {
        self.decoder.has_follow_up_requests()
    }

    /// Takes the requests by which more of the turn is learnt, to be sent on the stream's socket. The responses are
    /// part of the stream.
    pub fn follow_up_requests(&mut self) -> Option<crate::rpc::Messages> {
        self.decoder.follow_up_requests()
    }

    /// Takes an answer that is no stream but holds the whole turn.
    pub(super) fn push_body(&mut self, body: &Object<'_>) {
        self.intake.output.native(None, &body.to_json());
        self.decoder.body(Value::Object(body.clone()), &mut self.intake);
    }

    /// What the stream brought comes again from its beginning, by [`push_frame`](Self::push_frame).
    pub fn replay(&mut self) {
        self.connected(false);
        self.decoder.restart();
        if let Some(record) = &mut self.record {
            record.pause = None;
        }
    }

    /// Takes the data of a frame that was listed, not streamed. If the turn pauses in it, the next frame or
    /// [`end_replay`](Self::end_replay) decides whether it still does.
    pub fn push_frame(&mut self, data: &str) -> Result<()> {
        let Self { decoder, intake, record, .. } = self;
        match record {
            Some(record) => decoder.decode(&listed_frame(data), &mut Recorded { intake, record }),
            None => decoder.decode(&listed_frame(data), intake),
        }
        self.intake.broken.clone().map_or(Ok(()), Err)
    }

    /// All that was recorded has come.
    pub fn end_replay(&mut self) {
        if let Some((number, pause)) = self.record.as_mut().and_then(|record| record.pause.take()) {
            self.intake.event(number, EventRef::of(&pause));
        }
    }

    /// Takes the data of a listed frame whose events are not delivered. Returns the number of the last event in it;
    /// 0 if there is none.
    pub fn skim_frame(&mut self, data: &str) -> u64 {
        let mut skim = Skim { seen: &mut self.intake.seen, last: 0 };
        self.decoder.decode(&listed_frame(data), &mut skim);
        skim.last
    }

    /// Takes a listed event that is not delivered.
    pub fn skim(&mut self, event: EventRef<'_>) {
        self.intake.seen.number(id_of(event));
    }

    /// What is known of the stream that a relay keeps, if it has not lost it.
    pub(super) fn gate(&self) -> Option<&Gate> {
        self.gate.as_ref()
    }

    /// The same, to be moved on.
    pub(super) fn gate_mut(&mut self) -> Option<&mut Gate> {
        self.gate.as_mut()
    }

    /// Whether a relay keeps the stream, and has not lost it.
    pub(super) fn is_relayed(&self) -> bool {
        // A build without relays drops all that follows from it.
        Relays::EXISTS && self.gate.is_some()
    }

    /// The relay does not have the rest of the stream.
    pub(super) fn give_up_relay(&mut self) {
        if Relays::EXISTS {
            self.gate = None;
        }
    }

    /// Where the stream resumes by its frames.
    pub(super) fn frame_place(&self) -> FramePlace {
        match &self.record {
            None => FramePlace::Unrecorded,
            Some(record) if record.cursor.is_empty() => FramePlace::Unknown,
            Some(_) => FramePlace::After,
        }
    }

    /// Whether the server has a record of frames that is of use.
    pub(super) fn has_frame_record(&self) -> bool {
        self.record.is_some()
    }

    /// The server's record of frames is of no use.
    pub(super) fn give_up_frame_record(&mut self) {
        self.record = None;
    }

    /// The server's name of the last frame that came; empty if unknown.
    #[must_use]
    pub fn frame_cursor(&self) -> &str {
        match &self.record {
            Some(record) => &record.cursor,
            None => "",
        }
    }

    /// The stream resumes after the frame of this name; if it is empty, nothing tells where.
    pub fn set_frame_cursor(&mut self, cursor: &str) {
        if let Some(record) = &mut self.record {
            cursor.clone_into(&mut record.cursor);
        }
    }

    /// Whether the record of a stream differs from what the stream brought.
    #[must_use]
    pub fn is_divergent(&self) -> bool {
        match &self.intake.fingerprints {
            Some(fingerprints) => fingerprints.is_divergent,
            None => false,
        }
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
    pub(super) fn set_answered(&mut self, by: SeparateAnswers, calls: Vec<(String, String)>) {
        self.intake.answered = Some(AnsweredCalls::new(by, calls));
    }

    /// These answers are on their way while the turn runs.
    pub fn add_answered(&mut self, input: &TurnInput) {
        if let Answers::OneByOne(by) = self.conventions.answers {
            let calls = input.answered_calls(input.answer_count());
            self.intake.answered.get_or_insert_with(|| AnsweredCalls::new(by, Vec::new())).add(calls);
        }
    }

    /// The server has taken these answers, or has refused them.
    pub fn confirm_answered(&mut self, input: &TurnInput, is_taken: bool) {
        let calls = input.answered_calls(input.answer_count());
        if !is_taken {
            let pause = self.intake.answered.as_mut().and_then(|answered| answered.remove(&calls));
            // Unless the turn went on by other answers.
            if let Some((number, pause)) = pause
                && number == self.machine().cursor().last()
            {
                self.intake.take(number, EventRef::of(&pause));
            }
        } else if Sockets::EXISTS {
            self.decoder.answered(&calls);
        }
    }

    /// Whether a turn in this state waits only for what was answered.
    pub(super) fn was_answered(&self, state: &Object<'_>) -> bool {
        match &self.intake.answered {
            Some(answered) => answered.explain(state),
            None => false,
        }
    }

    /// Takes why nothing more of the connection was taken, if that is so.
    pub fn take_failure(&mut self) -> Option<Error> {
        self.intake.broken.take()
    }

    /// How long the stream asks to wait before the next connection (`retry:`), in milliseconds.
    #[must_use]
    pub fn retry(&self) -> u64 {
        self.frames.retry()
    }

    /// Gaps that were passed over: the numbers on both sides of what is lost.
    #[must_use]
    pub fn gaps(&self) -> &[(u64, u64)] {
        self.intake.numbering.gaps()
    }

    /// The `id` of the first frame of all streams that differs from the number in its JSON, and that number.
    #[must_use]
    pub fn mismatch(&self) -> Option<(u64, u64)> {
        self.intake.numbering.mismatch()
    }

    /// Whether all events of the turn up to now came, or were listed. An action that waits has its call then.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !self.index().has_missing_events() && !self.index().hides_actions()
    }

    /// Sets whether events of the turn are missing.
    pub(super) fn set_missing_events(&mut self, has_missing_events: bool) {
        self.intake.index.set_missing_events(has_missing_events);
    }

    /// Takes a message of an earlier turn. It may have made a call that waits in this one.
    pub(super) fn apply_earlier_message(&mut self, event: &Object<'_>) {
        self.intake.index.apply_earlier_message(event);
    }

    /// Takes an event that was listed, not streamed.
    pub fn apply_listed(&mut self, event: EventRef<'_>) {
        self.intake.index.apply(event);
        self.intake.machine.observe(event);
    }

    /// Takes an event that was listed because the stream is gone. What the stream brought is not delivered again; a
    /// message that came in part is, whole.
    pub fn apply_missed(&mut self, event: EventRef<'_>) {
        self.intake.missed(event);
    }

    /// Whether listed messages go on as those do that came.
    pub(super) fn goes_on_with(&self, events: &[Value<'_>]) -> bool {
        let messages = events.iter().filter_map(Value::as_object);
        let mut messages = messages.filter(|event| event.text("type") == "model.message");
        messages.all(|event| {
            let known = self.index().message(event.text("id"));
            known.is_none_or(|known| known.is_prefix_of(&Message::from_base(event)))
        })
    }

    /// A list of the turn's events begins, from the first one on.
    pub(super) fn begin_list(&mut self) {
        self.intake.begin_list();
    }

    /// Whether a message came only in part.
    pub(super) fn has_incomplete_messages(&self) -> bool {
        self.index().messages().iter().any(|message| message.finish_reason().is_empty())
    }

    /// Takes the terminal state of a turn whose stream is gone. It stands for the missing `turn.done`: an event with
    /// the turn's id, and without a number.
    pub fn end_missed(&mut self, state: &Object<'_>) {
        // It may say more than the record that told that the turn has ended.
        self.intake.output.state = Some(state.to_json());
        self.intake.ended(state);
    }

    /// Takes the server's record of the turn, in place of the missing `turn.created`.
    pub fn found(&mut self, record: &Object<'_>) {
        self.machine_mut().created(record.text("id"));
        self.intake.output.created = Some(record.to_json());
    }

    /// Takes a state that was read, not streamed. Returns whether it ends the turn.
    pub fn apply_state(&mut self, state: &Object<'_>) -> bool {
        let machine = &mut self.intake.machine;
        // A stream that is being read brings everything up to the end, and then the end.
        let is_end = !machine.is_streaming() && !machine.status().is_terminal() && machine.state(state);
        if is_end {
            self.intake.index.turn_recorded_as_ended(state);
            self.intake.output.state = Some(state.to_json());
        }
        is_end
    }

    /// A later turn has answered what this one waited for, or has discarded it.
    pub fn resolve_actions(&mut self, is_discarded: bool) {
        if is_discarded && DiscardPending::EXISTS {
            self.intake.index.discard_actions();
        } else {
            self.intake.index.resolve_actions();
        }
    }

    /// The events since they were last taken.
    pub fn batch(&mut self) -> &mut EventBatch {
        &mut self.intake.output.batch
    }

    /// Frees the memory that only a stream needs, once the turn has ended and its events were taken.
    pub fn release(&mut self) {
        if self.machine().status().is_terminal() {
            self.frames.reset();
            self.intake.output.batch = EventBatch::default();
            self.intake.seen = Names::default();
        }
    }

    /// Does not keep text that is taken as a change: see [`EventIndex::release_taken_text`].
    pub fn release_taken_text(&mut self) {
        self.intake.index.release_taken_text();
    }

    /// Fills `batch` with what changed in the index. Returns the document of changes, if there are any.
    pub fn take_changes(&mut self, batch: &mut ChangeBatch) -> Option<String> {
        batch.fill(&mut self.intake.index)
    }

    /// Takes the JSON of `turn.created`, once it has come.
    pub fn take_created(&mut self) -> Option<String> {
        self.intake.output.created.take()
    }

    /// Takes the JSON of the terminal state, once it has come.
    pub fn take_state(&mut self) -> Option<String> {
        self.intake.output.state.take()
    }
}

fn listed_frame(data: &str) -> Frame<'_> {
    Frame { event: "", data, id: None, has_own_id: false }
}
