//! Questions of all pairs of sides, decided in families: every claim is one of as many as were asked together.

use std::collections::BTreeSet;

use super::course::far;
use super::observe::{Key, Values, pairs};
use super::{Design, Options};
use crate::metric::{Better, Scale};
use crate::quantity::{human, significant};
use crate::sample::Params;
use crate::stats::multiple::holm;
use crate::stats::paired::PairError;
use crate::unit::Unit;
use crate::verdict::{self, Correction, Decision, Family, Question, Verdict};

/// A question with what it rests on.
pub struct Asked {
    pub design: Design,
    /// What is decided together: a curve by its metric and parameters; `None`: a series that stands alone.
    pub curve: Option<(String, Params)>,
    pub paired: Option<Question>,
    base: Vec<f64>,
    arm: Vec<f64>,
    scale: Scale,
    higher: bool,
    margin: f64,
}

impl Asked {
    /// `blocks`: those of all sides, so that questions of several pairs can be decided together.
    pub fn of(
        (key, base, arm): (&Key, &Values, &Values),
        curve: Option<(String, Params)>,
        blocks: &BTreeSet<u32>,
        margin: f64,
    ) -> Asked {
        let (of_base, of_arm) = (base.numbers(), arm.numbers());
        let scale = key.metric.scale_for(of_base.iter().chain(&of_arm).copied());
        let higher = key.metric.better == Better::Higher;
        let blocks = pairs(base, arm, blocks);
        let design = match (of_base.len().min(of_arm.len()), &blocks) {
            (_, Some(blocks)) if blocks.iter().flatten().count() > 1 => Design::Paired,
            (0 | 1, _) => Design::OneRun,
            _ => Design::Unpaired,
        };
        let question = |blocks| Question { blocks, margin, higher_is_better: higher, scale };
        let paired = blocks.filter(|_| design == Design::Paired).map(question);
        Asked { design, curve, paired, base: of_base, arm: of_arm, scale, higher, margin }
    }

    fn alone(&self) -> Result<Decision, PairError> {
        self.between(&self.base, &self.arm)
    }

    /// The unpaired verdict over other values than all, alone.
    pub fn between(&self, base: &[f64], arm: &[f64]) -> Result<Decision, PairError> {
        match self.scale {
            Scale::Ratio => verdict::decide_unpaired(arm, base, self.margin, self.higher),
            Scale::Difference => {
                verdict::unpaired::decide_unpaired_differences(arm, base, self.margin, self.higher)
            }
        }
    }
}

impl Asked {
    /// What is far from the other runs of its side, and what the rest would say.
    pub fn without_far(
        &self,
        what: &str,
        unit: Unit,
        [base, arm]: [&str; 2],
        with: Verdict,
    ) -> Option<String> {
        let sides = [(base, &self.base), (arm, &self.arm)];
        let far = sides.map(|(name, values)| (name, far(values), values));
        let told: Vec<String> = far
            .iter()
            .filter_map(|(name, far, values)| {
                let far = &far.as_ref()?.0;
                let shown: Vec<String> = far.iter().take(5).map(|value| human(*value, unit, 3)).collect();
                Some(format!("{} of {} of {name} ({})", far.len(), values.len(), shown.join(", ")))
            })
            .collect();
        if told.is_empty() {
            return None;
        }
        let [of_base, of_arm] =
            far.map(|(_, far, values)| far.map_or_else(|| values.clone(), |(_, near)| near));
        let mut text = format!("{what}: far from the other runs: {}", told.join(", "));
        if let Ok(without) = self.between(&of_base, &of_arm) {
            text += &match without.verdict == with {
                true => "; without, the verdict is the same".to_owned(),
                false => format!(
                    "; without, the verdict alone would be {}",
                    without.verdict.name().replace('_', " ")
                ),
            };
            if let Some(p) = without.p {
                text += &format!(" (p = {})", significant(p, 2));
            }
        }
        Some(text + "; all count")
    }
}

/// Paired questions of a curve are decided together as those of an experiment; unpaired ones by Holm, all that stand
/// alone together.
pub fn decide(asked: &[Asked], options: &Options) -> Vec<Result<Decision, PairError>> {
    let mut decided: Vec<Result<Decision, PairError>> = asked.iter().map(Asked::alone).collect();
    let mut families: Vec<(Design, Together, Vec<usize>)> = Vec::new();
    for (index, one) in asked.iter().enumerate() {
        let family = match (&one.curve, one.design) {
            (Some(curve), _) => Together::Curve(curve.clone()),
            (None, Design::Paired) => Together::Alone(index),
            (None, _) => Together::Others,
        };
        match families.iter_mut().find(|(design, other, _)| *design == one.design && *other == family) {
            Some((_, _, members)) => members.push(index),
            None => families.push((one.design, family, vec![index])),
        }
    }
    for (design, _, members) in &families {
        match design {
            Design::Paired => {
                let questions: Vec<Question> =
                    members.iter().filter_map(|index| asked[*index].paired.clone()).collect();
                let answers = verdict::decide_together(&questions, options.correction, options.seed);
                members.iter().zip(answers).for_each(|(index, answer)| decided[*index] = answer);
            }
            Design::Unpaired => correct(&mut decided, members),
            Design::OneRun => {}
        }
    }
    decided
}

/// What is decided together.
#[derive(PartialEq)]
enum Together {
    Curve((String, Params)),
    Alone(usize),
    Others,
}

/// Holm's steps over unpaired questions.
fn correct(decided: &mut [Result<Decision, PairError>], members: &[usize]) {
    let with_p: Vec<(usize, f64)> =
        members.iter().filter_map(|index| Some((*index, decided[*index].as_ref().ok()?.p?))).collect();
    if with_p.len() < 2 {
        return;
    }
    let p: Vec<f64> = with_p.iter().map(|(_, p)| *p).collect();
    for ((index, alone), adjusted) in with_p.iter().zip(holm(&p)) {
        let Ok(decision) = &mut decided[*index] else { continue };
        decision.p = Some(adjusted);
        decision.family = Some(Family { correction: Correction::Holm, questions: p.len(), p_alone: *alone });
        if decision.verdict.is_different() && adjusted > 1.0 - verdict::LEVEL {
            decision.verdict = Verdict::CantTell;
            decision.more_blocks = None;
        }
    }
}
