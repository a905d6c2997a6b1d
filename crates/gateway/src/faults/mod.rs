//! Faults on purpose: answers that never arrive, streams that break off, repeat or skip events.
//!
//! In the order of a request:
//! - `follow`: which connections have an active request;
//! - `layer`: the middleware that looks up the faults of a request, and applies those of its answer's head;
//! - `surface`, `request`: what a protocol knows of its requests;
//! - `plan`, `chaos`: faults that are planned for a session, and random ones;
//! - `grammar`, `fault`, `trap`: how faults are written, and what they are;
//! - `edit`, `frames`: faults of a stream's frames; `messages`: of a WebSocket's;
//! - `body`, `streams`: how the stream is written and ended, also by an order from outside.
//!
//! A protocol knows the faults. The faults know only a protocol's [`Surface`].

mod body;
mod chaos;
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
mod streams;
mod surface;
mod trap;

pub use chaos::Chaos;

pub(crate) use body::Piece;
pub(crate) use edit::Forge;
pub(crate) use fault::{Ending, Fault, Instead, traps as traps_of};
pub(crate) use follow::follow;
pub(crate) use frames::{frames, id, with_id};
pub(crate) use grammar::Faults;
pub(crate) use injection::{FaultState, Injection};
pub(crate) use layer::{Injected, PORTAL, PORTAL_PATH, inject};
pub(crate) use messages::{MessageEditor, OutFrame};
pub(crate) use plan::{JournalPlace, PlannedText, SentFrame};
pub(crate) use request::View;
pub(crate) use streams::OpenStream;
pub(crate) use surface::{On, Surface};
pub(crate) use trap::{TrapKind, Traps, traps};
