//! From paired values to a word: the interval decides, the margin says what matters, p only accompanies.
//!
//! Start at [`decide`] for one question over blocks. [`together`] answers several over the same blocks, [`unpaired`]
//! those over runs that never were in blocks, [`words`] puts answers into sentences.

mod differences;
pub mod together;
pub mod unpaired;
pub mod words;

use serde::{Deserialize, Deserializer, Serialize};

use crate::stats::Interval;
use crate::stats::paired::{PairError, Paired};
use crate::stats::sample_size::{fewest_blocks, more_blocks, visible_difference};
use crate::stats::summary::Summary;

pub use differences::decide_differences;
pub use together::{Correction, Family, Question, decide_together};
pub use unpaired::decide_unpaired;
pub use words::sentence;

/// The confidence of intervals.
pub const LEVEL: f64 = 0.95;
/// The confidence of the interval that must lie inside the margin for "no difference": two one-sided tests at 5 %.
pub const EQUIVALENCE_LEVEL: f64 = 0.90;

/// The nine words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Better by more than the margin.
    Faster,
    /// Worse by more than the margin.
    Slower,
    /// Better; by how much in terms of the margin is open.
    FasterSizeUncertain,
    /// Worse; by how much in terms of the margin is open.
    SlowerSizeUncertain,
    /// The same within the margin.
    NoDifference,
    /// Different, but by less than the margin.
    DifferentButNegligible,
    /// The data do not tell.
    CantTell,
    /// Too few blocks for any interval.
    NeedMoreBlocks,
    /// One run each, or too few alternations.
    DescriptionOnly,
}

impl Verdict {
    /// The word as documents have it.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::FasterSizeUncertain => "faster_size_uncertain",
            Verdict::SlowerSizeUncertain => "slower_size_uncertain",
            Verdict::NoDifference => "no_difference",
            Verdict::DifferentButNegligible => "different_but_negligible",
            Verdict::CantTell => "cant_tell",
            Verdict::NeedMoreBlocks => "need_more_blocks",
            Verdict::DescriptionOnly => "description_only",
        }
    }

    /// Whether arm and base are told apart.
    pub const fn is_different(self) -> bool {
        matches!(
            self,
            Verdict::Faster
                | Verdict::Slower
                | Verdict::FasterSizeUncertain
                | Verdict::SlowerSizeUncertain
                | Verdict::DifferentButNegligible
        )
    }
}

/// A verdict with the figures behind it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Arm over base; not a number (null in documents) where the base of a difference is 0.
    #[serde(deserialize_with = "number_or_null")]
    pub ratio: f64,
    /// Lower end of the interval.
    pub lo: Option<f64>,
    /// Upper end of the interval.
    pub hi: Option<f64>,
    /// Confidence of the interval.
    pub level: f64,
    /// Pairs of runs; without pairs, the runs of the arm that has fewer.
    pub n: usize,
    /// Exact sign-flip p; without pairs, Mann-Whitney's; within a family, adjusted.
    pub p: Option<f64>,
    /// The margin as a share.
    pub margin: f64,
    /// The word.
    pub verdict: Verdict,
    /// About how many more blocks would decide.
    pub more_blocks: Option<u32>,
    /// The smallest difference visible with this many blocks, as a share.
    pub mde: Option<f64>,
    /// Present where values may be 0 and the verdict is about arm minus base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
    /// Present where several questions were decided together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
}

/// Arm minus base, in the metric's unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The estimate.
    pub value: f64,
    /// Lower end of the interval.
    pub lo: Option<f64>,
    /// Upper end of the interval.
    pub hi: Option<f64>,
    /// The median of the base.
    pub base: f64,
}

fn number_or_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

/// Decides over pairs (arm, base). `margin` is a share, `higher_is_better` the metric's direction. Fails where a value
/// is no positive, finite number; no figure of a decision is ever NaN or infinite.
pub fn decide(pairs: &[(f64, f64)], margin: f64, higher_is_better: bool) -> Result<Decision, PairError> {
    if pairs.len() == 1 {
        return describe(pairs, margin);
    }
    let limit = log_margin(margin)?;
    let paired = Paired::new(pairs)?;
    let found = Found::alone(&paired, limit, higher_is_better);
    Ok(found.ratio(margin))
}

/// Describes pairs (arm, base) that bear no verdict: one each, or too few alternations.
pub fn describe(pairs: &[(f64, f64)], margin: f64) -> Result<Decision, PairError> {
    log_margin(margin)?;
    Ok(Found::described(&Paired::new(pairs)?).ratio(margin))
}

/// Decides over log ratios of blocks that were worked out already, such as means over a whole curve.
pub fn decide_logs(logs: &[f64], margin: f64, higher_is_better: bool) -> Result<Decision, PairError> {
    let limit = log_margin(margin)?;
    let paired = Paired::of(logs)?;
    Ok(match logs.len() {
        1 => Found::described(&paired),
        _ => Found::alone(&paired, limit, higher_is_better),
    }
    .ratio(margin))
}

