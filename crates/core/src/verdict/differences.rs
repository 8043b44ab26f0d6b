//! Values that may be 0, such as lost packets: no ratio can be made of them, so that arm minus base is judged. The
//! margin is that share of the base's median; where that is 0 any difference matters.

use super::{Decision, Difference, Found, LEVEL, Verdict, log_margin};
use crate::stats::median;
use crate::stats::paired::{PairError, Paired};

/// Decides over pairs (arm, base) by their differences. Ratios are given in terms of the base's median where that is
/// not 0.
pub fn decide_differences(
    pairs: &[(f64, f64)],
    margin: f64,
    higher_is_better: bool,
) -> Result<Decision, PairError> {
    let scale = Additive::of(pairs, margin)?;
    let found = match pairs.len() {
        1 => Found::described(&scale.paired),
        _ => Found::alone(&scale.paired, scale.limit, higher_is_better),
    };
    Ok(scale.decision(found, margin))
}

/// Describes pairs (arm, base) by their differences.
pub(super) fn describe_differences(pairs: &[(f64, f64)], margin: f64) -> Result<Decision, PairError> {
    let scale = Additive::of(pairs, margin)?;
    let found = Found::described(&scale.paired);
    Ok(scale.decision(found, margin))
}

/// Differences with what they are measured by.
pub(super) struct Additive {
    pub paired: Paired,
    /// The margin in the metric's unit.
    pub limit: f64,
    base: f64,
}

impl Additive {
    pub fn of(pairs: &[(f64, f64)], margin: f64) -> Result<Additive, PairError> {
        log_margin(margin)?;
        if let Some(bad) = pairs.iter().flat_map(|(arm, base)| [*arm, *base]).find(|x| !x.is_finite()) {
            return Err(PairError::NotFinite(bad));
        }
        let differences: Vec<f64> = pairs.iter().map(|(arm, base)| arm - base).collect();
        let paired = Paired::of(&differences)?;
        let bases: Vec<f64> = pairs.iter().map(|(_, base)| *base).collect();
        let base = median(&bases).filter(|base| base.is_finite()).unwrap_or(0.0);
        Ok(Additive { paired, limit: margin * base.abs(), base })
    }

    /// The decision where the scale is that of differences.
    pub fn decision(&self, found: Found, margin: f64) -> Decision {
        // Where arm and base never differed there is nothing to be unsure about, margin or not.
        let same = found.verdict == Verdict::CantTell && self.paired.logs.iter().all(|d| *d == 0.0);
        let share = |difference: f64| (self.base + difference) / self.base;
        let finite = |x: &f64| x.is_finite();
        Decision {
            ratio: if self.base == 0.0 { f64::NAN } else { share(found.estimate) },
            lo: found.wide.map(|wide| share(wide.lo)).filter(finite),
            hi: found.wide.map(|wide| share(wide.hi)).filter(finite),
            level: LEVEL,
            n: found.n,
            p: found.p,
            margin,
            verdict: if same { Verdict::NoDifference } else { found.verdict },
            more_blocks: if same { None } else { found.more_blocks },
            mde: found.visible.map(|visible| visible / self.base.abs()).filter(finite),
            difference: Some(Difference {
                value: found.estimate,
                lo: found.wide.map(|wide| wide.lo),
                hi: found.wide.map(|wide| wide.hi),
                base: self.base,
            }),
            family: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(arm: &[f64], base: &[f64], higher: bool) -> Decision {
        let pairs: Vec<(f64, f64)> = arm.iter().copied().zip(base.iter().copied()).collect();
        decide_differences(&pairs, 0.02, higher).unwrap()
    }

    #[test]
    fn counts_of_nothing() {
        let none = [0.0; 8];
        let same = verdict(&none, &none, false);
        assert_eq!((same.verdict, same.more_blocks), (Verdict::NoDifference, None));
        assert!(same.ratio.is_nan() && same.lo.is_none());
        let some = [5.0, 3.0, 6.0, 2.0, 8.0, 4.0, 5.0, 7.0];
        let worse = verdict(&some, &none, false);
        assert_eq!(worse.verdict, Verdict::Slower);
        let difference = worse.difference.unwrap();
        assert_eq!((difference.value, difference.base), (5.0, 0.0));
        assert_eq!(verdict(&none, &some, false).verdict, Verdict::Faster);
        // A few lost packets in one block of eight tell nothing.
        let one = [0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(verdict(&one, &none, false).verdict, Verdict::CantTell);
        assert_eq!(verdict(&none[..1], &some[..1], false).verdict, Verdict::DescriptionOnly);
        assert_eq!(verdict(&none[..4], &some[..4], false).verdict, Verdict::NeedMoreBlocks);
    }

    #[test]
    fn shares_are_of_the_base() {
        let base = [780.0, 800.0, 760.0, 790.0, 810.0, 770.0, 785.0, 795.0];
        let arm = base.map(|x| x - 117.0);
        let fewer = verdict(&arm, &base, false);
        assert_eq!((fewer.verdict, fewer.difference.unwrap().value), (Verdict::Faster, -117.0));
        assert!((fewer.ratio - 0.851).abs() < 0.001, "{fewer:?}");
        assert!(decide_differences(&[(f64::NAN, 1.0); 8], 0.02, true).is_err());
        assert!(decide_differences(&[], 0.02, true).is_err());
        // What is written is read back, also where there is no ratio.
        let none = verdict(&[0.0; 8], &[0.0; 8], false);
        let text = serde_json::to_string(&none).unwrap();
        let back: Decision = serde_json::from_str(&text).unwrap();
        assert!(back.ratio.is_nan() && back.difference == none.difference, "{text}");
    }
}
