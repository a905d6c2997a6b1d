//! What becomes of decoded events: which are new, which are repeats, and what is done where some are missing.

use crate::delivery::EventBatch;
use crate::error::{Error, ErrorCode};
use crate::event::{EventKind, EventRef, TextDelta};
use crate::index::{EventIndex, Message};
use crate::json::{Object, Value};
use crate::names::Names;
use crate::protocol::EventSink;

use super::answered::AnsweredCalls;
use super::conventions::{Conventions, PartialLists, Recovery};
use super::fingerprints::Fingerprints;
use super::result_counts::ResultCounts;
use super::{Admission, Cursor, TurnMachine, digits};

/// A gap that is met this often in the same place is lost. Connections that break leave out events, too.
const GAP_MEETINGS: u32 = 4;
/// After so many gaps that the server could not fill, its numbers are not dense.
const MAX_UNFILLED: usize = 3;

/// Everything behind the decoder.
pub(super) struct Intake {
    pub(super) machine: TurnMachine,
    pub(super) index: EventIndex,
    pub(super) batch: EventBatch,
    pub(super) wants_events: bool,
    pub(super) wants_native: bool,
    /// The ids of the events that came, apart from deltas.
    pub(super) seen: Names,
    /// Whether another connection may fill a gap.
    pub(super) refills: bool,
    /// The number before the last gap, and how often that gap was met.
    gap_at: (u64, u32),
    /// The gaps that were passed over: the numbers on both sides.
    pub(super) gaps: Vec<(u64, u64)>,
    /// The first frame whose `id` differs from the number in its JSON: both.
    pub(super) mismatch: Option<(u64, u64)>,
    /// Why nothing more of this connection is taken.
    pub(super) broken: Option<Error>,
    /// The fingerprint of each event, if a record of the stream may be read whose numbers are only counts.
    pub(super) fingerprints: Option<Fingerprints>,
    /// If lists of events lack what a stream brings.
    partial_lists: Option<PartialLists>,
    results: Option<ResultCounts>,
    /// The calls that were answered one by one.
    pub(super) answered: Option<AnsweredCalls>,
    /// The JSON of `turn.created`, until it is taken.
    pub(super) created: Option<String>,
    /// The JSON of the terminal state, until it is taken.
    pub(super) state: Option<String>,
}

impl Intake {
    pub(super) fn new(machine: TurnMachine, conventions: Conventions) -> Self {
        let partial_lists = conventions.partial_lists();
        let fingerprints = match conventions.recovery {
            Recovery::Frames(by) => Some(Fingerprints::new(by)),
            _ => None,
        };
        Self {
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
            fingerprints,
            partial_lists,
            results: partial_lists.map(ResultCounts::new),
            answered: None,
            created: None,
            state: None,
        }
    }

    /// Takes a frame as it came: its data, and its name where only that tells what it is.
    pub(super) fn native(&mut self, name: Option<&str>, data: &str) {
        if !self.wants_native {
            return;
        }
        match name {
            Some(name) => {
                let mut frame = Object::new();
                frame.set("event", name.to_owned().into());
                frame.set("data", Value::parse(data).unwrap_or_else(|_| data.into()));
                self.batch.native(&frame.to_json());
            }
            None => self.batch.native(data),
        }
    }

    /// A list of the turn's events begins, from the first one on.
    pub(super) fn begin_list(&mut self) {
        if let Some(results) = &mut self.results {
            results.begin_list();
        }
        // The record of a turn may have shown its last message already.
        let is_new = self.seen.is_empty() && self.machine.cursor() == &Cursor::default();
        if is_new && self.index.is_unread() {
            self.index.start_over();
        }
    }

    /// Takes an event that was listed because the stream is gone. What the stream brought is not delivered again; a
    /// message that came in part is, whole.
    pub(super) fn missed(&mut self, event: EventRef<'_>) {
        let number = listed_number(event.fields);
        let id = event.fields.text("id");
        if self.partial_lists.is_some() {
            self.index.expect_partial_listing(id);
        }
        // The terminal state comes last, and the beginning is known.
        let is_frame = matches!(event.kind, EventKind::TurnDone | EventKind::TurnCreated);
        if self.is_known(event, number) || is_frame {
            return;
        }
        let is_new = self.machine.admit_listed(number);
        // The number of a message may be that of its beginning, which came. Its rest has none.
        if is_new || event.kind == EventKind::ModelMessage && self.machine.admit_listed(0) {
            self.index.expect_whole(id);
            self.take(if is_new { number } else { 0 }, event);
        }
    }