/// The decision without the runs that Tukey would call far (beyond three interquartile ranges of the log ratios);
/// `None` where there are none.
pub fn without_far_runs(pairs: &[(f64, f64)], margin: f64, higher_is_better: bool) -> Option<Decision> {
    let logs = Paired::new(pairs).ok()?.logs;
    let (low, high) = Summary::of(&logs)?.fences(3.0);
    let near: Vec<(f64, f64)> = pairs
        .iter()
        .zip(&logs)
        .filter(|(_, log)| (low..=high).contains(*log))
        .map(|(pair, _)| *pair)
        .collect();
    if near.len() == pairs.len() {
        return None;
    }
    decide(&near, margin, higher_is_better).ok()
}

/// The larger relative half-width of a decision's interval; `None` where there is none.
pub fn relative_half_width(decision: &Decision) -> Option<f64> {
    let (lo, hi) = (decision.lo?, decision.hi?);
    let widest = (hi / decision.ratio - 1.0).max(1.0 - lo / decision.ratio);
    widest.is_finite().then_some(widest)
}

pub(crate) fn log_margin(margin: f64) -> Result<f64, PairError> {
    if margin.is_finite() && margin >= 0.0 { Ok(margin.ln_1p()) } else { Err(PairError::Margin(margin)) }
}

/// What was found on the scale of the intervals: logs of ratios, or plain differences.
#[derive(Clone, Copy)]
struct Found {
    n: usize,
    estimate: f64,
    wide: Option<Interval>,
    p: Option<f64>,
    verdict: Verdict,
    more_blocks: Option<u32>,
    visible: Option<f64>,
}

impl Found {
    /// One question that stands for itself.
    fn alone(paired: &Paired, limit: f64, higher_is_better: bool) -> Found {
        let intervals = (paired.log_interval(LEVEL), paired.log_interval(EQUIVALENCE_LEVEL));
        let fewest = fewest_blocks(LEVEL);
        Found::judged(paired, intervals, paired.p(), fewest, limit, higher_is_better)
    }

    /// `wide` and `narrow` intervals and `p` however they came about; `fewest` blocks would allow a finite interval.
    fn judged(
        paired: &Paired,
        (wide, narrow): (Option<Interval>, Option<Interval>),
        p: f64,
        fewest: Option<usize>,
        limit: f64,
        higher_is_better: bool,
    ) -> Found {
        let (n, estimate) = (paired.logs.len(), paired.log_ratio());
        let verdict = word(wide, narrow, limit, estimate, higher_is_better);
        let more_blocks = match (verdict, wide) {
            (Verdict::CantTell, Some(wide)) => more_blocks(n, (wide.hi - wide.lo) / 2.0, estimate, limit),
            (Verdict::NeedMoreBlocks, _) => fewest.map(|fewest| fewest.saturating_sub(n).max(1) as u32),
            _ => None,
        };
        let visible = Some(visible_difference(paired.sd(), n));
        Found { n, estimate, wide, p: Some(p), verdict, more_blocks, visible }
    }

    /// A question that is only described.
    fn described(paired: &Paired) -> Found {
        Found {
            n: paired.logs.len(),
            estimate: paired.log_ratio(),
            wide: None,
            p: None,
            verdict: Verdict::DescriptionOnly,
            more_blocks: None,
            visible: None,
        }
    }

    /// The decision where the scale is that of log ratios.
    fn ratio(self, margin: f64) -> Decision {
        Decision {
            ratio: self.estimate.exp(),
            lo: self.wide.map(|wide| wide.lo.exp()),
            hi: self.wide.map(|wide| wide.hi.exp()),
            level: LEVEL,
            n: self.n,
            p: self.p,
            margin,
            verdict: self.verdict,
            more_blocks: self.more_blocks,
            mde: self.visible,
            difference: None,
            family: None,
        }
    }
}

