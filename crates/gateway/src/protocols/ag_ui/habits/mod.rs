//! How real servers alter a correct stream: each habit changes events before they reach the wire.
//!
//! - `text`, `calls`, `chunks`: messages and calls;
//! - `snapshots`: messages and state;
//! - `envelope`: what all events have, and the version;
//! - `end`: how runs end.

mod calls;
mod chunks;
mod end;
mod envelope;
mod snapshots;
mod text;

use super::conversation::Conversation;
use super::event::Frame;
use super::traps;
use crate::faults::{TrapKind, Traps};

/// What a habit can see beside the events.
pub(super) struct Context<'a> {
    /// The messages of the thread, including this event's effect.
    pub(super) conversation: &'a Conversation,
    pub(super) state: &'a serde_json::Value,
}

/// Changes events.
pub(super) trait Habit: Send {
    /// Adds to `out` what an event turns into.
    fn pass(&mut self, frame: Frame, context: &Context<'_>, out: &mut Vec<Frame>);
}

/// Makes a habit.
type Make<'a> = &'a dyn Fn() -> Box<dyn Habit>;

/// The requested habits, in the order in which they apply. `answered` are the calls whose answers the run begins with.
pub(super) fn habits(traps: &Traps, answered: &[String]) -> Vec<Box<dyn Habit>> {
    let answered = || answered.to_vec();
    let all: [(&TrapKind, Make<'_>); 26] = [
        (&traps::REPEAT_REASONING, &|| Box::new(text::RepeatReasoning::default())),
        (&traps::OPEN_TEXT, &|| Box::new(text::OpenText::default())),
        (&traps::RESTART_CALLS, &|| Box::new(calls::RestartCalls::new(answered()))),
        (&traps::STRAY_END, &|| Box::new(calls::StrayEnd::new(answered()))),
        (&traps::RESULT_IDS, &|| Box::new(calls::ResultIds)),
        (&traps::LOST_PARENT, &|| Box::new(calls::Parent::lost())),
        (&traps::NO_PARENT, &|| Box::new(calls::Parent::none())),
        (&traps::WHOLE_ARGUMENTS, &|| Box::new(calls::WholeArguments::default())),
        (&traps::NO_TEXT, &|| Box::new(snapshots::NoText)),
        (&traps::NEW_IDS, &|| Box::new(snapshots::NewIds)),
        (&traps::NO_RESULTS, &|| Box::new(snapshots::NoResults)),
        (&traps::MESSAGES_SNAPSHOT, &|| Box::new(snapshots::AtEnd { all: true })),
        (&traps::DROPPED_MESSAGES, &|| Box::new(snapshots::AtEnd { all: false })),
        (&traps::DUPLICATE_START, &|| Box::new(calls::DuplicateStart::default())),
        (&traps::PARTIAL_STATE, &|| Box::new(snapshots::PartialState)),
        (&traps::THINKING, &|| Box::new(text::Thinking)),
        (&traps::CHUNKS, &|| Box::new(chunks::Chunks::default())),
        (&traps::STEPS, &|| Box::new(envelope::Steps::default())),
        (&traps::UNKNOWN_TYPE, &|| Box::new(envelope::UnknownType)),
        (&traps::UNKNOWN_TERMINATION, &|| Box::new(end::Ending::Unknown)),
        (&traps::CANCELLED, &|| Box::new(end::Ending::Cancelled)),
        (&traps::BARE_FINISH, &|| Box::new(end::Ending::Bare)),
        (&traps::LATE_ERROR, &|| Box::new(end::Ending::LateError)),
        (&traps::RAW, &|| Box::new(envelope::Raw)),
        (&traps::NO_VERSION, &|| Box::new(envelope::NoVersion)),
        (&traps::LEGACY, &|| Box::new(envelope::Legacy)),
    ];
    all.iter().filter(|(trap, _)| traps.has(trap)).map(|(_, habit)| habit()).collect()
}
