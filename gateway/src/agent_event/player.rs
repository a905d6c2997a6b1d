//! Playing a script as a run: at a pace, with decisions taken on the way, until it ends or is halted.

use std::ops::ControlFlow;

use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, sleep_until};

use super::decision::Decision;
use super::event::{Event, Termination};
use super::message::Message;
use super::progress::Standing;
use super::recorder::Recorder;
use super::run::Halt;
use super::surface::Dialect;
use crate::agents::{Ending, FinishReason, MAIN, MessageKey, Step, Steps};
use crate::turns::Pace;

/// A tool that takes longer than this many beats reports its progress.
pub(super) const LONG: u32 = 20;
/// In so many parts.
const PARTS: u32 = 4;

/// What a run begins with.
pub(super) enum Beginning {
    /// The script for the user's words.
    Script(Steps),
    /// Answers to what an earlier run asked.
    Decisions(Vec<Decision>),
}

/// Plays one run.
pub(super) struct Player {
    pub(super) recorder: Recorder,
    pub(super) pace: Pace,
    /// When the run has taken too long.
    pub(super) deadline: Instant,
    pub(super) halted: watch::Receiver<Option<Halt>>,
    pub(super) decisions: mpsc::UnboundedReceiver<Decision>,
    /// Decisions that came before their calls were known to wait.
    pub(super) early: Vec<Decision>,
}

pub(super) type Flow = ControlFlow<Option<Halt>>;

impl Player {
    /// Plays the run to its end.
    pub(super) async fn play(mut self, beginning: Beginning) {
        if let ControlFlow::Break(Some(halt)) = self.run(beginning).await {
            self.stop(halt);
        }
        self.recorder.release();
        self.recorder.run.turn.log.close();
    }

    async fn run(&mut self, beginning: Beginning) -> Flow {
        self.recorder.begin();
        let mut steps = match beginning {
            Beginning::Script(steps) => steps.peekable(),
            Beginning::Decisions(decisions) => match self.resume(decisions).await? {
                Some(steps) => steps,
                None => return ControlFlow::Break(None),
            },
        };
        loop {
            match steps.next() {
                Some(Step::End(Ending::Paused(resume))) => match self.pause(resume).await? {
                    Some(next) => steps = next,
                    None => return ControlFlow::Break(None),
                },
                Some(Step::End(ending)) => return self.end(ending).await,
                None => return self.end(Ending::Done).await,
                Some(Step::Wait(beats)) => self.wait(beats, steps.peek()).await?,
                Some(step) => self.step(step).await?,
            }
        }
    }

    pub(super) async fn step(&mut self, step: Step) -> Flow {
        self.beat(u32::from(is_frame(&step))).await?;
        let begins = matches!(&step, Step::BeginMessage { thread, .. } if thread == MAIN);
        self.recorder.record(step);
        if begins {
            self.spring_provider_traps().await?;
        }
        self.go_on()
    }

    /// What providers do before they say anything.
    async fn spring_provider_traps(&mut self) -> Flow {
        if let Some(pause) = self.recorder.wire.traps.silence.take() {
            self.sleep(pause).await?;
        }
        if self.recorder.wire.traps.retries {
            for _ in 0..2 {
                self.recorder.retry_step();
                self.beat(1).await?;
            }
            let message = "Web stream error for model 'scripted-1'.\nStatus: 500 Internal Server Error";
            self.fail(message.to_owned());
            return ControlFlow::Break(None);
        }
        ControlFlow::Continue(())
    }

    /// A stream that is broken off has no run behind it any more.
    pub(super) fn go_on(&self) -> Flow {
        if self.recorder.wire.is_broken() { ControlFlow::Break(None) } else { ControlFlow::Continue(()) }
    }

    /// The pause before a tool's result, in which the tool may report how far it is.
    async fn wait(&mut self, beats: u32, next: Option<&Step>) -> Flow {
        let call = match next {
            Some(Step::ToolResult { thread, call, .. }) if thread == MAIN => Some(call.clone()),
            _ => None,
        };
        match call.filter(|_| beats >= LONG) {
            Some(call) => self.work(&call, beats).await,
            None => self.beat(beats).await,
        }
    }

