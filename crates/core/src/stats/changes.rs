//! Change points of a series: where its level jumps and stays. Lone spikes do not count.

use super::order::median;

/// A stretch of a series on one level.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// Index of its first value.
    pub start: usize,
    /// Index behind its last value.
    pub end: usize,
    /// The median of its values.
    pub level: f64,
}

/// MAD of normal noise times this is its standard deviation.
const MAD_TO_SD: f64 = 1.482_602_218_505_601_8;
/// Values farther than this many deviations from their neighbours' median are pulled in.
const CLIP: f64 = 5.0;
/// Longer series are not cut: the search is quadratic.
const LONGEST: usize = 20_000;
/// Squares of larger values would leave the range of numbers.
const LARGEST: f64 = 1e150;

/// Cuts a series into stretches on one level. Deviations come from differences of neighbours, spikes are clipped to
/// the running median of five, and each further cut must pay 3 ln n squared deviations. One segment where nothing
/// jumps, or where the series is too short or too long.
pub fn segments(x: &[f64]) -> Vec<Segment> {
    let n = x.len();
    let cuts = fit(x).map_or_else(Vec::new, |fit| fit.cuts);
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain(std::iter::once(n));
    starts
        .zip(ends)
        .filter_map(|(start, end)| Some(Segment { start, end, level: median(&x[start..end])? }))
        .collect()
}

/// What a search for cuts found.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Index of the first value behind each cut.
    pub cuts: Vec<usize>,
    /// Squared deviations within the stretches, in squared deviations of the noise, and the price of the cuts.
    pub cost: f64,
    /// Values that were pulled in towards their neighbours.
    pub clipped: usize,
}

/// The cheapest cuts of a series. `None` where it is too short or too long, has no noise, or a value is not finite or
/// beyond 1e150.
pub fn fit(x: &[f64]) -> Option<Fit> {
    let n = x.len();
    let shortest = 5.max(n / 20);
    if !(2 * shortest..=LONGEST).contains(&n) || x.iter().any(|value| value.is_nan() || value.abs() > LARGEST)
    {
        return None;
    }
    let (z, clipped) = clipped(x)?;
    let (cuts, cost) = cut(&z, shortest, 3.0 * (n as f64).ln());
    Some(Fit { cuts, cost, clipped })
}

/// The standard deviation of neighbours' noise: steps and trends hardly touch it. `None` of fewer than two values,
/// or where all are equal.
pub fn neighbour_sd(x: &[f64]) -> Option<f64> {
    let steps: Vec<f64> = x.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let middle = median(&steps)?;
    let deviations: Vec<f64> = steps.iter().map(|step| (step - middle).abs()).collect();
    let robust = MAD_TO_SD * median(&deviations)? / 2.0f64.sqrt();
    // Where most steps are alike (coarse clocks, rounded rates, a ramp) the MAD is nothing but rounding. The plain
    // deviation then errs on the large side, which misses small jumps but invents none.
    let rounding = 1e-9 * x.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let plain = || (steps.iter().map(|step| step * step).sum::<f64>() / (2 * steps.len()) as f64).sqrt();
    Some(if robust > rounding { robust } else { plain() }).filter(|sd| *sd > rounding && sd.is_finite())
}

/// The series in deviations around its median, spikes clipped, and how many were. `None` without noise.
fn clipped(x: &[f64]) -> Option<(Vec<f64>, usize)> {
    let sd = neighbour_sd(x)?;
    let middle = median(x)?;
    let mut count = 0;
    let z = (0..x.len())
        .map(|i| {
            let around = median(&x[i.saturating_sub(2)..(i + 3).min(x.len())]).unwrap_or(x[i]);
            let near = x[i].clamp(around - CLIP * sd, around + CLIP * sd);
            count += usize::from(near != x[i]);
            (near - middle) / sd
        })
        .collect();
    Some((z, count))
}

