//! A log in one `SQLite` file, which processes of one machine can share: a new relay serves turns that an old one still
//! runs. `writer` commits jobs in batches, `rows` has the statements, `process` knows which processes are alive,
//! `watch` notices other processes' writes.

mod process;
mod rows;
mod watch;
mod writer;

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use tokio::sync::mpsc;

use self::process::Process;
use self::rows::Fault;
use self::watch::Watchers;
use self::writer::{Syncs, Writer};
use super::shared::Company;
use super::{
    Answer, Change, Claim, Created, Head, Hint, LogError, NewTurn, Purge, ReplayLog, ResponseHead, SharedLog,
    Sign, Size, TurnKey, Wishes,
};

/// How long a connection waits for another one's transaction.
const BUSY: Duration = Duration::from_secs(5);
/// The pause before a connection tries again, where `SQLite` does not wait.
const AGAIN: Duration = Duration::from_millis(5);
/// How old the known wishes of users may be.
const WISHED: Duration = Duration::from_millis(500);

/// How often frames are synced. A power failure loses those written in this interval, and during the sync itself.
const OFTEN: Duration = Duration::from_millis(20);

/// Keeps turns in a file.
#[derive(Debug)]
pub struct SqliteLog {
    path: PathBuf,
    writer: Writer,
    reader: Arc<Mutex<Connection>>,
    /// This process, unless it is only a tool beside the relays.
    process: Option<Process>,
    /// This process's running turns and what users want of them, and when that was read.
    wishes: Arc<Mutex<(Instant, HashMap<TurnKey, Wishes>)>>,
    watchers: Watchers,
}

impl SqliteLog {
    /// Opens a file, and creates it if it does not exist. With `is_synced`, each append is on disk when it is
    /// acknowledged. Without it, beginnings and ends are, and all frames except the most recent ones.
    pub fn open(path: &Path, is_synced: bool) -> Result<Self, LogError> {
        let syncs = if is_synced { Syncs::Always } else { syncs_beside(path) };
        Self::opened(path, syncs, true)
    }

    /// Opens a file that relays may be using, as a tool that is not a relay.
    pub fn beside(path: &Path) -> Result<Self, LogError> {
        Self::opened(path, Syncs::Always, false)
    }

    fn opened(path: &Path, syncs: Syncs, is_relay: bool) -> Result<Self, LogError> {
        private(path)?;
        let connection = connect(path)?;
        // Processes that start at once come one after the other: each sees what the one before has made.
        let entering =
            Transaction::new_unchecked(&connection, TransactionBehavior::Immediate).map_err(failed)?;
        rows::prepare(&entering).map_err(failed)?;
        let process = if is_relay {
            // While another process is using the file, nothing can have been lost.
            if others(&entering, path, 0).map_err(Fault::into_error)?.is_empty() {
                rows::note_boot(&entering, matches!(syncs, Syncs::Always)).map_err(failed)?;
            }
            Some(Process::enter(&entering, path)?)
        } else {
            None
        };
        // Other processes see this one from here on, and its lock is already held.
        entering.commit().map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
            writer: Writer::start(connection, connect(path)?, syncs)?,
            reader: Arc::new(Mutex::new(connect(path)?)),
            process,
            wishes: Arc::new(Mutex::new((Instant::now(), HashMap::new()))),
            watchers: Watchers::default(),
        })
    }

    /// This process's number; 0 if it is not a relay.
    fn number(&self) -> i64 {
        self.process.as_ref().map_or(0, |process| process.id)
    }

    /// Runs this with the list of other live processes.
    fn read_beside<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection, &[i64]) -> Result<T, Fault> + Send + 'static,
    ) -> Answer<'_, T> {
        let (own, path) = (self.number(), self.path.clone());
        self.read_rows(move |rows| {
            // A consistent snapshot: a process that begins in between would be missing from the live ones.
            let moment = rows.unchecked_transaction()?;
            work(&moment, &others(&moment, &path, own)?)
        })
    }

    fn read_rows<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Answer<'_, T> {
        let reader = self.reader.clone();
        Box::pin(async move {
            let task = tokio::task::spawn_blocking(move || work(&lock(&reader)).map_err(Fault::into_error));
            task.await.map_err(|error| LogError::Unreachable(error.to_string()))?
        })
    }
}

