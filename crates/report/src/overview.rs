//! More than two arms: all of them in one table with their letters, every pair in another, one sentence before.

use tenbin_core::analysis::{Analysis, Group};
use tenbin_core::quantity::significant;
use tenbin_core::unit::Unit;

use crate::topics::Part;
use crate::words;

/// A table for text: the header, columns of numbers ending in a colon, and the rows.
pub type Table = (Vec<String>, Vec<Vec<String>>);

/// What letters mean.
pub const LETTERS: &str = "Arms that share a letter can't be told apart.";

/// The group of a part, where there are more than two arms.
pub fn of<'a>(analysis: &'a Analysis, part: &Part<'_>) -> Option<&'a Group> {
    let params = part.params();
    analysis.groups.iter().find(|group| group.metric == part.metric() && group.params == params)
}

/// Whether any arm differs from any other, as a sentence.
pub fn friedman(group: &Group) -> String {
    let arms = group.letters.len();
    match &group.friedman {
        None => {
            "No overall test: some block lacks an arm, or all values of every block are equal.".to_owned()
        }
        Some(found) => {
            let p = match found.p {
                p if p < 1e-4 => "p < 0.0001".to_owned(),
                p => format!("p = {}", significant(p, 2)),
            };
            let chi2 = format!("chi-squared {}, {p}", significant(found.chi2, 3));
            match found.p < 0.05 {
                true => format!("Over all {arms} arms: they are not all alike (Friedman's test, {chi2})."),
                false => format!(
                    "Over all {arms} arms: none can be told from the others (Friedman's test, {chi2})."
                ),
            }
        }
    }
}

/// Every arm with its median, interval and letters, the best first.
pub fn arms(group: &Group, unit: Unit, prettier: fn(&str) -> String) -> Table {
    let header = ["arm", "n:", "median:", "95 % interval:", "letters"].map(str::to_owned).to_vec();
    let row = |(alone, (_, letters)): (&tenbin_core::analysis::Alone, &(String, String))| {
        let text = words::middle(alone.median, alone.interval, unit);
        let interval = text.interval.map(|interval| prettier(&interval));
        vec![
            alone.arm.clone(),
            alone.n.to_string(),
            prettier(&text.median),
            interval.unwrap_or_else(|| "none below 6 runs".to_owned()),
            letters.clone(),
        ]
    };
    (header, group.alone.iter().zip(&group.letters).map(row).collect())
}

/// Every pair of arms.
pub fn pairs(group: &Group) -> Table {
    let header = ["arm", "against", "ratio:", "interval:", "n:", "p:", "verdict"].map(str::to_owned).to_vec();
    let row = |pair: &tenbin_core::analysis::Pair| {
        let result = &pair.result;
        vec![
            pair.arm.clone(),
            pair.base.clone(),
            words::ratio(result),
            words::ratio_interval(result).unwrap_or_else(|| "none".to_owned()),
            result.n.to_string(),
            result.p.map_or_else(|| "none".to_owned(), |p| significant(p, 2)),
            words::verdict(result.verdict).1.to_owned(),
        ]
    };
    (header, group.pairs.iter().map(row).collect())
}
