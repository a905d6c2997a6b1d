//! The calls that wait in a run: the pause, the answers, and what runs in between.

use std::iter::Peekable;
use std::ops::ControlFlow;

use serde_json::json;

use super::super::decision::Decision;
use super::super::event::{Event, StateSnapshotData, Termination};
use super::super::server::Dialect;
use super::super::suspension::{SuspendedCall, Suspension};
use super::super::traps::STALE_SNAPSHOT;
use super::{LONG, Player};
use crate::agents::{Answers, MAIN, Resume, Step, Steps};
use crate::turns::{Flow, Script};

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

/// What follows. It breaks without a reason if the run has ended.
type Next = Flow<Script>;

impl Player {
    /// A decision arrives while the run plays. It is ignored if no call waits for it.
    pub(super) fn decided(&mut self, decision: &Decision) {
        if !self.recorder.suspended().is_empty() {
            // The round with its call has not ended yet.
            self.early.push(decision.clone());
            return;
        }
        let (call, steps) = {
            let mut content = self.recorder.thread.content();
            let Some(call) = content.answer(decision) else {
                return;
            };
            let Some(suspension) = &content.suspension else {
                return;
            };
            (call, (suspension.resume)(&suspension.answers))
        };
        let result = result_of(steps, &call.call);
        self.recorder.resumed(&call, decision, result.as_deref());
        self.recorder.snapshot();
        self.recorder.checkpoint();
    }

    /// Takes the answers with which a run begins. Returns what follows.
    pub(super) async fn resume(&mut self, decisions: Vec<Decision>) -> Next {
        let stale = self.recorder.state.clone();
        let (taken, suspension) = self.take(decisions);
        let Some(suspension) = suspension else {
            self.say("There is nothing that waits for you.").await?;
            self.recorder.finish(Termination::NaturalEnd);
            return ControlFlow::Break(None);
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
            if self.recorder.wire.traps.has(&STALE_SNAPSHOT) {
                let snapshot = stale.clone().snapshot();
                self.recorder.wire.send(Event::StateSnapshot(StateSnapshotData { snapshot }));
            }
            self.check_open()?;
        }
        if suspension.is_answered() {
            return ControlFlow::Continue(steps);
        }
        self.say(STILL_WAITING).await?;
        self.settle_or_suspend()
    }

    /// Passes the decisions to the thread. Returns the calls that they answer, and what is left to answer.
    fn take(&mut self, decisions: Vec<Decision>) -> (Vec<(SuspendedCall, Decision)>, Option<Suspension>) {
        let mut content = self.recorder.thread.content();
        let taken = decisions.into_iter().filter_map(|decision| Some((content.answer(&decision)?, decision)));
        let taken = taken.collect();
        let left = content.suspension.clone();
        content.suspension.take_if(|suspension| suspension.is_answered());
        (taken, left)
    }

    /// Plays the answered calls, up to the agent's next message. Returns the results of calls by their id.
    async fn perform(
        &mut self,
        steps: &mut Peekable<Steps>,
        suspension: &Suspension,
    ) -> Flow<Vec<(String, String)>> {
        let mut results = Vec::new();
        if !suspension.is_answered() {
            let steps = (suspension.resume)(&suspension.answers);
            let prefix = steps.take_while(|step| !step.begins_talk());
            results.extend(prefix.filter_map(main_result));
            return ControlFlow::Continue(results);
        }
        self.recorder.activities.quiet = true;
        while steps.peek().is_some_and(|step| !step.begins_talk()) {
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
        self.recorder.activities.quiet = false;
        ControlFlow::Continue(results)
    }

    /// The script waits for answers. Returns what follows if there are some already.
    pub(super) async fn await_answers(&mut self, resume: Resume) -> Next {
        let waiting = self.recorder.suspended();
        if waiting.is_empty() {
            // The protocol has no such question: the script continues as if it had been answered.
            return ControlFlow::Continue(resume(&Answers::default()).peekable());
        }
        let meanwhile = self.run_other_calls(&resume).await?;
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
        self.apply_remembered();
        for decision in std::mem::take(&mut self.early) {
            self.decided(&decision);
        }
        if let Some(text) = meanwhile
            && self.recorder.dialect() == Dialect::Tirea
        {
            self.say(text).await?;
        }
        self.settle_or_suspend()
    }

    /// Remembered decisions about tools answer at once.
    fn apply_remembered(&mut self) {
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

    /// The other calls of the round run, also if one waits. Returns what the agent says then; `None` if there are
    /// no others.
    async fn run_other_calls(&mut self, resume: &Resume) -> Flow<Option<&'static str>> {
        let others = self.recorder.unsettled();
        let mut said = (!self.recorder.settled().is_empty()).then_some(WHILE_WAITING);
        let prefix = resume(&Answers::default()).take_while(|step| !step.begins_talk());
        let mut beats = 0;
        for step in prefix {
            match step {
                Step::Wait(more) => beats += more,
                Step::ToolResult { thread, call, content } if thread == MAIN && others.contains(&call) => {
                    self.work(&call, beats.max(LONG)).await?;
                    self.recorder.result(&call, &content);
                    said = Some(WHILE_WAITING);
                    beats = 0;
                }
                _ => beats = 0,
            }
        }
        for call in self.recorder.unsettled() {
            self.work(&call, EXTRA_BEATS).await?;
            self.recorder.result(&call, &json!({"service": "shop-web", "status": "healthy"}).to_string());
            said = Some(WHILE_WATCHING);
        }
        ControlFlow::Continue(said)
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

    /// Continues if everything was answered in the meantime, else ends the run.
    fn settle_or_suspend(&mut self) -> Next {
        let answered = self.answered().or_else(|| {
            // Decisions that were sent before this count; later ones start another run.
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
            return ControlFlow::Continue(rest.peekable());
        }
        self.recorder.finish(Termination::Suspended);
        ControlFlow::Break(None)
    }
}

/// The result of one call before the agent's next message: a tool's, or a sub-agent's last message.
fn result_of(steps: Steps, call: &str) -> Option<String> {
    let mut said = String::new();
    for step in steps.take_while(|step| !step.begins_talk()) {
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
