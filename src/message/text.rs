//! Text that grows, and how much of it has been taken.

/// Text that grows, and how much of it has been taken as a change.
#[derive(Debug, Clone, Default)]
pub(crate) struct Text {
    kept: String,
    taken: usize,
    /// The length of what stood before it and was given away.
    given: usize,
}

impl Text {
    pub(crate) fn of(text: &str) -> Self {
        Self { kept: text.to_owned(), ..Self::default() }
    }

    pub(crate) fn get(&self) -> &str {
        &self.kept
    }

    pub(crate) fn push(&mut self, piece: &str) {
        self.kept.push_str(piece);
    }

    /// What was appended since this was last asked.
    pub(crate) fn take(&mut self) -> &str {
        let start = std::mem::replace(&mut self.taken, self.kept.len());
        self.kept.get(start..).unwrap_or_default()
    }

    /// Everything counts as appended once more.
    pub(crate) fn retake(&mut self) {
        self.taken = 0;
    }

    /// Gives up what is here, all of which was taken.
    pub(crate) fn give_away(&mut self) {
        self.given += self.taken;
        *self = Self { given: self.given, ..Self::default() };
    }

    /// How long it is, with what was given away.
    pub(crate) fn len(&self) -> usize {
        self.given + self.kept.len()
    }

    /// Whether a whole text begins with this one.
    pub(crate) fn begins(&self, whole: &Self) -> bool {
        whole.kept.get(self.given..).is_some_and(|rest| rest.starts_with(&self.kept))
    }

    /// Whether this text, from this length on, is the rest of a whole text, as far as it was kept.
    pub(crate) fn says(&self, whole: &Self, from: usize) -> bool {
        let here = self.kept.get(from.saturating_sub(self.given)..);
        here.is_some() && whole.kept.get(self.given.saturating_sub(from)..) == here
    }
}
