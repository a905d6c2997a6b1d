//! The only thread that writes. It commits all waiting jobs in one transaction: commits grow with the load.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::super::{Answer, LogError};
use super::rows::Fault;

/// The most jobs of one transaction.
const BATCH: usize = 512;

/// When the write-ahead log is moved into the file.
#[derive(Debug, Clone, Copy)]
struct Checkpoints {
    /// How often another connection does that, so that no commit waits for it.
    often: Duration,
    /// The log's length, in pages, beyond which it must restart. It can restart only while no commit intervenes: so the
    /// committing thread moves the rest that the other connection has left, which is little.
    most: i64,
}

/// A log of 64 MiB.
const CHECKPOINTS: Checkpoints = Checkpoints { often: Duration::from_secs(2), most: 16 << 10 };

/// Sends a job's result to its caller, once the transaction has ended.
type Reply = Box<dyn FnOnce(Result<(), LogError>) + Send>;

/// A job: it gets the connection in its transaction, or the reason why there is none.
type Work = Box<dyn FnOnce(Result<&Connection, LogError>) -> Reply + Send>;

struct Job {
    /// Whether it must be on disk when it is acknowledged.
    is_durable: bool,
    work: Work,
}

/// When commits without durable jobs are synced.
pub(super) enum Syncs {
    /// With the commit.
    Always,
    /// By this function on a separate thread, at most once per interval. No commit waits for the disk, and committed
    /// data reaches it at most that much later.
    Beside(Duration, Box<dyn FnMut() + Send>),
}

/// Sends jobs to the thread. When dropped, the thread ends after the waiting jobs.
#[derive(Debug)]
pub(super) struct Writer {
    jobs: Option<Sender<Job>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread.
    pub(super) fn start(
        connection: Connection,
        checkpoints: Connection,
        syncs: Syncs,
    ) -> Result<Self, LogError> {
        Self::start_with(connection, checkpoints, syncs, CHECKPOINTS)
    }

    fn start_with(
        connection: Connection,
        checkpoints: Connection,
        syncs: Syncs,
        when: Checkpoints,
    ) -> Result<Self, LogError> {
        let failed = |error: std::io::Error| LogError::Unreachable(error.to_string());
        let (jobs, waiting) = channel();
        let _ = connection.pragma_update(None, "wal_autocheckpoint", 0);
        let (ended, end) = channel::<()>();
        let is_long = Arc::new(AtomicBool::new(false));
        let found_long = is_long.clone();
        let checkpoint = move || {
            while end.recv_timeout(when.often) == Err(RecvTimeoutError::Timeout) {
                // If readers are busy, the next round does it.
                if self::checkpoint(&checkpoints).is_ok_and(|pages| pages > when.most) {
                    found_long.store(true, Ordering::Relaxed);
                }
            }
        };
        thread::Builder::new().name("relay-checkpoints".to_owned()).spawn(checkpoint).map_err(failed)?;
        let unsynced = match syncs {
            Syncs::Always => None,
            Syncs::Beside(often, mut sync) => {
                let (unsynced, committed) = sync_channel(1);
                let sync = move || {
                    while committed.recv().is_ok() {
                        sync();
                        thread::sleep(often);
                    }
                };
                thread::Builder::new().name("relay-sync".to_owned()).spawn(sync).map_err(failed)?;
                Some(unsynced)
            }
        };
        let write = move || {
            run(&connection, &waiting, unsynced.as_ref(), &is_long);
            drop(ended);
        };
        let thread = thread::Builder::new().name("relay-log".to_owned()).spawn(write).map_err(failed)?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread) })
    }

    /// Runs this in the next transaction. Its effects and its result are both there, or neither.
    pub(super) fn write<T: Send + 'static>(
        &self,
        is_durable: bool,
        work: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Answer<'_, T> {
        let (sender, receiver) = oneshot::channel();
        let work = Box::new(move |connection: Result<&Connection, LogError>| -> Reply {
            let result = connection.and_then(|connection| in_savepoint(connection, work));
            // A caller that is gone does not need the result.
            Box::new(move |committed| drop(sender.send(committed.and(result))))
        });
        let sent = self.jobs.as_ref().is_some_and(|jobs| jobs.send(Job { is_durable, work }).is_ok());
        Box::pin(async move {
            let lost = || LogError::Unreachable("its thread has ended".to_owned());
            if !sent {
                return Err(lost());
            }
            receiver.await.map_err(|_| lost())?
        })
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // The thread does not panic; if it did, nothing would be left to do.
            let _ = thread.join();
        }
    }
}

