//! Steps of a script as items: each thread of the script has a writer, and sub-agents are tasks with
//! turns of their own.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::event::{Event, ItemRef};
use super::model_writer::{Items, ModelWriter, item_id};
use super::recovery::{Recovery, RecoveryEvent};
use super::scripts::Act;
use super::task::Task;
use super::thread::{App, Mode, Thread};
use super::traps::UNKNOWN_TYPE;
use super::turn::Status;
use super::turn_writer::TurnWriter;
use crate::agents::{Answers, Approval, Drafts, MAIN, Step, serve};
use crate::faults::Traps;

/// Writes one turn, and those of its sub-agents.
pub(super) struct Recorder {
    app: App,
    main: ModelWriter,
    tasks: HashMap<String, Task>,
    drafts: Drafts<Items>,
    /// Calls that wait for consent, and those of each thread that wait for an answer.
    approvals: Vec<String>,
    questions: Vec<(String, String)>,
    recovery: Recovery,
}

impl Recorder {
    pub(super) fn new(app: App, thread: Arc<Thread>, turn: String, mode: Mode, traps: Arc<Traps>) -> Self {
        Self {
            app,
            main: ModelWriter::new(TurnWriter::new(thread, turn, traps), mode),
            tasks: HashMap::new(),
            drafts: Drafts::default(),
            approvals: Vec::new(),
            questions: Vec::new(),
            recovery: Recovery::default(),
        }
    }

    pub(super) fn traps(&self) -> &Traps {
        &self.main.out.traps
    }

    /// What comes before the agent does anything.
    pub(super) fn begin(&mut self) {
        if self.traps().has(&UNKNOWN_TYPE) {
            let out = &self.main.out;
            let mut params = out.thread.place(&out.turn).base();
            params.insert("mood".to_owned(), json!("curious"));
            out.notify("turn/mood_changed", Value::Object(params));
        }
    }

