//! `tenbin run PLAN.toml`: the main job.

use std::io::Read;
use std::path::Path;

use tenbin_core::experiment::{self, Slot};
use tenbin_core::plan::{self, Change, Host, HostCommand, Order, Place, Plan, Settings};
use tenbin_core::quantity;
use tenbin_core::schedule;
use tenbin_core::stats::sample_size::fewest_blocks;
use tenbin_core::stopping;
use tenbin_core::verdict::LEVEL;

use super::experiment::{Goal, carry_out};
use crate::args::{OutputArgs, RunArgs, WeighingArgs};
use crate::exit::{Exit, Failure, Outcome};
use crate::output;
use crate::session;

/// Plans are written by hand: a megabyte is a mistake.
const LONGEST_PLAN: u64 = 1 << 20;

/// Reads the plan, measures, weighs, reports.
pub fn run(args: &RunArgs) -> Outcome {
    let mut plan = read(&args.plan)?;
    if let Some(blocks) = args.blocks {
        plan.blocks = blocks;
        plan.until = None;
    }
    let seed = args.seed.or(plan.seed).unwrap_or_else(|| output::seed_of(&plan.text));
    start(plan, seed, args.dry_run, &args.output, &args.weighing)
}

/// Runs a checked plan, or says what it would do.
pub fn start(plan: Plan, seed: u64, dry_run: bool, to: &OutputArgs, weighing: &WeighingArgs) -> Outcome {
    // What can't be weighed so in the end is not measured.
    weighing.for_arms(plan.arms.iter().map(|arm| arm.name.as_str()))?;
    let order = schedule::of(&plan, seed);
    let slots = experiment::slots(&order, plan.measures.len());
    if dry_run {
        return describe(&plan, seed, &order, &slots, to.json);
    }
    carry_out(Goal::New { plan: Box::new(plan), seed, slots }, to, weighing)
}

/// Reads and checks a plan file.
pub fn read(path: &Path) -> Result<Plan, Failure> {
    let shown = path.display();
    let unreadable = |e: std::io::Error| {
        let hint = match e.kind() {
            std::io::ErrorKind::NotFound => "\nhint: examples/ holds plans to start from",
            _ => "",
        };
        Failure::usage(format!("cannot read plan {shown}: {}{hint}", output::why(&e)))
    };
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(LONGEST_PLAN + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LONGEST_PLAN {
        return Err(Failure::usage(format!("cannot read plan {shown}: it is longer than 1 MiB")));
    }
    let text = String::from_utf8(bytes).map_err(|e| {
        Failure::usage(format!("cannot read plan {shown}: byte {} is no UTF-8", e.utf8_error().valid_up_to()))
    })?;
    plan::parse(&shown.to_string(), &text, &tenbin_engines::specs()).map_err(|e| Failure::usage(e.render()))
}

/// `--dry-run`: the schedule, every command and setting it would touch, and the time it will take.
fn describe(plan: &Plan, seed: u64, order: &[Vec<usize>], slots: &[Slot], json: bool) -> Outcome {
    if json {
        let schedule: Vec<_> = slots
            .iter()
            .map(|slot| {
                serde_json::json!({
                    "block": slot.block,
                    "slot": slot.position,
                    "arm": plan.arms[slot.arm as usize].name,
                    "measure": plan.measures[slot.measure as usize].label(),
                    "run": null,
                    "state": "pending",
                })
            })
            .collect();
        let document = serde_json::json!({
            "schema": "tenbin.schedule/1", "plan": plan.name, "seed": seed, "blocks": plan.blocks, "schedule": schedule,
        });
        output::print(&format!("{document:#}\n"))?;
        return Ok(Exit::Done);
    }
    output::print(&dry_run_text(plan, seed, order, slots))?;
    Ok(Exit::Done)
}

fn dry_run_text(plan: &Plan, seed: u64, order: &[Vec<usize>], slots: &[Slot]) -> String {
    let mut text = String::new();
    let mut line = |s: String| {
        text.push_str(&s);
        text.push('\n');
    };
    line(format!("plan {}: {} blocks, seed {seed}", plan.name, order.len()));
    if let Some(until) = &plan.until {
        line(format!("then {}", stopping::rule(until)));
    }
    if let Some(question) = &plan.question {
        line(format!("question: {question}"));
    }
    line("hosts:".to_owned());
    for (name, host) in &plan.hosts {
        let sudo = if host.sudo { ", agent through sudo" } else { "" };
        line(format!("  {name}: {}{sudo}", placed(host)));
    }
    if let Some(lab) = &plan.lab {
        let link = Settings { link: Some(lab.link.clone()), ..Settings::default() };
        link.described().iter().for_each(|setting| line(format!("  {setting}")));
    }
    line("arms:".to_owned());
    for (index, arm) in plan.arms.iter().enumerate() {
        line(format!("  {}{}", arm.name, if index == 0 { " (base)" } else { "" }));
        for touched in touches(plan, index) {
            line(format!("    {touched}"));
        }
    }
    line("measured in each arm:".to_owned());
    for measure in &plan.measures {
        let to = measure.to.as_ref().map(|to| format!(" -> {to}")).unwrap_or_default();
        let with = match tenbin_report::values_text(&measure.params) {
            none if none.is_empty() => none,
            with => format!(": {with}"),
        };
        line(format!("  {} {}{to}{with}", measure.label(), measure.from));
    }
    if plan.rest > 0.0 {
        line(format!("rest before each measurement: {}", quantity::trimmed(&quantity::duration(plan.rest))));
    }
    line("schedule:".to_owned());
    for (block, arms) in order.iter().enumerate() {
        let names: Vec<&str> = arms.iter().map(|arm| plan.arms[*arm].name.as_str()).collect();
        line(format!("  block {:>2}: {}", block + 1, names.join(", ")));
    }
    let flat: Vec<usize> = order.iter().flatten().copied().collect();
    let changes = 1 + flat.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let measuring: f64 = slots.iter().map(|slot| session::seconds(plan, *slot)).sum();
    let changing: f64 = entered(&flat)
        .map(|arm| match plan.arms[arm].change {
            Change::Seconds(seconds) => seconds,
            Change::Free | Change::Manual => 0.0,
        })
        .sum();
    let by_hand = entered(&flat).filter(|arm| plan.arms[*arm].change == Change::Manual).count();
    line(format!(
        "changes of arms: {changes}{}",
        match by_hand {
            0 => String::new(),
            n => format!(", {n} of them by hand"),
        }
    ));
    let fewest = fewest_blocks(LEVEL).unwrap_or(0);
    if plan.order == Order::Balanced && order.len() < fewest {
        line(format!("fewer than {fewest} blocks allow no interval: there will be no verdict"));
    } else if let Some(few) = few_alternations(order, plan.arms.len()) {
        line(format!("only {few} alternations: the result will be a description, not a verdict"));
    }
    let of_commands = plan.measures.iter().any(|measure| measure.engine == "external");
    line(format!(
        "time: {} of measuring{}{}",
        quantity::trimmed(&quantity::duration(measuring)),
        if of_commands { ", taking 1 s for a command since nobody knows" } else { "" },
        if changing > 0.0 { format!(", {} of changes", quantity::duration(changing)) } else { String::new() }
    ));
    text
}

/// Arms in the order in which they are entered.
fn entered(flat: &[usize]) -> impl Iterator<Item = usize> + '_ {
    flat.iter().enumerate().filter(|(i, arm)| *i == 0 || flat[i - 1] != **arm).map(|(_, arm)| *arm)
}

