//! The complete data flow of one turn, from bytes to index and records, without any I/O.

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
    /// The cursor at the beginning of the connection.
    position: u64,
    /// Present while the server has a usable record of the stream's frames.
    record: Option<FrameRecord>,
    /// Present while a relay keeps the stream and has not lost it.
    gate: Option<Gate>,
}

/// Where a frame-based stream resumes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FramePlace {
    /// After the last frame.
    After,
    /// Unknown until the record of frames is read.
    Unknown,
    /// Nowhere: the server has no usable record.
    Unrecorded,
}

impl std::fmt::Debug for TurnReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TurnReader").field("machine", &self.intake.machine).finish_non_exhaustive()
    }
}

impl TurnReader {
    /// A reader for the turn that `machine` follows. A frame may have at most `max_frame_bytes` bytes.
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

    /// What the protocol supports.
    #[must_use]
    pub fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// How the protocol starts, finds and recovers turns.
    pub(super) fn conventions(&self) -> Conventions {
        self.conventions
    }

    /// The turn's state machine.
    #[must_use]
    pub fn machine(&self) -> &TurnMachine {
        &self.intake.machine
    }

    /// The turn's state machine, mutable.
    pub fn machine_mut(&mut self) -> &mut TurnMachine {
        &mut self.intake.machine
    }

    /// The index.
    #[must_use]
    pub fn index(&self) -> &EventIndex {
        &self.intake.index
    }

    /// The index, mutable, so that its changes can be taken.
    pub fn index_mut(&mut self) -> &mut EventIndex {
        &mut self.intake.index
    }

    /// Sets whether the caller takes the events themselves, and not only the index.
    pub fn set_wants_events(&mut self, wants_events: bool) {
        self.intake.output.wants_events = wants_events;
    }

    /// Sets whether the caller also takes the raw frames.
    pub fn set_wants_native(&mut self, wants_native: bool) {
        self.intake.output.wants_native = wants_native;
    }

    /// Prepares for a new connection: drops the unfinished input of the last one. If `refills`, a gap ends the
    /// connection so that another one can fill it; otherwise gaps are skipped.
    pub fn connected(&mut self, refills: bool) {
        self.frames.reset();
        self.position = self.machine().cursor().last();
        self.intake.numbering.connected(refills);
        self.intake.broken = None;
    }

    /// Whether the connection has brought anything new.
    pub(super) fn has_progressed(&self) -> bool {
        let cursor = self.machine().cursor();
        cursor.is_unsure() || cursor.last() != self.position
    }

