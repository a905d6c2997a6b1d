//! A run: its record, and how it is reached while it is live.

use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::mpsc;

use super::decision::Decision;
use crate::lock::lock;
use crate::store::Turn;
use crate::time::now_ms;

/// One run of an agent.
#[derive(Debug)]
pub(super) struct Run {
    head: RunHead,
    /// Whether it began earlier, and continues after an answer.
    pub(super) resumed: bool,
    pub(super) created_at: u64,
    /// The ids of the dispatch and of the session in awaken's events.
    pub(super) dispatch: String,
    pub(super) session: String,
    record: Mutex<Record>,
    /// The same run, for the gateway's own endpoints, with the log of its stream.
    pub(super) turn: Arc<Turn>,
    decisions: Mutex<Option<mpsc::UnboundedSender<Decision>>>,
}

/// What is known of a run before it begins.
#[derive(Debug, Clone)]
pub(super) struct RunHead {
    pub(super) id: String,
    pub(super) thread: String,
    pub(super) agent: String,
    pub(super) parent: Option<String>,
    pub(super) parent_thread: Option<String>,
    pub(super) origin: &'static str,
}

impl Deref for Run {
    type Target = RunHead;

    fn deref(&self) -> &RunHead {
        &self.head
    }
}

/// What changes while a run is live.
#[derive(Debug, Clone, Default)]
pub(super) struct Record {
    pub(super) status: RunStatus,
    pub(super) code: Option<String>,
    pub(super) detail: Option<String>,
    pub(super) updated_at: u64,
    pub(super) input_tokens: usize,
    pub(super) output_tokens: usize,
    pub(super) steps: u64,
    pub(super) output: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum RunStatus {
    #[default]
    Running,
    Waiting,
    Done,
}

impl RunStatus {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Done => "done",
        }
    }
}

impl Run {
    pub(super) fn new(head: RunHead, turn: Arc<Turn>) -> Self {
        let now = now_ms();
        Self {
            head,
            resumed: false,
            created_at: now,
            dispatch: super::message::message_id(),
            session: super::message::message_id(),
            record: Mutex::new(Record { updated_at: now, ..Record::default() }),
            turn,
            decisions: Mutex::default(),
        }
    }

    /// The same run continued after an answer, with another log.
    pub(super) fn again(&self, turn: Arc<Turn>) -> Self {
        let record = Record {
            status: RunStatus::Running,
            code: None,
            detail: None,
            updated_at: now_ms(),
            ..self.record().clone()
        };
        Self {
            resumed: true,
            created_at: self.created_at,
            session: self.session.clone(),
            record: Mutex::new(record),
            ..Self::new(self.head.clone(), turn)
        }
    }

    pub(super) fn record(&self) -> MutexGuard<'_, Record> {
        lock(&self.record)
    }

    /// Lets the run receive decisions.
    pub(super) fn listen(&self) -> mpsc::UnboundedReceiver<Decision> {
        let (sender, receiver) = mpsc::unbounded_channel();
        *lock(&self.decisions) = Some(sender);
        receiver
    }

    /// Passes a decision to the run; `false` if it is not live.
    pub(super) fn decide(&self, decision: Decision) -> bool {
        lock(&self.decisions).as_ref().is_some_and(|sender| sender.send(decision).is_ok())
    }

    /// Whether the run is live.
    pub(super) fn is_live(&self) -> bool {
        lock(&self.decisions).as_ref().is_some_and(|sender| !sender.is_closed())
    }

    /// Closes the run to decisions.
    pub(super) fn close(&self) {
        *lock(&self.decisions) = None;
    }

    /// Records how the run ended.
    pub(super) fn finish(&self, status: RunStatus, code: Option<String>, detail: Option<String>) {
        let mut record = self.record();
        record.status = status;
        record.code = code;
        record.detail = detail;
        record.updated_at = now_ms();
    }
}
