//! Runs without an experiment: logs of other tools, and measurements that were made by themselves.

use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};
use tenbin_core::experiment::State;
use tenbin_core::run::Run;

use crate::error::{Doing, StoreError};
use crate::write::{Packed, at_most, state_word, write_packed};
use crate::{Store, read};

/// The most bytes of an identity, an arm's name.
const LONGEST: usize = 200;

/// A run on its way into a store: packed, so that its samples need not be kept.
pub struct Parcel {
    /// The caller's word for what is the same run, at most 200 bytes: a hash of the log, and which run in it. It is
    /// known when the log has been read to its end, which the run may come long before.
    pub identity: String,
    arm: Option<String>,
    source: String,
    tool: String,
    benchmark: Option<String>,
    /// Unix time in seconds.
    stored_at: f64,
    session: Option<String>,
    packed: Packed,
}

impl Parcel {
    /// Packs `run`. `stored_at` is Unix time in seconds, `session` the boot of the machine that measured, where that
    /// is known.
    pub fn new(
        run: &Run,
        arm: Option<&str>,
        stored_at: f64,
        session: Option<&str>,
    ) -> Result<Parcel, StoreError> {
        let what = format!("the run of {}", run.source);
        let doing = Doing { path: "".as_ref(), doing: &format!("store {what}"), what: &what };
        at_most("the name of an arm", arm.map_or(0, str::len) as u64, LONGEST as u64, "bytes")?;
        if !stored_at.is_finite() {
            return Err(doing.refused("it has no time"));
        }
        Ok(Parcel {
            identity: String::new(),
            arm: arm.map(str::to_owned),
            source: run.source.clone(),
            tool: run.tool.clone(),
            benchmark: run.benchmark.clone(),
            stored_at,
            session: session.map(str::to_owned),
            packed: Packed::measured(doing, run)?,
        })
    }

    /// Bytes that it takes, nearly.
    pub fn size(&self) -> usize {
        self.packed.size()
    }
}

/// What became of a parcel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It is a new run, of that number.
    New(i64),
    /// It was there already, as that run, under that arm's name.
    Known(i64, Option<String>),
}

impl Kept {
    /// The run's number.
    pub fn run(&self) -> i64 {
        match self {
            Kept::New(run) | Kept::Known(run, _) => *run,
        }
    }
}

/// A run without an experiment, in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct LoneRun {
    /// Its number in this store.
    pub id: i64,
    /// The same in every store.
    pub identity: String,
    /// The configuration that it measured, where the user said.
    pub arm: Option<String>,
    /// The file as it was named when it was read.
    pub source: String,
    /// The tool.
    pub tool: String,
    /// The benchmark within the tool.
    pub benchmark: Option<String>,
    /// Unix time in seconds when it was stored.
    pub stored_at: f64,
    /// The boot of the machine that measured.
    pub session: Option<String>,
}

/// Any run of a store.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Where it stands.
    pub state: State,
    /// Why it failed.
    pub error: Option<String>,
    /// What was measured, if it ended.
    pub run: Option<Run>,
    /// Where it comes from, if it is of no experiment.
    pub lone: Option<LoneRun>,
}

impl Store {
    /// Stores runs, all or none; those that are there already are left as they are.
    pub fn keep(&mut self, parcels: &[Parcel]) -> Result<Vec<Kept>, StoreError> {
        let doing = Doing { path: &self.path, doing: "store what was read", what: "the runs" };
        for parcel in parcels {
            at_most("the identity of a run", parcel.identity.len() as u64, LONGEST as u64, "bytes")?;
            if parcel.identity.is_empty() {
                return Err(doing.refused("a run has no identity"));
            }
        }
        let tx =
            self.conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(|e| doing.sql(&e))?;
        let kept = parcels.iter().map(|parcel| keep(&tx, parcel)).collect::<rusqlite::Result<_>>();
        let kept = kept.map_err(|e| doing.sql(&e))?;
        tx.commit().map_err(|e| doing.sql(&e))?;
        Ok(kept)
    }

    /// The runs without an experiment, the newest first, at most `limit`.
    pub fn lone(&self, limit: usize) -> Result<Vec<LoneRun>, StoreError> {
        let doing = Doing { path: &self.path, doing: "list runs", what: "the list of runs" };
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.conn
            .prepare_cached(&format!("{LONE} ORDER BY r.started_at_seconds DESC, r.id DESC LIMIT ?1"))
            .and_then(|mut select| select.query_map([limit], columns)?.collect())
            .map_err(|e| doing.sql(&e))
    }

    /// How many runs there are without an experiment.
    pub fn lone_count(&self) -> Result<u64, StoreError> {
        let doing = Doing { path: &self.path, doing: "count runs", what: "the list of runs" };
        let count = self.conn.query_row("SELECT count(*) FROM lone", [], |row| row.get::<_, i64>(0));
        count.map(i64::cast_unsigned).map_err(|e| doing.sql(&e))
    }

