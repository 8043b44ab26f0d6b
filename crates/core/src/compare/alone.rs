//! One side without another: its series over its runs, and what bounds them.

use serde::{Deserialize, Serialize};

use super::observe::{Key, Level, Values};
use super::{Bound, Side, best_of, bounds, told};
use crate::analysis::Diagnostic;
use crate::caveat::Caveat;
use crate::quantity::human;
use crate::sample::Params;

/// A side alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Alone {
    /// Its series.
    pub levels: Vec<Described>,
    /// What bounds it.
    pub ceilings: Vec<Bound>,
    /// What stood out within single runs.
    pub diagnostics: Vec<Diagnostic>,
    /// Everything a reader must know, once each.
    pub caveats: Vec<Caveat>,
}

/// One series of one side, alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Described {
    /// What was measured.
    pub metric: String,
    /// Under which parameters.
    pub params: Params,
    /// The figures over runs.
    #[serde(flatten)]
    pub level: Level,
    /// A sentence.
    pub text: String,
}

impl Alone {
    /// Everything to be said, in order.
    pub fn sentences(&self) -> Vec<String> {
        let levels = self.levels.iter().map(|one| &one.text);
        let ceilings = self.ceilings.iter().map(|one| &one.text);
        levels.chain(ceilings).chain(self.caveats.iter().map(|one| &one.text)).cloned().collect()
    }
}

/// Describes one side alone, over its runs.
pub fn describe(side: &Side) -> Alone {
    let levels = side.values.iter().map(|(key, values)| described(&side.name, key, values));
    let mut alone =
        Alone { levels: levels.collect(), diagnostics: side.diagnostics.clone(), ..Alone::default() };
    for (bound, above) in bounds::bounds(&side.name, &side.limits, &side.values, &[]) {
        alone.ceilings.push(bound);
        alone.caveats.extend(above);
    }
    alone.caveats.extend(best_of([side]));
    alone.caveats.extend(side.unbounded.iter().chain(&side.caveats).cloned());
    alone
}

fn described(side: &str, key: &Key, values: &Values) -> Described {
    let level = values.level();
    let amount = |value: f64| human(value, key.metric.unit, 3);
    let spread = match (level.sd, level.half_width) {
        (Some(sd), Some(half)) if level.mean != 0.0 => {
            let share = |value: f64| format!("{:.1} %", (value / level.mean).abs() * 100.0);
            format!(
                ", sd {} ({}), 95 % interval of the mean ±{} ({})",
                amount(sd),
                share(sd),
                amount(half),
                share(half)
            )
        }
        _ => String::new(),
    };
    let runs = if level.n == 1 { "run" } else { "runs" };
    let text = format!(
        "{}{} of {side}: mean {} over {} {runs}{spread}",
        key.metric.name.replace('_', " "),
        told(&key.params),
        amount(level.mean),
        level.n
    );
    Described { metric: key.metric.name.clone().into_owned(), params: key.params.clone(), level, text }
}
