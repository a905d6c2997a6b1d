//! Tests for durable streams only: several relays, missing responses, and servers that cannot keep turns.

use std::time::Duration;

use super::super::tests::streams_server::Streams;
use super::super::tests::{again, ends, frames, in_streams, key, made, new};
use super::record::Record;
use super::server::Turnstile;
use super::*;
use crate::turn::{CutReason, End, UpstreamState};

#[tokio::test]
async fn a_zombie_is_fenced_and_its_turn_is_read_elsewhere() {
    let server = Streams::start();
    let (first, second) = (in_streams(&server).await, in_streams(&server).await);
    let claim = made(&first, "t").await;
    first.append(&claim, 1, frames(&["a", "b"]), Change::default()).await.expect("appended");
    assert_eq!(second.read(key("t"), 0, 9).await, Ok(frames(&["a", "b"])));
    assert_eq!(first.beat(&claim, 2).await, Ok(Wishes::default()));
    assert_eq!(first.beat(&claim, 3).await, Err(LogError::Tail(2)));
    second.ask_to_stop(key("t")).await.expect("asked");
    second.note_readers(key("t")).await.expect("noted");
    let wishes = Wishes { is_stopped: true, readers: 1 };
    assert_eq!(first.beat(&claim, 2).await, Ok(wishes));
    assert_eq!(first.beat(&claim, 1).await, Ok(wishes), "an append came meanwhile");
    let taken = second.claim(key("t"), 1).await.expect("claimed");
    assert_eq!((taken.log, taken.epoch), (claim.log, 2), "nothing can be missing");
    assert_eq!(first.beat(&claim, 2).await, Err(LogError::Fenced));
    assert_eq!(first.append(&claim, 3, frames(&["c"]), Change::default()).await, Err(LogError::Fenced));
    assert_eq!(first.remove(&claim).await, Err(LogError::Fenced));
    assert_eq!(first.claim(key("t"), 1).await, Err(LogError::Fenced), "one of them only");
    second.append(&taken, 3, Vec::new(), ends(End::Eof)).await.expect("appended");
    assert_eq!(first.signs().await, Ok(Vec::new()));
    assert_eq!(first.head(key("t")).await.map(|head| (head.last, head.end)), Ok((2, Some(End::Eof))));
}

/// Many relays want the same turn at once: each claim has one winner, and so has each creation.
#[tokio::test]
async fn of_many_at_once_one_has_it() {
    let server = Streams::on_disk();
    let logs: Vec<StreamsLog> = {
        let mut logs = Vec::new();
        for _ in 0..6 {
            logs.push(in_streams(&server).await);
        }
        logs
    };
    let makers = logs.iter().map(|log| log.create(key("t"), new("s")));
    let created = futures_util::future::try_join_all(makers).await.expect("answers");
    let is_new = |created: &&Created| matches!(created, Created::New(_));
    assert_eq!(created.iter().filter(is_new).count(), 1, "{created:?}");
    for seen in 1..4 {
        let claims = futures_util::future::join_all(logs.iter().map(|log| log.claim(key("t"), seen))).await;
        let won = claims.iter().filter(|claim| claim.is_ok()).count();
        let lost = claims.iter().filter(|claim| **claim == Err(LogError::Fenced)).count();
        assert_eq!((won, lost), (1, 5), "{claims:?}");
    }
    let owners = logs.iter().zip(["a", "b", "c", "d", "e", "f"]);
    let owners = owners.map(|(log, user)| log.own("agents".into(), "s".into(), user.into()));
    let owners = futures_util::future::try_join_all(owners).await.expect("answers");
    assert!(owners.iter().all(|owner| *owner == owners[0]), "{owners:?}");
}

