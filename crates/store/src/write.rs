//! Beginning experiments, starting and ending runs.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use tenbin_core::experiment::{Slot, State};
use tenbin_core::plan::Plan;
use tenbin_core::run::Run;

use crate::error::{Doing, StoreError};
use crate::{MOST_SAMPLES, MOST_SLOTS, Store, doc, samples};

/// What [`Store::begin`] needs to know.
#[derive(Clone, Copy, Debug)]
pub struct NewExperiment<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// A hash of what makes two plans the same, in the caller's eyes.
    pub plan_hash: &'a str,
    /// The seed of the schedule.
    pub seed: u64,
    /// Every slot once, in the order to be run.
    pub schedule: &'a [Slot],
    /// Unix time in seconds.
    pub created_at: f64,
    /// Random letters, digits and dashes, at most 64.
    pub uid: &'a str,
}

/// How a run ended.
#[derive(Clone, Copy, Debug)]
pub struct Ending<'a> {
    /// [`State::Done`], [`State::Failed`] or [`State::Invalid`].
    pub state: State,
    /// Unix time in seconds.
    pub ended_at: f64,
    /// Why it failed.
    pub error: Option<&'a str>,
    /// What was measured; a run that is done has it, one that failed may have a part.
    pub run: Option<&'a Run>,
}

impl Store {
    /// Stores a new experiment and returns its number.
    pub fn begin(&mut self, new: &NewExperiment<'_>) -> Result<i64, StoreError> {
        let doing = Doing { path: &self.path, doing: "store the experiment", what: "the experiment" };
        let tx =
            self.conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(|e| doing.sql(&e))?;
        let experiment = insert_experiment(&tx, doing, new)?;
        tx.commit().map_err(|e| doing.sql(&e))?;
        Ok(experiment)
    }

    /// Adds slots behind an experiment's schedule, in the order to be run.
    ///
    /// Fails if the experiment has one of them, or its plan no such arm or measure.
    pub fn extend(&mut self, experiment: i64, more: &[Slot]) -> Result<(), StoreError> {
        let doing = format!("store more blocks of experiment {experiment}");
        let doing = Doing { path: &self.path, doing: &doing, what: &format!("experiment {experiment}") };
        let tx =
            self.conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(|e| doing.sql(&e))?;
        let plan = crate::read::head(&tx, doing, experiment)?.experiment.plan;
        insert_slots(&tx, doing, experiment, &plan, more)?;
        tx.commit().map_err(|e| doing.sql(&e))
    }

    /// Stores that a run of `slot` is about to be launched, and returns the run's number. `started_at` is Unix time
    /// in seconds.
    ///
    /// Fails if the experiment has no such slot.
    pub fn start_run(&mut self, experiment: i64, slot: Slot, started_at: f64) -> Result<i64, StoreError> {
        let doing = format!("store the start of a run of experiment {experiment}");
        let doing = Doing { path: &self.path, doing: &doing, what: &format!("experiment {experiment}") };
        let tx =
            self.conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(|e| doing.sql(&e))?;
        let seq = tx
            .query_row("SELECT ifnull(max(seq) + 1, 0) FROM run WHERE experiment = ?1", [experiment], |row| {
                row.get(0)
            })
            .map_err(|e| doing.sql(&e))?;
        // Whoever measures has claimed the experiment, and said so under which boot.
        let session: Option<String> = tx
            .query_row("SELECT boot_id FROM lease WHERE experiment = ?1", [experiment], |row| row.get(0))
            .optional()
            .map_err(|e| doing.sql(&e))?;
        let run = insert_run(&tx, doing, experiment, seq, slot, started_at, session.as_deref())?;
        tx.commit().map_err(|e| doing.sql(&e))?;
        Ok(run)
    }

    /// Stores how a run ended and what it measured, all or nothing. After an error the run still counts as started
    /// and may be ended again, once the disk has room.
    ///
    /// Fails if the run has ended already.
    pub fn finish_run(&mut self, run: i64, ending: &Ending<'_>) -> Result<(), StoreError> {
        let (doing, what) = (format!("store run {run}"), format!("run {run}"));
        let doing = Doing { path: &self.path, doing: &doing, what: &what };
        // Everything dear is done before others are kept waiting.
        let packed = Packed::new(doing, ending)?;
        let tx =
            self.conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(|e| doing.sql(&e))?;
        end_run(&tx, doing, run, ending, &packed)?;
        tx.commit().map_err(|e| doing.sql(&e))
    }
}

/// The words for states in the file. A slot without a row is pending.
pub(crate) fn state_word(state: State) -> &'static str {
    match state {
        State::Pending => "pending",
        State::Started => "started",
        State::Done => "done",
        State::Failed => "failed",
        State::Invalid => "invalid",
    }
}

