//! The laws, checked on each backend, and a model.

use std::collections::BTreeMap;
use std::io::{Write, stderr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::*;
use crate::turn::{CutReason, UpstreamState};

#[path = "../../tests/redis/server.rs"]
#[allow(dead_code)] // the checker uses the rest
pub(super) mod server;

#[path = "../../tests/streams/server.rs"]
#[allow(dead_code)] // the checker uses the rest
pub(super) mod streams_server;

/// A log on its own durable-streams server.
pub(super) async fn in_streams(server: &streams_server::Streams) -> StreamsLog {
    let lifetimes = Lifetimes { running: Duration::from_mins(1), retention: RETENTION };
    StreamsLog::open(&server.url().parse().expect("an address"), Vec::new(), lifetimes).await.expect("a log")
}

/// How long Redis keeps a turn's frames after its end, in these tests.
const RETENTION: Duration = Duration::from_secs(2);

/// A log in its own Redis.
pub(super) async fn in_redis(redis: &server::Redis) -> RedisLog {
    let lifetimes = Lifetimes { running: Duration::from_mins(1), retention: RETENTION };
    RedisLog::open(&redis.url(), None, lifetimes).await.expect("a log")
}

/// A file that is removed after the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("turnwire-relay-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Self(std::env::temp_dir().join(name).join("relay.db"))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.0.parent().expect("a directory"));
    }
}

/// Runs a test on each backend.
fn each(test: &impl AsyncFn(&dyn ReplayLog)) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        test(&MemoryLog::default()).await;
        for is_synced in [false, true] {
            let scratch = Scratch::new();
            test(&SqliteLog::open(&scratch.0, is_synced).expect("a file")).await;
        }
        for redis in [server::Redis::start(), server::Redis::cluster()] {
            test(&in_redis(&redis).await).await;
        }
        let cluster = server::Redis::cluster_of(3);
        test(&in_redis(&cluster[0]).await).await;
        let redis = server::Redis::start();
        let _replica = redis.replica();
        test(&in_redis(&redis).await.replicated()).await;
        if let Some(valkey) = server::Redis::valkey() {
            test(&in_redis(&valkey).await).await;
            if std::env::var_os("TURNWIRE_TEST").is_some_and(|scope| scope == "quick") {
                let _ = writeln!(stderr(), "quick: one Valkey of 3; --all has the rest");
            } else {
                let another = server::Redis::valkey().expect("it is here");
                let _replica = another.replica();
                test(&in_redis(&another).await.replicated()).await;
                let cluster = server::Redis::valkey_cluster_of(3).expect("it is here");
                test(&in_redis(&cluster[0]).await).await;
            }
        }
        for server in [streams_server::Streams::start(), streams_server::Streams::on_disk()] {
            test(&in_streams(&server).await).await;
        }
    });
}

pub(super) fn key(turn: &str) -> TurnKey {
    TurnKey { upstream: "agents".to_owned(), subject: "ann".to_owned(), turn: turn.to_owned() }
}

pub(super) fn new(session: &str) -> NewTurn {
    NewTurn { session: Some(session.to_owned()), request: [7; 32] }
}

pub(super) fn frames(texts: &[&str]) -> Vec<Bytes> {
    texts.iter().map(|text| Bytes::copy_from_slice(text.as_bytes())).collect()
}

pub(super) fn ends(end: End) -> Change {
    Change { end: Some(end), ..Change::default() }
}

pub(super) async fn made(log: &dyn ReplayLog, turn: &str) -> Claim {
    match log.create(key(turn), new("s")).await.expect("a log") {
        Created::New(claim) => claim,
        Created::Exists(head) => panic!("{head:?}"),
    }
}

/// The response, once the connection is restored.
pub(super) async fn again<T>(mut ask: impl AsyncFnMut() -> Result<T, LogError>) -> Result<T, LogError> {
    for _ in 0..100 {
        match ask().await {
            Err(LogError::Unreachable(_)) => tokio::time::sleep(Duration::from_millis(100)).await,
            answer => return answer,
        }
    }
    ask().await
}

