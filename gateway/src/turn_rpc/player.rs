//! Playing a script as a turn: at a pace, to its end, or until it is stopped. Nobody is asked on the way.

use std::ops::ControlFlow;

use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

use super::recorder::Recorder;
use super::scripts::{Act, Acts};
use crate::agents::{Ending, Step, Steps};
use crate::turns::{Pace, Stop};

/// Why a turn ends before its script does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Halt {
    /// It was ended from outside, and everybody knows.
    Ended,
    TimeLimit,
}

type Flow = ControlFlow<Halt>;

/// Plays one turn.
pub(super) struct Player {
    pub(super) recorder: Recorder,
    pub(super) pace: Pace,
    /// When the turn has taken too long.
    pub(super) deadline: Instant,
    pub(super) stop: watch::Receiver<Option<Stop>>,
}

impl Player {
    pub(super) async fn play(mut self, acts: Acts) {
        match self.run(acts).await {
            ControlFlow::Continue(()) => {}
            ControlFlow::Break(Halt::Ended) => self.recorder.abandon(),
            ControlFlow::Break(Halt::TimeLimit) => {
                self.recorder.abandon();
                self.recorder.fail("the turn took longer than it may");
            }
        }
    }

    async fn run(&mut self, mut acts: Acts) -> Flow {
        self.recorder.begin();
        if let Some(pause) = self.recorder.traps().silence {
            tokio::select! {
                biased;
                () = stopped(&mut self.stop) => return ControlFlow::Break(Halt::Ended),
                () = sleep(pause) => {}
                () = sleep_until(self.deadline) => return ControlFlow::Break(Halt::TimeLimit),
            }
        }
        loop {
            match acts.next() {
                None | Some(Act::Step(Step::End(Ending::Done))) => {
                    self.recorder.finish();
                    return ControlFlow::Continue(());
                }
                Some(Act::Step(Step::End(Ending::Failed(message)))) => {
                    self.recorder.fail_attempt(&message);
                    return ControlFlow::Continue(());
                }
                Some(Act::Step(Step::End(Ending::Paused(resume)))) => {
                    let answers = self.recorder.answer_all();
                    acts = steps(resume(&answers));
                }
                Some(Act::Step(Step::Wait(beats))) => self.beat(beats).await?,
                Some(act) => {
                    self.beat(u32::from(act.is_seen())).await?;
                    self.recorder.act(act);
                }
            }
        }
    }

    async fn beat(&mut self, beats: u32) -> Flow {
        tokio::select! {
            biased;
            () = stopped(&mut self.stop) => ControlFlow::Break(Halt::Ended),
            () = self.pace.pass(beats) => ControlFlow::Continue(()),
            () = sleep_until(self.deadline) => ControlFlow::Break(Halt::TimeLimit),
        }
    }
}

/// The steps of a script that knows no protocol.
pub(super) fn steps(steps: Steps) -> Acts {
    Box::new(steps.map(Act::Step))
}

/// Waits until the turn is told to stop; for ever if nobody can tell it any more.
async fn stopped(stop: &mut watch::Receiver<Option<Stop>>) {
    if stop.wait_for(Option::is_some).await.is_err() {
        std::future::pending::<()>().await;
    }
}
