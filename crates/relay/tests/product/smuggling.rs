//! Requests and answers whose end two servers may see in different places. What is no plain HTTP is refused, and never passed on; what
//! passes is rewritten.

use std::time::Duration;

use reqwest::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::wire::{Server, Wire, within};
use crate::world::{Relay, json, open, sent};

/// What follows each request. No agent may hear of it.
const NEXT: &str = "GET /a/sessions/smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// All that comes back before the relay closes the connection, or its reset.
async fn answers(relay: &Relay, bytes: &str) -> String {
    let mut wire = Wire::open(relay.address(), bytes).await;
    let mut read = Vec::new();
    // What came before a reset counts too.
    let _ = within(wire.0.read_to_end(&mut read)).await;
    String::from_utf8_lossy(&read).into_owned()
}

#[tokio::test]
async fn a_request_with_two_ends_is_refused_with_all_that_follows() {
    let server = Server::start().await;
    let relay = Relay::start(&open(&server, ""));
    // The lines after the host, and the body.
    let corpus = [
        ("a folded line", "X-A: a\r\n b\r\nContent-Length: 0\r\n", ""),
        ("a folded length", "Content-Length:\r\n 3\r\n", "{ }"),
        ("an unknown coding", "Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"),
        ("a coding after chunks", "Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n"),
        ("two codings", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "0\r\n\r\n"),
        ("a space before the colon", "Transfer-Encoding : chunked\r\n", "0\r\n\r\n"),
        ("a tab in the name", "Transfer-Encoding\t: chunked\r\n", "0\r\n\r\n"),
        ("a control character", "Transfer-Encoding: \x0bchunked\r\n", "0\r\n\r\n"),
        ("a length with a sign", "Content-Length: +3\r\n", "{ }"),
        ("a length below nothing", "Content-Length: -3\r\n", "{ }"),
        ("a length of another base", "Content-Length: 0x3\r\n", "{ }"),
        ("no length", "Content-Length: \r\n", "{ }"),
        ("a length beyond all numbers", "Content-Length: 99999999999999999999\r\n", "{ }"),
        ("two lengths", "Content-Length: 3\r\nContent-Length: 4\r\n", "{ }"),
        ("two lengths in one", "Content-Length: 3, 4\r\n", "{ }"),
        ("a chunk with a sign", "Transfer-Encoding: chunked\r\n", "+3\r\n{ }\r\n0\r\n\r\n"),
        ("a chunk of another base", "Transfer-Encoding: chunked\r\n", "0x3\r\n{ }\r\n0\r\n\r\n"),
        (
            "a chunk beyond all numbers",
            "Transfer-Encoding: chunked\r\n",
            "10000000000000003\r\n{ }\r\n0\r\n\r\n",
        ),
        ("a chunk that does not end", "Transfer-Encoding: chunked\r\n", "3\r\n{ }x\r\n0\r\n\r\n"),
        ("a line that ends with CR", "X-A: a\rContent-Length: 3\r\n", "{ }"),
        ("a zero in a line", "X-A: \0\r\nContent-Length: 0\r\n", ""),
    ];
    for (what, lines, body) in corpus {
        let request = format!("POST /a/sessions HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n{body}{NEXT}");
        let got = answers(&relay, &request).await;
        let statuses: Vec<&str> =
            got.match_indices("HTTP/1.1 ").map(|(at, _)| &got[at + 9..at + 12]).collect();
        assert!(matches!(statuses[..], ["400"] | []), "{what}: {got}");
    }
    assert!(server.is_left_alone().await, "nothing of it is passed on");
}

