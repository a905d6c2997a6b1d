//! Facts, effects and what is shown as lines of text, for a carrier in another language.
//!
//! A line ends with a line break. Inputs and answers are JSON without line breaks, and so are ids: a carrier replaces what
//! breaks a line. Nothing is escaped.

use super::view::{Asked, Branch, Sent, Shown, ShownState};
use super::{
    Activity, After, Delivery, Effect, End, Fact, How, Key, Listed, ListedState, Page, Plan, QueuedState,
    StartInput, Taken, Waiting, WhenBusy, Who,
};
use crate::json::write_u64;

/// The lines of a text, one after the other.
#[derive(Debug)]
pub(super) struct Lines<'t>(pub(super) &'t str);

impl<'t> Lines<'t> {
    /// The next line; none if there is none that ends.
    pub(super) fn next(&mut self) -> Option<&'t str> {
        let end = self.0.bytes().position(|byte| byte == b'\n')?;
        let line = self.0.get(..end)?;
        self.0 = self.0.get(end + 1..)?;
        Some(line)
    }

    fn text(&mut self) -> String {
        self.next().unwrap_or_default().to_owned()
    }

    fn number(&mut self) -> u8 {
        self.next().and_then(|line| line.bytes().next()).unwrap_or(b'0').wrapping_sub(b'0')
    }

    /// All calls up to an empty line.
    fn calls(&mut self) -> Vec<Waiting> {
        let mut calls = Vec::new();
        while let Some(id) = self.next().filter(|line| !line.is_empty()) {
            calls.push(Waiting { id: id.to_owned(), who: who(self.number()) });
        }
        calls
    }
}

pub(super) fn write_line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

fn write_number(out: &mut String, number: impl Into<u64>) {
    write_u64(out, number.into());
    out.push('\n');
}

fn write_key(out: &mut String, key: Key) {
    write_number(out, key.0);
}

fn who(number: u8) -> Who {
    match number {
        0 => Who::Person,
        1 => Who::Tool,
        _ => Who::SignIn,
    }
}

fn end(number: u8) -> End {
    match number {
        0 => End::Done,
        1 => End::Failed,
        _ => End::Cancelled,
    }
}

fn delivery(number: u32) -> Delivery {
    match number {
        0 => Delivery::Taken,
        1 => Delivery::Refused,
        _ => Delivery::Lost,
    }
}

/// Reads a fact: its number, a key, a number of its own, and its texts as lines.
///
/// | | fact | number | lines |
/// |---|---|---|---|
/// | 0 | `Send` | 0 by default, 1 queue, 2 steer, 3 interrupt, 4 reject; 8 more to discard | input |
/// | 1 | `Stop` | | |
/// | 2 | `Answer` | 1 with an answer | call, answer |
/// | 3 | `Proceed` | | |
/// | 4 | `Retry` | | input |
/// | 5 | `Regenerate` | | input |
/// | 6 | `Edit` | | input |
/// | 7 | `Show` | | |
/// | 8 | `Dismiss` | | |
/// | 9 | `Draft` | | draft |
/// | 10 | `EditQueued` | | input |
/// | 11 | `RemoveQueued` | | |
/// | 12 | `MoveQueued` | to | |
/// | 13 | `SendNow` | | |
/// | 14 | `SteerQueued` | | |
/// | 15 | `Hold` | 1 on | |
/// | 16 | `Attach` | | |
/// | 17 | `Detach` | | |
/// | 18 | `LoadEarlier` | | |
/// | 19 | `CatchUp` | | |
/// | 20 | `SessionReady` | | |
/// | 21 | `SessionFailed` | | |
/// | 22 | `Page` | 1 with earlier ones | for each turn: id, previous, created, input, state (0 done, 1 failed, 2 cancelled, 3 running), calls, messages steered into it up to an empty line |
/// | 23 | `PageFailed` | | |
/// | 24 | `Named` | 1 with the one before | id, previous |
/// | 25 | `Active` | 0 thinking, 1 answering, 2 working, 3 reconnecting | |
/// | 26 | `Waits` | | calls |
/// | 27 | `Ended` | 0 done, 1 failed, 2 cancelled | calls |
/// | 28 | `Incomplete` | | |
/// | 29 | `Refused` | | |
/// | 30 | `Lost` | | |
/// | 31 | `CancelFailed` | | |
/// | 32 | `Answered` | 0 taken, 1 refused, 2 lost | call |
/// | 33 | `ToolEnded` | 1 with a result | call, result |
/// | 34 | `Steered` | 0 taken, 1 refused, 2 lost | |
/// | 35 | `Said` | | message |
/// | 36 | `Restored` | | what was stored |
/// | 37 | `Leading` | 1 on | |
///
/// Calls are two lines each, id and who answers (0 person, 1 tool, 2 sign-in), up to an empty line.
#[must_use]
pub fn read_fact(kind: u32, key: u32, number: u32, text: &str) -> Option<Fact> {
    let mut lines = Lines(text);
    let turn = Key(key);
    let on = number == 1;
    Some(match kind {
        0 => Fact::Send { input: lines.text(), when_busy: when_busy(number & 7), discard: number > 7 },
        1 => Fact::Stop,
        2 => Fact::Answer { turn, call: lines.text(), answer: on.then(|| lines.text()) },
        3 => Fact::Proceed,
        4 => Fact::Retry { turn, input: lines.text() },
        5 => Fact::Regenerate { turn, input: lines.text() },
        6 => Fact::Edit { turn, input: lines.text() },
        7 => Fact::Show { turn },
        8 => Fact::Dismiss { turn },
        9 => Fact::Draft { text: lines.text() },
        10 => Fact::EditQueued { key: turn, input: lines.text() },
        11 => Fact::RemoveQueued { key: turn },
        12 => Fact::MoveQueued { key: turn, to: number },
        13 => Fact::SendNow { key: turn },
        14 => Fact::SteerQueued { key: turn },
        15 => Fact::Hold { on },
        16 => Fact::Attach,
        17 => Fact::Detach,
        18 => Fact::LoadEarlier,
        19 => Fact::CatchUp,
        20 => Fact::SessionReady,
        21 => Fact::SessionFailed,
        22 => Fact::Page(read_page(&mut lines, on)),
        23 => Fact::PageFailed,
        24 => Fact::Named { turn, id: lines.text(), previous: on.then(|| lines.text()) },
        25 => Fact::Active { turn, activity: activity(number) },
        26 => Fact::Waits { turn, calls: lines.calls() },
        27 => Fact::Ended { turn, end: end(u8::try_from(number).unwrap_or(0)), calls: lines.calls() },
        28 => Fact::Incomplete { turn },
        29 => Fact::Refused { turn },
        30 => Fact::Lost { turn },
        31 => Fact::CancelFailed { turn },
        32 => Fact::Answered { turn, call: lines.text(), delivery: delivery(number) },
        33 => Fact::ToolEnded { turn, call: lines.text(), result: on.then(|| lines.text()) },
        34 => Fact::Steered { key: turn, delivery: delivery(number) },
        35 => Fact::Said { turn, input: lines.text() },
        36 => Fact::Restored { text: text.to_owned() },
        37 => Fact::Leading { on },
        _ => return None,
    })
}

