//! How it was measured, in sentences that a reviewer accepts.

use std::collections::BTreeMap;

use tenbin_core::analysis::Analysis;
use tenbin_core::env::Class;
use tenbin_core::experiment::{Experiment, State};
use tenbin_core::plan::Order;
use tenbin_core::quantity;
use tenbin_core::sample::Reduce;
use tenbin_core::stopping;

use crate::words;

/// The METHOD section, one paragraph an entry.
pub fn paragraphs(experiment: &Experiment, analysis: &Analysis) -> Vec<String> {
    vec![
        design(experiment),
        measures(experiment),
        statistics(experiment, analysis),
        exclusions(experiment),
        scope(experiment),
    ]
}

fn design(experiment: &Experiment) -> String {
    let plan = &experiment.plan;
    let arms: Vec<String> = plan
        .arms
        .iter()
        .enumerate()
        .map(|(index, arm)| {
            let base = if index == 0 { "the base" } else { "" };
            let settings = words::arm_settings(arm);
            let parts: Vec<&str> = [base, &settings].into_iter().filter(|part| !part.is_empty()).collect();
            match parts.is_empty() {
                true => arm.name.clone(),
                false => format!("{} ({})", arm.name, parts.join("; ")),
            }
        })
        .collect();
    let order = match plan.order {
        Order::Balanced => {
            "the order was randomised and balanced, so that every configuration follows every other equally \
             often"
        }
        Order::FewChanges => {
            "the order was chosen to change configurations as seldom as possible, at the price of power against \
             slow drift"
        }
    };
    let rest = match plan.rest > 0.0 {
        true => format!(" The hosts rested {} before each measurement.", quantity::duration(plan.rest)),
        false => String::new(),
    };
    let length = match &plan.until {
        None => String::new(),
        Some(until) => format!(
            " How many blocks there are followed a rule that was stored beforehand, too: {}.",
            stopping::rule(until)
        ),
    };
    format!(
        "{} were compared in {}: {}. Each block measured every configuration once; {order}. The schedule was \
         drawn from seed {} and stored before the first run.{length}{rest}",
        words::capital(&plural(plan.arms.len(), "configuration")),
        plural(experiment.blocks() as usize, "block"),
        arms.join(", "),
        experiment.seed,
    )
}

fn measures(experiment: &Experiment) -> String {
    let plan = &experiment.plan;
    let each: Vec<String> = plan
        .measures
        .iter()
        .map(|measure| {
            let label = match &measure.name {
                Some(name) => format!("{name} ({})", measure.engine),
                None => measure.engine.clone(),
            };
            let params = words::measure_params(measure);
            let with = if params.is_empty() { String::new() } else { format!(" with {params}") };
            match &measure.to {
                Some(to) => format!("{label} from {} to {to}{with}", measure.from),
                None => format!("{label} on {}{with}", measure.from),
            }
        })
        .collect();
    let values: Vec<String> = reductions(experiment)
        .into_iter()
        .map(|(metric, reduce)| match reduce {
            Reduce::Median => format!("for {metric} the median of its samples"),
            Reduce::Total => {
                format!("for {metric} the figure over the whole run (totals, not a mean of intervals)")
            }
        })
        .collect();
    let value = match values.is_empty() {
        true => String::new(),
        false => format!(" The value of a run is {}.", values.join(", ")),
    };
    format!("Measured in every configuration of a block: {}.{value}", each.join("; "))
}

fn plural(n: usize, what: &str) -> String {
    format!("{} {what}{}", words::spelled(n), if n == 1 { "" } else { "s" })
}

/// How each headline metric becomes one value a run.
pub fn reductions(experiment: &Experiment) -> Vec<(String, Reduce)> {
    let mut found: Vec<(String, Reduce)> = Vec::new();
    let runs = experiment.records.iter().filter_map(|record| record.run.as_ref());
    for series in runs.flat_map(|run| &run.series) {
        if let Some(reduce) = series.headline {
            let entry = (series.metric.name.to_string(), reduce);
            if !found.contains(&entry) {
                found.push(entry);
            }
        }
    }
    found
}

fn statistics(experiment: &Experiment, analysis: &Analysis) -> String {
    let margin = words::percent(experiment.plan.margin);
    let level = analysis.comparisons.first().map_or(0.95, |comparison| comparison.result.level);
    format!(
        "Configurations were compared within blocks, on the logarithm of the ratio to the base in the same block. \
         The ratio is the Hodges-Lehmann estimate, its {} interval inverts the exact Wilcoxon signed-rank test, \
         and p is the exact sign-flip one; no normal distribution is assumed, and sample counts within a run do \
         not enter. Differences below {margin} were declared negligible beforehand: \"no difference\" needs the \
         90 % interval inside ± {margin} (two one-sided tests at 5 %), a difference needs an interval without 1. \
         A configuration alone is given by the median over its runs with the exact rank interval.",
        words::percent(level)
    )
}

