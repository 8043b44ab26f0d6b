//! `tenbin show`: an experiment's answer, or one run.

use tenbin_core::run::Run;
use tenbin_store::Store;

use crate::args::ShowArgs;
use crate::exit::{Exit, Failure, Outcome};
use crate::output;

/// Prints the answer of an experiment, or the document of `run:NUMBER`.
pub fn show(args: &ShowArgs) -> Outcome {
    let (store, path) = output::open_store_to_read(args.store.as_deref())?;
    let what = args.what.as_deref().unwrap_or("last");
    let text = if let Some(number) = what.strip_prefix("run:") {
        let run = stored_run(&store, what, run_number(what, number)?)?;
        match args.json {
            true => format!("{:#}\n", tenbin_report::json::runs(&[run])),
            false => tenbin_report::text::run(&run, output::width()),
        }
    } else {
        let id = store.find(what).map_err(Failure::usage)?;
        let experiment = store.load(id).map_err(Failure::cannot)?;
        let analysis = args.weighing.weigh(&experiment)?;
        match args.json {
            true => format!("{:#}\n", tenbin_report::json::document(&experiment, &analysis, &path, None)),
            false => tenbin_report::text::summary(&experiment, &analysis, output::width()),
        }
    };
    output::print(&text)?;
    Ok(Exit::Done)
}

/// The number in `run:NUMBER`.
pub fn run_number(what: &str, number: &str) -> Result<i64, Failure> {
    number.parse().map_err(|_| {
        Failure::usage(format!(
            "cannot read {what}: {number} is no number\nhint: `tenbin list --runs` and `tenbin show --json` list the runs"
        ))
    })
}

/// What the run of a number measured. `what` is how the user named it.
pub fn stored_run(store: &Store, what: &str, number: i64) -> Result<Run, Failure> {
    let record = store.any_run(number).map_err(Failure::usage)?;
    record.run.ok_or_else(|| {
        let why = record.error.unwrap_or_else(|| "it was cut short".to_owned());
        Failure::usage(format!("cannot read {what}: nothing was measured: {why}"))
    })
}
