//! Items: what a turn is made of (section 5), each known by its turn's id and its own.

use crate::error::sentence;
use crate::event::MAIN_THREAD;
use crate::json::Object;
use crate::protocol::EventSink;
use crate::protocol::fields::{Problem, text};
use crate::text::is_among;

use super::Turn;
use super::fingerprint::Fingerprint;

/// How many items are remembered. More than these are not told apart, and not told.
pub(super) const MOST: usize = 16_384;

/// Items that are news: they are neither said nor called.
const NEWS: &str = "systemEvent, plan, contextCompaction, enteredReviewMode, exitedReviewMode, hookPrompt, \
    functionCallOutput, subAgentActivity";

/// The types that are calls. The gateway's have a `toolName`; Codex has a type for each tool of its own.
const CALLS: &str = "commandExecution, fileChange, webSearch, webFetch, download, dynamicToolCall, \
    mcpToolCall, collabAgentToolCall, imageView, imageGeneration, sleep";

/// Where an item is.
#[derive(Debug, Clone, Default)]
pub(super) struct Place {
    /// 0 for the turn's own thread; others are those of tasks.
    pub(super) thread: u32,
    /// The turn of a task's child; empty for the turn itself.
    pub(super) turn_id: String,
}

/// What an item is to whoever reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A message of the agent's.
    Answer,
    /// What it thinks before.
    Reasoning,
    /// A call of a tool.
    Call,
    /// The message of calls before which nothing was said.
    Calls,
}

/// An item, as far as it has come.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) id: String,
    pub(super) thread: u32,
    pub(super) kind: Kind,
    /// Whether its message was told.
    pub(super) is_told: bool,
    pub(super) is_completed: bool,
    /// Whether its text was told as something that it is not.
    pub(super) is_misread: bool,
    /// Of its text; of a call, of its arguments.
    pub(super) fingerprint: Fingerprint,
    /// Of a call's result.
    pub(super) result: Fingerprint,
    /// Of what a call puts out, by its streams.
    pub(super) outputs: Vec<(String, Fingerprint)>,
    /// The calls that are made in it, as they were told.
    pub(super) calls: Vec<Object<'static>>,
    /// Of a call: the item in which it is made, and its place there.
    pub(super) maker: (usize, u32),
    /// How far it is known.
    pub(super) mark: Mark,
}

/// How far an item, or a task, is known.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mark {
    /// Whether an item was told to have begun, or to be complete: a piece of it may come before.
    pub(super) is_begun: bool,
    /// The number of the newest event that was read of it, or matches what was heard of it.
    pub(super) sequence: u64,
    /// How many reads had been begun when it was heard of.
    pub(super) heard: u32,
}

/// Whether an item is a call: also one of a type that is newer than this, if it names its tool.
fn is_call(item: &Object<'_>) -> bool {
    is_among(item.text("type"), CALLS) || !item.text("toolName").is_empty()
}

/// The name of an item of a task's turn.
pub(super) fn name_in(turn_id: &str, id: &str) -> String {
    sentence(&[turn_id, "\n", id])
}

impl Turn {
    /// Takes what is said of an item. Gives whether its type is known.
    pub(super) fn item(
        &mut self,
        method: &str,
        place: &Place,
        item: &Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<bool, Problem> {
        if text(item, "id")?.is_empty() {
            return Err("`id` is empty".to_owned());
        }
        let is_completed = method == "item/completed";
        match text(item, "type")? {
            "userMessage" if place.thread == 0 => self.user_message(item, sink),
            // What a task was told is in its title.
            "userMessage" => {}
            "agentMessage" => self.text_item(Kind::Answer, is_completed, place, item, sink)?,
            "reasoning" => self.text_item(Kind::Reasoning, is_completed, place, item, sink)?,
            "task" => self.task(item, sink),
            kind if is_among(kind, NEWS) => {
                // They happen at once; a beginning says nothing yet.
                if is_completed {
                    self.system_event(place.thread, item, sink);
                }
            }
            _ if is_call(item) => self.call_item(is_completed, place, item, sink)?,
            _ => return Ok(false),
        }
        if place.thread == 0 && matches!(item.text("type"), "collabAgentToolCall" | "subAgentActivity") {
            self.agents_in(item, sink);
        }
        Ok(true)
    }

    /// The number of an item; `kind` is what a new one is.
    pub(super) fn item_at(&mut self, place: &Place, id: &str, kind: Kind) -> Result<usize, Problem> {
        let (at, is_new) = if place.turn_id.is_empty() {
            self.number(id)?
        } else {
            self.number(&name_in(&place.turn_id, id))?
        };
        if is_new {
            let id = self.own_id(place, id, kind);
            self.items.push(Item {
                id,
                thread: place.thread,
                kind,
                is_told: false,
                is_completed: false,
                is_misread: false,
                fingerprint: Fingerprint::default(),
                result: Fingerprint::default(),
                outputs: Vec::new(),
                calls: Vec::new(),
                maker: (0, 0),
                mark: Mark::default(),
            });
        }
        Ok(at)
    }

    /// The id of an item's message: its own, unless the turn, or a task in it, has a message of that id already.
    fn own_id(&self, place: &Place, id: &str, kind: Kind) -> String {
        let is_taken = kind != Kind::Call
            && !self.tasks.is_empty()
            && self.items.iter().any(|item| item.kind != Kind::Call && item.id == id);
        let turn_id = if place.turn_id.is_empty() { &self.turn_id } else { &place.turn_id };
        if is_taken { sentence(&[turn_id, ":", id]) } else { id.to_owned() }
    }

    fn number(&mut self, name: &str) -> Result<(usize, bool), Problem> {
        if self.items.len() >= MOST && self.names.get(name).is_none() {
            return Err("the turn has too many items".to_owned());
        }
        let (at, is_new) = self.names.number(name);
        Ok((at as usize, is_new))
    }

    /// The name of a thread, for events.
    pub(super) fn thread_name(&self, thread: u32) -> &str {
        let task = (thread as usize).checked_sub(1).and_then(|at| self.tasks.get(at));
        task.map_or(MAIN_THREAD, |task| &task.id)
    }
}
