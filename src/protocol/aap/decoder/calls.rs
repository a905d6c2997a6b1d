//! Tool calls and their results (section 5).

use crate::json::{Object, Value};
use crate::protocol::EventSink;
use crate::protocol::fields::{Problem, missing};

use super::super::blocks::ToolUse;
use super::super::ids::Maker;
use super::super::{results, waiting};
use super::turn::{Start, Turn};

/// The most calls in one message. Code that merges calls allocates up to a call's index.
pub(super) const MAX_CALLS: u32 = 1024;

/// The most calls remembered over all messages. Only calls with a result are forgotten.
pub(super) const REMEMBERED_CALLS: usize = 4096;

/// A tool call of the turn.
#[derive(Debug)]
pub(super) struct Call {
    /// Without its arguments, once it has a result.
    tool_use: ToolUse,
    /// The number of the message that makes it.
    maker: u64,
    is_answered: bool,
}

impl Turn {
    /// The agent calls a tool.
    pub(super) fn call(&mut self, call: ToolUse, sink: &mut dyn EventSink) -> Result<(), Problem> {
        let open = self.message.as_ref().filter(|message| !message.is_closed);
        let index = open.map_or(0, |message| message.calls);
        let is_made = |known: &Call| known.maker + 1 == self.messages && known.tool_use.id == call.id;
        if open.is_some() && self.calls.iter().any(is_made) {
            return Err("the message has made this call already".to_owned());
        }
        if index == MAX_CALLS {
            return Err("the message has too many calls".to_owned());
        }
        if self.calls.len() == REMEMBERED_CALLS {
            let answered = self.calls.iter().position(|call| call.is_answered);
            self.calls.remove(answered.ok_or_else(|| "too many calls have no result".to_owned())?);
        }
        self.open(sink);
        if let Some(message) = &mut self.message {
            message.calls += 1;
        }
        let mut piece = call.to_call();
        piece.set("index", u64::from(index).into());
        let mut delta = self.message_delta();
        delta.set("tool_calls", vec![piece.into()].into());
        self.give(&delta, sink);
        self.calls.push(Call { tool_use: call, maker: self.messages - 1, is_answered: false });
        Ok(())
    }

    /// A tool's result, which closes the open message. An unreadable result also answers its call.
    pub(super) fn result<'v, 'a: 'v>(
        &mut self,
        call_id: &str,
        content: Result<&'v Value<'a>, Problem>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        if call_id.is_empty() {
            return Err(missing("toolCallId"));
        }
        let maker = self.answered(call_id);
        // An unreadable result closes the message too: what follows is another message.
        self.close("stop", sink);
        let content = content?;
        results::check(content)?;
        let response = results::response(&self.start.turn_id, maker, call_id, content);
        self.give(&response, sink);
        Ok(())
    }

    /// The newest call with this id has its result. Returns the message that makes the call.
    fn answered(&mut self, call_id: &str) -> Maker {
        let call = self.calls.iter_mut().rev().find(|known| known.tool_use.id == call_id)?;
        call.is_answered = true;
        call.tool_use.arguments = String::new();
        Some(call.maker)
    }

    /// Reports the calls that wait for the client. Returns the events.
    pub(super) fn ask(&mut self, sink: &mut dyn EventSink) -> Vec<Object<'static>> {
        let mut questions = Vec::new();
        for call in self.calls.iter().filter(|call| !call.is_answered) {
            let Start { turn_id, own_tools, .. } = &self.start;
            questions.push(waiting::question(turn_id, Some(call.maker), &call.tool_use, own_tools));
        }
        for question in &questions {
            self.give(question, sink);
        }
        questions
    }
}
