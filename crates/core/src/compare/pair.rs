//! The answer about two sides, once their questions have been decided.

use std::collections::BTreeMap;

use super::curves::{self, Both};
use super::decide::Asked;
use super::observe::{self, Key, Values};
use super::{Answer, Design, ONE_RUN, Row, Side, best_of, bounds, within};
use crate::analysis::Comparison;
use crate::caveat::{Caveat, CaveatKind};
use crate::metric::Better;
use crate::stats::paired::PairError;
use crate::verdict::{self, Decision};

/// Series with the parameter of their curve, topic by topic.
pub fn in_turn(topics: &[(Option<String>, Vec<usize>)]) -> impl Iterator<Item = (Option<&str>, usize)> {
    topics.iter().flat_map(|(along, members)| members.iter().map(|index| (along.as_deref(), *index)))
}

/// Two sides, the arm's values in the units of the base's.
pub struct Pair<'a> {
    base: &'a Side,
    arm: &'a Side,
    of_arm: BTreeMap<Key, Values>,
    converted: Vec<Caveat>,
}

impl<'a> Pair<'a> {
    pub fn new(base: &'a Side, arm: &'a Side) -> Pair<'a> {
        let (mut of_arm, mut converted) = (arm.values.clone(), Vec::new());
        observe::convert(&base.values, &mut of_arm, &mut converted);
        Pair { base, arm, of_arm, converted }
    }

    /// What both have.
    pub fn both(&self) -> Vec<Both<'_>> {
        let both = self.base.values.iter().filter_map(|(key, base)| Some((key, base, self.of_arm.get(key)?)));
        both.filter(|(key, _, _)| key.metric.better != Better::Neither).collect()
    }

    pub fn answer<'b>(
        &self,
        decided: impl Iterator<Item = (&'b Asked, Result<Decision, PairError>)>,
    ) -> Answer {
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