/// The fewest alternations with the base of any arm, where they are too few for a verdict.
fn few_alternations(order: &[Vec<usize>], arms: usize) -> Option<usize> {
    let fewest = (1..arms).map(|arm| schedule::alternations(order, 0, arm)).min()?;
    (fewest < tenbin_core::analysis::ENOUGH_ALTERNATIONS).then_some(fewest)
}

fn touches(plan: &Plan, arm: usize) -> Vec<String> {
    let arm = &plan.arms[arm];
    let mut list = Vec::new();
    match arm.change {
        Change::Free => {}
        Change::Seconds(seconds) => list.push(format!("change takes {}", quantity::duration(seconds))),
        Change::Manual => list.push("changed by hand".to_owned()),
    }
    for (name, host) in &arm.hosts {
        list.push(format!("host {name} is {}", placed(host)));
    }
    for (engine, values) in &arm.params {
        list.push(format!("{engine} with {}", tenbin_report::values_text(values)));
    }
    list.extend(arm.before.iter().map(|command| format!("before: {}", shown(command))));
    list.extend(arm.set.described());
    list.extend(arm.after.iter().map(|command| format!("after: {}", shown(command))));
    if list.is_empty() {
        list.push("nothing is changed".to_owned());
    }
    list
}

fn shown(command: &HostCommand) -> String {
    let words: Vec<String> = command.argv.iter().map(|word| tenbin_core::launch::shell_quote(word)).collect();
    format!("{} on {}", words.join(" "), command.host.as_deref().unwrap_or("every host"))
}

fn placed(host: &Host) -> String {
    let mut text = match (&host.place, host.address) {
        (Place::Address, Some(address)) => format!("{address}; {}", place(&host.place)),
        (at, Some(address)) => format!("{}, address {address}", place(at)),
        (at, None) => place(at),
    };
    text.extend(host.interface.as_ref().map(|interface| format!(", interface {interface}")));
    text
}

fn place(place: &Place) -> String {
    match place {
        Place::Local => "this machine".to_owned(),
        Place::Lab(name) => format!("lab host {name} (a network namespace of this machine)"),
        Place::Address => "nothing is set or watched there".to_owned(),
        Place::Ssh(destination) => format!("ssh {destination}"),
        Place::Exec(prefix) => prefix.join(" "),
    }
}
