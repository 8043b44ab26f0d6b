//! Runs that were never interleaved, such as imported logs: drift between the two is not cancelled.

use super::{Decision, Difference, EQUIVALENCE_LEVEL, LEVEL, Verdict, log_margin, word};
use crate::stats::median;
use crate::stats::paired::PairError;
use crate::stats::sample_size::more_blocks;
use crate::stats::unpaired::{Unpaired, mann_whitney_critical};

/// Decides over runs of two configurations without blocks. One run each is described only.
pub fn decide_unpaired(
    arm: &[f64],
    base: &[f64],
    margin: f64,
    higher_is_better: bool,
) -> Result<Decision, PairError> {
    let limit = log_margin(margin)?;
    let both = Unpaired::ratios(arm, base)?;
    let found = judge(&both, limit, higher_is_better);
    Ok(Decision {
        ratio: found.estimate.exp(),
        lo: found.wide.map(|(lo, _)| lo.exp()),
        hi: found.wide.map(|(_, hi)| hi.exp()),
        difference: None,
        ..found.decision(&both, margin)
    })
}

/// The same for values that may be 0, by their difference.
pub fn decide_unpaired_differences(
    arm: &[f64],
    base: &[f64],
    margin: f64,
    higher_is_better: bool,
) -> Result<Decision, PairError> {
    log_margin(margin)?;
    let both = Unpaired::shifts(arm, base)?;
    let level = median(base).unwrap_or(0.0);
    let found = judge(&both, margin * level.abs(), higher_is_better);
    let share = |difference: f64| Some((level + difference) / level).filter(|share| share.is_finite());
    let same = found.verdict == Verdict::CantTell && arm.iter().chain(base).all(|x| *x == level);
    let decision = found.decision(&both, margin);
    Ok(Decision {
        ratio: if level == 0.0 { f64::NAN } else { (level + found.estimate) / level },
        lo: found.wide.and_then(|(lo, _)| share(lo)),
        hi: found.wide.and_then(|(_, hi)| share(hi)),
        verdict: if same { Verdict::NoDifference } else { decision.verdict },
        difference: Some(Difference {
            value: found.estimate,
            lo: found.wide.map(|(lo, _)| lo),
            hi: found.wide.map(|(_, hi)| hi),
            base: level,
        }),
        ..decision
    })
}

struct Judged {
    estimate: f64,
    wide: Option<(f64, f64)>,
    verdict: Verdict,
    more_blocks: Option<u32>,
}

fn judge(both: &Unpaired, limit: f64, higher_is_better: bool) -> Judged {
    let (n, estimate) = (both.first.min(both.second), both.estimate());
    let (wide, narrow) = (both.interval(LEVEL), both.interval(EQUIVALENCE_LEVEL));
    let verdict = match n {
        // Against a single run nothing can be said, however many the other side has.
        1 => Verdict::DescriptionOnly,
        _ => word(wide, narrow, limit, estimate, higher_is_better),
    };
    // A further block is a further run of each.
    let enough = |more: &u32| {
        mann_whitney_critical(both.first + *more as usize, both.second + *more as usize, LEVEL).is_some()
    };
    let more_blocks = match (verdict, wide) {
        (Verdict::CantTell, Some(wide)) => more_blocks(n, (wide.hi - wide.lo) / 2.0, estimate, limit),
        (Verdict::NeedMoreBlocks, _) => (1..64).find(enough),
        _ => None,
    };
    let wide = wide.filter(|_| verdict != Verdict::DescriptionOnly).map(|wide| (wide.lo, wide.hi));
    Judged { estimate, wide, verdict, more_blocks }
}

impl Judged {
    fn decision(&self, both: &Unpaired, margin: f64) -> Decision {
        Decision {
            ratio: 1.0,
            lo: None,
            hi: None,
            level: LEVEL,
            n: both.first.min(both.second),
            p: (self.verdict != Verdict::DescriptionOnly).then(|| both.p().value),
            margin,
            verdict: self.verdict,
            more_blocks: self.more_blocks,
            mde: None,
            difference: None,
            family: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_may_be_0() {
        let (none, some) = ([0.0; 6], [3.0, 4.0, 2.0, 5.0, 6.0, 4.0]);
        let check = |arm: &[f64], base: &[f64]| decide_unpaired_differences(arm, base, 0.02, false).unwrap();
        assert_eq!(check(&some, &none).verdict, Verdict::Slower);
        assert_eq!(check(&none, &some).verdict, Verdict::Faster);
        assert_eq!(check(&none, &none).verdict, Verdict::NoDifference);
        assert_eq!(check(&some[..1], &none).verdict, Verdict::DescriptionOnly);
        assert_eq!(check(&some[..2], &none[..2]).verdict, Verdict::NeedMoreBlocks);
        assert!(decide_unpaired(&some, &none, 0.02, false).is_err());
    }
}
