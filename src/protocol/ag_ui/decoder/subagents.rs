//! Subagents: threads of the turn.

use crate::event::MAIN_THREAD;
use crate::json::{Object, Value};
use crate::protocol::EventSink;

use super::{Problem, Run, event, missing, put, text_or_null, with_text};

/// The most threads. Frames of further subagents are in the main thread.
const MAX_THREADS: usize = 1024;

/// A subagent's thread.
#[derive(Debug)]
pub(super) struct Thread {
    id: String,
    title: String,
    /// The call that started it, if known.
    call_id: String,
    is_over: bool,
}

impl Thread {
    pub(super) fn is(&self, id: &str) -> bool {
        self.id == id
    }
}

impl Run {
    /// The thread of a frame. An unannounced subagent begins with its first frame.
    pub(super) fn thread_of(&mut self, fields: &Object<'_>, sink: &mut dyn EventSink) -> String {
        let id = fields.text("subagentRunId");
        if id.is_empty() || id == MAIN_THREAD {
            return MAIN_THREAD.to_owned();
        }
        if self.threads.iter().all(|thread| thread.id != id) {
            if self.threads.len() == MAX_THREADS {
                return MAIN_THREAD.to_owned();
            }
            self.begin_thread(id, "", "", sink);
        }
        id.to_owned()
    }

    fn begin_thread(&mut self, id: &str, title: &str, call_id: &str, sink: &mut dyn EventSink) {
        let thread = Thread {
            id: id.to_owned(),
            title: title.to_owned(),
            call_id: call_id.to_owned(),
            is_over: false,
        };
        let created = self.thread_event("thread.created", &thread);
        self.emit(&created, sink);
        self.threads.push(thread);
    }

    fn thread_event(&self, kind: &'static str, thread: &Thread) -> Object<'static> {
        let mut event = event(kind, self.next_id(), &thread.id);
        event.set("title", text_or_null(&thread.title));
        if !thread.call_id.is_empty() {
            let mut parent = with_text("thread_id", &self.thread_of_call(&thread.call_id));
            put(&mut parent, "tool_call_id", &thread.call_id);
            event.set("parent", parent.into());
        }
        event
    }

    pub(super) fn subagent_started(
        &mut self,
        fields: &Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let [id, name, call_id] = ["subagentRunId", "name", "parentToolCallId"].map(|name| fields.text(name));
        if id.is_empty() {
            return Err(missing("subagentRunId"));
        }
        if self.threads.iter().any(|thread| thread.id == id) {
            self.violation("start_of_open", id, sink);
        } else if self.threads.len() < MAX_THREADS && id != MAIN_THREAD {
            self.begin_thread(id, name, call_id, sink);
        }
        Ok(())
    }

    /// Notes that a subagent has finished or failed. A suspended one continues in the next run.
    pub(super) fn subagent_ended(&mut self, fields: &Object<'_>, sink: &mut dyn EventSink) {
        let outcome = fields.object("outcome").map_or("", |outcome| outcome.text("type"));
        let problem = (fields.text("type") == "SUBAGENT_ERROR").then(|| fields.text("message"));
        if problem.is_some() || outcome != "suspended" {
            self.end_thread(fields.text("subagentRunId"), problem, sink);
        }
    }

    /// Ends a thread, if it has not ended yet.
    fn end_thread(&mut self, id: &str, problem: Option<&str>, sink: &mut dyn EventSink) {
        let Some(at) = self.threads.iter().position(|thread| thread.id == id && !thread.is_over) else {
            return self.violation("end_without_start", id, sink);
        };
        let Some(thread) = self.threads.get_mut(at) else { return };
        thread.is_over = true;
        let Some(thread) = self.threads.get(at) else { return };
        let mut done = self.thread_event("thread.done", thread);
        let mut state = with_text("status", if problem.is_some() { "error" } else { "done" });
        done.set("status", state.get("status").cloned().unwrap_or(Value::Null));
        if let Some(problem) = problem {
            put(&mut state, "error", problem);
            put(&mut done, "message", problem);
        }
        done.set("state", state.into());
        self.emit(&done, sink);
    }
}
