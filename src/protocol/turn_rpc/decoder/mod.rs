//! Messages → events: the notifications and responses of one turn in turnwire's form.
//!
//! One decoder reads a turn over all its connections, and each file here handles one kind of message. Messages have
//! no numbers, so the decoder counts its events. It recognises everything by the ids of turns and items: so the
//! server's record, read after a connection broke, and the notifications that arrive meanwhile may overlap ([`gate`],
//! [`overlap`]). The completed form of an item is final; deltas may be lost or late (section 7).
//!
//! The state is bounded: every list has a limit beside it. Texts are kept only as fingerprints, except the last
//! answer.

mod agents;
mod begin;
mod calls;
mod delta;
mod ending;
mod fingerprint;
mod gate;
mod items;
mod lookup;
mod notices;
mod output;
mod overlap;
mod recorded;
mod requests;
mod tasks;
#[cfg(test)]
mod tests;
mod texts;
mod usage;

use crate::error::{Error, ErrorCode, sentence};
use crate::event::EventRef;
use crate::json::{Object, Value, write_u64};
use crate::protocol::fields::{Problem, text, text_or_null, unknown};
use crate::protocol::{EventDecoder, EventSink};
use crate::rpc::{Messages, thread_mark};
use crate::sse::Frame;
use crate::text::{cut, is_among};

use super::fields::{first_text, inner};
use super::markdown::without_markdown;
use super::{Dialect, codex, gateway};
use agents::Agents;
use begin::Life;
use delta::DeltaReader;
pub(super) use ending::{EndReport, state_of};
use fingerprint::Facts;
use gate::Gate;
use items::{Items, Place};
use lookup::{Lookup, Search};
use requests::Requests;
use tasks::{Task, Timeline};
use usage::Usage;

/// Reads the messages of all connections of one turn.
#[derive(Debug)]
pub(super) struct TurnDecoder {
    dialect: Dialect,
    deltas: DeltaReader,
    turn: Turn,
    gate: Gate,
}

/// The state of a turn.
#[derive(Debug, Default)]
#[expect(clippy::struct_field_names, reason = "the turn's id beside those of others")]
pub(super) struct Turn {
    thread_id: String,
    /// Empty until the server sends it.
    turn_id: String,
    life: Life,
    /// The number of events so far.
    emitted: u64,
    items: Items,
    /// The threads of tasks. The first one is thread 1.
    tasks: Vec<Task>,
    timeline: Timeline,
    agents: Agents,
    facts: Facts,
    requests: Requests,
    usage: Usage,
    lookup: Lookup,
}

impl TurnDecoder {
    pub(super) fn new(dialect: Dialect) -> Self {
        Self { dialect, deltas: DeltaReader::default(), turn: Turn::default(), gate: Gate::default() }
    }
}

impl EventDecoder for TurnDecoder {
    fn begin(&mut self, params: &Object<'_>) {
        self.turn = Turn::started(params);
        // A turn whose id the server makes is not known before its response.
        let awaits: &[_] = if self.turn.turn_id.is_empty() { &["turn/start"] } else { &[] };
        self.gate = Gate::awaiting(awaits);
    }

    fn resume(&mut self, params: &Object<'_>) {
        self.turn.resumed(params);
        self.gate = Gate::awaiting(match self.dialect {
            Dialect::Gateway => {
                self.turn.timeline.expect_first();
                &["turn/get", "turn/items"]
            }
            Dialect::Codex => &["thread/resume", "thread/turns/list"],
        });
    }

    fn has_follow_up_requests(&self) -> bool {
        // While the turn itself is being read, a response to a subscription belongs to that.
        let seeks = self.gate.is_open() && self.turn.agents.has_asks();
        seeks
            || self.turn.timeline.has_changed
            || !self.turn.requests.refusals.is_empty()
            || self.turn.lookup.next.is_some()
    }

    fn follow_up_requests(&mut self) -> Option<Messages> {
        let mut list = self.turn.requests.take_refusals();
        let (thread, turn) = (&self.turn.thread_id, &self.turn.turn_id);
        if self.turn.timeline.ask() {
            list.push(gateway::timeline(thread, turn));
        }
        match self.turn.lookup.next.take() {
            Some(Search::Older(cursor)) => list.push(codex::newest_turn(thread, &cursor)),
            Some(Search::Thread) => list.push(codex::whole_thread(thread)),
            None => {}
        }
        if self.gate.is_open() {
            self.turn.agents.ask(&self.turn.thread_id, &mut list);
        }
        (!list.is_empty()).then(|| Messages { thread: thread.clone(), list, ..Messages::default() })
    }

