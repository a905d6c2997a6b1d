//! The whole way of the data for one turn: bytes in, index and records out. Still without any I/O.

use crate::delivery::{ChangeBatch, EventBatch};
use crate::error::{Error, ErrorCode, Result};
use crate::event::{EventKind, EventRef, TextDelta};
use crate::index::EventIndex;
use crate::json::Object;
use crate::protocol::{EventDecoder, EventSink, Protocol};
use crate::sse::{FrameDecoder, FrameError};

use super::TurnMachine;

/// Reads a turn's streams.
pub struct TurnReader {
    frames: FrameDecoder,
    decoder: Box<dyn EventDecoder>,
    intake: Intake,
}

/// Everything behind the decoder.
struct Intake {
    machine: TurnMachine,
    index: EventIndex,
    batch: EventBatch,
    wants_events: bool,
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
            frames: FrameDecoder::with_limit(max_frame_bytes),
            decoder: protocol.decoder(),
            intake: Intake {
                machine,
                index: EventIndex::new(),
                batch: EventBatch::default(),
                wants_events: false,
                created: None,
                state: None,
            },
        }
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

    /// A new connection begins: what was left of the last one is forgotten.
    pub fn connected(&mut self) {
        self.frames.reset();
    }

    /// Takes bytes of the stream, cut anywhere.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        let Self { frames, decoder, intake } = self;
        let fed = frames.feed(bytes, &mut |frame| decoder.decode(&frame, intake));
        fed.map_err(|FrameError::TooLarge { limit }| {
            let mut digits = String::new();
            crate::json::write_u64(&mut digits, limit as u64);
            let parts = ["an event is larger than `maxFrameBytes` (", &digits, " bytes)"];
            Error::of(ErrorCode::FrameTooLarge, &parts)
        })
    }

    /// Takes an event that was listed, not streamed.
    pub fn apply_listed(&mut self, event: EventRef<'_>) {
        self.intake.index.apply(event);
        self.intake.machine.observe(event);
    }

    /// Takes a state that was fetched, not streamed.
    pub fn apply_state(&mut self, state: &Object<'_>) {
        let machine = &mut self.intake.machine;
        // A stream that is being read brings everything up to the end, and then the end.
        if !machine.is_streaming() && !machine.status().is_terminal() && machine.state(state) {
            self.intake.index.turn_found_ended(state);
            self.intake.state = Some(state.to_json());
        }
    }

    /// A later turn has answered what this one waited for.
    pub fn settle(&mut self) {
        self.intake.index.settle();
    }

    /// The events since they were last taken.
    pub fn batch(&mut self) -> &mut EventBatch {
        &mut self.intake.batch
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

impl EventSink for Intake {
    #[inline]
    fn delta(&mut self, sequence_number: u64, delta: TextDelta<'_>) {
        if !self.machine.admit(sequence_number) {
            return;
        }
        self.index.append(&delta);
        if self.wants_events {
            self.batch.delta(sequence_number, &delta);
        }
    }

    fn event(&mut self, sequence_number: u64, event: EventRef<'_>) {
        if !self.machine.admit(sequence_number) {
            return;
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
