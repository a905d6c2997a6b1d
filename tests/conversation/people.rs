//! What people do in the tabs, and what their pages do to them.

use turnwire::conversation::{Delivery, End, Fact, Key, Options, QueuedState, Sent, ShownState, WhenBusy};

use super::laws::Seen;
use super::replay::Replay;
use super::tab::{InFlight, Request, Tab};
use super::world::World;

impl World {
    pub(super) fn send(&mut self, at: usize, one: u32, two: usize) {
        let text = self.text();
        let when_busy = [
            None,
            None,
            Some(WhenBusy::Queue),
            Some(WhenBusy::Steer),
            Some(WhenBusy::Interrupt),
            Some(WhenBusy::Reject),
        ][two % 6];
        let discard = one % 8 == 7;
        self.laws.sends(&text);
        if self.tell(at, Fact::Send { input: text.clone(), when_busy, discard }).is_err() {
            self.laws.unsent(&text);
        }
    }

    pub(super) fn answer(&mut self, at: usize, one: u32, two: usize) {
        let pending: Vec<_> =
            self.tabs[at].plan.pending().iter().map(|asked| (asked.turn, asked.call.to_owned())).collect();
        if pending.is_empty() {
            return;
        }
        let (turn, call) = pending[two % pending.len()].clone();
        let answer = (one % 8 != 7).then(|| self.text());
        let _ = self.tell(at, Fact::Answer { turn, call, answer });
    }

    /// Retries, asks again, edits or dismisses.
    pub(super) fn again(&mut self, at: usize, one: u32, two: usize) {
        let shown: Vec<_> = self.tabs[at].plan.path().iter().map(|shown| shown.key).collect();
        if shown.is_empty() {
            return;
        }
        let turn = shown[shown.len() - 1 - two % shown.len().min(4)];
        let plan = &self.tabs[at].plan;
        let question = plan.question_of(turn);
        let here = plan
            .turns()
            .iter()
            .find(|shown| shown.key == turn)
            .map(|shown| shown.input.to_owned())
            .unwrap_or_default();
        let input = question
            .and_then(|key| self.server.find(plan.id_of(key)).map(|turn| turn.input.clone()))
            .filter(|input| !input.is_empty())
            .unwrap_or_else(|| here.clone());
        let is_here = !here.is_empty();
        if input.is_empty() {
            return;
        }
        let before = self.laws.sent(&input);
        match one % 8 {
            0..=2 => {
                self.laws.sends(&input);
                if !is_here {
                    self.laws.copies(&input);
                }
                let was = plan.turns().iter().find(|shown| shown.key == turn).map(|shown| shown.state);
                let taken = self.tell(at, Fact::Retry { turn, input: input.clone() });
                let looks = matches!(was, Some(ShownState::Incomplete | ShownState::Here(Sent::Unknown)));
                if taken.is_err() || looks {
                    self.laws.set(&input, before);
                } else if !is_here {
                    self.tabs[at].has_branched = true;
                }
            }
            3..=4 => {
                self.laws.sends(&input);
                self.laws.copies(&input);
                match self.tell(at, Fact::Regenerate { turn, input: input.clone() }) {
                    Err(_) => self.laws.set(&input, before),
                    Ok(_) => self.tabs[at].has_branched = true,
                }
            }
            5..=6 => {
                let text = self.text();
                self.laws.sends(&text);
                self.laws.replaced(&here, is_here);
                match self.tell(at, Fact::Edit { turn, input: text.clone() }) {
                    Err(_) => {
                        self.laws.unsent(&text);
                        self.laws.replaced(&here, false);
                    }
                    Ok(_) => self.tabs[at].has_branched |= !is_here,
                }
            }
            _ => drop(self.tell(at, Fact::Dismiss { turn })),
        }
    }

    pub(super) fn show(&mut self, at: usize, two: usize) {
        let turns: Vec<_> = self.tabs[at].plan.turns().iter().map(|turn| turn.key).collect();
        if !turns.is_empty() {
            let turn = turns[two % turns.len()];
            self.tabs[at].has_branched = true;
            let _ = self.tell(at, Fact::Show { turn });
        }
    }