#[tokio::test]
async fn signs_change_while_an_owner_lives_and_say_who_it_is() {
    let server = Streams::start();
    let (owner, watcher) = (in_streams(&server).await, in_streams(&server).await);
    let claim = made(&owner, "t").await;
    let sign = async || watcher.signs().await.expect("signs")[0].1;
    let first = sign().await;
    assert_eq!((first.epoch, sign().await), (1, first), "silence");
    owner.beat(&claim, 0).await.expect("beaten");
    let beaten = sign().await;
    assert_ne!(beaten, first);
    owner.append(&claim, 1, frames(&["a"]), Change::default()).await.expect("appended");
    assert_ne!(sign().await, beaten);
    let third = in_streams(&server).await;
    third.claim(key("t"), 1).await.expect("claimed");
    // The claim itself is a sign, and its number is known after a silence.
    let mut epoch = 0;
    for _ in 0..4 {
        epoch = sign().await.epoch;
    }
    assert_eq!(epoch, 2);
    let late = in_streams(&server).await;
    assert_eq!(late.open_turns().await, Ok(vec![(key("t"), 2)]));
}

#[tokio::test]
async fn hints_have_the_frames_and_the_log_has_the_rest() {
    let server = Streams::start();
    let (first, second) = (in_streams(&server).await, in_streams(&server).await);
    let claim = made(&first, "t").await;
    assert_eq!(second.head(key("t")).await.map(|head| head.last), Ok(0));
    let mut hints = second.watch(&key("t"));
    assert_eq!(hints.recv().await, Some(Hint::Look), "what came before");
    let all = frames(&["a\n", "", "\u{1f642}"]);
    first.append(&claim, 1, all.clone(), Change::default()).await.expect("appended");
    assert_eq!(hints.recv().await, Some(Hint::Frames { log: claim.log, first: 1, frames: all.clone() }));
    first.append(&claim, 4, Vec::new(), ends(End::Done)).await.expect("appended");
    assert_eq!(hints.recv().await, Some(Hint::Look));
    assert_eq!(second.read(key("t"), 0, 100).await, Ok(all));
}

#[tokio::test]
async fn what_was_acknowledged_outlives_the_server_and_the_relay() {
    let mut server = Streams::on_disk();
    let log = in_streams(&server).await;
    let claim = made(&log, "t").await;
    log.append(&claim, 1, frames(&["a", "b"]), Change::default()).await.expect("appended");
    server.kill();
    let lost = log.append(&claim, 3, frames(&["c"]), Change::default()).await;
    assert!(
        matches!(&lost, Err(LogError::Unreachable(cause)) if cause.starts_with("the streams' server: ")),
        "{lost:?}"
    );
    server.start_again();
    let appended = async || log.append(&claim, 3, frames(&["c"]), Change::default()).await;
    assert_eq!(again(appended).await, Ok(()));
    let other = in_streams(&server).await;
    assert_eq!(other.read(key("t"), 0, 9).await, Ok(frames(&["a", "b", "c"])));
    let taken = other.claim(key("t"), 1).await.expect("claimed");
    server.kill();
    server.start_again();
    let late = async || log.append(&claim, 4, frames(&["d"]), Change::default()).await;
    assert_eq!(again(late).await, Err(LogError::Fenced));
    let ending = async || other.append(&taken, 4, frames(&["d"]), ends(End::Done)).await;
    assert_eq!(again(ending).await, Ok(()));
}

/// A record whose response was lost is stored once, whatever is sent next.
#[tokio::test]
async fn an_append_whose_answer_was_lost_is_there_once() {
    let server = Streams::start();
    let log = in_streams(&server).await;
    let claim = made(&log, "t").await;
    // A second connection, which does not know what the first has appended: as if the response had been lost.
    let other = in_streams(&server).await;
    log.append(&claim, 1, frames(&["a"]), Change::default()).await.expect("appended");
    assert_eq!(other.append(&claim, 1, frames(&["a"]), Change::default()).await, Err(LogError::Tail(1)));
    other.append(&claim, 2, frames(&["b"]), Change::default()).await.expect("appended");
    // This one counts as before: the server knows another record with that number.
    assert_eq!(log.append(&claim, 2, frames(&["b"]), Change::default()).await, Err(LogError::Tail(2)));
    log.append(&claim, 3, frames(&["c"]), Change::default()).await.expect("appended");
    assert_eq!(other.append(&claim, 3, Vec::new(), ends(End::Done)).await, Err(LogError::Tail(3)));
    assert_eq!(log.read(key("t"), 0, 9).await, Ok(frames(&["a", "b", "c"])));
}

