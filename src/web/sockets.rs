//! What the npm package calls for protocols that are spoken over a WebSocket, besides [`exports`](super::exports): it
//! hands in what happens to its sockets, and carries out what is returned.
//!
//! Each of these returns the address of an output, or 0 if there is none: where its text lies (address and length), its
//! kind, the call, a number, and whether there may be more, which [`socket_heed`] returns then.

use std::rc::Rc;

use wasm_bindgen::prelude::*;

use crate::error::{Error, Result};
use crate::protocol::turn_rpc::TurnRpc;
use crate::rpc::{Connection, Input, Limits, Output};
use crate::text::cut;

use super::exports::{call_of, failure_code, turn_flags};
use super::protocols::Spoken;
use super::state::{Core, report, with};

/// The kinds of outputs, as `core-socket.ts` has them.
mod kind {
    pub(super) const TAKEN: u32 = 0;
    pub(super) const SEND: u32 = 1;
    pub(super) const RESPOND: u32 = 2;
    pub(super) const RESPOND_UNSENT: u32 = 3;
    pub(super) const END: u32 = 4;
    pub(super) const CONNECT: u32 = 5;
    pub(super) const WAKE: u32 = 6;
    pub(super) const CLOSE: u32 = 7;
}

/// A client's connection, and which turns read its streams.
pub(super) struct Socket {
    connection: Connection<TurnRpc>,
    /// Calls and the turns that read them.
    readers: Vec<(u32, u32)>,
    /// What waits to be returned.
    ready: Vec<Ready>,
}

/// An output as it is returned.
#[derive(Default)]
struct Ready {
    kind: u32,
    call: u32,
    number: u32,
    text: String,
}

/// A client. Takes the prefix of its requests' ids. Times are in milliseconds.
#[wasm_bindgen(js_name = socketOpen)]
pub fn socket_open(protocol: u8, connect_timeout: f64, max_frame_bytes: u32) -> u32 {
    with(|core| {
        let id_prefix = core.take_text();
        let Ok(Spoken::TurnRpc(protocol)) = Spoken::numbered(protocol) else { return u32::MAX };
        let limits = Limits { connect_timeout, largest_response: max_frame_bytes as usize };
        let connection = Connection::new(Rc::new(protocol), limits, id_prefix);
        core.sockets.add(Socket { connection, readers: Vec::new(), ready: Vec::new() })
    })
}

/// Nothing names the client any more.
#[wasm_bindgen(js_name = socketFree)]
pub fn socket_free(socket: u32) {
    with(|core| core.sockets.free(socket));
}

/// Makes the call of this number under a name of the caller's. Takes its parameters as JSON.
#[wasm_bindgen(js_name = socketAsk)]
pub fn socket_ask(
    socket: u32,
    id: u32,
    call: u8,
    timeout: f64,
    idle_timeout: f64,
    now: f64,
    buffered: f64,
) -> u32 {
    let params = with(Core::take_text);
    let Ok(call) = call_of(call) else { return 0 };
    handle(socket, Input::Ask { id, call, params: &params, timeout, idle_timeout }, now, buffered)
}

/// A turn reads the stream of a call from now on.
#[wasm_bindgen(js_name = socketRead)]
pub fn socket_read(socket: u32, call: u32, turn: u32, now: f64, buffered: f64) -> u32 {
    with(|core| {
        if let Some(socket) = core.sockets.get(socket) {
            socket.readers.push((call, turn));
        }
    });
    handle(socket, Input::Read(call), now, buffered)
}

/// Takes a message, which was written to the room for chunks and has so many bytes.
#[wasm_bindgen(js_name = socketReceived)]
pub fn socket_received(socket: u32, len: u32, now: f64) -> u32 {
    with(|core| {
        let chunk = std::mem::take(&mut core.chunk);
        let message = chunk.get(..len as usize).and_then(|chunk| str::from_utf8(chunk).ok());
        let address = core.with_socket(socket, |core, socket| {
            let message = message.unwrap_or_default();
            socket.connection.handle_input(Input::Message(message), now);
            while let Some(output) = socket.connection.take_output() {
                socket.take(core, output, message, now);
            }
        });
        core.chunk = chunk;
        address
    })
}

/// Takes what else has happened: nothing (0), it was opened (1), closed with this code, and the reason as text (2), or
/// broken (3); it cannot be made, for the error whose code and message are the text, a NUL character between them (4); this
/// call is not waited for any more (5), or has taken too long (6); time has passed (7); the page was away (8); the client
/// was closed (9); a binary message came (10). `buffered` is how many bytes the socket has to send, negative if it cannot.
#[wasm_bindgen(js_name = socketHeed)]
pub fn socket_heed(socket: u32, event: u8, number: u32, now: f64, buffered: f64) -> u32 {
    let text = with(Core::take_text);
    let input = match event {
        1 => Input::Opened,
        2 => Input::Closed(u16::try_from(number).unwrap_or_default(), &text),
        3 => Input::Broken,
        4 => {
            let (code, message) = cut(&text, 0);
            Input::Failed(Error::new(failure_code(code), message))
        }
        5 | 6 => Input::Forget { id: number, is_overdue: event == 6 },
        7 => Input::Tick,
        8 => Input::Away,
        9 => Input::Close,
        10 => Input::Binary,
        _ => return poll(socket, now, buffered),
    };
    handle(socket, input, now, buffered)
}

