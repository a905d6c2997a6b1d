//! The Agent Application Protocol of the gateway, over real HTTP on the loopback interface.

#[path = "../support/answer.rs"]
mod answer;
mod client;
mod conversation;
#[path = "../support/listen.rs"]
mod listen;

mod answers;
mod captures;
mod errors;
mod page;
mod scripts;
mod sessions;
mod transport;
mod traps;
