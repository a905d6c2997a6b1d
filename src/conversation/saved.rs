//! What outlives the page: the queue, the draft, answers that are kept, and what has not arrived for certain.

use super::call::{Answer, AnswerState};
use super::lines::{Lines, write_line};
use super::queue::{Queued, QueuedState};
use super::turn::{Input, Outgoing, Parent, Turn, TurnState};
use super::{After, Plan, Text};

/// An answer from an earlier page.
#[derive(Debug)]
pub(super) struct SavedAnswer {
    pub(super) turn: Text,
    pub(super) call: Text,
    pub(super) answer: Answer,
}

/// A record is lines: its kind, and four texts. What has a line break, as an id may have, is not kept.
fn record(out: &mut String, kind: &str, texts: [&str; 4]) {
    if texts.iter().all(|text| !text.contains('\n')) {
        write_line(out, kind);
        for text in texts {
            write_line(out, text);
        }
    }
}

impl Plan {
    pub(super) fn saved_text(&self) -> String {
        let mut out = String::new();
        if !self.draft.is_empty() {
            record(&mut out, "d", [&self.draft, "", "", ""]);
        }
        for item in &self.queue.0 {
            let turn = match &item.state {
                QueuedState::Waits | QueuedState::Held => "",
                QueuedState::Steering(key) => {
                    self.tree.turns.iter().find(|turn| turn.key == *key).map_or("", |turn| &turn.id)
                }
                QueuedState::Unknown(id) => id,
            };
            record(&mut out, "q", [&item.input, turn, flag(item.discard), ""]);
        }
        for turn in &self.tree.turns {
            for call in &turn.calls {
                let state = match call.answer.state {
                    AnswerState::Kept | AnswerState::Refused => "",
                    AnswerState::Going | AnswerState::Unknown => "1",
                    _ => continue,
                };
                record(&mut out, "a", [&turn.id, &call.id, &call.answer.text, state]);
            }
            self.save_outgoing(&mut out, turn);
        }
        for SavedAnswer { turn, call, answer } in &self.saved {
            record(&mut out, "a", [turn, call, &answer.text, flag(answer.state == AnswerState::Unknown)]);
        }
        out
    }

    fn save_outgoing(&self, out: &mut String, turn: &Turn) {
        let Some(outgoing) = turn.outgoing() else { return };
        let parent = match &turn.parent {
            Parent::Nothing => "",
            Parent::Unlisted(id) => id,
            Parent::Turn(key) => {
                self.tree.turns.iter().find(|parent| parent.key == *key).map_or("", |parent| &parent.id)
            }
        };
        let kind = match (&turn.state, outgoing.is_fork) {
            (TurnState::Prepared(_), _) => "o",
            (TurnState::Failed(out), false) if !out.was_lost => "o",
            (TurnState::Failed(out), true) if !out.was_lost => "f",
            (TurnState::Failed(_), false) => "m",
            (TurnState::Failed(_), true) => "g",
            (_, false) => "u",
            (_, true) => "v",
        };
        if let Input::Message(text) = &outgoing.input {
            record(out, kind, [text, parent, flag(outgoing.discard), ""]);
        }
    }

    /// Takes what an earlier page has stored. All of it is held: nothing goes out before a person says so.
    pub(super) fn restore(&mut self, text: &str) {
        let mut lines = Lines(text);
        while let Some(kind) = lines.next() {
            let [Some(one), Some(two), Some(three), Some(four)] =
                [lines.next(), lines.next(), lines.next(), lines.next()]
            else {
                break;
            };
            match kind {
                "d" => one.clone_into(&mut self.draft),
                "q" => {
                    let state =
                        if two.is_empty() { QueuedState::Held } else { QueuedState::Unknown(two.to_owned()) };
                    let key = self.keys.make();
                    self.queue.0.push(Queued {
                        key,
                        input: one.to_owned(),
                        state,
                        discard: !three.is_empty(),
                    });
                }
                "a" => {
                    let state = if four.is_empty() { AnswerState::Kept } else { AnswerState::Unknown };
                    let answer = Answer { state, text: three.to_owned() };
                    self.saved.push(SavedAnswer { turn: one.to_owned(), call: two.to_owned(), answer });
                }
                _ => self.restore_outgoing(kind, one, two, !three.is_empty()),
            }
        }
    }

    fn restore_outgoing(&mut self, kind: &str, input: &str, parent: &str, discard: bool) {
        let is_fork = matches!(kind, "f" | "g" | "v");
        let out = Outgoing {
            input: Input::Message(input.to_owned()),
            after: match (is_fork, parent) {
                (false, _) => After::Newest,
                (true, "") => After::Nothing,
                (true, id) => After::Turn(id.to_owned()),
            },
            discard,
            is_fork,
            was_lost: matches!(kind, "m" | "g" | "u" | "v"),
        };
        let parent = if parent.is_empty() { Parent::Nothing } else { Parent::Unlisted(parent.to_owned()) };
        let state = if matches!(kind, "u" | "v") { TurnState::Unknown(out) } else { TurnState::Failed(out) };
        let mut turn = Turn::new(self.keys.make(), parent, state);
        turn.asks = true;
        self.tree.turns.push(turn);
    }
}

fn flag(on: bool) -> &'static str {
    if on { "1" } else { "" }
}
