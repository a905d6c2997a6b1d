//! What must be true at each moment, and at rest.

use std::collections::{BTreeMap, BTreeSet};

use turnwire::conversation::{
    Delivery, Effect, Fact, Key, Phase, Queued, QueuedState, Sent, ShownState, StartInput, Taken,
};

use super::server::{Protocol, Server};
use super::tab::Tab;

/// How often something was done with a text.
type Counts = BTreeMap<String, usize>;

#[derive(Debug, Default)]
pub(crate) struct Laws {
    /// How often a person has asked for a text to be sent.
    sends: Counts,
    /// How often a person has asked for one more turn with a text.
    copies: Counts,
    /// How often a text has left as a turn.
    starts: Counts,
    /// How often an answer has left, and how often that has failed.
    answers: Counts,
    failed_answers: Counts,
    /// Answers that may have arrived: neither a list nor the turn's end has told.
    unclear: BTreeSet<String>,
    /// What was given back, by tab.
    given_back: BTreeMap<String, usize>,
    /// Texts that arrived when the carrier had given up, and those that a person has replaced.
    late: BTreeSet<String>,
    replaced: BTreeSet<String>,
    /// The tab in which a text was sent.
    owner: BTreeMap<String, usize>,
    pub(crate) tabs: Vec<Seen>,
}

/// What was seen of a tab since it was loaded.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    names: BTreeMap<u32, String>,
    ids: BTreeMap<u32, String>,
    keys: BTreeMap<String, u32>,
    /// The answers that left with a turn.
    leaving: BTreeMap<u32, Vec<String>>,
}

impl Laws {
    pub(crate) fn sends(&mut self, text: &str) {
        *self.sends.entry(text.to_owned()).or_default() += 1;
    }

    pub(crate) fn sent(&self, text: &str) -> usize {
        self.sends.get(text).copied().unwrap_or_default()
    }

    /// One more turn with the text is wanted.
    pub(crate) fn copies(&mut self, text: &str) {
        *self.copies.entry(text.to_owned()).or_default() += 1;
    }

    pub(crate) fn set(&mut self, text: &str, count: usize) {
        self.sends.insert(text.to_owned(), count);
    }

    /// The text was refused: a person still has it.
    pub(crate) fn unsent(&mut self, text: &str) {
        self.sends.remove(text);
    }

    /// A person has put another text in its place.
    pub(crate) fn replaced(&mut self, text: &str, on: bool) {
        if on {
            self.replaced.insert(text.to_owned());
        } else {
            self.replaced.remove(text);
        }
    }

    pub(crate) fn gave_back(&mut self, text: &str) {
        *self.given_back.entry(text.to_owned()).or_default() += 1;
    }

    pub(crate) fn came_late(&mut self, text: &str) {
        self.late.insert(text.to_owned());
    }

    pub(crate) fn answer_failed(&mut self, answer: &str, delivery: Delivery) {
        if delivery == Delivery::Lost {
            self.unclear.insert(answer.to_owned());
        }
        *self.failed_answers.entry(answer.to_owned()).or_default() += 1;
    }

    pub(crate) fn failed(&mut self, at: usize, turn: Key, delivery: Delivery) {
        for answer in self.tabs[at].leaving.remove(&turn.0).unwrap_or_default() {
            self.answer_failed(&answer, delivery);
        }
    }

    /// What a fact has led to.
    pub(crate) fn took(&mut self, at: usize, fact: &Fact, taken: &Taken, queue: &[Queued]) {
        if let Fact::Send { input, .. } | Fact::Edit { input, .. } | Fact::EditQueued { input, .. } = fact {
            self.owner.insert(input.clone(), at);
        }
        if matches!(fact, Fact::Page(_) | Fact::Ended { .. }) {
            self.unclear.clear();
        }
        for effect in &taken.effects {
            match effect {
                Effect::Start { turn, input: StartInput::Message(text), .. } => {
                    let starts = self.starts.entry(text.clone()).or_default();
                    *starts += 1;
                    let sends = self.sends.get(text).copied().unwrap_or_default();
                    assert!(
                        *starts <= sends,
                        "{text} left {starts} times as a turn, and was sent {sends} times"
                    );
                    check_order(fact, *turn, queue);
                }
                Effect::Start { turn, input: StartInput::Answers(_, answers), .. } => {
                    let texts: Vec<_> = answers.iter().map(|(_, answer)| answer.clone()).collect();
                    for answer in &texts {
                        self.answer_leaves(answer);
                    }
                    self.tabs[at].leaving.insert(turn.0, texts);
                }
                Effect::Answer { answer, .. } => self.answer_leaves(answer),
                _ => {}
            }
        }
    }

    fn answer_leaves(&mut self, answer: &str) {
        assert!(!self.unclear.contains(answer), "the answer {answer} may have arrived, and leaves again");
        let left = self.answers.entry(answer.to_owned()).or_default();
        *left += 1;
        let failed = self.failed_answers.get(answer).copied().unwrap_or_default();
        assert!(*left <= 1 + failed, "the answer {answer} left {left} times, and failed {failed} times");
    }

    pub(crate) fn check(&mut self, at: usize, tab: &Tab, server: &Server) {
        self.check_keys(at, tab);
        self.check_texts(at, tab, server);
        self.check_server(server);
    }

