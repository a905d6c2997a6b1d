//! What only several relays with one durable-streams server have: how it fails, and servers that are none.

use std::time::Duration;

use tokio::time::sleep;

use crate::restarts::started;
use crate::several::{shared, stored};
use crate::streams_server::Streams;
use crate::wire::Server;
use crate::world::{Relay, STOP, Scratch, Stream, delta, open, sent};

#[tokio::test]
async fn a_server_that_crashes_is_a_pause_while_the_owner_lives() {
    // One that keeps streams, and one that has lost all of them.
    for mut streams in [Streams::on_disk(), Streams::start()] {
        let server = Server::start().await;
        let config = shared(&server, &stored(&streams));
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
