//! The server of the log dies while turns run, and another one takes its place: what owners have shown is there, and their turns
//! go on.

use std::time::Duration;

use crate::redis::Redis;
use crate::restarts::started;
use crate::wire::Server;
use crate::world::{Relay, STOP, Stream, delta, numbered, open, sent};

/// A config whose log is behind this server, and whose owners have time for the other one to come.
fn shared(server: &Server, redis: &Redis) -> String {
    open(server, &format!("[log]\nstore = \"{}\"\ntakeover = \"30s\"\n", redis.url()))
}

/// Runs a turn of ten frames, between the fifth and the sixth of which this happens. All relays have all of it in the end.
async fn interrupted(server: &Server, relays: &[Relay; 2], turn: &str, happens: impl FnOnce()) {
    let (stream, mut wire) = started(&relays[0], server, turn, 5).await;
    let mut other = Stream::of(sent(relays[1].events(turn, 0)).await);
    other.until("id: 5\n").await;
    happens();
    for frame in 6..=10 {
        wire.chunk(&delta(&format!("{turn}{frame}"))).await;
    }
    wire.chunk(STOP).await;
    wire.end().await;
    let mut whole: String =
        (1..).zip(1..=10).map(|(at, frame)| numbered(at, &delta(&format!("{turn}{frame}")))).collect();
    whole.push_str(&numbered(11, STOP));
    assert_eq!(stream.rest().await.as_ref(), Ok(&whole));
    // A reader elsewhere may have been sent away. It reconnects, as clients do.
    let mut read = other.rest().await.unwrap_or_default();
    while !read.contains("turn_stop") {
        let last = read.lines().filter_map(|line| line.strip_prefix("id: ")).next_back();
        let last = last.map_or(0, |last| last.parse().expect("a number"));
        tokio::time::sleep(Duration::from_millis(100)).await;
        let answer = sent(relays[1].events(turn, last)).await;
        if answer.status().is_success() {
            read = read.replace("retry: 50\n\n", "") + &Stream::of(answer).rest().await.unwrap_or_default();
        }
    }
    assert_eq!(read, whole);
    for relay in relays {
        assert_eq!(Stream::of(sent(relay.events(turn, 0)).await).rest().await.as_ref(), Ok(&whole));
    }
}

#[tokio::test]
async fn sentinel_puts_a_replica_in_the_place_of_a_server_that_died() {
    let (server, mut redis) = (Server::start().await, Redis::start());
    let replica = redis.replica();
    let sentinel = redis.sentinel();
    sentinel.until(&["INFO", "sentinel"], "slaves=1");
    let config = shared(&server, &sentinel);
    let relays = [Relay::start(&config), Relay::start(&config)];
    interrupted(&server, &relays, "t", || redis.kill()).await;
    assert!(replica.ask(&["INFO", "replication"]).contains("role:master"));
    assert!(server.is_left_alone().await);
}

#[tokio::test]
async fn a_cluster_of_three_loses_the_server_of_a_turn() {
    let (server, mut cluster) = (Server::start().await, Redis::cluster_of(3));
    let stand_ins: Vec<Redis> = cluster.iter().map(Redis::stand_in).collect();
    for node in cluster.iter().chain(&stand_ins) {
        node.until(&["CLUSTER", "INFO"], "cluster_known_nodes:6");
    }
    let config = shared(&server, &cluster[0]);
    let relays = [Relay::start(&config), Relay::start(&config)];
    // Each is most probably on a different server than the previous one.
    for turn in ["a", "b", "c", "d"] {
        interrupted(&server, &relays, turn, || ()).await;
    }
    // The first is the one that both were told of.
    for turn in ["e", "f"] {
        interrupted(&server, &relays, turn, || drop(cluster.remove(0))).await;
        stand_ins[0].until(&["CLUSTER", "INFO"], "cluster_state:ok");
    }
    assert!(server.is_left_alone().await);
}
