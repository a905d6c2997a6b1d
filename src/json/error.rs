//! Where a text stops being JSON, and why.

use std::fmt;

/// A text that is not the JSON that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonError {
    /// The byte offset at which reading stopped.
    pub at: usize,
    /// What was wrong there.
    pub what: JsonErrorKind,
}

/// What was wrong with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonErrorKind {
    /// No value begins here.
    ExpectedValue,
    /// Not the string that the caller, or an object's member, needs.
    ExpectedString,
    /// Not the number that the caller needs.
    ExpectedNumber,
    /// Not the object that the caller needs.
    ExpectedObject,
    /// Not the array that the caller needs.
    ExpectedArray,
    /// A member's name without `:`.
    ExpectedColon,
    /// A member followed neither by another nor by the object's end.
    ExpectedCommaOrBrace,
    /// An element followed neither by another nor by the array's end.
    ExpectedCommaOrBracket,
    /// The text ends inside a string.
    UnterminatedString,
    /// A raw control character inside a string.
    ControlCharacter,
    /// A backslash that begins no escape.
    InvalidEscape,
    /// A number with a leading zero, or without digits where there must be some.
    InvalidNumber,
    /// More nested arrays and objects than [`MAX_DEPTH`](super::MAX_DEPTH).
    TooDeep,
    /// The document is over, the text is not.
    TrailingCharacters,
}

impl JsonErrorKind {
    fn message(self) -> &'static str {
        match self {
            Self::ExpectedValue => "expected a value",
            Self::ExpectedString => "expected a string",
            Self::ExpectedNumber => "expected a number",
            Self::ExpectedObject => "expected an object",
            Self::ExpectedArray => "expected an array",
            Self::ExpectedColon => "expected `:`",
            Self::ExpectedCommaOrBrace => "expected `,` or `}`",
            Self::ExpectedCommaOrBracket => "expected `,` or `]`",
            Self::UnterminatedString => "unterminated string",
            Self::ControlCharacter => "control character in a string",
            Self::InvalidEscape => "invalid escape",
            Self::InvalidNumber => "invalid number",
            Self::TooDeep => "nested too deeply",
            Self::TrailingCharacters => "characters after the document",
        }
    }
}

impl JsonError {
    /// The error in words. Made without the standard library's formatting, which would weigh more in the
    /// module than all of this folder.
    #[must_use]
    pub fn message(&self) -> String {
        let mut message = self.what.message().to_owned();
        message.push_str(" at byte ");
        super::write_u64(&mut message, self.at as u64);
        message
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

impl std::error::Error for JsonError {}
