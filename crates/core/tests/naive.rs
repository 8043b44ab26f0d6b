//! The statistics against the slowest way to the same number: every subset, every flip of signs, every pair, counted
//! out for many small random samples. And the properties that a comparison must have whatever the values are.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use tenbin_core::rng::Rng;
use tenbin_core::stats::autocorrelation::correlations;
use tenbin_core::stats::multiple::{benjamini_hochberg, holm};
use tenbin_core::stats::order::{self, median, median_of, nearest_percentile, percentile};
use tenbin_core::stats::paired::{Paired, signed_rank_critical};
use tenbin_core::stats::ranks::mid_ranks;
use tenbin_core::stats::trend::trend;
use tenbin_core::stats::unpaired::{Unpaired, mann_whitney_critical};
use tenbin_core::stats::warm_up::warm_up;
use tenbin_core::verdict::{self, Verdict};

/// Numbers around 0, coarse enough to tie now and then where `ties` are wanted.
fn sample(rng: &mut Rng, n: usize, ties: bool) -> Vec<f64> {
    let one = |rng: &mut Rng| match ties {
        true => rng.below(9) as f64 - 4.0,
        false => rng.below(1 << 40) as f64 / (1_u64 << 39) as f64 - 1.0,
    };
    (0..n).map(|_| one(rng)).collect()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-10 * (1.0 + a.abs().max(b.abs()))
}

fn rounds(check: impl Fn(&mut Rng, usize)) {
    let mut rng = Rng::new(2026);
    for round in 0..120 {
        check(&mut rng, round);
    }
}

/// Sums of ranks over every choice of signs, each as likely as any other.
fn flipped_sums(ranks: &[f64]) -> Vec<f64> {
    let sum = |signs: u32| (0..ranks.len()).filter(|i| signs >> i & 1 == 1).map(|i| ranks[i]).sum();
    (0..1_u32 << ranks.len()).map(sum).collect()
}

#[test]
fn signed_ranks() {
    rounds(|rng, round| {
        let logs = sample(rng, 2 + round % 10, round % 3 == 0);
        let paired = Paired::of(&logs).unwrap();

        let mut walsh = Vec::new();
        for i in 0..logs.len() {
            walsh.extend((i..logs.len()).map(|j| (logs[i] + logs[j]) / 2.0));
        }
        walsh.sort_by(f64::total_cmp);
        assert!(close(paired.log_ratio(), median(&walsh).unwrap()));

        // Zeros keep their rank but have no sign to flip.
        let sizes: Vec<f64> = logs.iter().map(|d| d.abs()).collect();
        let ranks = mid_ranks(&sizes);
        let moving: Vec<f64> = logs.iter().zip(&ranks).filter(|(d, _)| **d != 0.0).map(|(_, r)| *r).collect();
        let plus: f64 = logs.iter().zip(&ranks).filter(|(d, _)| **d > 0.0).map(|(_, r)| *r).sum();
        let (sums, middle) = (flipped_sums(&moving), moving.iter().sum::<f64>() / 2.0);
        let far = sums.iter().filter(|sum| (*sum - middle).abs() >= (plus - middle).abs() - 1e-9).count();
        assert!(close(paired.p(), far as f64 / sums.len() as f64), "{logs:?}");

        let plain: Vec<f64> = (1..=logs.len()).map(|rank| rank as f64).collect();
        let sums = flipped_sums(&plain);
        let below = |w: f64| sums.iter().filter(|sum| **sum <= w).count() as f64 / sums.len() as f64;
        let k = (0..).find(|w| below(*w as f64) >= 0.025).filter(|k| *k > 0);
        assert_eq!(signed_rank_critical(logs.len(), 0.95), k);
        let interval = paired.log_interval(0.95).map(|interval| (interval.lo, interval.hi));
        assert_eq!(interval, k.map(|k| (walsh[k - 1], walsh[walsh.len() - k])));
    });
}

