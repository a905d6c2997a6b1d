//! What a person does with messages and turns.

use super::queue::{Queued, QueuedState};
use super::turn::{Input, Outgoing, TurnState};
use super::{Effect, Key, Plan, Refusal, Text, WhenBusy};

type Done<T = ()> = Result<T, Refusal>;

impl Plan {
    pub(super) fn send(&mut self, input: Text, when_busy: Option<WhenBusy>, discard: bool) -> Done<Key> {
        if input.is_empty() {
            return Err(Refusal::Nothing);
        }
        if discard && !self.options.discard_pending {
            return Err(Refusal::Unsupported);
        }
        let is_busy = self.is_busy();
        if is_busy && when_busy.unwrap_or(self.options.when_busy) == WhenBusy::Reject {
            return Err(Refusal::Busy);
        }
        if !is_busy && !discard && self.waiting().is_some() {
            return Err(Refusal::CallsWait);
        }
        self.rounds = 0;
        let key = self.keys.make();
        if !is_busy {
            let end = self.tree.end();
            self.start(key, Input::Message(input), discard, end);
            return Ok(key);
        }
        let item = Queued { key, input, state: QueuedState::Waits, discard };
        match when_busy.unwrap_or(self.options.when_busy) {
            WhenBusy::Interrupt => {
                self.queue.0.insert(0, item);
                self.cancel();
            }
            WhenBusy::Steer => {
                self.queue.0.push(item);
                // Where it cannot be steered, it waits in the queue.
                let _ = self.steer_queued(key);
            }
            WhenBusy::Queue | WhenBusy::Reject => self.queue.0.push(item),
        }
        Ok(key)
    }

    pub(super) fn stop(&mut self) {
        if self.is_busy() || self.has_running_tools() {
            self.queue.hold(true);
        }
        let mut at = 0;
        while let Some(turn) = self.tree.turns.get(at) {
            if matches!(turn.state, TurnState::Prepared(_)) {
                self.give_back(at);
            } else {
                at += 1;
            }
        }
        self.cancel();
        self.stop_tools();
    }

    /// Cancels what runs.
    fn cancel(&mut self) {
        for turn in &mut self.tree.turns {
            let is_stopping = match &mut turn.state {
                TurnState::Starting(_, is_stopping) => is_stopping,
                TurnState::Running(running) => &mut running.is_stopping,
                _ => continue,
            };
            if !std::mem::replace(is_stopping, true) {
                self.effects.push(Effect::Cancel { turn: turn.key });
            }
        }
    }

    /// Removes a turn that was not sent, and gives its text back.
    pub(super) fn give_back(&mut self, at: usize) {
        if let Some(turn) = self.tree.remove(at)
            && !turn.message().is_empty()
        {
            self.effects.push(Effect::GiveBack { key: turn.key, input: turn.message().to_owned() });
        }
    }

    /// The turn, if it can be run again: it does not run, and nothing else does.
    fn settled(&self, key: Key) -> Done<usize> {
        let at = self.tree.find(key).ok_or(Refusal::Gone)?;
        if self.is_busy() {
            return Err(Refusal::Busy);
        }
        Ok(at)
    }

    pub(super) fn retry(&mut self, key: Key, input: Text) -> Done<Key> {
        let at = self.tree.find(key).ok_or(Refusal::Gone)?;
        let Some(turn) = self.tree.turns.get(at) else { return Err(Refusal::Gone) };
        if matches!(turn.state, TurnState::Incomplete) {
            self.watch(key);
            return Ok(key);
        }
        if turn.is_named() {
            return self.regenerate(key, input);
        }
        if turn.is_active() {
            return Err(Refusal::Busy);
        }
        // The server's list tells whether there is anything to send.
        if matches!(turn.state, TurnState::Unknown(_)) && self.options.history {
            self.look();
            return Ok(key);
        }
        let text = turn.message().to_owned();
        self.resend(at, text)
    }

    /// Sends what did not arrive, under its key.
    fn resend(&mut self, at: usize, input: Text) -> Done<Key> {
        let Some(turn) = self.tree.turns.get(at) else { return Err(Refusal::Gone) };
        let is_free = !self.is_busy();
        // Answers go out again by `Proceed`.
        if turn.message().is_empty() {
            return Err(Refusal::Nothing);
        }
        let (key, discard) = (turn.key, turn.outgoing().is_some_and(|out| out.discard));
        if is_free && !discard && self.waiting().is_some_and(|waiting| waiting != at) && turn.is_aside() {
            return Err(Refusal::CallsWait);
        }
        self.rounds = 0;
        let fork = turn.outgoing().filter(|out| out.is_fork).and_then(|_| self.tree.beside(at));
        if !is_free && fork.is_some() {
            return Err(Refusal::Busy);
        }
        self.tree.remove(at);
        if is_free {
            let place = fork.unwrap_or_else(|| self.tree.end());
            self.start(key, Input::Message(input), discard, place);
        } else {
            self.queue.0.push(Queued { key, input, state: QueuedState::Waits, discard });
        }
        Ok(key)
    }

