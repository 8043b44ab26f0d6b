//! Drift over a session: Kendall's tau against the order, and the slope of Theil and Sen.

use super::Interval;
use super::order::{median, ties};
use super::special::{normal_quantile, normal_tail};

/// Up to so many values the chance is counted out.
const EXACT_UP_TO: usize = 100;
/// More pairs of values than this square are not looked at.
const MOST_VALUES: usize = 4096;
/// Chance below which a trend counts as one.
const UNLIKELY: f64 = 0.01;

/// How values change with their place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// Kendall's tau (b) of value and place: 1 rises throughout, -1 falls throughout.
    pub tau: f64,
    /// The two-sided chance of such a tau without a trend: exact without ties up to a hundred values, else asymptotic.
    pub p: f64,
    /// Change from one value to the next: the median of all slopes between two.
    pub slope: f64,
    /// The 95 % interval of the slope.
    pub slope_interval: Interval,
    /// Change from first to last over the median, as a share; `None` where the median is 0.
    pub change: Option<f64>,
}

impl Trend {
    /// Whether a session drifted: a trend that is no chance, by more than half the margin.
    pub fn is_drift(&self, margin: f64) -> bool {
        self.p < UNLIKELY && self.change.is_some_and(|change| change.abs() > margin / 2.0)
    }
}

/// The trend of values in the order measured. `None` of fewer than three, of more than 4096, or where one is not
/// finite.
pub fn trend(x: &[f64]) -> Option<Trend> {
    let n = x.len();
    if !(3..=MOST_VALUES).contains(&n) || x.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut slopes = Vec::with_capacity(n * (n - 1) / 2);
    let (mut rising, mut falling) = (0usize, 0usize);
    for (i, early) in x.iter().enumerate() {
        for (j, late) in x.iter().enumerate().skip(i + 1) {
            slopes.push((late - early) / (j - i) as f64);
            rising += usize::from(late > early);
            falling += usize::from(late < early);
        }
    }
    slopes.sort_by(f64::total_cmp);
    let pairs = slopes.len();
    let tied = pairs - rising - falling;
    let score = rising as f64 - falling as f64;
    let untied = (pairs as f64 * (pairs - tied) as f64).sqrt();
    // Sum of t (t-1) (2t+5) over groups of t tied values lowers the variance of the score.
    let size = n as f64;
    let sd = ((size * (size - 1.0) * (2.0 * size + 5.0) - tie_correction(x)) / 18.0).max(0.0).sqrt();
    let p = match tied {
        _ if tied == pairs => 1.0,
        0 if n <= EXACT_UP_TO => exact_p(n, rising.min(falling)),
        _ => (2.0 * normal_tail(score.abs() / sd)).min(1.0),
    };
    let slope = median(&slopes)?;
    let middle = median(x)?;
    Some(Trend {
        tau: if untied > 0.0 { score / untied } else { 0.0 },
        p,
        slope,
        slope_interval: slope_interval(&slopes, sd),
        change: (middle != 0.0).then(|| slope * (n - 1) as f64 / middle),
    })
}

/// Sen's interval: ranks around the middle of all slopes, as far out as the score's deviation says.
fn slope_interval(slopes: &[f64], sd: f64) -> Interval {
    let (pairs, reach) = (slopes.len() as f64, normal_quantile(0.975) * sd);
    let low = ((pairs - reach) / 2.0).round_ties_even() - 1.0;
    let high = ((pairs + reach) / 2.0).round_ties_even();
    Interval { lo: slopes[low.max(0.0) as usize], hi: slopes[(high as usize).min(slopes.len() - 1)] }
}

fn tie_correction(x: &[f64]) -> f64 {
    // 2t^3 + 3t^2 - 5t from t^3 - t and t^2 - t alone.
    let (cubes, squares) = (ties(x, 3), ties(x, 2));
    2.0 * cubes + 3.0 * squares
}

/// The two-sided chance of at most `inversions` inversions, or as few of the other kind, in a random order of n.
fn exact_p(n: usize, inversions: usize) -> f64 {
    let mut chances = vec![1.0];
    for place in 2..=n {
        // The next value moves ahead of 0 to place - 1 of those before it, all equally likely.
        let mut next = vec![0.0; chances.len() + place - 1];
        for ahead in 0..place {
            next[ahead..].iter_mut().zip(&chances).for_each(|(to, from)| *to += from / place as f64);
        }
        chances = next;
    }
    (2.0 * chances.iter().take(inversions + 1).sum::<f64>()).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degenerate_series() {
        assert_eq!(trend(&[1.0, 2.0]), None);
        assert_eq!(trend(&[1.0, 2.0, f64::NAN]), None);
        let flat = trend(&[5.0; 10]).unwrap();
        assert_eq!((flat.tau, flat.p, flat.slope, flat.is_drift(0.0)), (0.0, 1.0, 0.0, false));
        assert_eq!(trend(&[-1.0, 0.0, 1.0]).unwrap().change, None);
    }

    #[test]
    fn drift_needs_size_and_certainty() {
        let rising: Vec<f64> = (0..12).map(|i| 100.0 + f64::from(i)).collect();
        let found = trend(&rising).unwrap();
        assert!(found.is_drift(0.02) && !found.is_drift(0.5), "{found:?}");
        assert!(!trend(&rising[..4]).unwrap().is_drift(0.02));
        // Exact and asymptotic meet where one takes over from the other.
        let long: Vec<f64> = (0..101).map(|i| f64::from((i * 37) % 101)).collect();
        let (exact, asymptotic) = (trend(&long[..100]).unwrap().p, trend(&long).unwrap().p);
        assert!((exact - asymptotic).abs() < 0.1, "{exact} {asymptotic}");
        // Ties go the asymptotic way.
        assert!(trend(&[1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0]).unwrap().p < 0.01);
    }
}