#[test]
fn two_samples() {
    rounds(|rng, round| {
        let (m, n) = (1 + round % 5, 1 + round / 5 % 5);
        let (first, second) = (sample(rng, m, false), sample(rng, n, false));
        let found = Unpaired::shifts(&first, &second).unwrap();
        let all: Vec<f64> = first.iter().chain(&second).copied().collect();
        let u_of = |chosen: &dyn Fn(usize) -> bool| {
            let of = |wanted| (0..all.len()).filter(move |i| chosen(*i) == wanted).map(|i| all[i]);
            of(true).map(|a| of(false).filter(|b| a > *b).count()).sum::<usize>()
        };
        let mut chances = Vec::new();
        for subset in 0..1_u32 << all.len() {
            if subset.count_ones() as usize == m {
                chances.push(u_of(&|i| subset >> i & 1 == 1));
            }
        }
        let u = u_of(&|i| i < m);
        assert!(close(found.u, u as f64));
        let smaller = u.min(m * n - u);
        let tail = chances.iter().filter(|other| **other <= smaller).count() as f64 / chances.len() as f64;
        assert!(found.p().exact && close(found.p().value, (2.0 * tail).min(1.0)));

        let mut differences: Vec<f64> =
            first.iter().flat_map(|a| second.iter().map(move |b| a - b)).collect();
        differences.sort_by(f64::total_cmp);
        assert!(close(found.estimate(), median(&differences).unwrap()));
        let below = |w: usize| chances.iter().filter(|u| **u <= w).count() as f64 / chances.len() as f64;
        let k = (0..=m * n).find(|w| below(*w) >= 0.025).filter(|k| *k > 0);
        assert_eq!(mann_whitney_critical(m, n, 0.95), k);
        let interval = found.interval(0.95).map(|interval| (interval.lo, interval.hi));
        assert_eq!(interval, k.map(|k| (differences[k - 1], differences[differences.len() - k])));
    });
}

#[test]
fn order_statistics() {
    rounds(|rng, round| {
        let values = sample(rng, 1 + round, round % 2 == 0);
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        let middle = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0;
        assert_eq!((median(&values), median_of(values.clone())), (Some(middle), Some(middle)));
        for p in [0.0, 0.01, 0.25, 0.5, 0.9, 0.99, 1.0] {
            let reached = sorted
                .iter()
                .find(|x| sorted.iter().filter(|y| y <= x).count() as f64 >= p * n as f64 - 1e-9);
            assert_eq!(nearest_percentile(&values, p).as_ref(), reached, "{p} of {n}");
            let at = p * (n - 1) as f64;
            let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
            assert!(close(percentile(&values, p).unwrap(), low + at.fract() * (high - low)));
        }
        // A value belongs to the median's interval unless a sign test turns it down.
        let choose = |k: usize| (0..k).fold(1.0, |product, i| product * (n - i) as f64 / (i + 1) as f64);
        let below = |l: usize| (0..l).map(choose).sum::<f64>() * 0.5_f64.powi(n as i32);
        let rank = (1..=n / 2).rev().find(|l| below(*l) <= 0.025);
        if n <= 60 {
            assert_eq!(order::median_rank(n, 0.95), rank, "{n}");
        }
    });
}

#[test]
fn adjusted_chances() {
    rounds(|rng, round| {
        let p: Vec<f64> = sample(rng, 1 + round % 12, round % 4 == 0).iter().map(|x| x.abs() / 4.0).collect();
        let (by_holm, by_bh) = (holm(&p), benjamini_hochberg(&p));
        let m = p.len() as f64;
        for i in 0..p.len() {
            // The largest over all smaller ones of their p times how many are as large or larger.
            let step = |j: usize| {
                let before = (0..p.len()).filter(|k| p[*k] < p[j] || p[*k] == p[j] && *k < j).count();
                (p[j] * (m - before as f64), before)
            };
            let (_, mine) = step(i);
            let worst =
                (0..p.len()).map(step).filter(|(_, at)| *at <= mine).map(|(x, _)| x).fold(0.0, f64::max);
            assert!(close(by_holm[i], worst.min(1.0)), "{p:?}");
            let rank = |x: f64| p.iter().filter(|y| **y <= x).count() as f64;
            let best = p.iter().filter(|x| **x >= p[i]).map(|x| x * m / rank(*x)).fold(1.0, f64::min);
            assert!(close(by_bh[i], best), "{p:?}");
        }
    });
}

