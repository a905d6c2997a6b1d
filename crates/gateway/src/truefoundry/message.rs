//! A model message while it is streamed: every change goes out as a delta and is kept here, so
//! that the complete message is the sum of its deltas.

use super::wire::{
    Breakdown, Delta, Function, FunctionDelta, ModelMessage, ToolCall, ToolCallDelta, ToolInfo, Usage,
    function_name,
};
use crate::agents::{Tool, tokens};

/// Tokens of the parts that are the same in every request to the model.
const HARNESS_TOKENS: usize = 412;
const INSTRUCTION_TOKENS: usize = 180;
const TOOL_TOKENS: usize = 264;

/// The message, and whether its first delta is still to come.
#[derive(Debug)]
pub(super) struct OpenMessage {
    message: ModelMessage,
    fresh: bool,
}

impl OpenMessage {
    pub(super) fn new(id: String, thread_id: String, created_at: String) -> Self {
        let message = ModelMessage {
            kind: "model.message",
            thread_id,
            created_at,
            id,
            content: None,
            reasoning_content: None,
            tool_calls: None,
            finish_reason: None,
            usage: None,
        };
        Self { message, fresh: true }
    }

    pub(super) fn id(&self) -> &str {
        &self.message.id
    }

    /// The event that opens the message on the stream: nothing in it yet.
    pub(super) fn base(&self) -> &ModelMessage {
        &self.message
    }

    pub(super) fn text(&mut self, text: &str, send: impl FnOnce(&Delta<'_>)) {
        send(&Delta { content: Some(text), ..self.delta() });
        self.fresh = false;
        self.message.content.get_or_insert_default().push_str(text);
    }

    pub(super) fn reasoning(&mut self, text: &str, send: impl FnOnce(&Delta<'_>)) {
        send(&Delta { reasoning_content: Some(text), ..self.delta() });
        self.fresh = false;
        let reasoning = &mut self.message.reasoning_content;
        reasoning.get_or_insert_default().push_str(text);
    }

    /// The first delta of a call: everything but its arguments.
    pub(super) fn call(&mut self, index: usize, id: String, tool: Tool, send: impl FnOnce(&Delta<'_>)) {
        let name = function_name(tool);
        let tool_info = ToolInfo::from(tool);
        send(&Delta {
            tool_calls: Some([ToolCallDelta {
                index,
                id: Some(&id),
                kind: Some("function"),
                function: FunctionDelta { name: Some(&name), arguments: "" },
                tool_info: Some(tool_info),
            }]),
            ..self.delta()
        });
        self.fresh = false;
        let function = Function { name, arguments: String::new() };
        self.message.tool_calls.get_or_insert_default().push(ToolCall {
            id,
            kind: "function",
            function,
            tool_info,
        });
    }

    pub(super) fn arguments(&mut self, index: usize, text: &str, send: impl FnOnce(&Delta<'_>)) {
        send(&Delta {
            tool_calls: Some([ToolCallDelta {
                index,
                id: None,
                kind: None,
                function: FunctionDelta { name: None, arguments: text },
                tool_info: None,
            }]),
            ..self.delta()
        });
        self.fresh = false;
        let calls = self.message.tool_calls.get_or_insert_default();
        if let Some(call) = calls.get_mut(index) {
            call.function.arguments.push_str(text);
        }
    }

    /// Sends the last delta. Returns the complete message with its usage.
    pub(super) fn finish(
        mut self,
        reason: &'static str,
        context_tokens: usize,
        send: impl FnOnce(&Delta<'_>),
    ) -> (ModelMessage, Usage) {
        let usage = self.usage(context_tokens);
        send(&Delta { finish_reason: Some(reason), usage: Some(usage), ..self.delta() });
        self.message.finish_reason = Some(reason);
        self.message.usage = Some(usage);
        (self.message, usage)
    }

    fn usage(&self, context_tokens: usize) -> Usage {
        let message = &self.message;
        let texts = [&message.content, &message.reasoning_content];
        let calls = message.tool_calls.iter().flatten();
        let output_tokens = texts.into_iter().flatten().map(|text| tokens(text)).sum::<usize>()
            + calls.map(|call| tokens(&call.function.arguments)).sum::<usize>();
        let breakdown = Breakdown {
            harness: HARNESS_TOKENS,
            skills: 0,
            instructions: INSTRUCTION_TOKENS,
            tool_definitions: TOOL_TOKENS,
            messages: context_tokens,
        };
        Usage {
            input_tokens: HARNESS_TOKENS + INSTRUCTION_TOKENS + TOOL_TOKENS + context_tokens,
            output_tokens,
            input_tokens_breakdown: breakdown,
        }
    }

    fn delta(&self) -> Delta<'_> {
        Delta {
            created_at: self.fresh.then(|| self.message.created_at.clone()),
            ..Delta::new(&self.message.id, &self.message.thread_id)
        }
    }
}
