//! Stream the turns of AI agents into web pages.
//!
//! The modules in the order of the data's way:
//!
//! 1. [`sse`]: bytes → frames; `rpc` where they come over a socket,
//! 2. [`protocol`]: frames → events, calls → requests,
//! 3. [`event`]: the one vocabulary that all protocols are turned into,
//! 4. [`index`]: events → an id-keyed index, and what changed in it,
//! 5. [`turn`]: the life of a turn: what may be called when, where the cursor stands, how it ended,
//! 6. `web`: the browser: fetch, timers, and what JavaScript sees.
//!
//! The first five know neither a clock nor a socket nor a JavaScript type. They run on any host; `web`
//! exists only in the WebAssembly build.

#![cfg_attr(
    not(all(feature = "truefoundry", feature = "agent-event", feature = "aap", feature = "turn-rpc")),
    allow(dead_code, unused_imports, reason = "a build with some of the protocols leaves parts unused")
)]

mod bytes;
pub mod delivery;
mod error;
pub mod event;
pub mod index;
mod iso;
pub mod json;
mod names;
pub mod protocol;
#[cfg(feature = "socket")]
pub mod rpc;
pub mod sse;
mod text;
pub mod turn;
#[cfg(target_arch = "wasm32")]
pub mod web;

pub use error::{Error, ErrorCode, ErrorDetails, Result};
