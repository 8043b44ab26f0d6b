//! The main comparison: paired log ratios over blocks, Hodges-Lehmann estimate, exact signed-rank interval, exact
//! sign-flip p. No normality is assumed, and a far block moves the estimate little.

use super::Interval;
use super::order::median;

/// The exact tests take time with the cube of the pairs; so many take about a second, and plans allow no more blocks.
const MOST_PAIRS: usize = 1000;

/// Why values can't be compared.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum PairError {
    /// There are none.
    #[error("no block has both values")]
    None,
    /// A ratio needs positive, finite values.
    #[error("{0} is no positive number, and ratios need those")]
    NotPositive(f64),
    /// A difference needs finite values.
    #[error("{0} is no finite number")]
    NotFinite(f64),
    /// One of two independent samples is empty.
    #[error("only one of the two has values")]
    OneSided,
    /// So far apart that what lies between them is no finite number.
    #[error("{arm} and {base} are too far apart to be weighed")]
    TooFarApart {
        /// The value of the arm.
        arm: f64,
        /// The value of the base.
        base: f64,
    },
    /// More than can be handled.
    #[error("{count} pairs are more than the {most} that can be weighed")]
    TooMany {
        /// How many there are.
        count: usize,
        /// How many there may be.
        most: usize,
    },
    /// A margin is a share, from 0 up.
    #[error("{0} is no margin; it must be a finite share, not negative")]
    Margin(f64),
}

/// Paired log ratios and what follows from them.
#[derive(Clone, Debug, PartialEq)]
pub struct Paired {
    /// ln(arm / base) of each block, or their difference, in the order given.
    pub logs: Vec<f64>,
    /// All averages of two of them (each with itself too), ascending.
    walsh: Vec<f64>,
}

impl Paired {
    /// Pairs are (arm, base).
    pub fn new(pairs: &[(f64, f64)]) -> Result<Paired, PairError> {
        if pairs.is_empty() {
            return Err(PairError::None);
        }
        if pairs.len() > MOST_PAIRS {
            return Err(PairError::TooMany { count: pairs.len(), most: MOST_PAIRS });
        }
        let bad = pairs.iter().flat_map(|(arm, base)| [*arm, *base]).find(|x| !(x.is_finite() && *x > 0.0));
        if let Some(bad) = bad {
            return Err(PairError::NotPositive(bad));
        }
        if let Some((arm, base)) = pairs.iter().find(|(arm, base)| !(arm / base).is_normal()) {
            return Err(PairError::TooFarApart { arm: *arm, base: *base });
        }
        Paired::of(&pairs.iter().map(|(arm, base)| (arm / base).ln()).collect::<Vec<f64>>())
    }

    /// Values of blocks that are on their scale already: log ratios, or differences.
    pub fn of(logs: &[f64]) -> Result<Paired, PairError> {
        let too_many = || PairError::TooMany { count: logs.len(), most: MOST_PAIRS };
        // Sums of two must stay finite.
        match logs.iter().find(|d| !(d.is_finite() && d.abs() < f64::MAX / 4.0)) {
            _ if logs.is_empty() => return Err(PairError::None),
            _ if logs.len() > MOST_PAIRS => return Err(too_many()),
            Some(bad) => return Err(PairError::NotFinite(*bad)),
            None => {}
        }
        let logs = logs.to_vec();
        let mut walsh = Vec::with_capacity(logs.len() * (logs.len() + 1) / 2);
        for (i, a) in logs.iter().enumerate() {
            walsh.extend(logs[i..].iter().map(|b| (a + b) / 2.0));
        }
        walsh.sort_by(f64::total_cmp);
        Ok(Paired { logs, walsh })
    }

    /// The log of the Hodges-Lehmann ratio: the median of all Walsh averages.
    pub fn log_ratio(&self) -> f64 {
        median(&self.walsh).unwrap_or(0.0)
    }

