//! A turn whose server resumes no stream: what the stream brought is read from the server's own record of
//! it, if there is one, and the stream goes on after that.

use super::{
    Awaited, Call, Error, ErrorCode, Failure, LOOKS, MOST_GONE, MOST_PAGES, Moment, Object, Remedy, Step,
    StreamEnd, TurnDriver, Value,
};

impl TurnDriver {
    /// Goes on with a turn that has begun.
    pub(super) fn reattach(&mut self) -> Step {
        let call = self.source();
        self.issue(call)
    }

    /// Where what a turn goes on to say is to be had.
    pub(super) fn source(&mut self) -> Call {
        if self.capabilities.has_cursor() {
            if !self.reader.machine().cursor().is_unsure() {
                return Call::SubscribeTurn;
            }
        } else if self.capabilities.has_history_only() && !self.is_frameless {
            let has_cursor = !self.reader.frame_cursor().is_empty();
            return if has_cursor { Call::SubscribeTurn } else { Call::ListTurnFrames };
        }
        self.gone = MOST_GONE;
        self.looks = LOOKS;
        Call::GetTurn
    }

    /// A stream has ended that cannot simply be asked for again.
    pub(super) fn detached(&mut self, failure: Failure, moment: Moment) -> Step {
        if self.has_no_record() {
            return self.lost(&failure.error);
        }
        let is_server = failure.error.code == ErrorCode::Http;
        if failure.remedy() == Remedy::None && !(is_server && self.call == Call::SubscribeTurn) {
            return self.give_up(failure.error);
        }
        match failure.error.status {
            // What it says of the cursor: it has expired.
            Some(410) => self.reader.forget_frames(),
            Some(404 | 405 | 501) => self.is_frameless = true,
            _ if self.reader.is_divergent() => self.is_frameless = true,
            _ => {}
        }
        self.cause = Some(failure.error.clone());
        match self.source() {
            Call::GetTurn => self.issue(Call::GetTurn),
            call => self.retry(call, failure, moment),
        }
    }

    /// A page of what the stream brought, from its beginning. What was delivered is not delivered again.
    pub(super) fn replayed(&mut self, page: &Object<'_>, moment: Moment) -> Step {
        if self.page_token.is_empty() {
            self.reader.replay();
        }
        let before = self.reader.machine().cursor().last();
        for frame in page.array("items") {
            if let Err(error) = self.reader.push_frame(&frame.to_json()) {
                self.forget_pages();
                return self.detached(error.into(), moment);
            }
        }
        if self.reader.machine().status().is_terminal() {
            return self.mend();
        }
        if self.reader.machine().cursor().last() != before {
            self.attempts = 0;
        }
        if self.has_next(page) {
            return self.issue(Call::ListTurnFrames);
        }
        let cursor = page.text("cursor");
        self.reader.set_frame_cursor(cursor);
        if !cursor.is_empty() {
            return self.issue(Call::SubscribeTurn);
        }
        // There is nothing after which the stream could go on: there is nothing yet if the turn runs.
        if self.ended.is_empty() { self.wait(Call::GetTurn, Awaited::Turn) } else { self.without_frames() }
    }

    /// Whether a list has another page, which is the next to be asked for.
    pub(super) fn has_next(&mut self, page: &Object<'_>) -> bool {
        self.pages += 1;
        let token = page.text("next");
        let has_next = !token.is_empty() && token != self.page_token && self.pages < MOST_PAGES;
        if has_next {
            token.clone_into(&mut self.page_token);
        } else {
            self.forget_pages();
        }
        has_next
    }

    /// The next list begins with its first page.
    pub(super) fn forget_pages(&mut self) {
        self.page_token.clear();
        self.pages = 0;
    }

    /// Whether the server finishes no turn that nobody reads.
    pub(super) fn is_forsaken_unread(&self) -> bool {
        !self.capabilities.has_cursor() && !self.capabilities.has_history_only()
    }

    /// The server says that a turn runs which it cannot be asked for any more. Where nobody finishes it, it
    /// is given up after some looks: it may just have ended.
    pub(super) fn abandoned(&mut self) -> Step {
        self.looks = self.looks.saturating_sub(1);
        if self.looks > 0 {
            return self.wait(Call::GetTurn, Awaited::History);
        }
        let cause = self.cause.clone();
        let cause = cause.unwrap_or_else(|| Error::new(ErrorCode::Incomplete, "its stream is gone"));
        let parts = [
            "the stream was lost before the turn ended, and this server cannot resume it: ",
            &cause.message,
            "; what came is kept, and `session.history()` reads what the server stored",
        ];
        self.end(StreamEnd::Lost(Error::of(ErrorCode::Incomplete, &parts).with_status(cause.status)))
    }

    /// The session says what its turn waits for.
    pub(super) fn waiting(&mut self, session: &Object<'_>) -> Step {
        let state = Value::parse(&self.ended).unwrap_or_default().into_owned();
        if let Value::Object(mut state) = state {
            let actions = session.array("required_actions").to_vec();
            state.insert("required_actions", actions);
            self.ended = state.to_json();
        }
        self.issue(Call::ListTurnEvents)
    }
}
