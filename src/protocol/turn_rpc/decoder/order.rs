//! What is read beside what was heard (sections 6 and 8). A read comes late, and tells the past with the present: of
//! each item only what is newer than what is known of it is taken.
//!
//! Events that are kept have a number within their turn, those that are heard have none. So what is read is old if it
//! was read before; if it comes before what the item is known to say; or if the item was heard of after the read was
//! begun, since all that is heard was kept before, and what is newer will be heard as well.

use crate::json::{Object, Value};

use super::Turn;
use super::calls::result_of;
use super::fingerprint::Fingerprint;
use super::items::{Item, Kind, Mark, name_in};
use super::tasks::id_of;
use super::texts::text_of;

/// The number of an event that is kept; 0 if it has none.
pub(super) fn sequence_of(event: &Object<'_>) -> u64 {
    event.get("sequence").and_then(Value::as_u64).unwrap_or_default()
}

impl Turn {
    /// An item was heard of.
    pub(super) fn heard_of(&mut self, item: &Object<'_>) {
        let begun = self.timeline.begun();
        if let Some(mark) = self.mark("", item) {
            mark.heard = begun;
        }
    }

    /// An event of an item was read.
    pub(super) fn was_read(&mut self, turn_id: &str, item: &Object<'_>, sequence: u64) {
        if let Some(mark) = self.mark(turn_id, item) {
            mark.sequence = mark.sequence.max(sequence);
        }
    }

    /// Looks for what is known of an item already in an event that is about to be taken from a read.
    pub(super) fn compare(&mut self, turn_id: &str, event: &Object<'_>) {
        let Some(payload) = event.object("payload") else { return };
        let Some(item) = payload.object("item") else { return };
        if self.says_what_is_known(turn_id, item, payload.text("type") == "itemCompleted") {
            self.was_read(turn_id, item, sequence_of(event));
        }
    }

    /// Whether what a read says of an item is older than what is known.
    pub(super) fn is_old(&mut self, method: &str, turn_id: &str, item: &Object<'_>, sequence: u64) -> bool {
        let reading = self.reading;
        let known = self.item_of(turn_id, item).and_then(|at| self.items.get(at));
        // What a call was begun with is older than whatever it is known to be made with.
        let is_made = |known: &Item| known.kind == Kind::Call && known.fingerprint.len > 0;
        if method == "item/started" && known.is_some_and(is_made) {
            return true;
        }
        let is_end = method == "item/completed" && known.is_some_and(|known| !known.is_completed);
        let Some(mark) = self.mark(turn_id, item) else { return false };
        is_newer(*mark, reading) || (!is_end && (1..=mark.sequence).contains(&sequence))
    }

    /// Whether this item is newer than the read that is being taken.
    pub(super) fn is_newer_than_read(&self, at: usize) -> bool {
        self.items.get(at).is_some_and(|item| is_newer(item.mark, self.reading))
    }

    fn says_what_is_known(&self, turn_id: &str, item: &Object<'_>, is_completed: bool) -> bool {
        if item.text("type") == "task" {
            let id = id_of(item);
            return self.tasks.iter().any(|task| task.id == id && task.status == item.text("status"));
        }
        let known = self.item_of(turn_id, item).and_then(|at| self.items.get(at));
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
        let at = self.item_of(turn_id, item)?;
        self.items.get_mut(at).map(|item| &mut item.mark)
    }

    /// The number of an item that is known.
    fn item_of(&self, turn_id: &str, item: &Object<'_>) -> Option<usize> {
        let id = item.text("id");
        let at = if turn_id.is_empty() { self.names.get(id) } else { self.names.get(&name_in(turn_id, id)) };
        at.map(|at| at as usize)
    }
}

/// Whether something was heard of after this read was begun.
fn is_newer(mark: Mark, reading: u32) -> bool {
    reading > 0 && mark.heard >= reading
}
