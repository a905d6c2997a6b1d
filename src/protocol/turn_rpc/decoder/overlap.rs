//! Reads that overlap with notifications (sections 6 and 8). A read may be older than notifications that came before
//! it, so of each item only what is newer than its known state is taken.
//!
//! Recorded events have numbers within their turn; notifications have none. A recorded event is old if it was read
//! before, if it comes before the known state of its item, or if a notification of the item came after the read had
//! begun. In that last case, the read may be older, and later changes will be notified.

use crate::json::Object;

use super::super::fields::number;
use super::Turn;
use super::calls::result_of;
use super::fingerprint::Fingerprint;
use super::items::{Item, Kind, Mark};
use super::tasks::id_of;
use super::texts::text_of;

/// The number of a recorded event; 0 if it has none.
pub(super) fn sequence_of(event: &Object<'_>) -> u64 {
    number(event, "sequence").unwrap_or_default()
}

impl Turn {
    /// A notification of an item has come.
    pub(super) fn note_notified(&mut self, item: &Object<'_>) {
        let begun = self.timeline.begun;
        if let Some(mark) = self.mark("", item) {
            mark.notification = begun;
        }
    }

    /// An event of an item was read.
    pub(super) fn note_read(&mut self, turn_id: &str, item: &Object<'_>, sequence: u64) {
        if let Some(mark) = self.mark(turn_id, item) {
            mark.sequence = mark.sequence.max(sequence);
        }
    }

    /// Before the events of a read are taken: notes the number of the event that equals the known state of its item.
    pub(super) fn compare(&mut self, turn_id: &str, event: &Object<'_>) {
        let Some(payload) = event.object("payload") else { return };
        let Some(item) = payload.object("item") else { return };
        if self.matches_known(turn_id, item, payload.text("type") == "itemCompleted") {
            self.note_read(turn_id, item, sequence_of(event));
        }
    }

    /// Whether a recorded event of an item is older than the known state.
    pub(super) fn is_old(&mut self, method: &str, turn_id: &str, item: &Object<'_>, sequence: u64) -> bool {
        let known = self.item_of(turn_id, item);
        // The beginning of a call is older than any known arguments.
        let is_made = |known: &Item| known.kind == Kind::Call && known.fingerprint.len > 0;
        if method == "item/started" && known.is_some_and(is_made) {
            return true;
        }
        let is_end = method == "item/completed" && known.is_some_and(|known| !known.is_completed);
        let Some(mark) = self.mark(turn_id, item).copied() else { return false };
        self.timeline.is_older_than(mark) || (!is_end && (1..=mark.sequence).contains(&sequence))
    }

    /// Whether a notification of this item came after the current read had begun.
    pub(super) fn is_newer_than_read(&self, at: usize) -> bool {
        self.items.get(at).is_some_and(|item| self.timeline.is_older_than(item.mark))
    }

    fn matches_known(&self, turn_id: &str, item: &Object<'_>, is_completed: bool) -> bool {
        if item.text("type") == "task" {
            let id = id_of(item);
            return self.tasks.iter().any(|task| task.id == id && task.status == item.text("status"));
        }
        let known = self.item_of(turn_id, item);
        known.filter(|known| is_completed && known.is_completed).is_some_and(|known| match known.kind {
            Kind::Call => known.result == result_of(item).0,
            kind => known.fingerprint == Fingerprint::of(&text_of(kind, item)),
        })
    }

    fn mark(&mut self, turn_id: &str, item: &Object<'_>) -> Option<&mut Mark> {
        if item.text("type") == "task" {
            let id = id_of(item);
            return self.tasks.iter_mut().find(|task| task.id == id).map(|task| &mut task.mark);
        }
        let at = self.items.find(turn_id, item.text("id"))?;
        self.items.get_mut(at).map(|item| &mut item.mark)
    }

    /// A known item.
    fn item_of(&self, turn_id: &str, item: &Object<'_>) -> Option<&Item> {
        self.items.get(self.items.find(turn_id, item.text("id"))?)
    }
}
