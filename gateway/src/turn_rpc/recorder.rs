//! Steps of a script as items: each thread of the script has a voice, and sub-agents are tasks with
//! turns of their own.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::event::{Event, ItemRef};
use super::recovery::{News, Recovery};
use super::scripts::Act;
use super::task::{self, Task};
use super::thread::{App, Mode, Thread};
use super::track::Track;
use super::turn::Status;
use super::voice::{Voice, item_id};
use crate::agents::{Answers, Approval, MAIN, MessageKey, Step, serve};
use crate::faults::{Traps, UNKNOWN_TYPE};

/// Writes one turn, and those of its sub-agents.
pub(super) struct Recorder {
    app: App,
    main: Voice,
    tasks: HashMap<String, Task>,
    /// The script's thread of each message.
    threads: HashMap<MessageKey, String>,
    /// Calls that want somebody's consent, and those that want somebody's answer.
    approvals: Vec<(String, String)>,
    questions: Vec<(String, String)>,
    recovery: Recovery,
}

impl Recorder {
    pub(super) fn new(app: App, thread: Arc<Thread>, turn: String, mode: Mode, traps: Arc<Traps>) -> Self {
        Self {
            app,
            main: Voice::new(Track::new(thread, turn, traps), mode),
            tasks: HashMap::new(),
            threads: HashMap::new(),
            approvals: Vec::new(),
            questions: Vec::new(),
            recovery: Recovery::default(),
        }
    }

    pub(super) fn traps(&self) -> &Traps {
        &self.main.track.traps
    }

    /// What comes before the agent does anything.
    pub(super) fn begin(&mut self) {
        if self.traps().has(&UNKNOWN_TYPE) {
            let track = &self.main.track;
            let mut params = track.thread.place(&track.turn).base();
            params.insert("mood".to_owned(), json!("curious"));
            track.tell("turn/mood_changed", Value::Object(params));
        }
    }

