//! The browser: the only part that knows JavaScript.
//!
//! [`fetch`] and [`socket`] are for front ends written in Rust. Everything else is the npm package's module (feature
//! `module`), a thin translation: options and parameters in, requests out, network chunks in, records and
//! JSON out. Decisions are taken in the sans-IO parts; the package's TypeScript puts the public classes,
//! iterators and listeners around what is exported here.

#[cfg(feature = "socket")]
mod carrier;
#[cfg(feature = "module")]
pub mod exports;
pub mod fetch;
mod page;
#[cfg(feature = "module")]
mod protocols;
#[cfg(feature = "module")]
mod session;
#[cfg(feature = "socket")]
pub mod socket;
#[cfg(all(feature = "module", feature = "socket"))]
pub mod sockets;
#[cfg(feature = "module")]
mod state;
mod steps;
#[cfg(feature = "module")]
mod turn;

/// Half the standard allocator's weight in the module, and constant time.
#[cfg(feature = "module")]
#[global_allocator]
static ALLOCATOR: rlsf::SmallGlobalTlsf = rlsf::SmallGlobalTlsf::new();
