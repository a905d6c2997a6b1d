//! A turn's input, and the rules checked before anything is sent (protocol note, section 4.4).

use crate::error::{Error, ErrorCode, Result, sentence};
use crate::features::ClientIds;
use crate::index::{PendingAction, PendingKind};
use crate::json::{Object, Value, write_u64};
use crate::protocol::Capabilities;
use crate::text::cut;

use super::fields::note_stray_field;

/// What the session's last turn waits for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Pending {
    /// Not known: the last turn was not read to its end.
    #[default]
    Unknown,
    /// These actions; none if it waits for nothing.
    Known(Vec<PendingAction>),
}

/// A checked input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TurnInput {
    /// The items as they are sent; empty if there are none.
    json: String,
    /// What each item answers, in the order of the items; `None` for a user's message.
    answers: Vec<Option<Answer>>,
}

/// Which call an item answers, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Answer {
    kind: PendingKind,
    /// Whether it can refuse a question that belongs to no call.
    is_refusal: bool,
    thread_id: String,
    call_id: String,
}

impl TurnInput {
    /// Reads an input: a text, an item, or a list of items. Checks everything that does not depend on the session, and
    /// refuses items that this protocol does not take.
    pub fn read(input: Value<'_>, capabilities: &Capabilities) -> Result<Self> {
        let mut items = match input {
            Value::Null => Vec::new(),
            Value::Array(items) => items,
            Value::String(text) => {
                let mut message = Object::new();
                message.set("type", "user.message".into());
                message.set("content", Value::String(text));
                vec![Value::Object(message)]
            }
            item => vec![item],
        };
        let mut read = Self::default();
        for (at, item) in items.iter_mut().enumerate() {
            let mut stray = String::new();
            if let Value::Object(item) = item {
                note_stray_field(capabilities, item, &mut stray);
            }
            if !stray.is_empty() {
                return Err(broken(at, &stray));
            }
            read.add(item, capabilities).map_err(|rule| broken(at, rule))?;
            read.check_company(at)?;
        }
        if !items.is_empty() {
            read.json = Value::Array(items).to_json();
        }
        Ok(read)
    }

    /// The input as it is sent: a JSON array; nothing if it is empty.
    #[must_use]
    pub fn json(&self) -> Option<&str> {
        (!self.json.is_empty()).then_some(&*self.json)
    }

    /// The number of answers.
    #[must_use]
    pub fn answer_count(&self) -> usize {
        self.answers.iter().flatten().count()
    }

    /// How many messages of the user it has.
    #[must_use]
    pub fn message_count(&self) -> u64 {
        (self.answers.len() - self.answer_count()) as u64
    }

    /// The threads and ids of the calls that its first `count` items answer.
    pub(super) fn answered_calls(&self, count: usize) -> Vec<(String, String)> {
        let answers = self.answers.iter().take(count).flatten();
        answers.map(|answer| (answer.thread_id.clone(), answer.call_id.clone())).collect()
    }

    /// One item as a JSON array.
    #[must_use]
    pub fn answer(&self, at: usize) -> String {
        let items = Value::parse(&self.json).unwrap_or_default();
        let item = items.as_array().and_then(|items| items.get(at)).cloned();
        Value::Array(item.into_iter().collect()).to_json()
    }

    /// Whether a message has a file.
    #[must_use]
    pub fn has_files(&self) -> bool {
        self.has_part(&|part| part.text("type") == "file")
    }

    /// Whether a message has an image given by its URL.
    #[must_use]
    pub fn has_images(&self) -> bool {
        self.has_part(&|part| {
            let scheme = part.text("url").get(..5).unwrap_or_default();
            part.text("type") == "image" && !scheme.eq_ignore_ascii_case("data:")
        })
    }

