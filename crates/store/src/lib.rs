//! Experiments and their runs, kept in one SQLite file. The only crate that knows SQL.
//!
//! Start at [`Store`]. An experiment is begun with its plan and schedule; every run is inserted as started before it
//! is launched ([`Store::start_run`]) and ends in one transaction ([`Store::finish_run`]), so that a crash leaves a
//! visible row and never half a run. A run that has ended never changes: analyses are recomputed from its samples.
//! Runs without an experiment, such as logs that were imported, come in parcels ([`Store::keep`]).
//!
//! The journal is a write-ahead log with `synchronous = FULL`. `NORMAL` would survive a killed process but could
//! lose the last runs when the power fails, and machines under test do crash; a sync costs milliseconds between
//! measurements that take seconds. On network and FUSE file systems, where shared memory and locks can't be relied
//! on, it is a rollback journal that is truncated, and [`Store::notes`] says so.
//!
//! Files may come from elsewhere, so no size, count or text in them is believed: what makes no sense is
//! [`StoreError::Corrupt`], naming the run. The clock, process ids and random numbers are the caller's.

mod doc;
mod error;
mod lease;
mod lone;
mod merge;
mod place;
mod read;
mod samples;
mod schema;
mod write;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags};

pub use error::StoreError;
pub use lease::Holder;
pub use lone::{Found as FoundRun, Kept, LoneRun, Parcel};
pub use merge::Merged;
pub use read::{Filter, Summary};
pub use write::{Ending, NewExperiment};

use error::Doing;
use schema::Found;

/// What a store's file has as SQLite's application id, at its byte 68: `tnbn`.
pub const APPLICATION_ID: u32 = 0x746e_626e;

/// Seconds that one waits for another process to finish writing.
pub const BUSY_SECONDS: u64 = 10;

/// The most samples of one run that are kept, over all its series.
pub const MOST_SAMPLES: u64 = 1 << 25;

/// The most slots of a schedule.
pub const MOST_SLOTS: u64 = 1 << 20;

/// The most bytes of an older store that are brought up to date in memory to be read.
const MOST_COPIED: i64 = 1 << 30;

/// An open store. Cheap to open, and fit to be moved to another thread.
pub struct Store {
    conn: Connection,
    path: PathBuf,
    notes: Vec<String>,
}

impl Store {
    /// Opens the store at `path`, making it and the folders above it (for their owner only) where they lack, and
    /// bringing an older one up to date.
    ///
    /// Fails if the file can't be written to, is no store, or is from a newer tenbin.
    pub fn open(path: impl AsRef<Path>) -> Result<Store, StoreError> {
        let path = path.as_ref();
        Store::open_at(path, place::remote(path))
    }

    fn open_at(path: &Path, remote: Option<&str>) -> Result<Store, StoreError> {
        place::prepare(path)?;
        let doing = Doing { path, doing: "open the store", what: "the store" };
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut conn = Connection::open_with_flags(path, flags).map_err(|e| doing.sql(&e))?;
        configure(&conn).map_err(|e| doing.sql(&e))?;
        let found = check_version(&conn, doing, true)?;

        let wanted = if remote.is_some() { "truncate" } else { "wal" };
        let journal = set_journal(&conn, wanted).map_err(|e| doing.sql(&e))?;
        let mut notes = Vec::new();
        if let Some(remote) = remote {
            notes.push(format!(
                "the store {} lies on {remote}, where locks are not to be relied on: let one machine at a time use \
                 it, or keep one file a machine and join them with `tenbin import`",
                path.display()
            ));
        }
        if journal != wanted {
            notes.push(format!(
                "the store {} keeps its {journal} journal while others use it",
                path.display()
            ));
        }

        if found != Found::Store(schema::MIGRATIONS.len() as i64) {
            schema::migrate(&mut conn, schema::MIGRATIONS).map_err(|e| doing.sql(&e))?;
        }
        check_schema(&conn, doing)?;
        Ok(Store { conn, path: path.to_owned(), notes })
    }

    /// Opens an existing store for reading. No content changes; a log that a killed process left may be worked in. An
    /// older one is brought up to date in memory.
    ///
    /// Fails if there is none, it is no store, or it is from a newer tenbin.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Store, StoreError> {
        let path = path.as_ref();
        let io = |source| StoreError::Io { doing: "open the store", path: path.to_owned(), source };
        place::must_be_file(path, &std::fs::metadata(path).map_err(io)?)?;
        let read = nix::unistd::access(path, nix::unistd::AccessFlags::R_OK);
        read.map_err(|error| io(error.into()))?;

