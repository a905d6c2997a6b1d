//! The functions that the npm package calls for protocols over a WebSocket, besides [`exports`](super::exports): it
//! passes in the events of its sockets, and carries out the outputs.
//!
//! Each function returns the address of an output, or 0 if there is none. An output has the address and length of its
//! text, its kind, its call, a number, and whether there may be more outputs, which [`socket_heed`] then returns.

use wasm_bindgen::prelude::*;

use crate::error::Error;
use crate::protocol::{AnyProtocol, Call};
use crate::rpc::{Connection, Input, Limits, Output};
use crate::text::cut;

use super::boundary::{call_of, failure_code, report};
use super::client_socket::Socket;
use super::state::{Core, with};
use super::turn::Turn;

/// The kinds of outputs, the same as in `core-socket.ts`.
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

/// Opens a client. Takes the prefix of its requests' ids. Times are in milliseconds.
#[wasm_bindgen(js_name = socketOpen)]
pub fn socket_open(protocol: u8, connect_timeout: f64, max_frame_bytes: u32) -> u32 {
    with(|core| {
        let id_prefix = core.take_text();
        let Ok(protocol) = AnyProtocol::numbered(protocol) else { return u32::MAX };
        let limits =
            Limits { connect_timeout: whole(connect_timeout), largest_response: max_frame_bytes as usize };
        let connection = Connection::new(protocol, limits, id_prefix);
        core.sockets.add(Box::new(Socket {
            connection,
            readers: Vec::new(),
            taken: Vec::new(),
            template: String::new(),
        }))
    })
}

/// Frees a client.
#[wasm_bindgen(js_name = socketFree)]
pub fn socket_free(socket: u32) {
    with(|core| core.sockets.free(socket));
}

/// Makes the call with this number; `id` is the caller's id for it. Takes its parameters as JSON.
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
    let (timeout, idle_timeout) = (whole(timeout), whole(idle_timeout));
    handle(socket, Some(Input::Ask { id, call, params: &params, timeout, idle_timeout }), now, buffered)
}

/// Has a turn read the stream of a call from now on.
#[wasm_bindgen(js_name = socketRead)]
pub fn socket_read(socket: u32, call: u32, turn: u32, now: f64, buffered: f64) -> u32 {
    with(|core| {
        if let Some(socket) = core.sockets.get(socket) {
            socket.readers.push((call, turn));
        }
    });
    handle(socket, Some(Input::Read(call)), now, buffered)
}

/// Takes a message of this many bytes from the room for chunks.
#[wasm_bindgen(js_name = socketReceived)]
pub fn socket_received(socket: u32, len: u32, now: f64) -> u32 {
    read_chunk(len, &mut |message| handle(socket, Some(Input::Message(message)), now, 0.0))
}

/// Takes messages that match this template outside its holes; a message of this call became the template. For each
/// message, the room for chunks has the inside of the string with its piece of text, followed by the closing quote, all
/// in `len` bytes. Returns how many were taken, in the bits from the sixth on: the others must be
/// [received](socket_received) whole. The lower bits are the turn's flags, and 32 if there may be outputs.
#[wasm_bindgen(js_name = socketReceivedLike)]
pub fn socket_received_like(socket: u32, call: u32, template: u32, len: u32, now: f64) -> u32 {
    read_chunk(len, &mut |texts| {
        with(|core| {
            let Some(mut taken) = core.sockets.take(socket) else { return 0 };
            let result = taken.take_like(core, call, (template, texts), whole(now));
            core.sockets.put(socket, taken);
            result.unwrap_or_default()
        })
    })
}

/// Reads the text of this many bytes in the room for chunks.
fn read_chunk(len: u32, read: &mut dyn FnMut(&str) -> u32) -> u32 {
    let chunk = with(|core| std::mem::take(&mut core.chunk));
    let text = chunk.get(..len as usize).and_then(|text| str::from_utf8(text).ok()).unwrap_or_default();
    let result = read(text);
    with(|core| core.chunk = chunk);
    result
}

/// Takes any other event: none (0); the socket opened (1), closed with this code and this text as the reason (2), or
/// broke (3); it cannot be opened, because of the error with the code and message in the text, separated by a NUL
/// character (4); the caller stopped waiting for this call (5), or it took too long (6); time has passed (7); the page
/// was away (8); the client was closed (9); a binary message arrived (10). `buffered` is the number of bytes in the
/// socket's buffer, negative if it cannot send.
#[wasm_bindgen(js_name = socketHeed)]
pub fn socket_heed(socket: u32, event: u8, number: u32, now: f64, buffered: f64) -> u32 {
    let text = with(Core::take_text);
    let input = match event {
        1 => Some(Input::Opened),
        2 => Some(Input::Closed(u16::try_from(number).unwrap_or_default(), &text)),
        3 => Some(Input::Broken),
        4 => {
            let (code, message) = cut(&text, 0);
            Some(Input::Failed(Error::new(failure_code(code), message)))
        }
        5 | 6 => Some(Input::Forget { id: number, is_overdue: event == 6 }),
        7 => Some(Input::Tick),
        8 => Some(Input::Away),
        9 => Some(Input::Close),
        10 => Some(Input::Binary),
        _ => None,
    };
    handle(socket, input, now, buffered)
}

