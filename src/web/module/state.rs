//! The core's state: the objects that JavaScript refers to by numbers, and the buffers for texts and bytes.

use std::cell::RefCell;

use crate::error::{Error, ErrorCode, Result};

use super::boundary::{Lent, report};
use super::client_socket::Socket;
use super::turn::Turn;
use crate::session::Session;

thread_local! {
    static CORE: RefCell<Core> = const { RefCell::new(Core::new()) };
}

/// All objects that JavaScript refers to, and the buffers.
pub(super) struct Core {
    /// The input of the next call.
    input: Vec<u8>,
    /// The chunks of streams. The address stays the same until more room is requested.
    pub(super) chunk: Vec<u8>,
    /// The last returned text. It stays until the next one.
    output: String,
    /// The addresses and lengths of the last returned text or records.
    header: [u32; 6],
    pub(super) sessions: Slots<Session>,
    pub(super) turns: Slots<Turn>,
    pub(super) sockets: Slots<Box<Socket>>,
}

/// Runs a call.
pub(super) fn with<T>(call: impl FnOnce(&mut Core) -> T) -> T {
    CORE.with_borrow_mut(call)
}

/// Runs a call that takes and returns a text. Returns the address of the header of the text. An error is a mark and
/// its JSON `{ "code", "message", "status"?, "body"? }`, from which the package creates an error of its classes.
pub(super) fn texts(call: &mut dyn FnMut(&mut Core, &str) -> Result<String>) -> u32 {
    with(|core| {
        let input = core.take_text();
        core.output = match call(core, &input) {
            Ok(output) => output,
            Err(error) => report(&error),
        };
        let (address, len) = (word(core.output.as_ptr().addr()), word(core.output.len()));
        core.give([address, len, 0, 0, 0, 0])
    })
}

impl Core {
    const fn new() -> Self {
        Self {
            input: Vec::new(),
            chunk: Vec::new(),
            output: String::new(),
            header: [0; 6],
            sessions: Slots::new(),
            turns: Slots::new(),
            sockets: Slots::new(),
        }
    }

    /// Makes room for the input of the next call. Returns its address.
    pub(super) fn room(&mut self, len: u32) -> u32 {
        self.input = vec![0; len as usize];
        word(self.input.as_ptr().addr())
    }

    /// Makes room for chunks of up to `len` bytes. Returns its address.
    pub(super) fn chunk_room(&mut self, len: u32) -> u32 {
        self.chunk = vec![0; len as usize];
        word(self.chunk.as_ptr().addr())
    }

    /// Passes the first `len` bytes of the chunk to a turn and its session.
    pub(super) fn with_chunk<T: Default>(
        &mut self,
        turn: u32,
        len: u32,
        call: impl FnOnce(&mut Turn, &mut Session, &[u8]) -> T,
    ) -> T {
        let chunk = std::mem::take(&mut self.chunk);
        let bytes = chunk.get(..len as usize).unwrap_or_default();
        let given = self.turn(turn).map(|(turn, session)| call(turn, session, bytes)).unwrap_or_default();
        self.chunk = chunk;
        given
    }

    /// Takes the input of the call.
    pub(super) fn take_input(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.input)
    }

    /// Takes the input as text. JavaScript writes only UTF-8.
    pub(super) fn take_text(&mut self) -> String {
        String::from_utf8(self.take_input()).unwrap_or_default()
    }

    /// A turn and its session.
    pub(super) fn turn(&mut self, turn: u32) -> Result<(&mut Turn, &mut Session)> {
        let turn = self.turns.get(turn).ok_or_else(gone)?;
        let session = self.sessions.get(turn.session()).ok_or_else(gone)?;
        Ok((turn, session))
    }

    /// Points the header to records and their text. Returns its address.
    pub(super) fn lend(&mut self, turn: u32, lent: fn(&mut Turn) -> Lent<'_>) -> u32 {
        let Some((records, text)) = self.turns.get(turn).map(lent) else {
            return 0;
        };
        let header = [
            word(records.as_ptr().addr()),
            word(records.len()),
            word(text.ascii().as_ptr().addr()),
            word(text.ascii().len()),
            word(text.wide().as_ptr().addr()),
            word(text.wide().len()),
        ];
        self.give(header)
    }

    /// Sets the header to a text and four numbers after it; returns its address.
    pub(super) fn give_text(&mut self, text: String, numbers: [u32; 4]) -> u32 {
        self.output = text;
        let [a, b, c, d] = numbers;
        self.give([word(self.output.as_ptr().addr()), word(self.output.len()), a, b, c, d])
    }

    /// Sets the header; returns its address.
    pub(super) fn give(&mut self, header: [u32; 6]) -> u32 {
        self.header = header;
        word(self.header.as_ptr().addr())
    }
}

/// Objects by number. The numbers of freed objects are used again.
pub(super) struct Slots<T>(Vec<Option<T>>);

impl<T> Slots<T> {
    const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds an object. Returns its number.
    pub(super) fn add(&mut self, thing: T) -> u32 {
        let free = self.0.iter().position(Option::is_none);
        let slot = free.unwrap_or(self.0.len());
        if let Some(free) = self.0.get_mut(slot) {
            *free = Some(thing);
        } else {
            self.0.push(Some(thing));
        }
        word(slot)
    }

    /// The object with this number.
    pub(super) fn get(&mut self, slot: u32) -> Option<&mut T> {
        self.0.get_mut(slot as usize)?.as_mut()
    }

    /// Takes an object out, to be [put](Self::put) back.
    pub(super) fn take(&mut self, slot: u32) -> Option<T> {
        self.0.get_mut(slot as usize)?.take()
    }

    /// Puts an object back.
    pub(super) fn put(&mut self, slot: u32, thing: T) {
        if let Some(slot) = self.0.get_mut(slot as usize) {
            *slot = Some(thing);
        }
    }

    /// Frees an object.
    pub(super) fn free(&mut self, slot: u32) {
        if let Some(slot) = self.0.get_mut(slot as usize) {
            *slot = None;
        }
    }
}

/// JavaScript frees only objects that it no longer refers to.
fn gone() -> Error {
    Error::new(ErrorCode::Unsupported, "the turn was released")
}

/// An address or a length in the wasm memory, which has no more than 2^32 bytes.
fn word(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
