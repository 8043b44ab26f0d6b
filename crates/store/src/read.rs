//! Finding, listing and loading what is stored.

use rusqlite::{Connection, OptionalExtension, Row, params};
use tenbin_core::experiment::{Experiment, Record, Slot, State};
use tenbin_core::plan::Plan;
use tenbin_core::run::Run;
use tenbin_core::sample::Series;

use crate::error::{Doing, StoreError};
use crate::lease::{Holder, read_holder};
use crate::write::{at_most, fits, is_uid, state_word};
use crate::{MOST_SAMPLES, MOST_SLOTS, Store, doc, samples};

/// The most samples that [`Store::load`] brings into memory at once: 4 GiB of them.
const MOST_LOADED: u64 = 1 << 28;

/// What [`Store::list`] shows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter<'a> {
    /// Only those with this in their name or question, in any case.
    pub text: Option<&'a str>,
    /// Only those that lack runs.
    pub unfinished: bool,
}

/// An experiment in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Its number in this store.
    pub id: i64,
    /// The same in every store.
    pub uid: String,
    /// Unix time in seconds when it was begun.
    pub created_at: f64,
    /// The plan's name.
    pub name: String,
    /// The plan's question.
    pub question: Option<String>,
    /// The names of its arms; the first is the base.
    pub arms: Vec<String>,
    /// The hash given to [`Store::begin`].
    pub plan_hash: String,
    /// Slots of the schedule.
    pub slots: u64,
    /// Slots that have a run that counts.
    pub done: u64,
    /// Runs that failed or do not count.
    pub failed: u64,
    /// The process that claims it; it may be gone.
    pub holder: Option<Holder>,
}

impl Summary {
    /// Whether every slot has been measured.
    pub fn is_complete(&self) -> bool {
        self.done >= self.slots
    }
}

