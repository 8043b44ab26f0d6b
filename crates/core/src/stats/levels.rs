//! Samples within runs within a session: how much of the spread arises on which level, and how many samples a run
//! should therefore take. Tunes the next plan; no verdict follows.

use super::summary::{Summary, mean};

/// The spread of samples split over two levels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Components {
    /// Mean variance within a run.
    pub within: f64,
    /// Variance of the runs' means, which holds a share of the variance within.
    pub of_means: f64,
    /// Variance between runs alone; not below 0.
    pub between: f64,
    /// Samples of a run.
    pub samples: usize,
}

impl Components {
    /// Runs of equally many samples each. `None` of fewer than two runs or samples, of unequal numbers, or where a
    /// value is not finite.
    pub fn of(runs: &[Vec<f64>]) -> Option<Components> {
        let samples = runs.first()?.len();
        if runs.len() < 2 || samples < 2 || runs.iter().any(|run| run.len() != samples) {
            return None;
        }
        let summaries: Vec<Summary> = runs.iter().map(|run| Summary::of(run)).collect::<Option<_>>()?;
        let within = mean(&summaries.iter().map(|run| run.sd * run.sd).collect::<Vec<f64>>())?;
        let means: Vec<f64> = summaries.iter().map(|run| run.mean).collect();
        let of_means = Summary::of(&means)?.sd.powi(2);
        let between = (of_means - within / samples as f64).max(0.0);
        Some(Components { within, of_means, between, samples })
    }

    /// The share of the spread that lies between runs.
    pub fn intraclass(&self) -> f64 {
        let all = self.within + self.between;
        if all > 0.0 { self.between / all } else { 0.0 }
    }

    /// The samples of a run that tell most for their cost, where starting a run costs `run` and a sample `sample`.
    /// `None` where runs do not differ: one long run would then do, or costs are no positive numbers.
    pub fn best_samples(&self, run: f64, sample: f64) -> Option<u64> {
        let best = (run / sample * self.within / self.between).sqrt().ceil();
        (best.is_finite() && best >= 0.0).then(|| (best as u64).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degenerate_sessions() {
        assert_eq!(Components::of(&[]), None);
        assert_eq!(Components::of(&[vec![1.0, 2.0]]), None);
        assert_eq!(Components::of(&[vec![1.0, 2.0], vec![1.0]]), None);
        let alike = Components::of(&[vec![1.0, 3.0], vec![1.0, 3.0]]).unwrap();
        assert_eq!((alike.between, alike.intraclass(), alike.best_samples(1.0, 1.0)), (0.0, 0.0, None));
        let constant = Components::of(&[vec![1.0; 3], vec![2.0; 3]]).unwrap();
        assert_eq!((constant.intraclass(), constant.best_samples(30.0, 0.1)), (1.0, Some(1)));
        assert_eq!(constant.best_samples(-1.0, f64::NAN), None);
    }
}
