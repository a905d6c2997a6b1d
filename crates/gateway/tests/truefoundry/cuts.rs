//! How a stream is cut into writes: seen on the socket, below any HTTP client.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::client::{Gateway, events, fast};

/// The chunks of a chunked response to a turn with a message, in order.
async fn chunks(gateway: &Gateway, query: &str, headers: &str, text: &str) -> Vec<Vec<u8>> {
    let session = gateway.session().await;
    let body = json!({"input": [{"type": "user.message", "content": text}]}).to_string();
    let head = format!(
        "POST {session}/turns{query} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n{headers}\r\n",
        body.len()
    );
    let mut socket = TcpStream::connect(&gateway.address).await.expect("a connection");
    socket.write_all((head + &body).as_bytes()).await.expect("sent");
    let mut bytes = Vec::new();
    let read = timeout(Duration::from_secs(20), socket.read_to_end(&mut bytes));
    read.await.expect("in time").expect("read");
    let end_of_head = find(&bytes, b"\r\n\r\n").expect("a head");
    assert!(bytes.starts_with(b"HTTP/1.1 200 OK\r\n"));
    let mut rest = &bytes[end_of_head + 4..];
    let mut chunks = Vec::new();
    loop {
        let line = find(rest, b"\r\n").expect("a chunk size");
        let size = std::str::from_utf8(&rest[..line]).expect("text");
        let size = usize::from_str_radix(size, 16).expect("a size");
        if size == 0 {
            return chunks;
        }
        chunks.push(rest[line + 2..line + 2 + size].to_vec());
        rest = &rest[line + 2 + size + 2..];
    }
}

fn find(bytes: &[u8], pattern: &[u8]) -> Option<usize> {
    bytes.windows(pattern.len()).position(|window| window == pattern)
}

/// What all chunks together say, and that it is a whole turn.
fn whole(chunks: &[Vec<u8>]) -> usize {
    let text = String::from_utf8(chunks.concat()).expect("UTF-8");
    let events = events(&text);
    assert!(events.iter().zip(1..).all(|(event, number)| event.number == number));
    assert_eq!(events.last().expect("an event").event["type"], "turn.done");
    events.len()
}

#[tokio::test]
async fn chunks_have_exactly_the_requested_size() {
    let gateway = Gateway::start(fast()).await;
    for size in [1, 7, 4096] {
        let query = format!("?chunk_bytes={size}");
        let chunks = chunks(&gateway, &query, "", "unicode").await;
        let (last, full) = chunks.split_last().expect("chunks");
        assert!(full.iter().all(|chunk| chunk.len() == size), "size {size}");
        assert!((1..=size).contains(&last.len()), "size {size}");
        whole(&chunks);
    }
}

#[tokio::test]
async fn small_chunks_cut_characters() {
    let gateway = Gateway::start(fast()).await;
    let chunks = chunks(&gateway, "", "x-turnwire-chunk-bytes: 5\r\n", "unicode").await;
    let torn = chunks.iter().filter(|chunk| std::str::from_utf8(chunk).is_err()).count();
    assert!(torn > 20, "{torn} chunks end inside a character");
}

#[tokio::test]
async fn a_batch_is_this_many_events() {
    let gateway = Gateway::start(fast()).await;
    for (query, headers, size) in
        [("?batch=1", "", 1), ("?batch=7&chunk_bytes=0", "", 7), ("?batch=9", "x-turnwire-batch: 3\r\n", 3)]
    {
        let chunks = chunks(&gateway, query, headers, "long 40").await;
        assert_eq!(whole(&chunks), 45);
        let counts: Vec<usize> = chunks
            .iter()
            .map(|chunk| events(std::str::from_utf8(chunk).expect("whole frames")).len())
            .collect();
        let (last, full) = counts.split_last().expect("chunks");
        assert!(full.iter().all(|&count| count == size), "{counts:?}");
        assert!((1..=size).contains(last), "{counts:?}");
    }
}

#[tokio::test]
async fn settings_that_make_no_sense_are_refused() {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    let body = json!({"input": [{"type": "user.message", "content": "plain"}]});
    let answer = gateway.post(&format!("{session}/turns?batch=all"), body).await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.error(), "batch must be a number that is not negative, got `all`");
}
