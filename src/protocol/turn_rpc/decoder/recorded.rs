//! The server's record of a turn, read after a connection broke (sections 6 and 8).

use crate::error::{Error, ErrorCode, sentence};
use crate::json::{Object, Value};
use crate::protocol::EventSink;
use crate::protocol::response::refusal;

use super::super::fields::{Objects, first_text, inner, members, objects};
use super::super::input::input_of;
use super::super::status_of;
use super::Turn;
use super::agents::waits;
use super::ending::EndReport;
use super::gate::{Gate, LATE};
use super::items::Place;
use super::lookup::Search;
use super::notices::method_of_recorded;
use super::overlap::sequence_of;
use super::tasks::TaskInfo;

/// The gateway's code for all its own errors, for example an unknown turn or thread.
const REFUSED: i64 = -32600;
/// The same, in later versions.
const NOT_FOUND: i64 = -32044;
const UNKNOWN_METHOD: i64 = -32601;

impl Turn {
    /// A turn that is only read from a record.
    pub(in super::super) fn for_record(thread_id: &str, turn_id: &str) -> Self {
        Self { thread_id: thread_id.to_owned(), turn_id: turn_id.to_owned(), ..Self::default() }
    }

    /// Takes all recorded events of the gateway, with the beginning and the end if the record has them.
    pub(in super::super) fn apply_events(&mut self, events: &[&Object<'_>], sink: &mut dyn EventSink) {
        let place = Place::default();
        for event in events {
            let payload = inner(event, "payload");
            let turn = inner(payload, "turn");
            match payload.text("type") {
                "turnStarted" => {
                    let input = payload.array("input");
                    self.find_input(|| {
                        let mut message = Object::new();
                        message.set("content", input.to_vec().into());
                        (!input.is_empty()).then(|| input_of(&message).into_owned())
                    });
                }
                "turnCompleted" => self.end(turn, EndReport::Completed, sink),
                "turnFailed" => self.end(turn, EndReport::Failed, sink),
                _ => self.recorded_event(event, &place, sink),
            }
        }
    }

    /// Takes a turn that is recorded as a list of items.
    pub(in super::super) fn apply_listed_turn(&mut self, turn: &Object<'_>, sink: &mut dyn EventSink) {
        for item in objects(turn, "items") {
            self.recorded_item("item/completed", 0, item, &Place::default(), sink);
        }
        self.end(turn, EndReport::Record, sink);
    }

    /// Takes a response. Returns whether its method is known.
    pub(super) fn response(
        &mut self,
        method: &str,
        root: &Object<'_>,
        gate: &mut Gate,
        sink: &mut dyn EventSink,
    ) -> bool {
        let result = root.get("result").cloned().unwrap_or_default();
        self.timeline.reading = self.timeline.resumed;
        if let Some(error) = root.get("error") {
            let is_call = method == "thread/resume" && gate.is_awaited(method);
            if is_call || matches!(method, "turn/start" | "thread/start") {
                // The call itself has failed, and its caller gets the error.
                return true;
            }
            self.refused(method, error, gate, sink);
        } else if !has_shape(method, &result) {
            return self.unreadable(method, gate, sink);
        }
        if gate.failure.is_some() {
            return true;
        }
        if gate.is_awaited(method) {
            if let Some(results) = gate.take(method, result) {
                self.apply_results(&results, sink);
            }
            return true;
        }
        match method {
            "turn/timeline" => {
                self.timeline_read(members(&result), sink);
            }
            "thread/turns/list" | "thread/read" => {
                let result = members(&result);
                let turns = result.object("thread").map(|thread| thread.array("turns"));
                let turns = turns.unwrap_or_else(|| result.array("data"));
                self.find_in_turns(turns, result.text("nextCursor"), sink);
            }
            // The turn's notifications follow.
            "turn/start" => self.created(sink),
            "thread/list" => self.agents_listed(members(&result), sink),
            "thread/resume" => {
                let result = members(&result);
                if let Some(thread) = result.object("thread") {
                    self.agent_read(thread, sink);
                }
            }
            "thread/start" => {}
            _ => return false,
        }
        true
    }

    /// A request has failed.
    fn refused(&mut self, method: &str, error: &Value<'_>, gate: &mut Gate, sink: &mut dyn EventSink) {
        // Whether the response would have had the missed part of the turn.
        let is_awaited = gate.is_awaited(method) || (method == LATE && self.timeline.has_missed_part);
        let message = error.get("message").and_then(Value::as_str).unwrap_or_default().to_owned();
        let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
        match (method, code) {
            ("turn/get", REFUSED | NOT_FOUND) if is_awaited => {
                self.created(sink);
                let mut turn = Object::new();
                let parts = ["the server no longer has the turn: ", &message];
                turn.set("error", sentence(&parts).into());
                // There will be no data of tasks.
                self.timeline.cancel();
                return self.end(&turn, EndReport::Failed, sink);
            }
            // Without it, the turn lacks only the data of its tasks.
            ("turn/timeline", REFUSED | NOT_FOUND | UNKNOWN_METHOD) => {}
            // Older servers return only whole threads.
            ("thread/turns/list", REFUSED | UNKNOWN_METHOD) if is_awaited => {
                self.lookup.next = Some(Search::Thread);
                return;
            }
            _ if is_awaited || matches!(method, "thread/turns/list" | "thread/read") => {
                // Without it, events would be lost.
                gate.failure = Some(refusal(error, status_of));
                return;
            }
            _ => {}
        }
        // Reported once: on each connection it would look like progress.
        if self.facts.is_new(&sentence(&["refused:", method, "\n", &message])) {
            self.notice(0, ("warning", method, &message), "", Some(error.clone()), sink);
        }
    }

    /// A response is unreadable or has the wrong form. Returns whether it was handled.
    pub(super) fn unreadable(&mut self, method: &str, gate: &mut Gate, sink: &mut dyn EventSink) -> bool {
        match method {
            "turn/get" | "turn/items" | "thread/resume" if gate.is_awaited(method) => {}
            "thread/turns/list" | "thread/read" => {}
            // Without it, the turn lacks only the data of its tasks.
            LATE => {
                let words = "the response cannot be read";
                // Reported once: on each connection it would look like progress.
                if self.facts.is_new(&sentence(&["unreadable:", method])) {
                    self.notice(0, ("warning", method, words), "", None, sink);
                }
                self.timeline_read(const { &Object::new() }, sink);
                return true;
            }
            _ => return false,
        }
        let parts = ["the response to `", method, "` is not valid"];
        gate.failure = Some(Error::of(ErrorCode::UnexpectedResponse, &parts));
        true
    }

    /// Takes the awaited results: the record of the turn, or the id of a new one.
    fn apply_results(&mut self, results: &[(String, Value<'static>)], sink: &mut dyn EventSink) {
        let result = |method: &str| {
            let found = results.iter().find(|(known, _)| known == method);
            found.map_or(const { &Object::new() }, |(_, result)| members(result))
        };
        if let Some(started) = result("turn/start").object("turn") {
            started.text("id").clone_into(&mut self.turn_id);
            return self.created(sink);
        }
        let events = result("turn/items").array("events");
        self.find_input(|| {
            let mut items = events.iter().filter_map(|event| event.get("payload")?.get("item")?.as_object());
            items.find(|item| item.text("type") == "userMessage").map(input_of)
        });
        // It has the data of tasks in order; but it may also come later.
        if results.iter().any(|(known, _)| known == LATE) {
            self.timeline_read(result(LATE), sink);
        }
        let events = Objects::of(events);
        events.clone().for_each(|event| self.compare("", event));
        for event in events {
            self.recorded_event(event, &Place::default(), sink);
        }
        self.lookup.record = result("turn/get").object("turn").cloned().map(Object::into_owned);
        if let Some(thread) = result("thread/resume").object("thread") {
            self.apply_thread_record(thread, result("thread/turns/list"), sink);
        }
        self.created(sink);
    }

    /// Takes the thread and its newest turn.
    fn apply_thread_record(&mut self, thread: &Object<'_>, turns: &Object<'_>, sink: &mut dyn EventSink) {
        let status = inner(thread, "status");
        self.lookup.set_idle(is_idle(status));
        if self.lookup.next.is_none() {
            self.find_in_turns(turns.array("data"), turns.text("nextCursor"), sink);
        }
        if !waits(thread) {
            // Another client has answered.
            self.resolve_stale(0, sink);
        }
    }

    /// Takes turns of the thread: this one, or later ones.
    pub(super) fn find_in_turns(&mut self, turns: &[Value<'_>], next: &str, sink: &mut dyn EventSink) {
        let mut known = Objects::of(turns);
        if let Some(turn) = known.find(|turn| turn.text("id") == self.turn_id) {
            let items = objects(turn, "items");
            self.find_input(|| items.clone().find(|item| item.text("type") == "userMessage").map(input_of));
            self.created(sink);
            for item in items {
                self.recorded_item("item/completed", 0, item, &Place::default(), sink);
            }
            self.lookup.record = Some(turn.clone().into_owned());
        } else if next.is_empty() {
            if !self.lookup.is_lost() {
                return;
            }
            self.created(sink);
            let mut turn = Object::new();
            turn.set("error", "the server no longer has the turn".into());
            self.end(&turn, EndReport::Failed, sink);
        } else {
            // Later turns follow it.
            self.lookup.next = Some(Search::Older(next.to_owned()));
        }
    }

    /// Takes the status of the thread.
    pub(super) fn thread_status(&mut self, params: &Object<'_>) {
        self.lookup.set_idle(params.object("status").is_some_and(is_idle));
    }

    /// Takes the turn's record, once the held messages are taken.
    pub(super) fn apply_held_record(&mut self, sink: &mut dyn EventSink) {
        if let Some(turn) = self.lookup.record.take() {
            self.end(&turn, EndReport::Record, sink);
        }
    }

    /// Takes the data of tasks, and ends the turn if that was awaited.
    pub(in super::super) fn timeline_read(&mut self, result: &Object<'_>, sink: &mut dyn EventSink) {
        self.timeline.read();
        self.take_timeline(result, sink);
        if !self.timeline.is_behind()
            && let Some(state) = self.timeline.ending.take()
        {
            self.finish(state, sink);
        }
    }

    fn take_timeline(&mut self, result: &Object<'_>, sink: &mut dyn EventSink) {
        for item in objects(result, "items") {
            let origin = inner(item, "origin");
            if let Some(event) = item.object("payload").and_then(|payload| payload.object("event")) {
                self.compare(turn_of(origin), event);
            }
        }
        for item in objects(result, "items") {
            let origin = inner(item, "origin");
            let payload = inner(item, "payload");
            let event = payload.object("event");
            match (payload.text("kind"), event) {
                ("turn_item_event", Some(event)) => match self.place_of(origin, sink) {
                    Some(place) => self.recorded_event(event, &place, sink),
                    None => self.recorded_unknown("turn/timeline", item, sink),
                },
                (_, event) => {
                    let id = item.text("id");
                    if self.facts.is_new(&sentence(&["timeline:", id])) {
                        let details = event.map(|event| Value::Object(event.clone()));
                        let task = origin.text("taskId");
                        let thread = if task.is_empty() {
                            None
                        } else {
                            self.thread_of_task(task, &TaskInfo::default(), sink)
                        };
                        self.notice(thread.unwrap_or(0), ("info", "task_event", ""), id, details, sink);
                    }
                }
            }
        }
    }

    /// The place of an event in a timeline: the turn itself, or a task's thread.
    fn place_of(&mut self, origin: &Object<'_>, sink: &mut dyn EventSink) -> Option<Place> {
        if origin.text("kind") != "child_turn" {
            return Some(Place::default());
        }
        let task = first_text(origin, "taskId, childThreadId, childTurnId");
        if task.is_empty() {
            return None;
        }
        self.created(sink);
        let thread = self.thread_of_task(task, &TaskInfo::default(), sink)?;
        Some(Place { thread, turn_id: turn_of(origin).to_owned() })
    }

    /// Takes a recorded event, which may have been a notification before.
    fn recorded_event(&mut self, event: &Object<'_>, place: &Place, sink: &mut dyn EventSink) {
        let Some(payload) = event.object("payload") else { return };
        let kind = payload.text("type");
        let method = match kind {
            "itemStarted" => "item/started",
            "itemUpdated" => "item/updated",
            "itemCompleted" => "item/completed",
            // Deltas are not recorded; where they are, their item is recorded as well.
            "itemDelta" => return,
            _ => match method_of_recorded(kind) {
                Some(method) => {
                    self.known_notice(method, place.thread, payload, sink);
                    return;
                }
                None => return self.recorded_unknown(kind, payload, sink),
            },
        };
        match payload.object("item") {
            Some(item) => self.recorded_item(method, sequence_of(event), item, place, sink),
            None => self.recorded_unknown(kind, payload, sink),
        }
    }

    fn recorded_item(
        &mut self,
        method: &str,
        sequence: u64,
        item: &Object<'_>,
        place: &Place,
        sink: &mut dyn EventSink,
    ) {
        if self.is_old(method, &place.turn_id, item, sequence) {
            return;
        }
        if item.text("type") != "userMessage" {
            self.created(sink);
        }
        let read = self.item(method, place, item, sink);
        self.note_read(&place.turn_id, item, sequence);
        if read != Ok(true) && self.facts.is_new(&item.to_json()) {
            let problem = read.err();
            self.unknown(method, item.clone().into(), problem, sink);
        }
    }

    fn recorded_unknown(&mut self, kind: &str, payload: &Object<'_>, sink: &mut dyn EventSink) {
        if self.facts.is_new(&payload.to_json()) {
            self.unknown(kind, payload.clone().into(), None, sink);
        }
    }
}

/// The turn of a task's agent; empty for the turn itself.
fn turn_of<'o>(origin: &'o Object<'_>) -> &'o str {
    if origin.text("kind") == "child_turn" { origin.text("childTurnId") } else { "" }
}

/// Whether a thread with this status runs no turn.
fn is_idle(status: &Object<'_>) -> bool {
    matches!(status.text("type"), "idle" | "notLoaded" | "systemError")
}

/// Whether a result has the members that are read.
fn has_shape(method: &str, result: &Value<'_>) -> bool {
    let path: &[&str] = match method {
        "turn/get" => &["turn", "status"],
        "turn/items" => &["events"],
        LATE => &["items"],
        "thread/resume" => &["thread"],
        "thread/turns/list" => &["data"],
        "thread/read" => &["thread", "turns"],
        _ => return true,
    };
    let found = path.iter().try_fold(result, |value, name| value.get(name)).unwrap_or(&Value::Null);
    match method {
        "turn/get" => found.is_string(),
        "thread/resume" => found.as_object().is_some(),
        _ => found.as_array().is_some(),
    }
}