/// The word for intervals that are `wide` (95 %) and `narrow` (90 %) around an estimate.
fn word(
    wide: Option<Interval>,
    narrow: Option<Interval>,
    limit: f64,
    estimate: f64,
    higher_is_better: bool,
) -> Verdict {
    let Some(wide) = wide else { return Verdict::NeedMoreBlocks };
    let excludes_one = wide.lo > 0.0 || wide.hi < 0.0;
    // With a margin of nothing an interval that ends at 1 must not count as outside.
    let outside = excludes_one && (wide.lo >= limit || wide.hi <= -limit);
    let inside = narrow.is_some_and(|narrow| narrow.lo > -limit && narrow.hi < limit);
    let upwards = if excludes_one { wide.lo > 0.0 } else { estimate > 0.0 };
    let better = upwards == higher_is_better;
    match (inside, excludes_one, outside) {
        (true, true, _) => Verdict::DifferentButNegligible,
        (true, false, _) => Verdict::NoDifference,
        (_, _, true) if better => Verdict::Faster,
        (_, _, true) => Verdict::Slower,
        (_, true, _) if better => Verdict::FasterSizeUncertain,
        (_, true, _) => Verdict::SlowerSizeUncertain,
        _ => Verdict::CantTell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs whose log ratios lie evenly up to `spread` around that of `ratio`.
    fn pairs(n: usize, ratio: f64, spread: f64) -> Vec<(f64, f64)> {
        let place = |i: usize| 2.0 * (i as f64 + 0.5) / n as f64 - 1.0;
        (0..n).map(|i| (ratio * (spread * place(i)).exp(), 1.0)).collect()
    }

    #[track_caller]
    fn check(pairs: &[(f64, f64)], margin: f64, right: Verdict) {
        for higher in [true, false] {
            // The other direction of better, and arm and base exchanged, both turn the word round.
            let turned: Vec<(f64, f64)> = pairs.iter().map(|(arm, base)| (*base, *arm)).collect();
            let pairs = if higher { pairs.to_vec() } else { turned };
            let decision = decide(&pairs, margin, higher).unwrap();
            assert_eq!(decision.verdict, right, "{decision:?}");
            let ends = [decision.lo, decision.hi, decision.p, decision.mde, Some(decision.ratio)];
            assert!(ends.into_iter().flatten().all(f64::is_finite), "{decision:?}");
        }
    }

    #[test]
    fn words() {
        check(&pairs(8, 1.9, 0.01), 0.02, Verdict::Faster);
        check(&pairs(8, 0.9, 0.01), 0.02, Verdict::Slower);
        check(&pairs(8, 1.02, 0.015), 0.02, Verdict::FasterSizeUncertain);
        check(&pairs(8, 0.98, 0.015), 0.02, Verdict::SlowerSizeUncertain);
        check(&pairs(12, 1.0, 0.01), 0.02, Verdict::NoDifference);
        check(&pairs(12, 1.01, 0.002), 0.02, Verdict::DifferentButNegligible);
        check(&pairs(8, 1.0, 0.2), 0.02, Verdict::CantTell);
        check(&pairs(5, 2.0, 0.01), 0.02, Verdict::NeedMoreBlocks);
        check(&pairs(1, 2.0, 0.01), 0.02, Verdict::DescriptionOnly);
    }

    #[test]
    fn words_without_pairs() {
        let values = |n: usize, ratio: f64, spread: f64| -> Vec<f64> {
            pairs(n, ratio, spread).into_iter().map(|(arm, _)| arm).collect()
        };
        let word = |n: usize, ratio: f64, spread: f64| {
            let (arm, base) = (values(n, ratio, spread), values(n, 1.0, spread));
            let decided = decide_unpaired(&arm, &base, 0.02, true).unwrap();
            let turned = decide_unpaired(&base, &arm, 0.02, false).unwrap();
            assert_eq!((decided.verdict, decided.more_blocks), (turned.verdict, turned.more_blocks));
            (decided.verdict, decided.more_blocks)
        };
        assert_eq!(word(1, 1.5, 0.01), (Verdict::DescriptionOnly, None));
        assert_eq!(word(3, 1.5, 0.01), (Verdict::NeedMoreBlocks, Some(1)));
        assert_eq!(word(4, 1.5, 0.01), (Verdict::Faster, None));
        assert_eq!(word(8, 0.8, 0.01), (Verdict::Slower, None));
        assert_eq!(word(10, 1.0, 0.01), (Verdict::NoDifference, None));
        assert_eq!(word(8, 1.0, 0.2).0, Verdict::CantTell);
    }

    #[test]
    fn equal_values_are_never_called_different() {
        check(&[(3.0, 3.0); 8], 0.02, Verdict::NoDifference);
        check(&[(3.0, 3.0); 8], 0.0, Verdict::CantTell);
        check(&pairs(12, 1.1, 0.01), 0.0, Verdict::Faster);
    }

    #[test]
    fn what_bears_no_ratio_is_refused() {
        let fails = |arm, base, margin| decide(&[(arm, base); 8], margin, true).unwrap_err().to_string();
        assert_eq!(fails(0.0, 1.0, 0.02), "0 is no positive number, and ratios need those");
        assert_eq!(fails(1.0, f64::NAN, 0.02), "NaN is no positive number, and ratios need those");
        assert!(fails(1e300, 1e-300, 0.02).ends_with(" are too far apart to be weighed"));
        assert_eq!(fails(1.0, 1.0, -2.0), "-2 is no margin; it must be a finite share, not negative");
        assert!(decide(&[], 0.02, true).is_err() && describe(&[], 0.02).is_err());
    }
}
