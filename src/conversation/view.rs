//! What a reader asks of a plan.

use super::call::{AnswerState, Call};
use super::turn::{Parent, Running, Turn, TurnState};
use super::{Activity, End, Key, Plan, Queued, Who};

/// What the conversation does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Phase {
    /// Nothing: a message can be sent.
    #[default]
    Idle,
    /// The first page of turns is read.
    Loading,
    /// A message is on its way.
    Sending,
    /// The turn has begun, and there is nothing to show yet.
    Thinking,
    /// Text or arguments come.
    Answering,
    /// Tools run, here or there.
    Working,
    /// A person must act.
    Waiting,
    /// The turn is being cancelled.
    Stopping,
    /// The connection is lost.
    Reconnecting,
    /// The last turn failed, or its fate is unknown.
    Failed,
}

/// What the conversation does, and what a person can do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a control of the page")]
pub struct Status {
    /// What it does.
    pub phase: Phase,
    /// A message would be sent at once.
    pub can_send: bool,
    /// There is something to stop.
    pub can_stop: bool,
    /// A message can be steered into the running turn.
    pub can_steer: bool,
    /// Inputs of the queue are held.
    pub held_queue: bool,
    /// There are earlier turns, which are not loaded.
    pub has_earlier: bool,
}

/// A turn on the path that is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown<'p> {
    /// Its key.
    pub key: Key,
    /// Its id; empty until the server has named it.
    pub id: &'p str,
    /// How it stands.
    pub state: ShownState,
    /// It begins with a message of the person.
    pub asks: bool,
    /// The message (JSON), until the server has it.
    pub input: &'p str,
    /// Messages that were steered into it here; with their text until the turn's own record has them.
    pub steered: Vec<(Key, &'p str)>,
    /// There is something to retry.
    pub can_retry: bool,
}

/// How a shown turn stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownState {
    /// It is not on the server, or may be.
    Here(Sent),
    /// It runs.
    Running,
    /// It has begun, and its end is unknown.
    Incomplete,
    /// It has ended.
    Ended(End),
}

/// How far a message is that the server has not named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// It is on its way.
    Sending,
    /// It may have arrived.
    Unknown,
    /// It has not arrived.
    Failed,
}

/// A call that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked<'p> {
    /// The turn that asks.
    pub turn: Key,
    /// The call.
    pub call: &'p str,
    /// Who answers.
    pub who: Who,
    /// The answer (JSON) that is kept or was sent; empty if there is none.
    pub answer: &'p str,
    /// It was sent, or is on its way: it cannot be changed.
    pub sent: bool,
}

/// A turn among its siblings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// Its place.
    pub at: usize,
    /// All of them, oldest first.
    pub of: Vec<Key>,
}

impl Plan {
    /// What the conversation does, and what a person can do.
    #[must_use]
    pub fn status(&self) -> Status {
        let phase = self.phase();
        let is_active = self.tree.turns.iter().any(Turn::is_active);
        let is_open = |turn: &Turn| matches!(turn.state, TurnState::Running(running) if !running.is_stopping);
        Status {
            phase,
            can_send: !self.is_busy() && self.waiting().is_none(),
            can_stop: phase != Phase::Stopping && (is_active || self.has_running_tools()),
            can_steer: self.options.steer && self.tree.turns.iter().any(is_open),
            held_queue: self.queue.is_held(),
            has_earlier: self.tree.cut().is_some(),
        }
    }

    /// What the conversation does.
    #[must_use]
    pub fn phase(&self) -> Phase {
        if let Some(turn) = self.tree.turns.iter().rfind(|turn| turn.is_active()) {
            return phase_of(turn);
        }
        if self.is_loading() {
            return Phase::Loading;
        }
        let is_going = |call: &Call| matches!(call.answer.state, AnswerState::Running | AnswerState::Going);
        match self.waiting().and_then(|at| self.tree.turns.get(at)) {
            Some(turn) if turn.calls.iter().any(is_going) => return Phase::Working,
            Some(_) => return Phase::Waiting,
            None => {}
        }
        let last = self.tree.path().last().and_then(|at| self.tree.turns.get(*at));
        match last.map(|turn| &turn.state) {
            None | Some(TurnState::Ended(End::Done | End::Cancelled)) => Phase::Idle,
            Some(_) => Phase::Failed,
        }
    }

