//! Whole experiments and what is made of them.

use super::ceilings::ceiling_of;
use super::*;
use crate::caveat::CaveatKind;
use crate::env::{Class, Environment, Fact};
use crate::experiment::{self, Record};
use crate::metric::THROUGHPUT;
use crate::plan::{self, Order};
use crate::run::Run;
use crate::sample::{Reduce, Sample, Series};
use crate::schedule;
use crate::spec::{EngineSpec, Peer};

static ENGINE: EngineSpec = EngineSpec {
    name: "null",
    summary: "",
    peer: Peer::None,
    params: &[],
    metrics: &[THROUGHPUT],
    seconds: |_| 1.0,
};

/// Every slot of two arms measured, each run as `make` has it by arm and block.
fn measured(blocks: u32, order: &str, make: impl Fn(u32, u32) -> Run) -> Experiment {
    measured_arms(&["a", "b"], blocks, order, make)
}

fn measured_arms(arms: &[&str], blocks: u32, order: &str, make: impl Fn(u32, u32) -> Run) -> Experiment {
    let arms_text: String = arms.iter().map(|name| format!("[[arm]]\nname = \"{name}\"\n")).collect();
    let text = format!(
        "blocks = {blocks}\norder = \"{order}\"\n[hosts]\nhere = {{ local = true }}\n{arms_text}[[measure]]\n\
         engine = \"null\"\nfrom = \"here\"\n"
    );
    let plan = plan::parse("p.toml", &text, &[&ENGINE]).unwrap_or_else(|e| panic!("{}", e.render()));
    let order = match plan.order {
        Order::Balanced => schedule::balanced(1, arms.len(), blocks as usize),
        Order::FewChanges => schedule::few_changes(1, arms.len(), blocks as usize),
    };
    let schedule = experiment::slots(&order, 1);
    let record = |(i, slot): (usize, &experiment::Slot)| Record {
        id: i as i64 + 1,
        slot: *slot,
        state: State::Done,
        started_at: i as f64,
        ended_at: Some(i as f64 + 0.5),
        error: None,
        run: Some(make(slot.arm, slot.block)),
    };
    let records = schedule.iter().enumerate().map(record).collect();
    Experiment { id: 1, uid: "u".to_owned(), created_at: 0.0, plan, seed: 1, schedule, records }
}

fn series(value: f64, params: &[(&str, &str)]) -> Series {
    Series {
        metric: THROUGHPUT,
        params: params.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect(),
        headline: Some(Reduce::Total),
        samples: vec![Sample::of(value)],
        reported: BTreeMap::new(),
    }
}

fn value(arm: u32, block: u32) -> f64 {
    (1.0 + f64::from(arm)) * (1.0 + 0.001 * f64::from(block % 3))
}

#[test]
fn too_few_blocks_are_told_from_too_few_changes() {
    let check = |blocks: u32, order: &str, right: Verdict| {
        let run = |arm, block| Run { series: vec![series(value(arm, block), &[])], ..Run::default() };
        let found = &weigh(&measured(blocks, order, run)).comparisons[0].result;
        assert_eq!(found.verdict, right, "{blocks} {order}");
    };
    check(1, "balanced", Verdict::DescriptionOnly);
    for blocks in 2..6 {
        check(blocks, "balanced", Verdict::NeedMoreBlocks);
        check(blocks, "few-changes", Verdict::DescriptionOnly);
    }
    check(6, "balanced", Verdict::Faster);
    check(6, "few-changes", Verdict::Faster);
}

#[test]
fn a_block_resumed_later_is_pointed_out() {
    let run = |arm, block| Run { series: vec![series(value(arm, block), &[])], ..Run::default() };
    let mut experiment = measured(8, "balanced", run);
    let torn = |experiment: &Experiment| {
        weigh(experiment).caveats.into_iter().find(|caveat| caveat.kind == CaveatKind::Drift)
    };
    assert_eq!(torn(&experiment), None);
    // The second run of block 4, and everything behind it, was made an hour later.
    experiment.records[7..].iter_mut().for_each(|record| record.started_at += 3600.0);
    assert!(torn(&experiment).unwrap().text.starts_with("block 4:"));
}