impl Store {
    /// The newest experiments first, at most `limit`.
    pub fn list(&self, filter: Filter<'_>, limit: usize) -> Result<Vec<Summary>, StoreError> {
        let doing = Doing { path: &self.path, doing: "list experiments", what: "the list of experiments" };
        let mut select = self
            .conn
            .prepare_cached(
                "SELECT * FROM (
                   SELECT e.id, e.uid, e.created_at_seconds, e.name, e.question, e.arms_json, e.plan_hash,
                     (SELECT count(*) FROM slot s WHERE s.experiment = e.id) AS slots,
                     (SELECT count(DISTINCT r.slot) FROM run r WHERE r.experiment = e.id AND r.state = 'done') AS done,
                     (SELECT count(*) FROM run r WHERE r.experiment = e.id AND r.state IN ('failed', 'invalid')),
                     l.host, l.boot_id, l.pid, l.pid_started
                   FROM experiment e LEFT JOIN lease l ON l.experiment = e.id)
                 WHERE (NOT ?1 OR done < slots)
                   AND (?2 IS NULL OR instr(lower(name), lower(?2)) OR instr(lower(ifnull(question, '')), lower(?2)))
                 ORDER BY created_at_seconds DESC, id DESC LIMIT ?3",
            )
            .map_err(|e| doing.sql(&e))?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = select
            .query_map(params![filter.unfinished, filter.text, limit], |row| {
                let arms: String = row.get(5)?;
                let holder = match row.get_ref(10)? {
                    rusqlite::types::ValueRef::Null => None,
                    _ => Some(read_holder(row, 10)?),
                };
                let summary = Summary {
                    id: row.get(0)?,
                    uid: row.get(1)?,
                    created_at: row.get(2)?,
                    name: row.get(3)?,
                    question: row.get(4)?,
                    arms: Vec::new(),
                    plan_hash: row.get(6)?,
                    slots: row.get::<_, i64>(7)?.cast_unsigned(),
                    done: row.get::<_, i64>(8)?.cast_unsigned(),
                    failed: row.get::<_, i64>(9)?.cast_unsigned(),
                    holder,
                };
                Ok((summary, arms))
            })
            .map_err(|e| doing.sql(&e))?;
        rows.map(|row| {
            let (summary, arms) = row.map_err(|e| doing.sql(&e))?;
            let what = format!("experiment {}", summary.id);
            let arms = doc::read(&arms).map_err(|why| Doing { what: &what, ..doing }.corrupt(why))?;
            Ok(Summary { arms, ..summary })
        })
        .collect()
    }

    /// The experiments that lack runs, the newest first: what can be resumed.
    pub fn unfinished(&self) -> Result<Vec<Summary>, StoreError> {
        self.list(Filter { unfinished: true, ..Filter::default() }, usize::MAX)
    }

    /// The number of the experiment that `selector` means: `last`, a number, a plan's name (the newest of that name),
    /// or the beginning of a uid, tried in this order.
    pub fn find(&self, selector: &str) -> Result<i64, StoreError> {
        let doing =
            Doing { path: &self.path, doing: "look for an experiment", what: "the list of experiments" };
        let ids = |sql: &str, key: &dyn rusqlite::ToSql| -> Result<Vec<i64>, StoreError> {
            self.conn
                .prepare_cached(sql)
                .and_then(|mut select| select.query_map([key], |row| row.get(0))?.collect())
                .map_err(|e| doing.sql(&e))
        };
        let newest = "ORDER BY created_at_seconds DESC, id DESC LIMIT 1";
        let mut found = Vec::new();
        if selector == "last" {
            found = ids(&format!("SELECT id FROM experiment WHERE ?1 {newest}"), &true)?;
        }
        if let (true, Ok(id)) = (found.is_empty(), selector.parse::<i64>()) {
            found = ids("SELECT id FROM experiment WHERE id = ?1", &id)?;
        }
        if found.is_empty() {
            found = ids(&format!("SELECT id FROM experiment WHERE name = ?1 {newest}"), &selector)?;
        }
        if found.is_empty() && is_uid(selector) {
            found = ids(
                "SELECT id FROM experiment WHERE substr(uid, 1, length(?1)) = ?1 ORDER BY id",
                &selector,
            )?;
        }
        match found.as_slice() {
            [id] => Ok(*id),
            [] => {
                let what = match selector {
                    "last" => "experiment".to_owned(),
                    selector => format!("experiment \"{}\"", selector.escape_debug()),
                };
                Err(StoreError::NotFound { path: self.path.clone(), what })
            }
            _ => Err(StoreError::Ambiguous { selector: selector.to_owned(), ids: found }),
        }
    }

    /// An experiment with everything measured for it.
    pub fn load(&self, experiment: i64) -> Result<Experiment, StoreError> {
        let what = format!("experiment {experiment}");
        let doing = Doing { path: &self.path, doing: &format!("load {what}"), what: &what };
        // All of it as of one moment, although others may be writing.
        let tx = self.conn.unchecked_transaction().map_err(|e| doing.sql(&e))?;
        let Head { experiment: mut loaded, plan_hash: _ } = head(&tx, doing, experiment)?;
        let samples: f64 = tx
            .query_row(
                "SELECT total(n) FROM series JOIN run ON run.id = series.run WHERE run.experiment = ?1",
                [experiment],
                |row| row.get(0),
            )
            .map_err(|e| doing.sql(&e))?;
        at_most(&what, samples as u64, MOST_LOADED, "samples")?;
        for (run, _) in runs(&tx, doing, experiment)? {
            loaded.records.push(record(&tx, doing, run)?);
        }
        Ok(loaded)
    }

    /// An experiment with its runs, but without what they measured: little memory, however long they were.
    pub fn outline(&self, experiment: i64) -> Result<Experiment, StoreError> {
        let what = format!("experiment {experiment}");
        let doing = Doing { path: &self.path, doing: &format!("load {what}"), what: &what };
        let tx = self.conn.unchecked_transaction().map_err(|e| doing.sql(&e))?;
        let Head { experiment: mut loaded, plan_hash: _ } = head(&tx, doing, experiment)?;
        for (run, _) in runs(&tx, doing, experiment)? {
            loaded.records.push(row_of(&tx, doing, run)?.0);
        }
        Ok(loaded)
    }

    /// One run of an experiment.
    pub fn load_run(&self, run: i64) -> Result<Record, StoreError> {
        let doing =
            Doing { path: &self.path, doing: &format!("load run {run}"), what: &format!("run {run}") };
        let tx = self.conn.unchecked_transaction().map_err(|e| doing.sql(&e))?;
        record(&tx, doing, run)
    }
}