    /// The interval of the log ratio at confidence `level` by inverting the exact signed-rank test; `None` where too
    /// few blocks allow no finite one.
    pub fn log_interval(&self, level: f64) -> Option<Interval> {
        let k = signed_rank_critical(self.logs.len(), level)?;
        Some(Interval { lo: self.walsh[k - 1], hi: self.walsh[self.walsh.len() - k] })
    }

    /// The exact two-sided sign-flip p on mid-ranks of |log ratio|; zeros keep their rank and contribute nothing.
    pub fn p(&self) -> f64 {
        // Ties are seen after rounding to 12 decimals: closer values differ by rounding of the division only.
        let rounded: Vec<f64> = self.logs.iter().map(|d| (d * 1e12).round() / 1e12).collect();
        let ranks = doubled_mid_ranks(&rounded);
        let moving = || rounded.iter().zip(&ranks).filter(|(d, _)| **d != 0.0);
        let total: usize = moving().map(|(_, rank)| rank).sum();
        let plus: usize = moving().filter(|(d, _)| **d > 0.0).map(|(_, rank)| rank).sum();
        // Both tails are alike, so that the smaller sum of ranks tells.
        let tail = rank_sum_chances(moving().map(|(_, rank)| *rank), plus.min(total - plus));
        (2.0 * tail.iter().sum::<f64>()).min(1.0)
    }

    /// Standard deviation of the log ratios (n - 1); 0 for one.
    pub fn sd(&self) -> f64 {
        let n = self.logs.len() as f64;
        if n < 2.0 {
            return 0.0;
        }
        let mean = self.logs.iter().sum::<f64>() / n;
        (self.logs.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt()
    }
}

/// k of the interval [W_(k), W_(M-k+1)] over the Walsh averages: the smallest w with P(W+ <= w) >= (1-level)/2, as R's
/// `qsignrank`; `None` where that is 0.
pub fn signed_rank_critical(n: usize, level: f64) -> Option<usize> {
    let tail = (1.0 - level) / 2.0;
    // Half of all sums lie below the middle, and no tail holds more.
    let chances = rank_sum_chances(1..=n, n * (n + 1) / 4);
    let mut below = 0.0;
    let k = chances.iter().position(|chance| {
        below += chance;
        below >= tail * (1.0 - 1e-12)
    });
    k.filter(|k| *k > 0)
}

/// The smallest two-sided chance that so many pairs can give: all signs alike.
pub fn smallest_p(n: usize) -> f64 {
    if n == 0 { 1.0 } else { 0.5f64.powi(n.min(2000) as i32 - 1) }
}

/// The fewest pairs whose smallest chance is at most `alpha`.
pub fn fewest_for_p(alpha: f64) -> Option<usize> {
    (1..=MOST_PAIRS).find(|n| smallest_p(*n) <= alpha * (1.0 + 1e-12))
}

/// The confidence that the interval of n pairs with critical rank `k` really has.
pub fn achieved_level(n: usize, k: usize) -> f64 {
    // The tail beyond the interval is P(W+ <= k - 1).
    match k.checked_sub(1) {
        Some(below) => 1.0 - 2.0 * rank_sum_chances(1..=n, below).iter().sum::<f64>(),
        None => 1.0,
    }
}

/// The chances of the sums 0 to `most` of those of `ranks` that fall to plus, each by the toss of a coin.
fn rank_sum_chances(ranks: impl Iterator<Item = usize>, most: usize) -> Vec<f64> {
    let mut chances = vec![0.0; most + 1];
    chances[0] = 1.0;
    let mut reach = 0;
    for rank in ranks {
        reach = (reach + rank).min(most);
        // From the top, so that what is read is not yet changed.
        for sum in (rank..=reach).rev() {
            chances[sum] = (chances[sum] + chances[sum - rank]) / 2.0;
        }
        chances[..rank.min(most + 1)].iter_mut().for_each(|chance| *chance /= 2.0);
    }
    chances
}

/// Twice the mid-rank of each |d|, so that halves stay whole.
fn doubled_mid_ranks(d: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..d.len()).collect();
    order.sort_by(|a, b| d[*a].abs().total_cmp(&d[*b].abs()));
    let mut ranks = vec![0; d.len()];
    let mut start = 0;
    while start < order.len() {
        let mut end = start + 1;
        while end < order.len() && d[order[end]].abs() == d[order[start]].abs() {
            end += 1;
        }
        for index in &order[start..end] {
            ranks[*index] = start + 1 + end;
        }
        start = end;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// Values on a coarse grid, so that ties and zeros occur.
    fn random_pairs(seed: u64, n: usize) -> Vec<(f64, f64)> {
        let mut rng = Rng::new(seed);
        let mut value = || 10.0 + rng.below(12) as f64;
        (0..n).map(|_| (value(), value())).collect()
    }

    #[track_caller]
    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }

