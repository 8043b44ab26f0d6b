//! Two independent samples, for imported runs that were never interleaved: two-sample Hodges-Lehmann estimate,
//! interval by inverting the Mann-Whitney test, effect sizes. Drift between the two is not cancelled, so this is the
//! second choice; blocks are compared by [`super::paired`].

use super::Interval;
use super::order::{median, ties};
use super::paired::PairError;
use super::special::{normal_quantile, normal_tail};

/// More differences than fit comfortably in memory.
const MOST_DIFFERENCES: usize = 16_000_000;
/// Up to so many differences the distribution is counted out; beyond, the normal approximation is as good.
const EXACT_UP_TO: usize = 10_000;

/// Two samples and the differences between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Unpaired {
    /// Values of the first.
    pub first: usize,
    /// Values of the second.
    pub second: usize,
    /// Mann-Whitney's U of the first: how often its values are the larger ones, ties by half.
    pub u: f64,
    /// All differences first - second, ascending: of logs or of plain values.
    differences: Vec<f64>,
    /// Sum of t^3 - t over groups of t tied values.
    ties: f64,
}

/// A chance, and how it was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct P {
    /// The two-sided chance.
    pub value: f64,
    /// Whether it was counted out; otherwise it is asymptotic, with tie and continuity correction.
    pub exact: bool,
}

impl Unpaired {
    /// Compares by ratio: estimate and interval are logs of first / second. Values must be positive.
    pub fn ratios(first: &[f64], second: &[f64]) -> Result<Unpaired, PairError> {
        let bad = first.iter().chain(second).find(|x| !(x.is_finite() && **x > 0.0));
        if let Some(bad) = bad {
            return Err(PairError::NotPositive(*bad));
        }
        Unpaired::by(first, second, |a, b| (a / b).ln())
    }

    /// Compares by difference: estimate and interval are in the unit of the values.
    pub fn shifts(first: &[f64], second: &[f64]) -> Result<Unpaired, PairError> {
        Unpaired::by(first, second, |a, b| a - b)
    }

    fn by(first: &[f64], second: &[f64], difference: fn(f64, f64) -> f64) -> Result<Unpaired, PairError> {
        if first.is_empty() || second.is_empty() {
            return Err(PairError::OneSided);
        }
        let count = first.len().saturating_mul(second.len());
        if count > MOST_DIFFERENCES {
            return Err(PairError::TooMany { count, most: MOST_DIFFERENCES });
        }
        let mut differences = Vec::with_capacity(count);
        let mut u = 0.0;
        for a in first {
            for b in second {
                let d = difference(*a, *b);
                if !d.is_finite() {
                    return Err(PairError::TooFarApart { arm: *a, base: *b });
                }
                u += if a > b { 1.0 } else { f64::from(u8::from(a == b)) / 2.0 };
                differences.push(d);
            }
        }
        differences.sort_by(f64::total_cmp);
        let all: Vec<f64> = first.iter().chain(second).copied().collect();
        Ok(Unpaired { first: first.len(), second: second.len(), u, differences, ties: ties(&all, 3) })
    }

    /// The Hodges-Lehmann estimate: the median of all differences.
    pub fn estimate(&self) -> f64 {
        median(&self.differences).unwrap_or(0.0)
    }

    /// The interval of the difference at confidence `level`; `None` where too few values allow no finite one.
    pub fn interval(&self, level: f64) -> Option<Interval> {
        let k = mann_whitney_critical(self.first, self.second, level)?;
        Some(Interval { lo: self.differences[k - 1], hi: self.differences[self.differences.len() - k] })
    }

    /// The two-sided chance of a U as far from its middle, were the two alike: exact without ties and up to 10,000
    /// differences, else asymptotic.
    pub fn p(&self) -> P {
        let exact = self.ties == 0.0 && self.first * self.second <= EXACT_UP_TO;
        P { value: if exact { self.exact_p() } else { self.asymptotic_p() }, exact }
    }

    fn exact_p(&self) -> f64 {
        let count = (self.first * self.second) as f64;
        let smaller = self.u.min(count - self.u) as usize;
        let tail: f64 = u_chances(self.first, self.second)[..=smaller].iter().sum();
        (2.0 * tail).min(1.0)
    }

    /// The asymptotic chance with tie and continuity correction, whatever the size.
    pub fn asymptotic_p(&self) -> f64 {
        let (m, n) = (self.first as f64, self.second as f64);
        let all = m + n;
        let variance = m * n / 12.0 * (all + 1.0 - self.ties / (all * (all - 1.0)));
        let z = ((self.u - m * n / 2.0).abs() - 0.5) / variance.sqrt();
        // All values alike: no variance, nothing to tell apart.
        if variance > 0.0 { (2.0 * normal_tail(z)).min(1.0) } else { 1.0 }
    }

    /// Vargha and Delaney's A: the chance that a value of the first is the larger one, ties by half.
    pub fn a12(&self) -> f64 {
        self.u / (self.first * self.second) as f64
    }

    /// Cliff's delta: A stretched to -1..=1.
    pub fn cliffs_delta(&self) -> f64 {
        2.0 * self.a12() - 1.0
    }
}

