//! Playing a script as a turn: at a pace, round after round, until it ends, waits, or is left.

use std::iter::Peekable;
use std::ops::ControlFlow;

use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

use super::pending::{Given, Pending};
use super::recorder::{Recorder, TurnResponse};
use super::wire::{Event, StopReason};
use crate::agents::{Answers, Ending, Step, Steps};
use crate::turns::{Pace, Stop};

/// What a turn begins with.
pub(super) enum Beginning {
    /// The script for the user's words.
    Script(Steps),
    /// Answers to what an earlier turn asked, in the order in which they came.
    Answers(Box<Pending>, Vec<(String, Given)>),
}

/// Why a turn ends before its script does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Halt {
    /// Nobody is interested any more.
    Left,
    /// The model failed, and nobody caught it.
    Thrown,
    TimeLimit,
}

pub(super) type Flow<T = ()> = ControlFlow<Halt, T>;

/// Plays one turn.
pub(super) struct Player {
    pub(super) recorder: Recorder,
    pub(super) pace: Pace,
    /// When the turn has taken too long.
    pub(super) deadline: Instant,
    pub(super) stop: watch::Receiver<Option<Stop>>,
}

impl Player {
    /// Plays the turn to its end. What those get who read no events; `None` if there is no answer.
    pub(super) async fn play(mut self, beginning: Beginning) -> Option<TurnResponse> {
        let response = match self.run(beginning).await {
            ControlFlow::Continue(reason) => Some(self.recorder.stop(reason)),
            ControlFlow::Break(Halt::TimeLimit) => Some(self.recorder.stop(StopReason::Error)),
            ControlFlow::Break(Halt::Thrown) => {
                self.recorder.throw();
                None
            }
            ControlFlow::Break(Halt::Left) => None,
        };
        self.recorder.wire.close();
        response
    }

    async fn run(&mut self, beginning: Beginning) -> Flow<StopReason> {
        self.recorder.wire.send(&Event::TurnStart {});
        if self.recorder.traps.unknown_type {
            self.recorder.wire.send(&Event::Progress { percent: 50 });
        }
        if let Some(pause) = self.recorder.traps.silence {
            self.sleep(pause).await?;
        }
        let mut steps = match beginning {
            Beginning::Script(steps) => steps.peekable(),
            Beginning::Answers(pending, given) => self.answer(pending, given).await?,
        };
        loop {
            match steps.next() {
                None | Some(Step::End(Ending::Done)) => return ControlFlow::Continue(self.recorder.reason()),
                Some(Step::End(Ending::Failed(_))) => return ControlFlow::Continue(self.failure()),
                // Whatever it waits for is not a call: the script goes on as if it had been answered.
                Some(Step::End(Ending::Paused(resume))) => steps = resume(&Answers::default()).peekable(),
                Some(Step::Wait(beats)) => self.beat(beats).await?,
                Some(step) => match self.step(step, steps).await? {
                    Some(next) => steps = next,
                    None => return ControlFlow::Continue(StopReason::ToolUse),
                },
            }
        }
    }

    /// One step, and the tools of the message that ends with it. The steps that follow, or `None`
    /// if the client is to answer first.
    async fn step(&mut self, step: Step, steps: Peekable<Steps>) -> Flow<Option<Peekable<Steps>>> {
        self.beat(u32::from(is_seen(&step))).await?;
        let calls = self.recorder.record(step);
        if self.recorder.has_thrown() {
            return ControlFlow::Break(Halt::Thrown);
        }
        match calls {
            Some(calls) => self.round(calls, steps).await,
            None => ControlFlow::Continue(Some(steps)),
        }
    }

    /// How a turn ends whose model failed.
    fn failure(&self) -> StopReason {
        match self.recorder.reason() {
            StopReason::EndTurn => StopReason::Error,
            reason => reason,
        }
    }

    /// Lets time pass.
    pub(super) async fn beat(&mut self, beats: u32) -> Flow {
        tokio::select! {
            biased;
            () = stopped(&mut self.stop) => ControlFlow::Break(Halt::Left),
            () = self.pace.pass(beats) => ControlFlow::Continue(()),
            () = sleep_until(self.deadline) => ControlFlow::Break(Halt::TimeLimit),
        }
    }

    async fn sleep(&mut self, pause: std::time::Duration) -> Flow {
        tokio::select! {
            biased;
            () = stopped(&mut self.stop) => ControlFlow::Break(Halt::Left),
            () = sleep(pause) => ControlFlow::Continue(()),
            () = sleep_until(self.deadline) => ControlFlow::Break(Halt::TimeLimit),
        }
    }
}

/// Waits until the turn is told to stop; for ever if nobody can tell it any more.
async fn stopped(stop: &mut watch::Receiver<Option<Stop>>) {
    if stop.wait_for(Option::is_some).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Whether a step is seen on the wire.
fn is_seen(step: &Step) -> bool {
    matches!(
        step,
        Step::Text { .. } | Step::Reasoning { .. } | Step::EndMessage { .. } | Step::ToolResult { .. }
    )
}
