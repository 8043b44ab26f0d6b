//! What `run`, `resume` and the quick forms share: carry an experiment out, weigh it, deliver the answer.

use std::path::{Path, PathBuf};

use tenbin_core::analysis::Analysis;
use tenbin_core::experiment::{Experiment, Slot, State};
use tenbin_core::plan::{Place, Plan};
use tenbin_engines::Stop;
use tenbin_linux::lab;
use tenbin_store::{NewExperiment, Store, StoreError};

use crate::args::{OutputArgs, WeighingArgs};
use crate::exit::{Exit, Failure, Outcome};
use crate::progress::{Screen, Voice};
use crate::session::{self, Audience, SessionError};
use crate::{holder, output};

/// What is to be carried out.
pub enum Goal {
    /// A plan from its first slot.
    New {
        /// The plan.
        plan: Box<Plan>,
        /// The seed of its schedule.
        seed: u64,
        /// The schedule.
        slots: Vec<Slot>,
    },
    /// The missing slots of a stored experiment.
    Stored {
        /// Number, start of the uid, or plan name; the last unfinished one where absent.
        selector: Option<String>,
        /// Take it over from another machine that says it is measuring it.
        force: bool,
    },
}

/// Measures what is missing, stores every run, prints the answer and writes the report.
pub fn carry_out(goal: Goal, to: &OutputArgs, weighing: &WeighingArgs) -> Outcome {
    if let Goal::New { plan, .. } = &goal {
        enter_lab(plan)?;
    }
    let (mut store, store_path) = output::open_store(to.store.as_deref())?;
    let (experiment, force) = match goal {
        Goal::New { plan, seed, slots } => {
            let folder = output::report_folder(to.report.as_deref(), &plan.name);
            output::prepare_folder(&folder)?;
            (begin(&mut store, &plan, seed, &slots)?, false)
        }
        Goal::Stored { selector, force } => {
            let experiment = select_unfinished(&store, selector.as_deref())?;
            weighing.for_arms(experiment.plan.arms.iter().map(|arm| arm.name.as_str()))?;
            enter_lab(&experiment.plan)?;
            output::prepare_folder(&output::report_folder(to.report.as_deref(), &experiment.plan.name))?;
            (experiment, force)
        }
    };
    let me = holder::me();
    let mut claim = store.lock(experiment.id, &me, output::now(), holder::is_alive);
    // Force is for machines that can't be asked: a process of this one is known to be still measuring.
    if force && matches!(claim, Err(StoreError::Held { elsewhere: true, .. })) {
        store.unlock_by_force(experiment.id).map_err(Failure::cannot)?;
        claim = store.lock(experiment.id, &me, output::now(), holder::is_alive);
    }
    claim.map_err(Failure::cannot)?;
    // Another process may have ended runs between the first look and the claim: no slot is measured twice.
    let experiment = store.load(experiment.id).map_err(Failure::cannot)?;
    let stop = stop_on_signals()?;
    let voice = if to.quiet { Voice::Quiet } else { Voice::Normal };
    let mut screen = Screen::new(voice);
    let ended = session::run(&experiment, &mut store, &mut screen, &stop, &output::now);
    // A claim that stays, as on a full disk, ends with this process; what was measured is to be told all the same.
    if let Err(e) = store.unlock(experiment.id, &me) {
        screen.note(&e.to_string());
    }
    drop(screen);
    let experiment = store.load(experiment.id).map_err(Failure::cannot)?;
    let delivered = deliver(&experiment, &store_path, to, weighing);
    match (delivered, conclude(&experiment, ended)) {
        (Ok(()), outcome) => outcome,
        (Err(failure), Ok(_)) => Err(failure),
        // Why the session ended counts more than what could not be written about it.
        (Err(also), Err(first)) => Err(Failure { text: format!("{}\n{}", first.text, also.text), ..first }),
    }
}

/// Stores a new experiment and loads it back.
pub fn begin(store: &mut Store, plan: &Plan, seed: u64, slots: &[Slot]) -> Result<Experiment, Failure> {
    let hash = output::hash(&plan.text);
    let (created_at, uid) = (output::now(), uid());
    let new = NewExperiment { plan, plan_hash: &hash, seed, schedule: slots, created_at, uid: &uid };
    let id = store.begin(&new).map_err(Failure::cannot)?;
    store.load(id).map_err(Failure::cannot)
}

