//! The machine-readable answers: `tenbin.report/1` for an experiment, `tenbin.run/1` for runs.
//!
//! Names and meanings here are a promise to other programs; additions are fine. Values are in base units.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::{Map, Value, json};
use tenbin_core::analysis::{Analysis, ArmCeiling, Comparison, Level};
use tenbin_core::compare::{Alone, Answer, Ranking, Row};
use tenbin_core::env::FactValue;
use tenbin_core::experiment::{Experiment, Slot};
use tenbin_core::run::Run;
use tenbin_core::sample::Series;
use tenbin_core::stopping;

use crate::computed::Computed;

/// The answer to a plan's question with all that stands behind it.
///
/// `store` is the file the runs are in, `report` the page that was written, if any.
pub fn document(experiment: &Experiment, analysis: &Analysis, store: &Path, report: Option<&Path>) -> Value {
    json!({
        "schema": "tenbin.report/1",
        "plan": experiment.plan.name,
        "question": experiment.plan.question,
        "seed": experiment.seed,
        "blocks": experiment.blocks(),
        "length": stopping::outcome(experiment, analysis),
        "experiment": experiment.id,
        "uid": experiment.uid,
        "created_at": experiment.created_at,
        "comparisons": analysis.comparisons.iter().map(comparison).collect::<Vec<_>>(),
        "levels": analysis.levels.iter().map(level).collect::<Vec<_>>(),
        "ceilings": analysis.ceilings.iter().map(ceiling).collect::<Vec<_>>(),
        "runs": analysis.runs,
        "undeclared_differences": analysis.undeclared_differences,
        "caveats": analysis.caveats,
        "curves": analysis.curves,
        "inversions": analysis.inversions,
        "groups": analysis.groups,
        "diagnostics": analysis.diagnostics,
        "store": store.display().to_string(),
        "report": report.map(|path| path.display().to_string()),
        "schedule": schedule(experiment),
    })
}

/// Every slot in the order to be run, with the run that counts (else the last one) and where it stands.
///
/// Blocks and slots (positions within a block) count from 0.
pub fn schedule(experiment: &Experiment) -> Value {
    experiment.schedule.iter().map(|slot| scheduled(experiment, *slot)).collect()
}

fn scheduled(experiment: &Experiment, slot: Slot) -> Value {
    let plan = &experiment.plan;
    let last = || experiment.records.iter().rev().find(|record| record.slot == slot);
    json!({
        "block": slot.block,
        "slot": slot.position,
        "arm": plan.arms.get(slot.arm as usize).map(|arm| &arm.name),
        "measure": plan.measures.get(slot.measure as usize).map(|measure| measure.label()),
        "run": experiment.done(slot).or_else(last).map(|record| record.id),
        "state": experiment.state(slot),
    })
}

fn comparison(comparison: &Comparison) -> Value {
    let result = &comparison.result;
    json!({
        "metric": comparison.metric,
        "params": comparison.params,
        "base": comparison.base,
        "arm": comparison.arm,
        "better": comparison.better,
        "ratio": result.ratio,
        "lo": result.lo,
        "hi": result.hi,
        "level": result.level,
        "n": result.n,
        "p": result.p,
        "margin": result.margin,
        "verdict": result.verdict,
        "more_blocks": result.more_blocks,
        "mde": result.mde,
        "text": comparison.text,
        "log_ratios": comparison.log_ratios,
        "unit": comparison.unit,
        "difference": result.difference,
        "family": result.family,
        "far": comparison.far,
    })
}

fn level(level: &Level) -> Value {
    json!({
        "arm": level.arm,
        "metric": level.metric.name,
        "unit": level.metric.unit,
        "better": level.metric.better,
        "params": level.params,
        "n": level.n,
        "median": level.median,
        "lo": level.interval.map(|(lo, _)| lo),
        "hi": level.interval.map(|(_, hi)| hi),
        "values": level.values,
    })
}

fn ceiling(bound: &ArmCeiling) -> Value {
    json!({
        "arm": bound.arm,
        "metric": bound.metric,
        "name": bound.ceiling.name,
        "limit": bound.ceiling.limit,
        "unit": bound.ceiling.unit,
        "share": bound.share,
        "steps": bound.ceiling.steps,
        "all_read": bound.ceiling.all_read,
    })
}

/// What `compare` found, each side against the first.
pub fn answers(answers: &[Answer], rankings: &[Ranking]) -> Value {
    let all = |of: fn(&Answer) -> Vec<Value>| answers.iter().flat_map(of).collect::<Vec<_>>();
    json!({
        "schema": "tenbin.report/1",
        "comparisons": all(|answer| answer.rows.iter().map(compared).collect()),
        "curves": all(|answer| answer.overall.iter().map(|one| json!(one)).collect()),
        "common": all(|answer| answer.common.iter().map(|one| json!(one)).collect()),
        "inversions": all(|answer| answer.inversions.iter().map(|one| json!(one)).collect()),
        "ceilings": all(|answer| answer.ceilings.iter().map(|one| json!(one)).collect()),
        "remarks": all(|answer| answer.remarks.iter().map(|one| json!(one)).collect()),
        "rankings": rankings,
        "diagnostics": all(|answer| answer.diagnostics.iter().map(|one| json!(one)).collect()),
        "refused": all(|answer| answer.refused.iter().map(|one| json!(one)).collect()),
        "caveats": all(|answer| answer.caveats.iter().map(|one| json!(one)).collect()),
    })
}

