//! Accepts connections, and serves each with HTTP/1.1 or HTTP/2, as it begins, inside TLS if there is a certificate.

use std::convert::Infallible;
use std::future::pending;
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderValue, header};
use axum::serve::Listener as _;
use futures_util::FutureExt as _;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::task::unconstrained;
use tokio::time::{interval, sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tower_service::Service as _;

use super::bind::{Draining, left_to_others};
use crate::connection::{Connection, Listener, Socket};

/// The time limit of the TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How often to check whether the rest of the first bytes has arrived.
const LOOK: Duration = Duration::from_millis(20);
/// How long a connection may take to send a request's head, counted from the end of the previous request. It is longer
/// than proxies keep idle connections, so that none closes while a proxy sends a request on it.
const HEAD: Duration = Duration::from_mins(2);
/// The beginning of HTTP/2 without TLS (RFC 9113, section 3.4). No method of HTTP/1.1 begins like this.
const PREFACE: &[u8] = b"PRI * HTTP/2.0";
/// How often an HTTP/2 connection is pinged.
const PING: Duration = Duration::from_secs(30);
/// The most simultaneous requests on an HTTP/2 connection.
const STREAMS: u32 = 250;
/// The most bytes that wait for the reader, for each of these requests.
const WAITING_BYTES: usize = 64 << 10;
/// How long a connection may take to appear that the kernel has for a listener which is about to close.
const WAITS: Duration = Duration::from_millis(1);

/// What serves a connection.
#[derive(Clone)]
struct Service {
    router: Router,
    /// Set when the relay begins to shut down. Open connections then end too, so that their clients connect to another
    /// relay: with HTTP/2 after their current requests, with HTTP/1.1 after the next response, which announces it.
    draining: watch::Receiver<Draining>,
}

/// Serves connections for ever, but accepts new ones only until another relay of this machine takes over.
pub(super) async fn serve(
    mut listener: Listener,
    tls: Option<TlsAcceptor>,
    router: Router,
    draining: watch::Receiver<Draining>,
) -> Infallible {
    let mut left = pin!(left_to_others(draining.clone()));
    let service = Service { router, draining };
    let begin = |socket| {
        let mut service = service.clone();
        service.draining.mark_unchanged();
        match &tls {
            Some(tls) => tokio::spawn(encrypted(socket, tls.clone(), service)),
            None => tokio::spawn(plain(socket, service)),
        };
    };
    loop {
        tokio::select! {
            (socket, _) = listener.accept() => begin(socket),
            () = &mut left => break,
        }
    }
    // The kernel divides new connections between both relays, and resets those that still wait for a listener that
    // closes: they are taken until none waits.
    let mut next = timeout(WAITS, listener.accept()).await.ok();
    while let Some((socket, _)) = next {
        begin(socket);
        next = unconstrained(listener.accept()).now_or_never();
    }
    drop(listener);
    pending().await
}

/// Serves a connection whose handshake negotiates the protocol. Failed handshakes are ignored.
async fn encrypted(socket: Socket, tls: TlsAcceptor, service: Service) {
    let connection = socket.handle();
    let Ok(Ok(stream)) = timeout(HANDSHAKE, tls.accept(socket)).await else { return };
    if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
        serve_http2(stream, service, HEAD).await;
    } else {
        serve_http1(stream, connection, service).await;
    }
}

/// Serves a connection whose first bytes show the protocol.
async fn plain(socket: Socket, service: Service) {
    let Ok(Ok(1..)) = timeout(HEAD, socket.peek(&mut [0])).await else { return };
    match timeout(HANDSHAKE, is_http2(&socket)).await {
        // Boxed, so that its memory is not part of every other connection.
        Ok(true) => Box::pin(serve_http2(socket, service, HEAD)).await,
        Ok(false) => {
            let connection = socket.handle();
            serve_http1(socket, connection, service).await;
        }
        Err(_) => {}
    }
}

/// Whether a connection begins as HTTP/2, perhaps in several pieces. The bytes are only peeked at: putting them back
/// would cost each connection 8 KiB.
async fn is_http2(socket: &Socket) -> bool {
    loop {
        let mut begin = [0; PREFACE.len()];
        match socket.peek(&mut begin).await {
            Ok(count) if count == begin.len() => return begin == PREFACE,
            Ok(count) if PREFACE.starts_with(&begin[..count]) => sleep(LOOK).await,
            _ => return false,
        }
    }
}

/// Serves a connection until it ends. Its requests' handlers decide how it ends.
async fn serve_http1(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    connection: Connection,
    Service { router, draining }: Service,
) {
    let answer = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(connection.clone()));
        let answer = router.clone().call(request);
        let draining = draining.clone();
        async move {
            answer.await.map(|mut response| {
                if draining.borrow().is_some() && !response.headers().contains_key(header::CONNECTION) {
                    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
                }
                response
            })
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD);
    let _ = http.serve_connection(TokioIo::new(stream), answer).with_upgrades().await;
}

/// The same for HTTP/2. Requests share the connection, so none of them may end it. It ends after this long without one.
async fn serve_http2(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    Service { router, mut draining }: Service,
    idle: Duration,
) {
    // Each request holds a share until its response is sent or abandoned.
    let share = Arc::new(());
    let shares = Arc::downgrade(&share);
    let answer = service_fn(move |request: Request<Incoming>| {
        let (answer, share) = (router.clone().call(request.map(Body::new)), share.clone());
        async move {
            // The closure keeps the share as long as the body exists.
            let keep = |body: Body| Body::new(body.map_frame(move |frame| (frame, &share).0));
            answer.await.map(|response| response.map(keep))
        }
    });
    let mut http = http2::Builder::new(TokioExecutor::new());
    http.timer(TokioTimer::new())
        .keep_alive_interval(PING)
        .max_concurrent_streams(STREAMS)
        .max_send_buf_size(WAITING_BYTES);
    let mut http = pin!(http.serve_connection(TokioIo::new(stream), answer));
    tokio::select! {
        _ = http.as_mut() => return,
        _ = draining.changed() => {}
        () = unused(&shares, idle) => {}
    }
    http.as_mut().graceful_shutdown();
    let _ = http.await;
}

/// Returns when a connection had no request for this long.
async fn unused(shares: &Weak<()>, idle: Duration) {
    let mut looks = interval(idle / 8);
    let mut since = None;
    loop {
        let now = looks.tick().await;
        // One is the connection's own.
        if shares.strong_count() > 1 {
            since = None;
        } else if now.duration_since(*since.get_or_insert(now)) >= idle {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use hyper::client::conn::http2::handshake;

    use super::*;

    #[tokio::test]
    async fn an_http_2_connection_ends_when_it_has_no_request() {
        let idle = Duration::from_millis(100);
        let late = get(async move || {
            sleep(idle * 4).await;
            "late"
        });
        let (_drain, draining) = watch::channel(None);
        let service = Service { router: Router::new().route("/", late), draining };
        let (client, server) = tokio::io::duplex(4096);
        let serving = tokio::spawn(serve_http2(server, service, idle));
        let (mut requests, connection) =
            handshake(TokioExecutor::new(), TokioIo::new(client)).await.expect("a connection");
        let connection = tokio::spawn(connection);
        let request = Request::get("http://relay/").body(Body::empty()).expect("a request");
        let answer = requests.send_request(request).await.expect("an answer, however late");
        assert_eq!(answer.into_body().collect().await.expect("all of it").to_bytes(), "late");
        // The client keeps its request sender.
        timeout(Duration::from_secs(20), serving).await.expect("in time").expect("served");
        connection.await.expect("run").expect("a good end");
        assert!(requests.is_closed());
    }
}
