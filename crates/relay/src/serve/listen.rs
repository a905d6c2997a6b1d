//! Accepts connections, and serves each: HTTP/1.1 or HTTP/2, as it begins, and inside TLS if there is a certificate.

use std::convert::Infallible;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::http::Version;
use axum::serve::Listener as _;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tower_service::Service;

use crate::connection::{Connection, Listener};

/// How long a connection may take to agree on encryption.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long a connection may take to send the head of a request, from the end of the one before: longer than proxies keep idle
/// connections, so that none closes while a proxy sends a request on it.
const HEAD: Duration = Duration::from_mins(2);
/// How often an HTTP/2 connection is asked whether the other side is there.
const PING: Duration = Duration::from_secs(30);
/// The most requests at once on an HTTP/2 connection.
const STREAMS: u32 = 250;
/// The most that waits, for each of these requests, until its reader takes it.
const WAITING_BYTES: usize = 64 << 10;

/// Serves what comes, for ever.
pub(super) async fn serve(mut listener: Listener, tls: Option<TlsAcceptor>, router: Router) -> Infallible {
    let http = http();
    loop {
        let (socket, _) = listener.accept().await;
        let connection = socket.handle();
        let (http, tls, router) = (http.clone(), tls.clone(), router.clone());
        tokio::spawn(async move {
            match tls {
                None => serve_one(&http, socket, connection, router).await,
                // A handshake that fails is the other side's affair.
                Some(tls) => {
                    if let Ok(Ok(stream)) = timeout(HANDSHAKE, tls.accept(socket)).await {
                        serve_one(&http, stream, connection, router).await;
                    }
                }
            }
        });
    }
}

fn http() -> Builder<TokioExecutor> {
    let mut http = Builder::new(TokioExecutor::new());
    http.http1().timer(TokioTimer::new()).header_read_timeout(HEAD);
    http.http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PING)
        .max_concurrent_streams(STREAMS)
        .max_send_buf_size(WAITING_BYTES);
    http
}

/// Serves a connection until it ends. How it ends is known to those who answer its requests.
async fn serve_one(
    http: &Builder<TokioExecutor>,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    connection: Connection,
    router: Router,
) {
    let answer = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        // With HTTP/2 others share the connection.
        if request.version() <= Version::HTTP_11 {
            request.extensions_mut().insert(ConnectInfo(connection.clone()));
        }
        router.clone().call(request)
    });
    let _ = http.serve_connection_with_upgrades(TokioIo::new(stream), answer).await;
}
