//! A turn's input, and the rules that it must keep before anything is sent (protocol note, section 4.4).

use crate::error::{Error, ErrorCode, Result, sentence};
use crate::event::{ContentPart, TurnInputItem, UserContent};
use crate::index::{PendingAction, PendingKind};
use crate::json::{Fields, Object, Value, write_u64};

/// What the session's last turn waits for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Pending {
    /// Not known: the last turn was not seen to its end.
    #[default]
    Unknown,
    /// These actions; none if it waits for nothing.
    Known(Vec<PendingAction>),
}

/// A checked input.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnInput {
    items: Vec<TurnInputItem>,
    json: Value<'static>,
}

impl TurnInput {
    /// Reads an input: a text, an item, or a list of items. Checks everything that does not depend on
    /// the session.
    pub fn read(input: &Value<'_>) -> Result<Self> {
        let json: Vec<Value<'static>> = match input {
            Value::Null => Vec::new(),
            Value::String(text) => {
                let mut item = Object::new();
                item.insert("type", "user.message");
                item.insert("content", text.to_string());
                vec![Value::Object(item)]
            }
            Value::Array(items) => items.iter().map(|item| item.clone().into_owned()).collect(),
            other => vec![other.clone().into_owned()],
        };
        let read = |(at, value)| {
            let item = Fields::of(value, "input").and_then(TurnInputItem::read);
            item.map_err(|problem| broken(at, &problem))
        };
        let items = json
            .iter()
            .enumerate()
            .map(read)
            .collect::<Result<Vec<_>>>()?;
        for (at, item) in items.iter().enumerate() {
            check_item(item).map_err(|problem| broken(at, problem))?;
        }
        check_mixture(&items)?;
        check_twice(&items)?;
        let mut json = Value::Array(json);
        send_files_as_servers_spell_them(&mut json);
        Ok(Self { items, json })
    }

    /// The input as it is sent.
    #[must_use]
    pub fn json(&self) -> &Value<'static> {
        &self.json
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Checks the input against what the session's last turn waits for: every pending call must be
    /// answered, in one turn, and nothing else.
    pub fn check_pending(&self, pending: &Pending) -> Result<()> {
        let Pending::Known(actions) = pending else {
            return Ok(());
        };
        let calls: Vec<_> = actions
            .iter()
            .filter(|action| !action.tool_call_id.is_empty())
            .collect();
        for (at, item) in self.items.iter().enumerate() {
            let (kind, thread_id, call_id) = match item {
                TurnInputItem::UserMessage { .. } if calls.is_empty() => continue,
                TurnInputItem::UserMessage { .. } => {
                    return Err(broken(
                        at,
                        "a user message cannot be sent while calls wait for an answer",
                    ));
                }
                TurnInputItem::ToolApproval {
                    thread_id,
                    tool_call_id,
                    ..
                } => (PendingKind::Approval, thread_id, tool_call_id),
                TurnInputItem::ToolResponse {
                    thread_id,
                    tool_call_id,
                    ..
                } => (PendingKind::Response, thread_id, tool_call_id),
            };
            match calls
                .iter()
                .find(|action| action.is_call(thread_id, call_id))
            {
                None => {
                    return Err(broken(
                        at,
                        &sentence(&["no call `", call_id, "` waits in thread `", thread_id, "`"]),
                    ));
                }
                Some(action) if action.kind != kind => {
                    let what = if kind == PendingKind::Approval {
                        "a result"
                    } else {
                        "an approval"
                    };
                    return Err(broken(
                        at,
                        &sentence(&["call `", call_id, "` waits for ", what]),
                    ));
                }
                Some(_) => {}
            }
        }
        self.check_complete(&calls)
    }

    fn check_complete(&self, calls: &[&PendingAction]) -> Result<()> {
        let answers = |action: &PendingAction| {
            self.items.iter().any(|item| match item {
                TurnInputItem::UserMessage { .. } => false,
                TurnInputItem::ToolApproval {
                    thread_id,
                    tool_call_id,
                    ..
                }
                | TurnInputItem::ToolResponse {
                    thread_id,
                    tool_call_id,
                    ..
                } => action.is_call(thread_id, tool_call_id),
            })
        };
        let missing: Vec<&str> = calls
            .iter()
            .filter(|action| !answers(action))
            .map(|action| action.tool_call_id.as_str())
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let message = sentence(&[
            "every call that waits must be answered in one turn; missing: ",
            &missing.join(", "),
        ]);
        Err(Error::new(ErrorCode::InvalidInput, message))
    }
}

