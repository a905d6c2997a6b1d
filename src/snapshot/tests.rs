//! The mirror of recorded streams: it ends the same however often it is taken, and agrees with the index.

use std::sync::Arc;

use crate::delivery::{EventReader, TextArena};
use crate::event::Event;
use crate::index::{EventIndex, Message};
use crate::protocol::truefoundry::{Dialect, TrueFoundry};
use crate::sse::DEFAULT_LIMIT;
use crate::turn::{TurnMachine, TurnReader};

use super::{MessageSnapshot, Mirror, ThreadSnapshot};

const RECORDINGS: [(&str, &[u8]); 6] = [
    ("plain", include_bytes!("../../tests/fixtures/truefoundry/plain.sse")),
    ("reasoning", include_bytes!("../../tests/fixtures/truefoundry/reasoning.sse")),
    ("parallel", include_bytes!("../../tests/fixtures/truefoundry/parallel.sse")),
    ("subagents", include_bytes!("../../tests/fixtures/truefoundry/subagents.sse")),
    ("unicode", include_bytes!("../../tests/fixtures/truefoundry/unicode.sse")),
    ("error", include_bytes!("../../tests/fixtures/truefoundry/error.sse")),
];

fn reader() -> TurnReader {
    let protocol = TrueFoundry::new(Dialect::Gateway);
    let mut reader = TurnReader::new(&protocol, TurnMachine::unstarted(), DEFAULT_LIMIT);
    reader.machine_mut().stream(None).expect("a turn can be started");
    reader.set_wants_events(true);
    reader
}

fn threads(mirror: &Mirror) -> Vec<ThreadSnapshot> {
    mirror.threads().iter().map(|thread| (**thread).clone()).collect()
}

/// The messages as the index has them: id, thread, texts, and the arguments of the calls.
fn told(index: &EventIndex) -> Vec<Vec<String>> {
    let told = |message: &Message| {
        let thread = index.threads().get(message.thread).map_or("", |thread| &thread.id);
        let texts = [&*message.id, thread, message.content(), message.reasoning(), message.refusal()];
        let calls = message.calls().iter().flatten().map(|call| call.arguments().to_owned());
        texts.into_iter().map(str::to_owned).chain(calls).collect()
    };
    index.messages().iter().map(told).collect()
}

#[test]
fn a_mirror_that_is_taken_often_comes_to_one_that_is_taken_once() {
    for (name, stream) in RECORDINGS {
        let mut whole = reader();
        whole.push(stream).expect("the frames are small");
        let expected = told(whole.index());
        let mut once = Mirror::default();
        assert!(once.follow(whole.index_mut()), "{name}");
        assert!(!once.follow(whole.index_mut()), "{name}: nothing has changed since");

        let (mut pieces, mut often) = (reader(), Mirror::default());
        // As in a front end: only the mirror keeps the texts.
        pieces.release_taken_text();
        for chunk in stream.chunks(61) {
            pieces.push(chunk).expect("the frames are small");
            often.follow(pieces.index_mut());
        }
        assert_eq!(threads(&often), threads(&once), "{name}");
        assert_eq!(often.parts(), once.parts(), "{name}");

        let mut shown: Vec<Vec<String>> = Vec::new();
        for message in once.threads().iter().flat_map(|thread| &thread.messages) {
            let texts = [&message.id, &message.thread_id, &message.content, &message.reasoning_content];
            let calls = message.tool_calls.iter().map(|call| call.arguments.clone());
            let texts = texts.into_iter().cloned().chain([message.refusal.clone()]);
            shown.push(texts.chain(calls).collect());
        }
        let sorted = |mut list: Vec<Vec<String>>| {
            list.sort();
            list
        };
        assert_eq!(sorted(shown), sorted(expected), "{name}");
    }
}

#[test]
fn what_did_not_change_is_shared() {
    let (_, stream) = RECORDINGS[3];
    let (mut reader, mut mirror) = (reader(), Mirror::default());
    let middle = stream.len() * 3 / 4;
    reader.push(&stream[..middle]).expect("the frames are small");
    mirror.follow(reader.index_mut());
    let before = mirror.threads().to_vec();
    reader.push(&stream[middle..]).expect("the frames are small");
    mirror.follow(reader.index_mut());
    let messages = |threads: &[Arc<ThreadSnapshot>]| -> Vec<Arc<MessageSnapshot>> {
        threads.iter().flat_map(|thread| thread.messages.clone()).collect()
    };
    let (known, now) = (messages(&before), messages(mirror.threads()));
    let is_shared = |message: &&Arc<MessageSnapshot>| now.iter().any(|one| Arc::ptr_eq(one, message));
    let shared = known.iter().filter(is_shared).count();
    assert!(shared > 0 && shared < now.len(), "{shared} of {} messages are shared", now.len());
}

#[test]
fn records_become_the_events_that_they_were() {
    for (name, stream) in RECORDINGS {
        let (mut reader, mut events, mut read) = (reader(), EventReader::default(), Vec::new());
        let mut taken = (Vec::new(), TextArena::default());
        for chunk in stream.chunks(997) {
            reader.push(chunk).expect("the frames are small");
            reader.batch().take(&mut taken);
            events.read(&taken.0, &taken.1, &mut |number, event| read.push((number, event)));
        }
        let numbers: Vec<u64> = read.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "{name}");
        assert!(read.iter().all(|(_, event)| !matches!(event, Event::Unknown(_))), "{name}");
        let mut texts: Vec<(String, String)> = Vec::new();
        for (_, event) in &read {
            let Event::ModelMessageDelta(delta) = event else { continue };
            let piece = delta.content.clone().unwrap_or_default();
            match texts.iter_mut().find(|(id, _)| *id == delta.id) {
                Some((_, text)) => text.push_str(&piece),
                None => texts.push((delta.id.clone(), piece)),
            }
        }
        for (id, text) in texts {
            assert_eq!(reader.index().message(&id).map(Message::content), Some(&*text), "{name}");
        }
    }
}
