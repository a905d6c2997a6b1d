//! The servers that this one stands for: who keeps the conversation, and what becomes of a run without a reader.

/// A server, by the framework that it is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Server {
    /// The client keeps the conversation, and a run ends with its reader: Pydantic AI.
    Plain,
    /// The server keeps the conversation too, and runs go on: Agent Framework with a store and detached runs.
    Store,
    /// Runs go on and can be read again: CopilotKit's runtime.
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

    /// Whether ids that are missing are made.
    pub(super) fn makes_ids(self) -> bool {
        self == Self::Store
    }

    /// Whether messages of unknown roles are left out, or else refused.
    pub(super) fn skips_unknown(self) -> bool {
        self == Self::Plain
    }
}