#[tokio::test]
async fn a_target_that_names_a_host_is_held_against_the_relays_own_names() {
    let server = Server::start().await;
    let relay = Relay::start(&open(&server, ""));
    let close = "Connection: close\r\n\r\n";
    for line in [
        "GET http://evil.example/a/meta HTTP/1.1\r\nHost: localhost",
        "GET http://localhost@evil.example/a/meta HTTP/1.1\r\nHost: localhost",
        "GET http://localhost/a/meta HTTP/1.1\r\nHost: evil.example",
        "GET http://localhost/a/meta HTTP/1.1",
        "GET evil.example:80 HTTP/1.1\r\nHost: localhost",
        "CONNECT evil.example:80 HTTP/1.1\r\nHost: localhost",
        "GET a/meta HTTP/1.1\r\nHost: localhost",
    ] {
        let got = answers(&relay, &format!("{line}\r\n{close}")).await;
        assert!(got.is_empty() || got.starts_with("HTTP/1.1 4"), "{line}: {got}");
    }
    assert!(server.is_left_alone().await);
    // One that names the relay itself is a request like any other, and goes on as a path.
    let request = format!("GET http://localhost/a/meta HTTP/1.1\r\nHost: localhost\r\n{close}");
    let agent = async {
        let (mut wire, head) = server.accept().await;
        wire.json("200 OK", "{}").await;
        head
    };
    let (got, head) = tokio::join!(answers(&relay, &request), agent);
    assert!(got.starts_with("HTTP/1.1 200 ") && head.starts_with("GET /meta HTTP/1.1\r\n"), "{got} {head}");
    let own = format!("host: {}\r\n", server.address);
    assert!(head.to_ascii_lowercase().contains(&own), "{head}");
}

/// Lines that end with LF alone, and chunks beside a length, are read as HTTP allows (RFC 9112, sections 2.2 and 6.1), and go on with one
/// end that all servers see in the same place.
#[tokio::test]
async fn what_is_read_leniently_is_written_strictly() {
    let server = Server::start().await;
    let relay = Relay::start(&open(&server, ""));
    for request in [
        "POST /a/sessions HTTP/1.1\nHost: localhost\nX-Hop: 1\nConnection: close, X-Hop\nContent-Length: 3\n\n{ }",
        "POST /a/sessions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 30\r\nTransfer-Encoding: chunked\r\n\r\n\
         3;a=b\r\n{ }\r\n0\r\nX-Trailer: 1\r\n\r\n",
    ] {
        let agent = async {
            let (mut wire, head) = server.accept().await;
            let body = wire.body(&head).await;
            wire.json("200 OK", "{}").await;
            (head.to_ascii_lowercase(), body)
        };
        let (got, (head, body)) = tokio::join!(answers(&relay, request), agent);
        assert!(got.starts_with("HTTP/1.1 200 "), "{got}");
        assert_eq!(head.matches('\n').count(), head.matches("\r\n").count(), "{head:?}");
        assert!(!head.contains("x-hop") && !head.contains("x-trailer"), "{head}");
        assert!(head.contains("content-length: 3\r\n") && !head.contains("transfer-encoding"), "{head}");
        assert_eq!(body, "{ }");
    }
}

/// A frame of HTTP/2 on the first stream.
fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("short").to_be_bytes();
    [&length[1..], &[kind, flags, 0, 0, 0, 1], payload].concat()
}

/// Fields, each as it is (RFC 7541, section 6.2.2).
fn fields(fields: &[(&str, &str)]) -> Vec<u8> {
    let text = |text: &str| [&[u8::try_from(text.len()).expect("short")], text.as_bytes()].concat();
    fields.iter().flat_map(|(name, value)| [vec![0], text(name), text(value)].concat()).collect()
}

/// What the relay says to this request and its body, until it ends the first stream: the kinds of the frames, and the status.
async fn http2(relay: &Relay, more: &[(&str, &str)], body: &[u8]) -> (Vec<u8>, bool) {
    let mut socket = TcpStream::connect(relay.address()).await.expect("a connection");
    let own =
        [(":method", "POST"), (":scheme", "http"), (":path", "/a/sessions"), (":authority", "localhost")];
    let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    let all = [own.as_slice(), more].concat();
    let request = [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".as_slice(),
        &settings,
        &frame(1, 4, &fields(&all)),
        &frame(0, 1, body),
    ]
    .concat();
    socket.write_all(&request).await.expect("written");
    let mut kinds = Vec::new();
    let mut is_good = false;
    loop {
        let mut head = [0; 9];
        if within(socket.read_exact(&mut head)).await.is_err() {
            return (kinds, is_good);
        }
        let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
        within(socket.read_exact(&mut payload)).await.expect("a whole frame");
        // The 8th entry of the static table is `:status: 200`.
        is_good |= head[3] == 1 && payload.first() == Some(&0x88);
        kinds.push(head[3]);
        let is_over = matches!(head[3], 3 | 7) || (head[3] < 2 && head[4] & 1 != 0);
        if is_over {
            return (kinds, is_good);
        }
    }
}

