//! The browser: the only module that knows JavaScript. It may know all others.
//!
//! [`client`] and [`socket`] are for front ends written in Rust. Everything else is the npm package's module (feature
//! `module`), a thin translation: options and parameters in, requests out; network chunks in, records and JSON out.
//! The sans-IO modules take the decisions. The package's TypeScript adds the public classes, iterators and listeners.

#[cfg(feature = "module")]
mod boundary;
#[cfg(feature = "socket")]
mod carrier;
#[cfg(feature = "js-classes")]
pub mod classes;
pub mod client;
#[cfg(all(feature = "module", feature = "socket"))]
mod client_socket;
#[cfg(feature = "module")]
pub mod exports;
mod fetch;
mod page;
#[cfg(feature = "conversation-module")]
pub mod plans;
mod random;
#[cfg(feature = "socket")]
pub mod socket;
#[cfg(all(feature = "module", feature = "socket"))]
pub mod sockets;
#[cfg(feature = "module")]
mod state;
mod steps;
pub mod token;
#[cfg(feature = "module")]
mod turn;

/// Half the bytes of the standard allocator, and constant time.
#[cfg(any(feature = "module", feature = "conversation-module"))]
#[global_allocator]
static ALLOCATOR: rlsf::SmallGlobalTlsf = rlsf::SmallGlobalTlsf::new();
