//! The beginning of a turn (section 5): its input, and the answers in it.

use crate::error::sentence;
use crate::index::MAIN_THREAD;
use crate::json::{Object, Value};
use crate::protocol::EventSink;
use crate::protocol::fields::{event, object, put};
use crate::protocol::options::wire;

use super::super::terms::own_tools;
use super::super::{results, story};
use super::turn::{Start, Turn};

impl Turn {
    /// A turn that starts with these parameters.
    pub(super) fn started(params: &Object<'_>) -> Self {
        let params = wire(params);
        let given = |name: &str| params.get(name).cloned().unwrap_or_default().into_owned();
        let start = Start {
            turn_id: params.text("turn_id").to_owned(),
            previous_turn_id: given("previous_turn_id"),
            input: if params.contains("input") { given("input") } else { Vec::new().into() },
            own_tools: own_tools(&params),
        };
        let mut turn = Self::default();
        turn.start = start;
        turn
    }

    /// Reports that the turn has begun, once. Returns whether it did so now.
    pub(super) fn created(&mut self, sink: &mut dyn EventSink) -> bool {
        if std::mem::replace(&mut self.is_begun, true) {
            return false;
        }
        let Start { turn_id, previous_turn_id, input, .. } = self.start.clone();
        let created = story::created(&turn_id, self.next_id(), previous_turn_id, input.clone());
        self.give(&created, sink);
        for item in input.as_array().unwrap_or_default().iter().filter_map(Value::as_object) {
            if let Some(answer) = self.answer(item) {
                self.give(&answer, sink);
            }
        }
        true
    }

    /// The event of an answer for the call that waited for it; `None` for a user's message. No server repeats answers.
    fn answer(&self, item: &Object<'_>) -> Option<Object<'static>> {
        let call_id = item.text("tool_call_id");
        let response = |text: String, outcome: &'static str| {
            let mut response = results::said(&self.start.turn_id, None, call_id, text);
            response.set("outcome", outcome.into());
            response
        };
        match item.text("type") {
            "user.tool_response" => Some(response(item.text("content").to_owned(), "succeeded")),
            "user.tool_approval" => {
                let approval = item.object("approval").unwrap_or(const { &Object::new() });
                if approval.text("status") == "deny" {
                    let reason = approval.text("reason");
                    let colon = if reason.is_empty() { "" } else { ": " };
                    // The text that the agent receives, by the specification.
                    return Some(response(sentence(&["Tool call denied", colon, reason]), "failed"));
                }
                let mut resumed = event("tool.resumed", self.next_id(), MAIN_THREAD);
                put(&mut resumed, "tool_call_id", call_id);
                resumed.set("result", object("approved", true.into()).into());
                Some(resumed)
            }
            _ => None,
        }
    }
}