#[test]
fn a_turn_is_made_once() {
    each(&async |log: &dyn ReplayLog| {
        let claim = made(log, "t").await;
        log.append(&claim, 1, frames(&["a"]), Change::default()).await.expect("appended");
        let Ok(Created::Exists(head)) = log.create(key("t"), new("other")).await else {
            panic!("made twice")
        };
        assert_eq!((head.log, head.epoch, head.last, head.new), (claim.log, 1, 1, new("s")));
        let other = TurnKey { subject: "bob".to_owned(), ..key("t") };
        assert!(
            matches!(log.create(other, new("s")).await, Ok(Created::New(_))),
            "another user's turn is another one"
        );
        let taken = log.claim(key("t"), 1).await.expect("claimed");
        assert_eq!(log.remove(&claim).await, Err(LogError::Fenced), "another owner has it");
        assert_eq!(log.head(key("t")).await.map(|head| head.last), Ok(1));
        log.remove(&taken).await.expect("removed");
        assert_eq!(log.remove(&taken).await, Ok(()), "again, if the answer was lost");
        assert_eq!(log.head(key("t")).await, Err(LogError::Gone));
        assert_ne!(made(log, "t").await.log, claim.log);
        assert_eq!(log.read(key("t"), 0, 9).await, Ok(Vec::new()), "nothing of the one before");
    });
}

#[test]
fn nothing_is_appended_but_at_the_tail_by_the_owner_of_an_open_turn() {
    each(&async |log: &dyn ReplayLog| {
        let first = made(log, "t").await;
        let add = |claim: &Claim, at, change| log.append(claim, at, frames(&["x", "y"]), change);
        assert_eq!(add(&first, 1, Change::default()).await, Ok(()));
        for wrong in [0, 1, 2, 4, u64::MAX] {
            assert_eq!(add(&first, wrong, Change::default()).await, Err(LogError::Tail(2)));
        }
        assert_eq!(log.claim(key("t"), 9).await, Err(LogError::Fenced));
        let second = log.claim(key("t"), 1).await.expect("claimed");
        assert_eq!((second.log, second.epoch), (first.log, 2));
        assert_eq!(add(&first, 3, Change::default()).await, Err(LogError::Fenced));
        assert_eq!(add(&second, 3, ends(End::Done)).await, Ok(()));
        assert_eq!(add(&second, 3, ends(End::Done)).await, Ok(()), "again, if the answer was lost");
        assert_eq!(add(&second, 3, ends(End::Eof)).await, Err(LogError::Closed));
        assert_eq!(add(&second, 5, Change::default()).await, Err(LogError::Closed));
        assert_eq!(log.claim(key("t"), 2).await, Err(LogError::Closed));
        let head = log.head(key("t")).await.expect("a head");
        assert_eq!((head.last, head.bytes, head.end), (4, 4, Some(End::Done)));
    });
}

#[test]
fn reading_has_pages_with_at_least_one_frame() {
    each(&async |log: &dyn ReplayLog| {
        let claim = made(log, "t").await;
        let all = frames(&["aaaa", "bb", "", "cc", "dddddd"]);
        log.append(&claim, 1, all.clone(), Change::default()).await.expect("appended");
        assert_eq!(log.read(key("t"), 0, 1).await.as_deref(), Ok(&all[..1]));
        assert_eq!(log.read(key("t"), 1, 4).await.as_deref(), Ok(&all[1..4]));
        assert_eq!(log.read(key("t"), 0, 100).await.as_deref(), Ok(&all[..]));
        for beyond in [5, 6, u64::MAX] {
            assert_eq!(log.read(key("t"), beyond, 100).await, Ok(Vec::new()));
        }
        assert_eq!(log.read(key("other"), 0, 100).await, Err(LogError::Gone));
    });
}