#[test]
fn two_series_of_a_run_are_not_two_runs() {
    let run = |arm, block| Run {
        series: vec![
            series(value(arm, block), &[("target", "x"), ("window", "total")]),
            series(value(arm, block), &[("target", "y"), ("window", "total")]),
        ],
        ..Run::default()
    };
    let found = weigh(&measured(8, "balanced", run)).comparisons;
    let n: Vec<_> = found.iter().map(|c| (c.params["target"].to_string(), c.result.n)).collect();
    assert_eq!(n, [("x".to_owned(), 8), ("y".to_owned(), 8)]);
    // Where nothing needs them they are left out.
    let run = |arm, block| Run {
        series: vec![series(value(arm, block), &[("target", "x"), ("size_bytes", "1")])],
        ..Run::default()
    };
    let found = weigh(&measured(8, "balanced", run)).comparisons;
    assert_eq!(found[0].params.keys().collect::<Vec<_>>(), ["size_bytes"]);
}

#[test]
fn the_slower_side_bounds() {
    let host = |speed: i64| {
        let mut env = Environment::default();
        for (key, value) in [("speed", speed), ("mtu", 1500)] {
            env.insert(format!("net.eth0.{key}"), Fact::new(Class::State, value, "test"));
        }
        env.insert("net.eth0.driver", Fact::new(Class::State, "ixgbe", "test"));
        env
    };
    let check = |from: i64, to: i64, limit: f64| {
        let fact = |text: &str| Fact::new(Class::State, text, "test");
        let mut run = Run::default();
        for (side, name) in [("from", "client"), ("to", "server")] {
            run.facts.insert(format!("path.{side}.host"), fact(name));
            run.facts.insert(format!("path.{side}.interface"), fact("eth0"));
            run.facts.insert(format!("path.{side}.address"), fact("192.0.2.1"));
        }
        run.hosts.extend([("client".to_owned(), host(from)), ("server".to_owned(), host(to))]);
        let found = ceiling_of(&run).unwrap().map_err(|e| e.to_string()).unwrap();
        assert!((found.limit / 1e9 - limit).abs() < 0.01, "{from} {to}: {found:?}");
    };
    check(10_000_000_000, 10_000_000_000, 9.415);
    check(25_000_000_000, 10_000_000_000, 9.415);
    check(10_000_000_000, 25_000_000_000, 9.415);
    // Of a speed that is not known nothing is said, the other side's still bounds.
    check(-1, 10_000_000_000, 9.415);
    check(10_000_000_000, -1, 9.415);
}

/// A repeatable number in -1..=1.
fn noise(seed: u64) -> f64 {
    crate::rng::Rng::new(seed).below(2001) as f64 / 1000.0 - 1.0
}

/// A curve of latencies over sizes, of which arm 1 is a tenth slower up to `slower`.
fn curve(sizes: &[i64], slower: i64) -> impl Fn(u32, u32) -> Run + '_ {
    move |arm, block| {
        let point = |size: &i64| {
            let shift = if arm == 1 && *size <= slower { 1.1 } else { 1.0 };
            let noise = 1.0 + 0.004 * noise(u64::from(block) << 40 | u64::from(arm) << 32 | *size as u64);
            Series {
                metric: crate::metric::LATENCY,
                params: [("size_bytes".to_owned(), crate::sample::Param::Int(*size))].into(),
                headline: Some(Reduce::Total),
                samples: vec![Sample::of(1e-5 * (1.0 + *size as f64 / 4096.0) * shift * noise)],
                reported: BTreeMap::new(),
            }
        };
        Run { series: sizes.iter().map(point).collect(), ..Run::default() }
    }
}

