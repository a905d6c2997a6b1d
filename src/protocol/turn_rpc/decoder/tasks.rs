//! Tasks. Each is a thread, with the messages of its agent's turn (section 4).

use crate::error::sentence;
use crate::event::MAIN_THREAD;
use crate::json::{Object, Value};
use crate::protocol::EventSink;
use crate::protocol::fields::{event, put, with_text};

use super::super::fields::first_text;
use super::Turn;
use super::items::Mark;

/// The most tasks. Further tasks are not reported.
pub(super) const MOST: usize = 1024;

/// A task.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) id: String,
    title: String,
    role: String,
    /// The call that created it.
    maker: String,
    pub(super) status: String,
    is_over: bool,
    /// How new the known state is.
    pub(super) mark: Mark,
}

/// The known data of a task; empty if unknown.
#[derive(Debug, Default)]
pub(super) struct TaskInfo<'a> {
    pub(super) title: &'a str,
    pub(super) role: &'a str,
    pub(super) maker: &'a str,
}

/// The reads of the tasks' data: which of them are needed or in flight.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    /// Whether there is new data, so that a read is needed.
    pub(super) has_changed: bool,
    /// The number of awaited responses.
    asked: u32,
    /// The number of reads so far, over all connections, including that of the turn itself.
    pub(super) begun: u32,
    /// The number of the last read that began a connection.
    pub(super) resumed: u32,
    /// Whether that read, which has the missed part, is in flight.
    pub(super) has_missed_part: bool,
    /// The number of the read whose response is being taken; 0 outside of one.
    pub(super) reading: u32,
    /// The state in which the turn ended, while data of its tasks is still to be read.
    pub(super) ending: Option<Object<'static>>,
}

impl Timeline {
    /// Notes that the first read is in flight: it was requested together with the turn.
    pub(super) fn expect_first(&mut self) {
        (self.asked, self.has_missed_part) = (1, true);
    }

    /// Nothing more is awaited.
    pub(super) fn cancel(&mut self) {
        (self.has_changed, self.asked, self.has_missed_part) = (false, 0, false);
    }

    /// Whether a read is needed. Counts it as requested.
    pub(super) fn ask(&mut self) -> bool {
        let asks = std::mem::take(&mut self.has_changed);
        self.asked += u32::from(asks);
        self.begun += u32::from(asks);
        asks
    }

    /// The response to a read has come.
    pub(super) fn read(&mut self) {
        self.asked = self.asked.saturating_sub(1);
        self.has_missed_part = false;
        self.reading = self.begun - self.asked;
    }

    /// Whether a notification came after the current read had begun.
    pub(super) fn is_older_than(&self, mark: Mark) -> bool {
        self.reading > 0 && mark.notification >= self.reading
    }

    /// Everything is read again on another connection.
    pub(super) fn resume(&mut self) {
        let begun = self.begun + 1;
        *self = Self { begun, resumed: begun, ..Self::default() };
    }

    /// Whether data is still to be read.
    pub(super) fn is_behind(&self) -> bool {
        self.has_changed || self.asked > 0
    }
}

impl Turn {
    /// Takes an item that is a task.
    pub(super) fn task(&mut self, item: &Object<'_>, sink: &mut dyn EventSink) {
        let id = id_of(item).to_owned();
        let about = TaskInfo { title: item.text("title"), role: item.text("agentRole"), maker: "" };
        let Some(at) = self.thread_of_task(&id, &about, sink) else { return };
        let status = item.text("status").to_owned();
        let Some(task) = self.tasks.get_mut(at as usize - 1).filter(|task| !task.is_over) else { return };
        let has_changed = task.status != status;
        status.clone_into(&mut task.status);
        let Some(is_ok) = outcome_of_status(&status) else {
            if has_changed {
                self.notice(at, ("info", "task", &status), item.text("id"), Some(item.clone().into()), sink);
            }
            return;
        };
        let preview = item.text("errorPreview");
        let error = if preview.is_empty() { &status } else { preview };
        self.end_task(&id, (!is_ok).then_some(error), sink);
    }

