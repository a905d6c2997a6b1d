//! What the turns report.

use super::call::{Answer, AnswerState, Call};
use super::queue::{Queued, QueuedState};
use super::turn::{Input, Joint, Parent, Running, Steered, Turn, TurnState};
use super::{Activity, Delivery, Effect, End, Key, Plan, Text, Waiting};

impl Plan {
    /// A turn of which something was heard.
    pub(super) fn heard(&mut self, key: Key) -> Option<&mut Turn> {
        let count = self.load.count;
        let turn = self.tree.get(key)?;
        turn.heard = count;
        Some(turn)
    }

    pub(super) fn named(&mut self, key: Key, id: Text, previous: Option<Text>) {
        let can_fork = self.options.fork;
        let Some(turn) = self.heard(key).filter(|turn| !turn.is_named()) else { return };
        let is_stopping = matches!(turn.state, TurnState::Starting(_, true));
        turn.state = TurnState::Running(Running { is_stopping, is_watched: true, ..Running::default() });
        turn.begun = turn.heard;
        self.settle_parent(key);
        let before =
            self.tree.find(key).and_then(|at| self.tree.parent_of(at)).and_then(|at| self.tree.turns.get(at));
        let continues = before.is_some_and(|before| before.id == id);
        if let Some(previous) = previous.filter(|previous| can_fork && !continues && *previous != id) {
            self.follow(key, previous);
        }
        if let Some(turn) = self.tree.get(key) {
            turn.id = id;
            if continues {
                turn.joint = Joint::Joined;
            }
        }
    }

    /// The server says which turn this one follows: another client may have sent one in between.
    pub(super) fn follow(&mut self, key: Key, previous: Text) {
        let parent = match self.tree.with_id(&previous).and_then(|at| self.tree.turns.get(at)) {
            Some(turn) => Parent::Turn(turn.key),
            None if previous.is_empty() => Parent::Nothing,
            None => Parent::Unlisted(previous),
        };
        if matches!(parent, Parent::Unlisted(_)) {
            self.look();
        }
        if let Some(turn) = self.tree.get(key) {
            turn.parent = parent;
        }
    }

    fn running(&mut self, key: Key) -> Option<&mut Running> {
        match &mut self.heard(key)?.state {
            TurnState::Running(running) => Some(running),
            _ => None,
        }
    }

    pub(super) fn active(&mut self, key: Key, activity: Activity) {
        if let Some(running) = self.running(key) {
            running.activity = activity;
        }
    }

    pub(super) fn waits(&mut self, key: Key, calls: Vec<Waiting>) {
        if self.running(key).is_some() {
            self.set_calls(key, calls);
        }
    }

    /// The calls that wait now. Known ones keep their answers.
    pub(super) fn set_calls(&mut self, key: Key, calls: Vec<Waiting>) {
        let Some(at) = self.tree.find(key) else { return };
        let Some(turn) = self.tree.turns.get_mut(at) else { return };
        let mut before = std::mem::take(&mut turn.calls);
        for Waiting { id, who } in calls {
            let answer = match before.iter_mut().find(|call| call.id == id) {
                Some(call) => std::mem::take(&mut call.answer),
                None => match self.saved.iter().position(|saved| saved.turn == turn.id && saved.call == id) {
                    Some(saved) => {
                        turn.is_held = true;
                        self.saved.swap_remove(saved).answer
                    }
                    None => Answer::default(),
                },
            };
            turn.calls.push(Call { id, who, answer });
        }
    }

    pub(super) fn ended(&mut self, key: Key, end: End, calls: Vec<Waiting>) {
        if let Some(TurnState::Running(_) | TurnState::Incomplete) = self.heard(key).map(|turn| &turn.state) {
            self.end(key, end, calls);
        }
    }

    /// The turn has ended: what was sent into it has arrived by now, or never will.
    pub(super) fn end(&mut self, key: Key, end: End, calls: Vec<Waiting>) {
        self.set_calls(key, if end == End::Done { calls } else { Vec::new() });
        let Some(turn) = self.tree.get(key) else { return };
        turn.state = TurnState::Ended(end);
        for call in &mut turn.calls {
            if matches!(call.answer.state, AnswerState::Unknown | AnswerState::Refused) {
                call.answer.state = AnswerState::Kept;
            }
        }
        for item in &mut self.queue.0 {
            if matches!(&item.state, QueuedState::Unknown(id) if *id == turn.id) {
                item.state = QueuedState::Held;
            }
        }
        if end == End::Failed {
            self.queue.hold(true);
        }
    }

