//! The request for a run, read from its body and checked as each framework does.

use serde_json::{Map, Value, json};

use super::error::{Flaw, Refusal};
use super::message::Message;
use super::server::Server;
use crate::agents::{Memory, Prompt};

/// The roles of messages.
const ROLES: [&str; 7] = ["developer", "system", "assistant", "user", "tool", "activity", "reasoning"];

/// A `RunAgentInput`.
#[derive(Debug, Clone)]
pub(super) struct RunInput {
    pub(super) thread: String,
    pub(super) run: String,
    pub(super) messages: Vec<Message>,
    /// The names of the tools that the page runs.
    pub(super) tools: Vec<String>,
    pub(super) state: Option<Value>,
    pub(super) resume: Vec<ResumeEntry>,
    /// `forwardedProps.command.resume`: the answer to what `on_interrupt` asked.
    pub(super) command: Option<Value>,
    /// The body as it came.
    pub(super) body: Map<String, Value>,
}

/// The answer to one interrupt.
#[derive(Debug, Clone)]
pub(super) struct ResumeEntry {
    pub(super) interrupt: String,
    /// `None`: the user declined.
    pub(super) payload: Option<Value>,
}

/// A body's field under its name, or under the name that Python servers also accept.
fn field<'a>(body: &'a Map<String, Value>, name: &str, snake: &str) -> Option<&'a Value> {
    body.get(name).or_else(|| body.get(snake)).filter(|value| !value.is_null())
}

impl RunInput {
    /// Reads a body.
    pub(super) fn read(server: Server, body: &[u8]) -> Result<Self, Refusal> {
        let value: Value =
            serde_json::from_slice(body).map_err(|error| Refusal::bad_json(server, body, &error))?;
        let mut flaws = Vec::new();
        let Value::Object(body) = value else {
            let flaw =
                Flaw::new("model_attributes_type", "Input should be a valid dictionary or object", value);
            return Err(Refusal::invalid(server, vec![flaw]));
        };
        let input = Self {
            thread: read_id(&body, "threadId", "thread_id", server, &mut flaws),
            run: read_id(&body, "runId", "run_id", server, &mut flaws),
            messages: read_messages(&body, server, &mut flaws),
            tools: names(field(&body, "tools", "tools")),
            state: field(&body, "state", "state").cloned(),
            resume: read_resume(&body, &mut flaws),
            command: field(&body, "forwardedProps", "forwarded_props")
                .and_then(|props| props.pointer("/command/resume"))
                .filter(|resume| !resume.is_null())
                .cloned(),
            body,
        };
        if flaws.is_empty() { Ok(input) } else { Err(Refusal::invalid(server, flaws)) }
    }

    /// The user's new messages: those after the last message of any other role.
    fn new_words(&self) -> &[Message] {
        let others = self.messages.iter().rposition(|message| message.role() != "user");
        &self.messages[others.map_or(0, |at| at + 1)..]
    }

    /// Whether it has nothing to run, so that a server with a store returns the kept thread.
    pub(super) fn asks_for_thread(&self) -> bool {
        self.messages.is_empty() && self.resume.is_empty()
    }

    /// Whether the user's last message has no answer.
    pub(super) fn has_new_words(&self) -> bool {
        !self.new_words().is_empty()
    }

    /// The content of the tool messages for a call.
    pub(super) fn result_of(&self, call: &str) -> Option<String> {
        let results = self.messages.iter().rev().filter(|message| message.role() == "tool");
        results.into_iter().find(|message| message.tool_call_id() == call).map(Message::text)
    }

