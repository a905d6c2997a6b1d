//! What the real server does to a turn, on request: the traps of one turn.

use std::time::Duration;

use super::message::{Block, Content};
use super::wire::StopReason;
use crate::faults::{AapTrap, Injection, Trap};

/// The version that is told under the trap `other-version`; the true one is before it.
const VERSION: u64 = 3;

/// The traps of one turn.
#[derive(Debug, Clone, Default)]
#[allow(clippy::struct_excessive_bools)] // each is a trap of its own
pub(super) struct Traps {
    /// The events written last get lost.
    pub(super) lost_end: bool,
    /// The model fails after so many deltas, and so does the server.
    pub(super) throw: Option<u64>,
    /// Nothing happens at all.
    pub(super) nothing: bool,
    /// A granted call has a result, but nobody is told.
    pub(super) silent_grant: bool,
    /// Results of trusted tools are stored twice.
    pub(super) twice_stored: bool,
    /// Text comes before the thinking that led to it.
    pub(super) text_first: bool,
    /// The turn ends with its reader.
    pub(super) abandon: bool,
    /// A denial is worded as the released server does.
    pub(super) use_denied: bool,
    /// Messages of text alone have a string for content.
    pub(super) plain_content: bool,
    /// Results have blocks for content.
    pub(super) block_results: bool,
    /// The model says nothing for a while.
    pub(super) silence: Option<Duration>,
    pub(super) unknown_type: bool,
    pub(super) unknown_reason: bool,
}

impl Traps {
    /// What a request asks for.
    pub(super) fn of(injection: &Injection) -> Self {
        let mut traps = Self::default();
        for trap in injection.traps() {
            match trap {
                Trap::Aap(trap) => traps.set(trap),
                Trap::Silence(pause) => traps.silence = Some(pause),
                Trap::UnknownType => traps.unknown_type = true,
                Trap::UnknownTermination => traps.unknown_reason = true,
                // Those are of another protocol.
                _ => {}
            }
        }
        traps
    }

    fn set(&mut self, trap: AapTrap) {
        match trap {
            AapTrap::LostEnd => self.lost_end = true,
            AapTrap::Throw(after) => self.throw = Some(after),
            AapTrap::Nothing => self.nothing = true,
            AapTrap::SilentGrant => self.silent_grant = true,
            AapTrap::TwiceStored => self.twice_stored = true,
            AapTrap::TextFirst => self.text_first = true,
            AapTrap::Abandon => self.abandon = true,
            AapTrap::UseDenied => self.use_denied = true,
            AapTrap::PlainContent => self.plain_content = true,
            AapTrap::BlockResults => self.block_results = true,
            // It concerns no turn.
            AapTrap::OtherVersion => {}
        }
    }

    /// What is stored in place of the result of a call that was denied.
    pub(super) fn denial(&self, reason: Option<&str>) -> String {
        let what = if self.use_denied { "Tool use denied" } else { "Tool call denied" };
        reason.map_or_else(|| what.to_owned(), |reason| format!("{what}: {reason}"))
    }

    /// A server tool's result.
    pub(super) fn result(&self, text: String) -> Content {
        if self.block_results { Content::Blocks(vec![Block::Text { text }]) } else { Content::Text(text) }
    }

    /// An assistant's message.
    pub(super) fn content(&self, mut blocks: Vec<Block>) -> Content {
        match blocks.pop() {
            Some(Block::Text { text }) if self.plain_content && blocks.is_empty() => Content::Text(text),
            last => {
                blocks.extend(last);
                Content::Blocks(blocks)
            }
        }
    }

    pub(super) fn reason(&self, reason: StopReason) -> StopReason {
        if self.unknown_reason { StopReason::Unknown } else { reason }
    }
}

/// The protocol's version, or another one.
pub(super) fn version(injection: &Injection) -> u64 {
    let other = injection.traps().any(|trap| trap == Trap::Aap(AapTrap::OtherVersion));
    if other { VERSION + 1 } else { VERSION }
}
