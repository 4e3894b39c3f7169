//! Reads another program's SQLite database while that program runs. Never writes and never checkpoints; if even reading would
//! create files beside the database, a private copy is read instead.

use crate::walk;
use memdir_core::{
    Error, Problem, Result,
    internal::base::{limits, text::human_bytes},
};
use rusqlite::{Connection, ErrorCode, OpenFlags, Row, ToSql, config::DbConfig, types::ValueRef};
use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tempfile::TempDir;

/// Milliseconds to wait for another program's SQLite lock before its sessions are skipped until the next sync.
const CHAT_BUSY_MS: u64 = 200;

/// A read-only database.
pub(super) struct ReadOnlyDatabase {
    connection: Connection,
    path: PathBuf,
    /// The directory of the private copy, if one was needed; removed on drop.
    _copy: Option<TempDir>,
}

impl ReadOnlyDatabase {
    /// Opens the database in place if that creates no files, otherwise a copy.
    pub(super) fn open(path: &Path) -> Result<ReadOnlyDatabase> {
        let io = |source| Error::io("read", path, source);
        if opens_without_files(path).map_err(io)? {
            let connection = connect(path).map_err(|error| failed(path, &error))?;
            return Ok(ReadOnlyDatabase { connection, path: path.to_owned(), _copy: None });
        }
        let copy = tempfile::Builder::new().prefix("memdir-").tempdir().map_err(io)?;
        let target = copy.path().join("copy.db");
        copy_consistent(path, &target).map_err(io)?;
        let connection = connect(&target).map_err(|error| failed(path, &error))?;
        Ok(ReadOnlyDatabase { connection, path: path.to_owned(), _copy: Some(copy) })
    }

    /// Returns the rows of a query.
    pub(super) fn rows<T>(
        &self,
        query: &str,
        values: &[&dyn ToSql],
        mut row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let mut out = Vec::new();
        self.each(query, values, |next| {
            out.push(row(next)?);
            Ok(())
        })?;
        Ok(out)
    }

    /// Calls `row` with every row of a query.
    pub(super) fn each(&self, query: &str, values: &[&dyn ToSql], mut row: impl FnMut(&Row<'_>) -> rusqlite::Result<()>) -> Result<()> {
        let mut run = || {
            let mut statement = self.connection.prepare(query)?;
            let mut rows = statement.query(values)?;
            while let Some(next) = rows.next()? {
                row(next)?;
            }
            Ok(())
        };
        run().map_err(|error: rusqlite::Error| match error {
            rusqlite::Error::ToSqlConversionFailure(inner) if inner.is::<Error>() => match inner.downcast::<Error>() {
                Ok(error) => *error,
                Err(other) => failed(&self.path, &rusqlite::Error::ToSqlConversionFailure(other)),
            },
            error => failed(&self.path, &error),
        })
    }

    /// Whether the database has a table.
    pub(super) fn has_table(&self, name: &str) -> Result<bool> {
        Ok(!self.rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1", &[&name], |_| Ok(()))?.is_empty())
    }

    /// Whether a table has a column.
    pub(super) fn has_column(&self, table: &str, column: &str) -> Result<bool> {
        Ok(!self.rows("SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2", &[&table, &column], |_| Ok(()))?.is_empty())
    }
}

/// Wraps a memdir error in an SQLite error, from which [`ReadOnlyDatabase::each`] unwraps it.
pub(super) fn through_sql(error: Error) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(Box::new(error))
}

/// Returns the text or blob in a column, or `None` if it has another type.
pub(super) fn text<'a>(row: &'a Row<'_>, column: usize) -> rusqlite::Result<Option<&'a [u8]>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Text(text) | ValueRef::Blob(text) => Some(text),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => None,
    })
}

/// Returns the SQL expression of a column whose value is NULL where it is too large to be loaded: SQLite knows the size of a value
/// without reading it.
pub(super) fn bounded(column: &str) -> String {
    format!("CASE WHEN octet_length({column}) <= {} THEN {column} END", limits::CHAT_RECORD_BYTES)
}

/// Returns the SQL expression that is 1 where the value of a column is too large to be loaded.
pub(super) fn is_too_large(column: &str) -> String {
    format!("COALESCE(octet_length({column}) > {}, 0)", limits::CHAT_RECORD_BYTES)
}

/// Returns the problem of a value that is too large to be loaded.
pub(super) fn too_large(what: &str, number: u64) -> Problem {
    Problem::at(number, format!("this {what} is larger than {} and was skipped", human_bytes(limits::CHAT_RECORD_BYTES)))
}

/// A database that stays open between queries until it changes.
#[derive(Default)]
pub(super) struct OpenDatabase(Mutex<Option<(String, ReadOnlyDatabase)>>);

impl OpenDatabase {
    /// Queries the database at a path, opening it first if it is another one or may have changed.
    pub(super) fn with<T>(&self, path: &Path, query: impl FnOnce(&ReadOnlyDatabase) -> Result<T>) -> Result<T> {
        let stamp = format!("{}: {}", path.display(), stamp(path));
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if open.as_ref().is_none_or(|(opened, _)| *opened != stamp) {
            *open = None;
            *open = Some((stamp, ReadOnlyDatabase::open(path)?));
        }
        match &*open {
            Some((_, database)) => query(database),
            None => Err(Error::unavailable(format!("the database {}", path.display()), "the connection was closed")),
        }
    }
}

/// Returns a value that changes whenever the database may have changed.
pub(super) fn stamp(path: &Path) -> String {
    let part = |path: &Path| walk::stamp(path).map_or_else(|| "-".to_owned(), |stamp| format!("{} {}", stamp.size, stamp.mtime_ns));
    format!("{} {}", part(path), part(&beside(path, "-wal")))
}

/// Copies the database and its logs, and repeats that if any of them changed meanwhile.
fn copy_consistent(path: &Path, target: &Path) -> io::Result<()> {
    for _ in 0..3 {
        let before = stamp(path);
        fs::copy(path, target)?;
        for suffix in ["-wal", "-journal"] {
            let (beside, copied) = (beside(path, suffix), beside(target, suffix));
            if beside.exists() {
                fs::copy(&beside, &copied)?;
            } else if copied.exists() {
                fs::remove_file(&copied)?;
            }
        }
        if stamp(path) == before {
            return Ok(());
        }
    }
    Err(io::Error::new(io::ErrorKind::ResourceBusy, "the file changed during each of three attempts to copy it"))
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(Duration::from_millis(CHAT_BUSY_MS))?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(connection)
}

fn failed(path: &Path, error: &rusqlite::Error) -> Error {
    if matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)) {
        return Error::io("read", path, io::Error::new(io::ErrorKind::ResourceBusy, error.to_string()));
    }
    Error::unavailable(format!("the database {}", path.display()), error.to_string())
}

/// Whether SQLite opens the database without creating files. A database with a write-ahead log needs `-wal` and `-shm`, which SQLite
/// creates if they are missing; both exist while the owner runs. A database with a rollback journal needs neither.
fn opens_without_files(path: &Path) -> io::Result<bool> {
    let mut header = [0; 20];
    let has_log = File::open(path)?.read_exact(&mut header).is_ok() && header[18] == 2;
    Ok(if has_log { beside(path, "-wal").exists() && beside(path, "-shm").exists() } else { !beside(path, "-journal").exists() })
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
