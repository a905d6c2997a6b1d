//! The processes that use a file. Each holds the lock on a file of its own, which the system releases when it ends.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rusqlite::Transaction;

use super::super::LogError;
use super::{failed, private};

/// This process, while its log is open.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) id: i64,
    _lock: File,
}

impl Process {
    /// Registers this process, and holds its lock before others see it.
    pub(super) fn enter(entering: &Transaction<'_>, path: &Path) -> Result<Self, LogError> {
        entering.execute("INSERT INTO process (serves) VALUES (0)", []).map_err(failed)?;
        let id = entering.last_insert_rowid();
        let name = lock_of(path, id);
        private(&name)?;
        let broken = |error: std::io::Error| LogError::Unreachable(format!("{}: {error}", name.display()));
        let lock = File::options().write(true).open(&name).map_err(broken)?;
        lock.lock().map_err(broken)?;
        Ok(Self { id, _lock: lock })
    }
}

/// Whether a registered process is alive.
pub(super) fn is_alive(path: &Path, id: i64) -> bool {
    match File::open(lock_of(path, id)) {
        // A process whose lock cannot be tested counts as alive: its turns are not taken from it.
        Ok(lock) => !matches!(lock.try_lock_shared(), Ok(())),
        Err(error) => error.kind() != ErrorKind::NotFound,
    }
}

/// Removes the lock file of a process that has ended.
pub(super) fn forget(path: &Path, id: i64) {
    // A remaining lock file is harmless.
    let _ = fs::remove_file(lock_of(path, id));
}

fn lock_of(path: &Path, id: i64) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{id}.lock"));
    name.into()
}
