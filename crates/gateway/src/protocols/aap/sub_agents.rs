//! Sub-agents. The protocol has none: they work behind the calls that started them, and their last messages are the
//! results of those calls.

use std::collections::HashMap;

use crate::agents::{Draft, MAIN, Step, SubAgent};

/// The sub-agents of one turn.
#[derive(Debug, Default)]
pub(super) struct SubAgents {
    /// The call that started each thread.
    parents: HashMap<String, String>,
    /// The last message of each thread.
    words: HashMap<String, String>,
}

impl SubAgents {
    /// Follows the steps on their threads. Returns a call's id and result, if the step settles one.
    pub(super) fn follow(&mut self, step: Step) -> Option<(String, String)> {
        match step {
            Step::BeginThread(agent) => {
                self.parents.insert(agent.thread, agent.parent_call);
            }
            Step::ToolResult { thread, call, content } if thread == MAIN => return Some((call, content)),
            Step::EndThread { agent, failure } => return Some(self.end(agent, failure)),
            _ => {}
        }
        None
    }

    /// A sub-agent's message is complete.
    pub(super) fn said(&mut self, message: Draft<()>) {
        self.words.insert(message.thread, message.text);
    }

    fn end(&mut self, agent: SubAgent, failure: Option<String>) -> (String, String) {
        let words = self.words.remove(&agent.thread).unwrap_or_default();
        (agent.parent_call, failure.map_or(words, |error| format!("Error: {error}")))
    }

    /// The call of the main thread behind which another call is made.
    pub(super) fn parent(&self, thread: &str) -> Option<&str> {
        self.parents.get(thread).map(String::as_str)
    }
}
