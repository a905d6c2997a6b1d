//! Tool calls. Each is made in a message, and its completed item is its result (section 5).

use crate::error::sentence;
use crate::json::{Object, Value};
use crate::protocol::EventSink;
use crate::protocol::fields::{Problem, event, object, put, with_text};
use crate::text::is_among;

use super::super::fields::first_text;
use super::Turn;
use super::fingerprint::Fingerprint;
use super::items::{Item, Kind, Place};
use super::output::{content_of, outcome_of};

/// The most calls in one message. Further calls get another message.
const MOST_IN_MESSAGE: usize = 1024;

/// The fields of an item that are not arguments of its call.
const NO_ARGUMENTS: &str = "type, id, status, server, tool, pluginId, processId, source, commandActions, \
    aggregatedOutput, exitCode, durationMs, startedAtMs, completedAtMs, result, error, success, \
    contentItems, agentsStates, mcpAppResourceUri, scriptPath, namespace, receiverThreadIds, senderThreadId, \
    appContext, mcpAppUi, readOnlyHint, results, failure, generationId, revisedPrompt, savedPath";

/// The name of an item's tool.
pub(super) fn tool_of<'o>(item: &'o Object<'_>) -> &'o str {
    first_text(item, "toolName, tool, type")
}

/// The arguments of an item's call, as JSON.
fn arguments_of(item: &Object<'_>) -> String {
    if item.contains("arguments") {
        return item.json("arguments");
    }
    let mut arguments = Object::new();
    for (name, value) in item.iter().filter(|(name, value)| !is_among(name, NO_ARGUMENTS) && !value.is_null())
    {
        arguments.insert(name.to_owned(), value.clone());
    }
    arguments.to_json()
}

impl Turn {
    /// Takes an item that is a call: begun, updated or completed.
    pub(super) fn call_item(
        &mut self,
        is_completed: bool,
        place: &Place,
        source: &Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let at = self.item_at(place, source.text("id"), Kind::Call)?;
        let arguments = arguments_of(source);
        // An item that was read as text may turn out to be a call.
        if self.items.get(at).is_some_and(|item| !item.is_announced || item.kind != Kind::Call) {
            self.make_call(at, tool_of(source), &arguments, source, sink)?;
        } else if is_completed || self.items.get(at).is_some_and(|item| !item.is_completed) {
            self.correct_call(at, tool_of(source), &arguments, sink);
        }
        if is_completed {
            self.correct_output(at, source, sink);
            self.call_completed(at, source, sink);
        }
        Ok(())
    }

    /// Makes the call in the last message of its thread.
    pub(super) fn make_call(
        &mut self,
        at: usize,
        tool: &str,
        arguments: &str,
        source: &Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let Some(item) = self.items.get(at) else { return Ok(()) };
        let (id, thread) = (item.id.clone(), item.thread);
        let maker = self.round(thread, &id)?;
        let mut function = with_text("name", tool);
        put(&mut function, "arguments", arguments);
        let mut call = with_text("id", &id);
        put(&mut call, "type", "function");
        call.set("function", function.into());
        let server = source.text("server");
        if !server.is_empty() {
            call.set("tool_info", mcp(server, tool).into());
        }
        self.announce(maker, None, sink);
        let Some(round) = self.items.get_mut(maker) else { return Ok(()) };
        let index = u32::try_from(round.calls.len()).unwrap_or(u32::MAX);
        round.calls.push(call.clone());
        let message_id = round.id.clone();
        if let Some(item) = self.items.get_mut(at) {
            item.is_announced = true;
            item.kind = Kind::Call;
            item.fingerprint = Fingerprint::of(arguments);
            item.maker = (maker, index);
        }
        call.set("index", u64::from(index).into());
        let mut delta = event("model.message.delta", message_id, self.thread_name(thread));
        delta.set("tool_calls", vec![call.into()].into());
        put(&mut delta, "finish_reason", "tool_calls");
        self.emit(&delta, sink);
        Ok(())
    }

    /// The item in whose message a call is made: the last message of the thread, or a new one without text.
    fn round(&mut self, thread: u32, call_id: &str) -> Result<usize, Problem> {
        let has_room = |item: &Item| item.calls.len() < MOST_IN_MESSAGE;
        let known = self.items.round(thread);
        if let Some(at) = known.filter(|at| self.items.get(*at).is_some_and(has_room)) {
            return Ok(at);
        }
        let place = Place { thread, turn_id: String::new() };
        let task = if thread == 0 { "" } else { self.thread_name(thread) };
        let name = sentence(&["calls:", task, if thread == 0 { "" } else { ":" }, call_id]);
        let at = self.item_at(&place, &name, Kind::Calls)?;
        self.items.set_round(thread, at);
        Ok(at)
    }

    /// Corrects the tool and the arguments, which may be final only when the call is completed.
    fn correct_call(&mut self, at: usize, tool: &str, arguments: &str, sink: &mut dyn EventSink) {
        let fingerprint = Fingerprint::of(arguments);
        let Some(item) = self.items.get_mut(at).filter(|item| item.fingerprint != fingerprint) else {
            return;
        };
        item.fingerprint = fingerprint;
        let ((maker, index), thread) = (item.maker, item.thread);
        let Some(round) = self.items.get_mut(maker) else { return };
        let call = round.calls.get_mut(index as usize);
        if let Some(Value::Object(function)) = call.and_then(|call| call.get_mut("function")) {
            put(function, "name", tool);
            put(function, "arguments", arguments);
        }
        let message_id = round.id.clone();
        let mut function = with_text("name", tool);
        put(&mut function, "whole_arguments", arguments);
        let mut piece = object("index", u64::from(index).into());
        piece.set("function", function.into());
        let mut delta = event("model.message.delta", message_id, self.thread_name(thread));
        delta.set("tool_calls", vec![piece.into()].into());
        self.emit(&delta, sink);
    }

    fn call_completed(&mut self, at: usize, source: &Object<'_>, sink: &mut dyn EventSink) {
        let (fingerprint, outcome, content) = result_of(source);
        let Some(item) = self.items.get_mut(at) else { return };
        // The record repeats the result.
        if item.is_completed && item.result == fingerprint {
            return;
        }
        item.is_completed = true;
        item.result = fingerprint;
        let (id, thread) = (item.id.clone(), item.thread);
        self.requests.call_completed(thread, &id);
        let mut result = with_text("tool_name", tool_of(source));
        put(&mut result, "status", if outcome == "failed" { "error" } else { "success" });
        result.set("data", source.clone().into());
        result.set("message", Value::Null);
        let mut response = event("tool.response", sentence(&[&*id, ":result"]), self.thread_name(thread));
        put(&mut response, "tool_call_id", &id);
        response.set("content", content.into());
        put(&mut response, "outcome", outcome);
        response.set("result", result.into());
        self.emit(&response, sink);
    }
}

/// The result of a call: its fingerprint, its outcome, and the text that is shown.
pub(super) fn result_of(item: &Object<'_>) -> (Fingerprint, &'static str, String) {
    let (outcome, content) = (outcome_of(item), content_of(item));
    let mut fingerprint = Fingerprint::of(outcome);
    fingerprint.push(&content);
    (fingerprint, outcome, content)
}

/// The tool info of a tool of an MCP server.
fn mcp(server: &str, tool: &str) -> Object<'static> {
    let mut info = with_text("type", "mcp");
    for name in ["server_id", "server_name", "mcp_server_id", "mcp_server_name"] {
        put(&mut info, name, server);
    }
    put(&mut info, "name", tool);
    info
}
