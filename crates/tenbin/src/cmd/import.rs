//! `tenbin import FILE.db`: take over what another machine measured.

use crate::args::ImportArgs;
use crate::exit::{Exit, Failure, Outcome};
use crate::output;

/// Merges stores; an experiment that is there already is left as it is.
pub fn import(args: &ImportArgs) -> Outcome {
    let (mut store, _) = output::open_store(args.store.as_deref())?;
    let mut failures = 0;
    for file in &args.files {
        match store.merge(file) {
            Ok(merged) => {
                for failure in &merged.failed {
                    output::say(&format!("tenbin: {failure}"));
                }
                failures += usize::from(!merged.failed.is_empty());
                output::print(&format!(
                    "{}: {} experiments added, {} brought up to date, {} known already\n",
                    file.display(),
                    merged.added.len(),
                    merged.updated.len(),
                    merged.unchanged
                ))?;
            }
            Err(e) => {
                failures += 1;
                output::say(&format!("tenbin: {e}"));
            }
        }
    }
    match failures {
        0 => Ok(Exit::Done),
        n => Err(Failure::new(
            Exit::Partial,
            format!("{n} of {} files could not be imported whole", args.files.len()),
        )),
    }
}
