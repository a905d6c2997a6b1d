//! Wakes the tasks that wait for a change.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::task::{Context, Poll, Waker};

/// The number of changes so far, and the tasks that wait for the next one.
#[derive(Default)]
pub(super) struct Changes {
    count: Cell<u64>,
    wakers: RefCell<Vec<Waker>>,
}

impl Changes {
    pub(super) fn count(&self) -> u64 {
        self.count.get()
    }

    /// Something has changed.
    pub(super) fn add(&self) {
        self.count.set(self.count.get() + 1);
        let wakers = std::mem::take(&mut *self.wakers.borrow_mut());
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Wakes this task with the next change.
    pub(super) fn wake(&self, context: &Context<'_>) {
        self.wakers.borrow_mut().push(context.waker().clone());
    }

    /// Waits until `holds`.
    pub(super) async fn until(&self, holds: impl Fn() -> bool) {
        poll_fn(|context| {
            if holds() {
                return Poll::Ready(());
            }
            self.wake(context);
            Poll::Pending
        })
        .await;
    }
}
