//! What is left when the process ends: everything that a reader has seen, and the truth about the rest.

use std::time::Duration;

use reqwest::Method;

use crate::wire::{Server, Wire, get};
use crate::world::{Relay, STOP, STREAM, Scratch, Stream, delta, json, numbered, open, sent, status};

/// Starts a turn with this many frames, all of which its reader has seen.
pub(crate) async fn started(relay: &Relay, server: &Server, turn: &str, frames: usize) -> (Stream, Wire) {
    let agent = async {
        let (mut wire, head) = server.accept().await;
        wire.body(&head).await;
        wire.write(STREAM).await;
        for frame in 1..=frames {
            wire.chunk(&delta(&format!("{turn}{frame}"))).await;
        }
        wire
    };
    let (answer, wire) = tokio::join!(sent(relay.turn(turn)), agent);
    let mut stream = Stream::of(answer);
    stream.until(&format!("{turn}{frames}\"}}\n\n")).await;
    (stream, wire)
}

#[tokio::test]
async fn after_a_crash_all_that_was_seen_is_there_and_what_ran_is_cut() {
    let (server, scratch) = (Server::start().await, Scratch::new());
    let config = open(&server, &scratch.log());
    let relay = Relay::start(&config);
    let (stream, mut wire) = started(&relay, &server, "done", 3).await;
    wire.chunk(STOP).await;
    wire.end().await;
    let whole = stream.rest().await.expect("a good end");
    // The next turn uses a new connection.
    drop(wire);
    let (mut stream, _wire) = started(&relay, &server, "open", 40).await;
    let seen = stream.until("open40").await.to_owned();
    relay.kill();

    let relay = Relay::start(&config);
    assert_eq!(Stream::of(sent(relay.events("done", 0)).await).rest().await, Ok(whole));
    let told =
        "event: turnwire.cut\ndata: {\"last\":40,\"reason\":\"relay_restarted\",\"upstream\":\"gone\"}\n\n";
    assert_eq!(Stream::of(sent(relay.events("open", 0)).await).rest().await, Ok(format!("{seen}{told}")));
    assert_eq!(Stream::of(sent(relay.events("open", 40)).await).rest().await, Ok(told.to_owned()));
    // The start is not sent again: the agent has had it.
    assert_eq!(Stream::of(sent(relay.turn("open")).await).rest().await, Ok(format!("{seen}{told}")));
    assert!(server.is_left_alone().await);
}

#[tokio::test]
async fn crashes_at_any_moment_lose_nothing_that_was_seen() {
    let (server, scratch) = (Server::start().await, Scratch::new());
    let config = open(&server, &scratch.log());
    for round in 0..6_u64 {
        let relay = Relay::start(&config);
        let turn = format!("t{round}");
        let (mut stream, mut wire) = started(&relay, &server, &turn, 1).await;
        let writer = tokio::spawn(async move {
            for frame in 2..2000 {
                let text = delta(&format!("frame {frame}"));
                let chunk = format!("{:X}\r\n{text}\r\n", text.len());
                if tokio::io::AsyncWriteExt::write_all(&mut wire.0, chunk.as_bytes()).await.is_err() {
                    break;
                }
            }
        });
        let seen = stream.until(&format!("id: {}\n", 40 + round * 97)).await.to_owned();
        relay.kill();
        writer.abort();
        let relay = Relay::start(&config);
        let after = Stream::of(sent(relay.events(&turn, 0)).await).rest().await.expect("told");
        let whole = seen.rfind("\n\n").expect("a frame") + 2;
        assert!(after.starts_with(&seen[..whole]), "round {round}");
        let (frames, end) = after.rsplit_once("event: turnwire.cut\n").expect("a cut");
        let last = frames.matches("id: ").count();
        assert!(end.contains(&format!("\"last\":{last},")), "{end}");
    }
}

#[tokio::test]
async fn a_planned_end_waits_for_turns_and_starts_no_more() {
    let (server, scratch) = (Server::start().await, Scratch::new());
    let config = open(&server, &scratch.log());
    let relay = Relay::start(&config);
    let (mut stream, mut wire) = started(&relay, &server, "t", 1).await;
    relay.terminate();
    while status(relay.turn("new")).await != 503 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    wire.chunk(&delta("later")).await;
    stream.until("later").await;
    // Readers are still let in.
    let second = Stream::of(sent(relay.events("t", 0)).await);
    wire.chunk(STOP).await;
    wire.end().await;
    let whole = stream.rest().await.expect("a good end");
    assert!(whole.ends_with(&numbered(3, STOP)), "{whole}");
    assert_eq!(second.rest().await, Ok(whole));
    let log = relay.ended().await;
    assert!(log.contains("1 turns run"), "{log}");
}