#[test]
fn the_sizes_of_a_curve_are_decided_together() {
    let sizes: Vec<i64> = (0..12).map(|power| 1 << power).collect();
    let found = weigh(&measured(8, "balanced", curve(&sizes, 4)));
    let words: Vec<Verdict> = found.comparisons.iter().map(|c| c.result.verdict).collect();
    assert_eq!(words[..3], [Verdict::Slower; 3]);
    assert!(words[3..].iter().all(|word| *word == Verdict::NoDifference), "{words:?}");
    assert!(found.comparisons.iter().all(|c| c.result.family.unwrap().questions == 12));
    assert!(found.comparisons[2].text.starts_with("b is slower than a: 10"), "{}", found.comparisons[2].text);
    assert!(found.comparisons[2].text.contains(" more latency at 4 B ("), "{}", found.comparisons[2].text);
    let [whole] = found.curves.as_slice() else { panic!("{:?}", found.curves) };
    assert_eq!((whole.along.as_str(), whole.values.len(), whole.whole.n), ("size_bytes", 12, 8));
    assert!(whole.params.is_empty() && (whole.whole.ratio - 1.1f64.powf(0.25)).abs() < 0.003, "{whole:?}");
    assert!(whole.text.contains("latency over 12 sizes"), "{}", whole.text);
    // Arm b falls back at the end of what is slower.
    let [inversion] = found.inversions.as_slice() else { panic!("{:?}", found.inversions) };
    assert_eq!((inversion.arm.as_str(), inversion.from, inversion.to), ("b", 4.0, 8.0));
    assert_eq!(
        inversion.text,
        "latency of b: 8 B took 9 % less than 4 B: what is smaller than that can't be told from noise"
    );
}

#[test]
fn a_correction_is_chosen() {
    let sizes: Vec<i64> = (0..12).map(|power| 1 << power).collect();
    let experiment = measured(8, "balanced", curve(&sizes, 4));
    let with = |correction| weigh_with(&experiment, &Options { correction, ..Options::default() });
    assert_eq!(with(Correction::Holm).comparisons[0].result.verdict, Verdict::NeedMoreBlocks);
    assert_eq!(with(Correction::BenjaminiHochberg).comparisons[0].result.verdict, Verdict::Slower);
}

#[test]
fn more_than_two_arms_get_letters() {
    let levels = [1.0, 1.001, 1.3, 0.7];
    let run = |arm: u32, block: u32| {
        let noise = 1.0 + 0.01 * noise(u64::from(block) << 8 | u64::from(arm));
        Run { series: vec![series(levels[arm as usize] * noise, &[])], ..Run::default() }
    };
    let experiment = measured_arms(&["w", "x", "y", "z"], 8, "balanced", run);
    let found = weigh(&experiment);
    let words: Vec<Verdict> = found.comparisons.iter().map(|c| c.result.verdict).collect();
    assert_eq!(words[1..], [Verdict::Faster, Verdict::Slower]);
    assert!(!words[0].is_different(), "{words:?}");
    let [group] = found.groups.as_slice() else { panic!("{:?}", found.groups) };
    let letters: Vec<&str> = group.letters.iter().map(|(_, letters)| letters.as_str()).collect();
    assert_eq!(letters, ["a", "b", "b", "c"], "{group:?}");
    assert!(group.friedman.unwrap().p < 0.001);
    assert!(group.text.starts_with("throughput, best first: y a, "), "{}", group.text);
    let all = weigh_with(&experiment, &Options { against: Against::AllPairs, ..Options::default() });
    assert_eq!(all.comparisons.len(), 6);
    let two =
        weigh_with(&experiment, &Options { against: Against::Baselines(vec![0, 1]), ..Options::default() });
    assert_eq!(two.comparisons.len(), 4);
}

#[test]
fn counts_that_may_be_0_are_compared_by_difference() {
    let run = |arm: u32, block: u32| {
        let mut lost = series(if arm == 0 { f64::from(20 + block % 3) } else { 0.0 }, &[]);
        lost.metric = crate::metric::RETRANSMITS;
        Run { series: vec![lost], ..Run::default() }
    };
    let found = weigh(&measured(8, "balanced", run));
    let result = &found.comparisons[0].result;
    assert_eq!((result.verdict, result.difference.unwrap().value), (Verdict::Faster, -21.0));
    assert_eq!(found.comparisons[0].text, "b has fewer retransmits than a, by 21 (20-22)");
    assert!(found.comparisons[0].log_ratios.is_empty());
}

