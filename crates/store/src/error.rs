//! What can go wrong with a store: what was attempted, on which file, why, and what helps.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// Why the store could not do something. What was stored before stays as it was in every case.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The operating system refused a file or folder.
    #[error("cannot {doing} {}: {}{}", .path.display(), io_why(.source), io_hint(.source))]
    Io {
        /// What was attempted.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is something else.
    #[error("{} is not a store of tenbin: {why}\nhint: name another file with --store", .path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// What was found.
        why: String,
    },
    /// The file was written by a newer program.
    #[error(
        "the store {} has schema version {found}, this tenbin knows up to {known}\nhint: use a newer tenbin, or another file with --store", .path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// The newest version this program knows.
        known: i64,
    },
    /// The file was written by an older program, may not be written to, and is too large to be copied.
    #[error(
        "the store {} has schema version {found} and is too large to be brought up to version {known} just to read it\nhint: whatever writes to it brings it up to date, such as `tenbin import LOG --store FILE`", .path.display()
    )]
    Older {
        /// The file.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// The version this program reads.
        known: i64,
    },
    /// Something was to be written through a store that is open for reading only.
    #[error("cannot {doing}: the store {} is open for reading only", .path.display())]
    ReadOnly {
        /// What was attempted.
        doing: String,
        /// The file.
        path: PathBuf,
    },
    /// The disk, the quota or the file is full.
    #[error(
        "cannot {doing}: the disk that holds {} is full\nhint: free some space there, then `tenbin resume`; everything stored before is intact", .path.display()
    )]
    Full {
        /// What was attempted.
        doing: String,
        /// The file.
        path: PathBuf,
    },
    /// The file system failed while reading or writing.
    #[error(
        "cannot {doing}: the file system failed at {}: {why}\nhint: look at `df`, the quota and `dmesg`; everything stored before is intact", .path.display()
    )]
    Disk {
        /// What was attempted.
        doing: String,
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        why: String,
    },
    /// Another process kept the file locked for longer than one waits.
    #[error(
        "cannot {doing}: another process has been writing to {} for more than {} s\nhint: wait for it to end, or give this one a file of its own with --store", .path.display(), crate::BUSY_SECONDS
    )]
    Locked {
        /// What was attempted.
        doing: String,
        /// The file.
        path: PathBuf,
    },
    /// Content that no tenbin wrote, or that was damaged since.
    #[error("{what} in {} is damaged: {why}", .path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is damaged: `run 7`, `experiment 2`, `the database`.
        what: String,
        /// How it shows.
        why: String,
    },
    /// Larger than the store takes or loads.
    #[error("{what} has {found} {unit}, a store holds at most {most}")]
    TooLarge {
        /// What is too large.
        what: String,
        /// Its size.
        found: u64,
        /// The largest allowed.
        most: u64,
        /// What is counted.
        unit: &'static str,
    },
    /// Nothing in the store is meant by this.
    #[error("no {what} in {}\nhint: `tenbin list` shows what there is", .path.display())]
    NotFound {
        /// The file.
        path: PathBuf,
        /// What was looked for: `experiment "nic"`, `run 7`.
        what: String,
    },
    /// The beginning of a uid fits several experiments.
    #[error("\"{selector}\" fits several experiments: {}", numbers(.ids))]
    Ambiguous {
        /// What was looked for.
        selector: String,
        /// The numbers of those it fits.
        ids: Vec<i64>,
    },
    /// The run has ended; a stored run never changes.
    #[error("run {run} in {} has ended as {state}; a stored run never changes", .path.display())]
    Finished {
        /// The file.
        path: PathBuf,
        /// The run.
        run: i64,
        /// How it ended.
        state: &'static str,
    },
    /// Another process is measuring this experiment.
    #[error(
        "experiment {experiment} is being measured by process {} on {}\nhint: {}", .holder.pid, .holder.host,
        if *.elsewhere { "if that process is gone, `tenbin resume --force` takes over" } else { "wait for it to end or stop it, then resume" }
    )]
    Held {
        /// The experiment.
        experiment: i64,
        /// Who measures it.
        holder: crate::Holder,
        /// Whether that is another machine, so that nobody here can tell if it still runs.
        elsewhere: bool,
    },
    /// The caller asked for something that makes no sense.
    #[error("cannot {doing}: {why}")]
    Refused {
        /// What was attempted.
        doing: String,
        /// Why not.
        why: String,
    },
    /// Anything else that SQLite says.
    #[error("cannot {doing} in {}: {why}", .path.display())]
    Database {
        /// What was attempted.
        doing: String,
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        why: String,
    },
}

/// What the system says, without its number and capital: it stands in mid-sentence.
fn io_why(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error ").next().unwrap_or_default();
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

fn io_hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "\nhint: name a file in a folder of your own with --store"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "\nhint: free some space there",
        io::ErrorKind::NotFound => "\nhint: nothing has been stored there yet",
        _ => "",
    }
}

fn numbers(ids: &[i64]) -> String {
    ids.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}

/// What is being done with which file: turns SQLite's errors into ours.
#[derive(Clone, Copy)]
pub(crate) struct Doing<'a> {
    /// The file.
    pub(crate) path: &'a Path,
    /// `store run 7`: completes "cannot ...".
    pub(crate) doing: &'a str,
    /// `run 7`: what is damaged if its content makes no sense.
    pub(crate) what: &'a str,
}

impl Doing<'_> {
    /// The error for what SQLite said.
    pub(crate) fn sql(&self, error: &rusqlite::Error) -> StoreError {
        use rusqlite::Error as E;
        let (path, doing) = (self.path.to_owned(), self.doing.to_owned());
        match error {
            E::FromSqlConversionFailure(..)
            | E::IntegralValueOutOfRange(..)
            | E::Utf8Error(..)
            | E::InvalidColumnType(..) => self.corrupt(error.to_string()),
            E::SqliteFailure(cause, _) => match cause.code {
                ErrorCode::DiskFull => StoreError::Full { doing, path },
                ErrorCode::SystemIoFailure => StoreError::Disk { doing, path, why: error.to_string() },
                ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreError::Locked { doing, path },
                ErrorCode::ReadOnly => StoreError::ReadOnly { doing, path },
                ErrorCode::NotADatabase => StoreError::NotAStore { path, why: "no SQLite file".to_owned() },
                ErrorCode::DatabaseCorrupt => {
                    StoreError::Corrupt { path, what: "the database".to_owned(), why: error.to_string() }
                }
                _ => StoreError::Database { doing, path, why: error.to_string() },
            },
            _ => StoreError::Database { doing, path, why: error.to_string() },
        }
    }

    /// The error for content that makes no sense.
    pub(crate) fn corrupt(&self, why: impl Into<String>) -> StoreError {
        StoreError::Corrupt { path: self.path.to_owned(), what: self.what.to_owned(), why: why.into() }
    }

    /// The error for a request that makes no sense.
    pub(crate) fn refused(&self, why: impl Into<String>) -> StoreError {
        StoreError::Refused { doing: self.doing.to_owned(), why: why.into() }
    }
}
