//! Pages of the server's turns: when they are read, and what they say.

use super::plan::LoadState;
use super::queue::QueuedState;
use super::turn::{Input, Parent, Running, Turn, TurnState};
use super::{After, Effect, Key, Listed, ListedState, Page, Plan};

impl Plan {
    pub(super) fn attach(&mut self) {
        if std::mem::replace(&mut self.is_shown, true) {
            return;
        }
        self.look();
        for at in 0..self.tree.turns.len() {
            let Some(turn) = self.tree.turns.get(at) else { break };
            if matches!(turn.state, TurnState::Running(Running { is_watched: false, .. })) {
                self.watch(turn.key);
            }
        }
    }

    pub(super) fn detach(&mut self) {
        self.is_shown = false;
        if !self.options.leaves_unseen {
            return;
        }
        for turn in &mut self.tree.turns {
            if let TurnState::Running(running) = &mut turn.state
                && std::mem::replace(&mut running.is_watched, false)
            {
                self.effects.push(Effect::Leave { turn: turn.key });
            }
        }
    }

    /// The newest page is wanted: what is being read may be older than what made it wanted.
    pub(super) fn look(&mut self) {
        self.load.wants_newest |= self.options.history;
    }

    /// Reads the page that is wanted. What a start on its way has made is unknown: until it is, no page is read.
    pub(super) fn read_page(&mut self) {
        let is_starting = self.tree.turns.iter().any(|turn| matches!(turn.state, TurnState::Starting(..)));
        if self.load.state != LoadState::Idle || is_starting || self.session != super::plan::Session::Ready {
            return;
        }
        let before = match self.tree.cut {
            Some(cut) if self.load.wants_earlier && !self.load.wants_newest => Some(cut),
            _ if self.load.wants_newest => None,
            _ => return,
        };
        match before {
            Some(cut) => {
                self.load.wants_earlier = false;
                self.load.state = LoadState::Before(cut);
            }
            None => {
                self.load.wants_newest = false;
                self.load.state = LoadState::Newest;
            }
        }
        self.load.count = self.load.count.wrapping_add(1);
        self.effects.push(Effect::Load { before });
    }

    pub(super) fn page_failed(&mut self) {
        self.load.state = LoadState::Idle;
        self.load.is_loaded = true;
    }

    pub(super) fn page(&mut self, page: Page) {
        let state = std::mem::take(&mut self.load.state);
        let is_starting = self.tree.turns.iter().any(|turn| matches!(turn.state, TurnState::Starting(..)));
        if state == LoadState::Idle {
            return;
        }
        // A listed turn may be the one that is on its way.
        if is_starting {
            match state {
                LoadState::Before(_) => self.load.wants_earlier = true,
                _ => self.load.wants_newest = true,
            }
            return;
        }
        self.load.is_loaded = true;
        let Page { mut turns, has_earlier } = page;
        if is_newest_first(&turns) {
            turns.reverse();
        }
        let places = self.place(&turns, state);
        let first = turns.first().map(|listed| self.key_of(&listed.id));
        self.set_cut(first.flatten(), &places, state, has_earlier);
        self.set_parents(&turns);
        for listed in turns {
            self.take_listed(listed);
        }
        if state == LoadState::Newest {
            self.miss();
        }
    }

    fn key_of(&self, id: &str) -> Option<Key> {
        self.tree.with_id(id).and_then(|at| self.tree.turns.get(at)).map(|turn| turn.key)
    }

    /// Places listed turns, oldest first. Returns whether each was known.
    fn place(&mut self, listed: &[Listed], state: LoadState) -> Vec<bool> {
        let known = listed.iter().find_map(|listed| self.tree.with_id(&listed.id));
        let mut at = match (known, state) {
            (Some(known), _) => known,
            (None, LoadState::Before(cut)) => self.tree.find(cut).unwrap_or_default(),
            (None, _) => self.tree.newest().map_or(0, |newest| newest + 1),
        };
        let mut places = Vec::new();
        let mut before: Option<&Listed> = None;
        for one in listed {
            let known = self.tree.with_id(&one.id);
            places.push(known.is_some());
            let mine = known.or_else(|| self.claim(one, before));
            let turn = match mine {
                Some(from) if from >= at => {
                    at = if known.is_some() { from } else { at };
                    self.tree.turns.remove(from)
                }
                Some(from) => {
                    at = at.saturating_sub(1);
                    self.tree.turns.remove(from)
                }
                None => {
                    let mut turn = Turn::new(self.keys.make(), Parent::Nothing, TurnState::Incomplete);
                    turn.listed = true;
                    turn
                }
            };
            at = at.min(self.tree.turns.len());
            self.tree.turns.insert(at, turn);
            if known.is_none()
                && let Some(turn) = self.tree.turns.get_mut(at)
            {
                turn.id.clone_from(&one.id);
                turn.state = TurnState::Incomplete;
                turn.asks = !one.input.is_empty();
            }
            at += 1;
            before = Some(one);
        }
        places
    }

