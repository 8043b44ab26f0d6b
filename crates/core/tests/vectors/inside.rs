//! Within a run and over a session: diagnostics.

use serde_json::Value;
use tenbin_core::stats::{autocorrelation, changes, dip, summary, trend, warm_up};

use super::{close, floats};

pub fn autocorrelations(cases: &[Value]) {
    for case in cases {
        let (x, right) = (floats(&case["x"]), &case["expect"]);
        let about = case["name"].to_string();
        let rho = autocorrelation::correlations(&x, 10).unwrap();
        rho.iter().zip(right["rho"].as_array().unwrap()).for_each(|(rho, right)| close(*rho, right, &about));
        let ours = autocorrelation::autocorrelation(&x).unwrap();
        close(ours.tau, &right["tau_ips"], &about);
        close(ours.tau_monotone, &right["tau_ims"], &about);
        close(ours.effective_samples(), &right["ess_ips"], &about);
        close(ours.n as f64 / ours.tau_monotone, &right["ess_ims"], &about);
        assert_eq!(ours.pairs as u64, right["pairs_used"], "{about}");
        let lags = right["acf_statsmodels_lag1_5"].as_array().unwrap();
        rho[1..].iter().zip(lags).for_each(|(rho, right)| close(*rho, right, &about));
        let (q, p) = autocorrelation::ljung_box(&x, 10).unwrap();
        close(q, &right["ljung_box_lag10"]["Q"], &about);
        close(p, &right["ljung_box_lag10"]["p"], &about);
        close(autocorrelation::von_neumann_ratio(&x).unwrap(), &right["von_neumann_ratio"], &about);
        close(autocorrelation::batch_means_error(&x, 10).unwrap(), &right["batch_means_se"], &about);
        close(autocorrelation::batch_means_error(&x, 1).unwrap(), &right["naive_se"], &about);
        assert!(ours.complete);
    }
}

pub fn warm_ups(cases: &[Value]) {
    for case in cases {
        let (x, right) = (floats(&case["x"]), &case["expect"]);
        let ours = warm_up::warm_up(&x, case["batch"].as_u64().unwrap() as usize).unwrap();
        assert_eq!(ours.samples as u64, right["truncate_samples"], "{}", case["name"]);
        assert_eq!(ours.never_steady, right["at_limit"], "{}", case["name"]);
        close(ours.statistic, &right["mser"], "statistic");
        close(summary::mean(&x[ours.samples..]).unwrap(), &right["mean_after"], "mean after");
    }
}

pub fn changepoints(cases: &[Value]) {
    for case in cases {
        let (x, right) = (floats(&case["x"]), &case["expect"]);
        close(changes::neighbour_sd(&x).unwrap(), &right["sigma_diff_mad"], "sigma");
        let fit = changes::fit(&x).unwrap();
        assert_eq!(fit.clipped as u64, right["n_clipped"]);
        close(fit.cost, &right["penalised_cost"], "cost");
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

pub fn trends(cases: &[Value]) {
    for case in cases {
        let (ours, right) = (trend::trend(&floats(&case["x"])).unwrap(), &case["expect"]);
        close(ours.tau, &right["kendall_tau"], "tau");
        close(ours.p, &right["p_exact"], "p");
        close(ours.slope, &right["theil_sen_slope"], "slope");
        close(ours.slope_interval.lo, &right["slope_ci95"][0], "lo");
        close(ours.slope_interval.hi, &right["slope_ci95"][1], "hi");
        close(ours.change.unwrap(), &right["relative_change_over_session"], "change");
    }
}

pub fn humps(cases: &[Value]) {
    for case in cases {
        let (x, right) = (floats(&case["x"]), &case["expect"]);
        let found = dip::humps(&x).unwrap();
        close(found.dip, &right["hartigan_dip"], "dip");
        // Both tables are simulated: the vectors allow a fifth.
        let p = right["dip_p_table"].as_f64().unwrap();
        assert!((found.p - p).abs() <= 0.2 * p + 0.001, "{found:?} {p}");
        let sarle = summary::Summary::of(&x).unwrap().bimodality().unwrap();
        close(sarle, &right["sarle_bimodality_coefficient_uncorrected"], "Sarle");
        assert_eq!(found.two(), case["name"] != "unimodal", "{found:?}");
    }
}
