//! Calls inside a call: a sub-agent's, of which the server reports only progress (section 1.6).
//!
//! A report names the call that contains its own call. So the parent call gets a thread, and the inner calls appear
//! there: a message that makes each of them, its reports, and a response when the last report says how it ended. The
//! thread ends with the parent call.

use crate::error::sentence;
use crate::index::MAIN_THREAD;
use crate::json::{Object, Value};
use crate::protocol::EventSink;

use super::activity::is_beginning;
use super::fields::{event, put, with_text};
use super::run::Run;

/// The most nested calls, and the most threads for them. Reports of further calls are in the main thread.
const MAX_NESTED: usize = 1024;

/// The prefix of a node's id if the node is a tool call.
const CALL_NODE: &str = "tool_call:";

/// Calls inside calls, and their threads.
#[derive(Debug, Default)]
pub(super) struct Lineage {
    calls: Vec<NestedCall>,
    threads: Vec<NestedThread>,
}

#[derive(Debug)]
struct NestedCall {
    id: String,
    thread_id: String,
    is_over: bool,
}

#[derive(Debug)]
struct NestedThread {
    id: String,
    /// The call that contains it, and that call's own thread.
    parent_call: String,
    parent_thread: String,
    title: String,
    is_over: bool,
}

/// The call in the id of a node or a report; empty if there is none.
pub(super) fn call_in(id: &str) -> &str {
    id.strip_prefix(CALL_NODE).unwrap_or_default()
}

impl Run {
    /// The thread of a call.
    pub(super) fn thread_of_call(&self, call_id: &str) -> String {
        let nested = self.lineage.calls.iter().find(|call| call.id == call_id);
        nested.map_or(MAIN_THREAD, |call| &call.thread_id).to_owned()
    }

    /// The thread of a report. If its call is new and inside another one, the call is added there first.
    pub(super) fn thread_of_report(
        &mut self,
        call_id: &str,
        content: &Value<'_>,
        sink: &mut dyn EventSink,
    ) -> String {
        let is_known = self.lineage.calls.iter().any(|call| call.id == call_id);
        // A partial report does not have everything that this needs.
        let is_part = content.get("updated_at_ms").is_none() && is_beginning(content);
        let content = content.as_object().filter(|_| !is_known && !is_part && !call_id.is_empty());
        let parent = content.map_or("", parent_of);
        match content {
            Some(content) if !parent.is_empty() && parent != call_id && self.lineage.has_room() => {
                self.nest(call_id, parent, content, sink)
            }
            _ => self.thread_of_call(call_id),
        }
    }

    fn nest(
        &mut self,
        call_id: &str,
        parent: &str,
        content: &Object<'_>,
        sink: &mut dyn EventSink,
    ) -> String {
        let said = content.text("thread_id");
        let thread_id = if said.is_empty() || said == self.session || said == MAIN_THREAD {
            sentence(&[CALL_NODE, parent])
        } else {
            said.to_owned()
        };
        let known = |thread: &NestedThread| thread.id == thread_id && thread.parent_call == parent;
        if !self.lineage.threads.iter().any(known) {
            self.begin_thread(&thread_id, parent, sink);
        }
        let node = content.text("node_id");
        let id = if node.is_empty() { sentence(&[CALL_NODE, call_id]) } else { node.to_owned() };
        let mut function = with_text("name", content.text("tool_name"));
        function.set("arguments", "".into());
        let mut call = with_text("id", call_id);
        call.set("type", "function".into());
        call.set("function", function.into());
        let mut message = event("model.message", id, &thread_id);
        message.set("content", "".into());
        message.set("tool_calls", vec![call.into()].into());
        message.set("finish_reason", "tool_calls".into());
        self.give(&message, sink);
        let id = call_id.to_owned();
        self.lineage.calls.push(NestedCall { id, thread_id: thread_id.clone(), is_over: false });
        thread_id
    }

    fn begin_thread(&mut self, thread_id: &str, parent_call: &str, sink: &mut dyn EventSink) {
        let parent_thread = self.thread_of_call(parent_call);
        let title = self.call(parent_call).map_or_else(String::new, |call| call.name.clone());
        let (id, parent_call) = (thread_id.to_owned(), parent_call.to_owned());
        let thread = NestedThread { id, parent_call, parent_thread, title, is_over: false };
        let created = thread.event("thread.created", self.next_id());
        self.give(&created, sink);
        self.lineage.threads.push(thread);
    }

    /// Only a nested call's report can say that it has ended.
    pub(super) fn nested_report(&mut self, call_id: &str, content: &Object<'_>, sink: &mut dyn EventSink) {
        let is_ok = match content.text("status") {
            "done" => true,
            "failed" | "cancelled" => false,
            _ => return,
        };
        let nested = self.lineage.calls.iter_mut().find(|call| call.id == call_id && !call.is_over);
        let Some(call) = nested else { return };
        call.is_over = true;
        let thread_id = call.thread_id.clone();
        let said = content.text("message");
        let said = if said.is_empty() { content.text("status") } else { said };
        let mut response = event("tool.response", self.next_id(), &thread_id);
        put(&mut response, "tool_call_id", call_id);
        put(&mut response, "content", said);
        response.set("outcome", if is_ok { "succeeded" } else { "failed" }.into());
        self.give(&response, sink);
        self.end_threads(call_id, is_ok, said, sink);
    }

    /// A call has ended, and with it the threads inside it.
    pub(super) fn end_threads(
        &mut self,
        call_id: &str,
        is_ok: bool,
        problem: &str,
        sink: &mut dyn EventSink,
    ) {
        for at in 0..self.lineage.threads.len() {
            let id = self.next_id();
            let over = |thread: &&mut NestedThread| thread.parent_call == call_id && !thread.is_over;
            let Some(thread) = self.lineage.threads.get_mut(at).filter(over) else { continue };
            thread.is_over = true;
            let mut done = thread.event("thread.done", id);
            let mut state = with_text("status", if is_ok { "done" } else { "error" });
            if !is_ok {
                put(&mut state, "error", problem);
                put(&mut done, "message", problem);
            }
            done.set("status", state.get("status").cloned().unwrap_or_default());
            done.set("state", state.into());
            self.give(&done, sink);
        }
    }
}

impl Lineage {
    fn has_room(&self) -> bool {
        self.calls.len() < MAX_NESTED && self.threads.len() < MAX_NESTED
    }
}

impl NestedThread {
    fn event(&self, kind: &'static str, id: String) -> Object<'static> {
        let mut event = event(kind, id, &self.id);
        let title = if self.title.is_empty() { Value::Null } else { self.title.clone().into() };
        event.set("title", title);
        let mut parent = with_text("thread_id", &self.parent_thread);
        put(&mut parent, "tool_call_id", &self.parent_call);
        event.set("parent", parent.into());
        event
    }
}

/// The call that contains a report's own call.
fn parent_of<'o>(content: &'o Object<'_>) -> &'o str {
    let said = content.text("parent_call_id");
    if said.is_empty() { call_in(content.text("parent_node_id")) } else { said }
}
