//! Sockets are tunnelled, for users and pages that may.

use reqwest::Method;

use crate::wire::{Server, Wire};
use crate::world::{Relay, config, status};

/// A request for a WebSocket.
pub(crate) fn upgrade(headers: &str) -> String {
    format!(
        "GET /a?access_token=x&k=1 HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nCookie: c=1\r\n{headers}\r\n"
    )
}

#[tokio::test]
async fn a_socket_passes_both_ways_for_pages_that_may() {
    let server = Server::start().await;
    let rest = "sessions = \"open\"\nheaders.authorization = \"env:RELAY_TEST_KEY\"\n";
    let text = format!(
        "origins = [\"https://app.test\"]\n{}",
        config("codex", &format!("ws://{}", server.address), rest)
    );
    let relay = Relay::start(&text);
    for page in ["Origin: https://evil.test\r\n", "Origin: null\r\n"] {
        let mut refused = Wire::open(relay.address(), &upgrade(page)).await;
        assert!(refused.read_head().await.starts_with("HTTP/1.1 403 "), "{page}");
    }
    assert_eq!(status(relay.request(Method::GET, "/a")).await, 400, "nothing but a socket");
    assert!(server.is_left_alone().await);
    let mut page = Wire::open(relay.address(), &upgrade("Origin: https://app.test\r\n")).await;
    let (mut agent, head) = server.accept().await;
    let head = head.to_ascii_lowercase();
    assert!(head.starts_with("get /?k=1 http/1.1\r\n"), "{head}");
    assert!(
        head.contains("authorization: bearer very-secret\r\n") && head.contains("upgrade: websocket\r\n"),
        "{head}"
    );
    assert!(!head.contains("cookie") && !head.contains("origin"), "{head}");
    agent
        .write("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\nSet-Cookie: a=b\r\n\r\n")
        .await;
    let answer = page.read_head().await.to_ascii_lowercase();
    assert!(
        answer.starts_with("http/1.1 101 ") && answer.contains("sec-websocket-accept: x\r\n"),
        "{answer}"
    );
    assert!(!answer.contains("set-cookie"), "{answer}");
    page.write("up").await;
    assert_eq!(agent.read_until("up").await, "up");
    agent.write("down").await;
    assert_eq!(page.read_until("down").await, "down");
}
