//! Playing a script as a run: at a pace, with decisions taken on the way, until it ends or is halted.

use std::iter::Peekable;
use std::ops::ControlFlow;

use serde_json::json;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, sleep_until};

use super::decision::Decision;
use super::event::{Event, Termination};
use super::message::Message;
use super::progress::Standing;
use super::recorder::Recorder;
use super::run::Halt;
use super::surface::Dialect;
use super::suspension::{SuspendedCall, Suspension};
use crate::agents::{Answers, Ending, FinishReason, MAIN, MessageKey, Resume, Step, Steps};
use crate::turns::Pace;

/// The tool that goes on while another call waits.
pub(super) const EXTRA_TOOL: &str = "watch_service";
/// A tool that takes longer than this many beats reports its progress.
const LONG: u32 = 20;
/// In so many parts.
const PARTS: u32 = 4;
/// How long the extra tool takes.
const EXTRA_BEATS: u32 = 24;

const WHILE_WAITING: &str = "While I wait for your answer, this much I can say already: the numbers \
look as they did an hour ago, and nothing that you decide will be lost.";
const WHILE_WATCHING: &str = "I keep watching while you decide. The load is at forty percent, the \
queue is empty, and the last deployment was yesterday. Nobody has reported anything new. The backups \
are in order, the certificates are valid until spring, and there is room on every disk. You can \
answer at any time: whatever you say is taken into account as soon as it arrives here, in the middle \
of this sentence if need be.";
const STILL_WAITING: &str = "Thank you. There is still something that I need from you.";

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
}

