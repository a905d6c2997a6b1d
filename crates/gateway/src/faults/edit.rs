//! Applies faults to the frames of a stream: omits, repeats, swaps, renumbers, inserts and cuts them.

use bytes::{Bytes, BytesMut};

use super::fault::{Ending, Fault, Mark, Numbers, Run};
use super::frames::{frames, is_event, number, with_id};

/// The offset of `numbers:huge`.
const HUGE: u64 = 1 << 60;
/// Where `numbers:backwards` starts, above the first number.
const BACKWARDS_FROM: u64 = 8;

/// Frames that a protocol did not send, but that look genuine. Each is a whole frame with the given number as its id.
pub(crate) trait Forge: Send {
    /// Whether this frame is the last one of a turn.
    fn is_last(&self, frame: &[u8]) -> bool;
    /// The first frame of another turn.
    fn beginning(&self, number: u64) -> Vec<u8>;
    /// A piece of a message of this turn.
    fn delta(&self, number: u64) -> Vec<u8>;
}

/// Applies the faults of one response to its frames.
pub(super) struct Editor {
    faults: Vec<Fault>,
    holes: Vec<Run>,
    forge: Box<dyn Forge>,
    /// Events read so far.
    position: u64,
    /// How much ids are raised by now, because of inserted events.
    shift: u64,
    /// An event that waits until the next one is written, and its position.
    held: Option<(u64, Vec<u8>)>,
    /// Where ids that run backwards began.
    backwards: Option<u64>,
    /// The frames that may be replayed.
    replayable: Vec<Vec<u8>>,
    written: Written,
    output: BytesMut,
    ending: Option<Ending>,
}

/// The amount written so far.
#[derive(Debug, Clone, Copy, Default)]
struct Written {
    events: u64,
    bytes: u64,
    /// Multi-byte characters.
    characters: u64,
}

/// What to write next, and whether and how the stream ends after it.
pub(super) type Edited = (Bytes, Option<Ending>);

impl Editor {
    pub(super) fn new(faults: Vec<Fault>, holes: Vec<Run>, forge: impl Forge + 'static) -> Self {
        Self {
            faults,
            holes,
            forge: Box::new(forge),
            position: 0,
            shift: 0,
            held: None,
            backwards: None,
            replayable: Vec::new(),
            written: Written::default(),
            output: BytesMut::new(),
            ending: None,
        }
    }

    /// What comes before the first frame.
    pub(super) fn begin(&mut self) -> Edited {
        let retry = self.faults.iter().find_map(|fault| match fault {
            Fault::Retry(milliseconds) => Some(*milliseconds),
            _ => None,
        });
        self.end_at_marks();
        if let Some(milliseconds) = retry {
            self.write(format!("retry: {milliseconds}\n\n").as_bytes());
        }
        self.edited()
    }

    /// Whole frames, edited.
    pub(super) fn edit(&mut self, bytes: &[u8]) -> Edited {
        for frame in frames(bytes) {
            if is_event(frame) {
                self.frame(frame);
            } else {
                self.write(frame);
            }
        }
        self.edited()
    }

    /// The remaining bytes when no frame follows.
    pub(super) fn finish(&mut self) -> Edited {
        self.release();
        self.edited()
    }

    fn edited(&mut self) -> Edited {
        (self.output.split().freeze(), self.ending)
    }

    fn frame(&mut self, frame: &[u8]) {
        if number(frame).is_some_and(|number| self.holes.iter().any(|hole| hole.contains(number))) {
            return;
        }
        self.position += 1;
        let position = self.position;
        if self.faults.contains(&Fault::NoDone) && self.forge.is_last(frame) {
            self.release();
            self.ending = self.ending.or(Some(Ending::Eof));
            return;
        }
        if self.faults.iter().any(|fault| matches!(fault, Fault::Gap(gap) if gap.contains(position))) {
            return;
        }
        if self.faults.contains(&Fault::Reorder(position)) {
            self.held = Some((position, frame.to_vec()));
            return;
        }
        self.pass(position, frame);
        self.release();
    }

    /// Writes the event that waited.
    fn release(&mut self) {
        if let Some((position, frame)) = self.held.take() {
            self.pass(position, &frame);
        }
    }

