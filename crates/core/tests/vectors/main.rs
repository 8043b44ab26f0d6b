//! The statistics against right answers worked out by other programs (numpy, scipy, statsmodels, R, enumeration).
//!
//! Every group of the vectors has its line in the table below and becomes a test of its name; a group of the file that
//! the table lacks, or the other way round, fails.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod comparing;
mod describing;
mod inside;
mod ordering;

use serde_json::Value;

macro_rules! groups {
    ($($group:ident $count:literal $check:path;)*) => {
        const GROUPS: &[(&str, usize)] = &[$((stringify!($group), $count)),*];
        $(
            #[test]
            #[allow(non_snake_case, reason = "the vectors name their groups")]
            fn $group() {
                $check(&cases(stringify!($group)));
            }
        )*
    };
}

groups! {
    percentiles 6 describing::percentiles;
    summary 4 describing::summaries;
    ping_summary_only 3 describing::printed_ping_summaries;
    median_ci_ranks 102 describing::median_ranks;
    median_ci_data 1 describing::median_of_data;
    quantile_ci_ranks 20 describing::quantile_ranks;
    signed_rank_critical 114 comparing::signed_rank_critical;
    paired_blocks 5 comparing::paired_blocks;
    unpaired 3 comparing::unpaired_samples;
    mannwhitney_min_p 8 comparing::smallest_chances;
    decision 19 comparing::decisions;
    tost_paired_t 1 comparing::equivalence_by_t;
    p_adjust 4 comparing::adjusted_chances;
    min_blocks_for_holm 8 comparing::blocks_for_holm;
    maxT_signflip 1 comparing::sign_flips;
    autocorrelation 3 inside::autocorrelations;
    warmup_mser 4 inside::warm_ups;
    changepoints 4 inside::changepoints;
    trend 2 inside::trends;
    many_conditions 1 comparing::many_conditions;
    bimodality 2 inside::humps;
    bca 1 describing::bca;
    variance_components 1 describing::variance_components;
    sample_size 9 comparing::sample_sizes;
    rates 3 describing::rates;
    imb_geomean_ratio 1 comparing::geometric_means;
    rng 4 ordering::generators;
    schedule_balanced 5 ordering::schedules;
    special 6 describing::distributions;
}

#[test]
fn every_group_of_the_file_is_checked() {
    let all: Value = serde_json::from_str(&vectors("stats-vectors.json")).unwrap();
    let mut there: Vec<(&str, usize)> = all["tests"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, group)| (name.as_str(), group["cases"].as_array().unwrap().len()))
        .collect();
    let mut known = GROUPS.to_vec();
    there.sort_unstable();
    known.sort_unstable();
    assert_eq!(there, known);
    assert_eq!(known.len(), 29);
    assert_eq!(known.iter().map(|(_, count)| count).sum::<usize>(), 345);
}

fn vectors(file: &str) -> String {
    std::fs::read_to_string(format!("../../testdata/vectors/{file}")).unwrap()
}

fn cases(group: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(&vectors("stats-vectors.json")).unwrap();
    all["tests"][group]["cases"].as_array().unwrap().clone()
}

fn floats(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

#[track_caller]
fn close(ours: f64, right: &Value, about: &str) {
    let right = right.as_f64().unwrap();
    assert!((ours - right).abs() <= 1e-9 * right.abs().max(1e-6), "{about}: {ours} instead of {right}");
}

fn pairs(case: &Value) -> Vec<(f64, f64)> {
    floats(&case["a"]).into_iter().zip(floats(&case["b"])).collect()
}
