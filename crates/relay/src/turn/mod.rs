//! The rules of a kept turn: of the one who reads it from the agent and writes it to the log, of those who read it from
//! there, and of those who watch over it. Pure: an event goes in, commands come out; clocks, sockets and the log are elsewhere.

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
