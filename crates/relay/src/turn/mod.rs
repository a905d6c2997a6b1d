//! The rules of a kept turn: of the one who reads it from the agent and writes it to the log, and of those who read it from
//! there. Pure: an event goes in, commands come out; clocks, sockets and the log are elsewhere.

mod end;
mod owner;
mod reader;

pub use end::{CutReason, End, UpstreamState};
pub use owner::{Command, Event, Owner, Refusal};
pub use reader::{Reader, Step};
