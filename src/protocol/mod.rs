//! Frames → events, calls → requests: what each wire protocol says, one folder each.
//!
//! A protocol's own words stay inside its folder. Everything else of turnwire speaks [`EventRef`]s,
//! [`Call`]s and [`Request`]s.

mod answer;
mod call;
pub mod truefoundry;

pub use answer::Answer;
pub use call::{Call, Method, Request};

use crate::error::Result;
use crate::event::{EventRef, TextDelta};
use crate::json::{Object, Value};
use crate::sse::Frame;

/// A wire protocol: how calls become requests, and answers and frames become turnwire's own words.
pub trait Protocol {
    /// What the protocol can do beyond streaming a turn.
    fn capabilities(&self) -> Capabilities;

    /// The HTTP request for `call`. `params` holds ids, query parameters and body fields under their
    /// `camelCase` or wire names; a name that the call does not take is an error.
    fn request(&self, call: Call, params: Object<'_>) -> Result<Request>;

    /// Brings the JSON of a successful answer into the form that the types of [`crate::event`]
    /// describe, events in it like those of a stream. A list becomes `{ "items": […], "next": token | null }`.
    fn answer<'a>(&self, call: Call, body: Value<'a>) -> Result<Value<'a>>;

    /// A message from the body of a failing answer, where it holds one.
    fn error_message(&self, body: &str) -> Option<String>;

    /// A reader of one stream's frames.
    fn decoder(&self) -> Box<dyn EventDecoder>;
}

/// What a protocol can do beyond streaming a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// A dropped stream can be resumed after a sequence number.
    pub resume: bool,
    /// A running turn can be cancelled.
    pub cancel: bool,
    /// Finished turns can be listed with their events.
    pub history: bool,
}

/// Reads the frames of one stream, in order.
pub trait EventDecoder {
    /// Decodes a frame into at most one event. Whatever cannot be read arrives as
    /// [`EventKind::Unknown`](crate::event::EventKind::Unknown).
    fn decode(&mut self, frame: &Frame<'_>, sink: &mut dyn EventSink);
}

/// Takes decoded events.
pub trait EventSink {
    /// The common case: one piece of text. `sequence_number` is 0 when the server gave none.
    fn delta(&mut self, sequence_number: u64, delta: TextDelta<'_>);
    /// Any other event.
    fn event(&mut self, sequence_number: u64, event: EventRef<'_>);
}
