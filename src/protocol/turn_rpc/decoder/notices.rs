//! Notices beside the conversation: retries, timeouts, limits, warnings (sections 5 and 6).

use std::collections::BinaryHeap;

use crate::error::sentence;
use crate::json::{Object, Value};
use crate::protocol::EventSink;
use crate::protocol::fields::{event, put};
use crate::text::is_among;

use super::super::fields::{boolean, first_text, inner};
use super::Turn;

/// Notices by method, with their level, and whether the server records them: a recorded notice may be read after it
/// was received as a notification.
const NEWS: [(&str, &str, bool); 30] = [
    ("item/timeout_detected", "warning", true),
    ("item/recovery_opened", "warning", true),
    ("item/recovery_attached", "info", true),
    ("item/retry_scheduled", "warning", true),
    ("item/retry_attempt_started", "info", true),
    ("item/recovery_succeeded", "info", true),
    ("item/recovery_exhausted", "error", true),
    ("item/tool/retry_scheduled", "warning", true),
    ("item/tool/retry_resolved", "info", true),
    ("item/tool/retry_exhausted", "error", true),
    ("turn/tool_loop/budget_exceeded", "warning", true),
    ("context/compressing", "info", false),
    ("context/compressed", "info", false),
    // Of Codex.
    ("error", "error", false),
    ("warning", "warning", false),
    ("guardianWarning", "warning", false),
    ("model/rerouted", "info", false),
    ("model/verification", "info", false),
    ("model/safetyBuffering/updated", "info", false),
    ("thread/compacted", "info", false),
    ("turn/plan/updated", "info", false),
    ("turn/diff/updated", "info", false),
    ("turn/moderationMetadata", "info", false),
    ("item/fileChange/patchUpdated", "info", false),
    ("item/commandExecution/terminalInteraction", "info", false),
    ("item/autoApprovalReview/started", "info", false),
    ("item/autoApprovalReview/completed", "info", false),
    ("autoApprovalReview/strictReviewRequired", "warning", false),
    ("hook/started", "info", false),
    ("hook/completed", "info", false),
];

/// The fields that name the place of a notice.
const PLACE: &str = "type, workspace_id, thread_id, turn_id, workspaceId, threadId, turnId";

/// The method of a recorded notice: `itemToolRetryScheduled` → `item/tool/retry_scheduled`.
pub(super) fn method_of_recorded(kind: &str) -> Option<&'static str> {
    let letters = |method: &str| {
        method
            .bytes()
            .filter(u8::is_ascii_alphabetic)
            .map(|letter| letter.to_ascii_lowercase())
            .collect::<Vec<_>>()
    };
    let kind = letters(kind);
    NEWS.iter()
        .filter(|(.., is_kept)| *is_kept)
        .map(|(method, ..)| *method)
        .find(|method| letters(method) == kind)
}

impl Turn {
    /// Takes a notification that may be a notice. Returns whether it is a known one.
    pub(super) fn known_notice(
        &mut self,
        method: &str,
        thread: u32,
        params: &Object<'_>,
        sink: &mut dyn EventSink,
    ) -> bool {
        let Some(&(method, mut level, is_kept)) = NEWS.iter().find(|(known, ..)| *known == method) else {
            return false;
        };
        if boolean(params, "willRetry") == Some(true) {
            level = "warning";
        }
        let mut details = Object::new();
        for (name, value) in params.iter().filter(|(name, _)| !is_among(name, PLACE)) {
            details.insert(snake(name), value.clone());
        }
        if is_kept
            && !self.facts.is_new(&sentence(&[self.thread_name(thread), "\n", &fact(method, &details)]))
        {
            return true;
        }
        let message = message_of(&details);
        let item_id = details.text("item_id").to_owned();
        self.notice_in(thread, (level, method, &message), &item_id, Some(details.into()), sink);
        true
    }

    /// Emits an item as a notice.
    pub(super) fn system_event(&mut self, thread: u32, item: &Object<'_>, sink: &mut dyn EventSink) {
        let id = item.text("id");
        if !self.facts.is_new(&sentence(&["event:", self.thread_name(thread), "\n", id])) {
            return;
        }
        let level = match item.text("level") {
            "warning" => "warning",
            "error" => "error",
            _ => "info",
        };
        let (code, message) = (first_text(item, "code, type"), first_text(item, "message, text, review"));
        let details = item.get("details").cloned().unwrap_or_else(|| item.clone().into());
        self.notice_in(thread, (level, code, message), id, Some(details), sink);
    }

    /// Emits a notice of the turn: its level, code and message.
    pub(super) fn notice(
        &mut self,
        known_notice: (&'static str, &str, &str),
        item_id: &str,
        details: Option<Value<'_>>,
        sink: &mut dyn EventSink,
    ) {
        self.notice_in(0, known_notice, item_id, details, sink);
    }

    /// Emits a notice of a thread; 0 is the whole turn.
    pub(super) fn notice_in(
        &mut self,
        thread: u32,
        (level, code, message): (&'static str, &str, &str),
        item_id: &str,
        details: Option<Value<'_>>,
        sink: &mut dyn EventSink,
    ) {
        self.created(sink);
        let name = if thread == 0 { "" } else { self.thread_name(thread) };
        let mut notice = event("notice", self.next_id(), name);
        put(&mut notice, "level", level);
        put(&mut notice, "code", code);
        put(&mut notice, "message", message);
        if !item_id.is_empty() {
            put(&mut notice, "item_id", item_id);
        }
        if let Some(details) = details {
            notice.set("details", details);
        }
        self.emit(&notice, sink);
    }
}

/// The message of a notice, for people.
fn message_of(details: &Object<'_>) -> String {
    let own = first_text(details, "message, error_message, reason, summary, explanation");
    if own.is_empty() { inner(details, "error").text("message") } else { own }.to_owned()
}

/// The identity of a notice: its method and its members, in any order.
fn fact(method: &str, details: &Object<'_>) -> String {
    sentence(&[method, "\n", &in_order(details)])
}

fn in_order(object: &Object<'_>) -> String {
    // Members with `null` are not recorded, and so do not count.
    let said = object.iter().filter(|(_, value)| !value.is_null());
    let members = said.map(|(name, value)| sentence(&[name, "=", &fixed(value)]));
    // A heap sorts, and takes a quarter of the bytes of `sort` in the module.
    let mut members: BinaryHeap<String> = members.collect();
    let mut text = String::new();
    while let Some(member) = members.pop() {
        text.push_str(&member);
        text.push('\n');
    }
    text
}

fn fixed(value: &Value<'_>) -> String {
    match value {
        Value::Object(object) => sentence(&["{", &in_order(object), "}"]),
        Value::Array(items) => {
            let mut text = String::from("[");
            for item in items {
                text.push_str(&fixed(item));
                text.push(',');
            }
            text
        }
        scalar => scalar.to_json(),
    }
}

/// `itemId` → `item_id`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}
