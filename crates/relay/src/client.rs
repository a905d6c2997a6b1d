//! Connections to the server: HTTP/1.1, encrypted if its address says so.

use std::error::Error;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::http::response::Parts;
use axum::http::{HeaderMap, Request, Uri};
use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tower_service::Service;

use crate::address::Upstream;
use crate::connection::KEEPALIVE;
#[cfg(target_os = "linux")]
use crate::connection::UNANSWERED;

/// The time limit for making a connection, including encryption.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// How long an idle connection is kept for the next request. Servers close theirs after five seconds or later, and a
/// request in flight would be lost if its connection closed.
const IDLE_LIMIT: Duration = Duration::from_secs(4);

/// The client through which requests are passed on.
pub(crate) type UpstreamClient = Client<Connector, Body>;

type BoxError = Box<dyn Error + Send + Sync>;

/// A client for this server.
pub(crate) fn client(upstream: &Upstream) -> UpstreamClient {
    Client::builder(TokioExecutor::new())
        .pool_idle_timeout(IDLE_LIMIT)
        .pool_timer(hyper_util::rt::TokioTimer::new())
        .build(Connector::new(upstream))
}

/// Fetches a small response, without following redirects. The error says what happened.
pub(crate) async fn get(
    client: &UpstreamClient,
    address: Uri,
    head: HeaderMap,
    limit: Duration,
    max_bytes: usize,
) -> Result<(Parts, Bytes), String> {
    let mut request = Request::new(Body::empty());
    *request.uri_mut() = address;
    *request.headers_mut() = head;
    let asking = async {
        let (head, body) = client.request(request).await.map_err(|error| error.to_string())?.into_parts();
        let body = Limited::new(body, max_bytes).collect().await.map_err(|error| error.to_string())?;
        Ok((head, body.to_bytes()))
    };
    timeout(limit, asking).await.map_err(|_| "no answer in time".to_owned())?
}

/// Makes connections within a time limit.
#[derive(Debug, Clone)]
pub(crate) struct Connector {
    inner: HttpsConnector<HttpConnector>,
    limit: Duration,
}

impl Connector {
    fn new(upstream: &Upstream) -> Self {
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        // Detects an agent that has vanished: a turn may be silent for long, so silence alone does not show it.
        let (time, interval, retries) = KEEPALIVE;
        http.set_keepalive(Some(time));
        http.set_keepalive_interval(Some(interval));
        http.set_keepalive_retries(Some(retries));
        #[cfg(target_os = "linux")]
        http.set_tcp_user_timeout(Some(UNANSWERED));
        let bundled = || HttpsConnectorBuilder::new().with_webpki_roots();
        let tls = if upstream.is_encrypted() {
            // The system's root certificates, or those of browsers if the system has no list.
            HttpsConnectorBuilder::new().with_native_roots().unwrap_or_else(|_| bundled())
        } else {
            bundled()
        };
        let inner = tls.https_or_http().enable_http1().wrap_connector(http);
        Self { inner, limit: CONNECT_LIMIT }
    }
}

impl Service<Uri> for Connector {
    type Response = MaybeHttpsStream<TokioIo<TcpStream>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, address: Uri) -> Self::Future {
        let (limit, connecting) = (self.limit, self.inner.call(address));
        Box::pin(async move {
            let late = |_| io::Error::new(io::ErrorKind::TimedOut, "no connection in time");
            timeout(limit, connecting).await.map_err(late)?
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn the_system_is_to_notice_a_server_that_vanishes() {
        let server = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = format!("http://{}", server.local_addr().expect("an address"));
        let mut connector = Connector::new(&address.parse().expect("an upstream"));
        let connected = connector.call(address.parse().expect("an address")).await.expect("a connection");
        let MaybeHttpsStream::Http(stream) = connected else { panic!("encrypted") };
        assert!(crate::connection::is_watched(stream.inner()));
    }

    #[tokio::test]
    async fn a_server_that_never_greets_is_given_up() {
        let silent = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = format!("https://{}", silent.local_addr().expect("an address"));
        let mut connector = Connector::new(&address.parse().expect("an upstream"));
        assert_eq!(connector.limit, CONNECT_LIMIT);
        connector.limit = Duration::from_millis(50);
        let connecting = connector.call(address.parse().expect("an address"));
        let ended = timeout(Duration::from_secs(5), connecting).await.expect("in time");
        let error = ended.expect_err("no connection");
        let error = error.downcast_ref::<io::Error>().expect("an error of this connector");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
