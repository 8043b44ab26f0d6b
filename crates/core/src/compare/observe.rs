//! What the runs of a side say: by metric and parameters the value of every run, and what a summary still tells.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::bounds::{self, Limit};
use super::course::{self, Opening};
use super::{Side, told};
use crate::analysis::{Diagnostic, compared_params, diagnose};
use crate::caveat::{Caveat, CaveatKind};
use crate::metric::{BANDWIDTH, Better, Metric, PACKETS_RECEIVED, THROUGHPUT};
use crate::run::Run;
use crate::sample::{Params, Reduce, Series};
use crate::stats::order::median_of;
use crate::stats::summary::{Summary, mean_half_width};
use crate::stats::welch::Moments;
use crate::stats::{median, median_interval};
use crate::unit::Unit;
use crate::verdict::LEVEL;

/// What is compared.
#[derive(Clone, Debug)]
pub struct Key {
    pub metric: Metric,
    pub params: Params,
    /// Metric and parameters as text, by which keys are sorted and told apart.
    text: String,
}

impl Key {
    fn new(metric: Metric, params: Params) -> Key {
        let text = format!("{}{}{:?}", metric.name, metric.unit.name(), params);
        Key { metric, params, text }
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.text == other.text
    }
}
impl Eq for Key {}
impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Key) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Key {
    fn cmp(&self, other: &Key) -> std::cmp::Ordering {
        self.text.cmp(&other.text)
    }
}

/// The value of one run, or of one printed repetition.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// The value that runs are compared by.
    pub value: f64,
    /// The block, where the run belongs to one.
    pub block: Option<u32>,
    /// Mean and deviation of the samples within; of a total those of its intervals, around the total.
    pub spread: Option<Moments>,
    /// How a run of intervals began.
    pub opening: Option<Opening>,
    /// What the tool printed: `mean sd min max n`.
    pub printed: BTreeMap<String, f64>,
    /// Whether the printed deviation is known to be wrong.
    pub biased: bool,
}

/// All values of a side for one key.
#[derive(Clone, Debug, Default)]
pub struct Values(pub Vec<Observed>);

/// A side alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// Runs.
    pub n: usize,
    /// Their median.
    pub median: f64,
    /// Its 95 % interval by exact ranks; absent below six runs.
    #[serde(default)]
    pub interval: Option<(f64, f64)>,
    /// Their mean.
    pub mean: f64,
    /// Their deviation (n - 1); absent of one.
    pub sd: Option<f64>,
    /// Half the width of the 95 % t interval of the mean; absent of one.
    pub half_width: Option<f64>,
}

impl Values {
    /// The values of all runs.
    pub fn numbers(&self) -> Vec<f64> {
        self.0.iter().map(|one| one.value).collect()
    }

    /// The side alone.
    pub fn level(&self) -> Level {
        let numbers = self.numbers();
        let Some(of) = Summary::of(&numbers) else { return Level { n: numbers.len(), ..Level::default() } };
        Level {
            n: of.n,
            median: of.median,
            interval: median_interval(&numbers, LEVEL),
            mean: of.mean,
            sd: (of.n > 1).then_some(of.sd),
            half_width: mean_half_width(of.n, of.sd, LEVEL),
        }
    }
}

/// What a run says, without its samples: of fifty runs with a million each, all can be held at once.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub(super) values: Vec<(Key, Observed)>,
    /// What bounds it, by metric.
    pub(super) limits: BTreeMap<String, Limit>,
    /// What stands out within the run.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// What the run says of itself.
    pub(super) caveats: Vec<Caveat>,
    /// Why no ceiling was worked out.
    pub(super) unbounded: Vec<Caveat>,
}

impl Seen {
    /// What `run`, the `number`-th of side `side` (from 1), says. `block` is the one it was measured in, where it
    /// belongs to one; equal numbers on two sides were measured close to each other. Within `margin`, as a share,
    /// nothing stands out.
    pub fn of(run: &Run, number: i64, side: &str, block: Option<u32>, margin: f64) -> Seen {
        let (limits, unbounded) = bounds::limits(run);
        Seen {
            values: values(run, block),
            limits,
            diagnostics: diagnose(run, number, side, margin),
            caveats: run.caveats.clone(),
            unbounded,
        }
    }
}

