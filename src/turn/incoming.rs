//! Turns the frames of a stream into events, and keeps the stream's position.

use crate::event::{EventKind, EventRef, TextDelta};
use crate::features::{ClientConversations, FrameRecords, Relays, Sockets, Transcripts};
use crate::json::Object;
use crate::protocol::relay::gate::{Gate, Passage};
use crate::protocol::{EventDecoder, EventSink};
use crate::sse::{Frame, FrameSink, Run, WholeFrame};

use super::intake::Intake;

/// The server's record of a stream.
pub(super) struct FrameRecord {
    pub(super) _by: FrameRecords,
    /// The server's name of the last frame that came; empty if unknown.
    pub(super) cursor: String,
    /// The last pause that was read, and its number, until it is known whether the turn continued.
    pub(super) pause: Option<(u64, Object<'static>)>,
}

/// Takes the events of a record. In the record of a turn that paused and continued, the pause is not the end.
pub(super) struct Recorded<'r> {
    pub(super) intake: &'r mut Intake,
    pub(super) record: &'r mut FrameRecord,
}

impl Recorded<'_> {
    fn goes_on(&mut self) {
        if let Some((number, pause)) = self.record.pause.take() {
            self.intake.pass_over(number, EventRef::of(&pause));
        }
    }
}

impl EventSink for Recorded<'_> {
    fn delta(&mut self, sequence_number: u64, delta: TextDelta<'_>) {
        self.goes_on();
        self.intake.delta(sequence_number, delta);
    }

    fn event(&mut self, sequence_number: u64, event: EventRef<'_>) {
        self.goes_on();
        if is_pause(event) {
            self.record.pause = Some((sequence_number, event.fields.clone().into_owned()));
        } else {
            self.intake.event(sequence_number, event);
        }
    }
}

/// Whether an event ends the turn only until its calls are answered.
fn is_pause(event: EventRef<'_>) -> bool {
    let state = event.fields.object("state").filter(|_| event.kind == EventKind::TurnDone);
    state.is_some_and(|state| !state.array("required_actions").is_empty())
}

/// Takes the frames of one chunk.
pub(super) struct Incoming<'r> {
    pub(super) decoder: &'r mut dyn EventDecoder,
    pub(super) intake: &'r mut Intake,
    pub(super) record: &'r mut Option<FrameRecord>,
    /// Present if a relay keeps the stream.
    pub(super) gate: &'r mut Option<Gate>,
    /// Present if a frame's type is only in its name.
    pub(super) names: Option<Transcripts>,
}

impl Incoming<'_> {
    /// Notes the position after frames: `id` is the id of the last frame, if it has one. `before` is the cursor before
    /// them.
    fn note_place(&mut self, id: Option<&str>, before: u64) {
        let Some(record) = self.record else { return };
        if let Some(id) = id.filter(|_| self.intake.broken.is_none()) {
            id.clone_into(&mut record.cursor);
        } else if self.intake.machine.cursor().last() != before {
            // Resuming after the last id would deliver these events again as new.
            record.cursor.clear();
        }
    }
}

impl Incoming<'_> {
    /// Whether a frame is the next one from the server.
    fn passes(&mut self, event: &str, id: Option<&str>, data: &str) -> bool {
        let Some(gate) = self.gate else { return true };
        if self.intake.broken.is_some() {
            return false;
        }
        match gate.take(event, id, data) {
            Passage::Passes => return true,
            Passage::Stays => {}
            Passage::Stopped => self.intake.stopped(),
            Passage::Closed(error) => self.intake.broken = Some(error),
        }
        false
    }

    /// Takes whole frames from a relay one by one: the relay numbers them, and its server's own frames have no numbers.
    fn relayed_run(&mut self, bytes: &[u8]) -> Run {
        let mut len = 0;
        while let Some(rest) = bytes.get(len..)
            && let Some(frame) = WholeFrame::of(rest)
            // Relays write the number first, followed by one LF.
            && let Some((start, end)) = frame.id.filter(|id| id.0 <= "id: ".len())
            && let Some(own) = rest.get(end + 1..frame.len).filter(|own| !own.is_empty())
            && let Some(gate) = self.gate
            && gate.awaits(part(rest, (start, end)))
            && self.decoder.run(own, self.intake).len == own.len()
        {
            gate.pass(part(rest, frame.event.unwrap_or_default()), part(rest, frame.data));
            len += frame.len;
        }
        Run { len, id: None }
    }
}

impl FrameSink for Incoming<'_> {
    fn frame(&mut self, frame: Frame<'_>) {
        if Relays::EXISTS && !self.passes(frame.event, frame.id.filter(|_| frame.has_own_id), frame.data) {
            return;
        }
        if !Sockets::EXISTS || !self.intake.output.wants_native || self.decoder.concerns(frame.data) {
            let name = self.names.map(|_| frame.event);
            // In some protocols the type is inside the data.
            let name = name.filter(|name| !ClientConversations::EXISTS || !name.is_empty());
            self.intake.output.native(name, frame.data);
        }
        let before = self.intake.machine.cursor().last();
        self.decoder.decode(&frame, self.intake);
        if Sockets::EXISTS
            && let Some(error) = self.decoder.failure()
        {
            self.intake.broken.get_or_insert(error);
        }
        self.note_place(frame.has_own_id.then(|| frame.id.unwrap_or_default()), before);
    }

    fn takes_runs(&self) -> bool {
        !self.intake.output.wants_native && self.intake.broken.is_none()
    }

    fn run(&mut self, bytes: &[u8]) -> Run {
        #[expect(
            clippy::redundant_pattern_matching,
            reason = "where there are no relays, the compiler drops a match and not a call"
        )]
        if let Some(_) = self.gate {
            return self.relayed_run(bytes);
        }
        let before = self.intake.machine.cursor().last();
        let run = self.decoder.run(bytes, self.intake);
        #[expect(
            clippy::redundant_pattern_matching,
            reason = "where no protocol has records, the compiler drops a match and not a call"
        )]
        if let Some(_) = self.record {
            let id = run.id.and_then(|(start, end)| str::from_utf8(bytes.get(start..end)?).ok());
            self.note_place(id, before);
        }
        run
    }
}

fn part(bytes: &[u8], (start, end): (usize, usize)) -> &[u8] {
    bytes.get(start..end).unwrap_or_default()
}
