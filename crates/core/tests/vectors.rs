//! The statistics against right answers worked out by other programs (numpy, scipy, R, enumeration).
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use serde_json::Value;
use tenbin_core::stats::{changes, order, paired};
use tenbin_core::{rng, schedule, verdict};

fn cases(group: &str) -> Vec<Value> {
    let text = std::fs::read_to_string("../../testdata/vectors/stats-vectors.json").unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    let cases = all["tests"][group]["cases"].as_array().unwrap().clone();
    assert!(!cases.is_empty(), "{group}");
    cases
}

fn floats(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

#[track_caller]
fn close(ours: f64, right: &Value, about: &str) {
    let right = right.as_f64().unwrap();
    assert!((ours - right).abs() <= 1e-9 * right.abs().max(1e-3), "{about}: {ours} instead of {right}");
}

fn pairs(case: &Value) -> Vec<(f64, f64)> {
    floats(&case["a"]).into_iter().zip(floats(&case["b"])).collect()
}

#[test]
fn percentiles() {
    for case in cases("percentiles") {
        let x = floats(&case["x"]);
        for (p, right) in floats(&case["p"]).iter().zip(case["expect"]["type7"].as_array().unwrap()) {
            close(order::percentile(&x, p / 100.0).unwrap(), right, &format!("{} p{p}", case["name"]));
        }
    }
}

#[test]
fn median_ranks() {
    for case in cases("median_ci_ranks") {
        let (n, level) = (case["n"].as_u64().unwrap() as usize, case["conf"].as_f64().unwrap());
        let right = case["expect"].as_object().map(|e| e["lo_rank"].as_u64().unwrap() as usize);
        assert_eq!(order::median_rank(n, level), right, "{case}");
    }
    let case = &cases("median_ci_data")[0];
    let (x, right) = (floats(&case["x"]), &case["expect"]);
    close(order::median(&x).unwrap(), &right["median"], "median");
    let (lo, hi) = order::median_interval(&x, 0.95).unwrap();
    close(lo, &right["lo"], "lo");
    close(hi, &right["hi"], "hi");
}

#[test]
fn signed_rank_critical() {
    for case in cases("signed_rank_critical") {
        let (n, level) = (case["n"].as_u64().unwrap() as usize, case["conf"].as_f64().unwrap());
        let right = case["expect"]["k"].as_u64().map(|k| k as usize).filter(|k| *k > 0);
        assert_eq!(paired::signed_rank_critical(n, level), right, "{case}");
    }
}

#[test]
fn paired_blocks() {
    for case in cases("paired_blocks") {
        let paired = paired::Paired::new(&pairs(&case)).unwrap();
        let right = &case["expect"];
        close(paired.p(), &right["p_signflip_midrank_exact"], &format!("{} p", case["name"]));
        for (key, level) in [("ratio_a_over_b_90", 0.9), ("ratio_a_over_b_95", 0.95)] {
            close(paired.log_ratio().exp(), &right[key]["hl"], key);
            match paired.log_interval(level) {
                Some(interval) => {
                    close(interval.lo.exp(), &right[key]["lo"], key);
                    close(interval.hi.exp(), &right[key]["hi"], key);
                }
                None => assert!(right[key]["lo"].is_null(), "{case}"),
            }
        }
    }
}

#[test]
fn decisions() {
    for case in cases("decision") {
        let decision = verdict::decide(&pairs(&case), case["margin"].as_f64().unwrap(), true).unwrap();
        let word = match decision.verdict.name() {
            "faster" | "slower" => "different_material",
            "faster_size_uncertain" | "slower_size_uncertain" => "different_size_uncertain",
            "no_difference" => "equivalent_within_margin",
            "cant_tell" => "inconclusive",
            same => same,
        };
        assert_eq!(word, case["expect"]["decision"], "{case}");
    }
}

#[test]
fn visible_differences() {
    for case in cases("sample_size") {
        // Eight pairs whose log ratios have exactly this deviation.
        let sd = case["sd"].as_f64().unwrap();
        let step = sd * (7.0f64 / 8.0).sqrt();
        let pairs: Vec<(f64, f64)> =
            (0..8).map(|i| (if i % 2 == 0 { step } else { -step }.exp(), 1.0)).collect();
        let decision = verdict::decide(&pairs, 0.02, true).unwrap();
        let right = case["expect"]["mde_at_8"].as_f64().unwrap();
        assert!((decision.mde.unwrap() / right - 1.0).abs() < 1e-3, "{case}: {:?}", decision.mde);
    }
}

#[test]
fn generators() {
    let cases = cases("rng");
    let words = |case: &Value| -> Vec<u64> {
        case["expect"].as_array().unwrap().iter().map(|x| x.as_str().unwrap().parse().unwrap()).collect()
    };
    let mut state = cases[0]["splitmix64_seed"].as_u64().unwrap();
    assert!(words(&cases[0]).into_iter().all(|right| rng::splitmix64(&mut state) == right));
    let mut rng = rng::Rng::new(cases[1]["xoshiro256pp_seed"].as_u64().unwrap());
    assert!(words(&cases[1]).into_iter().all(|right| rng.next_u64() == right));
    for case in &cases[2..] {
        let plain = &case["schedule"];
        let names: Vec<&str> =
            plain["conditions"].as_array().unwrap().iter().map(|x| x.as_str().unwrap()).collect();
        let mut rng = rng::Rng::new(plain["seed"].as_u64().unwrap());
        for right in case["expect"].as_array().unwrap() {
            let mut block = names.clone();
            rng.shuffle(&mut block);
            assert_eq!(serde_json::json!(block), *right);
        }
    }
}

#[test]
fn schedules() {
    for case in cases("schedule_balanced").iter().filter(|case| case["seed"].is_u64()) {
        let names: Vec<&str> =
            case["conditions"].as_array().unwrap().iter().map(|x| x.as_str().unwrap()).collect();
        let blocks = case["blocks"].as_u64().unwrap() as usize;
        let order = schedule::balanced(case["seed"].as_u64().unwrap(), names.len(), blocks);
        let named: Vec<Vec<&str>> =
            order.iter().map(|block| block.iter().map(|arm| names[*arm]).collect()).collect();
        assert_eq!(serde_json::json!(named), case["expect"], "{case}");
    }
}

#[test]
fn changepoints() {
    for case in cases("changepoints") {
        let (x, right) = (floats(&case["x"]), &case["expect"]);
        close(changes::neighbour_sd(&x).unwrap(), &right["sigma_diff_mad"], "sigma");
        let segments = changes::segments(&x);
        let cuts: Vec<usize> = segments.iter().skip(1).map(|segment| segment.start).collect();
        assert_eq!(
            serde_json::json!(cuts),
            right["changepoints_first_index_of_new_segment"],
            "{}",
            case["name"]
        );
        for (segment, level) in segments.iter().zip(right["segment_medians"].as_array().unwrap()) {
            close(segment.level, level, "level");
        }
    }
}
