//! What the real servers do now and then, on request: the traps of one run.

use std::time::Duration;

use super::event::{Event, Termination};
use crate::faults::{Injection, Trap};

/// The traps of one run.
#[derive(Debug, Clone, Default)]
#[allow(clippy::struct_excessive_bools)] // each is a trap of its own
pub(super) struct Traps {
    /// Envelopes of other runs.
    pub(super) leak: bool,
    /// An error, then the end, after so many frames.
    pub(super) error_eof: Option<u64>,
    /// A flat error, then the end, after so many frames.
    pub(super) relay_error: Option<u64>,
    /// The provider drops after so many deltas; whether a call had begun.
    pub(super) retry_step: Option<(u64, bool)>,
    /// The provider fails three times.
    pub(super) retries: bool,
    /// The provider says nothing for a while.
    pub(super) silence: Option<Duration>,
    /// Another call goes on while one waits.
    pub(super) suspend_live: bool,
    /// After an answer comes a snapshot of before.
    pub(super) stale_snapshot: bool,
    /// The answer starts over after so many deltas.
    pub(super) stream_reset: Option<u64>,
    /// A call is begun and taken back.
    pub(super) tool_cancel: bool,
    pub(super) unknown_type: bool,
    pub(super) unknown_termination: bool,
    /// Progress as earlier versions had it.
    pub(super) legacy_progress: bool,
    pub(super) state_delta: bool,
    pub(super) messages_snapshot: bool,
    pub(super) activity_delta: bool,
}

impl Traps {
    /// What a request asks for.
    pub(super) fn of(injection: &Injection) -> Self {
        let mut traps = Self::default();
        for trap in injection.traps() {
            match trap {
                Trap::Leak => traps.leak = true,
                Trap::ErrorEof(after) => traps.error_eof = Some(after),
                Trap::RelayError(after) => traps.relay_error = Some(after),
                Trap::RetryStep { after, call } => traps.retry_step = Some((after, call)),
                Trap::Retries => traps.retries = true,
                Trap::Silence(pause) => traps.silence = Some(pause),
                Trap::SuspendLive => traps.suspend_live = true,
                Trap::StaleSnapshot => traps.stale_snapshot = true,
                Trap::StreamReset(after) => traps.stream_reset = Some(after),
                Trap::ToolCancel => traps.tool_cancel = true,
                Trap::UnknownType => traps.unknown_type = true,
                Trap::UnknownTermination => traps.unknown_termination = true,
                Trap::LegacyProgress => traps.legacy_progress = true,
                Trap::StateDelta => traps.state_delta = true,
                Trap::MessagesSnapshot => traps.messages_snapshot = true,
                Trap::ActivityDelta => traps.activity_delta = true,
                // Those are of another protocol.
                Trap::Aap(_) | Trap::Rpc(_) => {}
            }
        }
        traps
    }

    /// The event, or what a trap makes of it.
    pub(super) fn last_word(&self, event: Event) -> Event {
        match event {
            Event::RunFinish { thread_id, run_id, identity, result, .. } if self.unknown_termination => {
                let termination = Termination::QuotaExhausted { limit: 3 };
                Event::RunFinish { thread_id, run_id, identity, result, termination }
            }
            event => event,
        }
    }
}
