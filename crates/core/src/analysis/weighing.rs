//! Every pair of arms under every parameter; what belongs to one curve is decided together.

use super::curves::Along;
use super::subjects::Subject;
use super::{Against, Comparison, ENOUGH_ALTERNATIONS, Far, Options, curves};
use crate::caveat::{Caveat, CaveatKind};
use crate::experiment::Experiment;
use crate::metric::{Better, Scale};
use crate::plan::Order;
use crate::stats::paired::PairError;
use crate::stats::summary::Summary;
use crate::verdict::{self, Decision, Question, Verdict, words};

/// Subjects that are decided together: a curve, or one subject alone.
pub(super) struct Topic {
    /// Indices of the subjects, along the curve.
    pub members: Vec<usize>,
    /// The parameter that runs along the curve; `None` of a subject alone.
    pub along: Option<String>,
}

/// All subjects in topics, in the order of their first members.
pub(super) fn families(subjects: &[Subject]) -> Vec<Topic> {
    let keys: Vec<_> = subjects.iter().map(|s| ((s.measure, s.metric.name.as_ref()), &s.params)).collect();
    let mut topics: Vec<Topic> = curves::along(&keys)
        .into_iter()
        .map(|Along { name, members }| Topic { members, along: Some(name) })
        .collect();
    let alone = (0..subjects.len()).filter(|index| !topics.iter().any(|t| t.members.contains(index)));
    let alone: Vec<Topic> = alone.map(|index| Topic { members: vec![index], along: None }).collect();
    topics.extend(alone);
    topics.sort_by_key(|topic| topic.members.iter().min().copied());
    topics
}

/// The pairs (arm, base) that are compared.
pub(crate) fn pairs_of_arms(arms: usize, against: &Against) -> Vec<(usize, usize)> {
    match against {
        Against::Base => (1..arms).map(|arm| (arm, 0)).collect(),
        Against::Baselines(bases) => {
            let others = (0..arms).filter(|arm| !bases.contains(arm));
            let known = || bases.iter().copied().filter(|base| *base < arms);
            others.flat_map(|arm| known().map(move |base| (arm, base))).collect()
        }
        Against::AllPairs => (1..arms).flat_map(|arm| (0..arm).map(move |base| (arm, base))).collect(),
    }
}

/// A comparison that is still to be decided.
struct Open {
    subject: usize,
    arm: usize,
    base: usize,
    question: Question,
}

/// All comparisons, subject by subject.
pub(super) fn comparisons(
    experiment: &Experiment,
    options: &Options,
    subjects: &[Subject],
    topics: &[Topic],
    caveats: &mut Vec<Caveat>,
) -> Vec<Comparison> {
    let pairs = pairs_of_arms(experiment.plan.arms.len(), &options.against);
    let mut found: Vec<(usize, usize, Comparison)> = Vec::new();
    for topic in topics.iter().filter(|topic| subjects[topic.members[0]].metric.better != Better::Neither) {
        let open: Vec<Open> = topic
            .members
            .iter()
            .flat_map(|subject| {
                pairs.iter().map(|(arm, base)| open(experiment, subjects, *subject, *arm, *base))
            })
            .collect();
        for (place, (open, decided)) in open.iter().zip(decide(experiment, options, &open)).enumerate() {
            let comparison = compare(experiment, &subjects[open.subject], topic, open, decided, caveats);
            found.extend(comparison.map(|comparison| (open.subject, place, comparison)));
        }
    }
    found.sort_by_key(|(subject, place, _)| (*subject, *place));
    found.into_iter().map(|(_, _, comparison)| comparison).collect()
}

fn open(experiment: &Experiment, subjects: &[Subject], index: usize, arm: usize, base: usize) -> Open {
    let subject = &subjects[index];
    // Only blocks in which both were measured count: the pairing is what cancels drift.
    let pair = |block: u32| Some((subject.value(arm, block)?, subject.value(base, block)?));
    let blocks: Vec<Option<(f64, f64)>> = (0..blocks(experiment)).map(pair).collect();
    let scale = subject.metric.scale_for(blocks.iter().flatten().flat_map(|(a, b)| [*a, *b]));
    let question = Question {
        blocks,
        margin: experiment.plan.margin,
        higher_is_better: subject.metric.better == Better::Higher,
        scale,
    };
    Open { subject: index, arm, base, question }
}

/// The blocks of the schedule.
pub(super) fn blocks(experiment: &Experiment) -> u32 {
    experiment.schedule.iter().map(|slot| slot.block + 1).max().unwrap_or(0)
}

