//! Habits of snapshots.

use serde_json::{Value, json};

use super::super::event::{CallEvent, Event, Frame};
use super::super::message::Message;
use super::{Context, Habit};

fn snapshot(messages: Vec<Message>, frame: &Frame) -> Frame {
    Frame { timestamp: frame.timestamp, ..Frame::from(Event::MessagesSnapshot { messages }) }
}

/// A snapshot of the messages before the run finishes: of all, or of all but the last one.
pub(super) struct AtEnd {
    pub(super) all: bool,
}

impl Habit for AtEnd {
    fn pass(&mut self, frame: Frame, context: &Context<'_>, out: &mut Vec<Frame>) {
        if matches!(frame.event, Event::RunFinished { .. }) {
            let mut messages = context.conversation.messages.clone();
            if !self.all {
                messages.pop();
            }
            out.push(snapshot(messages, &frame));
        }
        out.push(frame);
    }
}

/// After each round of tools, and at the end, a snapshot in which every message but the user's has a new id.
pub(super) struct NewIds;

impl Habit for NewIds {
    fn pass(&mut self, frame: Frame, context: &Context<'_>, out: &mut Vec<Frame>) {
        let renewed = || {
            let messages = context.conversation.messages.iter();
            let messages = messages.filter(|message| message.role() != "reasoning").cloned();
            messages.map(renew).collect::<Vec<_>>()
        };
        match &frame.event {
            Event::RunFinished { .. } => {
                out.push(snapshot(renewed(), &frame));
                out.push(frame);
            }
            Event::Call(CallEvent::Result { .. }) => {
                let messages = snapshot(renewed(), &frame);
                out.extend([frame, messages]);
            }
            _ => out.push(frame),
        }
    }
}

fn renew(mut message: Message) -> Message {
    if message.role() == "user" {
        return message;
    }
    message.0["id"] = json!(uuid::Uuid::new_v4().to_string());
    if let Some(Value::String(text)) = message.0.get_mut("content") {
        *text = text.trim().to_owned();
    }
    message
}

/// Results appear only in snapshots.
pub(super) struct NoResults;

impl Habit for NoResults {
    fn pass(&mut self, frame: Frame, context: &Context<'_>, out: &mut Vec<Frame>) {
        if matches!(frame.event, Event::Call(CallEvent::Result { .. })) {
            out.push(snapshot(context.conversation.messages.clone(), &frame));
        } else {
            out.push(frame);
        }
    }
}

/// Texts appear only in a snapshot at the end.
pub(super) struct NoText;

impl Habit for NoText {
    fn pass(&mut self, frame: Frame, context: &Context<'_>, out: &mut Vec<Frame>) {
        match &frame.event {
            Event::Message(_) => {}
            Event::RunFinished { .. } => {
                out.push(snapshot(context.conversation.messages.clone(), &frame));
                out.push(frame);
            }
            _ => out.push(frame),
        }
    }
}

/// Each part of the work reports its part of the state; the whole state follows at the end.
pub(super) struct PartialState;

impl Habit for PartialState {
    fn pass(&mut self, frame: Frame, context: &Context<'_>, out: &mut Vec<Frame>) {
        let tell = |snapshot: Value| Frame {
            timestamp: frame.timestamp,
            ..Frame::from(Event::StateSnapshot { snapshot })
        };
        match &frame.event {
            Event::Call(CallEvent::Result { tool_call_id, content, .. }) => {
                let part = tell(json!({"last_result": {"call": tool_call_id, "content": content}}));
                out.extend([frame, part]);
            }
            Event::RunFinished { .. } => {
                let whole = tell(context.state.clone());
                out.extend([whole, frame]);
            }
            _ => out.push(frame),
        }
    }
}
