//! Applies faults to the frames of a WebSocket: omits, repeats and swaps them, inserts malformed ones,
//! and ends them.

use axum::extract::ws::Utf8Bytes;
use bytes::Bytes;

use super::fault::{Ending, Fault, Malformed, Mark};

/// The replacement of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OutFrame {
    Text(Utf8Bytes),
    Bytes(Bytes),
}

impl From<String> for OutFrame {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

/// Applies faults to the frames that are written on one socket. It counts them from its own beginning: from the
/// first of the socket, or from the one that answers the request for which it was planned.
#[derive(Debug)]
pub(crate) struct MessageEditor {
    faults: Vec<Fault>,
    /// Frames received so far.
    seen: u64,
    /// Frames and bytes written so far.
    written: u64,
    bytes: u64,
    /// A frame that is written after the next one.
    held: Option<OutFrame>,
    /// All frames so far, for a replay.
    kept: Option<Vec<OutFrame>>,
}

impl MessageEditor {
    pub(crate) fn new(faults: Vec<Fault>) -> Self {
        let replays = faults.iter().any(|fault| matches!(fault, Fault::Replay(_)));
        Self { faults, seen: 0, written: 0, bytes: 0, held: None, kept: replays.then(Vec::new) }
    }

    /// How it ends before the first frame, if it does.
    pub(crate) fn begin(&self) -> Option<Ending> {
        self.ending()
    }

    /// Returns what is written for a frame, and how the socket ends after it. `is_last` says of a text whether it
    /// is the last of a turn.
    pub(crate) fn edit(
        &mut self,
        frame: OutFrame,
        is_last: impl Fn(&str) -> bool,
    ) -> (Vec<OutFrame>, Option<Ending>) {
        self.seen += 1;
        if let Some(kept) = &mut self.kept {
            kept.push(frame.clone());
        }
        let last = matches!(&frame, OutFrame::Text(text) if is_last(text));
        let mut made = Vec::new();
        let mut ending = None;
        if last && self.faults.contains(&Fault::NoDone) {
            ending = Some(Ending::Eof);
        } else {
            made = self.apply(frame, last);
        }
        let mut written = Vec::new();
        for frame in made {
            self.written += 1;
            self.bytes += frame.len();
            written.push(frame);
            if let Some(end) = self.ending() {
                ending = Some(end);
                break;
            }
        }
        (written, ending)
    }

    fn apply(&mut self, frame: OutFrame, last: bool) -> Vec<OutFrame> {
        let number = self.seen;
        let is_left_out =
            |fault: &Fault| matches!(fault, Fault::Gap(run) | Fault::Hole(run) if run.contains(number));
        let mut made = Vec::new();
        if self.faults.contains(&Fault::Reorder(number)) {
            self.held = Some(frame);
            return made;
        }
        if !self.faults.iter().any(is_left_out) {
            made.push(frame.clone());
        }
        made.extend(self.held.take());
        for fault in &self.faults {
            match fault {
                Fault::Duplicate(at) if *at == number => made.push(frame.clone()),
                Fault::TwoDones if last => made.push(frame.clone()),
                Fault::Replay(at) if *at == number => made.extend(self.kept.iter().flatten().cloned()),
                Fault::Giant { after, bytes } if *after == number => made.push(giant(*bytes)),
                Fault::Malformed { after, kind } if *after == number => made.push(malformed(*kind)),
                _ => {}
            }
        }
        made
    }

