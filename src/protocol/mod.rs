//! Frames → events, calls → requests: one folder for each wire protocol.
//!
//! A protocol knows frames, messages and events, but no index and no turn. The knowledge of a protocol stays inside its
//! folder: the rest of turnwire uses [`EventRef`]s, [`Call`]s and [`Request`]s.

#[cfg(feature = "aap")]
pub mod aap;
#[cfg(feature = "ag-ui")]
pub mod ag_ui;
#[cfg(feature = "agent-event")]
pub mod agent_event;
mod answer;
mod body;
mod call;
mod calls;
mod capabilities;
mod fields;
mod options;
mod registry;
pub mod relay;
pub(crate) mod response;
mod route;
mod speaker;
mod template;
#[cfg(test)]
pub(crate) mod tests;
#[cfg(feature = "truefoundry")]
pub mod truefoundry;
#[cfg(feature = "turn-rpc")]
pub mod turn_rpc;

pub use answer::Answer;
pub use call::{Call, Method, Request};
pub use capabilities::{Capabilities, Capability, Resume};

use crate::error::{Error, Result};
use crate::event::{EventRef, TextDelta};
use crate::features::WholeAnswers;
use crate::json::{Object, Value};
use crate::sse::{Frame, Run};

registry::families! {
    "truefoundry" TrueFoundry(truefoundry::TrueFoundry) {
        TrueFoundry "truefoundry" truefoundry::TrueFoundry::new(truefoundry::Dialect::Gateway);
        TrueForge "trueforge" truefoundry::TrueFoundry::new(truefoundry::Dialect::TrueForge);
    }
    "agent-event" AgentEvent(relay::Relayable<agent_event::AgentEvent>) {
        Tirea "tirea" relay::Relayable::direct(agent_event::AgentEvent::new(agent_event::Dialect::Tirea));
        Awaken "awaken" relay::Relayable::direct(agent_event::AgentEvent::new(agent_event::Dialect::Awaken));
    }
    "aap" Aap(relay::Relayable<aap::Aap>) {
        Aap "aap" relay::Relayable::direct(aap::Aap::new());
    }
    "turn-rpc" TurnRpc(turn_rpc::TurnRpc) {
        TurnRpc "turn-rpc" turn_rpc::TurnRpc::new(turn_rpc::Dialect::Gateway);
        Codex "codex" turn_rpc::TurnRpc::new(turn_rpc::Dialect::Codex);
    }
    "ag-ui" AgUi(ag_ui::AgUi) {
        AgUi "ag-ui" ag_ui::AgUi::new();
    }
}

/// A wire protocol: turns calls into requests, and responses and frames into turnwire's form.
pub trait Protocol {
    /// What the protocol supports beyond streaming a turn.
    fn capabilities(&self) -> Capabilities;

    /// The same protocol with a relay before the server. `unsupported` if none can stand there.
    fn behind_relay(self) -> Result<Self>
    where
        Self: Sized,
    {
        Err(options::unsupported())
    }

    /// The same protocol in a session with these terms (JSON), which say what its agent supports.
    #[must_use]
    fn with_terms(self, terms: &str) -> Self
    where
        Self: Sized,
    {
        let _ = terms;
        self
    }

    /// The HTTP request for `call`. `params` holds ids, query parameters and body fields under their
    /// `camelCase` or wire names; a name that the call does not take is an error.
    fn request(&self, call: Call, params: Object<'_>) -> Result<Request>;

    /// The messages of `call` over a socket, for protocols whose capabilities have `socket`, in place of
    /// [`request`](Self::request).
    fn messages(&self, call: Call, params: Object<'_>) -> Result<crate::rpc::Messages> {
        let _ = (call, params);
        Err(options::unsupported())
    }

    /// A message received over a socket, or the body of an error, without the parts that must not be read.
    fn readable<'m>(&self, message: &'m str) -> std::borrow::Cow<'m, str> {
        message.into()
    }

    /// The HTTP status for an error of this code, if it is more than a refusal: 404 if something does not exist.
    fn status_of(&self, call: Call, code: i64) -> Option<u16> {
        let _ = (call, code);
        None
    }

    /// Whether messages with this method are for the readers of all threads of a socket.
    fn is_for_all(&self, method: &str) -> bool {
        let _ = method;
        false
    }

    /// The thread that the server has unloaded, if this message says so.
    fn unloaded(&self, method: &str, message: &str) -> Option<String> {
        let _ = (method, message);
        None
    }

    /// The response to a call that needs no server, as [`answer`](Self::answer) would return it: for example, a session
    /// that begins with its first turn. `None` for every other call.
    fn local<'a>(&self, call: Call, params: &Object<'a>) -> Option<Value<'a>> {
        let _ = (call, params);
        None
    }

    /// Converts the JSON of a successful response into the types of [`crate::event`]; events in it are like those of a
    /// stream. `params` are those of the request. A list becomes `{ "items": […], "next": token | null }`.
    fn answer<'a>(&self, call: Call, params: &Object<'_>, body: Value<'a>) -> Result<Value<'a>>;

    /// The message in the body of an error response, if it has one.
    fn error_message(&self, body: &str) -> Option<String>;

    /// A reader of one stream's frames.
    fn decoder(&self) -> Box<dyn EventDecoder>;
}

