//! Messages → events: what a turn's notifications and responses say, told in turnwire's words.
//!
//! One decoder reads a turn over all its connections. Nothing is numbered on the wire: events are numbered here, and
//! everything is known by the ids of turns and items, so that what is read after a connection broke, and what is heard
//! meanwhile, come to the same however they overlap ([`gate`]). What an item says when it is completed is the truth;
//! deltas may be lost, and may come late (section 7).
//!
//! What is remembered is bounded: lists by the limit that stands beside them. Of texts, only their prints are kept, and
//! the last answer.

mod agents;
mod begin;
mod calls;
mod delta;
mod ending;
mod gate;
mod items;
mod kept;
mod notices;
mod order;
mod output;
mod requests;
mod tasks;
#[cfg(test)]
mod tests;
mod texts;
mod turn;
mod usage;

use crate::error::{Error, ErrorCode};
use crate::json::{Object, Value};
use crate::protocol::fields::{Problem, text};
use crate::protocol::{EventDecoder, EventSink};
use crate::rpc::{Messages, thread_mark};
use crate::sse::Frame;
use crate::text::is_among;

use super::markdown::without_markdown;
use super::{Dialect, codex, gateway};
use delta::DeltaReader;
pub(super) use ending::{Told, state_of};
use gate::Gate;
use items::Place;
use turn::Look;
pub(super) use turn::Turn;

/// Reads what one turn's connections bring.
#[derive(Debug)]
pub(super) struct TurnDecoder {
    dialect: Dialect,
    deltas: DeltaReader,
    turn: Turn,
    gate: Gate,
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
                self.turn.timeline.comes_later();
                &["turn/get", "turn/items"]
            }
            Dialect::Codex => &["thread/resume", "thread/turns/list"],
        });
    }

    fn has_follow_up_requests(&self) -> bool {
        // As long as the turn itself is read, a response to a subscription is its own.
        let seeks = self.gate.is_open() && self.turn.agents.has_asks();
        seeks || self.turn.timeline.has_changed() || self.turn.has_refusals() || self.turn.look.is_some()
    }

    fn follow_up_requests(&mut self) -> Option<Messages> {
        let mut list = self.turn.refused_requests();
        let (thread, turn) = (&self.turn.thread_id, &self.turn.turn_id);
        if self.turn.timeline.ask() {
            list.push(gateway::timeline(thread, turn));
        }
        match self.turn.look.take() {
            Some(Look::Older(cursor)) => list.push(codex::newest_turn(thread, &cursor)),
            Some(Look::Thread) => list.push(codex::whole_thread(thread)),
            None => {}
        }
        if self.gate.is_open() {
            self.turn.agents.ask(&self.turn.thread_id, &mut list);
        }
        (!list.is_empty()).then(|| Messages { thread: thread.clone(), list, ..Messages::default() })
    }

    fn answered(&mut self, calls: &[(String, String)]) {
        self.turn.were_answered(calls);
    }

    fn concerns(&self, data: &str) -> bool {
        // A search for a text in a text is four times as large in the module. This one is for who listens to messages
        // as they come.
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

    fn failure(&mut self) -> Option<Error> {
        self.turn.failure.clone()
    }

    fn decode(&mut self, frame: &Frame<'_>, sink: &mut dyn EventSink) {
        // Until the turn is read on another connection, nothing of it is taken: it would count as told.
        if self.turn.is_over || self.turn.failure.is_some() {
            return;
        }
        let is_open = self.gate.is_open();
        if !is_open && responds_to(frame.data).is_none() {
            if self.gate.hold(&without_markdown(frame.data)) {
                return;
            }
            if !self.gate.is_awaited("turn/start") {
                let problem = "too much came before the server had said what was missed";
                self.turn.failure = Some(Error::new(ErrorCode::Incomplete, problem));
                return;
            }
            self.let_through(sink);
        }
        self.take(frame.data, is_open, sink);
        self.let_through(sink);
    }
}

impl TurnDecoder {
    /// Takes what was held, if nothing is waited for any more, or if there was no more room; and then what the server
    /// keeps of the turn as a whole: it may have ended between two reads, and what was held says the rest of it.
    fn let_through(&mut self, sink: &mut dyn EventSink) {
        for held in self.gate.take_held() {
            self.take(&held, true, sink);
        }
        self.turn.settle_kept(sink);
    }

