//! From an experiment to an answer: comparisons, ceilings, what differed undeclared, what a reader must know.
//!
//! Recomputed from the stored samples every time; nothing of it is stored.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::caveat::{Caveat, CaveatKind};
use crate::ceiling::{self, Ceiling, Ip, NoCeiling, Transport};
use crate::env::{Class, FactValue};
use crate::experiment::{Experiment, State};
use crate::metric::{self, Better, Metric};
use crate::plan::{Order, Place};
use crate::run::Run;
use crate::sample::{Params, Series};
use crate::stats;
use crate::taint::TaintLevel;
use crate::unit::Unit;
use crate::verdict::{self, LEVEL, Verdict};

/// The answer to a plan's question.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// Every arm against the base, by metric and parameters, in the plan's order.
    pub comparisons: Vec<Comparison>,
    /// Every arm alone, by metric and parameters.
    pub levels: Vec<Level>,
    /// What bounds each arm.
    pub ceilings: Vec<ArmCeiling>,
    /// How many runs are in which state.
    pub runs: RunCounts,
    /// Facts that differ between arms and were not declared.
    pub undeclared_differences: Vec<UndeclaredDifference>,
    /// Everything a reader must know, once each.
    pub caveats: Vec<Caveat>,
}

/// One arm against the base.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// What is compared.
    pub metric: String,
    /// Under which parameters.
    pub params: Params,
    /// The arm compared with.
    pub base: String,
    /// The arm compared.
    pub arm: String,
    /// The direction called faster.
    pub better: Better,
    /// The result.
    #[serde(flatten)]
    pub result: crate::verdict::Decision,
    /// The verdict as a sentence.
    pub text: String,
    /// The per-block log ratios in block order, for the figure.
    #[serde(default)]
    pub log_ratios: Vec<f64>,
}

/// One arm alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// The arm's name.
    pub arm: String,
    /// What was measured.
    pub metric: Metric,
    /// Under which parameters.
    pub params: Params,
    /// Runs that count.
    pub n: usize,
    /// Median over runs.
    pub median: f64,
    /// The 95 % interval of the median by exact ranks; absent below six runs.
    pub interval: Option<(f64, f64)>,
    /// The value of every run that counts, with the slot's block, in the order measured.
    pub values: Vec<LevelValue>,
}

/// The value of one run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelValue {
    /// The run's number in the store.
    pub run: i64,
    /// The block, from 0.
    pub block: u32,
    /// Seconds since the experiment's first run began.
    pub at: f64,
    /// The headline value.
    pub value: f64,
}

/// What bounds an arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArmCeiling {
    /// The arm's name.
    pub arm: String,
    /// The metric it bounds.
    pub metric: String,
    /// The limit and its derivation.
    #[serde(flatten)]
    pub ceiling: Ceiling,
    /// Median over the limit.
    pub share: Option<f64>,
}

/// How many runs are in which state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunCounts {
    /// Nothing stood out.
    pub clean: u32,
    /// Counted, with a mark.
    pub suspect: u32,
    /// Stored but not counted.
    pub invalid: u32,
    /// A signal could not be read.
    pub unknown: u32,
}

/// A fact that differs between arms and was not declared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UndeclaredDifference {
    /// The host as the plan calls it.
    pub host: String,
    /// The fact's key.
    pub key: String,
    /// Its unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// Its value by arm.
    pub values: BTreeMap<String, FactValue>,
}

/// Params that say how a headline came about rather than under what it was measured.
const NOT_COMPARED: [&str; 4] = ["window", "side", "target", "host"];

/// Below so many changes of arms a drift of the machines can't be told from a difference.
pub const ENOUGH_ALTERNATIONS: usize = 6;

