//! The end of a turn (sections 4 and 9): the first `turn_stop`. What follows it does not belong to the turn.

use crate::error::sentence;
use crate::index::MAIN_THREAD;
use crate::json::Object;
use crate::protocol::EventSink;
use crate::protocol::fields::{event, put, with_text};

use super::super::story::done;
use super::turn::Turn;

impl Turn {
    /// The turn has ended, or waits for the client.
    pub(super) fn stop(&mut self, reason: &str, sink: &mut dyn EventSink) {
        self.close(finish_reason(reason), sink);
        let mut state = match reason {
            "tool_use" => {
                let questions = self.ask(sink);
                let output = if questions.is_empty() { self.output(reason) } else { None };
                done(output, questions)
            }
            "end_turn" | "max_tokens" | "refusal" => done(self.output(reason), Vec::new()),
            "error" => failed("the agent reported an error; the protocol carries no text of it".to_owned()),
            newer => failed(sentence(&["the turn ended for the unknown reason `", newer, "`"])),
        };
        state.set("termination", with_text("type", reason).into());
        let mut stop = event("turn.done", self.next_id(), "");
        stop.set("state", state.into());
        self.give(&stop, sink);
        self.is_over = true;
        self.message = None;
        self.calls = Vec::new();
    }

    /// The answer: the text of the last message.
    fn output(&mut self, reason: &str) -> Option<Object<'static>> {
        let message = self.message.take()?;
        let mut output = event("model.message", message.id, MAIN_THREAD);
        output.set("content", message.content.into());
        let reason = finish_reason(reason);
        put(
            &mut output,
            "finish_reason",
            if message.calls > 0 && reason == "stop" { "tool_calls" } else { reason },
        );
        Some(output)
    }
}

fn finish_reason(stop_reason: &str) -> &'static str {
    match stop_reason {
        "end_turn" | "tool_use" => "stop",
        "max_tokens" => "length",
        "refusal" => "content_filter",
        _ => "error",
    }
}

fn failed(message: String) -> Object<'static> {
    let mut state = with_text("status", "error");
    state.set("message", message.into());
    state
}