/// Whether nothing of a call was sent yet, since there is no connection.
#[wasm_bindgen(js_name = socketIsUnsent)]
pub fn socket_is_unsent(socket: u32, call: u32) -> bool {
    with(|core| core.sockets.get(socket).is_some_and(|socket| socket.connection.is_unsent(call)))
}

fn handle(socket: u32, input: Input<'_>, now: f64, buffered: f64) -> u32 {
    with(|core| {
        if let Some(socket) = core.sockets.get(socket) {
            socket.connection.handle_input(input, now);
        }
    });
    poll(socket, now, buffered)
}

fn poll(socket: u32, now: f64, buffered: f64) -> u32 {
    with(|core| {
        core.with_socket(socket, |core, socket| {
            // One at a time: each may change how much waits to be sent.
            while socket.ready.is_empty()
                && let Some(output) = socket.connection.poll_output((buffered >= 0.0).then_some(buffered))
            {
                socket.take(core, output, "", now);
            }
        })
    })
}

impl Core {
    /// Has something done to a client; returns the address of its first output.
    fn with_socket(&mut self, socket: u32, call: impl FnOnce(&mut Self, &mut Socket)) -> u32 {
        let Some(mut taken) = self.sockets.take(socket) else { return 0 };
        call(self, &mut taken);
        let next = (!taken.ready.is_empty()).then(|| taken.ready.remove(0));
        let more = u32::from(!taken.ready.is_empty() || taken.connection.has_output());
        self.sockets.put(socket, taken);
        match next {
            Some(Ready { kind, call, number, text }) => self.give_text(text, [kind, call, number, more]),
            None if more > 0 => self.give_text(String::new(), [kind::TAKEN, u32::MAX, 0, more]),
            None => 0,
        }
    }
}

impl Socket {
    /// Carries an output out, or keeps it to be returned. `message` is the one that came last.
    fn take(&mut self, core: &mut Core, output: Output, message: &str, now: f64) {
        let ready = match output {
            Output::Deliver(call, messages) => {
                if messages.is_empty() {
                    self.push(core, call, message, now);
                }
                for message in messages {
                    self.push(core, call, &message, now);
                }
                return;
            }
            Output::Gather(call) => {
                let turn = self.turn_of(call).and_then(|turn| core.turns.get(turn));
                if let Some(messages) = turn.and_then(super::turn::Turn::follow_up_requests) {
                    self.connection.handle_input(Input::Say(call, messages), now);
                }
                return;
            }
            Output::Send(text) => Ready { kind: kind::SEND, text, ..Ready::default() },
            Output::Respond { id, answer, is_unsent } => {
                let kind = if is_unsent { kind::RESPOND_UNSENT } else { kind::RESPOND };
                Ready { kind, call: id, text: text_of(answer), ..Ready::default() }
            }
            Output::End { id, error, silence } => {
                self.readers.retain(|(call, _)| *call != id);
                let text = text_of(error.map_or(Ok(String::new()), Err));
                Ready { kind: kind::END, call: id, number: millis(silence), text }
            }
            Output::Connect => Ready { kind: kind::CONNECT, ..Ready::default() },
            Output::WakeIn(delay) => {
                Ready { kind: kind::WAKE, number: millis(delay.ceil()), ..Ready::default() }
            }
            Output::Close => Ready { kind: kind::CLOSE, ..Ready::default() },
        };
        self.ready.push(ready);
    }

    fn turn_of(&self, call: u32) -> Option<u32> {
        self.readers.iter().find(|(known, _)| *known == call).map(|(_, turn)| *turn)
    }

    /// Hands a message to the turn that reads a stream.
    fn push(&mut self, core: &mut Core, call: u32, message: &str, now: f64) {
        let Some(turn) = self.turn_of(call) else { return };
        let Ok((turn, session)) = core.turn(turn) else { return };
        let goes_on = turn.push_message(session, message);
        let flags = turn_flags(turn, goes_on);
        if !goes_on {
            self.readers.retain(|(known, _)| *known != call);
            self.connection.handle_input(Input::Forget { id: call, is_overdue: false }, now);
        } else if turn.has_follow_up_requests() {
            self.connection.handle_input(Input::FollowUp(call), now);
        }
        let len = u32::try_from(message.len()).unwrap_or(u32::MAX) << 4;
        match self.ready.last_mut() {
            // Its flags are those of the last message, and those that only say that there is something.
            Some(last) if last.kind == kind::TAKEN && last.call == call => {
                let flags = u32::from(flags) | last.number & 0b1110;
                last.number = (last.number & !15).wrapping_add(len) | flags;
            }
            _ => self.ready.push(Ready {
                kind: kind::TAKEN,
                call,
                number: len | u32::from(flags),
                ..Ready::default()
            }),
        }
    }
}

/// A text, or an error in the place of one.
fn text_of(answer: Result<String>) -> String {
    answer.unwrap_or_else(|error| report(&error))
}

/// A time in whole milliseconds.
fn millis(time: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
    let whole = time as u32;
    whole
}
