//! Runs that exist already, stored or read from logs, one configuration against another.
//!
//! Start at [`compare`]. Where runs of both share blocks they are paired; several runs without blocks are compared
//! unpaired; one run each is described and no more. What only one side has is named, not guessed.

mod curves;
mod observe;
#[cfg(test)]
mod tests;
mod within;

use serde::{Deserialize, Serialize};

use crate::analysis::{Comparison, Diagnostic, Inversion};
use crate::caveat::{Caveat, CaveatKind};
use crate::metric::Better;
use crate::sample::Params;
use crate::stats::multiple::holm;
use crate::stats::paired::PairError;
use crate::verdict::{self, Correction, Decision, Family, Question, Verdict, words};

pub use curves::{Common, Overall};
pub use observe::{Level, Observed, Seen};
pub use within::Within;

use observe::{Key, Values, observe};

/// A configuration with its runs.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// What it is called in sentences.
    pub name: String,
    /// Its runs.
    pub runs: Vec<Seen>,
}

/// How to compare.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The margin as a share.
    pub margin: f64,
    /// How wrong claims are kept few over a curve.
    pub correction: Correction,
    /// For random sign flips beyond fourteen blocks.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { margin: 0.02, correction: Correction::MaxT, seed: 0 }
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
            all.push(row.comparison.text.clone());
            all.extend(row.within.iter().map(|within| within.text.clone()));
        }
        all.extend(self.overall.iter().map(|one| one.text.clone()));
        all.extend(self.common.iter().map(|one| one.text.clone()));
        all.extend(self.inversions.iter().map(|one| one.text.clone()));
        all.extend(self.refused.iter().cloned());
        let rest = self.caveats.iter().filter(|caveat| caveat.kind != CaveatKind::OneRun);
        all.extend(rest.map(|caveat| caveat.text.clone()));
        all
    }
}

/// Compares `arm` with `base`.
pub fn compare(base: &Side, arm: &Side, options: &Options) -> Answer {
    let mut answer = Answer::default();
    let (of_base, mut of_arm) = (observe(base), observe(arm));
    observe::convert(&of_base, &mut of_arm, &mut answer.caveats);
    let both: Vec<(&Key, &Values, &Values)> = of_base
        .iter()
        .filter_map(|(key, base)| Some((key, base, of_arm.get(key)?)))
        .filter(|(key, _, _)| key.metric.better != Better::Neither)
        .collect();
    let topics = curves::topics(&both);
    for (along, members) in &topics {
        let members: Vec<(&Key, &Values, &Values)> = members.iter().map(|index| both[*index]).collect();
        rows(&mut answer, base, arm, along.as_deref(), &members, options);
        if let Some(along) = along {
            answer.overall.extend(curves::overall(base, arm, along, &members));
            answer.inversions.extend(curves::inversions(base, arm, along, &members));
            answer.caveats.extend(curves::remarks(base, arm, along, &members));
        }
    }
    answer.common = curves::common(base, arm, &of_base, &of_arm);
    answer.refused.extend(observe::only_one_has(base, arm, &of_base, &of_arm, both.is_empty()));
    for side in [base, arm] {
        answer.diagnostics.extend(side.runs.iter().flat_map(|seen| &seen.diagnostics).cloned());
    }
    caveats(&mut answer, base, arm);
    answer
}

/// One series of one side, alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Described {
    /// What was measured.
    pub metric: String,
    /// Under which parameters.
    pub params: Params,
    /// The figures over runs.
    pub level: Level,
    /// A sentence.
    pub text: String,
}

/// Describes one side alone, over its runs.
pub fn describe(side: &Side) -> Vec<Described> {
    let described = observe(side).into_iter().map(|(key, values)| {
        let level = values.level();
        let name = key.metric.name.replace('_', " ");
        let mean = crate::quantity::human(level.mean, key.metric.unit, 3);
        let spread = match (level.sd, level.half_width) {
            (Some(sd), Some(half)) if level.mean != 0.0 => {
                let share = |value: f64| format!("{:.1} %", (value / level.mean).abs() * 100.0);
                format!(", sd {}, 95 % interval of the mean ±{}", share(sd), share(half))
            }
            _ => String::new(),
        };
        let runs = if level.n == 1 { "run" } else { "runs" };
        let text = format!(
            "{name}{} of {}: mean {mean} over {} {runs}{spread}",
            told(&key.params),
            side.name,
            level.n
        );
        Described { metric: key.metric.name.into_owned(), params: key.params, level, text }
    });
    described.collect()
}

/// The rows of one topic: a curve, or a single series.
fn rows(
    answer: &mut Answer,
    base: &Side,
    arm: &Side,
    along: Option<&str>,
    members: &[(&Key, &Values, &Values)],
    options: &Options,
) {
    let asked: Vec<Asked> =
        members.iter().map(|(key, base, arm)| Asked::of(key, base, arm, options.margin)).collect();
    let decided = decide(&asked, options);
    for (((key, of_base, of_arm), asked), decided) in members.iter().zip(&asked).zip(decided) {
        let at = along.and_then(|name| Some(words::at(name, key.params.get(name)?))).unwrap_or_default();
        let result = match decided {
            Ok(result) => result,
            Err(e) => {
                let name = key.metric.name.replace('_', " ");
                let names = format!("{name}{at} of {} against {}", arm.name, base.name);
                answer.refused.push(format!("no comparison for {names}: {e}"));
                continue;
            }
        };
        let log_ratio = |(arm, base): &(f64, f64)| (arm / base).ln();
        let log_ratios = match (&asked.paired, result.difference) {
            (Some(question), None) => question.pairs().iter().map(log_ratio).collect(),
            _ => Vec::new(),
        };
        answer.rows.push(Row {
            comparison: Comparison {
                metric: key.metric.name.clone().into_owned(),
                params: key.params.clone(),
                base: base.name.clone(),
                arm: arm.name.clone(),
                better: key.metric.better,
                unit: key.metric.unit,
                text: verdict::sentence(&result, &key.metric, &at, &base.name, &arm.name),
                log_ratios,
                far: None,
                result,
            },
            design: asked.design,
            base_level: of_base.level(),
            arm_level: of_arm.level(),
            within: within::within(key, &at, (&base.name, of_base), (&arm.name, of_arm)),
        });
    }
}

