//! Plays a script as a turn.

use std::iter::once;
use std::ops::ControlFlow;

use super::recorder::TurnRecorder;
use crate::agents::{Resume, Step, Steps};
use crate::turns::{self, Clock, Flow, Script};

/// The number of deltas that a model still sends after it was stopped.
const DELTAS_AFTER_STOP: usize = 2;

/// Plays one turn.
pub(super) struct Player {
    pub(super) recorder: TurnRecorder,
    pub(super) clock: Clock,
}

impl Player {
    pub(super) async fn play(mut self, steps: Steps) {
        if let ControlFlow::Break(Some(reason)) = turns::play(&mut self, steps.peekable()).await {
            self.recorder.stop(reason);
        }
    }
}

impl turns::Player for Player {
    type Act = Step;

    fn clock(&mut self) -> &mut Clock {
        &mut self.clock
    }

    async fn act(&mut self, step: Step, script: &mut Script) -> Flow {
        let flow = self.clock.pass(u32::from(step.is_event())).await;
        if flow.is_continue() {
            self.recorder.record(step);
        } else {
            let is_text = |step: &Step| matches!(step, Step::Text { .. } | Step::Reasoning { .. });
            for step in once(step).chain(script).take(DELTAS_AFTER_STOP).take_while(is_text) {
                self.recorder.record(step);
            }
        }
        flow
    }

    async fn pause(&mut self, resume: Resume, _: &mut Script) -> Flow {
        self.clock.pass(0).await?;
        self.recorder.pause(resume);
        ControlFlow::Break(None)
    }

    async fn end(&mut self, failure: Option<String>) -> Flow {
        self.clock.pass(0).await?;
        self.recorder.end(failure);
        ControlFlow::Continue(())
    }
}
