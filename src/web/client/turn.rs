//! A turn: one request to the agent, and everything that it answers.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use futures::future::{AbortHandle, Abortable, Either, select};
use gloo_timers::future::TimeoutFuture;
use js_sys::{Date, Math};
use serde_json::{Value as Json, json};
use wasm_bindgen_futures::spawn_local;

use crate::error::{Error, ErrorCode, Result};
use crate::event::{TerminalState, TurnInputItem, TurnRecord, TurnState};
use crate::protocol::{Call, Capability};
use crate::session::{Goal, SessionTurn};
use crate::snapshot::{Mirror, Reconnecting, TurnSnapshot, Waiting};
use crate::turn::{Moment, Outcome, Step, TurnStatus};
use crate::web::steps::{Came, Reading, Wait};

use super::parsed;
use super::session::{Shared, not_started};
use super::stream::{Events, TurnStream};

/// The shortest time between two snapshots of [`Turn::snapshots`], in milliseconds: a frame.
const FRAME: u32 = 16;
/// How long the stream may take to say that the turn has paused or ended, in milliseconds.
const PAUSE_TIMEOUT: u32 = 5000;

/// What happens to a turn's connection.
#[derive(Debug, Clone, PartialEq)]
pub enum ConnectionEvent {
    /// It is lost. After this wait the server is asked again.
    Reconnecting {
        /// The number of the attempt, from 1 on.
        attempt: u32,
        /// The wait before it, in milliseconds.
        delay: f64,
        /// What failed.
        cause: Error,
    },
    /// The server can be reached and has not said the rest yet. It is asked again.
    Waiting(Waiting),
    /// The stream goes on.
    Resumed {
        /// The number of the last event before.
        after: u64,
    },
    /// Events between these two numbers are lost.
    Gap {
        /// The last number before the gap.
        after: u64,
        /// The first number after it.
        next: u64,
    },
    /// The `id` of a frame is not the number in its JSON. Told once per turn.
    Mismatch {
        /// The `id`.
        id: u64,
        /// The number in the JSON.
        sequence_number: u64,
    },
}

/// One request to the agent, and everything that it answers. Cheap to clone: clones are the same turn.
#[derive(Clone)]
pub struct Turn {
    core: Rc<Core>,
}

/// The state of one turn.
pub(super) struct Core {
    session: Rc<Shared>,
    pub(super) turn: RefCell<SessionTurn>,
    pub(super) events: RefCell<Events>,
    view: RefCell<View>,
    listeners: RefCell<Vec<Listener>>,
    /// The number of gaps that were told, and whether the mismatch was.
    told: Cell<(usize, bool)>,
    /// The reading in progress, as long as it has a user.
    reader: RefCell<Weak<Reader>>,
    /// Whether the start waits for its place.
    is_preparing: Cell<bool>,
    /// The turn whose calls this one has answered, until this one ends.
    before: RefCell<Option<Rc<Core>>>,
    this: Weak<Core>,
    /// Whether a later turn may still bring results of this one's calls.
    is_followed: Cell<bool>,
    /// The number of changes so far, and who waits for the next.
    changes: Cell<u64>,
    wakers: RefCell<Vec<Waker>>,
}

type Listener = Rc<dyn Fn(&ConnectionEvent)>;

/// What snapshots show.
#[derive(Default)]
struct View {
    mirror: Mirror,
    state: Option<Arc<TurnState>>,
    input: Arc<Vec<TurnInputItem>>,
    error: Option<Error>,
    reconnecting: Option<Reconnecting>,
    waiting: Option<Waiting>,
    is_known_to_session: bool,
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
            core.finish(&Err(Error::new(ErrorCode::Aborted, "the reading was stopped")));
        }
    }
}

impl Reader {
    /// Stops the reading. It is not polled again.
    fn halt(&self, core: &Core) {
        self.abort.abort();
        if !core.is_preparing.replace(false) {
            let outcome = if self.is_sent.get() { Outcome::Aborted } else { Outcome::Unsent };
            core.next(outcome, Moment { now: Date::now(), random: Math::random() });
        }
    }

    /// The reading has ended.
    fn end(&self, core: &Core, ended: Result<()>) {
        core.finish(&ended);
        *self.outcome.borrow_mut() = Some(ended);
        core.changed();
    }

    pub(super) fn outcome(&self) -> Option<Result<()>> {
        self.outcome.borrow().clone()
    }
}

impl std::fmt::Debug for Turn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Turn").field("id", &self.id()).field("status", &self.status()).finish_non_exhaustive()
    }
}