/// An experiment without its runs.
pub(crate) struct Head {
    pub(crate) experiment: Experiment,
    pub(crate) plan_hash: String,
}

pub(crate) fn head(conn: &Connection, doing: Doing<'_>, experiment: i64) -> Result<Head, StoreError> {
    let columns = |row: &Row<'_>| -> rusqlite::Result<(String, f64, String, String, i64)> {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
    };
    let (uid, created_at, plan, plan_hash, seed) = conn
        .query_row(
            "SELECT uid, created_at_seconds, plan_json, plan_hash, seed FROM experiment WHERE id = ?1",
            [experiment],
            columns,
        )
        .optional()
        .map_err(|e| doing.sql(&e))?
        .ok_or_else(|| StoreError::NotFound { path: doing.path.to_owned(), what: doing.what.to_owned() })?;
    if !is_uid(&uid) {
        return Err(doing.corrupt("its uid is none"));
    }
    let plan: Plan = doc::read(&plan).map_err(|why| doing.corrupt(format!("its plan: {why}")))?;
    let schedule: Vec<Slot> = conn
        .prepare_cached(
            "SELECT block, position, arm, measure FROM slot WHERE experiment = ?1 ORDER BY idx LIMIT ?2",
        )
        .and_then(|mut select| {
            select.query_map([experiment, MOST_SLOTS as i64 + 1], |row| read_slot(row, 0))?.collect()
        })
        .map_err(|e| doing.sql(&e))?;
    if schedule.len() as u64 > MOST_SLOTS {
        return Err(doing.corrupt(format!("more than {MOST_SLOTS} slots")));
    }
    if let Some(slot) = schedule.iter().find(|slot| !fits(&plan, **slot)) {
        return Err(doing.corrupt(format!("its plan has no arm or measure for {slot:?}")));
    }
    let (id, seed, records) = (experiment, seed.cast_unsigned(), Vec::new());
    Ok(Head { experiment: Experiment { id, uid, created_at, plan, seed, schedule, records }, plan_hash })
}

/// The numbers of an experiment's runs and their places in its sequence, in the order begun.
pub(crate) fn runs(
    conn: &Connection,
    doing: Doing<'_>,
    experiment: i64,
) -> Result<Vec<(i64, i64)>, StoreError> {
    conn.prepare_cached("SELECT id, seq FROM run WHERE experiment = ?1 ORDER BY seq")
        .and_then(|mut select| {
            select.query_map([experiment], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })
        .map_err(|e| doing.sql(&e))
}

pub(crate) fn record(conn: &Connection, doing: Doing<'_>, run: i64) -> Result<Record, StoreError> {
    let what = format!("run {run}");
    let doing = Doing { what: &what, ..doing };
    let (mut record, json) = row_of(conn, doing, run)?;
    record.run = json.map(|json| measured(conn, doing, run, &json)).transpose()?;
    match (record.state, &record.run, record.ended_at) {
        (State::Done, None, _) => Err(doing.corrupt("it is done without a measurement")),
        (State::Done | State::Failed | State::Invalid, _, None) => Err(doing.corrupt("it ended at no time")),
        _ => Ok(record),
    }
}

/// The record of a run without its measurement, and what stands in its row of that.
fn row_of(conn: &Connection, doing: Doing<'_>, run: i64) -> Result<(Record, Option<String>), StoreError> {
    let what = format!("run {run}");
    let doing = Doing { what: &what, ..doing };
    // A run whose slot is missing gives NULLs, which are no numbers.
    let found = conn
        .prepare_cached(
            "SELECT r.state, r.started_at_seconds, r.ended_at_seconds, r.error, r.run_json,
               s.block, s.position, s.arm, s.measure
             FROM run r LEFT JOIN slot s ON s.experiment = r.experiment AND s.idx = r.slot WHERE r.id = ?1",
        )
        .and_then(|mut select| {
            let columns = |row: &Row<'_>| {
                let state: String = row.get(0)?;
                let json: Option<String> = row.get(4)?;
                let record = Record {
                    id: run,
                    slot: read_slot(row, 5)?,
                    state: State::Pending,
                    started_at: row.get(1)?,
                    ended_at: row.get(2)?,
                    error: row.get(3)?,
                    run: None,
                };
                Ok((state, json, record))
            };
            select.query_row([run], columns).optional()
        })
        .map_err(|e| doing.sql(&e))?;
    let (state, json, mut record) =
        found.ok_or_else(|| StoreError::NotFound { path: doing.path.to_owned(), what: what.clone() })?;
    let known = [State::Started, State::Done, State::Failed, State::Invalid];
    record.state = known.into_iter().find(|known| state_word(*known) == state).ok_or_else(|| {
        doing.corrupt(format!("it is neither started nor ended but \"{}\"", state.escape_debug()))
    })?;
    Ok((record, json))
}

