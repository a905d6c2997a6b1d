//! Several relays with one Redis, or with one durable-streams server: any of them serves any reader, and when one ends, the others
//! know what is true of its turns.

use std::io::{Write, stderr};
use std::time::Duration;

use reqwest::Method;
use tokio::time::{Instant, sleep};

use crate::redis::Redis;
use crate::restarts::started;
use crate::streams_server::Streams;
use crate::wire::Server;
use crate::world::{Relay, STOP, STREAM, Scratch, Stream, delta, json, numbered, open, sent, status};

/// Settings of a Redis that keeps all that it has acknowledged. By default it may lose a moment of it, when the disk is busy.
const KEEPING: [&str; 6] = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""];

/// A config whose log is at this address. Owners are taken for dead early.
pub(crate) fn shared(server: &Server, store: &str) -> String {
    open(server, &format!("[log]\nstore = \"{store}\"\ntakeover = \"3s\"\n"))
}

/// A server that keeps a log, as long as this is there.
struct Store {
    url: String,
    _server: Box<dyn std::any::Any>,
}

/// One of each kind.
fn stores() -> [Store; 2] {
    let (redis, streams) = (Redis::start(), Streams::on_disk());
    [
        Store { url: redis.url(), _server: Box::new(redis) },
        Store { url: stored(&streams), _server: Box::new(streams) },
    ]
}

/// The address of a log on a durable-streams server.
pub(crate) fn stored(streams: &Streams) -> String {
    format!("durable-streams+{}", streams.url())
}

fn cut(last: u64, reason: &str, upstream: &str) -> String {
    format!(
        "event: turnwire.cut\ndata: {{\"last\":{last},\"reason\":\"{reason}\",\"upstream\":\"{upstream}\"}}\n\n"
    )
}

#[tokio::test]
async fn any_relay_serves_any_reader_and_a_start_reaches_the_agent_once() {
    for store in stores() {
        let server = Server::start().await;
        let config = shared(&server, &store.url);
        let relays = [Relay::start(&config), Relay::start(&config), Relay::start(&config)];
        let (stream, mut wire) = started(&relays[0], &server, "t", 3).await;
        // The same start elsewhere, and a reader from the middle.
        let mut second = Stream::of(sent(relays[1].turn("t")).await);
        second.until("id: 3\n").await;
        let mut third = Stream::of(sent(relays[2].events("t", 2)).await);
        third.until("id: 3\n").await;
        // Readers of an earlier place hold nothing back.
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
            assert_eq!(
                (&list["turns"][0]["last"], &list["turns"][0]["state"]),
                (&32.into(), &"closed".into())
            );
        }
        assert!(server.is_left_alone().await);
    }
}

/// A relay that follows a turn must not take it for lost when the agent has refused it, and a start with a cursor must not wait
/// for frames: owners are given a minute here.
#[tokio::test]
async fn a_start_that_is_refused_at_one_relay_can_be_repeated_at_another() {
    for store in stores() {
        let server = Server::start().await;
        let config = shared(&server, &store.url).replace("\"3s\"", "\"1m\"");
        let (first, second) = (Relay::start(&config), Relay::start(&config));
        let agent = async {
            let (mut wire, head) = server.accept().await;
            wire.body(&head).await;
            // The second relay follows the turn meanwhile.
            sleep(Duration::from_secs(2)).await;
            wire.json("429 Too Many Requests\r\nRetry-After: 7", "{}").await;
            wire
        };
        let joined = async {
            sleep(Duration::from_millis(500)).await;
            sent(second.turn("t")).await
        };
        let begun = sent(first.turn("t").header("last-event-id", "4"));
        let (refused, sent_away, _wire) = tokio::join!(begun, joined, agent);
        assert_eq!(
            (refused.status().as_u16(), &refused.headers()["retry-after"]),
            (429, &"7".parse().expect("a value"))
        );
        assert_eq!(sent_away.status(), 503, "it may be sent again");
        let agent = async {
            let (mut wire, head) = server.accept().await;
            wire.body(&head).await;
            wire.write(STREAM).await;
            wire.chunk(STOP).await;
            wire.end().await;
        };
        let (answer, ()) = tokio::join!(sent(second.turn("t")), agent);
        assert_eq!(Stream::of(answer).rest().await, Ok(numbered(1, STOP)));
        assert!(server.is_left_alone().await);
    }
}

