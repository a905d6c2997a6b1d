//! The hot path: a piece of text, read without building a document.
//!
//! Nearly every frame of a stream is such a piece, with a single field. [`Templates`] of earlier frames read it, as long
//! as it comes whole; a *scan* of the JSON creates them. All other frames go to the general reader. Both must agree;
//! property tests check this.

use std::convert::Infallible;

use crate::event::TextField;
use crate::json::Scanner;
use crate::protocol::template::{Known, Piece, Shape, Templates};
use crate::sse::WholeFrame;

/// Reads pieces of text.
#[derive(Debug, Default)]
pub(super) struct DeltaReader {
    templates: Templates<Infallible, TextField>,
}

impl DeltaReader {
    /// Reads the whole frame at the start of `bytes`, if it is a delta in its simple form.
    pub(super) fn read<'a>(&'a mut self, bytes: &'a [u8]) -> Option<Piece<'a, Infallible, TextField>> {
        self.templates.read(bytes, scan)
    }
}

/// The frame at the start of `bytes`, if it is such a delta.
fn scan(bytes: &[u8]) -> Option<Known<'_, Infallible, TextField>> {
    let frame = WholeFrame::of(bytes)?;
    let text = |(start, end)| str::from_utf8(bytes.get(start..end)?).ok();
    let meaning = match text(frame.event?)? {
        "text_delta" => TextField::Content,
        "thinking_delta" => TextField::Reasoning,
        _ => return None,
    };
    // The protocol has no ids.
    frame.id.is_none().then_some(())?;
    let mut scanner = Scanner::new(text(frame.data)?);
    let mut first = true;
    scanner.begin_object().ok()?;
    (scanner.next_key(&mut first).ok()??.plain()? == "delta").then_some(())?;
    let _ = scanner.peek_value();
    let at = scanner.at() + 1;
    let piece = scanner.string().ok()?;
    scanner.next_key(&mut first).ok()?.is_none().then_some(())?;
    scanner.finish().ok()?;
    let mut shape = Shape::new();
    shape.text(at, at + piece.raw().len());
    shape.shift(frame.data.0);
    Some(Known { frame: bytes.get(..frame.len)?, shape, meaning })
}
