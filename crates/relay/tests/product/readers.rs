//! Readers: any number, from any place; the turn goes on without them.

use std::time::Duration;

use reqwest::Method;
use tokio::time::sleep;

use crate::wire::{Server, Wire, get, within};
use crate::world::{Relay, STOP, STREAM, Stream, delta, json, numbered, open, sent, status};

/// A turn that the agent has begun, and its first reader.
async fn begun(relay: &Relay, server: &Server) -> (Stream, Wire) {
    let agent = async {
        let (mut wire, head) = server.accept().await;
        wire.body(&head).await;
        wire.write(STREAM).await;
        wire.chunk(&delta("one")).await;
        wire
    };
    let (answer, wire) = tokio::join!(sent(relay.turn("t")), agent);
    let mut first = Stream::of(answer);
    first.until("one").await;
    (first, wire)
}

#[tokio::test]
async fn a_turn_goes_on_when_its_reader_leaves_and_is_read_from_any_place() {
    let server = Server::start().await;
    let relay = Relay::start(&open(&server, ""));
    let (first, mut wire) = begun(&relay, &server).await;
    drop(first);
    // A comment and an id of the agent's own are not the turn's.
    wire.chunk(": hello\n\nid: 77\n").await;
    wire.chunk(&delta("two")).await;
    let mut second = Stream::of(sent(relay.events("t", 1)).await);
    assert_eq!(second.until("two").await.trim_end(), numbered(2, &delta("two")).trim_end());
    let third = Stream::of(sent(relay.events("t", 0)).await);
    let list = json(relay.request(Method::GET, "/a/_turnwire/v1/turns?session=s&state=open")).await;
    assert_eq!((&list["turns"][0]["id"], &list["turns"][0]["last"]), (&"t".into(), &2.into()), "{list}");
    assert_eq!(status(relay.events("t", 3)).await, 412, "a place that is not there yet");
    wire.chunk(STOP).await;
    wire.end().await;
    let (two, stop) = (numbered(2, &delta("two")), numbered(3, STOP));
    assert_eq!(second.rest().await, Ok(format!("{two}{stop}")));
    assert_eq!(third.rest().await, Ok(numbered(1, &delta("one")) + &two + &stop));
    assert_eq!(Stream::of(sent(relay.events("t", 2)).await).rest().await, Ok(stop));
    assert_eq!(Stream::of(sent(relay.events("t", 3)).await).rest().await, Ok(String::new()));
    let refused = sent(relay.events("t", 4)).await;
    assert_eq!(refused.status(), 412);
    let refused = refused.json::<serde_json::Value>().await.expect("JSON");
    assert_eq!((&refused["code"], &refused["log"]), (&"log_changed".into(), &list["turns"][0]["log"]));
    let other = relay.request(Method::GET, "/a/_turnwire/v1/turns/t/events?log=0000000000000000");
    let other = sent(other).await;
    assert_eq!(other.status(), 412);
    assert_eq!(
        other.json::<serde_json::Value>().await.expect("JSON"),
        refused,
        "it names the log that there is"
    );
    let about = json(relay.request(Method::GET, "/a/_turnwire/v1")).await;
    let told = (&about["limits"]["turns_per_subject"], &about["limits"]["body_bytes"]);
    assert_eq!(told, (&10.into(), &(30 << 20).into()), "{about}");
    assert_eq!(status(relay.events("unknown", 0)).await, 404);
    assert_eq!(status(relay.request(Method::GET, "/a/_turnwire/v1/turns/t/events?after=x")).await, 400);
}

#[tokio::test]
async fn a_cut_is_told_to_those_who_know_and_is_a_reset_to_others() {
    let server = Server::start().await;
    let relay = Relay::start(&open(&server, ""));
    let (first, wire) = begun(&relay, &server).await;
    let plain = relay.plain(Method::GET, "/a/_turnwire/v1/turns/t/events");
    let plain = Stream::of(sent(plain).await);
    wire.reset();
    let one = numbered(1, &delta("one"));
    let told =
        "event: turnwire.cut\ndata: {\"last\":1,\"reason\":\"upstream_lost\",\"upstream\":\"gone\"}\n\n";
    assert_eq!(first.rest().await, Ok(format!("{one}{told}")));
    assert_eq!(plain.rest().await, Err(one.clone()), "a good end would look like the turn's");
    assert_eq!(Stream::of(sent(relay.events("t", 0)).await).rest().await, Ok(format!("{one}{told}")));
}

