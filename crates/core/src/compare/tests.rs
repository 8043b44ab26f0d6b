//! Logs of one configuration against another, put together by hand.

use std::collections::BTreeMap;

use super::*;
use crate::env::{Class, Fact};
use crate::metric::{BANDWIDTH, CWND, LATENCY, LOSS, Metric, PACKETS_RECEIVED, RTT, THROUGHPUT};
use crate::run::Run;
use crate::sample::{Param, Reduce, Sample, Series};
use crate::verdict::Verdict;

fn series(metric: &Metric, params: &[(&str, Param)], values: &[f64]) -> Series {
    Series {
        metric: metric.clone(),
        params: params.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
        headline: Some(if values.len() > 1 { Reduce::Median } else { Reduce::Total }),
        samples: values.iter().map(|value| Sample::of(*value)).collect(),
        reported: BTreeMap::new(),
    }
}

fn run(series: Vec<Series>) -> Run {
    Run { tool: "imb".to_owned(), series, ..Run::default() }
}

fn side(name: &str, runs: &[Run]) -> Side {
    let seen = |(number, run)| Seen::of(run, number, name, None, Options::default().margin);
    Side::of(name, (1..).zip(runs).map(seen).collect())
}

fn blocks(name: &str, runs: &[Run]) -> Side {
    let seen =
        |(block, run)| Seen::of(run, i64::from(block) + 1, name, Some(block), Options::default().margin);
    Side::of(name, (0..).zip(runs).map(seen).collect())
}

fn ask(base: &[Run], arm: &[Run]) -> Answer {
    compare(&side("old", base), &side("new", arm), &Options::default())
}

/// A ping of which only the last lines were kept.
fn summary(min: f64, mean: f64, max: f64, mdev: f64, n: f64) -> Run {
    let mut rtt = series(&RTT, &[], &[]);
    rtt.headline = Some(Reduce::Median);
    rtt.reported = [("min", min), ("mean", mean), ("max", max), ("sd", mdev)]
        .map(|(name, value)| (name.to_owned(), value * 1e-3))
        .into();
    let received = Series { headline: None, ..series(&PACKETS_RECEIVED, &[], &[n]) };
    Run { tool: "ping".to_owned(), ..run(vec![rtt, received]) }
}

/// A curve: size s takes (1 + s / 4096) * `factor` units of 10 us.
fn curve(sizes: &[i64], factor: f64) -> Run {
    let point = |size: &i64| {
        let time = 1e-5 * factor * (1.0 + *size as f64 / 4096.0);
        series(&LATENCY, &[("size_bytes", Param::Int(*size))], &[time])
    };
    run(sizes.iter().map(point).collect())
}

#[test]
fn two_printed_summaries_are_described() {
    let answer =
        ask(&[summary(0.194, 0.255, 0.362, 0.041, 60.0)], &[summary(0.145, 0.173, 0.249, 0.020, 60.0)]);
    let [row] = answer.rows.as_slice() else { panic!("{answer:?}") };
    let result = &row.comparison.result;
    assert_eq!((row.design, result.verdict), (Design::OneRun, Verdict::DescriptionOnly));
    assert!((result.lo, result.hi, result.p) == (None, None, None));
    assert!(
        row.comparison.text.contains("no statement about the difference between configurations is possible")
    );
    let within = row.within.as_ref().unwrap();
    assert_eq!(
        within.text,
        "rtt: within these two runs the means are 255 and 173 us: -32.2 % (Welch 95 % -37 to -28 % over printed \
         figures, t = -13.8, df = 85.6), which takes samples for independent, as they hardly are"
    );
    assert!(
        (within.lo.unwrap() - 0.632).abs() < 1e-3 && (within.hi.unwrap() - 0.725).abs() < 1e-3,
        "{within:?}"
    );
}

#[test]
fn a_deviation_carried_by_one_packet_bears_nothing() {
    let answer =
        ask(&[summary(0.145, 0.173, 0.249, 0.020, 60.0)], &[summary(0.104, 0.144, 0.769, 0.082, 60.0)]);
    let within = answer.rows[0].within.as_ref().unwrap();
    assert_eq!((within.lo, within.t), (None, None));
    assert!(
        within.text.ends_with("a robust statistic is needed and per-packet data is missing"),
        "{}",
        within.text
    );
    assert!(within.text.contains("carries the printed deviation of new"), "{}", within.text);
}

#[test]
fn a_biased_deviation_is_said() {
    let mut old = summary(0.194, 0.255, 0.362, 0.041, 60.0);
    old.caveats.push(Caveat::new(CaveatKind::BiasedDeviation, "mdev is too high"));
    let answer = ask(&[old], &[summary(0.145, 0.173, 0.249, 0.020, 60.0)]);
    let within = answer.rows[0].within.as_ref().unwrap();
    assert!(within.text.ends_with("biased upwards, so that this interval is too wide"), "{}", within.text);
    assert!(answer.caveats.contains(&Caveat::new(CaveatKind::BiasedDeviation, "old: mdev is too high")));
}

