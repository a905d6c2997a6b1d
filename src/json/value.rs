//! A whole JSON document in memory.

use super::{JsonError, JsonErrorKind, MAX_DEPTH, Object, Scanner, Text, parse_u64};
use std::borrow::Cow;

/// A JSON value, which borrows from its source what it can: numbers, and text unless `\u` escapes are in it.
///
/// # Memory
/// A node takes 16 bytes in wasm (32 on a 64-bit host), an object's member 28 (56); lists grow by
/// doubling, from four places on. Events take little more than their own text. At worst, in
/// millions of lists of one element, a document takes 31 times its length in wasm (measured with
/// `[[[[0]]]]`, over and over), which the limit on frames bounds. Nesting has its own limit.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Value<'a> {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number as written in the source, so that no digit is lost.
    Number(Cow<'a, str>),
    /// The text of a string.
    String(Text<'a>),
    /// An array's elements.
    Array(Vec<Value<'a>>),
    /// An object's members.
    Object(Object<'a>),
}

impl<'a> Value<'a> {
    /// Reads a document: one value, with nothing but white space around it.
    ///
    /// # Errors
    /// Also if arrays and objects are nested more than [`MAX_DEPTH`] deep.
    pub fn parse(text: &'a str) -> Result<Self, JsonError> {
        let mut scanner = Scanner::new(text);
        let value = Self::read(&mut scanner)?;
        scanner.finish()?;
        Ok(value)
    }

    /// Reads the value at the position of `scanner`.
    ///
    /// # Errors
    /// Also if the value itself has more than [`MAX_DEPTH`] levels.
    pub fn read(scanner: &mut Scanner<'a>) -> Result<Self, JsonError> {
        read_value(scanner, 0)
    }

    /// Whether the value is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The boolean, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// Whether the value is a string. Does not decode its escapes.
    pub fn is_string(&self) -> bool {
        matches!(self, Self::String(_))
    }

    /// The text, if it is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The number, if it is written as an integer and fits.
    pub fn as_i64(&self) -> Option<i64> {
        self.number_text()?.parse().ok()
    }

    /// The number, if it is written as an integer without sign and fits.
    pub fn as_u64(&self) -> Option<u64> {
        parse_u64(self.number_text()?.as_bytes())
    }

    /// The number's source, if it is a number.
    pub fn number_text(&self) -> Option<&str> {
        match self {
            Self::Number(text) => Some(text),
            _ => None,
        }
    }

    /// The elements, if it is an array.
    pub fn as_array(&self) -> Option<&[Value<'a>]> {
        match self {
            Self::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The elements, mutable, if it is an array.
    pub fn as_array_mut(&mut self) -> Option<&mut Vec<Value<'a>>> {
        match self {
            Self::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The members, if it is an object.
    pub fn as_object(&self) -> Option<&Object<'a>> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The members, mutable, if it is an object.
    pub fn as_object_mut(&mut self) -> Option<&mut Object<'a>> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The value of member `key`, if it is an object that has one.
    pub fn get(&self, key: &str) -> Option<&Value<'a>> {
        self.as_object()?.get(key)
    }

    /// The same value with its own copy of all text, independent of the source.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(value),
            Self::Number(text) => Value::Number(Cow::Owned(text.into_owned())),
            Self::String(text) => Value::String(text.into_owned()),
            Self::Array(elements) => Value::Array(elements.into_iter().map(Value::into_owned).collect()),
            Self::Object(members) => Value::Object(members.into_owned()),
        }
    }
}

impl From<bool> for Value<'_> {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<u64> for Value<'_> {
    fn from(value: u64) -> Self {
        let mut digits = String::new();
        super::write_u64(&mut digits, value);
        Self::Number(Cow::Owned(digits))
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::String(Cow::Borrowed(text).into())
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::String(Cow::<str>::Owned(text).into())
    }
}

impl<'a> From<Vec<Value<'a>>> for Value<'a> {
    fn from(elements: Vec<Value<'a>>) -> Self {
        Self::Array(elements)
    }
}

impl<'a> From<Object<'a>> for Value<'a> {
    fn from(members: Object<'a>) -> Self {
        Self::Object(members)
    }
}

fn read_value<'a>(scanner: &mut Scanner<'a>, depth: u32) -> Result<Value<'a>, JsonError> {
    let value = match scanner.peek_value() {
        Some(b'{') => return read_object(scanner, depth),
        Some(b'[') => return read_array(scanner, depth),
        Some(b'"') => Value::String(Text::of(scanner.string()?)),
        Some(b'-' | b'0'..=b'9') => Value::Number(Cow::Borrowed(scanner.number()?)),
        Some(b't') if scanner.accept_literal("true") => Value::Bool(true),
        Some(b'f') if scanner.accept_literal("false") => Value::Bool(false),
        Some(b'n') if scanner.accept_literal("null") => Value::Null,
        _ => return Err(scanner.error(JsonErrorKind::ExpectedValue)),
    };
    Ok(value)
}

fn read_object<'a>(scanner: &mut Scanner<'a>, depth: u32) -> Result<Value<'a>, JsonError> {
    let depth = deeper(scanner, depth)?;
    scanner.begin_object()?;
    let mut members = Object::new();
    let mut first = true;
    while let Some(key) = scanner.next_key(&mut first)? {
        members.push(key.unescape(), read_value(scanner, depth)?);
    }
    Ok(Value::Object(members))
}

fn read_array<'a>(scanner: &mut Scanner<'a>, depth: u32) -> Result<Value<'a>, JsonError> {
    let depth = deeper(scanner, depth)?;
    scanner.begin_array()?;
    let mut elements = Vec::new();
    let mut first = true;
    while scanner.next_element(&mut first)? {
        elements.push(read_value(scanner, depth)?);
    }
    Ok(Value::Array(elements))
}

fn deeper(scanner: &Scanner<'_>, depth: u32) -> Result<u32, JsonError> {
    if depth == MAX_DEPTH {
        return Err(scanner.error(JsonErrorKind::TooDeep));
    }
    Ok(depth + 1)
}
