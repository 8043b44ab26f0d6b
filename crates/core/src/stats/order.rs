//! Order statistics: percentiles, and the median with its exact interval.

/// Percentile `p` (0..=1) of `values`, interpolated (Hyndman and Fan's type 7); `None` of nothing.
pub fn percentile(values: &[f64], p: f64) -> Option<f64> {
    let sorted = sorted(values);
    let last = sorted.len().checked_sub(1)?;
    let at = p.clamp(0.0, 1.0) * last as f64;
    let (below, part) = (at.floor() as usize, at.fract());
    let above = sorted.get(below + 1).copied().unwrap_or(sorted[below]);
    Some(sorted[below] + part * (above - sorted[below]))
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

/// The exact interval of the median at confidence `level`; `None` where no finite one exists.
pub fn median_interval(values: &[f64], level: f64) -> Option<(f64, f64)> {
    let rank = median_rank(values.len(), level)?;
    let sorted = sorted(values);
    Some((sorted[rank - 1], sorted[values.len() - rank]))
}

/// The rank l, from 1, such that the l-th smallest and the l-th largest of n values enclose the median: the largest
/// l with P(Bin(n, 1/2) <= l-1) <= (1-level)/2.
pub fn median_rank(n: usize, level: f64) -> Option<usize> {
    let tail = (1.0 - level) / 2.0;
    let ln_half_n = n as f64 * 0.5f64.ln();
    let (mut ln_choose, mut below, mut rank) = (0.0, 0.0, 0);
    for k in 0..n {
        below += (ln_choose + ln_half_n).exp();
        if below > tail * (1.0 + 1e-12) {
            break;
        }
        rank = k + 1;
        ln_choose += ((n - k) as f64 / (k + 1) as f64).ln();
    }
    (rank > 0).then_some(rank)
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}
