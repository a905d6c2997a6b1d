//! The incremental decoder: splits chunks into lines, collects a frame's fields, dispatches the frame.

use super::line::{field, line_len};
use super::whole::{frame_len, is_told_to_wait};
use super::{Frame, FrameError, FrameSink};
use crate::json::parse_u64;
use std::{fmt, mem, str};

/// The frame limit of [`FrameDecoder::default`]: 8 MiB.
pub const DEFAULT_LIMIT: usize = 8 * 1024 * 1024;

const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// How much of a frame that is split between chunks is kept together for a sink that takes runs, in bytes.
const MAX_HELD: usize = 2048;

/// Buffers that grew beyond this many bytes are freed after the frame that needed them.
const KEPT_CAPACITY: usize = 64 * 1024;

/// Decodes an event stream that arrives in chunks, cut anywhere.
///
/// A frame that lies inside one chunk is lent from it without a copy; only what a chunk boundary
/// cuts is buffered. Every byte is searched once, so the cost is linear however small the chunks.
///
/// # Text
/// Invalid UTF-8 becomes U+FFFD, one per maximal invalid part, as a streaming UTF-8 decoder would
/// give. Decoding each value alone is equal to that: lines end at ASCII bytes, and no
/// ASCII byte is ever part of a longer sequence, valid or not.
///
/// # Limit
/// A frame is too large as soon as its `data` so far (each line with its line end counted as one
/// byte) and the line being read have more bytes than the limit together. The verdict depends on
/// the bytes alone, not on where the chunks were cut. Every line counts while it is read, an unknown
/// field's too, since it must be held until it ends; a comment never counts, and is dropped as it
/// comes. At most the frame's data, one line, one event name and two ids are held, each no longer
/// than the limit.
pub struct FrameDecoder {
    limit: usize,
    failed: bool,
    /// The number of bytes of the byte order mark read so far; its whole length once the stream's start has passed.
    mark: usize,
    /// The last chunk ended in CR: an LF at the start of the next one belongs to it.
    after_cr: bool,
    /// The beginning of a frame, for a sink that takes runs. None of its lines was read yet.
    held: Vec<u8>,
    /// The unfinished line's bytes; for a comment only its colon.
    line: Vec<u8>,
    /// The length of the standard's data buffer: each line's value and its `\n`.
    data_size: usize,
    /// The frame's data, unless it is a single line still borrowed from a chunk.
    data: Vec<u8>,
    event: String,
    /// The unfinished frame's id, which takes effect when the frame ends.
    new_id: String,
    has_new_id: bool,
    /// UTF-8.
    last_id: Option<Vec<u8>>,
    retry: Option<u64>,
}

impl Default for FrameDecoder {
    fn default() -> Self {
        Self::with_limit(DEFAULT_LIMIT)
    }
}

impl fmt::Debug for FrameDecoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Only sizes: text of users or agents does not belong in a log.
        f.debug_struct("FrameDecoder")
            .field("limit", &self.limit)
            .field("failed", &self.failed)
            .field("data_size", &self.data_size)
            .field("line", &self.line.len())
            .finish_non_exhaustive()
    }
}

impl FrameDecoder {
    /// A decoder for frames of up to `max_frame_bytes` bytes.
    pub fn with_limit(max_frame_bytes: usize) -> Self {
        Self {
            limit: max_frame_bytes,
            failed: false,
            mark: 0,
            after_cr: false,
            held: Vec::new(),
            line: Vec::new(),
            data_size: 0,
            data: Vec::new(),
            event: String::new(),
            new_id: String::new(),
            has_new_id: false,
            last_id: None,
            retry: None,
        }
    }

