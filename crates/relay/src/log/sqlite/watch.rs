//! Notifies watchers of turns when a process has changed the file.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::mpsc;

use super::super::Hint;
use super::connect;

/// How often the file is checked while it is watched.
const LOOK: Duration = Duration::from_millis(20);

/// Watchers of other processes' turns.
#[derive(Debug, Default)]
pub(super) struct Watchers {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    watching: Vec<mpsc::Sender<Hint>>,
    /// Whether the checking thread is running.
    is_running: bool,
}

impl Watchers {
    /// Reports every change, until the receiver is dropped.
    pub(super) fn add(&self, path: &Path) -> mpsc::Receiver<Hint> {
        // One unread hint stands for all later ones.
        let (sender, receiver) = mpsc::channel(1);
        let mut state = lock(&self.state);
        state.watching.push(sender);
        if !state.is_running {
            let (shared, path) = (self.state.clone(), path.to_owned());
            // Without the thread, watchers look once a second.
            state.is_running = thread::Builder::new()
                .name("relay-watch".to_owned())
                .spawn(move || run(&shared, &path))
                .is_ok();
        }
        receiver
    }
}

/// Checks the file until there are no watchers.
fn run(state: &Mutex<State>, path: &Path) {
    let connection = connect(path);
    let mut version = None;
    loop {
        thread::sleep(LOOK);
        let now = connection.as_ref().ok().and_then(version_of);
        let is_new = now.is_none() || now != version;
        version = now;
        let mut state = lock(state);
        state.watching.retain(|watcher| !watcher.is_closed());
        if state.watching.is_empty() || now.is_none() {
            state.is_running = false;
            return;
        }
        if is_new {
            for watcher in &state.watching {
                let _ = watcher.try_send(Hint::Look);
            }
        }
    }
}

/// A number that changes with each change by another connection.
fn version_of(connection: &Connection) -> Option<i64> {
    connection.query_row("PRAGMA data_version", [], |row| row.get(0)).ok()
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
