//! Threads: what is kept of them, which sockets are subscribed, and how these are notified.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::SPACE;
use super::envelope::notification;
use super::event::{Event, Place};
use super::outbox::Outbox;
use super::turn::{Opening, Record, Status, now};
use super::workspace::WORKSPACE;
use crate::agents::Memory;
use crate::faults::OutFrame;
use crate::json;
use crate::lock::lock;
use crate::store::{self, Store};
use crate::turns::Stop;

/// The state of the handlers.
pub(super) type App = crate::context::App<Threads>;

/// All threads, by id.
#[derive(Debug, Default)]
pub(crate) struct Threads(Mutex<BTreeMap<String, Arc<Thread>>>);

/// How the agent of a thread works.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Mode {
    /// It answers as the model speaks.
    #[default]
    Chat,
    /// It works in rounds, and answers at once.
    Agent,
}

/// Who a thread is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Origin {
    User,
    TaskRun,
    System,
}

/// Whether a thread is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Visibility {
    Visible,
    Hidden,
}

/// What a client may set when it creates a thread.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Settings {
    pub(super) name: Option<String>,
    pub(super) mode: Option<Mode>,
    pub(super) model: Option<String>,
    #[serde(rename = "model_provider")]
    pub(super) provider: Option<String>,
    #[serde(rename = "origin_kind")]
    pub(super) origin: Option<Origin>,
    #[serde(rename = "sidebar_visibility")]
    pub(super) visibility: Option<Visibility>,
    #[serde(rename = "agent_nickname")]
    pub(super) nickname: Option<String>,
    #[serde(rename = "agent_role")]
    pub(super) role: Option<String>,
}

/// A thread.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) id: String,
    /// The same thread as the gateway's own endpoints see it.
    pub(super) kept: Arc<store::Session>,
    created_at: i64,
    state: Mutex<State>,
}

/// The parts of a thread that change.
#[derive(Debug)]
pub(super) struct State {
    pub(super) settings: Settings,
    pub(super) preview: String,
    pub(super) updated_at: i64,
    /// Whether turns can be started.
    pub(super) loaded: bool,
    /// By the number of their socket.
    pub(super) subscribers: BTreeMap<u64, Arc<Outbox>>,
    pub(super) turns: Vec<Record>,
    pub(super) memory: Memory,
}

/// What an unsubscribe found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    NotLoaded,
    NotSubscribed,
    /// And whether the thread was unloaded then.
    Unsubscribed {
        unloaded: bool,
    },
}

impl Threads {
    pub(super) fn find(&self, id: &str) -> Option<Arc<Thread>> {
        lock(&self.0).get(id).cloned()
    }

    /// The thread with this id. Creates it if there is none.
    pub(super) fn find_or_make(&self, store: &Store, id: &str, settings: Settings) -> Arc<Thread> {
        let mut threads = lock(&self.0);
        let thread = threads.entry(id.to_owned()).or_insert_with(|| {
            let session = store::Session::plain(id, SPACE, "scripted");
            Arc::new(Thread {
                id: id.to_owned(),
                kept: store.insert(session),
                created_at: now() / 1000,
                state: Mutex::new(State {
                    settings,
                    preview: String::new(),
                    updated_at: now() / 1000,
                    loaded: true,
                    subscribers: BTreeMap::new(),
                    turns: Vec::new(),
                    memory: Memory::new(),
                }),
            })
        });
        Arc::clone(thread)
    }

    /// Removes the subscriptions of a socket that has closed.
    pub(super) fn leave_all(&self, socket: u64) {
        let threads: Vec<Arc<Thread>> = lock(&self.0).values().cloned().collect();
        for thread in threads {
            thread.leave(socket);
        }
    }
}

impl Thread {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    pub(super) fn place<'a>(&'a self, turn: &'a str) -> Place<'a> {
        Place { workspace: WORKSPACE, thread: &self.id, turn }
    }

    pub(super) fn show(&self, state: &State) -> Value {
        let settings = &state.settings;
        let status = match (state.loaded, state.running()) {
            (_, Some(_)) => "Active",
            (true, None) => "Idle",
            (false, None) => "Closed",
        };
        let mut thread = json!({
            "workspace_id": WORKSPACE,
            "id": self.id,
            "preview": state.preview,
            "mode": settings.mode.unwrap_or_default(),
            "model": settings.model.as_deref().unwrap_or("scripted-1"),
            "model_provider": settings.provider.as_deref().unwrap_or("scripted"),
            "created_at": self.created_at,
            "updated_at": state.updated_at,
            "status": status,
            "origin_kind": settings.origin.unwrap_or(Origin::User),
            "sidebar_visibility": settings.visibility.unwrap_or(Visibility::Visible),
            "turns": state.turns.iter().map(Record::show).collect::<Vec<_>>(),
        });
        let optional = [
            ("name", settings.name.as_ref()),
            ("agent_nickname", settings.nickname.as_ref()),
            ("agent_role", settings.role.as_ref()),
        ];
        json::add(&mut thread, optional);
        thread
    }

    pub(super) fn leave(&self, socket: u64) -> Left {
        let mut state = self.state();
        if !state.loaded {
            return Left::NotLoaded;
        }
        if state.subscribers.remove(&socket).is_none() {
            return Left::NotSubscribed;
        }
        Left::Unsubscribed { unloaded: state.unload_if_idle() }
    }

    /// Stores a durable event of a turn that runs, and sends it.
    pub(super) fn record(&self, turn: &str, event: Event) -> bool {
        let mut state = self.state();
        state.before_notification(self, turn);
        state.record(self, turn, event)
    }

