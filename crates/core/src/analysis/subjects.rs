//! What is compared: headline values of runs that count, sorted by measure, metric and parameters.

use super::{Level, LevelValue};
use crate::experiment::Experiment;
use crate::metric::Metric;
use crate::sample::{Params, Series};
use crate::stats;
use crate::verdict::LEVEL;

/// Params that say how a headline came about rather than under what it was measured.
const NOT_COMPARED: [&str; 4] = ["window", "side", "target", "host"];

/// One thing that is compared: a headline metric of one measure under fixed parameters.
pub(super) struct Subject {
    pub measure: u32,
    pub metric: Metric,
    pub params: Params,
    /// The value of every run that counts, by (arm, block), in the order measured.
    pub values: Vec<(u32, LevelValue)>,
}

/// The params under which a headline is compared.
fn compared(params: &Params) -> Params {
    let kept = params.iter().filter(|(name, _)| !NOT_COMPARED.contains(&name.as_str()));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The params under which a series of a run is compared. Two series of one run must never count as two runs: what tells
/// them apart is then compared as well.
pub fn compared_params(all: &[Series], index: usize) -> Params {
    let series = &all[index];
    let params = compared(&series.params);
    let twin = |(other, twin): (usize, &Series)| {
        other != index
            && twin.headline.is_some()
            && twin.metric == series.metric
            && compared(&twin.params) == params
    };
    if all.iter().enumerate().any(twin) { series.params.clone() } else { params }
}

pub(super) fn subjects(experiment: &Experiment) -> Vec<Subject> {
    let began = experiment.records.first().map_or(0.0, |record| record.started_at);
    let mut subjects: Vec<Subject> = Vec::new();
    for slot in &experiment.schedule {
        let Some(record) = experiment.done(*slot) else { continue };
        let all: &[Series] = record.run.as_ref().map_or(&[], |run| &run.series);
        for (index, series) in all.iter().enumerate() {
            let Some(value) = series.headline_value() else { continue };
            let params = compared_params(all, index);
            let value =
                LevelValue { run: record.id, block: slot.block, at: record.started_at - began, value };
            let known = subjects.iter_mut().find(|subject| {
                subject.measure == slot.measure && subject.metric == series.metric && subject.params == params
            });
            match known {
                Some(subject) => subject.values.push((slot.arm, value)),
                None => subjects.push(Subject {
                    measure: slot.measure,
                    metric: series.metric.clone(),
                    params,
                    values: vec![(slot.arm, value)],
                }),
            }
        }
    }
    name_measures_apart(&mut subjects, experiment);
    subjects.sort_by_key(|subject| subject.measure);
    subjects
}

/// Where two measures give the same metric, the measure's label tells them apart.
fn name_measures_apart(subjects: &mut [Subject], experiment: &Experiment) {
    for index in 0..subjects.len() {
        let twin = subjects.iter().enumerate().any(|(other, subject)| {
            other != index
                && subject.measure != subjects[index].measure
                && subject.metric.name == subjects[index].metric.name
        });
        if twin {
            let label = experiment.plan.measures[subjects[index].measure as usize].label().into();
            subjects[index].params.insert("measure".to_owned(), label);
        }
    }
}

impl Subject {
    pub fn of_arm(&self, arm: usize) -> Vec<LevelValue> {
        self.values.iter().filter(|(a, _)| *a as usize == arm).map(|(_, value)| *value).collect()
    }

    pub fn levels(&self, experiment: &Experiment) -> Vec<Level> {
        let arms = experiment.plan.arms.iter().enumerate();
        arms.filter_map(|(arm, plan)| {
            let values = self.of_arm(arm);
            let bare: Vec<f64> = values.iter().map(|value| value.value).collect();
            Some(Level {
                arm: plan.name.clone(),
                metric: self.metric.clone(),
                params: self.params.clone(),
                n: bare.len(),
                median: stats::median(&bare)?,
                interval: stats::median_interval(&bare, LEVEL),
                values,
            })
        })
        .collect()
    }

    /// The value of an arm in a block.
    pub fn value(&self, arm: usize, block: u32) -> Option<f64> {
        let mut values = self.values.iter().filter(|(a, value)| *a as usize == arm && value.block == block);
        values.next().map(|(_, value)| value.value)
    }
}
