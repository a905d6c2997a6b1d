//! A start of which it is not known whether it arrived: the turn is looked for. By what it can be told from turns of
//! the same input is read before it is sent.

use super::{
    Call, Error, ErrorCode, Failure, Finding, HAS_LOOKS, LOOKS, MOST_TURN_PAGES, Moment, Newest, Object,
    Pause, Remedy, Sent, Step, StreamEnd, TurnDriver, Value,
};

impl TurnDriver {
    /// Whether the session's newest turn is read before the start: where a lost one is looked for in the list, and
    /// neither that turn nor the place of the new one is known.
    pub(super) fn must_know_newest(&self) -> bool {
        HAS_LOOKS
            && self.trace.newest == Newest::Unknown
            && self.reconnect.max_attempts > 0
            && matches!(&*self.previous_turn_id, "" | "auto" | "none")
            && self.look_call() == Call::ListTurns
    }

    /// The session's newest turns, or, where the oldest come first, all of them.
    pub(super) fn newest_listed(&mut self, page: &Object<'_>) -> Step {
        let is_all = !self.add_turns(page);
        match Newest::of(&self.turns, is_all) {
            None if self.pages < MOST_TURN_PAGES => return self.issue(Call::ListNewestTurns),
            None | Some(Newest::Unknown) => {}
            Some(newest) => {
                self.trace.newest = newest;
                self.trace.started_at = 0;
            }
        }
        self.start_after_look()
    }

    /// Starts the turn, whatever is known of the session's others.
    pub(super) fn start_after_look(&mut self) -> Step {
        self.turns.clear();
        self.forget_pages();
        self.start_over()
    }

    /// Takes a page of the session's turns. Returns whether there is another one, which is the next to be asked for.
    fn add_turns(&mut self, page: &Object<'_>) -> bool {
        self.turns.extend(page.array("items").iter().map(|turn| turn.clone().into_owned()));
        self.pages += 1;
        let token = page.text("next");
        let has_next = !token.is_empty() && token != self.page_token;
        token.clone_into(&mut self.page_token);
        has_next
    }

    /// A start has failed, and the turn has no id yet.
    pub(super) fn start_failed(&mut self, failure: Failure, moment: Moment) -> Step {
        if self.reconnect.max_attempts == 0 || failure.error.code == ErrorCode::FrameTooLarge {
            return self.end(self.end_of(failure.error));
        }
        if failure.may_have_begun() {
            if self.has_no_record() {
                return self.unclear(&failure.error);
            }
            let remedy = failure.remedy();
            // A history that does not have it proves nothing: some servers store a turn when it has ended.
            let is_free = !self.capabilities.is_unnamed() || failure.retry_after > 0;
            self.restarts = remedy == Remedy::Later && is_free && !self.is_exhausted();
            self.looks = if failure.may_yet_begin() && remedy != Remedy::None { LOOKS } else { 1 };
            self.lost = Some(failure.clone());
            // The server may ask for a longer wait than anybody waits.
            let look = self.look_call();
            if remedy == Remedy::None || self.is_exhausted() {
                return self.issue(look);
            }
            return self.retry(look, failure, moment);
        }
        if failure.remedy() == Remedy::Later && !self.is_exhausted() {
            return self.retry(self.call, failure, moment);
        }
        self.not_begun(failure)
    }

    /// The session's turns say whether the turn began.
    pub(super) fn looked(&mut self, page: &Object<'_>, moment: Moment) -> Step {
        if self.add_turns(page) && !self.trace.is_past(&self.turns) {
            if self.pages == MOST_TURN_PAGES {
                return self.unclear(&Error::new(ErrorCode::Incomplete, "the session has too many turns"));
            }
            return self.issue(Call::ListTurns);
        }
        self.forget_pages();
        let turns = std::mem::take(&mut self.turns);
        let input = Value::parse(self.input.json().unwrap_or("[]")).unwrap_or_default();
        let input = input.as_array().unwrap_or_default();
        let sent = Sent { input, previous_turn_id: &self.previous_turn_id };
        match self.trace.find(&turns, (!self.capabilities.has_client_ids()).then_some(&sent)) {
            Finding::Begun(turn) => {
                self.attempts = 0;
                self.started(turn)
            }
            Finding::Unclear => {
                let problem = "the session has a turn of the same input that may be another one, or another branch of turns";
                self.unclear(&Error::new(ErrorCode::Incomplete, problem))
            }
            Finding::Absent => self.not_found(moment),
        }
    }

    /// Nothing says whether the turn began.
    pub(super) fn unclear(&mut self, error: &Error) -> Step {
        let hope = if self.has_no_record() {
            "; the agent keeps no history that could tell"
        } else {
            "; `stream()` looks for it again"
        };
        let parts = ["whether the turn began is not known: ", &error.message, hope];
        let error = Error::of(ErrorCode::Incomplete, &parts).with_status(error.status);
        self.end(StreamEnd::Failed(error))
    }

    /// The server has no such turn.
    pub(super) fn not_found(&mut self, moment: Moment) -> Step {
        let Some(failure) = self.lost.clone() else {
            return self.end(StreamEnd::Refused);
        };
        let cursor = self.reader.machine().cursor();
        if !self.answers_apart() && (cursor.last() > 0 || cursor.is_unsure()) {
            return self.unclear(&failure.error);
        }
        self.looks = self.looks.saturating_sub(1);
        if self.looks > 0 && self.reconnect.max_attempts > 0 {
            // It may be on its way. These waits have a floor: looking thrice at once would be looking once.
            self.call = self.look_call();
            self.is_waiting = true;
            self.attempts += 1;
            let longest = self.reconnect.delay(2 + LOOKS - self.looks, 1.0);
            let delay = longest * (0.5 + 0.5 * moment.random);
            return Step::Retry(Pause { delay, least: delay, attempt: self.attempts, cause: failure.error });
        }
        // A stream that ended without a word has begun nothing.
        let was_silent = failure.error.code == ErrorCode::Incomplete;
        if self.capabilities.is_unnamed() && !self.restarts && !was_silent && failure.may_have_begun() {
            return self.unclear(&failure.error);
        }
        self.lost = None;
        if self.restarts {
            return self.start_over();
        }
        self.not_begun(failure)
    }

    /// The turn has begun: this is what the server keeps of it.
    pub(super) fn started(&mut self, turn: &Object<'_>) -> Step {
        self.lost = None;
        self.reader.found(turn);
        if self.wants_stream {
            return self.reattach();
        }
        self.take_state(turn.object("state").unwrap_or(const { &Object::new() }));
        Step::End(Ok(()))
    }

    /// The question whether the turn began.
    pub(super) fn look_call(&self) -> Call {
        let is_named =
            self.capabilities.has_client_ids() && (self.capabilities.turn_ids || self.answers_apart());
        let is_named = is_named && !self.turn_id.is_empty();
        if is_named || !HAS_LOOKS { Call::GetTurn } else { Call::ListTurns }
    }
}
