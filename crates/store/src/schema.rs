//! The tables, and how an older file is brought up to date.
//!
//! `user_version` counts the migrations that a file has seen. A migration, once released, is never edited: a change
//! is a new entry at the end of [`MIGRATIONS`].

use rusqlite::{Connection, TransactionBehavior};

/// Marks a SQLite file as a store: `tnbn`.
pub(crate) const APPLICATION_ID: i64 = crate::APPLICATION_ID as i64;

/// Each brings a file from the version that is its index to the next.
pub(crate) const MIGRATIONS: &[&str] = &[V1, V2];

// Columns carry their units. `seed` holds the bits of an unsigned number. `seq` numbers an experiment's runs in the
// order begun, from 0, the same in every store that holds the experiment; `id` differs from store to store.
const V1: &str = "
CREATE TABLE experiment (
    id INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,
    created_at_seconds REAL NOT NULL,
    name TEXT NOT NULL,
    question TEXT,
    arms_json TEXT NOT NULL,
    plan_json TEXT NOT NULL,
    plan_hash TEXT NOT NULL,
    seed INTEGER NOT NULL
) STRICT;
CREATE TABLE slot (
    experiment INTEGER NOT NULL REFERENCES experiment(id),
    idx INTEGER NOT NULL,
    block INTEGER NOT NULL,
    position INTEGER NOT NULL,
    arm INTEGER NOT NULL,
    measure INTEGER NOT NULL,
    PRIMARY KEY (experiment, idx),
    UNIQUE (experiment, block, position, arm, measure)
) STRICT, WITHOUT ROWID;
CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    experiment INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    slot INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('started', 'done', 'failed', 'invalid')),
    started_at_seconds REAL NOT NULL,
    ended_at_seconds REAL,
    error TEXT,
    run_json TEXT,
    UNIQUE (experiment, seq),
    FOREIGN KEY (experiment, slot) REFERENCES slot(experiment, idx)
) STRICT;
CREATE TABLE series (
    run INTEGER NOT NULL REFERENCES run(id),
    idx INTEGER NOT NULL,
    series_json TEXT NOT NULL,
    n INTEGER NOT NULL,
    encoding INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (run, idx)
) STRICT;
CREATE TABLE env (
    id INTEGER PRIMARY KEY,
    sha256 BLOB NOT NULL UNIQUE,
    facts_json_zstd BLOB NOT NULL
) STRICT;
CREATE TABLE run_host (
    run INTEGER NOT NULL REFERENCES run(id),
    host TEXT NOT NULL,
    env INTEGER NOT NULL REFERENCES env(id),
    counters_json_zstd BLOB NOT NULL,
    PRIMARY KEY (run, host)
) STRICT, WITHOUT ROWID;
CREATE TABLE lease (
    experiment INTEGER PRIMARY KEY REFERENCES experiment(id),
    host TEXT NOT NULL,
    boot_id TEXT NOT NULL,
    pid INTEGER NOT NULL,
    pid_started INTEGER NOT NULL,
    since_seconds REAL NOT NULL
) STRICT;
";

// Runs without an experiment: logs of other tools, measurements made by themselves. `identity` is the same for the same
// run in every store. `session` tells runs of one boot of a machine from those of the next. A table can't lose its
// CHECK and its NOT NULLs but by being made anew.
const V2: &str = "
CREATE TABLE run_2 (
    id INTEGER PRIMARY KEY,
    experiment INTEGER,
    seq INTEGER,
    slot INTEGER,
    state TEXT NOT NULL,
    started_at_seconds REAL NOT NULL,
    ended_at_seconds REAL,
    error TEXT,
    run_json TEXT,
    session TEXT,
    UNIQUE (experiment, seq),
    FOREIGN KEY (experiment, slot) REFERENCES slot(experiment, idx)
) STRICT;
INSERT INTO run_2
    SELECT id, experiment, seq, slot, state, started_at_seconds, ended_at_seconds, error, run_json, NULL FROM run;
DROP TABLE run;
ALTER TABLE run_2 RENAME TO run;
CREATE TABLE lone (
    run INTEGER PRIMARY KEY REFERENCES run(id),
    identity TEXT NOT NULL UNIQUE,
    arm TEXT,
    source TEXT NOT NULL,
    tool TEXT NOT NULL,
    benchmark TEXT
) STRICT;
";

/// What a file is before anything has been written to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// An empty database: a new store.
    Empty,
    /// A store of that version, from 1.
    Store(i64),
    /// A database of another program.
    Foreign,
}

/// Looks at a file without changing it.
pub(crate) fn look(conn: &Connection) -> rusqlite::Result<Found> {
    let application: i64 = conn.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let version: i64 = conn.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let objects: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(match (application, version, objects) {
        (APPLICATION_ID, version, _) if version >= 1 => Found::Store(version),
        (0, 0, 0) => Found::Empty,
        _ => Found::Foreign,
    })
}

/// Runs the migrations that a file lacks, each in a transaction of its own. Safe against others who do the same.
pub(crate) fn migrate(conn: &mut Connection, migrations: &[&str]) -> rusqlite::Result<()> {
    // A table that is made anew is away for a moment: neither references to it nor views of it are to be minded.
    // Within a transaction this can't be said.
    let strict: bool = conn.pragma_query_value(None, "foreign_keys", |row| row.get(0))?;
    conn.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON;")?;
    let outcome = in_turn(conn, migrations);
    conn.execute_batch("PRAGMA legacy_alter_table = OFF;")?;
    conn.pragma_update(None, "foreign_keys", strict)?;
    outcome
}

fn in_turn(conn: &mut Connection, migrations: &[&str]) -> rusqlite::Result<()> {
    loop {
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Read under the lock: another process may have been faster.
        let version: i64 = tx.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let Some(sql) = usize::try_from(version).ok().and_then(|version| migrations.get(version)) else {
            return Ok(());
        };
        tx.execute_batch(sql)?;
        tx.pragma_update(None, "application_id", APPLICATION_ID)?;
        tx.pragma_update(None, "user_version", version + 1)?;
        tx.commit()?;
    }
}

/// What of the tables differs from what the migrations make; `None` if nothing does. A foreign file could otherwise
/// hold views or triggers in the place of tables. Indexes and views that a user added are no harm.
pub(crate) fn difference(conn: &Connection) -> rusqlite::Result<Option<String>> {
    let mut fresh = Connection::open_in_memory()?;
    migrate(&mut fresh, MIGRATIONS)?;
    let tables = |conn: &Connection| -> rusqlite::Result<Vec<(String, String)>> {
        conn.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect()
    };
    let found = tables(conn)?;
    for (name, sql) in tables(&fresh)? {
        match found.iter().find(|(found, _)| *found == name) {
            None => return Ok(Some(format!("there is no table {name}"))),
            Some((_, found)) if *found != sql => return Ok(Some(format!("the table {name} is another"))),
            Some(_) => {}
        }
    }
    let triggers: i64 =
        conn.query_row("SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'", [], |row| row.get(0))?;
    Ok((triggers > 0).then(|| "it has triggers".to_owned()))
}