#[tokio::test]
async fn an_owner_makes_a_lost_turn_again_but_none_that_was_removed() {
    let mut server = Streams::start();
    let log = in_streams(&server).await;
    let claim = made(&log, "t").await;
    log.append(&claim, 1, frames(&["a"]), Change::default()).await.expect("appended");
    let response = ResponseHead { status: 200, content_type: "text/event-stream".to_owned() };
    assert_eq!(log.restore(&claim, new("s"), None).await, Err(LogError::Fenced), "it is there");
    server.kill();
    server.start_again();
    let beaten = again(async || log.beat(&claim, 1).await).await;
    assert_eq!(beaten, Err(LogError::Gone), "it was in memory only");
    assert_eq!(log.is_removed(key("t")).await, Ok(false), "it was lost");
    log.restore(&claim, new("s"), Some(response.clone())).await.expect("restored");
    log.append(&claim, 1, frames(&["a"]), Change::default()).await.expect("appended");
    let head = log.head(key("t")).await.expect("a head");
    assert_eq!((head.log, head.epoch, head.last, head.response), (claim.log, 1, 1, Some(response)));
    let listed = log.turns("agents".into(), "ann".into(), Some("s".into())).await.expect("a list");
    assert_eq!(listed.len(), 1);
    assert_eq!(log.purge(Purge::Session { upstream: "agents".into(), session: "s".into() }).await, Ok(1));
    assert_eq!(log.append(&claim, 2, frames(&["b"]), Change::default()).await, Err(LogError::Gone));
    assert_eq!(log.restore(&claim, new("s"), None).await, Err(LogError::Removed));
    assert_eq!(log.is_removed(key("t")).await, Ok(true));
    // One of the same name that was made later is another one.
    let claim = made(&log, "t").await;
    assert_eq!(log.is_removed(key("t")).await, Ok(false));
    log.remove(&claim).await.expect("removed");
    assert_eq!(log.is_removed(key("t")).await, Ok(true), "it never began");
}

/// A relay that has read a turn before the server lost it, and nothing since, reads the restored stream.
#[tokio::test]
async fn a_turn_that_was_made_again_is_read_from_its_beginning() {
    for beats in [0, 20] {
        let mut server = Streams::start();
        let (log, other) = (in_streams(&server).await, in_streams(&server).await);
        let claim = made(&log, "t").await;
        log.append(&claim, 1, frames(&["a", "b"]), Change::default()).await.expect("appended");
        assert_eq!(other.read(key("t"), 0, 9).await, Ok(frames(&["a", "b"])));
        server.kill();
        server.start_again();
        assert_eq!(again(async || log.beat(&claim, 2).await).await, Err(LogError::Gone));
        log.restore(&claim, new("s"), None).await.expect("restored");
        log.append(&claim, 1, frames(&["a", "b", "c"]), Change::default()).await.expect("appended");
        // By then, the other relay's offset may be in the middle of them.
        for _ in 0..beats {
            log.beat(&claim, 3).await.expect("beaten");
        }
        let read = again(async || other.read(key("t"), 0, 9).await).await;
        assert_eq!(read, Ok(frames(&["a", "b", "c"])), "{beats} beats");
    }
}

