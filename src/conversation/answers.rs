//! Answers to calls that wait: from people, and from tools of the page.

use super::call::{Answer, AnswerState};
use super::tree::Place;
use super::turn::{Input, Parent, TurnState};
use super::{After, Delivery, Effect, Key, Plan, Refusal, Text, Who};

/// How many turns may follow each other with results of tools, before a person is asked.
const MAX_ROUNDS: u8 = 10;

impl Plan {
    pub(super) fn answer(&mut self, turn: Key, call: &str, answer: Option<Text>) -> Result<(), Refusal> {
        let turn = self.tree.get(turn).ok_or(Refusal::Gone)?;
        let known = turn.calls.iter_mut().find(|known| known.id == call && known.who != Who::SignIn);
        let known = &mut known.ok_or(Refusal::NotWaiting)?.answer;
        match known.state {
            AnswerState::Going | AnswerState::Sent => return Err(Refusal::Sent),
            // A start may have it. A person may answer once more what was sent on its own.
            AnswerState::Unknown if matches!(turn.state, TurnState::Ended(_)) => return Err(Refusal::Sent),
            AnswerState::Running => return Err(Refusal::Busy),
            _ => {}
        }
        *known = answer.map_or_else(Answer::default, Answer::kept);
        turn.is_held = false;
        self.rounds = 0;
        Ok(())
    }

    pub(super) fn proceed(&mut self) -> Result<(), Refusal> {
        if self.is_busy() {
            return Err(Refusal::Busy);
        }
        let at = self.waiting().ok_or(Refusal::Nothing)?;
        let Some(turn) = self.tree.turns.get_mut(at) else { return Err(Refusal::Nothing) };
        // An answer that may have arrived is not sent again.
        if turn.calls.iter().any(|call| call.answer.is_open()) {
            return Err(Refusal::Sent);
        }
        turn.is_held = false;
        for call in &mut turn.calls {
            if call.answer.state == AnswerState::Halted {
                call.answer.state = AnswerState::Missing;
            }
        }
        let signs_in =
            turn.calls.iter().all(|call| call.who == Who::SignIn || call.answer.state == AnswerState::Sent);
        self.rounds = 0;
        if signs_in {
            let end = self.tree.end();
            let key = self.keys.make();
            self.start(key, Input::Nothing, false, end);
        }
        Ok(())
    }

    /// Sends the answers that can go: each at once to a turn that takes it, else all together.
    pub(super) fn send_answers(&mut self) {
        for turn in &mut self.tree.turns {
            let TurnState::Running(running) = &turn.state else { continue };
            if !self.options.live_answers || running.is_stopping || turn.is_held {
                continue;
            }
            for call in turn.calls.iter_mut().filter(|call| call.answer.state == AnswerState::Kept) {
                call.answer.state = AnswerState::Going;
                let (call, answer) = (call.id.clone(), call.answer.text.clone());
                self.effects.push(Effect::Answer { turn: turn.key, call, answer });
            }
        }
        let Some(turn) = self.waiting().and_then(|at| self.tree.turns.get(at)) else { return };
        let mut states =
            turn.calls.iter().filter(|call| call.who != Who::SignIn).map(|call| call.answer.state);
        let mut kept = turn.calls.iter().filter(|call| call.answer.state == AnswerState::Kept);
        if turn.is_held
            || self.is_busy()
            || !states.all(|state| matches!(state, AnswerState::Kept | AnswerState::Sent))
        {
            return;
        }
        let Some(first) = kept.next() else { return };
        if first.who == Who::Tool && kept.all(|call| call.who == Who::Tool) {
            self.rounds = self.rounds.saturating_add(1);
        }
        let asking = turn.key;
        let mut place = self.tree.end();
        // They are for this turn, whatever another client has sent since.
        if self.options.fork && !turn.id.is_empty() {
            place =
                Place { parent: Parent::Turn(asking), after: After::Turn(turn.id.clone()), is_fork: false };
        }
        let key = self.keys.make();
        self.start(key, Input::Answers(asking), false, place);
    }

