//! `tenbin report`: write a stored experiment's report again.

use super::experiment::write_report;
use crate::args::ReportArgs;
use crate::exit::{Exit, Failure, Outcome};
use crate::output;

/// Writes the report folder of a stored experiment.
pub fn report(args: &ReportArgs) -> Outcome {
    let (store, _) = output::open_store_to_read(args.store.as_deref())?;
    let id = store.find(args.experiment.as_deref().unwrap_or("last")).map_err(Failure::usage)?;
    let experiment = store.load(id).map_err(Failure::cannot)?;
    let folder = output::report_folder(args.output.as_deref(), &experiment.plan.name);
    let written = write_report(&experiment, &args.weighing.weigh(&experiment)?, &folder)?;
    output::print(&format!("{}\n", written.display()))?;
    Ok(Exit::Done)
}
