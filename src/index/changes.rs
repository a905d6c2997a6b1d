//! What changed since changes were last taken: the parts of the index as JSON, text as what was
//! appended to it.
//!
//! Whoever mirrors the index pays for what changed, however long the history is and however many
//! events there were in between.

use crate::event::{TextField, ToolInfo, Usage};
use crate::json::{ObjectWriter, write_str};

use super::message::{Marks, Message, MessageCall};
use super::thread::{Thread, ThreadStatus};
use super::{EventIndex, PendingAction, PendingKind};

/// Notes what changed.
#[derive(Debug)]
pub(super) struct Changes {
    /// Slots of changed messages, each once.
    messages: Vec<usize>,
    /// The list of threads, or something in it.
    pub(super) threads: bool,
    /// Anything else: required actions, servers, the sandbox.
    pub(super) turn: bool,
}

impl Changes {
    /// Everything is new to whoever looks for the first time.
    pub(super) fn new() -> Self {
        Self {
            messages: Vec::new(),
            threads: true,
            turn: true,
        }
    }

    pub(super) fn message(&mut self, slot: usize, message: &mut Message, head: bool) {
        message.marks.head |= head;
        if !message.marks.listed {
            message.marks.listed = true;
            self.messages.push(slot);
        }
    }
}

impl EventIndex {
    /// Whether there is anything to take.
    #[must_use]
    pub fn has_changes(&self) -> bool {
        self.changes.turn || self.changes.threads || !self.changes.messages.is_empty()
    }

    /// Takes what changed. Appended text goes to `appended`, as the message's slot, the field and the
    /// piece; everything else comes as JSON:
    /// `{ "turn"?: {…}, "threads"?: [all], "messages"?: [changed] }`. A message with `"reset": true`
    /// starts over: its text follows whole.
    pub fn take_changes(
        &mut self,
        appended: &mut dyn FnMut(usize, TextField, &str),
    ) -> Option<String> {
        if !self.has_changes() {
            return None;
        }
        let mut json = String::new();
        let mut object = ObjectWriter::new(&mut json);
        if std::mem::take(&mut self.changes.turn) {
            self.write_turn(object.member("turn"));
        }
        if std::mem::take(&mut self.changes.threads) {
            write_list(object.member("threads"), &self.threads, write_thread);
        }
        let slots = std::mem::take(&mut self.changes.messages);
        let mut heads: Vec<(usize, bool)> = Vec::new();
        for slot in slots {
            let Some(message) = self.messages.get_mut(slot) else {
                continue;
            };
            let marks = std::mem::replace(&mut message.marks, Marks::default());
            if marks.head || marks.reset {
                heads.push((slot, marks.reset));
            }
            message.take_text(slot, appended);
        }
        if !heads.is_empty() {
            write_list(object.member("messages"), &heads, |out, (slot, reset)| {
                if let Some(message) = self.messages.get(*slot) {
                    self.write_message(out, *slot, message, *reset);
                }
            });
        }
        object.end();
        Some(json)
    }

    fn write_turn(&self, out: &mut String) {
        let mut turn = ObjectWriter::new(out);
        write_list(
            turn.member("required_actions"),
            &self.pending,
            |out, action| self.write_action(out, action),
        );
        write_list(
            turn.member("mcp_servers"),
            &self.mcp_servers,
            |out, server| {
                let mut object = ObjectWriter::new(out);
                object
                    .str("id", &server.id)
                    .str("name", &server.name)
                    .str("mcp_server_name", &server.name);
                if let Some(session) = &server.session_id {
                    object.str("session_id", session);
                }
                if let Some(transport) = &server.transport_type {
                    object.str("transport_type", transport);
                }
                object.end();
            },
        );
        text_or_null(&mut turn, "sandbox_id", self.sandbox_id.as_deref());
        turn.end();
    }

