//! `tenbin demo`: three lessons on this machine, without hardware, in a minute.
//!
//! Each lesson is a plan on the lab, run like any other and kept in a store of its own unless one is named.

use tenbin_core::analysis::{self, Analysis, Comparison};
use tenbin_core::experiment::{self, Experiment};
use tenbin_core::plan::{self, Plan};
use tenbin_core::quantity;
use tenbin_core::sample::Param;
use tenbin_core::schedule;
use tenbin_core::stats;
use tenbin_core::unit::Unit;
use tenbin_linux::lab;

use super::experiment::{begin, stop_on_signals};
use crate::args::DemoArgs;
use crate::exit::{Exit, Failure, Outcome};
use crate::output;
use crate::progress::{Screen, Voice};
use crate::session;

/// A plan and the sentences that its result deserves.
struct Lesson {
    title: &'static str,
    plan: &'static str,
    tell: fn(&Experiment, &Analysis) -> String,
}

const LESSONS: [Lesson; 3] = [
    Lesson { title: "Jumbo frames", plan: JUMBO, tell: tell_jumbo },
    Lesson { title: "The same against the same", plan: SAME, tell: tell_same },
    Lesson { title: "A burst behind a mean", plan: BURST, tell: tell_burst },
];

const JUMBO: &str = r#"
question = "Do jumbo frames raise TCP throughput between two hosts?"
blocks = 6
tolerate = { steal = "60%" }
[hosts]
client = { lab = "left" }
server = { lab = "right" }
[lab]
link = { offload = false }
[[arm]]
name = "mtu-1500"
set = { mtu = 1500 }
[[arm]]
name = "mtu-9000"
set = { mtu = 9000 }
[[measure]]
engine = "iperf3"
from = "client"
to = "server"
time = "1s"
"#;

const SAME: &str = r#"
question = "Is a configuration different from itself?"
blocks = 8
tolerate = { steal = "60%" }
[hosts]
client = { lab = "left" }
server = { lab = "right" }
[lab]
link = { offload = false }
[[arm]]
name = "this"
[[arm]]
name = "the same again"
[[measure]]
engine = "iperf3"
from = "client"
to = "server"
time = "500ms"
"#;

const BURST: &str = r#"
question = "What does one mean say about a link with a token bucket?"
blocks = 1
tolerate = { steal = "60%" }
[hosts]
client = { lab = "left" }
server = { lab = "right" }
[lab]
link = { rate = "400Mbit", burst = "64k", offload = false }
[[arm]]
name = "small-bucket"
[[arm]]
name = "large-bucket"
set = { link = { burst = "384m" } }
[[measure]]
engine = "iperf3"
from = "client"
to = "server"
time = "4s"
interval = "100ms"
"#;

/// Runs the lessons one after the other and says what each shows.
pub fn demo(args: &DemoArgs) -> Outcome {
    lab::enter_user_namespace_if_needed().map_err(Failure::cannot)?;
    let stop = stop_on_signals()?;
    let own = match &args.store {
        Some(_) => None,
        None => Some(Temporary::new()?),
    };
    let path = args.store.clone().or_else(|| own.as_ref().map(|own| own.0.join("demo.db")));
    let (mut store, _) = output::open_store(path.as_deref())?;
    output::print(
        "tenbin weighs one configuration against another. Two hosts are made on this machine now.\n",
    )?;
    for (number, lesson) in LESSONS.iter().enumerate() {
        output::print(&format!("\n{}. {}\n", number + 1, lesson.title))?;
        let plan = read(lesson)?;
        let seed = output::seed_of(&plan.text);
        let order = schedule::balanced(seed, plan.arms.len(), plan.blocks as usize);
        let slots = experiment::slots(&order, plan.measures.len());
        let experiment = begin(&mut store, &plan, seed, &slots)?;
        let mut screen = Screen::new(Voice::Live);
        let ended = session::run(&experiment, &mut store, &mut screen, &stop, &output::now);
        drop(screen);
        ended.map_err(|e| match e {
            session::SessionError::Interrupted => Failure::new(Exit::Interrupted, "interrupted"),
            other => Failure::cannot(other),
        })?;
        let experiment = store.load(experiment.id).map_err(Failure::cannot)?;
        let analysis = analysis::weigh(&experiment);
        output::print(&format!("{}\n", (lesson.tell)(&experiment, &analysis)))?;
    }
    output::print(
        "\nNext: tenbin run examples/mtu.toml does the first lesson properly and writes a report.\n",
    )?;
    Ok(Exit::Done)
}