    /// Sends a notification of a turn that runs, which is not kept. What is `lossy` may be dropped.
    pub(super) fn notify(&self, turn: &str, frame: impl Into<OutFrame>, lossy: bool) {
        let mut state = self.state();
        state.before_notification(self, turn);
        if state.turn(turn).is_some_and(|record| record.is_running()) {
            state.broadcast(&frame.into(), lossy);
        }
    }

    /// Changes a turn.
    pub(super) fn change<T>(&self, turn: &str, change: impl FnOnce(&mut Record) -> T) -> Option<T> {
        self.state().turn(turn).map(change)
    }

    /// Ends a turn, unless it is over. No notification of it follows.
    pub(super) fn finish(&self, turn: &str, status: Status, error: Option<String>) -> bool {
        let mut state = self.state();
        state.open_turn(self, turn);
        let Some(record) = state.turn(turn).filter(|record| record.is_running()) else {
            return false;
        };
        let job = record.job.take().filter(|_| status == Status::Interrupted);
        if let Some(job) = job {
            let details = json!({
                "recoveryJobId": job.id,
                "attemptNumber": job.attempt,
                "status": "cancelled",
                "errorMessage": error.clone().unwrap_or_default(),
            });
            state.record(self, turn, Event::about("itemRecoveryExhausted", &job.item, details));
        }
        if let Some(record) = state.turn(turn) {
            record.status = status;
            record.error = error;
            record.ended = now();
            let kept = Arc::clone(&record.kept);
            kept.progress().state = Some(serde_json::value::to_raw_value(&record.show()).unwrap_or_default());
            kept.log.close();
        }
        let method = if status == Status::Completed { "turn/completed" } else { "turn/failed" };
        state.notify_turn(self, turn, method);
        state.updated_at = now() / 1000;
        state.name_thread(self);
        state.unload_if_idle();
        true
    }

    /// Ends a turn from outside, unless it is over, and stops its agent.
    pub(super) fn interrupt(&self, turn: &str, reason: String) {
        if self.finish(turn, Status::Interrupted, Some(reason)) {
            self.change(turn, |record| record.kept.stop(Stop::Cancelled));
        }
    }
}

impl State {
    /// Loads the thread if it is not loaded. From here on the socket is notified.
    pub(super) fn subscribe(&mut self, socket: u64, outbox: &Arc<Outbox>) {
        self.loaded = true;
        self.subscribers.insert(socket, Arc::clone(outbox));
    }

    pub(super) fn turn(&mut self, id: &str) -> Option<&mut Record> {
        // Only the latest are still of interest.
        self.turns.iter_mut().rev().find(|turn| turn.id == id)
    }

    pub(super) fn running(&self) -> Option<&Record> {
        self.turns.iter().find(|turn| turn.is_running())
    }

    /// Adds a turn, and announces it: at once, or after some notifications of its agent.
    pub(super) fn begin(&mut self, thread: &Thread, record: Record) {
        let id = record.id.clone();
        let at_once = record.opening.as_ref().is_none_or(|opening| opening.left == 0);
        self.updated_at = record.began / 1000;
        self.turns.push(record);
        if at_once {
            self.open_turn(thread, &id);
        }
    }

    /// Counts the agent's notifications before its turn is announced.
    fn before_notification(&mut self, thread: &Thread, turn: &str) {
        let Some(opening) = self.turn(turn).and_then(|record| record.opening.as_mut()) else { return };
        if opening.left == 0 {
            self.open_turn(thread, turn);
        } else {
            opening.left -= 1;
        }
    }

    /// The response, the turn's beginning, and the user's message, if they were not sent yet.
    pub(super) fn open_turn(&mut self, thread: &Thread, turn: &str) {
        let Some(record) = self.turn(turn) else { return };
        let Some(Opening { reply, events, .. }) = record.opening.take() else { return };
        reply.ok(json!({"turn": record.show()}));
        self.notify_turn(thread, turn, "turn/started");
        for event in events {
            self.record(thread, turn, event);
        }
    }

    fn record(&mut self, thread: &Thread, turn: &str, event: Event) -> bool {
        let Some(record) = self.turn(turn).filter(|record| record.is_running()) else {
            return false;
        };
        let text = event.notification(thread.place(turn));
        record.store(event);
        self.broadcast(&text.into(), false);
        true
    }

    fn notify_turn(&mut self, thread: &Thread, turn: &str, method: &str) {
        let Some(record) = self.turn(turn) else { return };
        let params = json!({"workspace_id": WORKSPACE, "thread_id": thread.id, "turn": record.show()});
        self.broadcast(&notification(method, params).into(), false);
    }

    fn broadcast(&self, frame: &OutFrame, lossy: bool) {
        for outbox in self.subscribers.values() {
            if lossy {
                outbox.send_lossy(frame.clone());
            } else {
                outbox.send(frame.clone());
            }
        }
    }

    /// A thread without a name gets one after its first turn.
    fn name_thread(&mut self, thread: &Thread) {
        let title = thread.kept.details().title.clone();
        let Some(title) = title.filter(|_| self.settings.name.is_none()) else { return };
        self.settings.name = Some(title);
        let params = json!({"thread": thread.show(self)});
        self.broadcast(&notification("thread/updated", params).into(), false);
    }

    /// Unloads a thread without subscribers and without a running turn.
    fn unload_if_idle(&mut self) -> bool {
        if self.loaded && self.subscribers.is_empty() && self.running().is_none() {
            self.loaded = false;
            return true;
        }
        false
    }
}
