//! The habit of writing chunks, which have no start and no end.

use std::collections::HashMap;

use super::super::event::{CallEvent, Event, Frame, MessageEvent, ReasoningEvent};
use super::{Context, Habit};

/// Chunks in place of START, CONTENT and END. Each piece of a text names its message; a piece of a
/// call does so only where another one was written before it.
#[derive(Default)]
pub(super) struct Chunks {
    /// The roles of texts that have begun, by message.
    roles: HashMap<String, &'static str>,
    /// The call whose arguments the last chunk had, by lane: the call's next chunk need not name it.
    last: HashMap<Option<String>, String>,
    /// The names and parents of calls.
    calls: HashMap<String, (String, Option<String>)>,
    /// Whether a text or a call has had a chunk.
    seen: HashMap<String, bool>,
}

impl Habit for Chunks {
    fn pass(&mut self, frame: Frame, _: &Context<'_>, out: &mut Vec<Frame>) {
        let lane = frame.lane.clone();
        let chunk = match &frame.event {
            Event::Message(event) => self.text(event),
            Event::Call(event) => self.call(event, lane.as_ref()),
            Event::Reasoning(event) => reasoning(event),
            _ => {
                self.last.remove(&lane);
                return out.push(frame);
            }
        };
        if !matches!(
            frame.event,
            Event::Call(CallEvent::Args { .. } | CallEvent::Start { .. } | CallEvent::End { .. })
        ) {
            self.last.remove(&lane);
        }
        if let Some(event) = chunk {
            out.push(Frame { event, ..frame });
        }
    }
}

impl Chunks {
    fn text(&mut self, event: &MessageEvent) -> Option<Event> {
        let (message_id, delta) = match event {
            MessageEvent::Start { message_id, role, .. } => {
                self.roles.insert(message_id.clone(), role);
                self.seen.insert(message_id.clone(), false);
                return None;
            }
            MessageEvent::Content { message_id, delta } => (message_id, delta.clone()),
            // A message without a text is one empty chunk, so that calls have their parent.
            MessageEvent::End { message_id } if self.seen.get(message_id) == Some(&false) => {
                (message_id, String::new())
            }
            MessageEvent::End { .. } => return None,
            chunk @ MessageEvent::Chunk { .. } => return Some(chunk.clone().into()),
        };
        self.seen.insert(message_id.clone(), true);
        let role = self.roles.get(message_id).copied();
        Some(MessageEvent::Chunk { message_id: Some(message_id.clone()), role, delta: Some(delta) }.into())
    }

    fn call(&mut self, event: &CallEvent, lane: Option<&String>) -> Option<Event> {
        let (id, delta) = match event {
            CallEvent::Start { tool_call_id, tool_call_name, parent_message_id } => {
                let told = (tool_call_name.clone(), parent_message_id.clone());
                self.calls.insert(tool_call_id.clone(), told);
                self.seen.insert(tool_call_id.clone(), false);
                return None;
            }
            CallEvent::Args { tool_call_id, delta } => (tool_call_id, delta.clone()),
            // A call without arguments is one empty chunk.
            CallEvent::End { tool_call_id } if self.seen.get(tool_call_id) == Some(&false) => {
                (tool_call_id, String::new())
            }
            CallEvent::End { .. } => return None,
            other => return Some(other.clone().into()),
        };
        self.seen.insert(id.clone(), true);
        let continues = self.last.insert(lane.cloned(), id.clone()).as_ref() == Some(id);
        let told = self.calls.get(id).filter(|_| !continues).cloned();
        let (tool_call_name, parent_message_id) =
            told.map_or((None, None), |(name, parent)| (Some(name), parent));
        let tool_call_id = (!continues).then(|| id.clone());
        let delta = Some(delta);
        Some(CallEvent::Chunk { tool_call_id, tool_call_name, parent_message_id, delta }.into())
    }
}

fn reasoning(event: &ReasoningEvent) -> Option<Event> {
    match event {
        ReasoningEvent::Start { .. } | ReasoningEvent::End { .. } => None,
        ReasoningEvent::Content { message_id, delta } => Some(
            ReasoningEvent::Chunk { message_id: Some(message_id.clone()), delta: Some(delta.clone()) }.into(),
        ),
        other => Some(other.clone().into()),
    }
}
