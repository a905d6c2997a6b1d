//! The core's state: what JavaScript names by numbers, and the buffers in which texts and bytes cross.

use std::cell::RefCell;

use crate::delivery::TextArena;
use crate::error::{Error, ErrorCode, Result};
use crate::json::ObjectWriter;

use super::session::Session;
#[cfg(feature = "socket")]
use super::sockets::Socket;
use super::turn::Turn;

thread_local! {
    static CORE: RefCell<Core> = const { RefCell::new(Core::new()) };
}

/// Records and the text that they point into.
pub(super) type Lent<'a> = (&'a [u32], &'a TextArena);

/// What stands before an error. No document that the core gives begins with it.
const MARK: char = '!';

/// Everything that JavaScript can name.
pub(super) struct Core {
    /// What the next call is given.
    input: Vec<u8>,
    /// Where the bytes of streams are written. It stays where it is until more room is asked for.
    pub(super) chunk: Vec<u8>,
    /// The text that was given last. It stays until another one is.
    output: String,
    /// Where the text or the records lie that were given last: pairs of address and length.
    header: [u32; 6],
    pub(super) sessions: Slots<Session>,
    pub(super) turns: Slots<Turn>,
    #[cfg(feature = "socket")]
    pub(super) sockets: Slots<Box<Socket>>,
}

/// Runs a call.
pub(super) fn with<T>(call: impl FnOnce(&mut Core) -> T) -> T {
    CORE.with_borrow_mut(call)
}

/// Runs a call that takes a text and gives one. Gives the header's address; it points to the text, or to a
/// mark and the error as `{ "code", "message", "status"?, "body"? }`, which the package's TypeScript makes
/// an error of its classes from.
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
            #[cfg(feature = "socket")]
            sockets: Slots::new(),
        }
    }

    /// Makes room for what the next call is given; gives its address.
    pub(super) fn room(&mut self, len: u32) -> u32 {
        self.input = vec![0; len as usize];
        word(self.input.as_ptr().addr())
    }

    /// Makes room for chunks of so many bytes; returns its address.
    pub(super) fn chunk_room(&mut self, len: u32) -> u32 {
        self.chunk = vec![0; len as usize];
        word(self.chunk.as_ptr().addr())
    }

    /// Gives the first bytes of what was written to the room for chunks to a turn and its session.
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

    /// Takes what the call was given.
    pub(super) fn take_input(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.input)
    }

    /// The same as text; JavaScript writes nothing but UTF-8.
    pub(super) fn take_text(&mut self) -> String {
        String::from_utf8(self.take_input()).unwrap_or_default()
    }

    /// A turn and its session.
    pub(super) fn turn(&mut self, turn: u32) -> Result<(&mut Turn, &mut Session)> {
        let turn = self.turns.get(turn).ok_or_else(gone)?;
        let session = self.sessions.get(turn.session()).ok_or_else(gone)?;
        Ok((turn, session))
    }

    /// Points the header to records and their text; gives its address.
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

    /// Points the header to a text, and puts four numbers behind that; returns its address.
    #[cfg(feature = "socket")]
    pub(super) fn give_text(&mut self, text: String, numbers: [u32; 4]) -> u32 {
        self.output = text;
        let [a, b, c, d] = numbers;
        self.give([word(self.output.as_ptr().addr()), word(self.output.len()), a, b, c, d])
    }

    fn give(&mut self, header: [u32; 6]) -> u32 {
        self.header = header;
        word(self.header.as_ptr().addr())
    }
}

/// Things by number. The numbers of things that are gone are given again.
pub(super) struct Slots<T>(Vec<Option<T>>);

impl<T> Slots<T> {
    const fn new() -> Self {
        Self(Vec::new())
    }

    /// Keeps a thing; gives its number.
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

    /// The thing of this number.
    pub(super) fn get(&mut self, slot: u32) -> Option<&mut T> {
        self.0.get_mut(slot as usize)?.as_mut()
    }

    /// Takes a thing out, to be [put](Self::put) back.
    #[cfg(feature = "socket")]
    pub(super) fn take(&mut self, slot: u32) -> Option<T> {
        self.0.get_mut(slot as usize)?.take()
    }

    /// Puts a thing back.
    #[cfg(feature = "socket")]
    pub(super) fn put(&mut self, slot: u32, thing: T) {
        if let Some(slot) = self.0.get_mut(slot as usize) {
            *slot = Some(thing);
        }
    }

    /// Lets a thing go.
    pub(super) fn free(&mut self, slot: u32) {
        if let Some(slot) = self.0.get_mut(slot as usize) {
            *slot = None;
        }
    }
}

/// JavaScript lets things go only when nobody can name them any more.
fn gone() -> Error {
    Error::new(ErrorCode::Unsupported, "it was let go")
}

/// An error in the place of a text.
pub(super) fn report(error: &Error) -> String {
    let mut report = String::from(MARK);
    write_error(&mut report, error);
    report
}

/// An error as JSON: `{ "code", "message", "status"?, "body"? }`.
pub(super) fn write_error(out: &mut String, error: &Error) {
    let mut object = ObjectWriter::new(out);
    object.str("code", error.code.as_str()).str("message", &error.message);
    if let Some(status) = error.status {
        object.u64("status", u64::from(status));
    }
    if let Some(body) = &error.body {
        object.str("body", body);
    }
    object.end();
}

/// An address or a length in the wasm memory, which has no more than 2^32 bytes.
fn word(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
