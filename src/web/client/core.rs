//! The life of a turn behind its handles: its reading in the background, the tasks that wait for it, and its session's
//! updates.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::sync::Arc;

use futures::future::{AbortHandle, Abortable, select};
use gloo_timers::future::TimeoutFuture;
use js_sys::{Date, Math};
use serde_json::json;
use wasm_bindgen_futures::spawn_local;

use crate::error::{Error, ErrorCode, Result};
use crate::event::{TurnInputItem, TurnState};
use crate::session::{Goal, SessionTurn};
use crate::snapshot::{Reconnecting, TurnSnapshot, Waiting};
use crate::turn::{Moment, Outcome, Step, TurnStatus};
use crate::web::steps::{Came, Reading, Wait};

use super::changes::Changes;
use super::connection::{ConnectionEvent, Listeners};
use super::events::Events;
use super::shared::Shared;
use super::view::View;

/// How long the stream may take to report that the turn has paused or ended, in milliseconds.
const PAUSE_TIMEOUT: u32 = 5000;

/// The state of one turn.
pub(super) struct Core {
    pub(super) session: Rc<Shared<Core>>,
    pub(super) turn: RefCell<SessionTurn>,
    pub(super) events: RefCell<Events>,
    pub(super) listeners: Listeners,
    pub(super) changes: Changes,
    view: RefCell<View>,
    /// The reading in progress, while it has a user.
    reader: RefCell<Weak<Reader>>,
    /// Whether the start waits for other turns of the session.
    is_preparing: Cell<bool>,
    this: Weak<Core>,
    /// Whether the session knows that the turn has begun.
    is_begun: Cell<bool>,
    /// The turn whose calls this one has answered, until this one ends.
    before: RefCell<Option<Rc<Core>>>,
    /// Whether a later turn may still bring results of this turn's calls.
    is_followed: Cell<bool>,
}

/// A user's share of a reading. The last one that is dropped stops it.
pub(super) struct Reader {
    core: Weak<Core>,
    abort: AbortHandle,
    /// Whether anything was sent.
    is_sent: Cell<bool>,
    /// How the reading ended.
    outcome: RefCell<Option<Result<()>>>,
}

impl Drop for Reader {
    fn drop(&mut self) {
        if self.outcome.get_mut().is_none()
            && let Some(core) = self.core.upgrade()
        {
            self.halt(&core);
            core.finish(&Err(stopped()));
        }
    }
}

impl Reader {
    /// Stops the reading.
    fn halt(&self, core: &Core) {
        self.abort.abort();
        if !core.is_preparing.replace(false) {
            core.advance(if self.is_sent.get() { Outcome::Aborted } else { Outcome::Unsent }, moment());
        }
    }

    /// Ends the reading.
    fn end(&self, core: &Core, ended: Result<()>) {
        core.finish(&ended);
        *self.outcome.borrow_mut() = Some(ended);
        core.changes.add();
    }

    pub(super) fn outcome(&self) -> Option<Result<()>> {
        self.outcome.borrow().clone()
    }
}

/// The error of a reading that is no longer used.
fn stopped() -> Error {
    Error::new(ErrorCode::Aborted, "the reading was stopped")
}

fn moment() -> Moment {
    Moment { now: Date::now(), random: Math::random() }
}

/// Whether a session runs one turn at a time.
fn has_one_turn_at_a_time(turn: &SessionTurn) -> bool {
    let capabilities = turn.reader().capabilities();
    capabilities.has_socket() || capabilities.lacks_turn_ids()
}

impl Core {
    pub(super) fn new(
        session: &Rc<Shared<Self>>,
        mut turn: SessionTurn,
        input: Vec<TurnInputItem>,
        state: Option<TurnState>,
    ) -> Rc<Self> {
        // The mirror keeps the text.
        turn.reader_mut().release_taken_text();
        let view = View::new(input, state);
        Rc::new_cyclic(|this| Self {
            session: Rc::clone(session),
            turn: RefCell::new(turn),
            events: RefCell::default(),
            listeners: Listeners::default(),
            changes: Changes::default(),
            view: RefCell::new(view),
            reader: RefCell::default(),
            is_preparing: Cell::default(),
            this: Weak::clone(this),
            is_begun: Cell::default(),
            before: RefCell::default(),
            is_followed: Cell::default(),
        })
    }

    pub(super) fn id(&self) -> Option<String> {
        self.turn.borrow().reader().machine().id().map(str::to_owned)
    }

    pub(super) fn status(&self) -> TurnStatus {
        self.turn.borrow().reader().machine().status()
    }

    pub(super) fn is_starting(&self) -> bool {
        self.is_preparing.get() || self.status() == TurnStatus::Starting
    }

