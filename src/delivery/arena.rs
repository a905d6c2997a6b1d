//! Text arenas: many strings in two blocks of memory, with offsets for JavaScript's `slice`.

use crate::bytes::{is_ascii, utf16_len};

/// The position of a string: offset and length in UTF-16 units, the unit of JavaScript's `slice`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The offset in its arena.
    pub start: u32,
    /// The length.
    pub len: u32,
    /// The arena: wide, or ASCII.
    pub wide: bool,
}

/// Keeps ASCII strings apart from all others. In ASCII, bytes are UTF-16 units, and an engine stores the decoded string
/// with one byte per character; a single emoji in it would double that.
#[derive(Debug, Default)]
pub struct TextArena {
    ascii: Vec<u8>,
    wide: Vec<u8>,
    wide_units: u32,
}

/// Blocks that grew beyond this many bytes are freed when they are cleared.
const KEPT_CAPACITY: usize = 256 * 1024;

impl TextArena {
    /// Adds a string.
    #[inline]
    pub fn push(&mut self, text: &str) -> Span {
        if is_ascii(text.as_bytes()) {
            let start = units(self.ascii.len());
            self.ascii.extend_from_slice(text.as_bytes());
            Span { start, len: units(text.len()), wide: false }
        } else {
            let (start, len) = (self.wide_units, units(utf16_len(text.as_bytes())));
            self.wide.extend_from_slice(text.as_bytes());
            self.wide_units += len;
            Span { start, len, wide: true }
        }
    }

    /// The ASCII block.
    #[must_use]
    pub fn ascii(&self) -> &[u8] {
        &self.ascii
    }

    /// The UTF-8 block of all other strings.
    #[must_use]
    pub fn wide(&self) -> &[u8] {
        &self.wide
    }

    /// Removes all strings.
    pub fn clear(&mut self) {
        for block in [&mut self.ascii, &mut self.wide] {
            block.clear();
            if block.capacity() > KEPT_CAPACITY {
                *block = Vec::new();
            }
        }
        self.wide_units = 0;
    }
}

/// Lengths fit into 32 bits: a wasm memory has at most 2^32 bytes.
fn units(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