    /// The turns that are shown, oldest first.
    #[must_use]
    pub fn path(&self) -> Vec<Shown<'_>> {
        self.tree.path().into_iter().filter_map(|at| self.tree.turns.get(at)).map(shown).collect()
    }

    /// All turns that are known, also those of other branches, in the server's order.
    #[must_use]
    pub fn turns(&self) -> Vec<Shown<'_>> {
        self.tree.turns.iter().map(shown).collect()
    }

    /// The path, with the siblings of each turn.
    pub(super) fn branched_path(&self) -> Vec<(Shown<'_>, Option<Branch>)> {
        let fans = self.tree.fans();
        let branch = |at: usize, turn: &Turn| {
            let parent = if turn.parent == Parent::Nothing {
                Some(self.tree.turns.len())
            } else {
                self.tree.parent_of(at)
            };
            let is_one = parent.and_then(|parent| fans.get(parent)).is_some_and(|fan| *fan < 2);
            if is_one { None } else { self.tree.branch(turn.key) }
        };
        let turns = self.tree.path().into_iter().filter_map(|at| Some((at, self.tree.turns.get(at)?)));
        turns.map(|(at, turn)| (shown(turn), branch(at, turn))).collect()
    }

    /// A turn among its siblings; none if it has none.
    #[must_use]
    pub fn branch(&self, turn: Key) -> Option<Branch> {
        self.tree.branch(turn)
    }

    /// The turn whose message this turn answers: itself, or the one that it continues with answers.
    #[must_use]
    pub fn question_of(&self, turn: Key) -> Option<Key> {
        let question = self.tree.question_of(self.tree.find(turn)?)?;
        self.tree.turns.get(question).map(|turn| turn.key)
    }

    /// The id of a turn; empty while it has none.
    #[must_use]
    pub fn id_of(&self, turn: Key) -> &str {
        self.tree.find(turn).and_then(|at| self.tree.turns.get(at)).map_or("", |turn| &turn.id)
    }

    /// The calls that wait.
    #[must_use]
    pub fn pending(&self) -> Vec<Asked<'_>> {
        let waiting = self.waiting();
        let mut pending = Vec::new();
        for (at, turn) in self.tree.turns.iter().enumerate() {
            if waiting != Some(at) && !matches!(turn.state, TurnState::Running(_)) {
                continue;
            }
            for Call { id, who, answer } in &turn.calls {
                pending.push(Asked {
                    turn: turn.key,
                    call: id,
                    who: *who,
                    answer: &answer.text,
                    sent: answer.is_out(),
                });
            }
        }
        pending
    }

    /// The queue, in order.
    #[must_use]
    pub fn queue(&self) -> &[Queued] {
        &self.queue.0
    }

    /// The draft (JSON); empty if there is none.
    #[must_use]
    pub fn draft(&self) -> &str {
        &self.draft
    }
}

fn phase_of(turn: &Turn) -> Phase {
    match &turn.state {
        TurnState::Starting(_, true) | TurnState::Running(Running { is_stopping: true, .. }) => {
            Phase::Stopping
        }
        TurnState::Running(running) => {
            let is_asked = |call: &Call| call.who == Who::Person && call.answer.state == AnswerState::Missing;
            match running.activity {
                Activity::Reconnecting => Phase::Reconnecting,
                _ if turn.calls.iter().any(is_asked) => Phase::Waiting,
                Activity::Thinking => Phase::Thinking,
                Activity::Answering => Phase::Answering,
                Activity::Working => Phase::Working,
            }
        }
        _ => Phase::Sending,
    }
}

fn shown(turn: &Turn) -> Shown<'_> {
    let state = match &turn.state {
        TurnState::Prepared(_) | TurnState::Starting(..) => ShownState::Here(Sent::Sending),
        TurnState::Unknown(_) => ShownState::Here(Sent::Unknown),
        TurnState::Failed(_) => ShownState::Here(Sent::Failed),
        TurnState::Running(_) => ShownState::Running,
        TurnState::Incomplete => ShownState::Incomplete,
        TurnState::Ended(end) => ShownState::Ended(*end),
    };
    Shown {
        key: turn.key,
        id: &turn.id,
        state,
        asks: turn.asks,
        input: turn.message(),
        steered: turn.steered.iter().map(|steered| (steered.key, steered.text.as_str())).collect(),
        can_retry: !turn.is_active() && !matches!(state, ShownState::Ended(End::Done)),
    }
}