/// Another relay finds the existing turns, and expires those that ended before it started.
#[tokio::test]
async fn a_relay_that_comes_later_knows_the_turns() {
    let server = Streams::on_disk();
    let log = in_streams(&server).await;
    let cut = End::Cut { reason: CutReason::LogFull, upstream: UpstreamState::Running };
    for turn in ["1", "2", "3"] {
        let claim = made(&log, turn).await;
        let end = (turn != "2").then_some(cut);
        log.append(&claim, 1, frames(&[turn]), Change { end, ..Change::default() }).await.expect("appended");
    }
    let late = in_streams(&server).await;
    assert_eq!(late.expire(Duration::ZERO).await, Ok(0), "it has not looked yet");
    assert_eq!(late.open_turns().await, Ok(vec![(key("2"), 1)]));
    assert_eq!(late.expire(Duration::from_mins(1)).await, Ok(0), "time counts from when it has seen the end");
    assert_eq!(late.expire(Duration::ZERO).await, Ok(2));
    assert_eq!(log.expire(Duration::ZERO).await, Ok(0), "another was faster");
    assert_eq!(log.read(key("1"), 0, 9).await, Ok(Vec::new()));
    let Ok(Created::Exists(head)) = late.create(key("3"), new("s")).await else { panic!("made again") };
    assert!(head.is_expired);
    assert_eq!(late.claim(key("3"), 1).await, Err(LogError::Closed));
    assert_eq!(late.purge(Purge::All).await, Ok(3));
    assert_eq!(log.turns("agents".into(), "ann".into(), None).await, Ok(Vec::new()));
}

/// An owner that could not reach its agent removes the turn while many relays create it again: one gets and keeps it.
#[tokio::test]
async fn a_turn_that_never_began_is_made_again_once() {
    let server = Streams::start();
    let (first, mut others) = (in_streams(&server).await, Vec::new());
    for _ in 0..5 {
        others.push(in_streams(&server).await);
    }
    for number in 0..12 {
        let turn = format!("t{number}");
        let claim = made(&first, &turn).await;
        first.ask_to_stop(key(&turn)).await.expect("asked");
        let makers = others.iter().map(|log| log.create(key(&turn), new("s")));
        let (removed, created) = tokio::join!(first.remove(&claim), futures_util::future::join_all(makers));
        removed.expect("removed");
        let own = others.iter().zip(&created).filter_map(|(log, created)| match created {
            Ok(Created::New(claim)) => Some((log, claim)),
            _ => None,
        });
        let own: Vec<_> = own.collect();
        assert!(own.len() <= 1, "{created:?}");
        for (log, claim) in own {
            assert_eq!(log.beat(claim, 0).await, Ok(Wishes::default()), "it is there, and nobody stops it");
        }
    }
}

/// If a relay dies while it removes such a turn, the id is free for the next start.
#[tokio::test]
async fn a_turn_that_was_removed_halfway_is_made_again() {
    let server = Streams::start();
    let (first, second) = (in_streams(&server).await, in_streams(&server).await);
    for is_begun in [false, true] {
        let turn = format!("t{is_begun}");
        let claim = made(&first, &turn).await;
        let (path, removing) = (names::turn(&tag(&key(&turn))), names::removing(claim.log));
        let turnstile = Some(Turnstile { producer: claim.log, epoch: 1, seq: 1 });
        let removed = Record::Removed { epoch: 1 }.written(&[]).expect("written");
        second.0.server.post(&path, turnstile, true, removed).await.expect("posted");
        if is_begun {
            // It was about to remove it.
            second.0.server.make(&removing, Some(Duration::from_secs(2)), Bytes::new()).await.expect("made");
            let first = Some(Turnstile { producer: claim.log, epoch: 1, seq: 0 });
            second.0.server.post(&removing, first, false, Bytes::from_static(b"x")).await.expect("posted");
            let refused = second.create(key(&turn), new("s")).await;
            assert!(matches!(refused, Err(LogError::Unreachable(_))), "its time has not passed: {refused:?}");
        }
        let created = again(async || second.create(key(&turn), new("s")).await).await.expect("made");
        let Created::New(next) = created else { panic!("{created:?}") };
        assert_eq!(second.append(&next, 1, frames(&["a"]), Change::default()).await, Ok(()));
        assert_eq!(in_streams(&server).await.read(key(&turn), 0, 9).await, Ok(frames(&["a"])));
    }
}

