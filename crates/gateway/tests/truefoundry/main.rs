//! The TrueFoundry protocol of the gateway, over real HTTP on the loopback interface.

#[path = "../support/answer.rs"]
mod answer;
mod client;
#[path = "../support/listen.rs"]
mod listen;

mod cuts;
mod errors;
mod faults;
mod framing;
mod input;
mod lists;
mod process;
mod resume;
mod scripts;
mod sessions;
mod trueforge;
mod turns;
mod web;
