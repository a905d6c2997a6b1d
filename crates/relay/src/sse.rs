//! Cuts an event stream into its frames, byte for byte, and reads from each what the relay must know.
//!
//! A frame is kept as the agent wrote it, less its `id` and its comments: readers get the relay's own number. What counts as a
//! line and as a frame's end is in the standard (WHATWG HTML, section 9.2); the fields are read by the decoder that pages use.

use bytes::{Bytes, BytesMut};
use turnwire::sse::FrameDecoder;

use crate::route::{Mark, Protocol};

/// The largest frame that is kept, in bytes.
pub(crate) const LARGEST: usize = 8 << 20;

/// One frame, without an id, with the blank line that ends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) bytes: Bytes,
    /// What it says about the turn's end.
    pub(crate) mark: Mark,
}

/// A frame has more than [`LARGEST`] bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLarge;

/// Takes a stream in chunks, cut anywhere.
pub(crate) struct Splitter {
    protocol: Protocol,
    line: BytesMut,
    /// The last line ended in CR: an LF that follows belongs to it.
    after_cr: bool,
    /// Nothing was read yet: a byte order mark may follow.
    is_new: bool,
    frame: BytesMut,
    has_data: bool,
    decoder: FrameDecoder,
}

impl Splitter {
    pub(crate) fn new(protocol: Protocol) -> Self {
        let decoder = FrameDecoder::with_limit(LARGEST + 1);
        let (line, frame) = (BytesMut::new(), BytesMut::new());
        Self { protocol, line, after_cr: false, is_new: true, frame, has_data: false, decoder }
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

    /// A line has ended. Line ends become LF: the standard's readers know no difference.
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
        // A comment has no name. The agent's pace of reconnecting is not the relay's.
        if matches!(name, b"" | b"id" | b"retry") {
            return;
        }
        self.has_data |= name == b"data";
        self.frame.extend_from_slice(line);
        self.frame.extend_from_slice(b"\n");
    }

    fn end_frame(&mut self, cuts: &mut Vec<Cut>) {
        let mut frame = self.frame.split();
        // Without data no reader would dispatch it.
        if !std::mem::take(&mut self.has_data) {
            return;
        }
        frame.extend_from_slice(b"\n");
        let (protocol, mut mark) = (self.protocol, Mark::Middle);
        // It has fewer bytes than the decoder's limit.
        let _ = self.decoder.feed(&frame, &mut |read| mark = protocol.mark(&read));
        cuts.push(Cut { bytes: frame.freeze(), mark });
    }
}

/// A kept frame as readers get it.
pub(crate) fn numbered(offset: u64, frame: &[u8], out: &mut BytesMut) {
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
    fn a_frame_has_a_limit() {
        let line = vec![b'x'; LARGEST];
        assert_eq!(split(&[b"data: ", &line]), Err(TooLarge));
    }

    proptest! {
        /// Where the chunks are cut changes nothing, and the decoder of pages reads the same from both.
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
