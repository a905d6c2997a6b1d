//! The plan of a conversation: facts in, effects out.

use super::keys::{self, Keys};
use super::options::Options;
use super::queue::{Queue, Queued};
use super::saved::SavedAnswer;
use super::tree::{Place, Tree};
use super::turn::{Input, Outgoing, Parent, Turn, TurnState};
use super::{Effect, Fact, Key, Refusal, StartInput, Text};

/// What follows from a fact.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Taken {
    /// The key of what a person has sent.
    pub key: Option<Key>,
    /// What the carrier must do, in this order.
    pub effects: Vec<Effect>,
}

/// The plan of one conversation.
#[derive(Debug)]
pub struct Plan {
    pub(super) options: Options,
    pub(super) keys: Keys,
    pub(super) session: Session,
    pub(super) tree: Tree,
    pub(super) queue: Queue,
    pub(super) load: Load,
    pub(super) is_shown: bool,
    pub(super) is_leading: bool,
    /// How many turns have followed each other with results of the page's tools alone.
    pub(super) rounds: u8,
    pub(super) draft: Text,
    /// Answers from an earlier page, until their turn is known.
    pub(super) saved: Vec<SavedAnswer>,
    /// What is stored.
    stored: Text,
    pub(super) effects: Vec<Effect>,
}

/// The session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Session {
    None,
    Creating,
    Ready,
}

/// The reading of pages.
#[derive(Debug, Default)]
pub(super) struct Load {
    /// How many were asked for.
    pub(super) count: u32,
    /// The number of the newest page that has come.
    pub(super) newest: u32,
    pub(super) state: LoadState,
    /// The newest page is wanted as soon as none is being read.
    pub(super) wants_newest: bool,
    pub(super) wants_earlier: bool,
    /// The newest page has come, or could not be read.
    pub(super) is_loaded: bool,
}

/// What is being read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum LoadState {
    #[default]
    Idle,
    Newest,
    Before(Key),
}

