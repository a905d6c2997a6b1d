//! The relay stands between web pages and agents. It holds the key that no page may have, authenticates callers, passes
//! only what the agent's protocol needs, and keeps each turn, so that any number of readers can read it from any point.
//!
//! In the order of a request:
//! - [`config`]: a TOML file, references to its secrets, and the list of its mistakes;
//! - [`connection`]: connections that can be closed and reset from elsewhere; `certificate`, for HTTPS;
//! - `edge`: which host names and pages may call, and which headers pass;
//! - `identity`: who calls;
//! - `route`: which requests a protocol has, which session each concerns, and which frame ends a turn;
//! - [`turn`]: the rules of a turn's owner and of its readers, without a clock or a socket;
//! - [`held`]: the rules of a socket that readers share, and that stays open when they leave;
//! - [`log`]: the stores of turns' frames;
//! - [`serve`](serve()): the HTTP server that joins them;
//! - `client`, `tunnel`: connections to the agents; `descriptors`, how many there may be.
//!
//! [`development`] is the relay of `turnwire-gateway relay`: for one developer, without users and without a log. It is
//! all there is without the feature `product`.

#![cfg_attr(not(feature = "product"), allow(dead_code, unused_imports, rustdoc::broken_intra_doc_links))]

#[cfg(any(feature = "product", feature = "fuzzing"))]
pub mod config;
pub mod connection;
pub mod development;
#[cfg(feature = "product")]
pub mod held;
#[cfg(feature = "product")]
pub mod log;
#[cfg(feature = "product")]
pub mod turn;

#[cfg(feature = "fuzzing")]
pub mod fuzzing;

mod address;
#[cfg(any(feature = "product", feature = "fuzzing"))]
mod certificate;
mod client;
#[cfg(feature = "product")]
mod descriptors;
#[cfg(feature = "product")]
mod edge;
mod headers;
mod host;
#[cfg(any(feature = "product", feature = "fuzzing"))]
mod identity;
#[cfg(feature = "product")]
mod limits;
#[cfg(feature = "product")]
mod mutant;
#[cfg(feature = "product")]
mod observe;
mod passing;
#[cfg(any(feature = "product", feature = "fuzzing"))]
mod route;
#[cfg(any(feature = "product", feature = "fuzzing"))]
mod say;
#[cfg(feature = "product")]
mod serve;
#[cfg(any(feature = "product", feature = "fuzzing"))]
mod sse;
#[cfg(feature = "product")]
mod trace;
mod tunnel;

pub use address::Upstream;
#[cfg(any(feature = "product", feature = "fuzzing"))]
pub use config::Config;
#[cfg(feature = "product")]
pub use serve::{Addresses, Failure, Stage, check, purge, serve};