    /// Writes an event, and the frames that faults insert after it.
    fn pass(&mut self, position: u64, frame: &[u8]) {
        let number = number(frame).unwrap_or(position) + self.shift;
        let written = self.event(position, number, frame);
        for fault in self.faults.clone() {
            match fault {
                Fault::Duplicate(at) if at == position => self.write_event(&written),
                Fault::Replay(after) if after == position => {
                    for frame in std::mem::take(&mut self.replayable) {
                        self.write_event(&frame);
                    }
                }
                Fault::Giant { after, bytes } if after == position => {
                    self.write(&giant(bytes));
                }
                Fault::OtherTurn(after) if after == position => {
                    let other = self.forge.beginning(number + 1);
                    self.made_up(position, number + 1, &other);
                }
                _ => {}
            }
        }
        if self.forge.is_last(frame) {
            self.after_last(position, frame);
        }
    }

    /// What follows the last event.
    fn after_last(&mut self, position: u64, frame: &[u8]) {
        for fault in self.faults.clone() {
            let base = number(frame).unwrap_or(position);
            match fault {
                Fault::AfterDone(count) => {
                    for _ in 0..count {
                        let next = base + self.shift + 1;
                        let late = self.forge.delta(next);
                        self.made_up(position, next, &late);
                    }
                }
                Fault::TwoDones => {
                    self.made_up(position, base + self.shift + 1, frame);
                }
                _ => {}
            }
        }
    }

    /// Writes an event that the turn does not have; later events move up by one.
    fn made_up(&mut self, position: u64, number: u64, frame: &[u8]) {
        self.shift += 1;
        self.event(position, number, frame);
    }

    /// Writes an event under its number, and returns it as it was written.
    fn event(&mut self, position: u64, number: u64, frame: &[u8]) -> Vec<u8> {
        let frame = self.numbered(position, number, frame);
        if self.faults.iter().any(|fault| matches!(fault, Fault::Replay(after) if *after >= position)) {
            self.replayable.push(frame.clone());
        }
        self.write_event(&frame);
        frame
    }

    fn numbered(&mut self, position: u64, number: u64, frame: &[u8]) -> Vec<u8> {
        let kind = self.faults.iter().find_map(|fault| match fault {
            Fault::Numbers { kind, from } if position >= *from => Some(*kind),
            _ => None,
        });
        let id = match kind {
            // Ids that are not numbers are cursors, which have a meaning for the server.
            None if super::frames::number(frame).is_none() => return frame.to_vec(),
            None => Some(number.to_string()),
            Some(Numbers::Backwards) => {
                let first = *self.backwards.get_or_insert(number);
                Some((first + BACKWARDS_FROM).saturating_sub(number.saturating_sub(first)).to_string())
            }
            Some(Numbers::Huge) => Some((number + HUGE).to_string()),
            Some(Numbers::Negative) => Some(format!("-{number}")),
            Some(Numbers::Words) => Some("one".to_owned()),
            Some(Numbers::None) => None,
        };
        with_id(frame, id.as_deref())
    }

    fn write_event(&mut self, frame: &[u8]) {
        if self.write(frame) {
            self.written.events += 1;
            self.end_at_marks();
        }
    }

    /// Writes bytes up to the first mark in them. Returns whether these were all of them.
    fn write(&mut self, bytes: &[u8]) -> bool {
        if self.ending.is_some() {
            return false;
        }
        let cuts = self.faults.iter().filter_map(|fault| match fault {
            Fault::End(mark, ending) => Some((self.written.cut(*mark, bytes)?, *ending)),
            Fault::Half(count) => Some((self.written.cut(Mark::Bytes(*count), bytes)?, Ending::Reset)),
            _ => None,
        });
        let cut = cuts.min_by_key(|(at, _)| *at);
        let kept = &bytes[..cut.map_or(bytes.len(), |(at, _)| at)];
        self.output.extend_from_slice(kept);
        self.written.bytes += kept.len() as u64;
        self.written.characters += kept.iter().filter(|&&byte| begins_multi_byte(byte)).count() as u64;
        self.ending = cut.map(|(_, ending)| ending);
        kept.len() == bytes.len()
    }

