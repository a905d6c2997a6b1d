//! The servers that this one imitates: who keeps the conversation, and what happens to a run without a reader.

/// A server, named by the framework that it imitates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Server {
    /// The client keeps the conversation, and a run ends with its reader: Pydantic AI.
    Plain,
    /// The server keeps the conversation too, and runs continue: Agent Framework with a store and detached runs.
    Store,
    /// Runs continue and can be read again: CopilotKit's runtime.
    Copilot,
}

impl Server {
    /// The space of its threads in the store.
    pub(super) fn space(self) -> &'static str {
        match self {
            Self::Plain => "ag-ui",
            Self::Store => "ag-ui-store",
            Self::Copilot => "ag-ui-copilotkit",
        }
    }

    /// Whether a run ends when its reader leaves.
    pub(super) fn ends_with_reader(self) -> bool {
        self == Self::Plain
    }

    /// Whether missing ids are generated.
    pub(super) fn makes_ids(self) -> bool {
        self == Self::Store
    }

    /// Whether messages of unknown roles are skipped rather than refused.
    pub(super) fn skips_unknown(self) -> bool {
        self == Self::Plain
    }
}
