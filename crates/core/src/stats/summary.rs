//! Figures that describe values: location, spread, far values, and what a printed ping summary still tells.
//! They describe; what is inferred rests on blocks ([`super::paired`]).

use super::order::{median, percentile};
use super::special::t_quantile;

/// What describes a list of values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// How many there are.
    pub n: usize,
    /// The arithmetic mean.
    pub mean: f64,
    /// The median.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// The standard deviation of a sample (n - 1); 0 for one value.
    pub sd: f64,
    /// The standard deviation of a population (n), which ping calls mdev.
    pub mdev: f64,
    /// The median of the distances from the median, unscaled.
    pub mad: f64,
    /// The lower quartile (type 7).
    pub q1: f64,
    /// The upper quartile (type 7).
    pub q3: f64,
    /// Mean third and fourth power of the deviations, over those of their deviation (n).
    shape: Option<(f64, f64)>,
}

impl Summary {
    /// `None` of nothing, or where a value is not finite.
    pub fn of(values: &[f64]) -> Option<Summary> {
        if values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let (mean, middle) = (mean(values)?, median(values)?);
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let distances: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
        let n = values.len();
        Some(Summary {
            n,
            mean,
            median: middle,
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            sd: if n > 1 { (squares / (n - 1) as f64).sqrt() } else { 0.0 },
            mdev: (squares / n as f64).sqrt(),
            mad: median(&distances)?,
            q1: percentile(values, 0.25)?,
            q3: percentile(values, 0.75)?,
            shape: shape(values, mean, (squares / n as f64).sqrt()),
        })
    }

    /// How lopsided the values are: 0 for symmetric ones, above it with a long tail to the right; `None` without
    /// spread.
    pub fn skewness(&self) -> Option<f64> {
        self.shape.map(|(skew, _)| skew)
    }

    /// Sarle's coefficient: 5/9 for an even spread, more for two humps, but also for one hump with a long tail; `None`
    /// without spread.
    pub fn bimodality(&self) -> Option<f64> {
        self.shape.map(|(skew, kurtosis)| (skew * skew + 1.0) / kurtosis)
    }

    /// The standard deviation over the mean; `None` where the mean is 0.
    pub fn cv(&self) -> Option<f64> {
        (self.mean != 0.0).then(|| self.sd / self.mean)
    }

    /// Tukey's fences: `reach` interquartile ranges outside the quartiles. Values beyond them are mild (1.5) or far (3).
    pub fn fences(&self, reach: f64) -> (f64, f64) {
        let reach = reach * (self.q3 - self.q1);
        (self.q1 - reach, self.q3 + reach)
    }

    /// Half the width of the t interval of the mean at confidence `level`; `None` of one value.
    pub fn mean_half_width(&self, level: f64) -> Option<f64> {
        mean_half_width(self.n, self.sd, level)
    }
}

fn shape(values: &[f64], mean: f64, sd: f64) -> Option<(f64, f64)> {
    let moment =
        |power| values.iter().map(|x| ((x - mean) / sd).powi(power)).sum::<f64>() / values.len() as f64;
    (sd > 0.0 && sd.is_finite()).then(|| (moment(3), moment(4)))
}

/// The arithmetic mean; `None` of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The mean of (value, weight); `None` where the weights are negative or all 0.
pub fn weighted_mean(weighted: &[(f64, f64)]) -> Option<f64> {
    let total: f64 = weighted.iter().map(|(_, weight)| weight).sum();
    let sound = total > 0.0 && total.is_finite() && weighted.iter().all(|(_, weight)| *weight >= 0.0);
    sound.then(|| weighted.iter().map(|(value, weight)| value * weight).sum::<f64>() / total)
}

/// The geometric mean, which is what ratios are averaged by; `None` of nothing or where a value is not positive.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    let logs: Vec<f64> = positive(values)?.iter().map(|value| value.ln()).collect();
    mean(&logs).map(f64::exp)
}

/// The harmonic mean, the rate of equal pieces of work; `None` of nothing or where a value is not positive.
pub fn harmonic_mean(rates: &[f64]) -> Option<f64> {
    let costs: Vec<f64> = positive(rates)?.iter().map(|rate| 1.0 / rate).collect();
    mean(&costs).map(|cost| 1.0 / cost)
}

/// The rate over several (work, seconds): all work over all time, never a mean of rates. `None` without time.
pub fn total_rate(pieces: &[(f64, f64)]) -> Option<f64> {
    let (work, seconds) = pieces.iter().fold((0.0, 0.0), |sum, piece| (sum.0 + piece.0, sum.1 + piece.1));
    (seconds > 0.0).then(|| work / seconds)
}

fn positive(values: &[f64]) -> Option<&[f64]> {
    values.iter().all(|value| *value > 0.0 && value.is_finite()).then_some(values)
}

/// Half the width of the t interval of a mean at confidence `level`, from n and the sample's deviation (n - 1).
pub fn mean_half_width(n: usize, sd: f64, level: f64) -> Option<f64> {
    (n > 1).then(|| t_quantile(0.5 + level / 2.0, (n - 1) as f64) * sd / (n as f64).sqrt())
}

/// What a printed summary of n replies tells once its largest one is left out: mean and population deviation of the
/// rest. The deviation is indicative only, since the printed figures are rounded. `None` of fewer than two replies, or
/// where the figures contradict each other.
pub fn without_max(n: usize, mean: f64, max: f64, mdev: f64) -> Option<(f64, f64)> {
    if n < 2 || max < mean {
        return None;
    }
    let (all, rest) = (n as f64, (n - 1) as f64);
    let rest_mean = (all * mean - max) / rest;
    let variance = (all * (mdev * mdev + mean * mean) - max * max) / rest - rest_mean * rest_mean;
    // Rounded figures may leave less than nothing; anything but a small deficit is a contradiction.
    let sound = variance.is_finite() && variance > -0.01 * mean * mean;
    sound.then(|| (rest_mean, variance.max(0.0).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_made_of_nothing() {
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[1.0, f64::NAN]), None);
        assert_eq!(Summary::of(&[2.0]).unwrap().sd, 0.0);
        assert_eq!(Summary::of(&[2.0]).unwrap().mean_half_width(0.95), None);
        assert_eq!(Summary::of(&[0.0]).unwrap().cv(), None);
        assert_eq!(geometric_mean(&[]), None);
        assert_eq!(harmonic_mean(&[1.0, 0.0]), None);
        assert_eq!(total_rate(&[(5.0, 0.0)]), None);
        assert_eq!(without_max(60, 0.1, 0.05, 0.01), None);
        assert_eq!(without_max(3, 1.0, 9.0, 0.1), None);
    }

    #[test]
    fn weights_count() {
        assert_eq!(weighted_mean(&[(1.0, 1.0), (4.0, 2.0)]), Some(3.0));
        assert_eq!(weighted_mean(&[(1.0, 0.0)]), None);
        assert_eq!(weighted_mean(&[(1.0, 3.0), (1.0, -1.0)]), None);
    }
}
