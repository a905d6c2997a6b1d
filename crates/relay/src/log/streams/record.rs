//! The records in a turn's stream, one for each change. A server may split a stream's bytes anywhere, so records
//! contain their lengths.
//!
//! A record is two lengths of four bytes, big-endian: that of everything after the first length, and that of the JSON
//! after the second. Then come the JSON and the frames as they are.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use serde::{Deserialize, Serialize};

use super::super::{NewTurn, ResponseHead, TurnKey};
use crate::turn::End;

/// More than any append has: anything longer is not a record.
const LONGEST: usize = 64 << 20;

/// A change of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub(super) enum Record {
    /// The turn begins, or its owner restores it after the server has lost it.
    Made { log: u64, epoch: u64, key: TurnKey, new: NewTurn, response: Option<ResponseHead> },
    /// Another owner takes the turn. `by` is random, so that two relays with the same claim can tell which of them has
    /// it. `log` matters because a late claim may find another turn with the same id.
    Claimed { log: u64, epoch: u64, by: u64 },
    /// Frames, the first of them at offset `at`, and the rest of the change.
    Frames { epoch: u64, at: u64, lengths: Vec<usize>, response: Option<ResponseHead>, end: Option<End> },
    /// The owner of this log is alive, with this last frame. It shows readers whether the stream was replaced.
    Beat {
        epoch: u64,
        #[serde(default)]
        log: Option<u64>,
        #[serde(default)]
        last: u64,
    },
    /// The turn never began, and counts as nonexistent.
    Removed { epoch: u64 },
}

impl Record {
    /// The record's bytes in the stream, including its frames.
    pub(super) fn written(&self, frames: &[Bytes]) -> Result<Bytes, serde_json::Error> {
        let head = serde_json::to_vec(self)?;
        let size = 4 + head.len() + frames.iter().map(Bytes::len).sum::<usize>();
        let mut bytes = BytesMut::with_capacity(4 + size);
        for length in [size, head.len()] {
            bytes.put_u32(u32::try_from(length).unwrap_or(u32::MAX));
        }
        bytes.put_slice(&head);
        for frame in frames {
            bytes.put_slice(frame);
        }
        Ok(bytes.freeze())
    }
}

/// The bytes are not a record.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unreadable;

/// Parses records from pieces of a stream.
#[derive(Debug, Default)]
pub(super) struct Reader(BytesMut);

impl Reader {
    /// Adds the next bytes of the stream.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// The next complete record, with its frames.
    pub(super) fn next(&mut self) -> Result<Option<(Record, Vec<Bytes>)>, Unreadable> {
        let Some(mut lengths) = self.0.get(..4) else { return Ok(None) };
        let size = lengths.get_u32() as usize;
        if !(4..=LONGEST).contains(&size) {
            return Err(Unreadable);
        }
        if self.0.len() < 4 + size {
            return Ok(None);
        }
        let mut bytes = self.0.split_to(4 + size);
        bytes.advance(4);
        let head = bytes.get_u32() as usize;
        if head > bytes.len() {
            return Err(Unreadable);
        }
        let record: Record = serde_json::from_slice(&bytes.split_to(head)).map_err(|_| Unreadable)?;
        let mut frames = Vec::new();
        if let Record::Frames { lengths, .. } = &record {
            for &length in lengths {
                if length > bytes.len() {
                    return Err(Unreadable);
                }
                // A copy, so that a kept frame does not keep the whole read buffer.
                frames.push(Bytes::copy_from_slice(&bytes.split_to(length)));
            }
        }
        if bytes.is_empty() { Ok(Some((record, frames))) } else { Err(Unreadable) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// However a stream is split, its records are the same.
        #[test]
        fn records_are_read_from_pieces(
            frames in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..5),
            size in 1..50usize,
        ) {
            let frames: Vec<Bytes> = frames.into_iter().map(Bytes::from).collect();
            let lengths = frames.iter().map(Bytes::len).collect();
            let records = [
                (Record::Frames { epoch: 3, at: 9, lengths, response: None, end: Some(End::Done) }, frames),
                (Record::Beat { epoch: u64::MAX, log: Some(1), last: 2 }, Vec::new()),
            ];
            let written: Vec<u8> = records
                .iter()
                .flat_map(|(record, frames)| record.written(frames).expect("written").to_vec())
                .collect();
            let (mut reader, mut read) = (Reader::default(), Vec::new());
            for piece in written.chunks(size) {
                reader.feed(piece);
                while let Some(record) = reader.next().expect("a record") {
                    read.push(record);
                }
            }
            prop_assert_eq!(read.as_slice(), records.as_slice());
        }

        /// Other bytes are refused, or the reader waits for more; it never panics.
        #[test]
        fn other_bytes_are_no_records(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut reader = Reader::default();
            reader.feed(&bytes);
            while let Ok(Some(_)) = reader.next() {}
        }
    }
}
