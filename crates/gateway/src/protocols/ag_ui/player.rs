//! Plays a script as a run, until it ends, waits, or is stopped.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::asking::{ask, outcome};
use super::event::{Event, Outcome};
use super::input::RunInput;
use super::recorder::Recorder;
use super::scripts::{Act, Acts, steps};
use super::server::Server;
use super::threads::{App, Thread};
use super::traps::{BAD_PATCH, ERROR_EVENT, ERROR_FIRST, SILENCE};
use super::waiting::{By, Rejection, Taken, Waiting};
use crate::agents::{Answers, MAIN, Resume, Step, Steps};
use crate::faults::Traps;
use crate::store::Turn;
use crate::turns::{self, Clock, Flow, Stop};

/// What is still to be played.
type Script = turns::Script<Act>;

/// What a run begins with.
pub(super) enum Beginning {
    /// The script for the user's words.
    Script(Acts),
    /// Answers to the questions of an earlier run.
    Answers(Arc<Waiting>, Taken),
    /// Pending questions are repeated.
    Again(Arc<Waiting>),
    /// The server sends the thread that it keeps.
    Hydration,
    /// The request is invalid.
    Rejected(Rejection),
}

/// Plays one run.
pub(super) struct Player {
    pub(super) recorder: Recorder,
    pub(super) clock: Clock,
    pub(super) input: Arc<RunInput>,
    pub(super) traps: Traps,
    pub(super) server: Server,
    /// The request, repeated in the first event.
    pub(super) echo: Option<Value>,
    /// What the thread waits for at the end.
    pub(super) waiting: Option<Arc<Waiting>>,
    pub(super) app: App,
    pub(super) thread: Arc<Thread>,
    pub(super) turn: Arc<Turn>,
}

impl Player {
    /// Plays the run to its end.
    pub(super) async fn play(mut self, beginning: Beginning) {
        let before = match &beginning {
            Beginning::Answers(waiting, _) => Some(Arc::clone(waiting)),
            _ => self.waiting.clone(),
        };
        match self.run(beginning).await {
            ControlFlow::Break(None) | ControlFlow::Continue(()) => {}
            // The run was not read, and the same request may be sent again.
            ControlFlow::Break(Some(Stop::Abandoned)) => self.thread.state().waiting = before,
            ControlFlow::Break(Some(Stop::Cancelled | Stop::NextTurn)) => {
                self.keep();
                self.recorder.stop();
            }
            ControlFlow::Break(Some(Stop::TimeLimit)) => self.fail("The run took too long", "TIMEOUT"),
        }
        self.turn.progress().state = Some(Box::default());
        self.recorder.wire.close();
    }

    /// Stores the run's effect on the thread, before the last event is sent: a client may answer that at once.
    fn keep(&mut self) {
        if let Some(waiting) = &self.waiting {
            self.app.own.expect(waiting);
        }
        let mut state = self.thread.state();
        state.waiting.clone_from(&self.waiting);
        state.state.clone_from(&self.recorder.wire.state);
        state.conversation.clone_from(&self.recorder.wire.conversation);
        drop(state);
        self.turn.progress().state = Some(Box::default());
    }

    fn fail(&mut self, message: impl Into<String>, code: &'static str) {
        self.keep();
        self.recorder.fail(message, Some(code));
    }

    async fn run(&mut self, beginning: Beginning) -> Flow {
        if self.traps.has(&ERROR_FIRST) {
            self.fail("The agent could not be loaded", "AGENT_ERROR");
            return ControlFlow::Break(None);
        }
        self.recorder.begin(self.echo.take());
        if let Some(pause) = self.traps.number(&SILENCE) {
            self.clock.sleep(Duration::from_millis(pause)).await?;
        }
        let has_state = self.recorder.wire.state.as_object().is_none_or(|state| !state.is_empty());
        if self.server == Server::Store && has_state {
            let snapshot = self.recorder.wire.state.clone();
            self.recorder.wire.send(Event::StateSnapshot { snapshot });
        }
        if self.traps.has(&BAD_PATCH) {
            let delta = json!([{"op": "replace", "path": "/no/such", "value": 1}]);
            self.recorder.wire.send(Event::StateDelta { delta });
        }
        let script = match beginning {
            Beginning::Script(acts) => acts.peekable(),
            Beginning::Answers(waiting, taken) => self.resume(&waiting, taken),
            Beginning::Again(waiting) => {
                self.waiting = Some(Arc::clone(&waiting));
                let interrupts = waiting.interrupts().cloned().collect();
                return self.finish(Outcome::Interrupt { interrupts });
            }
            Beginning::Hydration => return self.hydrate(),
            Beginning::Rejected(rejection) => {
                self.fail(rejection.message, rejection.code);
                return ControlFlow::Break(None);
            }
        };
        turns::play(self, script).await
    }