/// Syncs what a file's commits have written, while commits continue.
fn syncs_beside(path: &Path) -> Syncs {
    let mut written = path.as_os_str().to_owned();
    written.push("-wal");
    let sync = move || {
        // The next synced commit reports disk errors.
        let _ = OpenOptions::new().append(true).open(&written).and_then(|file| file.sync_data());
    };
    Syncs::Beside(OFTEN, Box::new(sync))
}

/// The other live processes.
fn others(rows: &Connection, path: &Path, own: i64) -> Result<Vec<i64>, Fault> {
    let mut living = rows::processes(rows)?;
    living.retain(|id| *id != own && process::is_alive(path, *id));
    Ok(living)
}

fn failed(error: rusqlite::Error) -> LogError {
    Fault::Store(error).into_error()
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
}

/// Makes the file readable only by the relay's own user.
fn private(path: &Path) -> Result<(), LogError> {
    let failed = |error: std::io::Error| LogError::Unreachable(format!("{}: {error}", path.display()));
    // Opening a named pipe would wait for its other end.
    if std::fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return Err(LogError::Unreachable(format!("{} is no file", path.display())));
    }
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty() && !parent.exists()) {
        let mut directory = std::fs::DirBuilder::new();
        directory.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut directory, 0o700);
        directory.create(parent).map_err(failed)?;
    }
    options.open(path).map(drop).map_err(failed)
}

