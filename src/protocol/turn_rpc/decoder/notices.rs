//! Notices beside the conversation: retries, timeouts, limits, warnings (sections 5 and 6).

use crate::error::sentence;
use crate::json::{Object, Value};
use crate::protocol::EventSink;
use crate::protocol::fields::{event, put};
use crate::protocol::options::wire_name;
use crate::text::{cut, is_among};

use super::super::fields::{boolean, first_text, inner};
use super::Turn;
use super::fingerprint::Fingerprint;

/// Notices by method, with their level, and whether the server records them: a recorded notice may be read after it
/// was received as a notification. The second half is of Codex.
const NEWS: &str = "\
    item/timeout_detected warning recorded\n\
    item/recovery_opened warning recorded\n\
    item/recovery_attached info recorded\n\
    item/retry_scheduled warning recorded\n\
    item/retry_attempt_started info recorded\n\
    item/recovery_succeeded info recorded\n\
    item/recovery_exhausted error recorded\n\
    item/tool/retry_scheduled warning recorded\n\
    item/tool/retry_resolved info recorded\n\
    item/tool/retry_exhausted error recorded\n\
    turn/tool_loop/budget_exceeded warning recorded\n\
    context/compressing info\n\
    context/compressed info\n\
    error error\n\
    warning warning\n\
    guardianWarning warning\n\
    model/rerouted info\n\
    model/verification info\n\
    model/safetyBuffering/updated info\n\
    thread/compacted info\n\
    turn/plan/updated info\n\
    turn/diff/updated info\n\
    turn/moderationMetadata info\n\
    item/fileChange/patchUpdated info\n\
    item/commandExecution/terminalInteraction info\n\
    item/autoApprovalReview/started info\n\
    item/autoApprovalReview/completed info\n\
    autoApprovalReview/strictReviewRequired warning\n\
    hook/started info\n\
    hook/completed info\n\
";

/// The notice for which `is_it` holds: its method, its level, and whether it is recorded.
fn notice_of(is_it: &dyn Fn(&str, bool) -> bool) -> Option<(&'static str, &'static str, bool)> {
    let mut rest = NEWS;
    while !rest.is_empty() {
        let (line, others) = cut(rest, b'\n');
        let (method, line) = cut(line, b' ');
        let (level, recorded) = cut(line, b' ');
        if is_it(method, !recorded.is_empty()) {
            return Some((method, level, !recorded.is_empty()));
        }
        rest = others;
    }
    None
}

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
    notice_of(&|method, is_recorded| is_recorded && letters(method) == kind).map(|(method, ..)| method)
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
        let Some((method, mut level, is_recorded)) = notice_of(&|known, _| known == method) else {
            return false;
        };
        if boolean(params, "willRetry") == Some(true) {
            level = "warning";
        }
        let mut details = Object::new();
        for (name, value) in params.iter().filter(|(name, _)| !is_among(name, PLACE)) {
            details.insert(wire_name(name), value.clone());
        }
        if is_recorded {
            let mut fact = Fingerprint::of(&sentence(&[self.thread_name(thread), "\n", method, "\n"]));
            fact.push_hash(members_identity(&details));
            if !self.facts.is_new_hash(fact.hash) {
                return true;
            }
        }
        let message = message_of(&details);
        let item_id = details.text("item_id").to_owned();
        self.notice(thread, (level, method, &message), &item_id, Some(details.into()), sink);
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
        self.notice(thread, (level, code, message), id, Some(details), sink);
    }

    /// Emits a notice of a thread, where 0 is the whole turn: its level, code and message.
    pub(super) fn notice(
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

/// The hash of a value, with the members of objects in any order.
fn identity(value: &Value<'_>) -> u64 {
    match value {
        Value::Object(object) => members_identity(object),
        Value::Array(items) => {
            let mut list = Fingerprint::default();
            for item in items {
                list.push_hash(identity(item));
            }
            list.hash
        }
        scalar => Fingerprint::of(&scalar.to_json()).hash,
    }
}

/// The hash of an object. Members with `null` are not recorded, and so do not count.
fn members_identity(object: &Object<'_>) -> u64 {
    let mut sum = 1_u64;
    for (name, value) in object.iter().filter(|(_, value)| !value.is_null()) {
        let mut member = Fingerprint::of(name);
        member.push_hash(identity(value));
        // A sum is the same in any order.
        sum = sum.wrapping_add(member.hash);
    }
    sum
}
