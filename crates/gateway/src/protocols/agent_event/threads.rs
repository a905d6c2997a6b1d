//! Threads and runs of all servers, in memory.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Map, Value};

use super::canonical::EventStore;
use super::decision::Decision;
use super::message::Message;
use super::run::Run;
use super::server::Server;
use super::suspension::{SuspendedCall, Suspension};
use crate::agents::{Approval, Conversation};
use crate::context;
use crate::lock::lock;
use crate::store::{Session, Store};
use crate::time::now_ms;

/// The state of the handlers.
pub(super) type App = context::App<Threads>;

/// The state of all servers.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    servers: Mutex<BTreeMap<Server, Known>>,
    events: Arc<EventStore>,
}

#[derive(Debug, Default)]
struct Known {
    threads: BTreeMap<String, Arc<Thread>>,
    /// In the order of their first start.
    runs: Vec<Arc<Run>>,
}

impl Threads {
    /// The event store of the server that has one.
    pub(super) fn events(&self) -> Arc<EventStore> {
        Arc::clone(&self.events)
    }

    pub(super) fn thread(&self, server: Server, id: &str) -> Option<Arc<Thread>> {
        lock(&self.servers).get(&server)?.threads.get(id).cloned()
    }

    /// The thread with this id, created if it does not exist.
    pub(super) fn obtain(&self, store: &Store, server: Server, id: &str, agent: &str) -> Arc<Thread> {
        let mut servers = lock(&self.servers);
        let threads = &mut servers.entry(server).or_default().threads;
        if let Some(thread) = threads.get(id) {
            return Arc::clone(thread);
        }
        let thread = Arc::new(Thread::new(store, server, id, agent));
        threads.insert(id.to_owned(), Arc::clone(&thread));
        thread
    }

    pub(super) fn remove(&self, store: &Store, server: Server, id: &str) -> bool {
        let mut servers = lock(&self.servers);
        let removed = servers.entry(server).or_default().threads.remove(id);
        if let Some(thread) = &removed {
            store.remove(&thread.session);
        }
        removed.is_some()
    }

    /// All threads, by id.
    pub(super) fn all(&self, server: Server) -> Vec<Arc<Thread>> {
        let servers = lock(&self.servers);
        servers.get(&server).map(|known| known.threads.values().cloned().collect()).unwrap_or_default()
    }

    pub(super) fn run(&self, server: Server, id: &str) -> Option<Arc<Run>> {
        let servers = lock(&self.servers);
        servers.get(&server)?.runs.iter().find(|run| run.id == id).cloned()
    }

    /// All runs, oldest first.
    pub(super) fn runs(&self, server: Server) -> Vec<Arc<Run>> {
        lock(&self.servers).get(&server).map(|known| known.runs.clone()).unwrap_or_default()
    }

    /// Adds a run, replacing an earlier one with its id.
    pub(super) fn add(&self, server: Server, run: &Arc<Run>) {
        let mut servers = lock(&self.servers);
        let runs = &mut servers.entry(server).or_default().runs;
        match runs.iter_mut().find(|known| known.id == run.id) {
            Some(known) => *known = Arc::clone(run),
            None => runs.push(Arc::clone(run)),
        }
    }
}

/// A conversation.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) id: String,
    pub(super) server: Server,
    /// The same thread, for the gateway's own endpoints.
    pub(super) session: Arc<Session>,
    content: Mutex<Content>,
}

/// What a thread holds.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) labels: Labels,
    pub(super) messages: Vec<Message>,
    /// The state at the last checkpoint.
    pub(super) state: Map<String, Value>,
    pub(super) conversation: Conversation,
    pub(super) suspension: Option<Suspension>,
    /// Whether calls of a tool are always allowed, or always denied.
    pub(super) remembered: HashMap<String, bool>,
    pub(super) runs: Runs,
    pub(super) writes: Writes,
}

/// How clients find a thread.
#[derive(Debug, Default)]
pub(super) struct Labels {
    pub(super) title: Option<String>,
    pub(super) parent_thread_id: Option<String>,
    pub(super) resource_id: Option<String>,
}

/// The runs of a thread.
#[derive(Debug, Default)]
pub(super) struct Runs {
    /// The live one, if there is one.
    pub(super) live: Option<Arc<Run>>,
    pub(super) latest: Option<String>,
    /// Those that wait until the thread is free.
    pub(super) queue: Vec<Queued>,
    /// How often the thread was interrupted.
    pub(super) generation: u64,
}

/// When a thread was written to.
#[derive(Debug)]
pub(super) struct Writes {
    pub(super) created_at: u64,
    pub(super) updated_at: u64,
    /// Writes so far.
    pub(super) version: u64,
}

impl Default for Writes {
    fn default() -> Self {
        let now = now_ms();
        Self { created_at: now, updated_at: now, version: 0 }
    }
}

impl Writes {
    /// Records a write. Returns the thread's version from then on.
    pub(super) fn touch(&mut self) -> u64 {
        self.updated_at = now_ms();
        self.version += 1;
        self.version
    }
}

/// A run that waits for its turn.
#[derive(Debug, Clone)]
pub(super) struct Queued {
    pub(super) entry: String,
    pub(super) run: String,
    pub(super) agent: String,
    pub(super) parent: Option<String>,
    pub(super) messages: Vec<Message>,
    pub(super) created_at: u64,
}

impl Thread {
    fn new(store: &Store, server: Server, id: &str, agent: &str) -> Self {
        let session = Session::plain(id, server.name(), agent);
        Self { id: id.to_owned(), server, session: store.insert(session), content: Mutex::default() }
    }

    pub(super) fn content(&self) -> MutexGuard<'_, Content> {
        lock(&self.content)
    }
}

impl Content {
    /// Takes an answer. Returns the call that waited for it, if any.
    pub(super) fn answer(&mut self, decision: &Decision) -> Option<SuspendedCall> {
        let call = self.suspension.as_mut()?.answer(decision)?;
        if call.asks_consent() && decision.remember() {
            self.remembered.insert(call.tool.clone(), decision.approval() == Approval::Allow);
        }
        Some(call)
    }

    /// Whether a message with this id, or the result of this call, exists already.
    pub(super) fn has(&self, message: &Message) -> bool {
        let same = |kept: &Message| {
            (message.id.is_some() && kept.id == message.id)
                || (message.tool_call_id.is_some() && kept.tool_call_id == message.tool_call_id)
        };
        self.messages.iter().any(same)
    }
}