    /// The answers that leave now with a turn.
    pub(super) fn leaving_answers(&mut self, asking: Key) -> Vec<(Text, Text)> {
        let mut leaving = Vec::new();
        if let Some(turn) = self.tree.get(asking) {
            for call in turn.calls.iter_mut().filter(|call| call.answer.state == AnswerState::Kept) {
                call.answer.state = AnswerState::Going;
                leaving.push((call.id.clone(), call.answer.text.clone()));
            }
        }
        leaving
    }

    pub(super) fn move_answers(&mut self, asking: Key, from: AnswerState, to: AnswerState) {
        if let Some(turn) = self.tree.get(asking) {
            for call in turn.calls.iter_mut().filter(|call| call.answer.state == from) {
                call.answer.state = to;
            }
        }
    }

    /// A turn with answers did not arrive: they are kept, until a person lets them go.
    pub(super) fn drop_answers(&mut self, key: Key) {
        let Some(at) = self.tree.find(key) else { return };
        let parent = self.tree.turns.get(at).map(|turn| turn.parent.clone());
        self.tree.remove(at);
        if let Some(Parent::Turn(asking)) = parent {
            self.move_answers(asking, AnswerState::Going, AnswerState::Kept);
            self.move_answers(asking, AnswerState::Unknown, AnswerState::Kept);
            if let Some(turn) = self.tree.get(asking) {
                turn.is_held = true;
            }
        }
    }

    pub(super) fn answered(&mut self, turn: Key, call: &str, delivery: Delivery) {
        let Some(turn) = self.heard(turn) else { return };
        let is_over = matches!(turn.state, TurnState::Ended(_));
        let Some(known) = turn.calls.iter_mut().find(|known| known.id == call) else { return };
        if known.answer.state == AnswerState::Going {
            known.answer.state = match delivery {
                Delivery::Taken => AnswerState::Sent,
                Delivery::Lost if !is_over => AnswerState::Unknown,
                // The turn has paused, and still waits for it.
                _ if is_over => AnswerState::Kept,
                _ => AnswerState::Refused,
            };
        }
    }

    pub(super) fn run_tools(&mut self) {
        if !self.is_leading {
            return;
        }
        let waiting = self.waiting().filter(|_| self.rounds < MAX_ROUNDS && !self.is_busy());
        for (at, turn) in self.tree.turns.iter_mut().enumerate() {
            let is_asked = match &turn.state {
                TurnState::Running(running) => {
                    self.options.live_answers && !running.is_stopping && running.is_watched
                }
                _ => waiting == Some(at),
            };
            if !is_asked {
                continue;
            }
            for call in turn.calls.iter_mut().filter(|call| call.who == Who::Tool) {
                if call.answer.state == AnswerState::Missing {
                    call.answer.state = AnswerState::Running;
                    self.effects.push(Effect::RunTool { turn: turn.key, call: call.id.clone() });
                }
            }
        }
    }

    pub(super) fn tool_ended(&mut self, turn: Key, call: &str, result: Option<Text>) {
        let Some(turn) = self.tree.get(turn) else { return };
        let Some(known) = turn.calls.iter_mut().find(|known| known.id == call) else { return };
        if known.answer.state == AnswerState::Running {
            known.answer = match result {
                Some(text) => Answer::kept(text),
                None => Answer { state: AnswerState::Halted, ..Answer::default() },
            };
        }
    }

    pub(super) fn has_running_tools(&self) -> bool {
        let mut calls = self.tree.turns.iter().flat_map(|turn| &turn.calls);
        calls.any(|call| call.answer.state == AnswerState::Running)
    }

    /// Stops the tools; a person lets them run again.
    pub(super) fn stop_tools(&mut self) {
        self.end_tools(AnswerState::Halted);
    }

    fn end_tools(&mut self, state: AnswerState) {
        if !self.has_running_tools() {
            return;
        }
        for call in self.tree.turns.iter_mut().flat_map(|turn| &mut turn.calls) {
            if call.answer.state == AnswerState::Running {
                call.answer.state = state;
            }
        }
        self.effects.push(Effect::StopTools);
    }

    pub(super) fn lead(&mut self, on: bool) {
        self.is_leading = on;
        if on {
            // Another tab may have gone on meanwhile.
            self.look();
        } else {
            self.end_tools(AnswerState::Missing);
        }
    }
}
