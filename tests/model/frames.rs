//! A stream as it arrives: the turn's events from a number on, each at its time, changed by a fault, written
//! as bytes, and cut into chunks anywhere.

use serde_json::json;

use super::fault::{Flow, How, Numbers, Place};
use super::page::FRAME_LIMIT;
use super::random::Random;
use super::server::Server;
use super::time::Millis;
use super::wire::{Numbering, Spelling};

/// A part and its time. If the last part is bytes, nothing more comes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    Bytes(Vec<u8>),
    Eof,
    Reset,
}

/// How the server writes a stream, and what happens to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    pub(crate) flow: Option<Flow>,
    pub(crate) spelling: Spelling,
    /// `retry:` at the beginning.
    pub(crate) retry: Option<Millis>,
    /// A comment after each silence of this length.
    pub(crate) heartbeat: Option<Millis>,
}

struct Frame {
    at: Millis,
    number: u64,
    id: Option<String>,
    data: String,
}

/// The stream's parts with their times, and the number after which a client will find events missing.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) parts: Vec<(Millis, Part)>,
    pub(crate) gap_after: Option<u64>,
}

impl Stream {
    /// The events after `after`, of a connection that begins at `now`.
    pub(crate) fn of(server: &Server, after: u64, now: Millis, style: Style, random: &mut Random) -> Self {
        let after = if style.flow == Some(Flow::Restart) { 0 } else { after };
        let (mut frames, end) = frames(server, after, now);
        let mut how = How::Eof;
        let mut end = end.max(now);
        if let Some(flow) = style.flow {
            how = change(&mut frames, flow, now, &mut end);
        }
        let gap_after = gap(&frames, after);
        let mut pieces = render(&frames, style, server.numbering, now, end);
        if let Some(Flow::Cut(place, cut)) = style.flow {
            how = cut;
            cut_bytes(&mut pieces, place);
            end = pieces.last().map_or(now, |(at, _)| *at);
        }
        let mut parts = chunks(pieces, random);
        match how {
            How::Eof => parts.push((end, Part::Eof)),
            How::Reset => parts.push((end, Part::Reset)),
            How::Stall => {}
        }
        Self { parts, gap_after }
    }
}

/// The frames without any fault, and when the stream ends.
fn frames(server: &Server, after: u64, now: Millis) -> (Vec<Frame>, Millis) {
    let mut at = server.created();
    let mut frames = Vec::new();
    for (number, entry) in (1..).zip(&server.script.log) {
        at += entry.delay;
        if number > after && !server.is_lost(number) {
            let data = entry.data.clone();
            frames.push(Frame { at: at.max(now), number, id: Some(number.to_string()), data });
        }
    }
    (frames, at)
}

/// Where the first number that is too large comes.
fn gap(frames: &[Frame], after: u64) -> Option<u64> {
    let mut last = after;
    for frame in frames {
        let number: u64 = frame.id.as_deref().and_then(|id| id.parse().ok()).unwrap_or_default();
        if number > last + 1 && number < 1 << 53 {
            return Some(last);
        }
        last = last.max(if number < 1 << 53 { number } else { 0 });
    }
    None
}

fn place(at: u64, count: usize) -> usize {
    usize::try_from(at % (count as u64 + 1)).expect("a length")
}

/// Changes the frames; returns how the stream ends.
fn change(frames: &mut Vec<Frame>, flow: Flow, now: Millis, end: &mut Millis) -> How {
    let copy = |frame: &Frame, at: Millis| Frame {
        at,
        number: frame.number,
        id: frame.id.clone(),
        data: frame.data.clone(),
    };
    let count = frames.len();
    match flow {
        Flow::Cut(Place::Event(at), _) => {
            frames.truncate(place(at, count));
            *end = frames.last().map_or(now, |frame| frame.at);
        }
        Flow::Comments(at, lasting, how) => {
            frames.truncate(place(at, count));
            *end = frames.last().map_or(now, |frame| frame.at) + lasting;
            return how;
        }
        Flow::Duplicate(at) if count > 0 => {
            let at = place(at, count - 1);
            let again = copy(&frames[at], frames[at].at);
            frames.insert(at + 1, again);
        }
        Flow::Replay(at) => {
            let at = place(at, count);
            let time = frames[..at].last().map_or(0, |frame| frame.at);
            let again: Vec<Frame> = frames[..at].iter().map(|frame| copy(frame, time)).collect();
            frames.splice(at..at, again);
        }
        Flow::Reorder(at) if count > 1 => {
            let at = place(at, count - 2);
            let time = frames[at + 1].at;
            frames[at].at = time;
            frames.swap(at, at + 1);
        }
        Flow::Gap(at, missing) => {
            let from = place(at, count);
            let to = (from + usize::try_from(missing).expect("small")).min(count);
            frames.drain(from..to);
        }
        Flow::Giant(at) => {
            let at = place(at, count);
            let time = frames[..at].last().map_or(0, |frame| frame.at);
            let number = frames[..at].last().map_or(1, |frame| frame.number + 1);
            let data = "x".repeat(FRAME_LIMIT + 1);
            frames.insert(at, Frame { at: time, number, id: Some(number.to_string()), data });
        }
        Flow::Numbers(at, kind) => {
            for (frame, step) in frames.iter_mut().skip(place(at, count)).zip(0..) {
                frame.id = written(frame.number, step, kind);
            }
        }
        // The turn that begins first is taken for the started one.
        Flow::OtherTurn(at) => other_turn(frames, place(at, count).max(1)),
        Flow::AfterDone(more) => after_done(frames, more),
        Flow::TwoDones => {
            if let Some(done) = frames.last().filter(|frame| frame.data.contains("\"turn.done\"")) {
                let mut second = copy(done, done.at);
                second.data = json!({"type": "turn.done", "id": "second", "state": {"status": "error", "message": "no"}}).to_string();
                second.id = Some((done.number + 1).to_string());
                frames.push(second);
            }
        }
        Flow::NoDone => frames.retain(|frame| !frame.data.contains("\"turn.done\"")),
        Flow::Cut(..) | Flow::Restart | Flow::Duplicate(_) | Flow::Reorder(_) => {}
    }
    How::Eof
}

