//! Traps: faults of a turn itself, as some real servers have them. Each protocol lists its own.

use std::time::Duration;

/// A trap's syntax and effect.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TrapKind {
    /// How it is written, with its arguments: N counts from 1, MS are milliseconds, BYTES is a size, and a
    /// word in lower case is itself. Brackets stand around what can be left out.
    pub(crate) form: &'static str,
    /// The protocols that know it, a colon, and what it does.
    pub(crate) about: &'static str,
}

/// A requested trap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Trap {
    pub(super) name: &'static str,
    /// Its number; 1 where it has none.
    pub(super) number: u64,
    /// Whether its optional word was given.
    pub(super) word: bool,
}

impl TrapKind {
    pub(crate) const fn new(form: &'static str, about: &'static str) -> Self {
        Self { form, about }
    }

    /// The name, without arguments.
    pub(super) fn name(&self) -> &'static str {
        self.form.split([':', '[']).next().unwrap_or_default()
    }
}

/// What each trap does, by its form. Protocols that know the same trap are together.
pub(super) fn shared(traps: &[TrapKind]) -> Vec<(&'static str, String)> {
    let mut lines: Vec<(&str, Vec<(String, &str)>)> = Vec::new();
    for &TrapKind { form, about } in traps {
        let (name, what) = about.split_once(": ").unwrap_or(("", about));
        let at = lines.iter().position(|(known, _)| *known == form).unwrap_or_else(|| {
            lines.push((form, Vec::new()));
            lines.len() - 1
        });
        let texts = &mut lines[at].1;
        match texts.iter_mut().find(|(_, known)| *known == what) {
            Some((names, _)) => *names = format!("{names}, {name}"),
            None => texts.push((name.to_owned(), what)),
        }
    }
    let joined = |texts: Vec<(String, &str)>| {
        texts.iter().map(|(names, what)| format!("{names}: {what}")).collect::<Vec<_>>().join("; ")
    };
    lines.into_iter().map(|(form, texts)| (form, joined(texts))).collect()
}

/// The traps of one turn.
#[derive(Debug, Clone, Default)]
pub(crate) struct Traps(Vec<Trap>);

impl Traps {
    fn find(&self, kind: &TrapKind) -> Option<&Trap> {
        self.0.iter().rfind(|trap| trap.name == kind.name())
    }

    /// Whether the turn has this trap.
    pub(crate) fn has(&self, kind: &TrapKind) -> bool {
        self.find(kind).is_some()
    }

    /// The number of this trap, if the turn has it.
    pub(crate) fn number(&self, kind: &TrapKind) -> Option<u64> {
        self.find(kind).map(|trap| trap.number)
    }

    /// The time that was given with this trap; none if the turn does not have it.
    pub(crate) fn time(&self, kind: &TrapKind) -> Duration {
        Duration::from_millis(self.number(kind).unwrap_or_default())
    }

    /// Whether this trap was requested with its optional word.
    pub(crate) fn has_word(&self, kind: &TrapKind) -> bool {
        self.find(kind).is_some_and(|trap| trap.word)
    }

    /// Removes this trap, and returns its number.
    pub(crate) fn take(&mut self, kind: &TrapKind) -> Option<u64> {
        let number = self.number(kind);
        self.0.retain(|trap| trap.name != kind.name());
        number
    }
}

impl FromIterator<Trap> for Traps {
    fn from_iter<I: IntoIterator<Item = Trap>>(traps: I) -> Self {
        Self(traps.into_iter().collect())
    }
}

/// Lists the traps of a protocol: a constant for each, and all of them as `TRAPS`.
macro_rules! traps {
    ($($name:ident = $form:literal: $about:literal,)*) => {
        $(pub(super) const $name: $crate::faults::TrapKind = $crate::faults::TrapKind::new($form, $about);)*

        /// All traps of this protocol.
        pub(super) const TRAPS: &[$crate::faults::TrapKind] = &[$($name),*];
    };
}
pub(crate) use traps;