fn exclusions(experiment: &Experiment) -> String {
    let count = |state: State| experiment.records.iter().filter(|record| record.state == state).count();
    let (invalid, failed) = (count(State::Invalid), count(State::Failed));
    let missing = experiment.missing().len();
    let mut text =
        "The number of blocks was fixed in the plan, before any value was seen. No run was excluded for \
                    its value"
            .to_owned();
    let were = |n: usize| if n == 1 { "was" } else { "were" };
    let mut other = Vec::new();
    if invalid > 0 {
        let runs = plural(invalid, "run");
        other.push(format!("{runs} {} excluded because the state of a machine had changed", were(invalid)));
    }
    if failed > 0 {
        other.push(format!("{} failed", plural(failed, "run")));
    }
    match other.is_empty() {
        true => text.push_str("; none was excluded at all."),
        false => {
            text.push_str(&format!("; {}. Such runs stay stored and are measured again.", other.join(", ")));
        }
    }
    if missing > 0 {
        let slots = experiment.schedule.len();
        text.push_str(&format!(" {missing} of {slots} slots have no run that counts."));
    }
    text
}

/// For what the answer holds.
pub fn scope(experiment: &Experiment) -> String {
    let plan = &experiment.plan;
    let hosts: Vec<String> =
        plan.hosts.iter().map(|(name, host)| format!("{name} ({})", words::place(host))).collect();
    let session = match hosts.len() {
        0 => "The answer holds for this machine, in this session.".to_owned(),
        1 => format!("The answer holds for this host, in this session: {}.", hosts.join("")),
        2 => format!("The answer holds for this pair of hosts, in this session: {}.", hosts.join(" and ")),
        _ => format!("The answer holds for these hosts, in this session: {}.", hosts.join(", ")),
    };
    match plan.arms.iter().any(|arm| !arm.hosts.is_empty()) {
        true => format!(
            "{session} Configurations were measured on different machines: what differs between the machines is \
             part of the difference."
        ),
        false => format!("{session} A statement about a product needs at least six pairs."),
    }
}

/// A fact of a host for the environment table.
pub struct FactRow {
    /// Its key.
    pub key: String,
    /// Its value, or its values by arm where they differ.
    pub value: String,
    /// Where it was read.
    pub source: String,
}

/// What each host was, by its name in the plan; from the first run of every arm that counts.
pub fn environment(experiment: &Experiment) -> Vec<(String, Vec<FactRow>)> {
    // host -> key -> (value, arms in which it holds), with the source first seen.
    type Values = (String, Vec<(String, Vec<usize>)>);
    let mut hosts: BTreeMap<&str, BTreeMap<&str, Values>> = BTreeMap::new();
    for arm in 0..experiment.plan.arms.len() {
        let first = experiment
            .records
            .iter()
            .find(|record| record.state == State::Done && record.slot.arm as usize == arm);
        let Some(run) = first.and_then(|record| record.run.as_ref()) else { continue };
        for (host, env) in &run.hosts {
            for (key, fact) in &env.facts {
                let value = match (&fact.value, fact.class) {
                    // A counter's standing says nothing; that it was watched does.
                    (Some(_), Class::Counter) => "watched during every run".to_owned(),
                    _ => words::micro(&words::fact(fact)),
                };
                let known = hosts
                    .entry(host)
                    .or_default()
                    .entry(key)
                    .or_insert_with(|| (fact.source.clone(), Vec::new()));
                match known.1.iter_mut().find(|(other, _)| *other == value) {
                    Some((_, arms)) => arms.push(arm),
                    None => known.1.push((value, vec![arm])),
                }
            }
        }
    }
    let name = |arm: &usize| experiment.plan.arms[*arm].name.as_str();
    hosts
        .into_iter()
        .map(|(host, facts)| {
            let rows = facts.into_iter().map(|(key, (source, values))| {
                let value = match values.as_slice() {
                    [(value, _)] => value.clone(),
                    several => several
                        .iter()
                        .map(|(value, arms)| {
                            format!("{}: {value}", arms.iter().map(name).collect::<Vec<_>>().join(", "))
                        })
                        .collect::<Vec<_>>()
                        .join("; "),
                };
                FactRow { key: key.to_owned(), value, source }
            });
            (host.to_owned(), rows.collect())
        })
        .collect()
}

/// The tools whose programs took part, with versions.
pub fn tools(experiment: &Experiment) -> Vec<String> {
    let mut tools: Vec<String> = Vec::new();
    for run in experiment.records.iter().filter_map(|record| record.run.as_ref()) {
        let version = run.tool_version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
        let engine = run.benchmark.as_deref().map(|name| format!(", engine {name}")).unwrap_or_default();
        let tool = format!("{}{version}{engine}", run.tool);
        if !tools.contains(&tool) {
            tools.push(tool);
        }
    }
    tools
}
