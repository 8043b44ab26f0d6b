//! From an experiment to an answer: comparisons, ceilings, what differed undeclared, what a reader must know.
//!
//! Recomputed from the stored samples every time; nothing of it is stored.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::caveat::Caveat;
use crate::ceiling::Ceiling;
use crate::env::FactValue;
use crate::metric::{Better, Metric};
use crate::sample::Params;
use crate::unit::Unit;

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
    /// The result.
    #[serde(flatten)]
    pub result: crate::verdict::Decision,
    /// The verdict as a sentence.
    pub text: String,
    /// The per-block log ratios in block order, for the figure.
    #[serde(default)]
    pub log_ratios: Vec<f64>,
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
