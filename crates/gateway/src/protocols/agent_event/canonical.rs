//! The event store of awaken: every event of a run again, in an envelope and with a cursor for each scope, for clients
//! that have lost the run's stream (awaken HTTP, canonical events).

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::event::Event;
use super::message::message_id;
use super::run::Run;
use crate::http::write_frame;
use crate::lock::lock;
use crate::store::{EventLog, Read, Turn};
use crate::time::now_ms;

/// The prefix of an event in a frame.
const DATA: &str = "data: ";

/// The events of a server.
#[derive(Debug, Default)]
pub(super) struct EventStore {
    scopes: Mutex<HashMap<Scope, Arc<Recorded>>>,
}

/// The scope of an event. Each scope has its own cursors.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(tag = "scope_type", rename_all = "snake_case")]
pub(super) enum Scope {
    Thread { thread_id: String },
    Run { run_id: String },
}

/// An event in its envelope.
#[derive(Debug, Serialize)]
struct Stored<'a, P> {
    event_id: String,
    scopes: &'a [Scope],
    cursors_by_scope: [Scoped<'a>; 2],
    event_kind: &'a str,
    payload: &'a P,
    thread_id: &'a str,
    run_id: &'a str,
    correlation_id: &'a str,
    origin: &'a str,
    visibility: &'a str,
    schema_version: u32,
    created_at: u64,
}

/// An event's cursor in one scope.
#[derive(Debug, Serialize)]
struct Scoped<'a> {
    scope: &'a Scope,
    cursor: &'a str,
}

/// The events of one scope.
#[derive(Debug)]
pub(super) struct Recorded {
    /// As a stream, which never ends.
    pub(super) log: Arc<EventLog>,
    /// The turn that each event belongs to; when that expires, so does its cursor.
    turns: Mutex<Vec<Arc<Turn>>>,
}

/// A cursor whose event is no longer kept.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Expired;

impl Scope {
    pub(super) fn thread(id: impl Into<String>) -> Self {
        Self::Thread { thread_id: id.into() }
    }

    pub(super) fn run(id: impl Into<String>) -> Self {
        Self::Run { run_id: id.into() }
    }

    /// The scope as one word.
    pub(super) fn key(&self) -> String {
        match self {
            Self::Thread { thread_id: id } | Self::Run { run_id: id } => format!("{}{id}", self.prefix()),
        }
    }

    fn prefix(&self) -> &'static str {
        match self {
            Self::Thread { .. } => "thr_",
            Self::Run { .. } => "run_",
        }
    }

    /// The cursor of an event, counted from 1.
    fn cursor(&self, number: usize) -> String {
        format!("{}{number:08x}", self.prefix())
    }

    fn number(&self, cursor: &str) -> Option<usize> {
        usize::from_str_radix(cursor.strip_prefix(self.prefix())?, 16).ok()
    }
}

impl EventStore {
    pub(super) fn scope(&self, scope: &Scope) -> Arc<Recorded> {
        let mut scopes = lock(&self.scopes);
        let recorded = scopes.entry(scope.clone()).or_insert_with(|| {
            Arc::new(Recorded { log: Arc::new(EventLog::new()), turns: Mutex::default() })
        });
        Arc::clone(recorded)
    }

    /// An event of the run itself.
    pub(super) fn observe(&self, run: &Run, event: &Event) {
        self.append(run, kind(run, event), event, "runtime");
        if is_permission_request(event) {
            self.append(run, "ToolPermissionRequested", event, "runtime");
        }
    }

    /// Something that the server did.
    pub(super) fn note(&self, run: &Run, kind: &str, payload: &Value) {
        self.append(run, kind, payload, "server");
    }

    /// Appends an event to the scopes of its thread and its run.
    fn append(&self, run: &Run, kind: &str, payload: &impl Serialize, origin: &str) {
        let scopes = [Scope::thread(&run.thread), Scope::run(&run.id)];
        let recorded = scopes.each_ref().map(|scope| self.scope(scope));
        let mut turns = recorded.each_ref().map(|recorded| lock(&recorded.turns));
        let cursors = [0, 1].map(|index| scopes[index].cursor(turns[index].len() + 1));
        let stored = Stored {
            event_id: message_id(),
            scopes: &scopes,
            cursors_by_scope: [0, 1].map(|index| Scoped { scope: &scopes[index], cursor: &cursors[index] }),
            event_kind: kind,
            payload,
            thread_id: &run.thread,
            run_id: &run.id,
            correlation_id: &run.dispatch,
            origin,
            visibility: "public",
            schema_version: 1,
            created_at: now_ms(),
        };
        // Our own types always serialize.
        let event = to_raw_value(&stored).unwrap_or_default();
        for ((recorded, turns), cursor) in recorded.iter().zip(&mut turns).zip(&cursors) {
            turns.push(Arc::clone(&run.turn));
            recorded.log.append(|_, bytes| write_frame(bytes, &format!("id: {cursor}\n"), &event, ""));
        }
    }
}

