//! Text that grows, and how much of it has been taken.

/// A text that grows, and how much of it was taken as a change.
#[derive(Debug, Clone, Default)]
pub(crate) struct Text {
    held: String,
    taken: usize,
    /// The length of the text before it, which was taken and dropped.
    released: usize,
}

impl Text {
    pub(crate) fn of(text: &str) -> Self {
        Self { held: text.to_owned(), ..Self::default() }
    }

    pub(crate) fn get(&self) -> &str {
        &self.held
    }

    pub(crate) fn push(&mut self, piece: &str) {
        self.held.push_str(piece);
    }

    /// Takes the text that was appended since the last call.
    pub(crate) fn take(&mut self) -> &str {
        let start = std::mem::replace(&mut self.taken, self.held.len());
        self.held.get(start..).unwrap_or_default()
    }

    /// Marks all of the text as not taken.
    pub(crate) fn untake(&mut self) {
        self.taken = 0;
    }

    /// Drops the text, all of which was taken.
    pub(crate) fn release(&mut self) {
        self.released += self.taken;
        *self = Self { released: self.released, ..Self::default() };
    }

    /// How long it is, with what was released away.
    pub(crate) fn len(&self) -> usize {
        self.released + self.held.len()
    }

    /// Whether this text is the beginning of `whole`.
    pub(crate) fn is_prefix_of(&self, whole: &Self) -> bool {
        whole.held.get(self.released..).is_some_and(|rest| rest.starts_with(&self.held))
    }

    /// Whether this text from the byte `from` on equals `whole`, as far as both are still held.
    pub(crate) fn matches_from(&self, whole: &Self, from: usize) -> bool {
        let here = self.held.get(from.saturating_sub(self.released)..);
        here.is_some() && whole.held.get(self.released.saturating_sub(from)..) == here
    }
}