/// The cuts that minimise squared deviations plus `penalty` per cut, and that minimum (PELT: dynamic programming that
/// forgets a start once one behind it is as good for all that follows).
fn cut(z: &[f64], shortest: usize, penalty: f64) -> (Vec<usize>, f64) {
    let n = z.len();
    let (mut sum, mut squares) = (vec![0.0], vec![0.0]);
    for (i, value) in z.iter().enumerate() {
        sum.push(sum[i] + value);
        squares.push(squares[i] + value * value);
    }
    let cost = |a: usize, b: usize| {
        let total: f64 = sum[b] - sum[a];
        squares[b] - squares[a] - total * total / (b - a) as f64
    };
    let mut best = vec![f64::INFINITY; n + 1];
    let mut last = vec![0; n + 1];
    let mut starts = vec![0];
    best[0] = -penalty;
    for end in shortest..=n {
        for start in &starts {
            let total = best[*start] + cost(*start, end) + penalty;
            if total < best[end] - 1e-12 {
                best[end] = total;
                last[end] = *start;
            }
        }
        // From the next end on a stretch may begin at `fresh`. Starts before it that cannot beat it then never will:
        // cutting a stretch in two never costs more, the price of the cut aside.
        let fresh = end + 1 - shortest;
        if fresh >= shortest {
            starts.retain(|start| best[*start] + cost(*start, fresh) <= best[fresh] + 1e-9);
            starts.push(fresh);
        }
    }
    let mut cuts = Vec::new();
    let mut end = last[n];
    while end > 0 {
        cuts.push(end);
        end = last[end];
    }
    cuts.reverse();
    (cuts, best[n])
}

/// A lasting fall of a rate.
#[derive(Clone, Debug, PartialEq)]
pub struct StepDown {
    /// Index of the first value after it.
    pub at: usize,
    /// The level before.
    pub before: f64,
    /// The level after.
    pub after: f64,
}

/// A fall by less than this share is no sign of burst credit or throttling.
const NOTABLE_FALL: f64 = 0.2;

/// The largest lasting fall of a series, if it is notable.
pub fn largest_step_down(x: &[f64]) -> Option<StepDown> {
    largest_fall(&segments(x))
}

/// The largest fall from one stretch to the next, if it is notable.
pub fn largest_fall(segments: &[Segment]) -> Option<StepDown> {
    let falls = segments.windows(2).filter(|pair| pair[1].level <= (1.0 - NOTABLE_FALL) * pair[0].level);
    let step = |pair: &[Segment]| StepDown { at: pair[1].start, before: pair[0].level, after: pair[1].level };
    falls.map(step).min_by(|a, b| (a.after / a.before).total_cmp(&(b.after / b.before)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values around 10 that repeat every `period`, a spike at 20, and from 30 on a quarter of it all.
    fn example(period: usize, fall: bool) -> Vec<f64> {
        let mut x: Vec<f64> = (0..60).map(|i| 10.0 + 0.1 * ((i * 7) % period) as f64).collect();
        x[20] = 30.0;
        if fall {
            x[30..].iter_mut().for_each(|value| *value /= 4.0);
        }
        x
    }

    #[track_caller]
    fn check(period: usize) {
        assert_eq!(clipped(&example(period, false)).unwrap().1, 1);
        assert_eq!(segments(&example(period, false)).len(), 1);
        assert_eq!(largest_step_down(&example(period, false)), None);
        let step = largest_step_down(&example(period, true)).unwrap();
        assert_eq!(step.at, 30);
        assert!(step.after < 3.0 && step.before > 9.0);
    }

    #[test]
    fn spikes_are_clipped_and_falls_found() {
        check(11);
    }

    #[test]
    fn regular_series_have_no_jumps_but_real_ones() {
        check(1);
        check(2);
        check(3);
    }

    #[test]
    fn forgotten_starts_change_nothing() {
        let mut rng = crate::rng::Rng::new(9);
        for round in 0..60 {
            let n = 20 + rng.below(120) as usize;
            let mut level = 0.0;
            let z: Vec<f64> = (0..n)
                .map(|_| {
                    level += if rng.below(25) == 0 { rng.below(9) as f64 - 4.0 } else { 0.0 };
                    level + rng.below(1000) as f64 / 500.0 - 1.0
                })
                .collect();
            let (shortest, penalty) = (5, 3.0 * (n as f64).ln() / f64::from(1 + round % 3));
            // Every cut tried for every end.
            let cost = |a: usize, b: usize| {
                let mean = z[a..b].iter().sum::<f64>() / (b - a) as f64;
                z[a..b].iter().map(|x| (x - mean).powi(2)).sum::<f64>()
            };
            let mut best = vec![f64::INFINITY; n + 1];
            best[0] = -penalty;
            for end in shortest..=n {
                best[end] = (0..=end - shortest)
                    .map(|start| best[start] + cost(start, end) + penalty)
                    .fold(f64::INFINITY, f64::min);
            }
            let (cuts, least) = cut(&z, shortest, penalty);
            assert!((least - best[n]).abs() < 1e-6, "{least} {} {cuts:?}", best[n]);
        }
    }

    #[test]
    fn degenerate_series_are_one_segment_or_none() {
        assert!(segments(&[]).is_empty());
        assert_eq!(segments(&[1.0]).len(), 1);
        assert_eq!(segments(&[1.0; 50]).len(), 1);
        assert_eq!(segments(&[0.0; 50]).len(), 1);
    }
}
