//! Joining the store of another machine into this one.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use tenbin_core::experiment::State;

use crate::error::{Doing, StoreError};
use crate::write::{Ending, NewExperiment, Packed, end_run, insert_experiment, insert_run, insert_slots};
use crate::{Store, lone, read};

/// What [`Store::merge`] did.
#[derive(Debug, Default)]
pub struct Merged {
    /// Experiments that were not here before, by their number here.
    pub added: Vec<i64>,
    /// Experiments that were here and got runs, by their number here.
    pub updated: Vec<i64>,
    /// Experiments that were here as they are there.
    pub unchanged: u64,
    /// Runs that were added or ended.
    pub runs: u64,
    /// Runs without an experiment that were not here before.
    pub lone_added: u64,
    /// Runs without an experiment that were here.
    pub lone_known: u64,
    /// Experiments and runs that were left out whole, and why.
    pub failed: Vec<StoreError>,
}

impl Store {
    /// Copies what the store at `other` has and this one lacks. Experiments are the same if their uids are; runs are
    /// the same if they hold the same place in their experiment. Doing it again changes nothing. What makes no sense
    /// is left out, the whole experiment, and listed.
    ///
    /// Fails if `other` can't be read or this store can't be written to; experiments copied until then stay.
    pub fn merge(&mut self, other: impl AsRef<Path>) -> Result<Merged, StoreError> {
        let other = Store::open_read_only(other)?;
        let file = |path: &Path| std::fs::metadata(path).map(|found| (found.dev(), found.ino())).ok();
        if file(&self.path) == file(&other.path) {
            let doing = format!("import {}", other.path.display());
            return Err(StoreError::Refused { doing, why: "it is the store itself".to_owned() });
        }
        let there = Doing { path: &other.path, doing: "import experiments", what: "the list of experiments" };
        let experiments: Vec<i64> = other
            .conn
            .prepare("SELECT id FROM experiment ORDER BY created_at_seconds, id")
            .and_then(|mut select| select.query_map([], |row| row.get(0))?.collect())
            .map_err(|e| there.sql(&e))?;

        let mut merged = Merged::default();
        for experiment in experiments {
            let what = format!("experiment {experiment}");
            let there =
                Doing { doing: &format!("import {what} of {}", other.path.display()), what: &what, ..there };
            let here = Doing { path: &self.path, ..there };
            let tx = self
                .conn
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .map_err(|e| here.sql(&e))?;
            let outcome = copy(&other.conn, there, experiment, &tx, here);
            match outcome {
                Ok(copied) => {
                    tx.commit().map_err(|e| here.sql(&e))?;
                    merged.runs += copied.runs;
                    match (copied.is_new, copied.runs) {
                        (true, _) => merged.added.push(copied.id),
                        (false, 0) => merged.unchanged += 1,
                        (false, _) => merged.updated.push(copied.id),
                    }
                }
                Err(
                    error @ (StoreError::Full { .. }
                    | StoreError::Disk { .. }
                    | StoreError::Locked { .. }
                    | StoreError::ReadOnly { .. }
                    | StoreError::Database { .. }),
                ) => return Err(error),
                Err(error) => merged.failed.push(error),
            }
        }
        let lone = lone::copy_all(&other, self)?;
        (merged.lone_added, merged.lone_known) = (lone.added, lone.known);
        merged.failed.extend(lone.failed);
        Ok(merged)
    }
}

struct Copied {
    id: i64,
    is_new: bool,
    runs: u64,
}

// Everything is read the way it is read to be shown, so it is as well checked, and written anew.
fn copy(
    from: &Connection,
    there: Doing<'_>,
    experiment: i64,
    to: &Connection,
    here: Doing<'_>,
) -> Result<Copied, StoreError> {
    let read::Head { experiment: theirs, plan_hash } = read::head(from, there, experiment)?;
    let known: Option<i64> = to
        .query_row("SELECT id FROM experiment WHERE uid = ?1", [&theirs.uid], |row| row.get(0))
        .optional()
        .map_err(|e| here.sql(&e))?;
    let id = match known {
        None => {
            let new = NewExperiment {
                plan: &theirs.plan,
                plan_hash: &plan_hash,
                seed: theirs.seed,
                schedule: &theirs.schedule,
                created_at: theirs.created_at,
                uid: &theirs.uid,
            };
            insert_experiment(to, here, &new)?
        }
        Some(id) => {
            let ours = read::head(to, here, id)?.experiment;
            // One of a length that is not fixed may have gone on in one store.
            let common = ours.schedule.len().min(theirs.schedule.len());
            let grown = ours.schedule.len() != theirs.schedule.len();
            if ours.plan != theirs.plan
                || ours.schedule[..common] != theirs.schedule[..common]
                || grown && ours.plan.until.is_none()
            {
                return Err(here.refused(format!("experiment {id} has its uid and another plan")));
            }
            insert_slots(to, here, id, &theirs.plan, &theirs.schedule[common..])?;
            id
        }
    };

    let mut runs = 0;
    for (run, seq) in read::runs(from, there, experiment)? {
        let ours: Option<i64> = to
            .query_row("SELECT id FROM run WHERE experiment = ?1 AND seq = ?2", params![id, seq], |row| {
                row.get(0)
            })
            .optional()
            .map_err(|e| here.sql(&e))?;
        let theirs = read::record(from, there, run)?;
        let session: Option<String> = from
            .query_row("SELECT session FROM run WHERE id = ?1", [run], |row| row.get(0))
            .map_err(|e| there.sql(&e))?;
        let ours = match ours {
            None => {
                runs += 1;
                insert_run(to, here, id, seq, theirs.slot, theirs.started_at, session.as_deref())?
            }
            Some(ours) => {
                let found = read::record(to, here, ours)?;
                if (found.slot, found.started_at) != (theirs.slot, theirs.started_at) {
                    return Err(here.refused(format!(
                        "it went on in both stores: run {ours} here is not run {run} there"
                    )));
                }
                match (found.state, theirs.state) {
                    (_, State::Started) => continue,
                    (State::Started, _) => runs += 1,
                    (same, other) if same == other => continue,
                    _ => return Err(here.refused(format!("run {ours} here ended unlike run {run} there"))),
                }
                ours
            }
        };
        if theirs.state != State::Started {
            let ending = Ending {
                state: theirs.state,
                ended_at: theirs.ended_at.unwrap_or(theirs.started_at),
                error: theirs.error.as_deref(),
                run: theirs.run.as_ref(),
            };
            let packed = Packed::new(here, &ending)?;
            end_run(to, here, ours, &ending, &packed)?;
        }
    }
    Ok(Copied { id, is_new: known.is_none(), runs })
}
