//! A session: a conversation with an agent, turn by turn.

use std::cell::Ref;
use std::rc::Rc;

use serde_json::{Value as Json, json};

use crate::error::Result;
use crate::event::{RequiredActionEvent, SessionEvent, SessionRecord, TerminalState, TurnRecord, TurnState};
use crate::json::Object;
use crate::protocol::{Call, Capabilities};
use crate::session::{Session as State, SessionTurn};
use crate::web::random::new_id;

use super::core::Core;
use super::server::Server;
use super::shared::Shared;
use super::turn::Turn;
use super::{TurnOptions, list, parsed};

/// A conversation with an agent. Cheap to clone.
#[derive(Clone)]
pub struct Session {
    pub(super) shared: Rc<Shared<Core>>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("id", &self.id()).finish_non_exhaustive()
    }
}

impl Session {
    pub(super) fn new(server: &Rc<Server>, record: SessionRecord, is_new: bool) -> Self {
        let mut state = State::new(record.id.clone(), server.protocol, server.max_frame_bytes, is_new);
        let actions = json!(record.required_actions).to_string();
        state.take_record(record.agent_name.as_deref().unwrap_or_default(), &actions);
        Self { shared: Rc::new(Shared::new(server, state, record)) }
    }

    /// Sets the session's fields of every request. `place` is the number of the user's messages, and the required
    /// actions of the last turn.
    pub(super) fn set_terms(&self, terms: Json, place: Option<(u64, Vec<RequiredActionEvent>)>) {
        let mut state = self.shared.state.borrow_mut();
        state.set_terms(&terms.to_string());
        if let Some((said, actions)) = place {
            state.history_read(said, &json!(actions).to_string());
        }
        *self.shared.terms.borrow_mut() = Some(terms);
    }

