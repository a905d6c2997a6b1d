//! Tasks: each is a thread of its own, with what its child turn says (section 4).

use crate::error::sentence;
use crate::event::MAIN_THREAD;
use crate::json::{Object, Value};
use crate::protocol::EventSink;
use crate::protocol::fields::{event, put, with_text};

use super::Turn;
use super::either;
use super::items::Mark;

/// How many tasks are told.
pub(super) const MOST: usize = 1024;

/// A task.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) id: String,
    title: String,
    role: String,
    /// The call that has made it.
    maker: String,
    pub(super) status: String,
    is_over: bool,
    /// How far it is known.
    pub(super) mark: Mark,
}

/// What is said of a task, as far as anything is.
#[derive(Debug, Default)]
pub(super) struct About<'a> {
    pub(super) title: &'a str,
    pub(super) role: &'a str,
    pub(super) maker: &'a str,
}

/// Whether what the tasks bring is to be read.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    has_changed: bool,
    /// How many responses are on their way.
    asked: u32,
    /// How many reads were begun, over all connections, that of the turn as a whole included.
    begun: u32,
    /// The last of them that began a connection.
    resumed: u32,
    /// Whether that one is on its way, which has what was missed.
    is_missed: bool,
}

impl Timeline {
    /// The turn was read without it, and it comes by itself.
    pub(super) fn comes_later(&mut self) {
        (self.asked, self.is_missed) = (1, true);
    }

    /// There is nothing more to wait for.
    pub(super) fn give_up(&mut self) {
        (self.has_changed, self.asked, self.is_missed) = (false, 0, false);
    }

    /// Whether what is on its way has what was missed.
    pub(super) fn is_missed(&self) -> bool {
        self.is_missed
    }

    /// There is more to be read.
    pub(super) fn changed(&mut self) {
        self.has_changed = true;
    }

    /// Whether to ask for it.
    pub(super) fn has_changed(&self) -> bool {
        self.has_changed
    }

    /// Whether to ask for it now; takes that.
    pub(super) fn ask(&mut self) -> bool {
        let asks = std::mem::take(&mut self.has_changed);
        self.asked += u32::from(asks);
        self.begun += u32::from(asks);
        asks
    }

    /// It was read. Gives the number of that read.
    pub(super) fn read(&mut self) -> u32 {
        self.asked = self.asked.saturating_sub(1);
        self.is_missed = false;
        self.begun - self.asked
    }

    /// All of it is read on another connection.
    pub(super) fn resume(&mut self) {
        let begun = self.begun + 1;
        *self = Self { begun, resumed: begun, ..Self::default() };
    }

    /// How many reads were begun.
    pub(super) fn begun(&self) -> u32 {
        self.begun
    }

    /// The number of the read that this connection began with.
    pub(super) fn resumed(&self) -> u32 {
        self.resumed
    }

    /// Whether something is still to be read.
    pub(super) fn is_behind(&self) -> bool {
        self.has_changed || self.asked > 0
    }
}

impl Turn {
    /// What is said of a task.
    pub(super) fn task(&mut self, item: &Object<'_>, sink: &mut dyn EventSink) {
        let id = id_of(item).to_owned();
        let about = About { title: item.text("title"), role: item.text("agentRole"), maker: "" };
        let Some(at) = self.task_thread(&id, &about, sink) else { return };
        let status = item.text("status").to_owned();
        let Some(task) = self.tasks.get_mut(at as usize - 1).filter(|task| !task.is_over) else { return };
        let has_changed = task.status != status;
        status.clone_into(&mut task.status);
        let Some(is_ok) = end_of(&status) else {
            if has_changed {
                self.notice_in(
                    at,
                    ("info", "task", &status),
                    item.text("id"),
                    Some(item.clone().into()),
                    sink,
                );
            }
            return;
        };
        let preview = item.text("errorPreview");
        let error = if preview.is_empty() { &status } else { preview };
        self.task_over(&id, (!is_ok).then_some(error), sink);
    }

    /// A task is over, by an error if there is one.
    pub(super) fn task_over(&mut self, id: &str, error: Option<&str>, sink: &mut dyn EventSink) {
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
        self.give(&done, sink);
    }

    /// The number of a task's thread, which is told if it is new, or if more is known of it.
    pub(super) fn task_thread(
        &mut self,
        id: &str,
        about: &About<'_>,
        sink: &mut dyn EventSink,
    ) -> Option<u32> {
        let &About { title, role, maker } = about;
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
        let is_told = known.is_some()
            && (title.is_empty() || task.title == title)
            && (role.is_empty() || task.role == role)
            && (maker.is_empty() || task.maker == maker);
        if !is_told {
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
            self.give(&created, sink);
        }
        u32::try_from(at + 1).ok()
    }

    /// The number of a thread that was told.
    pub(super) fn thread_of(&self, id: &str) -> Option<u32> {
        let at = self.tasks.iter().position(|task| task.id == id)?;
        u32::try_from(at + 1).ok()
    }
}

/// The id of the task that an item is, as its thread's.
pub(super) fn id_of<'o>(item: &'o Object<'_>) -> &'o str {
    as_thread(either(item, "taskId", "id"))
}

/// The id of a task's thread: the task's own, unless that is how the turn's own thread is called.
fn as_thread(id: &str) -> &str {
    if id == MAIN_THREAD { "task:main" } else { id }
}

/// Whether a task with this status has done its work; `None` if it is not over. Its item may be complete before it is,
/// as that of a task which is only scheduled.
fn end_of(status: &str) -> Option<bool> {
    const DONE: [&str; 3] = ["completed", "succeeded", "done"];
    const BROKEN: [&str; 7] = ["fail", "error", "cancel", "interrupt", "timed", "timeout", "exhaust"];
    let status = status.to_ascii_lowercase();
    let is_ok = DONE.contains(&&*status);
    (is_ok || BROKEN.iter().any(|word| status.starts_with(word))).then_some(is_ok)
}
