//! Plays a script as a turn, round after round, until it ends, waits, or is stopped.
//!
//! - `round`: the calls of one message;
//! - `answers`: the turn that answers calls.

mod answers;
mod round;

use std::iter::Peekable;
use std::ops::ControlFlow;

use super::pending::{CallAnswer, Pending};
use super::recorder::{Recorder, TurnResponse};
use super::traps::{SILENCE, UNKNOWN_TYPE};
use super::wire::{Event, StopReason};
use crate::agents::{Answers, Resume, Step, Steps};
use crate::turns::{self, Clock, Flow, Script, Stop};

/// What a turn begins with.
pub(super) enum Beginning {
    /// The script for the user's words.
    Script(Steps),
    /// Answers to the questions of an earlier turn, in the order of their arrival.
    Answers(Box<Pending>, Vec<(String, CallAnswer)>),
}

/// Plays one turn.
pub(super) struct Player {
    recorder: Recorder,
    clock: Clock,
    /// Why the turn ended by itself; `None` if it is running, or if the server failed.
    reason: Option<StopReason>,
}

impl Player {
    pub(super) fn new(recorder: Recorder, clock: Clock) -> Self {
        Self { recorder, clock, reason: None }
    }

    /// Plays the turn to its end. Returns the answer for a client that reads no events, if there is one.
    pub(super) async fn play(mut self, beginning: Beginning) -> Option<TurnResponse> {
        let reason = match self.run(beginning).await {
            ControlFlow::Continue(()) | ControlFlow::Break(None) => self.reason,
            ControlFlow::Break(Some(Stop::TimeLimit)) => Some(StopReason::Error),
            ControlFlow::Break(Some(_)) => None,
        };
        let response = reason.map(|reason| self.recorder.stop(reason));
        self.recorder.wire.close();
        response
    }

    async fn run(&mut self, beginning: Beginning) -> Flow {
        self.recorder.wire.send(&Event::TurnStart {});
        if self.recorder.traps.has(&UNKNOWN_TYPE) {
            self.recorder.wire.send(&Event::Progress { percent: 50 });
        }
        self.clock.sleep(self.recorder.traps.time(&SILENCE)).await?;
        let script = match beginning {
            Beginning::Script(steps) => steps.peekable(),
            Beginning::Answers(pending, answers) => self.answer(pending, answers).await?,
        };
        turns::play(self, script).await
    }

    fn end_with(&mut self, reason: StopReason) -> Flow {
        self.reason = Some(reason);
        ControlFlow::Break(None)
    }
}

impl turns::Player for Player {
    type Act = Step;

    fn clock(&mut self) -> &mut Clock {
        &mut self.clock
    }

    /// One step, and the tools of the message that ends with it.
    async fn act(&mut self, step: Step, script: &mut Script) -> Flow {
        self.clock.pass(u32::from(is_seen(&step))).await?;
        let calls = self.recorder.record(step);
        if self.recorder.has_thrown() {
            self.recorder.throw();
            return ControlFlow::Break(None);
        }
        match calls {
            Some(calls) => self.round(calls, script).await,
            None => ControlFlow::Continue(()),
        }
    }

    /// The script waits for something that is not a call, and continues as if it had been answered.
    async fn pause(&mut self, resume: Resume, script: &mut Script) -> Flow {
        *script = resume(&Answers::default()).peekable();
        ControlFlow::Continue(())
    }

    async fn end(&mut self, failure: Option<String>) -> Flow {
        let reason = match self.recorder.reason() {
            StopReason::EndTurn if failure.is_some() => StopReason::Error,
            reason => reason,
        };
        self.end_with(reason)
    }
}

/// Whether a step is visible on the wire.
fn is_seen(step: &Step) -> bool {
    matches!(
        step,
        Step::Text { .. } | Step::Reasoning { .. } | Step::EndMessage { .. } | Step::ToolResult { .. }
    )
}

/// The steps before the agent's next message, or the end of the turn.
fn until_talk(steps: &mut Peekable<Steps>) -> Vec<Step> {
    std::iter::from_fn(|| steps.next_if(|step| !step.begins_talk())).collect()
}
