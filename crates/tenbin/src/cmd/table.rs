//! `tenbin table METRIC --by ...`: the growing table of many machines.

use tenbin_core::experiment::State;
use tenbin_core::league::{self, Entry};
use tenbin_core::sample::Params;
use tenbin_report::league::League;
use tenbin_store::{Filter, Store};

use crate::args::{TableArgs, TableForm};
use crate::exit::{Exit, Failure, Outcome};
use crate::output;

/// Puts the runs of the store together and prints the table.
pub fn table(args: &TableArgs) -> Outcome {
    let (store, _) = output::open_store_to_read(args.store.as_deref())?;
    let only = params(&args.param)?;
    let entries = entries(&store, args, &only)?;
    let Some(first) = entries.first() else {
        return Err(Failure::usage(format!(
            "no run in the store has {}\nhint: tenbin list --runs and tenbin show say what there is",
            args.metric
        )));
    };
    if entries.iter().any(|entry| entry.metric.unit != first.metric.unit) {
        return Err(Failure::usage(format!(
            "{} has several units in this store: no table holds both",
            args.metric
        )));
    }
    let mixed = league::mixed(&entries);
    if !mixed.is_empty() {
        return Err(Failure::usage(format!(
            "cannot put {} into one row: its values differ in {}\nhint: add it to --by, or keep one with --param {}=...",
            args.metric,
            mixed.join(", "),
            mixed[0]
        )));
    }
    let rows = league::rows(&entries, first.metric.better);
    let under = args.param.join(", ");
    let league = League { metric: &first.metric, under, by: &args.by, rows: &rows };
    output::print(&match args.format {
        TableForm::Text => league.text(output::width()),
        TableForm::Markdown => league.markdown(),
        TableForm::Html => league.html(),
    })?;
    Ok(Exit::Done)
}

fn params(words: &[String]) -> Result<Params, Failure> {
    let read = |word: &String| {
        let pair = word.split_once('=').map(|(name, value)| (name.to_owned(), value.into()));
        pair.ok_or_else(|| Failure::usage(format!("--param {word}: write it like size_bytes=4096")))
    };
    words.iter().map(read).collect()
}

/// What every run that counts says, imported ones and those of experiments.
fn entries(store: &Store, args: &TableArgs, only: &Params) -> Result<Vec<Entry>, Failure> {
    let mut all = Vec::new();
    for lone in store.lone(usize::MAX).map_err(Failure::cannot)? {
        if let Some(run) = store.any_run(lone.id).map_err(Failure::cannot)?.run {
            all.extend(league::entries(&run, lone.arm.as_deref(), &args.metric, &args.by, only));
        }
    }
    for summary in store.list(Filter::default(), usize::MAX).map_err(Failure::cannot)? {
        let experiment = store.load(summary.id).map_err(Failure::cannot)?;
        for record in experiment.records.iter().filter(|record| record.state == State::Done) {
            let arm = experiment.plan.arms.get(record.slot.arm as usize).map(|arm| arm.name.as_str());
            if let Some(run) = &record.run {
                all.extend(league::entries(run, arm, &args.metric, &args.by, only));
            }
        }
    }
    Ok(all)
}