#[tokio::test]
async fn a_user_has_the_same_limits_at_all_relays_and_a_turn_that_has_ended_makes_room() {
    let (server, redis) = (Server::start().await, Redis::start());
    let config = shared(&server, &redis.url()) + "[limits]\nturns_per_subject = 1\n";
    let (first, second) = (Relay::start(&config), Relay::start(&config));
    let (stream, mut wire) = started(&first, &server, "t", 1).await;
    let refused = sent(second.turn("u")).await;
    assert_eq!(
        (refused.status().as_u16(), &refused.headers()["retry-after"]),
        (429, &"5".parse().expect("a value"))
    );
    assert!(server.is_left_alone().await);
    wire.chunk(STOP).await;
    wire.end().await;
    stream.rest().await.expect("a good end");
    // So that the agent gets the last turn on another connection.
    drop(wire);
    let (lost, _wire) = started(&second, &server, "u", 1).await;
    assert_eq!(status(first.turn("v")).await, 429);
    // A turn whose relay has died has ended when the others have said so.
    second.kill();
    drop(lost);
    let told = Stream::of(sent(first.events("u", 1)).await).rest().await.expect("a good end");
    assert_eq!(told, cut(1, "owner_lost", "gone"));
    started(&first, &server, "v", 1).await;
}

#[tokio::test]
async fn the_others_tell_that_an_owner_has_died_and_send_nothing_again() {
    for store in stores() {
        let server = Server::start().await;
        let config = shared(&server, &store.url);
        let (owner, other) = (Relay::start(&config), Relay::start(&config));
        let (mut stream, _wire) = started(&owner, &server, "t", 5).await;
        let seen = stream.until("t5").await.to_owned();
        let reader = Stream::of(sent(other.events("t", 0)).await);
        owner.kill();
        let began = Instant::now();
        let told = cut(5, "owner_lost", "gone");
        assert_eq!(reader.rest().await, Ok(format!("{seen}{told}")));
        assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
        assert_eq!(Stream::of(sent(other.turn("t")).await).rest().await, Ok(format!("{seen}{told}")));
        assert_eq!(Stream::of(sent(other.events("t", 5)).await).rest().await, Ok(told));
        assert!(server.is_left_alone().await);
    }
}

#[tokio::test]
async fn an_owner_that_stood_still_hangs_up_and_its_readers_hear_the_truth() {
    for store in stores() {
        let server = Server::start().await;
        let config = shared(&server, &store.url);
        let (owner, other) = (Relay::start(&config), Relay::start(&config));
        let (mut stream, mut wire) = started(&owner, &server, "t", 2).await;
        stream.until("t2").await;
        owner.signal("-STOP");
        let told = cut(2, "owner_lost", "gone");
        let reader = Stream::of(sent(other.events("t", 2)).await);
        assert_eq!(reader.rest().await, Ok(told.clone()));
        wire.chunk(&delta("too late")).await;
        owner.signal("-CONT");
        // The reader at the zombie is sent away, having seen nothing of what came too late.
        let rest = stream.rest().await.expect("a good end");
        assert!(rest.ends_with("retry: 50\n\n") && !rest.contains("too late"), "{rest}");
        assert_eq!(Stream::of(sent(owner.events("t", 2)).await).rest().await, Ok(told));
        // The agent is hung up on, in one way or the other.
        let _ = wire.read_to_end().await;
    }
}

#[tokio::test]
async fn readers_of_a_relay_that_is_told_to_end_go_elsewhere_and_its_turns_end_well() {
    let (server, redis) = (Server::start().await, Redis::start());
    let config = shared(&server, &redis.url());
    let (ending, other) = (Relay::start(&config), Relay::start(&config));
    let (stream, mut wire) = started(&ending, &server, "t", 2).await;
    ending.terminate();
    let seen = stream.rest().await.expect("a good end");
    assert!(seen.ends_with("retry: 50\n\n"), "{seen}");
    let reader = Stream::of(sent(other.events("t", 2)).await);
    assert_eq!(status(ending.turn("new")).await, 503);
    wire.chunk(&delta("later")).await;
    wire.chunk(STOP).await;
    wire.end().await;
    assert_eq!(reader.rest().await, Ok(numbered(3, &delta("later")) + &numbered(4, STOP)));
    let log = ending.ended().await;
    assert!(log.contains("1 turns run"), "{log}");
}