    /// Ends the stream if a mark has been reached.
    fn end_at_marks(&mut self) {
        let reached = self.faults.iter().find_map(|fault| match fault {
            Fault::End(Mark::Events(count), ending) => (*count == self.written.events).then_some(*ending),
            Fault::End(Mark::Bytes(count), ending) => (*count == self.written.bytes).then_some(*ending),
            Fault::Half(count) => (*count == self.written.bytes).then_some(Ending::Reset),
            _ => None,
        });
        self.ending = self.ending.or(reached);
    }
}

impl Written {
    /// The position of a mark in the next bytes.
    fn cut(self, mark: Mark, next: &[u8]) -> Option<usize> {
        match mark {
            Mark::Events(_) => None,
            Mark::Bytes(count) => {
                let at = usize::try_from(count.checked_sub(self.bytes)?).ok()?;
                (at <= next.len()).then_some(at)
            }
            Mark::Character(number) => {
                let ahead = usize::try_from(number.checked_sub(self.characters + 1)?).ok()?;
                let mut starts = next.iter().enumerate().filter(|(_, byte)| begins_multi_byte(**byte));
                starts.nth(ahead).map(|(at, _)| at + 1)
            }
        }
    }
}

/// Whether a byte of UTF-8 begins a multi-byte character.
fn begins_multi_byte(byte: u8) -> bool {
    byte >= 0xC0
}

/// A frame of exactly this size. It has no id, so that it is not counted.
fn giant(bytes: usize) -> Vec<u8> {
    let (head, tail) = (&b"data: {\"type\":\"giant\",\"pad\":\""[..], &b"\"}\n\n"[..]);
    let mut frame = head.to_vec();
    frame.resize(bytes.saturating_sub(tail.len()).max(head.len()), b'x');
    frame.extend_from_slice(tail);
    frame
}

#[cfg(test)]
mod tests {
    use super::super::grammar::Grammar;
    use super::*;

    struct Letters;

    impl Forge for Letters {
        fn is_last(&self, frame: &[u8]) -> bool {
            frame.starts_with(b"data: done")
        }

        fn beginning(&self, number: u64) -> Vec<u8> {
            format!("data: other\nid: {number}\n\n").into_bytes()
        }

        fn delta(&self, number: u64) -> Vec<u8> {
            format!("data: late\nid: {number}\n\n").into_bytes()
        }
    }

    fn editor(faults: &str) -> Editor {
        let faults = Grammar::new([]).parse(faults).expect("faults").list;
        let holes = faults.iter().filter_map(|fault| match fault {
            Fault::Hole(run) => Some(*run),
            _ => None,
        });
        Editor::new(faults.clone(), holes.collect(), Letters)
    }

    /// A turn of five events in which the second one is `ü`, all in one piece or one by one.
    fn played(faults: &str, one_by_one: bool) -> (Vec<u8>, Option<Ending>) {
        let turn = ["a", "ü", "c", "d", "done"].iter().zip(1..);
        let turn: Vec<String> = turn.map(|(data, id)| format!("data: {data}\nid: {id}\n\n")).collect();
        let pieces = if one_by_one { turn } else { vec![turn.concat()] };
        let mut editor = editor(faults);
        let mut all = Vec::new();
        let mut next = editor.begin();
        let mut pieces = pieces.iter();
        loop {
            all.extend_from_slice(&next.0);
            if next.1.is_some() {
                return (all, next.1);
            }
            next = match pieces.next() {
                Some(piece) => editor.edit(piece.as_bytes()),
                None => break,
            };
        }
        let (rest, ending) = editor.finish();
        all.extend_from_slice(&rest);
        (all, ending)
    }

    /// The edited turn, written as `a1 ü2 c3 d4 done5`.
    fn outline(faults: &str) -> (String, Option<Ending>) {
        let (bytes, ending) = played(faults, true);
        assert_eq!((&bytes, ending), (&played(faults, false).0, ending), "{faults}: cut into other pieces");
        let text = String::from_utf8(bytes).expect("UTF-8");
        (text.replace("\n\n", " ").replace("data: ", "").replace("\nid: ", ""), ending)
    }