    fn write_action(&self, out: &mut String, action: &PendingAction) {
        let mut object = ObjectWriter::new(out);
        let kind = match &action.kind {
            PendingKind::Approval => "tool.approval_required",
            PendingKind::Response => "tool.response_required",
            PendingKind::Auth(server) => {
                object
                    .str("type", "mcp.auth_required")
                    .str("server_id", &server.id);
                object
                    .str("server_name", &server.name)
                    .str("auth_url", &server.auth_url)
                    .end();
                return;
            }
        };
        object
            .str("type", kind)
            .str("thread_id", &action.thread_id)
            .str("tool_call_id", &action.tool_call_id);
        let slot = self.call_slot(
            &action.thread_id,
            &action.tool_call_id,
            &action.source_event_id,
        );
        let call = slot.and_then(|slot| self.messages.get(slot)?.call(&action.tool_call_id));
        object.str("name", call.map_or("", MessageCall::display_name));
        object.str("arguments", call.map_or("", MessageCall::arguments));
        write_tool_info(
            object.member("tool_info"),
            call.and_then(|call| call.tool_info.as_ref()),
        );
        object.end();
    }

    fn write_message(&self, out: &mut String, slot: usize, message: &Message, reset: bool) {
        let thread_id = self
            .threads
            .get(message.thread)
            .map_or("", |thread| thread.id.as_str());
        let mut object = ObjectWriter::new(out);
        object.u64("slot", slot as u64).bool("reset", reset);
        object.str("id", &message.id).str("thread_id", thread_id);
        text_or_null(&mut object, "created_at", message.created_at.as_deref());
        text_or_null(&mut object, "name", message.name.as_deref());
        object.str("refusal", message.refusal().unwrap_or_default());
        text_or_null(
            &mut object,
            "finish_reason",
            message.finish_reason.as_deref(),
        );
        write_usage(object.member("usage"), message.usage.as_ref());
        write_list(
            object.member("tool_calls"),
            &message.calls,
            |out, call| match call {
                Some(call) => self.write_call(out, message, call, thread_id),
                None => out.push_str("null"),
            },
        );
        object.end();
    }

    fn write_call(&self, out: &mut String, message: &Message, call: &MessageCall, thread_id: &str) {
        let mut object = ObjectWriter::new(out);
        object.str("id", &call.id).str("name", call.display_name());
        write_tool_info(object.member("tool_info"), call.tool_info.as_ref());
        object.str("status", self.call_status(message, call, thread_id));
        text_or_null(&mut object, "thread_id", call.thread_id.as_deref());
        match &call.response {
            Some(response) => {
                let mut inner = ObjectWriter::new(object.member("response"));
                inner
                    .str("id", &response.id)
                    .str("content", &response.content);
                text_or_null(&mut inner, "created_at", response.created_at.as_deref());
                inner.end();
            }
            None => {
                object.null("response");
            }
        }
        object.end();
    }

    fn call_status(&self, message: &Message, call: &MessageCall, thread_id: &str) -> &'static str {
        if call.response.is_some() {
            return "done";
        }
        match self
            .pending
            .iter()
            .find(|action| action.is_call(thread_id, &call.id))
            .map(|action| &action.kind)
        {
            Some(PendingKind::Approval) => "approval_required",
            Some(_) => "response_required",
            None if message.finish_reason.is_some() => "running",
            None => "streaming",
        }
    }

    /// Marks the messages whose calls waited, before the waiting ends.
    pub(super) fn release_pending(&mut self) {
        for action in std::mem::take(&mut self.pending) {
            if let Some(slot) = self.call_slot(
                &action.thread_id,
                &action.tool_call_id,
                &action.source_event_id,
            ) && let Some(message) = self.messages.get_mut(slot)
            {
                self.changes.message(slot, message, true);
            }
        }
        self.changes.turn = true;
    }
}

impl Message {
    fn take_text(&mut self, slot: usize, appended: &mut dyn FnMut(usize, TextField, &str)) {
        let mut give = |field, piece: &str| {
            if !piece.is_empty() {
                appended(slot, field, piece);
            }
        };
        give(TextField::Content, self.text.take());
        give(TextField::Reasoning, self.reasoning.take());
        for (index, call) in (0_u32..).zip(&mut self.calls) {
            if let Some(call) = call {
                give(TextField::Arguments(index), call.arguments.take());
            }
        }
    }
}