    fn answered(&mut self, calls: &[(String, String)]) {
        self.turn.requests.mark_answered(calls);
    }

    fn concerns(&self, data: &str) -> bool {
        // Searching a string in a string would take four times the bytes in the module.
        let names = |id: &str| {
            let mark = thread_mark(id);
            data.as_bytes().windows(mark.len()).any(|window| window == mark.as_bytes())
        };
        let turn = &self.turn;
        responds_to(data).is_some()
            || names(&turn.thread_id)
            || names(&turn.turn_id)
            || turn.agents.any(names)
    }

    fn template(&self, data: &str) -> Option<String> {
        let (found, parts) = delta::parts(data).filter(|_| self.gate.is_open())?;
        let item = self.turn.items.find("", found.item_id)?;
        let takes = self.turn.is_own(found.thread_id, found.turn_id) && self.turn.items.takes_text(item);
        takes.then(|| {
            let mut description = String::new();
            write_u64(&mut description, item as u64);
            description + &parts
        })
    }

    fn decode_like(&mut self, template: u32, texts: &str, sink: &mut dyn EventSink) -> u32 {
        let Self { deltas, turn, gate, .. } = self;
        let item = template as usize;
        if !gate.is_open() || turn.is_over() || gate.failure.is_some() || !turn.items.takes_text(item) {
            return 0;
        }
        turn.created(sink);
        let (mut rest, mut count) = (texts, 0);
        while let Some(text) = deltas.take_text(&mut rest) {
            if !text.is_empty() {
                turn.append_text(item, text, sink);
            }
            count += 1;
        }
        count
    }

    fn failure(&mut self) -> Option<Error> {
        self.gate.failure.clone()
    }

    fn decode(&mut self, frame: &Frame<'_>, sink: &mut dyn EventSink) {
        // Nothing is taken until the turn is read on another connection: it would count as delivered.
        if self.turn.is_over() || self.gate.failure.is_some() {
            return;
        }
        let is_open = self.gate.is_open();
        if !is_open && responds_to(frame.data).is_none() {
            if self.gate.hold(&without_markdown(frame.data)) {
                return;
            }
            if !self.gate.is_awaited("turn/start") {
                let problem = "too much data arrived before the missed part of the turn was read";
                self.gate.failure = Some(Error::new(ErrorCode::Incomplete, problem));
                return;
            }
            self.release_held(sink);
        }
        self.take(frame.data, is_open, sink);
        self.release_held(sink);
    }
}

impl TurnDecoder {
    /// Takes the held messages, if no response is awaited any more or there is no more room; and then the server's
    /// record of the turn. The turn may have ended between two reads; then the held messages have the rest of it.
    fn release_held(&mut self, sink: &mut dyn EventSink) {
        for held in self.gate.take_held() {
            self.take(&held, true, sink);
        }
        self.turn.apply_held_record(sink);
    }

    /// Takes a message. `may_be_piece` allows the hot path.
    fn take(&mut self, data: &str, may_be_piece: bool, sink: &mut dyn EventSink) {
        if may_be_piece && let Some(((thread_id, turn_id), piece)) = self.deltas.read(data) {
            if self.turn.is_own(thread_id, turn_id) {
                self.turn.piece(&piece, sink);
            }
        } else {
            self.turn.message(data, &mut self.gate, sink);
        }
    }
}

/// The method that a response responds to: the transport puts it at the beginning. `None` for other messages.
fn responds_to(data: &str) -> Option<&str> {
    Some(cut(data.strip_prefix("{\"response_to\":\"")?, b'"').0)
}

impl Turn {
    fn is_over(&self) -> bool {
        matches!(self.life, Life::Over)
    }

    /// Whether a message belongs to this turn. A message that names no turn belongs to the whole thread.
    fn is_own(&self, thread_id: &str, turn_id: &str) -> bool {
        thread_id == self.thread_id && (turn_id.is_empty() || turn_id == self.turn_id)
    }

    /// Emits an event.
    fn emit(&mut self, event: &Object<'_>, sink: &mut dyn EventSink) {
        self.emitted += 1;
        sink.event(self.emitted, EventRef::of(event));
    }

    /// The id of the next event, if it has none of its own.
    fn next_id(&self) -> String {
        let mut id = sentence(&[&*self.turn_id, ":e"]);
        write_u64(&mut id, self.emitted + 1);
        id
    }

