//! `tenbin resume`: go on with what was cut short.

use super::experiment::{Goal, carry_out};
use crate::args::ResumeArgs;
use crate::exit::Outcome;

/// Makes the missing runs of a stored experiment.
pub fn resume(args: &ResumeArgs) -> Outcome {
    carry_out(
        Goal::Stored { selector: args.experiment.clone(), force: args.force },
        &args.output,
        &args.weighing,
    )
}
