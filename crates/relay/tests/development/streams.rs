//! Bytes are forwarded as soon as they arrive, in both directions.

use std::time::{Duration, Instant};

use crate::world::{Wire, get, within, world};

/// What the way over two loopback connections takes at most, as a rule: half of all writes are faster.
const SOON: Duration = Duration::from_millis(20);
/// The same on a machine that is busy with other things just then.
const LATE: Duration = Duration::from_millis(500);
const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

fn chunk(text: &str) -> String {
    format!("{:X}\r\n{text}\r\n", text.len())
}

/// Nothing is held back: a buffer's timer would show in all times.
fn expect_prompt(mut times: Vec<Duration>) {
    times.sort();
    assert!(times[times.len() / 2] < SOON && times[times.len() - 1] < LATE, "{times:?}");
}

#[tokio::test]
async fn an_answer_comes_as_it_is_written() {
    let (server, relay) = world().await;
    let mut page = Wire::open(&relay, &get("/stream", "")).await;
    let (mut upstream, _) = server.accept().await;
    let written = Instant::now();
    upstream.write(HEAD).await;
    let head = page.read_head().await;
    assert!(written.elapsed() < LATE, "the head took {:?}", written.elapsed());
    assert!(head.contains("text/event-stream"), "{head}");
    let mut times = Vec::new();
    for number in 0..50 {
        let frame = format!("data: {number}\n\n");
        let written = Instant::now();
        upstream.write(&chunk(&frame)).await;
        assert_eq!(page.read_until("\n\n\r\n").await, chunk(&frame));
        times.push(written.elapsed());
    }
    expect_prompt(times);
    // Half a frame is a frame to wait for, but nothing to hold back.
    upstream.write(&chunk("data: ha")).await;
    page.read_until("data: ha\r\n").await;
    upstream.write("0\r\n\r\n").await;
    assert_eq!(page.read_until("0\r\n\r\n").await, "0\r\n\r\n");
}

#[tokio::test]
async fn a_request_goes_as_it_is_written() {
    let (server, relay) = world().await;
    let head = "POST /up HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    let mut page = Wire::open(&relay, head).await;
    page.write(&chunk("first")).await;
    let (mut upstream, _) = server.accept().await;
    assert_eq!(upstream.read_until("first\r\n").await, chunk("first"));
    let mut times = Vec::new();
    for number in 0..20 {
        let part = format!("part {number}");
        let written = Instant::now();
        page.write(&chunk(&part)).await;
        assert_eq!(upstream.read_until(&format!("{part}\r\n")).await, chunk(&part));
        times.push(written.elapsed());
    }
    expect_prompt(times);
    // An answer may begin before the request ends.
    upstream.write(HEAD).await;
    upstream.write(&chunk("early")).await;
    page.read_until("early\r\n").await;
    page.write("0\r\n\r\n").await;
    assert_eq!(upstream.read_until("0\r\n\r\n").await, "0\r\n\r\n");
    upstream.write("0\r\n\r\n").await;
    page.read_until("0\r\n\r\n").await;
}

#[tokio::test]
async fn many_streams_are_open_at_once() {
    let (server, relay) = world().await;
    let mut pairs = Vec::new();
    for number in 0..40 {
        let page = Wire::open(&relay, &get(&format!("/{number}"), "")).await;
        let (upstream, head) = server.accept().await;
        assert!(head.starts_with(&format!("GET /{number} ")), "{head}");
        pairs.push((page, upstream));
    }
    for (number, (page, upstream)) in pairs.iter_mut().enumerate() {
        let own = format!("for {number} only");
        upstream.write(HEAD).await;
        upstream.write(&chunk(&own)).await;
        assert!(page.read_until("only\r\n").await.ends_with(&chunk(&own)));
    }
}

#[tokio::test]
async fn a_reader_that_rests_holds_the_server_back() {
    let (server, relay) = world().await;
    let mut page = Wire::open(&relay, &get("/", "")).await;
    let (mut upstream, _) = server.accept().await;
    upstream.write(HEAD).await;
    page.read_head().await;
    let part = chunk(&"x".repeat(64 * 1024));
    let mut written = 0_usize;
    // Sockets take some megabytes; a relay that kept the rest in memory would take all of it.
    while written < 256 * 1024 * 1024 {
        let write = tokio::time::timeout(Duration::from_millis(500), async {
            tokio::io::AsyncWriteExt::write_all(&mut upstream.0, part.as_bytes()).await
        });
        match write.await {
            Ok(result) => result.expect("written"),
            Err(_) => return,
        }
        written += part.len();
    }
    let _ = within(async { page }).await;
    panic!("the relay took {written} bytes that nobody read");
}
