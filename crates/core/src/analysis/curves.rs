//! Series that differ in one number only, such as the size of messages: which they are, what a whole curve says, and
//! where it goes the wrong way.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Options;
use super::subjects::Subject;
use super::weighing::{Topic, blocks, pairs_of_arms};
use crate::experiment::Experiment;
use crate::metric::{Better, Metric, Scale};
use crate::sample::{Param, Params};
use crate::stats;
use crate::unit::Unit;
use crate::verdict::{self, Decision};

/// Parameters along which curves run, where several vary the first of them.
const ALONG: [&str; 7] =
    ["size_bytes", "record_bytes", "block_bytes", "threads", "ranks", "queue_depth", "file_bytes"];
/// Numbers that only tell one series from another.
const NEVER: [&str; 3] = ["stream", "occurrence", "port"];
/// A time that falls below this share of the one before, though more is moved, is no curve but noise.
const INVERTED: f64 = 0.95;

/// A whole curve of one arm against another: the mean over its points of the log ratios of a block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// What is compared.
    pub metric: String,
    /// The parameters that all points share.
    pub params: Params,
    /// The parameter along the curve.
    pub along: String,
    /// Its values.
    pub values: Vec<f64>,
    /// The arm compared with.
    pub base: String,
    /// The arm compared.
    pub arm: String,
    /// The geometric mean of the points' ratios with its verdict.
    pub whole: Decision,
    /// The verdict as a sentence.
    pub text: String,
}

/// A place where a larger size took less time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inversion {
    /// Whose curve.
    pub arm: String,
    /// What was measured.
    pub metric: String,
    /// The parameters that all points share.
    pub params: Params,
    /// The parameter along the curve.
    pub along: String,
    /// The value before.
    pub from: f64,
    /// The value after.
    pub to: f64,
    /// The time after over the time before.
    pub ratio: f64,
    /// A sentence.
    pub text: String,
}

/// Members of a curve by their index.
pub struct Along {
    /// The parameter along it.
    pub name: String,
    /// Indices, by rising value.
    pub members: Vec<usize>,
}

/// The curves among series. Keys say which may belong together at all; parameters tell them apart.
pub fn along<K: Ord + Copy>(series: &[(K, &Params)]) -> Vec<Along> {
    let mut names: Vec<&str> = ALONG.to_vec();
    let others = series.iter().flat_map(|(_, params)| params.iter());
    for (name, _) in others.filter(|(_, value)| number(value).is_some()) {
        if !names.contains(&name.as_str()) && !NEVER.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let mut taken = vec![false; series.len()];
    let mut found = Vec::new();
    for name in names {
        let mut groups: BTreeMap<(K, String), Vec<(f64, usize)>> = BTreeMap::new();
        for (index, (key, params)) in series.iter().enumerate().filter(|(index, _)| !taken[*index]) {
            let Some(value) = params.get(name).and_then(number) else { continue };
            let rest: Vec<String> =
                params.iter().filter(|(other, _)| *other != name).map(|(k, v)| format!("{k}={v}")).collect();
            groups.entry((*key, rest.join("\n"))).or_default().push((value, index));
        }
        for (_, mut members) in groups.into_iter().filter(|(_, members)| members.len() > 1) {
            members.sort_by(|a, b| a.0.total_cmp(&b.0));
            members.iter().for_each(|(_, index)| taken[*index] = true);
            let members = members.into_iter().map(|(_, index)| index).collect();
            found.push(Along { name: name.to_owned(), members });
        }
    }
    found
}

/// A parameter that is a finite number.
pub fn number(value: &Param) -> Option<f64> {
    match value {
        Param::Int(n) => Some(*n as f64),
        Param::Num(x) => Some(*x).filter(|x| x.is_finite()),
        Param::Text(_) => None,
    }
}

/// Whole curves, for every pair of arms, over the points that both have. Blocks that lack one of them are left out.
pub(super) fn curves(
    experiment: &Experiment,
    options: &Options,
    topic: &Topic,
    members: &[&Subject],
) -> Vec<Curve> {
    let (Some(along), Some(first)) = (&topic.along, members.first()) else { return Vec::new() };
    if first.metric.better == Better::Neither {
        return Vec::new();
    }
    let arms = &experiment.plan.arms;
    let pairs = pairs_of_arms(arms.len(), &options.against).into_iter();
    let curve = |(arm, base): (usize, usize)| {
        // A point that one of the two never had is no part of their curve.
        let members = common(members, &[arm, base], blocks(experiment));
        if members.len() < 2 {
            return None;
        }
        let all = (0..blocks(experiment)).filter_map(|block| whole_block(&members, arm, base, block));
        let logs: Vec<f64> = all.collect();
        let higher = first.metric.better == Better::Higher;
        let whole = verdict::decide_logs(&logs, experiment.plan.margin, higher).ok()?;
        let (arm, base) = (arms[arm].name.clone(), arms[base].name.clone());
        Some(Curve {
            metric: first.metric.name.clone().into_owned(),
            params: shared(&first.params, along),
            along: along.clone(),
            values: members.iter().filter_map(|one| one.params.get(along).and_then(number)).collect(),
            text: verdict::sentence(&whole, &first.metric, &over(members.len(), along), &base, &arm),
            base,
            arm,
            whole,
        })
    };
    pairs.filter_map(curve).collect()
}

/// The points that all of these arms have, in some block each.
pub(super) fn common<'a>(members: &[&'a Subject], arms: &[usize], blocks: u32) -> Vec<&'a Subject> {
    let has = |one: &Subject, arm: usize| (0..blocks).any(|block| one.value(arm, block).is_some());
    members.iter().filter(|one| arms.iter().all(|arm| has(one, *arm))).copied().collect()
}

