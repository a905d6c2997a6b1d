//! A page's view of a turn: the events from the records, and a mirror of the index that is built from its changes only.
//! Both are read as JavaScript reads them.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use turnwire::delivery::{CHANGE_STRIDE, ChangeBatch, EVENT_STRIDE, TextArena, kind};
use turnwire::protocol::truefoundry::{Dialect, TrueFoundry};
use turnwire::turn::{TurnMachine, TurnReader};

use super::script::Entry;
use super::wire::frame;

/// More than the size of any valid frame.
pub(crate) const FRAME_LIMIT: usize = 64 * 1024;

/// What the page has received.
#[derive(Debug, Default)]
pub(crate) struct Page {
    /// The events with their sequence numbers, in the order in which they were delivered.
    pub(crate) events: Vec<(u64, Json)>,
    /// Whether the events that are read now come from a list.
    pub(crate) is_listing: bool,
    /// The events that came from a list, by their places.
    pub(crate) listed: BTreeSet<usize>,
    pub(crate) mirror: Mirror,
    names: Vec<String>,
    taken: (Vec<u32>, TextArena),
    changes: ChangeBatch,
}

/// The result of the changes so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Mirror {
    pub(crate) turn: Json,
    pub(crate) threads: Json,
    pub(crate) messages: Vec<MirroredMessage>,
}

/// A message without its texts, and its texts.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct MirroredMessage {
    pub(crate) head: Json,
    pub(crate) content: String,
    pub(crate) reasoning: String,
    pub(crate) arguments: Vec<String>,
}

impl Page {
    /// Takes the received events.
    pub(crate) fn read(&mut self, reader: &mut TurnReader) {
        reader.batch().take(&mut self.taken);
        let (records, arena) = &self.taken;
        let wide = wide_units(arena);
        let from = self.events.len();
        for record in records.chunks(EVENT_STRIDE) {
            let [head, name, thread, low, high, start, len, time_start, time_len, index] =
                record.try_into().expect("a whole record");
            let text = slice(arena, &wide, head & kind::WIDE != 0, start, len);
            let number = u64::from(high) << 32 | u64::from(low);
            let mut fields = match head & 0xff {
                kind::CONTENT => json!({"content": text}),
                kind::REASONING => json!({"reasoning_content": text}),
                kind::ARGUMENTS => {
                    json!({"tool_calls": [{"index": index, "function": {"arguments": text}}]})
                }
                kind::NAME => {
                    self.names.push(text);
                    continue;
                }
                _ => {
                    let mut event: Json = serde_json::from_str(&text).expect("JSON");
                    // JavaScript sets the one that was delivered.
                    let said = event.as_object_mut().and_then(|event| event.remove("sequence_number"));
                    let is_own = event["type"] == "model.message.delta";
                    assert!(
                        said.is_none() || self.is_listing || is_own,
                        "a streamed event has no number in it, but for a delta that is handed on as it came: {text}"
                    );
                    // An unknown event stays as it arrived.
                    event
                        .get_mut("raw")
                        .and_then(Json::as_object_mut)
                        .and_then(|raw| raw.remove("sequence_number"));
                    self.events.push((number, event));
                    continue;
                }
            };
            if head & kind::LIKE != 0 {
                let changed = slice(arena, &wide, head & kind::WIDE_CHANGED != 0, time_start, time_len);
                self.events.push((number, like(&self.names[name as usize], &changed, fields)));
                continue;
            }
            fields["type"] = "model.message.delta".into();
            fields["id"] = self.names[name as usize].as_str().into();
            fields["thread_id"] = self.names[thread as usize].as_str().into();
            if head & kind::TIMED != 0 {
                fields["created_at"] = slice(arena, &wide, false, time_start, time_len).into();
            }
            self.events.push((number, fields));
        }
        if self.is_listing {
            self.listed.extend(from..self.events.len());
        }
    }

    /// The events that came from lists, or those that came from streams.
    pub(crate) fn events(&self, is_listed: bool) -> Vec<&(u64, Json)> {
        let events = self.events.iter().enumerate();
        events.filter(|(at, _)| self.listed.contains(at) == is_listed).map(|(_, event)| event).collect()
    }

