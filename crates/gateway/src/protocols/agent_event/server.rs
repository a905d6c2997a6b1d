//! The servers on which the protocol is spoken: one of tirea, two of awaken.

/// How events look on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// `{"type":…,"run_id":…,"data":{…}}`
    Tirea,
    /// `{"event_type":…,…}`
    Awaken,
}

/// A base URL with its own threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Server {
    Tirea,
    /// With an event store, so that the events of a run can be read again.
    Awaken,
    /// Without one.
    AwakenPlain,
}

impl Server {
    /// The server that a path leads to.
    pub(super) fn of_path(path: &str) -> Option<Self> {
        let first = path.split('/').nth(1)?;
        [Self::Tirea, Self::Awaken, Self::AwakenPlain].into_iter().find(|server| server.name() == first)
    }

    pub(super) fn dialect(self) -> Dialect {
        match self {
            Self::Tirea => Dialect::Tirea,
            Self::Awaken | Self::AwakenPlain => Dialect::Awaken,
        }
    }

    /// The first segment of the base URL, which is also the space of its sessions.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Tirea => "tirea",
            Self::Awaken => "awaken",
            Self::AwakenPlain => "awaken-plain",
        }
    }

    pub(super) fn keeps_events(self) -> bool {
        self == Self::Awaken
    }
}