#[test]
fn runs_that_share_blocks_are_paired() {
    // A drift far above the difference, which blocks cancel.
    let drifting = |shift: f64| -> Vec<Run> {
        (0..8)
            .map(|b| curve(&[64, 128], shift * (1.0 + 0.3 * f64::from(b)) * (1.0 + 0.001 * f64::from(b % 3))))
            .collect()
    };
    let (base, arm) = (drifting(1.0), drifting(1.1));
    let paired = compare(&blocks("old", &base), &blocks("new", &arm), &Options::default());
    assert!(paired.rows.iter().all(|row| row.design == Design::Paired));
    assert!(
        paired.rows.iter().all(|row| row.comparison.result.verdict == Verdict::Slower),
        "{:?}",
        paired.rows
    );
    assert_eq!(paired.rows[0].comparison.result.family.unwrap().questions, 2);
    let unpaired = ask(&base, &arm);
    assert!(unpaired.rows.iter().all(|row| row.comparison.result.verdict == Verdict::CantTell));
    assert!(unpaired.sentences().iter().any(|text| text.starts_with("the runs were not interleaved")));
}

#[test]
fn several_runs_without_blocks_are_compared_unpaired() {
    let runs = |values: [f64; 5]| values.map(|value| run(vec![series(&BANDWIDTH, &[], &[value])])).to_vec();
    let answer = ask(&runs([2.59, 2.66, 2.63, 2.65, 2.57]), &runs([3.92, 3.69, 3.58, 3.62, 3.52]));
    let row = &answer.rows[0];
    assert_eq!((row.design, row.comparison.result.verdict), (Design::Unpaired, Verdict::Faster));
    assert!((row.comparison.result.p.unwrap() - 0.0079).abs() < 1e-4);
    assert_eq!((row.base_level.n, row.arm_level.n), (5, 5));
    let within = row.within.as_ref().unwrap();
    assert!(within.of_runs && (within.ratio - 1.399).abs() < 1e-3, "{within:?}");
    // One pasted log of five tests says the same.
    let pasted = |values: &[f64]| {
        let mut one = run(vec![series(&BANDWIDTH, &[], values)]);
        one.tool = "qperf".to_owned();
        one
    };
    let same = ask(&[pasted(&[2.59, 2.66, 2.63, 2.65, 2.57])], &[pasted(&[3.92, 3.69, 3.58, 3.62, 3.52])]);
    assert_eq!(same.rows[0].comparison.result, row.comparison.result);
}

#[test]
fn against_a_single_run_nothing_is_claimed() {
    let many: Vec<Run> =
        (0..20).map(|i| run(vec![series(&BANDWIDTH, &[], &[1.0 + 0.001 * f64::from(i)])])).collect();
    let answer = ask(&many, &[run(vec![series(&BANDWIDTH, &[], &[2.0])])]);
    let row = &answer.rows[0];
    assert_eq!((row.design, row.comparison.result.verdict), (Design::OneRun, Verdict::DescriptionOnly));
    assert_eq!(row.comparison.result.lo, None);
}

#[test]
fn curves_are_compared_where_both_have_data() {
    let (short, long) = ([1, 2, 4, 8], [1, 2, 4, 8, 16, 1024]);
    let answer = ask(&[curve(&long, 1.0)], &[curve(&short, 1.1)]);
    assert_eq!(answer.rows.len(), 4);
    let [common] = answer.common.as_slice() else { panic!("{answer:?}") };
    assert_eq!(
        common.text,
        "latency: compared at the 4 sizes that both have (1 B to 8 B); no common data above 8 B: only old goes on"
    );
    let [overall] = answer.overall.as_slice() else { panic!("{answer:?}") };
    assert!((overall.ratio - 1.1).abs() < 1e-9 && overall.lower.is_empty());
    assert!(
        overall.text.starts_with("latency over 4 sizes: new has 1.10 times the value of old"),
        "{}",
        overall.text
    );
    assert!(answer.refused.is_empty(), "{:?}", answer.refused);
    let apart = ask(&[curve(&[1, 2], 1.0)], &[curve(&[4, 8], 1.0)]);
    assert!(apart.rows.is_empty());
    assert_eq!(apart.common[0].text, "latency: old and new have no sizes in common");
}