fn values(run: &Run, block: Option<u32>) -> Vec<(Key, Observed)> {
    let biased = run.caveats.iter().any(|caveat| caveat.kind == CaveatKind::BiasedDeviation);
    // Runs without a mark for what verdicts compare are compared by all they have.
    let marked = run.series.iter().any(|series| series.headline.is_some());
    let mut found = Vec::new();
    for (index, series) in run.series.iter().enumerate() {
        if series.metric.better == Better::Neither || marked && series.headline.is_none() {
            continue;
        }
        let key = Key::new(series.metric.clone(), compared_params(&run.series, index));
        let printed = printed(run, series);
        let observed = |value: f64, spread| {
            let printed = printed.clone();
            (key.clone(), Observed { value, block, spread, opening: None, printed, biased })
        };
        if repeats(run, series) {
            let mut each = series.values();
            each.retain(|value| value.is_finite());
            match block {
                // Several repetitions in one block are that block's median.
                Some(_) => found.extend(median(&each).map(|value| observed(value, Moments::of(&each)))),
                None => found.extend(each.into_iter().map(|value| observed(value, None))),
            }
        } else if let Some(value) = value(series) {
            let (key, observed) = observed(value, None);
            found.push((key, within(run, series, observed)));
        }
    }
    found
}

/// The value of a run with the spread of the samples behind it: its own, or the intervals that a total was summed over.
fn within(run: &Run, series: &Series, observed: Observed) -> Observed {
    match intervals(run, series) {
        Some(intervals) => {
            let values = intervals.values();
            // A last interval of no length would weigh as much as any other in their mean; the total is right.
            let around = |of: Moments| Moments { mean: observed.value, ..of };
            let opening = course::opening(&values);
            Observed { spread: Moments::of(&values).map(around), opening, ..observed }
        }
        None => Observed { spread: Moments::of(&series.values()), ..observed },
    }
}

/// Whether each sample of a series is a whole test: qperf pasted several times, totals printed again.
fn repeats(run: &Run, series: &Series) -> bool {
    series.samples.len() > 1
        && (series.headline == Some(Reduce::Total) || run.tool == "qperf")
        && series.samples.iter().all(|sample| sample.time().is_none())
}

/// The intervals that the total of a series was summed over.
fn intervals<'a>(run: &'a Run, series: &Series) -> Option<&'a Series> {
    let bare = |params: &Params| -> Params {
        let kept = params.iter().filter(|(name, _)| !["window", "side"].contains(&name.as_str()));
        kept.map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    let intervals = |other: &&Series| {
        other.metric == series.metric
            && !other.params.contains_key("window")
            && other.samples.len() > 1
            && bare(&other.params) == bare(&series.params)
    };
    let summed = series.samples.len() == 1 && series.params.contains_key("window");
    run.series.iter().find(intervals).filter(|_| summed)
}

/// The one value of a run; where only a summary was printed, that, and of a range its middle.
fn value(series: &Series) -> Option<f64> {
    let figure = |name: &str| series.reported.get(name).copied();
    let own = match series.headline {
        Some(_) => series.headline_value(),
        None => median_of(series.values()),
    };
    own.or_else(|| figure("median"))
        .or_else(|| figure("mean"))
        .or_else(|| Some((figure("min")? + figure("max")?) / 2.0))
        .filter(|value| value.is_finite())
}

/// What the tool printed of a series; the number of replies where it stands in another one.
fn printed(run: &Run, series: &Series) -> BTreeMap<String, f64> {
    let mut printed = series.reported.clone();
    let replies = || {
        let counts = run.series.iter().find(|other| other.metric.name == PACKETS_RECEIVED.name)?;
        counts.samples.last().map(|sample| sample.value)
    };
    if series.samples.is_empty()
        && !printed.contains_key("n")
        && let Some(n) = replies()
    {
        printed.insert("n".to_owned(), n);
    }
    printed
}

