//! Warm-up of a series: how much of its beginning to leave out so that the mean of the rest is known best (MSER).

/// Below so many batches nothing is judged: the latest cut must leave enough of them to tell a level.
const FEWEST_BATCHES: usize = 10;

/// Where a series becomes steady.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarmUp {
    /// Values before it; a multiple of the batch.
    pub samples: usize,
    /// The latest cut that was tried won: no steady state was found, and nothing should be trimmed.
    pub never_steady: bool,
    /// Squared deviations after the cut over the square of the batches left.
    pub statistic: f64,
}

impl WarmUp {
    /// Values to leave out: none where no steady state was found.
    pub fn to_trim(&self) -> usize {
        if self.never_steady { 0 } else { self.samples }
    }
}

/// Finds the warm-up over means of `batch` values (5; 1 where values are already means, such as 1-s intervals). The
/// first of equal minima wins; values behind the last whole batch don't count. `None` below ten batches.
pub fn warm_up(x: &[f64], batch: usize) -> Option<WarmUp> {
    let means: Vec<f64> =
        x.chunks_exact(batch.max(1)).map(|values| values.iter().sum::<f64>() / values.len() as f64).collect();
    let count = means.len();
    if count < FEWEST_BATCHES {
        return None;
    }
    // From the end, mean and squared deviations grow by one batch at a time; all-equal values leave exactly 0.
    let (mut mean, mut squares) = (0.0, 0.0);
    let mut best: Option<(usize, f64)> = None;
    for (cut, value) in means.iter().enumerate().rev() {
        let left = (count - cut) as f64;
        let off = value - mean;
        mean += off / left;
        squares += off * (value - mean);
        let statistic = squares / (left * left);
        if cut <= count / 2 && best.is_none_or(|(_, least)| statistic <= least) {
            best = Some((cut, statistic));
        }
    }
    best.map(|(cut, statistic)| WarmUp {
        samples: cut * batch.max(1),
        never_steady: cut == count / 2,
        statistic,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_constant_series() {
        assert_eq!(warm_up(&[1.0; 9], 1), None);
        assert_eq!(warm_up(&[1.0; 49], 5), None);
        assert_eq!(warm_up(&[0.1; 50], 5).unwrap().to_trim(), 0);
        let mut slow_start = [9.0; 20];
        slow_start[..3].copy_from_slice(&[1.0, 3.0, 6.0]);
        assert_eq!(warm_up(&slow_start, 1).unwrap().to_trim(), 3);
    }

    #[test]
    fn a_drift_is_no_warm_up() {
        let drift: Vec<f64> = (0..40).map(f64::from).collect();
        let found = warm_up(&drift, 1).unwrap();
        assert!(found.never_steady && found.to_trim() == 0, "{found:?}");
    }
}