fn select_unfinished(store: &Store, selector: Option<&str>) -> Result<Experiment, Failure> {
    let id = match selector {
        Some(selector) => store.find(selector).map_err(Failure::usage)?,
        None => match store.unfinished().map_err(Failure::cannot)?.first() {
            Some(summary) => summary.id,
            None => {
                return Err(Failure::usage("nothing to resume: every experiment in the store is complete"));
            }
        },
    };
    store.load(id).map_err(Failure::cannot)
}

/// A lab needs root or a user namespace, which must be entered before this process has a second thread.
fn enter_lab(plan: &Plan) -> Result<(), Failure> {
    let everyone = plan.hosts.values().chain(plan.arms.iter().flat_map(|arm| arm.hosts.values()));
    let mut places = everyone.map(|host| &host.place);
    match places.any(|place| matches!(place, Place::Lab(_))) {
        true => lab::enter_user_namespace_if_needed().map_err(Failure::cannot),
        false => Ok(()),
    }
}

/// Ctrl-C and termination ask the measurement to stop; a second one ends the process at once.
pub fn stop_on_signals() -> Result<Stop, Failure> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let failed = |e: std::io::Error| Failure::cannot(format!("cannot catch signals: {e}"));
    let stop = Stop::default();
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(failed)?;
    let asked = stop.clone();
    std::thread::spawn(move || {
        for _ in signals.forever() {
            if asked.is_set() {
                // Agents see their link end and restore by themselves; the store is whole at any moment.
                std::process::exit(Exit::Interrupted as i32);
            }
            asked.set();
        }
    });
    Ok(stop)
}

/// Prints the answer and writes the report folder.
pub fn deliver(
    experiment: &Experiment,
    store: &Path,
    to: &OutputArgs,
    weighing: &WeighingArgs,
) -> Result<(), Failure> {
    let analysis = weighing.weigh(experiment)?;
    let folder = output::report_folder(to.report.as_deref(), &experiment.plan.name);
    let written = match analysis.levels.is_empty() {
        true => Ok(None),
        false => write_report(experiment, &analysis, &folder).map(Some),
    };
    // The answer is told even if its report can't be written.
    let report = written.as_ref().ok().and_then(Option::as_deref);
    if to.json {
        let document = tenbin_report::json::document(experiment, &analysis, store, report);
        output::print(&format!("{document:#}\n"))?;
    } else {
        let mut text = tenbin_report::text::summary(experiment, &analysis, output::width());
        if let Some(report) = report {
            text.push_str(&format!("\nreport: {}\nstore: {}\n", report.display(), store.display()));
        }
        output::print(&text)?;
    }
    written.map(|_| ())
}

/// Writes report.html, report.md and the figures; returns the path of report.html.
pub fn write_report(experiment: &Experiment, analysis: &Analysis, folder: &Path) -> Result<PathBuf, Failure> {
    output::prepare_folder(folder)?;
    for (name, content) in tenbin_report::files(experiment, analysis, &output::about(experiment)) {
        output::write_file(
            &folder.join(name),
            &content,
            "the runs are in the store; tenbin report writes it again",
        )?;
    }
    Ok(folder.join("report.html"))
}

/// The exit code: how the session ended, then what is missing.
fn conclude(experiment: &Experiment, ended: Result<(), SessionError>) -> Outcome {
    let nothing = !experiment.records.iter().any(|record| record.state == State::Done);
    let resume = format!("\nhint: tenbin resume {} goes on from here", experiment.id);
    match ended {
        Ok(()) if experiment.missing().is_empty() => Ok(Exit::Done),
        Ok(()) => {
            let missing = experiment.missing().len();
            let exit = if nothing { Exit::CannotMeasure } else { Exit::Partial };
            let text = format!("{missing} of {} runs are missing{resume}", experiment.schedule.len());
            Err(Failure::new(exit, text))
        }
        Err(SessionError::Interrupted) => {
            Err(Failure::new(Exit::Interrupted, format!("interrupted; what was measured is stored{resume}")))
        }
        Err(e) => {
            let (exit, resume) =
                if nothing { (Exit::CannotMeasure, "") } else { (Exit::Partial, resume.as_str()) };
            Err(Failure::new(exit, format!("{e}{resume}")))
        }
    }
}

/// 16 random hex digits.
fn uid() -> String {
    let mut random = [0u8; 8];
    if getrandom::fill(&mut random).is_err() {
        // Before the kernel has entropy the clock tells experiments apart well enough.
        random = (output::now() * 1e6).to_bits().to_be_bytes();
    }
    random.iter().map(|byte| format!("{byte:02x}")).collect()
}