    /// Whether a listed event was delivered, whole.
    fn is_known(&mut self, event: EventRef<'_>, number: u64) -> bool {
        let fields = event.fields;
        if event.kind == EventKind::ModelMessage
            && let Some(message) = self.index.message(fields.text("id"))
        {
            let whole = Message::of(fields);
            return message.has_base
                && message.finish_reason() == whole.finish_reason()
                && call_ids(message).eq(call_ids(&whole))
                && message.says(&whole);
        }
        let is_counted = match &mut self.results {
            Some(results) if event.kind == EventKind::ToolResponse => {
                results.is_known(fields.text("tool_call_id"))
            }
            _ => false,
        };
        let lacks_id = number > 0 && id_of(event).is_empty();
        self.seen.get(id_of(event)).is_some() && !lacks_id || is_counted
    }

    /// Takes an event that was admitted.
    pub(super) fn take(&mut self, sequence_number: u64, event: EventRef<'_>) {
        self.seen.number(id_of(event));
        match &mut self.results {
            Some(results) if event.kind == EventKind::ToolResponse => {
                results.came(event.fields.text("tool_call_id"));
            }
            _ => {}
        }
        if self.machine.status().is_terminal() {
            // It comes after the turn's last event.
            return self.index.backfill(event);
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

    /// Whether an event is taken.
    #[inline]
    fn admits(&mut self, sequence_number: u64) -> bool {
        self.broken.is_none()
            && match self.machine.admit(sequence_number) {
                Admission::New => true,
                Admission::Repeat => false,
                Admission::Gap => self.passes(sequence_number),
            }
    }

    /// Compares an event with the one that came under its number before, if one did.
    fn compare(&mut self, sequence_number: u64, parts: &[&str]) {
        let is_over = self.broken.is_some() || self.machine.status().is_terminal();
        let last = self.machine.cursor().last();
        let Some(fingerprints) = &mut self.fingerprints else { return };
        if !is_over && !fingerprints.matches(sequence_number, last, parts) {
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
}

impl EventSink for Intake {
    #[inline]
    fn delta(&mut self, sequence_number: u64, delta: TextDelta<'_>) {
        #[expect(
            clippy::redundant_pattern_matching,
            reason = "where no protocol has records, the compiler drops a match and not a call"
        )]
        if let Some(_) = self.fingerprints {
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
        #[expect(
            clippy::redundant_pattern_matching,
            reason = "where no protocol has records, the compiler drops a match and not a call"
        )]
        if let Some(_) = self.fingerprints {
            self.compare(sequence_number, &[event.fields.text("type"), id_of(event)]);
        }
        // What cannot be read, and has no number, has no place in the order either.
        let is_stray = sequence_number == 0 && event.kind == EventKind::Unknown;
        let is_over = self.broken.is_some() || self.machine.status().is_terminal();
        let is_admitted = if is_stray { !is_over } else { self.admits(sequence_number) };
        if !is_admitted {
            return;
        }
        if let Some(answered) = &mut self.answered
            && answered.explains(event)
        {
            return;
        }
        self.take(sequence_number, event);
    }

    #[cfg(feature = "json-numbers")]
    fn mismatch(&mut self, id: u64, sequence_number: u64) {
        self.mismatch.get_or_insert((id, sequence_number));
    }
}

fn call_ids(message: &Message) -> impl Iterator<Item = &str> {
    message.calls().iter().flatten().map(|call| &*call.id)
}

/// The number of a listed event; 0 if it has none, as in the lists of all protocols but one.
fn listed_number(fields: &Object<'_>) -> u64 {
    let number = fields.get("sequence_number").filter(|_| cfg!(feature = "json-numbers"));
    // The output in a turn's state was not checked.
    number.and_then(Value::as_u64).filter(|number| *number < 1 << 53).unwrap_or(0)
}

/// The id of an event, also of one that this version does not know.
pub(super) fn id_of(event: EventRef<'_>) -> &str {
    event.fields.object("raw").unwrap_or(event.fields).text("id")
}
