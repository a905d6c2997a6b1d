//! What a run writes into its thread, and what keeps it from doing so.

use std::sync::Arc;

use super::super::message::Message;
use super::super::server::Dialect;
use super::Recorder;
use crate::time::now_ms;

/// The writes of one run.
#[derive(Debug)]
pub(crate) struct Commits {
    /// Messages that are not stored in the thread yet.
    pending: Vec<Message>,
    /// The thread's version at the last write.
    version: u64,
}

impl Commits {
    /// The writes of a run that begins at this version of its thread.
    pub(crate) fn after(version: u64) -> Self {
        Self { pending: Vec::new(), version }
    }

    pub(crate) fn add(&mut self, message: Message) {
        self.pending.push(message);
    }
}

impl Recorder {
    /// Stores what is complete, unless the thread was written to in the meantime.
    pub(crate) fn checkpoint(&mut self) {
        if self.wire.is_broken() {
            return;
        }
        if let Some(conflict) = self.conflict() {
            return self.wire.conflict(&conflict);
        }
        let mut content = self.thread.content();
        for message in &self.commits.pending {
            self.wire.committed(message, content.messages.len());
        }
        content.messages.append(&mut self.commits.pending);
        content.state = self.state.tree();
        self.commits.version = content.writes.touch();
        drop(content);
        let mut record = self.run.record();
        record.steps = self.totals.steps;
        record.updated_at = now_ms();
    }

    /// Why this run may not write: tirea tolerates no other writer, whatever it wrote.
    pub(crate) fn conflict(&self) -> Option<String> {
        if self.dialect() == Dialect::Awaken {
            return None;
        }
        let id = &self.run.thread;
        if self.app.own.thread(self.thread.server, id).is_none_or(|now| !Arc::ptr_eq(&now, &self.thread)) {
            return Some(format!("Thread not found: {id}"));
        }
        let (expected, actual) = (self.commits.version, self.thread.content().writes.version);
        (expected != actual).then(|| format!("Version conflict: expected {expected}, actual {actual}"))
    }
}
