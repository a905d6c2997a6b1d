//! Items: the parts of a turn (section 5), each named by its turn's id and its own.

use std::borrow::Cow;

use crate::error::sentence;
use crate::event::MAIN_THREAD;
use crate::json::Object;
use crate::names::Names;
use crate::protocol::EventSink;
use crate::protocol::fields::{Problem, text};
use crate::text::is_among;

use super::Turn;
use super::fingerprint::Fingerprint;

/// The most items that are remembered. Further items are reported as unreadable.
pub(super) const MOST: usize = 16_384;

/// Items that become notices.
const NEWS: &str = "systemEvent, plan, contextCompaction, enteredReviewMode, exitedReviewMode, hookPrompt, \
    functionCallOutput, subAgentActivity";

/// The types of calls. Those of the gateway have a `toolName`; Codex has a type for each of its tools.
const CALLS: &str = "commandExecution, fileChange, webSearch, webFetch, download, dynamicToolCall, \
    mcpToolCall, collabAgentToolCall, imageView, imageGeneration, sleep";

/// The place of an item.
#[derive(Debug, Clone, Default)]
pub(super) struct Place {
    /// 0 for the turn's own thread; above it, the thread of a task.
    pub(super) thread: u32,
    /// The turn of a task's agent; empty for the turn itself.
    pub(super) turn_id: String,
}

/// What an item becomes.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A message of the agent.
    #[default]
    Answer,
    /// Reasoning of the agent.
    Reasoning,
    /// A tool call.
    Call,
    /// A message without text, for calls.
    Calls,
}

/// An item as received so far.
#[derive(Debug, Default)]
pub(super) struct Item {
    pub(super) id: String,
    pub(super) thread: u32,
    pub(super) kind: Kind,
    /// Whether its message has begun.
    pub(super) is_announced: bool,
    pub(super) is_completed: bool,
    /// Whether its text was first emitted as another kind.
    pub(super) has_wrong_kind: bool,
    /// Of its text; of a call, of the arguments.
    pub(super) fingerprint: Fingerprint,
    /// Of a call's result.
    pub(super) result: Fingerprint,
    /// Of a call's output, by stream.
    pub(super) outputs: Vec<(String, Fingerprint)>,
    /// The calls in its message, as emitted.
    pub(super) calls: Vec<Object<'static>>,
    /// Of a call: the item in whose message it is made, and its index there.
    pub(super) maker: (usize, u32),
    /// How new the known state is.
    pub(super) mark: Mark,
}

/// How new the known state of an item or a task is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mark {
    /// Whether an item has begun or is completed. A delta may come before that.
    pub(super) is_begun: bool,
    /// The number of the newest recorded event of it that was read, or that equals the known state.
    pub(super) sequence: u64,
    /// The number of reads that had begun when a notification of it came.
    pub(super) notification: u32,
}

/// The items of a turn and of its tasks, by number.
#[derive(Debug, Default)]
pub(super) struct Items {
    pub(super) list: Vec<Item>,
    /// An item's name is its id; in another turn, the turn's name comes before it.
    names: Names,
    /// For each thread, the last message item that began: calls are made in it.
    rounds: Vec<(u32, usize)>,
    /// The last answer, for the turn's end: the number of its item, and its text.
    pub(super) answer: Option<(usize, String)>,
    /// The id of the user message that is the turn's input; empty until it comes.
    pub(super) input_id: String,
}

impl Items {
    pub(super) fn get(&self, at: usize) -> Option<&Item> {
        self.list.get(at)
    }

    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut Item> {
        self.list.get_mut(at)
    }

    /// The number of a known item.
    pub(super) fn find(&self, turn_id: &str, id: &str) -> Option<usize> {
        self.names.get(&name_of(turn_id, id)).map(|at| at as usize)
    }

