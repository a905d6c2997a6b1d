//! A stream that repeats its run from the beginning, after another one broke (section 7). Events that the turn already
//! has are not reported again.
//!
//! The server may have joined the pieces of a text meanwhile, and may send the state only once, at the end of the run.
//! So texts and arguments continue after their known parts. Their beginnings and ends change nothing the second time.
//! For all other frames, as many of each type are skipped as came before; and the state is reported if it has changed.

use crate::json::{Object, Value, patch};
use crate::protocol::EventSink;

use super::frames::{KIND_COUNT, Kind};
use super::reading::Reading;
use super::state::operations;
use super::{Run, with_text};

/// The known part of a run, and how much of it is repeated.
#[derive(Debug, Default)]
pub(super) struct Repeat {
    /// How many frames came of each kind that would count twice.
    came: [u32; KIND_COUNT],
    source: Source,
}

/// What is being read.
#[derive(Debug, Default)]
enum Source {
    /// The run itself.
    #[default]
    Run,
    /// A stream that repeats it.
    Stream(Again),
    /// The thread that contains it.
    Thread(Reading),
}

/// A stream that repeats a run.
#[derive(Debug)]
struct Again {
    /// Whether the current run is the wanted one. The stream may have others before and after it.
    is_ours: bool,
    /// How many frames of each kind are still repeats.
    left: [u32; KIND_COUNT],
    /// The agent's state at this point of the run.
    state: Option<Value<'static>>,
}

impl Repeat {
    /// Whether the current frames are repeats.
    pub(super) fn is_on(&self) -> bool {
        !matches!(self.source, Source::Run)
    }

    /// The thread, while it is read in place of the run.
    pub(super) fn reading(&mut self) -> Option<&mut Reading> {
        if let Source::Thread(reading) = &mut self.source { Some(reading) } else { None }
    }

    /// The stream that repeats the run.
    fn again(&mut self) -> Option<&mut Again> {
        if let Source::Stream(again) = &mut self.source { Some(again) } else { None }
    }
}

impl Run {
    /// Begins a repeat of the run: a stream, or the thread.
    pub(super) fn repeat(&mut self, params: &Object<'_>) {
        for message in &mut self.messages {
            message.heard = 0;
        }
        for call in &mut self.calls.list {
            call.heard = 0;
        }
        self.chunks.clear();
        self.await_run();
        let seen = self.repeat.reading().map(|last| last.seen).unwrap_or_default();
        self.repeat.source = if let Some(reading) = Reading::begin(params, seen) {
            Source::Thread(reading)
        } else {
            let state = self.conversation.open_run.as_ref().and_then(|run| run.state.clone());
            Source::Stream(Again { is_ours: false, left: self.repeat.came, state })
        };
    }

    /// Whether to skip a frame: it is a repeat, or belongs to another run.
    pub(super) fn is_left_out(&mut self, kind: Kind, fields: &Object<'_>, sink: &mut dyn EventSink) -> bool {
        if self.repeat.reading().is_some() {
            return true;
        }
        let is_start = kind == Kind::RunStarted;
        let is_end = matches!(kind, Kind::RunFinished | Kind::RunError);
        if let Some(again) = self.repeat.again() {
            if is_start {
                again.is_ours = fields.text("runId") == self.start.run_id;
            }
            if !again.is_ours {
                return true;
            }
            if is_start && self.runs.count > 0 {
                self.reopen_run();
                return true;
            }
            if is_end && again.left[Kind::State as usize] > 0 {
                self.tell_other_state(sink);
            }
        }
        let changes_nothing_twice = matches!(
            kind,
            Kind::MessageStart
                | Kind::MessageContent
                | Kind::MessageEnd
                | Kind::CallStart
                | Kind::CallArguments
                | Kind::CallEnd
                | Kind::Chunk
        );
        if is_start || is_end || changes_nothing_twice {
            return false;
        }
        let Some(again) = self.repeat.again().filter(|again| again.left[kind as usize] > 0) else {
            self.repeat.came[kind as usize] += 1;
            return false;
        };
        again.left[kind as usize] -= 1;
        if kind == Kind::State {
            follow(&mut again.state, fields);
            if again.left[kind as usize] == 0 {
                self.tell_other_state(sink);
            }
        }
        true
    }

    /// Reports the state at this point of the run, unless it is unchanged.
    fn tell_other_state(&mut self, sink: &mut dyn EventSink) {
        let state = self.repeat.again().and_then(|again| again.state.take());
        if let Some(state) = state.filter(|state| Some(state) != self.conversation.state.as_ref()) {
            self.tell_state(state, sink);
        }
    }

    /// The new part of a piece. A text that differs from the earlier one is reported once, and skipped.
    pub(super) fn new_part<'p>(
        &mut self,
        piece: &'p str,
        heard: Option<usize>,
        sink: &mut dyn EventSink,
    ) -> &'p str {
        if heard.is_none() && !self.told.contains(&DIFFERS) {
            self.told.push(DIFFERS);
            let details = with_text("piece", piece);
            let message = "the server repeats another text than it sent before";
            self.notice("warning", DIFFERS, message, Some(details.into()), sink);
        }
        heard.and_then(|heard| piece.get(heard..)).unwrap_or_default()
    }
}

/// How many bytes of a piece came before; `None` if the text differs. `known` is the text it belongs to, unless a
/// snapshot has dropped that, and `heard` is how much of the text was repeated before.
pub(super) fn repeated(known: Option<&str>, heard: &mut usize, piece: &str) -> Option<usize> {
    let before = std::mem::replace(heard, *heard + piece.len());
    let Some(known) = known else { return Some(piece.len()) };
    let rest = known.get(before.min(known.len())..)?;
    if rest.starts_with(piece) {
        return Some(piece.len());
    }
    piece.starts_with(rest).then_some(rest.len())
}

/// The code of the notice about a repeat that differs.
const DIFFERS: &str = "repetition_differs";

/// Changes the state by a frame. An invalid change has no effect.
fn follow(state: &mut Option<Value<'static>>, fields: &Object<'_>) {
    if let Some(snapshot) = fields.get("snapshot") {
        *state = Some(snapshot.clone().into_owned());
    } else if let Ok(delta) = operations(fields, "delta") {
        let mut changed = state.clone().unwrap_or_else(|| Object::new().into());
        if patch(&mut changed, &delta).is_ok() {
            *state = Some(changed);
        }
    }
}