#[test]
fn turns_are_listed_expired_and_purged() {
    each(&async |log: &dyn ReplayLog| {
        let cut = End::Cut { reason: CutReason::Silent, upstream: UpstreamState::Running };
        let response = ResponseHead { status: 200, content_type: "text/event-stream".to_owned() };
        let change = Change { response: Some(response.clone()), end: Some(cut) };
        let (first, second) = (made(log, "1").await, made(log, "2").await);
        log.append(&first, 1, frames(&["x"]), change).await.expect("appended");
        log.append(&second, 1, frames(&["y"]), Change::default()).await.expect("appended");
        assert_eq!(log.open_turns().await, Ok(vec![(key("2"), 1)]));
        let list = async |session: Option<&str>| {
            let list = log.turns("agents".to_owned(), "ann".to_owned(), session.map(str::to_owned)).await;
            list.expect("a list").into_iter().map(|(turn, _)| turn).collect::<Vec<_>>()
        };
        assert_eq!(
            (list(Some("s")).await, list(None).await, list(Some("o")).await),
            (vec!["2".into(), "1".into()], vec!["2".into(), "1".into()], vec![])
        );
        assert_eq!(log.expire(Duration::from_mins(1)).await, Ok(0));
        let expired = log.expire(Duration::ZERO).await.expect("expired");
        let does_it_itself = expired == 0 && log.shared().is_some();
        assert!(expired == 1 || does_it_itself, "what runs does not expire: {expired}");
        assert_eq!(log.expire(Duration::ZERO).await, Ok(0));
        // Redis does it by itself.
        while !log.head(key("1")).await.expect("still known").is_expired {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(log.read(key("1"), 0, 9).await, Ok(Vec::new()));
        assert!(!log.head(key("2")).await.expect("it runs").is_expired);
        let head = log.head(key("1")).await.expect("still known");
        assert_eq!((head.is_expired, head.response, head.end), (true, Some(response), Some(cut)));
        assert_eq!(log.own("agents".into(), "s".into(), "ann".into()).await.as_deref(), Ok("ann"));
        assert_eq!(
            log.own("agents".into(), "s".into(), "bob".into()).await.as_deref(),
            Ok("ann"),
            "the first one"
        );
        assert_eq!(log.owner("agents".into(), "s".into()).await, Ok(Some("ann".to_owned())));
        assert_eq!(log.owner("others".into(), "s".into()).await, Ok(None));
        assert_eq!(log.purge(Purge::Session { upstream: "agents".into(), session: "o".into() }).await, Ok(0));
        assert_eq!(log.purge(Purge::Subject("ann".into())).await, Ok(2));
        assert_eq!(log.owner("agents".into(), "s".into()).await, Ok(None));
    });
}

#[tokio::test]
async fn a_file_keeps_what_was_acknowledged() {
    let scratch = Scratch::new();
    let log = SqliteLog::open(&scratch.0, false).expect("a file");
    let claim = made(&log, "t").await;
    log.append(&claim, 1, frames(&["a", "b"]), Change::default()).await.expect("appended");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&scratch.0).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "only its own user reads it");
    }
    drop(log);
    let log = SqliteLog::open(&scratch.0, false).expect("a file");
    assert_eq!(log.read(key("t"), 0, 9).await, Ok(frames(&["a", "b"])));
    assert_eq!(log.open_turns().await, Ok(Vec::new()), "another process's");
    let shared = log.shared().expect("shared");
    assert_eq!(shared.orphans().await, Ok(vec![(key("t"), 1)]));
    assert_eq!(shared.company().await, Ok(Company::Alone));
}

