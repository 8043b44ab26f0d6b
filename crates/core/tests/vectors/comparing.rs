//! Two or more lists of values against each other.

use serde_json::Value;
use tenbin_core::stats::{multiple, paired, ranks, sample_size, summary, unpaired, welch};
use tenbin_core::verdict;

use super::{close, floats, pairs};

pub fn signed_rank_critical(cases: &[Value]) {
    for case in cases {
        let (n, level, right) = (case["n"].as_u64().unwrap() as usize, &case["conf"], &case["expect"]);
        let k = right["k"].as_u64().map(|k| k as usize).filter(|k| *k > 0);
        assert_eq!(paired::signed_rank_critical(n, level.as_f64().unwrap()), k, "{case}");
        if let Some(k) = k {
            close(paired::achieved_level(n, k), &right["achieved_conf"], "achieved level");
        }
        close(paired::smallest_p(n), &right["min_two_sided_p"], "smallest p");
    }
}

pub fn paired_blocks(cases: &[Value]) {
    for case in cases {
        let paired = paired::Paired::new(&pairs(case)).unwrap();
        let (n, right) = (paired.logs.len(), &case["expect"]);
        close(paired.p(), &right["p_signflip_midrank_exact"], &format!("{} p", case["name"]));
        for (key, level) in [("ratio_a_over_b_90", 0.9), ("ratio_a_over_b_95", 0.95)] {
            close(paired.log_ratio().exp(), &right[key]["hl"], key);
            match paired.log_interval(level) {
                Some(interval) => {
                    close(interval.lo.exp(), &right[key]["lo"], key);
                    close(interval.hi.exp(), &right[key]["hi"], key);
                    let k = paired::signed_rank_critical(n, level).unwrap();
                    assert_eq!(k as u64, right[key]["k"]);
                    close(paired::achieved_level(n, k), &right[key]["achieved_conf"], key);
                }
                None => assert!(right[key]["lo"].is_null(), "{case}"),
            }
        }
        let (t, mean) = (&right["t_paired_on_logs"], summary::mean(&paired.logs).unwrap());
        close(mean.exp(), &t["ratio"], "geometric mean of ratios");
        close(welch::paired_t(&paired.logs).unwrap().1, &t["p"], "t test");
    }
}

pub fn decisions(cases: &[Value]) {
    for case in cases {
        let right = &case["expect"];
        let decision = verdict::decide(&pairs(case), case["margin"].as_f64().unwrap(), true).unwrap();
        let word = match decision.verdict.name() {
            "faster" | "slower" => "different_material",
            "faster_size_uncertain" | "slower_size_uncertain" => "different_size_uncertain",
            "no_difference" => "equivalent_within_margin",
            "cant_tell" => "inconclusive",
            same => same,
        };
        assert_eq!(word, right["decision"], "{case}");
        if let (Some(lo), Some(hi)) = (decision.lo, decision.hi) {
            close(lo, &right["ci95"][0], "lo");
            close(hi, &right["ci95"][1], "hi");
        }
    }
}

