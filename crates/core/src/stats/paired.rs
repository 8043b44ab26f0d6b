//! The main comparison: paired log ratios over blocks, Hodges-Lehmann estimate, exact signed-rank interval, exact
//! sign-flip p. No normality is assumed, and a far block moves the estimate little.

use super::Interval;
use super::order::median;

/// The exact tests take time with the cube of the pairs; these take about a second.
const MOST_PAIRS: usize = 2048;

/// Why pairs can't be compared.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum PairError {
    /// There are none.
    #[error("no block has both values")]
    None,
    /// A ratio needs positive, finite values.
    #[error("{0} is no positive number, and ratios need those")]
    NotPositive(f64),
    /// So far apart that the ratio is no finite number.
    #[error("the ratio of {arm} to {base} is too far from 1 to be weighed")]
    TooFarApart {
        /// The value of the arm.
        arm: f64,
        /// The value of the base.
        base: f64,
    },
    /// More than can be handled.
    #[error("{0} pairs are more than {MOST_PAIRS}")]
    TooMany(usize),
    /// A margin is a share, from 0 up.
    #[error("{0} is no margin; it must be a finite share, not negative")]
    Margin(f64),
}

/// Paired log ratios and what follows from them.
#[derive(Clone, Debug, PartialEq)]
pub struct Paired {
    /// ln(arm / base) of each block, in the order given.
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
            return Err(PairError::TooMany(pairs.len()));
        }
        let bad = pairs.iter().flat_map(|(arm, base)| [*arm, *base]).find(|x| !(x.is_finite() && *x > 0.0));
        if let Some(bad) = bad {
            return Err(PairError::NotPositive(bad));
        }
        if let Some((arm, base)) = pairs.iter().find(|(arm, base)| !(arm / base).is_normal()) {
            return Err(PairError::TooFarApart { arm: *arm, base: *base });
        }
        Ok(Paired::of_logs(pairs.iter().map(|(arm, base)| (arm / base).ln()).collect()))
    }

    fn of_logs(logs: Vec<f64>) -> Paired {
        let mut walsh = Vec::with_capacity(logs.len() * (logs.len() + 1) / 2);
        for (i, a) in logs.iter().enumerate() {
            walsh.extend(logs[i..].iter().map(|b| (a + b) / 2.0));
        }
        walsh.sort_by(f64::total_cmp);
        Paired { logs, walsh }
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
        let observed: i64 = rounded
            .iter()
            .zip(&ranks)
            .map(|(d, rank)| {
                if *d > 0.0 {
                    *rank
                } else if *d < 0.0 {
                    -*rank
                } else {
                    0
                }
            })
            .sum();
        let moving: Vec<usize> =
            rounded.iter().zip(&ranks).filter(|(d, _)| **d != 0.0).map(|(_, rank)| *rank as usize).collect();
        let total: usize = moving.iter().sum();
        // Chance of each sum of the ranks that fall to plus.
        let chance = moving.into_iter().fold(vec![1.0], coin_flip);
        let extreme = |plus: usize| (2 * plus as i64 - total as i64).abs() >= observed.abs();
        let p: f64 = chance.iter().enumerate().filter(|(plus, _)| extreme(*plus)).map(|(_, c)| c).sum();
        p.min(1.0)
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
    let chance = (1..=n).fold(vec![1.0], coin_flip);
    let mut below = 0.0;
    for (w, c) in chance.iter().enumerate() {
        below += c;
        if below >= tail * (1.0 - 1e-12) {
            return (w > 0).then_some(w);
        }
    }
    None
}

/// The chances of each sum once `rank` is added to it or not, either equally likely.
fn coin_flip(mut chance: Vec<f64>, rank: usize) -> Vec<f64> {
    chance.iter_mut().for_each(|c| *c /= 2.0);
    let without = chance.clone();
    chance.resize(without.len() + rank, 0.0);
    chance[rank..].iter_mut().zip(&without).for_each(|(sum, c)| *sum += c);
    chance
}

/// Twice the mid-rank of each |d|, so that halves stay whole.
fn doubled_mid_ranks(d: &[f64]) -> Vec<i64> {
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
            ranks[*index] = (start + 1 + end) as i64;
        }
        start = end;
    }
    ranks
}