        let doing = Doing { path, doing: "open the store", what: "the store" };
        // Who may write to the file opens it so all the same: only then SQLite takes away the files of the log that
        // it makes beside the store even to read it.
        let writable = place::may_write(path).and_then(|()| place::may_write(place::folder(path))).is_ok();
        let access =
            if writable { OpenFlags::SQLITE_OPEN_READ_WRITE } else { OpenFlags::SQLITE_OPEN_READ_ONLY };
        let opened = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX);
        let opened = opened.and_then(|conn| {
            configure(&conn)?;
            conn.pragma_update(None, "query_only", true)?;
            schema::look(&conn)?;
            Ok(conn)
        });
        let conn = match opened {
            // In a folder that can't be written to, or on a full disk, those files can't be made; a store that was
            // closed in order is complete without.
            Err(error) if lacks_journal(&error) && !place::has_journal(path) => {
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
                    | OpenFlags::SQLITE_OPEN_NO_MUTEX
                    | OpenFlags::SQLITE_OPEN_URI;
                Connection::open_with_flags(PathBuf::from(place::immutable_uri(path)), flags)
                    .and_then(|conn| configure(&conn).map(|()| conn))
            }
            opened => opened,
        };
        let mut conn = conn.map_err(|e| doing.sql(&e))?;
        if let Found::Store(found) = check_version(&conn, doing, false)?
            && found < schema::MIGRATIONS.len() as i64
        {
            conn = brought_up_to_date(&conn, doing, found)?;
        }
        check_schema(&conn, doing)?;
        Ok(Store { conn, path: path.to_owned(), notes: Vec::new() })
    }

    /// What the user should know about this store, a sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn configure(conn: &Connection) -> rusqlite::Result<()> {
    conn.busy_timeout(Duration::from_secs(BUSY_SECONDS))?;
    // The file may be foreign, and sorting must not need a disk that may be full.
    conn.execute_batch(
        "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;
         PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;",
    )
}

/// Sets the journal mode and returns the one in force. SQLite does not wait here by itself.
fn set_journal(conn: &Connection, wanted: &str) -> rusqlite::Result<String> {
    let give_up = Instant::now() + Duration::from_secs(BUSY_SECONDS);
    loop {
        let mode: String = conn.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
        if mode == wanted {
            return Ok(mode);
        }
        match conn.pragma_update_and_check(None, "journal_mode", wanted, |row| row.get(0)) {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                // Leaving the log needs to be alone with the file; coming to it only a moment of quiet.
                if wanted != "wal" {
                    return Ok(mode);
                }
                if Instant::now() >= give_up {
                    return Err(error);
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            outcome => return outcome,
        }
    }
}

fn check_version(conn: &Connection, doing: Doing<'_>, writable: bool) -> Result<Found, StoreError> {
    let (path, known) = (doing.path.to_owned(), schema::MIGRATIONS.len() as i64);
    match schema::look(conn).map_err(|e| doing.sql(&e))? {
        Found::Store(found) if found > known => Err(StoreError::Newer { path, found, known }),
        Found::Empty if !writable => Err(StoreError::NotAStore { path, why: "it is empty".to_owned() }),
        Found::Foreign => {
            Err(StoreError::NotAStore { path, why: "it is a database of another program".to_owned() })
        }
        found => Ok(found),
    }
}

/// An older store as this program would have it, in memory: the file may be on a disk that can't be written to, and
/// reading must not change it.
fn brought_up_to_date(old: &Connection, doing: Doing<'_>, found: i64) -> Result<Connection, StoreError> {
    let (path, known) = (doing.path.to_owned(), schema::MIGRATIONS.len() as i64);
    let number = |name: &str| old.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let copied = || -> rusqlite::Result<Option<Connection>> {
        if number("page_count")?.saturating_mul(number("page_size")?) > MOST_COPIED {
            return Ok(None);
        }
        let mut copy = Connection::open_in_memory()?;
        rusqlite::backup::Backup::new(old, &mut copy)?.run_to_completion(1 << 16, Duration::ZERO, None)?;
        configure(&copy)?;
        schema::migrate(&mut copy, schema::MIGRATIONS)?;
        copy.pragma_update(None, "query_only", true)?;
        Ok(Some(copy))
    };
    copied().map_err(|e| doing.sql(&e))?.ok_or(StoreError::Older { path, found, known })
}

fn check_schema(conn: &Connection, doing: Doing<'_>) -> Result<(), StoreError> {
    match schema::difference(conn).map_err(|e| doing.sql(&e))? {
        Some(why) => Err(doing.corrupt(why)),
        None => Ok(()),
    }
}

fn lacks_journal(error: &rusqlite::Error) -> bool {
    use ErrorCode::{CannotOpen, DiskFull, ReadOnly, SystemIoFailure};
    matches!(error.sqlite_error_code(), Some(CannotOpen | DiskFull | ReadOnly | SystemIoFailure))
}
