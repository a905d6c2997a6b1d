//! Compares and counts bytes, eight at a time.
//!
//! In wasm the standard library compares slices byte by byte. That took most of the time of a delta whose fixed parts
//! are compared with an earlier one. For ASCII it checks four bytes at a time.

/// Whether both slices are equal.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a call costs as much as a comparison")]
pub(crate) fn same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    // Steps that the compiler inlines even where it optimizes for size: `last_chunk` and `as_chunks` stay calls, which
    // took longer than the comparisons.
    let (mut one, mut other) = (one, other);
    while let (Some((a, one_rest)), Some((b, other_rest))) =
        (one.split_first_chunk::<8>(), other.split_first_chunk::<8>())
    {
        if u64::from_le_bytes(*a) != u64::from_le_bytes(*b) {
            return false;
        }
        (one, other) = (one_rest, other_rest);
    }
    for (a, b) in one.iter().zip(other) {
        if a != b {
            return false;
        }
    }
    true
}

/// Where the first quote is.
pub(crate) fn find_quote(bytes: &[u8]) -> Option<usize> {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut at = 0;
    for word in words {
        let found = u64::from_le_bytes(*word) ^ (LOWEST_BITS * 0x22);
        // A borrow may set bits above the first one that is meant, and never below.
        let found = found.wrapping_sub(LOWEST_BITS) & !found & LOWEST_BITS << 7;
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    Some(at + rest.iter().position(|byte| *byte == b'"')?)
}

/// Whether all bytes are ASCII.
pub(crate) fn is_ascii(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    let mut bits = 0;
    while let Some((word, tail)) = rest.split_first_chunk::<8>() {
        bits |= u64::from_le_bytes(*word);
        rest = tail;
    }
    for byte in rest {
        bits |= u64::from(*byte);
    }
    bits & LOWEST_BITS << 7 == 0
}

/// The length of UTF-8 in UTF-16 units: one for each character, and one more for characters of four bytes.
pub(crate) fn utf16_len(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut len = bytes.len();
    for word in words {
        let word = u64::from_le_bytes(*word);
        // Continuation bytes are 10xxxxxx, and the first byte of four is 1111xxxx.
        len -= (word >> 7 & !(word >> 6) & LOWEST_BITS).count_ones() as usize;
        len += (word >> 7 & word >> 6 & word >> 5 & word >> 4 & LOWEST_BITS).count_ones() as usize;
    }
    for byte in rest {
        len -= usize::from(byte & 0xC0 == 0x80);
        len += usize::from(*byte >= 0xF0);
    }
    len
}

/// The lowest bit of each of eight bytes.
const LOWEST_BITS: u64 = 0x0101_0101_0101_0101;

#[cfg(test)]
mod tests {
    use super::{is_ascii, same, utf16_len};

    #[test]
    fn counts_units_as_the_standard_library_does() {
        let text = "aé€😀zü\u{7ff}\u{ffff}\u{10ffff}!😀😀aaaaaaaaaaaaaaaéééééééé€€€€€€";
        for (start, _) in text.char_indices() {
            for (end, _) in text[start..].char_indices() {
                let part = &text[start..start + end];
                assert_eq!(utf16_len(part.as_bytes()), part.encode_utf16().count(), "{part}");
            }
        }
    }

    #[test]
    fn knows_ascii_wherever_something_else_stands() {
        for len in 0..40 {
            let mut bytes = vec![0x7f; len];
            assert!(is_ascii(&bytes));
            for at in 0..len {
                bytes[at] = 0x80;
                assert!(!is_ascii(&bytes));
                bytes[at] = b'a';
            }
        }
    }

    #[test]
    fn finds_the_first_quote() {
        for len in 0..30 {
            for at in 0..len {
                let mut bytes = vec![0x23; len];
                bytes[at..].fill(b'"');
                bytes[..at].fill(0xA2);
                assert_eq!(super::find_quote(&bytes), Some(at));
            }
            assert_eq!(super::find_quote(&vec![0x21; len]), None);
        }
    }

    #[test]
    fn equals_the_standard_comparison() {
        let text = b"0123456789abcdefghijklmnopqrstuvwxyz";
        for len in 0..text.len() {
            let mut changed = text[..len].to_vec();
            assert!(same(&text[..len], &changed));
            assert_eq!(same(text, &changed), len == text.len());
            for at in 0..len {
                changed[at] ^= 0x80;
                assert!(!same(&text[..len], &changed));
                changed[at] ^= 0x80;
            }
        }
    }
}
