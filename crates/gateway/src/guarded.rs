//! A body that holds something until it is written, or dropped because its reader is gone.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use http_body::{Frame, SizeHint};

/// A body, and what is dropped with it.
pub(crate) struct Guarded<T> {
    body: Body,
    _guard: T,
}

impl<T: Unpin + Send + 'static> Guarded<T> {
    /// This body, with a guard.
    pub(crate) fn body(body: Body, guard: T) -> Body {
        Body::new(Self { body, _guard: guard })
    }
}

impl<T: Unpin> HttpBody for Guarded<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
