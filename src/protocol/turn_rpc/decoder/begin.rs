//! The beginning of a turn, and its continuation on another connection (sections 7 and 8).

use crate::error::sentence;
use crate::json::{Object, Value};
use crate::protocol::EventSink;
use crate::protocol::fields::{event, put, with_text};
use crate::protocol::options::wire;

use super::super::fields::number;
use super::super::input::{input_of, words};
use super::Turn;
use super::items::{Item, Kind};

/// The parameters of a turn's start.
#[derive(Debug, Default)]
pub(super) struct Start {
    pub(super) previous_turn_id: Value<'static>,
    /// The input, until it is reported.
    pub(super) input: Option<Value<'static>>,
    /// The id of the item that is the input.
    user_message: String,
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
            start: Start {
                previous_turn_id: match previous {
                    "" | "auto" | "none" => Value::Null,
                    id => id.to_owned().into(),
                },
                input: Some(input.into_owned()),
                user_message: String::new(),
            },
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
        self.ending = None;
        self.failure = None;
        self.lookup.reconnected();
        self.requests.mark_stale();
        self.agents.connection_lost();
    }

    /// Reports that the turn has begun, once, when its id is known.
    pub(super) fn created(&mut self, sink: &mut dyn EventSink) {
        if self.turn_id.is_empty() || std::mem::replace(&mut self.is_begun, true) {
            return;
        }
        let mut created = event("turn.created", sentence(&[&*self.turn_id, ":created"]), "");
        put(&mut created, "turn_id", &self.turn_id);
        created.set("previous_turn_id", self.start.previous_turn_id.clone());
        created.set("input", self.start.input.take().unwrap_or_else(|| Vec::new().into()));
        created.set("state", with_text("status", "running").into());
        self.emit(&created, sink);
    }

    /// Takes a user message. The first one is the turn's input; later ones were sent while the turn ran.
    pub(super) fn user_message(&mut self, item: &Object<'_>, sink: &mut dyn EventSink) {
        let id = item.text("id");
        if self.start.user_message.is_empty() {
            id.clone_into(&mut self.start.user_message);
            if !self.is_begun && self.start.input.is_none() {
                self.start.input = Some(input_of(item).into_owned());
            }
            self.created(sink);
            let mut chips = Vec::new();
            for attachment in item.array("attachments") {
                if attachment.get("capability").is_some() {
                    chips.push(attachment.clone());
                }
            }
            if !chips.is_empty() {
                self.notice(("info", "capability.attached", ""), id, Some(chips.into()), sink);
            }
        } else if self.start.user_message != id && self.facts.is_new(id) {
            // Notices are listed apart from messages, so this one names the message before it.
            let mut details = Object::new();
            details.set("input", input_of(item));
            details.set("after", self.last_message().map_or(Value::Null, |id| id.to_owned().into()));
            self.notice(("info", "user_message", &words(item)), id, Some(details.into()), sink);
        }
    }

    /// The id of the last message that began.
    fn last_message(&self) -> Option<&str> {
        let is_message = |item: &Item| item.thread == 0 && item.is_announced && item.kind != Kind::Call;
        self.items.iter().rev().find(|item| is_message(item)).map(|item| &*item.id)
    }
}