#[tokio::test]
async fn a_turn_is_stopped_from_anywhere() {
    for store in stores() {
        let server = Server::start().await;
        let config = shared(&server, &store.url);
        let (owner, other) = (Relay::start(&config), Relay::start(&config));
        let (stream, _wire) = started(&owner, &server, "t", 1).await;
        let reader = Stream::of(sent(other.events("t", 1)).await);
        assert_eq!(status(other.request(Method::DELETE, "/a/_turnwire/v1/turns/t")).await, 202);
        let told = cut(1, "stopped", "gone");
        assert!(stream.rest().await.is_ok_and(|rest| rest.ends_with(&told)));
        assert_eq!(reader.rest().await, Ok(told));
        assert_eq!(status(other.request(Method::DELETE, "/a/_turnwire/v1/turns/t")).await, 204);
    }
}

#[tokio::test]
async fn a_running_turn_that_is_purged_is_cut_for_all_its_readers() {
    for store in stores() {
        let (server, admin) = (Server::start().await, crate::deploy::free());
        // Far longer than the test: a turn that was removed is not waited for.
        let config = shared(&server, &store.url).replace("\"3s\"", "\"60s\"");
        let (owner, other) = (Relay::start(&config), Relay::start(&format!("admin = \"{admin}\"\n{config}")));
        let (stream, _wire) = started(&owner, &server, "t", 1).await;
        let mut reader = Stream::of(sent(other.events("t", 0)).await);
        reader.until("id: 1\n").await;
        let purge = reqwest::Client::new().delete(format!("http://{admin}/turns?session=a/s"));
        assert_eq!(sent(purge).await.text().await.expect("text"), "removed 1 turns\n");
        assert!(stream.rest().await.is_ok_and(|rest| rest.ends_with(&cut(1, "log_lost", "running"))));
        assert!(reader.rest().await.is_ok_and(|rest| rest.ends_with(&cut(1, "log_lost", "unknown"))));
        assert_eq!(status(owner.events("t", 1)).await, 404);
    }
}

#[tokio::test]
async fn readers_elsewhere_are_readers() {
    if std::env::var_os("TURNWIRE_TEST").is_some_and(|scope| scope == "quick") {
        // It waits for twelve seconds.
        let _ = writeln!(stderr(), "quick: without readers_elsewhere_are_readers; --all has it");
        return;
    }
    let (server, redis) = (Server::start().await, Redis::start());
    let config = shared(&server, &redis.url()).replace("[log]", "on_leave = \"stop_after:3s\"\n[log]");
    let (owner, other) = (Relay::start(&config), Relay::start(&config));
    let (stream, mut wire) = started(&owner, &server, "t", 1).await;
    let mut reader = Stream::of(sent(other.events("t", 0)).await);
    drop(stream);
    sleep(Duration::from_secs(6)).await;
    wire.chunk(&delta("later")).await;
    reader.until("later").await;
    drop(reader);
    sleep(Duration::from_secs(6)).await;
    let rest = Stream::of(sent(other.events("t", 2)).await).rest().await;
    assert_eq!(rest, Ok(cut(2, "left", "running")));
}

