//! The tree of a session's turns, and the path through it that is shown.
//!
//! Turns are kept in the server's order, oldest first: a turn comes after its parent. Those that the server has not named
//! come where they were sent.

use super::turn::{Joint, Parent, Turn, TurnState};
use super::{After, Branch, Key};

/// The tree.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) turns: Vec<Turn>,
    /// The path leads through this turn to its newest descendant; without one, to the newest turn.
    pub(super) chosen: Option<Key>,
}

/// Where a new turn goes.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) parent: Parent,
    pub(super) after: After,
    pub(super) is_fork: bool,
}

impl Tree {
    pub(super) fn find(&self, key: Key) -> Option<usize> {
        self.turns.iter().rposition(|turn| turn.key == key)
    }

    pub(super) fn get(&mut self, key: Key) -> Option<&mut Turn> {
        self.turns.iter_mut().rfind(|turn| turn.key == key)
    }

    /// The turn with this id; of several that continue each other the last.
    pub(super) fn with_id(&self, id: &str) -> Option<usize> {
        // A turn that is being named has none yet.
        self.turns.iter().rposition(|turn| !id.is_empty() && turn.id == id && turn.is_named())
    }

    pub(super) fn parent_of(&self, at: usize) -> Option<usize> {
        let Parent::Turn(parent) = self.turns.get(at)?.parent else {
            return None;
        };
        // It is near, and before its child: no list of a server makes a circle.
        self.turns.get(..at)?.iter().rposition(|turn| turn.key == parent)
    }

    /// The last turn of the path.
    pub(super) fn tip(&self) -> Option<usize> {
        let newest = self.turns.iter().rposition(|turn| !turn.is_aside())?;
        let Some(chosen) = self.chosen.and_then(|key| self.find(key)) else {
            return Some(newest);
        };
        (chosen..=newest).rev().find(|at| {
            let mut from = Some(*at);
            while from.is_some_and(|from| from > chosen) {
                from = from.and_then(|from| self.parent_of(from));
            }
            from == Some(chosen) && self.turns.get(*at).is_some_and(|turn| !turn.is_aside())
        })
    }

    /// The turns of the path, oldest first, and beside them those that were not sent.
    pub(super) fn path(&self) -> Vec<usize> {
        let mut path = Vec::new();
        let mut at = self.tip();
        while let Some(on) = at {
            path.push(on);
            at = self.parent_of(on);
        }
        path.reverse();
        for (at, turn) in self.turns.iter().enumerate().filter(|(_, turn)| turn.is_aside()) {
            let place = match &turn.parent {
                Parent::Nothing => Some(0),
                Parent::Turn(key) => path
                    .iter()
                    .position(|on| self.turns.get(*on).is_some_and(|on| on.key == *key))
                    .map(|on| on + 1),
                Parent::Unlisted(_) => Some(path.len()),
            };
            if let Some(mut place) = place {
                // After those that were left here before it.
                while path.get(place).is_some_and(|on| self.turns.get(*on).is_some_and(Turn::is_aside)) {
                    place += 1;
                }
                path.insert(place, at);
            }
        }
        path
    }

    /// How many turns follow each turn, and in the last place how many are first ones.
    pub(super) fn fans(&self) -> Vec<u32> {
        let mut fans = vec![0; self.turns.len() + 1];
        for (at, turn) in self.turns.iter().enumerate().filter(|(_, turn)| !turn.is_aside()) {
            let parent = match turn.parent {
                Parent::Unlisted(_) => None,
                Parent::Nothing => Some(self.turns.len()),
                Parent::Turn(_) => self.parent_of(at),
            };
            if let Some(fan) = parent.and_then(|parent| fans.get_mut(parent)) {
                *fan += 1;
            }
        }
        fans
    }

    /// A turn among its siblings.
    pub(super) fn branch(&self, key: Key) -> Option<Branch> {
        let turn = &self.turns.get(self.find(key)?)?;
        if turn.is_aside() {
            return None;
        }
        let of: Vec<Key> = self
            .turns
            .iter()
            .filter(|other| !other.is_aside() && other.parent == turn.parent)
            .map(|other| other.key)
            .collect();
        let at = of.iter().position(|other| *other == key)?;
        (of.len() > 1).then_some(Branch { at, of })
    }

    /// Goes to the branch with this turn.
    pub(super) fn show(&mut self, key: Key) {
        self.chosen = Some(key);
        let newest = self.turns.iter().rposition(|turn| !turn.is_aside());
        // Other clients' turns are followed again.
        if self.tip() == newest {
            self.chosen = None;
        }
    }

