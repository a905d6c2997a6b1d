//! A session: what its turns share, and which decisions depend on more than one turn.
//!
//! Like the modules below it, this one is sans-IO: it has no clock, no socket and no JavaScript type.

mod state;
#[cfg(test)]
mod tests;
mod turn;

pub use state::{NewestMark, PausedStream, Session};
pub use turn::{Goal, SessionTurn};
