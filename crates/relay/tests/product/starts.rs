//! Starts: once at the agent, however often they are sent.

use std::time::Duration;

use futures_util::future::join_all;
use reqwest::Method;

use crate::wire::{Server, Wire};
use crate::world::{Relay, STOP, STREAM, Stream, config, delta, json, numbered, open, sent, status};

#[tokio::test]
async fn five_clients_that_start_the_same_turn_start_it_once() {
    let server = Server::start().await;
    let relay = Relay::start(&open(&server, ""));
    let starts = join_all((0..5).map(|_| sent(relay.turn("t-1"))));
    let agent = async {
        let (mut wire, head) = server.accept().await;
        assert!(head.starts_with("POST /sessions/s/turns "), "{head}");
        assert!(!head.contains("turnwire"), "what is the relay's stays here: {head}");
        wire.body(&head).await;
        wire.write(STREAM).await;
        wire.chunk(&delta("a")).await;
        wire.chunk(&(delta("b") + STOP)).await;
        wire.end().await;
        assert!(server.is_left_alone().await);
    };
    let (answers, ()) = tokio::join!(starts, agent);
    let whole = numbered(1, &delta("a")) + &numbered(2, &delta("b")) + &numbered(3, STOP);
    let mut logs = Vec::new();
    for answer in answers {
        assert_eq!(answer.headers()["turnwire-turn"], "t-1");
        assert_eq!(answer.headers()["x-accel-buffering"], "no");
        logs.push(answer.headers()["turnwire-log"].clone());
        assert_eq!(Stream::of(answer).rest().await, Ok(whole.clone()));
    }
    logs.dedup();
    assert_eq!(logs.len(), 1);
    // After its end too; but not with another message.
    assert_eq!(Stream::of(sent(relay.turn("t-1")).await).rest().await, Ok(whole));
    assert_eq!(status(relay.turn("t-1").body("{\"messages\":[1]}")).await, 409);
    assert!(server.is_left_alone().await);
}

#[tokio::test]
async fn a_start_that_was_not_sent_may_be_sent_again() {
    let server = Server::start().await;
    let config = open(&server, "");
    drop(server);
    let relay = Relay::start(&config);
    let answer = sent(relay.turn("t-1")).await;
    assert_eq!(
        (answer.status().as_u16(), &answer.headers()["retry-after"]),
        (503, &"1".parse().expect("a value"))
    );
    assert_eq!(status(relay.events("t-1", 0)).await, 404, "nothing is known of it");
}

#[tokio::test]
async fn a_start_without_an_answer_is_not_sent_again() {
    let server = Server::start().await;
    let relay = Relay::start(&open(&server, ""));
    let agent = async {
        let (wire, _) = server.accept().await;
        drop(wire);
    };
    let (answer, ()) = tokio::join!(sent(relay.turn("t-1")), agent);
    assert_eq!(answer.status(), 504);
    assert_eq!(status(relay.turn("t-1")).await, 504);
    assert!(server.is_left_alone().await);
    let list = json(relay.request(Method::GET, "/a/_turnwire/v1/turns?session=s")).await;
    assert_eq!(list["turns"][0]["end"]["upstream"], "unknown", "{list}");
}

#[tokio::test]
async fn other_answers_than_streams_are_kept() {
    let server = Server::start().await;
    let relay = Relay::start(&open(&server, ""));
    for (turn, head, expected, body) in [
        ("whole", "200 OK", 200, "{\"stopReason\":\"end_turn\",\"messages\":[]}"),
        ("late", "408 Request Timeout", 408, "{}"),
        ("failed", "500 Internal Server Error", 500, "Internal"),
    ] {
        let agent = async {
            let (mut wire, head_in) = server.accept().await;
            wire.body(&head_in).await;
            wire.json(head, body).await;
            wire
        };
        let (answer, _wire) = tokio::join!(sent(relay.turn(turn)), agent);
        assert_eq!((answer.status().as_u16(), answer.text().await.expect("text").as_str()), (expected, body));
        let again = sent(relay.events(turn, 0)).await;
        assert_eq!((again.status().as_u16(), again.text().await.expect("text").as_str()), (expected, body));
    }
}

/// A page would take the agent's 401 for its own token's fault. Once the operator has mended the key, the same start runs.
#[tokio::test]
async fn a_key_that_the_agent_refuses_is_the_relays_fault_and_leaves_the_id_free() {
    let server = Server::start().await;
    let relay = Relay::start(&open(&server, ""));
    let agent = async {
        let (mut wire, head) = server.accept().await;
        wire.body(&head).await;
        wire.json("401 Unauthorized\r\nX-Secret: s", "{\"error\":\"key k-1 is no good\"}").await;
        wire
    };
    let (answer, wire) = tokio::join!(sent(relay.turn("key")), agent);
    drop(wire);
    assert_eq!((answer.status().as_u16(), answer.headers().get("x-secret")), (502, None));
    let answer = answer.text().await.expect("text");
    assert!(answer.contains("key_refused") && !answer.contains("k-1"), "{answer}");
    assert_eq!(status(relay.events("key", 0)).await, 404, "nothing is kept of it");
    let agent = async {
        let (mut wire, head) = server.accept().await;
        wire.body(&head).await;
        wire.write(STREAM).await;
        wire.chunk(STOP).await;
        wire.end().await;
    };
    let (answer, ()) = tokio::join!(sent(relay.turn("key")), agent);
    assert_eq!(Stream::of(answer).rest().await, Ok(numbered(1, STOP)));
}

