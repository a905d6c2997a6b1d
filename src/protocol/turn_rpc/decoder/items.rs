//! Items: the parts of a turn (section 5), each named by its turn's id and its own.

use crate::error::sentence;
use crate::event::MAIN_THREAD;
use crate::json::Object;
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A message of the agent.
    Answer,
    /// Reasoning of the agent.
    Reasoning,
    /// A tool call.
    Call,
    /// A message without text, for calls.
    Calls,
}

/// An item as received so far.
#[derive(Debug)]
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

/// Whether an item is a call. An item of an unknown type is one if it names a tool.
fn is_call(item: &Object<'_>) -> bool {
    is_among(item.text("type"), CALLS) || !item.text("toolName").is_empty()
}

/// The name of an item in the turn of a task's agent.
pub(super) fn name_in(turn_id: &str, id: &str) -> String {
    sentence(&[turn_id, "\n", id])
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
                is_announced: false,
                is_completed: false,
                has_wrong_kind: false,
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

    /// The id of an item's message: the item's id, unless another message of the turn or its tasks has it.
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

    /// The id of a thread in events.
    pub(super) fn thread_name(&self, thread: u32) -> &str {
        let task = (thread as usize).checked_sub(1).and_then(|at| self.tasks.get(at));
        task.map_or(MAIN_THREAD, |task| &task.id)
    }
}
