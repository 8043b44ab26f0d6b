//! From paired values to a word: the interval decides, the margin says what matters, p only accompanies.

use serde::{Deserialize, Serialize};

use crate::quantity::significant;
use crate::stats::Interval;
use crate::stats::paired::{PairError, Paired};

/// The confidence of intervals.
pub const LEVEL: f64 = 0.95;
/// The confidence of the interval that must lie inside the margin for "no difference": two one-sided tests at 5 %.
const EQUIVALENCE_LEVEL: f64 = 0.90;
/// The asymptotic efficiency of the signed-rank test under normal noise, 3/pi.
const EFFICIENCY: f64 = 0.955;
/// z(97.5 %) + z(80 %): what a difference must be, in standard errors, to be seen four times out of five.
const VISIBLE: f64 = 1.959_964 + 0.841_621;

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
    /// Pairs of runs.
    pub n: usize,
    /// Exact sign-flip p.
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
        (Verdict::CantTell, Some(wide)) => more_blocks(n, wide, log_ratio, limit),
        (Verdict::NeedMoreBlocks, _) => {
            (1..).find(|more| crate::stats::paired::signed_rank_critical(n + *more as usize, LEVEL).is_some())
        }
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
        mde: Some(VISIBLE * paired.sd() / (EFFICIENCY * n as f64).sqrt()),
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

/// The decision without the runs that Tukey would call far (beyond three interquartile ranges of the log ratios);
/// `None` where there are none.
pub fn without_far_runs(pairs: &[(f64, f64)], margin: f64, higher_is_better: bool) -> Option<Decision> {
    let logs = Paired::new(pairs).ok()?.logs;
    let quartile = |p| crate::stats::order::percentile(&logs, p);
    let (q1, q3) = (quartile(0.25)?, quartile(0.75)?);
    let reach = 3.0 * (q3 - q1);
    let near: Vec<(f64, f64)> = pairs
        .iter()
        .zip(&logs)
        .filter(|(_, log)| (q1 - reach..=q3 + reach).contains(*log))
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

/// About how many more blocks would decide: the half-width shrinks with the root of n; it must fall below the
/// estimate (to tell them apart) or below what is left to the margin (to call them equal), whichever comes first.
fn more_blocks(n: usize, wide: Interval, log_ratio: f64, limit: f64) -> Option<u32> {
    let half = (wide.hi - wide.lo) / 2.0;
    let targets = [log_ratio.abs(), limit - log_ratio.abs()];
    let target = targets.into_iter().filter(|target| *target > 0.0).fold(0.0, f64::max);
    if target <= 0.0 {
        return None;
    }
    let wanted = (n as f64 * (half / target).powi(2) * 1.15).ceil();
    Some((wanted - n as f64).clamp(1.0, 1e6) as u32)
}

/// The verdict as a sentence: `mtu-9000 is faster by 90 % (84-96 %)`.
pub fn sentence(d: &Decision, metric: &str, base: &str, arm: &str, higher_is_better: bool) -> String {
    let change = |ratio: f64| percent((ratio - 1.0) * 100.0, d);
    let signed = |ratio: f64| format!("{}{}", if ratio >= 1.0 { "+" } else { "-" }, change(ratio));
    let range = match (d.lo, d.hi) {
        (Some(lo), Some(hi)) => format!("{} to {} %", signed(lo), signed(hi)),
        _ => String::new(),
    };
    let margin = percent_plain(d.margin * 100.0);
    let by = || {
        let (near, far) = match (d.lo, d.hi) {
            (Some(lo), Some(hi)) if d.ratio >= 1.0 => (change(lo), change(hi)),
            (Some(lo), Some(hi)) => (change(hi), change(lo)),
            _ => Default::default(),
        };
        let more = if d.ratio >= 1.0 { "more" } else { "less" };
        match higher_is_better {
            true => format!("{} % ({near}-{far} %)", change(d.ratio)),
            false => format!("{} % {more} {metric} ({near}-{far} %)", change(d.ratio)),
        }
    };
    let uncertain = |word: &str| format!("{metric}: {arm} is {word} than {base}, size uncertain ({range})");
    match d.verdict {
        Verdict::Faster if higher_is_better => format!("{metric}: {arm} is faster than {base} by {}", by()),
        Verdict::Slower if higher_is_better => format!("{metric}: {arm} is slower than {base} by {}", by()),
        Verdict::Faster => format!("{arm} is faster than {base}: {}", by()),
        Verdict::Slower => format!("{arm} is slower than {base}: {}", by()),
        Verdict::FasterSizeUncertain => uncertain("faster"),
        Verdict::SlowerSizeUncertain => uncertain("slower"),
        Verdict::NoDifference => {
            format!("{metric}: no difference within {margin} % between {base} and {arm} ({range})")
        }
        Verdict::DifferentButNegligible => {
            format!("{metric}: {base} and {arm} differ, by less than {margin} % ({range})")
        }
        Verdict::CantTell => match d.more_blocks {
            Some(more) => format!(
                "{metric}: can't tell {arm} from {base} ({range}): about {more} more block{} would",
                if more == 1 { "" } else { "s" }
            ),
            None => format!("{metric}: can't tell {arm} from {base} ({range})"),
        },
        Verdict::NeedMoreBlocks => format!(
            "{metric}: {} blocks allow no interval, at least {} are needed; the ratio so far is {}",
            d.n,
            d.n as u32 + d.more_blocks.unwrap_or(1),
            significant(d.ratio, 3)
        ),
        Verdict::DescriptionOnly => format!(
            "{metric}: {arm} gave {} times the value of {base} (n = {}); that describes these runs and says nothing \
             about the configurations",
            significant(d.ratio, 3),
            d.n
        ),
    }
}

/// A change in per cent without its sign, with no more digits than the interval bears.
fn percent(change: f64, d: &Decision) -> String {
    let width = match (d.lo, d.hi) {
        (Some(lo), Some(hi)) => (hi - lo) * 100.0,
        _ => 1.0,
    };
    let digits = if width >= 4.0 {
        0
    } else if width >= 0.4 {
        1
    } else {
        2
    };
    format!("{:.digits$}", change.abs())
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
        assert_eq!(fails(1e300, 1e-300, 0.02).split(" is ").nth(1), Some("too far from 1 to be weighed"));
        assert_eq!(fails(1.0, 1.0, -2.0), "-2 is no margin; it must be a finite share, not negative");
        assert!(decide(&[], 0.02, true).is_err() && describe(&[], 0.02).is_err());
    }
}
