//! One session: an agent, a title, and a tree of turns.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use jiff::Timestamp;
use serde_json::Value;

use super::Turn;
use crate::lock::lock;

/// The longest title made from a message, in characters.
const TITLE_LENGTH: usize = 50;

/// The agent of a session.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Agent {
    /// A saved agent, by name.
    Named(String),
    /// An agent that the client describes itself.
    Draft { spec: Value, name: Option<String> },
}

impl Agent {
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Named(name) => Some(name),
            Self::Draft { name, .. } => name.as_deref(),
        }
    }

    pub(crate) fn is_draft(&self) -> bool {
        matches!(self, Self::Draft { .. })
    }
}

/// A conversation.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: String,
    /// The tenant of a protocol that the session belongs to.
    pub(crate) space: String,
    /// The id of the user who made it.
    pub(crate) owner: String,
    pub(crate) created_at: Timestamp,
    /// Held while a turn is created, so that no two turns follow the same one.
    pub(crate) starting: tokio::sync::Mutex<()>,
    details: Mutex<Details>,
}

/// The parts of a session that change.
#[derive(Debug)]
pub(crate) struct Details {
    pub(crate) agent: Agent,
    pub(crate) title: Option<String>,
    pub(crate) updated_at: Timestamp,
    turns: HashMap<String, Arc<Turn>>,
    /// Turn ids in order of creation.
    order: Vec<String>,
}

impl Session {
    pub(crate) fn new(id: String, space: String, owner: String, agent: Agent, title: Option<String>) -> Self {
        let now = crate::time::now();
        Self {
            id,
            space,
            owner,
            created_at: now,
            starting: tokio::sync::Mutex::default(),
            details: Mutex::new(Details {
                agent,
                title,
                updated_at: now,
                turns: HashMap::new(),
                order: Vec::new(),
            }),
        }
    }

    /// A session of a protocol that keeps the rest of it itself.
    pub(crate) fn plain(id: &str, space: &str, agent: &str) -> Self {
        let agent = Agent::Named(agent.to_owned());
        Self::new(id.to_owned(), space.to_owned(), String::new(), agent, None)
    }

    pub(crate) fn details(&self) -> MutexGuard<'_, Details> {
        lock(&self.details)
    }

    pub(crate) fn turn(&self, id: &str) -> Option<Arc<Turn>> {
        self.details().turns.get(id).cloned()
    }

    /// The turn that was created last.
    pub(crate) fn last_turn(&self) -> Option<Arc<Turn>> {
        let details = self.details();
        let last = details.order.last()?;
        details.turns.get(last).cloned()
    }

    /// All turns in order of creation, of every branch.
    pub(crate) fn all_turns(&self) -> Vec<Arc<Turn>> {
        let details = self.details();
        let turns = details.order.iter();
        turns.filter_map(|id| details.turns.get(id).cloned()).collect()
    }

    /// A turn and its ancestors, newest first.
    pub(crate) fn chain(&self, from: &str) -> Vec<Arc<Turn>> {
        let details = self.details();
        let mut chain = Vec::new();
        let mut next = details.turns.get(from);
        while let Some(turn) = next {
            chain.push(Arc::clone(turn));
            next = turn.previous.as_ref().and_then(|id| details.turns.get(id));
        }
        chain
    }

    /// Adds a turn. The first message with text becomes the session's title, if it has none.
    pub(crate) fn add(&self, turn: &Arc<Turn>) {
        let mut details = self.details();
        details.updated_at = crate::time::now();
        if details.title.is_none() {
            details.title = title(&turn.text);
        }
        details.order.push(turn.id.clone());
        details.turns.insert(turn.id.clone(), Arc::clone(turn));
    }
}

/// The beginning of a message as a title; `None` if it has no text.
fn title(text: &str) -> Option<String> {
    let title: String = text.trim().chars().take(TITLE_LENGTH).collect();
    let title = title.trim_end();
    (!title.is_empty()).then(|| title.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_short_and_trimmed() {
        assert_eq!(title("  hello  "), Some("hello".to_owned()));
        assert_eq!(title(" \n"), None);
        assert_eq!(title(&"é".repeat(80)), Some("é".repeat(50)));
    }
}