fn connect(path: &Path) -> Result<Connection, LogError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(BUSY).map_err(failed)?;
    // The first connection to a new file changes its mode, and SQLite does not wait for others that try the same.
    let until = Instant::now() + BUSY;
    loop {
        // Nothing in another program's file is changed, not even its mode.
        let changed = rows::is_own(&connection).and_then(|is_own| {
            is_own.then(|| connection.pragma_update(None, "journal_mode", "WAL")).transpose()
        });
        match changed {
            Err(error) if is_busy(&error) && Instant::now() < until => std::thread::sleep(AGAIN),
            Ok(None) => {
                let whose = "another program's file: name one of the relay's own";
                return Err(LogError::Unreachable(format!("{} is {whose}", path.display())));
            }
            changed => return changed.map(|_| connection).map_err(failed),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ReplayLog for SqliteLog {
    fn create(&self, key: TurnKey, new: NewTurn) -> Answer<'_, Created> {
        let own = self.number();
        // The agent is called next. If a power failure erased the turn, a repeated start would reach it again.
        self.writer.write(true, move |rows| rows::create(rows, own, key, &new))
    }

    fn claim(&self, key: TurnKey, seen: u64) -> Answer<'_, Claim> {
        let own = self.number();
        self.writer.write(true, move |rows| rows::claim(rows, own, key, seen))
    }

    fn append(&self, claim: &Claim, at: u64, frames: Vec<Bytes>, change: Change) -> Answer<'_, ()> {
        let claim = claim.clone();
        self.writer.write(change.end.is_some(), move |rows| rows::append(rows, &claim, at, &frames, change))
    }

    fn head(&self, key: TurnKey) -> Answer<'_, Head> {
        self.read_rows(move |rows| rows::head(rows, &key).map(|(_, head)| head))
    }

    fn read(&self, key: TurnKey, after: u64, max_bytes: usize) -> Answer<'_, Vec<Bytes>> {
        self.read_rows(move |rows| rows::read(rows, &key, after, max_bytes))
    }

    fn open_turns(&self) -> Answer<'_, Vec<(TurnKey, u64)>> {
        let own = self.number();
        self.read_rows(move |rows| rows::open_turns(rows, |process| process == own))
    }

    fn turns(
        &self,
        upstream: String,
        subject: String,
        session: Option<String>,
    ) -> Answer<'_, Vec<(String, Head)>> {
        self.read_rows(move |rows| rows::turns(rows, &upstream, &subject, session.as_deref()))
    }

    fn remove(&self, claim: &Claim) -> Answer<'_, ()> {
        let claim = claim.clone();
        self.writer.write(false, move |rows| rows::remove(rows, &claim))
    }

    fn expire(&self, retention: Duration) -> Answer<'_, usize> {
        let (own, path) = (self.number(), self.path.clone());
        self.writer.write(false, move |rows| {
            for id in rows::processes(rows)?.into_iter().filter(|id| *id != own) {
                if !process::is_alive(&path, id) && rows::forget(rows, id)? {
                    process::forget(&path, id);
                }
            }
            rows::expire(rows, retention)
        })
    }

    fn purge(&self, what: Purge) -> Answer<'_, usize> {
        self.writer.write(true, move |rows| rows::purge(rows, &what))
    }

    fn own(&self, upstream: String, session: String, subject: String) -> Answer<'_, String> {
        self.writer.write(true, move |rows| rows::own(rows, &upstream, &session, &subject))
    }

    fn owner(&self, upstream: String, session: String) -> Answer<'_, Option<String>> {
        self.read_rows(move |rows| rows::owner(rows, &upstream, &session))
    }

    /// The file and the write-ahead log. The free space of the disk is left to the system to report.
    fn size(&self) -> Answer<'_, Size> {
        let mut ahead = self.path.as_os_str().to_owned();
        ahead.push("-wal");
        let size = |path: &Path| std::fs::metadata(path).map_or(0, |file| file.len());
        let bytes = size(&self.path) + size(Path::new(&ahead));
        Box::pin(std::future::ready(Ok(Size { bytes, room: 0 })))
    }

    fn disown(&self, upstream: String, session: String) -> Answer<'_, ()> {
        self.writer.write(true, move |rows| rows::disown(rows, &upstream, &session))
    }

    fn shared(&self) -> Option<&dyn SharedLog> {
        Some(self)
    }
}