fn check_item(item: &TurnInputItem) -> Result<(), &'static str> {
    match item {
        TurnInputItem::UserMessage {
            content: UserContent::Text(text),
        } if text.trim().is_empty() => Err("a user message must say something"),
        TurnInputItem::UserMessage {
            content: UserContent::Parts(parts),
        } => {
            if parts.is_empty() {
                return Err("a user message must have a part");
            }
            parts.iter().try_for_each(check_part)
        }
        TurnInputItem::ToolResponse { content, .. } if content.is_empty() => {
            Err("a tool response must not be empty")
        }
        _ => Ok(()),
    }
}

fn check_part(part: &ContentPart) -> Result<(), &'static str> {
    let data = match part {
        ContentPart::Text { .. } => return Ok(()),
        ContentPart::File { data, .. } => data,
        ContentPart::FileUpload { file, .. } => &file.file_data,
    };
    let header = data
        .strip_prefix("data:")
        .and_then(|rest| rest.split_once(','));
    match header {
        Some((media_type, _)) if media_type.ends_with(";base64") => Ok(()),
        _ => Err("a file must be a data URI: `data:<mime>;base64,<payload>`"),
    }
}

fn check_mixture(items: &[TurnInputItem]) -> Result<()> {
    let is_message = |item: &TurnInputItem| matches!(item, TurnInputItem::UserMessage { .. });
    let Some(first) = items.first() else {
        return Ok(());
    };
    match items
        .iter()
        .position(|item| is_message(item) != is_message(first))
    {
        Some(at) => Err(broken(
            at,
            "user messages cannot be mixed with approvals and tool responses",
        )),
        None => Ok(()),
    }
}

fn check_twice(items: &[TurnInputItem]) -> Result<()> {
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for (at, item) in items.iter().enumerate() {
        if let TurnInputItem::ToolApproval {
            thread_id,
            tool_call_id,
            ..
        }
        | TurnInputItem::ToolResponse {
            thread_id,
            tool_call_id,
            ..
        } = item
        {
            if seen.contains(&(thread_id, tool_call_id)) {
                return Err(broken(
                    at,
                    &sentence(&["call `", tool_call_id, "` is answered twice"]),
                ));
            }
            seen.push((thread_id, tool_call_id));
        }
    }
    Ok(())
}

/// `file_upload` with `file: { filename, file_data }` → `file` with `name` and `data` (section 3.6).
fn send_files_as_servers_spell_them(input: &mut Value<'static>) {
    for item in input.as_array_mut().into_iter().flatten() {
        let parts = item
            .as_object_mut()
            .and_then(|item| item.get_mut("content")?.as_array_mut());
        for part in parts.into_iter().flatten().filter_map(Value::as_object_mut) {
            let file = part.remove("file");
            if let Some(file) = file.as_ref().and_then(Value::as_object) {
                for (from, to) in [("filename", "name"), ("file_data", "data")] {
                    if let Some(value) = file.get(from) {
                        part.insert(to, value.clone());
                    }
                }
                part.insert("type", "file");
            }
        }
    }
}

fn broken(at: usize, rule: &str) -> Error {
    let mut index = String::new();
    write_u64(&mut index, at as u64);
    Error::new(
        ErrorCode::InvalidInput,
        sentence(&["input[", &index, "]: ", rule]),
    )
}
