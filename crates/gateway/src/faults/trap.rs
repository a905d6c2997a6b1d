//! Traps: faults of a turn itself, as some real servers have them. Each protocol lists its own.

use std::time::Duration;

/// A trap as it can be asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TrapKind {
    /// How it is written, with its arguments: N counts from 1, MS are milliseconds, BYTES is a size, and a
    /// word in lower case is itself. Brackets stand around what can be left out.
    pub(crate) form: &'static str,
    /// What it does, beginning with the protocols that know it.
    pub(crate) about: &'static str,
}

/// A trap that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Trap {
    pub(super) name: &'static str,
    /// Its number; 1 where it has none.
    pub(super) number: u64,
    /// Whether its optional word was there.
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

/// The model says nothing for so many milliseconds.
pub(crate) const SILENCE: TrapKind =
    TrapKind::new("silence:MS", "AgentEvent, AAP, AG-UI, turn-rpc: the provider says nothing for so long");
/// An event of a type that no client knows.
pub(crate) const UNKNOWN_TYPE: TrapKind =
    TrapKind::new("unknown-type", "AgentEvent, AAP, AG-UI, turn-rpc: an event of an unknown type");
/// A reason of the turn's end that no client knows.
pub(crate) const UNKNOWN_TERMINATION: TrapKind =
    TrapKind::new("unknown-termination", "AgentEvent, AAP, AG-UI: the run ends for an unknown reason");
/// The answer is a stream of no events.
pub(crate) const NOTHING: TrapKind =
    TrapKind::new("nothing", "AAP, AG-UI: no events, for a turn that is not even begun");
/// All messages come in one event.
pub(crate) const MESSAGES_SNAPSHOT: TrapKind = TrapKind::new(
    "messages-snapshot",
    "AgentEvent: the run begins with all messages so far; AG-UI: it ends with them",
);
/// The traps that several protocols know.
pub(super) const SHARED: [TrapKind; 5] =
    [SILENCE, UNKNOWN_TYPE, UNKNOWN_TERMINATION, NOTHING, MESSAGES_SNAPSHOT];

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

    /// How long the model says nothing.
    pub(crate) fn silence(&self) -> Duration {
        Duration::from_millis(self.number(&SILENCE).unwrap_or_default())
    }

    /// Whether this trap was asked for with its optional word.
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