pub(crate) fn insert_experiment(
    conn: &Connection,
    doing: Doing<'_>,
    new: &NewExperiment<'_>,
) -> Result<i64, StoreError> {
    let NewExperiment { plan, plan_hash, seed, schedule, created_at, uid } = *new;
    if !is_uid(uid) {
        return Err(doing.refused(format!("\"{}\" is no uid", uid.escape_debug())));
    }
    if !created_at.is_finite() {
        return Err(doing.refused("it has no time"));
    }
    let arms: Vec<&str> = plan.arms.iter().map(|arm| arm.name.as_str()).collect();
    let json = |error: serde_json::Error| doing.refused(error.to_string());
    let (arms, plan_json) =
        (serde_json::to_string(&arms).map_err(json)?, serde_json::to_string(plan).map_err(json)?);
    // JSON has no NaN: better to refuse a plan now than to be unable to load it.
    if doc::read::<Plan>(&plan_json).ok().as_ref() != Some(plan) {
        return Err(doing.refused("the plan holds a number that is none"));
    }
    at_most("the plan", plan_json.len() as u64, doc::MOST_BYTES as u64, "bytes")?;

    let taken = conn
        .query_row("SELECT id FROM experiment WHERE uid = ?1", [uid], |row| row.get::<_, i64>(0))
        .optional()
        .map_err(|e| doing.sql(&e))?;
    if let Some(taken) = taken {
        return Err(doing.refused(format!("experiment {taken} has the same uid")));
    }
    conn.execute(
        "INSERT INTO experiment (uid, created_at_seconds, name, question, arms_json, plan_json, plan_hash, seed)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        params![uid, created_at, plan.name, plan.question, arms, plan_json, plan_hash, seed.cast_signed()],
    )
    .map_err(|e| doing.sql(&e))?;
    let experiment = conn.last_insert_rowid();
    insert_slots(conn, doing, experiment, plan, schedule)?;
    Ok(experiment)
}

/// Adds slots behind those that the experiment has.
pub(crate) fn insert_slots(
    conn: &Connection,
    doing: Doing<'_>,
    experiment: i64,
    plan: &Plan,
    more: &[Slot],
) -> Result<(), StoreError> {
    if let Some(slot) = more.iter().find(|slot| !fits(plan, **slot)) {
        return Err(doing.refused(format!("the plan has no arm or measure for {slot:?}")));
    }
    let present: i64 = conn
        .query_row("SELECT count(*) FROM slot WHERE experiment = ?1", [experiment], |row| row.get(0))
        .map_err(|e| doing.sql(&e))?;
    at_most("the schedule", present.cast_unsigned() + more.len() as u64, MOST_SLOTS, "slots")?;
    let mut insert = conn
        .prepare_cached(
            "INSERT INTO slot (experiment, idx, block, position, arm, measure) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )
        .map_err(|e| doing.sql(&e))?;
    for (idx, slot) in (present..).zip(more) {
        let inserted =
            insert.execute(params![experiment, idx, slot.block, slot.position, slot.arm, slot.measure]);
        inserted.map_err(|error| match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::ConstraintViolation) => {
                doing.refused(format!("the schedule has {slot:?} twice"))
            }
            _ => doing.sql(&error),
        })?;
    }
    Ok(())
}

pub(crate) fn insert_run(
    conn: &Connection,
    doing: Doing<'_>,
    experiment: i64,
    seq: i64,
    slot: Slot,
    started_at: f64,
    session: Option<&str>,
) -> Result<i64, StoreError> {
    if !started_at.is_finite() {
        return Err(doing.refused("it has no time"));
    }
    let idx: Option<i64> = conn
        .prepare_cached(
            "SELECT idx FROM slot
             WHERE experiment = ?1 AND block = ?2 AND position = ?3 AND arm = ?4 AND measure = ?5",
        )
        .and_then(|mut select| {
            let key = params![experiment, slot.block, slot.position, slot.arm, slot.measure];
            select.query_row(key, |row| row.get(0)).optional()
        })
        .map_err(|e| doing.sql(&e))?;
    let idx = idx.ok_or_else(|| doing.refused(format!("its schedule has no {slot:?}")))?;
    conn.execute(
        "INSERT INTO run (experiment, seq, slot, state, started_at_seconds, session)
         VALUES (?1, ?2, ?3, 'started', ?4, ?5)",
        params![experiment, seq, idx, started_at, session],
    )
    .map_err(|e| doing.sql(&e))?;
    Ok(conn.last_insert_rowid())
}

/// A series as it goes into the file.
struct PackedSeries {
    json: String,
    n: i64,
    encoding: i64,
    data: Vec<u8>,
}

/// A run as it goes into the file.
pub(crate) struct Packed {
    pub(crate) run: Option<String>,
    series: Vec<PackedSeries>,
    hosts: Vec<(String, doc::Facts)>,
}