    pub(super) fn act(&mut self, act: Act) {
        match act {
            Act::Step(step) => self.step(step),
            Act::Compress => self.compress(),
            Act::Output { call, stream, text } => self.main.put_out(&call, stream, &text),
            Act::Return { call, outcome } => self.main.result(&call, &outcome),
            Act::Break => {
                self.break_off();
            }
            Act::Recover(news) => self.recovery.notify(&self.main, news),
        }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::BeginMessage { message, thread } => {
                if let Some(writer) = self.writer(&thread) {
                    let items = writer.begin();
                    self.drafts.begin(message, thread, items);
                }
            }
            Step::Text { .. } | Step::Reasoning { .. } | Step::BeginCall { .. } | Step::Arguments { .. } => {
                if let Some(draft) = self.drafts.add(&step)
                    && let Some(writer) = writer(&mut self.main, &mut self.tasks, &draft.thread)
                {
                    writer.add(draft, &step);
                }
            }
            Step::EndMessage { message, .. } => {
                if let Some(draft) = self.drafts.end(message)
                    && let Some(writer) = self.writer(&draft.thread)
                {
                    writer.end(draft);
                }
            }
            Step::ToolResult { thread, call, content } => {
                if let Some(writer) = self.writer(&thread) {
                    writer.result_text(&call, &content);
                }
            }
            Step::BeginThread(agent) => {
                let app = self.app.clone();
                if let Some(parent) = self.writer(&agent.parent_thread) {
                    let task = Task::begin(&app, &parent.out, &agent);
                    self.tasks.insert(agent.thread, task);
                }
            }
            Step::EndThread { agent, failure } => {
                if let Some(task) = self.tasks.remove(&agent.thread)
                    && let Some(parent) = self.writer(&agent.parent_thread)
                {
                    task.end(&mut parent.out, failure);
                }
            }
            Step::AwaitApproval { calls, .. } => self.approvals.extend(calls),
            Step::AwaitResponse { thread, calls } => {
                self.questions.extend(calls.into_iter().map(|call| (thread.clone(), call)));
            }
            Step::Remember { key, value } => {
                self.main.out.thread.state().memory.insert(key, value);
            }
            // Servers, sandboxes and their files are not visible here.
            Step::Connect { .. }
            | Step::CreateSandbox { .. }
            | Step::WriteFile { .. }
            | Step::AwaitAuthorization { .. }
            | Step::Wait(_)
            | Step::End(_) => {}
        }
    }

    fn writer(&mut self, thread: &str) -> Option<&mut ModelWriter> {
        writer(&mut self.main, &mut self.tasks, thread)
    }

    /// The model's connection breaks. Within a message, this starts its recovery and returns true.
    fn break_off(&mut self) -> bool {
        let Some(draft) = self.drafts.end_on(MAIN) else { return false };
        let item = self.main.break_off(draft.own);
        self.recovery.open(&self.main, item, "provider_error", "retry_with_backoff");
        true
    }

    fn compress(&mut self) {
        let (thread, turn) = (&self.main.out.thread.id, &self.main.out.turn);
        let message = "Compressing conversation history...";
        let compressing = json!({"thread_id": thread, "turn_id": turn, "message": message});
        let compressed = json!({"thread_id": thread, "turn_id": turn, "compressed_tokens": 5120});
        self.main.out.notify("context/compressing", compressing);
        self.main.out.notify("context/compressed", compressed);
    }

    /// Everything is allowed, and questions have the answer that the agent recommends: this
    /// protocol cannot ask.
    pub(super) fn answer_all(&mut self) -> Answers {
        let mut answers = Answers::default();
        let approvals = std::mem::take(&mut self.approvals);
        answers.approvals.extend(approvals.into_iter().map(|call| (call, Approval::Allow)));
        for (thread, id) in std::mem::take(&mut self.questions) {
            let Some(writer) = self.writer(&thread) else { continue };
            let Some(call) = writer.find(&id) else { continue };
            let answer = serve(&call.tool, &call.arguments());
            writer.result_text(&id, &answer);
            answers.responses.insert(id, answer);
        }
        answers
    }

    /// The script has ended.
    pub(super) fn finish(&mut self) {
        self.main.settle();
        self.main.out.thread.finish(&self.main.out.turn, Status::Completed, None);
    }

    pub(super) fn fail(&mut self, error: &str) {
        self.main.out.thread.finish(&self.main.out.turn, Status::Failed, Some(error.to_owned()));
    }

    /// The model failed for good. If it broke off within a message, another attempt fails too.
    pub(super) fn fail_attempt(&mut self, error: &str) {
        if self.break_off() {
            self.recovery.notify(&self.main, RecoveryEvent::Attempt);
            self.empty_round();
            self.recovery.notify(&self.main, RecoveryEvent::Exhausted(error.to_owned()));
        }
        let error = self.recovery.take_failure().unwrap_or_else(|| error.to_owned());
        self.fail(&error);
    }

    /// A round of which only the beginning is sent.
    fn empty_round(&mut self) {
        let id = item_id();
        let item = json!({"type": "reasoning", "id": id, "summary": [], "content": []});
        self.main.out.record(Event::started(&item));
        self.main.out.record(Event::completed(&item));
        self.main.latest = Some(ItemRef { id, kind: "reasoning" });
    }

    /// The turn was ended from outside, so the turns of its sub-agents end too.
    pub(super) fn abandon(&mut self) {
        for task in self.tasks.values() {
            let out = &task.writer.out;
            out.thread.finish(
                &out.turn,
                Status::Interrupted,
                Some("the turn that it works for has ended".to_owned()),
            );
        }
    }
}

/// The writer of a thread of the script.
fn writer<'a>(
    main: &'a mut ModelWriter,
    tasks: &'a mut HashMap<String, Task>,
    thread: &str,
) -> Option<&'a mut ModelWriter> {
    if thread == MAIN {
        return Some(main);
    }
    tasks.get_mut(thread).map(|task| &mut task.writer)
}