/// Reads the frames of one stream, in order.
pub trait EventDecoder {
    /// The turn is about to start with these parameters, which the stream does not repeat.
    fn begin(&mut self, params: &Object<'_>) {
        let _ = params;
    }

    /// A stream that continues the turn was requested with these parameters, and comes next.
    fn resume(&mut self, params: &Object<'_>) {
        let _ = params;
    }

    /// Whether there are [follow-up requests](Self::follow_up_requests).
    fn has_follow_up_requests(&self) -> bool {
        false
    }

    /// Takes the requests by which more of the turn is learnt, to be sent on the stream's socket. The responses become
    /// part of the stream.
    fn follow_up_requests(&mut self) -> Option<crate::rpc::Messages> {
        None
    }

    /// The client has answered these calls, by their threads and ids, while the turn runs.
    fn answered(&mut self, calls: &[(String, String)]) {
        let _ = calls;
    }

    /// Whether a message belongs to the turn, or may belong to it.
    fn concerns(&self, data: &str) -> bool {
        let _ = data;
        true
    }

    /// The message that was decoded last as a template, if it is a piece of text of this turn: the template's number, and
    /// then the message's parts outside of its holes, with a NUL character before each. After that, for all but the first
    /// part, stands the letter of the hole before it: `t` for the piece of text, the inside of a string; `n` for the digits
    /// of a number; `r` for everything up to the last part.
    fn template(&self, data: &str) -> Option<String> {
        let _ = data;
        None
    }

    /// Decodes messages that equal the template of this number outside its holes. `texts` has the inside of the string
    /// that is the piece of text of each, and the quote after it. Returns how many were decoded: the whole next one goes to
    /// [`decode`](Self::decode). Both must have the same result.
    fn decode_like(&mut self, template: u32, texts: &str, sink: &mut dyn EventSink) -> u32 {
        let _ = (template, texts, sink);
        0
    }

    /// The session's conversation (JSON) after the frames so far, if the client keeps it; before the first frame as it is if
    /// the start was carried out and got no answer. Its `required_actions` are the
    /// events that ask for something. The next start has it as `conversation`, a text, among its terms.
    fn conversation(&self) -> Option<String> {
        None
    }

    /// The client has cancelled the turn, and left its stream.
    fn cancelled(&mut self) {}

    /// How long the stream is still read once the server has said how the turn ends, in milliseconds from then on: more
    /// may follow. 0 if the server has not said it.
    fn grace(&self) -> u32 {
        0
    }

    /// Why this connection must no longer be read, if so: then the turn is requested again, or given up.
    fn failure(&mut self) -> Option<crate::Error> {
        None
    }

    /// Decodes a frame into events. An unreadable frame becomes an
    /// [`EventKind::Unknown`](crate::event::EventKind::Unknown).
    fn decode(&mut self, frame: &Frame<'_>, sink: &mut dyn EventSink);

    /// Decodes as many whole frames at the start of `bytes` as it can by comparing them with earlier ones. The rest
    /// goes to [`decode`](Self::decode); both must have the same result.
    fn run(&mut self, bytes: &[u8], sink: &mut dyn EventSink) -> Run {
        let _ = (bytes, sink);
        Run::default()
    }

    /// Reads a JSON response that is not a stream as the equivalent events.
    fn body(&mut self, body: Value<'_>, sink: &mut dyn EventSink) {
        // Without a protocol that responds in this way, the compiler removes the code.
        if WholeAnswers::EXISTS {
            let event = fields::unknown(Value::Null, body, Some("the response is not a stream".to_owned()));
            sink.event(0, EventRef::of(&event));
        }
    }

    /// The stream has ended. Passes on the events that depend on its end.
    fn end(&mut self, sink: &mut dyn EventSink) {
        let _ = sink;
    }

    /// What follows repeats the turn from its beginning: events are numbered from 1 on again.
    fn restart(&mut self) {}
}

/// Receives decoded events.
pub trait EventSink {
    /// The common case: one piece of text. `sequence_number` is the server's, or the decoder's own count if the server
    /// sends none; 0 for an event without one.
    fn delta(&mut self, sequence_number: u64, delta: TextDelta<'_>);
    /// Any other event.
    fn event(&mut self, sequence_number: u64, event: EventRef<'_>);
    /// The next event has two different numbers: the `id` of its frame, which counts, and the `sequence_number` in its
    /// JSON.
    fn mismatch(&mut self, id: u64, sequence_number: u64) {
        let _ = (id, sequence_number);
    }
}
