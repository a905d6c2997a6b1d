//! What is kept of threads, in memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::input::RunInput;
use super::server::Server;
use super::waiting::Waiting;
use crate::lock::lock;
use crate::store::{self, Turn};

/// The state of the handlers.
pub(super) type App = crate::context::App<Threads>;

/// All threads, and the pending calls of pages: any thread in which the call's result arrives continues.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    threads: Mutex<HashMap<(Server, String), Arc<Thread>>>,
    calls: Mutex<HashMap<String, Arc<Waiting>>>,
}

/// A conversation.
#[derive(Debug)]
pub(super) struct Thread {
    /// The same thread, for the gateway's own endpoints.
    pub(super) kept: Arc<store::Session>,
    state: Mutex<ThreadState>,
}

/// What a thread holds.
#[derive(Debug)]
pub(super) struct ThreadState {
    pub(super) conversation: Conversation,
    pub(super) state: Value,
    pub(super) waiting: Option<Arc<Waiting>>,
    /// The runs in the order in which they began.
    pub(super) runs: Vec<Arc<Turn>>,
}

impl ThreadState {
    /// The run that has not ended.
    pub(super) fn live(&self) -> Option<&Arc<Turn>> {
        self.runs.iter().rev().find(|run| run.is_running())
    }
}

impl Thread {
    pub(super) fn state(&self) -> MutexGuard<'_, ThreadState> {
        lock(&self.state)
    }
}

impl Threads {
    pub(super) fn find(&self, server: Server, id: &str) -> Option<Arc<Thread>> {
        lock(&self.threads).get(&(server, id.to_owned())).cloned()
    }

    pub(super) fn find_or_create(&self, app: &App, server: Server, id: &str) -> Arc<Thread> {
        let mut threads = lock(&self.threads);
        let create = || {
            let kept = app.store.insert(store::Session::plain(id, server.space(), "support-bot"));
            let state = ThreadState {
                conversation: Conversation::default(),
                state: json!({}),
                waiting: None,
                runs: Vec::new(),
            };
            Arc::new(Thread { kept, state: Mutex::new(state) })
        };
        Arc::clone(threads.entry((server, id.to_owned())).or_insert_with(create))
    }

    /// Remembers the calls that wait for a page.
    pub(super) fn expect(&self, waiting: &Arc<Waiting>) {
        let mut calls = lock(&self.calls);
        calls.extend(waiting.tools().map(|call| (call.to_owned(), Arc::clone(waiting))));
    }

    /// The pending questions that the tool messages at the end of a request answer.
    pub(super) fn waiting_for(&self, input: &RunInput) -> Option<Arc<Waiting>> {
        let tools = input.messages.iter().rev().skip_while(|message| message.role() == "user");
        let mut tools = tools.take_while(|message| message.role() == "tool");
        let calls = lock(&self.calls);
        tools.find_map(|message| calls.get(message.tool_call_id()).cloned())
    }
}