#[tokio::test]
async fn with_http_2_lengths_have_to_be_true_and_connections_are_no_fields_affair() {
    let server = Server::start().await;
    let relay = Relay::start(&open(&server, ""));
    for (name, value) in [
        ("content-length", "2"),
        ("content-length", "4"),
        ("content-length", "+3"),
        ("transfer-encoding", "chunked"),
        ("connection", "close"),
        ("connection", "upgrade"),
        ("upgrade", "websocket"),
        ("keep-alive", "1"),
        ("proxy-connection", "1"),
        ("te", "chunked"),
        ("host", "evil.example"),
        ("Content-Length", "3"),
        ("a\r\nb", "c"),
        ("x", "a\r\ncontent-length: 0\r\n\r\n"),
        (":path", "/a/sessions/smuggled"),
    ] {
        let (kinds, is_good) = http2(&relay, &[(name, value)], b"{ }").await;
        assert!(!is_good, "{name}: {value}: {kinds:?}");
    }
    assert!(server.is_left_alone().await, "nothing of it is passed on");
    let agent = async {
        let (mut wire, head) = server.accept().await;
        let body = wire.body(&head).await;
        wire.json("200 OK", "{}").await;
        (head, body)
    };
    let asked = http2(&relay, &[("content-length", "3")], b"{ }");
    let ((kinds, is_good), (head, body)) = tokio::join!(asked, agent);
    assert!(is_good, "a good one passes: {kinds:?}");
    assert!(head.starts_with("POST /sessions HTTP/1.1\r\n"), "{head}");
    assert_eq!(body, "{ }");
}

/// An answer that has a second one behind it, or none that can be read: the next request gets its own.
#[tokio::test]
async fn an_agent_answers_no_request_but_the_one_it_got() {
    let server = Server::start().await;
    let relay = Relay::start(&open(&server, ""));
    let evil = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n\"stolen\"";
    let corpus = [
        ("a second answer", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
        ("an answer without a body, with one", "HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\n{}"),
        ("two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"),
        ("a length with a sign", "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\n{}"),
        (
            "chunks and a length",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        ),
        ("an unknown coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
        ("a chunk with a sign", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n+2\r\n{}\r\n0\r\n\r\n"),
        ("a folded line", "HTTP/1.1 200 OK\r\nX-A: a\r\n b\r\nContent-Length: 2\r\n\r\n{}"),
        (
            "another protocol",
            "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
        ),
        ("no HTTP", "+OK\r\n"),
    ];
    for (what, answer) in corpus {
        let agent = async {
            let (mut wire, head) = server.accept().await;
            assert!(head.starts_with("GET /sessions/first "), "{what}: {head}");
            wire.write(&format!("{answer}{evil}")).await;
            wire
        };
        let asked = async {
            let answer = sent(relay.request(Method::GET, "/a/sessions/first")).await;
            let lengths =
                ["transfer-encoding", "content-length"].map(|name| answer.headers().contains_key(name));
            // Its body may break off, or have no end.
            let _ = timeout(Duration::from_millis(500), answer.text()).await;
            lengths
        };
        let (lengths, wire) = tokio::join!(asked, agent);
        assert_ne!(lengths, [true, true], "{what}: one end");
        // Whether the relay has closed that connection or not.
        let agent = async {
            let (mut wire, head) = server.accept().await;
            assert!(head.starts_with("GET /sessions/second "), "{what}: {head}");
            wire.json("200 OK", "{\"own\":true}").await;
            wire
        };
        let (own, again) = tokio::join!(json(relay.request(Method::GET, "/a/sessions/second")), agent);
        assert_eq!(own["own"], true, "{what}: {own}");
        drop((wire, again));
    }
}