fn decide(experiment: &Experiment, options: &Options, open: &[Open]) -> Vec<Result<Decision, PairError>> {
    // In a balanced order too few blocks are just that: more of them would do.
    let few = |open: &Open| {
        experiment.plan.order == Order::FewChanges
            && alternations(experiment, open.arm, open.base) < ENOUGH_ALTERNATIONS
    };
    let judged: Vec<Question> =
        open.iter().filter(|open| !few(open)).map(|open| open.question.clone()).collect();
    let mut judged = verdict::decide_together(&judged, options.correction, experiment.seed).into_iter();
    let decided = open.iter().map(|open| match few(open) {
        true => open.question.describe(),
        false => judged.next().unwrap_or(Err(PairError::None)),
    });
    decided.collect()
}

fn compare(
    experiment: &Experiment,
    subject: &Subject,
    topic: &Topic,
    open: &Open,
    decided: Result<Decision, PairError>,
    caveats: &mut Vec<Caveat>,
) -> Option<Comparison> {
    let [arm, base] = [open.arm, open.base].map(|index| experiment.plan.arms[index].name.clone());
    let at = at(subject, topic);
    let names = format!("{}{at} of {arm} against {base}", subject.metric.name);
    let result = match decided {
        Ok(result) => result,
        Err(e) => {
            let text = format!("no comparison for {names}: {e}");
            caveats.push(Caveat::new(CaveatKind::MissingRuns, text));
            return None;
        }
    };
    let far = far(&open.question);
    if let Some(far) = &far
        && far.without != far.verdict
        && result.verdict != Verdict::DescriptionOnly
        && far.without != Verdict::NeedMoreBlocks
    {
        let text = format!(
            "{names}: without far runs (3 interquartile ranges) the verdict would be \"{}\"",
            far.without.name().replace('_', " ")
        );
        caveats.push(Caveat::new(CaveatKind::FarRuns, text));
    }
    let log_ratio = |(arm, base): (f64, f64)| (arm / base).ln();
    let log_ratios = match result.difference {
        None => open.question.pairs().into_iter().map(log_ratio).collect(),
        Some(_) => Vec::new(),
    };
    Some(Comparison {
        metric: subject.metric.name.clone().into_owned(),
        params: subject.params.clone(),
        text: verdict::sentence(&result, &subject.metric, &at, &base, &arm),
        base,
        arm,
        better: subject.metric.better,
        unit: subject.metric.unit,
        log_ratios,
        result,
        far,
    })
}

/// What tells a subject from the others of its curve, as text: ` at 4 KiB`.
fn at(subject: &Subject, topic: &Topic) -> String {
    let value = topic.along.as_ref().and_then(|name| Some((name, subject.params.get(name)?)));
    value.map_or_else(String::new, |(name, value)| words::at(name, value))
}

/// The blocks that lie far from the others, and what would follow without them.
fn far(question: &Question) -> Option<Far> {
    let on_scale = |(arm, base): (f64, f64)| match question.scale {
        Scale::Ratio => (arm / base).ln(),
        Scale::Difference => arm - base,
    };
    let values: Vec<f64> = question.pairs().into_iter().map(on_scale).collect();
    let (low, high) = Summary::of(&values)?.fences(3.0);
    let is_far =
        |block: &Option<(f64, f64)>| block.is_some_and(|pair| !(low..=high).contains(&on_scale(pair)));
    let blocks: Vec<u32> =
        (0u32..).zip(&question.blocks).filter(|(_, b)| is_far(b)).map(|(n, _)| n).collect();
    let near = question.blocks.iter().map(|block| block.filter(|_| !is_far(block))).collect();
    let rest = Question { blocks: near, ..question.clone() };
    let (with, without) = (question.decide().ok()?, rest.decide().ok()?);
    (!blocks.is_empty()).then_some(Far { blocks, verdict: with.verdict, without: without.verdict })
}

/// How often the session changed between two arms, looking at their slots that were measured alone.
fn alternations(experiment: &Experiment, a: usize, b: usize) -> usize {
    let done = experiment.schedule.iter().filter(|slot| experiment.done(**slot).is_some());
    let arms: Vec<usize> = done.map(|slot| slot.arm as usize).filter(|arm| *arm == a || *arm == b).collect();
    // A balanced order of n blocks changes arms at least n times; a few-changes order may change less often.
    arms.windows(2).filter(|pair| pair[0] != pair[1]).count()
}
