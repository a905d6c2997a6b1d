//! What all protocols share on the HTTP side: how a stream is cut into writes, and access lines.

pub(crate) mod access;
mod delivery;
mod guarded;
mod numbers;
mod stream;

pub use delivery::Delivery;
pub(crate) use guarded::Guarded;
pub use numbers::Numbers;
pub(crate) use stream::{Output, Ping, event_stream, stream};
