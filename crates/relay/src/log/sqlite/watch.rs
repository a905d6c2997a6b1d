//! Tells those who watch a turn that a process has changed the file.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::mpsc;

use super::super::Hint;
use super::connect;

/// How often the file is looked at, while anyone watches.
const LOOK: Duration = Duration::from_millis(20);

/// Those who watch turns of other processes.
#[derive(Debug, Default)]
pub(super) struct Watchers {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    watching: Vec<mpsc::Sender<Hint>>,
    /// Whether a thread looks.
    is_running: bool,
}

impl Watchers {
    /// Tells of every change, until the receiver is dropped.
    pub(super) fn add(&self, path: &Path) -> mpsc::Receiver<Hint> {
        // One hint that is not taken yet stands for all after it.
        let (sender, receiver) = mpsc::channel(1);
        let mut state = lock(&self.state);
        state.watching.push(sender);
        if !state.is_running {
            let (shared, path) = (self.state.clone(), path.to_owned());
            // Without it they look once a second.
            state.is_running = thread::Builder::new()
                .name("relay-watch".to_owned())
                .spawn(move || run(&shared, &path))
                .is_ok();
        }
        receiver
    }
}

/// Looks until no one watches.
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

/// Another number after each change by another connection.
fn version_of(connection: &Connection) -> Option<i64> {
    connection.query_row("PRAGMA data_version", [], |row| row.get(0)).ok()
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
