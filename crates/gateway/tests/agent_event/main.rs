//! The `AgentEvent` surfaces of the gateway, over real HTTP on the loopback interface.

#[path = "../support/answer.rs"]
mod answer;
mod client;
#[path = "../support/listen.rs"]
mod listen;

mod awaken;
mod decisions;
mod events;
mod lists;
mod runs;
mod shapes;
mod stops;
mod threads;
mod transport;
mod traps;
