//! Tests for Redis only: several relays, a server that loses data, and its settings.

use std::time::Duration;

use super::super::probe;
use super::super::tests::server::Redis;
use super::super::tests::{again, ends, frames, in_redis, key, made, new};
use super::*;
use crate::turn::{CutReason, End, UpstreamState};

/// With its default settings, Redis may lose the last acknowledged writes.
const KEEPING: [&str; 6] = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""];

async fn connected(redis: &Redis) -> RedisLog {
    // After a restart the first attempts may fail.
    in_redis(redis).await
}

#[tokio::test]
async fn a_zombie_is_fenced_and_its_turn_is_read_elsewhere() {
    let redis = Redis::start();
    let (first, second) = (connected(&redis).await, connected(&redis).await);
    let claim = made(&first, "t").await;
    first.append(&claim, 1, frames(&["a", "b"]), Change::default()).await.expect("appended");
    assert_eq!(second.read(key("t"), 0, 9).await, Ok(frames(&["a", "b"])));
    assert_eq!(first.beat(&claim, 2).await, Ok(Wishes::default()));
    assert_eq!(first.beat(&claim, 3).await, Err(LogError::Tail(2)));
    second.ask_to_stop(key("t")).await.expect("asked");
    second.note_readers(key("t")).await.expect("noted");
    let wishes = Wishes { is_stopped: true, readers: 1 };
    assert_eq!(first.beat(&claim, 1).await, Ok(wishes), "an append came meanwhile");
    let signs = second.signs().await.expect("signs");
    assert_eq!(signs, [(key("t"), Sign { epoch: 1, last: 2, beats: 3 })]);
    let taken = second.claim(key("t"), 1).await.expect("claimed");
    assert_eq!((taken.log, taken.epoch), (claim.log, 2), "nothing can be missing");
    assert_eq!(first.beat(&claim, 2).await, Err(LogError::Fenced));
    assert_eq!(first.append(&claim, 3, frames(&["c"]), Change::default()).await, Err(LogError::Fenced));
    assert_eq!(first.claim(key("t"), 1).await, Err(LogError::Fenced), "one of them only");
    second.append(&taken, 3, Vec::new(), ends(End::Eof)).await.expect("appended");
    assert_eq!(first.signs().await, Ok(Vec::new()));
}

#[tokio::test]
async fn what_the_server_forbids_is_found_before_a_turn_needs_it() {
    let redis = Redis::start();
    let log = connected(&redis).await;
    assert_eq!(probe(&log).await, Ok(()));
    assert_eq!(log.signs().await, Ok(Vec::new()), "nothing of it is left");
    for command in ["+@all -xadd", "+@all -hset", "+@all -del"] {
        let mut words = vec!["ACL", "SETUSER", "default"];
        words.extend(command.split(' '));
        assert_eq!(redis.ask(&words), "OK");
        let refused = probe(&log).await;
        assert!(matches!(refused, Err(LogError::Unreachable(_))), "{command}: {refused:?}");
    }
}

#[tokio::test]
async fn a_user_has_the_same_limits_everywhere() {
    let redis = Redis::start();
    let (first, second) = (connected(&redis).await, connected(&redis).await);
    let ask = async |log: &RedisLog, turn| log.admit(&key(turn), 5, 2).await.expect("an answer");
    assert_eq!(ask(&first, "a").await, Admission::Granted);
    let a = made(&first, "a").await;
    assert_eq!(ask(&second, "b").await, Admission::Granted);
    let b = made(&second, "b").await;
    for log in [&first, &second] {
        assert_eq!(ask(log, "c").await, Admission::TooManyTurns);
        assert_eq!(ask(log, "a").await, Admission::Granted, "the same turn counts once");
    }
    let other = TurnKey { subject: "other".to_owned(), ..key("c") };
    assert_eq!(second.admit(&other, 5, 2).await, Ok(Admission::Granted));
    first.append(&a, 1, Vec::new(), ends(End::Done)).await.expect("appended");
    assert_eq!(ask(&second, "c").await, Admission::Granted);
    second.purge(Purge::Subject(b.key.subject.clone())).await.expect("purged");
    let Admission::TooManyStarts(wait) = ask(&second, "d").await else { panic!("five starts in a minute") };
    assert!(wait > Duration::from_secs(1) && wait <= Duration::from_secs(12), "{wait:?}");
}

