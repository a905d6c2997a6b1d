//! What a turn is asked to do, read from its body and checked against its session.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::catalog::Capabilities;
use super::error::Refusal;
use super::message::{Content, Message};
use super::pending::{CallAnswer, Pending};
use super::session::{ServerTool, ToolSpec};
use super::wire::Mode;
use crate::agents::Attachment;
use crate::content::data_url;

/// The body of a request for a turn.
#[derive(Debug, Deserialize)]
pub(super) struct NewTurn {
    #[serde(default)]
    pub(super) agent: Option<Overrides>,
    #[serde(default)]
    stream: Option<Value>,
    #[serde(default)]
    pub(super) messages: Option<Vec<Input>>,
    #[serde(default)]
    pub(super) tools: Option<Vec<ToolSpec>>,
}

/// What changes about the agent from this turn on. Its name cannot.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Overrides {
    #[serde(default)]
    pub(super) tools: Option<Vec<ServerTool>>,
    #[serde(default)]
    pub(super) options: Option<BTreeMap<String, String>>,
}

/// One message of a turn.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(super) enum Input {
    User {
        content: Content,
    },
    Tool {
        tool_call_id: String,
        content: Content,
    },
    ToolPermission {
        tool_call_id: String,
        granted: bool,
        #[serde(default)]
        reason: Option<String>,
    },
}

/// Reads a body. The real server fails on a body that is not JSON.
pub(super) fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    let value: Value = serde_json::from_slice(body).map_err(|_| Refusal::internal())?;
    serde_json::from_value(value).map_err(|error| Refusal::bad(format!("Invalid request body: {error}")))
}

impl NewTurn {
    pub(super) fn mode(&self) -> Mode {
        Mode::of(self.stream.as_ref())
    }

    /// Checks what the agent must have declared.
    pub(super) fn check(&self, agent: &str, capabilities: Capabilities) -> Result<(), Refusal> {
        let mode = self.mode();
        if !capabilities.streams(mode) {
            let mode = mode.as_str();
            return Err(Refusal::bad(format!("Agent {agent} does not support stream mode {mode}")));
        }
        check_tools(agent, capabilities, self.tools.as_deref())?;
        let messages = self.messages.iter().flatten();
        let contents = messages.filter_map(|message| match message {
            Input::User { content } | Input::Tool { content, .. } => Some(content),
            Input::ToolPermission { .. } => None,
        });
        check_images(agent, capabilities, contents)
    }
}

pub(super) fn check_tools(
    agent: &str,
    capabilities: Capabilities,
    tools: Option<&[ToolSpec]>,
) -> Result<(), Refusal> {
    if tools.is_some_and(|tools| !tools.is_empty()) && !capabilities.has("application", "tools") {
        return Err(Refusal::bad(format!("Agent {agent} takes no application tools")));
    }
    Ok(())
}

pub(super) fn check_images<'a>(
    agent: &str,
    capabilities: Capabilities,
    contents: impl Iterator<Item = &'a Content>,
) -> Result<(), Refusal> {
    for url in contents.flat_map(Content::images) {
        let kind = match url.split_once(':') {
            Some(("data", _)) => "data",
            Some(("https" | "http", _)) => "http",
            _ => return Err(Refusal::bad("An image's url must be a data: or https: address")),
        };
        if !capabilities.has("image", kind) {
            return Err(Refusal::bad(format!("Agent {agent} does not take {kind} images")));
        }
    }
    Ok(())
}

/// The messages of a turn, grouped by their use.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    /// Answers in the order of their arrival.
    pub(super) answers: Vec<(String, CallAnswer)>,
    /// The messages of the user.
    pub(super) said: Vec<Content>,
}

impl Sorted {
    /// Sorts the messages. Answers must match the pending calls, and cover all of them.
    pub(super) fn of(messages: Vec<Input>, pending: Option<&Pending>) -> Result<Self, Refusal> {
        let mut sorted = Self::default();
        for message in messages {
            match message {
                Input::User { content } => sorted.said.push(content),
                Input::Tool { tool_call_id, content } => {
                    sorted.answers.push((tool_call_id, CallAnswer::Result(content)));
                }
                Input::ToolPermission { tool_call_id, granted, reason } => {
                    sorted.answers.push((tool_call_id, CallAnswer::Permission { granted, reason }));
                }
            }
        }
        if sorted.answers.is_empty() {
            return Ok(sorted);
        }
        let mut answered = HashMap::new();
        for (id, answer) in &sorted.answers {
            if pending.and_then(|pending| pending.call(id)).is_none() {
                return Err(Refusal::bad(format!("No call {id} waits for an answer")));
            }
            if answered.insert(id.as_str(), answer).is_some() {
                return Err(Refusal::bad(format!("Call {id} is answered twice")));
            }
        }
        let calls = pending.iter().flat_map(|pending| &pending.calls);
        match calls.map(|waiting| &waiting.call.id).find(|id| !answered.contains_key(id.as_str())) {
            Some(id) => Err(Refusal::bad(format!("Call {id} waits for an answer too: send all in one turn"))),
            None => Ok(sorted),
        }
    }

    /// The user's text.
    pub(super) fn text(&self) -> String {
        let texts = self.said.iter().map(Content::text).filter(|text| !text.is_empty());
        texts.collect::<Vec<_>>().join("\n\n")
    }

    /// The user's images as files.
    pub(super) fn files(&self) -> Vec<Attachment> {
        let images = self.said.iter().flat_map(Content::images);
        (1..).zip(images).map(|(number, url)| attachment(number, url)).collect()
    }
}

fn attachment(number: usize, url: &str) -> Attachment {
    let Some((head, _)) = url.strip_prefix("data:").and_then(|rest| rest.split_once(',')) else {
        return Attachment { name: url.to_owned(), mime: "image/*".to_owned(), bytes: 0 };
    };
    let (mime, bytes) = data_url(url).unwrap_or((head, None));
    let bytes = bytes.unwrap_or_default();
    Attachment { name: format!("image-{number}"), mime: mime.to_owned(), bytes }
}

/// The contents of a history that the client sends.
pub(super) fn contents(messages: &[Message]) -> impl Iterator<Item = &Content> {
    messages.iter().filter_map(|message| match message {
        Message::User { content } | Message::Assistant { content } | Message::Tool { content, .. } => {
            Some(content)
        }
        Message::System { .. } => None,
    })
}
