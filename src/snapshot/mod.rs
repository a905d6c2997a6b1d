//! A turn at one moment, for front ends in Rust. The npm package has the same in TypeScript.
//!
//! A [`TurnSnapshot`] shares what did not change with the snapshot before it, so to take one costs what has changed
//! since. Names of fields are those of the package's snapshots. It knows the index and the turn, and no browser.

mod lenient;
mod message;
mod mirror;
#[cfg(test)]
mod tests;
mod turn;

pub use message::{CallStatus, MessageSnapshot, ToolCallResponse, ToolCallSnapshot, ToolOutputs};
pub use mirror::Mirror;
pub use turn::{
    Activity, EarlierResponse, Parts, Reconnecting, RequiredAction, ThreadSnapshot, ThreadStatus,
    TurnSnapshot, Waiting, WaitingCall,
};
