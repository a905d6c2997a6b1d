//! Writes what a model says on one thread, as items: its reasoning, its answers, its calls.

use serde_json::{Value, json};

use super::event::ItemRef;
use super::markdown;
use super::thread::Mode;
use super::tool::{self, Call, Outcome};
use super::traps::DOUBLE_REASONING;
use super::turn_writer::{Delta, TurnWriter};
use crate::agents::{MessageKey, Tool};
use crate::store::random_suffix;

/// An id of an item, as long as the ids of requests.
pub(super) fn item_id() -> String {
    random_suffix(21)
}

/// Writes what one model says and calls.
#[derive(Debug)]
pub(super) struct ModelWriter {
    pub(super) out: TurnWriter,
    mode: Mode,
    open: Option<Open>,
    /// Calls without a result.
    calls: Vec<Call>,
    /// The reasoning of the latest round.
    pub(super) latest: Option<ItemRef>,
    /// The words of the latest message.
    pub(super) words: String,
}

/// The message that is being streamed.
#[derive(Debug)]
struct Open {
    key: MessageKey,
    reasoning: TextItem,
    /// Whether the reasoning is complete.
    reasoned: bool,
    answer: Option<TextItem>,
    text: String,
    calls: Vec<(String, Tool, String)>,
}

#[derive(Debug)]
struct TextItem {
    id: String,
    text: String,
}

impl TextItem {
    fn new() -> Self {
        Self { id: item_id(), text: String::new() }
    }
}

impl ModelWriter {
    pub(super) fn new(out: TurnWriter, mode: Mode) -> Self {
        Self { out, mode, open: None, calls: Vec::new(), latest: None, words: String::new() }
    }

    /// Every message begins with reasoning, also of a model that does not show any.
    pub(super) fn begin(&mut self, key: MessageKey) {
        let reasoning = TextItem::new();
        self.out.start(&reasoning_item(&reasoning.id, ""));
        self.latest = Some(ItemRef { id: reasoning.id.clone(), kind: "reasoning" });
        self.open = Some(Open {
            key,
            reasoning,
            reasoned: false,
            answer: None,
            text: String::new(),
            calls: Vec::new(),
        });
    }

    pub(super) fn reason(&mut self, text: &str) {
        let Some(open) = &mut self.open else { return };
        // What comes after the item's end is sent, but is not part of it.
        open.reasoning.text.push_str(text);
        if self.mode == Mode::Chat {
            self.out.delta(Delta {
                method: "item/agent_message/delta",
                stream: "generic",
                item: &open.reasoning.id,
                text,
                whole: &open.reasoning.text,
            });
        }
    }

    pub(super) fn say(&mut self, text: &str) {
        let Some(open) = &mut self.open else { return };
        open.text.push_str(text);
        if self.mode == Mode::Agent {
            return;
        }
        self.end_reasoning();
        let Some(open) = &mut self.open else { return };
        let answer = open.answer.get_or_insert_with(|| {
            let answer = TextItem::new();
            self.out.start(&message_item(&answer.id, ""));
            answer
        });
        answer.text.push_str(text);
        let (item, whole) = (answer.id.as_str(), answer.text.as_str());
        self.out.delta(answer_delta(item, text, whole));
    }

    pub(super) fn call(&mut self, id: String, tool: Tool) {
        if let Some(open) = &mut self.open {
            open.calls.push((id, tool, String::new()));
        }
    }

    pub(super) fn arguments(&mut self, index: usize, text: &str) {
        let call = self.open.as_mut().and_then(|open| open.calls.get_mut(index));
        if let Some((_, _, arguments)) = call {
            arguments.push_str(text);
        }
    }

    /// The message is complete: its answer, and its calls, which begin together. A call for which
    /// `is_task` holds is no item of its own.
    pub(super) fn end(&mut self, is_task: impl Fn(&str) -> bool) {
        self.end_reasoning();
        let Some(open) = self.open.take() else { return };
        let Open { reasoning, answer, text, calls, .. } = open;
        match answer {
            Some(answer) => self.out.complete(&message_item(&answer.id, &answer.text)),
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
            self.out.complete(&reasoning_item(&reasoning.id, ""));
        }
        self.words = text;
        for (id, tool, arguments) in calls {
            let name = tool::name(tool);
            if is_task(&name) {
                continue;
            }
            let call = Call::new(&id, &name, &arguments);
            self.out.start(&call.started());
            self.calls.push(call);
        }
    }

    fn end_reasoning(&mut self) {
        let Some(open) = self.open.as_mut().filter(|open| !open.reasoned) else { return };
        open.reasoned = true;
        self.out.complete(&reasoning_item(&open.reasoning.id, &open.reasoning.text));
    }

    /// The model's connection breaks: the attempt is void. Its reasoning is completed, maybe
    /// a second time, with nothing in it. Returns the item that recovery is about; `None` if no message
    /// was open.
    pub(super) fn break_off(&mut self) -> Option<ItemRef> {
        let open = self.open.take()?;
        self.out.complete(&reasoning_item(&open.reasoning.id, ""));
        Some(match open.answer {
            Some(answer) => ItemRef { id: answer.id, kind: "agent_message" },
            None => ItemRef { id: open.reasoning.id, kind: "reasoning" },
        })
    }

    pub(super) fn speaks(&self, key: MessageKey) -> bool {
        self.open.as_ref().is_some_and(|open| open.key == key)
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
