//! Sub-agents as tasks: an item of the turn that waits for it, and a turn of its own thread.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::event::Event;
use super::model_writer::{ModelWriter, item_id};
use super::thread::{App, Mode, Origin, Settings, Visibility};
use super::turn::{Child, Record, Status, TaskEvent, now};
use super::turn_writer::{Parent, TurnWriter};
use crate::agents::SubAgent;
use crate::store::{Turn, random_suffix};

/// How deep tasks may nest, as items report.
const DEEPEST: u64 = 3;
/// How much of a result an item shows.
const PREVIEW: usize = 200;

/// A task that runs.
#[derive(Debug)]
pub(super) struct Task {
    /// What the sub-agent says on its own thread.
    pub(super) writer: ModelWriter,
    item: Map<String, Value>,
    news: u64,
}

impl Task {
    /// A sub-agent begins to work for a turn.
    pub(super) fn begin(app: &App, parent: &TurnWriter, agent: &SubAgent) -> Self {
        let depth = parent.parent.as_ref().map_or(1, |_| 2);
        let child = Child {
            task: format!("task_{}", random_suffix(16)),
            run: format!("run_{}", random_suffix(17)),
            thread: format!("thr_{}", random_suffix(17)),
            turn: format!("trn_{}", random_suffix(17)),
        };
        let seconds = now() / 1000;
        let item = json!({
            "type": "task",
            "id": item_id(),
            "taskId": child.task,
            "title": agent.title,
            "status": "running",
            "triggerKind": "immediate",
            "executorKind": "agent",
            "depth": depth,
            "maxDepth": DEEPEST,
            "createdAt": seconds,
            "updatedAt": seconds,
            "runId": child.run,
            "childThreadId": child.thread,
            "childTurnId": child.turn,
            "agentRole": agent.name,
        });
        let settings = Settings {
            name: Some(agent.title.clone()),
            mode: Some(Mode::Agent),
            origin: Some(Origin::TaskRun),
            visibility: Some(Visibility::Hidden),
            nickname: Some(agent.name.clone()),
            ..Settings::default()
        };
        let thread = app.own.find_or_make(&app.store, &child.thread, settings);
        let kept = Turn::plain(child.turn.clone(), agent.input.clone());
        thread.kept.add(&kept);
        let input = json!([{"type": "text", "text": agent.input}]);
        let record = Record { is_task: true, ..Record::new(kept, input) };
        thread.state().begin(&thread, record);
        let link =
            Parent { thread: Arc::clone(&parent.thread), turn: parent.turn.clone(), child: child.clone() };
        parent.thread.change(&parent.turn, |record| record.children.push(child.clone()));
        parent.start(&item);
        let mut out = TurnWriter::new(thread, child.turn.clone(), Arc::clone(&parent.traps));
        out.parent = Some(link);
        let item = item.as_object().cloned().unwrap_or_default();
        let mut task = Self { writer: ModelWriter::new(out, Mode::Agent), item, news: 0 };
        task.notify("created", false);
        task.notify("run_started", true);
        let words = json!({"type": "userMessage", "id": format!("user_{}", child.turn), "text": agent.input});
        task.writer.out.record(Event::started(&words));
        task.writer.out.record(Event::completed(&words));
        task
    }

    /// The sub-agent has ended: its last message is the result, or it has failed.
    pub(super) fn end(mut self, parent: &mut TurnWriter, failure: Option<String>) {
        self.writer.settle();
        let status = if failure.is_none() { Status::Completed } else { Status::Failed };
        let out = &self.writer.out;
        out.thread.finish(&out.turn, status, failure.clone());
        self.notify(if failure.is_none() { "completed" } else { "failed" }, false);
        let (key, words) = match failure {
            None => ("resultPreview", self.writer.words.clone()),
            Some(error) => ("errorPreview", error),
        };
        let status = if key == "resultPreview" { "completed" } else { "failed" };
        let preview: String = words.chars().take(PREVIEW).collect();
        self.item.insert("status".to_owned(), json!(status));
        self.item.insert("updatedAt".to_owned(), json!(now() / 1000));
        self.item.insert(key.to_owned(), json!(preview));
        let item = Value::Object(self.item);
        parent.update(&item);
        parent.complete(&item);
    }

    /// Something happened to the task itself.
    fn notify(&mut self, what: &str, collapsed: bool) {
        self.news += 1;
        let Some(link) = &self.writer.out.parent else { return };
        let (task, run) = (&link.child.task, &link.child.run);
        let news = TaskEvent {
            task: task.clone(),
            run: run.clone(),
            sequence: self.news,
            occurred_at: now(),
            event: json!({"sequence": self.news, "taskId": task, "runId": run, "type": what}),
            collapsed,
        };
        link.thread.change(&link.turn, |record| record.tasks.push(news));
        link.notify("task_event_changed");
    }
}
