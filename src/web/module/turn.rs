//! A turn as JavaScript uses it: takes numbers and JSON, and returns records and JSON.

use crate::delivery::{ChangeBatch, EventBatch, TextArena};
use crate::error::{Error, ErrorCode, Result};
use crate::json::ObjectWriter;
use crate::protocol::Call;
use crate::session::{Goal, Session, SessionTurn};
use crate::text::cut;
use crate::turn::{Moment, Outcome, Pause, Plan, Reconnect, Step, TurnReader, Waiting};

use super::boundary::{Lent, write_error};

/// The flags for reports about the stream, and for events.
pub(super) const HAS_NEWS: u8 = 2;
pub(super) const HAS_EVENTS: u8 = 8;

/// A turn, as JavaScript uses it.
pub(super) struct Turn {
    /// The number of its session.
    session: u32,
    inner: SessionTurn,
    /// The number of reported gaps.
    gaps_told: usize,
    is_mismatch_told: bool,
    /// The records of events that JavaScript reads.
    events: (Vec<u32>, TextArena),
    changes: ChangeBatch,
}

impl Turn {
    pub(super) fn new(
        number: u32,
        session: &mut Session,
        previous_turn_id: &str,
        turn_id: &str,
        is_newest: bool,
    ) -> Self {
        let mut turn = SessionTurn::new(session, previous_turn_id, turn_id, is_newest);
        // The package's snapshots keep the text.
        turn.reader_mut().release_taken_text();
        Self {
            session: number,
            inner: turn,
            gaps_told: 0,
            is_mismatch_told: false,
            events: (Vec::new(), TextArena::default()),
            changes: ChangeBatch::default(),
        }
    }

    /// The number of its session.
    pub(super) fn session(&self) -> u32 {
        self.session
    }

    /// The turn without what JavaScript reads of it.
    pub(super) fn turn(&mut self) -> &mut SessionTurn {
        &mut self.inner
    }

    fn reader(&mut self) -> &mut TurnReader {
        self.inner.reader_mut()
    }

    /// Takes the input, and after a NUL character further options of the start, if any. Returns the input as it will
    /// be sent.
    pub(super) fn take_input(
        &mut self,
        session: &Session,
        text: &str,
        discards_pending: bool,
    ) -> Result<String> {
        let (json, options) = cut(text, 0);
        self.inner.take_input(session, json, options, discards_pending)?;
        Ok(self.inner.driver().input().json().unwrap_or("[]").to_owned())
    }

    /// The known facts about the turn.
    pub(super) fn facts(&mut self) -> String {
        let mut json = String::new();
        let mut facts = ObjectWriter::new(&mut json);
        let machine = self.inner.reader().machine();
        if let Some(id) = machine.id() {
            facts.str("id", id);
        }
        facts.str("status", machine.status().as_str()).u64("last", machine.cursor().last());
        if !self.inner.reader().is_complete() {
            facts.bool("lacks", true);
        }
        if let Some(created) = self.reader().take_created() {
            facts.raw("created", &created);
        }
        if let Some(state) = self.reader().take_state() {
            facts.raw("state", &state);
        }
        facts.end();
        json
    }

    pub(super) fn set_wants_native(&mut self, wants_native: bool) {
        self.reader().set_wants_native(wants_native);
    }

    pub(super) fn set_wants_events(&mut self, wants_events: bool) {
        let reader = self.reader();
        reader.set_wants_events(wants_events);
        if !wants_events {
            *reader.batch() = EventBatch::default();
            self.has_events();
        }
    }

    /// Begins to read the turn for a goal. Returns the first step.
    pub(super) fn begin(
        &mut self,
        session: &mut Session,
        goal: Goal,
        after: f64,
        reconnect: Reconnect,
        now: f64,
    ) -> Result<String> {
        written(
            self.inner.begin(session, goal, sequence_number(after)?, reconnect, millis(now))?,
            &self.inner,
        )
    }

    /// Takes the result of a step. Returns the next one.
    pub(super) fn next(
        &mut self,
        session: &mut Session,
        outcome: Outcome<'_>,
        moment: Moment,
    ) -> Result<String> {
        written(self.inner.next(session, outcome, moment), &self.inner)
    }

