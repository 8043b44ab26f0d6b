//! Means of two samples under normal noise: Welch's t for logs that give no more than mean and deviation, the classic
//! two one-sided tests, and whether one sample is steadier than the other. Verdicts over blocks need none of it.

use super::Interval;
use super::order::median;
use super::special::{f_tail, t_quantile, t_tail};
use super::summary::mean;

/// What a summary tells of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// How many values.
    pub n: usize,
    /// Their mean.
    pub mean: f64,
    /// Their deviation (n - 1).
    pub sd: f64,
}

impl Moments {
    /// `None` of fewer than two values or where one is not finite.
    pub fn of(values: &[f64]) -> Option<Moments> {
        let n = values.len();
        if n < 2 || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let mean = mean(values)?;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Moments { n, mean, sd: (squares / (n - 1) as f64).sqrt() })
    }
}

/// Welch's comparison of two means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Welch {
    /// First minus second mean.
    pub difference: f64,
    /// The standard error of that.
    pub error: f64,
    /// Their quotient.
    pub t: f64,
    /// Degrees of freedom (Welch and Satterthwaite).
    pub df: f64,
    /// The two-sided chance.
    pub p: f64,
}

impl Welch {
    /// `None` of fewer than two values on a side, or where figures are not finite or neither side has any spread.
    pub fn new(first: Moments, second: Moments) -> Option<Welch> {
        if first.n < 2 || second.n < 2 {
            return None;
        }
        let share = |of: Moments| of.sd * of.sd / of.n as f64;
        let (a, b) = (share(first), share(second));
        let error = (a + b).sqrt();
        let df = (a + b).powi(2) / (a * a / (first.n - 1) as f64 + b * b / (second.n - 1) as f64);
        let difference = first.mean - second.mean;
        let t = difference / error;
        (df.is_finite() && t.is_finite()).then(|| Welch {
            difference,
            error,
            t,
            df,
            p: (2.0 * t_tail(t.abs(), df)).min(1.0),
        })
    }

    /// The interval of the difference at confidence `level`.
    pub fn interval(&self, level: f64) -> Interval {
        let half = t_quantile(0.5 + level / 2.0, self.df) * self.error;
        Interval { lo: self.difference - half, hi: self.difference + half }
    }
}

/// The t test of the mean of paired differences: t and its two-sided chance. `None` of fewer than two, or where all
/// are equal.
pub fn paired_t(differences: &[f64]) -> Option<(f64, f64)> {
    let of = Moments::of(differences)?;
    let t = of.mean / (of.sd / (of.n as f64).sqrt());
    t.is_finite().then(|| (t, (2.0 * t_tail(t.abs(), (of.n - 1) as f64)).min(1.0)))
}

/// Two one-sided t tests of paired differences against `low` and `high`: the chances that the mean lies at or below
/// `low`, at or above `high`. `None` as for [`paired_t`].
pub fn equivalence(differences: &[f64], low: f64, high: f64) -> Option<(f64, f64)> {
    let of = Moments::of(differences)?;
    let (error, df) = (of.sd / (of.n as f64).sqrt(), (of.n - 1) as f64);
    let (below, above) = ((of.mean - low) / error, (high - of.mean) / error);
    (below.is_finite() && above.is_finite()).then(|| (t_tail(below, df), t_tail(above, df)))
}

/// Brown and Forsythe's test of equal spread: the chance of distances from the medians as unlike, if the groups spread
/// alike. `None` of fewer than two values a group, or where nothing spreads.
pub fn brown_forsythe(groups: &[&[f64]]) -> Option<f64> {
    let distances: Option<Vec<Vec<f64>>> = groups
        .iter()
        .map(|group| {
            let middle = median(group)?;
            let distances = group.iter().map(|x| (x - middle).abs()).collect::<Vec<f64>>();
            (group.len() > 1 && distances.iter().all(|d| d.is_finite())).then_some(distances)
        })
        .collect();
    let distances = distances?;
    let (k, n) = (distances.len() as f64, distances.iter().map(Vec::len).sum::<usize>() as f64);
    let all = distances.iter().flatten().sum::<f64>() / n;
    let (mut between, mut within) = (0.0, 0.0);
    for group in &distances {
        let middle = mean(group)?;
        between += group.len() as f64 * (middle - all).powi(2);
        within += group.iter().map(|d| (d - middle).powi(2)).sum::<f64>();
    }
    let f = (between / (k - 1.0)) / (within / (n - k));
    f.is_finite().then(|| f_tail(f, k - 1.0, n - k))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_published_summary_pair() {
        // 60 values each: 173 +- 20 against 255 +- 41.
        let first = Moments { n: 60, mean: 173.0, sd: 20.0 };
        let second = Moments { n: 60, mean: 255.0, sd: 41.0 };
        let found = Welch::new(first, second).unwrap();
        assert!((found.t + 13.92).abs() < 0.01 && (found.df - 85.6).abs() < 0.1, "{found:?}");
        let interval = found.interval(0.95);
        assert!(interval.lo < -82.0 && interval.hi > -82.0 && interval.hi < -70.0, "{interval:?}");
    }

    #[test]
    fn without_spread_there_is_no_t() {
        let flat = Moments { n: 5, mean: 1.0, sd: 0.0 };
        assert_eq!(Welch::new(flat, flat), None);
        assert_eq!(Welch::new(Moments { n: 1, ..flat }, flat), None);
        assert_eq!(paired_t(&[1.0; 5]), None);
        assert_eq!(equivalence(&[0.5], -1.0, 1.0), None);
        assert_eq!(brown_forsythe(&[&[1.0, 1.0], &[2.0, 2.0]]), None);
        assert_eq!(brown_forsythe(&[&[1.0, 2.0]]), None);
        assert_eq!(brown_forsythe(&[]), None);
    }
}
