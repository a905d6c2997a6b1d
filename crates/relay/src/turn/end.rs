//! How a kept turn can end.

use serde::{Deserialize, Serialize};

/// A turn's end. Only `Done` means that the agent has finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum End {
    /// The protocol's last frame came.
    Done,
    /// The agent's answer ended in good order, but without that frame.
    Eof,
    /// The rest is missing.
    Cut {
        /// Why.
        reason: CutReason,
        /// What is known of the agent.
        upstream: UpstreamState,
    },
    /// The agent refused the start, with this status. Its answer is the turn's one entry.
    Refused {
        /// The status of the agent's answer.
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
    /// The relay ended while the turn ran.
    RelayRestarted,
    /// The relay that ran the turn has died, or was cut off from the log.
    OwnerLost,
    /// The relay was told to end, and the turn took longer than it could wait.
    Drained,
    /// The log failed.
    LogLost,
    /// The turn, or one frame, was larger than may be kept.
    LogFull,
    /// The turn took longer than allowed.
    TurnLimit,
    /// The agent said nothing for too long.
    Silent,
    /// All readers had left for longer than allowed.
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

/// What is known of the agent when a turn is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UpstreamState {
    /// Its connection is gone.
    Gone,
    /// It may have begun, or not.
    Unknown,
    /// It ran when the relay left it.
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
