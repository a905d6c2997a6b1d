//! What the turns of a session share: its newest turn, what the next input must answer, and the terms of its calls.

use std::borrow::Cow;

use crate::error::{Error, ErrorCode, Result};
use crate::event::EventRef;
use crate::features::{ClientConversations, ClientIds, Part};
use crate::index::{EventIndex, PendingAction};
use crate::json::{Object, ObjectWriter, Value};
use crate::protocol::AnyProtocol;
use crate::turn::{Newest, Pending, StartTrace, TurnInput};

/// What the turns of a session share.
#[derive(Debug)]
pub struct Session {
    /// The session's id.
    pub id: String,
    /// The agent's name, for protocols whose turns name it.
    pub agent_name: String,
    /// The protocol, with the session's terms.
    pub protocol: AnyProtocol,
    /// The longest frame that its streams may have, in bytes.
    pub max_frame_bytes: usize,
    /// Parameters of every call, as a JSON object; empty if there are none.
    pub terms: String,
    /// The conversation that the client keeps, as JSON; empty before the first turn.
    conversation: Part<String, { ClientConversations::COUNT }>,
    /// The number of the user's messages, if it is known.
    pub user_message_count: Option<u64>,
    is_cancelled: bool,
    /// The newest turn before those that are known here.
    before: Newest,
    /// The newest turn known to have begun, followed by turns whose starts are in flight.
    newest: Vec<KnownTurn>,
    /// The turns of this client that have begun, by their keys and ids.
    ids: Vec<(u32, String)>,
    next_key: u32,
}

/// What the next turn needs to know of a turn.
#[derive(Debug)]
struct KnownTurn {
    key: u32,
    /// Empty until it has begun.
    id: String,
    /// When this client started it (see [`StartTrace`]); 0 if it did not.
    started_at: u64,
    /// Whether it is starting or running here.
    is_live: bool,
    pending: Pending,
    paused: PausedStream,
}

/// How much of its stream a paused turn has delivered. The turn that continues it under the same id skips that.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PausedStream {
    /// The number of events.
    pub events: u64,
    /// The ids of the messages.
    pub messages: Vec<String>,
}

/// The newest turn that was known at some time, and whether its end was: see [`Session::mark`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewestMark(Option<(u32, bool)>);

impl Session {
    /// A session; a new one has no turns yet.
    #[must_use]
    pub fn new(id: String, protocol: AnyProtocol, max_frame_bytes: usize, is_new: bool) -> Self {
        Self {
            id,
            agent_name: String::new(),
            protocol,
            max_frame_bytes,
            terms: String::new(),
            conversation: Part::default(),
            user_message_count: None,
            is_cancelled: false,
            before: if is_new { Newest::None } else { Newest::Unknown },
            newest: Vec::new(),
            ids: Vec::new(),
            next_key: 0,
        }
    }

    /// Takes what the server's record of the session contains: the agent's name, and what the last turn waits for, as a
    /// JSON array of the events that asked for it.
    pub fn take_record(&mut self, agent_name: &str, required_actions: &str) {
        if !ClientIds::EXISTS {
            return;
        }
        agent_name.clone_into(&mut self.agent_name);
        let pending = pending(required_actions);
        if !pending.is_empty() {
            self.set_newest_pending(pending);
        }
    }

    /// The session's history was read. It contains this number of user messages, and the last turn waits for
    /// `required_actions`, a JSON array of the events that asked for it.
    pub fn history_read(&mut self, user_message_count: u64, required_actions: &str) {
        self.user_message_count = Some(user_message_count);
        self.set_newest_pending(pending(required_actions));
    }

    /// The newest turn is one that this client has not read, and waits for these calls.
    fn set_newest_pending(&mut self, pending: Vec<PendingAction>) {
        let key = self.new_key();
        self.add_newest(key, 0);
        self.turn_ended(key, Pending::Known(pending), PausedStream::default());
    }

    /// Sets the parameters `terms` of every call from now on, a JSON object.
    pub fn set_terms(&mut self, terms: &str) {
        self.protocol = self.protocol.with_terms(terms);
        terms.clone_into(&mut self.terms);
    }

    /// The conversation that the client keeps of the session (JSON), to be stored; empty if the server keeps it.
    #[must_use]
    pub fn conversation(&self) -> &str {
        self.kept().unwrap_or_default()
    }

    /// The stored conversation, if the client keeps it.
    fn kept(&self) -> Option<&str> {
        let is_ours = || self.protocol.protocol().capabilities().has_client_conversation();
        self.conversation.get().filter(|_| is_ours()).map(|kept| &**kept)
    }