    #[test]
    fn edits_change_events_and_their_order() {
        for (faults, outcome) in [
            ("none", "a1 ü2 c3 d4 done5 "),
            ("duplicate:2", "a1 ü2 ü2 c3 d4 done5 "),
            ("replay:2", "a1 ü2 a1 ü2 c3 d4 done5 "),
            ("reorder:2", "a1 c3 ü2 d4 done5 "),
            ("reorder:5", "a1 ü2 c3 d4 done5 "),
            ("gap:2:2", "a1 d4 done5 "),
            ("hole:2:2", "a1 d4 done5 "),
            ("hole:1:1+gap:1:1", "c3 d4 done5 "),
            ("retry:70", "retry: 70 a1 ü2 c3 d4 done5 "),
            ("numbers:backwards", "a9 ü8 c7 d6 done5 "),
            ("numbers:huge:5", "a1 ü2 c3 d4 done1152921504606846981 "),
            ("numbers:negative:4", "a1 ü2 c3 d-4 done-5 "),
            ("numbers:words:4", "a1 ü2 c3 done doneone "),
            ("numbers:none:4", "a1 ü2 c3 d done "),
            ("other-turn:2", "a1 ü2 other3 c4 d5 done6 "),
            ("after-done:2", "a1 ü2 c3 d4 done5 late6 late7 "),
            ("two-dones", "a1 ü2 c3 d4 done5 done6 "),
            ("two-dones+after-done:1", "a1 ü2 c3 d4 done5 done6 late7 "),
        ] {
            let (text, ending) = outline(faults);
            assert_eq!((text.as_str(), ending), (outcome, None), "{faults}");
        }
    }

    #[test]
    fn ends_count_what_is_written() {
        for (faults, outcome, ending) in [
            ("eof:0", "", Ending::Eof),
            ("retry:9+reset:0", "", Ending::Reset),
            ("eof:2", "a1 ü2 ", Ending::Eof),
            ("duplicate:1+reset:3", "a1 a1 ü2 ", Ending::Reset),
            ("gap:2:2+stall:2", "a1 d4 ", Ending::Stall),
            ("comments:5", "a1 ü2 c3 d4 done5 ", Ending::Comments),
            ("no-done", "a1 ü2 c3 d4 ", Ending::Eof),
            ("no-done+reorder:4", "a1 ü2 c3 d4 ", Ending::Eof),
            ("eof:3+reset:2", "a1 ü2 ", Ending::Reset),
            ("retry:9+reset-bytes:10+reset:1", "retry: 9 ", Ending::Reset),
            ("after-done:9+eof:6", "a1 ü2 c3 d4 done5 late6 ", Ending::Eof),
        ] {
            assert_eq!(outline(faults), (outcome.to_owned(), Some(ending)), "{faults}");
        }
    }

    #[test]
    fn bytes_are_cut_anywhere() {
        for (faults, outcome, ending) in [
            ("eof-bytes:0", &b""[..], Ending::Eof),
            ("reset-bytes:4", b"data", Ending::Reset),
            ("half:4", b"data", Ending::Reset),
            ("stall-bytes:16", b"data: a\nid: 1\n\nd", Ending::Stall),
            ("cut-char:1", b"data: a\nid: 1\n\ndata: \xC3", Ending::Reset),
        ] {
            for one_by_one in [true, false] {
                assert_eq!(played(faults, one_by_one), (outcome.to_vec(), Some(ending)), "{faults}");
            }
        }
        assert_eq!(played("cut-char:2", true).1, None);
    }

    #[test]
    fn a_giant_has_exactly_its_size() {
        let whole = played("none", true).0.len();
        for size in [64, 100_000] {
            let (bytes, _) = played(&format!("giant:2:{size}"), true);
            assert_eq!(bytes.len(), whole + size);
            let text = String::from_utf8(bytes).expect("UTF-8");
            let giant = text.split_inclusive("\n\n").nth(2).expect("a frame");
            assert_eq!(giant.len(), size);
            assert!(giant.ends_with("x\"}\n\n"), "{giant}");
        }
    }

    #[test]
    fn comments_pass_and_are_not_counted() {
        let mut editor = editor("eof:1");
        assert_eq!(editor.edit(b": ping\n\n"), (Bytes::from_static(b": ping\n\n"), None));
        assert_eq!(editor.edit(b"data: a\nid: 1\n\n").1, Some(Ending::Eof));
    }
}