    /// Takes the next bytes of the stream and lends each frame that they complete to `sink`.
    ///
    /// # Errors
    /// [`FrameError::TooLarge`], after the frames before the large one were delivered. The decoder
    /// then refuses every chunk with the same error until [`reset`](Self::reset).
    pub fn feed(&mut self, chunk: &[u8], sink: &mut dyn FnMut(Frame<'_>)) -> Result<(), FrameError> {
        self.take(chunk, |decoder, rest| {
            let held = mem::take(&mut decoder.held);
            for mut rest in [&*held, rest] {
                while !rest.is_empty() {
                    rest = decoder.feed_frame(rest, &mut Each(sink))?;
                }
            }
            Ok(())
        })
    }

    /// Takes the next bytes of the stream, and lends what they complete to `sink`: whole frames to its
    /// [`run`](FrameSink::run), and each frame that it does not take there to its [`frame`](FrameSink::frame).
    ///
    /// # Errors
    /// As [`feed`](Self::feed).
    pub fn feed_runs(&mut self, chunk: &[u8], sink: &mut dyn FrameSink) -> Result<(), FrameError> {
        self.take(chunk, |decoder, rest| {
            if decoder.held.is_empty() {
                decoder.feed_frames(rest, sink)
            } else {
                decoder.feed_held(rest, sink)
            }
        })
    }

    fn take(
        &mut self,
        chunk: &[u8],
        lines: impl FnOnce(&mut Self, &[u8]) -> Result<(), FrameError>,
    ) -> Result<(), FrameError> {
        if self.failed {
            return Err(FrameError::TooLarge { limit: self.limit });
        }
        let rest = self.skip_mark(chunk);
        let fed = lines(self, rest);
        if fed.is_err() {
            self.reset();
            self.failed = true;
        }
        fed
    }

    /// Continues a frame whose beginning is held.
    fn feed_held(&mut self, chunk: &[u8], sink: &mut dyn FrameSink) -> Result<(), FrameError> {
        let mut held = mem::take(&mut self.held);
        let before = held.len();
        let (piece, _) = chunk.split_at(chunk.len().min(MAX_HELD));
        held.extend_from_slice(piece);
        let mut rest = chunk;
        if let Some(len) = frame_len(&held) {
            held.truncate(len);
            rest = chunk.get(len.saturating_sub(before)..).unwrap_or_default();
        } else if piece.len() == chunk.len() && self.may_hold(&held) {
            self.held = held;
            return Ok(());
        } else {
            held.truncate(before);
        }
        self.feed_frames(&held, sink)?;
        // It will not be held again: it becomes a whole frame, or continues in what follows.
        let mut again = mem::take(&mut self.held);
        if !again.is_empty() {
            self.feed_frame(&again, sink)?;
        }
        again.clear();
        held.clear();
        self.feed_frames(rest, sink)?;
        if self.held.is_empty() {
            self.held = held;
        }
        Ok(())
    }

    /// Whether a frame's beginning may be kept together. Some fields count even if the frame never ends.
    fn may_hold(&self, beginning: &[u8]) -> bool {
        beginning.len() <= MAX_HELD.min(self.limit) && !is_told_to_wait(beginning)
    }

    fn feed_frames(&mut self, bytes: &[u8], sink: &mut dyn FrameSink) -> Result<(), FrameError> {
        let mut rest = bytes;
        while !rest.is_empty() {
            // Then no frame in it can be too large.
            if sink.takes_runs() && self.is_between_frames() && rest.len() <= self.limit {
                let run = sink.run(rest);
                if let Some(id) = run.id.and_then(|(start, end)| rest.get(start..end)) {
                    let last_id = self.last_id.get_or_insert_default();
                    last_id.clear();
                    last_id.extend_from_slice(id);
                }
                rest = rest.get(run.len..).unwrap_or_default();
                if rest.is_empty() {
                    return Ok(());
                }
                if rest.len() <= MAX_HELD && frame_len(rest).is_none() && self.may_hold(rest) {
                    self.held.extend_from_slice(rest);
                    return Ok(());
                }
            }
            rest = self.feed_frame(rest, sink)?;
        }
        Ok(())
    }

    /// Whether the next byte begins a frame.
    fn is_between_frames(&self) -> bool {
        self.line.is_empty()
            && self.data_size == 0
            && self.event.is_empty()
            && !self.has_new_id
            && !self.after_cr
            && self.mark == BYTE_ORDER_MARK.len()
    }

    /// The last reconnection time of the stream, in milliseconds.
    pub fn retry(&self) -> Option<u64> {
        self.retry
    }

    /// The last event id of the last frame that ended, to send as `Last-Event-ID`. A frame without data also ends, and
    /// sets its id, although it is not delivered.
    pub fn last_event_id(&self) -> Option<&str> {
        self.last_id.as_deref().and_then(|id| str::from_utf8(id).ok())
    }

    /// Starts over for a new connection: drops an unfinished frame, accepts a byte order mark again, and clears a
    /// failure. Keeps the last event id and the reconnection time.
    pub fn reset(&mut self) {
        self.failed = false;
        self.mark = 0;
        self.after_cr = false;
        self.held = Vec::new();
        self.line = Vec::new();
        self.data = Vec::new();
        self.clear_frame();
    }

    /// Ends the connection, as [`reset`](Self::reset) does, and returns whether an unterminated frame was discarded, as
    /// the standard requires: fields of a frame without its blank line, or a line without its end. Comments do not
    /// count, nor does what a failure has already dropped.
    pub fn finish(&mut self) -> bool {
        let held = mem::take(&mut self.held);
        // The held bytes do not contain a frame's end.
        let _ = self.feed_frame(&held, &mut Each(&mut |_| {}));
        let line_cut = !self.line.is_empty() && !is_comment(&self.line);
        let mark_cut = self.mark > 0 && self.mark < BYTE_ORDER_MARK.len();
        let fields = self.data_size > 0 || self.has_new_id || !self.event.is_empty();
        self.reset();
        line_cut || mark_cut || fields
    }

    /// Whether the bytes so far end within a frame or a comment. Less code than [`finish`](Self::finish), which looks closer.
    pub(crate) fn is_unfinished(&self) -> bool {
        let has_fields = self.data_size > 0 || self.has_new_id || !self.event.is_empty();
        has_fields || !self.held.is_empty() || !self.line.is_empty()
    }

    /// The bytes allocated for data that is split between chunks.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.line.capacity() + self.data.capacity() + self.held.capacity()
    }

