//! How long an experiment goes on: a fixed number of blocks, or until its intervals are narrow enough.
//!
//! The rule stands in the plan, and hence in the store, before the first block. It is asked after fixed numbers of
//! blocks, looks only at how wide intervals are, and never at which way a difference goes.

use crate::analysis::Analysis;
use crate::experiment::Experiment;
use crate::plan::{Budget, Until};
use crate::quantity;
use crate::stats::precision::{Next, Precision};

/// The most blocks of a plan whose budget is a time.
pub const MOST_BLOCKS: u32 = 200;

/// What to do now that every slot of the schedule has been tried.
pub fn next(experiment: &Experiment, analysis: &Analysis) -> Next {
    match experiment.plan.until {
        None => Next::Spent,
        Some(until) => decide(until, experiment.blocks(), seconds(experiment), &half_widths(analysis)),
    }
}

fn decide(until: Until, blocks: u32, seconds: f64, half_widths: &[Option<f64>]) -> Next {
    let most = match until.at_most {
        Budget::Blocks(blocks) => blocks,
        Budget::Seconds(_) => MOST_BLOCKS,
    };
    match (Precision::new(until.ci, most as usize).next(blocks as usize, half_widths), until.at_most) {
        (Next::Measure(_), Budget::Seconds(most)) if seconds >= most => Next::Spent,
        (next, _) => next,
    }
}

/// The larger relative half-width of each comparison's interval; `None` where it has no finite one.
pub fn half_widths(analysis: &Analysis) -> Vec<Option<f64>> {
    let of = |ratio: f64, lo: f64, hi: f64| (hi / ratio - 1.0).max(1.0 - lo / ratio);
    let results = analysis.comparisons.iter().map(|comparison| &comparison.result);
    results.map(|result| Some(of(result.ratio, result.lo?, result.hi?))).collect()
}

/// Seconds spent measuring, over all sessions.
fn seconds(experiment: &Experiment) -> f64 {
    let ended = experiment.records.iter().filter_map(|record| Some(record.ended_at? - record.started_at));
    ended.filter(|seconds| *seconds > 0.0).sum()
}

/// The rule in words: `until ci <= 2 %, looked at every 2 blocks from 8 on, at most 40 blocks`.
pub fn rule(until: &Until) -> String {
    let Precision { first, every, .. } = Precision::new(until.ci, 0);
    let most = match until.at_most {
        Budget::Blocks(blocks) => format!("{blocks} blocks"),
        Budget::Seconds(seconds) => quantity::trimmed(&quantity::duration(seconds)),
    };
    let ci = quantity::trimmed(&quantity::human(until.ci, crate::unit::Unit::Ratio, 3));
    format!("until ci <= {ci}, looked at every {every} blocks from {first} on, at most {most}")
}

/// Why it ended, or that it has not.
pub fn outcome(experiment: &Experiment, analysis: &Analysis) -> Option<String> {
    let until = experiment.plan.until?;
    let why = match next(experiment, analysis) {
        _ if !experiment.missing().is_empty() => "not at its end yet".to_owned(),
        Next::Precise => format!("every interval was narrow enough after {} blocks", experiment.blocks()),
        Next::Spent => {
            format!("the budget was spent after {} blocks, before every interval was", experiment.blocks())
        }
        Next::Measure(more) => format!("not at its end yet: {more} more blocks until the next look"),
    };
    Some(format!("{}: {why}", rule(&until)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_of_time_ends_at_a_look() {
        let until = |at_most| Until { ci: 0.02, at_most };
        let wide = [Some(0.5)];
        let minutes = until(Budget::Seconds(600.0));
        assert_eq!(decide(minutes, 8, 599.0, &wide), Next::Measure(2));
        assert_eq!(decide(minutes, 8, 600.0, &wide), Next::Spent);
        assert_eq!(decide(minutes, 8, 900.0, &[Some(0.02)]), Next::Precise);
        assert_eq!(decide(minutes, MOST_BLOCKS, 1.0, &wide), Next::Spent);
        assert_eq!(decide(until(Budget::Blocks(10)), 8, 1e9, &wide), Next::Measure(2));
        assert_eq!(decide(until(Budget::Blocks(10)), 10, 0.0, &wide), Next::Spent);
    }

    #[test]
    fn rules_in_words() {
        let check = |at_most, text: &str| assert_eq!(rule(&Until { ci: 0.025, at_most }), text);
        check(Budget::Blocks(40), "until ci <= 2.5 %, looked at every 2 blocks from 8 on, at most 40 blocks");
        check(
            Budget::Seconds(1200.0),
            "until ci <= 2.5 %, looked at every 2 blocks from 8 on, at most 20 min",
        );
    }
}