/// How an input is sent while a turn runs, by its number; none by default.
#[must_use]
pub fn when_busy(number: u32) -> Option<WhenBusy> {
    Some(match number {
        1 => WhenBusy::Queue,
        2 => WhenBusy::Steer,
        3 => WhenBusy::Interrupt,
        4 => WhenBusy::Reject,
        _ => return None,
    })
}

fn activity(number: u32) -> Activity {
    match number {
        0 => Activity::Thinking,
        1 => Activity::Answering,
        2 => Activity::Working,
        _ => Activity::Reconnecting,
    }
}

fn read_page(lines: &mut Lines<'_>, has_earlier: bool) -> Page {
    let mut turns = Vec::new();
    while let Some(id) = lines.next() {
        let (id, previous, created_at, input) = (id.to_owned(), lines.text(), lines.text(), lines.text());
        let state = match lines.number() {
            3 => ListedState::Running,
            ended => ListedState::Ended(end(ended)),
        };
        let calls = lines.calls();
        let mut said = Vec::new();
        while let Some(line) = lines.next().filter(|line| !line.is_empty()) {
            said.push(line.to_owned());
        }
        turns.push(Listed { id, previous, created_at, input, state, calls, said });
    }
    Page { turns, has_earlier }
}

/// Writes what follows from a fact: the key of what was sent (0 for none), then each effect.
///
/// | | effect | lines |
/// |---|---|---|
/// | 0 | `CreateSession` | |
/// | 1 | `Start` | turn, after (0 newest, 1 nothing, 2 a turn), its id, 1 to discard, what it says: 0 nothing; 1 and the message; 2, the asking turn, call and answer up to an empty line |
/// | 2 | `Steer` | turn, key, message |
/// | 3 | `Cancel` | turn |
/// | 4 | `Answer` | turn, call, answer |
/// | 5 | `RunTool` | turn, call |
/// | 6 | `StopTools` | |
/// | 7 | `Watch` | turn |
/// | 8 | `Leave` | turn |
/// | 9 | `Load` | before (0 for the newest) |
/// | 10 | `Store` | how many lines, the lines |
/// | 11 | `GiveBack` | key, input |
/// | 12 | `Publish` | |
#[must_use]
pub fn write_effects(taken: &Taken) -> String {
    let mut out = String::new();
    write_key(&mut out, taken.key.unwrap_or(Key(0)));
    for effect in &taken.effects {
        write_effect(&mut out, effect);
    }
    out
}

