//! The browser: the only part that knows JavaScript.
//!
//! [`fetch`] is for front ends written in Rust. Everything else is the npm package's module (feature
//! `module`), a thin translation: options and parameters in, requests out, network chunks in, records and
//! JSON out. Decisions are taken in the sans-IO parts; the package's TypeScript puts the public classes,
//! iterators and listeners around the raw core.

#[cfg(feature = "module")]
mod client;
#[cfg(feature = "module")]
mod failure;
pub mod fetch;
#[cfg(feature = "module")]
mod session;
#[cfg(feature = "module")]
mod turn;

#[cfg(feature = "module")]
pub use self::{client::CoreClient, session::CoreSession, turn::CoreTurn};

/// Half the standard allocator's weight in the module, and constant time.
#[cfg(feature = "module")]
#[global_allocator]
static ALLOCATOR: rlsf::SmallGlobalTlsf = rlsf::SmallGlobalTlsf::new();