type Flow = ControlFlow<Option<Halt>>;

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

    async fn step(&mut self, step: Step) -> Flow {
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
    fn go_on(&self) -> Flow {
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
    async fn work(&mut self, call: &str, beats: u32) -> Flow {
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
    async fn beat(&mut self, beats: u32) -> Flow {
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

    /// A decision arrives while the run goes on. One that nobody waits for is ignored.
    fn decided(&mut self, decision: &Decision) {
        let (call, resume, answers) = {
            let mut content = self.recorder.thread.content();
            let Some(suspension) = &mut content.suspension else {
                return;
            };
            let Some(call) = suspension.answer(decision) else {
                return;
            };
            (call, suspension.resume.clone(), suspension.answers.clone())
        };
        let result = result_of(resume(&answers), &call.call);
        self.recorder.resumed(&call, decision, result.as_deref());
        self.recorder.snapshot();
        self.recorder.checkpoint();
    }

    /// Answers at the beginning of a run. What follows, or `None` if the run has ended.
    async fn resume(
        &mut self,
        decisions: Vec<Decision>,
    ) -> ControlFlow<Option<Halt>, Option<Peekable<Steps>>> {
        let stale = self.recorder.state.clone();
        let (taken, suspension) = self.take(&decisions);
        let Some(suspension) = suspension else {
            self.interlude("There is nothing that waits for you.").await?;
            self.recorder.finish(Termination::NaturalEnd);
            return ControlFlow::Continue(None);
        };
        let mut steps = (suspension.resume)(&suspension.answers).peekable();
        if !taken.is_empty() {
            self.recorder.sub_agents = suspension.sub_agents.clone();
            let results = self.perform(&mut steps, &suspension).await?;
            for (call, decision) in &taken {
                let result = results.iter().find(|(known, _)| *known == call.call);
                self.recorder.resumed(call, decision, result.map(|(_, content)| content.as_str()));
            }
            self.recorder.snapshot();
            self.recorder.checkpoint();
            if self.recorder.wire.traps.stale_snapshot {
                let snapshot = stale.clone().snapshot();
                self.recorder.wire.send(Event::StateSnapshot { snapshot });
            }
            self.go_on()?;
        }
        if suspension.is_answered() {
            return ControlFlow::Continue(Some(steps));
        }
        self.interlude(STILL_WAITING).await?;
        self.settle_or_suspend()
    }

    /// Hands the decisions to the thread: the calls that they answer, and what is left to answer.
    fn take(&mut self, decisions: &[Decision]) -> (Vec<(SuspendedCall, Decision)>, Option<Suspension>) {
        let mut content = self.recorder.thread.content();
        let Some(suspension) = &mut content.suspension else {
            return (Vec::new(), None);
        };
        let taken: Vec<(SuspendedCall, Decision)> = decisions
            .iter()
            .filter_map(|decision| Some((suspension.answer(decision)?, decision.clone())))
            .collect();
        let left = suspension.clone();
        if left.is_answered() {
            content.suspension = None;
        }
        for (call, decision) in &taken {
            if call.asks_consent() && decision.remember() {
                let allowed = decision.approval() == crate::agents::Approval::Allow;
                content.remembered.insert(call.tool.clone(), allowed);
            }
        }
        (taken, Some(left))
    }

    /// Plays the answered calls, up to the agent's next words. The results of calls by their id.
    async fn perform(
        &mut self,
        steps: &mut Peekable<Steps>,
        suspension: &Suspension,
    ) -> ControlFlow<Option<Halt>, Vec<(String, String)>> {
        let mut results = Vec::new();
        if !suspension.is_answered() {
            let steps = (suspension.resume)(&suspension.answers);
            let prefix = steps.take_while(|step| !begins_talk(step));
            results.extend(prefix.filter_map(main_result));
            return ControlFlow::Continue(results);
        }
        self.recorder.quiet = true;
        while steps.peek().is_some_and(|step| !begins_talk(step)) {
            match steps.next() {
                Some(Step::Wait(beats)) => self.beat(beats).await?,
                Some(Step::ToolResult { thread, call, content }) if thread == MAIN => {
                    results.push((call, content));
                }
                Some(Step::EndThread { agent, failure }) => {
                    let content = self.recorder.end_sub_agent(&agent, failure);
                    results.push((agent.parent_call, content));
                }
                Some(step) => self.recorder.record(step),
                None => {}
            }
        }
        self.recorder.quiet = false;
        ControlFlow::Continue(results)
    }

    /// The script waits for answers. What follows if there are some already, else `None`.
    async fn pause(&mut self, resume: Resume) -> ControlFlow<Option<Halt>, Option<Peekable<Steps>>> {
        let waiting = self.recorder.suspended();
        if waiting.is_empty() {
            // Nothing that this protocol could ask for: the script goes on as if it had been answered.
            return ControlFlow::Continue(Some(resume(&Answers::default()).peekable()));
        }
        let settled = self.go_on_with_others(&resume).await?;
        let settled_ids = self.recorder.settled();
        {
            let mut content = self.recorder.thread.content();
            content.suspension = Some(Suspension {
                calls: waiting,
                resume,
                answers: Answers::default(),
                settled: settled_ids,
                sub_agents: self.recorder.sub_agents.clone(),
            });
        }
        self.recorder.finish_round();
        self.recall();
        if settled {
            let text = if self.recorder.had_extra_call { WHILE_WATCHING } else { WHILE_WAITING };
            if self.recorder.dialect == Dialect::Tirea {
                self.interlude(text).await?;
            }
        }
        self.settle_or_suspend()
    }

    /// What was remembered about tools answers at once.
    fn recall(&mut self) {
        let known: Vec<Decision> = {
            let content = self.recorder.thread.content();
            let calls = content.suspension.iter().flat_map(|suspension| &suspension.calls);
            let known = calls.filter(|call| call.asks_consent()).filter_map(|call| {
                let allowed = *content.remembered.get(&call.tool)?;
                Some(Decision::remembered(call.call.clone(), allowed))
            });
            known.collect()
        };
        for decision in known {
            self.decided(&decision);
        }
    }

    /// The other calls of the round run, also if one waits. Whether there were any.
    async fn go_on_with_others(&mut self, resume: &Resume) -> ControlFlow<Option<Halt>, bool> {
        let others = self.recorder.unsettled();
        let mut any = !self.recorder.settled().is_empty();
        let prefix = resume(&Answers::default()).take_while(|step| !begins_talk(step));
        let mut beats = 0;
        for step in prefix {
            match step {
                Step::Wait(more) => beats += more,
                Step::ToolResult { thread, call, content } if thread == MAIN && others.contains(&call) => {
                    self.work(&call, beats.max(LONG)).await?;
                    self.recorder.result(&call, &content);
                    any = true;
                    beats = 0;
                }
                _ => beats = 0,
            }
        }
        for call in self.recorder.unsettled() {
            self.work(&call, EXTRA_BEATS).await?;
            self.recorder.result(&call, &json!({"service": "shop-web", "status": "healthy"}).to_string());
            self.recorder.had_extra_call = true;
            any = true;
        }
        ControlFlow::Continue(any)
    }

    /// What waited, if everything was answered in the meantime.
    fn answered(&mut self) -> Option<Suspension> {
        while let Ok(decision) = self.decisions.try_recv() {
            self.decided(&decision);
        }
        let mut content = self.recorder.thread.content();
        let answered = content.suspension.as_ref().is_some_and(Suspension::is_answered);
        content.suspension.take_if(|_| answered)
    }

    /// Goes on if everything was answered in the meantime, else ends the run.
    fn settle_or_suspend(&mut self) -> ControlFlow<Option<Halt>, Option<Peekable<Steps>>> {
        let answered = self.answered().or_else(|| {
            // What was sent before the way is closed counts; what comes later starts another run.
            self.recorder.run.close();
            let late = self.answered()?;
            self.decisions = self.recorder.run.listen();
            Some(late)
        });
        if let Some(suspension) = answered {
            let settled = suspension.settled.clone();
            let steps = (suspension.resume)(&suspension.answers);
            // The results are out already.
            let rest = steps.filter(move |step| match step {
                Step::ToolResult { call, .. } => !settled.contains(call),
                _ => true,
            });
            let rest: Steps = Box::new(rest);
            return ControlFlow::Continue(Some(rest.peekable()));
        }
        self.recorder.finish(Termination::Suspended);
        ControlFlow::Continue(None)
    }

    /// A message that no script has, word by word.
    async fn interlude(&mut self, text: &str) -> Flow {
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

/// Whether the agent itself says something from here on, or nothing follows.
fn begins_talk(step: &Step) -> bool {
    match step {
        Step::BeginMessage { thread, .. } => thread == MAIN,
        Step::End(_) => true,
        _ => false,
    }
}

/// The result of one call before the agent's next words: a tool's, or a sub-agent's last words.
fn result_of(steps: Steps, call: &str) -> Option<String> {
    let mut said = String::new();
    for step in steps.take_while(|step| !begins_talk(step)) {
        match step {
            Step::ToolResult { call: known, content, .. } if known == call => return Some(content),
            Step::BeginMessage { .. } => said.clear(),
            Step::Text { text, .. } => said += &text,
            Step::EndThread { agent, failure } if agent.parent_call == call => {
                let done = || json!({"status": "completed", "output": said}).to_string();
                return Some(failure.map_or_else(done, |error| format!("Error: {error}")));
            }
            _ => {}
        }
    }
    None
}

fn main_result(step: Step) -> Option<(String, String)> {
    match step {
        Step::ToolResult { thread, call, content } if thread == MAIN => Some((call, content)),
        _ => None,
    }
}

/// Whether a step is seen on the wire.
fn is_frame(step: &Step) -> bool {
    step.is_event() && !matches!(step, Step::Connect { .. } | Step::CreateSandbox { .. })
}