#[tokio::test]
async fn an_end_without_the_last_frame_is_an_end_but_not_done() {
    let server = Server::start().await;
    let relay = Relay::start(&open(&server, ""));
    let (first, mut wire) = begun(&relay, &server).await;
    wire.end().await;
    assert_eq!(first.rest().await, Ok(numbered(1, &delta("one"))));
    let list = json(relay.request(Method::GET, "/a/_turnwire/v1/turns")).await;
    assert_eq!(list["turns"][0]["end"]["end"], "eof", "{list}");
}

#[tokio::test]
async fn a_user_stops_a_turn() {
    let server = Server::start().await;
    let relay = Relay::start(&open(&server, ""));
    let (first, mut wire) = begun(&relay, &server).await;
    assert_eq!(status(relay.request(Method::DELETE, "/a/_turnwire/v1/turns/t")).await, 202);
    let rest = first.rest().await.expect("told");
    assert!(
        rest.ends_with(
            "event: turnwire.cut\ndata: {\"last\":1,\"reason\":\"stopped\",\"upstream\":\"gone\"}\n\n"
        ),
        "{rest}"
    );
    // AAP knows no cancel: the relay hangs up.
    let hung_up = within(tokio::io::AsyncReadExt::read_u8(&mut wire.0)).await;
    assert!(hung_up.is_err());
    assert_eq!(status(relay.request(Method::DELETE, "/a/_turnwire/v1/turns/t")).await, 204);
    assert_eq!(status(relay.request(Method::DELETE, "/a/_turnwire/v1/turns/other")).await, 404);
}

#[tokio::test]
async fn times_end_a_turn() {
    for (rest, reason, leaves) in [
        ("[limits]\nturn_time = \"1s\"\n", "turn_limit", false),
        ("[limits]\nsilence = \"1s\"\n", "silent", false),
        ("on_leave = \"stop_after:1s\"\n", "left", true),
    ] {
        let server = Server::start().await;
        let relay = Relay::start(&open(&server, rest));
        let (first, _wire) = begun(&relay, &server).await;
        if leaves {
            drop(first);
            sleep(Duration::from_millis(3500)).await;
        } else {
            first.rest().await.expect("told");
        }
        let all = Stream::of(sent(relay.events("t", 1)).await).rest().await.expect("told");
        assert!(all.contains(&format!("\"reason\":\"{reason}\"")), "{all}");
    }
}

#[tokio::test]
async fn a_reader_far_behind_reads_the_log_and_a_slow_one_holds_nothing_back() {
    let server = Server::start().await;
    let relay = Relay::start(&open(&server, ""));
    let (first, mut wire) = begun(&relay, &server).await;
    // It never reads; its socket is full long before the end.
    let path = "/a/_turnwire/v1/turns/t/events";
    let _slow = Wire::open(relay.address(), &get(path, "")).await;
    let text = "x".repeat(4000);
    for _ in 0..2000 {
        wire.chunk(&delta(&text)).await;
    }
    wire.chunk(STOP).await;
    wire.end().await;
    let all = first.rest().await.expect("a good end");
    assert_eq!(all.matches("id: ").count(), 2002);
    let again = Stream::of(sent(relay.events("t", 0)).await).rest().await.expect("a good end");
    assert_eq!(again.len(), all.len());
    assert!(again == all);
}

