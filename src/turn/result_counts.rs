//! Counts delivered tool results by call. Some servers list results under other ids than they stream them (awaken's
//! streams have none).

use crate::features::PartialLists;

/// The number of results for each call. Some models reuse call ids in every message, so a call id can have several.
#[derive(Debug)]
pub(super) struct ResultCounts {
    _by: PartialLists,
    counts: Vec<Count>,
}

#[derive(Debug)]
struct Count {
    call_id: String,
    came: u32,
    listed: u32,
}

impl ResultCounts {
    pub(super) fn new(by: PartialLists) -> Self {
        Self { _by: by, counts: Vec::new() }
    }

    /// Counts a delivered result.
    pub(super) fn count(&mut self, call_id: &str) {
        self.of(call_id).came += 1;
    }

    /// Begins a list, from the first result on.
    pub(super) fn begin_list(&mut self) {
        self.counts.iter_mut().for_each(|count| count.listed = 0);
    }

    /// Takes the next listed result of a call. Returns whether it was already delivered.
    pub(super) fn is_known(&mut self, call_id: &str) -> bool {
        let count = self.of(call_id);
        count.listed += 1;
        count.listed <= count.came
    }

    fn of(&mut self, call_id: &str) -> &mut Count {
        let at = self.counts.iter().position(|count| count.call_id == call_id).unwrap_or_else(|| {
            self.counts.push(Count { call_id: call_id.to_owned(), came: 0, listed: 0 });
            self.counts.len() - 1
        });
        &mut self.counts[at]
    }
}

#[cfg(test)]
mod tests {
    use super::super::conventions::Conventions;
    use super::ResultCounts;
    use crate::protocol::Protocol;
    use crate::protocol::agent_event::{AgentEvent, Dialect};

    #[test]
    fn as_many_of_a_call_as_came_are_known() {
        let conventions = Conventions::of(&AgentEvent::new(Dialect::Awaken).capabilities());
        let mut results = ResultCounts::new(conventions.partial_lists().expect("its lists are partial"));
        results.count("a");
        results.count("b");
        results.count("a");
        for _ in 0..2 {
            results.begin_list();
            let known: Vec<bool> = ["a", "b", "c", "a", "a"].map(|id| results.is_known(id)).into();
            assert_eq!(known, [true, true, false, true, false]);
        }
    }
}
