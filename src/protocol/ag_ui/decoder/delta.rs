//! The hot path: a piece of text, of reasoning or of arguments, read without building a document.
//!
//! Nearly every frame of a stream is such a piece. [`Templates`] of earlier frames read it if the frame is complete; a
//! *scan* of the JSON creates them. All other frames go to the general reader. Both must agree; property tests check
//! this.

use crate::json::{RawStr, Scanner, parse_u64};
use crate::protocol::template::{Known, Piece, Shape, Slot, Templates, whole_number};
use crate::sse::WholeFrame;

use super::reasoning_key;

/// Reads pieces.
#[derive(Debug, Default)]
pub(super) struct DeltaReader {
    templates: Templates<Time, Meaning>,
}

/// What a template's frames extend.
#[derive(Debug)]
pub(super) struct Meaning {
    /// Whether it is a call, and not a message.
    pub(super) is_arguments: bool,
    /// The call's id, or the message's key.
    pub(super) key: String,
}

/// The frame's time: a whole number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Time;

impl Slot for Time {
    type Found = ();

    fn read(self, rest: &[u8], _: &[u8], _: usize, (): &mut ()) -> Option<usize> {
        let (len, number) = whole_number(rest);
        // A JSON number does not begin with 0. An invalid one is left to the general reader.
        (number > 0 && rest.first() != Some(&b'0')).then_some(len)
    }
}

impl DeltaReader {
    /// Reads the whole frame at the start of `bytes`, if it is a piece in its simple form.
    pub(super) fn read<'a>(&'a mut self, bytes: &'a [u8]) -> Option<Piece<'a, Time, Meaning>> {
        self.templates.read(bytes, scan)
    }
}

/// The frame at the start of `bytes`, if it is such a piece.
fn scan(bytes: &[u8]) -> Option<Known<'_, Time, Meaning>> {
    let frame = WholeFrame::of(bytes)?;
    (frame.event.is_none() && frame.id.is_none()).then_some(())?;
    let mut scanner = Scanner::new(str::from_utf8(bytes.get(frame.data.0..frame.data.1)?).ok()?);
    let (mut kind, mut id, mut is_call, mut has_text, mut seen) = ("", None, false, false, 0_u8);
    let mut shape = Shape::new();
    let mut first = true;
    scanner.begin_object().ok()?;
    while let Some(key) = scanner.next_key(&mut first).ok()? {
        let name = key.plain()?;
        let at = ["type", "messageId", "toolCallId", "delta", "timestamp", "subagentRunId"];
        let at = at.iter().position(|known| *known == name)?;
        (seen & 1 << at == 0).then_some(())?;
        seen |= 1 << at;
        let next = scanner.peek_value();
        let start = scanner.at();
        if name == "timestamp" {
            let number = scanner.number().ok()?;
            (parse_u64(number.as_bytes())? > 0).then_some(())?;
            shape.hole(Time, start, start + number.len());
            continue;
        }
        (next? == b'"').then_some(())?;
        let value: RawStr<'_> = scanner.string().ok()?;
        match name {
            "type" => kind = value.plain()?,
            "messageId" | "toolCallId" => {
                is_call = name == "toolCallId";
                id.replace(value.plain()?).is_none().then_some(())?;
            }
            "delta" => {
                shape.text(start + 1, start + 1 + value.raw().len());
                has_text = true;
            }
            _ => drop(value.plain()?),
        }
    }
    scanner.finish().ok()?;
    has_text.then_some(())?;
    let key = match (kind, is_call) {
        ("TEXT_MESSAGE_CONTENT", false) | ("TOOL_CALL_ARGS", true) => id?.to_owned(),
        ("REASONING_MESSAGE_CONTENT", false) => reasoning_key(id?),
        _ => return None,
    };
    shape.shift(frame.data.0);
    Some(Known { frame: bytes.get(..frame.len)?, shape, meaning: Meaning { is_arguments: is_call, key } })
}
