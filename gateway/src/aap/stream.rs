//! The answer of a turn: its events, or one JSON object; and what faults may forge among the events.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use http_body::{Frame, SizeHint};

use super::wire::Event;
use crate::faults::Forge;
use crate::http::{Output, stream};
use crate::server::App;
use crate::store::{EventLog, Turn};
use crate::turns::Stop;

/// The events of a turn.
pub(super) fn events(app: &App, turn: &Arc<Turn>, mut output: Output, reader: Option<Reader>) -> Response {
    // The real server says nothing in a silence.
    output.ping = None;
    let body = stream(&turn.id, Arc::clone(&turn.log), 0, output, &app.faults, Forgery);
    match reader {
        Some(reader) => sse(Body::new(Watched { body, _reader: reader })),
        None => sse(body),
    }
}

/// A stream without a single event.
pub(super) fn nothing(app: &App, mut output: Output) -> Response {
    output.ping = None;
    let log = EventLog::new();
    log.close();
    sse(stream("", Arc::new(log), 0, output, &app.faults, Forgery))
}

fn sse(body: Body) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (header::CONNECTION, HeaderValue::from_static("keep-alive")),
    ];
    (headers, body).into_response()
}

/// Somebody for whom alone a turn goes on.
#[derive(Debug)]
pub(super) struct Reader(pub(super) Arc<Turn>);

impl Drop for Reader {
    fn drop(&mut self) {
        // A turn that is over does not care.
        self.0.stop(Stop::Cancelled);
    }
}

/// A body whose reader keeps the turn going.
struct Watched {
    body: Body,
    _reader: Reader,
}

impl HttpBody for Watched {
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

/// Imitates the stream of a turn.
struct Forgery;

impl Forge for Forgery {
    fn is_last(&self, frame: &[u8]) -> bool {
        frame.starts_with(b"event: turn_stop\n")
    }

    fn beginning(&self, _number: u64) -> Vec<u8> {
        Event::TurnStart {}.frame()
    }

    fn delta(&self, _number: u64) -> Vec<u8> {
        Event::TextDelta { delta: " too late" }.frame()
    }
}
