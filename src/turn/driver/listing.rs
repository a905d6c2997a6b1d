//! A turn whose stream is gone: how it stands is asked, and its events are taken from the list.

use crate::index::MAIN_THREAD;
#[cfg(feature = "turn-rpc")]
use crate::json::ObjectWriter;

use super::{
    Awaited, Call, Error, ErrorCode, EventKind, EventRef, MOST_GONE, MOST_PAGES, Object, Step, StreamEnd,
    TurnDriver, Value,
};

impl TurnDriver {
    /// The turn itself says how it stands.
    pub(super) fn read(&mut self, turn: &Object<'_>) -> Step {
        #[cfg(feature = "aap")]
        if self.capabilities.is_unnamed() {
            return self.told(turn);
        }
        let state = turn.object("state").unwrap_or(const { &Object::new() });
        if !self.is_still_paused(state) && matches!(state.text("status"), "done" | "cancelled" | "error") {
            self.ended = state.to_json();
            if self.gone > 0 || self.given_up.take().is_some() {
                let is_paused = !self.capabilities.has_cursor()
                    && state.array("required_actions").is_empty()
                    && state.object("termination").is_some_and(|ended| ended.text("type") == "suspended");
                // Where the turn does not say what it waits for, the session does.
                return self.issue(if is_paused { Call::GetSession } else { Call::ListTurnEvents });
            }
        }
        if self.given_up.take().is_some() {
            // The server is there, and says that the turn runs.
            self.gone = MOST_GONE;
        }
        if self.is_forsaken_unread() {
            return self.abandoned();
        }
        if self.gone >= MOST_GONE {
            return self.wait(Call::GetTurn, Awaited::Turn);
        }
        self.reattach()
    }

    /// A page of the turn's events.
    pub(super) fn listed(&mut self, page: &Object<'_>) -> Step {
        if self.pages == 0 {
            self.reader.begin_list();
        }
        self.apply(page.array("items"));
        self.pages += 1;
        let token = page.text("next");
        if !token.is_empty() && token != self.page_token && self.pages < MOST_PAGES {
            token.clone_into(&mut self.page_token);
            self.attempts = 0;
            return self.issue(Call::ListTurnEvents);
        }
        if !self.is_whole() {
            self.page_token.clear();
            self.pages = 0;
            self.lists -= 1;
            if self.lists > 0 {
                return self.wait(Call::ListTurnEvents, Awaited::Events);
            }
            let problem = "the server's list does not have the whole of a message";
            return self.give_up(Error::new(ErrorCode::Incomplete, problem));
        }
        self.finish();
        self.completed()
    }

    /// All events of the turn came, or were listed. A call that waits may have been made in an earlier turn, for instance
    /// by a sub-agent that lives on.
    pub(super) fn completed(&mut self) -> Step {
        self.reader.set_unread(false);
        self.forget_pages();
        if self.reader.is_complete() { self.end(StreamEnd::Eof) } else { self.issue(Call::ListSessionEvents) }
    }

    /// A page of the events of this turn and those before it, the newest first.
    pub(super) fn explained(&mut self, page: &Object<'_>) -> Step {
        for item in page.array("items").iter().filter_map(Value::as_object) {
            if let Some(event) = item.object("event").filter(|event| event.text("type") == "model.message") {
                self.reader.explain(event);
            }
        }
        if self.reader.is_complete() {
            return self.end(StreamEnd::Eof);
        }
        if self.has_next(page) {
            return self.issue(Call::ListSessionEvents);
        }
        self.give_up(Error::new(ErrorCode::Incomplete, "the session has no call that waits under this id"))
    }

    /// Takes listed events.
    pub(super) fn apply(&mut self, events: &[Value<'_>]) {
        for event in events.iter().filter_map(Value::as_object) {
            let event = EventRef::of(event);
            self.reader.apply_missed(event);
            self.hear(event);
        }
    }

    /// Takes events that were listed by the caller; all that the turn has said if `is_all`.
    pub fn fill(&mut self, events: &[Value<'_>], is_all: bool) {
        for event in events.iter().filter_map(Value::as_object) {
            let event = EventRef::of(event);
            self.reader.apply_listed(event);
            self.hear(event);
        }
        if is_all {
            #[cfg(feature = "turn-rpc")]
            if self.capabilities.has_socket() {
                self.ended.clone_from(&self.found);
                self.finish();
            }
            self.reader.set_unread(false);
        }
    }

    /// Where the record of a turn does not say what came of it, a listed message may.
    fn hear(&mut self, event: EventRef<'_>) {
        #[cfg(feature = "turn-rpc")]
        if self.capabilities.has_socket() {
            return kept_answer(event).into_iter().for_each(|answer| self.output = answer);
        }
        if !self.capabilities.has_cursor() && is_answer(event) {
            self.output = event.fields.to_json();
        }
    }

    /// Whether nothing is missing of a turn that is done. Its last message is said once more with its state.
    pub(super) fn is_whole(&mut self) -> bool {
        let state = Value::parse(&self.ended).unwrap_or_default();
        let Some(state) = state.as_object().filter(|state| state.text("status") == "done") else {
            return true;
        };
        if let Some(fields) = state.object("output") {
            self.reader.apply_missed(EventRef { kind: EventKind::ModelMessage, fields });
        }
        !self.reader.is_ragged()
    }

    /// The turn ends as the server said when it was read.
    pub(super) fn finish(&mut self) {
        let state = std::mem::take(&mut self.ended);
        let output = std::mem::take(&mut self.output);
        if let Ok(Value::Object(mut state)) = Value::parse(&state) {
            let has_output = state.object("output").is_some() || !state.array("required_actions").is_empty();
            if state.text("status") == "done" && !has_output && !output.is_empty() {
                state.insert("output", Value::parse(&output).unwrap_or_default());
            }
            self.reader.end_missed(&state);
        }
    }

    /// The turn has ended. Where events were lost on the way, its list of events makes its messages whole; and what
    /// waits is shown with its call.
    pub(super) fn mend(&mut self) -> Step {
        let has_id = self.reader.machine().id().is_some();
        let may_wait = self.reconnect.max_attempts == 0 && !self.reader.index().hides_actions();
        if self.reader.is_complete() || may_wait || !has_id {
            return self.end(StreamEnd::Eof);
        }
        self.attempts = 0;
        self.ended.clear();
        self.issue(Call::ListTurnEvents)
    }
}

/// Whether an event is a message of the agent itself that calls no tool: the last one is the turn's output.
fn is_answer(event: EventRef<'_>) -> bool {
    event.kind == EventKind::ModelMessage
        && event.fields.text("thread_id") == MAIN_THREAD
        && event.fields.array("tool_calls").is_empty()
}

/// A message of the agent itself that it has ended, in the form in which the turn's end would say it. One that says
/// nothing is the last word, too: then nothing came of the turn.
#[cfg(feature = "turn-rpc")]
fn kept_answer(event: EventRef<'_>) -> Option<String> {
    let [thread, content, reason] =
        ["thread_id", "content", "finish_reason"].map(|name| event.fields.text(name));
    let is_end = reason == "stop" || !(content.is_empty() || matches!(reason, "" | "interrupted"));
    let is_answer = event.kind == EventKind::ModelMessage && thread == MAIN_THREAD && is_end;
    let mut answer = String::new();
    if is_answer && !content.is_empty() {
        let mut object = ObjectWriter::new(&mut answer);
        object.str("type", "model.message").str("id", event.fields.text("id")).str("thread_id", thread);
        object.str("content", content).str("finish_reason", "stop").end();
    }
    is_answer.then_some(answer)
}
