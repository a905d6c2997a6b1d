//! A mirror of the index that has only the changes it took, like a page.

use serde_json::Value as Json;

use crate::event::TextField;
use crate::index::EventIndex;

/// The changes so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Mirror {
    pub(super) turn: Json,
    pub(super) threads: Json,
    pub(super) messages: Vec<MirroredMessage>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct MirroredMessage {
    /// The message without its texts.
    pub(super) head: Json,
    pub(super) content: String,
    pub(super) reasoning: String,
    pub(super) arguments: Vec<String>,
}

/// One set of changes.
#[derive(Debug, Default)]
pub(super) struct Taken {
    pub(super) document: Json,
    pub(super) pieces: Vec<(usize, TextField, String)>,
}

pub(super) fn take(index: &mut EventIndex) -> Taken {
    let mut pieces = Vec::new();
    let had_changes = index.has_changes();
    let document = index.take_changes(&mut |slot, field, piece| pieces.push((slot, field, piece.to_owned())));
    assert_eq!(document.is_some(), had_changes);
    assert!(!index.has_changes(), "what was taken is taken");
    let document = document.map(|json| serde_json::from_str(&json).expect("JSON"));
    Taken { document: document.unwrap_or_default(), pieces }
}

impl Mirror {
    /// All changes of an index.
    pub(super) fn of(mut index: EventIndex) -> Self {
        let mut mirror = Self::default();
        mirror.follow(&mut index);
        mirror
    }

    /// Takes the changes.
    pub(super) fn follow(&mut self, index: &mut EventIndex) {
        let Taken { document, pieces } = take(index);
        if document.get("restart").is_some() {
            self.messages.clear();
        }
        if let Some(turn) = document.get("turn") {
            self.turn = turn.clone();
        }
        if let Some(threads) = document.get("threads") {
            self.threads = threads.clone();
        }
        for head in document["messages"].as_array().into_iter().flatten() {
            self.message(head.clone());
        }
        for (slot, field, piece) in pieces {
            assert!(!piece.is_empty(), "nothing is not worth a piece");
            let message = self.messages.get_mut(slot).expect("a message begins with its head");
            match field {
                TextField::Content => message.content.push_str(&piece),
                TextField::Reasoning => message.reasoning.push_str(&piece),
                TextField::Arguments(at) => {
                    let at = usize::try_from(at).expect("small");
                    if message.arguments.len() <= at {
                        message.arguments.resize(at + 1, String::new());
                    }
                    message.arguments[at].push_str(&piece);
                }
            }
        }
    }

    fn message(&mut self, mut head: Json) {
        let members = head.as_object_mut().expect("an object");
        let slot = members.remove("slot").and_then(|slot| slot.as_u64()).expect("a slot");
        let slot = usize::try_from(slot).expect("small");
        let reset = members.remove("reset").and_then(|reset| reset.as_bool()).expect("a flag");
        let mut is_reset = |name: &str| members.remove(name).is_some_and(|reset| reset == true);
        let (content_reset, arguments_reset) = (is_reset("content_reset"), is_reset("arguments_reset"));
        if self.messages.len() <= slot {
            self.messages.resize(slot + 1, MirroredMessage::default());
        }
        let message = &mut self.messages[slot];
        if reset {
            *message = MirroredMessage::default();
        }
        if content_reset {
            message.content.clear();
        }
        if arguments_reset {
            message.arguments.clear();
        }
        message.head = head;
    }
}