    /// Takes bytes of the stream, cut anywhere. After an error the rest of this connection is ignored.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.take(|frames, incoming| frames.feed(bytes, incoming))
    }

    /// Takes a message of the stream's socket. After an error the rest of this connection is ignored.
    pub fn push_message(&mut self, message: &str) -> Result<()> {
        self.take(|frames, incoming| frames.take(message, incoming))
    }

    /// The last pushed message as a [template](EventDecoder::template), if it can be one and the caller does not take
    /// raw messages.
    pub fn template(&self, message: &str) -> Option<String> {
        if self.intake.output.wants_native { None } else { self.decoder.template(message) }
    }

    /// Takes messages that match the numbered template outside its holes and are within the size limit. `texts` has,
    /// for each message, the inside of the string with its piece of text, followed by the closing quote. Returns how
    /// many were taken: the next message must be [pushed](Self::push_message).
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

    /// Ends the stream. Some protocols have events that only this reveals.
    pub fn ended(&mut self) {
        if self.intake.broken.is_none() {
            self.decoder.end(&mut self.intake);
        }
    }

    /// How long to go on reading, in milliseconds since this was 0: the server has reported how the turn ends, and only
    /// the end of the stream is missing. The caller then leaves the stream as if it had broken.
    #[must_use]
    pub fn grace(&self) -> u32 {
        if ClientConversations::EXISTS { self.decoder.grace() } else { 0 }
    }

    /// The fault in a stream that the server closed. A stream that ends within a frame is merely broken.
    pub(super) fn closing_failure(&mut self) -> Option<Error> {
        if ClientConversations::EXISTS && !self.frames.is_unfinished() {
            self.decoder.failure()
        } else {
            None
        }
    }

    /// The session's conversation (JSON), if the client keeps it and the turn has begun or may have begun.
    pub(crate) fn conversation(&mut self) -> Option<String> {
        if self.machine().status() == TurnStatus::Cancelled {
            self.decoder.cancelled();
        }
        self.decoder.conversation()
    }

    /// Notes that a request with these parameters starts the turn: the stream that follows is its response.
    pub(super) fn begin(&mut self, params: &str) {
        if Relays::EXISTS {
            self.gate = self.conventions.relay.map(Gate::new);
        }
        let params = Value::parse(params).unwrap_or_default();
        self.decoder.begin(params.as_object().unwrap_or(const { &Object::new() }));
    }

    /// Notes that a request with these parameters resumes the turn's stream.
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

    /// Takes the requests that read more of the turn, to be sent on the stream's socket. The responses are part of the
    /// stream.
    pub fn follow_up_requests(&mut self) -> Option<crate::rpc::Messages> {
        self.decoder.follow_up_requests()
    }

    /// Takes a response that is not a stream but holds the whole turn.
    pub(super) fn push_body(&mut self, body: &Object<'_>) {
        self.intake.output.native(None, &body.to_json());
        self.decoder.body(Value::Object(body.clone()), &mut self.intake);
    }

    /// Prepares for the stream's frames from the beginning, by [`push_frame`](Self::push_frame).
    pub fn replay(&mut self) {
        self.connected(false);
        self.decoder.restart();
        if let Some(record) = &mut self.record {
            record.pause = None;
        }
    }

    /// Takes the data of a listed frame. If the turn pauses in it, the next frame or [`end_replay`](Self::end_replay)
    /// decides whether the pause still holds.
    pub fn push_frame(&mut self, data: &str) -> Result<()> {
        let Self { decoder, intake, record, .. } = self;
        match record {
            Some(record) => decoder.decode(&listed_frame(data), &mut Recorded { intake, record }),
            None => decoder.decode(&listed_frame(data), intake),
        }
        self.intake.broken.clone().map_or(Ok(()), Err)
    }

    /// Ends the replay of recorded frames.
    pub fn end_replay(&mut self) {
        if let Some((number, pause)) = self.record.as_mut().and_then(|record| record.pause.take()) {
            self.intake.event(number, EventRef::of(&pause));
        }
    }

    /// Takes the data of a listed frame whose events are not delivered. Returns the number of its last event; 0 if
    /// there is none.
    pub fn skim_frame(&mut self, data: &str) -> u64 {
        let mut skim = Skim { seen: &mut self.intake.seen, last: 0 };
        self.decoder.decode(&listed_frame(data), &mut skim);
        skim.last
    }

    /// Takes a listed event that is not delivered.
    pub fn skim(&mut self, event: EventRef<'_>) {
        self.intake.seen.number(id_of(event));
    }

    /// The state of the relayed stream, if the relay has not lost it.
    pub(super) fn gate(&self) -> Option<&Gate> {
        self.gate.as_ref()
    }

    /// The same, mutable.
    pub(super) fn gate_mut(&mut self) -> Option<&mut Gate> {
        self.gate.as_mut()
    }

    /// Whether a relay keeps the stream and has not lost it.
    pub(super) fn is_relayed(&self) -> bool {
        // In a build without relays, the compiler removes everything that depends on this.
        Relays::EXISTS && self.gate.is_some()
    }

    /// Stops using the relay: it does not have the rest of the stream.
    pub(super) fn give_up_relay(&mut self) {
        if Relays::EXISTS {
            self.gate = None;
        }
    }

    /// Where a frame-based stream resumes.
    pub(super) fn frame_place(&self) -> FramePlace {
        match &self.record {
            None => FramePlace::Unrecorded,
            Some(record) if record.cursor.is_empty() => FramePlace::Unknown,
            Some(_) => FramePlace::After,
        }
    }

    /// Whether the server has a usable record of frames.
    pub(super) fn has_frame_record(&self) -> bool {
        self.record.is_some()
    }

    /// Stops using the server's record of frames.
    pub(super) fn give_up_frame_record(&mut self) {
        self.record = None;
    }

    /// The server's id of the last frame; empty if unknown.
    #[must_use]
    pub fn frame_cursor(&self) -> &str {
        match &self.record {
            Some(record) => &record.cursor,
            None => "",
        }
    }

    /// Sets the frame after which the stream resumes; empty if unknown.
    pub fn set_frame_cursor(&mut self, cursor: &str) {
        if let Some(record) = &mut self.record {
            cursor.clone_into(&mut record.cursor);
        }
    }

    /// Whether the record of a stream differs from the stream itself.
    #[must_use]
    pub fn is_divergent(&self) -> bool {
        match &self.intake.fingerprints {
            Some(fingerprints) => fingerprints.is_divergent,
            None => false,
        }
    }

    /// Continues from the pause of another turn: the events up to this number, and these messages, were delivered with
    /// that turn.
    pub fn follow(&mut self, events: u64, messages: &[String]) {
        self.intake.machine.advance(events);
        for id in messages {
            self.intake.seen.number(id);
        }
    }

    /// Notes that the turn continues with the answers to these calls, by thread and id.
    pub(super) fn set_answered(&mut self, by: SeparateAnswers, calls: Vec<(String, String)>) {
        self.intake.answered = Some(AnsweredCalls::new(by, calls));
    }

    /// Notes that these answers are in flight while the turn runs.
    pub fn add_answered(&mut self, input: &TurnInput) {
        if let Answers::OneByOne(by) = self.conventions.answers {
            let calls = input.answered_calls(input.answer_count());
            self.intake.answered.get_or_insert_with(|| AnsweredCalls::new(by, Vec::new())).add(calls);
        }
    }

    /// Notes whether the server accepted these answers.
    pub fn confirm_answered(&mut self, input: &TurnInput, is_taken: bool) {
        let calls = input.answered_calls(input.answer_count());
        if !is_taken {
            let pause = self.intake.answered.as_mut().and_then(|answered| answered.remove(&calls));
            // The pause holds unless other answers continued the turn.
            if let Some((number, pause)) = pause
                && number == self.machine().cursor().last()
            {
                self.intake.take(number, EventRef::of(&pause));
            }
        } else if Sockets::EXISTS {
            self.decoder.answered(&calls);
        }
    }

    /// Whether a turn in this state waits only for answered calls.
    pub(super) fn was_answered(&self, state: &Object<'_>) -> bool {
        match &self.intake.answered {
            Some(answered) => answered.explain(state),
            None => false,
        }
    }

    /// Takes the reason why the rest of the connection was ignored, if there is one.
    pub fn take_failure(&mut self) -> Option<Error> {
        self.intake.broken.take()
    }

    /// How long the stream asks to wait before the next connection (`retry:`), in milliseconds.
    #[must_use]
    pub fn retry(&self) -> u64 {
        self.frames.retry()
    }

    /// Gaps that were skipped: the numbers at both edges.
    #[must_use]
    pub fn gaps(&self) -> &[(u64, u64)] {
        self.intake.numbering.gaps()
    }

    /// The `id` of the first frame that differs from the number in its JSON, and that number. Spans all streams.
    #[must_use]
    pub fn mismatch(&self) -> Option<(u64, u64)> {
        self.intake.numbering.mismatch()
    }

    /// Whether all events of the turn so far were streamed or listed. Every required action then has its call.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !self.index().has_missing_events() && !self.index().hides_actions()
    }

    /// Sets whether events of the turn are missing.
    pub(super) fn set_missing_events(&mut self, has_missing_events: bool) {
        self.intake.index.set_missing_events(has_missing_events);
    }

    /// Takes a message of an earlier turn. It may have made a call that is pending in this one.
    pub(super) fn apply_earlier_message(&mut self, event: &Object<'_>) {
        self.intake.index.apply_earlier_message(event);
    }

    /// Takes an event that was listed, not streamed.
    pub fn apply_listed(&mut self, event: EventRef<'_>) {
        self.intake.index.apply(event);
        self.intake.machine.observe(event);
    }

    /// Takes an event that was listed because the stream is gone. Events that the stream delivered are skipped; a
    /// partial message is delivered again, whole.
    pub fn apply_missed(&mut self, event: EventRef<'_>) {
        self.intake.missed(event);
    }

    /// Whether the listed messages continue the messages that were received.
    pub(super) fn goes_on_with(&self, events: &[Value<'_>]) -> bool {
        let messages = events.iter().filter_map(Value::as_object);
        let mut messages = messages.filter(|event| event.text("type") == "model.message");
        messages.all(|event| {
            let known = self.index().message(event.text("id"));
            known.is_none_or(|known| known.is_prefix_of(&Message::from_base(event)))
        })
    }

    /// Begins a list of the turn's events, from the first one on.
    pub(super) fn begin_list(&mut self) {
        self.intake.begin_list();
    }

    /// Whether any message is only partly there.
    pub(super) fn has_incomplete_messages(&self) -> bool {
        self.index().messages().iter().any(|message| message.finish_reason().is_empty())
    }

    /// Takes the terminal state of a turn whose stream is gone. It replaces the missing `turn.done`: an event with the
    /// turn's id and no number.
    pub fn end_missed(&mut self, state: &Object<'_>) {
        // It may have more than the record that first showed the turn's end.
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
        // A stream that is being read brings all events up to the end, and then the end itself.
        let is_end = !machine.is_streaming() && !machine.status().is_terminal() && machine.state(state);
        if is_end {
            self.intake.index.turn_recorded_as_ended(state);
            self.intake.output.state = Some(state.to_json());
        }
        is_end
    }

    /// Marks the turn's required actions as answered, or discarded, by a later turn.
    pub fn resolve_actions(&mut self, is_discarded: bool) {
        if is_discarded && DiscardPending::EXISTS {
            self.intake.index.discard_actions();
        } else {
            self.intake.index.resolve_actions();
        }
    }

    /// The events since this batch was last taken.
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

    /// Stops keeping text that has been taken as a change: see [`EventIndex::release_taken_text`].
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
