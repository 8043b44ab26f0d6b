//! The twelve rules for scientific benchmarking of Hoefler and Belli (doi:10.1145/2807591.2807644), in our words, with
//! what became of each in this report. Every status is worked out from the data; none is taken for granted.

use tenbin_core::analysis::{Analysis, Comparison};
use tenbin_core::caveat::CaveatKind;
use tenbin_core::compare::{Answer, Design};
use tenbin_core::experiment::{Experiment, State};
use tenbin_core::metric::Better;
use tenbin_core::sample::Reduce;
use tenbin_core::unit::Unit;
use tenbin_core::verdict::Verdict;

use crate::figure::MOST_DISTRIBUTIONS;
use crate::topics::{self, Part};
use crate::{method, words};

/// What became of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Kept.
    Met,
    /// Broken.
    NotMet,
    /// Nothing to keep, or nothing a program could judge.
    NotApplicable,
}

impl Status {
    /// `met`, `not met`, `n.a.`.
    pub fn word(self) -> &'static str {
        match self {
            Status::Met => "met",
            Status::NotMet => "not met",
            Status::NotApplicable => "n.a.",
        }
    }
}

/// One of the rules.
pub struct Rule {
    /// The rule.
    pub rule: &'static str,
    /// What became of it.
    pub status: Status,
    /// Why.
    pub why: String,
}

/// What a status rests on.
pub struct Evidence<'a> {
    analysis: &'a Analysis,
    parts: Vec<Part<'a>>,
    /// How values of runs came about.
    reductions: Vec<(String, Reduce)>,
    /// Runs hold samples rather than one figure each, of all of them.
    sampled: bool,
    /// What was done about the order of runs: in blocks, or not.
    interleaved: bool,
    /// Whether set-up and factors are written down, and why.
    documented: (bool, String),
    /// Whether single runs are drawn.
    every_run: bool,
    /// Whether runs took part that a tool had summarised.
    summarised: bool,
}

