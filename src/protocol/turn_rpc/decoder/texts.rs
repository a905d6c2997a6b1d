//! Texts of the agent: each item is a message with its own id (sections 5 and 7).
//!
//! A reasoning message is emitted with its first text, since every step begins such an item.

use crate::event::{TextDelta, TextField};
use crate::iso::iso;
use crate::json::{Object, Value};
use crate::protocol::EventSink;
use crate::protocol::fields::{Problem, event, joined, put};

use super::Turn;
use super::delta::{Piece, Source};
use super::fingerprint::Fingerprint;
use super::items::{Kind, Place};

/// Between parts of reasoning.
const BREAK: &str = "\n\n";

impl Turn {
    /// Takes a piece of an item: the hot path.
    pub(super) fn piece(&mut self, piece: &Piece<'_>, sink: &mut dyn EventSink) {
        self.created(sink);
        let place = Place::default();
        let kind = match piece.source {
            Source::Text => Kind::Answer,
            Source::Reasoning | Source::Part => Kind::Reasoning,
            Source::Output(_) => Kind::Call,
        };
        let at = match self.item_at(&place, piece.item_id, kind) {
            Ok(at) => at,
            Err(problem) => return self.unknown(piece.method, piece.to_value(), Some(problem), sink),
        };
        let Some(item) = self.items.get(at) else { return };
        // Its final text is known (section 7.4).
        if item.is_completed || (piece.text.is_empty() && piece.payload.is_none()) {
            return;
        }
        match item.kind {
            Kind::Answer | Kind::Reasoning | Kind::Calls => {
                // Breaks separate the parts of reasoning.
                if piece.source != Source::Part || item.fingerprint.len > 0 {
                    self.append_text(at, piece.text, sink);
                }
            }
            Kind::Call => self.append_output(at, piece, sink),
        }
    }

    /// Appends to the text of an item.
    pub(super) fn append_text(&mut self, at: usize, text: &str, sink: &mut dyn EventSink) {
        self.announce(at, None, sink);
        self.emitted += 1;
        let sequence_number = self.emitted;
        let Some(item) = self.items.get_mut(at) else { return };
        item.fingerprint.push(text);
        let field = if item.kind == Kind::Reasoning { TextField::Reasoning } else { TextField::Content };
        let thread = item.thread;
        let id = std::mem::take(&mut item.id);
        let thread_id = self.thread_name(thread);
        sink.delta(
            sequence_number,
            TextDelta { id: &id, thread_id, created_at: None, field, text, others: None, source: 0 },
        );
        if let Some(item) = self.items.get_mut(at) {
            item.id = id;
        }
    }

    /// Emits the beginning of an item's message, once.
    pub(super) fn announce(&mut self, at: usize, source: Option<&Object<'_>>, sink: &mut dyn EventSink) {
        let Some(item) = self.items.get_mut(at).filter(|item| !item.is_announced) else { return };
        item.is_announced = true;
        let (id, thread) = (item.id.clone(), item.thread);
        let mut message = event("model.message", id, self.thread_name(thread));
        stamp(&mut message, source);
        self.emit(&message, sink);
    }

    /// Takes an item with a text: an answer or reasoning.
    pub(super) fn text_item(
        &mut self,
        kind: Kind,
        is_completed: bool,
        place: &Place,
        source: &Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let at = self.item_at(place, source.text("id"), kind)?;
        self.begin(place.thread, at);
        let Some(item) = self.items.get_mut(at) else { return Ok(()) };
        // Earlier deltas may have used the method that both kinds share. Only the item has the kind (section 6).
        if matches!(item.kind, Kind::Answer | Kind::Reasoning) && item.kind != kind {
            item.has_wrong_kind = item.fingerprint.len > 0;
            item.fingerprint = Fingerprint::default();
            item.kind = kind;
        }
        let has_wrong_kind = item.has_wrong_kind;
        let whole = text_of(kind, source);
        if is_completed {
            self.complete(at, &whole, source, sink);
        } else if !item.is_completed {
            if kind == Kind::Answer {
                self.announce(at, Some(source), sink);
            }
            let fingerprint = self.items.get(at).map(|item| item.fingerprint);
            if has_wrong_kind
                || !whole.is_empty() && fingerprint.is_some_and(|fingerprint| fingerprint.len < whole.len())
            {
                self.replace(at, &whole, "", source, sink);
            }
        }
        Ok(())
    }

