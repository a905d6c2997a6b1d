//! Answers that are requests of their own, by which a paused turn goes on under its old id.
//!
//! First it is asked whether the turn waits, and since when: after the answers it is in that state for a
//! moment longer. Then what it said before it paused is counted, so that only what it says afterwards is
//! delivered.

use super::{
    Call, Error, ErrorCode, EventRef, Failure, MOST_PAUSES, Moment, Newest, Object, Remedy, Step, StreamEnd,
    TurnDriver, Value,
};

impl TurnDriver {
    /// Whether the input is answers that are sent one by one.
    pub(super) fn answers_apart(&self) -> bool {
        self.capabilities.has_answers_apart() && self.input.answer_count() > 0
    }

    /// Whether what is asked for comes before the answers, or is asked because they may have been lost.
    pub(super) fn is_preparing(&self) -> bool {
        self.answers_apart() && self.call != Call::AnswerTurn && self.reader.machine().id().is_none()
    }

    /// Begins the turn, or begins once more. What was answered is not answered again.
    pub(super) fn start_over(&mut self) -> Step {
        if !self.answers_apart() {
            return self.issue(self.start_call());
        }
        self.turn_id = match (&*self.previous_turn_id, &self.trace.newest) {
            ("" | "auto", Newest::Turn(id)) => id.clone(),
            ("" | "auto" | "none", _) => String::new(),
            (id, _) => id.to_owned(),
        };
        if self.turn_id.is_empty() {
            let problem = "which turn is answered is not known: name it by `previousTurnId`";
            return self.end(StreamEnd::NotBegun(Error::new(ErrorCode::InvalidInput, problem)));
        }
        self.issue(Call::GetTurn)
    }

    /// This is how the turn stands that is to be answered.
    pub(super) fn paused(&mut self, turn: &Object<'_>, moment: Moment) -> Step {
        let state = turn.object("state").unwrap_or(const { &Object::new() });
        let waits = state.object("termination").is_some_and(|ended| ended.text("type") == "suspended");
        if self.lost.is_some() {
            // It was asked because an answer may have been lost. A turn that waits, but not for that call, has it.
            if waits && self.was_taken(state) {
                self.lost = None;
                self.attempts = 0;
                return self.accepted();
            }
            return if waits { self.not_found(moment) } else { self.gone_on() };
        }
        if !waits {
            let error = Error::new(ErrorCode::TurnNotRunning, "the turn waits for no answer any more");
            return self.not_begun(error.into());
        }
        state.text("completed_at").clone_into(&mut self.paused_at);
        self.skimmed = 0;
        self.skim()
    }

    /// Whether a turn that waits does so for other calls than that of the answer that is on its way.
    fn was_taken(&self, state: &Object<'_>) -> bool {
        let answered = self.input.answered_calls(self.answered + 1);
        let actions = state.array("required_actions").iter().filter_map(Value::as_object);
        let mut waiting = actions.flat_map(|action| action.array("tool_calls")).filter_map(Value::as_object);
        let is_told = waiting.clone().next().is_some();
        is_told && answered.last().is_some_and(|(_, call)| waiting.all(|waiting| waiting.text("id") != call))
    }

    /// Asks what the turn has said so far.
    fn skim(&mut self) -> Step {
        self.issue(if self.is_frameless { Call::ListTurnEvents } else { Call::ListTurnFrames })
    }

    /// A page of what the turn said before it paused.
    pub(super) fn skimmed(&mut self, page: &Object<'_>) -> Step {
        if self.call == Call::ListTurnEvents {
            for event in page.array("items").iter().filter_map(Value::as_object) {
                self.reader.skim(EventRef::of(event));
            }
        } else {
            if self.page_token.is_empty() {
                self.reader.replay();
            }
            for frame in page.array("items") {
                self.skimmed = self.skimmed.max(self.reader.skim_frame(&frame.to_json()));
            }
        }
        if self.has_next(page) {
            return self.issue(self.call);
        }
        if self.call == Call::ListTurnFrames {
            let (cursor, last) = (page.text("cursor"), self.reader.machine().cursor().last());
            if cursor.is_empty() || self.skimmed < last {
                // The record does not have all that came.
                return self.without_frames();
            }
            self.reader.set_frame_cursor(cursor);
            self.reader.machine_mut().advance(self.skimmed);
        }
        self.issue(Call::AnswerTurn)
    }

    /// The server's record of what a stream brought is of no use.
    pub(super) fn without_frames(&mut self) -> Step {
        self.is_frameless = true;
        self.forget_pages();
        if self.is_preparing() { self.skim() } else { self.reattach() }
    }

    /// An answer has been taken.
    pub(super) fn accepted(&mut self) -> Step {
        self.answered += 1;
        if self.answered < self.input.answer_count() {
            return self.issue(Call::AnswerTurn);
        }
        self.gone_on()
    }

    /// The turn goes on.
    fn gone_on(&mut self) -> Step {
        // Whether those after these arrived is not known.
        self.reader.set_answered(self.input.answered_calls(self.answered));
        self.answered = self.input.answer_count();
        let mut turn = Object::new();
        turn.set("id", self.turn_id.clone().into());
        // Whoever waits for these answers is the turn of this id, as it was before.
        turn.set("previous_turn_id", self.turn_id.clone().into());
        turn.set("input", Value::parse(self.input.json().unwrap_or("[]")).unwrap_or_default().into_owned());
        self.started(&turn)
    }

    /// An answer, or what is asked before it, has failed. What the server refused it did not take; of anything
    /// else only the turn itself can tell.
    pub(super) fn unanswered(&mut self, failure: Failure, moment: Moment) -> Step {
        if self.call == Call::AnswerTurn {
            let is_off = self.reconnect.max_attempts == 0 && self.answered > 0;
            return if is_off { self.not_begun(failure) } else { self.start_failed(failure, moment) };
        }
        if failure.remedy() != Remedy::None && !self.is_exhausted() {
            return self.retry(self.call, failure, moment);
        }
        if self.lost.is_some() {
            return self.unclear(&failure.error);
        }
        self.not_begun(failure)
    }

    /// Nothing came of a start. If some of its answers were taken, the turn is neither begun nor as it was.
    pub(super) fn not_begun(&mut self, failure: Failure) -> Step {
        if self.answered == 0 {
            return self.end(StreamEnd::NotBegun(failure.error));
        }
        let parts = [
            "only some of the answers were taken: ",
            &failure.error.message,
            "; `stream()` sends the others",
        ];
        let error = Error::of(ErrorCode::Incomplete, &parts).with_status(failure.error.status);
        self.lost = Some(failure);
        self.end(StreamEnd::Failed(error))
    }

    /// Whether a turn that was answered has not gone on yet, or has with some of the calls and not with others.
    pub(super) fn is_still_paused(&mut self, state: &Object<'_>) -> bool {
        if !self.answers_apart() {
            return false;
        }
        if !self.paused_at.is_empty() && state.text("completed_at") == self.paused_at {
            return true;
        }
        // One that was answered may wait again: then it stays so.
        self.pauses = if self.reader.was_answered(state) { self.pauses + 1 } else { 0 };
        (1..=MOST_PAUSES).contains(&self.pauses)
    }
}
