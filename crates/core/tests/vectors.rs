//! The statistics against right answers worked out by other programs (numpy, scipy, R, enumeration).
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use serde_json::Value;
use tenbin_core::stats::{
    autocorrelation, changes, order, paired, sample_size, special, summary, trend, unpaired, warm_up,
};
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
    assert!((ours - right).abs() <= 1e-9 * right.abs().max(1e-6), "{about}: {ours} instead of {right}");
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
        for (p, right) in floats(&case["p"]).iter().zip(case["expect"]["type1"].as_array().unwrap()) {
            close(
                order::nearest_percentile(&x, p / 100.0).unwrap(),
                right,
                &format!("{} p{p}", case["name"]),
            );
        }
    }
}

#[test]
fn summaries() {
    for case in cases("summary") {
        let (x, right) = (floats(&case["x"]), &case["expect"]);
        let ours = summary::Summary::of(&x).unwrap();
        assert_eq!(ours.n as u64, right["n"]);
        let (mild, far) = (ours.fences(1.5), ours.fences(3.0));
        let outside = |fence: (f64, f64)| x.iter().filter(|v| **v < fence.0 || **v > fence.1).count() as u64;
        assert_eq!(outside(mild), right["n_mild_or_far"]);
        assert_eq!(outside(far), right["n_far"]);
        for (ours, key) in [
            (ours.mean, "mean"),
            (ours.median, "median"),
            (ours.min, "min"),
            (ours.max, "max"),
            (ours.sd, "sd_ddof1"),
            (ours.mdev, "ping_mdev_ddof0"),
            (ours.mad, "mad_raw"),
            (ours.q3 - ours.q1, "iqr_type7"),
            (ours.cv().unwrap(), "cv"),
            (summary::geometric_mean(&x).unwrap(), "gmean"),
            (summary::harmonic_mean(&x).unwrap(), "hmean"),
        ] {
            close(ours, &right[key], &format!("{} {key}", case["name"]));
        }
        close(mild.0, &right["tukey_mild_1.5iqr"][0], "mild");
        close(far.1, &right["tukey_far_3iqr"][1], "far");
    }
}

#[test]
fn printed_ping_summaries() {
    for case in cases("ping_summary_only") {
        let n = case["n"].as_u64().unwrap() as usize;
        let [mean, max, mdev] = ["avg", "max", "mdev"].map(|key| case[key].as_f64().unwrap());
        let (rest, sd) = summary::without_max(n, mean, max, mdev).unwrap();
        close(rest, &case["expect"]["mean_without_max"], "mean");
        close(sd, &case["expect"]["sd_pop_without_max"], "sd");
        let sample_sd = mdev * (n as f64 / (n - 1) as f64).sqrt();
        let half = summary::mean_half_width(n, sample_sd, 0.95).unwrap();
        close(half, &case["expect"]["t95_halfwidth_of_mean"], "half width");
    }
}

#[test]
fn rates() {
    for case in cases("rates").iter().filter(|case| case["bytes"].is_array()) {
        let (bytes, seconds, right) = (floats(&case["bytes"]), floats(&case["seconds"]), &case["expect"]);
        let pieces: Vec<(f64, f64)> = bytes.into_iter().zip(seconds).collect();
        let rates: Vec<f64> = pieces.iter().map(|(bytes, seconds)| bytes / seconds).collect();
        close(summary::total_rate(&pieces).unwrap(), &right["total_rate"], "total");
        close(summary::mean(&rates).unwrap(), &right["arithmetic_mean_of_rates"], "arithmetic");
        close(summary::harmonic_mean(&rates).unwrap(), &right["harmonic_mean_of_rates"], "harmonic");
    }
}