    fn resume(&mut self, waiting: &Waiting, taken: Taken) -> Script {
        for agent in &waiting.agents {
            self.recorder.expect(agent.clone());
        }
        self.recorder.settled.clone_from(&waiting.settled);
        self.recorder.edited = taken.edited;
        for (call, result) in taken.results {
            self.recorder.result(MAIN, &call, result);
        }
        steps((waiting.resume)(&taken.answers)).peekable()
    }

    fn hydrate(&mut self) -> Flow {
        let messages = self.recorder.wire.conversation.messages.clone();
        if !messages.is_empty() {
            self.recorder.wire.send(Event::MessagesSnapshot { messages });
        }
        let interrupts: Vec<_> =
            self.waiting.iter().flat_map(|waiting| waiting.interrupts().cloned()).collect();
        let pending_tool_call_ids =
            self.waiting.iter().flat_map(|waiting| waiting.tools().map(str::to_owned)).collect();
        // Another run may be active, and stores its own effect on the thread.
        self.turn.progress().state = Some(Box::default());
        self.recorder.finish(if interrupts.is_empty() {
            Outcome::Success { pending_tool_call_ids }
        } else {
            Outcome::Interrupt { interrupts }
        });
        ControlFlow::Break(None)
    }

    fn finish(&mut self, outcome: Outcome) -> Flow {
        self.keep();
        if self.traps.has(&ERROR_EVENT) {
            self.recorder.wire.write_error_event("Event encoding failed");
        } else {
            self.recorder.finish(outcome);
        }
        ControlFlow::Break(None)
    }

    /// Runs calls that need no answer, although others wait.
    async fn run_meanwhile(&mut self, steps: Steps, waiting: &[&str]) -> Flow {
        let steps: Vec<Step> = steps.take_while(|step| !step.begins_talk()).collect();
        let runs = |step: &Step| matches!(step, Step::ToolResult { thread, call, .. } if thread == MAIN && !waiting.contains(&call.as_str()));
        let Some(last) = steps.iter().rposition(runs) else {
            return ControlFlow::Continue(());
        };
        for step in steps.into_iter().take(last + 1) {
            match step {
                Step::Wait(beats) => self.clock.pass(beats).await?,
                step if runs(&step) => {
                    self.clock.pass(1).await?;
                    self.recorder.record(step);
                }
                _ => {}
            }
        }
        ControlFlow::Continue(())
    }
}

impl turns::Player for Player {
    type Act = Act;

    fn clock(&mut self) -> &mut Clock {
        &mut self.clock
    }

    async fn act(&mut self, act: Act, _: &mut Script) -> Flow {
        self.clock.pass(u32::from(act.is_seen())).await?;
        match act {
            Act::Step(step) => self.recorder.record(step),
            Act::Send(frame) => self.recorder.wire.send(frame),
        }
        ControlFlow::Continue(())
    }

    async fn pause(&mut self, resume: Resume, script: &mut Script) -> Flow {
        let mut answers = Answers::default();
        let asked = ask(&mut self.recorder, &self.input, &self.traps, &mut answers);
        if asked.is_empty() {
            *script = steps(resume(&answers)).peekable();
            return ControlFlow::Continue(());
        }
        let calls: Vec<&str> = asked.iter().filter_map(|(_, asked)| asked.what.call()).collect();
        self.run_meanwhile(resume(&answers), &calls).await?;
        let ids = asked.iter().filter_map(|(thread, asked)| match &asked.by {
            By::Interrupt(interrupt) => Some((thread.clone(), interrupt.id.clone())),
            By::Tool(_) => None,
        });
        let agents = self.recorder.suspend(&ids.collect::<Vec<_>>());
        let asked = asked.into_iter().map(|(_, asked)| asked).collect();
        let settled = self.recorder.settled.clone();
        let waiting = Arc::new(Waiting { asked, resume, answers, settled, agents });
        let outcome = outcome(&mut self.recorder, &waiting, &self.traps);
        self.waiting = Some(waiting);
        self.finish(outcome)
    }

    async fn end(&mut self, failure: Option<String>) -> Flow {
        match failure {
            None => self.finish(Outcome::Success { pending_tool_call_ids: Vec::new() }),
            Some(message) => {
                self.fail(message, "MODEL_ERROR");
                ControlFlow::Break(None)
            }
        }
    }
}