impl<'a> Evidence<'a> {
    /// Of an experiment.
    pub fn of_experiment(experiment: &Experiment, analysis: &'a Analysis) -> Evidence<'a> {
        let done = || experiment.records.iter().filter(|record| record.state == State::Done);
        let headlines = done().filter_map(|record| record.run.as_ref()).flat_map(|run| &run.series);
        let mut headlines = headlines.filter(|series| series.headline.is_some());
        Evidence {
            analysis,
            parts: topics::parts(analysis),
            reductions: method::reductions(experiment),
            sampled: headlines.any(|series| series.samples.len() > 1),
            interleaved: true,
            documented: documented(experiment, analysis),
            every_run: done().next().is_some(),
            summarised: summarised(analysis),
        }
    }

    /// Of runs that existed already.
    pub fn of_answers(answers: &[Answer], analysis: &'a Analysis) -> Evidence<'a> {
        let designs = answers.iter().flat_map(|answer| &answer.rows).map(|row| row.design);
        Evidence {
            analysis,
            parts: topics::parts(analysis),
            reductions: Vec::new(),
            sampled: false,
            interleaved: designs.clone().count() > 0
                && designs.clone().all(|design| design == Design::Paired),
            documented: (
                false,
                "the runs came from logs or a store: what they were made on is known as far as those say"
                    .to_owned(),
            ),
            every_run: false,
            summarised: summarised(analysis),
        }
    }
}

fn summarised(analysis: &Analysis) -> bool {
    let means = [CaveatKind::SummaryOnly, CaveatKind::BestOf];
    analysis.caveats.iter().any(|caveat| means.contains(&caveat.kind))
}

fn documented(experiment: &Experiment, analysis: &Analysis) -> (bool, String) {
    let hosts = experiment.plan.hosts.len();
    let done = experiment.records.iter().filter(|record| record.state == State::Done);
    let bare =
        done.filter(|record| record.run.as_ref().is_none_or(|run| run.hosts.len() < hosts.min(1))).count();
    let undeclared = analysis.undeclared_differences.len();
    match (bare, undeclared) {
        (0, 0) => (true, "hosts, settings and plan are in this report; nothing else differed".to_owned()),
        (0, n) => (false, format!("{} nobody declared", words::counted(n, "difference"))),
        (n, _) => (false, format!("{} without a record of the hosts", words::counted(n, "run"))),
    }
}

/// The twelve rules in their order.
pub fn checklist(evidence: &Evidence<'_>) -> Vec<Rule> {
    let judged: [(&'static str, (Status, String)); 12] = [
        ("Every ratio names what it is relative to", base_case(evidence)),
        ("Measuring only a part has a stated reason", subset(evidence)),
        ("Costs are averaged arithmetically, rates harmonically", averages(evidence)),
        ("Ratios are not averaged", ratios(evidence)),
        ("Values that vary come with an interval", intervals(evidence)),
        ("A normal distribution is shown, not assumed", normality(evidence)),
        ("Data are compared by a sound test", test(evidence)),
        ("Percentiles are given where the centre is not the point", percentiles(evidence)),
        ("Set-up and factors are documented", judge(evidence.documented.0, evidence.documented.1.clone())),
        ("Parallel time says how it was measured and summarised", parallel(evidence)),
        ("Upper bounds are shown", bounds(evidence)),
        ("Plots show enough, and lines only where values in between exist", plots(evidence)),
    ];
    judged.into_iter().map(|(rule, (status, why))| Rule { rule, status, why }).collect()
}

type Judged = (Status, String);

fn judge(kept: bool, why: impl Into<String>) -> Judged {
    (if kept { Status::Met } else { Status::NotMet }, why.into())
}

fn nothing(why: &str) -> Judged {
    (Status::NotApplicable, why.to_owned())
}

const NOT_COMPARED: &str = "nothing was compared";

fn base_case(evidence: &Evidence<'_>) -> Judged {
    let comparisons = &evidence.analysis.comparisons;
    let Some(first) = comparisons.first() else { return nothing(NOT_COMPARED) };
    let lacks = |one: &&Comparison| {
        let is_base = |level: &tenbin_core::analysis::Level| {
            level.arm == one.base && level.metric.name == one.metric && level.params == one.params
        };
        !evidence.analysis.levels.iter().any(is_base)
    };
    match comparisons.iter().filter(lacks).count() {
        0 if comparisons.iter().all(|one| one.base == first.base) => {
            judge(true, format!("all ratios are to {}, whose own values are given", first.base))
        }
        0 => judge(true, "every ratio names its base, whose own values are given"),
        n => judge(false, format!("{} to a base whose own values are not given", words::counted(n, "ratio"))),
    }
}

fn subset(evidence: &Evidence<'_>) -> Judged {
    let missing: Vec<String> = evidence
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Curve(curve) => Some(curve.not_common()),
            Part::Single(_) => None,
        })
        .flatten()
        .collect();
    match missing.is_empty() {
        true => nothing("a matter for the author: a program cannot know what was left out"),
        false => judge(false, format!("no reason is known why {}", missing.join("; "))),
    }
}

fn averages(evidence: &Evidence<'_>) -> Judged {
    let total = evidence.reductions.iter().any(|(_, reduce)| *reduce == Reduce::Total);
    match (evidence.summarised, total) {
        (true, _) => {
            judge(false, "some values were averaged by the tool that printed them, in a way of its own")
        }
        (false, true) => judge(true, "rates are totals over totals; of everything else medians are given"),
        (false, false) => judge(true, "nothing is averaged: medians are given"),
    }
}

fn ratios(evidence: &Evidence<'_>) -> Judged {
    match (evidence.analysis.comparisons.is_empty(), evidence.analysis.curves.is_empty()) {
        (true, _) => nothing(NOT_COMPARED),
        (false, true) => judge(true, "ratios are summarised on their logarithms"),
        (false, false) => judge(
            true,
            "ratios are summarised on their logarithms, over a curve by the geometric mean: its points have no cost in \
             common",
        ),
    }
}

fn intervals(evidence: &Evidence<'_>) -> Judged {
    let (all, levels) = (&evidence.analysis.comparisons, &evidence.analysis.levels);
    let without = all.iter().filter(|one| one.result.lo.is_none() || one.result.hi.is_none()).count();
    let bare = levels.iter().filter(|level| level.interval.is_none()).count();
    match (without, bare) {
        _ if all.is_empty() && levels.is_empty() => nothing("nothing was measured"),
        (0, 0) => judge(true, "every ratio and every median has one"),
        (0, n) => judge(false, format!("{n} of {} medians have too few runs for one", levels.len())),
        (n, _) => judge(false, format!("{n} of {} ratios have too few runs for one", all.len())),
    }
}

fn normality(evidence: &Evidence<'_>) -> Judged {
    match evidence.analysis.comparisons.is_empty() {
        true => nothing(NOT_COMPARED),
        false => judge(true, "none is assumed: ranks, medians, exact enumeration or seeded sign flips"),
    }
}

fn test(evidence: &Evidence<'_>) -> Judged {
    let all = &evidence.analysis.comparisons;
    let of = |verdict: Verdict| all.iter().filter(|one| one.result.verdict == verdict).count();
    let (described, few) = (of(Verdict::DescriptionOnly), of(Verdict::NeedMoreBlocks));
    if all.is_empty() {
        return nothing(NOT_COMPARED);
    }
    if described > 0 {
        let text = "too few runs or alternations for a test: described only";
        return judge(false, format!("{described} of {} comparisons have {text}", all.len()));
    }
    if few > 0 {
        return judge(false, format!("{few} of {} comparisons have too few runs for a test", all.len()));
    }
    if !evidence.interleaved {
        return judge(
            false,
            "the test is sound, the data are not: runs were not interleaved, so what changed with time counts as a \
             difference",
        );
    }
    let together = all.iter().filter_map(|one| one.result.family).map(|family| family.questions).max();
    let text = "exact signed-rank interval and sign-flip p over interleaved blocks";
    judge(
        true,
        match together {
            Some(questions) => format!("{text}; up to {questions} questions decided together"),
            None => text.to_owned(),
        },
    )
}

fn percentiles(evidence: &Evidence<'_>) -> Judged {
    if !evidence.sampled {
        return nothing("runs give one figure each, not samples");
    }
    let long = |part: &&Part<'_>| match part {
        Part::Curve(curve) => curve.points.len() > MOST_DISTRIBUTIONS,
        Part::Single(_) => false,
    };
    match evidence.parts.iter().find(long) {
        None => judge(true, "the distribution of every run is drawn whole"),
        Some(part) => {
            judge(false, format!("the distributions of {} are in the store, not drawn", part.title()))
        }
    }
}

