//! Many questions asked of the same blocks: how likely any of them is answered wrongly.
//!
//! [`MaxT`] is the default for curves and for more than two arms; [`holm`] and [`benjamini_hochberg`] work on single p
//! values and are there on request. The other two exist for readers who know them.

use super::Interval;
use super::paired::fewest_for_p;
use crate::rng::Rng;

/// Up to so many blocks every vector of signs is looked at.
const EXACT_UP_TO: usize = 14;
/// Beyond, so many are drawn; the observed one makes the round number.
const DRAWN: usize = 9_999;
/// Sums of the same numbers in another order differ by rounding.
const TOLERANCE: f64 = 1e-12;
/// Blocks times questions times sign vectors that are worked through: some seconds.
const MOST_PRODUCTS: usize = 4_000_000_000;

/// The largest of many statistics under sign flips. If arm and base are alike, a block's log ratios are as likely to
/// have all the opposite sign; so one sign is drawn for a block and holds for all its questions, which keeps whatever
/// ties them together.
#[derive(Clone, Debug, PartialEq)]
pub struct MaxT {
    /// T of every question: |sum of d| / root of the sum of d squared over blocks; 0 where all d are 0.
    pub statistics: Vec<f64>,
    /// The chance of a T as large for this question alone.
    pub raw: Vec<f64>,
    /// The chance that any question has a T as large.
    pub adjusted: Vec<f64>,
    /// Whether all sign vectors were looked at.
    pub exact: bool,
    /// Per sign vector the largest T, falling.
    largest: Vec<f64>,
}

impl MaxT {
    /// `columns[question][block]` is the log ratio (or difference); NaN where that block lacks it, which then counts
    /// for nothing. `seed` matters beyond fourteen blocks only. `None` without blocks, where lengths differ, where a
    /// value is infinite, or where there is too much of it.
    pub fn new(columns: &[Vec<f64>], seed: u64) -> Option<MaxT> {
        let blocks = columns.first()?.len();
        let sound = |column: &Vec<f64>| column.len() == blocks && column.iter().all(|d| !d.is_infinite());
        let exact = blocks <= EXACT_UP_TO;
        // Turning all signs round changes no T, so that one half of the vectors stands for all.
        let vectors = if exact { 1usize << blocks.saturating_sub(1) } else { DRAWN };
        let products = blocks.checked_mul(columns.len())?.checked_mul(vectors)?;
        if blocks == 0 || products > MOST_PRODUCTS || !columns.iter().all(sound) {
            return None;
        }
        // Each column is scaled to unit length; T is then the absolute sum.
        let units: Vec<Vec<f64>> = columns.iter().map(|column| unit_length(column)).collect();
        let statistics: Vec<f64> = units.iter().map(|unit| unit.iter().sum::<f64>().abs()).collect();
        let mut flips = Flips { exact, blocks, next: 0, rng: Rng::new(seed) };
        let mut signs = vec![1.0; blocks];
        let mut reached = vec![usize::from(!exact); columns.len()];
        let mut largest = Vec::with_capacity(vectors + 1);
        if !exact {
            largest.push(statistics.iter().copied().fold(0.0, f64::max));
        }
        for _ in 0..vectors {
            flips.fill(&mut signs);
            let mut most: f64 = 0.0;
            for ((unit, statistic), reached) in units.iter().zip(&statistics).zip(&mut reached) {
                let t = unit.iter().zip(&signs).map(|(d, sign)| d * sign).sum::<f64>().abs();
                *reached += usize::from(t >= statistic - TOLERANCE);
                most = most.max(t);
            }
            largest.push(most);
        }
        largest.sort_by(|a, b| b.total_cmp(a));
        let share = |count: usize| count as f64 / largest.len() as f64;
        let raw = reached.into_iter().map(share).collect();
        let adjusted = statistics
            .iter()
            .map(|t| share(largest.partition_point(|most| *most >= t - TOLERANCE)))
            .collect();
        Some(MaxT { statistics, raw, adjusted, exact, largest })
    }

    /// The T that a question must exceed to be told from chance at `level` whichever of them it is.
    pub fn critical(&self, level: f64) -> f64 {
        let allowed = ((1.0 - level) * self.largest.len() as f64 * (1.0 + TOLERANCE)).floor() as usize;
        // `allowed` vectors may reach it; the next one may not.
        self.largest.get(allowed).copied().unwrap_or(0.0)
    }