/// One side alone.
pub fn alone(alone: &Alone) -> Value {
    json!({
        "schema": "tenbin.report/1",
        "comparisons": [],
        "levels": alone.levels,
        "ceilings": alone.ceilings,
        "diagnostics": alone.diagnostics,
        "caveats": alone.caveats,
    })
}

fn compared(row: &Row) -> Value {
    let mut entry = comparison(&row.comparison);
    entry["design"] = json!(row.design);
    entry["base_level"] = json!(row.base_level);
    entry["arm_level"] = json!(row.arm_level);
    entry["within"] = json!(row.within);
    entry
}

/// Runs as the document that `show` and `import` print.
pub fn runs(runs: &[Run]) -> Value {
    json!({
        "schema": RUN_SCHEMA,
        "runs": runs.iter().map(run).collect::<Vec<_>>(),
        "errors": [],
    })
}

/// The same for runs that come one by one and need not fit into memory: `each` is given a printer of runs, and returns
/// what gave none, each source with what is to be said about it.
pub fn write_runs<F>(out: &mut dyn io::Write, each: F) -> io::Result<()>
where
    F: FnOnce(&mut dyn FnMut(&Run) -> io::Result<()>) -> Vec<(String, String)>,
{
    let mut serializer = serde_json::Serializer::pretty(&mut *out);
    let mut document = serializer.serialize_map(None)?;
    document.serialize_entry("schema", RUN_SCHEMA)?;
    let lazy = Lazy { each: Cell::new(Some(each)), errors: Cell::new(Vec::new()) };
    document.serialize_entry("runs", &lazy)?;
    let error = |(source, text): &(String, String)| json!({ "source": source, "text": text });
    document.serialize_entry("errors", &lazy.errors.take().iter().map(error).collect::<Vec<_>>())?;
    SerializeMap::end(document)?;
    out.write_all(b"\n")
}

const RUN_SCHEMA: &str = "tenbin.run/1";

/// A list whose entries are made while it is written.
struct Lazy<F> {
    each: Cell<Option<F>>,
    errors: Cell<Vec<(String, String)>>,
}

impl<F> Serialize for Lazy<F>
where
    F: FnOnce(&mut dyn FnMut(&Run) -> io::Result<()>) -> Vec<(String, String)>,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        let mut failed = None;
        if let Some(each) = self.each.take() {
            self.errors.set(each(&mut |run| {
                list.serialize_element(&RunEntry(run)).map_err(|error| {
                    let said = error.to_string();
                    failed.get_or_insert(error);
                    io::Error::other(said)
                })
            }));
        }
        match failed {
            Some(error) => Err(error),
            None => list.end(),
        }
    }
}

/// One run: an entry of `runs`.
pub fn run(run: &Run) -> Value {
    // Its keys are text, so it can't fail.
    serde_json::to_value(RunEntry(run)).unwrap_or_default()
}

struct RunEntry<'a>(&'a Run);

impl Serialize for RunEntry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let RunEntry(run) = self;
        let mut entry = serializer.serialize_map(None)?;
        entry.serialize_entry("source", &run.source)?;
        entry.serialize_entry("tool", &run.tool)?;
        if let Some(version) = &run.tool_version {
            entry.serialize_entry("tool_version", version)?;
        }
        if let Some(benchmark) = &run.benchmark {
            entry.serialize_entry("benchmark", benchmark)?;
        }
        entry.serialize_entry("series", &run.series.iter().map(SeriesEntry).collect::<Vec<_>>())?;
        if !run.events.is_empty() {
            entry.serialize_entry("events", &run.events)?;
        }
        if !run.states.is_empty() {
            entry.serialize_entry("states", &run.states)?;
        }
        // Plain values: a fact that was not read is left out here and stands, with its reason, under `hosts`.
        let facts: BTreeMap<&String, &FactValue> =
            run.facts.iter().filter_map(|(key, fact)| Some((key, fact.value.as_ref()?))).collect();
        entry.serialize_entry("facts", &facts)?;
        if !run.hosts.is_empty() {
            entry.serialize_entry("hosts", &run.hosts)?;
        }
        entry.serialize_entry("caveats", &run.caveats)?;
        entry.serialize_entry("taint", &run.taint)?;
        entry.end()
    }
}

struct SeriesEntry<'a>(&'a Series);

impl Serialize for SeriesEntry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let SeriesEntry(series) = self;
        let mut entry = serializer.serialize_map(None)?;
        entry.serialize_entry("metric", &series.metric.name)?;
        entry.serialize_entry("unit", &series.metric.unit)?;
        entry.serialize_entry("better", &series.metric.better)?;
        entry.serialize_entry("params", &series.params)?;
        if let Some(reduce) = series.headline {
            entry.serialize_entry("headline", &reduce)?;
        }
        entry.serialize_entry("samples", &series.samples)?;
        entry.serialize_entry("reported", &series.reported)?;
        entry.serialize_entry("computed", &computed(series))?;
        entry.end()
    }
}

/// What the samples themselves say. A figure that they cannot give is absent.
fn computed(series: &Series) -> Value {
    let figures = Computed::of(series);
    let mut entry = Map::new();
    entry.insert("n".to_owned(), json!(figures.n));
    let rest = [
        ("mean", figures.mean),
        ("median", figures.median),
        ("min", figures.min),
        ("max", figures.max),
        ("sd", figures.sd),
        ("p90", figures.p90),
        ("p99", figures.p99),
        ("p99.9", figures.p99_9),
    ];
    for (name, value) in rest {
        if let Some(value) = value {
            entry.insert(name.to_owned(), json!(value));
        }
    }
    Value::Object(entry)
}