/// A question with what it rests on.
struct Asked {
    design: Design,
    paired: Option<Question>,
    base: Vec<f64>,
    arm: Vec<f64>,
    scale: crate::metric::Scale,
    higher: bool,
    margin: f64,
}

impl Asked {
    fn of(key: &Key, base: &Values, arm: &Values, margin: f64) -> Asked {
        let (of_base, of_arm) = (base.numbers(), arm.numbers());
        let scale = key.metric.scale_for(of_base.iter().chain(&of_arm).copied());
        let higher = key.metric.better == Better::Higher;
        let blocks = observe::pairs(base, arm);
        let design = match (of_base.len().min(of_arm.len()), &blocks) {
            (_, Some(blocks)) if blocks.iter().flatten().count() > 1 => Design::Paired,
            (0 | 1, _) => Design::OneRun,
            _ => Design::Unpaired,
        };
        let question = |blocks| Question { blocks, margin, higher_is_better: higher, scale };
        let paired = blocks.filter(|_| design == Design::Paired).map(question);
        Asked { design, paired, base: of_base, arm: of_arm, scale, higher, margin }
    }

    fn alone(&self) -> Result<Decision, PairError> {
        match self.scale {
            crate::metric::Scale::Ratio => {
                verdict::decide_unpaired(&self.arm, &self.base, self.margin, self.higher)
            }
            crate::metric::Scale::Difference => verdict::unpaired::decide_unpaired_differences(
                &self.arm,
                &self.base,
                self.margin,
                self.higher,
            ),
        }
    }
}

/// Paired questions are decided together as those of an experiment; unpaired ones by Holm.
fn decide(asked: &[Asked], options: &Options) -> Vec<Result<Decision, PairError>> {
    let questions: Vec<Question> = asked.iter().filter_map(|one| one.paired.clone()).collect();
    let mut paired = verdict::decide_together(&questions, options.correction, options.seed).into_iter();
    let mut decided: Vec<Result<Decision, PairError>> = asked
        .iter()
        .map(|one| match one.paired {
            Some(_) => paired.next().unwrap_or(Err(PairError::None)),
            None => one.alone(),
        })
        .collect();
    let unpaired: Vec<usize> = (0..asked.len())
        .filter(|index| asked[*index].design == Design::Unpaired)
        .filter(|index| decided[*index].as_ref().is_ok_and(|d| d.p.is_some()))
        .collect();
    if unpaired.len() < 2 {
        return decided;
    }
    let p: Vec<f64> =
        unpaired.iter().filter_map(|index| decided[*index].as_ref().ok().and_then(|d| d.p)).collect();
    for ((index, adjusted), alone) in unpaired.iter().zip(holm(&p)).zip(&p) {
        if let Ok(decision) = &mut decided[*index] {
            decision.p = Some(adjusted);
            decision.family =
                Some(Family { correction: Correction::Holm, questions: p.len(), p_alone: *alone });
            if decision.verdict.is_different() && adjusted > 1.0 - verdict::LEVEL {
                decision.verdict = Verdict::CantTell;
                decision.more_blocks = None;
            }
        }
    }
    decided
}

/// What every reader of such a comparison must know, and what the runs themselves say.
fn caveats(answer: &mut Answer, base: &Side, arm: &Side) {
    let mut all = Vec::new();
    if answer.rows.iter().any(|row| row.design == Design::OneRun) {
        let text = "one run each: no statement about the difference between configurations is possible";
        all.push(Caveat::new(CaveatKind::OneRun, text));
    }
    if answer.rows.iter().any(|row| row.design == Design::Unpaired) {
        let text = "the runs were not interleaved: whatever changed with time counts as a difference";
        all.push(Caveat::new(CaveatKind::Note, text));
    }
    let own = |side: &Side| side.runs.iter().flat_map(|seen| &seen.caveats).cloned().collect::<Vec<_>>();
    let best = [base, arm].iter().any(|side| own(side).iter().any(|one| one.kind == CaveatKind::BestOf));
    if best && answer.rows.iter().any(|row| row.base_level.n.max(row.arm_level.n) > 1) {
        let text = "each run is itself a best of several passes: a mean of bests is no mean";
        all.push(Caveat::new(CaveatKind::BestOf, text));
    }
    for side in [base, arm] {
        for caveat in own(side) {
            all.push(Caveat::new(caveat.kind, format!("{}: {}", side.name, caveat.text)));
        }
    }
    for caveat in all {
        if !answer.caveats.contains(&caveat) {
            answer.caveats.push(caveat);
        }
    }
}

/// Parameters as text, for what only one side has.
fn told(params: &Params) -> String {
    let all: Vec<String> = params.iter().map(|(name, value)| format!("{name} {value}")).collect();
    if all.is_empty() { String::new() } else { format!(" ({})", all.join(", ")) }
}
