//! What describes one list of values.

use serde_json::Value;
use tenbin_core::stats::{bootstrap, levels, order, special, summary};

use super::{close, floats};

pub fn percentiles(cases: &[Value]) {
    for case in cases {
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

pub fn summaries(cases: &[Value]) {
    for case in cases {
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
            (ours.sd / (ours.n as f64).sqrt(), "sem"),
            (ours.skewness().unwrap(), "skew_g1_biased"),
            (1.482_602_218_505_601_8 * ours.mad, "mad_scaled_1.4826022185056018"),
            ((ours.q3 - ours.q1) / (ours.q3 + ours.q1), "qcd"),
        ] {
            close(ours, &right[key], &format!("{} {key}", case["name"]));
        }
        for (fence, key) in [(mild, "tukey_mild_1.5iqr"), (far, "tukey_far_3iqr")] {
            close(fence.0, &right[key][0], key);
            close(fence.1, &right[key][1], key);
        }
    }
}

pub fn printed_ping_summaries(cases: &[Value]) {
    for case in cases {
        let n = case["n"].as_u64().unwrap() as usize;
        let [mean, max, mdev] = ["avg", "max", "mdev"].map(|key| case[key].as_f64().unwrap());
        let (rest, sd) = summary::without_max(n, mean, max, mdev).unwrap();
        close(rest, &case["expect"]["mean_without_max"], "mean");
        close(sd, &case["expect"]["sd_pop_without_max"], "sd");
        let sample_sd = mdev * (n as f64 / (n - 1) as f64).sqrt();
        let half = summary::mean_half_width(n, sample_sd, 0.95).unwrap();
        close(half, &case["expect"]["t95_halfwidth_of_mean"], "half width");
        close(max / mean, &case["expect"]["max_over_avg"], "max over mean");
    }
}

pub fn rates(cases: &[Value]) {
    for case in cases {
        let right = &case["expect"];
        if case["bytes"].is_array() {
            let (bytes, seconds) = (floats(&case["bytes"]), floats(&case["seconds"]));
            let pieces: Vec<(f64, f64)> = bytes.into_iter().zip(seconds).collect();
            let rates: Vec<f64> = pieces.iter().map(|(bytes, seconds)| bytes / seconds).collect();
            close(summary::total_rate(&pieces).unwrap(), &right["total_rate"], "total");
            close(summary::mean(&rates).unwrap(), &right["arithmetic_mean_of_rates"], "arithmetic");
            close(summary::harmonic_mean(&rates).unwrap(), &right["harmonic_mean_of_rates"], "harmonic");
        } else {
            let [bytes, usec] = ["bytes", "t_usec"].map(|key| case["imb"][key].as_f64().unwrap());
            let rate = summary::total_rate(&[(bytes, usec * 1e-6)]).unwrap();
            close(rate / 1e6, &right["mbytes_per_sec_1e6"], "MB/s");
            if !right["gbit_per_sec"].is_null() {
                close(8.0 * rate / 1e9, &right["gbit_per_sec"], "Gbit/s");
            }
        }
    }
}

pub fn quantile_ranks(cases: &[Value]) {
    for case in cases {
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

pub fn median_ranks(cases: &[Value]) {
    for case in cases {
        let (n, level) = (case["n"].as_u64().unwrap() as usize, case["conf"].as_f64().unwrap());
        let right = case["expect"].as_object().map(|e| e["lo_rank"].as_u64().unwrap() as usize);
        assert_eq!(order::median_rank(n, level), right, "{case}");
        if let Some(low) = right {
            assert_eq!((n - low + 1) as u64, case["expect"]["hi_rank"]);
            let below: Vec<f64> = special::binomial_cdf(n, 0.5).collect();
            close(below[n - low] - below[low - 1], &case["expect"]["coverage"], "coverage");
        }
    }
}

pub fn median_of_data(cases: &[Value]) {
    for case in cases {
        let (x, right) = (floats(&case["x"]), &case["expect"]);
        close(order::median(&x).unwrap(), &right["median"], "median");
        let (lo, hi) = order::median_interval(&x, 0.95).unwrap();
        close(lo, &right["lo"], "lo");
        close(hi, &right["hi"], "hi");
    }
}

pub fn bca(cases: &[Value]) {
    for case in cases {
        let (data, replicates, right) = (floats(&case["data"]), floats(&case["replicates"]), &case["expect"]);
        let level = case["conf"].as_f64().unwrap();
        let ours = bootstrap::bca(&data, &replicates, level).unwrap();
        close(summary::mean(&data).unwrap(), &right["theta"], "theta");
        close(ours.bias, &right["z0"], "z0");
        close(ours.acceleration, &right["acceleration"], "acceleration");
        close(ours.percentiles.0, &right["alpha1"], "lower percentile");
        close(ours.percentiles.1, &right["alpha2"], "upper percentile");
        close(ours.interval.lo, &right["lo"], "lo");
        close(ours.interval.hi, &right["hi"], "hi");
        let plain = |p: f64| order::percentile(&replicates, p).unwrap();
        close(plain(0.5 - level / 2.0), &right["percentile_lo"], "plain lo");
        close(plain(0.5 + level / 2.0), &right["percentile_hi"], "plain hi");
    }
}

pub fn variance_components(cases: &[Value]) {
    for case in cases {
        let right = &case["expect"];
        let runs: Vec<Vec<f64>> = case["runs"].as_array().unwrap().iter().map(floats).collect();
        let ours = levels::Components::of(&runs).unwrap();
        close(ours.within, &right["S1_sq"], "S1");
        close(ours.within, &right["T1_sq"], "T1");
        close(ours.of_means, &right["S2_sq"], "S2");
        close(ours.between, &right["T2_sq"], "T2");
        close(ours.intraclass(), &right["icc"], "icc");
        let [run, sample] = ["cost_run_overhead", "cost_sample"].map(|key| case[key].as_f64().unwrap());
        assert_eq!(ours.best_samples(run, sample), right["r1_opt"].as_u64());
    }
}

pub fn distributions(cases: &[Value]) {
    let mut seen = 0;
    let mut check = |name: &str, ours: &dyn Fn(&Value) -> f64| {
        let case = cases.iter().find(|case| case["fn"] == name).unwrap();
        let (args, right) = (case["arg"].as_array().unwrap(), case["expect"].as_array().unwrap());
        args.iter().zip(right).for_each(|(arg, right)| close(ours(arg), right, &format!("{name} {arg}")));
        seen += 1;
    };
    check("norm_ppf", &|p| special::normal_quantile(p.as_f64().unwrap()));
    check("norm_cdf", &|z| special::normal_cdf(z.as_f64().unwrap()));
    check("t_ppf_0.975", &|df| special::t_quantile(0.975, df.as_f64().unwrap()));
    check("chi2_sf", &|arg| {
        let arg = floats(arg);
        special::chi2_tail(arg[0], arg[1])
    });
    check("betainc_reg(a,b,x)", &|arg| {
        let arg = floats(arg);
        special::beta(arg[0], arg[1], arg[2])
    });
    check("binom_cdf_half", &|arg| {
        let arg = floats(arg);
        special::binomial_cdf(arg[1] as usize, 0.5).nth(arg[0] as usize).unwrap()
    });
    assert_eq!(seen, cases.len());
}
