//! Habits of ends.

use super::super::event::{Event, Frame, Outcome};
use super::{Context, Habit};

/// How `RUN_FINISHED` is changed.
pub(super) enum Ending {
    /// Its outcome is one of a later version.
    Unknown,
    /// The server has cancelled the run.
    Cancelled,
    /// It names neither thread nor run.
    Bare,
    /// An error follows it.
    LateError,
}

impl Habit for Ending {
    fn pass(&mut self, mut frame: Frame, _: &Context<'_>, out: &mut Vec<Frame>) {
        let Event::RunFinished { thread_id, run_id, outcome, .. } = &mut frame.event else {
            return out.push(frame);
        };
        match self {
            Self::Unknown => *outcome = Some(Outcome::QuotaExhausted),
            Self::Cancelled => *outcome = Some(Outcome::Cancelled),
            Self::Bare => (*thread_id, *run_id, *outcome) = (None, None, None),
            Self::LateError => {}
        }
        let timestamp = frame.timestamp;
        out.push(frame);
        if matches!(self, Self::LateError) {
            let message = "The answer could not be stored".to_owned();
            let event = Event::RunError { message, code: Some("BACKGROUND_EXECUTION_ERROR") };
            out.push(Frame { timestamp, ..Frame::from(event) });
        }
    }
}