    /// Drops the byte order mark at the stream's start, which chunks may split.
    fn skip_mark<'c>(&mut self, chunk: &'c [u8]) -> &'c [u8] {
        let mut rest = chunk;
        while let Some(expected) = BYTE_ORDER_MARK.get(self.mark) {
            let Some((first, tail)) = rest.split_first() else {
                break;
            };
            if first != expected {
                // Not a mark after all: these bytes begin the first line.
                self.line.extend_from_slice(BYTE_ORDER_MARK.get(..self.mark).unwrap_or_default());
                self.mark = BYTE_ORDER_MARK.len();
                break;
            }
            self.mark += 1;
            rest = tail;
        }
        rest
    }

    /// Reads the lines up to the end of a frame, or all of them; returns the rest.
    fn feed_frame<'c>(&mut self, bytes: &'c [u8], sink: &mut dyn FrameSink) -> Result<&'c [u8], FrameError> {
        let mut rest = bytes;
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        // Taken out, so that a line completed here is borrowed like one that lies in the chunk.
        let mut carried = mem::take(&mut self.line);
        let fed = self.feed_lines(&mut carried, rest, sink);
        self.line = carried;
        fed
    }

    fn feed_lines<'c>(
        &mut self,
        carried: &mut Vec<u8>,
        bytes: &'c [u8],
        sink: &mut dyn FrameSink,
    ) -> Result<&'c [u8], FrameError> {
        let mut rest = bytes;
        let mut lent = None;
        let mut has_ended = false;
        if !carried.is_empty() {
            let Some((end, tail)) = self.split_line(rest) else {
                self.carry(carried, rest)?;
                return Ok(&[]);
            };
            self.carry(carried, end)?;
            has_ended = self.end_line(carried, &mut lent, sink)?;
            rest = tail;
        }
        while !has_ended && let Some((line, tail)) = self.split_line(rest) {
            has_ended = self.end_line(line, &mut lent, sink)?;
            rest = tail;
        }
        if let Some(value) = lent {
            self.data.extend_from_slice(value);
        }
        empty(carried);
        if !has_ended {
            self.carry(carried, rest)?;
            rest = &[];
        }
        Ok(rest)
    }

    /// Splits the first line off `bytes`, if its end is there. A CR ends its line at once; an LF that follows in the
    /// next chunk is then skipped.
    #[inline]
    fn split_line<'c>(&mut self, bytes: &'c [u8]) -> Option<(&'c [u8], &'c [u8])> {
        let end = match bytes.first() {
            // The blank line of every frame needs no search.
            Some(b'\n') => 0,
            _ => line_len(bytes)?,
        };
        let (line, tail) = bytes.split_at_checked(end)?;
        let (terminator, mut tail) = tail.split_first()?;
        if *terminator == b'\r' {
            self.after_cr = tail.is_empty();
            tail = tail.strip_prefix(b"\n").unwrap_or(tail);
        }
        Some((line, tail))
    }

    /// Keeps a piece of an unfinished line; for a comment only its colon.
    fn carry(&self, line: &mut Vec<u8>, piece: &[u8]) -> Result<(), FrameError> {
        if is_comment(line) {
            return Ok(());
        }
        if line.is_empty() && is_comment(piece) {
            line.push(b':');
            return Ok(());
        }
        self.admit(line.len() + piece.len())?;
        line.extend_from_slice(piece);
        Ok(())
    }

    /// Refuses a line of `size` bytes if it would make the frame too large.
    #[inline]
    fn admit(&self, size: usize) -> Result<(), FrameError> {
        if self.data_size.saturating_add(size) > self.limit {
            return Err(FrameError::TooLarge { limit: self.limit });
        }
        Ok(())
    }

    /// Reads a whole line, without its end; returns whether it ends the frame. `lent` is the frame's data while that is
    /// a single line whose bytes outlive this feed.
    #[inline]
    fn end_line<'c>(
        &mut self,
        line: &'c [u8],
        lent: &mut Option<&'c [u8]>,
        sink: &mut dyn FrameSink,
    ) -> Result<bool, FrameError> {
        let Some(first) = line.first() else {
            self.end_frame(lent.take(), sink);
            return Ok(true);
        };
        if *first == b':' {
            return Ok(false);
        }
        self.admit(line.len())?;
        if let Some(value) = field(line, b"data") {
            self.add_data(value, lent);
        } else if let Some(value) = field(line, b"id") {
            if value.iter().all(|byte| *byte != 0) {
                set_text(&mut self.new_id, value);
                self.has_new_id = true;
            }
        } else if let Some(value) = field(line, b"event") {
            set_text(&mut self.event, value);
        } else if let Some(value) = field(line, b"retry") {
            // Only digits. A number beyond 64 bits is ignored, like any other invalid value.
            self.retry = parse_u64(value).or(self.retry);
        }
        Ok(false)
    }

    #[inline]
    fn add_data<'c>(&mut self, value: &'c [u8], lent: &mut Option<&'c [u8]>) {
        let is_first = self.data_size == 0;
        self.data_size += value.len() + 1;
        if is_first {
            *lent = Some(value);
            return;
        }
        if let Some(before) = lent.take() {
            self.data.extend_from_slice(before);
        }
        self.data.push(b'\n');
        self.data.extend_from_slice(value);
    }

    /// Dispatches the frame at its blank line: its id takes effect, and its data is delivered if it has any `data`
    /// line, even an empty one.
    #[inline]
    fn end_frame(&mut self, lent: Option<&[u8]>, sink: &mut dyn FrameSink) {
        if self.has_new_id {
            let last_id = self.last_id.get_or_insert_default();
            last_id.clear();
            last_id.extend_from_slice(self.new_id.as_bytes());
        }
        if self.data_size > 0 {
            let bytes = lent.unwrap_or(&self.data);
            let repaired;
            let data = if let Ok(text) = str::from_utf8(bytes) {
                text
            } else {
                repaired = lossy(bytes);
                &repaired
            };
            sink.frame(Frame {
                event: &self.event,
                data,
                id: self.last_event_id(),
                has_own_id: self.has_new_id,
            });
        }
        self.clear_frame();
    }

    #[inline]
    fn clear_frame(&mut self) {
        self.data_size = 0;
        if !self.data.is_empty() {
            empty(&mut self.data);
        }
        self.event.clear();
        self.has_new_id = false;
    }
}