fn read(lesson: &Lesson) -> Result<Plan, Failure> {
    plan::parse("demo", lesson.plan, &tenbin_engines::specs()).map_err(|e| Failure::cannot(e.to_string()))
}

fn tell_jumbo(_: &Experiment, analysis: &Analysis) -> String {
    let Some(comparison) = analysis.comparisons.first() else { return nothing() };
    format!(
        "   {}.\n   With offloads off every packet costs CPU time, and jumbo frames need a sixth of the packets.",
        comparison.text
    )
}

fn tell_same(_: &Experiment, analysis: &Analysis) -> String {
    let Some(comparison) = analysis.comparisons.first() else { return nothing() };
    format!(
        "   {}.\n   One run each would have claimed a difference of up to {} between equals.",
        comparison.text,
        quantity::human(largest_claim(comparison), Unit::Ratio, 2)
    )
}

/// The largest difference that a single pair of runs shows.
fn largest_claim(comparison: &Comparison) -> f64 {
    comparison.log_ratios.iter().map(|log| (log.abs().exp() - 1.0).abs()).fold(0.0, f64::max)
}

fn tell_burst(experiment: &Experiment, analysis: &Analysis) -> String {
    let Some(level) = analysis.levels.iter().find(|level| level.arm == "large-bucket") else {
        return nothing();
    };
    let rates = intervals(experiment, 1);
    let rate = |value: f64| quantity::human(value, Unit::BitPerSecond, 2);
    let Some(step) = stats::largest_step_down(&rates) else {
        return format!("   The mean is {}; no step was seen this time.", rate(level.median));
    };
    format!(
        "   One mean says {}. The run began at {} and fell to {} once {} were through:\n   that is a bucket running \
         empty, and only the second figure lasts.",
        rate(level.median),
        rate(step.before),
        rate(step.after),
        quantity::human(volume(&rates[..step.at]), Unit::Byte, 2),
    )
}

/// The receiver's interval rates of the first run of an arm, in bit/s.
fn intervals(experiment: &Experiment, arm: u32) -> Vec<f64> {
    let runs = experiment.records.iter().filter(|record| record.slot.arm == arm);
    let series = runs.filter_map(|record| record.run.as_ref()).flat_map(|run| &run.series).find(|series| {
        series.metric.name == "throughput"
            && !series.params.contains_key("window")
            && series.params.get("side") == Some(&Param::from("sender"))
    });
    series.map(|series| series.values()).unwrap_or_default()
}

/// The bytes that intervals of a tenth of a second at these rates (bit/s) carry.
fn volume(rates: &[f64]) -> f64 {
    rates.iter().sum::<f64>() * 0.1 / 8.0
}

fn nothing() -> String {
    "   Nothing could be measured.".to_owned()
}

/// A folder that goes when the demo ends.
struct Temporary(std::path::PathBuf);

impl Temporary {
    fn new() -> Result<Temporary, Failure> {
        let path = std::env::temp_dir().join(format!("tenbin-demo-{}", std::process::id()));
        std::fs::create_dir_all(&path)
            .map_err(|e| Failure::cannot(format!("cannot create {}: {e}", path.display())))?;
        Ok(Temporary(path))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // A leftover in the folder for temporary files harms nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
