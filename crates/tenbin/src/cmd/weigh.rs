//! Which arms are weighed against which, as the command line has it.

use tenbin_core::analysis::{self, Against, Analysis, Options};
use tenbin_core::experiment::Experiment;
use tenbin_core::verdict::Correction;

use crate::args::{CorrectionArg, WeighingArgs};
use crate::exit::Failure;

impl WeighingArgs {
    /// The options where things are called by any of `names`, each a list of all of them; the first is for hints.
    pub fn options(&self, names: &[&[&str]]) -> Result<Options, Failure> {
        let correction = match self.correction {
            CorrectionArg::MaxT => Correction::MaxT,
            CorrectionArg::Holm => Correction::Holm,
            CorrectionArg::Bh => Correction::BenjaminiHochberg,
        };
        let all = names.first().copied().unwrap_or_default();
        let known = |name: &str| names.iter().find_map(|list| list.iter().position(|one| *one == name));
        let against = match self.against.as_slice() {
            [] => Against::Base,
            [every] if every == "all" && known(every).is_none() => Against::AllPairs,
            some => {
                let mut bases = Vec::new();
                for name in some {
                    let index = known(name).ok_or_else(|| {
                        Failure::usage(format!(
                            "--against {name}: there is nothing of that name\nhint: there are {}",
                            all.join(", ")
                        ))
                    })?;
                    if !bases.contains(&index) {
                        bases.push(index);
                    }
                }
                if bases.len() == all.len() {
                    let why = "--against names all of them: nothing is left to compare\nhint: --against all is every pair";
                    return Err(Failure::usage(why));
                }
                Against::Baselines(bases)
            }
        };
        Ok(Options { correction, against })
    }

    /// The options for arms that are called so.
    pub fn for_arms<'a>(&self, arms: impl Iterator<Item = &'a str>) -> Result<Options, Failure> {
        self.options(&[&arms.collect::<Vec<_>>()])
    }

    /// Weighs an experiment.
    pub fn weigh(&self, experiment: &Experiment) -> Result<Analysis, Failure> {
        let options = self.for_arms(experiment.plan.arms.iter().map(|arm| arm.name.as_str()))?;
        Ok(analysis::weigh_with(experiment, &options))
    }
}
