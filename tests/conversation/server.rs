//! The model's server: one session, its turns, and what it takes and refuses.

use turnwire::conversation::{After, End, Listed, ListedState, Page, StartInput, Waiting, Who};

/// What the server's protocol is like.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a trait of the protocol")]
pub(crate) struct Protocol {
    pub(crate) fork: bool,
    pub(crate) live_answers: bool,
    pub(crate) steer: bool,
    pub(crate) discard_pending: bool,
    pub(crate) newest_first: bool,
    /// A turn that continues another one with answers has its id.
    pub(crate) same_ids: bool,
    /// So many turns are on a page.
    pub(crate) page: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Server {
    pub(crate) turns: Vec<ServedTurn>,
    pub(crate) has_session: bool,
    /// Every answer that was taken: turn, call, answer.
    pub(crate) answers: Vec<(String, String, String)>,
    pub(crate) calls: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct ServedTurn {
    pub(crate) id: String,
    pub(crate) previous: String,
    /// Empty for a turn of answers.
    pub(crate) input: String,
    pub(crate) state: ListedState,
    pub(crate) calls: Vec<Waiting>,
    pub(crate) said: Vec<String>,
}

impl Server {
    pub(crate) fn find(&self, id: &str) -> Option<&ServedTurn> {
        self.turns.iter().rfind(|turn| turn.id == id)
    }

    fn find_mut(&mut self, id: &str) -> Option<&mut ServedTurn> {
        self.turns.iter_mut().rfind(|turn| turn.id == id)
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.turns.iter().any(|turn| turn.state == ListedState::Running)
    }

    /// How often a text has arrived as a turn or in one.
    pub(crate) fn count(&self, text: &str) -> usize {
        let said = |turn: &ServedTurn| turn.said.iter().filter(|said| *said == text).count();
        self.turns.iter().map(|turn| usize::from(turn.input == text) + said(turn)).sum()
    }

    /// The ids of the turn and of those before it, oldest first. Those that continue each other are one.
    pub(crate) fn chain(&self, id: &str) -> Vec<String> {
        let mut chain = vec![];
        let mut at = self.turns.iter().rposition(|turn| turn.id == id);
        while let Some(turn) = at.map(|at| &self.turns[at]) {
            chain.push(turn.id.clone());
            at = self.turns[..at.expect("a turn")].iter().rposition(|before| before.id == turn.previous);
        }
        chain.reverse();
        chain.dedup();
        chain
    }

    /// Starts a turn. Returns its id and that of the turn before it, or nothing if it is refused.
    pub(crate) fn start(
        &mut self,
        protocol: Protocol,
        after: &After,
        asking: &str,
        input: &StartInput,
        discard: bool,
    ) -> Option<(String, String)> {
        let newest = self.turns.last().map(|turn| turn.id.clone()).unwrap_or_default();
        let previous = match after {
            After::Newest => newest,
            After::Nothing if protocol.fork => String::new(),
            After::Turn(id) if protocol.fork && self.find(id).is_some() => id.clone(),
            _ => return None,
        };
        let waiting = self.find(&previous).map(|turn| turn.calls.clone()).unwrap_or_default();
        if self.is_busy() {
            return None;
        }
        let is_answered = self
            .turns
            .iter()
            .any(|turn| turn.previous == previous && !previous.is_empty() && waiting.is_empty());
        let mut id = format!("s{}", self.turns.len());
        let mut text = String::new();
        match input {
            StartInput::Message(message) => {
                let needs_answers = waiting.iter().any(|call| call.who != Who::SignIn);
                if needs_answers && !(discard && protocol.discard_pending) {
                    return None;
                }
                text.clone_from(message);
            }
            StartInput::Answers(_, given) => {
                let open = waiting.iter().filter(|call| call.who != Who::SignIn);
                let is_all = open.clone().all(|call| given.iter().any(|(known, _)| *known == call.id));
                if is_answered || asking != previous || waiting.is_empty() || !is_all {
                    return None;
                }
                self.take_answers(&previous, given);
                if protocol.same_ids {
                    id.clone_from(&previous);
                }
            }
            StartInput::Nothing if waiting.is_empty() => return None,
            StartInput::Nothing => {}
        }
        if let Some(turn) = self.find_mut(&previous) {
            turn.calls.clear();
        }
        if id == previous
            && let Some(turn) = self.find_mut(&id)
        {
            // The same turn goes on.
            turn.state = ListedState::Running;
            let before = turn.previous.clone();
            return Some((id, before));
        }
        let (previous, state) = (previous, ListedState::Running);
        self.turns.push(ServedTurn {
            id: id.clone(),
            previous: previous.clone(),
            input: text,
            state,
            calls: vec![],
            said: vec![],
        });
        Some((id, previous))
    }

    fn take_answers(&mut self, turn: &str, given: &[(String, String)]) {
        for (call, answer) in given {
            assert!(
                !self.answers.iter().any(|(_, known, _)| known == call),
                "the server took a second answer to {call}"
            );
            self.answers.push((turn.to_owned(), call.clone(), answer.clone()));
        }
    }

    /// A running turn asks.
    pub(crate) fn ask(&mut self, id: &str, who: Who) {
        let call = format!("c{}", self.calls);
        self.calls += 1;
        if let Some(turn) = self.find_mut(id) {
            turn.calls.push(Waiting { id: call, who });
        }
    }

    pub(crate) fn end(&mut self, id: &str, end: End) {
        if let Some(turn) = self.find_mut(id).filter(|turn| turn.state == ListedState::Running) {
            turn.state = ListedState::Ended(end);
            if end != End::Done {
                turn.calls.clear();
            }
        }
    }

    /// Takes an answer while the turn runs.
    pub(crate) fn answer(&mut self, id: &str, call: &str, answer: &str) -> bool {
        let Some(turn) = self.find_mut(id).filter(|turn| turn.state == ListedState::Running) else {
            return false;
        };
        let Some(at) = turn.calls.iter().position(|known| known.id == call) else { return false };
        turn.calls.remove(at);
        self.take_answers(id, &[(call.to_owned(), answer.to_owned())]);
        true
    }

    /// Takes a message while the turn runs.
    pub(crate) fn steer(&mut self, id: &str, text: &str) -> bool {
        let Some(turn) = self.find_mut(id).filter(|turn| turn.state == ListedState::Running) else {
            return false;
        };
        turn.said.push(text.to_owned());
        true
    }

    /// The page of turns before this one, or the newest.
    pub(crate) fn page(&self, protocol: Protocol, before: Option<&str>) -> Page {
        let end = before
            .and_then(|id| self.turns.iter().position(|turn| turn.id == id))
            .unwrap_or(self.turns.len());
        let start = end.saturating_sub(protocol.page);
        let mut turns: Vec<_> = self.turns[start..end].iter().map(|turn| listed(turn, protocol)).collect();
        if protocol.newest_first {
            turns.reverse();
        }
        Page { turns, has_earlier: start > 0 }
    }
}

fn listed(turn: &ServedTurn, protocol: Protocol) -> Listed {
    Listed {
        id: turn.id.clone(),
        previous: if protocol.fork { turn.previous.clone() } else { String::new() },
        created_at: format!("{:06}", turn.id[1..].parse::<u32>().expect("a number")),
        input: turn.input.clone(),
        state: turn.state,
        calls: if turn.state == ListedState::Running { vec![] } else { turn.calls.clone() },
        said: turn.said.clone(),
    }
}
