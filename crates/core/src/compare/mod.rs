//! Runs that exist already, stored or read from logs, one configuration against another.
//!
//! Start at [`compare`]. Where runs of both share blocks they are paired; several runs without blocks are compared
//! unpaired; one run each is described and no more. What only one side has is named, not guessed.

mod bounds;
mod course;
mod curves;
mod decide;
mod observe;
mod ranking;
#[cfg(test)]
mod tests;
mod within;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::analysis::{Against, Comparison, Diagnostic, Inversion, pairs_of_arms};
use crate::caveat::{Caveat, CaveatKind};
use crate::ceiling::Ceiling;
use crate::metric::Better;
use crate::sample::Params;
use crate::stats::paired::PairError;
use crate::verdict::{self, Correction, Decision};

pub use curves::{Common, Overall};
pub use observe::{Level, Seen};
pub use ranking::{Exception, Ranking, rankings};
pub use within::Within;

use bounds::Limit;
use curves::Both;
use decide::Asked;
use observe::{Key, Values};

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
            // What holds for all of them has been said.
            all.push(row.comparison.text.replacen(&format!("{ONE_RUN}; "), "", 1));
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

/// Series with the parameter of their curve, topic by topic.
fn in_turn(topics: &[(Option<String>, Vec<usize>)]) -> impl Iterator<Item = (Option<&str>, usize)> {
    topics.iter().flat_map(|(along, members)| members.iter().map(|index| (along.as_deref(), *index)))
}

/// Two sides, the arm's values in the units of the base's.
struct Pair<'a> {
    base: &'a Side,
    arm: &'a Side,
    of_arm: BTreeMap<Key, Values>,
    converted: Vec<Caveat>,
}

impl<'a> Pair<'a> {
    fn new(base: &'a Side, arm: &'a Side) -> Pair<'a> {
        let (mut of_arm, mut converted) = (arm.values.clone(), Vec::new());
        observe::convert(&base.values, &mut of_arm, &mut converted);
        Pair { base, arm, of_arm, converted }
    }

    /// What both have.
    fn both(&self) -> Vec<Both<'_>> {
        let both = self.base.values.iter().filter_map(|(key, base)| Some((key, base, self.of_arm.get(key)?)));
        both.filter(|(key, _, _)| key.metric.better != Better::Neither).collect()
    }

    fn answer<'b>(&self, decided: impl Iterator<Item = (&'b Asked, Result<Decision, PairError>)>) -> Answer {
        let Pair { base, arm, of_arm, converted } = self;
        let mut answer = Answer { caveats: converted.clone(), ..Answer::default() };
        let both = self.both();
        let topics = curves::topics(&both);
        for ((along, index), (asked, decided)) in in_turn(&topics).zip(decided) {
            self.row(&mut answer, along, both[index], asked, decided);
        }
        let mut cliffs = [Vec::new(), Vec::new()];
        for (along, members) in &topics {
            let Some(along) = along else { continue };
            let members: Vec<Both<'_>> = members.iter().map(|index| both[*index]).collect();
            answer.overall.extend(curves::overall(base, arm, along, &members));
            answer.inversions.extend(curves::inversions(base, arm, along, &members));
            answer.caveats.extend(curves::remarks(base, arm, along, &members));
            for (cliffs, of_the_arm) in cliffs.iter_mut().zip([false, true]) {
                cliffs.extend(curves::cliffs_of(along, &members, of_the_arm));
            }
        }
        for (side, cliffs) in [base, arm].into_iter().zip(&cliffs) {
            for (bound, above) in bounds::bounds(&side.name, &side.limits, &side.values, cliffs) {
                answer.ceilings.push(bound);
                answer.caveats.extend(above);
            }
        }
        answer.remarks.extend(bounds::packets(base, arm, &answer.ceilings));
        answer.common = curves::common(base, arm, &base.values, of_arm);
        answer.refused.extend(observe::only_one_has(base, arm, &base.values, of_arm, both.is_empty()));
        answer.diagnostics = [base, arm].iter().flat_map(|side| side.diagnostics.clone()).collect();
        caveats(&mut answer, base, arm);
        answer
    }

    fn row(
        &self,
        answer: &mut Answer,
        along: Option<&str>,
        (key, of_base, of_arm): Both<'_>,
        asked: &Asked,
        decided: Result<Decision, PairError>,
    ) {
        let (base, arm) = (&self.base.name, &self.arm.name);
        let at = curves::at(key, along);
        let name = format!("{}{at}", key.metric.name.replace('_', " "));
        let result = match decided {
            Ok(result) => result,
            Err(e) => {
                answer.refused.push(format!("no comparison for {name} of {arm} against {base}: {e}"));
                return;
            }
        };
        for (side, values) in [(base, of_base), (arm, of_arm)] {
            let openings = values.0.iter().filter_map(|one| one.opening);
            answer
                .remarks
                .extend(openings.map(|one| one.text(&format!("{name} of {side}"), key.metric.unit)));
        }
        if asked.design == Design::Unpaired {
            answer.remarks.extend(asked.without_far(&name, key.metric.unit, [base, arm], result.verdict));
        }
        let log_ratio = |(arm, base): &(f64, f64)| (arm / base).ln();
        let log_ratios = match (&asked.paired, result.difference) {
            (Some(question), None) => question.pairs().iter().map(log_ratio).collect(),
            _ => Vec::new(),
        };
        let unpaired = Some(&result).filter(|_| asked.design == Design::Unpaired);
        let within = within::within(key, &at, (base, of_base), (arm, of_arm), unpaired);
        answer.rows.push(Row {
            comparison: Comparison {
                metric: key.metric.name.clone().into_owned(),
                params: key.params.clone(),
                base: base.clone(),
                arm: arm.clone(),
                better: key.metric.better,
                unit: key.metric.unit,
                text: verdict::sentence(&result, &key.metric, &at, base, arm),
                log_ratios,
                far: None,
                result,
            },
            design: asked.design,
            base_level: of_base.level(),
            arm_level: of_arm.level(),
            within,
        });
    }
}

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
    let amount = |value: f64| crate::quantity::human(value, key.metric.unit, 3);
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

/// Said of runs that can only be described.
const ONE_RUN: &str = "one run each: no statement about the difference between configurations is possible";

/// What every reader of such a comparison must know, and what the runs themselves say.
fn caveats(answer: &mut Answer, base: &Side, arm: &Side) {
    let mut all = Vec::new();
    if answer.rows.iter().any(|row| row.design == Design::OneRun) {
        all.push(Caveat::new(CaveatKind::OneRun, ONE_RUN));
        let text = "host, day and neighbours may have differed between the runs: nothing here tells that from the \
                    configurations";
        all.push(Caveat::new(CaveatKind::Note, text));
    }
    if answer.rows.iter().any(|row| row.design == Design::Unpaired) {
        let text = "the runs were not interleaved: whatever changed with time counts as a difference";
        all.push(Caveat::new(CaveatKind::Note, text));
    }
    if answer.rows.iter().any(|row| row.base_level.n.max(row.arm_level.n) > 1) {
        all.extend(best_of([base, arm]));
    }
    for side in [base, arm] {
        all.extend(side.unbounded.iter().cloned());
        for caveat in &side.caveats {
            all.push(Caveat::new(caveat.kind, format!("{}: {}", side.name, caveat.text)));
        }
    }
    for caveat in all {
        if !answer.caveats.contains(&caveat) {
            answer.caveats.push(caveat);
        }
    }
}

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
