//! From an experiment to an answer: comparisons, ceilings, what differed undeclared, what a reader must know.
//!
//! Recomputed from the stored samples every time; nothing of it is stored. Start at [`weigh`].

mod ceilings;
pub mod curves;
mod diagnose;
mod groups;
mod session;
mod subjects;
mod surroundings;
#[cfg(test)]
mod tests;
mod weighing;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::caveat::Caveat;
use crate::ceiling::Ceiling;
use crate::env::FactValue;
use crate::experiment::{Experiment, State};
use crate::metric::{Better, Metric};
use crate::sample::Params;
use crate::unit::Unit;
use crate::verdict::{Correction, Decision, Verdict};

pub use curves::{Curve, Inversion};
pub use diagnose::{Diagnostic, DiagnosticKind, diagnose};
pub use groups::{Alone, Group, Pair};
pub use subjects::compared_params;

pub(crate) use ceilings::ceiling_of;
pub(crate) use weighing::pairs_of_arms;

/// The answer to a plan's question.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// Every arm against the base, by metric and parameters, in the plan's order.
    pub comparisons: Vec<Comparison>,
    /// Every arm alone, by metric and parameters.
    pub levels: Vec<Level>,
    /// What bounds each arm.
    pub ceilings: Vec<ArmCeiling>,
    /// How many runs are in which state.
    pub runs: RunCounts,
    /// Facts that differ between arms and were not declared.
    pub undeclared_differences: Vec<UndeclaredDifference>,
    /// Everything a reader must know, once each.
    pub caveats: Vec<Caveat>,
    /// Comparisons that differ in one number only, taken together.
    #[serde(default)]
    pub curves: Vec<Curve>,
    /// Places where a curve goes the wrong way.
    #[serde(default)]
    pub inversions: Vec<Inversion>,
    /// More than two arms: which of them can't be told apart.
    #[serde(default)]
    pub groups: Vec<Group>,
    /// What stood out within single runs; all of them count.
    #[serde(default)]
    pub diagnostics: Vec<Diagnostic>,
}

/// One arm against the base.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// What is compared.
    pub metric: String,
    /// Under which parameters.
    pub params: Params,
    /// The arm compared with.
    pub base: String,
    /// The arm compared.
    pub arm: String,
    /// The direction called faster.
    pub better: Better,
    /// The unit of differences.
    pub unit: Unit,
    /// The result.
    #[serde(flatten)]
    pub result: Decision,
    /// The verdict as a sentence.
    pub text: String,
    /// The per-block log ratios in block order, for the figure; none where a value is 0.
    #[serde(default)]
    pub log_ratios: Vec<f64>,
    /// Present where some blocks lie far from the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub far: Option<Far>,
}

/// Blocks that lie beyond three interquartile ranges, and what the rest would say. They count all the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Far {
    /// The blocks, from 0.
    pub blocks: Vec<u32>,
    /// The verdict of this comparison alone with them.
    pub verdict: Verdict,
    /// The verdict without them.
    pub without: Verdict,
}

/// One arm alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// The arm's name.
    pub arm: String,
    /// What was measured.
    pub metric: Metric,
    /// Under which parameters.
    pub params: Params,
    /// Runs that count.
    pub n: usize,
    /// Median over runs.
    pub median: f64,
    /// The 95 % interval of the median by exact ranks; absent below six runs.
    pub interval: Option<(f64, f64)>,
    /// The value of every run that counts, with the slot's block, in the order measured.
    pub values: Vec<LevelValue>,
}

/// The value of one run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelValue {
    /// The run's number in the store.
    pub run: i64,
    /// The block, from 0.
    pub block: u32,
    /// Seconds since the experiment's first run began.
    pub at: f64,
    /// The headline value.
    pub value: f64,
}

/// What bounds an arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArmCeiling {
    /// The arm's name.
    pub arm: String,
    /// The metric it bounds.
    pub metric: String,
    /// The limit and its derivation.
    #[serde(flatten)]
    pub ceiling: Ceiling,
    /// Median over the limit.
    pub share: Option<f64>,
}

/// How many runs are in which state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunCounts {
    /// Nothing stood out.
    pub clean: u32,
    /// Counted, with a mark.
    pub suspect: u32,
    /// Stored but not counted.
    pub invalid: u32,
    /// A signal could not be read.
    pub unknown: u32,
}

/// A fact that differs between arms and was not declared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UndeclaredDifference {
    /// The host as the plan calls it.
    pub host: String,
    /// The fact's key.
    pub key: String,
    /// Its unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// Its value by arm.
    pub values: BTreeMap<String, FactValue>,
}

/// Below so many changes of arms a drift of the machines can't be told from a difference.
pub const ENOUGH_ALTERNATIONS: usize = 6;

/// What is compared with what, and how wrong claims are kept few.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Where several questions are asked of the same blocks.
    pub correction: Correction,
    /// Where there are more than two arms.
    pub against: Against,
}

/// Which pairs of arms are compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Against {
    /// Every arm with the first.
    #[default]
    Base,
    /// Every other arm with each of these, by their indices.
    Baselines(Vec<usize>),
    /// Every arm with every other.
    AllPairs,
}

/// Weighs what has been measured of an experiment so far.
pub fn weigh(experiment: &Experiment) -> Analysis {
    weigh_with(experiment, &Options::default())
}

/// Weighs with other than the usual pairs of arms or correction.
pub fn weigh_with(experiment: &Experiment, options: &Options) -> Analysis {
    let subjects = subjects::subjects(experiment);
    let mut caveats = surroundings::general_caveats(experiment);
    let levels: Vec<Level> = subjects.iter().flat_map(|subject| subject.levels(experiment)).collect();
    let families = weighing::families(&subjects);
    let comparisons = weighing::comparisons(experiment, options, &subjects, &families, &mut caveats);
    let ceilings = ceilings::ceilings(experiment, &levels, &mut caveats);
    let diagnostics = diagnose::diagnostics(experiment, &mut caveats);
    let mut analysis = Analysis {
        comparisons,
        levels,
        ceilings,
        runs: surroundings::run_counts(experiment),
        undeclared_differences: surroundings::undeclared_differences(experiment),
        caveats: Vec::new(),
        curves: Vec::new(),
        inversions: Vec::new(),
        groups: Vec::new(),
        diagnostics,
    };
    for family in &families {
        let members: Vec<&subjects::Subject> = family.members.iter().map(|index| &subjects[*index]).collect();
        analysis.curves.extend(curves::curves(experiment, options, family, &members));
        analysis.inversions.extend(curves::inversions(experiment, family, &members));
        analysis.groups.extend(groups::group(experiment, family, &members));
        caveats.extend(session::session(experiment, family, &members));
    }
    for record in experiment.records.iter().filter(|record| record.state == State::Done) {
        caveats.extend(record.run.iter().flat_map(|run| run.caveats.iter().cloned()));
    }
    analysis.caveats = without_repeats(caveats);
    analysis
}

fn without_repeats(caveats: Vec<Caveat>) -> Vec<Caveat> {
    let mut kept: Vec<Caveat> = Vec::new();
    for caveat in caveats {
        if !kept.contains(&caveat) {
            kept.push(caveat);
        }
    }
    kept
}
