//! The frames of one turn as they are sent, kept so that any reader can start anywhere.

use std::sync::Mutex;

use bytes::Bytes;
use tokio::sync::watch;

use crate::lock::lock;

/// An append-only list of frames. Frame `n` (from 1) is the one with sequence number `n`.
#[derive(Debug)]
pub(crate) struct EventLog {
    buffer: Mutex<Buffer>,
    /// Frames written so far, and whether there will be more: readers wait for a change.
    head: watch::Sender<Head>,
}

#[derive(Debug, Default)]
struct Buffer {
    bytes: Vec<u8>,
    /// Where each frame ends in `bytes`.
    ends: Vec<usize>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Head {
    frames: u64,
    closed: bool,
    expired: bool,
}

/// What a reader finds after its cursor.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// Frames, and the sequence number of the last one.
    Frames(Bytes, u64),
    /// Not enough yet.
    Pending,
    /// Nothing, and nothing will follow.
    End,
}

impl EventLog {
    pub(crate) fn new() -> Self {
        Self { buffer: Mutex::default(), head: watch::Sender::default() }
    }

    /// Appends the frame that `write` puts into the buffer, given its sequence number.
    pub(crate) fn append(&self, write: impl FnOnce(u64, &mut Vec<u8>)) {
        let frames = {
            let mut buffer = lock(&self.buffer);
            let sequence = buffer.ends.len() as u64 + 1;
            write(sequence, &mut buffer.bytes);
            let end = buffer.bytes.len();
            buffer.ends.push(end);
            sequence
        };
        self.head.send_modify(|head| head.frames = frames);
    }

    /// No frame follows.
    pub(crate) fn close(&self) {
        self.head.send_modify(|head| head.closed = true);
    }

    /// From now on, readers at any position find the end; only the record remains.
    pub(crate) fn expire(&self) {
        self.head.send_modify(|head| head.expired = true);
    }

    pub(crate) fn is_expired(&self) -> bool {
        self.head.borrow().expired
    }

    /// All frames so far, to check what readers received.
    pub(crate) fn recorded(&self) -> Bytes {
        Bytes::copy_from_slice(&lock(&self.buffer).bytes)
    }

    /// Frames after the cursor: at least `least` (fewer only at the end), at most `most`, and no
    /// more than about `bytes` bytes.
    pub(crate) fn read(&self, after: u64, least: usize, most: usize, bytes: usize) -> Read {
        let Head { closed, expired, .. } = *self.head.borrow();
        if expired {
            return Read::End;
        }
        let buffer = lock(&self.buffer);
        let after = usize::try_from(after).unwrap_or(usize::MAX);
        let available = buffer.ends.len().saturating_sub(after);
        if available == 0 || (available < least && !closed) {
            return if closed { Read::End } else { Read::Pending };
        }
        let start = if after == 0 { 0 } else { buffer.ends[after - 1] };
        let candidates = &buffer.ends[after..after + available.min(most)];
        let fitting = candidates.partition_point(|end| end - start <= bytes);
        let count = fitting.max(least.min(candidates.len())).max(1);
        let end = after + count;
        let frames = Bytes::copy_from_slice(&buffer.bytes[start..buffer.ends[end - 1]]);
        Read::Frames(frames, end as u64)
    }

    /// Waits until there are this many frames, or no more will come.
    pub(crate) async fn reaches(&self, frames: u64) {
        let mut head = self.head.subscribe();
        // The sender lives in `self`, so waiting cannot fail.
        let _ = head.wait_for(|head| head.closed || head.expired || head.frames >= frames).await;
    }

    /// Waits until the log is closed.
    pub(crate) async fn closed(&self) {
        let mut head = self.head.subscribe();
        let _ = head.wait_for(|head| head.closed).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(frames: &[&str]) -> EventLog {
        let log = EventLog::new();
        for frame in frames {
            log.append(|_, bytes| bytes.extend_from_slice(frame.as_bytes()));
        }
        log
    }

    fn frames(text: &'static str, last: u64) -> Read {
        Read::Frames(Bytes::from_static(text.as_bytes()), last)
    }

    #[test]
    fn reads_from_any_cursor() {
        let log = log(&["one", "two", "three"]);
        assert_eq!(log.read(0, 1, 99, 99), frames("onetwothree", 3));
        assert_eq!(log.read(1, 1, 1, 99), frames("two", 2));
        assert_eq!(log.read(3, 1, 99, 99), Read::Pending);
        assert_eq!(log.read(u64::MAX, 1, 99, 99), Read::Pending);
        log.close();
        assert_eq!(log.read(3, 1, 99, 99), Read::End);
    }

    #[test]
    fn a_byte_limit_never_stops_a_reader() {
        let log = log(&["one", "two", "three"]);
        assert_eq!(log.read(0, 1, 99, 6), frames("onetwo", 2));
        assert_eq!(log.read(0, 1, 99, 1), frames("one", 1));
    }

    #[test]
    fn batches_are_whole_until_the_end() {
        let log = log(&["one", "two", "three"]);
        assert_eq!(log.read(0, 2, 2, 99), frames("onetwo", 2));
        assert_eq!(log.read(2, 2, 2, 99), Read::Pending);
        log.close();
        assert_eq!(log.read(2, 2, 2, 99), frames("three", 3));
    }

    #[test]
    fn an_expired_log_is_at_its_end_and_on_record() {
        let log = log(&["one"]);
        log.expire();
        assert!(log.is_expired());
        assert_eq!(log.read(0, 1, 99, 99), Read::End);
        log.append(|_, bytes| bytes.extend_from_slice(b"two"));
        assert_eq!(log.read(0, 1, 99, 99), Read::End);
        assert_eq!(log.recorded(), "onetwo");
    }
}