    /// Completes an item with its final text. An empty text is ignored if the item was complete before or is
    /// reasoning: a failed attempt completes that again, without text (section 7.2).
    fn complete(&mut self, at: usize, whole: &str, source: &Object<'_>, sink: &mut dyn EventSink) {
        let Some(item) = self.items.get_mut(at) else { return };
        let was_completed = std::mem::replace(&mut item.is_completed, true);
        let (kind, thread, is_announced, id) = (item.kind, item.thread, item.is_announced, item.id.clone());
        let reason = if item.calls.is_empty() { "stop" } else { "tool_calls" };
        // The first completed text of an answer is final, even if it is empty (section 7.4).
        let is_nothing = whole.is_empty() && (was_completed || kind != Kind::Answer);
        let is_same = (is_nothing || item.fingerprint == Fingerprint::of(whole)) && !item.has_wrong_kind;
        if kind == Kind::Answer && thread == 0 && self.is_answer(at, was_completed, whole) {
            self.items.answer = Some((at, whole.to_owned()));
        }
        if !is_same {
            return self.replace(at, whole, reason, source, sink);
        }
        if was_completed || (!is_announced && kind != Kind::Answer) {
            return;
        }
        self.announce(at, Some(source), sink);
        let mut delta = event("model.message.delta", id, self.thread_name(thread));
        put(&mut delta, "finish_reason", reason);
        self.emit(&delta, sink);
    }

    /// Whether a completed message is the turn's answer so far. An earlier message that is completed again is not.
    fn is_answer(&self, at: usize, was_completed: bool, whole: &str) -> bool {
        match &self.items.answer {
            Some((last, _)) if *last != at => !was_completed && !self.is_newer_than_read(*last),
            _ => !was_completed || !whole.is_empty(),
        }
    }

    /// Replaces the text of an item.
    fn replace(
        &mut self,
        at: usize,
        whole: &str,
        reason: &str,
        source: &Object<'_>,
        sink: &mut dyn EventSink,
    ) {
        let Some(item) = self.items.get_mut(at) else { return };
        item.is_announced = true;
        item.fingerprint = Fingerprint::of(whole);
        let (id, thread, calls) = (item.id.clone(), item.thread, item.calls.clone());
        let has_wrong_kind = std::mem::take(&mut item.has_wrong_kind);
        let fields = ["content", "reasoning_content"];
        let [own, other] = if item.kind == Kind::Reasoning { [fields[1], fields[0]] } else { fields };
        let mut message = event("model.message", id, self.thread_name(thread));
        stamp(&mut message, Some(source));
        put(&mut message, own, whole);
        if has_wrong_kind {
            put(&mut message, other, "");
        }
        if !calls.is_empty() {
            let mut list = Vec::new();
            for call in calls {
                list.push(call.into());
            }
            message.set("tool_calls", list.into());
        }
        if !reason.is_empty() {
            put(&mut message, "finish_reason", reason);
        }
        self.emit(&message, sink);
    }

    /// Makes this message the one in which calls are made, until the next one begins.
    fn begin(&mut self, thread: u32, at: usize) {
        let is_last = self.items.round(thread).is_none_or(|last| !self.is_newer_than_read(last));
        let Some(item) = self.items.get_mut(at) else { return };
        if !std::mem::replace(&mut item.mark.is_begun, true) && is_last {
            self.items.set_round(thread, at);
        }
    }
}

/// Sets when a message began, if the server sends that.
fn stamp(message: &mut Object<'_>, source: Option<&Object<'_>>) {
    let time = source.and_then(|source| source.get("startedAtMs")).and_then(Value::as_u64);
    if let Some(time) = time {
        message.set("created_at", iso(time).into());
    }
}

/// The text of an item.
pub(super) fn text_of(kind: Kind, item: &Object<'_>) -> String {
    if kind != Kind::Reasoning {
        return item.text("text").to_owned();
    }
    let mut parts = Vec::new();
    for name in ["summary", "content"] {
        if parts.is_empty() {
            for part in item.array(name) {
                parts.extend(part.as_str());
            }
        }
    }
    joined(&parts, BREAK)
}
