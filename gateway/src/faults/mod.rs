//! Faults on purpose: answers that fail to come, streams that break off, repeat or skip events.
//!
//! In the order of a request's way:
//! - `socket`, `follow`: connections that can be broken off, and what is under way on them;
//! - `layer`: the middleware that finds out what a request is to meet, and spoils its head;
//! - `request`, `plan`, `chaos`: what a request is about, what is planned for it, what chance adds;
//! - `grammar`, `fault`: how faults are written, and what they are;
//! - `edit`, `frames`: what they make of a stream's frames; `messages`: and of a WebSocket's;
//! - `body`, `streams`: how the stream is written and ended, also by an order from outside;
//! - `control`: the endpoints under `/_gateway`.

mod body;
mod chaos;
mod control;
mod edit;
mod fault;
mod follow;
mod frames;
mod grammar;
mod injection;
mod layer;
mod messages;
mod plan;
mod request;
mod socket;
mod streams;
mod trap;

pub use chaos::Chaos;
pub use grammar::catalog;

pub(crate) use body::Piece;
pub(crate) use control::routes;
pub(crate) use edit::Forge;
pub(crate) use fault::{Ending, Fault, Instead};
pub(crate) use follow::follow;
pub(crate) use frames::{frames, id, with_id};
pub(crate) use grammar::Faults;
pub(crate) use injection::{FaultState, Injection};
pub(crate) use layer::{Injected, inject};
pub(crate) use messages::{MessageEditor, OutFrame};
pub(crate) use plan::{JournalPlace, SentFrame};
pub(crate) use request::{On, View};
pub(crate) use socket::{Connection, Sockets, UnderWay};
pub(crate) use streams::OpenStream;
pub(crate) use trap::{AapTrap, RpcTrap, Trap};
