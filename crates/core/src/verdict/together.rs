//! Several questions over the same blocks: the sizes of a curve, the pairs of several arms. Each is decided at a level
//! at which all of them together are rarely wrong.
//!
//! The default is the largest statistic under sign flips ([`MaxT`]), which knows how the questions hang together and
//! has power at eight blocks. Holm is on request; so is Benjamini-Hochberg, which bounds the share of wrong claims
//! instead and suits looking around.

use serde::{Deserialize, Serialize};

use super::differences::{Additive, describe_differences};
use super::{Decision, EQUIVALENCE_LEVEL, Found, LEVEL, describe, log_margin};
use crate::metric::Scale;
use crate::stats::Interval;
use crate::stats::multiple::{MaxT, benjamini_hochberg, holm};
use crate::stats::paired::{PairError, Paired, fewest_for_p};
use crate::stats::sample_size::fewest_blocks;

/// How several questions are kept from being answered wrongly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Correction {
    /// The largest statistic under sign flips: any wrong claim at most 5 %.
    #[default]
    MaxT,
    /// Holm's steps on exact p values: the same bound, with less power below a dozen blocks.
    Holm,
    /// Benjamini and Hochberg: of all claims, 5 % wrong on average.
    BenjaminiHochberg,
}

/// What a decision owes to others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Family {
    /// How it was kept from being wrong.
    pub correction: Correction,
    /// Questions that were decided together.
    pub questions: usize,
    /// The chance of this question alone.
    pub p_alone: f64,
}

/// One of several questions.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// (arm, base) by block; `None` where one of the two is missing.
    pub blocks: Vec<Option<(f64, f64)>>,
    /// The margin as a share.
    pub margin: f64,
    /// The direction called faster.
    pub higher_is_better: bool,
    /// Whether ratios or differences are judged.
    pub scale: Scale,
}

impl Question {
    /// The blocks that have both values.
    pub fn pairs(&self) -> Vec<(f64, f64)> {
        self.blocks.iter().copied().flatten().collect()
    }

    /// Decides the question alone.
    pub fn decide(&self) -> Result<Decision, PairError> {
        match self.scale {
            Scale::Ratio => super::decide(&self.pairs(), self.margin, self.higher_is_better),
            Scale::Difference => super::decide_differences(&self.pairs(), self.margin, self.higher_is_better),
        }
    }

    /// Describes the question, where no verdict is due.
    pub fn describe(&self) -> Result<Decision, PairError> {
        match self.scale {
            Scale::Ratio => describe(&self.pairs(), self.margin),
            Scale::Difference => describe_differences(&self.pairs(), self.margin),
        }
    }
}

/// Decides questions together; all have the same blocks. An answer that fails is left out of the family. `seed` matters
/// beyond fourteen blocks only.
pub fn decide_together(
    questions: &[Question],
    correction: Correction,
    seed: u64,
) -> Vec<Result<Decision, PairError>> {
    let weighed: Vec<Result<Weighed<'_>, PairError>> = questions.iter().map(Weighed::of).collect();
    let family: Vec<&Weighed<'_>> = weighed.iter().flatten().filter(|one| one.values.len() > 1).collect();
    if family.len() < 2 {
        return questions.iter().map(Question::decide).collect();
    }
    let bounds = bounds(&family, correction, seed);
    let mut bounds = bounds.into_iter();
    let answers = weighed.iter().zip(questions).map(|(weighed, question)| match weighed {
        Ok(one) if one.values.len() > 1 => match bounds.next() {
            Some(bound) => Ok(one.decision(bound, correction, family.len())),
            None => question.decide(),
        },
        Ok(_) => question.describe(),
        Err(e) => Err(*e),
    });
    answers.collect()
}

/// A question on its scale.
struct Weighed<'a> {
    question: &'a Question,
    paired: Paired,
    /// The values of the blocks that have both.
    values: Vec<f64>,
    limit: f64,
    additive: Option<Additive>,
}

/// What the family says of one question.
#[derive(Clone, Copy)]
struct Bound {
    wide: Option<Interval>,
    narrow: Option<Interval>,
    p: f64,
    /// Blocks with which it could be told from chance at all.
    fewest: Option<usize>,
}