#[tokio::test]
async fn two_relays_share_a_file_and_each_knows_whether_the_other_lives() {
    let scratch = Scratch::new();
    let (one, two) = (SqliteLog::open(&scratch.0, false), SqliteLog::open(&scratch.0, false));
    let (one, two) = (one.expect("a file"), two.expect("a file"));
    let claim = made(&one, "t").await;
    assert_eq!(one.open_turns().await, Ok(vec![(key("t"), 1)]));
    assert_eq!(two.open_turns().await, Ok(Vec::new()));
    let shared = two.shared().expect("shared");
    assert_eq!((shared.company().await, shared.orphans().await), (Ok(Company::Beside), Ok(Vec::new())));
    let file = rusqlite::Connection::open(&scratch.0).expect("the file");
    for (is_serving, company) in [(true, Company::Serving), (false, Company::Beside)] {
        one.announce(is_serving).await.expect("announced");
        assert_eq!(shared.company().await, Ok(company));
    }
    file.execute("UPDATE process SET serves = NULL", []).expect("updated");
    assert_eq!(shared.company().await, Ok(Company::Serving), "an older program may serve");
    // What one process writes, the other is notified of, and reads.
    let mut hints = shared.watch(&key("t"));
    one.append(&claim, 1, frames(&["a"]), Change::default()).await.expect("appended");
    let hint = tokio::time::timeout(Duration::from_secs(20), hints.recv()).await.expect("in time");
    assert_eq!(hint, Some(Hint::Look));
    assert_eq!(two.read(key("t"), 0, 9).await, Ok(frames(&["a"])));
    // The owner receives the wishes of users elsewhere.
    shared.ask_to_stop(key("t")).await.expect("asked");
    shared.note_readers(key("t")).await.expect("noted");
    let owner = one.shared().expect("shared");
    let heard = async {
        while owner.beat(&claim, 1).await != Ok(Wishes { is_stopped: true, readers: 1 }) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), heard).await.expect("in time");
    // When the owner has died, the other process ends its turn, once.
    drop(one);
    assert_eq!(
        (shared.company().await, shared.orphans().await),
        (Ok(Company::Alone), Ok(vec![(key("t"), 1)]))
    );
    let claim = two.claim(key("t"), 1).await.expect("claimed");
    assert_eq!((two.open_turns().await, shared.orphans().await), (Ok(vec![(key("t"), 2)]), Ok(Vec::new())));
    two.append(&claim, 2, Vec::new(), ends(End::Done)).await.expect("ended");
    // A process's lock file is removed with its last turn.
    let locks = || {
        let name = scratch.0.file_name().expect("a name").to_string_lossy().into_owned();
        let files = std::fs::read_dir(scratch.0.parent().expect("a directory")).expect("files");
        let names = files.filter_map(|file| Some(file.ok()?.file_name().to_string_lossy().into_owned()));
        names.filter(|file| file.starts_with(&name) && file.contains(".lock")).count()
    };
    assert_eq!(locks(), 2);
    two.expire(Duration::from_hours(1)).await.expect("swept");
    assert_eq!(locks(), 1);
}

/// The tables of a version that knew no other process: what newer ones need is missing.
const OLD: &str = "PRAGMA journal_mode = WAL;
CREATE TABLE turn (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    upstream TEXT NOT NULL, subject TEXT NOT NULL, turn TEXT NOT NULL,
    log INTEGER NOT NULL, epoch INTEGER NOT NULL, last INTEGER NOT NULL, bytes INTEGER NOT NULL,
    status INTEGER, content_type TEXT, end TEXT, ended INTEGER, expired INTEGER NOT NULL DEFAULT 0,
    session TEXT, request BLOB NOT NULL, UNIQUE (upstream, subject, turn));
CREATE TABLE process (id INTEGER PRIMARY KEY AUTOINCREMENT);
INSERT INTO turn (upstream, subject, turn, log, epoch, last, bytes, request)
    VALUES ('agents', 'ann', 't', 7, 1, 0, 0, zeroblob(32));";

/// A file of another program stays as it is, byte for byte, whichever way it is opened.
#[test]
fn the_file_of_another_program_is_left_alone() {
    for (content, is_own) in [
        ("", true),
        (OLD, true),
        ("PRAGMA application_id = 7;", false),
        (
            "CREATE TABLE session (id INTEGER PRIMARY KEY, user TEXT); INSERT INTO session VALUES (1, 'ann');",
            false,
        ),
        // A name that is also one of the relay's, with the same columns.
        ("CREATE TABLE boot (id TEXT NOT NULL);", false),
        ("CREATE VIEW turn AS SELECT 1 AS id;", false),
        (&format!("{OLD} CREATE TABLE other (id INTEGER);"), false),
        (&format!("{OLD} ALTER TABLE turn ADD COLUMN colour TEXT;"), false),
    ] {
        let scratch = Scratch::new();
        std::fs::create_dir_all(scratch.0.parent().expect("a directory")).expect("made");
        let file = rusqlite::Connection::open(&scratch.0).expect("a file");
        file.execute_batch(content).expect(content);
        drop(file);
        let before = std::fs::read(&scratch.0).expect("read");
        for opened in [SqliteLog::beside(&scratch.0), SqliteLog::open(&scratch.0, false)] {
            match opened {
                Ok(_) => assert!(is_own, "{content}"),
                Err(error) => {
                    assert!(
                        !is_own && error.to_string().contains("another program's file"),
                        "{content}: {error}"
                    );
                    assert_eq!(std::fs::read(&scratch.0).expect("read"), before, "{content}");
                }
            }
        }
    }
}

