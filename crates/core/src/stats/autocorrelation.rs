//! How much neighbouring samples of one run repeat each other, and so how few independent ones they are worth.
//!
//! A diagnostic. Comparisons rest on blocks, which need none of this; only a lone imported log gets its interval from
//! its effective sample size.

use super::special::chi2_tail;
use super::summary::{Summary, mean};

/// Products that a search through the lags may take: about a second.
const MOST_PRODUCTS: usize = 1_000_000_000;

/// What correlation leaves of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Autocorrelation {
    /// Samples that are worth one independent one, at least 1 (Geyer's initial positive sequence).
    pub tau: f64,
    /// The same with the sums of pairs kept from rising (initial monotone sequence).
    pub tau_monotone: f64,
    /// Pairs of lags summed until the first that is not positive.
    pub pairs: usize,
    /// The search ended by itself. Otherwise the series is so long and so correlated that `tau` is a lower bound.
    pub complete: bool,
    /// Samples.
    pub n: usize,
}

impl Autocorrelation {
    /// The independent samples that the series is worth.
    pub fn effective_samples(&self) -> f64 {
        self.n as f64 / self.tau
    }
}

/// `None` of fewer than two values, where one is not finite, or where all are equal.
pub fn autocorrelation(x: &[f64]) -> Option<Autocorrelation> {
    let series = Centred::of(x)?;
    let n = x.len();
    let (mut sum, mut monotone, mut least) = (0.0, 0.0, f64::INFINITY);
    let mut pairs = 0;
    let mut complete = true;
    while 2 * pairs + 1 < n {
        if pairs * 2 * n > MOST_PRODUCTS {
            complete = false;
            break;
        }
        let pair = series.correlation(2 * pairs) + series.correlation(2 * pairs + 1);
        if pair <= 0.0 {
            break;
        }
        pairs += 1;
        least = pair.min(least);
        sum += pair;
        monotone += least;
    }
    let tau = |sum: f64| (2.0 * sum - 1.0).max(1.0);
    Some(Autocorrelation { tau: tau(sum), tau_monotone: tau(monotone), pairs, complete, n })
}

/// The correlations at lags 0 to `longest` (biased: every sum is divided by n). `None` as for [`autocorrelation`].
pub fn correlations(x: &[f64], longest: usize) -> Option<Vec<f64>> {
    let series = Centred::of(x)?;
    Some((0..=longest.min(x.len() - 1)).map(|lag| series.correlation(lag)).collect())
}

/// Ljung and Box's sum over the lags 1 to `lags` with its chance, were the values independent. `None` as for
/// [`autocorrelation`], and where there are not more values than lags.
pub fn ljung_box(x: &[f64], lags: usize) -> Option<(f64, f64)> {
    let series = Centred::of(x)?;
    let n = x.len() as f64;
    if lags == 0 || lags >= x.len() {
        return None;
    }
    let sum: f64 = (1..=lags).map(|lag| series.correlation(lag).powi(2) / (n - lag as f64)).sum();
    let q = n * (n + 2.0) * sum;
    Some((q, chi2_tail(q, lags as f64)))
}

/// Von Neumann's ratio of the mean squared step to the variance (by n): about 2 for independent values, less
/// for values that follow each other. `None` as for [`autocorrelation`].
pub fn von_neumann_ratio(x: &[f64]) -> Option<f64> {
    let series = Centred::of(x)?;
    let steps: f64 = x.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    let n = x.len() as f64;
    Some(steps / (n - 1.0) / (series.squares / n))
}

/// The standard error of the mean from means of whole batches of `batch` values, which correlation within a batch does
/// not fool. `None` of fewer than two batches.
pub fn batch_means_error(x: &[f64], batch: usize) -> Option<f64> {
    let means: Vec<f64> = x.chunks_exact(batch.max(1)).filter_map(mean).collect();
    let of = Summary::of(&means)?;
    (of.n > 1).then(|| of.sd / (of.n as f64).sqrt())
}

struct Centred {
    deviations: Vec<f64>,
    squares: f64,
}

impl Centred {
    fn of(x: &[f64]) -> Option<Centred> {
        let first = x.first()?;
        if x.iter().all(|value| value == first) || x.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        let deviations: Vec<f64> = x.iter().map(|value| value - mean).collect();
        let squares = deviations.iter().map(|d| d * d).sum();
        (squares > 0.0).then_some(Centred { deviations, squares })
    }

    fn correlation(&self, lag: usize) -> f64 {
        let products = self.deviations.iter().zip(&self.deviations[lag..]).map(|(a, b)| a * b);
        products.sum::<f64>() / self.squares
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degenerate_series() {
        assert_eq!(autocorrelation(&[]), None);
        assert_eq!(autocorrelation(&[0.1; 30]), None);
        assert_eq!(autocorrelation(&[1.0, f64::NAN]), None);
        assert_eq!((ljung_box(&[1.0, 2.0], 2), von_neumann_ratio(&[3.0; 5])), (None, None));
        assert_eq!((batch_means_error(&[1.0; 9], 5), batch_means_error(&[1.0; 10], 5)), (None, Some(0.0)));
        assert_eq!(autocorrelation(&[1.0, 2.0]).unwrap().effective_samples(), 2.0);
    }

    #[test]
    fn repeated_values_are_worth_one() {
        let mut rng = crate::rng::Rng::new(3);
        let fresh: Vec<f64> = (0..300).map(|_| rng.below(1000) as f64).collect();
        let repeated: Vec<f64> = fresh.iter().flat_map(|value| [*value; 8]).collect();
        let found = autocorrelation(&repeated).unwrap();
        assert!((6.0..11.0).contains(&found.tau) && found.complete, "{found:?}");
    }
}