/// Weighs what has been measured of an experiment so far.
pub fn weigh(experiment: &Experiment) -> Analysis {
    let subjects = subjects(experiment);
    let mut caveats = general_caveats(experiment);
    let mut comparisons = Vec::new();
    let mut levels = Vec::new();
    for subject in &subjects {
        levels.extend(subject.levels(experiment));
        comparisons.extend(subject.comparisons(experiment, &mut caveats));
    }
    let ceilings = ceilings(experiment, &levels, &mut caveats);
    for record in experiment.records.iter().filter(|record| record.state == State::Done) {
        caveats.extend(record.run.iter().flat_map(|run| run.caveats.iter().cloned()));
    }
    Analysis {
        comparisons,
        levels,
        ceilings,
        runs: run_counts(experiment),
        undeclared_differences: undeclared_differences(experiment),
        caveats: without_repeats(caveats),
    }
}

/// One thing that is compared: a headline metric of one measure under fixed parameters.
struct Subject {
    measure: u32,
    metric: Metric,
    params: Params,
    /// The value of every run that counts, by (arm, block), in the order measured.
    values: Vec<(u32, LevelValue)>,
}

/// The params under which a headline is compared.
fn compared(params: &Params) -> Params {
    let kept = params.iter().filter(|(name, _)| !NOT_COMPARED.contains(&name.as_str()));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn subjects(experiment: &Experiment) -> Vec<Subject> {
    let began = experiment.records.first().map_or(0.0, |record| record.started_at);
    let mut subjects: Vec<Subject> = Vec::new();
    for slot in &experiment.schedule {
        let Some(record) = experiment.done(*slot) else { continue };
        let all: &[Series] = record.run.as_ref().map_or(&[], |run| &run.series);
        for (index, series) in all.iter().enumerate() {
            let Some(value) = series.headline_value() else { continue };
            let mut params = compared(&series.params);
            // Two series of one run must never count as two runs: what tells them apart is then compared as well.
            let twin = |(other, twin): (usize, &Series)| {
                other != index
                    && twin.headline.is_some()
                    && twin.metric == series.metric
                    && compared(&twin.params) == params
            };
            if all.iter().enumerate().any(twin) {
                params.clone_from(&series.params);
            }
            let value =
                LevelValue { run: record.id, block: slot.block, at: record.started_at - began, value };
            let known = subjects.iter_mut().find(|subject| {
                subject.measure == slot.measure && subject.metric == series.metric && subject.params == params
            });
            match known {
                Some(subject) => subject.values.push((slot.arm, value)),
                None => subjects.push(Subject {
                    measure: slot.measure,
                    metric: series.metric.clone(),
                    params,
                    values: vec![(slot.arm, value)],
                }),
            }
        }
    }
    name_measures_apart(&mut subjects, experiment);
    subjects.sort_by_key(|subject| subject.measure);
    subjects
}

/// Where two measures give the same metric, the measure's label tells them apart.
fn name_measures_apart(subjects: &mut [Subject], experiment: &Experiment) {
    for index in 0..subjects.len() {
        let twin = subjects.iter().enumerate().any(|(other, subject)| {
            other != index
                && subject.measure != subjects[index].measure
                && subject.metric.name == subjects[index].metric.name
        });
        if twin {
            let label = experiment.plan.measures[subjects[index].measure as usize].label().into();
            subjects[index].params.insert("measure".to_owned(), label);
        }
    }
}

impl Subject {
    fn of_arm(&self, arm: usize) -> Vec<LevelValue> {
        self.values.iter().filter(|(a, _)| *a as usize == arm).map(|(_, value)| *value).collect()
    }

    fn levels(&self, experiment: &Experiment) -> Vec<Level> {
        let arms = experiment.plan.arms.iter().enumerate();
        arms.filter_map(|(arm, plan)| {
            let values = self.of_arm(arm);
            let bare: Vec<f64> = values.iter().map(|value| value.value).collect();
            Some(Level {
                arm: plan.name.clone(),
                metric: self.metric.clone(),
                params: self.params.clone(),
                n: bare.len(),
                median: stats::median(&bare)?,
                interval: stats::median_interval(&bare, LEVEL),
                values,
            })
        })
        .collect()
    }

    fn comparisons(&self, experiment: &Experiment, caveats: &mut Vec<Caveat>) -> Vec<Comparison> {
        let plan = &experiment.plan;
        if self.metric.better == Better::Neither {
            return Vec::new();
        }
        let base = self.of_arm(0);
        let mut comparisons = Vec::new();
        for (arm, arm_plan) in plan.arms.iter().enumerate().skip(1) {
            // Only blocks in which both were measured count: the pairing is what cancels drift.
            let pairs: Vec<(f64, f64)> = self
                .of_arm(arm)
                .iter()
                .filter_map(|value| {
                    let partner = base.iter().find(|other| other.block == value.block)?;
                    Some((value.value, partner.value))
                })
                .collect();
            let higher = self.metric.better == Better::Higher;
            // In a balanced order too few blocks are just that: more of them would do.
            let few = plan.order == Order::FewChanges && alternations(experiment, arm) < ENOUGH_ALTERNATIONS;
            let decided = match few {
                true => verdict::describe(&pairs, plan.margin),
                false => verdict::decide(&pairs, plan.margin, higher),
            };
            let names = format!("{} of {} against {}", self.metric.name, arm_plan.name, plan.arms[0].name);
            let result = match decided {
                Ok(result) => result,
                Err(e) => {
                    let text = format!("no comparison for {names}: {e}");
                    caveats.push(Caveat::new(CaveatKind::MissingRuns, text));
                    continue;
                }
            };
            if let Some(other) = verdict::without_far_runs(&pairs, plan.margin, higher)
                && other.verdict != result.verdict
                && result.verdict != Verdict::DescriptionOnly
                && other.verdict != Verdict::NeedMoreBlocks
            {
                let text = format!(
                    "{names}: without far runs (3 interquartile ranges) the verdict would be \"{}\"",
                    other.verdict.name().replace('_', " ")
                );
                caveats.push(Caveat::new(CaveatKind::FarRuns, text));
            }
            comparisons.push(Comparison {
                metric: self.metric.name.clone().into_owned(),
                params: self.params.clone(),
                base: plan.arms[0].name.clone(),
                arm: arm_plan.name.clone(),
                better: self.metric.better,
                text: verdict::sentence(
                    &result,
                    &self.metric.name,
                    &plan.arms[0].name,
                    &arm_plan.name,
                    higher,
                ),
                log_ratios: pairs.iter().map(|(arm, base)| (arm / base).ln()).collect(),
                result,
            });
        }
        comparisons
    }
}

/// How often the session changed between an arm and the base, looking at their slots that were measured alone.
fn alternations(experiment: &Experiment, arm: usize) -> usize {
    let done = experiment.schedule.iter().filter(|slot| experiment.done(**slot).is_some());
    let arms: Vec<usize> = done.map(|slot| slot.arm as usize).filter(|a| *a == 0 || *a == arm).collect();
    // A balanced order of n blocks changes arms at least n times; a few-changes order may change less often.
    arms.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

fn general_caveats(experiment: &Experiment) -> Vec<Caveat> {
    let plan = &experiment.plan;
    let mut caveats = Vec::new();
    if !plan.hosts.is_empty() && plan.hosts.values().all(|host| matches!(host.place, Place::Lab(_))) {
        let text = "the hosts are network namespaces of one machine: they share its kernel and CPUs, and no \
                    network card was measured";
        caveats.push(Caveat::new(CaveatKind::SharedMachine, text));
    }
    if plan.order == Order::FewChanges {
        let text =
            "arms were changed as seldom as possible: a slow drift of the machines may pass for a difference";
        caveats.push(Caveat::new(CaveatKind::FewChanges, text));
    }
    let missing = experiment.missing().len();
    if missing > 0 {
        let total = experiment.schedule.len();
        let text = format!("{missing} of {total} runs are missing; blocks without both arms are left out");
        caveats.push(Caveat::new(CaveatKind::MissingRuns, text));
    }
    caveats.extend(torn_blocks(experiment));
    caveats
}

/// Pairing cancels drift only while the runs of a block lie close together. A block that was resumed later does not.
fn torn_blocks(experiment: &Experiment) -> Option<Caveat> {
    // First and last start of each block's runs that count.
    let mut spans: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for record in experiment.records.iter().filter(|record| record.state == State::Done) {
        let at = record.started_at;
        let span = spans.entry(record.slot.block).or_insert((at, at));
        *span = (span.0.min(at), span.1.max(at));
    }
    let lengths: Vec<f64> = spans.values().map(|(first, last)| last - first).collect();
    let limit = SHORT_PAUSE + TORN * stats::median(&lengths)?;
    let torn: Vec<String> = spans
        .iter()
        .filter(|(_, (first, last))| last - first > limit)
        .map(|(block, _)| (block + 1).to_string())
        .collect();
    let text = format!(
        "block {}: its runs lie far apart in time, so that a drift of the machines is not cancelled there",
        torn.join(", ")
    );
    (!torn.is_empty()).then(|| Caveat::new(CaveatKind::Drift, text))
}

/// A block is torn if it took so many times as long as the median block and a pause of so many seconds more.
const TORN: f64 = 10.0;
const SHORT_PAUSE: f64 = 60.0;

fn run_counts(experiment: &Experiment) -> RunCounts {
    let mut counts = RunCounts::default();
    for record in &experiment.records {
        let level = record.run.as_ref().map(|run| run.taint.level);
        match (record.state, level) {
            (State::Invalid, _) | (_, Some(TaintLevel::Invalid)) => counts.invalid += 1,
            (State::Done, Some(TaintLevel::Clean)) => counts.clean += 1,
            (State::Done, Some(TaintLevel::Suspect)) => counts.suspect += 1,
            (State::Done, _) => counts.unknown += 1,
            _ => {}
        }
    }
    counts
}

/// The ceiling of each arm's throughput, from the facts of both hosts.
fn ceilings(experiment: &Experiment, levels: &[Level], caveats: &mut Vec<Caveat>) -> Vec<ArmCeiling> {
    let mut found: Vec<ArmCeiling> = Vec::new();
    let throughput = levels.iter().filter(|level| level.metric.name == metric::THROUGHPUT.name);
    for level in throughput {
        let Some(run) = level.values.first().and_then(|value| run_of(experiment, value.run)) else {
            continue;
        };
        let ceiling = match ceiling_of(run) {
            None => continue,
            Some(Ok(ceiling)) => ceiling,
            Some(Err(why)) => {
                caveats.push(Caveat::new(CaveatKind::NoCeiling, why.to_string()));
                continue;
            }
        };
        let share = level.median / ceiling.limit;
        // What was read is exact to half a per cent; assumptions deserve two.
        let tolerance = if ceiling.all_read { 1.005 } else { 1.02 };
        if share > tolerance {
            let text = format!(
                "throughput of {} is {:.1} % of its ceiling: burst credit, a wrong input, or no hard limit",
                level.arm,
                share * 100.0
            );
            caveats.push(Caveat::new(CaveatKind::AboveCeiling, text));
        }
        found.push(ArmCeiling {
            arm: level.arm.clone(),
            metric: level.metric.name.clone().into_owned(),
            ceiling,
            share: Some(share),
        });
    }
    found
}

/// What bounds the throughput of a run under the settings in force: the link of the sending host, or of the receiving
/// one if that is slower. `None` where the
/// path is not known.
fn ceiling_of(run: &Run) -> Option<Result<Ceiling, NoCeiling>> {
    let text = |key: &str| match run.facts.get(key)?.value.as_ref()? {
        FactValue::Text(text) => Some(text.as_str()),
        _ => None,
    };
    let reverse =
        matches!(run.facts.get("reverse").and_then(|fact| fact.value.as_ref()), Some(FactValue::Bool(true)));
    let sender = if reverse { "to" } else { "from" };
    let side = |side: &str| {
        let env = run.hosts.get(text(&format!("path.{side}.host"))?)?;
        Some((env, text(&format!("path.{side}.interface"))?))
    };
    let (env, interface) = side(sender)?;
    let ip = match text(&format!("path.{sender}.address"))?.contains(':') {
        true => Ip::V6,
        false => Ip::V4,
    };
    let timestamps = match run.facts.get("tcp.timestamps").and_then(|fact| fact.value.as_ref()) {
        Some(FactValue::Bool(on)) => Some(*on),
        _ => None,
    };
    let transport = Transport::Tcp { timestamps };
    let sent = ceiling::for_environment(env, interface, ip, transport);
    let receiver = if reverse { "from" } else { "to" };
    let received =
        side(receiver).map(|(env, interface)| ceiling::for_receiver(env, interface, ip, transport));
    Some(match (sent, received) {
        (Ok(sent), Some(Ok(received))) if sent.limit <= received.limit => Ok(sent),
        (_, Some(Ok(mut received))) => {
            received
                .steps
                .push("of the receiving side, whose link bounds more than the sending side's".to_owned());
            Ok(received)
        }
        (sent, _) => sent,
    })
}

fn run_of(experiment: &Experiment, id: i64) -> Option<&Run> {
    experiment.records.iter().find(|record| record.id == id)?.run.as_ref()
}

/// A fact's unit and, by arm, the value first seen there.
type Seen<'a> = (Option<Unit>, BTreeMap<usize, &'a FactValue>);

/// Facts whose values differ between arms though no arm declared them.
fn undeclared_differences(experiment: &Experiment) -> Vec<UndeclaredDifference> {
    let plan = &experiment.plan;
    let done = || experiment.records.iter().filter(|record| record.state == State::Done);
    let mut seen: BTreeMap<(&str, &str), Seen<'_>> = BTreeMap::new();
    for record in done() {
        for (host, env) in record.run.iter().flat_map(|run| &run.hosts) {
            for (key, fact) in env.facts.iter().filter(|(_, fact)| fact.class != Class::Counter) {
                if let Some(value) = &fact.value {
                    let entry = seen.entry((host, key)).or_default();
                    entry.0 = fact.unit;
                    entry.1.entry(record.slot.arm as usize).or_insert(value);
                }
            }
        }
    }
    let arms_seen: std::collections::BTreeSet<usize> =
        done().map(|record| record.slot.arm as usize).collect();
    let mut differences = Vec::new();
    for ((host, key), (unit, by_arm)) in seen {
        let mut values = by_arm.values();
        let first = values.next();
        let equal = values.all(|value| Some(value) == first) && by_arm.len() == arms_seen.len();
        if equal || plan.arms.iter().any(|arm| arm.set.declares(key)) {
            continue;
        }
        differences.push(UndeclaredDifference {
            host: host.to_owned(),
            key: key.to_owned(),
            unit,
            values: by_arm
                .into_iter()
                .map(|(arm, value)| (plan.arms[arm].name.clone(), value.clone()))
                .collect(),
        });
    }
    differences
}

fn without_repeats(caveats: Vec<Caveat>) -> Vec<Caveat> {
    let mut kept: Vec<Caveat> = Vec::new();
    for caveat in caveats {
        if !kept.contains(&caveat) {
            kept.push(caveat);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::{Environment, Fact};
    use crate::experiment::{self, Record};
    use crate::metric::THROUGHPUT;
    use crate::plan;
    use crate::sample::{Reduce, Sample};
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
        let text = format!(
            "blocks = {blocks}\norder = \"{order}\"\n[hosts]\nhere = {{ local = true }}\n[[arm]]\nname = \"a\"\n\
             [[arm]]\nname = \"b\"\n[[measure]]\nengine = \"null\"\nfrom = \"here\"\n"
        );
        let plan = plan::parse("p.toml", &text, &[&ENGINE]).unwrap_or_else(|e| panic!("{}", e.render()));
        let order = match plan.order {
            Order::Balanced => schedule::balanced(1, 2, blocks as usize),
            Order::FewChanges => schedule::few_changes(1, 2, blocks as usize),
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
}
