//! Answers that are requests of their own, by which a paused turn goes on under its old id.
//!
//! First it is asked whether the turn waits, and since when: after the answers it is in that state for a
//! moment longer.

use super::*;

impl TurnDriver {
    /// Whether the input is answers that are sent one by one.
    pub(super) fn answers_apart(&self) -> bool {
        self.capabilities.has_answers_apart() && self.input.answer_count() > 0
    }

    /// Begins the turn, or begins once more.
    pub(super) fn start_over(&mut self) -> Step {
        if !self.answers_apart() {
            return self.issue(self.start_call());
        }
        self.answered = 0;
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
    pub(super) fn paused(&mut self, turn: &Object<'_>) -> Step {
        let state = turn.object("state").unwrap_or(const { &Object::new() });
        let waits = state.object("termination").is_some_and(|ended| ended.text("type") == "suspended");
        if let Some(lost) = self.lost.take() {
            // It was asked because an answer may have been lost.
            return if waits { self.end(StreamEnd::NotBegun(lost.error)) } else { self.gone_on() };
        }
        if !waits {
            let error = Error::new(ErrorCode::TurnNotRunning, "the turn waits for no answer any more");
            return self.end(StreamEnd::NotBegun(error));
        }
        state.text("completed_at").clone_into(&mut self.paused_at);
        self.issue(Call::AnswerTurn)
    }

    /// An answer has been taken.
    pub(super) fn accepted(&mut self) -> Step {
        self.answered += 1;
        if self.answered < self.input.answer_count() {
            return self.issue(Call::AnswerTurn);
        }
        self.gone_on()
    }

    fn gone_on(&mut self) -> Step {
        self.answered = self.input.answer_count();
        let mut turn = Object::new();
        turn.set("id", self.turn_id.clone().into());
        // Whoever waits for these answers is the turn of this id, as it was before.
        turn.set("previous_turn_id", self.turn_id.clone().into());
        turn.set("input", Value::parse(self.input.json().unwrap_or("[]")).unwrap_or_default().into_owned());
        self.started(&turn)
    }

    /// An answer, or the question before it, has failed. What the server refused it did not take; of anything
    /// else only the turn itself can tell.
    pub(super) fn unanswered(&mut self, failure: Failure, moment: Moment) -> Step {
        let is_question = self.call == Call::GetTurn;
        if is_question && failure.remedy() != Remedy::None && !self.is_exhausted() {
            return self.retry(Call::GetTurn, failure, moment);
        }
        if is_question || !failure.may_have_begun() {
            return self.end(StreamEnd::NotBegun(failure.error));
        }
        let parts = ["whether the answer arrived is not known: ", &failure.error.message];
        let error = Error::of(ErrorCode::Incomplete, &parts).with_status(failure.error.status);
        self.lost = Some(failure);
        self.end(StreamEnd::Failed(error))
    }

    /// Whether a turn that was answered has not gone on yet.
    pub(super) fn is_still_paused(&self, state: &Object<'_>) -> bool {
        self.answers_apart() && !self.paused_at.is_empty() && state.text("completed_at") == self.paused_at
    }
}
