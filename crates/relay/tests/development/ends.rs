//! Each side's end is the other's, in the same manner.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use crate::world::{Wire, get, plain, start, world};

const CHUNKED: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
const COUNTED: &str = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n";
/// At once, on a machine that is busy with other things.
const AT_ONCE: Duration = Duration::from_secs(1);
const OPEN: &str = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";

#[tokio::test]
async fn a_client_that_leaves_ends_the_request() {
    // In the middle of the answer, before there is one, and in the middle of the request.
    let upload = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nsome";
    for (request, answer) in [(&*get("/", ""), Some(CHUNKED)), (&*get("/", ""), None), (upload, None)] {
        let (server, relay) = world().await;
        let mut page = Wire::open(&relay, request).await;
        let (mut upstream, _) = server.accept().await;
        if let Some(answer) = answer {
            upstream.write(answer).await;
            upstream.write("5\r\nhello\r\n").await;
            page.read_until("hello\r\n").await;
        }
        let left = Instant::now();
        drop(page);
        // What came before the end is of no interest; that it ends is.
        let _ = upstream.read_to_end().await;
        assert!(left.elapsed() < AT_ONCE, "{:?}", left.elapsed());
    }
}

#[tokio::test]
async fn a_client_that_resets_ends_the_request() {
    let (server, relay) = world().await;
    let mut page = Wire::open(&relay, &get("/", "")).await;
    let (mut upstream, _) = server.accept().await;
    upstream.write(CHUNKED).await;
    page.read_head().await;
    let left = Instant::now();
    page.reset();
    let _ = upstream.read_to_end().await;
    assert!(left.elapsed() < AT_ONCE, "{:?}", left.elapsed());
}

#[tokio::test]
async fn an_answer_that_breaks_off_breaks_off() {
    let chunk = "5\r\nhello\r\n";
    for (head, body, resets) in [
        (CHUNKED, chunk, false),
        (CHUNKED, chunk, true),
        (COUNTED, "hello", false),
        (COUNTED, "hello", true),
        (OPEN, "hello", true),
        (CHUNKED, "5\r\nhel", false),
        (CHUNKED, "nonsense\r\n", false),
    ] {
        let (server, relay) = world().await;
        let mut page = Wire::open(&relay, &get("/", "")).await;
        let (mut upstream, _) = server.accept().await;
        upstream.write(head).await;
        upstream.write(body).await;
        page.read_head().await;
        if body.contains("hello") {
            // A reset may overtake what was written before, so let it arrive.
            page.read_until("hello").await;
        }
        if resets {
            upstream.reset();
        } else {
            drop(upstream);
        }
        let end = page.read_to_end().await;
        let kind = end.as_ref().map_err(std::io::Error::kind).err();
        assert_eq!(kind, Some(ErrorKind::ConnectionReset), "{head:?} {body:?} {resets}: {end:?}");
    }
}

#[tokio::test]
async fn an_answer_that_ends_ends() {
    let cases = [
        (CHUNKED, "5\r\nhello\r\n0\r\n\r\n", "hello\r\n0\r\n\r\n"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "hello", "hello"),
        (OPEN, "hello", "hello\r\n0\r\n\r\n"),
    ];
    for (head, body, expected) in cases {
        let (server, relay) = world().await;
        let mut page = Wire::open(&relay, &get("/", "Connection: close\r\n")).await;
        let (mut upstream, _) = server.accept().await;
        upstream.write(head).await;
        upstream.write(body).await;
        drop(upstream);
        let answer = page.read_to_end().await.expect("a clean end");
        assert!(answer.ends_with(expected), "{answer:?}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_said_so() {
    let (server, _) = world().await;
    let config = plain(&server);
    let address = server.address.clone();
    drop(server);
    let relay = start(config).await;
    let mut page = Wire::open(&relay, &get("/", "Origin: http://page.test\r\nConnection: close\r\n")).await;
    let answer = page.read_to_end().await.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
    assert!(answer.contains("access-control-allow-origin: http://page.test"), "{answer}");
    assert!(answer.contains(&format!("http://{address} does not answer")), "{answer}");
    assert!(answer.contains("Connection refused"), "{answer}");
}

#[tokio::test]
async fn a_request_is_sent_once() {
    let (server, relay) = world().await;
    let request = "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi";
    let mut page = Wire::open(&relay, request).await;
    let (mut upstream, _) = server.accept().await;
    assert_eq!(upstream.read_until("hi").await, "hi");
    upstream.reset();
    let answer = page.read_to_end().await.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
    assert!(server.is_left_alone().await);
}

#[tokio::test]
async fn an_idle_connection_that_was_closed_costs_nothing() {
    let (server, relay) = world().await;
    for closes in [false, true, true] {
        let mut page = Wire::open(&relay, &get("/", "Connection: close\r\n")).await;
        let (mut upstream, _) = server.accept().await;
        upstream.write("HTTP/1.1 204 No Content\r\n\r\n").await;
        let answer = page.read_to_end().await.expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 204 "), "{closes}: {answer}");
        drop(upstream);
        // Long enough that the relay knows.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