#[tokio::test]
async fn what_outlasts_the_drain_is_cut_and_told() {
    let server = Server::start().await;
    let config = open(&server, "").replace("drain = \"20s\"", "drain = \"1s\"");
    let relay = Relay::start(&config);
    let (stream, _wire) = started(&relay, &server, "t", 1).await;
    relay.terminate();
    let rest = stream.rest().await.expect("told");
    assert!(rest.contains("\"reason\":\"drained\",\"upstream\":\"running\""), "{rest}");
    relay.ended().await;
}

#[tokio::test]
async fn health_and_metrics_are_on_their_own_address() {
    let server = Server::start().await;
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .and_then(|socket| socket.local_addr())
        .expect("a port")
        .port();
    let config = format!("admin = \"127.0.0.1:{port}\"\nhosts = [\"relay.internal\"]\n{}", open(&server, ""));
    let relay = Relay::start(&config);
    let (stream, _wire) = started(&relay, &server, "t", 2).await;
    // A page of another site that has pointed its own name at this address calls by that name.
    for (host, expected) in
        [("rebound.example", 403), ("localhost:1", 200), ("10.0.0.1", 200), ("relay.internal:9791", 200)]
    {
        for path in ["livez", "readyz", "metrics"] {
            let url = format!("http://127.0.0.1:{port}/{path}");
            let request = reqwest::Client::new().get(url).header("host", host);
            // Probes call by any name.
            let expected = if path == "metrics" { expected } else { 200 };
            assert_eq!(status(request).await, expected, "{host} {path}");
        }
    }
    let admin = async |path: &str| {
        let answer = reqwest::get(format!("http://127.0.0.1:{port}{path}")).await.expect("an answer");
        (answer.status().as_u16(), answer.text().await.expect("text"))
    };
    assert_eq!(admin("/livez").await.0, 200);
    assert_eq!(admin("/readyz").await.0, 200);
    assert_eq!(status(relay.events("unknown", 0)).await, 404);
    let (_, metrics) = admin("/metrics").await;
    for line in [
        "turnwire_relay_turns_open 1",
        "turnwire_relay_streams_open 1",
        "turnwire_relay_refusals_total{code=\"not_found\"} 1",
        "turnwire_relay_append_seconds_count",
    ] {
        assert!(metrics.contains(line), "{line} in {metrics}");
    }
    relay.terminate();
    while admin("/readyz").await.0 != 503 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    drop(stream);
    assert_eq!(status(relay.request(Method::DELETE, "/a/_turnwire/v1/turns/t")).await, 202);
    relay.ended().await;
}

#[tokio::test]
async fn purge_removes_and_check_explains() {
    let (server, scratch) = (Server::start().await, Scratch::new());
    let config = open(&server, &scratch.log());
    let relay = Relay::start(&config);
    let (stream, mut wire) = started(&relay, &server, "t", 1).await;
    wire.chunk(STOP).await;
    wire.end().await;
    stream.rest().await.expect("a good end");
    let path = scratch.path("relay.toml");
    std::fs::write(&path, &config).expect("written");
    let run = |task: &str| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_turnwire-relay"))
            .args([task])
            .arg(&path)
            .output()
            .expect("run");
        (
            output.status.success(),
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr),
        )
    };
    assert_eq!(run("purge"), (true, "removed 1 turns\n".to_owned()));
    assert_eq!(status(relay.events("t", 0)).await, 404);
    let list = json(relay.request(Method::GET, "/a/_turnwire/v1/turns")).await;
    assert_eq!(list["turns"], serde_json::json!([]));
    drop((server, wire));
    let (is_good, said) = run("check");
    assert!(
        !is_good
            && said.contains("ok      the log in ")
            && said.contains("ok      the identity\nFAILED  a at "),
        "{said}"
    );
    let in_memory = config.split("[log]").next().expect("a config");
    std::fs::write(&path, in_memory).expect("written");
    let (is_good, said) = run("purge");
    assert!(!is_good && said.contains("DELETE /turns?subject=ID"), "{said}");
    std::fs::write(&path, "listen = 1\n").expect("written");
    let (is_good, said) = run("check");
    assert!(!is_good && said.contains("line 1: listen: "), "{said}");
}