    pub(super) fn incomplete(&mut self, key: Key) {
        if self.running(key).is_some() {
            self.queue.hold(true);
            if let Some(turn) = self.tree.get(key) {
                turn.state = TurnState::Incomplete;
            }
        }
    }

    pub(super) fn refused(&mut self, key: Key) {
        let Some(turn) = self.heard(key) else { return };
        let TurnState::Starting(out, is_stopping) = std::mem::replace(&mut turn.state, TurnState::Incomplete)
        else {
            return;
        };
        match out.input {
            Input::Message(_) => {
                turn.state = TurnState::Failed(out);
                // A person has stopped it.
                if is_stopping && let Some(at) = self.tree.find(key) {
                    self.give_back(at);
                }
                self.queue.hold(true);
            }
            Input::Answers(_) | Input::Nothing => {
                self.drop_answers(key);
                // Another tab or person may have answered.
                self.look();
            }
        }
    }

    pub(super) fn lost(&mut self, key: Key) {
        let Some(turn) = self.heard(key) else { return };
        let TurnState::Starting(mut out, _) = std::mem::replace(&mut turn.state, TurnState::Incomplete)
        else {
            return;
        };
        out.was_lost = true;
        let asking = match out.input {
            Input::Answers(asking) => Some(asking),
            _ => None,
        };
        turn.state = TurnState::Unknown(out);
        if let Some(asking) = asking {
            self.move_answers(asking, AnswerState::Going, AnswerState::Unknown);
        }
        self.queue.hold(true);
        self.look();
    }

    pub(super) fn cancel_failed(&mut self, key: Key) {
        match self.tree.get(key).map(|turn| &mut turn.state) {
            Some(TurnState::Starting(_, is_stopping)) => *is_stopping = false,
            Some(TurnState::Running(running)) => running.is_stopping = false,
            _ => {}
        }
    }

    /// Reads a turn on.
    pub(super) fn watch(&mut self, key: Key) {
        if let Some(turn) = self.heard(key) {
            turn.state = TurnState::Running(Running { is_watched: true, ..Running::default() });
            self.effects.push(Effect::Watch { turn: key });
        }
    }

    pub(super) fn steered(&mut self, key: Key, delivery: Delivery) {
        let Some(at) = self.queue.find(key) else { return };
        let Some(&QueuedState::Steering(into)) = self.queue.0.get(at).map(|item| &item.state) else { return };
        let id = self.id_of(into).to_owned();
        // A turn that goes on under the same id may have taken it.
        let mut same = self.tree.turns.iter().filter(|turn| turn.id == id);
        let is_over = same.all(|turn| matches!(turn.state, TurnState::Ended(_)));
        let turn = self.tree.get(into);
        let is_stopping = turn.as_ref().is_some_and(|turn| match &turn.state {
            TurnState::Running(running) => running.is_stopping,
            _ => false,
        });
        let state = match delivery {
            Delivery::Taken => {
                if let (Some(turn), Some(item)) = (turn, self.queue.take(at)) {
                    turn.steered.push(Steered { key, text: item.input });
                }
                return;
            }
            Delivery::Lost if !is_over => QueuedState::Unknown(id),
            Delivery::Refused if !is_stopping => QueuedState::Waits,
            // A turn that is over did not take it.
            _ => QueuedState::Held,
        };
        if let Some(item) = self.queue.0.get_mut(at) {
            item.state = state;
        }
    }

    pub(super) fn said(&mut self, key: Key, input: &str) {
        let id = self.id_of(key).to_owned();
        let same = |turn: &Turn| turn.id == id && turn.is_named();
        let steered = self.tree.turns.iter_mut().filter(|turn| same(turn)).flat_map(|turn| &mut turn.steered);
        if let Some(known) = { steered }.find(|known| known.text == input) {
            known.text = Text::new();
            return;
        }
        let is_it = |item: &Queued| match &item.state {
            QueuedState::Steering(into) => self.id_of(*into) == id,
            QueuedState::Unknown(into) => *into == id,
            _ => false,
        };
        let found = self.queue.0.iter().position(|item| item.input == input && is_it(item));
        if let (Some(turn), Some(at)) = (self.tree.find(key), found)
            && let (Some(turn), Some(item)) = (self.tree.turns.get_mut(turn), self.queue.take(at))
        {
            turn.steered.push(Steered { key: item.key, text: Text::new() });
        }
    }
}