    fn has_part(&self, is_one: &dyn Fn(&Object<'_>) -> bool) -> bool {
        let items = Value::parse(&self.json).unwrap_or_default();
        let mut items = items.as_array().unwrap_or_default().iter().filter_map(Value::as_object);
        items.any(|item| item.array("content").iter().filter_map(Value::as_object).any(is_one))
    }

    /// The items as they are sent to servers that need the question with the answer: each has the `suspension` of the
    /// call that it answers.
    #[must_use]
    pub fn with_suspensions(&self, actions: &[PendingAction]) -> String {
        let mut items = Value::parse(&self.json).unwrap_or_default();
        let answers = self.answers.iter();
        for (item, answer) in items.as_array_mut().into_iter().flatten().zip(answers) {
            let asked = answer.as_ref().and_then(|answer| actions.iter().find(|action| answer.is_to(action)));
            if let (Some(item), Some(action)) = (item.as_object_mut(), asked) {
                item.set("suspension", Value::parse(action.suspension()).unwrap_or_default().into_owned());
            }
        }
        items.to_json()
    }

    /// Checks an item on its own, converts it to the servers' form, and notes what it answers.
    fn add(&mut self, item: &mut Value<'_>, capabilities: &Capabilities) -> Result<(), &'static str> {
        let item = item.as_object_mut().ok_or("an item must be an object with a `type`")?;
        let mut is_refusal = false;
        let kind = match item.text("type") {
            "user.message" => {
                self.answers.push(None);
                return check_message(item, capabilities);
            }
            "user.tool_approval" => {
                let verdict = item.object("approval").map_or("", |approval| approval.text("status"));
                if !matches!(verdict, "allow" | "deny") {
                    return Err("`approval.status` must be `allow` or `deny`");
                }
                is_refusal = verdict == "deny" && capabilities.has_client_conversation();
                check_extras(item.object("approval").unwrap_or(const { &Object::new() }))?;
                PendingKind::Approval
            }
            "user.tool_response" => {
                if item.text("content").is_empty() {
                    return Err("`content` of a tool response must be a non-empty string");
                }
                PendingKind::Response
            }
            _ => {
                return Err("`type` must be `user.message`, `user.tool_approval` or `user.tool_response`");
            }
        };
        let (thread_id, call_id) = (item.text("thread_id"), item.text("tool_call_id"));
        if thread_id.is_empty() || call_id.is_empty() {
            return Err("`thread_id` and `tool_call_id` must name a pending call");
        }
        let (thread_id, call_id) = (thread_id.to_owned(), call_id.to_owned());
        self.answers.push(Some(Answer { kind, is_refusal, thread_id, call_id }));
        Ok(())
    }

    /// Checks the last item against the items before it.
    fn check_company(&self, at: usize) -> Result<()> {
        let Some((last, before)) = self.answers.split_last() else {
            return Ok(());
        };
        if before.first().is_some_and(|first| first.is_some() != last.is_some()) {
            return Err(broken(at, "user messages cannot be mixed with approvals and tool responses"));
        }
        match last {
            Some(answer) if before.iter().flatten().any(|known| known.is_same_call(answer)) => {
                Err(broken(at, &sentence(&["call `", &answer.call_id, "` is answered twice"])))
            }
            _ => Ok(()),
        }
    }

    /// Checks that there are only answers, each to a pending call.
    pub fn check_answers(&self, actions: &[PendingAction]) -> Result<()> {
        if self.answers.is_empty() {
            return Err(Error::new(ErrorCode::InvalidInput, "the input has no answer"));
        }
        for (at, answer) in self.answers.iter().enumerate() {
            let rule = match answer {
                Some(answer) => answer.check(actions),
                None => Err("a user message is not an answer".to_owned()),
            };
            rule.map_err(|rule| broken(at, &rule))?;
        }
        Ok(())
    }

    /// Checks the input against what the session's last turn waits for: it must answer every pending call and contain
    /// nothing else. If no call is known to be pending, answers are accepted, since another client may have started a
    /// turn that waits for them. With `is_strict` they are refused: the server would take them for something else.
    pub fn check_pending(&self, pending: &Pending, is_strict: bool) -> Result<()> {
        let Pending::Known(actions) = pending else {
            return Ok(());
        };
        let waits = actions.iter().any(|action| action.kind != PendingKind::Auth);
        for (at, answer) in self.answers.iter().enumerate() {
            match answer {
                Some(answer) if !waits && is_strict => {
                    let parts = [
                        "no call `",
                        &answer.call_id,
                        "` is known to wait: `history()` reads the pending calls",
                    ];
                    return Err(broken(at, &sentence(&parts)));
                }
                Some(_) if !waits => {}
                Some(answer) => answer.check(actions).map_err(|rule| broken(at, &rule))?,
                None if waits => {
                    return Err(broken(at, "a user message cannot be sent while calls wait for an answer"));
                }
                None => {}
            }
        }
        let mut missing = String::new();
        for action in actions {
            let is_answered = self.answers.iter().flatten().any(|answer| answer.is_to(action));
            if action.kind != PendingKind::Auth && !is_answered {
                missing.push_str(if missing.is_empty() { "" } else { ", " });
                missing.push_str(&action.id);
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        let message = sentence(&["every pending call must be answered in one turn; missing: ", &missing]);
        Err(Error::new(ErrorCode::InvalidInput, &message))
    }
}

impl Answer {
    fn is_same_call(&self, other: &Self) -> bool {
        self.call_id == other.call_id && self.thread_id == other.thread_id
    }

    fn is_to(&self, action: &PendingAction) -> bool {
        action.is_call(&self.thread_id, &self.call_id)
    }

    /// Checks that the call is pending and takes this kind of answer.
    fn check(&self, actions: &[PendingAction]) -> Result<(), String> {
        match actions.iter().find(|action| self.is_to(action)) {
            None => Err(sentence(&["no call `", &self.call_id, "` waits in thread `", &self.thread_id, "`"])),
            Some(action) if action.kind == self.kind => Ok(()),
            Some(action) if self.is_refusal && !action.suspension().is_empty() => Ok(()),
            Some(action) => {
                let what = if action.kind == PendingKind::Approval { "an approval" } else { "a result" };
                Err(sentence(&["call `", &self.call_id, "` waits for ", what]))
            }
        }
    }
}

fn check_message(message: &mut Object<'_>, capabilities: &Capabilities) -> Result<(), &'static str> {
    match message.get_mut("content") {
        Some(Value::String(text)) if text.trim_ascii().is_empty() => Err("a user message must not be empty"),
        Some(Value::String(_)) => Ok(()),
        Some(Value::Array(parts)) if parts.is_empty() => Err("a user message must have a part"),
        Some(Value::Array(parts)) => parts.iter_mut().try_for_each(|part| check_part(part, capabilities)),
        _ => Err("`content` must be a string or a list of parts"),
    }
}

/// Checks the fields that some protocols take besides the verdict.
fn check_extras(approval: &Object<'_>) -> Result<(), &'static str> {
    if !ClientIds::EXISTS {
        return Ok(());
    }
    if approval.get("remember").is_some_and(|remember| remember.as_bool().is_none()) {
        return Err("`approval.remember` must be true or false");
    }
    if approval.get("cancel").is_some_and(|cancel| cancel.as_bool().is_none()) {
        return Err("`approval.cancel` must be true or false");
    }
    if approval.get("result").is_some_and(|result| result.as_object().is_none()) {
        return Err("`approval.result` must be an object");
    }
    Ok(())
}

/// The last path segment of a URL; `file` if there is none.
fn name_in(url: &str) -> &str {
    let (mut name, mut rest) = ("file", url);
    while !rest.is_empty() {
        let (part, others) = cut(rest, b'/');
        name = if part.is_empty() { name } else { part };
        rest = others;
    }
    name
}

/// Converts a file in the spelling of the reference pages (`file_upload` with `file: { filename, file_data }`) to the
/// servers' spelling (`file` with `name` and `data`; section 3.6).
fn check_part(part: &mut Value<'_>, capabilities: &Capabilities) -> Result<(), &'static str> {
    let takes_native = capabilities.takes_native_parts();
    let part = part.as_object_mut().ok_or("a part must be an object with a `type`")?;
    match part.text("type") {
        "text" => part.get("text").and_then(Value::as_str).map(drop).ok_or("a text part must have a `text`"),
        "file" | "file_upload" => {
            if let Some(Value::Object(file)) = part.remove("file") {
                for (from, to) in &[("filename", "name"), ("file_data", "data")] {
                    part.set(to, file.get(from).cloned().unwrap_or_default());
                }
            }
            part.set("type", "file".into());
            if takes_native && part.text("data").is_empty() && !part.text("url").is_empty() {
                let url = part.remove("url").unwrap_or_default();
                part.set("name", name_in(url.as_str().unwrap_or_default()).to_owned().into());
                part.set("data", url);
            }
            // Some servers do not keep the name, and return files with an empty one.
            if part.text("name").is_empty() && !(takes_native && part.get("name") == Some(&"".into())) {
                return Err("a file must have a `name`");
            }
            let takes_addresses = takes_native || capabilities.has_client_conversation();
            if is_base64_uri(part.text("data").as_bytes()) || takes_addresses && is_address(part.text("data"))
            {
                return Ok(());
            }
            Err("a file must be a data URI: `data:<mime>;base64,<payload>`")
        }
        "image" if ClientIds::EXISTS => {
            if part.text("url").is_empty() {
                return Err("an image part must have a `url`: a data URI or an `https:` address");
            }
            Ok(())
        }
        "" => Err("a part must be an object with a `type`"),
        _ => Ok(()),
    }
}

/// Whether a file is given by its URL.
fn is_address(data: &str) -> bool {
    data.starts_with("https:") || data.starts_with("http:")
}

fn is_base64_uri(uri: &[u8]) -> bool {
    let end = uri.iter().position(|byte| *byte == b',').unwrap_or_default();
    let header = uri.get(..end).unwrap_or_default();
    header.starts_with(b"data:") && header.ends_with(b";base64")
}

fn broken(at: usize, rule: &str) -> Error {
    let mut index = String::new();
    write_u64(&mut index, at as u64);
    Error::of(ErrorCode::InvalidInput, &["input[", &index, "]: ", rule])
}