fn write_thread(out: &mut String, thread: &Thread) {
    let mut object = ObjectWriter::new(out);
    object.str("id", &thread.id);
    text_or_null(&mut object, "title", thread.title.as_deref());
    match &thread.parent {
        Some(parent) => {
            let mut inner = ObjectWriter::new(object.member("parent"));
            inner
                .str("thread_id", &parent.thread_id)
                .str("tool_call_id", &parent.tool_call_id)
                .end();
        }
        None => {
            object.null("parent");
        }
    }
    match &thread.agent_info {
        Some(info) => {
            let mut inner = ObjectWriter::new(object.member("agent_info"));
            inner.str("type", &info.r#type).str("name", &info.name);
            if let Some(input) = &info.input {
                inner.str("input", input);
            }
            if let Some(model) = &info.model {
                inner.str("model", model);
            }
            inner.end();
        }
        None => {
            object.null("agent_info");
        }
    }
    let (status, error) = match &thread.status {
        ThreadStatus::Running => ("running", None),
        ThreadStatus::Done => ("done", None),
        ThreadStatus::Error(error) => ("error", Some(error.as_str())),
    };
    object.str("status", status);
    text_or_null(&mut object, "error", error);
    write_list(
        object.member("tool_responses"),
        &thread.responses,
        |out, response| {
            let mut inner = ObjectWriter::new(out);
            inner
                .str("id", &response.id)
                .str("tool_call_id", &response.tool_call_id);
            inner.str("content", &response.content);
            text_or_null(&mut inner, "created_at", response.created_at.as_deref());
            inner.end();
        },
    );
    object.end();
}

fn write_tool_info(out: &mut String, info: Option<&ToolInfo>) {
    match info {
        None => out.push_str("null"),
        Some(ToolInfo::System { name }) => {
            ObjectWriter::new(out)
                .str("type", "truefoundry-system")
                .str("name", name)
                .end();
        }
        Some(ToolInfo::Mcp {
            server_id,
            server_name,
            name,
            is_deferred,
            ..
        }) => {
            let mut object = ObjectWriter::new(out);
            object
                .str("type", "mcp")
                .str("server_id", server_id)
                .str("server_name", server_name);
            object
                .str("mcp_server_id", server_id)
                .str("mcp_server_name", server_name)
                .str("name", name);
            if let Some(is_deferred) = is_deferred {
                object.bool("is_deferred", *is_deferred);
            }
            object.end();
        }
    }
}

fn write_usage(out: &mut String, usage: Option<&Usage>) {
    let Some(usage) = usage else {
        return out.push_str("null");
    };
    let mut object = ObjectWriter::new(out);
    object
        .u64("input_tokens", usage.input_tokens)
        .u64("output_tokens", usage.output_tokens);
    if let Some(tokens) = usage.cache_read_tokens {
        object.u64("cache_read_tokens", tokens);
    }
    if let Some(tokens) = usage.cache_write_tokens {
        object.u64("cache_write_tokens", tokens);
    }
    if let Some(breakdown) = &usage.input_tokens_breakdown {
        let mut inner = ObjectWriter::new(object.member("input_tokens_breakdown"));
        inner
            .u64("harness", breakdown.harness)
            .u64("skills", breakdown.skills);
        inner.u64("instructions", breakdown.instructions);
        inner
            .u64("tool_definitions", breakdown.tool_definitions)
            .u64("messages", breakdown.messages);
        inner.end();
    }
    object.end();
}

fn text_or_null(object: &mut ObjectWriter<'_>, name: &str, text: Option<&str>) {
    match text {
        Some(text) => write_str(object.member(name), text),
        None => {
            object.null(name);
        }
    }
}

fn write_list<T>(out: &mut String, items: &[T], mut write: impl FnMut(&mut String, &T)) {
    out.push('[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write(out, item);
    }
    out.push(']');
}
