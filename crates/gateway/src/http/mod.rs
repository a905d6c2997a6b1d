//! How an event stream is written: its pace, the size of its writes, and where its numbers are.

mod delivery;
mod frame;
mod numbers;
mod stream;

pub use delivery::Delivery;
pub(crate) use frame::{frame, write_frame};
pub use numbers::Numbers;
pub(crate) use stream::{Output, Ping, event_stream, stream, write};
