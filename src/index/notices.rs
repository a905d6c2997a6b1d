//! The notices of a turn, in their order.

use std::collections::VecDeque;

use crate::json::{Object, ObjectWriter};
use crate::message::Json;

use super::EventIndex;

/// The most notices that are kept: the last ones.
const MOST: usize = 256;

/// The last notices.
#[derive(Debug, Default)]
pub(super) struct Notices(VecDeque<Json>);

impl Notices {
    /// Writes them for a snapshot, unless there are none.
    pub(super) fn write(&self, turn: &mut ObjectWriter<'_>) {
        if self.0.is_empty() {
            return;
        }
        let out = turn.member("notices");
        out.push('[');
        for (at, notice) in self.0.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            out.push_str(notice);
        }
        out.push(']');
    }
}

impl EventIndex {
    /// The last notices of the turn, each a `notice` as JSON.
    pub fn notices(&self) -> impl Iterator<Item = &str> {
        self.notices.get().into_iter().flat_map(|notices| &notices.0).map(String::as_str)
    }

    pub(super) fn add_notice(&mut self, notice: &Object<'_>) {
        let Some(Notices(last)) = self.notices.get_mut() else { return };
        if last.len() == MOST {
            last.pop_front();
        }
        last.push_back(notice.to_json());
        self.changes.turn = true;
    }
}
