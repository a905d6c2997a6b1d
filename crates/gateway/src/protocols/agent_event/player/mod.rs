//! Plays a script as a run, with decisions taken on the way, until it ends or is stopped.

mod waiting;

use std::ops::ControlFlow;
use std::time::Duration;

use tokio::sync::mpsc;

use super::decision::Decision;
use super::event::{ErrorData, Event, Termination};
use super::message::{Message, Role};
use super::progress::ToolStatus;
use super::recorder::Recorder;
use super::server::Dialect;
use super::traps::{RETRIES, SILENCE};
use crate::agents::{FinishReason, MAIN, MessageKey, Resume, Step, Steps};
use crate::turns::{self, Clock, Flow, Script, Stop};

/// A tool that takes longer than this many beats reports its progress.
const LONG: u32 = 20;
/// The number of reports.
const PARTS: u32 = 4;

/// What a run begins with.
pub(super) enum Beginning {
    /// The script for the user's words.
    Script(Steps),
    /// Answers to the questions of an earlier run.
    Decisions(Vec<Decision>),
}

/// Plays one run.
pub(super) struct Player {
    pub(super) recorder: Recorder,
    pub(super) clock: Clock,
    pub(super) decisions: mpsc::UnboundedReceiver<Decision>,
    /// Decisions that came before their calls were known to wait.
    pub(super) early: Vec<Decision>,
}

impl Player {
    /// Plays the run to its end.
    pub(super) async fn play(mut self, beginning: Beginning) {
        if let ControlFlow::Break(Some(reason)) = self.run(beginning).await {
            self.stop(reason);
        }
        self.recorder.release();
        self.recorder.run.turn.log.close();
    }

    async fn run(&mut self, beginning: Beginning) -> Flow {
        self.recorder.begin();
        let script = match beginning {
            Beginning::Script(steps) => steps.peekable(),
            Beginning::Decisions(decisions) => self.resume(decisions).await?,
        };
        turns::play(self, script).await
    }

    async fn step(&mut self, step: Step) -> Flow {
        self.beat(u32::from(is_frame(&step))).await?;
        let begins = matches!(&step, Step::BeginMessage { thread, .. } if thread == MAIN);
        self.recorder.record(step);
        if begins {
            self.apply_provider_traps().await?;
        }
        self.check_open()
    }

    /// What providers do before their first output.
    async fn apply_provider_traps(&mut self) -> Flow {
        if let Some(pause) = self.recorder.wire.traps.take(&SILENCE) {
            self.clock.sleep(Duration::from_millis(pause)).await?;
        }
        if self.recorder.wire.traps.has(&RETRIES) {
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

    /// Breaks if the stream has broken off.
    fn check_open(&self) -> Flow {
        if self.recorder.wire.is_broken() { ControlFlow::Break(None) } else { ControlFlow::Continue(()) }
    }

    /// A tool works for a while and reports its progress.
    async fn work(&mut self, call: &str, beats: u32) -> Flow {
        self.recorder.report(call, ToolStatus::Pending, 0, PARTS, "Initializing...");
        for part in 1..=PARTS {
            self.beat(beats / PARTS).await?;
            let (status, message) = match part {
                PARTS => (ToolStatus::Done, "Complete".to_owned()),
                part => (ToolStatus::Running, format!("Step {part} of {PARTS}")),
            };
            self.recorder.report(call, status, part, PARTS, &message);
            self.check_open()?;
        }
        ControlFlow::Continue(())
    }

    /// Lets time pass; takes decisions meanwhile.
    async fn beat(&mut self, mut beats: u32) -> Flow {
        loop {
            let decisions = &mut self.decisions;
            let decision = async {
                match decisions.recv().await {
                    Some(decision) => decision,
                    None => std::future::pending().await,
                }
            };
            let Some(decision) = self.clock.pass_or(beats, decision).await? else {
                return ControlFlow::Continue(());
            };
            self.decided(&decision);
            // The beats are already counted; the rest of them must still pass.
            beats = 0;
        }
    }

    /// A message that no script has, word by word.
    async fn say(&mut self, text: &str) -> Flow {
        let message = MessageKey::next();
        let begin = Step::BeginMessage { message, thread: MAIN.to_owned() };
        self.step(begin).await?;
        for text in crate::agents::words(text) {
            self.step(Step::Text { message, text }).await?;
        }
        let reason = FinishReason::Stop;
        self.step(Step::EndMessage { message, reason }).await
    }

    /// The provider failed for good.
    fn fail(&mut self, message: String) {
        if self.recorder.dialect() == Dialect::Tirea {
            let code = Some("LLM_ERROR".to_owned());
            self.recorder.wire.send(Event::Error(ErrorData { message: message.clone(), code }));
        }
        self.recorder.finish(Termination::Error(message));
    }

    /// The run is stopped from outside.
    fn stop(&mut self, reason: Stop) {
        match (reason, self.recorder.dialect()) {
            // The run leaves no trace: nothing is written, nothing is sent.
            (Stop::Abandoned, _) => {}
            (Stop::NextTurn, Dialect::Tirea) => {
                let reason = self.recorder.conflict().unwrap_or_default();
                self.recorder.wire.conflict(&reason);
            }
            (Stop::Cancelled | Stop::NextTurn, _) => self.cancel(),
            (Stop::TimeLimit, _) => {
                let detail = "the run took too long".to_owned();
                self.recorder.finish(Termination::Stopped { code: "timeout_reached", detail });
            }
        }
    }

    fn cancel(&mut self) {
        let at_work = self.recorder.round.as_ref().is_some_and(|round| !round.calls.is_empty());
        match self.recorder.dialect() {
            Dialect::Tirea => {
                let stage = if at_work { "while using tools" } else { "during inference" };
                let text = format!(
                    "The previous run was interrupted {stage}. Please continue from the current context."
                );
                self.recorder.commits.add(Message::new(Role::User, text));
            }
            Dialect::Awaken => self.recorder.close_step(),
        }
        self.recorder.round = None;
        self.recorder.finish(Termination::Cancelled);
    }
}

impl turns::Player for Player {
    type Act = Step;

    fn clock(&mut self) -> &mut Clock {
        &mut self.clock
    }

    /// The pause before a tool's result, in which the tool may report its progress.
    async fn wait(&mut self, beats: u32, script: &mut Script) -> Flow {
        let call = match script.peek() {
            Some(Step::ToolResult { thread, call, .. }) if thread == MAIN => Some(call.clone()),
            _ => None,
        };
        match call.filter(|_| beats >= LONG) {
            Some(call) => self.work(&call, beats).await,
            None => self.beat(beats).await,
        }
    }

    async fn act(&mut self, step: Step, _: &mut Script) -> Flow {
        self.step(step).await
    }

    async fn pause(&mut self, resume: Resume, script: &mut Script) -> Flow {
        *script = self.await_answers(resume).await?;
        ControlFlow::Continue(())
    }

    async fn end(&mut self, failure: Option<String>) -> Flow {
        self.recorder.finish_round();
        self.beat(1).await?;
        match failure {
            None => self.recorder.finish(Termination::NaturalEnd),
            Some(message) if self.recorder.drafts.on(MAIN).is_none() => {
                let termination = Termination::Stopped { code: "token_budget_exceeded", detail: message };
                self.recorder.finish(termination);
            }
            Some(message) => self.fail(message),
        }
        ControlFlow::Break(None)
    }
}

/// Whether a step is seen on the wire.
fn is_frame(step: &Step) -> bool {
    step.is_event() && !matches!(step, Step::Connect { .. } | Step::CreateSandbox { .. })
}
