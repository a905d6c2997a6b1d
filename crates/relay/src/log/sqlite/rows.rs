//! The tables, and the statements on them.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, Transaction, params};

use crate::mutant::mutant;

use super::super::{
    Change, Claim, Created, Head, LogError, NewTurn, Purge, REMEMBERED, ResponseHead, TurnKey, Wishes,
    new_log_id,
};

/// Why a statement has no result.
pub(super) enum Fault {
    /// A law of the log forbids it.
    Law(LogError),
    /// `SQLite` failed.
    Store(rusqlite::Error),
}

impl Fault {
    pub(super) fn into_error(self) -> LogError {
        match self {
            Self::Law(error) => error,
            Self::Store(error) if error.sqlite_error_code() == Some(ErrorCode::DiskFull) => LogError::Full,
            Self::Store(error) => LogError::Unreachable(error.to_string()),
        }
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error)
    }
}

impl From<LogError> for Fault {
    fn from(error: LogError) -> Self {
        Self::Law(error)
    }
}

type Result<T> = std::result::Result<T, Fault>;

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS turn (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    upstream TEXT NOT NULL, subject TEXT NOT NULL, turn TEXT NOT NULL,
    log INTEGER NOT NULL, epoch INTEGER NOT NULL, last INTEGER NOT NULL, bytes INTEGER NOT NULL,
    status INTEGER, content_type TEXT, end TEXT, ended INTEGER, expired INTEGER NOT NULL DEFAULT 0,
    session TEXT, request BLOB NOT NULL,
    process INTEGER NOT NULL, stopped INTEGER NOT NULL DEFAULT 0, readers INTEGER NOT NULL DEFAULT 0,
    UNIQUE (upstream, subject, turn));
