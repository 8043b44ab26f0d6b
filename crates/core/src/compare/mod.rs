//! Runs that exist already, stored or read from logs, one configuration against another.
//!
//! Start at [`compare`]. Where runs of both share blocks they are paired; several runs without blocks are compared
//! unpaired; one run each is described and no more. What only one side has is named, not guessed.

mod alone;
mod bounds;
mod course;
mod curves;
mod decide;
mod observe;
mod pair;
mod ranking;
#[cfg(test)]
mod tests;
mod within;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::analysis::{Against, Comparison, Diagnostic, Inversion, pairs_of_arms};
use crate::caveat::{Caveat, CaveatKind};
use crate::ceiling::Ceiling;
use crate::sample::Params;
use crate::verdict::Correction;

pub use alone::{Alone, Described, describe};
pub use curves::{Common, Overall};
pub use observe::{Level, Seen};
pub use ranking::{Exception, Ranking, rankings};
pub use within::Within;

use bounds::Limit;
use decide::Asked;
use observe::{Key, Values};
use pair::{Pair, in_turn};

/// A configuration and what its runs say.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// What it is called in sentences.
    pub name: String,
    /// How many runs it has.
    pub runs: usize,
    values: BTreeMap<Key, Values>,
    limits: BTreeMap<String, Limit>,
    diagnostics: Vec<Diagnostic>,
    /// What the runs say of themselves.
    caveats: Vec<Caveat>,
    /// Why no ceiling was worked out.
    unbounded: Vec<Caveat>,
}

impl Side {
    /// The side of that name out of what its runs say, in their order.
    pub fn of(name: impl Into<String>, runs: Vec<Seen>) -> Side {
        let mut side = Side { name: name.into(), runs: runs.len(), ..Side::default() };
        for seen in runs {
            for (key, observed) in seen.values {
                side.values.entry(key).or_default().0.push(observed);
            }
            for (metric, limit) in seen.limits {
                side.limits.entry(metric).or_insert(limit);
            }
            side.diagnostics.extend(seen.diagnostics);
            for (all, own) in [(&mut side.caveats, seen.caveats), (&mut side.unbounded, seen.unbounded)] {
                for caveat in own {
                    if !all.contains(&caveat) {
                        all.push(caveat);
                    }
                }
            }
        }
        side
    }
}

/// How to compare.
#[derive(Clone, Debug)]
pub struct Options {
    /// The margin as a share.
    pub margin: f64,
    /// How wrong claims are kept few over a curve.
    pub correction: Correction,
    /// Which pairs of sides are compared.
    pub against: Against,
    /// For random sign flips beyond fourteen blocks.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { margin: 0.02, correction: Correction::MaxT, against: Against::Base, seed: 0 }
    }
}

/// On what a comparison rests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Design {
    /// Blocks that both sides share.
    Paired,
    /// Several runs of each, not interleaved.
    Unpaired,
    /// One run on a side: described only.
    OneRun,
}

/// One series of both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The comparison, whose text is the first sentence to show.
    #[serde(flatten)]
    pub comparison: Comparison,
    /// On what it rests.
    pub design: Design,
    /// The base alone.
    pub base_level: Level,
    /// The arm alone.
    pub arm_level: Level,
    /// Means against each other, for these runs only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Within>,
}

/// What bounds a side, against the most that it reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// The side.
    pub arm: String,
    /// What is bounded.
    pub metric: String,
    /// Under which parameters the most was reached.
    pub params: Params,
    /// The limit and its derivation.
    #[serde(flatten)]
    pub ceiling: Ceiling,
    /// The most that was reached, in the limit's unit.
    pub reached: f64,
    /// That over the limit.
    pub share: f64,
    /// A sentence.
    pub text: String,
}

/// The answer: data with the sentences that go with it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Every series that both sides have.
    pub rows: Vec<Row>,
    /// What curves say as a whole.
    pub overall: Vec<Overall>,
    /// At which points of a curve both sides have data.
    pub common: Vec<Common>,
    /// Where a curve goes the wrong way.
    pub inversions: Vec<Inversion>,
    /// What bounds the sides.
    pub ceilings: Vec<Bound>,
    /// What else there is to say of single series.
    pub remarks: Vec<String>,
    /// What stood out within single runs.
    pub diagnostics: Vec<Diagnostic>,
    /// Why something was not compared.
    pub refused: Vec<String>,
    /// Everything a reader must know, once each.
    pub caveats: Vec<Caveat>,
}

