//! What is done about a stream that ended, and about requests that failed.

use super::{
    Call, EMPTIES, Error, ErrorCode, Failure, HAS_LOOKS, LONG_CONNECTION, LONGEST_RETRY, MOST_GONE, Moment,
    Pause, Remedy, Step, StreamEnd, TurnDriver, digits,
};

impl TurnDriver {
    /// A stream has ended.
    pub(super) fn interrupted(&mut self, failure: Option<Failure>, moment: Moment) -> Step {
        self.reader.ended();
        let machine = self.reader.machine();
        if machine.status().is_terminal() {
            return self.mend();
        }
        let is_started = machine.id().is_some();
        let is_new = machine.cursor().last() != self.position || machine.cursor().is_unsure();
        let was_long = self.opened_at.is_some_and(|opened_at| moment.now - opened_at >= LONG_CONNECTION);
        if is_new {
            self.attempts = 0;
            self.waits = 0;
            // A stream that brings something is better than the list.
            self.ended.clear();
        } else if was_long {
            self.attempts = self.attempts.min(1);
        }
        // What could not be read explains why the reading was stopped.
        let failure = self.reader.take_failure().map(Failure::from).or(failure);
        let was_closed = failure.is_none();
        if self.reconnect.max_attempts == 0 {
            return self.end(failure.map_or(StreamEnd::Eof, |failure| self.end_of(failure.error)));
        }
        let failure = failure.unwrap_or_else(|| {
            let before = if is_started { "turn.done" } else { "turn.created" };
            let parts = ["the stream ended before `", before, "`"];
            Error::of(ErrorCode::Incomplete, &parts).into()
        });
        if !is_started {
            return self.start_failed(failure, moment);
        }
        self.was_interrupted = true;
        if !self.capabilities.has_cursor() {
            return self.detached(failure, moment);
        }
        // A stream that is done with brings `turn.done`. One that ended by itself, or was long silent, and
        // brought nothing may have nothing to bring: the turn itself says so.
        let is_empty = (was_closed || was_long) && !is_new && self.attempts > 0;
        self.empties = if is_empty { self.empties + 1 } else { 0 };
        if self.empties >= EMPTIES && !self.ended.is_empty() {
            return self.issue(Call::ListTurnEvents);
        }
        let remedy = failure.remedy();
        self.gone = match remedy {
            Remedy::Read => self.gone + 1,
            // Nothing tells a repeat from an event without a number: the turn's list of events does.
            _ if self.reader.machine().cursor().is_unsure() => MOST_GONE,
            _ => 0,
        };
        match remedy {
            Remedy::None => self.give_up(failure.error),
            // The server is there, and says what is to be done.
            Remedy::Read => self.issue(Call::GetTurn),
            _ if self.gone > 0 || (is_empty && self.ended.is_empty()) => {
                self.retry(Call::GetTurn, failure, moment)
            }
            _ => self.retry(Call::SubscribeTurn, failure, moment),
        }
    }

    /// A request for JSON has failed.
    pub(super) fn refused(&mut self, failure: Failure, moment: Moment) -> Step {
        let call = self.call;
        if call == Call::CreateTurn {
            return self.start_failed(failure, moment);
        }
        if HAS_LOOKS && call == Call::ListNewestTurns {
            return self.start_after_look();
        }
        let status = failure.error.status.unwrap_or_default();
        if self.capabilities.has_history_only()
            && call == Call::ListTurnFrames
            && matches!(status, 404 | 405 | 410 | 501)
        {
            return self.without_frames();
        }
        if self.capabilities.has_client_ids() && call == Call::GetTurn && self.lost.is_some() && status == 404
        {
            return self.not_found(moment);
        }
        if self.answers_apart() && self.reader.machine().id().is_none() {
            return self.unanswered(failure, moment);
        }
        if let Some(error) = self.given_up.take() {
            return self.end(self.end_of(error));
        }
        if matches!(failure.remedy(), Remedy::Retry | Remedy::Later) {
            return self.retry(call, failure, moment);
        }
        self.give_up(failure.error)
    }

    /// Whether there were too many tries.
    pub(super) fn is_exhausted(&self) -> bool {
        self.attempts >= self.reconnect.max_attempts
    }

    /// Waits before the next try, unless there were too many.
    pub(super) fn retry(&mut self, call: Call, failure: Failure, moment: Moment) -> Step {
        let Failure { error, retry_after, is_offline, .. } = failure;
        if self.is_exhausted() {
            let parts = ["it failed ", &digits(self.attempts), " times in a row, at last: ", &error.message];
            return self.give_up(Error::of(ErrorCode::Incomplete, &parts).with_status(error.status));
        }
        self.call = call;
        self.is_waiting = true;
        self.attempts += u32::from(!is_offline);
        let attempt = self.attempts.max(1);
        let asked = u32::try_from(self.reader.retry()).unwrap_or(u32::MAX).min(LONGEST_RETRY);
        let least = f64::from(retry_after.max(asked));
        let backoff = if is_offline {
            // Whoever waits is woken when there is a network again.
            f64::from(self.reconnect.max_delay) * moment.random
        } else {
            self.reconnect.delay(attempt, moment.random)
        };
        Step::Retry(Pause { delay: least + backoff, least, attempt, cause: error })
    }

    /// Nothing more can be done about what is being done.
    pub(super) fn give_up(&mut self, error: Error) -> Step {
        let is_over = self.reader.machine().status().is_terminal();
        match self.call {
            call if is_over || call == Call::ListTurnEvents => {
                self.finish();
                self.reader.set_unread(true);
                // It has ended, so that this gives no error of its own.
                self.end(StreamEnd::Eof);
                let parts = [
                    "the turn has ended, and the events that were missed could not be read: ",
                    &error.message,
                    "; `listEvents()` may give them later",
                ];
                Step::End(Err(Error::of(ErrorCode::Incomplete, &parts).with_status(error.status)))
            }
            Call::ListTurns => self.unclear(&error),
            Call::GetTurn if self.lost.is_some() => self.unclear(&error),
            // The last thing that can be tried: if the turn has ended, its events are listed.
            Call::SubscribeTurn | Call::ListTurnFrames if self.is_exhausted() => {
                self.forget_pages();
                self.given_up = Some(error);
                self.issue(Call::GetTurn)
            }
            _ => self.end(self.end_of(error)),
        }
    }

    /// What a failure that is not recovered from means for the turn.
    pub(super) fn end_of(&self, error: Error) -> StreamEnd {
        match error.code {
            // To go on after too large an event would be to meet it again.
            ErrorCode::FrameTooLarge => StreamEnd::Lost(error),
            ErrorCode::Http | ErrorCode::Rpc | ErrorCode::UnexpectedResponse if self.was_interrupted => {
                StreamEnd::Lost(error)
            }
            ErrorCode::Http | ErrorCode::Rpc | ErrorCode::UnexpectedResponse => StreamEnd::Rejected(error),
            _ => StreamEnd::Failed(error),
        }
    }
}
