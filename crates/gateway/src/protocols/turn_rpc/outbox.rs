//! What is to be written on one socket, in order.

use std::collections::VecDeque;
use std::sync::Mutex;

use tokio::sync::Notify;

use crate::faults::{Ending, Fault, MessageEditor, OutFrame};
use crate::lock::lock;

/// How much may wait for a client that reads too slowly, in bytes. Beyond that deltas are dropped, as the
/// protocol allows.
const MOST_WAITING: usize = 256 * 1024 * 1024;

/// An action of a socket.
#[derive(Debug)]
pub(super) enum Out {
    Frame(OutFrame),
    /// From here on these faults are applied to the frames too.
    Apply(MessageEditor),
    End(Ending),
}

/// The queue of one socket.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    queue: Mutex<Queue>,
    filled: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Out>,
    bytes: usize,
    closed: bool,
}

impl Outbox {
    pub(super) fn send(&self, frame: impl Into<OutFrame>) {
        self.push(Out::Frame(frame.into()));
    }

    /// Sends a frame that may be dropped.
    pub(super) fn send_lossy(&self, frame: OutFrame) {
        if lock(&self.queue).bytes < MOST_WAITING {
            self.push(Out::Frame(frame));
        }
    }

    pub(super) fn apply(&self, faults: Vec<Fault>) {
        self.push(Out::Apply(MessageEditor::new(faults)));
    }

    /// Ends the socket after the queued frames.
    pub(super) fn end(&self, how: Ending) {
        self.push(Out::End(how));
    }

    /// Discards the queue and accepts no more: the socket has closed, or is silenced.
    pub(super) fn close(&self) {
        let mut queue = lock(&self.queue);
        *queue = Queue { closed: true, ..Queue::default() };
    }

    /// The next action; waits until there is one.
    pub(super) async fn next(&self) -> Out {
        loop {
            if let Some(out) = self.take() {
                return out;
            }
            self.filled.notified().await;
        }
    }

    fn take(&self) -> Option<Out> {
        let mut queue = lock(&self.queue);
        let out = queue.waiting.pop_front()?;
        queue.bytes -= weight(&out);
        Some(out)
    }

    fn push(&self, out: Out) {
        let mut queue = lock(&self.queue);
        if !queue.closed {
            queue.bytes += weight(&out);
            queue.waiting.push_back(out);
            self.filled.notify_one();
        }
    }
}

fn weight(out: &Out) -> usize {
    match out {
        Out::Frame(OutFrame::Text(text)) => text.len(),
        Out::Frame(OutFrame::Bytes(bytes)) => bytes.len(),
        Out::Apply(_) | Out::End(_) => 0,
    }
}