#[test]
fn what_stands_out_within_runs_is_pointed_out() {
    let run = |arm: u32, block: u32| {
        let rate = |i: u64| {
            let fallen = if arm == 1 && i >= 30 { 0.2 } else { 1.0 };
            1e9 * fallen * (1.0 + 0.01 * noise(u64::from(block) << 16 | i))
        };
        let samples = (0..60u64).map(|i| Sample::at(i as f64 + 1.0, rate(i))).collect();
        let rates = Series { headline: None, samples, ..series(0.0, &[]) };
        Run { series: vec![series(value(arm, block), &[("window", "total")]), rates], ..Run::default() }
    };
    let found = weigh(&measured(8, "balanced", run));
    assert_eq!(found.diagnostics.iter().filter(|d| d.kind == DiagnosticKind::RateStep).count(), 8);
    assert!(found.diagnostics.iter().all(|d| d.arm == "b"), "{:?}", found.diagnostics);
    let caveat = found.caveats.iter().find(|caveat| caveat.kind == CaveatKind::RateStep).unwrap();
    assert!(
        caveat.text.starts_with(
            "throughput of b, 8 of 8 runs: burst credit or throttle: two plateaus, 998 Mbit/s and"
        ),
        "{}",
        caveat.text
    );
    assert!(caveat.text.contains("with 3.49 GiB moved before the step"), "{}", caveat.text);
    // Flagged runs count.
    assert_eq!(found.comparisons[0].result.n, 8);
}

#[test]
fn a_drift_of_the_session_is_pointed_out() {
    let run = |arm: u32, block: u32| {
        let drift = 1.0 + 0.02 * f64::from(block);
        Run { series: vec![series(value(arm, block) * drift, &[])], ..Run::default() }
    };
    let found = weigh(&measured(12, "balanced", run));
    let caveat = found.caveats.iter().find(|caveat| caveat.kind == CaveatKind::Drift).unwrap();
    assert!(caveat.text.starts_with("throughput drifted by +"), "{}", caveat.text);
}

#[test]
fn far_blocks_count_and_are_named() {
    let run = |arm: u32, block: u32| {
        let far = if arm == 1 && block == 3 { 9.0 } else { 1.0 };
        Run { series: vec![series(value(arm, block) / (1.0 + f64::from(arm)) * far, &[])], ..Run::default() }
    };
    let found = weigh(&measured(8, "balanced", run));
    let comparison = &found.comparisons[0];
    assert_eq!(comparison.far.as_ref().unwrap().blocks, [3]);
    assert_eq!(comparison.result.n, 8);
}

#[test]
fn hostile_values_make_sentences_at_most() {
    let values = [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300, 1e300, 5.0, f64::MIN_POSITIVE];
    for (index, first) in values.iter().enumerate() {
        for second in values {
            for missing in [0, 3, 8] {
                let run = |arm: u32, block: u32| {
                    let value = if arm == 0 { *first } else { second };
                    let sizes = (0..3).map(|size| {
                        let mut one = series(if block % 3 == size { value } else { 2.0 }, &[]);
                        one.params
                            .insert("size_bytes".to_owned(), crate::sample::Param::Int(i64::from(size)));
                        one.samples.extend((0..40).map(|_| Sample::at(f64::from(block), value)));
                        one
                    });
                    let sizes = sizes.filter(|_| arm == 0 || block >= missing);
                    Run { series: sizes.collect(), ..Run::default() }
                };
                let order = if index % 2 == 0 { "balanced" } else { "few-changes" };
                let found = weigh(&measured_arms(&["a", "b", "c"], 8, order, run));
                for comparison in &found.comparisons {
                    let d = &comparison.result;
                    let figures = [d.lo, d.hi, d.p, d.mde];
                    assert!(figures.into_iter().flatten().all(f64::is_finite), "{comparison:?}");
                    assert!(
                        !comparison.text.contains("NaN") && !comparison.text.contains("inf"),
                        "{}",
                        comparison.text
                    );
                }
            }
        }
    }
}