/// One statement without parameters. It is parsed once: these are half of the statements of each commit.
fn execute(connection: &Connection, statement: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(statement)?.execute([]).map(drop)
}

/// A job that fails undoes its own work only.
fn in_savepoint<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, Fault>,
) -> Result<T, LogError> {
    let begun = execute(connection, "SAVEPOINT job").map_err(Fault::Store);
    let result = begun.and_then(|()| work(connection));
    let undone = if result.is_ok() { Ok(()) } else { execute(connection, "ROLLBACK TO job") };
    let ended = undone.and_then(|()| execute(connection, "RELEASE job")).map_err(Fault::Store);
    result.and_then(|value| ended.map(|()| value)).map_err(Fault::into_error)
}

/// The connection, if its transaction is open. Without one, a savepoint would be a transaction itself and would persist
/// although its job is reported as failed. So it must not begin if the transaction could not, or a full disk undid it.
fn in_transaction<'c>(
    connection: &'c Connection,
    begun: &Result<(), LogError>,
) -> Result<&'c Connection, LogError> {
    begun.clone()?;
    let is_open = !connection.is_autocommit();
    is_open
        .then_some(connection)
        .ok_or_else(|| LogError::Unreachable("its transaction was undone".to_owned()))
}

/// Moves the write-ahead log into the file, as far as readers allow now. Returns how many pages the log has.
fn checkpoint(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get(1))
}

