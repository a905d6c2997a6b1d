//! The rules of a kept turn: those of its owner, which reads it from the agent and writes it to the log, of its
//! readers, and of the relays that watch its owner. Pure: events go in, commands come out. No clock, no socket, no log.

mod end;
mod numbers;
mod owner;
mod reader;
#[cfg(test)]
mod replica;
mod suspicion;

pub use end::{CutReason, End, UpstreamState};
pub use numbers::{Numbers, Place};
pub use owner::{Command, Event, Owner, Refusal};
pub use reader::{Reader, Step};
pub use suspicion::Suspicion;
