//! JSON-RPC 2.0 over a socket, sans-IO: the messages, and the client's one connection.
//!
//! A socket carries the messages of all threads of a client. [`Connection`] decides what is sent on it, and where each
//! message that arrives belongs. The owner of the socket does the I/O. The module knows no protocol: a [`Speaker`]
//! supplies the methods.

mod connection;
mod messages;
mod speaker;
#[cfg(test)]
mod tests;
mod wire;

pub use connection::{Connection, Input, Limits, Output, SUBPROTOCOL};
pub use messages::{Message, Messages};
pub use speaker::Speaker;
pub use wire::{ID_PREFIX_LENGTH, response_to};
pub(crate) use wire::{decimal, thread_mark};