impl Weighed<'_> {
    fn of(question: &Question) -> Result<Weighed<'_>, PairError> {
        let pairs = question.pairs();
        let (paired, limit, additive) = match question.scale {
            Scale::Ratio => (Paired::new(&pairs)?, log_margin(question.margin)?, None),
            Scale::Difference => {
                let additive = Additive::of(&pairs, question.margin)?;
                (additive.paired.clone(), additive.limit, Some(additive))
            }
        };
        let values = paired.logs.clone();
        Ok(Weighed { question, paired, values, limit, additive })
    }

    /// The values by block, missing ones as NaN.
    fn column(&self) -> Vec<f64> {
        let mut values = self.values.iter();
        let value =
            |block: &Option<(f64, f64)>| block.and_then(|_| values.next().copied()).unwrap_or(f64::NAN);
        self.question.blocks.iter().map(value).collect()
    }

    fn decision(&self, bound: Bound, correction: Correction, questions: usize) -> Decision {
        let intervals = (bound.wide, bound.narrow);
        let better = self.question.higher_is_better;
        let found = Found::judged(&self.paired, intervals, bound.p, bound.fewest, self.limit, better);
        let margin = self.question.margin;
        let decision = match &self.additive {
            Some(additive) => additive.decision(found, margin),
            None => found.ratio(margin),
        };
        let family = Some(Family { correction, questions, p_alone: self.paired.p() });
        Decision { family, ..decision }
    }
}

