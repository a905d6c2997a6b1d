//! Responses without which a stream does not go on: none of them is waited for without end.

use std::task::{Context, Poll};

use futures::future::{Either, LocalBoxFuture, select};
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use gloo_timers::future::TimeoutFuture;

use super::line::Response;

/// Responses to come, each with a clock of its own.
pub(super) struct Expected {
    /// How long each may take, in milliseconds.
    limit: u32,
    /// Each tells whether it is late.
    responses: FuturesUnordered<LocalBoxFuture<'static, bool>>,
}

impl Expected {
    /// As yet none. Each may take so many milliseconds.
    pub(super) fn within(limit: u32) -> Self {
        Self { limit, responses: FuturesUnordered::new() }
    }

    /// Waits for these as well, from now on.
    pub(super) fn extend(&mut self, responses: impl IntoIterator<Item = Response>) {
        let limit = self.limit;
        self.responses.extend(responses.into_iter().map(|response| {
            let is_late = select(response, TimeoutFuture::new(limit));
            // Of a broken line whoever listens is told.
            is_late.map(|first| matches!(first, Either::Right(_))).boxed_local()
        }));
    }

    /// Whether one of them is late.
    pub(super) fn poll_late(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while let Poll::Ready(Some(is_late)) = self.responses.poll_next_unpin(context) {
            if is_late {
                return Poll::Ready(());
            }
        }
        Poll::Pending
    }
}
