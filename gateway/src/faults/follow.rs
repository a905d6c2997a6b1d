//! The outermost middleware: it knows which connections have a request under way, and closes them
//! behind their answers when the next request is to come on a new one.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use http_body::{Frame, SizeHint};

use super::socket::{Connection, UnderWay};
use crate::server::App;

/// Follows a request to the end of its answer.
pub(crate) async fn follow(State(app): State<App>, request: Request, next: Next) -> Response {
    let connection = Connection::of(&request);
    let under_way = connection.begin_request();
    let mut response = next.run(request).await;
    if connection.is_retired() || app.faults.leave_no_answer() {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response.map(|body| Body::new(Followed { body, _under_way: under_way }))
}

/// A body that is part of a request under way until it is written or dropped.
struct Followed {
    body: Body,
    _under_way: UnderWay,
}

impl HttpBody for Followed {
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