/// Any relay that looks at the running turns completes what failed at a turn's end.
#[tokio::test]
async fn a_turn_that_has_ended_does_not_count_for_long_whatever_failed() {
    let redis = Redis::start();
    let (first, second) = (connected(&redis).await, connected(&redis).await);
    assert_eq!(first.admit(&key("a"), 100, 1).await, Ok(Admission::Granted));
    let claim = made(&first, "a").await;
    let running = keys::running(&key("a").subject);
    assert_eq!(redis.ask(&["RENAME", &running, "aside"]), "OK");
    assert_eq!(redis.ask(&["SET", &running, "no list"]), "OK");
    first.append(&claim, 1, Vec::new(), ends(End::Done)).await.expect("appended");
    assert_eq!(redis.ask(&["RENAME", "aside", &running]), "OK");
    assert_eq!(second.admit(&key("b"), 100, 1).await, Ok(Admission::TooManyTurns), "it was not counted down");
    assert_eq!(second.signs().await, Ok(Vec::new()));
    assert_eq!(second.admit(&key("b"), 100, 1).await, Ok(Admission::Granted));
    assert_eq!(redis.ask(&["SCARD", keys::OPEN]), "0");
}

#[tokio::test]
async fn a_turn_that_was_never_made_is_counted_for_a_minute() {
    for redis in [Redis::start(), Redis::cluster()] {
        let log = connected(&redis).await;
        assert_eq!(log.admit(&key("a"), 100, 1).await, Ok(Admission::Granted));
        assert_eq!(log.admit(&key("b"), 100, 1).await, Ok(Admission::TooManyTurns));
        let running = keys::running(&key("a").subject);
        let lives = || redis.ask(&["PTTL", &running]).parse::<u64>().expect("milliseconds");
        assert!((50_000..=60_000).contains(&lives()), "{}", lives());
        made(&log, "a").await;
        assert!(lives() > 120_000, "{}", lives());
    }
}

#[tokio::test]
async fn hints_have_the_frames_and_the_log_has_the_rest() {
    for redis in [Redis::start(), Redis::cluster()] {
        let (first, second) = (connected(&redis).await, connected(&redis).await);
        let claim = made(&first, "t").await;
        let mut hints = second.watch(&key("t"));
        assert_eq!(hints.recv().await, Some(Hint::Look), "what came before the subscription");
        let all = frames(&["a\n", "", "\u{1f642}"]);
        first.append(&claim, 1, all.clone(), Change::default()).await.expect("appended");
        assert_eq!(hints.recv().await, Some(Hint::Frames { log: claim.log, first: 1, frames: all }));
        let large = vec![Bytes::from(vec![b'x'; 70_000])];
        first.append(&claim, 4, large.clone(), Change::default()).await.expect("appended");
        assert_eq!(hints.recv().await, Some(Hint::Look));
        assert_eq!(second.read(key("t"), 3, 1).await, Ok(large));
        first.append(&claim, 5, Vec::new(), ends(End::Done)).await.expect("appended");
        assert_eq!(hints.recv().await, Some(Hint::Look));
    }
}

