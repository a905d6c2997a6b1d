//! Steps → requests.

use super::{
    Call, FIRST_TURNS, FRAMES, HAS_OTHERS, HAS_UNCURSORED, Newest, ObjectWriter, PAGE, Plan, SESSION_PAGE,
    Step, StreamEnd, TurnDriver,
};

impl TurnDriver {
    pub(super) fn start_call(&self) -> Call {
        if self.wants_stream { Call::CreateTurnStream } else { Call::CreateTurn }
    }

    pub(super) fn issue(&mut self, call: Call) -> Step {
        self.call = call;
        self.is_waiting = false;
        self.opened_at = None;
        let mut plan = Plan { call, params: self.params(call), resumes_after: None };
        if !call.streams() {
            return Step::Ask(plan);
        }
        if HAS_OTHERS && call == Call::CreateTurnStream {
            self.reader.begin(&plan.params);
        }
        #[cfg(feature = "turn-rpc")]
        if call == Call::SubscribeTurn {
            self.reader.resume(&plan.params);
        }
        let after = self.reader.machine().cursor().last();
        self.position = after;
        // Before the turn has an id it is looked for once more, whatever the number of tries.
        let is_start = call == Call::CreateTurnStream && self.reconnect.max_attempts > 0;
        self.reader.connected(is_start || !self.is_exhausted());
        plan.resumes_after = (call == Call::SubscribeTurn && self.was_interrupted).then_some(after);
        Step::Open(plan)
    }

    /// A call's parameters.
    pub(super) fn params(&self, call: Call) -> String {
        let mut json = String::new();
        let mut params = ObjectWriter::new(&mut json);
        params.str("session_id", &self.session_id);
        if HAS_OTHERS && !self.terms.is_empty() {
            params.raw("terms", &self.terms);
        }
        if matches!(call, Call::CreateTurn | Call::CreateTurnStream) {
            if let Some(input) = self.input.json() {
                params.raw("input", input);
            }
            if cfg!(feature = "turn-rpc") && !self.options.is_empty() {
                params.raw("turn_options", &self.options);
            }
            if self.capabilities.has_client_ids() {
                params.str("agent_name", &self.agent_name).str("turn_id", &self.turn_id);
            }
            let previous = match (&*self.previous_turn_id, &self.trace.newest) {
                // Where the client makes ids, it says as well what follows what.
                ("" | "auto", Newest::Turn(id)) if self.capabilities.has_client_ids() => id,
                _ => &self.previous_turn_id,
            };
            if !previous.is_empty() {
                params.str("previous_turn_id", previous);
            }
        } else if HAS_UNCURSORED && call == Call::GetSession {
            // The session's id is all.
        } else if call == Call::ListSessionEvents {
            params.u64("limit", SESSION_PAGE);
            if self.page_token.is_empty() {
                params.str("last_turn_id", self.reader.machine().id().unwrap_or_default());
            } else {
                params.str("page_token", &self.page_token);
            }
        } else if HAS_OTHERS && call == Call::AnswerTurn {
            params.str("turn_id", &self.turn_id).raw("input", &self.input.answer(self.answered));
        } else if matches!(call, Call::ListTurns | Call::ListNewestTurns) {
            let is_first = call == Call::ListNewestTurns && self.page_token.is_empty();
            params.u64("limit", if is_first { FIRST_TURNS } else { PAGE });
            if !self.page_token.is_empty() {
                params.str("page_token", &self.page_token);
            }
        } else {
            let machine = self.reader.machine();
            params.str("turn_id", machine.id().unwrap_or(&self.turn_id));
            if self.capabilities.is_unnamed() {
                self.describe(&mut params);
            }
            let cursor = self.reader.frame_cursor();
            if HAS_UNCURSORED && call == Call::ListTurnFrames {
                params.u64("limit", FRAMES);
                if !self.page_token.is_empty() {
                    params.str("cursor", &self.page_token);
                }
            } else if call == Call::SubscribeTurn && !cursor.is_empty() {
                params.str("cursor", cursor);
            }
            let after = machine.cursor().last();
            if call == Call::SubscribeTurn && after > 0 && self.capabilities.has_cursor() {
                params.u64("after_sequence_number", after);
            }
            if call == Call::ListTurnEvents {
                params.u64("limit", PAGE).str("order", "asc");
                if !self.page_token.is_empty() {
                    params.str("page_token", &self.page_token);
                }
            }
        }
        params.end();
        json
    }

    pub(super) fn end(&mut self, end: StreamEnd) -> Step {
        Step::End(self.reader.machine_mut().stream_ended(end))
    }
}
