//! A response body that is passed to the client as it arrives.

use std::any::Any;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
#[cfg(feature = "product")]
use std::time::Duration;

use bytes::Bytes;
use http_body::Frame;
use tokio::time::Sleep;
#[cfg(feature = "product")]
use tokio::time::sleep;

use crate::connection::Connection;

/// A response body. If it breaks off upstream, the client's connection is reset after the bytes received so far.
pub(crate) struct Passing<B> {
    body: B,
    connection: Connection,
    breaking: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    /// When the relay breaks it off.
    ends: Option<Pin<Box<Sleep>>>,
    /// A resource that is in use until the response ends.
    _held: Option<Box<dyn Any + Send>>,
}

impl<B> Passing<B> {
    pub(crate) fn new(body: B, connection: Connection) -> Self {
        Self { body, connection, breaking: None, ends: None, _held: None }
    }

    /// The same, broken off after this time: a normal end would look like the agent's.
    #[cfg(feature = "product")]
    pub(crate) fn at_most(self, time: Duration) -> Self {
        Self { ends: Some(Box::pin(sleep(time))), ..self }
    }

    /// The same, holding this until it ends.
    pub(crate) fn holding(self, held: impl Any + Send) -> Self {
        Self { _held: Some(Box::new(held)), ..self }
    }
}

impl<B> http_body::Body for Passing<B>
where
    B: http_body::Body<Data = Bytes> + Unpin,
    B::Error: Into<axum::BoxError>,
{
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::BoxError>>> {
        let this = &mut *self;
        if let Some(breaking) = &mut this.breaking {
            ready!(breaking.as_mut().poll(context));
            return Poll::Ready(Some(Err("the answer broke off".into())));
        }
        let is_late = this.ends.as_mut().is_some_and(|ends| ends.as_mut().poll(context).is_ready());
        let frame = if is_late { None } else { Some(ready!(Pin::new(&mut this.body).poll_frame(context))) };
        match frame {
            None | Some(Some(Err(_))) => {
                let connection = this.connection.clone();
                this.breaking = Some(Box::pin(async move { connection.reset_when_written().await }));
                self.poll_frame(context)
            }
            Some(frame) => Poll::Ready(frame.map(|frame| frame.map_err(Into::into))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}