/// Passes each frame to a closure.
struct Each<'s>(&'s mut dyn FnMut(Frame<'_>));

impl FrameSink for Each<'_> {
    fn frame(&mut self, frame: Frame<'_>) {
        (self.0)(frame);
    }
}

fn empty(buffer: &mut Vec<u8>) {
    buffer.clear();
    if buffer.capacity() > KEPT_CAPACITY {
        *buffer = Vec::new();
    }
}

fn is_comment(line: &[u8]) -> bool {
    line.first() == Some(&b':')
}

#[inline]
fn set_text(text: &mut String, bytes: &[u8]) {
    text.clear();
    match str::from_utf8(bytes) {
        Ok(valid) => text.push_str(valid),
        Err(_) => text.push_str(&lossy(bytes)),
    }
}

/// The standard library's own is three times as large in the module, and no simpler to use.
#[cold]
fn lossy(bytes: &[u8]) -> String {
    let mut text = String::new();
    let mut rest = bytes;
    loop {
        let (valid, broken) = match str::from_utf8(rest) {
            Ok(_) => (rest.len(), None),
            Err(error) => (error.valid_up_to(), error.error_len()),
        };
        let (valid, tail) = rest.split_at(valid);
        text.push_str(str::from_utf8(valid).unwrap_or_default());
        if tail.is_empty() {
            return text;
        }
        text.push(char::REPLACEMENT_CHARACTER);
        // Without a length, the end is invalid.
        rest = broken.and_then(|len| tail.get(len..)).unwrap_or_default();
    }
}
