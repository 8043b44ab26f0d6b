//! The interval of a mean over runs where somebody asks for one: bias-corrected and accelerated bootstrap (BCa).

use super::Interval;
use super::order::percentile;
use super::special::{normal_cdf, normal_quantile};
use super::summary::mean;
use crate::rng::Rng;

/// Replicates that are drawn.
const REPLICATES: usize = 9_999;
/// More values need no bootstrap.
const MOST_VALUES: usize = 10_000;

/// A BCa interval with its ingredients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bca {
    /// The interval.
    pub interval: Interval,
    /// Median bias of the replicates, in normal deviations.
    pub bias: f64,
    /// How the deviation changes with the mean.
    pub acceleration: f64,
    /// The percentiles of the replicates that are its ends.
    pub percentiles: (f64, f64),
}

/// The interval of the mean of `values` at confidence `level`, from 9,999 seeded replicates. `None` of fewer than two
/// values or more than ten thousand, where one is not finite, or where all are equal.
pub fn mean_interval(values: &[f64], level: f64, seed: u64) -> Option<Bca> {
    if !(2..=MOST_VALUES).contains(&values.len()) {
        return None;
    }
    let mut rng = Rng::new(seed);
    let mut drawn = || values[rng.below(values.len() as u64) as usize];
    let replicates: Vec<f64> =
        (0..REPLICATES).map(|_| values.iter().map(|_| drawn()).sum::<f64>() / values.len() as f64).collect();
    bca(values, &replicates, level)
}

/// The interval of the mean of `values` from given replicates of it.
pub fn bca(values: &[f64], replicates: &[f64], level: f64) -> Option<Bca> {
    let theta = mean(values)?;
    if values.len() < 2 || replicates.is_empty() || !theta.is_finite() {
        return None;
    }
    let below = replicates.iter().filter(|r| **r < theta).count() as f64;
    let equal = replicates.iter().filter(|r| **r == theta).count() as f64;
    let bias = normal_quantile((below + equal / 2.0) / replicates.len() as f64);
    // The mean without one value falls short of the mean of those by what the value exceeds it, over n - 1.
    let rest = (values.len() - 1) as f64;
    let offs: Vec<f64> = values.iter().map(|x| (x - theta) / rest).collect();
    let squares: f64 = offs.iter().map(|u| u * u).sum();
    let acceleration = offs.iter().map(|u| u.powi(3)).sum::<f64>() / (6.0 * squares.powf(1.5));
    let at = |chance: f64| {
        let z = bias + normal_quantile(chance);
        normal_cdf(bias + z / (1.0 - acceleration * z))
    };
    let percentiles = (at((1.0 - level) / 2.0), at((1.0 + level) / 2.0));
    if !(bias.is_finite() && acceleration.is_finite() && percentiles.0 <= percentiles.1) {
        return None;
    }
    let interval =
        Interval { lo: percentile(replicates, percentiles.0)?, hi: percentile(replicates, percentiles.1)? };
    Some(Bca { interval, bias, acceleration, percentiles })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_holds_the_mean_and_keeps_its_seed() {
        let values = [20.1, 19.8, 20.4, 20.0, 19.9, 21.6, 20.2, 20.05];
        let found = mean_interval(&values, 0.95, 1).unwrap();
        let middle = mean(&values).unwrap();
        assert!(found.interval.lo < middle && middle < found.interval.hi);
        assert_eq!(mean_interval(&values, 0.95, 1), Some(found));
    }

    #[test]
    fn degenerate_values() {
        assert_eq!(mean_interval(&[], 0.95, 1), None);
        assert_eq!(mean_interval(&[1.0], 0.95, 1), None);
        assert_eq!(mean_interval(&[2.0; 8], 0.95, 1), None);
        assert_eq!(mean_interval(&[1.0, f64::NAN], 0.95, 1), None);
    }
}