    /// The interval of a question, good for all of them together: the shifts that would leave its T at or below the
    /// critical one. It excludes 0 just where the question's T exceeds that. `None` where too few blocks allow no
    /// finite one. Approximate in that the critical T is that of the unshifted values.
    pub fn interval(&self, column: &[f64], level: f64) -> Option<Interval> {
        let values: Vec<f64> = column.iter().copied().filter(|d| !d.is_nan()).collect();
        let (n, c) = (values.len() as f64, self.critical(level));
        // |sum (d - x)| <= c root(sum (d - x)^2), solved for x around the mean.
        let room = n * (n - c * c);
        if values.is_empty() || room <= TOLERANCE * n * n {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|d| (d - mean).powi(2)).sum();
        let half = c * (squares / room).sqrt();
        half.is_finite().then_some(Interval { lo: mean - half, hi: mean + half })
    }
}

/// The column over the root of its sum of squares, missing values as 0.
fn unit_length(column: &[f64]) -> Vec<f64> {
    let column: Vec<f64> = column.iter().map(|d| if d.is_nan() { 0.0 } else { *d }).collect();
    // The largest first: squares of what is tiny or huge would leave the range of numbers.
    let most = column.iter().fold(0.0f64, |most, d| most.max(d.abs()));
    if most == 0.0 {
        return column;
    }
    let length = column.iter().map(|d| (d / most).powi(2)).sum::<f64>().sqrt() * most;
    column.iter().map(|d| d / length).collect()
}

/// Vectors of signs: all of them up to turning all round, or drawn ones.
struct Flips {
    exact: bool,
    blocks: usize,
    next: u64,
    rng: Rng,
}

impl Flips {
    fn fill(&mut self, signs: &mut [f64]) {
        let sign = |bits: u64, at: usize| if bits >> at & 1 == 1 { -1.0 } else { 1.0 };
        if self.exact {
            signs.iter_mut().enumerate().for_each(|(at, s)| *s = sign(self.next, at));
            self.next += 1;
            return;
        }
        for word in 0..self.blocks.div_ceil(64) {
            let bits = self.rng.next_u64();
            signs[word * 64..].iter_mut().take(64).enumerate().for_each(|(at, s)| *s = sign(bits, at));
        }
    }
}

/// Holm's step-down adjusted p values, in the order given.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let (m, mut least) = (p.len(), 0.0f64);
    stepwise(p, false, |rank, p| {
        least = least.max((m - rank) as f64 * p);
        least
    })
}

/// Benjamini and Hochberg's adjusted p values, in the order given: they bound the share of wrong claims among all
/// claims, not the chance of any.
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    false_discovery(p, 1.0)
}

/// Benjamini and Yekutieli's: the same bound however the questions depend on each other.
pub fn benjamini_yekutieli(p: &[f64]) -> Vec<f64> {
    false_discovery(p, (1..=p.len()).map(|i| 1.0 / i as f64).sum())
}

fn false_discovery(p: &[f64], factor: f64) -> Vec<f64> {
    let (m, mut most) = (p.len(), f64::INFINITY);
    stepwise(p, true, |rank, p| {
        most = most.min(factor * m as f64 / (rank + 1) as f64 * p);
        most
    })
}

/// Hochberg's step-up adjusted p values, in the order given.
pub fn hochberg(p: &[f64]) -> Vec<f64> {
    let (m, mut most) = (p.len(), f64::INFINITY);
    stepwise(p, true, |rank, p| {
        most = most.min((m - rank) as f64 * p);
        most
    })
}

/// Bonferroni's adjusted p values.
pub fn bonferroni(p: &[f64]) -> Vec<f64> {
    p.iter().map(|each| (each * p.len() as f64).min(1.0)).collect()
}

/// Adjusts p values by rank (from 0, the smallest), walking up or down them, and puts them back in order.
fn stepwise(p: &[f64], from_largest: bool, mut adjust: impl FnMut(usize, f64) -> f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut adjusted = vec![0.0; p.len()];
    let mut walk = |(rank, index): (usize, &usize)| adjusted[*index] = adjust(rank, p[*index]).min(1.0);
    match from_largest {
        true => order.iter().enumerate().rev().for_each(&mut walk),
        false => order.iter().enumerate().for_each(&mut walk),
    }
    adjusted
}

