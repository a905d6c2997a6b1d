//! What goes wrong with one turn, on request.

use std::time::Duration;

use crate::faults::{Fault, RpcTrap, Trap};

/// The traps of one turn.
#[derive(Debug, Clone, Default)]
#[allow(clippy::struct_excessive_bools)] // each is a trap of its own
pub(super) struct Traps {
    /// Every so-manieth delta is lost.
    pub(super) drop_deltas: Option<u64>,
    /// The last delta of an item comes after its end.
    pub(super) late_delta: bool,
    /// The agent is faster than the response.
    pub(super) early_events: bool,
    /// Reasoning is completed twice.
    pub(super) double_reasoning: bool,
    /// Deltas come without Markdown.
    pub(super) no_markdown: bool,
    /// The Markdown of deltas has at least so many bytes.
    pub(super) huge_markdown: Option<usize>,
    /// The model says nothing for a while.
    pub(super) silence: Option<Duration>,
    /// There is a notification of a later version.
    pub(super) unknown_type: bool,
}

impl Traps {
    /// What the faults of a socket, and those of one request, ask for.
    pub(super) fn of<'a>(faults: impl Iterator<Item = &'a Fault>) -> Self {
        let mut traps = Self::default();
        for fault in faults {
            match fault {
                Fault::Trap(Trap::Rpc(trap)) => traps.set(*trap),
                Fault::Trap(Trap::Silence(pause)) => traps.silence = Some(*pause),
                Fault::Trap(Trap::UnknownType) => traps.unknown_type = true,
                // Those are of another protocol, or of the socket.
                _ => {}
            }
        }
        traps
    }

    fn set(&mut self, trap: RpcTrap) {
        match trap {
            RpcTrap::DropDeltas(every) => self.drop_deltas = Some(every),
            RpcTrap::LateDelta => self.late_delta = true,
            RpcTrap::EarlyEvents => self.early_events = true,
            RpcTrap::DoubleReasoning => self.double_reasoning = true,
            RpcTrap::NoMarkdown => self.no_markdown = true,
            RpcTrap::HugeMarkdown(bytes) => self.huge_markdown = Some(bytes),
            // It is the response that knows it.
            RpcTrap::LostResponse => {}
        }
    }
}