/// A turn whose agent says nothing notices it in a file, and in memory with its next frame.
#[tokio::test]
async fn a_running_turn_that_is_purged_is_cut() {
    let scratch = Scratch::new();
    for log in [String::new(), scratch.log()] {
        let (server, admin) = (Server::start().await, crate::deploy::free());
        let relay = Relay::start(&format!("admin = \"{admin}\"\n{}", open(&server, &log)));
        // Each of them has to notice.
        let turns = [started(&relay, &server, "t", 1).await, started(&relay, &server, "u", 1).await];
        let purge = reqwest::Client::new().delete(format!("http://{admin}/turns?subject=local"));
        assert_eq!(sent(purge).await.text().await.expect("text"), "removed 2 turns\n");
        for (stream, mut wire) in turns {
            if log.is_empty() {
                wire.chunk(&delta("more")).await;
            }
            let told = "event: turnwire.cut\ndata: {\"last\":1,\"reason\":\"log_lost\",\"upstream\":\"running\"}\n\n";
            let read = stream.rest().await;
            assert!(
                read.as_ref().is_ok_and(|read| read.ends_with(told) && !read.contains("more")),
                "{read:?}"
            );
            // The agent is hung up on, in one way or the other.
            let _ = wire.read_to_end().await;
        }
        assert_eq!(status(relay.events("t", 0)).await, 404);
    }
}

/// A reader that is further behind than what is in memory is told the same, whether the turn is running or has ended.
#[tokio::test]
async fn a_reader_far_behind_in_a_turn_that_is_purged_is_cut() {
    let scratch = Scratch::new();
    for (log, is_over) in [(String::new(), false), (scratch.log(), false), (scratch.log(), true)] {
        let (server, admin) = (Server::start().await, crate::deploy::free());
        let relay = Relay::start(&format!("admin = \"{admin}\"\n{}", open(&server, &log)));
        let (stream, mut wire) = started(&relay, &server, "t", 1).await;
        drop(stream);
        // It reads nothing, until its socket is full.
        let get = get("/a/_turnwire/v1/turns/t/events", "Turnwire-Relay: 1\r\nConnection: close\r\n");
        let mut behind = Wire::open(relay.address(), &get).await;
        let text = delta(&"x".repeat(40_000));
        for _ in 0..200 {
            wire.chunk(&text).await;
        }
        if is_over {
            wire.chunk(STOP).await;
            wire.end().await;
        }
        let turns = relay.request(Method::GET, "/a/_turnwire/v1/turns");
        let turn = async || json(turns.try_clone().expect("no body")).await["turns"][0].clone();
        let (name, value) =
            if is_over { ("state", "closed".into()) } else { ("last", serde_json::Value::from(201)) };
        while turn().await[name] != value {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let purge = reqwest::Client::new().delete(format!("http://{admin}/turns?subject=local"));
        assert_eq!(sent(purge).await.text().await.expect("text"), "removed 1 turns\n");
        let read = behind.read_to_end().await.expect("a good end");
        let last = read.matches("id: ").count();
        assert!((1..201).contains(&last), "{last}");
        let end = &read[read.len().saturating_sub(200)..];
        assert!(end.contains(&format!("data: {{\"last\":{last},\"reason\":\"log_lost\",")), "{last}: {end}");
    }
}

#[tokio::test]
async fn the_relay_that_runs_purges_by_user_and_by_session() {
    let (server, admin) = (Server::start().await, crate::deploy::free());
    let relay = Relay::start(&format!("admin = \"{admin}\"\n{}", open(&server, "")));
    let purge = async |query: &str| {
        let answer = sent(reqwest::Client::new().delete(format!("http://{admin}/turns{query}"))).await;
        (answer.status().as_u16(), answer.text().await.expect("text"))
    };
    for (turn, query) in [("t", "?subject=local"), ("u", "?session=a/s")] {
        let (stream, mut wire) = started(&relay, &server, turn, 1).await;
        wire.chunk(STOP).await;
        wire.end().await;
        stream.rest().await.expect("a good end");
        for other in ["", "?subject=", "?subject=a&subject=local", "?session=s", "?all=1"] {
            assert_eq!(purge(other).await.0, 400, "{other}");
        }
        for other in ["?subject=other", "?session=a/other", "?session=other/s"] {
            assert_eq!(purge(other).await, (200, "removed 0 turns\n".to_owned()), "{other}");
        }
        // A page of another site, which has made its own name lead here.
        let client = reqwest::Client::new();
        let foreign =
            client.delete(format!("http://{admin}/turns{query}")).header("origin", "http://rebound.example");
        assert_eq!(status(foreign).await, 403);
        assert_eq!(status(relay.events(turn, 0)).await, 200);
        assert_eq!(purge(query).await, (200, "removed 1 turns\n".to_owned()));
        assert_eq!(status(relay.events(turn, 0)).await, 404);
    }
}
