//! Plays a script as a turn: to its end, or until it is stopped. Calls never wait for an answer.

use std::ops::ControlFlow;

use super::recorder::Recorder;
use super::scripts::{Act, Acts, steps};
use super::traps::SILENCE;
use crate::agents::Resume;
use crate::turns::{self, Clock, Flow, Script, Stop};

/// Plays one turn.
pub(super) struct Player {
    pub(super) recorder: Recorder,
    pub(super) clock: Clock,
}

impl Player {
    pub(super) async fn play(mut self, acts: Acts) {
        self.recorder.begin();
        if let ControlFlow::Break(Some(stop)) = self.run(acts).await {
            self.recorder.abandon();
            if stop == Stop::TimeLimit {
                self.recorder.fail("the turn took longer than it may");
            }
        }
    }

    async fn run(&mut self, acts: Acts) -> Flow {
        self.clock.sleep(self.recorder.traps().time(&SILENCE)).await?;
        turns::play(self, acts.peekable()).await
    }
}

impl turns::Player for Player {
    type Act = Act;

    fn clock(&mut self) -> &mut Clock {
        &mut self.clock
    }

    async fn act(&mut self, act: Act, _: &mut Script<Act>) -> Flow {
        self.clock.pass(u32::from(act.is_seen())).await?;
        self.recorder.act(act);
        ControlFlow::Continue(())
    }

    async fn pause(&mut self, resume: Resume, script: &mut Script<Act>) -> Flow {
        *script = steps(resume(&self.recorder.answer_all())).peekable();
        ControlFlow::Continue(())
    }

    async fn end(&mut self, failure: Option<String>) -> Flow {
        match failure {
            None => self.recorder.finish(),
            Some(error) => self.recorder.fail_attempt(&error),
        }
        ControlFlow::Continue(())
    }
}