CREATE INDEX IF NOT EXISTS turn_open ON turn (id) WHERE end IS NULL;
CREATE INDEX IF NOT EXISTS turn_ended ON turn (ended) WHERE ended IS NOT NULL;
CREATE TABLE IF NOT EXISTS entry (
    turn INTEGER NOT NULL, offset INTEGER NOT NULL, frame BLOB NOT NULL,
    PRIMARY KEY (turn, offset)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS session (
    upstream TEXT NOT NULL, session TEXT NOT NULL, subject TEXT NOT NULL,
    PRIMARY KEY (upstream, session)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS boot (id TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS process (id INTEGER PRIMARY KEY AUTOINCREMENT, serves INTEGER);
";

const HEAD: &str = "id, log, epoch, last, bytes, status, content_type, end, expired, session, request, turn";

/// What the header of a log's file says of its program (`application_id`): "twrl".
const PROGRAM: i32 = 0x7477_726c;

/// Whether a file is a log, or empty. Older versions did not name themselves in it: their tables show whose it is.
pub(super) fn is_own(file: &Connection) -> rusqlite::Result<bool> {
    match file.pragma_query_value(None, "application_id", |row| row.get(0))? {
        PROGRAM => return Ok(true),
        0 => {}
        _ => return Ok(false),
    }
    let own = Connection::open_in_memory()?;
    own.execute_batch(SCHEMA)?;
    let found = columns(file)?;
    let oldest = ["upstream", "subject", "turn", "log", "epoch", "last", "request"];
    let has = |column: &str| found.contains(&("turn".to_owned(), Some(column.to_owned())));
    Ok(found.is_empty() || oldest.into_iter().all(has) && found.is_subset(&columns(&own)?))
}

/// The names of everything in a file, with those of its columns.
fn columns(file: &Connection) -> rusqlite::Result<BTreeSet<(String, Option<String>)>> {
    let mut select = file.prepare(
        "SELECT thing.name, info.name FROM sqlite_schema AS thing LEFT JOIN pragma_table_info(thing.name) AS info
         WHERE thing.type <> 'index' AND thing.name NOT LIKE 'sqlite~_%' ESCAPE '~'",
    )?;
    select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// Makes the tables, and what a file of an older version lacks.
pub(super) fn prepare(rows: &Transaction<'_>) -> rusqlite::Result<()> {
    rows.pragma_update(None, "application_id", PROGRAM)?;
    rows.execute_batch(SCHEMA)?;
    for (table, column, rest) in [
        ("turn", "process", "NOT NULL DEFAULT 0"),
        ("turn", "stopped", "NOT NULL DEFAULT 0"),
        ("turn", "readers", "NOT NULL DEFAULT 0"),
        ("process", "serves", ""),
    ] {
        let find = "SELECT 1 FROM pragma_table_info(?) WHERE name = ?";
        if !rows.prepare(find)?.exists([table, column])? {
            rows.execute_batch(&format!("ALTER TABLE {table} ADD COLUMN {column} INTEGER {rest}"))?;
        }
    }
    if mutant!("frame_forgotten") {
        rows.execute_batch(
            "DELETE FROM entry WHERE offset = (SELECT last FROM turn WHERE id = entry.turn AND end IS NULL);
             UPDATE turn SET last = last - 1 WHERE end IS NULL AND last > 0;",
        )?;
    }
    Ok(())
}

/// Records the current boot of the machine. If the file was last used in another boot, its last writes may be missing:
/// unless each was synced, running turns get new log ids in the same transaction.
pub(super) fn note_boot(rows: &Transaction<'_>, is_synced: bool) -> rusqlite::Result<()> {
    let now = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
    let before: Option<String> = rows.query_row("SELECT id FROM boot", [], |row| row.get(0)).optional()?;
    // Where the system does not report its boot, any start may be a new one.
    if !is_synced && (now.is_none() || before != now) {
        rows.execute("UPDATE turn SET log = random() WHERE end IS NULL", [])?;
    }
    rows.execute("DELETE FROM boot", [])?;
    if let Some(now) = &now {
        rows.execute("INSERT INTO boot VALUES (?)", [now])?;
    }
    Ok(())
}

/// A number as `SQLite` stores it: the same bits, signed.
fn kept(number: u64) -> i64 {
    number.cast_signed()
}

fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(row.get::<_, i64>(column)?.cast_unsigned())
}

fn head_of(row: &Row<'_>) -> rusqlite::Result<(i64, Head)> {
    let status: Option<u16> = row.get(5)?;
    let content_type: Option<String> = row.get(6)?;
    let end: Option<String> = row.get(7)?;
    let end = end.map(|end| serde_json::from_str(&end)).transpose();
    let end = end.map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(7, rusqlite::types::Type::Text, error.into())
    })?;
    let head = Head {
        log: number(row, 1)?,
        epoch: number(row, 2)?,
        last: number(row, 3)?,
        bytes: number(row, 4)?,
        response: status
            .zip(content_type)
            .map(|(status, content_type)| ResponseHead { status, content_type }),
        end,
        is_expired: row.get(8)?,
        new: NewTurn { session: row.get(9)?, request: row.get(10)? },
    };
    Ok((row.get(0)?, head))
}

fn found(rows: &Connection, key: &TurnKey) -> Result<Option<(i64, Head)>> {
    let query = format!("SELECT {HEAD} FROM turn WHERE upstream = ? AND subject = ? AND turn = ?");
    let mut statement = rows.prepare_cached(&query)?;
    Ok(statement.query_row(params![key.upstream, key.subject, key.turn], head_of).optional()?)
}

pub(super) fn head(rows: &Connection, key: &TurnKey) -> Result<(i64, Head)> {
    found(rows, key)?.ok_or(Fault::Law(LogError::Gone))
}

pub(super) fn create(rows: &Connection, process: i64, key: TurnKey, new: &NewTurn) -> Result<Created> {
    if let Some((_, head)) = found(rows, &key)? {
        return Ok(Created::Exists(head));
    }
    let log = new_log_id()?;
    let mut insert = rows.prepare_cached(
        "INSERT INTO turn (upstream, subject, turn, log, epoch, last, bytes, session, request, process)
         VALUES (?, ?, ?, ?, 1, 0, 0, ?, ?, ?)",
    )?;
    let TurnKey { upstream, subject, turn } = &key;
    insert.execute(params![upstream, subject, turn, kept(log), new.session, new.request, process])?;
    Ok(Created::New(Claim { key, log, epoch: 1 }))
}

pub(super) fn claim(rows: &Connection, process: i64, key: TurnKey, seen: u64) -> Result<Claim> {
    let (id, head) = head(rows, &key)?;
    if head.end.is_some() && !mutant!("ended_again") {
        return Err(LogError::Closed.into());
    }
    if head.epoch != seen {
        return Err(LogError::Fenced.into());
    }
    let epoch = seen + 1;
    rows.execute("UPDATE turn SET epoch = ?, process = ? WHERE id = ?", params![kept(epoch), process, id])?;
    Ok(Claim { key, log: head.log, epoch })
}

pub(super) fn append(
    rows: &Connection,
    claim: &Claim,
    at: u64,
    frames: &[Bytes],
    change: Change,
) -> Result<()> {
    let (id, head) = head(rows, &claim.key)?;
    // A purged turn may have been created again by another process.
    if (head.log, head.epoch) != (claim.log, claim.epoch) {
        return Err(LogError::Fenced.into());
    }
    if head.end.is_some() && !mutant!("ended_again") {
        return Ok(head.closed_by(at, frames.len(), &change)?);
    }
    if at != head.last + 1 {
        return Err(LogError::Tail(head.last).into());
    }
    let mut insert = rows.prepare_cached("INSERT INTO entry VALUES (?, ?, ?)")?;
    let mut bytes = head.bytes;
    for (offset, frame) in (at..).zip(frames) {
        insert.execute(params![id, kept(offset), &frame[..]])?;
        bytes += frame.len() as u64;
    }
    let last = head.last + frames.len() as u64;
    let mut update = rows.prepare_cached("UPDATE turn SET last = ?, bytes = ? WHERE id = ?")?;
    update.execute(params![kept(last), kept(bytes), id])?;
    if let Some(response) = change.response {
        let mut update = rows.prepare_cached("UPDATE turn SET status = ?, content_type = ? WHERE id = ?")?;
        update.execute(params![response.status, response.content_type, id])?;
    }
    if let Some(end) = change.end {
        let end = serde_json::to_string(&end).map_err(|error| LogError::Unreachable(error.to_string()))?;
        let mut update = rows.prepare_cached("UPDATE turn SET end = ?, ended = ? WHERE id = ?")?;
        update.execute(params![end, seconds(Duration::ZERO), id])?;
    }
    Ok(())
}

pub(super) fn read(rows: &Connection, key: &TurnKey, after: u64, max_bytes: usize) -> Result<Vec<Bytes>> {
    let (id, head) = head(rows, key)?;
    if after >= head.last {
        return Ok(Vec::new());
    }
    let mut select =
        rows.prepare_cached("SELECT frame FROM entry WHERE turn = ? AND offset > ? ORDER BY offset")?;
    let mut found = select.query(params![id, kept(after)])?;
    let (mut page, mut size) = (Vec::new(), 0);
    while let Some(row) = found.next()? {
        let frame: Vec<u8> = row.get(0)?;
        if size > 0 && size + frame.len() > max_bytes {
            break;
        }
        size += frame.len();
        page.push(Bytes::from(frame));
    }
    Ok(page)
}

/// The open turns of some processes.
pub(super) fn open_turns(rows: &Connection, is_wanted: impl Fn(i64) -> bool) -> Result<Vec<(TurnKey, u64)>> {
    let wanted = if mutant!("ended_again") { "1" } else { "end IS NULL" };
    let mut select =
        rows.prepare(&format!("SELECT upstream, subject, turn, epoch, process FROM turn WHERE {wanted}"))?;
    let open = select.query_map([], |row| Ok((row.get(4)?, (key_of(row)?, number(row, 3)?))))?;
    let open = open.collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(open.into_iter().filter(|(process, _)| is_wanted(*process)).map(|(_, turn)| turn).collect())
}

fn key_of(row: &Row<'_>) -> rusqlite::Result<TurnKey> {
    Ok(TurnKey { upstream: row.get(0)?, subject: row.get(1)?, turn: row.get(2)? })
}

/// All registered processes.
pub(super) fn processes(rows: &Connection) -> Result<Vec<i64>> {
    let mut select = rows.prepare_cached("SELECT id FROM process")?;
    Ok(select.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?)
}

/// Records whether a process serves.
pub(super) fn announce(rows: &Connection, process: i64, is_serving: bool) -> Result<()> {
    rows.execute("UPDATE process SET serves = ? WHERE id = ?", params![is_serving, process])?;
    Ok(())
}

/// The processes that serve, as far as the register shows. A program of an older version does not record it.
pub(super) fn serving(rows: &Connection) -> Result<Vec<i64>> {
    let mut select = rows.prepare_cached("SELECT id FROM process WHERE serves IS NOT 0")?;
    Ok(select.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?)
}

/// Removes a process from the register, unless it has an open turn. Returns whether it was removed.
pub(super) fn forget(rows: &Connection, process: i64) -> Result<bool> {
    let forgotten = rows.execute(
        "DELETE FROM process WHERE id = ?1
         AND NOT EXISTS (SELECT 1 FROM turn WHERE end IS NULL AND process = ?1)",
        [process],
    )?;
    Ok(forgotten > 0)
}

/// Asks the owner of an open turn to stop it.
pub(super) fn ask_to_stop(rows: &Connection, key: &TurnKey) -> Result<()> {
    wish(rows, key, "stopped = 1")
}

/// Notes that an open turn has a reader.
pub(super) fn note_readers(rows: &Connection, key: &TurnKey) -> Result<()> {
    wish(rows, key, "readers = readers + 1")
}

fn wish(rows: &Connection, key: &TurnKey, change: &str) -> Result<()> {
    let filter = "upstream = ? AND subject = ? AND turn = ? AND end IS NULL";
    let mut update = rows.prepare_cached(&format!("UPDATE turn SET {change} WHERE {filter}"))?;
    update.execute(params![key.upstream, key.subject, key.turn])?;
    Ok(())
}

/// The open turns of a process, and what users want of them.
pub(super) fn wishes(rows: &Connection, process: i64) -> Result<HashMap<TurnKey, Wishes>> {
    let mut select = rows.prepare_cached(
        "SELECT upstream, subject, turn, stopped, readers FROM turn
         WHERE end IS NULL AND process = ?",
    )?;
    let wishes = select.query_map([process], |row| {
        Ok((key_of(row)?, Wishes { is_stopped: row.get(3)?, readers: number(row, 4)? }))
    })?;
    Ok(wishes.collect::<rusqlite::Result<_>>()?)
}

pub(super) fn turns(
    rows: &Connection,
    upstream: &str,
    subject: &str,
    session: Option<&str>,
) -> Result<Vec<(String, Head)>> {
    let query = format!(
        "SELECT {HEAD} FROM turn WHERE upstream = ?1 AND subject = ?2 AND (?3 IS NULL OR session = ?3) ORDER BY id DESC"
    );
    let mut select = rows.prepare_cached(&query)?;
    let turns =
        select.query_map(params![upstream, subject, session], |row| Ok((row.get(11)?, head_of(row)?.1)))?;
    Ok(turns.collect::<rusqlite::Result<_>>()?)
}

pub(super) fn remove(rows: &Connection, claim: &Claim) -> Result<()> {
    if let Some((id, head)) = found(rows, &claim.key)? {
        if (head.log, head.epoch) != (claim.log, claim.epoch) {
            return Err(LogError::Fenced.into());
        }
        rows.execute("DELETE FROM entry WHERE turn = ?", [id])?;
        rows.execute("DELETE FROM turn WHERE id = ?", [id])?;
    }
    Ok(())
}

pub(super) fn expire(rows: &Connection, retention: Duration) -> Result<usize> {
    let old = seconds(retention);
    // In small batches: running turns wait for this transaction.
    let mut select = rows.prepare_cached("SELECT id FROM turn WHERE ended <= ? AND expired = 0 LIMIT 8")?;
    let ids = select.query_map([old], |row| row.get(0))?.collect::<rusqlite::Result<Vec<i64>>>()?;
    for id in &ids {
        rows.execute("DELETE FROM entry WHERE turn = ?", [id])?;
        rows.execute("UPDATE turn SET expired = 1 WHERE id = ?", [id])?;
    }
    rows.execute("DELETE FROM turn WHERE ended <= ? AND expired = 1", [seconds(retention + REMEMBERED)])?;
    Ok(ids.len())
}

pub(super) fn purge(rows: &Connection, what: &Purge) -> Result<usize> {
    let (filter, values): (&str, Vec<&str>) = match what {
        Purge::All => ("1", Vec::new()),
        Purge::Subject(subject) => ("subject = ?", vec![subject]),
        Purge::Session { upstream, session } => ("upstream = ? AND session = ?", vec![upstream, session]),
    };
    let values = || rusqlite::params_from_iter(values.iter());
    rows.execute(&format!("DELETE FROM entry WHERE turn IN (SELECT id FROM turn WHERE {filter})"), values())?;
    let count = rows.execute(&format!("DELETE FROM turn WHERE {filter}"), values())?;
    if !matches!(what, Purge::Session { .. }) {
        rows.execute(&format!("DELETE FROM session WHERE {filter}"), values())?;
    }
    Ok(count)
}

pub(super) fn own(rows: &Connection, upstream: &str, session: &str, subject: &str) -> Result<String> {
    let mut insert = rows.prepare_cached("INSERT OR IGNORE INTO session VALUES (?, ?, ?)")?;
    insert.execute([upstream, session, subject])?;
    Ok(owner(rows, upstream, session)?.unwrap_or_default())
}

pub(super) fn owner(rows: &Connection, upstream: &str, session: &str) -> Result<Option<String>> {
    let mut select = rows.prepare_cached("SELECT subject FROM session WHERE upstream = ? AND session = ?")?;
    Ok(select.query_row([upstream, session], |row| row.get(0)).optional()?)
}

pub(super) fn disown(rows: &Connection, upstream: &str, session: &str) -> Result<()> {
    rows.execute("DELETE FROM session WHERE upstream = ? AND session = ?", [upstream, session])?;
    Ok(())
}

/// The time this long ago, in seconds since 1970.
fn seconds(ago: Duration) -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.saturating_sub(ago).as_secs()).unwrap_or(i64::MAX)
}
