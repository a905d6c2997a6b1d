//! HTTP/2, with TLS and without: one connection has all streams of a browser, and each ends by itself.

use std::fs;
use std::time::Duration;

use hyper_rustls::builderstates::WantsProtocols1;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use reqwest::{Body, Method, RequestBuilder, Response, Version};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::wire::{Server, Wire, within};
use crate::world::{Relay, STOP, STREAM, Scratch, Stream, config, delta, numbered, open};

/// More than the six connections that a browser opens to a server with HTTP/1.1.
const READERS: usize = 20;

/// A relay that speaks HTTPS, with this config, and its certificate.
fn encrypted(config: &str) -> (Relay, CertificateDer<'static>, Scratch) {
    let files = Scratch::new();
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    let (cert, key) = (files.path("cert.pem"), files.path("key.pem"));
    fs::write(&cert, made.cert.pem()).expect("written");
    fs::write(&key, made.signing_key.serialize_pem()).expect("written");
    let tls = format!("[tls]\ncert = \"{}\"\nkey = \"{}\"\n", cert.display(), key.display());
    let relay = Relay::start(&format!("{config}{tls}"));
    assert!(relay.url().starts_with("https://"), "{}", relay.url());
    (relay, made.cert.into(), files)
}

/// Sends the requests that a relay's own client makes.
struct Client(legacy::Client<HttpsConnector<HttpConnector>, Body>);

impl Client {
    /// One that trusts this certificate, and agrees on HTTP/2.
    fn new(certificate: CertificateDer<'static>) -> Self {
        Self::of(connector([certificate]).enable_all_versions().build(), false)
    }

    fn of(connector: HttpsConnector<HttpConnector>, is_http2_only: bool) -> Self {
        Self(legacy::Client::builder(TokioExecutor::new()).http2_only(is_http2_only).build(connector))
    }

    async fn send(&self, request: RequestBuilder) -> Response {
        let request = request.build().and_then(hyper::Request::try_from).expect("a request");
        within(self.0.request(request)).await.expect("an answer").map(Body::wrap).into()
    }

    /// A turn that the agent has begun, and its first reader.
    async fn begun(&self, relay: &Relay, server: &Server, turn: &str) -> (Stream, Wire) {
        let agent = async {
            let (mut wire, head) = server.accept().await;
            wire.body(&head).await;
            wire.write(STREAM).await;
            wire.chunk(&delta("one")).await;
            wire
        };
        let (answer, wire) = tokio::join!(self.send(relay.turn(turn)), agent);
        assert_eq!(answer.version(), Version::HTTP_2);
        (Stream::of(answer), wire)
    }
}

fn connector(
    trusted: impl IntoIterator<Item = CertificateDer<'static>>,
) -> HttpsConnectorBuilder<WantsProtocols1> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(trusted);
    let config = ClientConfig::builder_with_provider(default_provider().into())
        .with_safe_default_protocol_versions()
        .expect("both versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    HttpsConnectorBuilder::new().with_tls_config(config).https_or_http()
}

#[tokio::test]
async fn a_connection_has_more_readers_than_a_browser_opens_connections() {
    let server = Server::start().await;
    let (relay, certificate, _files) = encrypted(&open(&server, ""));
    let client = Client::new(certificate);
    let (first, mut wire) = client.begun(&relay, &server, "t").await;
    let mut readers = vec![first];
    while readers.len() < READERS {
        readers.push(Stream::of(client.send(relay.events("t", 0)).await));
    }
    wire.chunk(STOP).await;
    wire.end().await;
    for reader in readers {
        assert_eq!(reader.rest().await, Ok(numbered(1, &delta("one")) + &numbered(2, STOP)));
    }
}

#[tokio::test]
async fn a_stream_that_breaks_takes_no_other_along() {
    let server = Server::start().await;
    let (relay, certificate, _files) = encrypted(&open(&server, ""));
    let client = Client::new(certificate);
    let (first, wire) = client.begun(&relay, &server, "t").await;
    let (mut other, mut goes_on) = client.begun(&relay, &server, "other").await;
    let plain = relay.plain(Method::GET, "/a/_turnwire/v1/turns/t/events");
    let plain = Stream::of(client.send(plain).await);
    wire.reset();
    assert_eq!(plain.rest().await, Err(numbered(1, &delta("one"))), "a good end would look like the turn's");
    assert!(first.rest().await.expect("a good end").contains("turnwire.cut"));
    // Longer than the relay waits until it resets a connection.
    sleep(Duration::from_millis(500)).await;
    goes_on.chunk(&delta("two")).await;
    other.until("two").await;
}