/// An agent that refuses a turn has not begun it: the page reads why and when to try again, and may use the id again.
#[tokio::test]
async fn a_refusal_passes_whole_and_leaves_the_id_free() {
    let server = Server::start().await;
    let admin = crate::deploy::free();
    let relay = Relay::start(&format!("admin = \"{admin}\"\n{}", open(&server, "")));
    let refusals = ["400 No", "404 No", "409 No", "422 No", "425 No", "429 No", "503 No"];
    for head in refusals {
        let turn = &head[..3];
        let starts = join_all((0..2).map(|_| sent(relay.turn(turn))));
        let agent = async {
            let (mut wire, head_in) = server.accept().await;
            wire.body(&head_in).await;
            // Both starts have arrived.
            tokio::time::sleep(Duration::from_millis(100)).await;
            let more = "Retry-After: 7\r\nX-Request-Id: r-1\r\nSet-Cookie: a=b\r\nX-Secret: s";
            wire.json(&format!("{head}\r\n{more}"), "{\"error\":\"busy\"}").await;
            wire
        };
        let (answers, wire) = tokio::join!(starts, agent);
        for answer in answers {
            let status = answer.status().as_u16().to_string();
            let names =
                ["retry-after", "x-request-id", "content-type", "set-cookie", "x-secret", "turnwire-log"];
            let values = names
                .map(|name| answer.headers().get(name).map(|value| value.to_str().expect("text").to_owned()));
            let passed = ["7", "r-1", "application/json"].map(|value| Some(value.to_owned()));
            assert_eq!(
                (&*status, &values[..3], &values[3..]),
                (turn, &passed[..], &[None, None, None][..]),
                "{head}"
            );
            assert_eq!(answer.text().await.expect("text"), "{\"error\":\"busy\"}");
        }
        drop(wire);
        assert_eq!(status(relay.events(turn, 0)).await, 404, "{head}: nothing is kept of it");
        let agent = async {
            let (mut wire, head_in) = server.accept().await;
            wire.body(&head_in).await;
            wire.write(STREAM).await;
            wire.chunk(STOP).await;
            wire.end().await;
        };
        let (answer, ()) = tokio::join!(sent(relay.turn(turn)), agent);
        assert_eq!(Stream::of(answer).rest().await, Ok(numbered(1, STOP)), "{head}");
    }
    assert!(server.is_left_alone().await);
    let metrics = reqwest::get(format!("http://{admin}/metrics")).await.expect("an answer");
    let metrics = metrics.text().await.expect("text");
    let line = format!(
        "turnwire_relay_turns_ended_total{{upstream=\"a\",end=\"refused\",reason=\"\"}} {}",
        refusals.len()
    );
    assert!(metrics.contains(&line), "{metrics}");
}

