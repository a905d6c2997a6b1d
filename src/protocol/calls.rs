//! Tables of calls: what a protocol says for each call that it has.

use crate::error::Result;
use crate::text::cut;

use super::Call;
use super::options::unsupported;

/// The calls of a protocol, each with a line of words. Without a line, the protocol lacks the call.
///
/// The lines are one text, each behind the key of its call: nested slices take twice the space.
#[derive(Debug, Clone, Copy)]
pub(super) struct Calls(&'static str);

impl Calls {
    /// The table with this text, which [`write`] made.
    pub(super) const fn of(text: &'static [u8]) -> Self {
        match std::str::from_utf8(text) {
            Ok(text) => Self(text),
            Err(_) => panic!("the lines are not UTF-8"),
        }
    }

    /// The line of a call; `unsupported` if there is none.
    pub(super) fn line(self, call: Call) -> Result<&'static str> {
        let mut rest = self.0;
        while !rest.is_empty() {
            let (line, others) = cut(rest, b'\n');
            if line.bytes().next() == Some(key(call)) {
                return Ok(line.get(1..).unwrap_or_default());
            }
            rest = others;
        }
        Err(unsupported())
    }
}

/// The character that begins the line of a call.
const fn key(call: Call) -> u8 {
    b'A' + call as u8
}

/// The length of a table's text.
pub(super) const fn length(rows: &[(Call, &str)]) -> usize {
    let mut length = 0;
    let mut rest = rows;
    while let [(_, line), others @ ..] = rest {
        length += line.len() + 2;
        rest = others;
    }
    length
}

/// The text of a table. Fails to compile if a call has two lines.
pub(super) const fn write<const LENGTH: usize>(rows: &[(Call, &str)]) -> [u8; LENGTH] {
    let mut text = [b'\n'; LENGTH];
    let (mut at, mut seen) = (0, 0_u64);
    let mut rest = rows;
    while let [(call, line), others @ ..] = rest {
        assert!(seen >> *call as u8 & 1 == 0, "a call has two lines");
        seen |= 1 << *call as u8;
        text[at] = key(*call);
        let (head, _) = text.split_at_mut(at + 1 + line.len());
        head.split_at_mut(at + 1).1.copy_from_slice(line.as_bytes());
        at += line.len() + 2;
        rest = others;
    }
    text
}

/// A table: `calls! { GetTurn "…", CancelTurn "…" }`.
macro_rules! calls {
    ($($call:ident $line:literal,)+) => {{
        use $crate::protocol::calls::{Calls, length, write};
        const ROWS: &[($crate::protocol::Call, &str)] = &[$(($crate::protocol::Call::$call, $line),)+];
        const TEXT: &[u8] = &write::<{ length(ROWS) }>(ROWS);
        Calls::of(TEXT)
    }};
}
pub(super) use calls;
