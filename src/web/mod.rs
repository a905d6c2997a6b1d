//! The browser: the only part that knows JavaScript.
//!
//! A thin translation: options and parameters in, requests out to `fetch`, network chunks in, records
//! and JSON out. Decisions are taken in the sans-IO parts. What is exported here is the raw core; the
//! npm package's TypeScript puts the public classes, iterators and listeners around it.

mod client;
mod failure;
pub mod fetch;
mod session;
mod turn;

pub use client::CoreClient;
pub use session::CoreSession;
pub use turn::CoreTurn;

/// Half the standard allocator's weight in the module, and constant time.
#[global_allocator]
static ALLOCATOR: rlsf::SmallGlobalTlsf = rlsf::SmallGlobalTlsf::new();