impl Turn {
    pub(super) fn new(
        session: &Rc<Shared>,
        turn: SessionTurn,
        input: Vec<TurnInputItem>,
        state: Option<TurnState>,
    ) -> Self {
        let mut turn = turn;
        // The mirror keeps the text.
        turn.reader_mut().release_taken_text();
        let view = View { input: Arc::new(input), state: state.map(Arc::new), ..View::default() };
        let core = |this: &Weak<Core>| Core {
            before: RefCell::default(),
            this: Weak::clone(this),
            is_followed: Cell::default(),
            session: Rc::clone(session),
            turn: RefCell::new(turn),
            events: RefCell::default(),
            view: RefCell::new(view),
            listeners: RefCell::default(),
            told: Cell::default(),
            reader: RefCell::default(),
            is_preparing: Cell::default(),
            changes: Cell::default(),
            wakers: RefCell::default(),
        };
        Self { core: Rc::new_cyclic(core) }
    }

    /// The turn's id; `None` until it has started.
    #[must_use]
    pub fn id(&self) -> Option<String> {
        self.core.id()
    }

    /// The turn's status, as this client knows it.
    #[must_use]
    pub fn status(&self) -> TurnStatus {
        self.core.status()
    }

    /// The number of the last received event; 0 before the first.
    #[must_use]
    pub fn last_sequence_number(&self) -> u64 {
        self.core.turn.borrow().reader().machine().cursor().last()
    }

    /// Streams the turn's events: starts it, or attaches to it if it has started. The reading begins at once, and goes
    /// on in the background until the stream is dropped. Another stream goes on where the last one was left.
    ///
    /// A lost connection is recovered; if that fails, the stream's last item is an error: the server's or the
    /// network's own, or [`Incomplete`](ErrorCode::Incomplete), whose source is the last failure.
    ///
    /// Fails with [`TurnNotRunning`](ErrorCode::TurnNotRunning) if the turn has ended, with
    /// [`TurnAlreadyStreamed`](ErrorCode::TurnAlreadyStreamed) if another stream would share its events, and with
    /// [`InvalidInput`](ErrorCode::InvalidInput) if the input does not answer what the session waits for.
    pub fn stream(&self) -> Result<TurnStream> {
        let is_read = self.core.reader.borrow().upgrade().is_some();
        if is_read || self.core.events.borrow().is_taken {
            let problem =
                "the turn is being read already: take its stream first, and wait for its end after that";
            return Err(Error::new(ErrorCode::TurnAlreadyStreamed, problem));
        }
        self.core.want_events(true);
        let reader = Core::read(&self.core, Goal::Stream)?;
        Ok(TurnStream::new(Rc::clone(&self.core), reader))
    }

    /// Waits until the turn has ended, and returns how. Starts the turn if it has not started, and reads it unless it
    /// is being streamed. Of a turn that has ended, reads the list of events if its snapshot is not complete.
    ///
    /// Fails as the stream does.
    pub async fn wait_for_completion(&self) -> Result<TerminalState> {
        let core = &self.core;
        loop {
            if core.is_whole()
                && let Some(TurnState::Terminal(state)) = core.state().as_deref()
            {
                return Ok((**state).clone());
            }
            let known = core.reader.borrow().upgrade();
            let reader = if let Some(reader) = known {
                reader
            } else {
                let is_streamed = core.events.borrow().is_taken;
                core.want_events(is_streamed);
                Core::read(core, Goal::End)?
            };
            core.until(|| reader.outcome().is_some()).await;
            reader.outcome().unwrap_or(Ok(()))?;
            if !core.status().is_terminal() {
                let problem = "the turn was not read to its end";
                return Err(Error::new(ErrorCode::Incomplete, problem));
            }
        }
    }

    /// The turn at this moment. It shares what did not change with the snapshot before.
    #[must_use]
    pub fn snapshot(&self) -> TurnSnapshot {
        self.core.snapshot()
    }

    /// A snapshot now, and one after each change, at most one per 16 milliseconds. Ends when the turn is over and waits
    /// for nothing, or is not read any more. Does not read the turn itself.
    pub fn snapshots(&self) -> impl futures::Stream<Item = TurnSnapshot> + use<> {
        let turn = self.clone();
        let begin = (turn, None::<u64>);
        futures::stream::unfold(begin, |(turn, shown)| async move {
            let core = Rc::clone(&turn.core);
            if let Some(shown) = shown {
                if core.changes.get() == shown && core.is_at_rest() {
                    return None;
                }
                core.until(|| core.changes.get() != shown).await;
                TimeoutFuture::new(FRAME).await;
            }
            let shown = core.changes.get();
            Some((core.snapshot(), (turn, Some(shown))))
        })
    }