impl Plan {
    /// The plan of a conversation that is not shown yet.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self {
            options,
            keys: Keys::default(),
            session: if options.has_session { Session::Ready } else { Session::None },
            tree: Tree::default(),
            queue: Queue::default(),
            load: Load::default(),
            is_shown: false,
            is_leading: false,
            rounds: 0,
            draft: Text::new(),
            saved: Vec::new(),
            stored: Text::new(),
            effects: Vec::new(),
        }
    }

    /// Takes a fact, and returns what follows from it. A refusal has changed nothing.
    pub fn take(&mut self, fact: Fact) -> Result<Taken, Refusal> {
        let key = self.apply(fact)?;
        self.go_on();
        let stored = self.saved_text();
        if stored != self.stored {
            self.effects.push(Effect::Store { text: stored.clone() });
            self.stored = stored;
        }
        self.effects.push(Effect::Publish);
        Ok(Taken { key, effects: std::mem::take(&mut self.effects) })
    }

    /// The key as the text that pages see.
    #[must_use]
    pub fn name(&self, key: Key) -> String {
        let listed = self.tree.find(key).and_then(|at| self.tree.turns.get(at)).filter(|turn| turn.listed);
        keys::name(key, listed.map_or("", |turn| &turn.id))
    }

    fn apply(&mut self, fact: Fact) -> Result<Option<Key>, Refusal> {
        let mut key = None;
        match fact {
            Fact::Send { input, when_busy, discard } => key = Some(self.send(input, when_busy, discard)?),
            Fact::Stop => self.stop(),
            Fact::Answer { turn, call, answer } => self.answer(turn, &call, answer)?,
            Fact::Proceed => self.proceed()?,
            Fact::Retry { turn, input } => key = Some(self.retry(turn, input)?),
            Fact::Regenerate { turn, input } => key = Some(self.regenerate(turn, input)?),
            Fact::Edit { turn, input } => key = Some(self.edit(turn, input)?),
            Fact::Show { turn } => self.show(turn)?,
            Fact::Dismiss { turn } => self.dismiss(turn)?,
            Fact::Draft { text } => self.draft = text,
            Fact::EditQueued { key, input } => self.edit_queued(key, input)?,
            Fact::RemoveQueued { key } => self.remove_queued(key)?,
            Fact::MoveQueued { key, to } => self.move_queued(key, to)?,
            Fact::SendNow { key } => self.send_now(key)?,
            Fact::SteerQueued { key } => self.steer_queued(key)?,
            Fact::Hold { on } => self.queue.hold(on),
            Fact::Attach => self.attach(),
            Fact::Detach => self.detach(),
            Fact::LoadEarlier => self.load.wants_earlier |= self.tree.cut().is_some(),
            Fact::CatchUp => self.look(),
            Fact::SessionReady => self.session_ready(),
            Fact::SessionFailed => self.session_failed(),
            Fact::Page(page) => self.page(page),
            Fact::PageFailed => self.page_failed(),
            Fact::Named { turn, id, previous } => self.named(turn, id, previous),
            Fact::Active { turn, activity } => self.active(turn, activity),
            Fact::Waits { turn, calls } => self.waits(turn, calls),
            Fact::Ended { turn, end, calls } => self.ended(turn, end, calls),
            Fact::Incomplete { turn } => self.incomplete(turn),
            Fact::Refused { turn } => self.refused(turn),
            Fact::Lost { turn } => self.lost(turn),
            Fact::CancelFailed { turn } => self.cancel_failed(turn),
            Fact::Answered { turn, call, delivery } => self.answered(turn, &call, delivery),
            Fact::ToolEnded { turn, call, result } => self.tool_ended(turn, &call, result),
            Fact::Steered { key, delivery } => self.steered(key, delivery),
            Fact::Said { turn, input } => self.said(turn, &input),
            Fact::Restored { text } => self.restore(&text),
            Fact::Leading { on } => self.lead(on),
        }
        Ok(key)
    }

    /// What follows without a person: answers, tools, the queue, pages.
    fn go_on(&mut self) {
        self.send_answers();
        self.run_tools();
        self.send_queued();
        self.read_page();
    }

    /// A turn runs, or is on its way.
    pub(super) fn is_busy(&self) -> bool {
        self.tree.turns.iter().any(Turn::is_active) || self.is_loading()
    }

    /// The server's turns are not known yet.
    pub(super) fn is_loading(&self) -> bool {
        self.load.state == LoadState::Newest && !self.load.is_loaded
    }

    /// Starts a turn, and shows it.
    pub(super) fn start(&mut self, key: Key, input: Input, discard: bool, place: Place) {
        let Place { parent, after, is_fork } = place;
        let asks = matches!(input, Input::Message(_));
        let out = Outgoing { input, after, discard, is_fork, was_lost: false };
        let mut turn = Turn::new(key, parent, TurnState::Prepared(out));
        turn.asks = asks;
        self.tree.turns.push(turn);
        if is_fork {
            self.tree.show(key);
        }
        if self.session == Session::None {
            self.session = Session::Creating;
            self.effects.push(Effect::CreateSession);
        }
        self.send_prepared();
    }

    /// Sends what waits for the session.
    fn send_prepared(&mut self) {
        if self.session != Session::Ready {
            return;
        }
        for at in 0..self.tree.turns.len() {
            let Some(turn) = self.tree.turns.get_mut(at) else { break };
            if !matches!(turn.state, TurnState::Prepared(_)) {
                continue;
            }
            let TurnState::Prepared(out) = std::mem::replace(&mut turn.state, TurnState::Incomplete) else {
                continue;
            };
            let (key, after, discard) = (turn.key, out.after.clone(), out.discard);
            let answers = match out.input {
                Input::Answers(turn) => Some(turn),
                _ => None,
            };
            let mut input = match &out.input {
                Input::Message(text) => StartInput::Message(text.clone()),
                _ => StartInput::Nothing,
            };
            turn.heard = self.load.count;
            turn.state = TurnState::Starting(out, false);
            if let Some(asking) = answers {
                input = StartInput::Answers(asking, self.leaving_answers(asking));
            }
            self.effects.push(Effect::Start { turn: key, after, input, discard });
        }
    }

    fn session_ready(&mut self) {
        self.session = Session::Ready;
        // A new session has no turns.
        self.load.is_loaded = true;
        self.load.wants_newest = false;
        self.send_prepared();
    }

    fn session_failed(&mut self) {
        if self.session != Session::Creating {
            return;
        }
        self.session = Session::None;
        for turn in &mut self.tree.turns {
            turn.state = match std::mem::replace(&mut turn.state, TurnState::Incomplete) {
                TurnState::Prepared(out) => TurnState::Failed(out),
                state => state,
            };
        }
        self.queue.hold(true);
    }

    /// Sends the next input of the queue, if nothing runs and nothing waits.
    fn send_queued(&mut self) {
        let Some(at) = self.queue.next() else { return };
        // The order of what may have arrived is known first.
        if self.is_busy() || self.load.wants_newest || self.load.state == LoadState::Newest {
            return;
        }
        let discards = self.queue.0.get(at).is_some_and(|item| item.discard);
        if self.waiting().is_some() && !discards {
            return;
        }
        if let Some(Queued { key, input, discard, .. }) = self.queue.take(at) {
            let end = self.tree.end();
            self.start(key, Input::Message(input), discard, end);
        }
    }

    /// The last turn of the path, if it waits for calls.
    pub(super) fn waiting(&self) -> Option<usize> {
        let tip = self.tree.tip()?;
        let turn = self.tree.turns.get(tip)?;
        (matches!(turn.state, TurnState::Ended(_)) && !turn.calls.is_empty()).then_some(tip)
    }

    /// The calls of the turn before this one are settled: it has answered them, or has gone on without.
    pub(super) fn settle_parent(&mut self, key: Key) {
        let Some(Parent::Turn(parent)) = self.tree.get(key).map(|turn| turn.parent.clone()) else { return };
        if let Some(turn) = self.tree.get(parent) {
            turn.calls.clear();
        }
    }
}
