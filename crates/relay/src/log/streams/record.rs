//! What is written into a turn's stream: one record for each change. A server may hand out a stream's bytes in pieces of any size,
//! so each record says how long it is.
//!
//! A record is two lengths of four bytes, of all that follows the first and of the JSON that follows the second, most significant
//! byte first; then that JSON, and then the frames as they are.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use serde::{Deserialize, Serialize};

use super::super::{NewTurn, ResponseHead, TurnKey};
use crate::turn::End;

/// More than any append has: what claims to be longer is no record.
const LONGEST: usize = 64 << 20;

/// A change of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub(super) enum Record {
    /// The turn begins; or an owner makes it again, which the server has lost.
    Made { log: u64, epoch: u64, key: TurnKey, new: NewTurn, response: Option<ResponseHead> },
    /// Another owner takes it. `by` is random: two that want the same claim see which of them has it. It names the log: one that is late
    /// may find another turn of the same id.
    Claimed { log: u64, epoch: u64, by: u64 },
    /// Frames, the first of them at offset `at`, and what comes with them.
    Frames { epoch: u64, at: u64, lengths: Vec<usize>, response: Option<ResponseHead>, end: Option<End> },
    /// The owner lives, of this log and with this last frame: who has read on in another stream than it began with sees it.
    Beat {
        epoch: u64,
        #[serde(default)]
        log: Option<u64>,
        #[serde(default)]
        last: u64,
    },
    /// The turn never began: all of it is as if it had not been there.
    Removed { epoch: u64 },
}

impl Record {
    /// As it stands in the stream, with its frames.
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

/// The bytes are those of no record.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unreadable;

/// Reads records from pieces of a stream.
#[derive(Debug, Default)]
pub(super) struct Reader(BytesMut);

impl Reader {
    /// Takes what comes next in the stream.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// The next record that has come as a whole, with its frames.
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
                // A copy: a frame that is kept must not keep all that was read with it.
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
        /// However a stream is cut, its records are the same.
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

        /// Bytes of something else are refused, or more is waited for; never a panic.
        #[test]
        fn other_bytes_are_no_records(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut reader = Reader::default();
            reader.feed(&bytes);
            while let Ok(Some(_)) = reader.next() {}
        }
    }
}