impl SharedLog for SqliteLog {
    fn announce(&self, is_serving: bool) -> Answer<'_, ()> {
        let own = self.number();
        self.writer.write(false, move |rows| rows::announce(rows, own, is_serving))
    }

    fn company(&self) -> Answer<'_, Company> {
        self.read_beside(|rows, living| {
            let serving = rows::serving(rows)?;
            Ok(match living {
                [] => Company::Alone,
                _ if living.iter().any(|id| serving.contains(id)) => Company::Serving,
                _ => Company::Beside,
            })
        })
    }

    fn orphans(&self) -> Answer<'_, Vec<(TurnKey, u64)>> {
        let own = self.number();
        self.read_beside(move |rows, living| {
            rows::open_turns(rows, |process| process != own && !living.contains(&process))
        })
    }

    fn beat(&self, claim: &Claim, _last: u64) -> Answer<'_, Wishes> {
        let key = claim.key.clone();
        let mut wishes = lock(&self.wishes);
        if wishes.0.elapsed() < WISHED {
            return match wishes.1.get(&key).copied() {
                Some(answer) => Box::pin(async move { Ok(answer) }),
                // It is new, or was removed.
                None => self.read_rows(move |rows| rows::head(rows, &key).map(|_| Wishes::default())),
            };
        }
        // One turn refreshes the wishes of all.
        wishes.0 = Instant::now();
        drop(wishes);
        let (own, shared) = (self.number(), self.wishes.clone());
        let read = self.read_rows(move |rows| rows::wishes(rows, own));
        Box::pin(async move {
            let read = read.await?;
            let answer = read.get(&key).copied();
            lock(&shared).1 = read;
            answer.ok_or(LogError::Gone)
        })
    }

    fn restore(&self, claim: &Claim, _new: NewTurn, _response: Option<ResponseHead>) -> Answer<'_, ()> {
        let head = self.head(claim.key.clone());
        Box::pin(async {
            match head.await {
                Ok(_) => Err(LogError::Fenced),
                // A file loses nothing by itself.
                Err(LogError::Gone) => Err(LogError::Removed),
                Err(error) => Err(error),
            }
        })
    }

    fn signs(&self) -> Answer<'_, Vec<(TurnKey, Sign)>> {
        // The locks show which processes are alive.
        Box::pin(async { Ok(Vec::new()) })
    }

    fn ask_to_stop(&self, key: TurnKey) -> Answer<'_, ()> {
        self.writer.write(false, move |rows| rows::ask_to_stop(rows, &key))
    }

    fn note_readers(&self, key: TurnKey) -> Answer<'_, ()> {
        self.writer.write(false, move |rows| rows::note_readers(rows, &key))
    }

    fn watch(&self, _key: &TurnKey) -> mpsc::Receiver<Hint> {
        self.watchers.add(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::turn::End;

    /// Whether this is on disk when it is acknowledged, judged by the sync level of its transaction.
    async fn is_durable<T>(log: &SqliteLog, job: impl FnOnce(&SqliteLog) -> Answer<'_, T>) -> bool {
        // An earlier transaction holds the thread, until the job and the check are queued for the same one.
        let ((begin, holds), (release, end)) = (channel::<()>(), channel::<()>());
        let before = log.writer.write(true, move |_| {
            let _ = begin.send(());
            let _ = end.recv();
            Ok(())
        });
        holds.recv().expect("it begins");
        let job = job(log);
        let level = log.writer.write(false, |rows| {
            Ok(rows.pragma_query_value(None, "synchronous", |row| row.get::<_, i64>(0))?)
        });
        release.send(()).expect("it waits");
        before.await.expect("done");
        assert!(job.await.is_ok());
        level.await.expect("a level") == 2
    }

    #[tokio::test]
    async fn what_must_not_be_forgotten_is_on_the_disk() {
        let directory = std::env::temp_dir().join(format!("turnwire-relay-durable-{}", std::process::id()));
        let path = directory.join("turns.db");
        let log = SqliteLog::open(&path, false).expect("a log");
        let key = TurnKey { upstream: "a".to_owned(), subject: "ann".to_owned(), turn: "t".to_owned() };
        let new = NewTurn { session: None, request: [0; 32] };
        let text = str::to_owned;
        assert!(is_durable(&log, |log| log.create(key.clone(), new)).await, "a beginning");
        assert!(is_durable(&log, |log| log.claim(key.clone(), 1)).await, "a claim");
        let claim = Claim { key: key.clone(), log: log.head(key).await.expect("a head").log, epoch: 2 };
        let frame = || vec![Bytes::from_static(b"data: 1\n\n")];
        let none = Change::default;
        assert!(!is_durable(&log, |log| log.append(&claim, 1, frame(), none())).await, "a frame waits");
        let synced = SqliteLog::beside(&path).expect("a log");
        assert!(is_durable(&synced, |log| log.append(&claim, 2, frame(), none())).await, "a frame");
        let end = Change { end: Some(End::Done), ..Change::default() };
        assert!(is_durable(&log, |log| log.append(&claim, 3, Vec::new(), end)).await, "an end");
        assert!(
            is_durable(&log, |log| log.own(text("a"), text("s"), text("ann"))).await,
            "whose a session is"
        );
        assert!(is_durable(&log, |log| log.disown(text("a"), text("s"))).await, "that it is no one's");
        assert!(is_durable(&log, |log| log.purge(Purge::All)).await, "a purge");
        drop((log, synced));
        let _ = std::fs::remove_dir_all(&directory);
    }
}
