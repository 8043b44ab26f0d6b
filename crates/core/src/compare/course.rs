//! How single runs went, where that misleads: a first interval unlike the others, a run far from its fellows.

use crate::quantity::human;
use crate::stats::median;
use crate::stats::summary::Summary;
use crate::unit::Unit;

/// Fewer intervals tell nothing of the first.
const ENOUGH: usize = 5;
/// In robust deviations of the other intervals.
const FAR: f64 = 3.0;
/// In interquartile ranges beyond the quartiles: what Tukey calls far out.
const FENCE: f64 = 3.0;
/// A median absolute deviation is this share of the deviation of normal noise.
const MAD_OF_NORMAL: f64 = 0.674_489_75;

/// The first interval of a run against the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Opening {
    /// Its value.
    pub first: f64,
    /// The median of the others.
    pub others: f64,
    /// All intervals.
    pub n: usize,
}

/// The first of several intervals, if it lies far from the others.
pub fn opening(values: &[f64]) -> Option<Opening> {
    let [first, rest @ ..] = values else { return None };
    let others = median(rest)?;
    let distances: Vec<f64> = rest.iter().map(|value| (value - others).abs()).collect();
    let far = (first - others).abs() > FAR * median(&distances)? / MAD_OF_NORMAL;
    let fit = values.len() > ENOUGH && first.is_finite() && others.is_finite() && others != 0.0;
    (far && fit).then_some(Opening { first: *first, others, n: values.len() })
}

impl Opening {
    /// The same in another unit.
    pub fn times(self, factor: f64) -> Opening {
        Opening { first: self.first * factor, others: self.others * factor, ..self }
    }

    /// As a sentence about `what`.
    pub fn text(&self, what: &str, unit: Unit) -> String {
        let share = (self.first / self.others - 1.0) * 100.0;
        let word = if share > 0.0 { "high" } else { "low" };
        format!(
            "{what}: the first of {} intervals, {}, is {word}: {:.0} % {} the median of the others, {}",
            self.n,
            human(self.first, unit, 3),
            share.abs(),
            if share > 0.0 { "above" } else { "below" },
            human(self.others, unit, 3)
        )
    }
}

/// The values that lie far from the others, and the rest; `None` where there are none or too few others.
pub fn far(values: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
    let (low, high) = Summary::of(values)?.fences(FENCE);
    let (near, far): (Vec<f64>, Vec<f64>) = values.iter().partition(|value| (low..=high).contains(*value));
    (!far.is_empty() && near.len() > 2).then_some((far, near))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_interval_unlike_the_others() {
        let high = opening(&[4.9, 4.2, 3.6, 4.1, 3.9, 4.3, 4.4, 4.3, 3.9, 4.3]).unwrap();
        assert_eq!((high.first, high.others, high.n), (4.9, 4.2, 10));
        let text = high.times(1e9).text("throughput of a", Unit::BitPerSecond);
        assert_eq!(
            text,
            "throughput of a: the first of 10 intervals, 4.90 Gbit/s, is high: 17 % above the median of the others, \
             4.20 Gbit/s"
        );
        assert!(opening(&[7.9, 8.7, 8.6, 8.5, 8.8, 8.6, 8.7, 7.8]).is_some());
        assert_eq!(opening(&[4.2, 4.3, 4.1, 4.2, 4.3, 4.25]), None);
        assert_eq!(opening(&[9.0, 1.0, 1.0]), None);
        assert_eq!(opening(&[]), None);
        assert_eq!(opening(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]), None);
    }

    #[test]
    fn far_values() {
        assert_eq!(far(&[18.2, 18.3, 18.7, 21.6, 18.5]).unwrap().0, [21.6]);
        assert_eq!(far(&[18.2, 18.3, 18.7, 18.9, 18.5]), None);
        assert_eq!(far(&[1.0, 2.0]), None);
        assert_eq!(far(&[f64::NAN, 2.0, 1.0]), None);
    }
}
