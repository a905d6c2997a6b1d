//! The contents of a turn's requests.

use crate::json::ObjectWriter;
use crate::turn::conventions::Conventions;
use crate::turn::{Newest, StartTrace, TurnInput, TurnReader};

/// A turn, as requests name it.
#[derive(Debug, Default)]
pub(super) struct TurnRequest {
    pub(super) session_id: String,
    pub(super) input: TurnInput,
    /// The turn that this one follows; empty if the server decides.
    pub(super) previous_turn_id: String,
    /// The agent, for protocols that name it in every turn.
    pub(super) agent_name: String,
    /// The id that the client made for the turn. If the input consists of separate answers: the id of the answered
    /// turn.
    pub(super) turn_id: String,
    /// The session's fields of every request (a JSON object); empty if there are none.
    pub(super) terms: String,
    /// The fields of the start besides the input (a JSON object); empty if there are none.
    pub(super) options: String,
    /// How many messages the user had sent in the session before this turn, if known.
    pub(super) user_message_count: Option<u64>,
    pub(super) trace: StartTrace,
}

impl TurnRequest {
    /// Opens the parameters of a request.
    pub(super) fn params<'j>(&self, conventions: Conventions, json: &'j mut String) -> ObjectWriter<'j> {
        let mut params = ObjectWriter::new(json);
        params.str("session_id", &self.session_id);
        if conventions.client_ids.is_some() && !self.terms.is_empty() {
            params.raw("terms", &self.terms);
        }
        params
    }

    /// Writes the parameters of the start.
    pub(super) fn write_start(&self, conventions: Conventions, params: &mut ObjectWriter<'_>) {
        if let Some(input) = self.input.json() {
            params.raw("input", input);
        }
        if conventions.sockets().is_some() && !self.options.is_empty() {
            params.raw("turn_options", &self.options);
        }
        let mut previous = &self.previous_turn_id;
        if conventions.client_ids.is_some() {
            params.str("agent_name", &self.agent_name).str("turn_id", &self.turn_id);
            // A client that makes ids also names the previous turn.
            if let ("" | "auto", Newest::Turn(id)) = (&**previous, &self.trace.newest) {
                previous = id;
            }
        }
        if !previous.is_empty() {
            params.str("previous_turn_id", previous);
        }
    }

    /// Writes the turn's name.
    pub(super) fn write_turn(&self, reader: &TurnReader, params: &mut ObjectWriter<'_>) {
        let id = reader.machine().id();
        params.str("turn_id", id.unwrap_or(&self.turn_id));
        if reader.conventions().transcripts().is_some() {
            params.raw("input", self.input.json().unwrap_or("[]"));
            params.bool("is_begun", id.is_some()).bool("is_awaited", id.is_some());
            if let Some(count) = self.user_message_count {
                params.u64("said", count);
            }
        }
    }
}
