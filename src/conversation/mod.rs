//! A conversation: what is sent, queued, held, steered, stopped, retried, answered and adopted, and the tree of its turns.
//!
//! [`Plan::take`] takes a [`Fact`] and returns the [`Effect`]s that follow; a carrier, which has the clock and the
//! connection, carries them out and tells what came of them as facts. The rules:
//!
//! - Each text of a person is in exactly one place: in the queue, in a row, or given back.
//! - Nothing is sent twice unless a person asks for it. What may have arrived is `Unknown` until the server's list tells.
//! - A key never changes: not when the server names the turn, not at its end.
//! - `Stop` cancels on the server, holds the queue, and gives back what was not sent.
//! - An answer is kept. It goes out at once where the protocol can, else with the last one that is missing.
//! - What cannot be done is a [`Refusal`], and changes nothing.
//!
//! Inputs and answers are opaque texts.

mod answers;
mod call;
mod effect;
mod fact;
mod history;
mod keys;
mod lines;
mod options;
mod person;
mod plan;
mod queue;
mod saved;
#[cfg(test)]
mod tests;
mod tree;
mod turn;
mod turns;
mod view;

pub use effect::{After, Effect, StartInput};
pub use fact::{Activity, Delivery, End, Fact, Listed, ListedState, Page, Text, Waiting, Who};
pub use keys::Key;
pub use lines::{read_fact, when_busy, write_effects, write_view};
pub use options::{Options, Refusal, WhenBusy};
pub use plan::{Plan, Taken};
pub use queue::{How, Queued, QueuedState};
pub use view::{Asked, Branch, Phase, Sent, Shown, ShownState, Status};