/// The fewest blocks with which Holm can reject any of `questions` at chance `alpha`.
pub fn fewest_blocks_for_holm(questions: usize, alpha: f64) -> Option<usize> {
    fewest_for_p(alpha / questions.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(seed: u64, questions: usize, blocks: usize) -> Vec<Vec<f64>> {
        let mut rng = Rng::new(seed);
        (0..questions).map(|_| (0..blocks).map(|_| rng.below(2001) as f64 - 1000.0).collect()).collect()
    }

    /// The definition, word by word.
    fn naive(columns: &[Vec<f64>]) -> Vec<f64> {
        let blocks = columns[0].len();
        let t = |column: &[f64], bits: u32| {
            let flipped = |i: usize| if bits >> i & 1 == 1 { -column[i] } else { column[i] };
            let (sum, squares) = (0..blocks)
                .fold((0.0, 0.0), |(sum, squares), i| (sum + flipped(i), squares + flipped(i) * flipped(i)));
            if squares == 0.0 { 0.0 } else { sum.abs() / f64::sqrt(squares) }
        };
        let largest = |bits: u32| columns.iter().map(|column| t(column, bits)).fold(0.0, f64::max);
        let all: Vec<f64> = (0..1 << blocks).map(largest).collect();
        let share = |t: f64| all.iter().filter(|most| **most >= t - 1e-12).count() as f64 / all.len() as f64;
        columns.iter().map(|column| share(t(column, 0))).collect()
    }

    #[test]
    fn adjusted_chances_are_shares_of_all_sign_vectors() {
        for seed in 0..12 {
            let mut columns = columns(seed, 1 + seed as usize % 5, 3 + seed as usize % 7);
            columns[0].iter_mut().skip(1).step_by(2).for_each(|d| *d = 0.0);
            let found = MaxT::new(&columns, 0).unwrap();
            naive(&columns).iter().zip(&found.adjusted).for_each(|(a, b)| assert!((a - b).abs() < 1e-12));
            assert!(found.raw.iter().zip(&found.adjusted).all(|(raw, adjusted)| raw <= adjusted));
        }
    }

    #[test]
    fn drawn_signs_come_close_to_all_of_them() {
        let mut wide = columns(5, 4, 14);
        wide[1].iter_mut().for_each(|d| *d += 500.0);
        let exact = MaxT::new(&wide, 0).unwrap();
        // A block in which nothing differs changes no T, but is one too many to look at all signs.
        wide.iter_mut().for_each(|column| column.push(0.0));
        let drawn = MaxT::new(&wide, 7).unwrap();
        assert!(exact.exact && !drawn.exact);
        for (a, b) in exact.adjusted.iter().zip(&drawn.adjusted) {
            assert!((a - b).abs() < 0.02, "{a} {b}");
        }
        assert_eq!(drawn, MaxT::new(&wide, 7).unwrap());
        assert_ne!(drawn, MaxT::new(&wide, 8).unwrap());
    }

    #[test]
    fn an_interval_excludes_nothing_just_where_the_adjusted_chance_is_small() {
        for seed in 0..40 {
            let mut columns = columns(seed, 6, 8);
            columns[2].iter_mut().for_each(|d| *d += 100.0 * seed as f64);
            let found = MaxT::new(&columns, 0).unwrap();
            for (column, p) in columns.iter().zip(&found.adjusted) {
                let interval = found.interval(column, 0.95).unwrap();
                assert_eq!(interval.lo > 0.0 || interval.hi < 0.0, *p <= 0.05, "{p} {interval:?}");
                let narrow = found.interval(column, 0.9).unwrap();
                assert!(narrow.lo >= interval.lo && narrow.hi <= interval.hi);
            }
        }
    }

    #[test]
    fn degenerate_questions() {
        assert_eq!(MaxT::new(&[], 0), None);
        assert_eq!(MaxT::new(&[vec![]], 0), None);
        assert_eq!(MaxT::new(&[vec![1.0], vec![1.0, 2.0]], 0), None);
        assert_eq!(MaxT::new(&[vec![f64::INFINITY; 6]], 0), None);
        let zeros = MaxT::new(&[vec![0.0; 8]], 0).unwrap();
        assert_eq!(
            (zeros.adjusted[0], zeros.interval(&[0.0; 8], 0.95)),
            (1.0, Some(Interval { lo: 0.0, hi: 0.0 }))
        );
        let mut holes = vec![vec![0.1; 8], vec![f64::NAN; 8]];
        holes[0][3] = f64::NAN;
        let found = MaxT::new(&holes, 0).unwrap();
        assert_eq!(found.adjusted, [2.0 / 128.0, 1.0]);
        assert_eq!(found.interval(&holes[1], 0.95), None);
        // Magnitudes that would overflow when squared.
        let huge = MaxT::new(&[vec![1e200; 8], vec![1e-200; 8]], 0).unwrap();
        assert_eq!(huge.adjusted, [2.0 / 256.0; 2]);
        assert!(holm(&[]).is_empty() && benjamini_hochberg(&[]).is_empty());
    }
}