impl Recorded {
    /// How many events there are.
    pub(super) fn len(&self) -> usize {
        lock(&self.turns).len()
    }

    /// The number of the event that a cursor names.
    pub(super) fn after(&self, scope: &Scope, cursor: &str) -> Result<usize, Expired> {
        let number = scope.number(cursor).filter(|number| *number > 0).ok_or(Expired)?;
        let turns = lock(&self.turns);
        let turn = turns.get(number - 1).ok_or(Expired)?;
        // A run that continued after an answer has several turns with its id, and the last one counts.
        let last = turns.iter().rfind(|other| other.id == turn.id);
        if last.is_some_and(|last| last.log.is_expired()) { Err(Expired) } else { Ok(number) }
    }

    /// A page of events: the items, the cursor of the last one, whether there are more.
    pub(super) fn page(
        &self,
        scope: &Scope,
        after: usize,
        limit: usize,
    ) -> (Vec<Box<RawValue>>, Option<String>, bool) {
        let Read::Frames(frames, _) = self.log.read(after as u64, 1, limit, usize::MAX) else {
            return (Vec::new(), None, false);
        };
        let frames = String::from_utf8_lossy(&frames);
        let events = frames.split_terminator("\n\n").filter_map(|frame| {
            let (_, event) = frame.split_once(DATA)?;
            RawValue::from_string(event.to_owned()).ok()
        });
        let events: Vec<_> = events.collect();
        let end = after + events.len();
        (events, Some(scope.cursor(end)), end < self.len())
    }
}

/// The kind of a run's event.
fn kind(run: &Run, event: &Event) -> &'static str {
    match event {
        Event::RunStart(_) if run.resumed => "RunResumed",
        Event::RunStart(_) => "RunStarted",
        Event::RunFinish(finish) => match finish.termination.r#type.as_str() {
            "natural_end" => "RunFinished",
            "suspended" => "RunSuspended",
            "cancelled" => "RunCancelled",
            "error" => "RunErrored",
            _ => "RunTerminated",
        },
        Event::StepStart(_) => "StepStarted",
        Event::StepEnd => "StepEnded",
        Event::TextDelta(_) => "TextDeltaObserved",
        Event::ReasoningDelta(_) => "ReasoningDeltaObserved",
        Event::ToolCallStart(_) => "ToolCallStarted",
        Event::ToolCallDelta(_) => "ToolCallDeltaObserved",
        Event::ToolCallReady(_) => "ToolCallReady",
        Event::ToolCallDone(done) if done.outcome.as_deref() == Some("suspended") => "ToolCallSuspended",
        Event::ToolCallDone(_) => "ToolCallDone",
        Event::ToolCallResumed(_) => "ToolCallResumed",
        Event::ToolCallCancel(_) => "ToolCallCancelled",
        Event::StreamReset(_) => "StreamReset",
        Event::InferenceComplete(_) => "InferenceComplete",
        Event::StateSnapshot(_) => "StateSnapshotObserved",
        Event::StateDelta(_) => "StateDeltaObserved",
        Event::MessagesSnapshot(_) => "MessagesSnapshotObserved",
        Event::ActivitySnapshot(_) => "ActivitySnapshotObserved",
        Event::ActivityDelta(_) => "ActivityDeltaObserved",
        Event::Error(_) => "ErrorRecorded",
        // The scripts have none of these.
        Event::ReasoningEncryptedValue(_) | Event::ToolCallStreamDelta(_) => "EventObserved",
    }
}

/// Whether the event says that a call waits for consent.
fn is_permission_request(event: &Event) -> bool {
    let Event::ToolCallDone(done) = event else {
        return false;
    };
    done.result.suspension.as_ref().is_some_and(|ticket| ticket.resume_mode == "replay_tool_call")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_belong_to_one_kind_of_scope() {
        let (thread, run) = (Scope::thread("t"), Scope::run("r"));
        assert_eq!(thread.number(&thread.cursor(300)), Some(300));
        assert_eq!(run.number(&thread.cursor(300)), None);
        assert_eq!(run.number("run_x"), None);
    }
}
