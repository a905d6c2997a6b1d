//! Several relays with one durable-streams server: the same as with one Redis, where the server has what that needs.

use std::time::Duration;

use reqwest::Method;
use tokio::time::sleep;

use crate::restarts::started;
use crate::streams_server::Streams;
use crate::wire::Server;
use crate::world::{Relay, STOP, Scratch, Stream, delta, json, numbered, open, sent, status};

/// A config whose log is on this server. Owners are taken for dead early.
fn shared(server: &Server, streams: &Streams) -> String {
    let url = streams.url();
    open(server, &format!("[log]\nstore = \"durable-streams+{url}\"\ntakeover = \"3s\"\n"))
}

fn cut(last: u64, reason: &str, upstream: &str) -> String {
    format!(
        "event: turnwire.cut\ndata: {{\"last\":{last},\"reason\":\"{reason}\",\"upstream\":\"{upstream}\"}}\n\n"
    )
}

#[tokio::test]
async fn any_relay_serves_any_reader_and_a_start_reaches_the_agent_once() {
    let (server, streams) = (Server::start().await, Streams::start());
    let config = shared(&server, &streams);
    let relays = [Relay::start(&config), Relay::start(&config), Relay::start(&config)];
    let (stream, mut wire) = started(&relays[0], &server, "t", 3).await;
    let mut second = Stream::of(sent(relays[1].turn("t")).await);
    second.until("id: 3\n").await;
    let third = Stream::of(sent(relays[2].events("t", 2)).await);
    for frame in 4..=30 {
        wire.chunk(&delta(&format!("t{frame}"))).await;
    }
    let large = delta(&"x".repeat(300_000));
    wire.chunk(&large).await;
    wire.chunk(STOP).await;
    wire.end().await;
    let whole = stream.rest().await.expect("a good end");
    assert!(whole.ends_with(&format!("{}{}", numbered(31, &large), numbered(32, STOP))));
    assert_eq!(second.rest().await.as_ref(), Ok(&whole));
    assert!(third.rest().await.is_ok_and(|rest| whole.ends_with(&rest)));
    for relay in &relays {
        assert_eq!(Stream::of(sent(relay.turn("t")).await).rest().await.as_ref(), Ok(&whole));
        let conflict = relay.turn("t").body("{\"stream\":\"delta\",\"messages\":[1]}");
        assert_eq!(status(conflict).await, 409);
        let list = json(relay.request(Method::GET, "/a/_turnwire/v1/turns?session=s")).await;
        assert_eq!((&list["turns"][0]["last"], &list["turns"][0]["state"]), (&32.into(), &"closed".into()));
    }
    assert!(server.is_left_alone().await);
}

#[tokio::test]
async fn the_others_tell_that_an_owner_has_died_and_send_nothing_again() {
    let (server, streams) = (Server::start().await, Streams::on_disk());
    let config = shared(&server, &streams);
    let (owner, other) = (Relay::start(&config), Relay::start(&config));
    let (mut stream, _wire) = started(&owner, &server, "t", 5).await;
    let seen = stream.until("t5").await.to_owned();
    let reader = Stream::of(sent(other.events("t", 0)).await);
    owner.kill();
    let told = cut(5, "owner_lost", "gone");
    assert_eq!(reader.rest().await, Ok(format!("{seen}{told}")));
    assert_eq!(Stream::of(sent(other.turn("t")).await).rest().await, Ok(format!("{seen}{told}")));
    assert!(server.is_left_alone().await);
}

#[tokio::test]
async fn an_owner_that_stood_still_hangs_up_and_shows_nothing_more() {
    let (server, streams) = (Server::start().await, Streams::start());
    let config = shared(&server, &streams);
    let (owner, other) = (Relay::start(&config), Relay::start(&config));
    let (mut stream, mut wire) = started(&owner, &server, "t", 2).await;
    stream.until("t2").await;
    owner.signal("-STOP");
    let told = cut(2, "owner_lost", "gone");
    let reader = Stream::of(sent(other.events("t", 2)).await);
    assert_eq!(reader.rest().await, Ok(told.clone()));
    wire.chunk(&delta("too late")).await;
    owner.signal("-CONT");
    let rest = stream.rest().await.expect("a good end");
    assert!(rest.ends_with("retry: 50\n\n") && !rest.contains("too late"), "{rest}");
    assert_eq!(Stream::of(sent(owner.events("t", 2)).await).rest().await, Ok(told));
    // The agent is hung up on, in one way or the other.
    let _ = wire.read_to_end().await;
}

#[tokio::test]
async fn a_turn_is_stopped_from_anywhere() {
    let (server, streams) = (Server::start().await, Streams::start());
    let config = shared(&server, &streams);
    let (owner, other) = (Relay::start(&config), Relay::start(&config));
    let (stream, _wire) = started(&owner, &server, "t", 1).await;
    let reader = Stream::of(sent(other.events("t", 1)).await);
    assert_eq!(status(other.request(Method::DELETE, "/a/_turnwire/v1/turns/t")).await, 202);
    let told = cut(1, "stopped", "gone");
    assert!(stream.rest().await.is_ok_and(|rest| rest.ends_with(&told)));
    assert_eq!(reader.rest().await, Ok(told));
}

#[tokio::test]
async fn a_server_that_crashes_is_a_pause_while_the_owner_lives() {
    // One that keeps streams, and one that has lost all of them.
    for mut streams in [Streams::on_disk(), Streams::start()] {
        let server = Server::start().await;
        let config = shared(&server, &streams);
        let (owner, other) = (Relay::start(&config), Relay::start(&config));
        let (mut stream, mut wire) = started(&owner, &server, "t", 2).await;
        let mut reader = Stream::of(sent(other.events("t", 0)).await);
        reader.until("t2").await;
        streams.kill();
        wire.chunk(&delta("t3")).await;
        sleep(Duration::from_millis(1500)).await;
        streams.start_again();
        stream.until("t3").await;
        reader.until("t3").await;
        wire.chunk(STOP).await;
        wire.end().await;
        let whole = stream.rest().await.expect("a good end");
        assert_eq!(reader.rest().await.as_ref(), Ok(&whole));
        assert_eq!(Stream::of(sent(other.events("t", 0)).await).rest().await, Ok(whole));
        assert!(server.is_left_alone().await);
    }
}

#[tokio::test]
async fn check_says_what_a_streams_server_does_not_do() {
    let (server, scratch) = (Server::start().await, Scratch::new());
    let path = scratch.path("relay.toml");
    // This one knows nothing of streams.
    let other = axum::Router::new().fallback(async || axum::http::StatusCode::CREATED);
    let socket = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("durable-streams+http://{}", socket.local_addr().expect("an address"));
    tokio::spawn(axum::serve(socket, other).into_future());
    std::fs::write(&path, open(&server, &format!("[log]\nstore = \"{url}\"\n"))).expect("written");
    // `check` would wait for its answer.
    drop(server);
    for task in ["serve", "check"] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_turnwire-relay"));
        command.arg(task).arg(&path);
        let output =
            tokio::task::spawn_blocking(move || command.output()).await.expect("ended").expect("run");
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains("it refuses an append with 201"), "{said}");
    }
}
