//! The text of a string in a document.

use super::RawStr;
use super::write::write_str;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Deref;
use std::rc::Rc;

/// The text of a JSON string, as a `str`.
///
/// A string with escapes keeps its source form until its text is needed. Tool results have an escape in every line, and
/// most of them are only written again.
#[derive(Debug, Clone)]
pub struct Text<'a>(Form<'a>);

#[derive(Debug, Clone)]
enum Form<'a> {
    Plain(Cow<'a, str>),
    Escaped(Rc<Escaped<'a>>),
}

#[derive(Debug)]
struct Escaped<'a> {
    raw: RawStr<'a>,
    text: OnceCell<String>,
}

impl<'a> Text<'a> {
    /// The text of a string in a source.
    pub(super) fn of(raw: RawStr<'a>) -> Self {
        // `\u` escapes may need replacement: lone surrogates.
        if raw.has_escapes() && !raw.has_unicode_escapes() {
            Self(Form::Escaped(Rc::new(Escaped { raw, text: OnceCell::new() })))
        } else {
            Self(Form::Plain(raw.unescape()))
        }
    }

    /// The same text with its own copy, independent of the source.
    #[must_use]
    pub fn into_owned(self) -> Text<'static> {
        Text(Form::Plain(Cow::Owned(match self.0 {
            Form::Plain(text) => text.into_owned(),
            Form::Escaped(escaped) => escaped.raw.unescape().into_owned(),
        })))
    }

    /// Appends the string's JSON.
    pub(super) fn write(&self, out: &mut String) {
        match &self.0 {
            Form::Plain(text) => write_str(out, text),
            Form::Escaped(escaped) => {
                out.push('"');
                out.push_str(escaped.raw.raw());
                out.push('"');
            }
        }
    }
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match &self.0 {
            Form::Plain(text) => text,
            Form::Escaped(escaped) => escaped.text.get_or_init(|| escaped.raw.unescape().into_owned()),
        }
    }
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<'a> From<Cow<'a, str>> for Text<'a> {
    fn from(text: Cow<'a, str>) -> Self {
        Self(Form::Plain(text))
    }
}