    pub(super) fn act(&mut self, act: Act) {
        match act {
            Act::Step(step) => self.step(step),
            Act::Compress => self.compress(),
            Act::Output { call, stream, text } => self.main.put_out(&call, stream, &text),
            Act::Return { call, outcome } => self.main.result(&call, &outcome),
            Act::Break => {
                if let Some(item) = self.main.break_off() {
                    self.recovery.open(&self.main, item, "provider_error", "retry_with_backoff");
                }
            }
            Act::Recover(news) => self.recovery.tell(&self.main, news),
        }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::BeginMessage { message, thread } => {
                if let Some(voice) = self.voice(&thread) {
                    voice.begin(message);
                }
                self.threads.insert(message, thread);
            }
            Step::Text { message, text } => self.speaker(message, |voice| voice.say(&text)),
            Step::Reasoning { message, text } => self.speaker(message, |voice| voice.reason(&text)),
            Step::BeginCall { message, call, tool, .. } => {
                self.speaker(message, |voice| voice.call(call, tool));
            }
            Step::Arguments { message, index, text } => {
                self.speaker(message, |voice| voice.arguments(index, &text));
            }
            Step::EndMessage { message, .. } => {
                self.speaker(message, |voice| voice.end(task::makes_task));
                self.threads.remove(&message);
            }
            Step::ToolResult { thread, call, content } => {
                if let Some(voice) = self.voice(&thread) {
                    voice.result_text(&call, &content);
                }
            }
            Step::BeginThread(agent) => {
                let app = self.app.clone();
                if let Some(parent) = self.voice(&agent.parent_thread) {
                    let task = Task::begin(&app, &parent.track, &agent);
                    self.tasks.insert(agent.thread, task);
                }
            }
            Step::EndThread { agent, failure } => {
                if let Some(task) = self.tasks.remove(&agent.thread)
                    && let Some(parent) = self.voice(&agent.parent_thread)
                {
                    task.end(&mut parent.track, failure);
                }
            }
            Step::AwaitApproval { thread, calls } => {
                self.approvals.extend(calls.into_iter().map(|call| (thread.clone(), call)));
            }
            Step::AwaitResponse { thread, calls } => {
                self.questions.extend(calls.into_iter().map(|call| (thread.clone(), call)));
            }
            Step::Remember { key, value } => {
                self.main.track.thread.state().memory.insert(key, value);
            }
            // Servers, sandboxes and their files are not seen here.
            Step::Connect { .. }
            | Step::CreateSandbox { .. }
            | Step::WriteFile { .. }
            | Step::AwaitAuthorization { .. }
            | Step::Wait(_)
            | Step::End(_) => {}
        }
    }

    fn voice(&mut self, thread: &str) -> Option<&mut Voice> {
        if thread == MAIN {
            return Some(&mut self.main);
        }
        self.tasks.get_mut(thread).map(|task| &mut task.voice)
    }

    fn speaker(&mut self, message: MessageKey, speak: impl FnOnce(&mut Voice)) {
        let thread = self.threads.get(&message).cloned();
        let voice = thread.and_then(|thread| self.voice(&thread));
        if let Some(voice) = voice.filter(|voice| voice.speaks(message)) {
            speak(voice);
        }
    }

    fn compress(&mut self) {
        let (thread, turn) = (&self.main.track.thread.id, &self.main.track.turn);
        let message = "Compressing conversation history...";
        let compressing = json!({"thread_id": thread, "turn_id": turn, "message": message});
        let compressed = json!({"thread_id": thread, "turn_id": turn, "compressed_tokens": 5120});
        self.main.track.tell("context/compressing", compressing);
        self.main.track.tell("context/compressed", compressed);
    }

    /// Everything is allowed, and questions have the answer that the agent would choose: this
    /// protocol has nobody to ask.
    pub(super) fn answer_all(&mut self) -> Answers {
        let mut answers = Answers::default();
        for (_, call) in std::mem::take(&mut self.approvals) {
            answers.approvals.insert(call, Approval::Allow);
        }
        for (thread, id) in std::mem::take(&mut self.questions) {
            let Some(voice) = self.voice(&thread) else { continue };
            let Some(call) = voice.find(&id) else { continue };
            let answer = serve(&call.tool, &call.arguments());
            voice.result_text(&id, &answer);
            answers.responses.insert(id, answer);
        }
        answers
    }

    /// The script is through.
    pub(super) fn finish(&mut self) {
        self.main.settle();
        self.main.track.thread.finish(&self.main.track.turn, Status::Completed, None);
    }

    pub(super) fn fail(&mut self, error: &str) {
        self.main.track.thread.finish(&self.main.track.turn, Status::Failed, Some(error.to_owned()));
    }

    /// The model failed for good. If it broke off within a message, another attempt fails too.
    pub(super) fn fail_attempt(&mut self, error: &str) {
        if let Some(item) = self.main.break_off() {
            self.recovery.open(&self.main, item, "provider_error", "retry_with_backoff");
            self.recovery.tell(&self.main, News::Attempt);
            self.empty_round();
            self.recovery.tell(&self.main, News::Exhausted(error.to_owned()));
        }
        let error = self.recovery.take_failure().unwrap_or_else(|| error.to_owned());
        self.fail(&error);
    }

    /// A round of which nothing but its beginning is seen.
    fn empty_round(&mut self) {
        let id = item_id();
        let item = json!({"type": "reasoning", "id": id, "summary": [], "content": []});
        self.main.track.record(Event::started(&item));
        self.main.track.record(Event::completed(&item));
        self.main.latest = Some(ItemRef { id, kind: "reasoning" });
    }

    /// The turn was ended from outside: so are those that it waits for.
    pub(super) fn abandon(&mut self) {
        for task in self.tasks.values() {
            let track = &task.voice.track;
            track.thread.finish(
                &track.turn,
                Status::Interrupted,
                Some("the turn that it works for has ended".to_owned()),
            );
        }
    }
}