    /// Continues with a stored conversation (JSON). Omitted members stay unchanged: an object with only `state`
    /// replaces the agent's state.
    pub fn set_conversation(&mut self, conversation: &str) -> Result<()> {
        let Some(kept) = self.kept() else {
            return Err(Error::new(ErrorCode::Unsupported, "the server keeps this session's conversation"));
        };
        let stored = Value::parse(conversation).unwrap_or_default();
        let Some(stored) = stored.as_object() else {
            return Err(Error::new(ErrorCode::InvalidOption, "`conversation` must be an object"));
        };
        let is_whole = stored.contains("messages");
        let merged = if is_whole { conversation.to_owned() } else { merged(kept, stored) };
        if let Some(kept) = self.conversation.get_mut() {
            *kept = merged;
        }
        if is_whole {
            self.set_newest_pending(pending(&stored.json("required_actions")));
        }
        Ok(())
    }

    /// Stores the current conversation of the turn with this key, if that is the newest turn.
    pub(super) fn keep_conversation(&mut self, key: u32, conversation: Option<String>) {
        let is_newest = self.newest.last().is_some_and(|turn| turn.key == key);
        if let (Some(kept), Some(conversation)) = (self.conversation.get_mut(), conversation)
            && is_newest
        {
            *kept = conversation;
        }
    }