impl Answer {
    /// Everything to be said, in order.
    pub fn sentences(&self) -> Vec<String> {
        let one_run = self.caveats.iter().filter(|caveat| caveat.kind == CaveatKind::OneRun);
        let mut all: Vec<String> = one_run.map(|caveat| caveat.text.clone()).collect();
        // The points of a curve that is only described are summed up by the curve.
        let summed = |row: &Row| {
            let of = |one: &Overall| {
                one.metric == row.comparison.metric && row.comparison.params.contains_key(&one.along)
            };
            row.design == Design::OneRun && self.overall.iter().any(of)
        };
        for row in self.rows.iter().filter(|row| !summed(row)) {
            // What holds for all of them has been said, and means say more than their quotient.
            if row.design != Design::OneRun || row.within.is_none() {
                all.push(row.comparison.text.replacen(&format!("{ONE_RUN}; "), "", 1));
            }
            all.extend(row.within.iter().map(|within| within.text.clone()));
        }
        all.extend(self.remarks.iter().cloned());
        // What lies above its ceiling is a caveat.
        let below = self.ceilings.iter().filter(|one| one.share <= bounds::TOLERANCE);
        all.extend(below.map(|one| one.text.clone()));
        all.extend(self.overall.iter().map(|one| one.text.clone()));
        all.extend(self.common.iter().map(|one| one.text.clone()));
        all.extend(self.inversions.iter().map(|one| one.text.clone()));
        all.extend(self.refused.iter().cloned());
        let rest = self.caveats.iter().filter(|caveat| caveat.kind != CaveatKind::OneRun);
        all.extend(rest.map(|caveat| caveat.text.clone()));
        all
    }

    /// Leaves out what an earlier answer says of a side that both are about.
    fn leave_out(&mut self, earlier: &Answer) {
        self.inversions.retain(|one| !earlier.inversions.contains(one));
        self.ceilings.retain(|one| !earlier.ceilings.contains(one));
        self.remarks.retain(|one| !earlier.remarks.contains(one));
        self.diagnostics.retain(|one| !earlier.diagnostics.contains(one));
        self.caveats.retain(|one| !earlier.caveats.contains(one));
    }
}

/// Compares `arm` with `base`.
pub fn compare(base: &Side, arm: &Side, options: &Options) -> Answer {
    compare_all(&[base, arm], options).into_iter().next().unwrap_or_default()
}

/// Compares the sides: each with the first, or the pairs that the options say. An answer for each pair; what they all
/// would say of the same side only the first of them says.
pub fn compare_all(sides: &[&Side], options: &Options) -> Vec<Answer> {
    let pairs: Vec<Pair<'_>> = pairs_of_arms(sides.len(), &options.against)
        .into_iter()
        .map(|(arm, base)| Pair::new(sides[base], sides[arm]))
        .collect();
    let values = sides.iter().flat_map(|side| side.values.values());
    let blocks: BTreeSet<u32> =
        values.flat_map(|values| values.0.iter().filter_map(|one| one.block)).collect();
    let asked = |pair: &Pair<'_>| -> Vec<Asked> {
        let both = pair.both();
        let topics = curves::topics(&both);
        let question = |(along, index): (Option<&str>, usize)| {
            let curve = along.map(|along| curves::name(both[index].0, along));
            Asked::of(both[index], curve, &blocks, options.margin)
        };
        in_turn(&topics).map(question).collect()
    };
    let asked: Vec<Vec<Asked>> = pairs.iter().map(asked).collect();
    let counts: Vec<usize> = asked.iter().map(Vec::len).collect();
    let asked: Vec<Asked> = asked.into_iter().flatten().collect();
    let mut decided = asked.iter().zip(decide::decide(&asked, options));
    let mut answers: Vec<Answer> = Vec::new();
    for (pair, count) in pairs.iter().zip(counts) {
        let mut answer = pair.answer(decided.by_ref().take(count));
        for earlier in &answers {
            answer.leave_out(earlier);
        }
        answers.push(answer);
    }
    answers
}

/// Said of runs that can only be described.
const ONE_RUN: &str = "one run each: no statement about the difference between configurations is possible";

/// A mean of bests is no mean.
fn best_of<'a>(sides: impl IntoIterator<Item = &'a Side>) -> Option<Caveat> {
    let best = sides
        .into_iter()
        .any(|side| side.runs > 1 && side.caveats.iter().any(|caveat| caveat.kind == CaveatKind::BestOf));
    let text = "each run is itself a best of several passes: a mean of bests is no mean";
    best.then(|| Caveat::new(CaveatKind::BestOf, text))
}

/// Parameters as text, for what only one side has.
fn told(params: &Params) -> String {
    let all: Vec<String> = params.iter().map(|(name, value)| format!("{name} {value}")).collect();
    if all.is_empty() { String::new() } else { format!(" ({})", all.join(", ")) }
}