pub fn unpaired_samples(cases: &[Value]) {
    for case in cases {
        let (a, b, right) = (floats(&case["a"]), floats(&case["b"]), &case["expect"]);
        let (ratios, shifts) =
            (unpaired::Unpaired::ratios(&a, &b).unwrap(), unpaired::Unpaired::shifts(&a, &b).unwrap());
        close(ratios.u, &right["U_a"], "U");
        close(ratios.a12(), &right["vargha_delaney_A12"], "A12");
        close(ratios.cliffs_delta(), &right["cliffs_delta"], "delta");
        close(ratios.asymptotic_p(), &right["p_asymptotic_tie_continuity"], "asymptotic p");
        assert_eq!(ratios.p().exact, !right["p_exact"].is_null());
        let (d, p) = unpaired::kolmogorov_smirnov(&a, &b).unwrap();
        close(d, &right["ks_2samp"]["D"], "KS");
        close(p, &right["ks_2samp"]["p"], "KS p");
        let moments = |of: &[f64]| welch::Moments::of(of).unwrap();
        close(welch::Welch::new(moments(&a), moments(&b)).unwrap().p, &right["welch_t_p"], "Welch");
        close(welch::brown_forsythe(&[&a, &b]).unwrap(), &right["brown_forsythe_p"], "Brown-Forsythe");
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
}

pub fn smallest_chances(cases: &[Value]) {
    for case in cases {
        let [m, n] = ["m", "n"].map(|key| case[key].as_u64().unwrap() as usize);
        close(unpaired::smallest_p(m, n), &case["expect"], "smallest p");
    }
}

pub fn sample_sizes(cases: &[Value]) {
    for case in cases {
        let [sd, effect] = ["sd", "effect"].map(|key| case[key].as_f64().unwrap());
        let right = &case["expect"];
        close(sample_size::visible_difference(sd, 8), &right["mde_at_8"], "visible with 8");
        assert_eq!(sample_size::blocks_to_see(sd, effect), right["n_normal_wilcoxon"].as_u64());
        assert_eq!(sample_size::pairs_for_t_test(sd, effect), right["n_nct"].as_u64(), "{case}");
    }
}

pub fn adjusted_chances(cases: &[Value]) {
    for case in cases {
        let p = floats(&case["p"]);
        for (key, ours) in [
            ("holm", multiple::holm(&p)),
            ("bh", multiple::benjamini_hochberg(&p)),
            ("by", multiple::benjamini_yekutieli(&p)),
            ("bonferroni", multiple::bonferroni(&p)),
            ("hochberg", multiple::hochberg(&p)),
        ] {
            let right = case["expect"][key].as_array().unwrap();
            assert_eq!(ours.len(), right.len());
            ours.iter().zip(right).for_each(|(ours, right)| close(*ours, right, key));
        }
    }
}

pub fn blocks_for_holm(cases: &[Value]) {
    for case in cases {
        let (questions, alpha) = (case["m"].as_u64().unwrap() as usize, case["alpha"].as_f64().unwrap());
        let found = multiple::fewest_blocks_for_holm(questions, alpha);
        assert_eq!(found.map(|n| n as u64), case["expect"].as_u64(), "{case}");
    }
}

pub fn sign_flips(cases: &[Value]) {
    for case in cases {
        let (blocks, right) = (rows(&case["d"]), &case["expect"]);
        let columns: Vec<Vec<f64>> =
            (0..blocks[0].len()).map(|s| blocks.iter().map(|block| block[s]).collect()).collect();
        let ours = multiple::MaxT::new(&columns, 0).unwrap();
        assert!(ours.exact);
        for (ours, key) in
            [(&ours.statistics, "stat"), (&ours.adjusted, "p_adjusted"), (&ours.raw, "p_raw_signflip")]
        {
            let right = right[key].as_array().unwrap();
            ours.iter().zip(right).for_each(|(ours, right)| close(*ours, right, key));
        }
    }
}

pub fn equivalence_by_t(cases: &[Value]) {
    for case in cases {
        let (x, y, right) = (floats(&case["x"]), floats(&case["y"]), &case["expect"]);
        let [low, high] = ["low", "high"].map(|key| case[key].as_f64().unwrap());
        let differences: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x - y).collect();
        let (below, above) = welch::equivalence(&differences, low, high).unwrap();
        close(below, &right["p_lower"], "lower");
        close(above, &right["p_upper"], "upper");
        close(below.max(above), &right["p_tost"], "both");
        let of = welch::Moments::of(&differences).unwrap();
        let half = summary::mean_half_width(of.n, of.sd, 0.9).unwrap();
        close(of.mean - half, &right["ci90"][0], "lo");
        close(of.mean + half, &right["ci90"][1], "hi");
    }
}

pub fn many_conditions(cases: &[Value]) {
    for case in cases {
        let (blocks, right) = (rows(&case["blocks"]), &case["expect"]);
        let friedman = ranks::friedman(&blocks).unwrap();
        close(friedman.chi2, &right["friedman_chi2"], "Friedman");
        close(friedman.p, &right["friedman_p"], "Friedman p");
        let arms: Vec<Vec<f64>> =
            (0..blocks[0].len()).map(|arm| blocks.iter().map(|block| block[arm]).collect()).collect();
        let kruskal = ranks::kruskal_wallis(&arms).unwrap();
        close(kruskal.chi2, &right["kruskal_H"], "Kruskal");
        close(kruskal.p, &right["kruskal_p"], "Kruskal p");
    }
}

/// The published times of three virtual NICs, of which the vectors hold only what follows from them.
pub fn geometric_means(cases: &[Value]) {
    let table: Value = serde_json::from_str(&super::vectors("pingpong-three-nics.json")).unwrap();
    let rows: Vec<Vec<f64>> = rows(&table["rows"]);
    assert_eq!(rows.len(), 24);
    // Columns: bytes, PV, VFIO, Ax.
    let ratio = |above: usize, below: usize, sizes: std::ops::RangeInclusive<f64>| {
        let within = rows.iter().filter(|row| sizes.contains(&row[0]));
        let ratios: Vec<f64> = within.map(|row| row[above] / row[below]).collect();
        summary::geometric_mean(&ratios).unwrap()
    };
    let right = cases[0]["expect"].as_object().unwrap();
    let ours = [
        ("Ax/VFIO", ratio(3, 2, 0.0..=1e9)),
        ("Ax/PV", ratio(3, 1, 0.0..=1e9)),
        ("Ax/PV sizes<=4096", ratio(3, 1, 0.0..=4096.0)),
        ("Ax/VFIO sizes<=4096", ratio(3, 2, 0.0..=4096.0)),
        ("Ax/PV sizes 64K..4M", ratio(3, 1, 65536.0..=4_194_304.0)),
    ];
    ours.iter().for_each(|(key, ours)| close(*ours, &right[*key], key));
    assert_eq!(right.len(), ours.len());
}

fn rows(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap().iter().map(floats).collect()
}