#[tokio::test]
async fn a_redis_that_crashes_or_is_emptied_is_a_pause_while_the_owner_lives() {
    let (server, mut redis) = (Server::start().await, Redis::start_with(&KEEPING));
    let config = shared(&server, &redis.url());
    let (owner, other) = (Relay::start(&config), Relay::start(&config));
    let (mut stream, mut wire) = started(&owner, &server, "t", 2).await;
    let mut reader = Stream::of(sent(other.events("t", 0)).await);
    reader.until("t2").await;
    redis.kill();
    wire.chunk(&delta("t3")).await;
    // One who comes now waits for what only the log has.
    let mut late = Stream::of(sent(other.events("t", 0)).await);
    sleep(Duration::from_millis(1500)).await;
    redis.start_again();
    for stream in [&mut stream, &mut reader, &mut late] {
        stream.until("t3").await;
    }
    assert_eq!(redis.ask(&["FLUSHALL"]), "OK");
    wire.chunk(&delta("t4")).await;
    stream.until("t4").await;
    reader.until("t4").await;
    wire.chunk(STOP).await;
    wire.end().await;
    let whole = stream.rest().await.expect("a good end");
    for reader in [reader, late] {
        assert_eq!(reader.rest().await.as_ref(), Ok(&whole));
    }
    assert_eq!(Stream::of(sent(other.events("t", 0)).await).rest().await, Ok(whole));
    assert!(server.is_left_alone().await);
}

/// No other relay takes a lost turn over, so readers wait for as long as they would for one that does: connected ones, and those
/// who come again with what they have read.
#[tokio::test]
async fn an_owner_that_makes_a_lost_turn_again_late_is_waited_for() {
    let (server, redis) = (Server::start().await, Redis::start());
    let config = shared(&server, &redis.url()).replace("\"3s\"", "\"8s\"");
    let (owner, other, third) = (Relay::start(&config), Relay::start(&config), Relay::start(&config));
    let (mut stream, mut wire) = started(&owner, &server, "t", 2).await;
    stream.until("t2").await;
    let mut reader = Stream::of(sent(other.events("t", 0)).await);
    reader.until("t2").await;
    owner.signal("-STOP");
    assert_eq!(redis.ask(&["FLUSHALL"]), "OK");
    // So is what a reader has read elsewhere.
    let ahead = tokio::spawn(sent(other.events("t", 3)));
    let again = tokio::spawn(sent(third.events("t", 2)));
    let asked = Instant::now();
    assert_eq!(status(third.events("t", 0)).await, 404, "who has read nothing does not wait");
    assert!(asked.elapsed() < Duration::from_secs(2), "{:?}", asked.elapsed());
    sleep(Duration::from_secs(5)).await;
    owner.signal("-CONT");
    wire.chunk(&delta("t3")).await;
    wire.chunk(STOP).await;
    wire.end().await;
    let whole = stream.rest().await.expect("a good end");
    assert!(whole.ends_with(&numbered(4, STOP)), "{whole}");
    assert_eq!(reader.rest().await, Ok(whole));
    assert_eq!(Stream::of(ahead.await.expect("no panic")).rest().await, Ok(numbered(4, STOP)));
    let rest = Stream::of(again.await.expect("no panic")).rest().await;
    assert_eq!(rest, Ok(numbered(3, &delta("t3")) + &numbered(4, STOP)));
}

/// What a log does to a turn.
type Lose<'l> = Box<dyn FnOnce() + 'l>;

