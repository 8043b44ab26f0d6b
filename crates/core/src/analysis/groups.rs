//! More than two arms: which of them can't be told apart. Those that share a letter can't.

use serde::{Deserialize, Serialize};

use super::curves::{common, over, shared};
use super::subjects::Subject;
use super::weighing::{Topic, blocks, pairs_of_arms};
use super::{Against, Options};
use crate::experiment::Experiment;
use crate::metric::{Better, Scale};
use crate::sample::Params;
use crate::stats;
use crate::stats::ranks::{Overview, friedman};
use crate::verdict::{Decision, LEVEL, Question, decide_together};

/// More arms have no letters.
const MOST_ARMS: usize = 26;

/// All arms by one metric, or by the mean over a curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// What is compared.
    pub metric: String,
    /// Under which parameters.
    pub params: Params,
    /// Arms, the best first, each with its letters.
    pub letters: Vec<(String, String)>,
    /// The same arms alone, over the blocks.
    #[serde(default)]
    pub alone: Vec<Alone>,
    /// Every two arms against each other, decided together.
    #[serde(default)]
    pub pairs: Vec<Pair>,
    /// Whether any arm differs from any other; absent where blocks are incomplete.
    pub friedman: Option<Overview>,
    /// A sentence.
    pub text: String,
}

/// An arm alone: its value by a metric, or its geometric mean over a curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Alone {
    /// The arm's name.
    pub arm: String,
    /// Blocks that have it.
    pub n: usize,
    /// The median over blocks, in the metric's unit.
    pub median: f64,
    /// Its 95 % interval by exact ranks; absent below six blocks.
    pub interval: Option<(f64, f64)>,
}

/// Two arms against each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// The arm compared with.
    pub base: String,
    /// The arm compared.
    pub arm: String,
    /// The result, at a level at which all pairs together are rarely wrong.
    #[serde(flatten)]
    pub result: Decision,
}

/// The letters of a topic; `None` of fewer than three arms or where nothing can be told.
pub(super) fn group(experiment: &Experiment, topic: &Topic, members: &[&Subject]) -> Option<Group> {
    let (arms, first) = (&experiment.plan.arms, members.first()?);
    if !(3..=MOST_ARMS).contains(&arms.len()) || first.metric.better == Better::Neither {
        return None;
    }
    let every: Vec<usize> = (0..arms.len()).collect();
    let members: &[&Subject] = match members {
        [_] => members,
        _ => &common(members, &every, blocks(experiment)),
    };
    let value = |arm: usize, block: u32| whole(members, arm, block);
    let table: Vec<Vec<Option<f64>>> =
        (0..blocks(experiment)).map(|block| (0..arms.len()).map(|arm| value(arm, block)).collect()).collect();
    let pairs = pairs_of_arms(arms.len(), &Against::AllPairs);
    let question = |(arm, base): &(usize, usize)| {
        let blocks: Vec<_> = table.iter().map(|block| Some((block[*arm]?, block[*base]?))).collect();
        let scale = first.metric.scale_for(blocks.iter().flatten().flat_map(|(a, b)| [*a, *b]));
        let higher_is_better = first.metric.better == Better::Higher;
        Question { blocks, margin: experiment.plan.margin, higher_is_better, scale }
    };
    let questions: Vec<Question> = pairs.iter().map(question).collect();
    let decided = decide_together(&questions, Options::default().correction, experiment.seed);
    let decided: Vec<((usize, usize), Decision)> =
        pairs.into_iter().zip(decided).filter_map(|(pair, decision)| Some((pair, decision.ok()?))).collect();
    let differ = |(_, decision): &&((usize, usize), Decision)| decision.verdict.is_different();
    let apart: Vec<(usize, usize)> = decided.iter().filter(differ).map(|(pair, _)| *pair).collect();
    let alone = |arm: usize| {
        let values: Vec<f64> = table.iter().filter_map(|block| block[arm]).collect();
        let interval = stats::median_interval(&values, LEVEL);
        let (arm, n, median) = (arms[arm].name.clone(), values.len(), stats::median(&values)?);
        Some(Alone { arm, n, median, interval })
    };
    let mut order: Vec<(usize, Alone)> = (0..arms.len()).filter_map(|arm| Some((arm, alone(arm)?))).collect();
    order.sort_by(|a, b| a.1.median.total_cmp(&b.1.median));
    if first.metric.better == Better::Higher {
        order.reverse();
    }
    let (order, alone): (Vec<usize>, Vec<Alone>) = order.into_iter().unzip();
    let pair = |((arm, base), result): ((usize, usize), Decision)| {
        let [arm, base] = [arm, base].map(|index| arms[index].name.clone());
        Pair { base, arm, result }
    };
    let letters: Vec<(String, String)> =
        order.iter().zip(letters(&order, &apart)).map(|(arm, l)| (arms[*arm].name.clone(), l)).collect();
    let complete: Option<Vec<Vec<f64>>> =
        table.iter().map(|block| block.iter().copied().collect::<Option<Vec<f64>>>()).collect();
    let friedman = complete.and_then(|table| friedman(&table));
    let told: Vec<String> = letters.iter().map(|(arm, l)| format!("{arm} {l}")).collect();
    let (params, over) = match &topic.along {
        Some(along) => (shared(&first.params, along), over(members.len(), along)),
        None => (first.params.clone(), String::new()),
    };
    let text = format!(
        "{}{over}, best first: {}; arms that share a letter can't be told apart",
        first.metric.name.replace('_', " "),
        told.join(", ")
    );
    (!letters.is_empty()).then(|| Group {
        metric: first.metric.name.clone().into_owned(),
        params,
        letters,
        alone,
        pairs: decided.into_iter().map(pair).collect(),
        friedman,
        text,
    })
}