    /// Reads the session's place, for servers without ids for turns.
    pub(super) async fn find_place(&self) -> Result<()> {
        #[derive(serde::Deserialize)]
        struct Position {
            items: Vec<TurnRecord>,
            user_messages: u64,
        }
        let read = self.shared.server.read(Call::ListTurns, self.params(json!({}))?).await?;
        let Position { items, user_messages } = parsed(&read)?;
        let actions = match items.into_iter().next_back().map(|turn| turn.state) {
            Some(TurnState::Terminal(state)) => match *state {
                TerminalState::Done { required_actions, .. } => required_actions,
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        let terms = self.shared.terms.borrow().clone().unwrap_or_default();
        self.set_terms(terms, Some((user_messages, actions)));
        Ok(())
    }

    /// The session's id; keep it to return with [`Client::session`](super::Client::session).
    #[must_use]
    pub fn id(&self) -> String {
        self.shared.record.borrow().id.clone()
    }

    /// The conversation that the client keeps of the session (JSON), to be stored after each turn for
    /// [`Client::restore_session`](super::Client::restore_session). Empty before the first turn, and if the server
    /// keeps the conversation.
    #[must_use]
    pub fn conversation(&self) -> String {
        self.shared.state.borrow().conversation().to_owned()
    }

    /// Sets what every turn of the session says besides its messages, if only the client keeps that: `tools` of the page
    /// (`{ name, description, parameters }`), `context` (`{ description, value }`), `forwarded_props`, in `answerable` the
    /// names of the server's tools whose calls the page answers, and `recovery`, by which a run is read after a broken
    /// connection: `"connect"` for `CopilotKit`'s runtime, whose `connect` repeats the run, and whose `stop` ends it;
    /// `"snapshot"` for Agent Framework with a store and detached runs; `"state"` for ADK's `agents/state`.
    pub fn set_run_options(&self, options: Json) {
        self.set_terms(options, None);
    }

    /// The server's record of the session, as it was last read.
    #[must_use]
    pub fn record(&self) -> Ref<'_, SessionRecord> {
        self.shared.record.borrow()
    }

    /// What the session supports: not every protocol has everything.
    #[must_use]
    pub fn capabilities(&self) -> Capabilities {
        self.shared.state.borrow().protocol.protocol().capabilities()
    }

    /// Prepares a turn: with a text, with answers (`vec![call.allow()]`), or with [`TurnOptions`]. Sends nothing yet:
    /// [`Turn::stream`] or [`Turn::wait_for_completion`] starts it.
    ///
    /// Fails with [`InvalidInput`](crate::ErrorCode::InvalidInput) if the input breaks a rule (messages are not mixed with
    /// answers, every waiting call is answered, files are data URIs), and with
    /// [`SessionCancelled`](crate::ErrorCode::SessionCancelled).
    pub fn create_turn(&self, options: impl Into<TurnOptions>) -> Result<Turn> {
        let TurnOptions { input, previous_turn_id, discard_pending, turn_options } = options.into();
        let state = &mut *self.shared.state.borrow_mut();
        let (previous, id) = (previous_turn_id.unwrap_or_default(), new_id());
        let mut turn = SessionTurn::new(state, &previous, &id, false);
        let turn_options = turn_options.map(|options| options.to_string()).unwrap_or_default();
        turn.take_input(state, &json!(input).to_string(), &turn_options, discard_pending)?;
        Ok(Turn::new(&self.shared, turn, input, None))
    }

    /// Attaches to a turn by its id, for instance after a reload. [`Turn::stream`] delivers all events of one that
    /// still runs; [`Turn::wait_for_completion`] also reads one that has ended.
    pub async fn turn(&self, id: &str) -> Result<Turn> {
        let read = self.shared.server.read(Call::GetTurn, self.params(json!({ "turn_id": id }))?).await?;
        self.attach(&parsed(&read)?, &read, false)
    }

    /// Returns to the conversation after a reload: the turn that still runs, if there is one.
    pub async fn resume(&self) -> Result<Option<Turn>> {
        let mark = self.shared.state.borrow().mark();
        let turns = self.list_turns().await?;
        let mut running = turns.into_iter().find(|turn| matches!(turn.state, TurnState::Running(_)));
        if self.capabilities().is_relayed()
            && let Some(id) = self.open_turn().await?
        {
            // The server may have no ids for turns, or store a turn when it has ended.
            let begun = || {
                parsed(&json!({ "id": id, "session_id": self.id(), "state": { "status": "running" }, "input": [] }).to_string())
            };
            running.get_or_insert(begun()?).id.clone_from(&id);
        }
        // A turn that started or ended here meanwhile is newer than the lists.
        let is_newest = self.shared.state.borrow().mark() == mark;
        running.map(|turn| self.attach(&turn, &json!(turn).to_string(), is_newest)).transpose()
    }

    /// The id of the session's newest turn that the relay still reads, if there is one.
    async fn open_turn(&self) -> Result<Option<String>> {
        #[derive(serde::Deserialize)]
        struct Open {
            turns: Vec<Named>,
        }
        #[derive(serde::Deserialize)]
        struct Named {
            id: String,
        }
        let open: Open =
            parsed(&self.shared.server.read(Call::ListOpenTurns, self.params(json!({}))?).await?)?;
        Ok(open.turns.into_iter().next().map(|turn| turn.id))
    }

    fn attach(&self, record: &TurnRecord, json: &str, is_newest: bool) -> Result<Turn> {
        let state = &mut *self.shared.state.borrow_mut();
        let mut turn = SessionTurn::new(state, "", "", is_newest);
        turn.take_record(state, json)?;
        let ended = match &record.state {
            TurnState::Terminal(_) => Some(record.state.clone()),
            TurnState::Running(_) => None,
        };
        Ok(Turn::new(&self.shared, turn, record.input.clone(), ended))
    }

    /// Lists the session's turns, over all pages: newest first, though some servers differ.
    pub async fn list_turns(&self) -> Result<Vec<TurnRecord>> {
        list(&self.shared.server, Call::ListTurns, self.list_params()?).await
    }

    /// Lists the events of all finished turns, newest first, over all pages. The list has no deltas.
    pub async fn list_events(&self) -> Result<Vec<SessionEvent>> {
        list(&self.shared.server, Call::ListSessionEvents, self.list_params()?).await
    }

    /// Reads the session again: its title comes with the first turn.
    pub async fn refresh(&self) -> Result<()> {
        let is_draft = self.shared.record.borrow().r#type == "session/draft";
        let call = if is_draft { Call::GetDraftSession } else { Call::GetSession };
        let mut record: SessionRecord =
            parsed(&self.shared.server.read(call, self.params(json!({}))?).await?)?;
        let known = &mut *self.shared.record.borrow_mut();
        record.agent_name = record.agent_name.or_else(|| known.agent_name.take());
        *known = record;
        Ok(())
    }

    /// Sets the session's title, if the protocol supports it.
    pub async fn rename(&self, title: &str) -> Result<()> {
        self.ask(Call::RenameSession, json!({ "title": title })).await?;
        self.shared.record.borrow_mut().title = Some(title.to_owned());
        Ok(())
    }

    /// Cancels the session and its running turn. It takes no further turns.
    pub async fn cancel(&self) -> Result<()> {
        self.ask(Call::CancelSession, json!({})).await?;
        self.shared.state.borrow_mut().cancelled();
        Ok(())
    }

    /// Stops the running turn, whichever it is. The session continues.
    pub async fn interrupt(&self) -> Result<()> {
        self.ask(Call::InterruptSession, json!({})).await.map(drop)
    }

    /// Deletes the session, if the protocol supports it.
    pub async fn delete(&self) -> Result<()> {
        self.ask(Call::DeleteSession, json!({})).await.map(drop)
    }

    async fn ask(&self, call: Call, more: Json) -> Result<String> {
        self.shared.server.ask(call, self.params(more)?).await
    }

    /// The parameters of a list. One of a conversation that the client keeps is made of that.
    fn list_params(&self) -> Result<Object<'static>> {
        let kept = self.conversation();
        if kept.is_empty() {
            return self.params(json!({}));
        }
        let mut terms = self.shared.terms.borrow().clone().unwrap_or_else(|| json!({}));
        terms["conversation"] = json!(kept);
        self.params(json!({ "terms": terms }))
    }

    fn params(&self, more: Json) -> Result<Object<'static>> {
        self.shared.params(more)
    }
}