    /// Emits an event for data that is unknown, or could not be read.
    fn unknown(
        &mut self,
        wire_type: &str,
        raw: Value<'_>,
        problem: Option<Problem>,
        sink: &mut dyn EventSink,
    ) {
        if self.is_over() {
            return;
        }
        self.created(sink);
        self.emit(&unknown(text_or_null(wire_type), raw, problem), sink);
    }

    /// Takes a message without the hot path.
    fn message(&mut self, data: &str, gate: &mut Gate, sink: &mut dyn EventSink) {
        if self.is_over() {
            return;
        }
        let readable = without_markdown(data);
        let json = match Value::parse(&readable) {
            Ok(json) => json,
            Err(error) => {
                let method = responds_to(data).unwrap_or_default();
                if !self.unreadable(method, gate, sink) {
                    self.unknown(method, data.into(), Some(error.message()), sink);
                }
                return;
            }
        };
        let Some(root) = json.as_object() else {
            return self.unknown("", json, Some("it is not an object".to_owned()), sink);
        };
        let wire_type =
            root.text(if root.contains("response_to") { "response_to" } else { "method" }).to_owned();
        let read = if root.contains("response_to") {
            let is_known = self.response(&wire_type, root, gate, sink);
            self.timeline.reading = 0;
            Ok(is_known)
        } else {
            self.notification(&wire_type, root, sink)
        };
        match read {
            Ok(true) => {}
            Ok(false) => self.unknown(&wire_type, json, None, sink),
            Err(problem) => self.unknown(&wire_type, json, Some(problem), sink),
        }
    }

    /// Takes a notification or a request of the server. Returns whether its method is known.
    fn notification(
        &mut self,
        method: &str,
        root: &Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<bool, Problem> {
        text(root, "method")?;
        let params = inner(root, "params");
        let turn_id = inner(params, "turn").text("id");
        let turn_id = if turn_id.is_empty() { first_text(params, "turn_id, turnId") } else { turn_id };
        let thread_id = first_text(params, "thread_id, threadId");
        if self.turn_id.is_empty() && method == "turn/started" && thread_id == self.thread_id {
            // The response with the turn's id did not fit among the held messages.
            turn_id.clone_into(&mut self.turn_id);
        }
        if thread_id != self.thread_id {
            return self.other_thread((method, thread_id), root, params, sink);
        }
        if !self.is_own(thread_id, turn_id) {
            return Ok(true);
        }
        if let Some(id) = root.get("id") {
            return self.asked(id, 0, method, params, sink);
        }
        self.resolve_stale_after(0, sink);
        match method {
            "turn/started" => self.created(sink),
            "turn/completed" | "turn/failed" => {
                let turn = params.object("turn").ok_or("`turn` is missing")?;
                let report = if method == "turn/failed" { EndReport::Failed } else { EndReport::Completed };
                self.end(turn, report, sink);
            }
            "item/started" | "item/updated" | "item/completed" => {
                let item = params.object("item").ok_or("`item` is missing")?;
                self.created(sink);
                let read = self.item(method, &Place::default(), item, sink);
                self.note_notified(item);
                return read;
            }
            // Tasks may continue after the turn, but no longer belong to it. The last read has everything before the
            // end.
            "turn/timeline/changed" if self.timeline.ending.is_some() => {}
            "turn/timeline/changed" => self.timeline.has_changed = true,
            "thread/tokenUsage/updated" => self.usage.note(inner(params, "tokenUsage")),
            "thread/status/changed" => self.thread_status(params),
            // The completed item has the whole plan.
            "item/plan/delta" => {}
            "serverRequest/resolved" => self.answered(&params.json("requestId"), sink),
            _ if delta::is_delta(method) => {
                let piece = delta::Piece::of(method, params)?;
                self.piece(&piece, sink);
            }
            // Other notifications of threads do not concern a turn: status, names, read marks.
            _ => return Ok(self.known_notice(method, 0, params, sink) || is_of_thread(method, turn_id)),
        }
        Ok(true)
    }
}

/// The notifications about a thread, without `thread/`.
const OF_THREADS: &str = "started, updated, closed, readState/changed, archived, unarchived, deleted, \
    reverted, name/updated, section/changed, attachment/updated, goal/updated, goal/cleared, \
    prediction/updated, queue/changed, project/updated, environment/connected, environment/disconnected, \
    settings/updated";

/// Whether a notification is about a thread, and not about a turn in it.
fn is_of_thread(method: &str, turn_id: &str) -> bool {
    let of = method.strip_prefix("thread/").filter(|_| turn_id.is_empty());
    of.is_some_and(|of| is_among(of, OF_THREADS))
}