/// ` over 24 sizes`.
pub fn over(points: usize, along: &str) -> String {
    match along {
        "size_bytes" => format!(" over {points} sizes"),
        _ => format!(" over {points} values of {}", along.replace('_', " ")),
    }
}

/// The mean over all points of a block's log ratio; `None` where the block lacks one, or where no ratio can be made.
fn whole_block(members: &[&Subject], arm: usize, base: usize, block: u32) -> Option<f64> {
    let log = |subject: &&Subject| {
        let (arm, base) = (subject.value(arm, block)?, subject.value(base, block)?);
        let fit = subject.metric.scale_for([arm, base]) == Scale::Ratio;
        Some((arm / base).ln()).filter(|log| fit && log.is_finite())
    };
    let logs: Vec<f64> = members.iter().map(log).collect::<Option<_>>()?;
    stats::summary::mean(&logs)
}

/// The parameters without the one along the curve.
pub fn shared(params: &Params, along: &str) -> Params {
    params.iter().filter(|(name, _)| *name != along).map(|(k, v)| (k.clone(), v.clone())).collect()
}

/// Where a measured curve of times goes the wrong way, by its medians.
pub(super) fn inversions(experiment: &Experiment, topic: &Topic, members: &[&Subject]) -> Vec<Inversion> {
    let (Some(along), Some(first)) = (&topic.along, members.first()) else { return Vec::new() };
    let mut found = Vec::new();
    for (index, arm) in experiment.plan.arms.iter().enumerate() {
        let points: Vec<(f64, f64)> = members
            .iter()
            .filter_map(|one| {
                let values: Vec<f64> = one.of_arm(index).iter().map(|value| value.value).collect();
                Some((number(one.params.get(along)?)?, stats::median(&values)?))
            })
            .collect();
        let inverted = inverted(&first.metric, along, &points);
        found.extend(inverted.into_iter().map(|(from, to, ratio)| Inversion {
            arm: arm.name.clone(),
            metric: first.metric.name.clone().into_owned(),
            params: shared(&first.params, along),
            along: along.clone(),
            from,
            to,
            ratio,
            text: inversion(&first.metric, along, from, to, ratio, &arm.name),
        }));
    }
    found
}

/// (from, to, ratio) wherever a larger size took clearly less time; points are (size, value) by size. Empty of other
/// metrics and parameters, whose curves may well fall.
pub fn inverted(metric: &Metric, along: &str, points: &[(f64, f64)]) -> Vec<(f64, f64, f64)> {
    if metric.unit != Unit::Second || !along.ends_with("_bytes") {
        return Vec::new();
    }
    let falls = points.windows(2).filter(|pair| pair[1].1 < INVERTED * pair[0].1);
    falls.map(|pair| (pair[0].0, pair[1].0, pair[1].1 / pair[0].1)).collect()
}

/// An inversion as a sentence.
pub fn inversion(metric: &Metric, along: &str, from: f64, to: f64, ratio: f64, whose: &str) -> String {
    let size = |bytes: f64| {
        let text = verdict::words::at(along, &Param::Num(bytes));
        text.rsplit_once(" of ")
            .or_else(|| text.rsplit_once(" at "))
            .map_or(text.clone(), |(_, size)| size.to_owned())
    };
    format!(
        "{} of {whose}: {} took {:.0} % less than {}: what is smaller than that can't be told from noise",
        metric.name.replace('_', " "),
        size(to),
        (1.0 - ratio) * 100.0,
        size(from),
    )
}
