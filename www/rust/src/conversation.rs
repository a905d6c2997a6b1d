//! The conversation: its turns, each with the snapshot that the page shows.

use futures::StreamExt;
use leptos::prelude::*;
use leptos::task::spawn_local;
use turnwire::event::TurnInputItem;
use turnwire::snapshot::TurnSnapshot;
use turnwire::{Error, Result, Session, Turn, TurnOptions};

use crate::connection::Transport;

/// A turn on the page.
#[derive(Clone, Copy)]
pub struct Shown {
    pub key: usize,
    turn: StoredValue<Turn, LocalStorage>,
    pub snapshot: RwSignal<TurnSnapshot>,
}

/// A conversation with the agent. The session is created with the first message.
#[derive(Clone, Copy)]
pub struct Conversation {
    transport: Transport,
    session: StoredValue<Option<Session>, LocalStorage>,
    pub turns: RwSignal<Vec<Shown>>,
    /// Why the last message could not be sent.
    pub problem: RwSignal<Option<Error>>,
}

impl Conversation {
    pub fn new(transport: Transport) -> Self {
        Self {
            transport,
            session: StoredValue::new_local(None),
            turns: RwSignal::default(),
            problem: RwSignal::new(None),
        }
    }

    /// Whether a turn runs.
    pub fn is_busy(&self) -> bool {
        let last = self.turns.with(|turns| turns.last().copied());
        last.is_some_and(|shown| {
            shown.snapshot.with(|snapshot| !snapshot.status.is_terminal() && snapshot.error.is_none())
        })
    }

    /// Starts a turn with a message, or with answers.
    pub fn send(self, input: impl Into<TurnOptions>) {
        let input = input.into();
        self.problem.set(None);
        spawn_local(async move {
            match self.begin(input).await {
                Ok(turn) => self.show(turn),
                Err(error) => self.problem.set(Some(error)),
            }
        });
    }

    async fn begin(self, input: TurnOptions) -> Result<Turn> {
        if let Some(session) = self.session.get_value() {
            return session.create_turn(input);
        }
        let (client, agent) = self.transport.connect()?;
        let session = client.create_session(agent).await?;
        let turn = session.create_turn(input)?;
        self.session.set_value(Some(session));
        Ok(turn)
    }

    fn show(self, turn: Turn) {
        let snapshot = RwSignal::new(turn.snapshot());
        let snapshots = turn.snapshots();
        let stored = StoredValue::new_local(turn.clone());
        self.turns.update(|turns| turns.push(Shown { key: turns.len(), turn: stored, snapshot }));
        // What goes wrong is in the snapshot, too.
        spawn_local(async move { drop(turn.wait_for_completion().await) });
        spawn_local(snapshots.for_each(move |next| {
            snapshot.set(next);
            async {}
        }));
    }

    /// Answers what the last turn waits for: at once if the turn goes on with it, otherwise by the next turn.
    pub fn answer(self, shown: Shown, answers: Vec<TurnInputItem>) {
        let turn = shown.turn.get_value();
        if turn.status().is_terminal() {
            return self.send(answers);
        }
        spawn_local(async move {
            if let Err(error) = turn.answer(answers).await {
                self.problem.set(Some(error));
            }
        });
    }

    /// Stops the turn that runs.
    pub fn stop(self) {
        let last = self.turns.with_untracked(|turns| turns.last().copied());
        let Some(turn) = last.map(|shown| shown.turn.get_value()) else { return };
        spawn_local(async move {
            if let Err(error) = turn.cancel().await {
                self.problem.set(Some(error));
            }
        });
    }

    /// Has the development gateway cut the session's connections, as a bad network would.
    pub fn cut(self) {
        let Some(session) = self.session.get_value() else { return };
        let url = ["/_gateway/sessions/", &session.id(), "/cut?how=reset"].concat();
        spawn_local(async move {
            // Another server has no such thing.
            let _ = gloo_net::http::Request::post(&url).send().await;
        });
    }
}