    /// Calls `listener` with everything that happens to the turn's connection.
    pub fn on_connection(&self, listener: impl Fn(&ConnectionEvent) + 'static) {
        self.core.listeners.borrow_mut().push(Rc::new(listener));
    }

    /// Stops the turn on the server. A few more events may arrive, `turn.done` last, so keep reading. Does nothing once
    /// the turn has ended. If the protocol has no request to cancel, ends the reading instead.
    pub async fn cancel(&self) -> Result<()> {
        let core = &self.core;
        let capabilities = core.turn.borrow().reader().capabilities();
        if capabilities.lacks_turn_ids() {
            core.turn.borrow_mut().driver_mut().cancel_by_disconnect();
            core.stop();
            return Ok(());
        }
        core.until(|| !core.is_starting()).await;
        if core.status().is_terminal() {
            return Ok(());
        }
        let id = core.id().ok_or_else(not_started)?;
        // The server cancels whichever turn of the session runs: this must be it.
        if core.reader.borrow().upgrade().is_none() && !self.is_running_there(&id).await? {
            return Ok(());
        }
        let params = core.session.params(json!({ "turn_id": id }))?;
        let server = Rc::clone(&core.session.server);
        let asked = std::pin::pin!(server.ask(Call::CancelTurn, params));
        let ended = std::pin::pin!(core.until(|| core.status().is_terminal()));
        let Either::Left((Err(refusal), _)) = select(asked, ended).await else { return Ok(()) };
        // The turn may have ended just then.
        if was_paused(&refusal) {
            core.until_paused().await;
        }
        if core.status().is_terminal() { Ok(()) } else { Err(refusal) }
    }

    async fn is_running_there(&self, id: &str) -> Result<bool> {
        let params = self.core.session.params(json!({ "turn_id": id }))?;
        let record: TurnRecord = parsed(&self.core.session.server.read(Call::GetTurn, params).await?)?;
        Ok(matches!(record.state, TurnState::Running(_)))
    }

    /// Answers some or all waiting calls while the turn still runs, if the protocol can. Fails with
    /// [`Unsupported`](ErrorCode::Unsupported) otherwise: then a turn with the answers continues.
    pub async fn answer(&self, answers: Vec<TurnInputItem>) -> Result<()> {
        let core = &self.core;
        let id = core.id().ok_or_else(not_started)?;
        let items = core.turn.borrow().take_answers(&json!(answers).to_string())?;
        let parsed_items: Vec<Json> = parsed(&items)?;
        let capabilities = core.turn.borrow().reader().capabilities();
        let groups: Vec<Vec<Json>> = if capabilities.has_answers_apart() {
            parsed_items.into_iter().map(|item| vec![item]).collect()
        } else {
            vec![parsed_items]
        };
        for group in groups {
            let params = core.session.params(json!({ "turn_id": id, "input": group }))?;
            core.session.server.ask(Call::AnswerTurn, params).await?;
        }
        core.turn.borrow_mut().answered(&items);
        core.changed();
        Ok(())
    }

    /// Sends the agent another message while the turn runs, if the protocol can. Fails with
    /// [`TurnNotRunning`](ErrorCode::TurnNotRunning) once it is over.
    pub async fn steer(&self, text: &str) -> Result<()> {
        let core = &self.core;
        if !core.turn.borrow().reader().capabilities().has(Capability::Steer) {
            let problem = "this protocol takes nothing more while a turn runs";
            return Err(Error::new(ErrorCode::Unsupported, problem));
        }
        core.until(|| !core.is_starting()).await;
        let id = core.id().ok_or_else(not_started)?;
        if core.status().is_terminal() {
            let problem = "the turn is over: the next message is a turn of its own";
            return Err(Error::new(ErrorCode::TurnNotRunning, problem));
        }
        let message = json!([{ "type": "user.message", "content": text }]);
        let params = core.session.params(json!({ "turn_id": id, "input": message }))?;
        core.session.server.ask(Call::SteerTurn, params).await.map(drop)
    }
}

/// Whether one turn of a session runs at a time.
fn has_one_turn_at_a_time(turn: &SessionTurn) -> bool {
    let capabilities = turn.reader().capabilities();
    capabilities.has_socket() || capabilities.lacks_turn_ids()
}

/// Whether a server refuses so what it gets for a turn that has just paused or ended.
fn was_paused(refusal: &Error) -> bool {
    matches!(refusal.code, ErrorCode::Http | ErrorCode::Rpc)
        && matches!(refusal.status, None | Some(400 | 404 | 409))
}

