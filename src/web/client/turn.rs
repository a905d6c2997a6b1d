//! A turn: one request to the agent, and everything in its answer.

use std::rc::Rc;

use futures::future::{Either, select};
use gloo_timers::future::TimeoutFuture;
use serde_json::{Value as Json, json};

use crate::error::{Error, ErrorCode, Result};
use crate::event::{TerminalState, TurnInputItem, TurnRecord, TurnState};
use crate::protocol::{Call, Capability, Resume};
use crate::session::{Goal, SessionTurn};
use crate::snapshot::TurnSnapshot;
use crate::turn::TurnStatus;

use super::connection::ConnectionEvent;
use super::core::Core;
use super::parsed;
use super::shared::Shared;
use super::stream::TurnStream;

/// The shortest time between two snapshots of [`Turn::snapshots`], in milliseconds: a frame.
const FRAME: u32 = 16;

/// One request to the agent, and everything in its answer. Cheap to clone: clones are the same turn.
#[derive(Clone)]
pub struct Turn {
    core: Rc<Core>,
}

impl std::fmt::Debug for Turn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Turn").field("id", &self.id()).field("status", &self.status()).finish_non_exhaustive()
    }
}

impl Turn {
    pub(super) fn new(
        session: &Rc<Shared<Core>>,
        turn: SessionTurn,
        input: Vec<TurnInputItem>,
        state: Option<TurnState>,
    ) -> Self {
        Self { core: Core::new(session, turn, input, state) }
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

    /// Streams the turn's events: starts it, or attaches to it if it has started. The reading begins at once, and
    /// continues in the background until the stream is dropped. The next stream continues where the last one stopped.
    ///
    /// A lost connection is recovered; if that fails, the stream's last item is an error: the server's or the
    /// network's own, or [`Incomplete`](ErrorCode::Incomplete), whose source is the last failure.
    ///
    /// Fails with [`TurnNotRunning`](ErrorCode::TurnNotRunning) if the turn has ended, with
    /// [`TurnAlreadyStreamed`](ErrorCode::TurnAlreadyStreamed) if another stream would share its events, and with
    /// [`InvalidInput`](ErrorCode::InvalidInput) if the input does not answer what the session waits for.
    pub fn stream(&self) -> Result<TurnStream> {
        if self.core.is_read() || self.core.events.borrow().is_taken {
            let problem =
                "the turn is being read already: take its stream first, and wait for its end after that";
            return Err(Error::new(ErrorCode::TurnAlreadyStreamed, problem));
        }
        self.core.want_events(true);
        let reader = Core::read(&self.core, Goal::Stream)?;
        Ok(TurnStream::new(Rc::clone(&self.core), reader))
    }

    /// Waits until the turn has ended, and returns its result. Starts the turn if it has not started, and reads it
    /// unless it is being streamed. If the turn has ended with an incomplete snapshot, reads the list of events.
    ///
    /// Fails as the stream does.
    pub async fn wait_for_completion(&self) -> Result<TerminalState> {
        Core::completed(&self.core).await?;
        match self.core.state().as_deref() {
            Some(TurnState::Terminal(state)) => Ok((**state).clone()),
            _ => Err(Error::new(ErrorCode::Incomplete, "how the turn ended is not known")),
        }
    }

    /// The turn at this moment. It shares unchanged parts with the snapshot before.
    #[must_use]
    pub fn snapshot(&self) -> TurnSnapshot {
        self.core.snapshot()
    }

    /// A snapshot now, and one after each change, at most one per 16 milliseconds. Ends when the turn is over and waits
    /// for nothing, or has begun and is no longer being read. Does not read the turn itself.
    pub fn snapshots(&self) -> impl futures::Stream<Item = TurnSnapshot> + use<> {
        let turn = self.clone();
        let begin = (turn, None::<u64>);
        futures::stream::unfold(begin, |(turn, shown)| async move {
            let core = Rc::clone(&turn.core);
            if let Some(shown) = shown {
                if core.changes.count() == shown && core.is_at_rest() {
                    return None;
                }
                core.changes.until(|| core.changes.count() != shown).await;
                TimeoutFuture::new(FRAME).await;
            }
            let shown = core.changes.count();
            Some((core.snapshot(), (turn, Some(shown))))
        })
    }

    /// Calls `listener` with every event of the turn's connection.
    pub fn on_connection(&self, listener: impl Fn(&ConnectionEvent) + 'static) {
        self.core.listeners.add(listener);
    }

    /// Stops the turn on the server. A few more events may arrive, `turn.done` last, so keep reading. Does nothing once
    /// the turn has ended. If the protocol has no request to cancel, ends the reading instead.
    pub async fn cancel(&self) -> Result<()> {
        let core = &self.core;
        let capabilities = core.turn.borrow().reader().capabilities();
        if capabilities.lacks_turn_ids() && !capabilities.is_relayed() {
            core.turn.borrow_mut().driver_mut().cancel_by_disconnect();
            core.stop();
            if capabilities.has_client_conversation() && capabilities.resume == Resume::History {
                let asked = core.session.server.ask(Call::CancelTurn, core.session.params(json!({}))?).await;
                // At least one of these servers has a request to cancel.
                asked.map(drop).or_else(|error| match error.code {
                    ErrorCode::Unsupported => Ok(()),
                    _ => Err(error),
                })?;
            }
            return Ok(());
        }
        core.changes.until(|| !core.is_starting()).await;
        if core.status().is_terminal() {
            return Ok(());
        }
        let id = core.id().ok_or_else(not_started)?;
        // The server cancels whichever turn of the session runs: this must be it.
        if !core.is_read() && !capabilities.is_relayed() && !self.is_running_there(&id).await? {
            return Ok(());
        }
        let params = core.session.params(json!({ "turn_id": id }))?;
        let server = Rc::clone(&core.session.server);
        let asked = std::pin::pin!(server.ask(Call::CancelTurn, params));
        let ended = std::pin::pin!(core.changes.until(|| core.status().is_terminal()));
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

    /// Answers some or all pending calls while the turn still runs, if the protocol supports it. Otherwise fails with
    /// [`Unsupported`](ErrorCode::Unsupported): a turn with the answers then continues.
    pub async fn answer(&self, answers: Vec<TurnInputItem>) -> Result<()> {
        let core = &self.core;
        let id = core.id().ok_or_else(not_started)?;
        let items = core.turn.borrow_mut().take_answers(&json!(answers).to_string())?;
        let mut waiting: Vec<Json> = parsed(&items)?;
        let is_separate = core.turn.borrow().reader().capabilities().has_answers_apart();
        while !waiting.is_empty() {
            let rest = waiting.split_off(if is_separate { 1 } else { waiting.len() });
            let params = core.session.params(json!({ "turn_id": id, "input": waiting }))?;
            if let Err(error) = core.session.server.ask(Call::AnswerTurn, params).await {
                let refused = [waiting, rest].concat();
                core.turn.borrow_mut().answered(&json!(refused).to_string(), false);
                return Err(error);
            }
            waiting = rest;
        }
        core.turn.borrow_mut().answered(&items, true);
        core.changes.add();
        Ok(())
    }

    /// Sends the agent another message while the turn runs, if the protocol supports it. Fails with
    /// [`TurnNotRunning`](ErrorCode::TurnNotRunning) once it is over.
    pub async fn steer(&self, text: &str) -> Result<()> {
        let core = &self.core;
        if !core.turn.borrow().reader().capabilities().has(Capability::Steer) {
            let problem = "this protocol takes nothing more while a turn runs";
            return Err(Error::new(ErrorCode::Unsupported, problem));
        }
        core.changes.until(|| !core.is_starting()).await;
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

/// Whether a server refuses a request in this way for a turn that has just paused or ended.
fn was_paused(refusal: &Error) -> bool {
    matches!(refusal.code, ErrorCode::Http | ErrorCode::Rpc)
        && matches!(refusal.status, None | Some(400 | 404 | 409))
}

/// The error of a call for a turn that has no id yet.
fn not_started() -> Error {
    let problem = "the turn has not started: call `stream` or `wait_for_completion` first";
    Error::new(ErrorCode::TurnNotStarted, problem)
}