/// Pairs (arm, base) by the blocks of `all`; `None` where a side has no blocks.
pub fn pairs(base: &Values, arm: &Values, all: &BTreeSet<u32>) -> Option<Vec<Option<(f64, f64)>>> {
    let by_block = |values: &Values| -> Option<BTreeMap<u32, f64>> {
        let blocks: Option<Vec<(u32, f64)>> =
            values.0.iter().map(|one| Some((one.block?, one.value))).collect();
        let (blocks, count) = (blocks?, values.0.len());
        let blocks: BTreeMap<u32, f64> = blocks.into_iter().collect();
        // Two runs of a block and a side are no pair.
        (blocks.len() == count && count > 0).then_some(blocks)
    };
    let (base, arm) = (by_block(base)?, by_block(arm)?);
    Some(all.iter().map(|block| Some((*arm.get(block)?, *base.get(block)?))).collect())
}

/// Where one side has bytes and the other bits in a second of the same thing, the arm's are converted.
pub fn convert(base: &BTreeMap<Key, Values>, arm: &mut BTreeMap<Key, Values>, caveats: &mut Vec<Caveat>) {
    let missing: Vec<Key> = base.keys().filter(|key| !arm.contains_key(key)).cloned().collect();
    for wanted in missing {
        let (other, factor) = match wanted.metric.unit {
            Unit::BitPerSecond => (&BANDWIDTH, 8.0),
            Unit::BytePerSecond => (&THROUGHPUT, 0.125),
            _ => continue,
        };
        // Of other names in the same units nobody knows whether they are the same thing.
        if ![THROUGHPUT.name.as_ref(), BANDWIDTH.name.as_ref()].contains(&wanted.metric.name.as_ref()) {
            continue;
        }
        let Some(values) = arm.remove(&Key::new(other.clone(), wanted.params.clone())) else { continue };
        let converted = values.0.into_iter().map(|mut one| {
            one.value *= factor;
            one.spread = one.spread.map(|of| Moments { mean: of.mean * factor, sd: of.sd * factor, ..of });
            one.opening = one.opening.map(|opening| opening.times(factor));
            one.printed.iter_mut().filter(|(name, _)| *name != "n").for_each(|(_, value)| *value *= factor);
            one
        });
        let text = format!(
            "{} in {} was converted to {} in {} (8 bit are 1 byte)",
            other.name,
            other.unit.name(),
            wanted.metric.name,
            wanted.metric.unit.name()
        );
        let caveat = Caveat::new(CaveatKind::Note, text);
        if !caveats.contains(&caveat) {
            caveats.push(caveat);
        }
        let converted = Values(converted.collect());
        arm.insert(wanted, converted);
    }
}

/// What only one side has, metric by metric; what both have under other parameters is told as well.
pub fn only_one_has(
    base: &Side,
    arm: &Side,
    of_base: &BTreeMap<Key, Values>,
    of_arm: &BTreeMap<Key, Values>,
    nothing: bool,
) -> Vec<String> {
    let mut said = Vec::new();
    let metrics = |of: &BTreeMap<Key, Values>| -> Vec<String> {
        let mut names: Vec<String> = of
            .keys()
            .map(|key| format!("{} in {}", key.metric.name.replace('_', " "), key.metric.unit.name()))
            .collect();
        names.dedup();
        names
    };
    let (base_has, arm_has) = (metrics(of_base), metrics(of_arm));
    let list = |names: &[String]| if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    if nothing {
        let common = base_has.iter().any(|name| arm_has.contains(name));
        let why = match common {
            true => "under no parameters that both share",
            false => "and different metrics or units are not compared",
        };
        said.push(format!(
            "nothing to compare: {} has {}, {} has {}, {why}",
            base.name,
            list(&base_has),
            arm.name,
            list(&arm_has)
        ));
    }
    for (side, of, other) in [(base, of_base, of_arm), (arm, of_arm, of_base)] {
        // Points of curves are told by the curve.
        let alone = of.keys().filter(|key| !other.contains_key(key));
        let curve = |key: &&Key| {
            other
                .keys()
                .any(|one| one.metric == key.metric && super::curves::same_curve(&one.params, &key.params))
        };
        let alone: Vec<String> = alone
            .filter(|key| !curve(key))
            .map(|key| format!("{}{}", key.metric.name.replace('_', " "), told(&key.params)))
            .collect();
        if !alone.is_empty() {
            let shown = alone.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
            let more = alone.len().saturating_sub(5);
            let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
            said.push(format!("only {} has: {shown}{rest}", side.name));
        }
    }
    said
}