    /// The user's side of the run; facts are in the state.
    pub(super) fn prompt(&self, facts: &[&'static str]) -> Prompt {
        let new = self.new_words();
        let texts = new.iter().map(Message::text).filter(|text| !text.is_empty());
        let memory: Memory = facts
            .iter()
            .filter_map(|fact| Some((*fact, self.state.as_ref()?.get(fact)?.as_str()?.to_owned())))
            .collect();
        let said = self.messages.iter().filter(|message| message.role() == "user").count();
        Prompt {
            text: texts.collect::<Vec<_>>().join("\n\n"),
            files: new.iter().flat_map(Message::files).collect(),
            memory,
            turns_before: said - new.len(),
        }
    }

    /// The body repeated, with these messages only.
    pub(super) fn echo(&self, messages: &[Message]) -> Value {
        let mut echo = self.body.clone();
        echo.insert("messages".to_owned(), json!(messages));
        Value::Object(echo)
    }
}

/// An id, which Agent Framework makes if it is missing.
fn read_id(
    body: &Map<String, Value>,
    name: &str,
    snake: &str,
    server: Server,
    flaws: &mut Vec<Flaw>,
) -> String {
    match field(body, name, snake) {
        Some(Value::String(id)) => return id.clone(),
        Some(other) => {
            flaws.push(Flaw::new("string_type", "Input should be a valid string", other.clone()).at([name]));
        }
        None if server.makes_ids() => {}
        None => flaws.push(Flaw::missing(body).at([name])),
    }
    uuid::Uuid::new_v4().to_string()
}

fn read_messages(body: &Map<String, Value>, server: Server, flaws: &mut Vec<Flaw>) -> Vec<Message> {
    let messages = match body.get("messages") {
        Some(Value::Array(messages)) => messages,
        Some(other) => {
            flaws
                .push(Flaw::new("list_type", "Input should be a valid list", other.clone()).at(["messages"]));
            return Vec::new();
        }
        None => {
            flaws.push(Flaw::missing(body).at(["messages"]));
            return Vec::new();
        }
    };
    let mut read = Vec::new();
    for (number, message) in messages.iter().enumerate() {
        let at = |flaw: Flaw, name: &str| flaw.at(["messages", &number.to_string(), name]);
        let Some(members) = message.as_object() else {
            flaws.push(at(
                Flaw::new("model_attributes_type", "Input should be an object", message.clone()),
                "",
            ));
            continue;
        };
        let role = members.get("role").and_then(Value::as_str).unwrap_or_default();
        if !ROLES.contains(&role) {
            if !server.skips_unknown() {
                let expected = ROLES.map(|role| format!("'{role}'")).join(", ");
                let text = format!(
                    "Input tag '{role}' found using 'role' does not match any of the expected tags: {expected}"
                );
                flaws.push(at(Flaw::new("union_tag_invalid", &text, message.clone()), ""));
            }
            continue;
        }
        if !members.get("id").is_some_and(Value::is_string) {
            flaws.push(at(Flaw::missing(members), "id"));
        }
        if role == "tool" && field(members, "toolCallId", "tool_call_id").is_none() {
            flaws.push(at(Flaw::missing(members), "toolCallId"));
        }
        if role != "assistant" && members.get("content").is_none_or(Value::is_null) {
            flaws.push(at(Flaw::missing(members), "content"));
        }
        read.push(Message(message.clone()));
    }
    read
}

fn names(tools: Option<&Value>) -> Vec<String> {
    let tools = tools.and_then(Value::as_array).into_iter().flatten();
    tools.filter_map(|tool| tool.get("name")?.as_str().map(str::to_owned)).collect()
}

fn read_resume(body: &Map<String, Value>, flaws: &mut Vec<Flaw>) -> Vec<ResumeEntry> {
    let entries = body.get("resume").and_then(Value::as_array).into_iter().flatten();
    let mut read = Vec::new();
    for (number, entry) in entries.enumerate() {
        let at = |flaw: Flaw, name: &str| flaw.at(["resume", &number.to_string(), name]);
        let members = entry.as_object().cloned().unwrap_or_default();
        let Some(interrupt) = field(&members, "interruptId", "interrupt_id").and_then(Value::as_str) else {
            flaws.push(at(Flaw::missing(&members), "interruptId"));
            continue;
        };
        let payload = match members.get("status").and_then(Value::as_str) {
            Some("resolved") => Some(members.get("payload").cloned().unwrap_or_default()),
            Some("cancelled") => None,
            _ => {
                let text = "Input should be 'resolved' or 'cancelled'";
                let status = members.get("status").cloned().unwrap_or_default();
                flaws.push(at(Flaw::new("literal_error", text, status), "status"));
                continue;
            }
        };
        read.push(ResumeEntry { interrupt: interrupt.to_owned(), payload });
    }
    read
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &Value) -> Result<RunInput, Refusal> {
        RunInput::read(Server::Plain, body.to_string().as_bytes())
    }

    fn user(id: &str, text: &str) -> Value {
        json!({"id": id, "role": "user", "content": text})
    }

    #[test]
    fn words_after_the_last_answer_are_new() {
        let body = json!({"threadId": "t", "runId": "r", "state": {"ticket": "SM-1"}, "messages": [
            user("1", "hello"), {"id": "2", "role": "assistant", "content": "hi"}, user("3", "a"), user("4", "b"),
        ]});
        let input = read(&body).expect("an input");
        let prompt = input.prompt(&["ticket"]);
        assert_eq!((prompt.text.as_str(), prompt.turns_before), ("a\n\nb", 1));
        assert_eq!(prompt.memory.get("ticket").map(String::as_str), Some("SM-1"));
    }

    #[test]
    fn python_names_are_taken_too() {
        let body = json!({"thread_id": "t", "run_id": "r", "messages": [
            {"id": "1", "role": "tool", "tool_call_id": "c", "content": "x"},
        ]});
        let input = read(&body).expect("an input");
        assert_eq!((input.thread.as_str(), input.result_of("c").as_deref()), ("t", Some("x")));
    }
}