#[test]
fn relays_that_start_at_once_share_a_new_file_and_an_old_one() {
    for round in 0..60 {
        let scratch = Scratch::new();
        let is_old = round % 3 > 0;
        if is_old {
            std::fs::create_dir_all(scratch.0.parent().expect("a directory")).expect("made");
            let rows = rusqlite::Connection::open(&scratch.0).expect("a file");
            rows.execute_batch(OLD).expect("an old file");
        }
        let start = std::sync::Barrier::new(4);
        let open = || {
            start.wait();
            SqliteLog::open(&scratch.0, round % 2 == 0)
        };
        let logs: Vec<_> = std::thread::scope(|scope| {
            let starts: Vec<_> = (0..4).map(|_| scope.spawn(open)).collect();
            starts.into_iter().map(|start| start.join().expect("no panic")).collect()
        });
        let failed: Vec<_> = logs.iter().filter_map(|log| log.as_ref().err()).collect();
        assert!(failed.is_empty(), "round {round}: {failed:?}");
        let rows = rusqlite::Connection::open(&scratch.0).expect("a file");
        let count = |query| rows.query_row(query, [], |row| row.get::<_, i64>(0)).expect("a number");
        assert_eq!(count("SELECT count(*) FROM process"), 4);
        assert_eq!(count("SELECT count(*) FROM boot"), i64::from(cfg!(target_os = "linux")));
        let kept = "SELECT count(*) FROM turn WHERE process = 0 AND stopped = 0 AND readers = 0";
        assert_eq!(count(kept), i64::from(is_old));
    }
}

/// A new file has no boot recorded, and a file may come from another boot.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_log_gets_a_new_id_if_the_machine_has_started_anew_and_only_then() {
    for is_synced in [false, true] {
        let scratch = Scratch::new();
        let log = SqliteLog::open(&scratch.0, is_synced).expect("a file");
        let claim = made(&log, "open").await;
        let closed = made(&log, "closed").await;
        log.append(&closed, 1, frames(&["a"]), ends(End::Done)).await.expect("appended");
        let ids = async |log: &SqliteLog| {
            (
                log.head(key("open")).await.expect("a head").log,
                log.head(key("closed")).await.expect("a head").log,
            )
        };
        assert_eq!(log.claim(key("open"), 1).await.expect("claimed").log, claim.log, "nothing is missing");
        drop(log);
        let log = SqliteLog::open(&scratch.0, is_synced).expect("a file");
        assert_eq!(ids(&log).await, (claim.log, closed.log), "another process, and the same start");
        drop(log);
        let rows = rusqlite::Connection::open(&scratch.0).expect("a file");
        rows.execute("UPDATE boot SET id = 'another'", []).expect("changed");
        drop(rows);
        let log = SqliteLog::open(&scratch.0, is_synced).expect("a file");
        let (open, kept) = ids(&log).await;
        assert_eq!((open == claim.log, kept), (is_synced, closed.log));
        drop(log);
        let log = SqliteLog::open(&scratch.0, is_synced).expect("a file");
        assert_eq!(ids(&log).await, (open, kept), "once");
    }
}

/// An operation on a log.
#[derive(Debug, Clone)]
enum Operation {
    Create(u8),
    Append(u8, u64, usize, bool),
    Claim(u8, u64),
    Remove(u8),
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let operation = prop_oneof![
        (0..3u8).prop_map(Operation::Create),
        (0..3u8, 0..3u64, 0..4usize, prop::bool::weighted(0.1))
            .prop_map(|(turn, skew, count, ends)| { Operation::Append(turn, skew, count, ends) }),
        (0..3u8, 0..3u64).prop_map(|(turn, skew)| Operation::Claim(turn, skew)),
        (0..3u8).prop_map(Operation::Remove),
    ];
    prop::collection::vec(operation, 1..40)
}