#[tokio::test]
async fn a_reader_that_takes_nothing_holds_up_no_other_of_its_connection() {
    let server = Server::start().await;
    let (relay, certificate, _files) = encrypted(&open(&server, ""));
    let client = Client::new(certificate);
    let (idle, mut wire) = client.begun(&relay, &server, "t").await;
    let reader = Stream::of(client.send(relay.events("t", 0)).await);
    let (long, count) = (delta(&"long ".repeat(20_000)), 100);
    let agent = async {
        for _ in 0..count {
            wire.chunk(&long).await;
        }
        wire.chunk(STOP).await;
        wire.end().await;
    };
    let (read, ()) = tokio::join!(reader.rest(), agent);
    let read = read.expect("all of it");
    assert!(read.len() > 10_000_000 && read.ends_with(&numbered(count + 2, STOP)));
    assert!(idle.rest().await == Ok(read), "what was not taken is still to be had");
}

#[tokio::test]
async fn with_tls_http_1_works_and_plain_http_does_not() {
    let server = Server::start().await;
    let (relay, certificate, _files) = encrypted(&open(&server, ""));
    let older = Client::of(connector([certificate]).enable_http1().build(), false);
    let turns = || relay.request(Method::GET, "/a/_turnwire/v1/turns");
    let answer = older.send(turns()).await;
    assert_eq!((answer.status().as_u16(), answer.version()), (200, Version::HTTP_11));
    let plain = relay.url().replace("https://", "http://");
    assert!(within(reqwest::get(plain)).await.is_err());
    assert_eq!(older.send(turns()).await.status(), 200, "the relay goes on");
}

#[tokio::test]
async fn a_socket_passes_inside_tls() {
    let server = Server::start().await;
    let codex = config("codex", &format!("ws://{}", server.address), "sessions = \"open\"\n");
    let (relay, certificate, _files) = encrypted(&codex);
    let client = Client::of(connector([certificate]).enable_http1().build(), false);
    let head = [
        ("connection", "Upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];
    let asked =
        head.iter().fold(relay.plain(Method::GET, "/a"), |asked, (name, value)| asked.header(*name, *value));
    let agent = async {
        let (mut agent, _) = server.accept().await;
        agent
            .write("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\r\n")
            .await;
        agent
    };
    let (answer, mut agent) = tokio::join!(client.send(asked), agent);
    assert_eq!(answer.status(), 101);
    let mut page = within(answer.upgrade()).await.expect("a socket");
    page.write_all(b"up").await.expect("written");
    assert_eq!(agent.read_until("up").await, "up");
    agent.write("down").await;
    let mut down = [0; 4];
    within(page.read_exact(&mut down)).await.expect("read");
    assert_eq!(&down, b"down");
}

#[tokio::test]
async fn without_tls_a_proxy_may_speak_http_2_and_names_the_host_once() {
    let server = Server::start().await;
    let relay = Relay::start(&open(&server, ""));
    let proxy = Client::of(connector([]).enable_all_versions().build(), true);
    let turns = || relay.request(Method::GET, "/a/_turnwire/v1/turns");
    let answer = proxy.send(turns()).await;
    assert_eq!((answer.status().as_u16(), answer.version()), (200, Version::HTTP_2));
    assert_eq!(proxy.send(turns().header("host", "evil.example")).await.status(), 403);
}

#[tokio::test]
async fn the_admin_address_refuses_the_pages_names_with_http_2_too() {
    let (server, admin) = (Server::start().await, crate::deploy::free());
    let _relay = Relay::start(&format!("admin = \"{admin}\"\n{}", open(&server, "")));
    let socket = TcpStream::connect(&admin).await.expect("a connection");
    let handshake = hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(socket));
    let (mut client, connection) = handshake.await.expect("a connection");
    tokio::spawn(connection);
    for (host, expected) in [("rebound.example", 403), ("localhost:1", 200), ("10.0.0.1", 200)] {
        let request = hyper::Request::get(format!("http://{host}/metrics")).body(Body::default());
        let answer = within(client.send_request(request.expect("a request"))).await.expect("an answer");
        assert_eq!((answer.status().as_u16(), answer.version()), (expected, Version::HTTP_2), "{host}");
    }
}

#[tokio::test]
async fn http_2_may_begin_in_pieces() {
    let server = Server::start().await;
    let relay = Relay::start(&open(&server, ""));
    let mut socket = TcpStream::connect(relay.address()).await.expect("a connection");
    socket.set_nodelay(true).expect("set");
    // The preface, and settings that change nothing.
    for piece in [&b"P"[..], b"RI * HTTP", b"/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0"] {
        socket.write_all(piece).await.expect("written");
        sleep(Duration::from_millis(100)).await;
    }
    let mut head = [0; 9];
    within(socket.read_exact(&mut head)).await.expect("read");
    assert_eq!((head[3], &head[5..]), (4, &[0; 4][..]), "settings of the connection: {head:?}");
}
