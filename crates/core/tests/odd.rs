//! Every statistic against inputs that no machine should give: it answers or declines, and never panics.

use tenbin_core::rng::Rng;
use tenbin_core::stats::{
    autocorrelation, changes, dip, levels, multiple, order, paired, ranks, summary, trend, unpaired, warm_up,
    welch,
};

/// What a damaged store, a broken clock or an extreme machine may hold.
const ODD: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    1.0,
    2.0,
    -3.0,
    1e9,
    1e-9,
    5e-324,
    1e-300,
    1e308,
    -1e308,
    f64::MAX,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
];

#[test]
fn no_statistic_panics_on_odd_values() {
    let mut rng = Rng::new(14);
    for round in 0..4000u64 {
        // The first ones alone are finite, the very first ones ordinary.
        let kinds = [5, 8, 13, 16][round as usize % 4];
        let n = rng.below(70) as usize;
        let x: Vec<f64> = (0..n).map(|_| ODD[rng.below(kinds) as usize]).collect();
        let y: Vec<f64> = (0..rng.below(12)).map(|_| ODD[rng.below(kinds) as usize]).collect();
        let _ = autocorrelation::autocorrelation(&x);
        let _ = (autocorrelation::ljung_box(&x, 5), autocorrelation::von_neumann_ratio(&x));
        let _ = (changes::segments(&x), changes::fit(&x), changes::largest_step_down(&x));
        let _ = (dip::humps(&x), dip::dip(&x), dip::spread_ties(&x));
        let _ = (warm_up::warm_up(&x, 5), warm_up::warm_up(&x, 1), trend::trend(&x));
        let _ = (summary::Summary::of(&x), summary::geometric_mean(&x), summary::harmonic_mean(&x));
        let _ = (order::percentile(&x, 0.99), order::median_interval(&x, 0.95), ranks::mid_ranks(&x));
        let groups = [x.clone(), y.clone()];
        let _ = (ranks::kruskal_wallis(&groups), ranks::friedman(&groups), levels::Components::of(&groups));
        let _ = (welch::brown_forsythe(&[&x, &y]), welch::paired_t(&x), welch::equivalence(&x, -1.0, 1.0));
        let _ = (multiple::holm(&x), multiple::benjamini_hochberg(&x), unpaired::kolmogorov_smirnov(&x, &y));
        let pairs: Vec<(f64, f64)> = x.iter().copied().zip(y.iter().copied()).collect();
        for found in [paired::Paired::new(&pairs), paired::Paired::of(&y)].into_iter().flatten() {
            assert!(found.log_ratio().is_finite() && (0.0..=1.0).contains(&found.p()), "{y:?}");
            let interval = found.log_interval(0.95);
            assert_eq!(interval.is_some(), found.logs.len() >= 6);
            assert!(interval.is_none_or(|one| one.lo <= one.hi), "{y:?}");
        }
        for found in
            [unpaired::Unpaired::ratios(&x, &y), unpaired::Unpaired::shifts(&x, &y)].into_iter().flatten()
        {
            assert!(!found.estimate().is_nan() && (0.0..=1.0).contains(&found.p().value), "{x:?} {y:?}");
            assert!(found.interval(0.95).is_none_or(|one| one.lo <= one.hi));
        }
        let column = y.clone();
        if let Some(found) = multiple::MaxT::new(std::slice::from_ref(&column), 1) {
            assert!((0.0..=1.0).contains(&found.adjusted[0]), "{y:?}");
            assert!(found.interval(&column, 0.95).is_none_or(|one| one.lo <= one.hi), "{y:?}");
        }
    }
}