/// k of the interval [D_(k), D_(mn-k+1)] over all differences: the smallest u with P(U <= u) >= (1-level)/2, as R's
/// `qwilcox`; `None` where that is 0.
pub fn mann_whitney_critical(m: usize, n: usize, level: f64) -> Option<usize> {
    let tail = (1.0 - level) / 2.0;
    if m * n > EXACT_UP_TO {
        let (m, n) = (m as f64, n as f64);
        let k = m * n / 2.0 + normal_quantile(tail) * (m * n * (m + n + 1.0) / 12.0).sqrt();
        return (k >= 1.0).then_some(k as usize);
    }
    let mut below = 0.0;
    let k = u_chances(m, n).iter().position(|chance| {
        below += chance;
        below >= tail * (1.0 - 1e-12)
    });
    k.filter(|k| *k > 0)
}

/// The smallest two-sided chance that m and n values without ties can give.
pub fn smallest_p(m: usize, n: usize) -> f64 {
    2.0 * u_chances(m, n).first().copied().unwrap_or(0.5)
}

/// Kolmogorov and Smirnov: the largest distance of two samples' distributions and its exact chance, were they alike.
/// `None` where one is empty, both are so large that paths can't be counted, or a value is not finite.
pub fn kolmogorov_smirnov(first: &[f64], second: &[f64]) -> Option<(f64, f64)> {
    let (m, n) = (first.len(), second.len());
    let sound = m > 0 && n > 0 && m.saturating_mul(n) <= MOST_DIFFERENCES;
    if !sound || first.iter().chain(second).any(|x| !x.is_finite()) {
        return None;
    }
    let mut all: Vec<(f64, bool)> = first.iter().map(|x| (*x, true)).collect();
    all.extend(second.iter().map(|x| (*x, false)));
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Distances are whole numbers of 1/mn.
    let apart = |i: usize, j: usize| (i * n).abs_diff(j * m);
    let (mut i, mut j, mut largest) = (0, 0, 0);
    for group in all.chunk_by(|a, b| a.0 == b.0) {
        i += group.iter().filter(|(_, of_first)| *of_first).count();
        j += group.iter().filter(|(_, of_first)| !of_first).count();
        largest = largest.max(apart(i, j));
    }
    // The chance that a random order of both, a path from (0, 0) to (m, n), gets so far apart anywhere.
    let mut far = vec![0.0; n + 1];
    for i in 0..=m {
        for j in 0..=n {
            far[j] = match (i, j) {
                _ if apart(i, j) >= largest => 1.0,
                (0, 0) => 0.0,
                (0, _) => far[j - 1],
                (_, 0) => far[j],
                _ => (i as f64 * far[j] + j as f64 * far[j - 1]) / (i + j) as f64,
            };
        }
    }
    Some((largest as f64 / (m * n) as f64, far[n]))
}

/// The chance of every U from 0 to mn where the two are alike and nothing is tied.
fn u_chances(m: usize, n: usize) -> Vec<f64> {
    // The distribution is symmetric; the smaller sample makes the rows, of which all are kept.
    let (m, n) = (m.max(n), m.min(n));
    // The largest of i + j values belongs to the first with chance i / (i + j), and then beats all j of the second.
    let mut rows: Vec<Vec<f64>> = vec![vec![1.0]; n + 1];
    for i in 1..=m {
        for j in 1..=n {
            let share = i as f64 / (i + j) as f64;
            let mut chances = vec![0.0; i * j + 1];
            chances[j..].iter_mut().zip(&rows[j]).for_each(|(to, from)| *to = share * from);
            chances.iter_mut().zip(&rows[j - 1]).for_each(|(to, from)| *to += (1.0 - share) * from);
            rows[j] = chances;
        }
    }
    rows.pop().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_samples_agree_with_small_ones() {
        let exact = mann_whitney_critical(100, 100, 0.95).unwrap();
        let tail = normal_quantile(0.025) * (100.0 * 100.0 * 201.0 / 12.0f64).sqrt();
        assert!((exact as f64 - (5000.0 + tail)).abs() < 3.0, "{exact}");
        let rising: Vec<f64> = (1..=150).map(f64::from).collect();
        let doubled: Vec<f64> = rising.iter().map(|x| 2.0 * x).collect();
        let large = Unpaired::ratios(&doubled, &rising).unwrap();
        assert!(!large.p().exact && large.p().value < 0.001);
        let interval = large.interval(0.95).unwrap();
        assert!(interval.lo.exp() < 2.0 && interval.hi.exp() > 2.0 && interval.lo > 0.0, "{interval:?}");
    }

    #[test]
    fn exchanging_the_samples_inverts_the_ratio() {
        let (a, b) = ([1.1, 2.2, 3.3, 4.4, 9.0], [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]);
        let (there, back) = (Unpaired::ratios(&a, &b).unwrap(), Unpaired::ratios(&b, &a).unwrap());
        assert!((there.estimate() + back.estimate()).abs() < 1e-12);
        assert_eq!(there.p(), back.p());
        assert_eq!(there.cliffs_delta(), -back.cliffs_delta());
        assert!((there.interval(0.95).unwrap().lo + back.interval(0.95).unwrap().hi).abs() < 1e-12);
    }

    #[test]
    fn degenerate_samples() {
        assert_eq!(Unpaired::ratios(&[], &[1.0]), Err(PairError::OneSided));
        assert_eq!(Unpaired::ratios(&[0.0], &[1.0]), Err(PairError::NotPositive(0.0)));
        assert!(Unpaired::shifts(&[f64::INFINITY], &[1.0]).is_err());
        let alike = Unpaired::ratios(&[2.0; 6], &[2.0; 6]).unwrap();
        assert_eq!((alike.p().value, alike.a12(), alike.estimate()), (1.0, 0.5, 0.0));
    }
}