    pub(super) fn regenerate(&mut self, key: Key, input: Text) -> Done<Key> {
        let at = self.settled(key)?;
        let question = self
            .tree
            .question_of(at)
            .filter(|at| self.tree.turns.get(*at).is_some_and(super::turn::Turn::is_named));
        self.ask_again(question.ok_or(Refusal::Nothing)?, input)
    }

    /// Asks in place of a question, or where the protocol cannot fork after all.
    fn ask_again(&mut self, question: usize, input: Text) -> Done<Key> {
        if input.is_empty() {
            return Err(Refusal::Nothing);
        }
        let place = if self.options.fork {
            self.tree.beside(question).ok_or(Refusal::Gone)?
        } else if self.waiting().is_some() {
            return Err(Refusal::CallsWait);
        } else {
            self.tree.end()
        };
        self.rounds = 0;
        let key = self.keys.make();
        self.start(key, Input::Message(input), false, place);
        Ok(key)
    }

    pub(super) fn edit(&mut self, key: Key, input: Text) -> Done<Key> {
        let at = self.settled(key)?;
        let Some(turn) = self.tree.turns.get(at) else { return Err(Refusal::Gone) };
        match turn.state {
            TurnState::Failed(_) if !input.is_empty() => return self.resend(at, input),
            TurnState::Unknown(_) => return Err(Refusal::Sent),
            _ => {}
        }
        if !turn.asks {
            return Err(Refusal::Nothing);
        }
        if !self.options.fork {
            return Err(Refusal::Unsupported);
        }
        self.ask_again(at, input)
    }

    pub(super) fn show(&mut self, key: Key) -> Done {
        let at = self.tree.find(key).ok_or(Refusal::Gone)?;
        if !self.tree.turns.get(at).is_some_and(super::turn::Turn::is_aside) {
            self.tree.show(key);
        }
        Ok(())
    }

    pub(super) fn dismiss(&mut self, key: Key) -> Done {
        let at = self.tree.find(key).ok_or(Refusal::Gone)?;
        match self.tree.turns.get(at).map(|turn| &turn.state) {
            Some(TurnState::Unknown(_)) if self.options.history => Err(Refusal::Sent),
            Some(TurnState::Failed(_) | TurnState::Unknown(Outgoing { input: Input::Message(_), .. })) => {
                self.give_back(at);
                Ok(())
            }
            _ => Err(Refusal::Sent),
        }
    }

    /// An input of the queue that has not left.
    fn here(&self, key: Key) -> Done<usize> {
        let at = self.queue.find(key).ok_or(Refusal::Gone)?;
        match self.queue.0.get(at).map(|item| &item.state) {
            Some(QueuedState::Waits | QueuedState::Held) => Ok(at),
            // Nothing will tell whether it has arrived.
            Some(QueuedState::Unknown(_)) if !self.options.history => Ok(at),
            _ => Err(Refusal::Sent),
        }
    }

    pub(super) fn edit_queued(&mut self, key: Key, input: Text) -> Done {
        let at = self.here(key)?;
        if input.is_empty() {
            return Err(Refusal::Nothing);
        }
        if let Some(item) = self.queue.0.get_mut(at) {
            item.input = input;
        }
        Ok(())
    }

    pub(super) fn remove_queued(&mut self, key: Key) -> Done {
        let at = self.here(key)?;
        if let Some(item) = self.queue.take(at) {
            self.effects.push(Effect::GiveBack { key, input: item.input });
        }
        Ok(())
    }

    pub(super) fn move_queued(&mut self, key: Key, to: u32) -> Done {
        let at = self.queue.find(key).ok_or(Refusal::Gone)?;
        if let Some(item) = self.queue.take(at) {
            let to = (to as usize).min(self.queue.0.len());
            self.queue.0.insert(to, item);
        }
        Ok(())
    }

    pub(super) fn send_now(&mut self, key: Key) -> Done {
        let at = self.here(key)?;
        let Some(item) = self.queue.0.get(at) else { return Err(Refusal::Gone) };
        if !self.is_busy() && !item.discard && self.waiting().is_some() {
            return Err(Refusal::CallsWait);
        }
        if let Some(mut item) = self.queue.take(at) {
            item.state = QueuedState::Waits;
            self.queue.0.insert(0, item);
        }
        self.rounds = 0;
        self.cancel();
        Ok(())
    }

    pub(super) fn steer_queued(&mut self, key: Key) -> Done {
        let at = self.here(key)?;
        if !self.options.steer {
            return Err(Refusal::Unsupported);
        }
        let is_open =
            |state: &TurnState| matches!(state, TurnState::Running(running) if !running.is_stopping);
        let turn = self.tree.turns.iter().rfind(|turn| is_open(&turn.state)).ok_or(Refusal::Nothing)?.key;
        if let Some(item) = self.queue.0.get_mut(at) {
            item.state = QueuedState::Steering(turn);
            self.effects.push(Effect::Steer { turn, key, input: item.input.clone() });
        }
        Ok(())
    }
}
