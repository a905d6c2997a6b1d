//! The server of the log dies while turns run, and another one takes its place: what owners have shown is there, and their turns
//! go on.

use std::time::Duration;

use reqwest::Method;
use tokio::time::{Instant, sleep};

use crate::redis::Redis;
use crate::restarts::started;
use crate::wire::Server;
use crate::world::{Relay, STOP, Scratch, Stream, delta, json, numbered, open, sent, status};

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
        sleep(Duration::from_millis(100)).await;
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
    for mut redis in Redis::of_each_kind() {
        let server = Server::start().await;
        let replica = redis.replica();
        let sentinel = redis.sentinel();
        sentinel.until(&["INFO", "sentinel"], "slaves=1");
        let config = shared(&server, &sentinel);
        let relays = [Relay::start(&config), Relay::start(&config)];
        interrupted(&server, &relays, "t", || redis.kill()).await;
        assert!(replica.ask(&["INFO", "replication"]).contains("role:master"));
        assert!(server.is_left_alone().await);
    }
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

/// A config whose ends wait for a replica, and whose owners are taken for dead early.
fn replicated(server: &Server, redis: &Redis) -> String {
    let settings = "takeover = \"3s\"\ndurability = \"replica\"";
    open(server, &format!("[log]\nstore = \"{}\"\n{settings}\n", redis.url()))
}

#[tokio::test]
async fn an_end_waits_for_the_replica_at_all_relays() {
    let (server, redis) = (Server::start().await, Redis::start());
    let replica = redis.replica();
    let config = replicated(&server, &redis);
    let (owner, other) = (Relay::start(&config), Relay::start(&config));
    let (mut stream, mut wire) = started(&owner, &server, "t", 2).await;
    let mut reader = Stream::of(sent(other.events("t", 0)).await);
    reader.until("t2").await;
    replica.freeze();
    wire.chunk(&delta("t3")).await;
    stream.until("t3").await;
    reader.until("t3").await;
    wire.chunk(STOP).await;
    wire.end().await;
    let read = [tokio::spawn(stream.rest()), tokio::spawn(reader.rest())];
    // Longer than an owner may be silent: this one lives, and says so.
    sleep(Duration::from_secs(6)).await;
    assert!(read.iter().all(|read| !read.is_finished()));
    for relay in [&owner, &other] {
        let list = json(relay.request(Method::GET, "/a/_turnwire/v1/turns?session=s")).await;
        assert_eq!((&list["turns"][0]["last"], &list["turns"][0]["state"]), (&3.into(), &"open".into()));
    }
    assert_eq!(status(other.turn("u")).await, 503);
    replica.thaw();
    let whole =
        (1..=3).map(|at| numbered(at, &delta(&format!("t{at}")))).collect::<String>() + &numbered(4, STOP);
    for read in read {
        assert_eq!(read.await.expect("no panic").as_ref(), Ok(&whole));
    }
    assert!(server.is_left_alone().await);
}

#[tokio::test]
async fn a_failover_right_after_an_end_was_shown_keeps_it() {
    for mut redis in Redis::of_each_kind() {
        let server = Server::start().await;
        let _replica = redis.replica();
        let sentinel = redis.sentinel();
        sentinel.until(&["INFO", "sentinel"], "slaves=1");
        let config = replicated(&server, &sentinel);
        let (owner, other) = (Relay::start(&config), Relay::start(&config));
        let (stream, mut wire) = started(&owner, &server, "t", 2).await;
        wire.chunk(STOP).await;
        wire.end().await;
        let whole = stream.rest().await.expect("a good end");
        redis.kill();
        owner.kill();
        let began = Instant::now();
        loop {
            let answer = sent(other.events("t", 0)).await;
            if answer.status() == 200 {
                assert_eq!(Stream::of(answer).rest().await, Ok(whole));
                break;
            }
            assert!(began.elapsed() < Duration::from_secs(20), "{}", answer.status());
            sleep(Duration::from_millis(100)).await;
        }
        // Nothing would keep its end: it is not begun.
        assert_eq!(status(other.turn("u")).await, 503);
        assert!(server.is_left_alone().await);
    }
}

#[tokio::test]
async fn a_check_finds_that_there_is_no_replica() {
    for redis in [Some(Redis::start()), Redis::valkey()].into_iter().flatten() {
        let (server, scratch) = (Server::start().await, Scratch::new());
        let path = scratch.path("relay.toml");
        std::fs::write(&path, replicated(&server, &redis)).expect("written");
        // `check` would wait for its answer.
        drop(server);
        let check = || {
            let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_turnwire-relay"));
            let output = command.arg("check").arg(&path).output().expect("run");
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        let said = check();
        assert!(said.contains("FAILED  the log in redis://") && said.contains("no replica has"), "{said}");
        let _replica = redis.replica();
        let said = check();
        assert!(said.contains("ok      the log in redis://"), "{said}");
    }
}