#[test]
fn an_order_that_changes_is_said() {
    let sizes = [1, 2, 4, 8, 16];
    let mut crossing = curve(&sizes, 0.9);
    crossing.series[3].samples[0].value *= 1.5;
    let answer = ask(&[curve(&sizes, 1.0)], &[crossing]);
    assert_eq!(answer.overall[0].higher, [8.0]);
    assert!(
        answer.overall[0].text.ends_with("higher at 8 B, lower at the other 4"),
        "{}",
        answer.overall[0].text
    );
    assert_eq!((answer.inversions.len(), answer.inversions[0].arm.as_str()), (1, "new"));
}

#[test]
fn cliffs_and_few_repetitions_are_said() {
    let mut old = curve(&[4096, 8192, 16384], 1.0);
    old.series[2].samples[0].value *= 5.0;
    old.series[2].reported.insert("n".to_owned(), 10.0);
    let answer = ask(&[old], &[curve(&[4096, 8192, 16384], 1.0)]);
    let texts: Vec<&str> = answer.caveats.iter().map(|caveat| caveat.text.as_str()).collect();
    assert!(
        texts[0].starts_with("latency of old: cliff at 16 KiB, where the rate falls to 24 %"),
        "{texts:?}"
    );
    assert_eq!(texts[1], "latency of old: from 16 KiB on the numbers rest on few repetitions, down to 10");
}

#[test]
fn different_metrics_are_refused_and_units_converted() {
    let bits = [run(vec![series(&THROUGHPUT, &[], &[8e9])])];
    let bytes = [run(vec![series(&BANDWIDTH, &[], &[2e9])])];
    let answer = ask(&bits, &bytes);
    assert_eq!(answer.rows[0].comparison.result.ratio, 2.0);
    assert_eq!(
        (answer.rows[0].comparison.metric.as_str(), answer.rows[0].arm_level.mean),
        ("throughput", 1.6e10)
    );
    assert!(answer.caveats[0].text.starts_with("bandwidth in byte/s was converted to throughput in bit/s"));
    let times = [run(vec![series(&LATENCY, &[], &[1e-5])])];
    let refused = ask(&bits, &times);
    assert!(refused.rows.is_empty());
    assert_eq!(
        refused.refused[0],
        "nothing to compare: old has throughput in bit/s, new has latency in s, and different metrics or units are \
         not compared"
    );
    // The same metric of another benchmark is another thing.
    let of = |name: &str| [run(vec![series(&LATENCY, &[("benchmark", name.into())], &[1e-5])])];
    let other = ask(&of("PingPong"), &of("Allreduce"));
    assert!(other.rows.is_empty() && other.refused[0].ends_with("under no parameters that both share"));
    assert_eq!(other.refused[1], "only old has: latency (benchmark PingPong)");
}

#[test]
fn intervals_of_a_total_tell_the_spread_within() {
    let of = |rate: f64| {
        let total = series(&THROUGHPUT, &[("side", "receiver".into()), ("window", "total".into())], &[rate]);
        let rates: Vec<f64> = (0..10).map(|i| rate * (0.95 + 0.01 * f64::from(i))).collect();
        let intervals = series(&THROUGHPUT, &[("side", "sender".into())], &rates);
        run(vec![total, Series { headline: None, ..intervals }])
    };
    let answer = ask(&[of(4e9)], &[of(8e9)]);
    let within = answer.rows[0].within.as_ref().unwrap();
    assert!(within.text.contains("over samples") && (within.ratio - 2.0).abs() < 1e-9, "{within:?}");
}

#[test]
fn a_side_alone_is_described() {
    let rates = [26.0, 27.0, 28.0, 27.5, 26.5];
    let runs = rates.map(|rate| run(vec![series(&BANDWIDTH, &[("kernel", "triad".into())], &[rate * 1e9])]));
    let [one] = describe(&side("new", &runs)).levels.try_into().unwrap();
    assert_eq!(
        one.text,
        "bandwidth (kernel triad) of new: mean 27.0 GB/s over 5 runs, sd 791 MB/s (2.9 %), 95 % interval of the \
         mean ±982 MB/s (3.6 %)"
    );
    assert_eq!(describe(&side("none", &[])), Alone::default());
}

/// The side `name` with facts that a user gave.
fn told(name: &str, mut of: Run, facts: &[(&str, &str)]) -> Side {
    for (key, value) in facts {
        of.facts.insert((*key).to_owned(), Fact::new(Class::Identity, *value, "test"));
    }
    side(name, &[of])
}

