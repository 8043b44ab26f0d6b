//! What happened over the session rather than within runs: drift, effects of the order, unequal steadiness. Blocks
//! cancel most of it; a reader should know all the same.

use super::groups::whole;
use super::subjects::Subject;
use super::weighing::{Topic, blocks};
use crate::caveat::{Caveat, CaveatKind};
use crate::experiment::Experiment;
use crate::metric::{Better, Scale};
use crate::stats;
use crate::stats::ranks::kruskal_wallis;
use crate::stats::summary::Summary;
use crate::stats::trend::trend;
use crate::stats::welch::brown_forsythe;
use crate::verdict::words;

/// Chance below which an effect is pointed out.
const UNLIKELY: f64 = 0.01;
/// Fewer values in a group bear no test of it.
const ENOUGH: usize = 4;

/// A value with where it stood.
struct Placed {
    arm: usize,
    position: u32,
    /// The arm whose run came before, within the block or at the end of the one before.
    after: Option<usize>,
    /// ln of the value over the arm's median.
    off: f64,
}

/// What stood out over the session, by one topic.
pub(super) fn session(experiment: &Experiment, topic: &Topic, members: &[&Subject]) -> Vec<Caveat> {
    let Some(first) = members.first() else { return Vec::new() };
    if first.metric.better == Better::Neither || first.metric.scale() == Scale::Difference {
        return Vec::new();
    }
    let arms = experiment.plan.arms.len();
    let table: Vec<Vec<Option<f64>>> = (0..blocks(experiment))
        .map(|block| (0..arms).map(|arm| whole(members, arm, block).filter(|x| *x > 0.0)).collect())
        .collect();
    let name = match &topic.along {
        Some(along) => format!("{}{}", first.metric.name, super::curves::over(members.len(), along)),
        None => first.metric.name.clone().into_owned(),
    }
    .replace('_', " ");
    let placed = placed(experiment, first.measure, &table);
    let mut caveats = Vec::new();
    caveats.extend(drift(experiment, &name, &table));
    caveats.extend(order_effect(&name, &placed));
    if arms > 2 {
        caveats.extend(carry_over(&name, &placed));
    }
    caveats.extend(steadier(experiment, &name, &placed));
    caveats
}

fn drift(experiment: &Experiment, name: &str, table: &[Vec<Option<f64>>]) -> Option<Caveat> {
    let of_block = |block: &Vec<Option<f64>>| {
        let values: Option<Vec<f64>> = block.iter().copied().collect();
        stats::summary::geometric_mean(&values?)
    };
    let found = trend(&table.iter().filter_map(of_block).collect::<Vec<f64>>())?;
    let change = found.change?;
    let text = format!(
        "{name} drifted by {:+.1} % over the session (Kendall, p = {:.1e}): blocks cancel that, single runs would not",
        change * 100.0,
        found.p
    );
    found.is_drift(experiment.plan.margin).then(|| Caveat::new(CaveatKind::Drift, text))
}

fn placed(experiment: &Experiment, measure: u32, table: &[Vec<Option<f64>>]) -> Vec<Placed> {
    let arms = experiment.plan.arms.len();
    let medians: Vec<Option<f64>> = (0..arms)
        .map(|arm| stats::median(&table.iter().filter_map(|block| block[arm]).collect::<Vec<f64>>()))
        .collect();
    let mut after = None;
    let mut placed = Vec::new();
    for slot in experiment.schedule.iter().filter(|slot| slot.measure == measure) {
        let arm = slot.arm as usize;
        if let Some((value, median)) = table[slot.block as usize][arm].zip(medians[arm]) {
            let off = (value / median).ln();
            placed.push(Placed { arm, position: slot.position, after, off });
        }
        after = Some(arm);
    }
    placed.retain(|one| one.off.is_finite());
    placed
}

fn grouped<K: Ord>(placed: &[Placed], key: impl Fn(&Placed) -> Option<K>) -> Vec<Vec<f64>> {
    let mut groups: std::collections::BTreeMap<K, Vec<f64>> = std::collections::BTreeMap::new();
    for one in placed {
        if let Some(key) = key(one) {
            groups.entry(key).or_default().push(one.off);
        }
    }
    groups.into_values().filter(|group| group.len() >= ENOUGH).collect()
}

fn order_effect(name: &str, placed: &[Placed]) -> Option<Caveat> {
    let p = kruskal_wallis(&grouped(placed, |one| Some(one.position)))?.p;
    let text = format!(
        "{name} depends on the place within a block (Kruskal-Wallis, p = {p:.1e}): what runs first does not run as what \
         runs last; the balanced order keeps that out of the ratios"
    );
    (p < UNLIKELY).then(|| Caveat::new(CaveatKind::Drift, text))
}

fn carry_over(name: &str, placed: &[Placed]) -> Option<Caveat> {
    let p = kruskal_wallis(&grouped(placed, |one| one.after.filter(|after| *after != one.arm)))?.p;
    let text = format!(
        "{name} depends on which arm ran before (Kruskal-Wallis, p = {p:.1e}): an arm leaves something behind, and a \
         rest between runs is due"
    );
    (p < UNLIKELY).then(|| Caveat::new(CaveatKind::Drift, text))
}

fn steadier(experiment: &Experiment, name: &str, placed: &[Placed]) -> Option<Caveat> {
    let groups = grouped(placed, |one| Some(one.arm));
    let [first, second] = groups.as_slice() else { return None };
    let p = brown_forsythe(&[first, second])?;
    let (a, b) = (Summary::of(first)?.sd, Summary::of(second)?.sd);
    let arms: Vec<&str> = experiment.plan.arms.iter().map(|arm| arm.name.as_str()).collect();
    let [one, other] = arms[..] else { return None };
    let (steady, unsteady) = if a < b { (one, other) } else { (other, one) };
    let share = |sd: f64| words::percent_plain((sd * 1000.0).round() / 10.0);
    let text = format!(
        "{name}: {steady} is steadier than {unsteady} from run to run ({} against {} %, Brown-Forsythe, p = {p:.1e})",
        share(a.min(b)),
        share(a.max(b))
    );
    (p < UNLIKELY).then(|| Caveat::new(CaveatKind::Note, text))
}
