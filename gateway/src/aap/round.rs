//! The calls of one message: who runs each of them, which ones wait, and what runs meanwhile.

use std::collections::{HashMap, HashSet};
use std::iter::Peekable;
use std::ops::ControlFlow;

use super::message::Call;
use super::pending::{Given, Pending, Rest, Waiting, Wish};
use super::player::{Flow, Player};

use super::session::Runner;
use crate::agents::{Answers, Ending, MAIN, Resume, Step, Steps, serve};

/// A call, and what is to become of it.
struct Sorted {
    waiting: Waiting,
    runner: Runner,
}

impl Sorted {
    /// Whether somebody has to be asked.
    fn waits(&self) -> bool {
        match self.runner {
            Runner::Client | Runner::Untrusted => true,
            Runner::Trusted => false,
            Runner::Unexposed => self.waiting.wish != Wish::Nothing,
        }
    }
}

impl Player {
    /// The calls of a message. The steps that follow, or `None` if some wait.
    pub(super) async fn round(
        &mut self,
        calls: Vec<Call>,
        mut steps: Peekable<Steps>,
    ) -> Flow<Option<Peekable<Steps>>> {
        let span = until_talk(&mut steps);
        let resume = match steps.peek() {
            Some(Step::End(Ending::Paused(resume))) => Some(Resume::clone(resume)),
            _ => None,
        };
        let wishes = self.wishes(&span);
        let sorted = self.sort(calls, &wishes);
        let runs = |call: &str| sorted.iter().all(|sorted| sorted.waiting.call.id != call || !sorted.waits());
        let mut results = HashMap::new();
        for step in span {
            if let Step::Wait(beats) = step {
                self.beat(beats).await?;
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
        let rest = match resume {
            Some(resume) => Rest::Script { resume, answers },
            None => Rest::Steps { steps, results },
        };
        if calls.is_empty() {
            return ControlFlow::Continue(Some(match rest {
                Rest::Script { resume, answers } => resume(&answers).peekable(),
                Rest::Steps { steps, .. } => steps,
            }));
        }
        let settled = self.recorder.settled.clone();
        self.recorder.session.state().pending = Some(Box::new(Pending { calls, settled, rest }));
        ControlFlow::Continue(None)
    }

    /// What the script wants to know about calls, by the call of the main thread that stands for it.
    fn wishes(&mut self, span: &[Step]) -> HashMap<String, (String, Wish)> {
        // A sub-agent asks in the name of the call that started it, which the same steps tell.
        let parents: HashMap<&str, &str> = span
            .iter()
            .filter_map(|step| match step {
                Step::BeginThread(agent) => Some((agent.thread.as_str(), agent.parent_call.as_str())),
                _ => None,
            })
            .collect();
        let mut wishes = HashMap::new();
        for step in span {
            let (thread, calls, wish) = match step {
                Step::AwaitApproval { thread, calls } => (thread, calls, Wish::Consent),
                Step::AwaitResponse { thread, calls } => (thread, calls, Wish::Response),
                _ => continue,
            };
            for asked in calls {
                let parent =
                    parents.get(thread.as_str()).copied().or(self.recorder.sub_agents.parent(thread));
                let call = if thread == MAIN { Some(asked.as_str()) } else { parent };
                if let Some(call) = call {
                    wishes.insert(call.to_owned(), (asked.clone(), wish));
                }
            }
        }
        wishes
    }

    fn sort(&self, calls: Vec<Call>, wishes: &HashMap<String, (String, Wish)>) -> Vec<Sorted> {
        let state = self.recorder.session.state();
        let sorted = calls.into_iter().map(|call| {
            let runner = state.runner(&call.name);
            let (asked, wish) =
                wishes.get(&call.id).cloned().unwrap_or_else(|| (call.id.clone(), Wish::Nothing));
            let waiting = Waiting { call, asked, by_client: runner == Runner::Client, wish };
            Sorted { waiting, runner }
        });
        sorted.collect()
    }

    /// What is trusted needs no answer: it is as if it had been given.
    fn answer_trusted(&mut self, sorted: &[Sorted]) -> Answers {
        let mut answers = Answers::default();
        for Sorted { waiting, .. } in sorted.iter().filter(|sorted| !sorted.waits()) {
            let granted = Given::Permission { granted: true, reason: None };
            let result = serve(&waiting.call.name, &waiting.call.input);
            waiting.tell(&granted, &result, &mut answers);
            if waiting.wish == Wish::Response {
                self.recorder.result(&waiting.call.id, result);
            }
        }
        answers
    }

    /// The other calls of the message run, although some wait.
    async fn run_meanwhile(&mut self, steps: Steps, others: &HashSet<&str>) -> Flow {
        for step in until_talk(&mut steps.peekable()) {
            match step {
                Step::Wait(beats) => self.beat(beats).await?,
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

/// The steps before the agent itself says something, or the turn ends.
pub(super) fn until_talk(steps: &mut Peekable<Steps>) -> Vec<Step> {
    let talks = |step: &Step| match step {
        Step::BeginMessage { thread, .. } => thread == MAIN,
        Step::End(_) => true,
        _ => false,
    };
    std::iter::from_fn(|| steps.next_if(|step| !talks(step))).collect()
}