    /// The newest turn that the server has named.
    pub(super) fn newest(&self) -> Option<usize> {
        self.turns.iter().rposition(Turn::is_named)
    }

    /// The first turn of the newest pages, if the server has earlier ones, which are not loaded.
    pub(super) fn cut(&self) -> Option<Key> {
        let mut turns = self.turns.iter().rev().filter(|turn| turn.is_named()).skip_while(|turn| turn.joint == Joint::Unlisted);
        turns.find(|turn| turn.joint != Joint::Joined).map(|turn| turn.key)
    }

    /// Where the next turn of the path goes: after the last turn that the server knows.
    pub(super) fn end(&self) -> Place {
        let mut last = self.tip();
        while last.and_then(|last| self.turns.get(last)).is_some_and(|turn| !turn.is_named()) {
            last = last.and_then(|last| self.parent_of(last));
        }
        let Some(turn) = last.and_then(|last| self.turns.get(last)) else {
            return Place { parent: Parent::Nothing, after: After::Newest, is_fork: false };
        };
        let after = if last == self.newest() { After::Newest } else { After::Turn(turn.id.clone()) };
        Place { parent: Parent::Turn(turn.key), after, is_fork: false }
    }

    /// Where a sibling of this turn goes.
    pub(super) fn beside(&self, at: usize) -> Option<Place> {
        let parent = self.turns.get(at)?.parent.clone();
        let after = match &parent {
            Parent::Nothing => After::Nothing,
            Parent::Unlisted(id) => After::Turn(id.clone()),
            Parent::Turn(_) => After::Turn(self.turns.get(self.parent_of(at)?)?.id.clone()),
        };
        Some(Place { parent, after, is_fork: true })
    }

    /// The turn that asked what this turn answers: itself, or where answers continue it the one that they continue.
    pub(super) fn question_of(&self, at: usize) -> Option<usize> {
        let mut from = Some(at);
        while let Some(turn) = from.and_then(|from| self.turns.get(from)) {
            if turn.asks {
                return from;
            }
            from = from.and_then(|from| self.parent_of(from));
        }
        None
    }

    /// The parents of turns that follow each other, where the protocol cannot fork.
    pub(super) fn chain(&mut self) {
        let mut last = Parent::Nothing;
        for turn in &mut self.turns {
            if turn.is_aside() {
                continue;
            }
            if turn.joint == Joint::Open {
                last = Parent::Unlisted(String::new());
            }
            turn.parent = std::mem::replace(&mut last, Parent::Turn(turn.key));
        }
    }

    /// The parents that have come, and the place of turns on their way to the end of the list.
    pub(super) fn link(&mut self) {
        let newest = self.newest().and_then(|newest| self.turns.get(newest)).map(|turn| turn.key);
        for at in 0..self.turns.len() {
            let Some(turn) = self.turns.get(at) else { break };
            let parent = match (&turn.parent, &turn.state) {
                (_, TurnState::Starting(out, _) | TurnState::Prepared(out)) if out.after == After::Newest => {
                    newest
                }
                (Parent::Unlisted(id), _) => {
                    self.with_id(id).and_then(|parent| self.turns.get(parent)).map(|turn| turn.key)
                }
                _ => None,
            };
            if let (Some(parent), Some(turn)) = (parent, self.turns.get_mut(at)) {
                turn.parent = Parent::Turn(parent);
            }
        }
    }

    /// Takes out all turns with this id, in order, to be placed where the list has them: at their own place, if a list
    /// had them before. Keeps the place.
    pub(super) fn take_all(&mut self, id: &str, place: &mut usize) -> Vec<Turn> {
        let mut taken = Vec::new();
        let mut at = 0;
        while let Some(turn) = self.turns.get(at) {
            if turn.id != id || !turn.is_named() {
                at += 1;
                continue;
            }
            if at < *place {
                *place -= 1;
            } else if taken.is_empty() && turn.joint != Joint::Unlisted {
                *place = at;
            }
            taken.push(self.turns.remove(at));
        }
        taken
    }

    pub(super) fn remove(&mut self, at: usize) -> Option<Turn> {
        let turn = (at < self.turns.len()).then(|| self.turns.remove(at))?;
        if self.chosen == Some(turn.key) {
            self.chosen = None;
        }
        Some(turn)
    }
}
