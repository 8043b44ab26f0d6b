//! What stands around the comparisons: how many runs count, what differed undeclared, what a reader must know of the
//! whole experiment.

use std::collections::BTreeMap;

use super::{RunCounts, UndeclaredDifference};
use crate::caveat::{Caveat, CaveatKind};
use crate::env::{Class, FactValue};
use crate::experiment::{Experiment, State};
use crate::plan::{Order, Place};
use crate::stats;
use crate::taint::TaintLevel;
use crate::unit::Unit;

pub(super) fn general_caveats(experiment: &Experiment) -> Vec<Caveat> {
    let plan = &experiment.plan;
    let mut caveats = Vec::new();
    if !plan.hosts.is_empty() && plan.hosts.values().all(|host| matches!(host.place, Place::Lab(_))) {
        let text = "the hosts are network namespaces of one machine: they share its kernel and CPUs, and no \
                    network card was measured";
        caveats.push(Caveat::new(CaveatKind::SharedMachine, text));
    }
    if plan.order == Order::FewChanges {
        let text =
            "arms were changed as seldom as possible: a slow drift of the machines may pass for a difference";
        caveats.push(Caveat::new(CaveatKind::FewChanges, text));
    }
    let missing = experiment.missing().len();
    if missing > 0 {
        let total = experiment.schedule.len();
        let text = format!("{missing} of {total} runs are missing; blocks without both arms are left out");
        caveats.push(Caveat::new(CaveatKind::MissingRuns, text));
    }
    caveats.extend(torn_blocks(experiment));
    caveats
}

/// Pairing cancels drift only while the runs of a block lie close together. A block that was resumed later does not.
fn torn_blocks(experiment: &Experiment) -> Option<Caveat> {
    // First and last start of each block's runs that count.
    let mut spans: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for record in experiment.records.iter().filter(|record| record.state == State::Done) {
        let at = record.started_at;
        let span = spans.entry(record.slot.block).or_insert((at, at));
        *span = (span.0.min(at), span.1.max(at));
    }
    let lengths: Vec<f64> = spans.values().map(|(first, last)| last - first).collect();
    let limit = SHORT_PAUSE + TORN * stats::median(&lengths)?;
    let torn: Vec<String> = spans
        .iter()
        .filter(|(_, (first, last))| last - first > limit)
        .map(|(block, _)| (block + 1).to_string())
        .collect();
    let text = format!(
        "block {}: its runs lie far apart in time, so that a drift of the machines is not cancelled there",
        torn.join(", ")
    );
    (!torn.is_empty()).then(|| Caveat::new(CaveatKind::Drift, text))
}

/// A block is torn if it took so many times as long as the median block and a pause of so many seconds more.
const TORN: f64 = 10.0;
const SHORT_PAUSE: f64 = 60.0;

pub(super) fn run_counts(experiment: &Experiment) -> RunCounts {
    let mut counts = RunCounts::default();
    for record in &experiment.records {
        let level = record.run.as_ref().map(|run| run.taint.level);
        match (record.state, level) {
            (State::Invalid, _) | (_, Some(TaintLevel::Invalid)) => counts.invalid += 1,
            (State::Done, Some(TaintLevel::Clean)) => counts.clean += 1,
            (State::Done, Some(TaintLevel::Suspect)) => counts.suspect += 1,
            (State::Done, _) => counts.unknown += 1,
            _ => {}
        }
    }
    counts
}

/// A fact's unit and, by arm, the value first seen there.
type Seen<'a> = (Option<Unit>, BTreeMap<usize, &'a FactValue>);

/// Facts whose values differ between arms though no arm declared them.
pub(super) fn undeclared_differences(experiment: &Experiment) -> Vec<UndeclaredDifference> {
    let plan = &experiment.plan;
    let done = || experiment.records.iter().filter(|record| record.state == State::Done);
    let mut seen: BTreeMap<(&str, &str), Seen<'_>> = BTreeMap::new();
    for record in done() {
        for (host, env) in record.run.iter().flat_map(|run| &run.hosts) {
            for (key, fact) in env.facts.iter().filter(|(_, fact)| fact.class != Class::Counter) {
                if let Some(value) = &fact.value {
                    let entry = seen.entry((host, key)).or_default();
                    entry.0 = fact.unit;
                    entry.1.entry(record.slot.arm as usize).or_insert(value);
                }
            }
        }
    }
    let arms_seen: std::collections::BTreeSet<usize> =
        done().map(|record| record.slot.arm as usize).collect();
    let mut differences = Vec::new();
    for ((host, key), (unit, by_arm)) in seen {
        let mut values = by_arm.values();
        let first = values.next();
        let equal = values.all(|value| Some(value) == first) && by_arm.len() == arms_seen.len();
        if equal || plan.arms.iter().any(|arm| arm.set.declares(key)) {
            continue;
        }
        differences.push(UndeclaredDifference {
            host: host.to_owned(),
            key: key.to_owned(),
            unit,
            values: by_arm
                .into_iter()
                .map(|(arm, value)| (plan.arms[arm].name.clone(), value.clone()))
                .collect(),
        });
    }
    differences
}