    /// Any run, of an experiment or not.
    pub fn any_run(&self, run: i64) -> Result<Found, StoreError> {
        let doing =
            Doing { path: &self.path, doing: &format!("load run {run}"), what: &format!("run {run}") };
        let tx = self.conn.unchecked_transaction().map_err(|e| doing.sql(&e))?;
        match lone(&tx, doing, run)? {
            Some((lone, measured)) => {
                Ok(Found { state: State::Done, error: None, run: Some(measured), lone: Some(lone) })
            }
            None => {
                let record = read::record(&tx, doing, run)?;
                Ok(Found { state: record.state, error: record.error, run: record.run, lone: None })
            }
        }
    }
}

const LONE: &str =
    "SELECT r.id, l.identity, l.arm, l.source, l.tool, l.benchmark, r.started_at_seconds, r.session
                    FROM lone l JOIN run r ON r.id = l.run";

fn columns(row: &Row<'_>) -> rusqlite::Result<LoneRun> {
    Ok(LoneRun {
        id: row.get(0)?,
        identity: row.get(1)?,
        arm: row.get(2)?,
        source: row.get(3)?,
        tool: row.get(4)?,
        benchmark: row.get(5)?,
        stored_at: row.get(6)?,
        session: row.get(7)?,
    })
}

/// A run without an experiment, and what it measured; `None` if `run` is none.
fn lone(conn: &Connection, doing: Doing<'_>, run: i64) -> Result<Option<(LoneRun, Run)>, StoreError> {
    let found = conn
        .prepare_cached(&format!("{LONE} WHERE r.id = ?1"))
        .and_then(|mut select| select.query_row([run], columns).optional())
        .map_err(|e| doing.sql(&e))?;
    let Some(found) = found else { return Ok(None) };
    let json: Option<String> = conn
        .prepare_cached("SELECT run_json FROM run WHERE id = ?1")
        .and_then(|mut select| select.query_row([run], |row| row.get(0)))
        .map_err(|e| doing.sql(&e))?;
    let json = json.ok_or_else(|| doing.corrupt("it holds no measurement"))?;
    let measured = read::measured(conn, doing, run, &json)?;
    Ok(Some((found, measured)))
}

fn keep(conn: &Connection, parcel: &Parcel) -> rusqlite::Result<Kept> {
    let known = conn
        .prepare_cached("SELECT run, arm FROM lone WHERE identity = ?1")?
        .query_row([&parcel.identity], |row| Ok(Kept::Known(row.get(0)?, row.get(1)?)))
        .optional()?;
    if let Some(known) = known {
        return Ok(known);
    }
    conn.prepare_cached(
        "INSERT INTO run (state, started_at_seconds, ended_at_seconds, run_json, session) VALUES (?1, ?2, ?2, ?3, ?4)",
    )?
    .execute(params![state_word(State::Done), parcel.stored_at, parcel.packed.run, parcel.session])?;
    let run = conn.last_insert_rowid();
    conn.prepare_cached(
        "INSERT INTO lone (run, identity, arm, source, tool, benchmark) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(params![run, parcel.identity, parcel.arm, parcel.source, parcel.tool, parcel.benchmark])?;
    write_packed(conn, run, &parcel.packed)?;
    Ok(Kept::New(run))
}

/// What [`copy_all`] did.
#[derive(Debug, Default)]
pub(crate) struct Copied {
    pub(crate) added: u64,
    pub(crate) known: u64,
    pub(crate) failed: Vec<StoreError>,
}

/// Copies the runs without an experiment of another store. They are read the way they are read to be shown, so they
/// are as well checked.
pub(crate) fn copy_all(from: &Store, to: &mut Store) -> Result<Copied, StoreError> {
    const TOGETHER: usize = 200;
    let mut copied = Copied::default();
    let mut theirs = from.lone(usize::MAX)?;
    // In the order that they have there.
    theirs.sort_by_key(|run| run.id);
    for some in theirs.chunks(TOGETHER) {
        let mut parcels = Vec::new();
        for run in some {
            let parcel = from.any_run(run.id).and_then(|found| {
                let measured = found.run.unwrap_or_default();
                let session = run.session.as_deref();
                let parcel = Parcel::new(&measured, run.arm.as_deref(), run.stored_at, session)?;
                Ok(Parcel { identity: run.identity.clone(), ..parcel })
            });
            match parcel {
                Ok(parcel) => parcels.push(parcel),
                Err(error @ (StoreError::Disk { .. } | StoreError::Database { .. })) => return Err(error),
                Err(error) => copied.failed.push(error),
            }
        }
        for kept in to.keep(&parcels)? {
            match kept {
                Kept::New(_) => copied.added += 1,
                Kept::Known(..) => copied.known += 1,
            }
        }
    }
    Ok(copied)
}
