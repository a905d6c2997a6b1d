//! The one thread that writes. It commits whatever waits in one transaction: the more there is to do, the larger the commits.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::super::{Answer, LogError};
use super::rows::Fault;

/// The most jobs of one transaction.
const BATCH: usize = 512;
/// How often the write-ahead log is moved into the file. It is done on another connection, so that no commit waits for it.
const CHECKPOINT: Duration = Duration::from_secs(2);

/// Tells the caller what became of its job, once the transaction has ended.
type Reply = Box<dyn FnOnce(Result<(), LogError>) + Send>;

struct Job {
    /// Whether it must be on the disk when it is acknowledged.
    is_durable: bool,
    work: Box<dyn FnOnce(&Connection) -> Reply + Send>,
}

/// Sends jobs to the thread. Dropping it ends the thread, after what waits.
#[derive(Debug)]
pub(super) struct Writer {
    jobs: Option<Sender<Job>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(
        connection: Connection,
        checkpoints: Connection,
        is_synced: bool,
    ) -> Result<Self, LogError> {
        let failed = |error: std::io::Error| LogError::Unreachable(error.to_string());
        let (jobs, waiting) = channel();
        let _ = connection.pragma_update(None, "wal_autocheckpoint", 0);
        let (ended, end) = channel::<()>();
        let checkpoint = move || {
            while end.recv_timeout(CHECKPOINT) == Err(RecvTimeoutError::Timeout) {
                // Busy readers delay it to the next time.
                let _ = checkpoints.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
            }
        };
        thread::Builder::new().name("relay-checkpoints".to_owned()).spawn(checkpoint).map_err(failed)?;
        let write = move || {
            run(&connection, &waiting, is_synced);
            drop(ended);
        };
        let thread = thread::Builder::new().name("relay-log".to_owned()).spawn(write).map_err(failed)?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread) })
    }

    /// Does this with the next transaction. Its effects and its result are there, or neither.
    pub(super) fn write<T: Send + 'static>(
        &self,
        is_durable: bool,
        work: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Answer<'_, T> {
        let (sender, receiver) = oneshot::channel();
        let work = Box::new(move |connection: &Connection| -> Reply {
            let result = in_savepoint(connection, work);
            // A caller that has left does not need the result.
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
            // It panics nowhere; if it did, there is nothing left to do.
            let _ = thread.join();
        }
    }
}

/// A job that fails undoes its own work only.
fn in_savepoint<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, Fault>,
) -> Result<T, LogError> {
    let begun = connection.execute_batch("SAVEPOINT job").map_err(Fault::Store);
    let result = begun.and_then(|()| work(connection));
    let end = if result.is_ok() { "RELEASE job" } else { "ROLLBACK TO job; RELEASE job" };
    let ended = connection.execute_batch(end).map_err(Fault::Store);
    result.and_then(|value| ended.map(|()| value)).map_err(Fault::into_error)
}

fn run(connection: &Connection, waiting: &Receiver<Job>, is_synced: bool) {
    while let Ok(first) = waiting.recv() {
        let mut jobs = vec![first];
        while jobs.len() < BATCH
            && let Ok(job) = waiting.try_recv()
        {
            jobs.push(job);
        }
        // A synced commit also syncs all commits before it.
        let level = if is_synced || jobs.iter().any(|job| job.is_durable) { "FULL" } else { "NORMAL" };
        let begun = connection
            .pragma_update(None, "synchronous", level)
            .and_then(|()| connection.execute_batch("BEGIN IMMEDIATE"));
        let replies: Vec<Reply> = jobs.into_iter().map(|job| (job.work)(connection)).collect();
        let committed = begun.and_then(|()| connection.execute_batch("COMMIT"));
        if committed.is_err() && !connection.is_autocommit() {
            let _ = connection.execute_batch("ROLLBACK");
        }
        let committed = committed.map_err(|error| Fault::Store(error).into_error());
        for reply in replies {
            reply(committed.clone());
        }
    }
}
