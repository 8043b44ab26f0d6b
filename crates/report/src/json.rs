//! The machine-readable answers: `tenbin.report/1` for an experiment, `tenbin.run/1` for runs.
//!
//! Names and meanings here are a promise to other programs; additions are fine. Values are in base units.

use std::path::Path;

use serde_json::{Map, Value, json};
use tenbin_core::analysis::{Analysis, ArmCeiling, Comparison, Level};
use tenbin_core::experiment::{Experiment, Slot};
use tenbin_core::run::Run;
use tenbin_core::sample::Series;

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
        "blocks": experiment.plan.blocks,
        "experiment": experiment.id,
        "uid": experiment.uid,
        "created_at": experiment.created_at,
        "comparisons": analysis.comparisons.iter().map(comparison).collect::<Vec<_>>(),
        "levels": analysis.levels.iter().map(level).collect::<Vec<_>>(),
        "ceilings": analysis.ceilings.iter().map(ceiling).collect::<Vec<_>>(),
        "runs": analysis.runs,
        "undeclared_differences": analysis.undeclared_differences,
        "caveats": analysis.caveats,
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

/// Runs as the document that `show` and `import` print.
pub fn runs(runs: &[Run]) -> Value {
    imported(runs, &[])
}

/// The same with the sources that gave none, each with what is to be said about it.
pub fn imported(runs: &[Run], errors: &[(String, String)]) -> Value {
    let error = |(source, text): &(String, String)| json!({ "source": source, "text": text });
    json!({
        "schema": "tenbin.run/1",
        "runs": runs.iter().map(run).collect::<Vec<_>>(),
        "errors": errors.iter().map(error).collect::<Vec<_>>(),
    })
}

/// One run: an entry of `runs`.
pub fn run(run: &Run) -> Value {
    let mut entry = Map::new();
    entry.insert("source".to_owned(), json!(run.source));
    entry.insert("tool".to_owned(), json!(run.tool));
    if let Some(version) = &run.tool_version {
        entry.insert("tool_version".to_owned(), json!(version));
    }
    if let Some(benchmark) = &run.benchmark {
        entry.insert("benchmark".to_owned(), json!(benchmark));
    }
    entry.insert("series".to_owned(), run.series.iter().map(series).collect());
    if !run.events.is_empty() {
        entry.insert("events".to_owned(), json!(run.events));
    }
    if !run.states.is_empty() {
        entry.insert("states".to_owned(), json!(run.states));
    }
    // Plain values: a fact that was not read is left out here and stands, with its reason, under `hosts`.
    let facts: Map<String, Value> =
        run.facts.iter().filter_map(|(key, fact)| Some((key.clone(), json!(fact.value.as_ref()?)))).collect();
    entry.insert("facts".to_owned(), Value::Object(facts));
    if !run.hosts.is_empty() {
        entry.insert("hosts".to_owned(), json!(run.hosts));
    }
    entry.insert("caveats".to_owned(), json!(run.caveats));
    entry.insert("taint".to_owned(), json!(run.taint));
    Value::Object(entry)
}

fn series(series: &Series) -> Value {
    let mut entry = json!({
        "metric": series.metric.name,
        "unit": series.metric.unit,
        "better": series.metric.better,
        "params": series.params,
    });
    if let Some(reduce) = series.headline {
        entry["headline"] = json!(reduce);
    }
    entry["samples"] = json!(series.samples);
    entry["reported"] = json!(series.reported);
    entry["computed"] = computed(series);
    entry
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
