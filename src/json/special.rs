//! Finds the bytes that end a run of plain string text.

const QUOTE: u64 = 0x22;
const BACKSLASH: u64 = 0x5C;
const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// The length of the run of plain string bytes at the start of `bytes`: up to the first quote, backslash or control
/// character, or all of them.
///
/// Tests eight bytes at a time, with all three tests in one pass. JSON's strings are short: a search for delimiters
/// followed by another for control characters was slower.
#[inline]
pub(super) fn plain_len(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    let mut len = 0;
    while let Some((eight, tail)) = rest.split_first_chunk::<8>() {
        let found = special_bits(u64::from_le_bytes(*eight));
        if found != 0 {
            return len + found.trailing_zeros() as usize / 8;
        }
        len += 8;
        rest = tail;
    }
    len + rest.iter().position(|byte| is_special(*byte)).unwrap_or(rest.len())
}

fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Sets the high bit of special bytes. A borrow may also set it in bytes above a special one, but never below: the
/// lowest set bit is exact.
#[inline]
fn special_bits(word: u64) -> u64 {
    let quote = word ^ (ONES * QUOTE);
    let backslash = word ^ (ONES * BACKSLASH);
    let below_space = word.wrapping_sub(ONES * 0x20) & !word;
    let is_quote = quote.wrapping_sub(ONES) & !quote;
    let is_backslash = backslash.wrapping_sub(ONES) & !backslash;
    (below_space | is_quote | is_backslash) & HIGH_BITS
}
