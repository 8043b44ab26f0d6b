//! Order statistics: percentiles, and quantiles with their exact intervals.

use super::special::binomial_cdf;

/// A percentile is shown only where so many samples lie beyond it.
const FEWEST_BEYOND: f64 = 10.0;

/// Percentile `p` (0..=1) of `values`, interpolated (Hyndman and Fan's type 7); `None` of nothing.
pub fn percentile(values: &[f64], p: f64) -> Option<f64> {
    percentile_of_sorted(&sorted(values), p)
}

/// [`percentile`] of values that are in order already.
pub fn percentile_of_sorted(sorted: &[f64], p: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let at = p.clamp(0.0, 1.0) * last as f64;
    let (below, part) = (at.floor() as usize, at.fract());
    let above = sorted.get(below + 1).copied().unwrap_or(sorted[below]);
    Some(sorted[below] + part * (above - sorted[below]))
}

/// Percentile `p` (0..=1) of `values` as the smallest one that at least that share does not exceed (type 1, nearest
/// rank), as histograms give it; `None` of nothing.
pub fn nearest_percentile(values: &[f64], p: f64) -> Option<f64> {
    let sorted = sorted(values);
    let last = sorted.len().checked_sub(1)?;
    // A product such as 0.07 * 100 lies a rounding above its whole number.
    let rank = (p.clamp(0.0, 1.0) * sorted.len() as f64 * (1.0 - 4.0 * f64::EPSILON)).ceil() as usize;
    Some(sorted[rank.saturating_sub(1).min(last)])
}

/// Whether n samples bear percentile `p` (0..=1): sixty say nothing about a 99th.
pub fn bears_percentile(n: usize, p: f64) -> bool {
    n as f64 * (1.0 - p) >= FEWEST_BEYOND * (1.0 - 1e-9)
}

/// The median; `None` of nothing.
pub fn median(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

/// The median of values that nobody needs any more: of millions no copy is made and none is sorted.
pub fn median_of(mut values: Vec<f64>) -> Option<f64> {
    median_in(&mut values)
}

/// [`median`] of values whose order may change.
pub fn median_in(values: &mut [f64]) -> Option<f64> {
    let n = values.len();
    if n == 0 {
        return None;
    }
    let (below, middle, _) = values.select_nth_unstable_by(n / 2, f64::total_cmp);
    let middle = *middle;
    match below.iter().copied().max_by(f64::total_cmp) {
        Some(before) if n.is_multiple_of(2) => Some((before + middle) / 2.0),
        _ => Some(middle),
    }
}

/// The exact interval of the median at confidence `level`; `None` where no finite one exists.
pub fn median_interval(values: &[f64], level: f64) -> Option<(f64, f64)> {
    let rank = median_rank(values.len(), level)?;
    let sorted = sorted(values);
    Some((sorted[rank - 1], sorted[values.len() - rank]))
}

/// The rank l, from 1, such that the l-th smallest and the l-th largest of n values enclose the median: the largest
/// l with P(Bin(n, 1/2) <= l-1) <= (1-level)/2.
pub fn median_rank(n: usize, level: f64) -> Option<usize> {
    quantile_ranks(n, 0.5, level).0
}

/// The ranks, from 1, of the values that enclose quantile `p` of what n values were drawn from, whatever its
/// distribution; `None` where that side is unbounded. The lower is the largest r with P(Bin(n, p) <= r-1) <=
/// (1-level)/2, the upper the smallest with P(Bin(n, p) <= r-1) >= (1+level)/2.
pub fn quantile_ranks(n: usize, p: f64, level: f64) -> (Option<usize>, Option<usize>) {
    let tail = (1.0 - level) / 2.0;
    let (mut low, mut high) = (None, None);
    // Rank n+1 would be beyond all values, so that k = n is not looked at.
    for (k, below) in binomial_cdf(n, p).take(n).enumerate() {
        if below <= tail * (1.0 + 1e-12) {
            low = Some(k + 1);
        }
        if below >= (1.0 - tail) * (1.0 - 1e-12) {
            high = Some(k + 1);
            break;
        }
    }
    (low, high)
}

/// The exact interval of quantile `p` at confidence `level`; `None` where a side is unbounded: the 99th percentile
/// needs 368 values, the 99.9th 3,688.
pub fn quantile_interval(values: &[f64], p: f64, level: f64) -> Option<(f64, f64)> {
    let (Some(low), Some(high)) = quantile_ranks(values.len(), p, level) else { return None };
    let sorted = sorted(values);
    Some((sorted[low - 1], sorted[high - 1]))
}

/// The sum of t^`power` - t over groups of t equal values: what tests on ranks correct their variance by.
pub(super) fn ties(values: &[f64], power: i32) -> f64 {
    let groups = sorted(values);
    let groups = groups.chunk_by(|a, b| a == b).map(|group| group.len() as f64);
    groups.map(|t| t.powi(power) - t).sum()
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_agree() {
        for n in 0..50_u64 {
            let values: Vec<f64> = (0..n).map(|i| (i * 7919 % 31) as f64).collect();
            assert_eq!(median_of(values.clone()), median(&values), "{n}");
            assert_eq!(percentile(&values, 0.5), median(&values), "{n}");
        }
    }

    #[track_caller]
    fn check(n: usize, p: f64, shown: bool, bounded: bool) {
        assert_eq!(bears_percentile(n, p), shown);
        let values: Vec<f64> = (0..n).map(|i| i as f64).collect();
        assert_eq!(quantile_interval(&values, p, 0.95).is_some(), bounded);
    }

    #[test]
    fn percentiles_that_samples_bear() {
        check(60, 0.99, false, false);
        check(367, 0.99, false, false);
        check(368, 0.99, false, true);
        check(1000, 0.99, true, true);
        check(3687, 0.999, false, false);
        check(3688, 0.999, false, true);
        check(100, 0.9, true, true);
    }

    #[test]
    fn nothing_has_no_percentile() {
        assert_eq!((percentile(&[], 0.5), nearest_percentile(&[], 0.5), median(&[])), (None, None, None));
        assert_eq!(quantile_ranks(0, 0.5, 0.95), (None, None));
    }
}
