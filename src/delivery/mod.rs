//! Events and changes as records that JavaScript reads in one crossing. It knows events and the index, but no JavaScript.
//!
//! A crossing into JavaScript for every event or field would cost much more than decoding and merging. So the events of
//! a whole network chunk become fixed-size records of integers beside arenas of text. JavaScript decodes each arena
//! once and slices it.

mod arena;
mod change_batch;
mod event_batch;
mod event_reader;
#[cfg(test)]
mod tests;

pub use arena::{Span, TextArena};
pub use change_batch::{CHANGE_STRIDE, ChangeBatch};
pub use event_batch::{EVENT_STRIDE, EventBatch, kind};
pub use event_reader::EventReader;
