//! The Agent Application Protocol of the gateway, over real HTTP on the loopback interface.

mod client;
mod conversation;

mod answers;
mod captures;
mod errors;
mod page;
mod scripts;
mod sessions;
mod transport;
mod traps;
