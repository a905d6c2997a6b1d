//! What of a head is passed on, and what of it is the relay's own.

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::world::{Server, Wire, get, lines, plain, start, upgrade, within, world};
use turnwire_relay::development::SecretHeaders;

fn secrets() -> SecretHeaders {
    let variables = [
        ("TURNWIRE_RELAY_AUTHORIZATION", "Bearer of-the-relay"),
        ("TURNWIRE_RELAY_HEADER_X_API_KEY", "key-of-the-relay"),
    ];
    let variables = variables.map(|(name, value)| (name.into(), value.into()));
    SecretHeaders::from_environment(variables).expect("headers")
}

#[tokio::test]
async fn a_request_keeps_its_own_and_gets_a_host() {
    let (server, relay) = world().await;
    let request = "POST /a//b%2Fc/../d?x=1&y=%20%7B#no HTTP/1.1\r\nHost: localhost:8791\r\nAccept: text/event-stream\r\n\
                   Accept-Encoding: gzip, br\r\nAuthorization: Bearer page\r\nConnection: x-hop, close\r\nX-Hop: 1\r\n\
                   Keep-Alive: 5\r\nTE: trailers\r\nUpgrade: websocket\r\nProxy-Authorization: Basic x\r\n\
                   Content-Type: application/json\r\nContent-Length: 2\r\nX-Own: a\r\nX-Own: b\r\n\
                   Origin: http://page.test\r\nReferer: http://page.test/\r\nSec-Fetch-Mode: cors\r\n\r\n{}";
    let _page = Wire::open(&relay, &request.replace("#no", "")).await;
    let (mut upstream, head) = server.accept().await;
    assert!(head.starts_with("POST /a//b%2Fc/../d?x=1&y=%20%7B HTTP/1.1\r\n"), "{head}");
    let expected = [
        "accept-encoding: gzip, br",
        "accept: text/event-stream",
        "authorization: bearer page",
        "content-length: 2",
        "content-type: application/json",
        &format!("host: {}", server.address),
        "x-own: a",
        "x-own: b",
    ];
    assert_eq!(lines(&head), expected);
    assert_eq!(upstream.read_until("{}").await, "{}");
}

#[tokio::test]
async fn a_base_path_comes_before_each_path() {
    let server = Server::start().await;
    let mut config = plain(&server);
    config.upstream = format!("http://{}/api/", server.address).parse().expect("an address");
    let relay = start(config).await;
    let _page = Wire::open(&relay, &get("/v1/runs?x", "")).await;
    let (_upstream, head) = server.accept().await;
    assert!(head.starts_with("GET /api/v1/runs?x HTTP/1.1\r\n"), "{head}");
    // A request with the relay's address in it goes there all the same.
    let _page = Wire::open(&relay, &get("http://127.0.0.1:8791/v1", "")).await;
    let (_upstream, head) = server.accept().await;
    assert!(head.starts_with("GET /api/v1 HTTP/1.1\r\n"), "{head}");
    assert!(head.contains(&format!("host: {}\r\n", server.address)), "{head}");
}

#[tokio::test]
async fn cookies_pass_neither_way() {
    let (server, relay) = world().await;
    let cookie = "Cookie: session=of-another-port\r\nCookie: more=of-it\r\n";
    let set = "Set-Cookie: session=for-every-port; Path=/\r\nSet-Cookie: more=of-it\r\n\
               Clear-Site-Data: \"cookies\"\r\n";
    for (request, answer) in [
        (get("/", cookie), format!("200 OK\r\nContent-Length: 0\r\n{set}")),
        (
            upgrade(&format!("Origin: http://localhost:5173\r\n{cookie}")),
            format!("101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n{set}"),
        ),
        (
            upgrade(&format!("Origin: http://localhost:5173\r\n{cookie}")),
            format!("401 Unauthorized\r\nContent-Length: 0\r\n{set}"),
        ),
    ] {
        let mut page = Wire::open(&relay, &request).await;
        let (mut upstream, head) = server.accept().await;
        assert!(!head.to_ascii_lowercase().contains("cookie"), "{head}");
        upstream.write(&format!("HTTP/1.1 {answer}Connection: close\r\n\r\n")).await;
        let head = page.read_head().await;
        assert!(head.starts_with(&format!("HTTP/1.1 {}", &answer[..3])), "{head}");
        assert!(!head.to_ascii_lowercase().contains("cookie"), "{head}");
    }
}

#[tokio::test]
async fn a_cookie_of_the_environment_is_the_servers() {
    let server = Server::start().await;
    let variable = ("TURNWIRE_RELAY_HEADER_COOKIE".into(), "session=of-the-relay".into());
    let secrets = SecretHeaders::from_environment([variable]).expect("headers");
    let relay = start(turnwire_relay::development::RelayConfig { secrets, ..plain(&server) }).await;
    let _page = Wire::open(&relay, &get("/", "Cookie: session=of-another-port\r\n")).await;
    let (_upstream, head) = server.accept().await;
    assert_eq!(lines(&head), ["cookie: session=of-the-relay", &*format!("host: {}", server.address)]);
}

