//! A turn with answers: it takes results, runs calls that were allowed, and continues the script.

use std::collections::HashMap;
use std::iter::Peekable;
use std::ops::ControlFlow;

use super::super::message::Content;
use super::super::pending::{CallAnswer, Pending, Rest, Waiting};
use super::{Player, until_talk};
use crate::agents::{Answers, Step, Steps, saying, serve};
use crate::turns::Flow;

impl Player {
    /// Takes the answers to all pending calls. Returns the steps that follow.
    pub(super) async fn answer(
        &mut self,
        pending: Box<Pending>,
        call_answers: Vec<(String, CallAnswer)>,
    ) -> Flow<Peekable<Steps>> {
        let Pending { calls, settled, rest } = *pending;
        self.recorder.settled = settled;
        let (known, mut answers) = match &rest {
            Rest::Steps { results, .. } => (results.clone(), Answers::default()),
            Rest::Script { answers, .. } => (HashMap::new(), answers.clone()),
        };
        let mut granted = Vec::new();
        let mut denied = None;
        for (id, answer) in &call_answers {
            let Some(waiting) = calls.iter().find(|waiting| waiting.call.id == *id) else {
                continue;
            };
            let result = match answer {
                CallAnswer::Result(content) => {
                    self.recorder.settle(id, content.clone());
                    content.text()
                }
                CallAnswer::Permission { granted: false, reason } => {
                    denied.get_or_insert_with(|| waiting.call.name.clone());
                    let text = self.recorder.denial(reason.as_deref());
                    self.recorder.settle(id, Content::Text(text.clone()));
                    text
                }
                CallAnswer::Permission { granted: true, .. } => {
                    granted.push(waiting);
                    known.get(id).cloned().unwrap_or_else(|| served(waiting))
                }
            };
            waiting.record(answer, &result, &mut answers);
        }
        match rest {
            Rest::Script { resume, .. } => {
                let mut steps = resume(&answers).peekable();
                self.carry_out(until_talk(&mut steps), &granted).await?;
                ControlFlow::Continue(steps)
            }
            Rest::Steps { steps, results } => {
                self.hand_over(&granted, &results).await?;
                ControlFlow::Continue(match denied {
                    None => steps,
                    Some(tool) => {
                        let text = format!("I may not use `{tool}`, so this is as far as I come.");
                        saying(&text).peekable()
                    }
                })
            }
        }
    }

    /// The calls that were allowed run as the script says; calls that it does not mention run at the end.
    async fn carry_out(&mut self, span: Vec<Step>, granted: &[&Waiting]) -> Flow {
        for step in span {
            if let Step::Wait(beats) = step {
                self.clock.pass(beats).await?;
            } else if let Some((call, content)) = self.recorder.aside(step) {
                if granted.iter().any(|waiting| waiting.call.id == call) {
                    self.recorder.granted(&call, content);
                } else {
                    self.recorder.result(&call, content);
                }
            }
        }
        for waiting in granted {
            self.recorder.granted(&waiting.call.id, served(waiting));
        }
        ControlFlow::Continue(())
    }

    /// Runs the allowed calls, with their fixed results.
    async fn hand_over(&mut self, granted: &[&Waiting], results: &HashMap<String, String>) -> Flow {
        for waiting in granted {
            self.clock.pass(1).await?;
            let id = &waiting.call.id;
            let content = results.get(id).cloned().unwrap_or_else(|| served(waiting));
            self.recorder.granted(id, content);
        }
        ControlFlow::Continue(())
    }
}

/// The result of a call that the script does not mention. The server cannot run the client's tools.
fn served(waiting: &Waiting) -> String {
    if waiting.by_client {
        format!("Tool not found: {}", waiting.call.name)
    } else {
        serve(&waiting.call.name, &waiting.call.input)
    }
}