#[test]
fn quantile_ranks() {
    for case in cases("quantile_ci_ranks") {
        let (n, right) = (case["n"].as_u64().unwrap() as usize, &case["expect"]);
        let (p, level) = (case["p"].as_f64().unwrap(), case["conf"].as_f64().unwrap());
        let (lo, hi) = order::quantile_ranks(n, p, level);
        assert_eq!(serde_json::json!([lo, hi]), serde_json::json!([right["lo_rank"], right["hi_rank"]]));
        if let (Some(lo), Some(hi)) = (lo, hi) {
            let below: Vec<f64> = special::binomial_cdf(n, p).collect();
            close(below[hi - 1] - below[lo - 1], &right["coverage"], "coverage");
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
fn unpaired_samples() {
    for case in cases("unpaired") {
        let (a, b, right) = (floats(&case["a"]), floats(&case["b"]), &case["expect"]);
        let (ratios, shifts) =
            (unpaired::Unpaired::ratios(&a, &b).unwrap(), unpaired::Unpaired::shifts(&a, &b).unwrap());
        close(ratios.u, &right["U_a"], "U");
        close(ratios.a12(), &right["vargha_delaney_A12"], "A12");
        close(ratios.cliffs_delta(), &right["cliffs_delta"], "delta");
        close(ratios.asymptotic_p(), &right["p_asymptotic_tie_continuity"], "asymptotic p");
        assert_eq!(ratios.p().exact, !right["p_exact"].is_null());
        if ratios.p().exact {
            close(ratios.p().value, &right["p_exact"], "exact p");
        }
        for (key, level) in [("ratio_a_over_b_90", 0.9), ("ratio_a_over_b_95", 0.95)] {
            let (right, interval) = (&right[key], ratios.interval(level).unwrap());
            close(ratios.estimate().exp(), &right["hl_shift"], key);
            close(interval.lo.exp(), &right["lo"], key);
            close(interval.hi.exp(), &right["hi"], key);
            let k = unpaired::mann_whitney_critical(a.len(), b.len(), level).unwrap() as u64;
            assert_eq!(k, right["k"]);
        }
        let (right, interval) = (&right["shift_95"], shifts.interval(0.95).unwrap());
        close(shifts.estimate(), &right["hl_shift"], "shift");
        close(interval.lo, &right["lo"], "shift lo");
        close(interval.hi, &right["hi"], "shift hi");
    }
    for case in cases("mannwhitney_min_p") {
        let [m, n] = ["m", "n"].map(|key| case[key].as_u64().unwrap() as usize);
        close(unpaired::smallest_p(m, n), &case["expect"], "smallest p");
    }
}

#[test]
fn sample_sizes() {
    for case in cases("sample_size") {
        let [sd, effect] = ["sd", "effect"].map(|key| case[key].as_f64().unwrap());
        close(sample_size::visible_difference(sd, 8), &case["expect"]["mde_at_8"], "visible with 8");
        assert_eq!(sample_size::blocks_to_see(sd, effect), case["expect"]["n_normal_wilcoxon"].as_u64());
    }
}

#[test]
fn distributions() {
    let right = |name: &str| -> (Vec<Value>, Vec<Value>) {
        let case = cases("special").into_iter().find(|case| case["fn"] == name).unwrap();
        (case["arg"].as_array().unwrap().clone(), case["expect"].as_array().unwrap().clone())
    };
    let check = |name: &str, ours: &dyn Fn(&Value) -> f64| {
        let (args, right) = right(name);
        args.iter().zip(&right).for_each(|(arg, right)| close(ours(arg), right, &format!("{name} {arg}")));
    };
    check("norm_ppf", &|p| special::normal_quantile(p.as_f64().unwrap()));
    check("norm_cdf", &|z| special::normal_cdf(z.as_f64().unwrap()));
    check("t_ppf_0.975", &|df| special::t_quantile(0.975, df.as_f64().unwrap()));
    check("betainc_reg(a,b,x)", &|arg| {
        let arg = floats(arg);
        special::beta(arg[0], arg[1], arg[2])
    });
    check("binom_cdf_half", &|arg| {
        let arg = floats(arg);
        special::binomial_cdf(arg[1] as usize, 0.5).nth(arg[0] as usize).unwrap()
    });
}

#[test]
fn autocorrelations() {
    for case in cases("autocorrelation") {
        let (x, right) = (floats(&case["x"]), &case["expect"]);
        let about = case["name"].to_string();
        let rho = autocorrelation::correlations(&x, 10).unwrap();
        rho.iter().zip(right["rho"].as_array().unwrap()).for_each(|(rho, right)| close(*rho, right, &about));
        let ours = autocorrelation::autocorrelation(&x).unwrap();
        close(ours.tau, &right["tau_ips"], &about);
        close(ours.tau_monotone, &right["tau_ims"], &about);
        close(ours.effective_samples(), &right["ess_ips"], &about);
        assert_eq!(ours.pairs as u64, right["pairs_used"], "{about}");
        assert!(ours.complete);
    }
}

#[test]
fn warm_ups() {
    for case in cases("warmup_mser") {
        let (x, right) = (floats(&case["x"]), &case["expect"]);
        let ours = warm_up::warm_up(&x, case["batch"].as_u64().unwrap() as usize).unwrap();
        assert_eq!(ours.samples as u64, right["truncate_samples"], "{}", case["name"]);
        assert_eq!(ours.never_steady, right["at_limit"], "{}", case["name"]);
        close(ours.statistic, &right["mser"], "statistic");
        close(summary::mean(&x[ours.samples..]).unwrap(), &right["mean_after"], "mean after");
    }
}

#[test]
fn trends() {
    for case in cases("trend") {
        let (ours, right) = (trend::trend(&floats(&case["x"])).unwrap(), &case["expect"]);
        close(ours.tau, &right["kendall_tau"], "tau");
        close(ours.p, &right["p_exact"], "p");
        close(ours.slope, &right["theil_sen_slope"], "slope");
        close(ours.slope_interval.lo, &right["slope_ci95"][0], "lo");
        close(ours.slope_interval.hi, &right["slope_ci95"][1], "hi");
        close(ours.change.unwrap(), &right["relative_change_over_session"], "change");
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
    for case in cases("schedule_balanced").iter().filter(|case| case["williams"].is_u64()) {
        let square = schedule::williams(case["williams"].as_u64().unwrap() as usize);
        assert_eq!(serde_json::json!(square), case["expect"], "{case}");
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