    pub(super) fn change_queue(&mut self, at: usize, one: u32, two: usize) {
        let queue = self.tabs[at].plan.queue().to_vec();
        if queue.is_empty() {
            return;
        }
        let item = &queue[two % queue.len()];
        let key = item.key;
        match one % 8 {
            0 => {
                let text = self.text();
                self.laws.sends(&text);
                self.laws.replaced(&item.input, true);
                if self.tell(at, Fact::EditQueued { key, input: text.clone() }).is_err() {
                    self.laws.unsent(&text);
                    self.laws.replaced(&item.input, false);
                }
            }
            1 => drop(self.tell(at, Fact::RemoveQueued { key })),
            2 => drop(self.tell(at, Fact::MoveQueued { key, to: u32::try_from(two % 4).expect("small") })),
            3 => {
                let is_again = matches!(item.state, QueuedState::Unknown(_));
                let before = self.laws.sent(&item.input);
                if is_again {
                    self.laws.sends(&item.input);
                }
                if self.tell(at, Fact::SendNow { key }).is_err() {
                    self.laws.set(&item.input, before);
                }
            }
            4 => drop(self.tell(at, Fact::SteerQueued { key })),
            5 => drop(self.tell(at, Fact::Hold { on: true })),
            _ => drop(self.tell(at, Fact::Hold { on: false })),
        }
    }

    /// What cannot be done is refused, or harmless.
    pub(super) fn bad_use(&mut self, at: usize, one: u32, two: usize) {
        let none = Key(1_000_000 + u32::try_from(two).expect("small"));
        let fact = match one % 12 {
            0 => Fact::Answer { turn: none, call: "c0".to_owned(), answer: Some("\"?\"".to_owned()) },
            1 => Fact::Retry { turn: none, input: "\"?\"".to_owned() },
            2 => Fact::Edit { turn: none, input: "\"?\"".to_owned() },
            3 => Fact::Show { turn: none },
            4 => Fact::Dismiss { turn: none },
            5 => Fact::SendNow { key: none },
            6 => Fact::EditQueued { key: none, input: "\"?\"".to_owned() },
            7 => Fact::Send { input: String::new(), when_busy: None, discard: false },
            8 => Fact::Regenerate { turn: none, input: "\"?\"".to_owned() },
            9 => Fact::RemoveQueued { key: none },
            10 => {
                // Late facts of a turn that is gone.
                let facts = [
                    Fact::Named { turn: none, id: "s0".to_owned(), previous: None },
                    Fact::Ended { turn: none, end: End::Done, calls: vec![] },
                    Fact::Refused { turn: none },
                    Fact::Lost { turn: none },
                    Fact::Steered { key: none, delivery: Delivery::Taken },
                    Fact::ToolEnded { turn: none, call: "c0".to_owned(), result: None },
                ];
                for fact in facts {
                    assert!(self.tell(at, fact).is_ok(), "a late fact was refused");
                }
                return;
            }
            _ => Fact::MoveQueued { key: none, to: 0 },
        };
        assert!(self.tell(at, fact).is_err(), "bad use was not refused");
    }

    /// The page goes away, and comes back with what was stored.
    pub(super) fn reload(&mut self, at: usize, two: usize) {
        self.log.push(format!("tab {at}: reload"));
        let stored = self.tabs[at].stored.clone();
        for (place, InFlight { request, response }) in
            std::mem::take(&mut self.tabs[at].flying).into_iter().enumerate()
        {
            // What is sent again is what the server's list does not have.
            match &request {
                Request::Answer { answer, .. } => self.laws.answer_failed(answer, Delivery::Refused),
                Request::Start { turn, .. } => self.laws.failed(at, *turn, Delivery::Refused),
                _ => {}
            }
            if response.is_none() && two >> place & 1 == 1 {
                self.late.push((at, request));
            }
        }
        let options = Options { has_session: self.server.has_session, ..self.options };
        let is_leading = self.tabs[at].is_leading;
        self.tabs[at] = Tab::new(options);
        let past = std::mem::replace(&mut self.replays[at], Replay::new(options));
        self.past.push(past);
        self.tabs[at].stored.clone_from(&stored);
        self.laws.tabs[at] = Seen::default();
        if !stored.is_empty() {
            let _ = self.tell(at, Fact::Restored { text: stored });
        }
        self.attach(at);
        if is_leading {
            self.tabs[at].is_leading = true;
            let _ = self.tell(at, Fact::Leading { on: true });
        }
    }
}
