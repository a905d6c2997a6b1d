//! The rules of a held socket: one connection to an agent that speaks JSON-RPC, which any number of readers share, and which
//! stays when they leave. Pure: messages go in, and what is to be sent to the agent comes out; clocks and sockets are
//! elsewhere.
//!
//! What the agent says goes into a journal and has a number there. A reader is a cursor on the journal. Requests of readers
//! get ids of the relay's, and their answers get the readers' ids again. A request of the agent is pending until one reader
//! answers it.

mod journal;
mod message;
mod socket;
mod terms;
#[cfg(test)]
mod tests;
mod words;

pub use journal::Journal;
pub use message::{Kind, Message, text_of};
pub use socket::HeldSocket;
pub use terms::{Attached, Bounds, EndReason, Numbered, Place, ReaderKey, Refused, Step};
pub use words::Words;