/// What a run measured, beside what stands in its own row.
pub(crate) fn measured(conn: &Connection, doing: Doing<'_>, run: i64, json: &str) -> Result<Run, StoreError> {
    let mut measured: Run = doc::read(json).map_err(|why| doing.corrupt(why))?;
    measured.series = read_series(conn, doing, run)?;
    read_hosts(conn, doing, run, &mut measured)?;
    Ok(measured)
}

fn read_series(conn: &Connection, doing: Doing<'_>, run: i64) -> Result<Vec<Series>, StoreError> {
    let mut select = conn
        .prepare_cached("SELECT series_json, n, encoding, data FROM series WHERE run = ?1 ORDER BY idx")
        .map_err(|e| doing.sql(&e))?;
    let mut rows = select.query([run]).map_err(|e| doing.sql(&e))?;
    let (mut all, mut total) = (Vec::new(), 0_u64);
    while let Some(row) = rows.next().map_err(|e| doing.sql(&e))? {
        let columns = |row: &Row<'_>| -> rusqlite::Result<(String, i64, i64)> {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        };
        let (json, n, encoding) = columns(row).map_err(|e| doing.sql(&e))?;
        let blob = row.get_ref(3).map_err(|e| doing.sql(&e))?;
        let blob = blob.as_blob().map_err(|error| doing.corrupt(error.to_string()))?;
        let n = u64::try_from(n).map_err(|_| doing.corrupt(format!("{n} samples")))?;
        total = total.saturating_add(n);
        if total > MOST_SAMPLES {
            return Err(doing.corrupt(format!("more than {MOST_SAMPLES} samples")));
        }
        let mut series = doc::read_series(&json).map_err(|why| doing.corrupt(why))?;
        series.samples = samples::decode(encoding, n as usize, blob)
            .map_err(|why| doing.corrupt(format!("series {}: {why}", all.len())))?;
        all.push(series);
    }
    Ok(all)
}

fn read_hosts(conn: &Connection, doing: Doing<'_>, run: i64, into: &mut Run) -> Result<(), StoreError> {
    let mut select = conn
        .prepare_cached(
            "SELECT h.host, e.facts_json_zstd, e.sha256, h.counters_json_zstd
             FROM run_host h LEFT JOIN env e ON e.id = h.env WHERE h.run = ?1",
        )
        .map_err(|e| doing.sql(&e))?;
    let mut rows = select.query([run]).map_err(|e| doing.sql(&e))?;
    while let Some(row) = rows.next().map_err(|e| doing.sql(&e))? {
        let host: String = row.get(0).map_err(|e| doing.sql(&e))?;
        let blob = |column| row.get::<_, Vec<u8>>(column).map_err(|e| doing.sql(&e));
        let (lasting, sha256, counters) = (blob(1)?, blob(2)?, blob(3)?);
        let env = doc::read_facts(&lasting, &sha256, &counters)
            .map_err(|why| doing.corrupt(format!("the facts of {}: {why}", host.escape_debug())))?;
        into.hosts.insert(host, env);
    }
    Ok(())
}

fn read_slot(row: &Row<'_>, first: usize) -> rusqlite::Result<Slot> {
    Ok(Slot {
        block: row.get(first)?,
        position: row.get(first + 1)?,
        arm: row.get(first + 2)?,
        measure: row.get(first + 3)?,
    })
}
