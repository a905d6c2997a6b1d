//! Which results of tool calls were delivered, for servers that list them under other ids than they stream them
//! (awaken's streams name none).

/// How many results of each call came, by the call's id: some models number their calls anew in every message.
#[derive(Debug, Default)]
pub(super) struct Results(Vec<Counted>);

#[derive(Debug)]
struct Counted {
    call_id: String,
    came: u32,
    listed: u32,
}

impl Results {
    /// A result was delivered.
    pub(super) fn came(&mut self, call_id: &str) {
        self.of(call_id).came += 1;
    }

    /// A list begins, from the first result on.
    pub(super) fn begin_list(&mut self) {
        self.0.iter_mut().for_each(|counted| counted.listed = 0);
    }

    /// The next result of a call in the list: whether it was delivered.
    pub(super) fn is_known(&mut self, call_id: &str) -> bool {
        let counted = self.of(call_id);
        counted.listed += 1;
        counted.listed <= counted.came
    }

    fn of(&mut self, call_id: &str) -> &mut Counted {
        let at = self.0.iter().position(|counted| counted.call_id == call_id).unwrap_or_else(|| {
            self.0.push(Counted { call_id: call_id.to_owned(), came: 0, listed: 0 });
            self.0.len() - 1
        });
        &mut self.0[at]
    }
}

#[cfg(test)]
mod tests {
    use super::Results;

    #[test]
    fn as_many_of_a_call_as_came_are_known() {
        let mut results = Results::default();
        results.came("a");
        results.came("b");
        results.came("a");
        for _ in 0..2 {
            results.begin_list();
            let known: Vec<bool> = ["a", "b", "c", "a", "a"].map(|id| results.is_known(id)).into();
            assert_eq!(known, [true, true, false, true, false]);
        }
    }
}
