//! What is known of a turn.

use crate::error::{Error, sentence};
use crate::event::EventRef;
use crate::json::{Object, Value, write_u64};
use crate::names::Names;
use crate::protocol::EventSink;
use crate::protocol::fields::{Problem, put, with_text};

use super::agents::Agents;
use super::items::Item;
use super::requests::Request;
use super::tasks::{Task, Timeline};
use super::usage::Usage;

/// Where a turn may be that is not the newest of its thread.
#[derive(Debug)]
pub(super) enum Look {
    /// Among those behind this cursor; without one, among the newest.
    Older(String),
    /// In the thread, which this server can only give as a whole.
    Thread,
}

/// The memory of a turn.
#[derive(Debug, Default)]
#[expect(clippy::struct_field_names, reason = "the turn's id beside those of others")]
#[expect(clippy::struct_excessive_bools, reason = "facts of which each may be true with any other")]
pub(in super::super) struct Turn {
    pub(super) thread_id: String,
    /// Empty as long as only the server knows it.
    pub(super) turn_id: String,
    pub(super) previous_turn_id: Value<'static>,
    /// What it was given, until that is told.
    pub(super) input: Option<Value<'static>>,
    /// How many events were given.
    pub(super) given: u64,
    pub(super) is_begun: bool,
    pub(super) is_over: bool,
    /// The id of the item that the input is.
    pub(super) user_message: String,
    /// The items by number; each is named by its id, after the name of its turn if that is another one.
    pub(super) items: Vec<Item>,
    pub(super) names: Names,
    /// The item that was begun last and is a message, for each thread: calls are made in it.
    pub(super) rounds: Vec<(u32, usize)>,
    /// The threads of tasks: thread 1 is the first.
    pub(super) tasks: Vec<Task>,
    pub(super) timeline: Timeline,
    pub(super) agents: Agents,
    /// The number of the read that is being taken; 0 if none is.
    pub(super) reading: u32,
    /// Prints of what is told once.
    pub(super) facts: Vec<u64>,
    pub(super) requests: Vec<Request>,
    /// The ids of requests that nobody here knows, until they are responded to.
    pub(super) refusals: Vec<String>,
    pub(super) usage: Usage,
    /// The last answer, for the turn's end: the number of its item, and its text.
    pub(super) answer: Option<(usize, String)>,
    /// The turn as the server keeps it, until what was heard meanwhile is taken.
    pub(super) kept: Option<Object<'static>>,
    /// Whether no turn runs in the thread, as the server said last.
    pub(super) is_idle: bool,
    /// Whether the turn was not among those of its thread.
    pub(super) is_missing: bool,
    /// Where the turn is to be looked for, if it was not found.
    pub(super) look: Option<Look>,
    /// Why this connection is of no use, until there is another one.
    pub(super) failure: Option<Error>,
    /// How the turn has ended, while something of it is still to be read.
    pub(super) ending: Option<Object<'static>>,
}

impl Turn {
    /// Whether something is of this turn. What names no turn is of the whole thread.
    pub(super) fn is_own(&self, thread_id: &str, turn_id: &str) -> bool {
        thread_id == self.thread_id && (turn_id.is_empty() || turn_id == self.turn_id)
    }

    /// Gives an event.
    pub(super) fn give(&mut self, event: &Object<'_>, sink: &mut dyn EventSink) {
        self.given += 1;
        sink.event(self.given, EventRef::of(event));
    }

    /// The id of the next event, where it has none of its own.
    pub(super) fn next_id(&self) -> String {
        let mut id = sentence(&[&*self.turn_id, ":e"]);
        write_u64(&mut id, self.given + 1);
        id
    }

    /// Gives what is not known, or could not be read.
    pub(super) fn unknown(
        &mut self,
        wire_type: &str,
        raw: Value<'_>,
        problem: Option<Problem>,
        sink: &mut dyn EventSink,
    ) {
        if self.is_over {
            return;
        }
        self.created(sink);
        let mut event = with_text("type", "unknown");
        event.set("wire_type", if wire_type.is_empty() { Value::Null } else { wire_type.to_owned().into() });
        event.set("raw", raw);
        if let Some(problem) = problem {
            put(&mut event, "problem", &problem);
        }
        self.give(&event, sink);
    }

    /// Whether a fact of this name was not told yet.
    pub(super) fn is_new_fact(&mut self, name: &str) -> bool {
        const MOST: usize = 4096;
        let print = Print::of(name).hash;
        let is_new = !self.facts.contains(&print);
        if is_new && self.facts.len() < MOST {
            self.facts.push(print);
        }
        is_new
    }
}

/// What is kept of a text that grows: its length, and a number by which another text of that length is told from it
/// (FNV-1a).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Print {
    pub(super) len: usize,
    hash: u64,
}

impl Default for Print {
    fn default() -> Self {
        Self { len: 0, hash: 0xcbf2_9ce4_8422_2325 }
    }
}

impl Print {
    pub(super) fn of(text: &str) -> Self {
        let mut print = Self::default();
        print.push(text);
        print
    }

    pub(super) fn push(&mut self, piece: &str) {
        self.len += piece.len();
        for byte in piece.bytes() {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}
