//! A development gateway: it speaks the protocols that turnwire reads, with scripted agents
//! instead of models, and keeps everything in memory.
//!
//! In the order of a turn's way:
//! - `server`: the HTTP server and what all protocols share;
//! - `truefoundry`, `agent_event`, `aap`, `turn_rpc`: the routes of a protocol, and how its events look;
//! - `agents`: the scripts, in steps that belong to no protocol;
//! - `turns`: playing a script at a pace, until it ends or is stopped;
//! - `store`: sessions, turns, and the log that all readers of a turn share;
//! - `http`: how a log is cut into writes;
//! - `faults`: what goes wrong on purpose;
//! - `relay`: a way for pages to another server, in place of all this.

mod aap;
mod agent_event;
mod agents;
mod config;
mod faults;
mod http;
mod relay;
mod server;
mod store;
mod time;
mod truefoundry;
mod turn_rpc;
mod turns;

pub use config::{Chaos, Config, Delivery, Numbers};
pub use faults::catalog as fault_catalog;
pub use relay::{Origins, RelayConfig, SecretHeaders, Upstream, serve_relay};
pub use server::serve;
