//! Bytes → frames: an incremental decoder of the event-stream format (WHATWG HTML, section 9.2, "Server-sent events").
//!
//! Sans-IO, and without knowledge of events or protocols: the caller passes chunks of bytes, split anywhere. A closure borrows each frame as soon as the blank line
//! that ends it has arrived.

mod decoder;
mod frame;
mod line;
#[cfg(test)]
pub(crate) mod tests;
mod whole;

pub use decoder::{DEFAULT_LIMIT, FrameDecoder};
pub use frame::{Frame, FrameError, FrameSink, Run};
pub(crate) use line::line_len;
pub use whole::WholeFrame;
