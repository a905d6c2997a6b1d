//! What the server keeps of a turn, read after a connection broke (sections 6 and 8).

use crate::error::{Error, ErrorCode, sentence};
use crate::json::{Object, Value};
use crate::protocol::EventSink;
use crate::protocol::response::refusal;

use super::super::input::said;
use super::super::status_of;
use super::Turn;
use super::agents::waits;
use super::ending::Told;
use super::gate::{Gate, LATE};
use super::items::Place;
use super::notices::method_of_kept;
use super::order::sequence_of;
use super::tasks::About;
use super::turn::Look;

/// The code of whatever goes wrong in the gateway itself: it does not know the turn, or the thread.
const REFUSED: i64 = -32600;
/// The same in later versions.
const NOT_FOUND: i64 = -32044;
const UNKNOWN_METHOD: i64 = -32601;

impl Turn {
    /// A turn that is only read.
    pub(in super::super) fn of_kept(thread_id: &str, turn_id: &str) -> Self {
        Self { thread_id: thread_id.to_owned(), turn_id: turn_id.to_owned(), ..Self::default() }
    }

    /// Takes all that the gateway keeps of the turn, with its beginning and end where they are kept as well.
    pub(in super::super) fn keep_all(&mut self, events: &[&Object<'_>], sink: &mut dyn EventSink) {
        let place = Place::default();
        for event in events {
            let payload = event.object("payload").unwrap_or(const { &Object::new() });
            let turn = payload.object("turn").unwrap_or(const { &Object::new() });
            match payload.text("type") {
                "turnStarted" => {
                    let input = payload.array("input");
                    if self.input.is_none() && !input.is_empty() {
                        let mut message = Object::new();
                        message.set("content", input.to_vec().into());
                        self.input = Some(said(&message).into_owned());
                    }
                }
                "turnCompleted" => self.end(turn, Told::Completed, sink),
                "turnFailed" => self.end(turn, Told::Failed, sink),
                _ => self.kept_event(event, &place, sink),
            }
        }
    }

    /// Takes a turn that is kept as a list of its items.
    pub(in super::super) fn keep_turn(&mut self, turn: &Object<'_>, sink: &mut dyn EventSink) {
        for item in turn.array("items").iter().filter_map(Value::as_object) {
            self.kept_item("item/completed", 0, item, &Place::default(), sink);
        }
        self.kept_turn(turn, sink);
    }

    /// Takes a response. Gives whether it is known what asked for it.
    pub(super) fn response(
        &mut self,
        method: &str,
        root: &Object<'_>,
        gate: &mut Gate,
        sink: &mut dyn EventSink,
    ) -> bool {
        let result = root.get("result").cloned().unwrap_or_default();
        self.reading = self.timeline.resumed();
        if let Some(error) = root.get("error") {
            let is_call = method == "thread/resume" && gate.is_awaited(method);
            if is_call || matches!(method, "turn/start" | "thread/start") {
                // It is the call that has failed, and whoever made it knows.
                return true;
            }
            self.refused(method, error, self.awaits(method, gate), sink);
        } else if !has_shape(method, &result) {
            return self.unreadable(method, gate, sink);
        }
        if self.failure.is_some() {
            return true;
        }
        if gate.is_awaited(method) {
            if let Some(results) = gate.take(method, result) {
                self.kept(&results, sink);
            }
            return true;
        }
        match method {
            "turn/timeline" => {
                self.timeline_read(result.as_object().unwrap_or(const { &Object::new() }), sink);
            }
            "thread/turns/list" | "thread/read" => {
                let result = result.as_object().unwrap_or(const { &Object::new() });
                let turns = result.object("thread").map(|thread| thread.array("turns"));
                let turns = turns.unwrap_or_else(|| result.array("data"));
                self.kept_turns(turns, result.text("nextCursor"), sink);
            }
            // The turn's own notifications follow.
            "turn/start" => self.created(sink),
            "thread/list" => self.agents_listed(result.as_object().unwrap_or(const { &Object::new() }), sink),
            "thread/resume" => {
                let result = result.as_object().unwrap_or(const { &Object::new() });
                if let Some(thread) = result.object("thread") {
                    self.agent_read(thread, sink);
                }
            }
            "thread/start" => {}
            _ => return false,
        }
        true
    }

    /// Whether the response to this method has what was missed.
    fn awaits(&self, method: &str, gate: &Gate) -> bool {
        gate.is_awaited(method) || (method == LATE && self.timeline.is_missed())
    }

    /// What was asked for is not to be had.
    fn refused(&mut self, method: &str, error: &Value<'_>, is_awaited: bool, sink: &mut dyn EventSink) {
        let message = error.get("message").and_then(Value::as_str).unwrap_or_default().to_owned();
        let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
        match (method, code) {
            ("turn/get", REFUSED | NOT_FOUND) if is_awaited => {
                self.created(sink);
                let mut turn = Object::new();
                let parts = ["the server does not know the turn any more: ", &message];
                turn.set("error", sentence(&parts).into());
                // Of what its tasks brought there is nothing to wait for.
                self.timeline.give_up();
                return self.end(&turn, Told::Failed, sink);
            }
            // Without it the turn can be read, but for what its tasks said.
            ("turn/timeline", REFUSED | NOT_FOUND | UNKNOWN_METHOD) => {}
            // Older servers read a thread with all its turns only.
            ("thread/turns/list", REFUSED | UNKNOWN_METHOD) if is_awaited => {
                self.look = Some(Look::Thread);
                return;
            }
            _ if is_awaited || matches!(method, "thread/turns/list" | "thread/read") => {
                // What is missing now would be missing for good.
                self.failure = Some(refusal(error, status_of));
                return;
            }
            _ => {}
        }
        // Not with every connection: it would count as something new.
        if self.is_new_fact(&sentence(&["refused:", method, "\n", &message])) {
            self.notice(("warning", method, &message), "", Some(error.clone()), sink);
        }
    }

    /// A response cannot be read, or is not what was asked for. Gives whether that is dealt with.
    pub(super) fn unreadable(&mut self, method: &str, gate: &Gate, sink: &mut dyn EventSink) -> bool {
        match method {
            "turn/get" | "turn/items" | "thread/resume" if gate.is_awaited(method) => {}
            "thread/turns/list" | "thread/read" => {}
            // Without it the turn can be read, but for what its tasks said.
            LATE => {
                let words = "the response cannot be read";
                // Not with every connection: it would count as something new.
                if self.is_new_fact(&sentence(&["unreadable:", method])) {
                    self.notice(("warning", method, words), "", None, sink);
                }
                self.timeline_read(const { &Object::new() }, sink);
                return true;
            }
            _ => return false,
        }
        let parts = ["the response to `", method, "` cannot be read, or is not what it should be"];
        self.failure = Some(Error::of(ErrorCode::UnexpectedResponse, &parts));
        true
    }

    /// Takes what was waited for: the turn as the server keeps it, or the id of a new one.
    fn kept(&mut self, results: &[(String, Value<'static>)], sink: &mut dyn EventSink) {
        let nothing = const { &Object::new() };
        let result = |method: &str| {
            let found = results.iter().find(|(known, _)| known == method);
            found.and_then(|(_, result)| result.as_object()).unwrap_or(nothing)
        };
        if let Some(started) = result("turn/start").object("turn") {
            started.text("id").clone_into(&mut self.turn_id);
            return self.created(sink);
        }
        let events = result("turn/items").array("events");
        if self.input.is_none() && !self.is_begun {
            let mut items = events.iter().filter_map(|event| event.get("payload")?.get("item")?.as_object());
            self.input =
                items.find(|item| item.text("type") == "userMessage").map(|item| said(item).into_owned());
        }
        // In it, what tasks brought stands in its place; it may also come later.
        if results.iter().any(|(known, _)| known == LATE) {
            self.timeline_read(result(LATE), sink);
        }
        let events = events.iter().filter_map(Value::as_object);
        events.clone().for_each(|event| self.compare("", event));
        for event in events {
            self.kept_event(event, &Place::default(), sink);
        }
        self.kept = result("turn/get").object("turn").cloned().map(Object::into_owned);
        if let Some(thread) = result("thread/resume").object("thread") {
            self.kept_thread(thread, result("thread/turns/list"), sink);
        }
        self.created(sink);
    }

    /// The thread, and its newest turn.
    fn kept_thread(&mut self, thread: &Object<'_>, turns: &Object<'_>, sink: &mut dyn EventSink) {
        let status = thread.object("status").unwrap_or(const { &Object::new() });
        self.is_idle = is_idle(status);
        if self.look.is_none() {
            self.kept_turns(turns.array("data"), turns.text("nextCursor"), sink);
        }
        if !waits(thread) {
            // Somebody else has answered.
            self.stale_answered(0, sink);
        }
    }

    /// One of the thread's turns: this one, or one that came after it.
    pub(super) fn kept_turns(&mut self, turns: &[Value<'_>], next: &str, sink: &mut dyn EventSink) {
        let mut known = turns.iter().filter_map(Value::as_object);
        if let Some(turn) = known.find(|turn| turn.text("id") == self.turn_id) {
            let items = turn.array("items").iter().filter_map(Value::as_object);
            if self.input.is_none() && !self.is_begun {
                let message = items.clone().find(|item| item.text("type") == "userMessage");
                self.input = message.map(|item| said(item).into_owned());
            }
            self.created(sink);
            for item in items {
                self.kept_item("item/completed", 0, item, &Place::default(), sink);
            }
            self.kept = Some(turn.clone().into_owned());
        } else if next.is_empty() {
            if !self.is_idle {
                // It has only just begun; or it is gone, which is known when nothing runs any more.
                self.is_missing = true;
                return;
            }
            self.created(sink);
            let mut turn = Object::new();
            turn.set("error", "the server does not know the turn any more".into());
            self.end(&turn, Told::Failed, sink);
        } else {
            // Others came after it.
            self.look = Some(Look::Older(next.to_owned()));
        }
    }

    /// The thread runs a turn, or none. One that was not found while others ran is looked for once more, before it is
    /// taken for gone.
    pub(super) fn thread_status(&mut self, params: &Object<'_>) {
        self.is_idle = params.object("status").is_some_and(is_idle);
        if self.is_idle && std::mem::take(&mut self.is_missing) {
            self.look = Some(Look::Older(String::new()));
        }
    }

    /// What was heard meanwhile is taken; if the turn has ended, it has ended.
    pub(super) fn settle_kept(&mut self, sink: &mut dyn EventSink) {
        if let Some(turn) = self.kept.take() {
            self.kept_turn(&turn, sink);
        }
    }

    fn kept_turn(&mut self, turn: &Object<'_>, sink: &mut dyn EventSink) {
        self.end(turn, Told::Kept, sink);
    }

    /// What tasks have brought, and the turn itself once more.
    pub(in super::super) fn timeline_read(&mut self, result: &Object<'_>, sink: &mut dyn EventSink) {
        self.reading = self.timeline.read();
        self.take_timeline(result, sink);
        if !self.timeline.is_behind()
            && let Some(state) = self.ending.take()
        {
            self.finish(state, sink);
        }
    }

    fn take_timeline(&mut self, result: &Object<'_>, sink: &mut dyn EventSink) {
        for item in result.array("items").iter().filter_map(Value::as_object) {
            let origin = item.object("origin").unwrap_or(const { &Object::new() });
            if let Some(event) = item.object("payload").and_then(|payload| payload.object("event")) {
                self.compare(turn_of(origin), event);
            }
        }
        for item in result.array("items").iter().filter_map(Value::as_object) {
            let origin = item.object("origin").unwrap_or(const { &Object::new() });
            let payload = item.object("payload").unwrap_or(const { &Object::new() });
            let event = payload.object("event");
            match (payload.text("kind"), event) {
                ("turn_item_event", Some(event)) => match self.place_of(origin, sink) {
                    Some(place) => self.kept_event(event, &place, sink),
                    None => self.kept_unknown("turn/timeline", item, sink),
                },
                (_, event) => {
                    let id = item.text("id");
                    if self.is_new_fact(&sentence(&["timeline:", id])) {
                        let details = event.map(|event| Value::Object(event.clone()));
                        let task = origin.text("taskId");
                        let thread = if task.is_empty() {
                            None
                        } else {
                            self.task_thread(task, &About::default(), sink)
                        };
                        self.notice_in(thread.unwrap_or(0), ("info", "task_event", ""), id, details, sink);
                    }
                }
            }
        }
    }

    /// Where something in a timeline is: in the turn itself, or in a task's thread.
    fn place_of(&mut self, origin: &Object<'_>, sink: &mut dyn EventSink) -> Option<Place> {
        if origin.text("kind") != "child_turn" {
            return Some(Place::default());
        }
        let task = ["taskId", "childThreadId", "childTurnId"].map(|name| origin.text(name));
        let task = task.into_iter().find(|id| !id.is_empty())?.to_owned();
        self.created(sink);
        let thread = self.task_thread(&task, &About::default(), sink)?;
        Some(Place { thread, turn_id: turn_of(origin).to_owned() })
    }

    /// Something that was heard once, or would have been.
    fn kept_event(&mut self, event: &Object<'_>, place: &Place, sink: &mut dyn EventSink) {
        let Some(payload) = event.object("payload") else { return };
        let kind = payload.text("type");
        let method = match kind {
            "itemStarted" => "item/started",
            "itemUpdated" => "item/updated",
            "itemCompleted" => "item/completed",
            // None are kept, and where they are they are of an item that is kept as well.
            "itemDelta" => return,
            _ => match method_of_kept(kind) {
                Some(method) => {
                    self.news(method, place.thread, payload, sink);
                    return;
                }
                None => return self.kept_unknown(kind, payload, sink),
            },
        };
        match payload.object("item") {
            Some(item) => self.kept_item(method, sequence_of(event), item, place, sink),
            None => self.kept_unknown(kind, payload, sink),
        }
    }

    fn kept_item(
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
        self.was_read(&place.turn_id, item, sequence);
        if read != Ok(true) && self.is_new_fact(&item.to_json()) {
            let problem = read.err();
            self.unknown(method, item.clone().into(), problem, sink);
        }
    }

    fn kept_unknown(&mut self, kind: &str, payload: &Object<'_>, sink: &mut dyn EventSink) {
        if self.is_new_fact(&payload.to_json()) {
            self.unknown(kind, payload.clone().into(), None, sink);
        }
    }
}

/// The turn of a task's child; empty for the turn itself.
fn turn_of<'o>(origin: &'o Object<'_>) -> &'o str {
    if origin.text("kind") == "child_turn" { origin.text("childTurnId") } else { "" }
}

/// Whether no turn runs in a thread of this status.
fn is_idle(status: &Object<'_>) -> bool {
    matches!(status.text("type"), "idle" | "notLoaded" | "systemError")
}

/// Whether a result has what is read of it.
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