    /// Applies the changes of the index.
    pub(crate) fn follow(&mut self, reader: &mut TurnReader) {
        let Some(document) = reader.take_changes(&mut self.changes) else {
            return;
        };
        let document: Json = serde_json::from_str(&document).expect("JSON");
        if let Some(turn) = document.get("turn") {
            self.mirror.turn = turn.clone();
        }
        if let Some(threads) = document.get("threads") {
            self.mirror.threads = threads.clone();
        }
        for head in document["messages"].as_array().into_iter().flatten() {
            self.mirror.head(head.clone());
        }
        let arena = self.changes.text();
        let wide = wide_units(arena);
        for record in self.changes.records().chunks(CHANGE_STRIDE) {
            let [slot, field, call, start, len] = record.try_into().expect("a whole record");
            let piece = slice(arena, &wide, field & kind::WIDE != 0, start, len);
            self.mirror.append(slot as usize, field & 0xff, call as usize, &piece);
        }
    }
}

impl Mirror {
    fn head(&mut self, mut head: Json) {
        let members = head.as_object_mut().expect("an object");
        let slot = members.remove("slot").and_then(|slot| slot.as_u64()).expect("a slot");
        let slot = usize::try_from(slot).expect("small");
        let starts_over = members.remove("reset") == Some(Json::Bool(true));
        if self.messages.len() <= slot {
            self.messages.resize(slot + 1, MirroredMessage::default());
        }
        if starts_over {
            self.messages[slot] = MirroredMessage::default();
        }
        self.messages[slot].head = head;
    }

    fn append(&mut self, slot: usize, field: u32, call: usize, piece: &str) {
        let message = self.messages.get_mut(slot).expect("a message begins with its head");
        match field {
            0 => message.content.push_str(piece),
            1 => message.reasoning.push_str(piece),
            _ => {
                if message.arguments.len() <= call {
                    message.arguments.resize(call + 1, String::new());
                }
                message.arguments[call].push_str(piece);
            }
        }
    }
}

/// The state of a page that read the beginning of a log, or all of it, on one connection without faults.
pub(crate) struct Uncut {
    pub(crate) reader: TurnReader,
    pub(crate) page: Page,
}

impl Uncut {
    pub(crate) fn of(log: &[Entry], events: usize) -> Self {
        let protocol = TrueFoundry::new(Dialect::Gateway);
        let mut reader = TurnReader::new(&protocol, TurnMachine::unstarted(), FRAME_LIMIT);
        reader.set_wants_events(true);
        reader.machine_mut().stream(None).expect("it is new");
        reader.connected(true);
        for (number, entry) in (1..).zip(&log[..events]) {
            reader
                .push(&frame(&entry.data, Some(&u64::to_string(&number))))
                .expect("nothing is wrong with it");
        }
        let mut page = Page::default();
        page.read(&mut reader);
        page.follow(&mut reader);
        Self { reader, page }
    }
}

/// An event with fields that are not known: its outline, with what has changed.
fn like(outline: &str, changed: &str, fields: Json) -> Json {
    let mut event: Json = serde_json::from_str(outline).expect("JSON");
    let members = event.as_object_mut().expect("an object");
    members.remove("sequence_number");
    let changed: Json =
        if changed.is_empty() { json!({}) } else { serde_json::from_str(changed).expect("JSON") };
    for part in [changed, fields] {
        members.extend(part.as_object().expect("an object").clone());
    }
    event
}

fn wide_units(arena: &TextArena) -> Vec<u16> {
    std::str::from_utf8(arena.wide()).expect("UTF-8").encode_utf16().collect()
}

fn slice(arena: &TextArena, wide: &[u16], is_wide: bool, start: u32, len: u32) -> String {
    let range = start as usize..(start + len) as usize;
    if is_wide {
        String::from_utf16(&wide[range]).expect("whole characters")
    } else {
        std::str::from_utf8(&arena.ascii()[range]).expect("ASCII").to_owned()
    }
}
