//! turn-rpc of the gateway, over real WebSockets on the loopback interface.

mod check;
mod client;
#[path = "../support/listen.rs"]
mod listen;

mod dialogs;
mod errors;
mod faults;
mod methods;
mod order;
mod scripts;
mod sockets;
mod subscriptions;
mod upgrade;