/// All backends return the same except for the log's id, and agree with a plain list.
#[test]
fn backends_are_alike() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let (scratch, redis) = (Scratch::new(), server::Redis::start());
    let file = SqliteLog::open(&scratch.0, false).expect("a file");
    let shared = runtime.block_on(in_redis(&redis));
    let server = streams_server::Streams::start();
    let streams = runtime.block_on(in_streams(&server));
    let case = AtomicUsize::new(0);
    let config = ProptestConfig { cases: 32, source_file: Some(file!()), ..ProptestConfig::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let result = runner.run(&operations(), |operations| {
        let case = case.fetch_add(1, Ordering::Relaxed);
        for log in [&file as &dyn ReplayLog, &shared, &streams] {
            runtime.block_on(Alike::default().play(log, case, &operations));
        }
        Ok(())
    });
    runtime.block_on(async { drop((shared, streams)) });
    result.unwrap_or_else(|error| panic!("{error}"));
}

/// A log in memory, and another one to compare it with.
#[derive(Default)]
struct Alike {
    memory: MemoryLog,
    claims: BTreeMap<u8, [Claim; 2]>,
    lists: BTreeMap<u8, Vec<Bytes>>,
}

impl Alike {
    async fn play(mut self, log: &dyn ReplayLog, case: usize, operations: &[Operation]) {
        let id = |turn: u8| key(&format!("{case}.{turn}"));
        for (number, operation) in operations.iter().enumerate() {
            match *operation {
                Operation::Create(turn) => {
                    let left = self.memory.create(id(turn), new("s")).await;
                    match (left, log.create(id(turn), new("s")).await) {
                        (Ok(Created::New(left)), Ok(Created::New(right))) => {
                            self.claims.insert(turn, [left, right]);
                            self.lists.insert(turn, Vec::new());
                        }
                        (Ok(Created::Exists(left)), Ok(Created::Exists(mut right))) => {
                            right.log = left.log;
                            assert_eq!(left, right);
                        }
                        other => panic!("{other:?}"),
                    }
                }
                Operation::Append(turn, skew, count, is_last) => {
                    let Some([left, right]) = self.claims.get(&turn) else { continue };
                    let at = self.lists.get(&turn).map_or(0, |list| list.len() as u64) + skew;
                    let batch: Vec<Bytes> =
                        (0..count).map(|place| Bytes::from(format!("{number}.{place}"))).collect();
                    let change = if is_last { ends(End::Done) } else { Change::default() };
                    let before = self.memory.head(id(turn)).await;
                    let done = self.memory.append(left, at, batch.clone(), change.clone()).await;
                    assert_eq!(done, log.append(right, at, batch.clone(), change).await);
                    if done.is_ok() && before.is_ok_and(|head| head.end.is_none()) {
                        self.lists.entry(turn).or_default().extend(batch);
                    }
                }
                Operation::Claim(turn, skew) => {
                    match (self.memory.claim(id(turn), skew).await, log.claim(id(turn), skew).await) {
                        (Ok(left), Ok(right)) => {
                            assert_eq!(left.epoch, right.epoch);
                            self.claims.insert(turn, [left, right]);
                        }
                        (left, right) => assert_eq!(left.err(), right.err()),
                    }
                }
                Operation::Remove(turn) => {
                    let Some([left, right]) = self.claims.get(&turn) else { continue };
                    assert_eq!(self.memory.remove(left).await, log.remove(right).await);
                    self.lists.remove(&turn);
                }
            }
        }
        for (turn, list) in &self.lists {
            assert_eq!(self.memory.read(id(*turn), 0, usize::MAX).await.as_ref(), Ok(list));
            assert_eq!(log.read(id(*turn), 0, usize::MAX).await.as_ref(), Ok(list));
        }
    }
}
