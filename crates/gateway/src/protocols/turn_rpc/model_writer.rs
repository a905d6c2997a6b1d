//! Writes what a model says on one thread, as items: its reasoning, its answers, its calls.

use serde_json::{Value, json};

use super::event::ItemRef;
use super::markdown;
use super::thread::Mode;
use super::tool::{self, Call, Outcome};
use super::traps::DOUBLE_REASONING;
use super::turn_writer::{Delta, TurnWriter};
use crate::agents::{Draft, Step};
use crate::store::random_suffix;

/// An id of an item, as long as the ids of requests.
pub(super) fn item_id() -> String {
    random_suffix(21)
}

/// The items of a message.
#[derive(Debug)]
pub(super) struct Items {
    /// The id of its reasoning.
    reasoning: String,
    /// Whether the reasoning is complete.
    reasoned: bool,
    /// The id of its answer, once that has begun.
    answer: Option<String>,
}

/// Writes what one model says and calls.
#[derive(Debug)]
pub(super) struct ModelWriter {
    pub(super) out: TurnWriter,
    mode: Mode,
    /// Calls without a result.
    calls: Vec<Call>,
    /// The reasoning of the latest round.
    pub(super) latest: Option<ItemRef>,
    /// The words of the latest message.
    pub(super) words: String,
}

impl ModelWriter {
    pub(super) fn new(out: TurnWriter, mode: Mode) -> Self {
        Self { out, mode, calls: Vec::new(), latest: None, words: String::new() }
    }

    /// Every message begins with reasoning, even from a model that shows none.
    pub(super) fn begin(&mut self) -> Items {
        let reasoning = item_id();
        self.out.start(&reasoning_item(&reasoning, ""));
        self.latest = Some(ItemRef { id: reasoning.clone(), kind: "reasoning" });
        Items { reasoning, reasoned: false, answer: None }
    }

    /// Writes what a step has added to a message.
    pub(super) fn add(&mut self, draft: &mut Draft<Items>, step: &Step) {
        match (step, self.mode) {
            // What comes after the item's end is sent, but is not part of it.
            (Step::Reasoning { text, .. }, Mode::Chat) => self.out.delta(Delta {
                method: "item/agent_message/delta",
                stream: "generic",
                item: &draft.own.reasoning,
                text,
                whole: &draft.reasoning,
            }),
            (Step::Text { text, .. }, Mode::Chat) => {
                self.end_reasoning(draft);
                let answer = draft.own.answer.get_or_insert_with(|| {
                    let answer = item_id();
                    self.out.start(&message_item(&answer, ""));
                    answer
                });
                self.out.delta(answer_delta(answer, text, &draft.text));
            }
            _ => {}
        }
    }

    /// The message is complete: its answer, and its calls, which begin together.
    pub(super) fn end(&mut self, mut draft: Draft<Items>) {
        self.end_reasoning(&mut draft);
        let Draft { own, text, calls, .. } = draft;
        match own.answer {
            Some(answer) => self.out.complete(&message_item(&answer, &text)),
            // In rounds, what is said beside calls is not shown.
            None if self.mode == Mode::Agent && calls.is_empty() && !text.is_empty() => {
                let id = item_id();
                self.out.start(&message_item(&id, ""));
                self.out.delta(answer_delta(&id, &text, &text));
                self.out.complete(&message_item(&id, &text));
            }
            None => {}
        }
        if self.out.traps.has(&DOUBLE_REASONING) {
            self.out.complete(&reasoning_item(&own.reasoning, ""));
        }
        self.words = text;
        for draft in calls {
            let name = tool::name(draft.tool);
            if tool::makes_task(&name) {
                continue;
            }
            let call = Call::new(&draft.id, &name, draft.input());
            self.out.start(&call.started());
            self.calls.push(call);
        }
    }

    fn end_reasoning(&mut self, draft: &mut Draft<Items>) {
        if !std::mem::replace(&mut draft.own.reasoned, true) {
            self.out.complete(&reasoning_item(&draft.own.reasoning, &draft.reasoning));
        }
    }

    /// The model's connection breaks within a message: the attempt is void. Its reasoning is completed, maybe
    /// a second time, with nothing in it. Returns the item that recovery is about.
    pub(super) fn break_off(&mut self, items: Items) -> ItemRef {
        self.out.complete(&reasoning_item(&items.reasoning, ""));
        match items.answer {
            Some(answer) => ItemRef { id: answer, kind: "agent_message" },
            None => ItemRef { id: items.reasoning, kind: "reasoning" },
        }
    }

    pub(super) fn find(&self, call: &str) -> Option<&Call> {
        self.calls.iter().find(|open| open.id == call)
    }

    /// A call has output.
    pub(super) fn put_out(&mut self, call: &str, stream: &'static str, text: &str) {
        let method = match stream {
            "stdout" | "stderr" => "item/command_execution/output_delta",
            "file_change" => "item/file_change/output_delta",
            _ => "item/tool/progress",
        };
        if let Some(call) = self.calls.iter_mut().find(|open| open.id == call) {
            call.put_out(text, stream);
            self.out.delta(Delta { method, stream, item: &call.id, text, whole: &call.output });
        }
    }

    /// A call has ended.
    pub(super) fn result(&mut self, call: &str, outcome: &Outcome) {
        let Some(index) = self.calls.iter().position(|open| open.id == call) else { return };
        let call = self.calls.remove(index);
        self.out.complete(&call.completed(outcome));
    }

    /// A call has ended, and only a text of its result is known.
    pub(super) fn result_text(&mut self, id: &str, content: &str) {
        let Some(call) = self.find(id) else { return };
        let mut outcome = Outcome::of(content);
        if call.is_command() {
            let report: Value = serde_json::from_str(content).unwrap_or_else(|_| json!({"stdout": content}));
            outcome.exit_code = report["exit_code"].as_i64().unwrap_or(outcome.exit_code);
            for stream in ["stdout", "stderr"] {
                if let Some(text) = report[stream].as_str().filter(|text| !text.is_empty()) {
                    self.put_out(id, stream, text);
                }
            }
        } else {
            let progress = format!("{} has answered", call.tool);
            self.put_out(id, "tool_progress", &progress);
        }
        self.result(id, &outcome);
    }

    /// Calls for which the script has no result end with the turn.
    pub(super) fn settle(&mut self) {
        for call in std::mem::take(&mut self.calls) {
            self.out.complete(&call.completed(&Outcome::default()));
        }
    }
}

fn answer_delta<'a>(item: &'a str, text: &'a str, whole: &'a str) -> Delta<'a> {
    Delta { method: "item/agent_message/delta", stream: "agent_message", item, text, whole }
}

fn reasoning_item(id: &str, text: &str) -> Value {
    let content = if text.is_empty() { Vec::new() } else { vec![text] };
    json!({"type": "reasoning", "id": id, "summary": [], "content": content})
}

fn message_item(id: &str, text: &str) -> Value {
    json!({
        "type": "agentMessage",
        "id": id,
        "text": text,
        "markdown": markdown::parse(text),
        "markdownVersion": markdown::VERSION,
    })
}
