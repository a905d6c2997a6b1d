//! The npm package's module, a thin translation: options and parameters in, requests out; network chunks in, records and
//! JSON out. Only numbers cross the boundary, texts lie in the module's memory. The package's TypeScript adds the public
//! classes, iterators and listeners.

mod boundary;
mod client_socket;
#[cfg(feature = "client-conversations")]
pub mod conversations;
pub mod exports;
#[cfg(feature = "socket")]
pub mod sockets;
mod state;
mod turn;

/// Half the bytes of the standard allocator, and constant time.
#[global_allocator]
static ALLOCATOR: rlsf::SmallGlobalTlsf = rlsf::SmallGlobalTlsf::new();
