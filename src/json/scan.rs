//! Walks a JSON text in place: no allocation, no recursion, strings and numbers as slices.

// The few steps that run for every byte of syntax must not become calls, even in a module built for size: with
// `opt-level = "z"` calls made scanning twice as slow, and the module no smaller.
#![expect(clippy::inline_always, reason = "measured, see above")]

use super::raw_str::four_hex;
use super::special::plain_len;
use super::{JsonError, JsonErrorKind, RawStr};

/// The deepest allowed nesting of arrays and objects.
pub const MAX_DEPTH: u32 = 128;

/// A position in a JSON text.
///
/// The typed steps ([`string`](Self::string), [`number`](Self::number), [`next_key`](Self::next_key)
/// and so on) skip white space before what they read. After an error the position is that of the
/// error; go no further.
///
/// ```
/// # use turnwire::json::{JsonError, Scanner};
/// # fn main() -> Result<(), JsonError> {
/// let mut scanner = Scanner::new(r#"{"type": "model.message.delta", "sequence_number": 17}"#);
/// let mut sequence_number = "";
/// scanner.begin_object()?;
/// let mut first = true;
/// while let Some(key) = scanner.next_key(&mut first)? {
///     match key.raw() {
///         "sequence_number" => sequence_number = scanner.number()?,
///         _ => scanner.skip_value()?,
///     }
/// }
/// scanner.finish()?;
/// assert_eq!(sequence_number, "17");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    /// A scanner at the start of `text`.
    #[inline]
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The byte offset of the next character to be read.
    #[inline]
    pub fn at(&self) -> usize {
        self.at
    }

    /// The source from `start` to this position; empty if `start` is not the offset of a character before it.
    pub fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// The next byte, white space included.
    #[inline(always)]
    pub fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips white space and returns the next byte, which determines the kind of the value.
    #[inline]
    pub fn peek_value(&mut self) -> Option<u8> {
        self.skip_whitespace();
        self.peek()
    }

    /// Skips white space.
    #[inline(always)]
    pub fn skip_whitespace(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    /// Skips white space, and accepts `byte` if it is next.
    #[inline(always)]
    pub fn accept(&mut self, byte: u8) -> bool {
        let found = self.peek_value() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Skips white space, and accepts `literal` (`true`, `false`, `null`) if it is next.
    pub fn accept_literal(&mut self, literal: &str) -> bool {
        self.skip_whitespace();
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let found = rest.starts_with(literal.as_bytes());
        if found {
            self.at += literal.len();
        }
        found
    }

    /// Reads a string.
    #[inline]
    pub fn string(&mut self) -> Result<RawStr<'a>, JsonError> {
        self.expect(b'"', JsonErrorKind::ExpectedString)?;
        let start = self.at;
        let mut has_escapes = false;
        let mut has_unicode_escapes = false;
        loop {
            let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
            self.at += plain_len(rest);
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    has_escapes = true;
                    has_unicode_escapes |= self.text.as_bytes().get(self.at + 1) == Some(&b'u');
                    self.escape()?;
                }
                Some(_) => return Err(self.error(JsonErrorKind::ControlCharacter)),
                None => return Err(self.error(JsonErrorKind::UnterminatedString)),
            }
        }
        let raw = self.since(start);
        self.at += 1;
        Ok(RawStr::new(raw, has_escapes, has_unicode_escapes))
    }

    /// Whether every backslash in the inside of a string begins a valid escape.
    pub(super) fn has_valid_escapes(raw: &'a str) -> bool {
        let mut scanner = Self::new(raw);
        loop {
            let rest = raw.as_bytes().get(scanner.at..).unwrap_or_default();
            scanner.at += plain_len(rest);
            match scanner.peek() {
                None => return true,
                Some(b'\\') if scanner.escape().is_ok() => {}
                Some(_) => return false,
            }
        }
    }

    /// Reads a number and returns its source.
    pub fn number(&mut self) -> Result<&'a str, JsonError> {
        self.skip_whitespace();
        let start = self.at;
        let otherwise =
            if self.take(b'-') { JsonErrorKind::InvalidNumber } else { JsonErrorKind::ExpectedNumber };
        if !self.take(b'0') {
            self.digits(otherwise)?;
        } else if let Some(b'0'..=b'9') = self.peek() {
            return Err(self.error(JsonErrorKind::InvalidNumber));
        }
        if self.take(b'.') {
            self.digits(JsonErrorKind::InvalidNumber)?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _sign = self.take(b'+') || self.take(b'-');
            self.digits(JsonErrorKind::InvalidNumber)?;
        }
        Ok(self.since(start))
    }

    /// Enters an object. Read its members with [`next_key`](Self::next_key).
    #[inline]
    pub fn begin_object(&mut self) -> Result<(), JsonError> {
        self.expect(b'{', JsonErrorKind::ExpectedObject)
    }

    /// Reads the next member's name and its colon, or leaves the object and returns `None`. Read the value before the
    /// next call. `first` is true before the first call; this method updates it.
    #[inline]
    pub fn next_key(&mut self, first: &mut bool) -> Result<Option<RawStr<'a>>, JsonError> {
        if self.accept(b'}') {
            return Ok(None);
        }
        if !*first {
            self.expect(b',', JsonErrorKind::ExpectedCommaOrBrace)?;
        }
        *first = false;
        self.key().map(Some)
    }

    /// Enters an array. Read its elements with [`next_element`](Self::next_element).
    #[inline]
    pub fn begin_array(&mut self) -> Result<(), JsonError> {
        self.expect(b'[', JsonErrorKind::ExpectedArray)
    }

    /// Moves to the next element and returns true, or leaves the array and returns false. Read the element before the
    /// next call. `first` is as in [`next_key`](Self::next_key).
    #[inline]
    pub fn next_element(&mut self, first: &mut bool) -> Result<bool, JsonError> {
        if self.accept(b']') {
            return Ok(false);
        }
        if !*first {
            self.expect(b',', JsonErrorKind::ExpectedCommaOrBracket)?;
        }
        *first = false;
        Ok(true)
    }

    /// Steps over one value of any kind, checking all of it.
    ///
    /// # Errors
    /// Also [`JsonErrorKind::TooDeep`], if the value itself has more than [`MAX_DEPTH`] levels.
    pub fn skip_value(&mut self) -> Result<(), JsonError> {
        let mut open = Open::default();
        loop {
            let opened = match self.peek_value() {
                Some(b'{') => Some(true),
                Some(b'[') => Some(false),
                _ => None,
            };
            let mut first = opened.is_some();
            match opened {
                None => self.skip_scalar()?,
                Some(is_object) => {
                    open.push(is_object).ok_or_else(|| self.error(JsonErrorKind::TooDeep))?;
                    self.at += 1;
                }
            }
            // Go to the next value, out of all containers that end here.
            loop {
                let more = match open.innermost() {
                    None => return Ok(()),
                    Some(true) => self.next_key(&mut first)?.is_some(),
                    Some(false) => self.next_element(&mut first)?,
                };
                if more {
                    break;
                }
                first = false;
                open.pop();
            }
        }
    }

    /// Skips one value of any kind, as [`skip_value`](Self::skip_value) does, and returns its source without
    /// surrounding white space.
    pub fn raw_value(&mut self) -> Result<&'a str, JsonError> {
        self.skip_whitespace();
        let start = self.at;
        self.skip_value()?;
        Ok(self.since(start))
    }

    /// Ends the document: only white space may follow.
    pub fn finish(&mut self) -> Result<(), JsonError> {
        match self.peek_value() {
            None => Ok(()),
            Some(_) => Err(self.error(JsonErrorKind::TrailingCharacters)),
        }
    }

    /// An error at this position, for callers with requirements of their own.
    #[cold]
    pub fn error(&self, what: JsonErrorKind) -> JsonError {
        JsonError { at: self.at, what }
    }

    #[inline]
    fn expect(&mut self, byte: u8, otherwise: JsonErrorKind) -> Result<(), JsonError> {
        if self.accept(byte) { Ok(()) } else { Err(self.error(otherwise)) }
    }

    #[inline]
    fn key(&mut self) -> Result<RawStr<'a>, JsonError> {
        let key = self.string()?;
        self.expect(b':', JsonErrorKind::ExpectedColon)?;
        Ok(key)
    }

    fn skip_scalar(&mut self) -> Result<(), JsonError> {
        let known = match self.peek() {
            Some(b'"') => return self.string().map(drop),
            Some(b'-' | b'0'..=b'9') => return self.number().map(drop),
            Some(b't') => self.accept_literal("true"),
            Some(b'f') => self.accept_literal("false"),
            Some(b'n') => self.accept_literal("null"),
            _ => false,
        };
        if known { Ok(()) } else { Err(self.error(JsonErrorKind::ExpectedValue)) }
    }

    /// Skips an escape, from its backslash on.
    fn escape(&mut self) -> Result<(), JsonError> {
        let escape = self.text.get(self.at + 1..).unwrap_or_default();
        let len = match escape.as_bytes().first() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
            Some(b'u') if escape.get(1..).and_then(four_hex).is_some() => 6,
            _ => return Err(self.error(JsonErrorKind::InvalidEscape)),
        };
        self.at += len;
        Ok(())
    }

    /// Skips `byte` if it is next.
    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Skips digits, at least one.
    fn digits(&mut self, otherwise: JsonErrorKind) -> Result<(), JsonError> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { Err(self.error(otherwise)) }
    }
}

/// The kinds of the containers around a position, the innermost in the lowest bit. A set bit is an object.
#[derive(Default)]
struct Open {
    kinds: u128,
    depth: u32,
}

impl Open {
    fn push(&mut self, is_object: bool) -> Option<()> {
        if self.depth == MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        self.kinds = self.kinds << 1 | u128::from(is_object);
        Some(())
    }

    fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.kinds >>= 1;
    }

    fn innermost(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.kinds & 1 == 1)
    }
}