    /// Whether the turn runs or will start, as far as this client knows.
    pub(super) fn is_busy(&self) -> bool {
        let is_running = matches!(self.status(), TurnStatus::Running | TurnStatus::Incomplete);
        self.is_starting() || (is_running && self.id().is_some())
    }

    /// Whether nothing more is expected from the turn.
    pub(super) fn is_at_rest(&self) -> bool {
        let status = self.status();
        let waits = status.is_terminal() && !self.turn.borrow().reader().index().pending().is_empty();
        status != TurnStatus::Unstarted && !self.is_read() && !waits && !self.is_followed.get()
    }

    /// Whether the turn has ended and its snapshot is complete.
    pub(super) fn is_whole(&self) -> bool {
        self.status().is_terminal() && self.turn.borrow().reader().is_complete()
    }

    pub(super) fn want_events(&self, wants_events: bool) {
        self.events.borrow_mut().want(wants_events, &mut self.turn.borrow_mut());
    }

    /// Whether the turn is being read.
    pub(super) fn is_read(&self) -> bool {
        self.reader.borrow().strong_count() > 0
    }

    /// Waits until the turn has ended and its snapshot is complete. Reads it, unless it is being read.
    pub(super) async fn completed(core: &Rc<Self>) -> Result<()> {
        while !core.is_whole() {
            let known = core.reader.borrow().upgrade();
            let reader = if let Some(reader) = known {
                reader
            } else {
                let is_streamed = core.events.borrow().is_taken;
                core.want_events(is_streamed);
                Self::read(core, Goal::End)?
            };
            core.changes.until(|| reader.outcome().is_some()).await;
            reader.outcome().unwrap_or(Ok(()))?;
            if !core.status().is_terminal() {
                let problem = "the turn was not read to its end";
                return Err(Error::new(ErrorCode::Incomplete, problem));
            }
        }
        Ok(())
    }

    /// Begins to read the turn, for its first user.
    pub(super) fn read(core: &Rc<Self>, goal: Goal) -> Result<Rc<Reader>> {
        let is_unstarted = core.status() == TurnStatus::Unstarted;
        let others = if is_unstarted { core.session.others(core, Self::is_busy) } else { Vec::new() };
        let one_at_a_time = has_one_turn_at_a_time(&core.turn.borrow());
        let waits_for: Vec<Rc<Self>> =
            others.into_iter().filter(|other| one_at_a_time || other.is_starting()).collect();
        let first = if waits_for.is_empty() { Some(core.begin(goal)?) } else { None };
        if is_unstarted {
            core.session.turns.borrow_mut().push(Rc::downgrade(core));
        }
        let (abort, registration) = AbortHandle::new_pair();
        let reader = Rc::new(Reader {
            core: Rc::downgrade(core),
            abort,
            is_sent: Cell::default(),
            outcome: RefCell::default(),
        });
        *core.reader.borrow_mut() = Rc::downgrade(&reader);
        core.view.borrow_mut().error = None;
        core.is_preparing.set(first.is_none());
        core.changes.add();
        let (running, weak) = (Rc::clone(core), Rc::downgrade(&reader));
        spawn_local(async move {
            let run = async {
                let first = if let Some(first) = first {
                    first
                } else {
                    for other in waits_for {
                        other.until_free(one_at_a_time).await;
                    }
                    running.is_preparing.set(false);
                    running.begin(goal)?
                };
                if let Some(reader) = weak.upgrade() {
                    reader.is_sent.set(true);
                }
                running.session.server.run(&*running, first).await
            };
            // A halted reading has already reported its end.
            if let (Ok(ended), Some(reader)) = (Abortable::new(run, registration).await, weak.upgrade()) {
                reader.end(&running, ended);
            }
        });
        Ok(reader)
    }

    fn begin(&self, goal: Goal) -> Result<Step> {
        let reconnect = self.session.server.reconnect;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the time is a count")]
        let now = Date::now() as u64;
        self.turn.borrow_mut().begin(&mut self.session.state.borrow_mut(), goal, 0, reconnect, now)
    }

    fn finish(&self, ended: &Result<()>) {
        {
            let view = &mut *self.view.borrow_mut();
            view.goes_on();
            // Stopping the reading is not a failure.
            view.error = ended.clone().err().filter(|error| error.code != ErrorCode::Aborted);
        }
        *self.reader.borrow_mut() = Weak::new();
        if self.status().is_terminal() {
            self.forward_results();
        }
        self.changes.add();
    }

    /// Stops the reading for all its users.
    pub(super) fn stop(&self) {
        let reader = self.reader.borrow().upgrade();
        if let Some(reader) = reader {
            reader.halt(self);
            reader.end(self, Ok(()));
        }
    }

    /// Waits until another turn of the session may start.
    async fn until_free(self: Rc<Self>, one_at_a_time: bool) {
        self.changes.until(|| !self.is_starting()).await;
        while one_at_a_time && self.is_busy() {
            if self.is_read() {
                self.changes.until(|| !self.is_read()).await;
            } else if Self::completed(&self).await.is_err() {
                // Its status is no longer known. The server refuses a second turn.
                return;
            }
        }
    }