/// The log loses the turn's end, or all of it, when its readers have left.
#[tokio::test]
async fn a_turn_that_is_lost_after_its_end_is_appended_again() {
    let (redis, mut streams) = (Redis::start(), Streams::start());
    let (url, streams_url) = (redis.url(), stored(&streams));
    let lose_end = || {
        let copied = "for _, k in ipairs(redis.call('KEYS', 'was:*')) do redis.call('RENAME', k, string.sub(k, 5)) end";
        redis.ask(&["EVAL", &format!("{copied} return 'ok'"), "0"]);
    };
    let lose_all = || assert_eq!(redis.ask(&["FLUSHALL"]), "OK");
    let lose_streams = || {
        streams.kill();
        streams.start_again();
    };
    let ways: [(&str, &str, Lose<'_>); 3] = [
        ("end", &url, Box::new(lose_end)),
        ("all", &url, Box::new(lose_all)),
        ("streams", &streams_url, Box::new(lose_streams)),
    ];
    for (turn, store, lose) in ways {
        let server = Server::start().await;
        let config = shared(&server, store);
        let (owner, other) = (Relay::start(&config), Relay::start(&config));
        let (stream, mut wire) = started(&owner, &server, turn, 2).await;
        if turn == "end" {
            let copy =
                "for _, k in ipairs(redis.call('KEYS', 'tw:t:*')) do redis.call('COPY', k, 'was:'..k) end";
            assert_eq!(redis.ask(&["EVAL", &format!("{copy} return 'ok'"), "0"]), "ok");
        }
        wire.chunk(&delta("t3")).await;
        wire.chunk(STOP).await;
        wire.end().await;
        let whole = stream.rest().await.expect("a good end");
        lose();
        // Who has read some of it knows that it was there, and waits for its owner.
        let rest = Stream::of(sent(other.events(turn, 2)).await).rest().await;
        assert_eq!(rest, Ok(numbered(3, &delta("t3")) + &numbered(4, STOP)), "{turn}");
        let began = Instant::now();
        let again = loop {
            let answer = sent(other.events(turn, 0)).await;
            if answer.status() == 200 {
                break Stream::of(answer).rest().await;
            }
            assert!(began.elapsed() < Duration::from_secs(10), "{turn}: {}", answer.status());
            sleep(Duration::from_millis(100)).await;
        };
        assert_eq!(again.as_ref(), Ok(&whole), "{turn}");
        assert_eq!(Stream::of(sent(owner.events(turn, 0)).await).rest().await, Ok(whole), "{turn}");
        assert!(server.is_left_alone().await);
    }
}

#[tokio::test]
async fn when_owner_and_redis_die_readers_begin_again_in_another_log() {
    let (server, mut redis) = (Server::start().await, Redis::start_with(&KEEPING));
    let config = shared(&server, &redis.url());
    let (owner, other) = (Relay::start(&config), Relay::start(&config));
    let (_stream, _wire) = started(&owner, &server, "t", 2).await;
    let answer = sent(other.events("t", 0)).await;
    let log = answer.headers()["turnwire-log"].to_str().expect("text").to_owned();
    let reader = Stream::of(answer);
    owner.kill();
    redis.kill();
    redis.start_again();
    // It learns neither that the turn continues nor that it has ended: it must reconnect.
    assert!(reader.rest().await.is_ok_and(|rest| rest.ends_with("retry: 50\n\n")));
    let events = |log: &str| other.request(Method::GET, &format!("/a/_turnwire/v1/turns/t/events?log={log}"));
    assert_eq!(status(events(&log).header("last-event-id", "2")).await, 412);
    let rest = Stream::of(sent(other.events("t", 0)).await).rest().await.expect("told");
    assert!(
        rest.starts_with(&numbered(1, &delta("t1"))) && rest.ends_with(&cut(2, "owner_lost", "gone")),
        "{rest}"
    );
}

#[tokio::test]
async fn a_redis_without_room_ends_the_turn_and_refuses_starts() {
    let (server, redis) = (Server::start().await, Redis::start());
    let config = shared(&server, &redis.url());
    let (owner, other) = (Relay::start(&config), Relay::start(&config));
    let (stream, mut wire) = started(&owner, &server, "t", 1).await;
    let reader = Stream::of(sent(other.events("t", 1)).await);
    redis.ask(&["CONFIG", "SET", "maxmemory", "1"]);
    wire.chunk(&delta("t2")).await;
    let told = cut(1, "log_full", "running");
    assert_eq!(reader.rest().await, Ok(told.clone()));
    assert!(stream.rest().await.is_ok_and(|rest| rest.ends_with(&told)));
    assert_eq!(status(other.turn("u")).await, 503);
    redis.ask(&["CONFIG", "SET", "maxmemory", "0"]);
    assert!(server.is_left_alone().await);
}

#[tokio::test]
async fn a_relay_does_not_start_with_a_redis_that_may_drop_turns() {
    let (server, redis, scratch) = (Server::start().await, Redis::start(), Scratch::new());
    redis.ask(&["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]);
    let path = scratch.path("relay.toml");
    std::fs::write(&path, shared(&server, &redis.url())).expect("written");
    // `check` would wait for its answer.
    drop(server);
    for task in ["serve", "check"] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_turnwire-relay"));
        let output = command.arg(task).arg(&path).output().expect("run");
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains("set it to `noeviction`"), "{said}");
    }
}
