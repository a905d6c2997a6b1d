//! The rules of a held socket: one connection to an agent that speaks JSON-RPC, which any number of readers share, and
//! which stays open when they leave. Pure: messages go in, and messages for the agent come out. No clock, no socket.
//!
//! Each message of the agent is numbered and added to a journal. A reader is a cursor on the journal. Readers' requests
//! are sent to the agent under the relay's ids, and the responses get the readers' ids back. A request of the agent
//! stays pending until one reader answers it.

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
