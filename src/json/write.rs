//! Writes compact JSON: no white space, members in their order.

use super::special::plain_len;
use super::{Object, Value};

impl Value<'_> {
    /// Appends the value's JSON to `out`. Numbers are written as in their source.
    ///
    /// Recursive: as deep as the value, which [`Value::parse`] limits.
    pub fn write(&self, out: &mut String) {
        match self {
            Value::Null => out.push_str("null"),
            Value::Bool(true) => out.push_str("true"),
            Value::Bool(false) => out.push_str("false"),
            Value::Number(text) => out.push_str(text),
            Value::String(text) => text.write(out),
            Value::Array(elements) => {
                out.push('[');
                for (at, element) in elements.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    element.write(out);
                }
                out.push(']');
            }
            Value::Object(members) => members.write(out),
        }
    }

    /// The value's JSON.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }
}

impl Object<'_> {
    /// Appends the object's JSON to `out`, as [`Value::write`] does.
    pub fn write(&self, out: &mut String) {
        let mut object = ObjectWriter::new(out);
        for (name, value) in self.iter() {
            object.value(name, value);
        }
        object.end();
    }

    /// The object's JSON.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }
}

/// Writes an object member by member.
///
/// ```
/// # use turnwire::json::ObjectWriter;
/// let mut body = String::new();
/// ObjectWriter::new(&mut body)
///     .str("input", "say \"hi\"")
///     .u64("after_sequence_number", 17)
///     .bool("stream", true)
///     .end();
/// assert_eq!(body, r#"{"input":"say \"hi\"","after_sequence_number":17,"stream":true}"#);
/// ```
#[derive(Debug)]
pub struct ObjectWriter<'o> {
    out: &'o mut String,
    first: bool,
}

impl<'o> ObjectWriter<'o> {
    /// Opens an object at the end of `out`.
    pub fn new(out: &'o mut String) -> Self {
        out.push('{');
        Self { out, first: true }
    }

    /// Writes a string member.
    pub fn str(&mut self, name: &str, value: &str) -> &mut Self {
        write_str(self.member(name), value);
        self
    }

    /// Writes an integer member.
    pub fn u64(&mut self, name: &str, value: u64) -> &mut Self {
        write_u64(self.member(name), value);
        self
    }

    /// Writes a member that is `true` or `false`.
    pub fn bool(&mut self, name: &str, value: bool) -> &mut Self {
        self.raw(name, if value { "true" } else { "false" })
    }

    /// Writes a member that is `null`.
    pub fn null(&mut self, name: &str) -> &mut Self {
        self.raw(name, "null")
    }

    /// Writes a member from JSON text; an empty text is `null`. Does not check the text.
    pub fn raw(&mut self, name: &str, json: &str) -> &mut Self {
        self.member(name).push_str(if json.is_empty() { "null" } else { json });
        self
    }

    /// Writes a member from a value.
    pub fn value(&mut self, name: &str, value: &Value<'_>) -> &mut Self {
        value.write(self.member(name));
        self
    }

    /// Writes a member's name, and lends the output to the code that writes its value, such as another
    /// [`ObjectWriter`].
    pub fn member(&mut self, name: &str) -> &mut String {
        if !self.first {
            self.out.push(',');
        }
        self.first = false;
        write_str(self.out, name);
        self.out.push(':');
        self.out
    }

    /// Closes the object. To be called once, last.
    pub fn end(&mut self) {
        self.out.push('}');
    }
}

/// Appends `text` to `out` as a JSON string with its quotes. Quotes, backslashes and control
/// characters are escaped; all else is left alone, U+2028 too.
pub fn write_str(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some((plain, special)) = rest.split_at_checked(plain_len(rest.as_bytes())) {
        out.push_str(plain);
        // What is special is ASCII.
        let Some((character, tail)) = special.split_at_checked(1) else {
            break;
        };
        write_escape(out, character);
        rest = tail;
    }
    out.push('"');
}

fn write_escape(out: &mut String, special: &str) {
    let byte = special.as_bytes().first().copied().unwrap_or_default();
    let escape = match byte {
        8 => "\\b",
        12 => "\\f",
        b'\n' => "\\n",
        b'\r' => "\\r",
        b'\t' => "\\t",
        b'"' => "\\\"",
        b'\\' => "\\\\",
        _ => {
            out.push_str("\\u00");
            write_hex(out, u16::from(byte), 2, b'a');
            return;
        }
    };
    out.push_str(escape);
}

/// Appends the last `digits` hexadecimal digits of `number` to `out`. `ten` is the digit ten: `b'a'` or `b'A'`.
pub(crate) fn write_hex(out: &mut String, number: u16, digits: u8, ten: u8) {
    for place in (0..digits).rev() {
        let digit = (number >> (4 * place) & 15) as u8;
        out.push(char::from(if digit < 10 { b'0' + digit } else { ten + digit - 10 }));
    }
}

/// Appends the decimal digits of `number` to `out`.
pub fn write_u64(out: &mut String, number: u64) {
    // The highest power of ten that is not above the number.
    let mut power = 1;
    while number / power >= 10 {
        power *= 10;
    }
    while power > 0 {
        // A digit is below ten: the conversion loses nothing.
        out.push(char::from(b'0' + (number / power % 10) as u8));
        power /= 10;
    }
}