    /// Waits briefly for the stream to report that the turn has paused or ended.
    pub(super) async fn until_paused(&self) {
        let over = std::pin::pin!(self.changes.until(|| !self.is_read()));
        select(over, TimeoutFuture::new(PAUSE_TIMEOUT)).await;
    }

    /// Takes the turn's beginning and end, each once, and updates the session when the turn has begun.
    fn learn(&self) {
        let mut turn = self.turn.borrow_mut();
        self.view.borrow_mut().learn(&mut turn);
        if turn.reader().machine().id().is_none() || self.is_begun.replace(true) {
            return;
        }
        let discards = turn.discards_pending();
        drop(turn);
        let before = self.session.begun(&self.this);
        let before = before.filter(|before| !Weak::ptr_eq(&before.this, &self.this));
        if let Some(before) = &before {
            before.turn.borrow_mut().settle(discards);
            before.is_followed.set(true);
            before.changes.add();
        }
        *self.before.borrow_mut() = before;
    }

    /// Adds results to the turn before, if it made their calls.
    fn forward_results(&self) {
        let Some(before) = self.before.take() else { return };
        before.is_followed.set(false);
        let mut results = Vec::new();
        for thread in &self.snapshot().threads {
            for result in &thread.tool_responses {
                let mut event = json!(result);
                event["type"] = json!("tool.response");
                event["thread_id"] = json!(thread.id);
                results.push(event);
            }
        }
        if !results.is_empty() {
            let mut session = before.session.state.borrow_mut();
            before.turn.borrow_mut().apply_listed(&mut session, &json!(results).to_string(), false);
        }
        before.changes.add();
    }

    /// The last state from the server.
    pub(super) fn state(&self) -> Option<Arc<TurnState>> {
        self.learn();
        self.view.borrow().state.clone()
    }

    pub(super) fn snapshot(&self) -> TurnSnapshot {
        self.learn();
        self.view.borrow_mut().snapshot(&mut self.turn.borrow_mut())
    }

    /// The next step, after the outcome of the last one.
    fn advance(&self, outcome: Outcome<'_>, moment: Moment) -> Step {
        let step = self.turn.borrow_mut().next(&mut self.session.state.borrow_mut(), outcome, moment);
        self.view.borrow_mut().goes_on();
        self.learn();
        self.changes.add();
        step
    }
}

impl Reading for Core {
    fn next(&self, outcome: Outcome<'_>, moment: Moment) -> Step {
        // A listener may have dropped the stream.
        if self.is_read() { self.advance(outcome, moment) } else { Step::End(Err(stopped())) }
    }

    fn opened(&self, now: f64, resumes_after: Option<u64>) {
        self.turn.borrow_mut().driver_mut().opened(now);
        if let Some(after) = resumes_after {
            self.listeners.tell(&ConnectionEvent::Resumed { after });
        }
        self.changes.add();
    }

    fn take(&self, came: Came) -> bool {
        let goes_on = {
            let (turn, session) = (&mut *self.turn.borrow_mut(), &mut *self.session.state.borrow_mut());
            match came {
                Came::Chunk(chunk) => turn.push(session, &chunk),
                Came::Message(message) => turn.push_message(session, &message),
                Came::Gather => true,
            }
        };
        loop {
            let news = self.listeners.untold(self.turn.borrow().reader());
            let Some(news) = news else { break };
            self.listeners.tell(&news);
        }
        self.changes.add();
        goes_on && self.is_read()
    }

    fn is_over(&self) -> bool {
        self.status().is_terminal()
    }

    fn grace(&self) -> u32 {
        self.turn.borrow().reader().grace()
    }

    fn waits(&self, wait: Wait<'_>) {
        let event = {
            let view = &mut *self.view.borrow_mut();
            match wait {
                Wait::Retry(pause) => {
                    let (attempt, delay) = (pause.attempt, pause.delay);
                    view.reconnecting = Some(Reconnecting { attempt, delay });
                    ConnectionEvent::Reconnecting { attempt, delay, cause: pause.cause.clone() }
                }
                Wait::Poll(waiting) => {
                    let waiting = Waiting { delay: waiting.delay, awaited: waiting.awaited.as_str() };
                    view.waiting = Some(waiting);
                    ConnectionEvent::Waiting(waiting)
                }
            }
        };
        self.listeners.tell(&event);
        self.changes.add();
    }

    fn has_follow_up_requests(&self) -> bool {
        self.turn.borrow().reader().has_follow_up_requests()
    }

    fn follow_up_requests(&self) -> Option<crate::rpc::Messages> {
        self.turn.borrow_mut().reader_mut().follow_up_requests()
    }
}
