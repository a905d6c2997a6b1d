//! Splits an event stream into its frames, byte for byte, and reads from each what the relay must know.
//!
//! A frame is kept as the agent wrote it, without its `id` and its comments: readers get the relay's own number. The
//! standard defines lines and the ends of frames (WHATWG HTML, section 9.2); the pages' decoder reads the fields.

use bytes::{Bytes, BytesMut};
use turnwire::sse::{Frame, FrameDecoder};

use crate::route::{Mark, Protocol};

/// The largest frame that is kept, in bytes.
pub(crate) const LARGEST: usize = 8 << 20;

/// One frame without its id, with the blank line that ends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) bytes: Bytes,
    /// What it shows about the turn's end.
    pub(crate) mark: Mark,
    /// The agent's number of the frame, if it is valid.
    pub(crate) number: Option<u64>,
}

/// A frame has more than [`LARGEST`] bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLarge;

/// Splits a stream that arrives in arbitrary chunks.
pub(crate) struct Splitter {
    protocol: Protocol,
    line: BytesMut,
    /// The last line ended in CR: a following LF belongs to it.
    after_cr: bool,
    /// Nothing was read yet: a byte order mark may follow.
    is_new: bool,
    frame: BytesMut,
    has_data: bool,
    /// The line with the frame's id.
    id: BytesMut,
    decoder: FrameDecoder,
}

impl Splitter {
    pub(crate) fn new(protocol: Protocol) -> Self {
        let decoder = FrameDecoder::with_limit(LARGEST + 1);
        let (line, frame, id) = (BytesMut::new(), BytesMut::new(), BytesMut::new());
        Self { protocol, line, after_cr: false, is_new: true, frame, has_data: false, id, decoder }
    }

    /// Adds the frames that these bytes complete.
    pub(crate) fn feed(&mut self, mut chunk: &[u8], cuts: &mut Vec<Cut>) -> Result<(), TooLarge> {
        while !chunk.is_empty() {
            if std::mem::take(&mut self.after_cr) && chunk[0] == b'\n' {
                chunk = &chunk[1..];
                continue;
            }
            let end = chunk.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let text = &chunk[..end.unwrap_or(chunk.len())];
            if self.line.len() + self.frame.len() + text.len() > LARGEST {
                return Err(TooLarge);
            }
            self.line.extend_from_slice(text);
            let Some(end) = end else { break };
            self.after_cr = chunk[end] == b'\r';
            chunk = &chunk[end + 1..];
            self.end_line(cuts);
        }
        Ok(())
    }

    /// Ends a line. Line ends become LF, which is equivalent in the standard.
    fn end_line(&mut self, cuts: &mut Vec<Cut>) {
        let line = self.line.split();
        let mut line = &line[..];
        if std::mem::take(&mut self.is_new) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            self.end_frame(cuts);
            return;
        }
        let name = line.split(|&byte| byte == b':').next().unwrap_or_default();
        if name == b"id" && self.protocol.has_cursor() {
            self.id.clear();
            self.id.extend_from_slice(line);
        }
        // A comment has no name. The agent's reconnection time does not apply to the relay.
        if matches!(name, b"" | b"id" | b"retry") {
            return;
        }
        self.has_data |= name == b"data";
        self.frame.extend_from_slice(line);
        self.frame.extend_from_slice(b"\n");
    }

    fn end_frame(&mut self, cuts: &mut Vec<Cut>) {
        let mut frame = self.frame.split();
        let id = self.id.split();
        // Without data, readers would ignore it.
        if !std::mem::take(&mut self.has_data) {
            return;
        }
        frame.extend_from_slice(b"\n");
        let (protocol, mut mark, mut number) = (self.protocol, Mark::Middle, None);
        let read = &mut |read: Frame<'_>| (mark, number) = (protocol.mark(&read), protocol.number(&read));
        // Together they have fewer bytes than the decoder's limit.
        if !id.is_empty() {
            let _ = self.decoder.feed(&id, read);
            let _ = self.decoder.feed(b"\n", read);
        }
        let _ = self.decoder.feed(&frame, read);
        cuts.push(Cut { bytes: frame.freeze(), mark, number });
    }
}

