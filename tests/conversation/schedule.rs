//! Schedules: the actions that a seed draws, how they are played, and how a failing one is made shorter.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::random::Random;
use super::replay::Replay;
use super::world::World;

/// One action: which one, and two numbers by which it chooses. Any schedule can be played.
pub(crate) type Action = [u32; 3];

/// A case: what the protocol is like, and what happens.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct Case {
    #[serde(default)]
    pub(crate) name: String,
    /// The bits of the protocol.
    pub(crate) protocol: u32,
    pub(crate) actions: Vec<Action>,
}

impl Case {
    pub(crate) fn draw(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut draw = |bound| u32::try_from(random.below(bound)).expect("below a bound");
        let protocol = draw(1 << 12);
        let len = 10 + draw(70);
        let actions = (0..len).map(|_| [draw(1 << 10), draw(1 << 16), draw(1 << 16)]).collect();
        Self { name: String::new(), protocol, actions }
    }

    /// Plays the case. Returns what was broken, and all that happened.
    pub(crate) fn play(&self) -> Result<Vec<String>, (String, Vec<String>)> {
        let mut world = World::new(self.protocol);
        let played = catch_unwind(AssertUnwindSafe(|| {
            for action in &self.actions {
                world.act(*action);
            }
            world.settle();
        }));
        match played {
            Ok(()) => Ok(world.log),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                Err((text.unwrap_or_default(), world.log))
            }
        }
    }

    /// The lives of all plans in this case, to hold another plan to.
    pub(crate) fn replays(&self) -> Vec<Replay> {
        let mut world = World::new(self.protocol);
        for action in &self.actions {
            world.act(*action);
        }
        world.settle();
        world.past.append(&mut world.replays);
        world.past
    }

    /// The shortest schedule found that breaks something.
    pub(crate) fn shortened(&self) -> Self {
        let mut best = self.clone();
        let mut size = best.actions.len().div_ceil(2);
        loop {
            let mut at = 0;
            let mut is_shorter = false;
            while at < best.actions.len() {
                let mut less = best.clone();
                less.actions.drain(at..(at + size).min(best.actions.len()));
                if less.play().is_err() {
                    best = less;
                    is_shorter = true;
                } else {
                    at += size;
                }
            }
            if size == 1 && !is_shorter {
                return best;
            }
            size = size.div_ceil(2);
        }
    }
}
