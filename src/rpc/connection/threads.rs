//! The threads that the server has named.

use crate::json::Value;

/// A thread.
#[derive(Debug)]
pub(super) struct Thread {
    id: String,
    /// The server's creation time of the thread; empty if the server has not sent one.
    created_at: String,
    /// Whether the present connection receives messages of the thread.
    pub(super) is_subscribed: bool,
}

/// All threads of a client, across all its connections.
#[derive(Debug, Default)]
pub(super) struct Threads(Vec<Thread>);

impl Threads {
    /// The thread with this id.
    pub(super) fn get(&mut self, id: &str) -> &mut Thread {
        let at = self.0.iter().position(|thread| thread.id == id).unwrap_or_else(|| {
            self.0.push(Thread { id: id.to_owned(), created_at: String::new(), is_subscribed: false });
            self.0.len() - 1
        });
        &mut self.0[at]
    }

    /// Notes that the server sends no more messages of a thread, or of any.
    pub(super) fn unsubscribe(&mut self, id: Option<&str>) {
        for thread in &mut self.0 {
            thread.is_subscribed &= id.is_some_and(|id| thread.id != id);
        }
    }

    /// Takes a thread's record. Returns whether it is another thread than the known one with this id: a server that has
    /// lost a thread may create an empty one on subscription. `recreates`: the request creates a missing thread.
    pub(super) fn is_another(&mut self, record: &str, recreates: bool) -> bool {
        let record = Value::parse(record).unwrap_or_default();
        let Some(record) = record.as_object() else { return false };
        let (known, created_at) = (&mut self.get(record.text("id")).created_at, record.text("created_at"));
        if recreates && !known.is_empty() {
            return !created_at.is_empty() && known != created_at;
        }
        created_at.clone_into(known);
        false
    }
}