fn write_effect(out: &mut String, effect: &Effect) {
    let (kind, key, texts): (u8, Option<Key>, [&str; 2]) = match effect {
        Effect::CreateSession => (0, None, ["", ""]),
        Effect::Start { turn, .. } => (1, Some(*turn), ["", ""]),
        Effect::Steer { turn, .. } => (2, Some(*turn), ["", ""]),
        Effect::Cancel { turn } => (3, Some(*turn), ["", ""]),
        Effect::Answer { turn, call, answer } => (4, Some(*turn), [call, answer]),
        Effect::RunTool { turn, call } => (5, Some(*turn), [call, ""]),
        Effect::StopTools => (6, None, ["", ""]),
        Effect::Watch { turn } => (7, Some(*turn), ["", ""]),
        Effect::Leave { turn } => (8, Some(*turn), ["", ""]),
        Effect::Load { before } => (9, Some(before.unwrap_or(Key(0))), ["", ""]),
        Effect::Store { .. } => (10, None, ["", ""]),
        Effect::GiveBack { key, input } => (11, Some(*key), [input, ""]),
        Effect::Publish => (12, None, ["", ""]),
    };
    write_number(out, kind);
    if let Some(key) = key {
        write_key(out, key);
    }
    for text in texts.iter().filter(|text| !text.is_empty()) {
        write_line(out, text);
    }
    match effect {
        Effect::Start { after, input, discard, .. } => write_start(out, after, input, *discard),
        Effect::Steer { key, input, .. } => {
            write_key(out, *key);
            write_line(out, input);
        }
        Effect::Store { text } => {
            write_number(out, text.bytes().filter(|byte| *byte == b'\n').count() as u64);
            out.push_str(text);
        }
        _ => {}
    }
}

fn write_start(out: &mut String, after: &After, input: &StartInput, discard: bool) {
    let (after, id) = match after {
        After::Newest => (0_u8, ""),
        After::Nothing => (1, ""),
        After::Turn(id) => (2, id.as_str()),
    };
    write_number(out, after);
    write_line(out, id);
    write_number(out, discard);
    match input {
        StartInput::Nothing => write_number(out, 0_u8),
        StartInput::Message(text) => {
            write_number(out, 1_u8);
            write_line(out, text);
        }
        StartInput::Answers(asking, answers) => {
            write_number(out, 2_u8);
            write_key(out, *asking);
            for (call, answer) in answers {
                write_line(out, call);
                write_line(out, answer);
            }
            out.push('\n');
        }
    }
}

/// Writes what is shown:
///
/// - the phase (its place in [`Phase`](super::Phase)), and what the person can do as bits: 1 send, 2 stop, 4 steer, 8 the
///   queue is held, 16 there are earlier turns;
/// - the draft;
/// - for each turn of the path: key, name, id, state (0 sending, 1 unknown, 2 failed, 3 running, 4 incomplete, 5 done,
///   6 failed, 7 cancelled), bits (1 it asks, 2 it can be retried), message; steered messages as key and text, up to an
///   empty line; the keys of its siblings, itself among them, up to an empty line; then an empty line after the last turn;
/// - for each input of the queue: key, state (0 waits, 1 held, 2 unknown, 3 on its way), input; then an empty line;
/// - for each call that waits: turn, call, who answers, 1 if it was sent, answer; then an empty line.
#[must_use]
pub fn write_view(plan: &Plan) -> String {
    let mut out = String::new();
    let status = plan.status();
    write_number(&mut out, status.phase as u8);
    let bits = [status.can_send, status.can_stop, status.can_steer, status.held_queue, status.has_earlier];
    write_number(&mut out, bits.iter().rev().fold(0_u8, |sum, bit| sum * 2 + u8::from(*bit)));
    write_line(&mut out, plan.draft());
    for (shown, branch) in plan.branched_path() {
        write_shown(&mut out, plan, &shown, branch.as_ref());
    }
    out.push('\n');
    for item in plan.queue() {
        write_key(&mut out, item.key);
        let state = match (item.how(), &item.state) {
            (How::Queue, QueuedState::Held) => 1_u8,
            (How::Queue, _) => 0,
            (How::Steer, QueuedState::Unknown(_)) => 2,
            (How::Steer, _) => 3,
        };
        write_number(&mut out, state);
        write_line(&mut out, &item.input);
    }
    out.push('\n');
    for Asked { turn, call, who, answer, sent } in plan.pending() {
        write_key(&mut out, turn);
        write_line(&mut out, call);
        write_number(&mut out, who as u8);
        write_number(&mut out, sent);
        write_line(&mut out, answer);
    }
    out.push('\n');
    out
}

fn write_shown(out: &mut String, plan: &Plan, shown: &Shown<'_>, branch: Option<&Branch>) {
    write_key(out, shown.key);
    write_line(out, &plan.name(shown.key));
    write_line(out, shown.id);
    let state = match shown.state {
        ShownState::Here(Sent::Sending) => 0_u8,
        ShownState::Here(Sent::Unknown) => 1,
        ShownState::Here(Sent::Failed) => 2,
        ShownState::Running => 3,
        ShownState::Incomplete => 4,
        ShownState::Ended(end) => 5 + end as u8,
    };
    write_number(out, state);
    write_number(out, u8::from(shown.asks) + 2 * u8::from(shown.can_retry));
    write_line(out, shown.input);
    for (key, text) in &shown.steered {
        write_key(out, *key);
        write_line(out, text);
    }
    out.push('\n');
    for key in branch.iter().flat_map(|branch| &branch.of) {
        write_key(out, *key);
    }
    out.push('\n');
}
