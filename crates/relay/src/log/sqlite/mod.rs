//! A log in one `SQLite` file, for one process at a time. `writer` commits whatever waits, `rows` has the statements.

mod rows;
mod writer;

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use rusqlite::{Connection, OpenFlags};

use self::rows::Fault;
use self::writer::Writer;
use super::{Answer, Change, Claim, Created, Head, LogError, NewTurn, Purge, ReplayLog, TurnKey};

/// How long a connection waits for another one's transaction.
const BUSY: Duration = Duration::from_secs(5);

/// Keeps turns in a file.
#[derive(Debug)]
pub struct SqliteLog {
    writer: Writer,
    reader: Arc<Mutex<Connection>>,
    /// Held as long as the log is open.
    _lock: Option<File>,
}

impl SqliteLog {
    /// Opens a file, and makes it if there is none. With `is_synced`, each append is on the disk when it is acknowledged;
    /// without, only ends are. A second process is refused.
    pub fn open(path: &Path, is_synced: bool) -> Result<Self, LogError> {
        let lock = locked(path)?;
        Self::opened(path, is_synced, Some(lock))
    }

    /// Opens a file that a relay may be using at the same time.
    pub fn beside(path: &Path) -> Result<Self, LogError> {
        Self::opened(path, true, None)
    }

    fn opened(path: &Path, is_synced: bool, lock: Option<File>) -> Result<Self, LogError> {
        private(path)?;
        let connect = || -> Result<Connection, LogError> {
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
            connection.busy_timeout(BUSY).map_err(failed)?;
            connection.pragma_update(None, "journal_mode", "WAL").map_err(failed)?;
            Ok(connection)
        };
        let connection = connect()?;
        rows::prepare(&connection).map_err(failed)?;
        if lock.is_some() {
            rows::note_boot(&connection, is_synced).map_err(failed)?;
        }
        let writer = Writer::start(connection, connect()?, is_synced)?;
        Ok(Self { writer, reader: Arc::new(Mutex::new(connect()?)), _lock: lock })
    }

    fn read_rows<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Answer<'_, T> {
        let reader = self.reader.clone();
        Box::pin(async move {
            let task = tokio::task::spawn_blocking(move || {
                work(&reader.lock().unwrap_or_else(PoisonError::into_inner)).map_err(Fault::into_error)
            });
            task.await.map_err(|error| LogError::Unreachable(error.to_string()))?
        })
    }
}

fn failed(error: rusqlite::Error) -> LogError {
    Fault::Store(error).into_error()
}

/// Makes sure that only the relay's own user can read the file.
fn private(path: &Path) -> Result<(), LogError> {
    let failed = |error: std::io::Error| LogError::Unreachable(format!("{}: {error}", path.display()));
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

fn locked(path: &Path) -> Result<File, LogError> {
    private(path)?;
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let name = PathBuf::from(name);
    private(&name)?;
    let file = File::options().write(true).open(&name);
    let file = file.map_err(|error| LogError::Unreachable(format!("{}: {error}", name.display())))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(LogError::Unreachable(format!(
            "{} is in use by another relay: end that one first",
            path.display()
        ))),
        Err(TryLockError::Error(error)) => Err(LogError::Unreachable(format!("{}: {error}", name.display()))),
    }
}

impl ReplayLog for SqliteLog {
    fn create(&self, key: TurnKey, new: NewTurn) -> Answer<'_, Created> {
        self.writer.write(false, move |rows| rows::create(rows, key, &new))
    }

    fn claim(&self, key: TurnKey, seen: u64) -> Answer<'_, Claim> {
        self.writer.write(true, move |rows| rows::claim(rows, key, seen))
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
        self.read_rows(rows::open_turns)
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
        self.writer.write(false, move |rows| rows::expire(rows, retention))
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

    fn disown(&self, upstream: String, session: String) -> Answer<'_, ()> {
        self.writer.write(true, move |rows| rows::disown(rows, &upstream, &session))
    }
}
