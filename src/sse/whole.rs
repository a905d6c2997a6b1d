//! Whole frames in memory, for readers that take many at once.

use super::line::{field, line_len};

/// The lines of a simple frame: at most one of each kind, and no others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WholeFrame {
    /// The range of the data.
    pub data: (usize, usize),
    /// The range of the id, if there is one.
    pub id: Option<(usize, usize)>,
    /// The range of the event's name, if there is one.
    pub event: Option<(usize, usize)>,
    /// The frame's length, including its blank line.
    pub len: usize,
}

impl WholeFrame {
    /// The frame at the start of `bytes`: with one `data` line, at most one `id` line and at most one `event` line,
    /// which end in LF or in CR and LF. `None` for all other frames.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let (mut data, mut id, mut event) = (None, None, None);
        let mut at = 0;
        loop {
            let rest = bytes.get(at..)?;
            let len = line_len(rest)?;
            let (line, end) = rest.split_at_checked(len)?;
            let next = at + len + if end.starts_with(b"\n") { 1 } else { 2 };
            if !matches!(end, [b'\n', ..] | [b'\r', b'\n', ..]) {
                return None;
            }
            if line.is_empty() {
                return data.map(|data| Self { data, id, event, len: next });
            }
            let value = |name| field(line, name).map(|value| (at + len - value.len(), at + len));
            let is_first = if let Some(value) = value(b"data") {
                data.replace(value).is_none()
            } else if let Some(value) = value(b"id") {
                id.replace(value).is_none()
            } else {
                event.replace(value(b"event")?).is_none()
            };
            if !is_first {
                return None;
            }
            at = next;
        }
    }
}

/// The length of the frame at the start of `bytes`, including its blank line; `None` if that is missing.
pub(super) fn frame_len(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = bytes.get(at..)?;
        let len = line_len(rest)?;
        let end = rest.get(len..)?;
        at += len + if end.starts_with(b"\r\n") { 2 } else { 1 };
        if len == 0 {
            return Some(at);
        }
    }
}

/// Whether a frame's beginning may have a `retry` line, which counts before the frame ends.
pub(super) fn is_told_to_wait(beginning: &[u8]) -> bool {
    beginning.windows(5).any(|window| window == b"retry")
}
