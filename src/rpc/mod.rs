//! JSON-RPC 2.0 over a socket, sans-IO: what a call says, and what a response means.
//!
//! A socket carries the messages of all threads of a connection. Whoever does the I/O gives every request an id of
//! its own, and hands each message that belongs to a stream to it as one line. Responses in a stream begin with a
//! member of ours, `response_to`, which names the method of their request.

mod lines;
mod messages;
mod response;
#[cfg(test)]
mod tests;
mod wire;

pub use lines::LineDecoder;
pub use messages::{Message, Messages};
pub use response::is_undone;
pub(crate) use response::{read, refusal};
pub use wire::{ID_LENGTH, closed_thread, is_for_all, is_refusal, response_ids, stream_line, thread_mark};
