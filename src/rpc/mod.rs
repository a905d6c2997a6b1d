//! JSON-RPC 2.0 over a socket, sans-IO: what a call says, and what a response means.
//!
//! A socket carries the messages of all threads of a client. [`Connection`] decides what is sent on it and where each
//! message that comes goes; whoever owns the socket only carries. A stream gets the responses to its requests in their
//! place among the other messages, each with a first member of ours, `response_to`, which names the request's method.

mod connection;
mod lines;
mod messages;
mod response;
#[cfg(test)]
mod tests;
mod wire;

pub use connection::{Connection, Input, Limits, Output};
pub use lines::LineDecoder;
pub use messages::{Message, Messages};
pub(crate) use response::{read, refusal};
pub(crate) use wire::thread_mark;
pub use wire::{ID_PREFIX_LENGTH, response_to};
