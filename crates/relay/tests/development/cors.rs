//! A browser's preflights before a page may call, and the responses.

use turnwire_relay::development::{Origins, RelayConfig};

use crate::world::{Server, Wire, get, lines, named, plain, start, upgrade, world};

const PREFLIGHT: &str = "OPTIONS /v1/runs HTTP/1.1\r\nHost: localhost\r\nOrigin: http://page.test\r\n\
                         Access-Control-Request-Method: PATCH\r\n\
                         Access-Control-Request-Headers: authorization,content-type,x-own\r\n\
                         Access-Control-Request-Private-Network: true\r\n\r\n";

async fn relay_for(origins: Origins) -> (Server, String) {
    let server = Server::start().await;
    let relay = start(RelayConfig { origins, ..plain(&server) }).await;
    (server, relay)
}

#[tokio::test]
async fn preflights_are_the_relays_to_answer() {
    let (server, relay) = world().await;
    let head = Wire::open(&relay, PREFLIGHT).await.read_head().await;
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    let lines = lines(&head);
    for expected in [
        "access-control-allow-origin: http://page.test",
        "access-control-allow-methods: patch",
        "access-control-allow-headers: authorization,content-type,x-own",
        "access-control-allow-private-network: true",
        "access-control-max-age: 600",
    ] {
        assert!(lines.iter().any(|line| line == expected), "{expected}: {head}");
    }
    assert!(!head.contains("credentials"), "{head}");
    assert!(server.is_left_alone().await);
}

#[tokio::test]
async fn a_page_may_read_every_answer_and_its_headers() {
    let (server, relay) = world().await;
    for status in ["200 OK", "401 Unauthorized", "500 Oh No"] {
        let mut page = Wire::open(&relay, &get("/", "Origin: http://page.test\r\n")).await;
        let (mut upstream, _) = server.accept().await;
        upstream.write(&format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")).await;
        let head = page.read_head().await;
        assert!(head.starts_with(&format!("HTTP/1.1 {}", &status[..3])), "{head}");
        assert!(head.contains("access-control-allow-origin: http://page.test\r\n"), "{head}");
        assert!(head.contains("access-control-expose-headers: *\r\n"), "{head}");
    }
}

#[tokio::test]
async fn other_pages_are_refused_and_nothing_is_passed_on() {
    for origins in [named(&["https://own.test"]), named(&["null"]), Origins::ThisMachine] {
        let (server, relay) = relay_for(origins).await;
        let head = Wire::open(&relay, PREFLIGHT).await.read_head().await;
        assert!(!head.contains("access-control-allow-origin"), "{head}");
        assert!(!head.contains("access-control-allow-private-network"), "{head}");
        // A request so simple that no browser asks before.
        let simple =
            "POST / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://page.test\r\nContent-Length: 0\r\n\r\n";
        let head = Wire::open(&relay, simple).await.read_head().await;
        assert!(head.starts_with("HTTP/1.1 403 "), "{head}");
        assert!(!head.contains("access-control-allow-origin"), "{head}");
        assert!(server.is_left_alone().await);
    }
}

#[tokio::test]
async fn a_page_whose_own_name_was_led_here_is_refused() {
    // Which pages may call makes no difference: such a page has no need to say who it is.
    for origins in [Origins::ThisMachine, named(&["https://own.test"]), named(&["*"]), named(&["null"])] {
        let (server, relay) = relay_for(origins).await;
        for host in ["page.test:8791", "localhost.page.test", "0.0.0.0:8791", "10.0.0.1", ""] {
            for request in [get("/v1/threads", ""), get("/", "Sec-Fetch-Site: same-origin\r\n"), upgrade("")]
            {
                let request = request.replace("Host: localhost", &format!("Host: {host}"));
                let head = Wire::open(&relay, &request).await.read_head().await;
                assert!(head.starts_with("HTTP/1.1 403 "), "{host}: {head}");
            }
        }
        assert!(server.is_left_alone().await);
        for host in ["localhost:8791", "127.0.0.1:8791", "[::1]:8791", "LOCALHOST", "app.localhost:8791"] {
            let _page = Wire::open(&relay, &get("/v1/threads", "").replace("localhost", host)).await;
            server.accept().await;
        }
    }
}

#[tokio::test]
async fn a_page_that_is_not_named_is_refused() {
    // An image, a script, or a link in a page of a foreign site: no origin, but a browser's word for it.
    for site in ["cross-site", "same-site"] {
        for origins in [Origins::ThisMachine, named(&["https://own.test"])] {
            let (server, relay) = relay_for(origins).await;
            let request =
                get("/v1/run?now", &format!("Sec-Fetch-Site: {site}\r\nSec-Fetch-Mode: no-cors\r\n"));
            let head = Wire::open(&relay, &request).await.read_head().await;
            assert!(head.starts_with("HTTP/1.1 403 "), "{head}");
            assert!(server.is_left_alone().await);
        }
    }
}

#[tokio::test]
async fn two_origins_are_none() {
    for origins in [Origins::ThisMachine, named(&["*"]), named(&["http://localhost:5173"])] {
        let (server, relay) = relay_for(origins).await;
        for second in ["http://localhost:5173", "https://page.test"] {
            let both = format!("Origin: http://localhost:5173\r\nOrigin: {second}\r\n");
            for request in [get("/", &both), upgrade(&both)] {
                let head = Wire::open(&relay, &request).await.read_head().await;
                assert!(head.starts_with("HTTP/1.1 403 "), "{head}");
            }
        }
        assert!(server.is_left_alone().await);
    }
}

#[tokio::test]
async fn the_named_pages_and_programs_are_admitted() {
    for (origins, header) in [
        (named(&["https://own.test"]), "Origin: https://own.test\r\n"),
        (named(&["null"]), "Origin: null\r\n"),
        (named(&["*"]), "Origin: https://any.test\r\n"),
        (Origins::ThisMachine, "Origin: http://localhost:5173\r\n"),
        (named(&["https://own.test"]), ""),
        (Origins::ThisMachine, ""),
    ] {
        let (server, relay) = relay_for(origins).await;
        let mut page = Wire::open(&relay, &get("/", header)).await;
        let (mut upstream, _) = server.accept().await;
        upstream.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
        let head = page.read_head().await;
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        let allowed = header.replace("Origin", "access-control-allow-origin");
        assert!(head.contains(&*allowed), "{head}");
    }
}