#[test]
fn over_time() {
    rounds(|rng, round| {
        let x = sample(rng, 60 + round % 30, false);
        let mut slopes = Vec::new();
        for i in 0..x.len() {
            slopes.extend((i + 1..x.len()).map(|j| (x[j] - x[i]) / (j - i) as f64));
        }
        let found = trend(&x).unwrap();
        assert!(close(found.slope, median(&slopes).unwrap()));
        let rising = slopes.iter().filter(|slope| **slope > 0.0).count() as f64;
        assert!(close(found.tau, 2.0 * rising / slopes.len() as f64 - 1.0));

        let mean = x.iter().sum::<f64>() / x.len() as f64;
        let product = |lag: usize| (lag..x.len()).map(|i| (x[i] - mean) * (x[i - lag] - mean)).sum::<f64>();
        for (lag, r) in correlations(&x, 10).unwrap().into_iter().enumerate() {
            assert!(close(r, product(lag) / product(0)));
        }

        let batches: Vec<f64> = x.chunks_exact(5).map(|five| five.iter().sum::<f64>() / 5.0).collect();
        let statistic = |cut: usize| {
            let rest = &batches[cut..];
            let mean = rest.iter().sum::<f64>() / rest.len() as f64;
            rest.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / (rest.len() * rest.len()) as f64
        };
        let cuts = 0..=batches.len() / 2;
        let best = cuts.min_by(|a, b| statistic(*a).total_cmp(&statistic(*b))).unwrap();
        let found = warm_up(&x, 5).unwrap();
        assert_eq!((found.samples, found.never_steady), (best * 5, best == batches.len() / 2));
        assert!(close(found.statistic, statistic(best)));
    });
}

fn opposite(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Faster => Verdict::Slower,
        Verdict::Slower => Verdict::Faster,
        Verdict::FasterSizeUncertain => Verdict::SlowerSizeUncertain,
        Verdict::SlowerSizeUncertain => Verdict::FasterSizeUncertain,
        same => same,
    }
}

#[test]
fn verdicts_know_no_units_no_order_and_no_first_side() {
    rounds(|rng, round| {
        let n = 2 + round % 12;
        let shift = 1.0 + rng.below(30) as f64 / 100.0;
        let noise = sample(rng, 2 * n, false);
        let pairs: Vec<(f64, f64)> =
            (0..n).map(|i| (10.0 * shift + noise[2 * i], 10.0 + noise[2 * i + 1])).collect();
        let decide = |pairs: &[(f64, f64)], higher| verdict::decide(pairs, 0.02, higher).unwrap();
        let usual = decide(&pairs, true);

        // In other units: only rounding may differ.
        let scaled: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (a * 1024.0, b * 1024.0)).collect();
        assert_eq!(decide(&scaled, true), usual);
        let mut turned = pairs.clone();
        rng.shuffle(&mut turned);
        let turned = decide(&turned, true);
        assert_eq!(
            (turned.verdict, turned.lo, turned.hi, turned.p),
            (usual.verdict, usual.lo, usual.hi, usual.p)
        );
        // For a metric of which less is better the same numbers say the opposite.
        assert_eq!(decide(&pairs, false).verdict, opposite(usual.verdict));
        // The other side's point of view.
        let swapped: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (*b, *a)).collect();
        let swapped = decide(&swapped, true);
        assert!(close(swapped.ratio * usual.ratio, 1.0));
        assert_eq!((swapped.verdict, swapped.p), (opposite(usual.verdict), usual.p));
    });
}
