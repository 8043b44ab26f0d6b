//! What the samples of one series say by themselves.

use tenbin_core::sample::Series;
use tenbin_core::stats::order::percentile_of_sorted;
use tenbin_core::unit::Unit;

/// Descriptive figures of a series in its unit. What its samples cannot give is `None`.
pub struct Computed {
    /// Number of samples.
    pub n: usize,
    /// Mean; of an interval series weighted by the intervals' lengths.
    pub mean: Option<f64>,
    /// Median.
    pub median: Option<f64>,
    /// Smallest.
    pub min: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
    /// Standard deviation, dividing by n-1; needs two samples.
    pub sd: Option<f64>,
    /// Percentiles with at least ten samples above them: 60 pings bound no p99.
    pub p90: Option<f64>,
    /// As `p90`: needs 1,000 samples.
    pub p99: Option<f64>,
    /// As `p90`: needs 10,000 samples.
    pub p99_9: Option<f64>,
}

impl Computed {
    /// The figures of `series`.
    pub fn of(series: &Series) -> Computed {
        let mut sorted = series.values();
        sorted.sort_unstable_by(f64::total_cmp);
        let n = sorted.len();
        let tail = |p: f64, from: usize| (n >= from).then(|| percentile_of_sorted(&sorted, p)).flatten();
        Computed {
            n,
            mean: mean(series),
            median: percentile_of_sorted(&sorted, 0.5),
            min: sorted.first().copied(),
            max: sorted.last().copied(),
            sd: deviation(&sorted),
            p90: tail(0.9, 100),
            p99: tail(0.99, 1_000),
            p99_9: tail(0.999, 10_000),
        }
    }
}

fn mean(series: &Series) -> Option<f64> {
    if series.samples.is_empty() {
        return None;
    }
    let weights = interval_lengths(series).unwrap_or_else(|| vec![1.0; series.samples.len()]);
    let sum: f64 = series.samples.iter().zip(&weights).map(|(sample, weight)| sample.value * weight).sum();
    Some(sum / weights.iter().sum::<f64>())
}

/// The time each sample speaks for, where the samples are rates over the time since the sample before: a last
/// interval of 0.03 s must not count as a whole one.
fn interval_lengths(series: &Series) -> Option<Vec<f64>> {
    let is_rate = matches!(
        series.metric.unit,
        Unit::BitPerSecond | Unit::BytePerSecond | Unit::OpPerSecond | Unit::FlopPerSecond
    );
    if !is_rate {
        return None;
    }
    let ends: Option<Vec<f64>> = series.samples.iter().map(|sample| sample.time()).collect();
    let mut before = 0.0;
    let lengths: Vec<f64> = ends?.into_iter().map(|end| end - std::mem::replace(&mut before, end)).collect();
    lengths.iter().all(|length| *length > 0.0).then_some(lengths)
}

fn deviation(values: &[f64]) -> Option<f64> {
    let n = values.len();
    if n < 2 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (n - 1) as f64).sqrt())
}
