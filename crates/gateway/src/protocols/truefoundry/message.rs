//! The stream's fields of a model message, and the complete message that its deltas add up to.

use super::wire::{
    Breakdown, Delta, Function, FunctionDelta, ModelMessage, ToolCall, ToolCallDelta, ToolInfo, Usage,
    function_name,
};
use crate::agents::{Draft, Step, tokens};

/// Tokens of the parts that are the same in every request to the model.
const HARNESS_TOKENS: usize = 412;
const INSTRUCTION_TOKENS: usize = 180;
const TOOL_TOKENS: usize = 264;

/// The fields that a message has from its beginning.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) id: String,
    pub(super) created_at: String,
    /// Whether its first delta is still to come.
    pub(super) fresh: bool,
}

impl Head {
    /// The event that begins the message on the stream, still empty.
    pub(super) fn base<'a>(&'a self, thread_id: &'a str) -> ModelMessage<'a> {
        ModelMessage {
            kind: "model.message",
            thread_id,
            created_at: &self.created_at,
            id: &self.id,
            content: None,
            reasoning_content: None,
            tool_calls: None,
            finish_reason: None,
            usage: None,
        }
    }
}

/// The delta with what a step adds to a message.
pub(super) fn delta<'a>(draft: &'a Draft<Head>, step: &'a Step) -> Delta<'a> {
    let delta = empty_delta(draft);
    match step {
        Step::Text { text, .. } => Delta { content: Some(text), ..delta },
        Step::Reasoning { text, .. } => Delta { reasoning_content: Some(text), ..delta },
        // Everything of a call but its arguments.
        Step::BeginCall { index, call, tool, .. } => {
            let function = FunctionDelta { name: Some(function_name(*tool)), arguments: "" };
            let tool_info = Some(ToolInfo::from(*tool));
            let call =
                ToolCallDelta { index: *index, id: Some(call), kind: Some("function"), function, tool_info };
            Delta { tool_calls: Some([call]), ..delta }
        }
        Step::Arguments { index, text, .. } => {
            let function = FunctionDelta { name: None, arguments: text };
            let call = ToolCallDelta { index: *index, id: None, kind: None, function, tool_info: None };
            Delta { tool_calls: Some([call]), ..delta }
        }
        _ => delta,
    }
}

/// A message's last delta.
pub(super) fn last_delta<'a>(draft: &'a Draft<Head>, reason: &'static str, usage: Usage) -> Delta<'a> {
    Delta { finish_reason: Some(reason), usage: Some(usage), ..empty_delta(draft) }
}

fn empty_delta(draft: &Draft<Head>) -> Delta<'_> {
    let head = &draft.own;
    Delta {
        created_at: head.fresh.then_some(head.created_at.as_str()),
        ..Delta::new(&head.id, &draft.thread)
    }
}

/// The complete message.
pub(super) fn complete<'a>(draft: &'a Draft<Head>, reason: &'static str, usage: Usage) -> ModelMessage<'a> {
    let said = |text: &'a String| Some(text.as_str()).filter(|text| !text.is_empty());
    let calls = draft.calls.iter().map(|call| ToolCall {
        id: &call.id,
        kind: "function",
        function: Function { name: function_name(call.tool), arguments: &call.arguments },
        tool_info: ToolInfo::from(call.tool),
    });
    ModelMessage {
        content: said(&draft.text),
        reasoning_content: said(&draft.reasoning),
        tool_calls: (!draft.calls.is_empty()).then(|| calls.collect()),
        finish_reason: Some(reason),
        usage: Some(usage),
        ..draft.own.base(&draft.thread)
    }
}

/// The tokens of a message, after this many tokens of its conversation.
pub(super) fn usage(draft: &Draft<Head>, context_tokens: usize) -> Usage {
    let arguments = draft.calls.iter().map(|call| tokens(&call.arguments)).sum::<usize>();
    Usage {
        input_tokens: HARNESS_TOKENS + INSTRUCTION_TOKENS + TOOL_TOKENS + context_tokens,
        output_tokens: tokens(&draft.text) + tokens(&draft.reasoning) + arguments,
        input_tokens_breakdown: Breakdown {
            harness: HARNESS_TOKENS,
            skills: 0,
            instructions: INSTRUCTION_TOKENS,
            tool_definitions: TOOL_TOKENS,
            messages: context_tokens,
        },
    }
}