impl Core {
    fn id(&self) -> Option<String> {
        self.turn.borrow().reader().machine().id().map(str::to_owned)
    }

    pub(super) fn status(&self) -> TurnStatus {
        self.turn.borrow().reader().machine().status()
    }

    fn is_starting(&self) -> bool {
        self.is_preparing.get() || self.status() == TurnStatus::Starting
    }

    /// Whether the turn runs or is about to, as far as this client knows.
    pub(super) fn is_busy(&self) -> bool {
        let is_running = matches!(self.status(), TurnStatus::Running | TurnStatus::Incomplete);
        self.is_starting() || (is_running && self.id().is_some())
    }

    /// Whether nothing more is to be expected of the turn.
    fn is_at_rest(&self) -> bool {
        let is_read = self.reader.borrow().upgrade().is_some();
        let turn = self.turn.borrow();
        let waits =
            turn.reader().machine().status().is_terminal() && !turn.reader().index().pending().is_empty();
        !is_read && !waits && !self.is_followed.get()
    }

    /// Whether the turn has ended and its snapshot is complete.
    fn is_whole(&self) -> bool {
        self.status().is_terminal() && self.turn.borrow().reader().is_complete()
    }

    fn want_events(&self, wants_events: bool) {
        let turn = &mut *self.turn.borrow_mut();
        turn.reader_mut().set_wants_events(wants_events);
        if !wants_events {
            *turn.reader_mut().batch() = crate::delivery::EventBatch::default();
            *self.events.borrow_mut() = Events::default();
        }
    }

    /// Begins to read the turn, for its first user.
    fn read(core: &Rc<Self>, goal: Goal) -> Result<Rc<Reader>> {
        let is_unstarted = core.status() == TurnStatus::Unstarted;
        let others = if is_unstarted { core.session.others(core) } else { Vec::new() };
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
        core.changed();
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
            // A reading that was halted has told its end.
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
            (view.reconnecting, view.waiting) = (None, None);
            // Not to read on is no failure.
            view.error = ended.clone().err().filter(|error| error.code != ErrorCode::Aborted);
        }
        *self.reader.borrow_mut() = Weak::new();
        if self.status().is_terminal() {
            self.forward_results();
        }
        self.changed();
    }

    /// Stops the reading for all its users.
    fn stop(&self) {
        let reader = self.reader.borrow().upgrade();
        if let Some(reader) = reader {
            reader.halt(self);
            reader.end(self, Ok(()));
        }
    }

    /// Waits until another turn of the session may start.
    async fn until_free(self: Rc<Self>, one_at_a_time: bool) {
        self.until(|| !self.is_starting()).await;
        while one_at_a_time && self.is_busy() {
            if self.reader.borrow().upgrade().is_some() {
                self.until(|| self.reader.borrow().upgrade().is_none()).await;
            } else if (Turn { core: Rc::clone(&self) }).wait_for_completion().await.is_err() {
                // Nothing more is known of it. The server refuses a second turn.
                return;
            }
        }
    }

    /// Gives the stream a moment to say that the turn has paused or ended.
    async fn until_paused(&self) {
        let over = std::pin::pin!(self.until(|| self.reader.borrow().upgrade().is_none()));
        select(over, TimeoutFuture::new(PAUSE_TIMEOUT)).await;
    }

    /// Waits until `holds`.
    async fn until(&self, holds: impl Fn() -> bool) {
        poll_fn(|context| {
            if holds() {
                return Poll::Ready(());
            }
            self.wake_on_change(context);
            Poll::Pending
        })
        .await;
    }

    pub(super) fn wake_on_change(&self, context: &Context<'_>) {
        self.wakers.borrow_mut().push(context.waker().clone());
    }

    pub(super) fn changed(&self) {
        self.changes.set(self.changes.get() + 1);
        let wakers = std::mem::take(&mut *self.wakers.borrow_mut());
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Reads what the turn says once: its beginning and its end.
    fn learn(&self) {
        let mut reader = self.turn.borrow_mut();
        let (created, state) = (reader.reader_mut().take_created(), reader.reader_mut().take_state());
        let mut view = self.view.borrow_mut();
        let created: Option<Json> = created.and_then(|json| serde_json::from_str(&json).ok());
        let input = created.and_then(|mut created| serde_json::from_value(created["input"].take()).ok());
        if let Some(input) = input.filter(|input: &Vec<TurnInputItem>| !input.is_empty()) {
            view.input = Arc::new(input);
        }
        if let Some(state) = state.and_then(|json| serde_json::from_str(&json).ok()) {
            view.state = Some(Arc::new(state));
        }
        let is_new = reader.reader().machine().id().is_some()
            && !std::mem::replace(&mut view.is_known_to_session, true);
        if is_new {
            let discards = reader.discards_pending();
            drop((reader, view));
            let before = self
                .session
                .begun(&self.this)
                .filter(|before| !Weak::ptr_eq(&Rc::downgrade(before), &self.this));
            if let Some(before) = &before {
                before.turn.borrow_mut().settle(discards);
                before.is_followed.set(true);
                before.changed();
            }
            *self.before.borrow_mut() = before;
        }
    }

    /// The results of calls that the turn before has made are part of that one, too.
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
        before.changed();
    }

    fn state(&self) -> Option<Arc<TurnState>> {
        self.learn();
        self.view.borrow().state.clone()
    }

    fn snapshot(&self) -> TurnSnapshot {
        self.learn();
        let (turn, view) = (&mut *self.turn.borrow_mut(), &mut *self.view.borrow_mut());
        view.mirror.follow(turn.reader_mut().index_mut());
        let machine = turn.reader().machine();
        TurnSnapshot {
            turn_id: machine.id().map(str::to_owned),
            status: machine.status(),
            error: view.error.clone().or_else(|| failure(view.state.as_deref())),
            state: view.state.clone(),
            reconnecting: view.reconnecting,
            waiting: view.waiting,
            last_sequence_number: machine.cursor().last(),
            input: Arc::clone(&view.input),
            threads: view.mirror.threads().to_vec(),
            parts: Arc::clone(view.mirror.parts()),
        }
    }

    fn tell(&self, event: &ConnectionEvent) {
        // A listener may add another one.
        let listeners = self.listeners.borrow().clone();
        for listener in listeners {
            listener(event);
        }
    }

    /// Tells what the stream shows of gaps and numbers.
    fn tell_news(&self) {
        loop {
            let (gaps, is_mismatch_told) = self.told.get();
            let news = {
                let turn = self.turn.borrow();
                if let Some((after, next)) = turn.reader().gaps().get(gaps).copied() {
                    self.told.set((gaps + 1, is_mismatch_told));
                    ConnectionEvent::Gap { after, next }
                } else if let Some((id, sequence_number)) =
                    turn.reader().mismatch().filter(|_| !is_mismatch_told)
                {
                    self.told.set((gaps, true));
                    ConnectionEvent::Mismatch { id, sequence_number }
                } else {
                    return;
                }
            };
            self.tell(&news);
        }
    }
}