    #[test]
    fn exchanging_arm_and_base_inverts_the_ratio() {
        for seed in 0..40 {
            let pairs = random_pairs(seed, 6 + seed as usize % 20);
            let turned: Vec<(f64, f64)> = pairs.iter().map(|(arm, base)| (*base, *arm)).collect();
            let (there, back) = (Paired::new(&pairs).unwrap(), Paired::new(&turned).unwrap());
            near(there.log_ratio(), -back.log_ratio());
            near(there.log_interval(0.95).unwrap().lo, -back.log_interval(0.95).unwrap().hi);
            near(there.p(), back.p());
        }
    }

    #[test]
    fn units_and_block_order_do_not_matter() {
        for seed in 0..40 {
            let pairs = random_pairs(seed, 12);
            let mut scaled: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (a * 1e-6, b * 1e-6)).collect();
            Rng::new(seed).shuffle(&mut scaled);
            let (plain, scaled) = (Paired::new(&pairs).unwrap(), Paired::new(&scaled).unwrap());
            near(plain.log_ratio(), scaled.log_ratio());
            near(plain.p(), scaled.p());
            let (a, b) = (plain.log_interval(0.9).unwrap(), scaled.log_interval(0.9).unwrap());
            near(a.lo, b.lo);
            near(a.hi, b.hi);
        }
    }

    #[test]
    fn p_is_the_share_of_all_sign_vectors() {
        for seed in 0..20 {
            let paired = Paired::new(&random_pairs(seed, 9)).unwrap();
            let rounded: Vec<f64> = paired.logs.iter().map(|d| (d * 1e12).round() / 1e12).collect();
            let ranks = doubled_mid_ranks(&rounded);
            let signed = |sign: &dyn Fn(usize) -> i64| -> i64 {
                let moving = (0..9).filter(|i| rounded[*i] != 0.0);
                moving.map(|i| sign(i) * ranks[i] as i64).sum::<i64>().abs()
            };
            let observed = signed(&|i| if rounded[i] > 0.0 { 1 } else { -1 });
            let extreme =
                (0..512u32).filter(|bits| signed(&|i| if bits >> i & 1 == 1 { 1 } else { -1 }) >= observed);
            near(paired.p(), extreme.count() as f64 / 512.0);
        }
    }

    #[test]
    fn hundreds_of_pairs_are_weighed() {
        let pairs: Vec<(f64, f64)> = random_pairs(1, 600).iter().map(|(a, b)| (a * 1.5, *b)).collect();
        let paired = Paired::new(&pairs).unwrap();
        let interval = paired.log_interval(0.95).unwrap();
        assert!(interval.lo > 0.3 && interval.hi < 0.5 && interval.lo < interval.hi, "{interval:?}");
        assert!(paired.p() < 1e-9 && paired.p() >= 0.0);
        let many = vec![(1.0, 1.0); MOST_PAIRS + 1];
        assert!(matches!(Paired::new(&many), Err(PairError::TooMany { .. })));
    }
}
