//! How a kept turn can end.

use serde::{Deserialize, Serialize};

/// A turn's end. Only `Done` means that the agent has finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum End {
    /// The protocol's last frame came.
    Done,
    /// The agent's response ended in good order, but without that frame.
    Eof,
    /// The rest is missing.
    Cut {
        /// Why.
        reason: CutReason,
        /// The agent's last known state.
        upstream: UpstreamState,
    },
    /// The agent refused the start, with this status. Its response is the turn's only entry.
    Refused {
        /// The status of the agent's response.
        status: u16,
    },
    /// The user stopped it.
    Stopped,
}

/// Why the rest of a turn is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CutReason {
    /// The connection to the agent broke, or it never answered.
    UpstreamLost,
    /// The relay ended while the turn was running.
    RelayRestarted,
    /// The relay that ran the turn has died, or was cut off from the log.
    OwnerLost,
    /// The relay was shutting down, and the turn took longer than it could wait.
    Drained,
    /// The log failed.
    LogLost,
    /// The turn, or one frame, was larger than may be kept.
    LogFull,
    /// The turn took longer than allowed.
    TurnLimit,
    /// The agent was silent for too long.
    Silent,
    /// There were no readers for longer than allowed.
    Left,
}

impl CutReason {
    /// The reason's name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::UpstreamLost => "upstream_lost",
            Self::RelayRestarted => "relay_restarted",
            Self::OwnerLost => "owner_lost",
            Self::Drained => "drained",
            Self::LogLost => "log_lost",
            Self::LogFull => "log_full",
            Self::TurnLimit => "turn_limit",
            Self::Silent => "silent",
            Self::Left => "left",
        }
    }
}

/// The state of the agent when a turn is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UpstreamState {
    /// Its connection is gone.
    Gone,
    /// It may or may not have begun.
    Unknown,
    /// It was running when the relay left it.
    Running,
}

impl UpstreamState {
    /// The state's name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gone => "gone",
            Self::Unknown => "unknown",
            Self::Running => "running",
        }
    }
}

impl End {
    /// The end's name in metrics and lists.
    pub fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Eof => "eof",
            Self::Cut { .. } => "cut",
            Self::Refused { .. } => "refused",
            Self::Stopped => "stopped",
        }
    }
}