#[tokio::test]
async fn a_head_beyond_measure_goes_nowhere() {
    let (server, relay) = world().await;
    let long = format!("X-Long: {}\r\n", "x".repeat(1_000_000));
    let many = "X-Many: 1\r\n".repeat(1000);
    for headers in [long, many] {
        let mut page = Wire::open(&relay, "").await;
        // The relay may hang up while this is still being written.
        let _ = page.0.write_all(get("/", &headers).as_bytes()).await;
        let mut answer = Vec::new();
        let _ = within(page.0.read_to_end(&mut answer)).await;
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431 "), "{answer}");
    }
    assert!(server.is_left_alone().await);
}

#[tokio::test]
async fn the_key_replaces_what_a_page_sends() {
    let server = Server::start().await;
    let relay =
        start(turnwire_relay::development::RelayConfig { secrets: secrets(), ..plain(&server) }).await;
    for own in ["", "Authorization: Bearer page\r\nX-API-Key: page\r\nauthorization: Basic page\r\n"] {
        let _page = Wire::open(&relay, &get("/", own)).await;
        let (_upstream, head) = server.accept().await;
        let host = format!("host: {}", server.address);
        let expected = ["authorization: bearer of-the-relay", &*host, "x-api-key: key-of-the-relay"];
        assert_eq!(lines(&head), expected);
    }
}

#[tokio::test]
async fn the_key_is_in_no_answer_of_the_relay() {
    let server = Server::start().await;
    let config = turnwire_relay::development::RelayConfig { secrets: secrets(), ..plain(&server) };
    assert!(!format!("{config:?}").contains("of-the-relay"));
    drop(server);
    let relay = start(config).await;
    let mut page = Wire::open(&relay, &get("/", "Connection: close\r\n")).await;
    let answer = page.read_to_end().await.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 502 ") && !answer.contains("of-the-relay"), "{answer}");
}

#[tokio::test]
async fn an_answer_keeps_its_own() {
    let (server, relay) = world().await;
    let mut page = Wire::open(&relay, &get("/", "Accept-Encoding: gzip\r\n")).await;
    let (mut upstream, _) = server.accept().await;
    upstream
        .write(
            "HTTP/1.1 429 Slow Down\r\nContent-Type: text/event-stream\r\nRetry-After: 7\r\nX-Own: a\r\nX-Own: b\r\n\
             Connection: x-hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nDate: Sat, 21 Nov 2026 10:02:07 GMT\r\n\
             Access-Control-Allow-Origin: https://other.test\r\nAccess-Control-Allow-Credentials: true\r\n\
             Content-Length: 300\r\n\r\n",
        )
        .await;
    // Long and alike enough that a compressing server would compress it.
    let body = "a".repeat(300);
    upstream.write(&body).await;
    let head = page.read_head().await;
    assert!(head.starts_with("HTTP/1.1 429 "), "{head}");
    let expected = [
        "access-control-expose-headers: *",
        "content-length: 300",
        "content-type: text/event-stream",
        "date: sat, 21 nov 2026 10:02:07 gmt",
        "retry-after: 7",
        "x-own: a",
        "x-own: b",
    ];
    let vary = |line: &String| !line.starts_with("vary: ");
    let own: Vec<String> = lines(&head).into_iter().filter(vary).collect();
    assert_eq!(own, expected);
    assert_eq!(page.read_until(&body).await, body);
}

#[tokio::test]
async fn a_redirect_is_the_pages_to_follow() {
    let (server, relay) = world().await;
    let mut page = Wire::open(&relay, &get("/", "")).await;
    let (mut upstream, _) = server.accept().await;
    let location = format!("Location: http://{}/elsewhere\r\n", server.address);
    upstream.write(&format!("HTTP/1.1 307 Temporary Redirect\r\n{location}Content-Length: 0\r\n\r\n")).await;
    let head = page.read_head().await;
    assert!(head.starts_with("HTTP/1.1 307 "), "{head}");
    assert!(lines(&head).contains(&location.trim_end().to_ascii_lowercase()), "{head}");
    assert!(server.is_left_alone().await);
}

#[tokio::test]
async fn an_answer_without_a_body_has_none() {
    for (method, answer, expected) in [
        ("HEAD", "200 OK\r\nContent-Length: 99", Some("content-length: 99")),
        ("GET", "304 Not Modified\r\nETag: \"x\"", Some("etag: \"x\"")),
        ("DELETE", "204 No Content", None),
    ] {
        let (server, relay) = world().await;
        let mut page = Wire::open(&relay, &get("/", "").replace("GET", method)).await;
        let (mut upstream, head) = server.accept().await;
        assert!(head.starts_with(&format!("{method} / ")), "{head}");
        upstream.write(&format!("HTTP/1.1 {answer}\r\n\r\n")).await;
        let head = page.read_head().await;
        assert!(head.starts_with(&format!("HTTP/1.1 {}", &answer[..3])), "{head}");
        let own = lines(&head);
        let framing: Vec<&String> = own
            .iter()
            .filter(|line| {
                ["content-length", "transfer-encoding", "etag"].iter().any(|name| line.starts_with(name))
            })
            .collect();
        assert_eq!(framing, expected.iter().collect::<Vec<_>>(), "{method}");
        // The connection serves the next request.
        page.write(&get("/next", "")).await;
        let next = upstream.read_head().await;
        assert!(next.starts_with("GET /next "), "{next}");
    }
}

#[tokio::test]
async fn a_request_without_a_path_goes_nowhere() {
    let (server, relay) = world().await;
    let mut page = Wire::open(&relay, "GET * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await;
    let answer = page.read_to_end().await.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert!(server.is_left_alone().await);
}
