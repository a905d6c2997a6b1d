//! A mirror of a turn's index, built like a page's only from the changes.

use serde_json::Value as Json;
use turnwire::delivery::{CHANGE_STRIDE, ChangeBatch, Span};
use turnwire::index::EventIndex;
use turnwire::turn::TurnReader;

use crate::plain;
use crate::records::Texts;

/// What changes have said so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mirror {
    turn: Json,
    threads: Json,
    messages: Vec<Message>,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Message {
    /// The message without its texts.
    head: Json,
    content: String,
    reasoning: String,
    arguments: Vec<String>,
}

impl Mirror {
    /// Takes what changed.
    pub fn follow(&mut self, reader: &mut TurnReader, batch: &mut ChangeBatch) {
        let document = reader.take_changes(batch);
        assert!(!reader.index().has_changes(), "what was taken is taken");
        let Some(document) = document else {
            assert!(batch.records().is_empty());
            return;
        };
        let Json::Object(mut document) = plain::of_json(&document) else { panic!("a document") };
        if let Some(turn) = document.remove("turn") {
            self.turn = turn;
        }
        if let Some(threads) = document.remove("threads") {
            self.threads = threads;
        }
        for head in document.remove("messages").iter().filter_map(Json::as_array).flatten() {
            self.head(head.clone());
        }
        self.append(batch);
    }

    /// Fails unless the texts equal those of an index from which nothing was taken.
    pub fn check(&self, index: &EventIndex) {
        assert_eq!(self.messages.len(), index.messages().len());
        for (mirrored, message) in self.messages.iter().zip(index.messages()) {
            assert_eq!(mirrored.content, message.content());
            assert_eq!(mirrored.reasoning, message.reasoning());
            for (at, call) in message.calls().iter().enumerate() {
                let arguments = mirrored.arguments.get(at).map_or("", String::as_str);
                assert_eq!(arguments, call.as_ref().map_or("", |call| call.arguments()));
            }
        }
    }

    fn head(&mut self, mut head: Json) {
        let members = head.as_object_mut().expect("an object");
        let slot = members.remove("slot").expect("a slot");
        let slot: usize = slot[1].as_str().and_then(|slot| slot.parse().ok()).expect("a number");
        let is_reset = members.remove("reset") == Some(Json::Bool(true));
        if self.messages.len() <= slot {
            self.messages.resize(slot + 1, Message::default());
        }
        if is_reset {
            self.messages[slot] = Message::default();
        }
        self.messages[slot].head = head;
    }

    fn append(&mut self, batch: &ChangeBatch) {
        let texts = Texts::of(batch.text());
        for record in batch.records().chunks_exact(CHANGE_STRIDE) {
            let &[slot, field, call, start, len] = record else {
                panic!("a record has {CHANGE_STRIDE} words");
            };
            let piece = texts.get(Span { start, len, wide: field >> 8 == 1 });
            assert!(!piece.is_empty(), "nothing is not worth a record");
            let message = &mut self.messages[slot as usize];
            assert_ne!(message.head, Json::Null, "a message begins with its head");
            match field & 0xFF {
                0 => message.content.push_str(&piece),
                1 => message.reasoning.push_str(&piece),
                2 => {
                    let call = call as usize;
                    if message.arguments.len() <= call {
                        message.arguments.resize(call + 1, String::new());
                    }
                    message.arguments[call].push_str(&piece);
                }
                other => panic!("field {other}"),
            }
        }
    }
}