fn bounds(family: &[&Weighed<'_>], correction: Correction, seed: u64) -> Vec<Bound> {
    let alpha = 1.0 - LEVEL;
    let p: Vec<f64> = family.iter().map(|one| one.paired.p()).collect();
    let m = family.len() as f64;
    match correction {
        Correction::MaxT => {
            let columns: Vec<Vec<f64>> = family.iter().map(|one| one.column()).collect();
            match MaxT::new(&columns, seed) {
                Some(max) => largest(&columns, &max),
                // More than can be flipped: Holm needs no flips.
                None => bounds(family, Correction::Holm, seed),
            }
        }
        Correction::Holm => {
            let adjusted = holm(&p);
            let mut order: Vec<usize> = (0..family.len()).collect();
            order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
            // The steps go on until the first that does not reject; all behind it share its level.
            let stopped = order.iter().position(|index| adjusted[*index] > alpha).unwrap_or(order.len());
            let mut steps = vec![m; family.len()];
            order.iter().enumerate().for_each(|(rank, index)| steps[*index] = m - rank.min(stopped) as f64);
            let steps = steps.into_iter().map(|step| step.max(1.0));
            at_levels(family, &adjusted, &steps.collect::<Vec<f64>>())
        }
        Correction::BenjaminiHochberg => {
            let adjusted = benjamini_hochberg(&p);
            // Intervals of what was selected, at the level that keeps their share of misses.
            let rejected = adjusted.iter().filter(|p| **p <= alpha).count().max(1);
            at_levels(family, &adjusted, &vec![m / rejected as f64; family.len()])
        }
    }
}

fn largest(columns: &[Vec<f64>], max: &MaxT) -> Vec<Bound> {
    let fewest = fewest_blocks(LEVEL);
    let bound = |(column, p): (&Vec<f64>, &f64)| {
        let n = column.iter().filter(|d| !d.is_nan()).count();
        // Fewer blocks than allow any statement are not saved by a formula.
        let enough = fewest.is_some_and(|fewest| n >= fewest);
        let interval = |level| max.interval(column, level).filter(|_| enough);
        Bound { wide: interval(LEVEL), narrow: interval(EQUIVALENCE_LEVEL), p: *p, fewest }
    };
    columns.iter().zip(&max.adjusted).map(bound).collect()
}

/// Signed-rank intervals at 5 % over each question's step.
fn at_levels(family: &[&Weighed<'_>], adjusted: &[f64], steps: &[f64]) -> Vec<Bound> {
    let bound = |((one, p), step): ((&&Weighed<'_>, &f64), &f64)| {
        let level = |level: f64| 1.0 - (1.0 - level) / step;
        Bound {
            wide: one.paired.log_interval(level(LEVEL)),
            narrow: one.paired.log_interval(level(EQUIVALENCE_LEVEL)),
            p: *p,
            fewest: fewest_for_p((1.0 - LEVEL) / step),
        }
    };
    family.iter().zip(adjusted).zip(steps).map(bound).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use crate::verdict::Verdict;

    /// A curve of `sizes` over `blocks`, of which the first `shifted` differ by a tenth; noise of about 1 %.
    fn curve(seed: u64, sizes: usize, blocks: usize, shifted: usize) -> Vec<Question> {
        let mut rng = Rng::new(seed);
        let mut noise = || (rng.below(2001) as f64 - 1000.0) / 50_000.0;
        (0..sizes)
            .map(|size| {
                let truth = if size < shifted { 0.1 } else { 0.0 };
                Question {
                    blocks: (0..blocks).map(|_| Some(((truth + noise()).exp() * 5.0, 5.0))).collect(),
                    margin: 0.02,
                    higher_is_better: true,
                    scale: Scale::Ratio,
                }
            })
            .collect()
    }

    fn words(questions: &[Question], correction: Correction) -> Vec<Verdict> {
        let decided = decide_together(questions, correction, 0);
        decided.into_iter().map(|decision| decision.unwrap().verdict).collect()
    }

    #[test]
    fn shifted_sizes_are_found_at_eight_blocks() {
        let words = words(&curve(1, 24, 8, 6), Correction::MaxT);
        assert_eq!(words[..6], [Verdict::Faster; 6]);
        assert!(words[6..].iter().all(|word| !word.is_different()), "{words:?}");
    }

    #[test]
    fn holm_asks_for_the_blocks_it_needs() {
        let decided = decide_together(&curve(1, 24, 8, 6), Correction::Holm, 0);
        let first = decided[0].as_ref().unwrap();
        assert_eq!((first.verdict, first.more_blocks), (Verdict::NeedMoreBlocks, Some(2)));
        assert_eq!(words(&curve(1, 24, 12, 6), Correction::Holm)[..6], [Verdict::Faster; 6]);
        assert_eq!(words(&curve(1, 24, 8, 6), Correction::BenjaminiHochberg)[..6], [Verdict::Faster; 6]);
    }

    #[test]
    fn a_word_of_difference_goes_with_a_small_chance() {
        for seed in 0..30 {
            for correction in [Correction::MaxT, Correction::Holm, Correction::BenjaminiHochberg] {
                for decision in decide_together(&curve(seed, 7, 10, 2), correction, 0) {
                    let decision = decision.unwrap();
                    let family = decision.family.unwrap();
                    assert!(family.questions == 7 && family.correction == correction);
                    assert_eq!(decision.verdict.is_different(), decision.p.unwrap() <= 0.05, "{decision:?}");
                    assert!(family.p_alone <= decision.p.unwrap() + 1e-12 || correction == Correction::MaxT);
                }
            }
        }
    }

    #[test]
    fn a_question_alone_is_no_family() {
        let one = curve(3, 1, 8, 1);
        assert_eq!(decide_together(&one, Correction::MaxT, 0), [one[0].decide()]);
        assert!(decide_together(&[], Correction::MaxT, 0).is_empty());
    }

    #[test]
    fn holes_and_failures_stay_their_own() {
        let mut questions = curve(5, 5, 8, 1);
        questions[1].blocks[2] = Some((0.0, 1.0));
        questions[2].blocks[3] = None;
        questions[3].blocks[1..].fill(None);
        questions[4].blocks[4..].fill(None);
        let decided = decide_together(&questions, Correction::MaxT, 0);
        assert_eq!(decided[0].as_ref().unwrap().verdict, Verdict::Faster);
        assert_eq!(decided[1], Err(PairError::NotPositive(0.0)));
        assert_eq!(decided[2].as_ref().unwrap().n, 7);
        assert_eq!(decided[3].as_ref().unwrap().verdict, Verdict::DescriptionOnly);
        assert_eq!(decided[4].as_ref().unwrap().verdict, Verdict::NeedMoreBlocks);
        assert_eq!(decided[4].as_ref().unwrap().more_blocks, Some(2));
        let empty = Question { blocks: vec![None; 8], ..questions[0].clone() };
        assert_eq!(
            decide_together(&[empty, questions[0].clone()], Correction::MaxT, 0)[0],
            Err(PairError::None)
        );
    }

    #[test]
    fn counts_that_may_be_0_join_in() {
        let mut questions = curve(5, 3, 8, 0);
        questions[1].scale = Scale::Difference;
        questions[1].blocks = (0..8).map(|i| Some((3.0 + f64::from(i % 3), 0.0))).collect();
        let decided = decide_together(&questions, Correction::MaxT, 0);
        let second = decided[1].as_ref().unwrap();
        assert_eq!(second.verdict, Verdict::Faster);
        assert!(second.difference.unwrap().lo.unwrap() > 0.0);
    }
}