    /// The number of an item, and whether it is new.
    fn number(&mut self, turn_id: &str, id: &str) -> Result<(usize, bool), Problem> {
        if self.list.len() >= MOST && self.find(turn_id, id).is_none() {
            return Err("the turn has too many items".to_owned());
        }
        let (at, is_new) = self.names.number(&name_of(turn_id, id));
        Ok((at as usize, is_new))
    }

    /// Whether pieces are appended to the text of this item.
    pub(super) fn takes_text(&self, at: usize) -> bool {
        let item = self.get(at).filter(|item| !item.is_completed);
        item.is_some_and(|item| matches!(item.kind, Kind::Answer | Kind::Reasoning))
    }

    /// The id of the last message of the main thread that began.
    pub(super) fn last_message(&self) -> Option<&str> {
        let is_message = |item: &Item| item.thread == 0 && item.is_announced && item.kind != Kind::Call;
        self.list.iter().rev().find(|item| is_message(item)).map(|item| &*item.id)
    }

    /// The message in which calls of this thread are made.
    pub(super) fn round(&self, thread: u32) -> Option<usize> {
        self.rounds.iter().find(|(known, _)| *known == thread).map(|(_, at)| *at)
    }

    /// Calls of this thread are made in this message from now on.
    pub(super) fn set_round(&mut self, thread: u32, at: usize) {
        match self.rounds.iter_mut().find(|(known, _)| *known == thread) {
            Some((_, round)) => *round = at,
            None => self.rounds.push((thread, at)),
        }
    }
}

/// Whether an item is a call. An item of an unknown type is one if it names a tool.
fn is_call(item: &Object<'_>) -> bool {
    is_among(item.text("type"), CALLS) || !item.text("toolName").is_empty()
}

/// The name of an item in the turn of a task's agent; in the turn itself if `turn_id` is empty.
fn name_of<'n>(turn_id: &str, id: &'n str) -> Cow<'n, str> {
    if turn_id.is_empty() { id.into() } else { sentence(&[turn_id, "\n", id]).into() }
}

impl Turn {
    /// Takes an item. Returns whether its type is known.
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
            // The title of a task has its prompt.
            "userMessage" => {}
            "agentMessage" => self.text_item(Kind::Answer, is_completed, place, item, sink)?,
            "reasoning" => self.text_item(Kind::Reasoning, is_completed, place, item, sink)?,
            "task" => self.task(item, sink),
            kind if is_among(kind, NEWS) => {
                // They happen at once, and have no content before they are completed.
                if is_completed {
                    self.system_event(place.thread, item, sink);
                }
            }
            _ if is_call(item) => self.call_item(is_completed, place, item, sink)?,
            _ => return Ok(false),
        }
        if place.thread == 0 && matches!(item.text("type"), "collabAgentToolCall" | "subAgentActivity") {
            self.agents_of_item(item, sink);
        }
        Ok(true)
    }

    /// The number of an item, which is added as `kind` if it is new.
    pub(super) fn item_at(&mut self, place: &Place, id: &str, kind: Kind) -> Result<usize, Problem> {
        let (at, is_new) = self.items.number(&place.turn_id, id)?;
        if is_new {
            let id = self.own_id(place, id, kind);
            self.items.list.push(Item { id, thread: place.thread, kind, ..Item::default() });
        }
        Ok(at)
    }

    /// The id of an item's message: the item's id, unless another message of the turn or its tasks has it.
    fn own_id(&self, place: &Place, id: &str, kind: Kind) -> String {
        let is_taken = kind != Kind::Call
            && !self.tasks.is_empty()
            && self.items.list.iter().any(|item| item.kind != Kind::Call && item.id == id);
        let turn_id = if place.turn_id.is_empty() { &self.turn_id } else { &place.turn_id };
        if is_taken { sentence(&[turn_id, ":", id]) } else { id.to_owned() }
    }

    /// The id of a thread in events.
    pub(super) fn thread_name(&self, thread: u32) -> &str {
        let task = (thread as usize).checked_sub(1).and_then(|at| self.tasks.get(at));
        task.map_or(MAIN_THREAD, |task| &task.id)
    }
}
