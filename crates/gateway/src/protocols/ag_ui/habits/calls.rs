//! Habits of tool calls.

use std::collections::HashSet;

use super::super::event::{CallEvent, Event, Frame};
use super::{Context, Habit};
use crate::store::random_suffix;

/// All open calls START a second time before the first of them ENDs, and END a second time after the last one.
#[derive(Default)]
pub(super) struct DuplicateStart {
    open: Vec<Frame>,
    ended: Vec<Frame>,
}

impl Habit for DuplicateStart {
    fn pass(&mut self, mut frame: Frame, _: &Context<'_>, out: &mut Vec<Frame>) {
        match &mut frame.event {
            Event::Call(CallEvent::Start { .. }) => self.open.push(frame.clone()),
            Event::Call(CallEvent::End { tool_call_id }) => {
                if self.ended.is_empty() {
                    out.extend(self.open.iter().cloned());
                }
                self.open.retain(|start| call_of(&start.event) != Some(tool_call_id));
                self.ended.push(frame.clone());
                out.push(frame);
                if self.open.is_empty() {
                    out.append(&mut self.ended);
                }
                return;
            }
            Event::MessagesSnapshot { messages } => {
                for message in messages {
                    if let Some(calls) = message.0.get_mut("toolCalls").and_then(|calls| calls.as_array_mut())
                    {
                        calls.extend(calls.clone());
                    }
                }
            }
            _ => {}
        }
        out.push(frame);
    }
}

fn call_of(event: &Event) -> Option<&String> {
    match event {
        Event::Call(
            CallEvent::Start { tool_call_id, .. }
            | CallEvent::Args { tool_call_id, .. }
            | CallEvent::End { tool_call_id }
            | CallEvent::Result { tool_call_id, .. },
        ) => Some(tool_call_id),
        _ => None,
    }
}

/// After the start of a continuing run, a call of the previous run ENDs.
pub(super) struct StrayEnd {
    calls: Vec<String>,
}

impl StrayEnd {
    pub(super) fn new(calls: Vec<String>) -> Self {
        Self { calls }
    }
}

impl Habit for StrayEnd {
    fn pass(&mut self, frame: Frame, _: &Context<'_>, out: &mut Vec<Frame>) {
        let starts = matches!(frame.event, Event::RunStarted { .. });
        let timestamp = frame.timestamp;
        out.push(frame);
        if starts {
            let ends = self.calls.drain(..).map(|tool_call_id| Event::from(CallEvent::End { tool_call_id }));
            out.extend(ends.map(|event| Frame { timestamp, ..Frame::from(event) }));
        }
    }
}

/// A call of the previous run STARTs again before its result.
pub(super) struct RestartCalls {
    calls: HashSet<String>,
}

impl RestartCalls {
    pub(super) fn new(calls: Vec<String>) -> Self {
        Self { calls: calls.into_iter().collect() }
    }
}

impl Habit for RestartCalls {
    fn pass(&mut self, frame: Frame, context: &Context<'_>, out: &mut Vec<Frame>) {
        if let Event::Call(CallEvent::Result { tool_call_id, .. }) = &frame.event
            && self.calls.remove(tool_call_id)
            && let Some(call) = context.conversation.call(tool_call_id)
        {
            let id = || tool_call_id.clone();
            let again = [
                CallEvent::Start {
                    tool_call_id: id(),
                    tool_call_name: call.name.to_owned(),
                    parent_message_id: None,
                },
                CallEvent::Args { tool_call_id: id(), delta: call.arguments.to_owned() },
                CallEvent::End { tool_call_id: id() },
            ];
            let (lane, timestamp) = (&frame.lane, frame.timestamp);
            out.extend(again.map(|event| Frame {
                lane: lane.clone(),
                timestamp,
                ..Frame::from(Event::from(event))
            }));
        }
        out.push(frame);
    }
}

/// The message of a result has the id of its call.
pub(super) struct ResultIds;

impl Habit for ResultIds {
    fn pass(&mut self, mut frame: Frame, _: &Context<'_>, out: &mut Vec<Frame>) {
        if let Event::Call(CallEvent::Result { message_id, tool_call_id, .. }) = &mut frame.event {
            message_id.clone_from(tool_call_id);
        }
        out.push(frame);
    }
}

/// Calls name an unknown message, or none.
pub(super) struct Parent(Option<String>);

impl Parent {
    pub(super) fn lost() -> Self {
        Self(Some(format!("msg-{}", random_suffix(12))))
    }

    pub(super) fn none() -> Self {
        Self(None)
    }
}

impl Habit for Parent {
    fn pass(&mut self, mut frame: Frame, _: &Context<'_>, out: &mut Vec<Frame>) {
        if let Event::Call(CallEvent::Start { parent_message_id, .. }) = &mut frame.event {
            parent_message_id.clone_from(&self.0);
        }
        out.push(frame);
    }
}

/// The arguments of a call are sent in one piece, before its END.
#[derive(Default)]
pub(super) struct WholeArguments {
    pieces: Vec<(String, String)>,
}

impl Habit for WholeArguments {
    fn pass(&mut self, frame: Frame, _: &Context<'_>, out: &mut Vec<Frame>) {
        match &frame.event {
            Event::Call(CallEvent::Args { tool_call_id, delta }) => {
                match self.pieces.iter_mut().find(|(id, _)| id == tool_call_id) {
                    Some((_, text)) => text.push_str(delta),
                    None => self.pieces.push((tool_call_id.clone(), delta.clone())),
                }
            }
            Event::Call(CallEvent::End { tool_call_id }) => {
                if let Some(at) = self.pieces.iter().position(|(id, _)| id == tool_call_id) {
                    let (tool_call_id, delta) = self.pieces.remove(at);
                    let event = CallEvent::Args { tool_call_id, delta }.into();
                    out.push(Frame { event, ..frame.clone() });
                }
                out.push(frame);
            }
            _ => out.push(frame),
        }
    }
}
