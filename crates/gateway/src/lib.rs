//! A development gateway: it speaks the protocols that turnwire reads, with scripted agents
//! instead of models, and keeps everything in memory.
//!
//! Each module knows only those below it:
//! - `server`: the routes of all protocols, CORS, and static files; `access`: the log of requests;
//! - `control`: the endpoints under `/_gateway`;
//! - `protocols`: the endpoints and the events of each family; `protocol`: what the server takes of it;
//! - `relayed`: requests to a relay, which pass under the same faults;
//! - `context`: what all handlers share; `config`: the settings;
//! - `http`: how the stream of a turn is written;
//! - `faults`: what goes wrong on purpose;
//! - `store`: sessions, turns, and the log that all readers of a turn share;
//! - `turns`: plays a script at its pace, until it ends or is stopped;
//! - `agents`: the scripts, in steps that belong to no protocol;
//! - `content`, `error`, `guarded`, `json`, `lock`, `time`: small things.

mod access;
mod agents;
mod config;
mod content;
mod context;
mod control;
mod error;
mod faults;
mod guarded;
mod http;
mod json;
mod lock;
mod protocol;
mod protocols;
mod relayed;
mod server;
mod store;
mod time;
mod turns;

pub use config::{Chaos, Config, Delivery, Numbers};
pub use server::{fault_catalog, serve};
