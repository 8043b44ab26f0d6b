//! From paired values to a word: the interval decides, the margin says what matters, p only accompanies.

use serde::{Deserialize, Serialize};

use crate::quantity::significant;
use crate::stats::Interval;
use crate::stats::paired::{PairError, Paired};
use crate::stats::sample_size::{fewest_blocks, more_blocks, visible_difference};
use crate::stats::summary::Summary;
use crate::stats::unpaired::{Unpaired, mann_whitney_critical};

/// The confidence of intervals.
pub const LEVEL: f64 = 0.95;
/// The confidence of the interval that must lie inside the margin for "no difference": two one-sided tests at 5 %.
const EQUIVALENCE_LEVEL: f64 = 0.90;
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

/// A verdict with the figures behind it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Arm over base.
    pub ratio: f64,
    /// Lower end of the interval.
    pub lo: Option<f64>,
    /// Upper end of the interval.
    pub hi: Option<f64>,
    /// Confidence of the interval.
    pub level: f64,
    /// Pairs of runs; without pairs, the runs of the arm that has fewer.
    pub n: usize,
    /// Exact sign-flip p; without pairs, Mann-Whitney's.
    pub p: Option<f64>,
    /// The margin as a share.
    pub margin: f64,
    /// The word.
    pub verdict: Verdict,
    /// About how many more blocks would decide.
    pub more_blocks: Option<u32>,
    /// The smallest difference visible with this many blocks, as a share.
    pub mde: Option<f64>,
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
}

/// Decides over pairs (arm, base). `margin` is a share, `higher_is_better` the metric's direction. Fails where a value
/// is no positive, finite number; no figure of a decision is ever NaN or infinite.
pub fn decide(pairs: &[(f64, f64)], margin: f64, higher_is_better: bool) -> Result<Decision, PairError> {
    if pairs.len() == 1 {
        return describe(pairs, margin);
    }
    let limit = log_margin(margin)?;
    let paired = Paired::new(pairs)?;
    let (n, log_ratio) = (pairs.len(), paired.log_ratio());
    let (wide, narrow) = (paired.log_interval(LEVEL), paired.log_interval(EQUIVALENCE_LEVEL));
    let verdict = word(wide, narrow, limit, (log_ratio > 0.0) == higher_is_better);
    let more_blocks = match (verdict, wide) {
        (Verdict::CantTell, Some(wide)) => more_blocks(n, (wide.hi - wide.lo) / 2.0, log_ratio, limit),
        (Verdict::NeedMoreBlocks, _) => fewest_blocks(LEVEL).map(|fewest| (fewest - n) as u32),
        _ => None,
    };
    Ok(Decision {
        ratio: log_ratio.exp(),
        lo: wide.map(|wide| wide.lo.exp()),
        hi: wide.map(|wide| wide.hi.exp()),
        level: LEVEL,
        n,
        p: Some(paired.p()),
        margin,
        verdict,
        more_blocks,
        mde: Some(visible_difference(paired.sd(), n)),
    })
}

/// Describes pairs (arm, base) that bear no verdict: one each, or too few alternations.
pub fn describe(pairs: &[(f64, f64)], margin: f64) -> Result<Decision, PairError> {
    log_margin(margin)?;
    let paired = Paired::new(pairs)?;
    Ok(Decision {
        ratio: paired.log_ratio().exp(),
        lo: None,
        hi: None,
        level: LEVEL,
        n: pairs.len(),
        p: None,
        margin,
        verdict: Verdict::DescriptionOnly,
        more_blocks: None,
        mde: None,
    })
}