    /// The turn of this plan that may be the listed one: it may have arrived, and says the same.
    fn claim(&self, listed: &Listed, before: Option<&Listed>) -> Option<usize> {
        self.tree.turns.iter().position(|turn| {
            let Some(out) = turn.outgoing().filter(|out| out.was_lost) else { return false };
            let follows = match &out.after {
                After::Newest => true,
                After::Nothing => listed.previous.is_empty(),
                After::Turn(id) => !self.options.fork || listed.previous == *id,
            };
            follows
                && match &out.input {
                    Input::Message(text) => *text == listed.input,
                    Input::Answers(_) | Input::Nothing => {
                        let previous = if self.options.fork {
                            Some(&listed.previous)
                        } else {
                            before.map(|before| &before.id)
                        };
                        let parent = match &turn.parent {
                            Parent::Turn(key) => self.tree.find(*key).and_then(|at| self.tree.turns.get(at)),
                            _ => None,
                        };
                        listed.input.is_empty() && parent.is_some_and(|parent| Some(&parent.id) == previous)
                    }
                }
        })
    }

    /// Where the newest pages begin now.
    fn set_cut(&mut self, first: Option<Key>, known: &[bool], state: LoadState, has_earlier: bool) {
        let joins = known.contains(&true);
        self.tree.cut = match state {
            LoadState::Newest if joins => return,
            _ if !has_earlier => None,
            // It meets what was read before there was a gap.
            LoadState::Before(_) if joins => self.tree.turns.first().map(|turn| turn.key),
            _ => first,
        };
    }

    fn set_parents(&mut self, listed: &[Listed]) {
        if self.options.fork {
            for one in listed {
                let Some(key) = self.key_of(&one.id) else { continue };
                let before = self
                    .tree
                    .find(key)
                    .and_then(|at| self.tree.parent_of(at))
                    .and_then(|at| self.tree.turns.get(at));
                // A turn that continues another one has its id.
                if before.is_some_and(|before| before.id == one.id) {
                    continue;
                }
                let parent = match self.key_of(&one.previous) {
                    _ if one.previous.is_empty() => Parent::Nothing,
                    Some(key) => Parent::Turn(key),
                    None => Parent::Unlisted(one.previous.clone()),
                };
                if let Some(turn) = self.tree.get(key) {
                    turn.parent = parent;
                }
            }
        } else {
            self.tree.chain();
        }
        self.tree.link();
    }

    fn take_listed(&mut self, listed: Listed) {
        let count = self.load.count;
        let Some(key) = self.key_of(&listed.id) else { return };
        self.settle_parent(key);
        for said in &listed.said {
            self.said_before(key, said);
        }
        let follows = self.tree.turns.iter().any(|turn| turn.parent == Parent::Turn(key) && !turn.is_aside());
        let Some(turn) = self.tree.get(key).filter(|turn| turn.heard < count) else { return };
        match (&turn.state, listed.state) {
            (TurnState::Running(Running { is_watched: true, .. }), _) => {}
            (_, ListedState::Ended(end)) => {
                let calls = if follows { Vec::new() } else { listed.calls };
                self.end(key, end, calls);
            }
            (_, ListedState::Running) if self.is_shown || !self.options.leaves_unseen => self.watch(key),
            (_, ListedState::Running) => turn.state = TurnState::Running(Running::default()),
        }
    }

    /// The newest page does not have these: they have not arrived.
    fn miss(&mut self) {
        let count = self.load.count;
        let mut at = 0;
        while let Some(turn) = self.tree.turns.get_mut(at) {
            let key = turn.key;
            at += 1;
            if turn.heard >= count || !matches!(turn.state, TurnState::Unknown(_)) {
                continue;
            }
            let TurnState::Unknown(out) = std::mem::replace(&mut turn.state, TurnState::Incomplete) else {
                continue;
            };
            let is_message = matches!(out.input, Input::Message(_));
            turn.state = TurnState::Failed(out);
            if !is_message {
                self.drop_answers(key);
                at -= 1;
            }
        }
        // What waits no more needs no answer, and no turn that is not among the newest waits.
        let turns = &self.tree.turns;
        self.saved.retain(|saved| turns.iter().any(|turn| turn.id == saved.turn && turn.is_active()));
        for item in &mut self.queue.0 {
            if let QueuedState::Unknown(id) = &item.state
                && !turns.iter().any(|turn| turn.id == *id && turn.is_active())
            {
                item.state = QueuedState::Held;
            }
        }
    }

    fn said_before(&mut self, key: Key, said: &str) {
        let is_open = |state: &QueuedState| !matches!(state, QueuedState::Waits | QueuedState::Held);
        if self.queue.0.iter().any(|item| item.input == said && is_open(&item.state)) {
            self.said(key, said);
        }
    }
}

/// Whether a list begins with its newest turn. Lists say it by what follows what, else by time.
fn is_newest_first(listed: &[Listed]) -> bool {
    for pair in listed.windows(2) {
        let [one, next] = pair else { continue };
        let is_later =
            |one: &Listed, next: &Listed| one.previous == next.id || one.created_at > next.created_at;
        if is_later(one, next) != is_later(next, one) {
            return is_later(one, next);
        }
    }
    false
}