#[test]
fn facts_give_ceilings() {
    let of = |tool: &str, benchmark: &str, metric: &Metric, value: f64, facts: &[(&str, &str)]| {
        let run = Run {
            tool: tool.to_owned(),
            benchmark: Some(benchmark.to_owned()),
            ..run(vec![series(metric, &[], &[value])])
        };
        describe(&told("new", run, facts))
    };
    let share = |alone: &Alone| alone.ceilings.first().map(|one| (one.share * 1000.0).round() / 1000.0);
    let rate = ("link.rate", "10Gbit/s");
    // 10 Gbit/s x 1448/1538, and x 1472/1538 without TCP's header.
    assert_eq!(share(&of("iperf3", "", &THROUGHPUT, 4.18e9, &[rate])), Some(0.444));
    assert_eq!(share(&of("iperf3", "", &THROUGHPUT, 8.47e9, &[rate, ("link.mtu", "9000")])), Some(0.856));
    assert_eq!(share(&of("netperf", "UDP_STREAM", &THROUGHPUT, 9e9, &[rate])), Some(0.94));
    // Messages are held against what the link is sold by; both directions are twice that.
    assert_eq!(share(&of("osu", "osu_bw", &BANDWIDTH, 1.0e9, &[rate])), Some(0.8));
    assert_eq!(share(&of("osu", "osu_bibw", &BANDWIDTH, 1.0e9, &[rate])), Some(0.4));
    let above = of("osu", "osu_bw", &BANDWIDTH, 2.5e9, &[rate]);
    assert!(above.caveats.iter().any(|caveat| caveat.kind == CaveatKind::AboveCeiling), "{above:?}");
    assert_eq!(share(&of("stream", "", &BANDWIDTH, 3e10, &[("memory.rate", "40GB/s")])), Some(0.75));
    // A link bounds no memory, and what can't be read is said.
    assert_eq!(share(&of("stream", "", &BANDWIDTH, 3e10, &[rate])), None);
    for (key, value) in [("link.rate", "fast"), ("link.rate", "0Gbit/s")] {
        let wrong = of("iperf3", "", &THROUGHPUT, 1e9, &[(key, value)]);
        assert!(wrong.ceilings.is_empty());
        assert!(wrong.caveats[0].text.starts_with(&format!("no ceiling: {key}: ")), "{wrong:?}");
    }
    let small = of("iperf3", "", &THROUGHPUT, 1e9, &[rate, ("link.mtu", "9k")]);
    assert!(small.caveats[0].text.starts_with("no ceiling: link.mtu: \"9k\""), "{small:?}");
}

#[test]
fn packets_are_the_limit_only_where_headers_are_not() {
    let of = |name: &str, rate: f64, mtu: &str| {
        let run = Run { tool: "iperf3".to_owned(), ..run(vec![series(&THROUGHPUT, &[], &[rate])]) };
        told(name, run, &[("link.rate", "1Gbit/s"), ("link.mtu", mtu)])
    };
    let remark = |base: &Side, arm: &Side| compare(base, arm, &Options::default()).remarks;
    // Both at their ceilings: headers are all there is.
    let [full] = remark(&of("old", 0.94e9, "1500"), &of("new", 0.99e9, "9000")).try_into().unwrap();
    assert!(full.starts_with("headers explain +5.2 % of the +5.3 %") && !full.contains("idle"), "{full}");
    let [idle] = remark(&of("old", 0.3e9, "1500"), &of("new", 0.8e9, "9000")).try_into().unwrap();
    assert!(idle.contains("old leaves 68 % of the link idle"), "{idle}");
    // The other way round it is the arm that has the small packets.
    let [turned] = remark(&of("old", 0.8e9, "9000"), &of("new", 0.3e9, "1500")).try_into().unwrap();
    assert!(turned.contains("new leaves 68 % of the link idle"), "{turned}");
    assert!(remark(&of("old", 0.3e9, "1500"), &of("new", 0.8e9, "1500")).is_empty());
}

#[test]
fn hostile_runs_make_sentences_at_most() {
    let values = [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300, 1e300, 5.0];
    for first in values {
        for second in values {
            for metric in [&LATENCY, &LOSS, &CWND] {
                let runs = |value: f64, n: usize| vec![run(vec![series(metric, &[], &[value])]); n];
                for (a, b) in [(1, 1), (1, 6), (6, 6), (0, 3)] {
                    let (base, arm) = (runs(first, a), runs(second, b));
                    for answer in [
                        ask(&base, &arm),
                        compare(&blocks("old", &base), &blocks("new", &arm), &Options::default()),
                    ] {
                        for row in &answer.rows {
                            let d = &row.comparison.result;
                            assert!(
                                [d.lo, d.hi, d.p, d.mde].into_iter().flatten().all(f64::is_finite),
                                "{d:?}"
                            );
                        }
                        let said = answer.sentences().join("\n");
                        assert!(!said.contains("NaN") && !said.contains(" inf"), "{said}");
                    }
                }
            }
        }
    }
    assert!(ask(&[], &[]).rows.is_empty());
}