/// Decides over runs that were never interleaved, such as imported logs: drift between the two is not cancelled. One
/// run each is described only.
pub fn decide_unpaired(
    arm: &[f64],
    base: &[f64],
    margin: f64,
    higher_is_better: bool,
) -> Result<Decision, PairError> {
    let limit = log_margin(margin)?;
    let both = Unpaired::ratios(arm, base)?;
    let (n, log_ratio) = (arm.len().min(base.len()), both.estimate());
    let (wide, narrow) = (both.interval(LEVEL), both.interval(EQUIVALENCE_LEVEL));
    let described = arm.len() == 1 && base.len() == 1;
    let verdict = match described {
        true => Verdict::DescriptionOnly,
        false => word(wide, narrow, limit, (log_ratio > 0.0) == higher_is_better),
    };
    // A further block is a further run of each.
    let enough = |more: &u32| {
        mann_whitney_critical(arm.len() + *more as usize, base.len() + *more as usize, LEVEL).is_some()
    };
    let more_blocks = match (verdict, wide) {
        (Verdict::CantTell, Some(wide)) => more_blocks(n, (wide.hi - wide.lo) / 2.0, log_ratio, limit),
        (Verdict::NeedMoreBlocks, _) => (1..64).find(enough),
        _ => None,
    };
    Ok(Decision {
        ratio: log_ratio.exp(),
        lo: wide.map(|wide| wide.lo.exp()),
        hi: wide.map(|wide| wide.hi.exp()),
        level: LEVEL,
        n,
        p: (!described).then(|| both.p().value),
        margin,
        verdict,
        more_blocks,
        mde: None,
    })
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

fn log_margin(margin: f64) -> Result<f64, PairError> {
    if margin.is_finite() && margin >= 0.0 { Ok(margin.ln_1p()) } else { Err(PairError::Margin(margin)) }
}

fn word(wide: Option<Interval>, narrow: Option<Interval>, limit: f64, better: bool) -> Verdict {
    let Some(wide) = wide else { return Verdict::NeedMoreBlocks };
    let excludes_one = wide.lo > 0.0 || wide.hi < 0.0;
    // With a margin of nothing an interval that ends at 1 must not count as outside.
    let outside = excludes_one && (wide.lo >= limit || wide.hi <= -limit);
    let inside = narrow.is_some_and(|narrow| narrow.lo > -limit && narrow.hi < limit);
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

/// Where so many times the blocks there are would be needed, what they can see is the better advice.
const BEYOND_REACH: usize = 20;
/// From this ratio on, per cent are hard to read and a factor is said.
const A_FACTOR: f64 = 3.0;

/// The verdict as a sentence: `throughput: mtu-9000 is faster than mtu-1500 by 90 % (84-96 %)`.
pub fn sentence(d: &Decision, metric: &str, base: &str, arm: &str, higher_is_better: bool) -> String {
    let metric = metric.replace('_', " ");
    let margin = percent_plain(d.margin * 100.0);
    let (lo, hi) = (d.lo.unwrap_or(d.ratio), d.hi.unwrap_or(d.ratio));
    let range = {
        let [lo, hi] = alike([lo, hi].map(|ratio| (ratio - 1.0) * 100.0), true);
        format!("{lo} to {hi} %")
    };
    let sizes = if d.ratio < 1.0 { [d.ratio, hi, lo] } else { [d.ratio, lo, hi] };
    let [by, near, far] = alike(sizes.map(|ratio| (ratio - 1.0).abs() * 100.0), false);
    let than = match d.verdict {
        Verdict::Faster | Verdict::FasterSizeUncertain => format!("{arm} is faster than {base}"),
        Verdict::Slower | Verdict::SlowerSizeUncertain => format!("{arm} is slower than {base}"),
        _ if d.ratio < 1.0 => format!("{arm} is lower than {base}"),
        _ => format!("{arm} is higher than {base}"),
    };
    match d.verdict {
        Verdict::Faster | Verdict::Slower => {
            let factors = sizes.map(|ratio| if d.ratio < 1.0 { 1.0 / ratio } else { ratio });
            // A wide interval must not round 5.4 times to 5: below ten the tenths are told.
            let [times, least, most] = match factors[0] < 10.0 {
                true => factors.map(|factor| format!("{factor:.1}")),
                false => alike(factors, false),
            };
            match (higher_is_better, factors[0] >= A_FACTOR) {
                (true, true) => format!("{metric}: {than} by a factor of {times} ({least}-{most})"),
                (true, false) => format!("{metric}: {than} by {by} % ({near}-{far} %)"),
                (false, true) if d.ratio > 1.0 => {
                    format!("{than}: {times} times the {metric} ({least}-{most})")
                }
                // Faster by some per cent is ambiguous for times; less time is not.
                (false, _) if d.ratio < 1.0 => format!("{than}: {by} % less {metric} ({near}-{far} %)"),
                (false, _) => format!("{than}: {by} % more {metric} ({near}-{far} %)"),
            }
        }
        Verdict::FasterSizeUncertain | Verdict::SlowerSizeUncertain => {
            format!("{metric}: {than}, size uncertain ({range})")
        }
        Verdict::NoDifference => {
            format!("{metric}: no difference within {margin} % between {base} and {arm} ({range})")
        }
        Verdict::DifferentButNegligible => {
            format!("{metric}: {than} by {by} % ({near}-{far} %), within the margin of {margin} %")
        }
        Verdict::CantTell => {
            let advice = match (d.more_blocks, d.mde) {
                (Some(1), _) => ": about 1 more block would".to_owned(),
                (Some(more), _) if more as usize <= BEYOND_REACH * d.n => {
                    format!(": about {more} more blocks would")
                }
                (_, Some(mde)) => {
                    let [mde] = alike([mde.exp_m1() * 100.0], false);
                    format!("; {} blocks show differences from about {mde} % on", d.n)
                }
                _ => String::new(),
            };
            format!("{metric}: can't tell {arm} from {base} ({range}){advice}")
        }
        Verdict::NeedMoreBlocks => {
            let ratio = significant(d.ratio, 3);
            let needed = d.n as u32 + d.more_blocks.unwrap_or(1);
            format!(
                "{metric}: n = {} allows no interval, at least {needed} are needed; the ratio so far is {ratio}",
                d.n
            )
        }
        Verdict::DescriptionOnly => format!(
            "{metric}: {arm} gave {} times the value of {base} (n = {}); that describes these runs and says nothing \
             about the configurations",
            significant(d.ratio, 3),
            d.n
        ),
    }
}

/// Numbers with no more decimals than their spread bears, all with the same, on request with their sign.
fn alike<const N: usize>(values: [f64; N], sign: bool) -> [String; N] {
    let largest = values.iter().copied().fold(f64::MIN, f64::max);
    let width = largest - values.iter().copied().fold(f64::MAX, f64::min);
    // A single number goes by its own size.
    let width = if N == 1 { largest } else { width };
    let decimals = if width >= 4.0 {
        0
    } else if width >= 0.4 {
        1
    } else {
        2
    };
    values.map(|value| {
        let unit = 10f64.powi(decimals);
        // What rounds to nothing has no sign.
        let rounded = (value * unit).round() / unit + 0.0;
        let decimals = decimals as usize;
        if sign && rounded != 0.0 {
            format!("{rounded:+.decimals$}")
        } else {
            format!("{rounded:.decimals$}")
        }
    })
}

fn percent_plain(share: f64) -> String {
    let text = format!("{share:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
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

    #[track_caller]
    fn says(pairs: &[(f64, f64)], higher: bool, right: &str) {
        let decision = decide(pairs, 0.02, higher).unwrap();
        let metric = if higher { "throughput" } else { "cpu_per_byte" };
        assert_eq!(sentence(&decision, metric, "A", "B", higher), right);
    }

    #[test]
    fn sentences() {
        says(&pairs(8, 1.9, 0.05), true, "throughput: B is faster than A by 90 % (84-96 %)");
        says(&pairs(8, 0.5, 0.05), true, "throughput: B is slower than A by 50.0 % (48.4-51.5 %)");
        says(&pairs(8, 0.6, 0.1), false, "B is faster than A: 40 % less cpu per byte (36-44 %)");
        says(&pairs(8, 1.5, 0.1), false, "B is slower than A: 50 % more cpu per byte (41-60 %)");
        says(&pairs(8, 25.0, 0.05), true, "throughput: B is faster than A by a factor of 25.0 (24.2-25.8)");
        says(&pairs(8, 0.04, 0.05), true, "throughput: B is slower than A by a factor of 25.0 (24.2-25.8)");
        says(&pairs(8, 25.0, 0.3), false, "B is slower than A: 25 times the cpu per byte (21-30)");
        says(&pairs(8, 0.04, 0.3), false, "B is faster than A: 96.0 % less cpu per byte (95.2-96.7 %)");
        says(&pairs(8, 1.03, 0.03), true, "throughput: B is faster than A, size uncertain (+1.1 to +4.9 %)");
        says(
            &pairs(12, 1.0025, 0.01),
            true,
            "throughput: no difference within 2 % between A and B (-0.2 to +0.7 %)",
        );
        says(&[(3.0, 3.0); 8], true, "throughput: no difference within 2 % between A and B (0.00 to 0.00 %)");
        says(
            &pairs(12, 0.99, 0.002),
            false,
            "cpu per byte: B is lower than A by 1.00 % (0.92-1.08 %), within the margin of 2 %",
        );
        says(
            &pairs(8, 1.02, 0.05),
            true,
            "throughput: can't tell B from A (-1 to +5 %): about 15 more blocks would",
        );
        says(
            &pairs(8, 1.01, 0.3),
            true,
            "throughput: can't tell B from A (-16 to +22 %); 8 blocks show differences from about 20 % on",
        );
        says(
            &pairs(5, 2.0, 0.01),
            true,
            "throughput: n = 5 allows no interval, at least 6 are needed; the ratio so far is 2.00",
        );
        says(
            &pairs(1, 2.0, 0.01),
            true,
            "throughput: B gave 2.00 times the value of A (n = 1); that describes these runs and says nothing about \
             the configurations",
        );
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