/// A number as it is written.
fn written(number: u64, step: u64, kind: Numbers) -> Option<String> {
    match kind {
        Numbers::Backwards => Some(9_u64.saturating_sub(step).max(1).to_string()),
        Numbers::Ahead => Some((number + (1 << 40)).to_string()),
        Numbers::Huge => Some((number + (1 << 60)).to_string()),
        Numbers::Negative => Some(format!("-{number}")),
        Numbers::Words => Some("one".to_owned()),
        Numbers::Missing => None,
    }
}

/// Another turn begins, and what follows belongs to it.
fn other_turn(frames: &mut Vec<Frame>, at: usize) {
    let Some(next) = frames.get(at) else { return };
    let (time, number) = (next.at, next.number);
    for frame in &mut frames[at..] {
        frame.number += 1;
        frame.id = Some(frame.number.to_string());
        frame.data =
            json!({"type": "model.message.delta", "id": "foreign", "thread_id": "main", "content": "no"})
                .to_string();
    }
    let data =
        json!({"type": "turn.created", "id": "foreign", "turn_id": "another", "input": []}).to_string();
    frames.insert(at, Frame { at: time, number, id: Some(number.to_string()), data });
}

/// A server that never ends the stream.
fn after_done(frames: &mut Vec<Frame>, more: u64) {
    let Some(done) = frames.last().filter(|frame| frame.data.contains("\"turn.done\"")) else { return };
    let (at, number) = (done.at, done.number);
    let data = json!({"type": "model.message.delta", "id": "late", "thread_id": "main", "content": "no"})
        .to_string();
    for number in number + 1..=number + more {
        frames.push(Frame { at, number, id: Some(number.to_string()), data: data.clone() });
    }
}

/// The frames as bytes, with comments in between.
fn render(
    frames: &[Frame],
    style: Style,
    numbering: Numbering,
    now: Millis,
    end: Millis,
) -> Vec<(Millis, Vec<u8>)> {
    let mut pieces = Vec::new();
    if let Some(retry) = style.retry {
        pieces.push((now, format!("retry: {retry}\n\n").into_bytes()));
    }
    let comments = matches!(style.flow, Some(Flow::Comments(..)));
    let heartbeat = if comments { Some(5000) } else { style.heartbeat };
    let mut last = now;
    let mut beat = |pieces: &mut Vec<(Millis, Vec<u8>)>, until: Millis| {
        while let Some(beat) = heartbeat.map(|heartbeat| last + heartbeat).filter(|beat| *beat < until) {
            pieces.push((beat, b": still here\n\n".to_vec()));
            last = beat;
        }
        last = until;
    };
    for frame in frames {
        beat(&mut pieces, frame.at);
        let (data, id) = numbering.write(&frame.data, frame.id.as_deref());
        pieces.push((frame.at, style.spelling.frame(&data, id)));
    }
    beat(&mut pieces, end);
    pieces
}

/// Keeps the part before a place.
fn cut_bytes(pieces: &mut Vec<(Millis, Vec<u8>)>, place: Place) {
    let bytes: Vec<u8> = pieces.iter().flat_map(|(_, bytes)| bytes.iter().copied()).collect();
    let mut keep = match place {
        Place::Event(_) => return,
        Place::Byte(at) => self::place(at, bytes.len()),
        Place::Character(at) => {
            let inside = |index: &usize| bytes[*index] & 0xC0 == 0x80;
            let insides: Vec<usize> = (0..bytes.len()).filter(inside).collect();
            insides.get(self::place(at, insides.len().saturating_sub(1))).copied().unwrap_or(bytes.len() / 2)
        }
    };
    pieces.retain_mut(|(_, bytes)| {
        bytes.truncate(keep);
        keep -= bytes.len();
        !bytes.is_empty()
    });
}

/// Joins and splits pieces as networks do.
fn chunks(pieces: Vec<(Millis, Vec<u8>)>, random: &mut Random) -> Vec<(Millis, Part)> {
    let joins = random.pick(&[0, 30, 90]);
    let cuts = random.pick(&[0, 20, 80]);
    let mut chunks: Vec<(Millis, Vec<u8>)> = Vec::new();
    for (at, bytes) in pieces {
        match chunks.last_mut() {
            Some((time, chunk)) if at <= *time + 40 && random.percent(joins) => {
                *time = at;
                chunk.extend(bytes);
            }
            _ => chunks.push((at, bytes)),
        }
    }
    let mut parts = Vec::new();
    for (at, mut chunk) in chunks {
        while chunk.len() > 1 && random.percent(cuts) {
            let rest = chunk.split_off(random.index(chunk.len()));
            parts.push((at, Part::Bytes(std::mem::replace(&mut chunk, rest))));
        }
        parts.push((at, Part::Bytes(chunk)));
    }
    parts
}
