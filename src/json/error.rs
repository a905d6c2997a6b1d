//! Errors of invalid JSON: the position and the reason.

use std::fmt;

/// The text is not the requested JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonError {
    /// The byte offset at which reading stopped.
    pub at: usize,
    /// The reason.
    pub what: JsonErrorKind,
}

/// Why a text is not the requested JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonErrorKind {
    /// No value begins here.
    ExpectedValue,
    /// Not the string that the caller or an object requires.
    ExpectedString,
    /// Not the number that the caller requires.
    ExpectedNumber,
    /// Not the object that the caller requires.
    ExpectedObject,
    /// Not the array that the caller requires.
    ExpectedArray,
    /// A member's name without `:`.
    ExpectedColon,
    /// A member is followed neither by another one nor by the object's end.
    ExpectedCommaOrBrace,
    /// An element is followed neither by another one nor by the array's end.
    ExpectedCommaOrBracket,
    /// The text ends inside a string.
    UnterminatedString,
    /// A raw control character inside a string.
    ControlCharacter,
    /// A backslash that begins no escape.
    InvalidEscape,
    /// A number with a leading zero, or without required digits.
    InvalidNumber,
    /// More nested arrays and objects than [`MAX_DEPTH`](super::MAX_DEPTH).
    TooDeep,
    /// Text follows the document.
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
    /// The error as text. Built without the standard library's formatting, which would add more to the module than this
    /// whole folder.
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
