//! Takes decoded events: drops repeats and notes gaps.

use crate::error::{Error, ErrorCode};
use crate::event::{EventKind, EventRef, TextDelta};
use crate::index::{EventIndex, Message};
use crate::json::{Object, Value};
use crate::names::Names;
use crate::protocol::EventSink;

use super::answered::AnsweredCalls;
use super::conventions::{Conventions, Recovery};
use super::fingerprints::Fingerprints;
use super::numbering::Numbering;
use super::output::Output;
use super::result_counts::ResultCounts;
use super::{Admission, Cursor, TurnMachine, digits};
use crate::features::{JsonNumbers, PartialLists};

/// Everything after the decoder.
pub(super) struct Intake {
    pub(super) machine: TurnMachine,
    pub(super) index: EventIndex,
    pub(super) output: Output,
    /// The ids of all events except deltas.
    pub(super) seen: Names,
    pub(super) numbering: Numbering,
    /// Why the rest of this connection is ignored.
    pub(super) broken: Option<Error>,
    /// The fingerprints of events, for streams whose record may be read and whose numbers are only counts.
    pub(super) fingerprints: Option<Fingerprints>,
    /// Present if lists of events lack parts of the stream.
    partial_lists: Option<PartialLists>,
    results: Option<ResultCounts>,
    /// The calls that were answered separately.
    pub(super) answered: Option<AnsweredCalls>,
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
            output: Output::default(),
            seen: Names::default(),
            numbering: Numbering::default(),
            broken: None,
            fingerprints,
            partial_lists,
            results: partial_lists.map(ResultCounts::new),
            answered: None,
        }
    }

    /// Begins a list of all events of the turn.
    pub(super) fn begin_list(&mut self) {
        if let Some(results) = &mut self.results {
            results.begin_list();
        }
        // The index may already have the last message, from the turn's record.
        let is_new = self.seen.is_empty() && self.machine.cursor() == &Cursor::default();
        if is_new && self.index.has_missing_events() {
            self.index.restart();
        }
    }

    /// Takes a listed event that the stream may have missed. Events that the stream delivered are skipped, except
    /// partial messages, which are delivered whole.
    pub(super) fn missed(&mut self, event: EventRef<'_>) {
        let number = listed_number(event.fields);
        let id = event.fields.text("id");
        if self.partial_lists.is_some() {
            self.index.expect_partial_listing(id);
        }
        // The beginning is already known, and the terminal state is applied last.
        let is_frame = matches!(event.kind, EventKind::TurnDone | EventKind::TurnCreated);
        if self.is_known(event, number) || is_frame {
            return;
        }
        let is_new = self.machine.admit_listed(number);
        // A listed message may carry the number of its delivered beginning. The rest has no number.
        if is_new || event.kind == EventKind::ModelMessage && self.machine.admit_listed(0) {
            self.index.expect_whole(id);
            self.take(if is_new { number } else { 0 }, event);
        }
    }

    /// Whether a listed event was delivered completely.
    fn is_known(&mut self, event: EventRef<'_>, number: u64) -> bool {
        let fields = event.fields;
        if event.kind == EventKind::ModelMessage
            && let Some(message) = self.index.message(fields.text("id"))
        {
            let whole = Message::from_base(fields);
            return message.has_base
                && message.finish_reason() == whole.finish_reason()
                && call_ids(message).eq(call_ids(&whole))
                && message.has_same_text(&whole);
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

    /// The relay reported that the user stopped the turn.
    pub(super) fn stopped(&mut self) {
        let mut state = Object::new();
        state.set("status", "cancelled".into());
        state.set("reason", "stopped".into());
        self.ended(&state);
    }

    /// Ends the turn in this state, for which no frame came: an event with the turn's id and no number.
    pub(super) fn ended(&mut self, state: &Object<'_>) {
        let mut done = Object::new();
        done.set("type", "turn.done".into());
        done.set("id", self.machine.id().unwrap_or_default().to_owned().into());
        done.set("created_at", state.get("completed_at").cloned().unwrap_or_default());
        done.set("thread_id", Value::Null);
        done.set("state", Value::Object(state.clone()));
        self.take(0, EventRef { kind: EventKind::TurnDone, fields: &done });
    }

    /// Takes an event that was admitted.
    pub(super) fn take(&mut self, sequence_number: u64, event: EventRef<'_>) {
        self.seen.number(id_of(event));
        match &mut self.results {
            Some(results) if event.kind == EventKind::ToolResponse => {
                results.count(event.fields.text("tool_call_id"));
            }
            _ => {}
        }
        if self.machine.status().is_terminal() {
            // The turn's last event has already been delivered.
            return self.index.backfill(event);
        }
        self.machine.observe(event);
        self.index.apply(event);
        self.output.event(sequence_number, event);
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

    /// Compares an event with an earlier one of the same number, if there was one.
    fn compare(&mut self, sequence_number: u64, parts: &[&str]) {
        let is_over = self.broken.is_some() || self.machine.status().is_terminal();
        let last = self.machine.cursor().last();
        let Some(fingerprints) = &mut self.fingerprints else { return };
        if !is_over && !fingerprints.matches(sequence_number, last, parts) {
            let problem = "the server's record of the turn differs from its stream";
            self.broken = Some(Error::new(ErrorCode::Incomplete, problem));
        }
    }

    /// Skips an event whose content no longer holds.
    pub(super) fn pass_over(&mut self, sequence_number: u64, event: EventRef<'_>) {
        self.compare(sequence_number, &[event.fields.text("type"), id_of(event)]);
        self.admits(sequence_number);
    }

    /// Whether the gap before this number is skipped.
    fn passes(&mut self, sequence_number: u64) -> bool {
        let last = self.machine.cursor().last();
        if !self.numbering.passes(last, sequence_number) {
            let parts = ["event ", &digits(last + 1), " is missing: ", &digits(sequence_number), " arrived"];
            self.broken = Some(Error::of(ErrorCode::Incomplete, &parts));
            return false;
        }
        self.index.set_missing_events(true);
        self.machine.pass(sequence_number);
        true
    }

    /// Whether an event begins another turn. The events after it would belong to that other turn.
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
        self.output.delta(sequence_number, &delta);
    }

    fn event(&mut self, sequence_number: u64, event: EventRef<'_>) {
        if self.broken.is_none() && self.is_foreign(event) {
            let problem = "the stream switched to another turn";
            self.broken = Some(Error::new(ErrorCode::UnexpectedResponse, problem));
        }
        #[expect(
            clippy::redundant_pattern_matching,
            reason = "where no protocol has records, the compiler drops a match and not a call"
        )]
        if let Some(_) = self.fingerprints {
            self.compare(sequence_number, &[event.fields.text("type"), id_of(event)]);
        }
        // An unreadable event without a number has no place in the order.
        let is_stray = sequence_number == 0 && event.kind == EventKind::Unknown;
        let is_over = self.broken.is_some() || self.machine.status().is_terminal();
        let is_admitted = if is_stray { !is_over } else { self.admits(sequence_number) };
        if !is_admitted {
            return;
        }
        if let Some(answered) = &mut self.answered
            && answered.explains(sequence_number, event)
        {
            return;
        }
        self.take(sequence_number, event);
    }

    fn mismatch(&mut self, id: u64, sequence_number: u64) {
        self.numbering.mismatched(id, sequence_number);
    }
}

fn call_ids(message: &Message) -> impl Iterator<Item = &str> {
    message.calls().iter().flatten().map(|call| &*call.id)
}

/// The number of a listed event; 0 if it has none. Only one protocol's lists have numbers.
fn listed_number(fields: &Object<'_>) -> u64 {
    let number = fields.get("sequence_number").filter(|_| JsonNumbers::EXISTS);
    // The output in a turn's state has not been checked.
    number.and_then(Value::as_u64).filter(|number| *number < 1 << 53).unwrap_or(0)
}

/// The id of an event, including one of an unknown type.
pub(super) fn id_of(event: EventRef<'_>) -> &str {
    event.fields.object("raw").unwrap_or(event.fields).text("id")
}
