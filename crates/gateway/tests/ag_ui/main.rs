//! AG-UI of the gateway, over real HTTP on the loopback interface. That the official client takes its streams, and
//! the official schema its events, is tested by `cargo xtask interop ag-ui`.

#[path = "../support/answer.rs"]
mod answer;
mod client;
#[path = "../support/listen.rs"]
mod listen;

mod answers;
mod errors;
mod faults;
mod servers;
mod traps;
