//! Habits of texts and reasoning.

use super::super::event::{Event, Frame, MessageEvent, ReasoningEvent};
use super::{Context, Habit};

/// A text ends only where the next one begins, or with the run.
#[derive(Default)]
pub(super) struct OpenText {
    held: Vec<Frame>,
}

impl Habit for OpenText {
    fn pass(&mut self, frame: Frame, _: &Context<'_>, out: &mut Vec<Frame>) {
        match &frame.event {
            Event::Message(MessageEvent::End { .. }) => self.held.push(frame),
            Event::Message(MessageEvent::Start { .. }) | Event::Reasoning(ReasoningEvent::Begin { .. }) => {
                let (ended, others) = self.held.drain(..).partition(|held| held.lane == frame.lane);
                self.held = others;
                out.extend::<Vec<Frame>>(ended);
                out.push(frame);
            }
            Event::Subagent(_) | Event::RunFinished { .. } | Event::RunError { .. } => {
                out.append(&mut self.held);
                out.push(frame);
            }
            _ => out.push(frame),
        }
    }
}

/// The reasoning before a text is repeated before the text ends.
#[derive(Default)]
pub(super) struct RepeatReasoning {
    thought: String,
}

impl Habit for RepeatReasoning {
    fn pass(&mut self, frame: Frame, _: &Context<'_>, out: &mut Vec<Frame>) {
        match &frame.event {
            Event::Reasoning(ReasoningEvent::Content { delta, .. }) => self.thought.push_str(delta),
            Event::Message(MessageEvent::End { .. }) if !self.thought.is_empty() => {
                let message_id = uuid::Uuid::new_v4().to_string();
                let delta = std::mem::take(&mut self.thought);
                let again = [
                    ReasoningEvent::Begin { message_id: message_id.clone() },
                    ReasoningEvent::Start { message_id: message_id.clone(), role: "reasoning" },
                    ReasoningEvent::Content { message_id: message_id.clone(), delta },
                    ReasoningEvent::End { message_id: message_id.clone() },
                    ReasoningEvent::Finish { message_id },
                ];
                let (lane, timestamp) = (&frame.lane, frame.timestamp);
                out.extend(again.map(|event| Frame {
                    lane: lane.clone(),
                    timestamp,
                    ..Frame::from(Event::from(event))
                }));
            }
            _ => {}
        }
        out.push(frame);
    }
}

/// The names that reasoning had in 0.x. Those events have no ids.
pub(super) struct Thinking;

impl Habit for Thinking {
    fn pass(&mut self, frame: Frame, _: &Context<'_>, out: &mut Vec<Frame>) {
        let Event::Reasoning(event) = frame.event else {
            return out.push(frame);
        };
        let old = match event {
            ReasoningEvent::Begin { .. } => ReasoningEvent::OldBegin,
            ReasoningEvent::Start { .. } => ReasoningEvent::OldStart,
            ReasoningEvent::Content { delta, .. } => ReasoningEvent::OldContent { delta },
            ReasoningEvent::End { .. } => ReasoningEvent::OldEnd,
            ReasoningEvent::Finish { .. } => ReasoningEvent::OldFinish,
            ReasoningEvent::Encrypted { .. } => return,
            old => old,
        };
        out.push(Frame { event: old.into(), ..frame });
    }
}