#[tokio::test]
async fn a_log_has_two_connections_however_many_turns_are_watched() {
    let redis = Redis::start();
    let log = connected(&redis).await;
    let watched = async |count: usize| {
        while redis.ask(&["PUBSUB", "CHANNELS", "tw:t:*"]) != count.to_string() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    // The asking client counts too.
    let clients = || redis.ask(&["CLIENT", "LIST"]).lines().count();
    let hints: Vec<_> = (0..20).map(|turn| log.watch(&key(&turn.to_string()))).collect();
    watched(20).await;
    assert_eq!(clients(), 3);
    drop(hints);
    watched(0).await;
    assert_eq!(clients(), 3);
}

#[tokio::test]
async fn sentinel_says_where_redis_is() {
    let redis = Redis::start();
    let sentinel = redis.sentinel();
    let log = connected(&sentinel).await;
    let claim = made(&log, "t").await;
    log.append(&claim, 1, frames(&["a"]), Change::default()).await.expect("appended");
    assert_eq!(connected(&redis).await.read(key("t"), 0, 9).await, Ok(frames(&["a"])));
}

#[tokio::test]
async fn a_log_gets_a_new_id_if_it_may_have_lost_something_and_no_owner_has_repaired_it() {
    let mut redis = Redis::start_with(&KEEPING);
    let log = connected(&redis).await;
    let (repaired, orphaned) = (made(&log, "repaired").await, made(&log, "orphaned").await);
    for claim in [&repaired, &orphaned] {
        log.append(claim, 1, frames(&["a"]), Change::default()).await.expect("appended");
    }
    redis.kill();
    redis.start_again();
    let appended = async || log.append(&repaired, 2, frames(&["b"]), Change::default()).await;
    // It may be received twice, if its response is lost.
    let answer = again(appended).await;
    assert!(matches!(answer, Ok(()) | Err(LogError::Tail(2))), "{answer:?}");
    let claimed = log.claim(key("repaired"), 1).await.expect("claimed");
    assert_eq!(claimed.log, repaired.log, "its owner knew that all was there");
    let claimed = log.claim(key("orphaned"), 1).await.expect("claimed");
    assert_ne!(claimed.log, orphaned.log);
    assert_eq!(log.append(&orphaned, 2, frames(&["b"]), Change::default()).await, Err(LogError::Fenced));
    assert_eq!(log.read(key("orphaned"), 0, 9).await, Ok(frames(&["a"])), "what was kept is there");
}

#[tokio::test]
async fn an_owner_makes_a_lost_turn_again_but_none_that_was_removed() {
    let redis = Redis::start();
    let log = connected(&redis).await;
    let claim = made(&log, "t").await;
    let response = ResponseHead { status: 200, content_type: "text/event-stream".to_owned() };
    assert_eq!(log.restore(&claim, new("s"), None).await, Err(LogError::Fenced), "it is there");
    redis.ask(&["FLUSHALL"]);
    assert_eq!(log.beat(&claim, 0).await, Err(LogError::Gone));
    assert_eq!(log.is_removed(key("t")).await, Ok(false), "it was lost");
    log.restore(&claim, new("s"), Some(response.clone())).await.expect("restored");
    assert_eq!(log.admit(&key("u"), 100, 1).await, Ok(Admission::TooManyTurns), "it counts again");
    log.append(&claim, 1, frames(&["a"]), Change::default()).await.expect("appended");
    let head = log.head(key("t")).await.expect("a head");
    assert_eq!((head.log, head.epoch, head.last, head.response), (claim.log, 1, 1, Some(response)));
    let listed = log.turns("agents".into(), "ann".into(), Some("s".into())).await.expect("a list");
    assert_eq!(listed.len(), 1);
    assert_eq!(log.signs().await.expect("signs").len(), 1);
    assert_eq!(log.purge(Purge::Session { upstream: "agents".into(), session: "s".into() }).await, Ok(1));
    assert_eq!(log.restore(&claim, new("s"), None).await, Err(LogError::Removed));
    assert_eq!(log.is_removed(key("t")).await, Ok(true));
    // One of the same name that was made later is another one.
    let claim = made(&log, "t").await;
    assert_eq!(log.is_removed(key("t")).await, Ok(false));
    log.remove(&claim).await.expect("removed");
    assert_eq!(log.is_removed(key("t")).await, Ok(true), "it never began");
}

/// A server that is killed within an append may start again with some of the append's frames, and without the rest of it.
#[tokio::test]
async fn frames_of_half_an_append_are_neither_read_nor_in_the_way() {
    let redis = Redis::start();
    let log = connected(&redis).await;
    for (turn, kept) in [("new", &[][..]), ("old", &["a", "b"])] {
        let claim = made(&log, turn).await;
        if !kept.is_empty() {
            log.append(&claim, 1, frames(kept), Change::default()).await.expect("appended");
        }
        let last = kept.len() as u64;
        let stream = keys::frames(&keys::tag(&key(turn)));
        for half in 1..=3 {
            redis.ask(&["XADD", &stream, &format!("{}-0", last + half), "f", "half"]);
        }
        assert_eq!(log.read(key(turn), 0, 9).await, Ok(frames(kept)), "{turn}");
        log.append(&claim, last + 1, frames(&["c", "d"]), Change::default()).await.expect("appended");
        log.append(&claim, last + 3, frames(&["e"]), ends(End::Done)).await.expect("appended");
        let all = [kept, &["c", "d", "e"]].concat();
        assert_eq!(log.read(key(turn), 0, 9).await, Ok(frames(&all)), "{turn}");
        assert_ne!(redis.ask(&["PTTL", &stream]), "-1", "{turn}: it is not kept for ever");
    }
}

#[tokio::test]
async fn a_full_memory_has_room_for_ends_and_nothing_is_dropped() {
    let redis = Redis::start();
    let log = connected(&redis).await;
    let claim = made(&log, "t").await;
    log.append(&claim, 1, frames(&["a"]), Change::default()).await.expect("appended");
    redis.ask(&["CONFIG", "SET", "maxmemory", "1"]);
    assert_eq!(log.append(&claim, 2, frames(&["b"]), Change::default()).await, Err(LogError::Full));
    assert_eq!(log.create(key("u"), new("s")).await, Err(LogError::Full));
    assert_eq!(log.beat(&claim, 1).await, Ok(Wishes::default()));
    let end = End::Cut { reason: CutReason::LogFull, upstream: UpstreamState::Running };
    log.append(&claim, 2, Vec::new(), ends(end)).await.expect("appended");
    let head = log.head(key("t")).await.expect("a head");
    assert_eq!((head.last, head.end), (1, Some(end)));
}

#[tokio::test]
async fn a_server_that_may_drop_turns_is_refused() {
    let redis = Redis::start();
    redis.ask(&["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]);
    let lifetimes = Lifetimes { running: Duration::from_mins(1), retention: Duration::from_mins(1) };
    let refused = RedisLog::open(&redis.url(), None, lifetimes).await.expect_err("refused").to_string();
    assert!(refused.contains("is allkeys-lru; set it to `noeviction`"), "{refused}");
    redis.ask(&["CONFIG", "SET", "maxmemory-policy", "noeviction"]);
    redis.ask(&["CONFIG", "SET", "requirepass", "secret"]);
    let refused = RedisLog::open(&redis.url(), Some("other"), lifetimes).await.expect_err("refused");
    assert!(!refused.to_string().contains("other"), "{refused}");
    RedisLog::open(&redis.url(), Some("secret"), lifetimes).await.expect("a log");
}

/// The permissions in the guide for the relay's user are enough, and cover only the relay's own keys.
#[tokio::test]
async fn the_user_of_the_guide_can_do_all_that_is_needed() {
    let guide = include_str!("../../../../../docs/relay.md");
    let line = guide.lines().find(|line| line.trim_start().starts_with("ACL SETUSER")).expect("a user");
    let redis = Redis::start();
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(redis.ask(&words), "OK");
    let lifetimes = Lifetimes { running: Duration::from_mins(1), retention: Duration::from_mins(1) };
    let url = redis.url().replace("redis://", "redis://relay@");
    let log = RedisLog::open(&url, Some("PASSWORD"), lifetimes).await.expect("a log");
    assert_eq!(log.admit(&key("t"), 1, 1).await, Ok(Admission::Granted));
    let claim = made(&log, "t").await;
    let mut hints = log.watch(&key("t"));
    assert_eq!(hints.recv().await, Some(Hint::Look));
    log.append(&claim, 1, frames(&["a"]), Change::default()).await.expect("appended");
    assert!(matches!(hints.recv().await, Some(Hint::Frames { .. })));
    log.beat(&claim, 1).await.expect("beaten");
    assert_eq!(log.own("a".into(), "s".into(), "ann".into()).await.as_deref(), Ok("ann"));
    assert_eq!(log.read(key("t"), 0, 9).await, Ok(frames(&["a"])));
    let taken = log.claim(key("t"), 1).await.expect("claimed");
    log.append(&taken, 2, Vec::new(), ends(End::Done)).await.expect("appended");
    assert_eq!(log.signs().await, Ok(Vec::new()));
    assert_eq!(log.turns("agents".into(), "ann".into(), None).await.expect("a list").len(), 1);
    assert_eq!(log.purge(Purge::All).await, Ok(1));
    for hurries in [&["ACL", "DRYRUN", "relay", "WAIT", "1", "1"][..], &["ACL", "DRYRUN", "relay", "INFO"]] {
        assert_eq!(redis.ask(hurries), "OK");
    }
}

/// Everything has a time to live except session owners and the list of running turns.
#[tokio::test]
async fn nothing_is_kept_for_ever() {
    let redis = Redis::start();
    let log = connected(&redis).await;
    let (first, second) = (made(&log, "1").await, made(&log, "2").await);
    log.append(&first, 1, frames(&["a"]), Change::default()).await.expect("appended");
    log.append(&second, 1, frames(&["a"]), ends(End::Done)).await.expect("appended");
    for turn in ["1", "2"] {
        let tag = keys::tag(&key(turn));
        for name in [keys::turn(&tag), keys::frames(&tag), keys::list("agents", "ann")] {
            let lives: i64 = redis.ask(&["PTTL", &name]).parse().expect("a number");
            assert!(lives > 0, "{name}: {lives}");
        }
    }
}

/// A server with a replica, and a log that waits for it.
async fn replicated() -> (Redis, Redis, RedisLog) {
    let redis = Redis::start();
    let replica = redis.replica();
    let log = connected(&redis).await.replicated();
    (redis, replica, log)
}

fn is_away<T>(result: &Result<T, LogError>) -> bool {
    matches!(result, Err(LogError::Unreachable(_)))
}

#[tokio::test]
async fn an_end_is_nowhere_to_be_seen_before_a_replica_has_it() {
    let (redis, replica, log) = replicated().await;
    let elsewhere = connected(&redis).await;
    let (claim, other) = (made(&log, "t").await, made(&log, "u").await);
    log.append(&claim, 1, frames(&["a"]), Change::default()).await.expect("appended");
    replica.freeze();
    let end = async || log.append(&claim, 2, frames(&["b", "c"]), ends(End::Done)).await;
    for _ in 0..2 {
        let ended = end().await;
        assert!(is_away(&ended), "{ended:?}");
        let head = elsewhere.head(key("t")).await.expect("a head");
        assert_eq!((head.last, head.bytes, head.end), (1, 1, None));
        assert_eq!(elsewhere.read(key("t"), 0, 99).await, Ok(frames(&["a"])));
        assert_eq!(log.beat(&claim, 1).await, Ok(Wishes::default()), "its owner lives");
    }
    let cut = End::Cut { reason: CutReason::OwnerLost, upstream: UpstreamState::Gone };
    log.append(&other, 1, Vec::new(), ends(cut)).await.expect("a cut waits for nobody");
    assert_eq!(elsewhere.head(key("u")).await.expect("a head").end, Some(cut));
    let begun = log.create(key("v"), new("s")).await;
    assert!(is_away(&begun), "{begun:?}");
    assert_eq!(elsewhere.head(key("v")).await, Err(LogError::Gone), "it may be sent again");
    replica.thaw();
    again(end).await.expect("appended");
    again(async || log.create(key("v"), new("s")).await).await.expect("begun");
    end().await.expect("again, if the answer was lost");
    for log in [&log, &elsewhere] {
        let head = log.head(key("t")).await.expect("a head");
        assert_eq!((head.last, head.bytes, head.end), (3, 3, Some(End::Done)));
        assert_eq!(log.read(key("t"), 0, 99).await, Ok(frames(&["a", "b", "c"])));
    }
    assert_eq!(redis.ask(&["HEXISTS", &keys::turn(&keys::tag(&key("t"))), "held"]), "0");
}

#[tokio::test]
async fn the_next_owner_shows_an_end_that_a_replica_has_and_discards_another_one() {
    let (redis, replica, log) = replicated().await;
    let elsewhere = connected(&redis).await;
    let (kept, lost) = (made(&log, "kept").await, made(&log, "lost").await);
    for claim in [&kept, &lost] {
        log.append(claim, 1, frames(&["a"]), Change::default()).await.expect("appended");
    }
    replica.freeze();
    assert!(is_away(&log.append(&kept, 2, frames(&["b"]), ends(End::Done)).await));
    replica.thaw();
    while !log.has_replica(&keys::tag(&key("kept"))).await.expect("an answer") {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    replica.freeze();
    assert!(is_away(&log.append(&lost, 2, frames(&["b"]), ends(End::Done)).await));
    assert_eq!(elsewhere.claim(key("kept"), 1).await, Err(LogError::Closed));
    assert_eq!(elsewhere.head(key("kept")).await.expect("a head").end, Some(End::Done));
    assert_eq!(elsewhere.read(key("kept"), 0, 9).await, Ok(frames(&["a", "b"])));
    assert_eq!(elsewhere.claim(key("lost"), 9).await, Err(LogError::Fenced));
    let taken = elsewhere.claim(key("lost"), 1).await.expect("claimed");
    assert_eq!((taken.log, taken.epoch), (lost.log, 2), "nothing that was seen is missing");
    let late = log.append(&lost, 2, frames(&["b"]), ends(End::Done)).await;
    assert_eq!(late, Err(LogError::Fenced));
    assert_eq!(elsewhere.read(key("lost"), 0, 9).await, Ok(frames(&["a"])));
}

/// A failover just after an end was shown: the replica has it, but not yet that it was shown.
#[tokio::test]
async fn an_end_that_was_shown_outlives_its_server_and_its_owner() {
    for is_owner_alive in [true, false] {
        let (redis, replica, log) = replicated().await;
        let claim = made(&log, "t").await;
        log.append(&claim, 1, frames(&["a"]), Change::default()).await.expect("appended");
        replica.freeze();
        assert!(is_away(&log.append(&claim, 2, frames(&["b"]), ends(End::Done)).await));
        replica.thaw();
        let name = keys::turn(&keys::tag(&key("t")));
        replica.until(&["HEXISTS", &name, "held"], "1");
        drop(redis);
        assert_eq!(replica.ask(&["REPLICAOF", "NO", "ONE"]), "OK");
        let log = connected(&replica).await.replicated();
        if is_owner_alive {
            assert_eq!(log.beat(&claim, 2).await, Err(LogError::Tail(1)));
            log.append(&claim, 2, frames(&["b"]), ends(End::Done)).await.expect("shown again");
        } else {
            assert_eq!(log.claim(key("t"), 1).await, Err(LogError::Closed));
        }
        let head = log.head(key("t")).await.expect("a head");
        assert_eq!((head.log, head.last, head.end), (claim.log, 2, Some(End::Done)));
        assert_eq!(log.read(key("t"), 0, 9).await, Ok(frames(&["a", "b"])));
        assert!(is_away(&log.create(key("u"), new("s")).await), "it has no replica of its own");
    }
}

#[tokio::test]
async fn in_a_cluster_each_turn_has_its_own_servers_replica() {
    let cluster = Redis::cluster_of(3);
    let stand_ins: Vec<Redis> = cluster.iter().map(Redis::stand_in).collect();
    let log = connected(&cluster[0]).await.replicated();
    let turns: Vec<String> = (0..9).map(|turn| turn.to_string()).collect();
    let mut claims = Vec::new();
    for turn in &turns {
        claims.push(made(&log, turn).await);
    }
    // That of the first third of the keys.
    stand_ins[0].freeze();
    let mut waits = 0;
    for claim in &claims {
        let ended = log.append(claim, 1, frames(&["a"]), ends(End::Done)).await;
        assert!(ended.is_ok() || is_away(&ended), "{ended:?}");
        waits += usize::from(ended.is_err());
        let end = log.head(claim.key.clone()).await.expect("a head").end;
        assert_eq!(end, ended.is_ok().then_some(End::Done));
    }
    assert!(waits > 0 && waits < turns.len(), "{waits}");
}