/// The value of an arm in a block; over a curve the geometric mean, `None` where a point is missing or not positive.
pub(super) fn whole(members: &[&Subject], arm: usize, block: u32) -> Option<f64> {
    if let [one] = members {
        return one.value(arm, block).filter(|value| value.is_finite());
    }
    let fit = members.iter().all(|one| one.metric.scale() == Scale::Ratio);
    let values: Vec<f64> = members.iter().map(|one| one.value(arm, block)).collect::<Option<_>>()?;
    stats::summary::geometric_mean(&values).filter(|_| fit)
}

/// The letters of arms in their order: those told apart share none, all others share one.
fn letters(order: &[usize], apart: &[(usize, usize)]) -> Vec<String> {
    let place = |arm: usize| order.iter().position(|other| *other == arm);
    // Start with all in one set; whenever two in a set are apart, split it in two, and drop what others contain.
    let mut sets: Vec<u32> = vec![(1u32 << order.len()) - 1];
    for (a, b) in apart {
        let (Some(a), Some(b)) = (place(*a), place(*b)) else { continue };
        let both = 1 << a | 1 << b;
        let split = sets.iter().flat_map(|set| match set & both == both {
            true => vec![set & !(1 << a), set & !(1 << b)],
            false => vec![*set],
        });
        let split: Vec<u32> = split.collect();
        sets = Vec::new();
        for (index, set) in split.iter().enumerate() {
            let within = |(other, larger): (usize, &u32)| {
                other != index && set & larger == *set && (set != larger || other < index)
            };
            if !split.iter().enumerate().any(within) {
                sets.push(*set);
            }
        }
    }
    // The set of the best arm is a.
    sets.sort_by_key(|set| (set.trailing_zeros(), 32 - set.leading_zeros()));
    let of = |place: usize| {
        let named = (b'a'..=b'z').zip(&sets).filter(|(_, set)| **set >> place & 1 == 1);
        named.map(|(letter, _)| char::from(letter)).collect()
    };
    (0..order.len()).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(apart: &[(usize, usize)], right: &[&str]) {
        let order: Vec<usize> = (0..right.len()).collect();
        assert_eq!(letters(&order, apart), right);
    }

    #[test]
    fn arms_that_are_told_apart_share_no_letter() {
        check(&[], &["a", "a", "a"]);
        check(&[(0, 2)], &["a", "ab", "b"]);
        check(&[(0, 1), (0, 2), (1, 2)], &["a", "b", "c"]);
        check(&[(0, 2), (0, 3), (1, 3)], &["a", "ab", "bc", "c"]);
        check(&[(0, 1), (2, 1), (3, 1)], &["a", "b", "a", "a"]);
    }
}