/// A record for a turn that is gone does not affect the next turn with its id.
#[tokio::test]
async fn what_comes_late_is_for_no_other_turn() {
    let server = Streams::start();
    let (first, second) = (in_streams(&server).await, in_streams(&server).await);
    let before = made(&first, "t").await;
    first.ask_to_stop(key("t")).await.expect("asked");
    first.remove(&before).await.expect("removed");
    let claim = made(&second, "t").await;
    let late = Record::Claimed { log: before.log, epoch: 2, by: 9 }.written(&[]).expect("written");
    let turnstile = Some(Turnstile { producer: before.log, epoch: 2, seq: 0 });
    let path = names::turn(&tag(&key("t")));
    second.0.server.post(&path, turnstile, false, late).await.expect("posted");
    second.0.index.gone(&second.0.server, &tag(&key("t"))).await.expect("written");
    assert_eq!(second.beat(&claim, 0).await, Ok(Wishes::default()), "the stop was the other's");
    second.append(&claim, 1, frames(&["a"]), Change::default()).await.expect("appended");
    let third = in_streams(&server).await;
    assert_eq!(third.open_turns().await, Ok(vec![(key("t"), 1)]));
    assert_eq!(third.turns("agents".into(), "ann".into(), None).await.map(|turns| turns.len()), Ok(1));
    assert_eq!(third.read(key("t"), 0, 9).await, Ok(frames(&["a"])));
}

/// An unreadable turn does not affect the others, and is removed with them.
#[tokio::test]
async fn a_turn_that_cannot_be_read_stands_in_no_way() {
    let server = Streams::start();
    let log = in_streams(&server).await;
    let (broken, ended) = (made(&log, "broken").await, made(&log, "ended").await);
    made(&log, "open").await;
    let path = names::turn(&tag(&key("broken")));
    let turnstile = Some(Turnstile { producer: broken.log, epoch: 1, seq: 1 });
    log.0.server.post(&path, turnstile, false, Bytes::from_static(&[0; 9])).await.expect("posted");
    log.append(&ended, 1, frames(&["a"]), ends(End::Done)).await.expect("appended");
    let late = in_streams(&server).await;
    assert_eq!(late.head(key("broken")).await, Err(LogError::Unreadable));
    assert_eq!(late.open_turns().await, Ok(vec![(key("open"), 1)]));
    assert_eq!(late.turns("agents".into(), "ann".into(), None).await.map(|turns| turns.len()), Ok(2));
    assert_eq!(late.expire(Duration::ZERO).await, Ok(1));
    assert_eq!(late.purge(Purge::All).await, Ok(3));
    assert_eq!(log.head(key("broken")).await, Err(LogError::Gone));
}

/// A server that answers each request with this status.
async fn answering(status: u16) -> Upstream {
    let socket = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = format!("http://{}", socket.local_addr().expect("an address"));
    let status = axum::http::StatusCode::from_u16(status).expect("a status");
    let service = axum::Router::new().fallback(move |head: axum::http::HeaderMap| {
        let has_key = head.get("authorization").is_some_and(|key| key == "Bearer good");
        std::future::ready(if has_key { axum::http::StatusCode::CREATED } else { status })
    });
    tokio::spawn(axum::serve(socket, service).into_future());
    address.parse().expect("an address")
}

#[tokio::test]
async fn a_server_that_cannot_keep_turns_is_refused() {
    let lifetimes = Lifetimes { running: Duration::from_mins(1), retention: Duration::from_mins(1) };
    let refused = async |status: u16, key: &'static str| {
        let headers = vec![(HeaderName::from_static("authorization"), HeaderValue::from_static(key))];
        let refused = StreamsLog::open(&answering(status).await, headers, lifetimes).await;
        refused.expect_err("refused").to_string()
    };
    let text = refused(401, "Bearer secret").await;
    assert!(text.contains("`log.headers` must have its key") && !text.contains("secret"), "{text}");
    let text = refused(404, "Bearer other").await;
    assert!(text.contains("it refuses to make a stream with 404"), "{text}");
    // It accepts the key, and does not implement producers.
    let text = refused(401, "Bearer good").await;
    assert!(text.contains("it refuses an append with 201"), "{text}");
}
