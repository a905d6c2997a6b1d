//! A string as it is in the source, and its decoded text.

use super::special::plain_len;
use std::borrow::Cow;

const REPLACEMENT: char = '\u{FFFD}';

/// The inside of a JSON string, with its escapes. Only a [`Scanner`](super::Scanner) creates one, so its escapes are
/// known to be valid.
#[derive(Debug, Clone, Copy)]
pub struct RawStr<'a> {
    raw: &'a str,
    has_escapes: bool,
    has_unicode_escapes: bool,
}

impl<'a> RawStr<'a> {
    pub(super) fn new(raw: &'a str, has_escapes: bool, has_unicode_escapes: bool) -> Self {
        Self { raw, has_escapes, has_unicode_escapes }
    }

    /// The length of the string whose inside begins `bytes`, up to its closing quote, and whether it has backslashes;
    /// `None` without that quote. Does not check escapes or UTF-8.
    #[inline]
    pub(crate) fn inside_len(bytes: &[u8]) -> Option<(usize, bool)> {
        let mut len = plain_len(bytes);
        let mut has_escapes = false;
        loop {
            match bytes.get(len)? {
                b'"' => return Some((len, has_escapes)),
                b'\\' => has_escapes = true,
                _ => return None,
            }
            // Skip the backslash and the character that it escapes, even a quote.
            len += 2;
            len += plain_len(bytes.get(len..)?);
        }
    }

    /// The inside of a string with backslashes; `None` if an escape is invalid.
    pub(crate) fn escaped(raw: &'a str) -> Option<Self> {
        super::Scanner::has_valid_escapes(raw).then_some(Self {
            raw,
            has_escapes: true,
            has_unicode_escapes: true,
        })
    }

    /// The source between the quotes.
    #[inline]
    pub fn raw(self) -> &'a str {
        self.raw
    }

    /// Whether the source differs from the decoded text.
    #[inline]
    pub fn has_escapes(self) -> bool {
        self.has_escapes
    }

    /// Whether the string may have `\u` escapes.
    pub(super) fn has_unicode_escapes(self) -> bool {
        self.has_unicode_escapes
    }

    /// The text if no decoding is needed: `None` if it has escapes.
    #[inline]
    pub fn plain(self) -> Option<&'a str> {
        (!self.has_escapes).then_some(self.raw)
    }

    /// Whether the decoded text is `text`.
    #[inline]
    pub fn is(self, text: &str) -> bool {
        match self.plain() {
            Some(plain) => plain == text,
            None => self.unescape() == text,
        }
    }

    /// The decoded text; borrowed from the source unless it has escapes.
    #[inline]
    pub fn unescape(self) -> Cow<'a, str> {
        if let Some(plain) = self.plain() {
            return Cow::Borrowed(plain);
        }
        let mut text = String::with_capacity(self.raw.len());
        self.unescape_into(&mut text);
        Cow::Owned(text)
    }

    /// Appends the decoded text to `out`.
    #[inline]
    pub fn unescape_into(self, out: &mut String) {
        match self.plain() {
            Some(plain) => out.push_str(plain),
            None => self.unescape_all(out),
        }
    }

    /// Appends the decoded text's UTF-8 bytes to `out`.
    #[inline]
    pub fn unescape_into_bytes(self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.unescape().as_bytes());
    }

    /// Appends runs without escapes unchanged, and the characters of escapes.
    fn unescape_all(self, out: &mut String) {
        let mut rest = self.raw;
        // Inside a string, only backslashes of escapes are special.
        while let Some((run, escape)) = rest.split_at_checked(plain_len(rest.as_bytes())) {
            out.push_str(run);
            let Some(escape) = escape.get(1..) else {
                break;
            };
            let (character, tail) = unescape_one(escape);
            out.push(character);
            rest = tail;
        }
    }
}

/// The character of the escape whose backslash came before `escape`, and the rest.
fn unescape_one(escape: &str) -> (char, &str) {
    let mut characters = escape.chars();
    let character = match characters.next() {
        Some('b') => '\u{8}',
        Some('f') => '\u{c}',
        Some('n') => '\n',
        Some('r') => '\r',
        Some('t') => '\t',
        Some('u') => return unescape_unicode(characters.as_str()),
        // Quote, backslash and slash represent themselves.
        Some(other) => other,
        None => REPLACEMENT,
    };
    (character, characters.as_str())
}

/// Decodes a `\u` escape from its digits on, together with a second one if they are a surrogate pair.
fn unescape_unicode(digits: &str) -> (char, &str) {
    let Some((first, tail)) = four_hex(digits) else {
        return (REPLACEMENT, "");
    };
    if let Some(character) = char::from_u32(first) {
        return (character, tail);
    }
    let low = tail.strip_prefix("\\u").and_then(four_hex);
    match low {
        Some((low @ 0xDC00..=0xDFFF, after_pair)) if first < 0xDC00 => {
            let joined = 0x1_0000 + ((first - 0xD800) << 10) + (low - 0xDC00);
            (char::from_u32(joined).unwrap_or(REPLACEMENT), after_pair)
        }
        // A lone surrogate: the rest is read separately.
        _ => (REPLACEMENT, tail),
    }
}

/// The number that four hexadecimal digits represent, and the rest.
pub(super) fn four_hex(digits: &str) -> Option<(u32, &str)> {
    let (four, tail) = digits.split_at_checked(4)?;
    let unit = four.bytes().try_fold(0, |unit, byte| Some(unit << 4 | char::from(byte).to_digit(16)?))?;
    Some((unit, tail))
}