/// The error with which the server ended a turn.
fn failure(state: Option<&TurnState>) -> Option<Error> {
    let Some(TurnState::Terminal(state)) = state else { return None };
    let TerminalState::Error { message, .. } = &**state else { return None };
    Some(Error::new(ErrorCode::TurnFailed, message))
}

impl Reading for Core {
    fn next(&self, outcome: Outcome<'_>, moment: Moment) -> Step {
        let step = self.turn.borrow_mut().next(&mut self.session.state.borrow_mut(), outcome, moment);
        {
            let view = &mut *self.view.borrow_mut();
            (view.reconnecting, view.waiting) = (None, None);
        }
        self.learn();
        self.changed();
        step
    }

    fn opened(&self, now: f64, resumes_after: Option<u64>) {
        self.turn.borrow_mut().driver_mut().opened(now);
        if let Some(after) = resumes_after {
            self.tell(&ConnectionEvent::Resumed { after });
        }
        self.changed();
    }

    fn take(&self, came: Came) -> bool {
        let goes_on = {
            let (turn, session) = (&mut *self.turn.borrow_mut(), &mut *self.session.state.borrow_mut());
            match came {
                Came::Chunk(chunk) => turn.push(session, &chunk),
                #[cfg(feature = "socket")]
                Came::Message(message) => turn.push_message(session, &message),
                #[cfg(feature = "socket")]
                Came::Gather => true,
            }
        };
        self.tell_news();
        self.changed();
        goes_on
    }

    fn is_over(&self) -> bool {
        self.status().is_terminal()
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
        self.tell(&event);
        self.changed();
    }

    #[cfg(feature = "socket")]
    fn has_follow_up_requests(&self) -> bool {
        self.turn.borrow().reader().has_follow_up_requests()
    }

    #[cfg(feature = "socket")]
    fn follow_up_requests(&self) -> Option<crate::rpc::Messages> {
        self.turn.borrow_mut().reader_mut().follow_up_requests()
    }
}
