//! Passes a WebSocket through: it begins as a request, and then is bytes in both directions, until one side ends.

use std::any::Any;
use std::io;
use std::pin::pin;
use std::time::Duration;

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Response, header};
use hyper::body::Incoming;
use hyper::upgrade::{OnUpgrade, Upgraded, on};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, copy, split};
use tokio::time::{sleep, timeout};

use crate::connection::Connection;
use crate::headers;

/// The protocol to switch to; no other passes.
const WEBSOCKET: HeaderValue = HeaderValue::from_static("websocket");
/// How long the other side may still send when one has ended.
const FAREWELL: Duration = Duration::from_secs(2);
/// How long written bytes have to arrive before a reset, which discards bytes in flight.
const GRACE: Duration = Duration::from_millis(30);

/// Whether a request asks for a WebSocket.
pub(crate) fn is_wanted(head: &HeaderMap) -> bool {
    let upgrades = head.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let upgrades =
        upgrades.flat_map(|value| value.split(',')).any(|name| name.trim().eq_ignore_ascii_case("upgrade"));
    let protocol = head.get(header::UPGRADE).and_then(|protocol| protocol.to_str().ok());
    upgrades && protocol.is_some_and(|protocol| protocol.eq_ignore_ascii_case("websocket"))
}

/// Adds to a cleaned head the request for a WebSocket.
pub(crate) fn ask_for(head: &mut HeaderMap) {
    head.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    head.insert(header::UPGRADE, WEBSOCKET);
}

/// The client's side of a future WebSocket.
pub(crate) struct Tunnel {
    client: OnUpgrade,
    connection: Connection,
    /// A resource that is in use until the socket is closed.
    held: Option<Box<dyn Any + Send>>,
    /// How long it may stay open.
    lives: Option<Duration>,
}

impl Tunnel {
    /// The tunnel that a request asks for, if it does.
    pub(crate) fn of(head: &mut Parts, connection: Connection) -> Option<Self> {
        is_wanted(&head.headers).then_some(())?;
        let client = head.extensions.remove::<OnUpgrade>()?;
        Some(Self { client, connection, held: None, lives: None })
    }

    /// The same, holding this until it ends.
    pub(crate) fn holding(self, held: impl Any + Send) -> Self {
        Self { held: Some(Box::new(held)), ..self }
    }

    /// The same, broken off after this time.
    #[cfg(feature = "product")]
    pub(crate) fn at_most(self, time: Duration) -> Self {
        Self { lives: Some(time), ..self }
    }

    /// The client's side, when the relay handles it itself.
    #[cfg(feature = "product")]
    pub(crate) fn into_client(self) -> OnUpgrade {
        self.client
    }

    /// Passes on the server's agreement, and from then on all bytes in both directions.
    pub(crate) fn open(self, mut answer: hyper::Response<Incoming>) -> Response<Body> {
        let server = on(&mut answer);
        let (mut head, _) = answer.into_parts();
        headers::clean_response(&mut head.headers);
        ask_for(&mut head.headers);
        head.extensions.clear();
        tokio::spawn(async move {
            let _held = self.held;
            let (Ok(client), Ok(server)) = (self.client.await, server.await) else { return };
            // It stays until the reset: a socket that is dropped earlier ends in good order.
            let mut passing = pin!(pass_both(client, server));
            let passed = match self.lives {
                Some(lives) => timeout(lives, passing.as_mut()).await,
                None => Ok(passing.as_mut().await),
            };
            if !matches!(passed, Ok(Ok(()))) {
                // A broken connection must not look like a normal end.
                sleep(GRACE).await;
                self.connection.reset();
            }
        });
        Response::from_parts(head, Body::empty())
    }
}

/// Passes bytes until one side ends. Returns an error if one broke off.
async fn pass_both(client: Upgraded, server: Upgraded) -> io::Result<()> {
    let (from_client, to_client) = split(TokioIo::new(client));
    let (from_server, to_server) = split(TokioIo::new(server));
    let mut up = Box::pin(pass(from_client, to_server));
    let mut down = Box::pin(pass(from_server, to_client));
    let (ended, other) = tokio::select! {
        ended = &mut up => (ended, down),
        ended = &mut down => (ended, up),
    };
    ended?;
    // The last bytes of the other side; it may have none.
    timeout(FAREWELL, other).await.unwrap_or(Ok(()))
}

async fn pass(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin) -> io::Result<()> {
    copy(&mut from, &mut to).await?;
    to.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_websocket_is_asked_for_in_two_headers() {
        let head = |lines: &[(&'static str, &'static str)]| -> HeaderMap {
            let lines = lines.iter();
            lines
                .map(|&(name, value)| (name.parse().expect("a name"), HeaderValue::from_static(value)))
                .collect()
        };
        assert!(is_wanted(&head(&[("connection", "keep-alive, Upgrade"), ("upgrade", "WebSocket")])));
        assert!(!is_wanted(&head(&[("connection", "keep-alive"), ("upgrade", "websocket")])));
        assert!(!is_wanted(&head(&[("connection", "upgrade"), ("upgrade", "h2c")])));
        assert!(!is_wanted(&head(&[("connection", "upgrade")])));
    }
}