    /// The terms of a start at this time, in milliseconds since 1970: with the conversation, if the client keeps it.
    pub(super) fn terms_at(&self, now: u64) -> Cow<'_, str> {
        let Some(kept) = self.kept() else { return Cow::Borrowed(&self.terms) };
        let given = Value::parse(&self.terms).unwrap_or_default();
        let mut json = String::new();
        let mut terms = ObjectWriter::new(&mut json);
        for (name, value) in given.as_object().into_iter().flat_map(Object::iter) {
            terms.value(name, value);
        }
        if !kept.is_empty() {
            // As a text: JavaScript, which passes it on, would change its large numbers.
            terms.str("conversation", kept);
        }
        terms.u64("now", now).end();
        json.into()
    }

    /// How much of its stream the turn with this id has delivered, if it is one of the newest.
    #[must_use]
    pub fn paused_stream(&self, id: &str) -> Option<&PausedStream> {
        self.newest.iter().find(|turn| turn.id == id).map(|turn| &turn.paused)
    }

    /// Returns a new key for a turn.
    pub fn new_key(&mut self) -> u32 {
        self.next_key = self.next_key.wrapping_add(1);
        self.next_key
    }

    /// The session was cancelled: it takes no further turns.
    pub fn cancelled(&mut self) {
        self.is_cancelled = true;
    }

    /// Returns an error if the session was cancelled.
    pub fn check_open(&self) -> Result<()> {
        if self.is_cancelled {
            let problem = "the session was cancelled: create another one";
            return Err(Error::new(ErrorCode::SessionCancelled, problem));
        }
        Ok(())
    }

    /// Checks an input against the pending calls. It is for a turn that follows `previous_turn_id`; `""` and `"auto"`
    /// stand for the newest turn. Only the server knows which calls are pending after any other turn.
    pub fn check_pending(&self, previous_turn_id: &str, input: &TurnInput) -> Result<()> {
        // These servers would take stray answers for a new question.
        let is_strict = self.protocol.protocol().capabilities().has_client_ids();
        match self.newest.last() {
            Some(newest) if matches!(previous_turn_id, "" | "auto") || previous_turn_id == newest.id => {
                if is_strict && newest.is_live && input.answer_count() > 0 {
                    let problem = "the session's last turn still runs: answer its calls with `turn.answer()`";
                    return Err(Error::new(ErrorCode::InvalidInput, problem));
                }
                input.check_pending(&newest.pending, is_strict)
            }
            None if self.before == Newest::None && is_strict => {
                input.check_pending(&Pending::Known(Vec::new()), true)
            }
            _ => Ok(()),
        }
    }

    /// The newest turn that has begun.
    fn last_begun(&self) -> Option<&KnownTurn> {
        self.newest.iter().rfind(|turn| !turn.id.is_empty())
    }

    /// The session's newest turn that has begun.
    #[must_use]
    pub fn newest(&self) -> Newest {
        match self.last_begun() {
            None => self.before.clone(),
            Some(turn) if turn.started_at > 0 => Newest::Turn(turn.id.clone()),
            // It may be any listed turn.
            Some(turn) => {
                Some(Newest::Turn(turn.id.clone())).filter(|last| *last == self.before).unwrap_or_default()
            }
        }
    }

    /// What is known about a start at this time.
    #[must_use]
    pub fn start_trace(&self, started_at: u64) -> StartTrace {
        let newest_started_at = self.last_begun().map_or(0, |turn| turn.started_at);
        StartTrace { newest: self.newest(), started_at, newest_started_at, others: Vec::new() }
    }

    /// Marks the newest turn that is known here. It changes when a turn of this client starts or ends. A list that was
    /// requested before such a change does not know the newest turn.
    #[must_use]
    pub fn mark(&self) -> NewestMark {
        NewestMark(self.newest.last().map(|turn| (turn.key, turn.pending == Pending::Unknown)))
    }

    /// All turns were listed: the newest one known here is the session's newest.
    pub fn turns_listed(&mut self) {
        self.before = self.last_begun().map_or(Newest::None, |turn| Newest::Turn(turn.id.clone()));
    }

    /// Takes the newest turn, read before a start that is now in flight.
    pub fn newest_read(&mut self, newest: &Newest) {
        if self.newest() == Newest::Unknown {
            self.before = newest.clone();
        }
    }

    /// The turn with this key becomes the newest. Until it ends, what it will wait for is unknown. `started_at` is 0 if
    /// this client does not start it.
    pub fn add_newest(&mut self, key: u32, started_at: u64) {
        self.newest.push(KnownTurn {
            key,
            id: String::new(),
            started_at,
            is_live: false,
            pending: Pending::Unknown,
            paused: PausedStream::default(),
        });
    }

    /// The ids of this client's turns other than the one with this key.
    #[must_use]
    pub fn other_ids(&self, key: u32) -> Vec<String> {
        self.ids.iter().filter(|(other, _)| *other != key).map(|(_, id)| id.clone()).collect()
    }

    /// Forgets the id of the turn with this key.
    pub fn forget(&mut self, key: u32) {
        self.ids.retain(|(known, _)| *known != key);
    }

    /// The turn with this key was not started after all: the turn before it is the newest again, with what it waits for.
    pub fn start_refused(&mut self, key: u32) {
        if let Some(at) = self.position(key) {
            self.newest.remove(at);
        }
    }

    /// The turn with this key has begun, or was read. One that another client started becomes the newest if it follows
    /// the newest.
    pub fn turn_begun(&mut self, key: u32, id: &str, previous_turn_id: &str) {
        if self.ids.iter().all(|(known, _)| *known != key) {
            self.ids.push((key, id.to_owned()));
        }
        let follows = |turn: &KnownTurn| !previous_turn_id.is_empty() && turn.id == previous_turn_id;
        if self.position(key).is_none() && self.newest.last().is_some_and(follows) {
            self.add_newest(key, 0);
        }
        if let Some(at) = self.position(key) {
            if let Some(turn) = self.newest.get_mut(at) {
                id.clone_into(&mut turn.id);
            }
            self.newest.drain(..at);
        }
    }

    /// Whether the turn with this key is starting or running. Calls may wait while it runs.
    pub fn set_live(&mut self, key: u32, is_live: bool, pending: &[PendingAction]) {
        let at = self.position(key);
        if let Some(turn) = at.and_then(|at| self.newest.get_mut(at)) {
            turn.is_live = is_live;
            let is_known = is_live && !pending.is_empty();
            turn.pending = if is_known { Pending::Known(pending.to_vec()) } else { Pending::Unknown };
        }
    }

    /// The turn with this key has ended, or paused.
    pub fn turn_ended(&mut self, key: u32, pending: Pending, paused: PausedStream) {
        let at = self.position(key);
        if let Some(turn) = at.and_then(|at| self.newest.get_mut(at)) {
            turn.is_live = false;
            turn.pending = pending;
            turn.paused = paused;
        }
    }

    fn position(&self, key: u32) -> Option<usize> {
        self.newest.iter().position(|turn| turn.key == key)
    }
}

/// An object (JSON) with some members replaced by those of another one.
fn merged(kept: &str, members: &Object<'_>) -> String {
    let known = Value::parse(kept).unwrap_or_default();
    let mut json = String::new();
    let mut merged = ObjectWriter::new(&mut json);
    let known = known.as_object().into_iter().flat_map(Object::iter);
    for (name, value) in known.filter(|(name, _)| !members.contains(name)).chain(members.iter()) {
        merged.value(name, value);
    }
    merged.end();
    json
}

/// The waiting calls, from a JSON array of the events that asked for answers to them.
fn pending(required_actions: &str) -> Vec<PendingAction> {
    let actions = Value::parse(required_actions).unwrap_or_default();
    let mut index = EventIndex::new();
    for action in actions.as_array().unwrap_or_default().iter().filter_map(Value::as_object) {
        index.apply(EventRef::of(action));
    }
    index.pending().to_vec()
}