    /// Takes the next report about the stream, under its topic: a gap `{ gap: { after, next } }`, or a frame with two
    /// numbers `{ mismatch: { id, sequence_number } }`; `None` if there are no more.
    pub(super) fn take_news(&mut self) -> String {
        let mut json = String::new();
        let reader = self.inner.reader();
        let (topic, one, other, numbers) = if let Some(gap) = reader.gaps().get(self.gaps_told) {
            self.gaps_told += 1;
            ("gap", "after", "next", *gap)
        } else if let Some(mismatch) = reader.mismatch().filter(|_| !self.is_mismatch_told) {
            self.is_mismatch_told = true;
            ("mismatch", "id", "sequence_number", mismatch)
        } else {
            return json;
        };
        let mut news = ObjectWriter::new(&mut json);
        ObjectWriter::new(news.member(topic)).u64(one, numbers.0).u64(other, numbers.1).end();
        news.end();
        json
    }

    /// Whether there are reports about the stream.
    pub(super) fn has_news(&self) -> bool {
        let reader = self.inner.reader();
        reader.gaps().len() > self.gaps_told || (reader.mismatch().is_some() && !self.is_mismatch_told)
    }

    /// The flags for what was read: 1 if more is to be read, plus 2 if there are reports, plus 8 if there are events.
    pub(super) fn flags(&mut self, goes_on: bool) -> u8 {
        u8::from(goes_on) + HAS_NEWS * u8::from(self.has_news()) + HAS_EVENTS * u8::from(self.has_events())
    }

    /// Whether there were events since they were last taken. After the last ones, their memory is freed.
    pub(super) fn has_events(&mut self) -> bool {
        let has_events = !self.reader().batch().is_empty();
        if !has_events && self.inner.reader().machine().status().is_terminal() {
            self.events = (Vec::new(), TextArena::default());
            self.reader().release();
        }
        has_events
    }

    /// The records of the events since the last call.
    pub(super) fn events(&mut self) -> Lent<'_> {
        self.inner.reader_mut().batch().take(&mut self.events);
        (&self.events.0, &self.events.1)
    }

    /// The changes of the index.
    pub(super) fn take_changes(&mut self) -> String {
        self.inner.reader_mut().take_changes(&mut self.changes).unwrap_or_default()
    }

    /// The records of the last taken changes.
    pub(super) fn change_records(&mut self) -> Lent<'_> {
        (self.changes.records(), self.changes.text())
    }
}

/// A step as JSON: a request `{ call, params, after?, whole? }`, a wait before the next attempt `{ delay, least,
/// attempt, error }` or before the next poll `{ delay, for }`, or `{}` at the end.
fn written(step: Step, turn: &SessionTurn) -> Result<String> {
    let mut json = String::new();
    let mut object = ObjectWriter::new(&mut json);
    match step {
        Step::Open(plan) | Step::Ask(plan) => {
            write_plan(&mut object, &plan);
            if plan.call == Call::CreateTurnStream && turn.reader().capabilities().has_whole_answers() {
                object.bool("whole", true);
            }
        }
        Step::Retry(Pause { delay, least, attempt, cause }) => {
            object.u64("delay", millis(delay)).u64("least", millis(least)).u64("attempt", attempt.into());
            write_error(object.member("error"), &cause);
        }
        Step::Wait(Waiting { delay, awaited }) => {
            object.u64("delay", millis(delay)).str("for", awaited.as_str());
        }
        Step::End(ended) => ended?,
    }
    object.end();
    Ok(json)
}

fn write_plan(object: &mut ObjectWriter<'_>, plan: &Plan) {
    object.u64("call", plan.call as u64).raw("params", &plan.params);
    if let Some(after) = plan.resumes_after {
        object.u64("after", after);
    }
}

/// Whole milliseconds.
fn millis(delay: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is not that large, and not negative"
    )]
    let millis = delay as u64;
    millis
}

/// A sequence number from JavaScript.
fn sequence_number(number: f64) -> Result<u64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
    if (0.0..=9_007_199_254_740_991.0).contains(&number) && number.fract() == 0.0 {
        return Ok(number as u64);
    }
    Err(Error::new(ErrorCode::InvalidOption, "`afterSequenceNumber` must be a whole number, at least 0"))
}
