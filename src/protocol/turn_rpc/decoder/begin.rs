//! The beginning of a turn, and its continuation on another connection (sections 7 and 8).

use crate::error::sentence;
use crate::json::{Object, Value};
use crate::protocol::EventSink;
use crate::protocol::fields::{event, put, with_text};
use crate::protocol::options::wire;

use super::super::fields::number;
use super::super::input::{input_of, words};
use super::Turn;

/// How far a turn has come.
#[derive(Debug)]
pub(super) enum Life {
    /// Its beginning is not reported yet.
    Starting(Start),
    /// It runs.
    Running,
    /// Its end is reported.
    Over,
}

impl Default for Life {
    fn default() -> Self {
        Self::Starting(Start::default())
    }
}

/// What the report of a turn's beginning says, as far as it is known.
#[derive(Debug, Default)]
pub(super) struct Start {
    previous_turn_id: Value<'static>,
    input: Option<Value<'static>>,
}

impl Turn {
    /// A turn that starts with these parameters.
    pub(super) fn started(params: &Object<'_>) -> Self {
        let params = wire(params);
        let previous = params.text("previous_turn_id");
        let input = params.get("input").cloned().unwrap_or_else(|| Vec::new().into());
        Self {
            thread_id: params.text("session_id").to_owned(),
            turn_id: params.text("turn_id").to_owned(),
            life: Life::Starting(Start {
                previous_turn_id: match previous {
                    "" | "auto" | "none" => Value::Null,
                    id => id.to_owned().into(),
                },
                input: Some(input.into_owned()),
            }),
            ..Self::default()
        }
    }

    /// The turn is read again on another connection.
    pub(super) fn resumed(&mut self, params: &Object<'_>) {
        let params = wire(params);
        params.text("session_id").clone_into(&mut self.thread_id);
        params.text("turn_id").clone_into(&mut self.turn_id);
        // A new reader of a turn may have its first events from elsewhere.
        let after = number(&params, "after_sequence_number");
        self.emitted = after.unwrap_or(self.emitted);
        // The timeline is read again.
        self.timeline.resume();
        self.lookup.reconnected();
        self.requests.mark_stale();
        self.agents.connection_lost();
    }

    /// Reports that the turn has begun, once, when its id is known.
    pub(super) fn created(&mut self, sink: &mut dyn EventSink) {
        if self.turn_id.is_empty() {
            return;
        }
        let Life::Starting(start) = &mut self.life else { return };
        let Start { previous_turn_id, input } = std::mem::take(start);
        self.life = Life::Running;
        let mut created = event("turn.created", sentence(&[&*self.turn_id, ":created"]), "");
        put(&mut created, "turn_id", &self.turn_id);
        created.set("previous_turn_id", previous_turn_id);
        created.set("input", input.unwrap_or_else(|| Vec::new().into()));
        created.set("state", with_text("status", "running").into());
        self.emit(&created, sink);
    }

    /// The server's record of the input, for a turn that this client did not start.
    pub(super) fn find_input<'v>(&mut self, find: impl FnOnce() -> Option<Value<'v>>) {
        if let Life::Starting(Start { input: input @ None, .. }) = &mut self.life {
            *input = find().map(Value::into_owned);
        }
    }

    /// Takes a user message. The first one is the turn's input; later ones were sent while the turn ran.
    pub(super) fn user_message(&mut self, item: &Object<'_>, sink: &mut dyn EventSink) {
        let id = item.text("id");
        if self.items.input_id.is_empty() {
            id.clone_into(&mut self.items.input_id);
            self.find_input(|| Some(input_of(item)));
            self.created(sink);
            let mut chips = Vec::new();
            for attachment in item.array("attachments") {
                if attachment.get("capability").is_some() {
                    chips.push(attachment.clone());
                }
            }
            if !chips.is_empty() {
                self.notice(0, ("info", "capability.attached", ""), id, Some(chips.into()), sink);
            }
        } else if self.items.input_id != id && self.facts.is_new(id) {
            // Notices are listed apart from messages, so this one names the message before it.
            let mut details = Object::new();
            details.set("input", input_of(item));
            details.set("after", self.items.last_message().map_or(Value::Null, |id| id.to_owned().into()));
            self.notice(0, ("info", "user_message", &words(item)), id, Some(details.into()), sink);
        }
    }
}