    fn ending(&self) -> Option<Ending> {
        self.faults.iter().find_map(|fault| match fault {
            Fault::End(Mark::Events(frames), ending) if self.written >= *frames => Some(*ending),
            Fault::End(Mark::Bytes(bytes), ending) if self.bytes >= *bytes => Some(*ending),
            _ => None,
        })
    }
}

impl OutFrame {
    fn len(&self) -> u64 {
        match self {
            Self::Text(text) => text.len() as u64,
            Self::Bytes(bytes) => bytes.len() as u64,
        }
    }
}

/// A notification of an unknown method, of exactly this size.
fn giant(bytes: usize) -> OutFrame {
    let (before, after) = (r#"{"jsonrpc":"2.0","method":"x/giant","params":{"padding":""#, r#""}}"#);
    let padding = "x".repeat(bytes.saturating_sub(before.len() + after.len()));
    format!("{before}{padding}{after}").into()
}

fn malformed(kind: Malformed) -> OutFrame {
    let text = match kind {
        Malformed::Json => r#"{"jsonrpc":"2.0","method":"item/started","params":{"workspace_id":"#,
        Malformed::Number => "42",
        Malformed::Batch => r#"[{"jsonrpc":"2.0","method":"x/first"},{"jsonrpc":"2.0","method":"x/second"}]"#,
        Malformed::NoVersion => r#"{"method":"x/unversioned","params":{}}"#,
        Malformed::NoParams => r#"{"jsonrpc":"2.0","method":"item/started"}"#,
        Malformed::Empty => "",
        Malformed::Binary => return OutFrame::Bytes(Bytes::from_static(&[0, 0xff, 0xfe, 0x80])),
    };
    text.to_owned().into()
}

#[cfg(test)]
mod tests {
    use super::super::grammar::Grammar;
    use super::super::trap::TrapKind;
    use super::*;

    fn editor(faults: &str) -> MessageEditor {
        MessageEditor::new(
            Grammar::new([TrapKind::new("unknown-type", "")]).parse(faults).expect("faults").list,
        )
    }

    /// What is written for the frames `1`, `2`, `3`, `4`, of which the last ends the turn.
    fn applied(faults: &str) -> (String, Option<Ending>) {
        let mut editor = editor(faults);
        let mut written = Vec::new();
        for number in 1..=4 {
            let (frames, ending) = editor.edit(number.to_string().into(), |text| text == "4");
            written.extend(frames.into_iter().map(|frame| match frame {
                OutFrame::Text(text) if text.len() > 3 => "x".to_owned(),
                OutFrame::Text(text) => text.as_str().to_owned(),
                OutFrame::Bytes(_) => "b".to_owned(),
            }));
            if ending.is_some() {
                return (written.join(" "), ending);
            }
        }
        (written.join(" "), None)
    }

    #[test]
    fn frames_are_changed_by_their_numbers() {
        for (faults, written) in [
            ("duplicate:2", "1 2 2 3 4"),
            ("reorder:2", "1 3 2 4"),
            ("gap:2:2", "1 4"),
            ("replay:2", "1 2 1 2 3 4"),
            ("giant:1:100", "1 x 2 3 4"),
            ("malformed:3", "1 2 3 x 4"),
            ("malformed:3:binary", "1 2 3 b 4"),
            ("malformed:3:number", "1 2 3 42 4"),
            ("two-dones", "1 2 3 4 4"),
            ("unknown-type", "1 2 3 4"),
        ] {
            assert_eq!(applied(faults), (written.to_owned(), None), "{faults}");
        }
    }

    #[test]
    fn ends_count_what_is_written() {
        for (faults, written, ending) in [
            ("eof:2", "1 2", Ending::Eof),
            ("duplicate:1+reset:2", "1 1", Ending::Reset),
            ("gap:1:2+stall:1", "3", Ending::Stall),
            ("reset-bytes:3", "1 2 3", Ending::Reset),
            ("no-done", "1 2 3", Ending::Eof),
        ] {
            assert_eq!(applied(faults), (written.to_owned(), Some(ending)), "{faults}");
        }
        assert_eq!(editor("stall:0").begin(), Some(Ending::Stall));
    }

    #[test]
    fn a_giant_has_the_requested_size() {
        let OutFrame::Text(text) = giant(5000) else { panic!("text") };
        assert_eq!(text.len(), 5000);
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
    }
}
