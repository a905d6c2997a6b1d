//! A turn whose server knows no turns: whether it has ended is told by the session's history, in which the turn is
//! found by its input.

#[cfg(feature = "aap")]
use super::Value;
use super::{Call, Error, ErrorCode, Moment, Object, ObjectWriter, Step, StreamEnd, TurnDriver};

impl TurnDriver {
    /// By what the turn is found.
    pub(super) fn describe(&self, params: &mut ObjectWriter<'_>) {
        params.raw("input", self.input.json().unwrap_or("[]"));
        params.bool("is_begun", self.reader.machine().id().is_some());
        if let Some(said) = self.said {
            params.u64("said", said);
        }
    }

    /// The history has the turn, with what it said.
    #[cfg(feature = "aap")]
    pub(super) fn told(&mut self, turn: &Object<'_>, moment: Moment) -> Step {
        let state = turn.object("state").unwrap_or(const { &Object::new() });
        let events = turn.array("events");
        if state.text("status") == "running" {
            return self.not_yet(moment);
        }
        // Somebody else may have said the same; or it is behind what was streamed.
        if turn.get("is_exact").and_then(Value::as_bool) == Some(true) && !self.reader.goes_on_with(events) {
            return self.not_yet(moment);
        }
        self.given_up = None;
        self.ended = state.to_json();
        self.reader.begin_list();
        self.apply(events);
        if !self.is_whole() {
            return self.not_yet(moment);
        }
        self.finish();
        self.completed()
    }

    /// The history does not have the whole of the turn. Nothing tells whether the server goes on with it.
    pub(super) fn not_yet(&mut self, moment: Moment) -> Step {
        let cause = self.cause.clone();
        let cause = cause.unwrap_or_else(|| Error::new(ErrorCode::Incomplete, "its stream is gone"));
        let parts = ["the session's history does not have the whole answer yet (", &cause.message, ")"];
        let error = Error::of(ErrorCode::Incomplete, &parts).with_status(cause.status);
        if self.is_exhausted() {
            let is_over = self.reader.machine().status().is_terminal();
            return if is_over { self.give_up(error) } else { self.end(StreamEnd::Failed(error)) };
        }
        self.retry(Call::GetTurn, cause.into(), moment)
    }

    /// Whether nothing but its stream ever tells of a turn.
    pub(super) fn has_no_record(&self) -> bool {
        self.capabilities.is_unnamed() && !self.capabilities.history
    }

    /// The stream was all there was.
    pub(super) fn lost(&mut self, cause: &Error) -> Step {
        let parts = [
            "the stream was lost before the turn ended, and the agent keeps no history: ",
            &cause.message,
            "; what came is kept",
        ];
        self.end(StreamEnd::Lost(Error::of(ErrorCode::Incomplete, &parts).with_status(cause.status)))
    }

    /// The caller cancels the turn by leaving its stream.
    pub(super) fn hung_up(&mut self) -> Step {
        if self.reader.machine().id().is_none() {
            // It may have begun; before the next turn the history is read.
            let mut turn = Object::new();
            turn.set("id", self.turn_id.clone().into());
            self.reader.found(&turn);
        }
        let mut state = Object::new();
        state.set("status", "cancelled".into());
        state.set("reason", "the stream was left; the server cannot be told".into());
        self.reader.end_missed(&state);
        self.end(StreamEnd::Eof)
    }
}
