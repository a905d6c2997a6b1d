//! The hot path: a piece of text, read without building a document.
//!
//! Nearly every frame of a stream is such a piece, with a single field. [`Templates`] of earlier frames read whole ones,
//! and a *scan* of the JSON creates them. All other frames go to the general reader. Both must agree with that reader;
//! property tests check this.

use std::convert::Infallible;

use crate::event::TextField;
use crate::json::{RawStr, Scanner};
use crate::protocol::template::{Known, Piece, Shape, Templates};
use crate::sse::WholeFrame;

/// The data before the piece of text.
const BEFORE: &str = "{\"delta\":\"";
/// The data after it.
const AFTER: &str = "\"}";

/// Reads pieces of text.
#[derive(Debug, Default)]
pub(super) struct DeltaReader {
    templates: Templates<Infallible, TextField>,
    /// A buffer for decoded text.
    text: String,
}

impl DeltaReader {
    /// The text of a delta, if `data` is one in its simple form.
    #[inline]
    pub(super) fn read<'a>(&'a mut self, data: &'a str) -> Option<&'a str> {
        let text = scan(data)?;
        if let Some(plain) = text.plain() {
            return Some(plain);
        }
        self.text.clear();
        text.unescape_into(&mut self.text);
        Some(&self.text)
    }

    /// Reads the whole frame at the start of `bytes`, if it is such a delta.
    pub(super) fn read_frame<'a>(&'a mut self, bytes: &'a [u8]) -> Option<Piece<'a, Infallible, TextField>> {
        self.templates.read(bytes, frame)
    }
}

/// The field that the frames of this name extend.
pub(super) fn field_of(event: &[u8]) -> Option<TextField> {
    match event {
        b"text_delta" => Some(TextField::Content),
        b"thinking_delta" => Some(TextField::Reasoning),
        _ => None,
    }
}

/// The text of a delta in its simple form.
#[inline]
fn scan(data: &str) -> Option<RawStr<'_>> {
    let quote = BEFORE.len() - 1;
    let value = data.starts_with(BEFORE).then(|| data.get(quote..))??;
    let mut scanner = Scanner::new(value);
    let text = scanner.string().ok()?;
    (value.get(scanner.at()..) == Some("}")).then_some(text)
}

/// Reads the frame at the start of `bytes`, if it is a delta.
fn frame(bytes: &[u8]) -> Option<Known<'_, Infallible, TextField>> {
    let frame = WholeFrame::of(bytes)?;
    let (start, end) = frame.event?;
    let meaning = field_of(bytes.get(start..end)?)?;
    // The protocol has no ids.
    frame.id.is_none().then_some(())?;
    let (start, end) = frame.data;
    scan(str::from_utf8(bytes.get(start..end)?).ok()?)?;
    let mut shape = Shape::new();
    shape.text(start + BEFORE.len(), end - AFTER.len());
    Some(Known { frame: bytes.get(..frame.len)?, shape, meaning })
}