/// What the relay answers to a start that the agent answers like this, now and again, and the request's head.
async fn answered(turn: &str, head: &str, body: &str) -> ((u16, String), (u16, String), String) {
    let server = Server::start().await;
    let relay = Relay::start(&open(&server, ""));
    let agent = async {
        let (mut wire, head_in) = server.accept().await;
        wire.body(&head_in).await;
        wire.write(&format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\n\r\n{body}", body.len())).await;
        (wire, head_in)
    };
    let (answer, (_wire, head_in)) = tokio::join!(sent(relay.turn(turn)), agent);
    let now = (answer.status().as_u16(), answer.text().await.expect("text"));
    let again = sent(relay.events(turn, 0)).await;
    (now, (again.status().as_u16(), again.text().await.expect("text")), head_in)
}

#[tokio::test]
async fn a_failure_that_is_a_stream_is_kept_as_it_is() {
    let head = "500 Internal Server Error\r\nContent-Type: text/event-stream";
    let body = "event: error\ndata: {}\n\n";
    let (now, again, _) = answered("t-1", head, body).await;
    assert_eq!(now, (500, body.to_owned()));
    assert_eq!(again, now);
}

#[tokio::test]
async fn an_agent_is_asked_not_to_compress_and_if_it_does_nobody_gets_that() {
    let head = "200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip";
    let (now, again, asked) = answered("t-1", head, "compressed").await;
    assert!(asked.to_ascii_lowercase().contains("\r\naccept-encoding: identity\r\n"), "{asked}");
    assert_eq!(now.0, 502);
    assert!(now.1.contains("\"encoded\""), "{}", now.1);
    assert_eq!(again, now);
}

#[tokio::test]
async fn another_protocol_is_no_answer_to_a_start() {
    let (now, again, _) =
        answered("t-1", "101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x", "").await;
    assert_eq!((now.0, again.0), (504, 504));
}

#[tokio::test]
async fn a_turn_has_one_id_that_a_path_can_have() {
    let server = Server::start().await;
    let relay = Relay::start(&open(&server, ""));
    for id in [".", "..", "a/b", "", "é"] {
        let start = relay.request(Method::POST, "/a/sessions/s/turns").header("turnwire-turn", id.as_bytes());
        assert_eq!(status(start.body("{}")).await, 400, "{id}");
    }
    let twice = relay.request(Method::POST, "/a/sessions/s/turns").header("turnwire-turn", "one");
    assert_eq!(status(twice.header("turnwire-turn", "two").body("{}")).await, 400);
    assert!(server.is_left_alone().await);
}

#[tokio::test]
async fn a_user_has_limits() {
    let server = Server::start().await;
    let relay = Relay::start(&open(&server, "[limits]\nturns_per_subject = 1\nstarts_per_minute = 2\n"));
    let agent = async {
        let (mut wire, head) = server.accept().await;
        wire.body(&head).await;
        wire.write(STREAM).await;
        wire
    };
    let (first, mut wire) = tokio::join!(sent(relay.turn("t-1")), agent);
    let refused = sent(relay.turn("t-2")).await;
    assert_eq!(refused.status(), 429);
    assert!(refused.headers().contains_key("retry-after"));
    assert!(server.is_left_alone().await);
    wire.chunk(STOP).await;
    wire.end().await;
    Stream::of(first).rest().await.expect("a good end");
    tokio::time::sleep(Duration::from_millis(50)).await;
    // The pace counts what was refused, too.
    let refused = sent(relay.turn("t-3")).await;
    assert_eq!(refused.status(), 429);
    assert_eq!(status(relay.turn("bad id")).await, 400);
    assert_eq!(status(relay.turn(&"x".repeat(201))).await, 400);
}

/// A route says whether it is a stream, not what its caller accepts.
#[tokio::test]
async fn what_reads_a_stream_counts_as_one_however_it_is_asked_for() {
    for (protocol, method, path) in [
        ("ag-ui", Method::POST, "/a/connect"),
        ("trueforge", Method::GET, "/a/api/v1/sessions/s/turns/t/subscribe"),
        ("truefoundry", Method::POST, "/a/v1/agents/sessions/s/turns/t/subscribe"),
        ("awaken", Method::GET, "/a/v1/runs/t/events/stream"),
    ] {
        let server = Server::start().await;
        let rest = "sessions = \"open\"\n[limits]\nstreams_per_subject = 1\n";
        let relay = Relay::start(&config(protocol, &format!("http://{}", server.address), rest));
        let asked = || relay.request(method.clone(), path).body("{\"threadId\":\"s\"}");
        let agent = async {
            let (mut wire, head) = server.accept().await;
            wire.body(&head).await;
            wire.write(STREAM).await;
            wire
        };
        let (first, _wire) = tokio::join!(sent(asked()), agent);
        assert_eq!(first.status(), 200, "{protocol}");
        assert_eq!(status(asked()).await, 429, "{protocol}");
    }
}

#[tokio::test]
async fn a_start_whose_sender_leaves_at_once_reaches_the_agent_once() {
    let (server, scratch) = (Server::start().await, crate::world::Scratch::new());
    let relay =
        Relay::start(&open(&server, &format!("{}[limits]\nturns_per_subject = 100\n", scratch.log())));
    let turns = 24_usize;
    let agent = async {
        let mut heads = Vec::new();
        for _ in 0..turns {
            let (mut wire, head) = server.accept().await;
            wire.body(&head).await;
            wire.write(&STREAM.replacen("Content", "Connection: close\r\nContent", 1)).await;
            wire.chunk(STOP).await;
            wire.end().await;
            heads.push(head);
        }
        assert!(server.is_left_alone().await);
        heads.sort();
        heads.dedup_by_key(|head| head.lines().next().map(str::to_owned));
        assert_eq!(heads.len(), turns, "each turn once");
    };
    let pages = async {
        for turn in 0..turns {
            let path = format!("/a/sessions/s{turn}/turns");
            let head = format!(
                "turnwire-relay: 1\r\nturnwire-turn: t{turn}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
            );
            let request = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\n{head}\r\n{{}}");
            let page = Wire::open(relay.address(), &request).await;
            // At another moment each time.
            tokio::time::sleep(Duration::from_micros(turn as u64 * 150)).await;
            page.reset();
            let again = relay.request(Method::POST, &path).header("turnwire-turn", format!("t{turn}"));
            let again = again.header("content-type", "application/json").body("{}");
            assert_eq!(Stream::of(sent(again).await).rest().await, Ok(numbered(1, STOP)));
        }
    };
    tokio::join!(agent, pages);
}