impl Packed {
    pub(crate) fn new(doing: Doing<'_>, ending: &Ending<'_>) -> Result<Packed, StoreError> {
        match ending.state {
            State::Pending | State::Started => return Err(doing.refused("its state is no end")),
            State::Done if ending.run.is_none() => {
                return Err(doing.refused("it is done without a measurement"));
            }
            State::Done | State::Failed | State::Invalid => {}
        }
        if !ending.ended_at.is_finite() {
            return Err(doing.refused("it has no time"));
        }
        match ending.run {
            Some(run) => Packed::measured(doing, run),
            None => Ok(Packed { run: None, series: Vec::new(), hosts: Vec::new() }),
        }
    }

    /// Bytes that it takes, nearly.
    pub(crate) fn size(&self) -> usize {
        let series = self.series.iter().map(|series| series.json.len() + series.data.len() + 16);
        self.run.as_ref().map_or(0, String::len) + series.sum::<usize>()
    }

    pub(crate) fn measured(doing: Doing<'_>, run: &Run) -> Result<Packed, StoreError> {
        let samples: usize = run.series.iter().map(|series| series.samples.len()).sum();
        at_most(doing.what, samples as u64, MOST_SAMPLES, "samples")?;
        let bounded = |json: serde_json::Result<String>| -> Result<String, StoreError> {
            let json = json.map_err(|error| doing.refused(error.to_string()))?;
            at_most(doing.what, json.len() as u64, doc::MOST_BYTES as u64, "bytes of description")?;
            Ok(json)
        };
        let series = run.series.iter().map(|series| {
            let (encoding, data) =
                samples::encode(&series.samples).map_err(|error| doing.refused(error.to_string()))?;
            let json = bounded(doc::series(series))?;
            Ok(PackedSeries { json, n: series.samples.len() as i64, encoding, data })
        });
        let hosts = run
            .hosts
            .iter()
            .map(|(host, env)| Ok((host.clone(), doc::facts(env).map_err(|why| doing.refused(why))?)));
        Ok(Packed {
            run: Some(bounded(doc::run(run))?),
            series: series.collect::<Result<_, StoreError>>()?,
            hosts: hosts.collect::<Result<_, StoreError>>()?,
        })
    }
}

pub(crate) fn end_run(
    conn: &Connection,
    doing: Doing<'_>,
    run: i64,
    ending: &Ending<'_>,
    packed: &Packed,
) -> Result<(), StoreError> {
    let state: Option<String> = conn
        .query_row("SELECT state FROM run WHERE id = ?1", [run], |row| row.get(0))
        .optional()
        .map_err(|e| doing.sql(&e))?;
    match state.as_deref() {
        None => {
            return Err(StoreError::NotFound { path: doing.path.to_owned(), what: doing.what.to_owned() });
        }
        Some("started") => {}
        Some(state) => {
            let ends = [State::Done, State::Failed, State::Invalid].map(state_word);
            let state = ends.into_iter().find(|word| *word == state).unwrap_or("ended");
            return Err(StoreError::Finished { path: doing.path.to_owned(), run, state });
        }
    }
    write_packed(conn, run, packed).map_err(|e| doing.sql(&e))?;
    conn.execute(
        "UPDATE run SET state = ?2, ended_at_seconds = ?3, error = ?4, run_json = ?5 WHERE id = ?1",
        params![run, state_word(ending.state), ending.ended_at, ending.error, packed.run],
    )
    .map_err(|e| doing.sql(&e))?;
    Ok(())
}

pub(crate) fn write_packed(conn: &Connection, run: i64, packed: &Packed) -> rusqlite::Result<()> {
    let mut insert = conn.prepare_cached(
        "INSERT INTO series (run, idx, series_json, n, encoding, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for (idx, PackedSeries { json, n, encoding, data }) in packed.series.iter().enumerate() {
        insert.execute(params![run, idx as i64, json, n, encoding, data])?;
    }
    for (host, facts) in &packed.hosts {
        conn.prepare_cached(
            "INSERT INTO env (sha256, facts_json_zstd) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        )?
        .execute(params![facts.sha256, facts.lasting])?;
        conn.prepare_cached(
            "INSERT INTO run_host (run, host, env, counters_json_zstd)
             SELECT ?1, ?2, id, ?4 FROM env WHERE sha256 = ?3",
        )?
        .execute(params![run, host, facts.sha256, facts.counters])?;
    }
    Ok(())
}

/// Whether the plan has the slot's arm and measure.
pub(crate) fn fits(plan: &Plan, slot: Slot) -> bool {
    (slot.arm as usize) < plan.arms.len() && (slot.measure as usize) < plan.measures.len()
}

/// Whether the text can be a uid.
pub(crate) fn is_uid(text: &str) -> bool {
    matches!(text.len(), 1..=64) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

pub(crate) fn at_most(what: &str, found: u64, most: u64, unit: &'static str) -> Result<(), StoreError> {
    match found <= most {
        true => Ok(()),
        false => Err(StoreError::TooLarge { what: what.to_owned(), found, most, unit }),
    }
}