    /// A tool works for a while and reports its progress.
    pub(super) async fn work(&mut self, call: &str, beats: u32) -> Flow {
        self.recorder.report(call, Standing::Pending, 0, PARTS, "Initializing...");
        for part in 1..=PARTS {
            self.beat(beats / PARTS).await?;
            let (standing, message) = match part {
                PARTS => (Standing::Done, "Complete".to_owned()),
                part => (Standing::Running, format!("Step {part} of {PARTS}")),
            };
            self.recorder.report(call, standing, part, PARTS, &message);
            self.go_on()?;
        }
        ControlFlow::Continue(())
    }

    /// Lets time pass; takes decisions meanwhile.
    pub(super) async fn beat(&mut self, beats: u32) -> Flow {
        let mut beats = beats;
        loop {
            let decision = tokio::select! {
                biased;
                halt = halted(&mut self.halted) => return ControlFlow::Break(Some(halt)),
                Some(decision) = self.decisions.recv() => decision,
                () = self.pace.pass(beats) => return ControlFlow::Continue(()),
                () = sleep_until(self.deadline) => return ControlFlow::Break(Some(Halt::TimeLimit)),
            };
            self.decided(&decision);
            // The beats are counted already; what is left of them has still to pass.
            beats = 0;
        }
    }

    async fn sleep(&mut self, pause: std::time::Duration) -> Flow {
        tokio::select! {
            biased;
            halt = halted(&mut self.halted) => ControlFlow::Break(Some(halt)),
            () = sleep(pause) => ControlFlow::Continue(()),
            () = sleep_until(self.deadline) => ControlFlow::Break(Some(Halt::TimeLimit)),
        }
    }

    /// A message that no script has, word by word.
    pub(super) async fn interlude(&mut self, text: &str) -> Flow {
        let message = MessageKey::next();
        let begin = Step::BeginMessage { message, thread: MAIN.to_owned() };
        self.step(begin).await?;
        for text in crate::agents::words(text) {
            self.step(Step::Text { message, text }).await?;
        }
        let reason = FinishReason::Stop;
        self.step(Step::EndMessage { message, reason }).await
    }

    async fn end(&mut self, ending: Ending) -> Flow {
        self.recorder.finish_round();
        self.beat(1).await?;
        match ending {
            Ending::Done | Ending::Paused(_) => self.recorder.finish(Termination::NaturalEnd),
            Ending::Failed(message) if self.recorder.open.is_none() => {
                let termination = Termination::Stopped { code: "token_budget_exceeded", detail: message };
                self.recorder.finish(termination);
            }
            Ending::Failed(message) => self.fail(message),
        }
        ControlFlow::Break(None)
    }

    /// The provider failed for good.
    fn fail(&mut self, message: String) {
        if self.recorder.dialect == Dialect::Tirea {
            let code = Some("LLM_ERROR".to_owned());
            self.recorder.wire.send(Event::Error { message: message.clone(), code });
        }
        self.recorder.finish(Termination::Error(message));
    }

    /// The run is halted from outside.
    fn stop(&mut self, halt: Halt) {
        match (halt, self.recorder.dialect) {
            // It is as if the run had never been: nothing is written, nothing is told.
            (Halt::Abandoned, _) => {}
            (Halt::Superseded, Dialect::Tirea) => {
                let reason = self.recorder.conflict().unwrap_or_default();
                self.recorder.wire.conflict(&reason);
            }
            (Halt::Cancelled | Halt::Superseded, _) => self.cancel(),
            (Halt::TimeLimit, _) => {
                let detail = "the run took too long".to_owned();
                self.recorder.finish(Termination::Stopped { code: "timeout_reached", detail });
            }
        }
    }

    fn cancel(&mut self) {
        let at_work = self.recorder.round.as_ref().is_some_and(|round| !round.calls.is_empty());
        match self.recorder.dialect {
            Dialect::Tirea => {
                let stage = if at_work { "while using tools" } else { "during inference" };
                let text = format!(
                    "The previous run was interrupted {stage}. Please continue from the current context."
                );
                self.recorder.uncommitted.push(Message::new("user", text));
            }
            Dialect::Awaken => self.recorder.close_step(),
        }
        self.recorder.round = None;
        self.recorder.finish(Termination::Cancelled);
    }
}

/// Waits until the run is halted; for ever if nobody can halt it any more.
async fn halted(halt: &mut watch::Receiver<Option<Halt>>) -> Halt {
    loop {
        if let Some(reason) = *halt.borrow_and_update() {
            return reason;
        }
        if halt.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Whether a step is seen on the wire.
fn is_frame(step: &Step) -> bool {
    step.is_event() && !matches!(step, Step::Connect { .. } | Step::CreateSandbox { .. })
}
