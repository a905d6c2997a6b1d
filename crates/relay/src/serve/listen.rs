//! Accepts connections, and serves each: HTTP/1.1 or HTTP/2, as it begins, and inside TLS if there is a certificate.

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
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::{interval, sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tower_service::Service as _;

use super::bind::{Draining, left_to_others};
use crate::connection::{Connection, Listener, Socket};

/// How long a connection may take to agree on encryption.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How often is looked whether the rest of the first bytes has come.
const LOOK: Duration = Duration::from_millis(20);
/// How long a connection may take to send the head of a request, from the end of those before: longer than proxies keep idle
/// connections, so that none closes while a proxy sends a request on it.
const HEAD: Duration = Duration::from_mins(2);
/// How HTTP/2 begins without TLS (RFC 9113, section 3.4). No method of HTTP/1.1 begins so.
const PREFACE: &[u8] = b"PRI * HTTP/2.0";
/// How often an HTTP/2 connection is asked whether the other side is there.
const PING: Duration = Duration::from_secs(30);
/// The most requests at once on an HTTP/2 connection.
const STREAMS: u32 = 250;
/// The most that waits, for each of these requests, until its reader takes it.
const WAITING_BYTES: usize = 64 << 10;

/// What serves a connection.
#[derive(Clone)]
struct Service {
    router: Router,
    /// Changes when the relay begins to end. Connections that are open then end too, so that their clients call another relay:
    /// with HTTP/2 after the requests that they have, with HTTP/1.1 after the next answer, which says so.
    draining: watch::Receiver<Draining>,
}

/// Serves what comes, for ever; new connections only until another relay of this machine is to have them.
pub(super) async fn serve(
    mut listener: Listener,
    tls: Option<TlsAcceptor>,
    router: Router,
    draining: watch::Receiver<Draining>,
) -> Infallible {
    let mut left = pin!(left_to_others(draining.clone()));
    let service = Service { router, draining };
    loop {
        let (socket, _) = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut left => break,
        };
        let mut service = service.clone();
        service.draining.mark_unchanged();
        match &tls {
            Some(tls) => tokio::spawn(encrypted(socket, tls.clone(), service)),
            None => tokio::spawn(plain(socket, service)),
        };
    }
    drop(listener);
    pending().await
}

/// The other side says in the handshake what it speaks. One that fails is its own affair.
async fn encrypted(socket: Socket, tls: TlsAcceptor, service: Service) {
    let connection = socket.handle();
    let Ok(Ok(stream)) = timeout(HANDSHAKE, tls.accept(socket)).await else { return };
    if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
        serve_http2(stream, service, HEAD).await;
    } else {
        serve_http1(stream, connection, service).await;
    }
}

/// The first bytes say it.
async fn plain(socket: Socket, service: Service) {
    let Ok(Ok(1..)) = timeout(HEAD, socket.peek(&mut [0])).await else { return };
    match timeout(HANDSHAKE, is_http2(&socket)).await {
        // Apart: what it needs is not to be part of every other connection.
        Ok(true) => Box::pin(serve_http2(socket, service, HEAD)).await,
        Ok(false) => {
            let connection = socket.handle();
            serve_http1(socket, connection, service).await;
        }
        Err(_) => {}
    }
}

/// Whether a connection begins as HTTP/2, which may come in several pieces. They are looked at and not taken, since to give them back
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

/// Serves a connection until it ends. How it ends is known to those who answer its requests.
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

/// The same. Its requests share the connection, so that none of them may end it. It ends when it had none for this long.
async fn serve_http2(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    Service { router, mut draining }: Service,
    idle: Duration,
) {
    // Each request has a share, until its answer is sent or given up.
    let share = Arc::new(());
    let shares = Arc::downgrade(&share);
    let answer = service_fn(move |request: Request<Incoming>| {
        let (answer, share) = (router.clone().call(request.map(Body::new)), share.clone());
        async move {
            // The body has the share, and so keeps it.
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

/// Returns when a connection had no request for so long.
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
        // The client keeps what it sends requests with.
        timeout(Duration::from_secs(20), serving).await.expect("in time").expect("served");
        connection.await.expect("run").expect("a good end");
        assert!(requests.is_closed());
    }
}