    /// Keys never change, and never collide.
    fn check_keys(&mut self, at: usize, tab: &Tab) {
        let seen = &mut self.tabs[at];
        let turns = tab.plan.turns();
        let steered = turns.iter().flat_map(|turn| turn.steered.iter().map(|(key, _)| *key));
        let keys: Vec<Key> = turns
            .iter()
            .map(|turn| turn.key)
            .chain(tab.plan.queue().iter().map(|item| item.key))
            .chain(steered)
            .collect();
        let once: BTreeSet<Key> = keys.iter().copied().collect();
        assert_eq!(once.len(), keys.len(), "a key is in two places: {keys:?}");
        for key in keys {
            let name = tab.plan.name(key);
            let before = seen.names.entry(key.0).or_insert_with(|| name.clone());
            assert_eq!(*before, name, "the name of a key has changed");
            assert_eq!(*seen.keys.entry(name).or_insert(key.0), key.0, "two keys have one name");
        }
        for turn in turns {
            if !turn.id.is_empty() {
                let before = seen.ids.entry(turn.key.0).or_insert_with(|| turn.id.to_owned());
                assert_eq!(before, turn.id, "a key is another turn's");
            }
        }
    }

    /// Each text is in exactly one place.
    fn check_texts(&self, at: usize, tab: &Tab, server: &Server) {
        let turns = tab.plan.turns();
        for (text, sends) in &self.sends {
            if self.owner.get(text) != Some(&at) || self.replaced.contains(text) {
                continue;
            }
            let queued = tab.plan.queue().iter().filter(|item| item.input == *text).count();
            let rows = turns.iter().filter(|turn| turn.input == text).count();
            let steered =
                turns.iter().flat_map(|turn| &turn.steered).filter(|(_, steered)| steered == text).count();
            let given = self.given_back.get(text).copied().unwrap_or_default();
            let here = queued + rows + steered + given;
            let known: BTreeSet<&str> = turns
                .iter()
                .filter(|turn| server.find(turn.id).is_some_and(|turn| turn.input == *text))
                .map(|turn| turn.id)
                .collect();
            let copies = self.copies.get(text).copied().unwrap_or_default();
            assert!(
                here <= 1 + copies,
                "{text} is in two places: queue {queued}, rows {rows}, steered {steered}, given back {given}"
            );
            assert!(here > 0 || server.count(text) > 0, "{text} is lost");
            if !self.late.contains(text) {
                assert!(
                    here + known.len() <= *sends,
                    "{text} is here {here} times, and in the turns {known:?}, sent {sends} times"
                );
            }
        }
    }

    /// No input starts two turns.
    fn check_server(&self, server: &Server) {
        for (text, sends) in &self.sends {
            let count = server.count(text);
            assert!(count <= *sends, "the server has {text} {count} times, sent {sends} times");
        }
    }

    /// What must be true once nothing happens any more.
    pub(crate) fn check_rest(&self, at: usize, tab: &Tab, server: &Server, protocol: Protocol) {
        let phase = tab.plan.phase();
        assert!(matches!(phase, Phase::Idle | Phase::Waiting | Phase::Failed), "tab {at} rests in {phase:?}");
        let path = tab.plan.path();
        let is_open = |state: ShownState| {
            matches!(state, ShownState::Here(Sent::Sending | Sent::Unknown) | ShownState::Running)
        };
        assert!(!path.iter().any(|turn| is_open(turn.state)), "tab {at}: something is still open: {path:?}");
        let open = tab
            .plan
            .queue()
            .iter()
            .any(|item| matches!(item.state, QueuedState::Steering(_) | QueuedState::Unknown(_)));
        assert!(!open, "tab {at}: a steered message is still open");
        let mut shown: Vec<String> =
            path.iter().filter(|turn| !turn.id.is_empty()).map(|turn| turn.id.to_owned()).collect();
        shown.dedup();
        let Some(newest) = server.turns.last() else {
            assert!(shown.is_empty(), "tab {at} shows turns that nobody has");
            return;
        };
        let tip = shown.last().cloned().unwrap_or_default();
        // A sibling that was not sent is shown in its place, also after a reload.
        let has_unsent_sibling = tab.stored.lines().step_by(5).any(|kind| matches!(kind, "f" | "g"));
        if !protocol.fork || !(tab.has_branched || has_unsent_sibling) {
            assert_eq!(tip, newest.id, "tab {at} does not show the newest turn");
        }
        let all = if protocol.fork {
            server.chain(&tip)
        } else {
            server.turns.iter().map(|turn| turn.id.clone()).collect()
        };
        assert_eq!(shown, all, "tab {at} does not show what the server lists");
        // A text that has arrived is nowhere else, however late it came.
        for (text, sends) in self.sends.iter().filter(|(text, _)| self.owner.get(*text) == Some(&at)) {
            let here = tab.plan.queue().iter().filter(|item| item.input == *text).count()
                + tab.plan.turns().iter().filter(|turn| turn.input == text).count()
                + tab
                    .plan
                    .turns()
                    .iter()
                    .flat_map(|turn| &turn.steered)
                    .filter(|(_, steered)| steered == text)
                    .count();
            assert!(server.count(text) + here <= *sends, "{text} is on the server and here");
        }
    }
}

/// The queue's order holds.
fn check_order(fact: &Fact, turn: Key, queue: &[Queued]) {
    let Some(place) = queue.iter().position(|item| item.key == turn) else { return };
    if matches!(
        fact,
        Fact::SendNow { .. } | Fact::MoveQueued { .. } | Fact::RemoveQueued { .. } | Fact::SteerQueued { .. }
    ) {
        return;
    }
    let overtaken = queue[..place].iter().any(|item| item.state == QueuedState::Waits);
    assert!(!overtaken, "an input of the queue was overtaken");
}