/// Runs the jobs. Unsynced commits are reported to `unsynced`; without it, all commits are synced. If the write-ahead
/// log `is_long`, it is moved into the file after a commit, so that the next commit restarts it.
fn run(
    connection: &Connection,
    waiting: &Receiver<Job>,
    unsynced: Option<&SyncSender<()>>,
    is_long: &AtomicBool,
) {
    let mut level = "";
    while let Ok(first) = waiting.recv() {
        let mut jobs = vec![first];
        while jobs.len() < BATCH
            && let Ok(job) = waiting.try_recv()
        {
            jobs.push(job);
        }
        // A synced commit also syncs all commits before it.
        let is_full = unsynced.is_none() || jobs.iter().any(|job| job.is_durable);
        let needed = if is_full { "FULL" } else { "NORMAL" };
        let set =
            if needed == level { Ok(()) } else { connection.pragma_update(None, "synchronous", needed) };
        if set.is_ok() {
            level = needed;
        }
        let begun = set
            .and_then(|()| execute(connection, "BEGIN IMMEDIATE"))
            .map_err(|error| Fault::Store(error).into_error());
        let replies: Vec<Reply> =
            jobs.into_iter().map(|job| (job.work)(in_transaction(connection, &begun))).collect();
        let commit = || execute(connection, "COMMIT").map_err(|error| Fault::Store(error).into_error());
        let committed = begun.and_then(|()| commit());
        if committed.is_err() && !connection.is_autocommit() {
            let _ = connection.execute_batch("ROLLBACK");
        }
        if let Some(unsynced) = unsynced
            && !is_full
        {
            // One pending report is enough.
            let _ = unsynced.try_send(());
        }
        for reply in replies {
            reply(committed.clone());
        }
        if is_long.swap(false, Ordering::Relaxed) {
            let _ = checkpoint(connection);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    type Statement = Box<dyn FnOnce(&Connection) -> Result<(), Fault> + Send>;

    fn insert(number: i64) -> Statement {
        Box::new(move |rows| Ok(rows.execute("INSERT INTO n VALUES (?)", [number]).map(drop)?))
    }

    /// What one transaction with these jobs returns for each of them, and the numbers in the table after it.
    fn results(
        path: &std::path::Path,
        lock: Option<Connection>,
        jobs: impl FnOnce(Arc<Mutex<Option<Connection>>>) -> Vec<Statement>,
    ) -> (Vec<bool>, Vec<i64>) {
        let connection = Connection::open(path).expect("a file");
        connection.execute_batch("CREATE TABLE IF NOT EXISTS n (n INTEGER)").expect("a table");
        connection.busy_timeout(Duration::ZERO).expect("set");
        if let Some(lock) = &lock {
            lock.execute_batch("BEGIN IMMEDIATE").expect("locked");
        }
        let (sender, waiting) = channel();
        let writer = Writer { jobs: Some(sender), thread: None };
        let jobs = jobs(Arc::new(Mutex::new(lock)));
        let answers: Vec<_> = jobs.into_iter().map(|work| writer.write(false, work)).collect();
        // All jobs are queued before it begins, so they share one transaction.
        let thread = thread::spawn(move || run(&connection, &waiting, None, &AtomicBool::new(false)));
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let are_good = answers.into_iter().map(|answer| runtime.block_on(answer).is_ok()).collect();
        drop(writer);
        thread.join().expect("no panic");
        let rows = Connection::open(path).expect("a file");
        let mut select = rows.prepare("SELECT n FROM n ORDER BY n").expect("a statement");
        let numbers = select.query_map([], |row| row.get(0)).expect("rows");
        (are_good, numbers.collect::<rusqlite::Result<_>>().expect("numbers"))
    }

    #[test]
    fn each_commit_is_synced_soon_and_no_commit_waits_for_it() {
        let directory = std::env::temp_dir().join(format!("turnwire-relay-syncs-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory");
        let path = directory.join("n.db");
        let connect = || Connection::open(&path).expect("a file");
        connect().execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE n (n INTEGER)").expect("a table");
        let (begun, syncs) = channel();
        let (finish, finished) = channel();
        let rows = connect();
        let sync = Box::new(move || {
            let count: i64 = rows.query_row("SELECT count(*) FROM n", [], |row| row.get(0)).expect("a count");
            begun.send(count).expect("the test counts");
            finished.recv().expect("the test ends it");
        });
        let writer =
            Writer::start(connect(), connect(), Syncs::Beside(Duration::ZERO, sync)).expect("a thread");
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let write = |is_durable, number| {
            runtime.block_on(writer.write(is_durable, insert(number))).expect("committed");
        };
        write(true, 1);
        write(false, 2);
        assert_eq!(syncs.recv(), Ok(2), "a durable commit needs no other sync");
        // The sync of the disk is still running.
        write(false, 3);
        write(false, 4);
        finish.send(()).expect("it waits");
        assert_eq!(syncs.recv(), Ok(4));
        finish.send(()).expect("it waits");
        assert_eq!(syncs.recv_timeout(Duration::from_millis(200)), Err(RecvTimeoutError::Timeout));
        drop(writer);
        let _ = std::fs::remove_dir_all(&directory);
    }

    #[test]
    fn commits_that_never_pause_do_not_keep_the_write_ahead_log_from_beginning_anew() {
        let directory = std::env::temp_dir().join(format!("turnwire-relay-long-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory");
        let path = directory.join("n.db");
        let connect = || Connection::open(&path).expect("a file");
        connect()
            .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE n (n INTEGER, b BLOB)")
            .expect("a table");
        let when = Checkpoints { often: Duration::from_millis(20), most: 256 };
        let beside = Syncs::Beside(Duration::from_secs(1), Box::new(|| {}));
        let writer = Writer::start_with(connect(), connect(), beside, when).expect("a thread");
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let write = || {
            writer.write(false, |rows| {
                Ok(rows.execute("INSERT INTO n VALUES (1, zeroblob(8000))", []).map(drop)?)
            })
        };
        // There is always a waiting job: 32 MB in all.
        let mut last = write();
        for _ in 0..4000 {
            let next = write();
            runtime.block_on(last).expect("committed");
            last = next;
        }
        runtime.block_on(last).expect("committed");
        let size = std::fs::metadata(directory.join("n.db-wal")).expect("a log").len();
        drop(writer);
        let _ = std::fs::remove_dir_all(&directory);
        assert!(size < 16 << 20, "{size}");
    }

    #[test]
    fn what_is_told_to_have_failed_is_not_there() {
        let directory = std::env::temp_dir().join(format!("turnwire-relay-writer-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory");
        let path = directory.join("n.db");
        let both = results(&path, None, |_| vec![insert(1), insert(2)]);
        // As a full disk does.
        let undone = results(&path, None, |_| {
            let undo: Statement = Box::new(|rows| Ok(rows.execute_batch("ROLLBACK")?));
            vec![insert(3), undo, insert(4)]
        });
        // Another process is writing when the transaction should begin, and ends a moment later.
        let locked = results(&path, Some(Connection::open(&path).expect("a file")), |lock| {
            let work: Statement = Box::new(move |rows| {
                *lock.lock().expect("no panic") = None;
                insert(5)(rows)
            });
            vec![work]
        });
        let _ = std::fs::remove_dir_all(&directory);
        assert_eq!(both, (vec![true, true], vec![1, 2]));
        assert_eq!(undone, (vec![false, false, false], vec![1, 2]));
        assert_eq!(locked, (vec![false], vec![1, 2]));
    }
}