#[tokio::test]
async fn only_known_paths_and_headers_pass() {
    let server = Server::start().await;
    let relay = Relay::start(&open(&server, "headers.authorization = \"env:RELAY_TEST_KEY\"\n"));
    for path in [
        "/",
        "/b/sessions",
        "/a/v1/secrets",
        "/a/sessions/..%2f..%2fadmin/history",
        "/a/sessions//history",
        "/a/sessions/s/turns/",
    ] {
        assert_eq!(status(relay.request(Method::GET, path)).await, 404, "{path}");
    }
    assert_eq!(status(relay.request(Method::PUT, "/a/sessions/s")).await, 405);
    // As they are written: clients tidy paths up.
    for line in [
        "GET /a/../a/sessions/s HTTP/1.1",
        "GET /a/sessions/%2e%2e HTTP/1.1",
        "GET /a/sessions/.. HTTP/1.1",
        "GET //a/meta HTTP/1.1",
    ] {
        let request = format!("{line}\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let answer = Wire::open(relay.address(), &request).await.read_to_end().await.expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 404 "), "{line}: {answer}");
    }
    for (headers, expected) in [
        ("Host: evil.example\r\n", "403"),
        ("Host: localhost\r\nHost: localhost\r\n", "400 or 403"),
        ("Host: localhost\r\nOrigin: https://evil.example\r\n", "403"),
        ("Host: localhost\r\nOrigin: null\r\n", "403"),
        ("Host: localhost\r\nSec-Fetch-Site: cross-site\r\n", "403"),
        ("Host: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n", "400"),
        ("Host: localhost\r\nContent-Length: 3\r\nContent-Length: 4\r\n", "400"),
    ] {
        // With two lengths, the chunked one counts, and this is no chunk.
        let request = format!("POST /a/sessions HTTP/1.1\r\n{headers}Connection: close\r\n\r\nxyz");
        let answer = Wire::open(relay.address(), &request).await.read_to_end().await.expect("an answer");
        let status = answer.split(' ').nth(1).unwrap_or_default();
        assert!(expected.contains(status) && !status.is_empty(), "{headers}: {answer}");
    }
    assert!(server.is_left_alone().await);
    let request = relay.request(Method::GET, "/a/sessions/s/history?type=full&access_token=x");
    let request = request
        .header("cookie", "c=1")
        .header("x-forwarded-for", "1.2.3.4")
        .header("authorization", "Bearer page");
    let agent = async {
        let (mut wire, head) = server.accept().await;
        wire.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nSet-Cookie: a=b\r\nX-Own: 1\r\nContent-Length: 2\r\n\r\n{}").await;
        (wire, head.to_ascii_lowercase())
    };
    let (answer, (_wire, head)) = tokio::join!(sent(request), agent);
    assert!(head.starts_with("get /sessions/s/history?type=full http/1.1\r\n"), "{head}");
    assert!(head.contains("authorization: bearer very-secret\r\n"), "{head}");
    for kept_back in ["cookie", "forwarded", "page", "turnwire"] {
        assert!(!head.contains(kept_back), "{head}");
    }
    assert!(!answer.headers().contains_key("set-cookie") && !answer.headers().contains_key("x-own"));
    assert_eq!(answer.headers()["turnwire-relay"], "1");
}

#[tokio::test]
async fn what_is_no_longer_kept_is_said_to_be_so() {
    let (server, scratch) = (Server::start().await, crate::world::Scratch::new());
    let relay = Relay::start(&open(&server, &format!("{}retention = \"1s\"\n", scratch.log())));
    let (first, mut wire) = begun(&relay, &server).await;
    wire.chunk(STOP).await;
    wire.end().await;
    first.rest().await.expect("a good end");
    assert_eq!(status(relay.events("t", 1)).await, 200);
    let expired = within(async {
        loop {
            let answer = sent(relay.events("t", 1)).await;
            if answer.status() == 412 {
                return answer;
            }
            sleep(Duration::from_millis(100)).await;
        }
    });
    assert_eq!(expired.await.json::<serde_json::Value>().await.expect("JSON")["code"], "expired");
    assert_eq!(status(relay.turn("t")).await, 412, "it is not started anew");
    assert!(server.is_left_alone().await);
}

#[tokio::test]
async fn readers_who_all_come_again_at_once_share_what_is_read_from_the_log() {
    let server = Server::start().await;
    let admin =
        std::net::TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port");
    let relay = Relay::start(&format!("admin = \"{admin}\"\n{}", open(&server, "")));
    let (mut first, mut wire) = crate::restarts::started(&relay, &server, "t", 1).await;
    let frame = delta(&"x".repeat(1000));
    for _ in 0..600 {
        wire.chunk(&frame).await;
    }
    first.until("id: 601\n").await;
    let again = (0..20).map(async |_| {
        let mut reader = Stream::of(sent(relay.events("t", 0)).await);
        reader.until("id: 601\n").await.matches("id: ").count()
    });
    assert_eq!(futures_util::future::join_all(again).await, vec![601; 20]);
    let metrics = reqwest::get(format!("http://{admin}/metrics")).await.expect("an answer");
    let metrics = metrics.text().await.expect("text");
    let reads = metrics.lines().find_map(|line| line.strip_prefix("turnwire_relay_log_reads_total "));
    // What is not in memory are six pages. Each reader for itself would have read them all: 120.
    let reads: usize = reads.expect("counted").parse().expect("a number");
    assert!((1..=18).contains(&reads), "{reads}");
}