/// A kept frame as it is sent to readers. An empty frame stands for a number that the agent has skipped.
pub(crate) fn numbered(offset: u64, frame: &[u8], out: &mut BytesMut) {
    if frame.is_empty() {
        return;
    }
    out.extend_from_slice(format!("id: {offset}\n").as_bytes());
    out.extend_from_slice(frame);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(chunks: &[&[u8]]) -> Result<Vec<Cut>, TooLarge> {
        let (mut splitter, mut cuts) = (Splitter::new(Protocol::Aap), Vec::new());
        for chunk in chunks {
            splitter.feed(chunk, &mut cuts)?;
        }
        Ok(cuts)
    }

    fn texts(stream: &str) -> Vec<String> {
        let cuts = split(&[stream.as_bytes()]).expect("small frames");
        cuts.iter().map(|cut| String::from_utf8(cut.bytes.to_vec()).expect("text")).collect()
    }

    #[test]
    fn frames_keep_their_bytes_but_ids_and_comments() {
        let stream = "\u{FEFF}: hello\n\nid: 7\nevent: a\ndata: {\"x\":1}\ndata:  y\n\nretry: 1\n\n:\n\ndata\n\ndata: cut";
        assert_eq!(texts(stream), ["event: a\ndata: {\"x\":1}\ndata:  y\n\n", "data\n\n"]);
        assert_eq!(
            texts("data: 1\r\n\r\ndata: 2\r\rdata: 3\n\r\n"),
            ["data: 1\n\n", "data: 2\n\n", "data: 3\n\n"]
        );
        assert_eq!(texts("event: only\n\ndata: x\n\n"), ["data: x\n\n"]);
    }

    #[test]
    fn numbers_of_agents_that_keep_turns_are_their_own() {
        let (mut splitter, mut cuts) = (Splitter::new(Protocol::TrueFoundry), Vec::new());
        let stream = "data: {}\nid: 1\n\nid: 2\n\ndata: {\"sequence_number\":3}\n\ndata: {}\n\nid: 4\nid:5\ndata: {}\n\nid: x\ndata: {\"sequence_number\":6}\n\n";
        splitter.feed(stream.as_bytes(), &mut cuts).expect("small frames");
        let numbers: Vec<Option<u64>> = cuts.iter().map(|cut| cut.number).collect();
        assert_eq!(numbers, [Some(1), Some(3), None, Some(5), None]);
        assert_eq!(cuts[0].bytes, "data: {}\n\n");
    }

    #[test]
    fn a_frame_has_a_limit() {
        let line = vec![b'x'; LARGEST];
        assert_eq!(split(&[b"data: ", &line]), Err(TooLarge));
    }

    proptest! {
        /// The positions of the cuts change nothing, and the pages' decoder reads the same from both.
        #[test]
        fn chunks_may_be_cut_anywhere(
            stream in "(data: [a-z]{0,3}|id: [0-9]|: c|event: e|data|é|\r\n|\n|\r|\n\n){0,24}",
            at in any::<proptest::sample::Index>(),
        ) {
            let bytes = stream.as_bytes();
            let whole = split(&[bytes]).expect("small");
            let (left, right) = bytes.split_at(at.index(bytes.len() + 1));
            prop_assert_eq!(&split(&[left, right]).expect("small"), &whole);
            let read = |bytes: &[u8]| {
                let mut frames = Vec::new();
                let each = &mut |frame: turnwire::sse::Frame<'_>| frames.push((frame.event.to_owned(), frame.data.to_owned()));
                FrameDecoder::default().feed(bytes, each).expect("small");
                frames
            };
            let kept: Vec<u8> = whole.iter().flat_map(|cut| cut.bytes.to_vec()).collect();
            prop_assert_eq!(read(&kept), read(bytes));
        }
    }
}
