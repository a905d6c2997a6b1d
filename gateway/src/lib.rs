//! A development gateway: it speaks the protocols that turnwire reads, with scripted agents
//! instead of models, and keeps everything in memory.
//!
//! In the order of a turn's way:
//! - `server`: the HTTP server and what all protocols share;
//! - `truefoundry`: the routes of a protocol, and how its events look;
//! - `agents`: the scripts, in steps that belong to no protocol;
//! - `turns`: playing a script at a pace, until it ends or is stopped;
//! - `store`: sessions, turns, and the log that all readers of a turn share;
//! - `http`: how a log is cut into writes;
//! - `faults`: what goes wrong on purpose.

mod agents;
mod config;
mod faults;
mod http;
mod server;
mod store;
mod time;
mod truefoundry;
mod turns;

pub use config::{Chaos, Config, Delivery};
pub use faults::catalog as fault_catalog;
pub use server::serve;
