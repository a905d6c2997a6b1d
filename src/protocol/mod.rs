//! Frames → events, calls → requests: what each wire protocol says, one folder each.
//!
//! A protocol's own words stay inside its folder. Everything else of turnwire speaks [`EventRef`]s,
//! [`Call`]s and [`Request`]s.

#[cfg(feature = "aap")]
pub mod aap;
#[cfg(feature = "agent-event")]
pub mod agent_event;
mod answer;
#[cfg(any(feature = "agent-event", feature = "aap", feature = "turn-rpc"))]
mod body;
mod call;
mod capabilities;
#[cfg(test)]
pub(crate) mod damage;
#[cfg(any(feature = "agent-event", feature = "aap", feature = "turn-rpc"))]
mod fields;
mod options;
#[cfg(any(feature = "truefoundry", feature = "agent-event", feature = "aap"))]
mod route;
#[cfg(feature = "truefoundry")]
mod template;
#[cfg(feature = "truefoundry")]
pub mod truefoundry;
#[cfg(feature = "turn-rpc")]
pub mod turn_rpc;

pub use answer::Answer;
pub use call::{Call, Method, Request};
#[cfg(feature = "turn-rpc")]
pub(crate) use capabilities::HAS_HTTP;
pub use capabilities::{Capabilities, Resume};
pub(crate) use capabilities::{HAS_LOOKS, HAS_OTHERS, HAS_UNCURSORED};

use crate::error::Result;
use crate::event::{EventRef, TextDelta};
use crate::json::{Object, Value};
use crate::sse::{Frame, Run};

/// A wire protocol: how calls become requests, and answers and frames become turnwire's own words.
pub trait Protocol {
    /// What the protocol can do beyond streaming a turn.
    fn capabilities(&self) -> Capabilities;

    /// The HTTP request for `call`. `params` holds ids, query parameters and body fields under their
    /// `camelCase` or wire names; a name that the call does not take is an error.
    fn request(&self, call: Call, params: Object<'_>) -> Result<Request>;

    /// What `call` says over a socket: of protocols whose capabilities have `socket`, in place of
    /// [`request`](Self::request).
    #[cfg(feature = "turn-rpc")]
    fn messages(&self, call: Call, params: Object<'_>) -> Result<crate::rpc::Messages> {
        let _ = (call, params);
        Err(options::unsupported())
    }

    /// A message that came over a socket, without what is not to be read.
    #[cfg(feature = "turn-rpc")]
    fn readable<'m>(&self, message: &'m str) -> std::borrow::Cow<'m, str> {
        message.into()
    }

    /// The HTTP status that an error of this code amounts to, where it is more than a refusal: 404 if there is no
    /// such thing.
    #[cfg(feature = "turn-rpc")]
    fn status_of(&self, call: Call, code: i64) -> Option<u16> {
        let _ = (call, code);
        None
    }

    /// The answer to a call that needs no server, as [`answer`](Self::answer) would give it: a session that
    /// comes into being with its first turn, for example. Nothing for every other call.
    fn local<'a>(&self, call: Call, params: &Object<'a>) -> Option<Value<'a>> {
        let _ = (call, params);
        None
    }

    /// Brings the JSON of a successful answer into the form that the types of [`crate::event`]
    /// describe, events in it like those of a stream. `params` are those of the request. A list becomes `{ "items": […], "next": token | null }`.
    fn answer<'a>(&self, call: Call, params: &Object<'_>, body: Value<'a>) -> Result<Value<'a>>;

    /// A message from the body of a failing answer, where it holds one.
    fn error_message(&self, body: &str) -> Option<String>;

    /// A reader of one stream's frames.
    fn decoder(&self) -> Box<dyn EventDecoder>;
}

/// Reads the frames of one stream, in order.
pub trait EventDecoder {
    /// The turn is about to be started with these parameters: what a stream does not say of itself.
    fn begin(&mut self, params: &Object<'_>) {
        let _ = params;
    }

    /// A stream is asked for, with these parameters, that goes on with the turn: what comes next is that stream.
    #[cfg(feature = "turn-rpc")]
    fn resume(&mut self, params: &Object<'_>) {
        let _ = params;
    }

    /// Whether there are [follow-up requests](Self::follow_up_requests).
    #[cfg(feature = "turn-rpc")]
    fn has_follow_up_requests(&self) -> bool {
        false
    }

    /// Takes the requests by which more of the turn is learnt, to be sent on the stream's socket. The responses become
    /// part of the stream.
    #[cfg(feature = "turn-rpc")]
    fn follow_up_requests(&mut self) -> Option<crate::rpc::Messages> {
        None
    }

    /// These calls, by their threads and ids, were answered by the client while the turn runs.
    #[cfg(feature = "turn-rpc")]
    fn answered(&mut self, calls: &[(String, String)]) {
        let _ = calls;
    }

    /// Whether a message is about the turn, also one that could be about another.
    #[cfg(feature = "turn-rpc")]
    fn concerns(&self, data: &str) -> bool {
        let _ = data;
        true
    }

    /// Why nothing more is to be taken of this connection, if that is so: the turn is to be asked for anew, or given
    /// up.
    #[cfg(feature = "turn-rpc")]
    fn failure(&mut self) -> Option<crate::Error> {
        None
    }

    /// Decodes a frame into events, if it says any. Whatever cannot be read arrives as
    /// [`EventKind::Unknown`](crate::event::EventKind::Unknown).
    fn decode(&mut self, frame: &Frame<'_>, sink: &mut dyn EventSink);

    /// Decodes as many whole frames off the front of `bytes` as it can by comparing them with earlier ones. What it
    /// leaves comes by [`decode`](Self::decode); both must come to the same.
    fn run(&mut self, bytes: &[u8], sink: &mut dyn EventSink) -> Run {
        let _ = (bytes, sink);
        Run::default()
    }

    /// Takes an answer that is JSON as a whole, and not a stream, as the events that it amounts to.
    fn body(&mut self, body: Value<'_>, sink: &mut dyn EventSink) {
        // Where no protocol answers so, the compiler leaves it out.
        if cfg!(feature = "aap") {
            let mut event = Object::new();
            event.set("type", "unknown".into());
            event.set("wire_type", Value::Null);
            event.set("raw", body);
            event.set("problem", "the answer is not a stream".into());
            sink.event(0, EventRef::of(&event));
        }
    }

    /// The stream has ended. Gives the events that only its end tells.
    fn end(&mut self, sink: &mut dyn EventSink) {
        let _ = sink;
    }

    /// What follows begins the turn anew: events are numbered from 1 on again.
    fn restart(&mut self) {}
}

/// Takes decoded events.
pub trait EventSink {
    /// The common case: one piece of text. `sequence_number` is the server's, or the decoder's own count where
    /// a server numbers nothing; 0 for an event that has none.
    fn delta(&mut self, sequence_number: u64, delta: TextDelta<'_>);
    /// Any other event.
    fn event(&mut self, sequence_number: u64, event: EventRef<'_>);
    /// The next event has two numbers that differ: the `id` of its frame, which counts, and the
    /// `sequence_number` in its JSON.
    fn mismatch(&mut self, id: u64, sequence_number: u64) {
        let _ = (id, sequence_number);
    }
}