    /// Takes a message, by the hot path if it may be a piece.
    fn take(&mut self, data: &str, may_be_piece: bool, sink: &mut dyn EventSink) {
        if may_be_piece && let Some(piece) = self.deltas.read(data) {
            if self.turn.is_own(piece.thread_id, piece.turn_id) {
                self.turn.piece(&piece, sink);
            }
        } else {
            self.turn.message(data, &mut self.gate, sink);
        }
    }
}

/// The method that a message responds to, if it is a response: it begins with a member of ours.
fn responds_to(data: &str) -> Option<&str> {
    data.strip_prefix("{\"response_to\":\"")?.split_once('"').map(|(method, _)| method)
}

impl Turn {
    /// Takes a message by the general way.
    fn message(&mut self, data: &str, gate: &mut Gate, sink: &mut dyn EventSink) {
        if self.is_over {
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
            self.reading = 0;
            Ok(is_known)
        } else {
            self.heard(&wire_type, root, sink)
        };
        match read {
            Ok(true) => {}
            Ok(false) => self.unknown(&wire_type, json, None, sink),
            Err(problem) => self.unknown(&wire_type, json, Some(problem), sink),
        }
    }

    /// Takes a notification, or a request of the server's. Gives whether it is known.
    fn heard(&mut self, method: &str, root: &Object<'_>, sink: &mut dyn EventSink) -> Result<bool, Problem> {
        text(root, "method")?;
        let nothing = const { &Object::new() };
        let params = root.object("params").unwrap_or(nothing);
        let turn_id = params.object("turn").map_or("", |turn| turn.text("id"));
        let turn_id = if turn_id.is_empty() { either(params, "turn_id", "turnId") } else { turn_id };
        let thread_id = either(params, "thread_id", "threadId");
        if self.turn_id.is_empty() && method == "turn/started" && thread_id == self.thread_id {
            // There was no room to wait for the response that names it.
            turn_id.clone_into(&mut self.turn_id);
        }
        if thread_id != self.thread_id {
            return self.elsewhere((method, thread_id), root, params, sink);
        }
        if !self.is_own(thread_id, turn_id) {
            return Ok(true);
        }
        if let Some(id) = root.get("id") {
            return self.asked(id, 0, method, params, sink);
        }
        self.requests_came(0, sink);
        match method {
            "turn/started" => self.created(sink),
            "turn/completed" | "turn/failed" => {
                let turn = params.object("turn").ok_or("`turn` is missing")?;
                let told = if method == "turn/failed" { Told::Failed } else { Told::Completed };
                self.end(turn, told, sink);
            }
            "item/started" | "item/updated" | "item/completed" => {
                let item = params.object("item").ok_or("`item` is missing")?;
                self.created(sink);
                let read = self.item(method, &Place::default(), item, sink);
                self.heard_of(item);
                return read;
            }
            // What is read for the end has been kept before it; what tasks do after it is not the turn's.
            "turn/timeline/changed" if self.ending.is_some() => {}
            "turn/timeline/changed" => self.timeline.changed(),
            "thread/tokenUsage/updated" => self.usage.note(params.object("tokenUsage").unwrap_or(nothing)),
            "thread/status/changed" => self.thread_status(params),
            // The item says all of it once it is complete.
            "item/plan/delta" => {}
            "serverRequest/resolved" => self.answered(&params.json("requestId"), sink),
            _ if delta::is_delta(method) => {
                let piece = delta::Piece::of(method, params)?;
                self.piece(&piece, sink);
            }
            // What threads say besides is nothing of a turn's: their state, which turns tell better, who has read them,
            // how they are called.
            _ => return Ok(self.news(method, 0, params, sink) || is_of_thread(method, turn_id)),
        }
        Ok(true)
    }
}

/// What is said of a thread, and of no turn in it, after `thread/`.
const OF_THREADS: &str = "started, updated, closed, readState/changed, archived, unarchived, deleted, \
    reverted, name/updated, section/changed, attachment/updated, goal/updated, goal/cleared, \
    prediction/updated, queue/changed, project/updated, environment/connected, environment/disconnected, \
    settings/updated";

/// Whether a notification is of a thread, and of no turn in it.
fn is_of_thread(method: &str, turn_id: &str) -> bool {
    let of = method.strip_prefix("thread/").filter(|_| turn_id.is_empty());
    of.is_some_and(|of| is_among(of, OF_THREADS))
}

/// A text that one dialect, or one place of it, spells in another way than the other.
fn either<'o>(fields: &'o Object<'_>, snake: &str, camel: &str) -> &'o str {
    let text = fields.text(snake);
    if text.is_empty() { fields.text(camel) } else { text }
}