fn parallel(evidence: &Evidence<'_>) -> Judged {
    let params = || evidence.analysis.levels.iter().map(|level| &level.params);
    let has = |name: &str| params().any(|params| params.contains_key(name));
    match (has("stat"), has("ranks") || has("threads")) {
        (true, _) => {
            judge(true, "the tool measures on every rank; \"stat\" says which of them a value is of")
        }
        (false, true) => judge(
            false,
            "several ranks or threads took part; how their times became one is the tool's own affair",
        ),
        (false, false) => nothing("no parallel program was timed"),
    }
}

fn bounds(evidence: &Evidence<'_>) -> Judged {
    let analysis = evidence.analysis;
    let rates = analysis.levels.iter().filter(|level| {
        level.metric.better == Better::Higher
            && matches!(level.metric.unit, Unit::BitPerSecond | Unit::BytePerSecond | Unit::FlopPerSecond)
    });
    let bounded: Vec<bool> = rates
        .map(|level| words::tightest(analysis, &level.arm, &level.metric.name, level.metric.unit).is_some())
        .collect();
    let missing = bounded.iter().filter(|bounded| !**bounded).count();
    match (bounded.len(), missing) {
        (0, _) => nothing("no rate was measured"),
        (_, 0) => judge(true, "every rate stands beside its ceiling"),
        _ if analysis.caveats.iter().any(|caveat| caveat.kind == CaveatKind::NoCeiling) => {
            nothing("the link has no physical ceiling")
        }
        (all, n) => judge(false, format!("{n} of {all} rates have no known ceiling")),
    }
}

fn plots(evidence: &Evidence<'_>) -> Judged {
    let curves = evidence.parts.iter().any(|part| matches!(part, Part::Curve(_)));
    let joined = match curves {
        true => "lines join neighbouring points of a curve to guide the eye",
        false => "lines join only neighbours in time and steps of a distribution",
    };
    match evidence.every_run {
        true => judge(true, format!("every run is a dot; {joined}")),
        false => judge(false, format!("medians and intervals are drawn, but not every run; {joined}")),
    }
}
