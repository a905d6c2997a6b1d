//! Pages of the server's turns: when they are read, and what they say.

use super::plan::LoadState;
use super::queue::QueuedState;
use super::turn::{Input, Joint, Parent, Running, Turn, TurnState};
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
        let before = match self.tree.cut() {
            Some(cut) if self.load.wants_earlier && !self.load.wants_newest => Some(cut),
            _ if self.load.wants_newest => None,
            _ => return,
        };
        if let Some(cut) = before {
            self.load.wants_earlier = false;
            self.load.state = LoadState::Before(cut);
        } else {
            self.load.wants_newest = false;
            self.load.state = LoadState::Newest;
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
        if state == LoadState::Newest {
            self.load.newest = self.load.count;
        }
        let Page { mut turns, has_earlier } = page;
        if is_newest_first(&turns) {
            turns.reverse();
        }
        self.place(&turns, state);
        self.join(&turns, state, has_earlier);
        self.set_parents(&turns);
        for listed in turns {
            self.take_listed(listed);
        }
        self.miss();
    }

    fn key_of(&self, id: &str) -> Option<Key> {
        self.tree.with_id(id).and_then(|at| self.tree.turns.get(at)).map(|turn| turn.key)
    }

    /// Places listed turns, oldest first.
    fn place(&mut self, listed: &[Listed], state: LoadState) {
        let is_placed = |turn: &Turn| turn.joint != Joint::Unlisted;
        let is_listed = |turn: &Turn| is_placed(turn) && listed.iter().any(|listed| listed.id == turn.id);
        let known = self.tree.turns.iter().position(is_listed);
        let mut at = match (known, state) {
            (Some(known), _) => known,
            (None, LoadState::Before(cut)) => self.tree.find(cut).unwrap_or_default(),
            (None, _) => self.tree.turns.iter().rposition(is_placed).map_or(0, |last| last + 1),
        };
        if state == LoadState::Newest {
            // What had begun before this page was asked for, and is not in it, is older.
            let count = self.load.count;
            let is_older = |turn: &Turn| {
                turn.joint == Joint::Unlisted
                    && turn.is_named()
                    && turn.begun < count
                    && !listed.iter().any(|listed| listed.id == turn.id)
            };
            let mut from = at;
            while let Some(turn) = self.tree.turns.get(from) {
                if is_older(turn) {
                    let turn = self.tree.turns.remove(from);
                    self.tree.turns.insert(at, turn);
                    at += 1;
                }
                from += 1;
            }
        }
        let mut before: Option<&Listed> = None;
        for one in listed {
            let mut known = self.tree.take_all(&one.id, &mut at);
            if known.is_empty() {
                known.push(self.new_listed(one, before, &mut at));
            }
            for turn in known {
                self.tree.turns.insert(at.min(self.tree.turns.len()), turn);
                at += 1;
            }
            before = Some(one);
        }
    }

    /// A turn that was not known: one that was sent from here and may have arrived, or another client's.
    fn new_listed(&mut self, listed: &Listed, before: Option<&Listed>, at: &mut usize) -> Turn {
        let mut turn = match self.claim(listed, before) {
            Some(from) => {
                *at -= usize::from(from < *at);
                self.tree.turns.remove(from)
            }
            None => Turn::new(self.keys.make(), Parent::Nothing, TurnState::Incomplete),
        };
        turn.listed = turn.is_named();
        turn.id.clone_from(&listed.id);
        turn.state = TurnState::Incomplete;
        turn.asks = !listed.input.is_empty();
        turn
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

    /// What the page says of which turns follow each other without a gap.
    fn join(&mut self, listed: &[Listed], state: LoadState, has_earlier: bool) {
        let mut last = None;
        for turn in &mut self.tree.turns {
            let Some(at) = listed.iter().position(|listed| listed.id == turn.id) else { continue };
            // What continues a turn under its id follows it.
            if at > 0 || !has_earlier || last == Some(at) {
                turn.joint = Joint::Joined;
            } else if turn.joint == Joint::Unlisted {
                turn.joint = Joint::Open;
            }
            last = Some(at);
        }
        if let LoadState::Before(cut) = state
            && let Some(turn) = self.tree.get(cut)
        {
            turn.joint = Joint::Joined;
        }
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
            self.said(key, said);
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

    /// The pages do not have these: they have not arrived.
    fn miss(&mut self) {
        let newest = self.load.newest;
        let cut = self.tree.cut().and_then(|cut| self.tree.find(cut)).unwrap_or_default();
        let is_whole = self.tree.cut().is_none();
        let mut at = 0;
        while let Some(turn) = self.tree.turns.get(at) {
            let is_covered = is_whole || self.tree.parent_of(at).is_some_and(|parent| parent >= cut);
            if turn.heard >= newest || !is_covered || !matches!(turn.state, TurnState::Unknown(_)) {
                at += 1;
                continue;
            }
            let key = turn.key;
            if turn.message().is_empty() {
                self.drop_answers(key);
                continue;
            }
            if let Some(turn) = self.tree.get(key)
                && let TurnState::Unknown(out) = std::mem::replace(&mut turn.state, TurnState::Incomplete)
            {
                turn.state = TurnState::Failed(out);
            }
        }
        let turns = &self.tree.turns;
        // What waits no more needs no answer, and no turn that is not among the newest waits.
        self.saved.retain(|saved| turns.iter().any(|turn| turn.id == saved.turn && turn.is_active()));
        for item in &mut self.queue.0 {
            if let QueuedState::Unknown(id) = &item.state
                && is_whole
                && !turns.iter().any(|turn| turn.id == *id)
            {
                item.state = QueuedState::Held;
            }
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
