//! The calls of one message: who runs each of them, which ones wait, and what runs meanwhile.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use super::super::message::Call;
use super::super::pending::{Awaited, CallAnswer, Pending, Rest, Waiting};
use super::super::session::Runner;
use super::super::wire::StopReason;
use super::{Player, until_talk};
use crate::agents::{Answers, Ending, MAIN, Resume, Step, Steps, serve};
use crate::turns::{Flow, Script};

/// A call, and who runs it.
struct Sorted {
    waiting: Waiting,
    runner: Runner,
}

impl Sorted {
    /// Whether the call waits for an answer.
    fn waits(&self) -> bool {
        match self.runner {
            Runner::Client | Runner::Untrusted => true,
            Runner::Trusted => false,
            Runner::Unexposed => self.waiting.awaited != Awaited::Nothing,
        }
    }
}

impl Player {
    /// The calls of a message. If some wait, the turn ends.
    pub(super) async fn round(&mut self, calls: Vec<Call>, script: &mut Script) -> Flow {
        let span = until_talk(script);
        let resume = match script.peek() {
            Some(Step::End(Ending::Paused(resume))) => Some(Resume::clone(resume)),
            _ => None,
        };
        let awaited_calls = self.awaited_calls(&span);
        let sorted = self.sort(calls, &awaited_calls);
        let runs = |call: &str| sorted.iter().all(|sorted| sorted.waiting.call.id != call || !sorted.waits());
        let mut results = HashMap::new();
        for step in span {
            if let Step::Wait(beats) = step {
                self.clock.pass(beats).await?;
            } else if let Some((call, content)) = self.recorder.aside(step) {
                if runs(&call) {
                    self.recorder.result(&call, content);
                } else {
                    results.insert(call, content);
                }
            }
        }
        let answers = self.answer_trusted(&sorted);
        let calls: Vec<Waiting> =
            sorted.iter().filter(|sorted| sorted.waits()).map(|sorted| sorted.waiting.clone()).collect();
        if let Some(resume) = &resume
            && !calls.is_empty()
        {
            let others: HashSet<&str> = sorted
                .iter()
                .filter(|sorted| !sorted.waits())
                .map(|sorted| sorted.waiting.call.id.as_str())
                .collect();
            self.run_meanwhile(resume(&answers), &others).await?;
        }
        if calls.is_empty() {
            if let Some(resume) = resume {
                *script = resume(&answers).peekable();
            }
            return ControlFlow::Continue(());
        }
        let rest = if let Some(resume) = resume {
            Rest::Script { resume, answers }
        } else {
            let nothing: Steps = Box::new(std::iter::empty());
            Rest::Steps { steps: std::mem::replace(script, nothing.peekable()), results }
        };
        let settled = self.recorder.settled.clone();
        self.recorder.session.state().pending = Some(Box::new(Pending { calls, settled, rest }));
        self.end_with(StopReason::ToolUse)
    }

    /// What the script asks about calls, by the call of the main thread that stands for each.
    fn awaited_calls(&mut self, span: &[Step]) -> HashMap<String, (String, Awaited)> {
        // A sub-agent asks through the call that started it, which the same steps name.
        let parents: HashMap<&str, &str> = span
            .iter()
            .filter_map(|step| match step {
                Step::BeginThread(agent) => Some((agent.thread.as_str(), agent.parent_call.as_str())),
                _ => None,
            })
            .collect();
        let mut awaited_calls = HashMap::new();
        for step in span {
            let (thread, calls, awaited) = match step {
                Step::AwaitApproval { thread, calls } => (thread, calls, Awaited::Consent),
                Step::AwaitResponse { thread, calls } => (thread, calls, Awaited::Response),
                _ => continue,
            };
            for asked in calls {
                let parent =
                    parents.get(thread.as_str()).copied().or(self.recorder.sub_agents.parent(thread));
                let call = if thread == MAIN { Some(asked.as_str()) } else { parent };
                if let Some(call) = call {
                    awaited_calls.insert(call.to_owned(), (asked.clone(), awaited));
                }
            }
        }
        awaited_calls
    }

    fn sort(&self, calls: Vec<Call>, awaited_calls: &HashMap<String, (String, Awaited)>) -> Vec<Sorted> {
        let state = self.recorder.session.state();
        let sorted = calls.into_iter().map(|call| {
            let runner = state.runner(&call.name);
            let (asked, awaited) =
                awaited_calls.get(&call.id).cloned().unwrap_or_else(|| (call.id.clone(), Awaited::Nothing));
            let waiting = Waiting { call, asked, by_client: runner == Runner::Client, awaited };
            Sorted { waiting, runner }
        });
        sorted.collect()
    }

    /// Trusted calls need no answer: they count as allowed.
    fn answer_trusted(&mut self, sorted: &[Sorted]) -> Answers {
        let mut answers = Answers::default();
        for Sorted { waiting, .. } in sorted.iter().filter(|sorted| !sorted.waits()) {
            let granted = CallAnswer::Permission { granted: true, reason: None };
            let result = serve(&waiting.call.name, &waiting.call.input);
            waiting.record(&granted, &result, &mut answers);
            if waiting.awaited == Awaited::Response {
                self.recorder.result(&waiting.call.id, result);
            }
        }
        answers
    }

    /// Runs the message's other calls, although some wait.
    async fn run_meanwhile(&mut self, steps: Steps, others: &HashSet<&str>) -> Flow {
        for step in until_talk(&mut steps.peekable()) {
            match step {
                Step::Wait(beats) => self.clock.pass(beats).await?,
                Step::ToolResult { thread, call, content }
                    if thread == MAIN && others.contains(call.as_str()) =>
                {
                    self.recorder.result(&call, content);
                }
                _ => {}
            }
        }
        ControlFlow::Continue(())
    }
}
