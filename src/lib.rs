//! Stream the turns of AI agents into web pages.
//!
//! In the browser, begin with `Client`: it creates sessions, whose turns are streams of typed
//! [`event`]s and have a [`snapshot`] at any moment. A lost connection is recovered; each event comes once. The npm
//! package `turnwire` is made of the same core, for pages in JavaScript.
//!
//! | feature | what it brings |
//! |---|---|
//! | `truefoundry` | the agent gateway of `TrueFoundry`, and `TrueForge` |
//! | `agent-event` | tirea and awaken |
//! | `aap` | the Agent Application Protocol |
//! | `turn-rpc` | the JSON-RPC turn gateway, and Codex app-server |
//! | `js-classes` | classes for JavaScript beside a front end in Rust |
//! | `module` | the npm package's own exports |
//!
//! The first four are on by default; other features are parts of these.
//!
//! The modules in the order of the data flow:
//!
//! 1. [`sse`]: bytes → frames; `rpc` if they come over a socket,
//! 2. [`protocol`]: frames → events, calls → requests,
//! 3. [`event`]: the one vocabulary of all protocols,
//! 4. [`index`]: events → an index by id, and what changed in it,
//! 5. [`turn`]: the life of a turn: its rules, its cursor, its end,
//! 6. [`session`]: what the turns of a session share,
//! 7. [`snapshot`]: a turn at one moment, for front ends in Rust,
//! 8. `web`: the browser: fetch, timers, and the exports to JavaScript.
//!
//! All but the last know neither a clock nor a socket nor a JavaScript type. They run on any host; `web` exists only in
//! the WebAssembly build.

#![cfg_attr(
    not(feature = "default"),
    allow(dead_code, unused_imports, reason = "a build with some of the protocols leaves parts unused")
)]

mod bytes;
pub mod delivery;
mod error;
pub mod event;
mod features;
pub mod index;
mod iso;
pub mod json;
mod message;
mod names;
pub mod protocol;
pub mod rpc;
pub mod session;
pub mod snapshot;
pub mod sse;
mod text;
pub mod turn;
#[cfg(target_arch = "wasm32")]
pub mod web;

pub use error::{Error, ErrorCode, ErrorDetails, Result};
#[cfg(target_arch = "wasm32")]
pub use web::client::{Client, ConnectOptions, ConnectionEvent, Session, Turn, TurnOptions, TurnStream};
#[cfg(target_arch = "wasm32")]
pub use web::token::Token;
