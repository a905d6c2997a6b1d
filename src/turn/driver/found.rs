//! A turn whose server knows no turns: whether it has ended is told by the session's history, in which the turn is
//! found by its input.

#[cfg(feature = "aap")]
use super::Value;
use super::{Error, ErrorCode, Object, ObjectWriter, Step, StreamEnd, TurnDriver};

impl TurnDriver {
    /// By what the turn is found.
    pub(super) fn describe(&self, params: &mut ObjectWriter<'_>) {
        params.raw("input", self.input.json().unwrap_or("[]"));
        let is_begun = self.reader.machine().id().is_some();
        params.bool("is_begun", is_begun).bool("is_awaited", is_begun);
        if let Some(said) = self.said {
            params.u64("said", said);
        }
    }

    /// This is what the history has of the turn: all of it, part of it, or nothing.
    #[cfg(feature = "aap")]
    pub(super) fn told(&mut self, turn: &Object<'_>) -> Step {
        let state = turn.object("state").unwrap_or(const { &Object::new() });
        let events = turn.array("events");
        // Somebody else may have said the same; or it is behind what was streamed.
        let is_exact = turn.get("is_exact").and_then(Value::as_bool) == Some(true);
        if state.text("status") != "running" && (!is_exact || self.reader.goes_on_with(events)) {
            self.ended = state.to_json();
            self.reader.begin_list();
            self.apply(events);
            if self.is_whole() {
                self.finish();
                return self.completed();
            }
        }
        self.not_yet(turn.json("events").len())
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