    /// Ends a task, with an error if there is one.
    pub(super) fn end_task(&mut self, id: &str, error: Option<&str>, sink: &mut dyn EventSink) {
        let Some(task) = self.tasks.iter_mut().find(|task| task.id == id && !task.is_over) else { return };
        task.is_over = true;
        let mut done = event("thread.done", sentence(&[id, ":done"]), id);
        put(&mut done, "title", &task.title);
        let mut state = with_text("status", if error.is_none() { "done" } else { "error" });
        if let Some(error) = error {
            put(&mut state, "error", error);
            put(&mut done, "message", error);
        }
        done.set("status", state.get("status").cloned().unwrap_or_default());
        done.set("state", state.into());
        self.emit(&done, sink);
    }

    /// The number of a task's thread. Reports the thread if it is new, or if there is new data about it.
    pub(super) fn thread_of_task(
        &mut self,
        id: &str,
        about: &TaskInfo<'_>,
        sink: &mut dyn EventSink,
    ) -> Option<u32> {
        let &TaskInfo { title, role, maker } = about;
        let id = as_thread(id);
        let known = self.tasks.iter().position(|task| task.id == id);
        if known.is_none() && self.tasks.len() == MOST {
            return None;
        }
        let at = known.unwrap_or_else(|| {
            let id = id.to_owned();
            let [title, role, maker, status] = [const { String::new() }; 4];
            self.tasks.push(Task { id, title, role, maker, status, is_over: false, mark: Mark::default() });
            self.tasks.len() - 1
        });
        let task = self.tasks.get_mut(at)?;
        let is_announced = known.is_some()
            && (title.is_empty() || task.title == title)
            && (role.is_empty() || task.role == role)
            && (maker.is_empty() || task.maker == maker);
        if !is_announced {
            for (known, said) in [(&mut task.title, title), (&mut task.role, role), (&mut task.maker, maker)]
            {
                if !said.is_empty() {
                    said.clone_into(known);
                }
            }
            let name = if task.role.is_empty() { &task.title } else { &task.role };
            let mut info = with_text("type", "task");
            put(&mut info, "name", name);
            let mut created = event("thread.created", sentence(&[id, ":created"]), id);
            created.set("title", if task.title.is_empty() { Value::Null } else { task.title.clone().into() });
            created.set("agent_info", info.into());
            if !task.maker.is_empty() {
                let mut parent = with_text("thread_id", MAIN_THREAD);
                put(&mut parent, "tool_call_id", &task.maker);
                created.set("parent", parent.into());
            }
            self.emit(&created, sink);
        }
        u32::try_from(at + 1).ok()
    }

    /// The number of a known thread.
    pub(super) fn thread_of(&self, id: &str) -> Option<u32> {
        let at = self.tasks.iter().position(|task| task.id == id)?;
        u32::try_from(at + 1).ok()
    }
}

/// The id of the thread of an item's task.
pub(super) fn id_of<'o>(item: &'o Object<'_>) -> &'o str {
    as_thread(first_text(item, "taskId, id"))
}

/// The id of a task's thread: the task's own id, unless that is the id of the main thread.
fn as_thread(id: &str) -> &str {
    if id == MAIN_THREAD { "task:main" } else { id }
}

/// Whether a task with this status has succeeded; `None` if it has not ended. The item may be complete earlier, for
/// example if the task is only scheduled.
fn outcome_of_status(status: &str) -> Option<bool> {
    const DONE: [&str; 3] = ["completed", "succeeded", "done"];
    const BROKEN: [&str; 7] = ["fail", "error", "cancel", "interrupt", "timed", "timeout", "exhaust"];
    let status = status.to_ascii_lowercase();
    let is_ok = DONE.contains(&&*status);
    (is_ok || BROKEN.iter().any(|word| status.starts_with(word))).then_some(is_ok)
}