/// Takes an event; returns the address of the first output. After a message, only its readers can have outputs.
fn handle(socket: u32, input: Option<Input<'_, Call>>, now: f64, buffered: f64) -> u32 {
    let message = if let Some(Input::Message(message)) = input { Some(message) } else { None };
    with(|core| {
        let Some(mut taken) = core.sockets.take(socket) else { return 0 };
        if let Some(input) = input {
            taken.connection.handle_input(input, whole(now));
        }
        let address = taken.next(core, message, whole(now), (buffered >= 0.0).then_some(whole(buffered)));
        core.sockets.put(socket, taken);
        address
    })
}

impl Socket {
    /// Returns the address of the next output.
    fn next(&mut self, core: &mut Core, message: Option<&str>, now: u64, buffered: Option<u64>) -> u32 {
        while let Some((call, messages)) = self.connection.take_delivery() {
            if let Some(message) = message.filter(|_| messages.is_empty()) {
                self.push(core, call, message, now);
                self.learn(core, call, message);
            }
            for message in messages {
                self.push(core, call, &message, now);
            }
        }
        let (mut text, mut kind, mut id, mut number) = (String::new(), kind::TAKEN, 0, 0);
        if !self.taken.is_empty() {
            (id, number) = self.taken.remove(0);
            text = std::mem::take(&mut self.template);
        } else if message.is_some() {
            if !self.connection.has_output() {
                return 0;
            }
        } else {
            let Some(output) = self.connection.poll_output(buffered) else { return 0 };
            match output {
                Output::Deliver(..) => {}
                Output::Gather(call) => {
                    let turn = self.turn_of(call).and_then(|turn| core.turns.get(turn));
                    if let Some(messages) =
                        turn.and_then(|turn| turn.turn().reader_mut().follow_up_requests())
                    {
                        self.connection.handle_input(Input::Say(call, messages), now);
                    }
                }
                Output::Send(sent) => (kind, text) = (kind::SEND, sent),
                Output::Respond { id: call, answer, is_unsent } => {
                    kind = if is_unsent { kind::RESPOND_UNSENT } else { kind::RESPOND };
                    (id, text) = (call, answer.unwrap_or_else(|error| report(&error)));
                }
                Output::End { id: call, error, silence } => {
                    self.readers.retain(|(known, _)| *known != call);
                    (kind, id, number) = (kind::END, call, small(silence));
                    text = error.map(|error| report(&error)).unwrap_or_default();
                }
                Output::Connect => kind = kind::CONNECT,
                Output::WakeIn(delay) => (kind, number) = (kind::WAKE, small(delay)),
                Output::Close => kind = kind::CLOSE,
            }
        }
        let more = !self.taken.is_empty() || self.connection.has_output();
        core.give_text(text, [kind, id, number, more.into()])
    }

    fn turn_of(&self, call: u32) -> Option<u32> {
        self.readers.iter().find(|(known, _)| *known == call).map(|(_, turn)| *turn)
    }

    /// Passes a message to the turn that reads the stream.
    fn push(&mut self, core: &mut Core, call: u32, message: &str, now: u64) {
        let Some(turn) = self.turn_of(call) else { return };
        let Ok((turn, session)) = core.turn(turn) else { return };
        let goes_on = turn.turn().push_message(session, message);
        let flags = self.pushed(turn, call, goes_on, now);
        self.taken.push((call, small(message.len() as u64) << 4 | u32::from(flags)));
    }

    /// Keeps the last message, which was passed to a turn, as a template if it can be one.
    fn learn(&mut self, core: &mut Core, call: u32, message: &str) {
        let turn = self.turn_of(call).filter(|_| self.connection.is_alone(call));
        let Some(turn) = turn.and_then(|turn| core.turns.get(turn)) else { return };
        self.template = turn.turn().reader().template(message).unwrap_or_default();
    }

    /// Passes messages that match a template to a turn. Returns the result of [`socket_received_like`].
    fn take_like(
        &mut self,
        core: &mut Core,
        call: u32,
        (template, texts): (u32, &str),
        now: u64,
    ) -> Option<u32> {
        let (turn, session) = core.turn(self.turn_of(call)?).ok()?;
        if !self.connection.hear_like(call, now) {
            return None;
        }
        let count = turn.turn().push_like(session, template, texts);
        let flags = self.pushed(turn, call, true, now);
        Some(count << 6 | u32::from(self.connection.has_output()) << 5 | u32::from(flags))
    }

    /// Continues after a message was passed to a turn. Returns the turn's flags.
    fn pushed(&mut self, turn: &mut Turn, call: u32, goes_on: bool, now: u64) -> u8 {
        let flags = turn.flags(goes_on);
        if !goes_on {
            self.readers.retain(|(known, _)| *known != call);
            self.connection.handle_input(Input::Forget { id: call, is_overdue: false }, now);
        } else if turn.turn().reader().has_follow_up_requests() {
            self.connection.handle_input(Input::FollowUp(call), now);
        }
        flags
    }
}

/// A number that is not negative, without its fraction.
fn whole(number: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
    let whole = number as u64;
    whole
}

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
