//! Habits of what all events have, and of the version.

use serde_json::json;

use super::super::event::{CallEvent, Event, Frame, MessageEvent, Outcome, ReasoningEvent, StepEvent};
use super::{Context, Habit};

/// Version 0.x, as Agent Framework speaks it.
pub(super) struct Legacy;

impl Habit for Legacy {
    fn pass(&mut self, mut frame: Frame, _: &Context<'_>, out: &mut Vec<Frame>) {
        if frame.lane.is_some() || matches!(frame.event, Event::Subagent(_)) {
            // 0.x has no sub-agents: only the results of the calls that started them are visible.
            return;
        }
        frame.metadata = None;
        frame.timestamp = None;
        match &mut frame.event {
            Event::RunStarted { protocol_version, .. } => *protocol_version = None,
            Event::RunFinished { outcome, usage, .. } => {
                *usage = None;
                if matches!(outcome, Some(Outcome::Success { .. })) {
                    *outcome = None;
                }
            }
            Event::Reasoning(ReasoningEvent::Start { role, .. }) => *role = "assistant",
            Event::MessagesSnapshot { messages } => {
                messages.retain(|message| message.0.get("subagentRunId").is_none());
            }
            _ => {}
        }
        out.push(frame);
    }
}

/// Version 1.0 as LangGraph and Agno speak it: without declaring it.
pub(super) struct NoVersion;

impl Habit for NoVersion {
    fn pass(&mut self, mut frame: Frame, _: &Context<'_>, out: &mut Vec<Frame>) {
        match &mut frame.event {
            Event::RunStarted { protocol_version, .. } => *protocol_version = None,
            Event::RunFinished { outcome, .. } if matches!(outcome, Some(Outcome::Success { .. })) => {
                *outcome = None;
            }
            _ => {}
        }
        out.push(frame);
    }
}

/// The native events of the framework: as separate events, and inside all others.
pub(super) struct Raw;

impl Habit for Raw {
    fn pass(&mut self, mut frame: Frame, _: &Context<'_>, out: &mut Vec<Frame>) {
        let kind = match &frame.event {
            Event::Message(MessageEvent::Start { .. }) => Some("model_begins"),
            Event::Message(MessageEvent::End { .. }) => Some("model_ends"),
            Event::Call(CallEvent::Result { .. }) => Some("tool_ends"),
            _ => None,
        };
        frame.raw_event =
            Some(json!({"event": "on_stream", "data": {"chunk": null}, "tags": ["seq:step:1"]}));
        let timestamp = frame.timestamp;
        out.push(frame);
        if let Some(kind) = kind {
            let event = Event::Raw { event: json!({"event": kind, "nested_depth": 0}), source: "scripted" };
            out.push(Frame { timestamp, ..Frame::from(event) });
        }
    }
}

/// The work is reported as steps: the model's messages, and the tools' results.
#[derive(Default)]
pub(super) struct Steps {
    current: Option<&'static str>,
}

impl Habit for Steps {
    fn pass(&mut self, frame: Frame, _: &Context<'_>, out: &mut Vec<Frame>) {
        let next = match &frame.event {
            _ if frame.lane.is_some() => self.current,
            Event::Message(MessageEvent::Start { .. }) | Event::Reasoning(ReasoningEvent::Begin { .. }) => {
                Some("model")
            }
            Event::Call(CallEvent::Result { .. }) => Some("tools"),
            event if event.is_end() => None,
            _ => self.current,
        };
        if next != self.current {
            let before = self.current.map(|step_name| StepEvent::Finished { step_name });
            let after = next.map(|step_name| StepEvent::Started { step_name });
            let steps = before.into_iter().chain(after);
            out.extend(
                steps.map(|event| Frame { timestamp: frame.timestamp, ..Frame::from(Event::from(event)) }),
            );
            self.current = next;
        }
        out.push(frame);
    }
}

/// An event of a later version follows the beginning.
pub(super) struct UnknownType;

impl Habit for UnknownType {
    fn pass(&mut self, frame: Frame, _: &Context<'_>, out: &mut Vec<Frame>) {
        let starts = matches!(frame.event, Event::RunStarted { .. });
        out.push(frame);
        if starts {
            out.push(Event::TelemetrySample { cpu: 0.25, note: "of a later version" }.into());
        }
    }
}
