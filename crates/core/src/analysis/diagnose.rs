//! What stands out within single runs: warm-up, jumps, samples that repeat each other, two humps. Pointed out; every run
//! counts all the same.

use serde::{Deserialize, Serialize};

use crate::caveat::{Caveat, CaveatKind};
use crate::experiment::{Experiment, State};
use crate::metric::{Better, TEMPERATURE};
use crate::quantity::{human, trimmed};
use crate::run::Run;
use crate::sample::{Params, Series};
use crate::stats::autocorrelation::autocorrelation;
use crate::stats::changes::{largest_fall, segments};
use crate::stats::dip;
use crate::stats::trend::trend;
use crate::stats::warm_up::warm_up;
use crate::stats::{median, order};
use crate::unit::Unit;

/// Shorter series tell nothing about their course.
const ENOUGH: usize = 20;
/// The beginning of longer ones is looked at by medians of neighbours, so many.
const MOST: usize = 1000;
/// How samples repeat each other is judged by the first so many, their humps by so many at even distances: medians of
/// neighbours would repeat less and have one hump.
const MOST_SAMPLES: usize = 4000;
/// See [`MOST_SAMPLES`].
const MOST_IN_HUMPS: usize = 2000;
/// The search for jumps takes the square of this. A stretch is a twentieth of the run at least: more medians would
/// place its ends better than by a five-hundredth of the run, and find no other stretches.
const MOST_FOR_JUMPS: usize = 500;
/// A level must change by so much, as a share, to be a jump worth words.
const NOTABLE: f64 = 0.2;
/// Samples worth less than this share of their number repeat each other.
const WORTH: f64 = 0.5;

/// Something that stood out within a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// The run's number in the store; of imported runs the number within the import, from 1.
    pub run: i64,
    /// Whose run; of imported runs their source.
    pub arm: String,
    /// What was measured.
    pub metric: String,
    /// Under which parameters.
    pub params: Params,
    /// What it is.
    pub kind: DiagnosticKind,
    /// A sentence about this run.
    pub text: String,
}

/// The sort of what stood out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiagnosticKind {
    /// The beginning differs so much that it moves the run's value.
    WarmUp,
    /// No steady state was reached.
    NeverSteady,
    /// A rate fell and stayed down.
    RateStep,
    /// The level jumped otherwise.
    Jump,
    /// Neighbouring samples repeat each other.
    Correlated,
    /// The samples have two humps.
    TwoHumps,
}

/// Everything that stood out in runs that count, in their order; what recurs or misleads also becomes a caveat.
pub(super) fn diagnostics(experiment: &Experiment, caveats: &mut Vec<Caveat>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for record in experiment.records.iter().filter(|record| record.state == State::Done) {
        let (Some(run), Some(arm)) = (&record.run, experiment.plan.arms.get(record.slot.arm as usize)) else {
            continue;
        };
        found.extend(diagnose(run, record.id, &arm.name, experiment.plan.margin));
    }
    let runs_of = |arm: &str| {
        let of_arm = |slot: &&crate::experiment::Slot| experiment.plan.arms[slot.arm as usize].name == arm;
        experiment.schedule.iter().filter(of_arm).filter(|slot| experiment.done(**slot).is_some()).count()
    };
    let mut told: Vec<(&str, &str, DiagnosticKind)> = Vec::new();
    for one in &found {
        let key = (one.arm.as_str(), one.metric.as_str(), one.kind);
        if told.contains(&key) {
            continue;
        }
        told.push(key);
        let alike =
            found.iter().filter(|other| (other.arm.as_str(), other.metric.as_str(), other.kind) == key);
        let mut runs: Vec<i64> = alike.map(|other| other.run).collect();
        runs.dedup();
        let (count, of) = (runs.len(), runs_of(&one.arm));
        let kind = match one.kind {
            DiagnosticKind::RateStep => CaveatKind::RateStep,
            DiagnosticKind::TwoHumps if 2 * count > of => CaveatKind::Note,
            _ => continue,
        };
        let name = one.metric.replace('_', " ");
        caveats.push(Caveat::new(kind, format!("{name} of {}, {count} of {of} runs: {}", one.arm, one.text)));
    }
    found
}

/// What stands out in one run.
pub fn diagnose(run: &Run, number: i64, arm: &str, margin: f64) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = Vec::new();
    for series in run.series.iter().filter(|series| is_looked_at(series)) {
        for (kind, text) in look(series, run, margin) {
            // Both ends and every stream of a connection show the same; once is enough.
            let metric = series.metric.name.as_ref();
            if !found.iter().any(|other| other.metric == metric && other.kind == kind) {
                found.push(Diagnostic {
                    run: number,
                    arm: arm.to_owned(),
                    metric: metric.to_owned(),
                    params: series.params.clone(),
                    kind,
                    text,
                });
            }
        }
    }
    found
}

fn is_looked_at(series: &Series) -> bool {
    // Counts of an interval come in bursts by their nature.
    series.metric.better != Better::Neither
        && !matches!(series.metric.unit, Unit::Count | Unit::Celsius)
        && series.samples.len() >= ENOUGH
        && series.samples.iter().all(|sample| sample.value.is_finite())
}

fn look(series: &Series, run: &Run, margin: f64) -> Vec<(DiagnosticKind, String)> {
    let all = series.values();
    let thin = thinned(&all, MOST);
    let mut found = Vec::new();
    found.extend(course(series, &thinned(&thin, MOST_FOR_JUMPS), run, margin));
    found.extend(beginning(series, &thin, margin));
    found.extend(repeats(&all[..all.len().min(MOST_SAMPLES)]));
    let step = all.len().div_ceil(MOST_IN_HUMPS);
    found.extend(humps(series, &all.into_iter().step_by(step.max(1)).collect::<Vec<_>>()));
    found
}

/// Medians of neighbours where there are more than `most` values.
fn thinned(values: &[f64], most: usize) -> Vec<f64> {
    match values.len().div_ceil(most) {
        0 | 1 => values.to_vec(),
        chunk => {
            let mut some = Vec::with_capacity(chunk);
            let middle = |values: &[f64]| {
                some.clear();
                some.extend_from_slice(values);
                order::median_in(&mut some)
            };
            values.chunks(chunk).filter_map(middle).collect()
        }
    }
}

/// Rates come as means over intervals already.
fn is_rate(series: &Series) -> bool {
    series.metric.better == Better::Higher && series.samples.iter().all(|sample| sample.time().is_some())
}

fn beginning(series: &Series, values: &[f64], margin: f64) -> Option<(DiagnosticKind, String)> {
    let found = warm_up(values, if is_rate(series) { 1 } else { 5 })?;
    if found.never_steady {
        let drifts = trend(values).is_some_and(|trend| trend.is_drift(margin));
        let text =
            "no steady state within the run: it was too short, or the machine never settles".to_owned();
        return drifts.then_some((DiagnosticKind::NeverSteady, text));
    }
    let (with, without) = (median(values)?, median(&values[found.to_trim()..])?);
    let moved = with / without - 1.0;
    let share = found.to_trim() as f64 / values.len() as f64;
    let text = format!(
        "warm-up: the first {:.0} % of the run differ and move its value by {:+.1} %",
        (share * 100.0).max(1.0),
        moved * 100.0
    );
    (moved.abs() > margin / 2.0 && moved.is_finite()).then_some((DiagnosticKind::WarmUp, text))
}

fn course(series: &Series, values: &[f64], run: &Run, margin: f64) -> Option<(DiagnosticKind, String)> {
    let amount = |value: f64| trimmed(&human(value, series.metric.unit, 3));
    let segments = segments(values);
    if series.metric.better == Better::Higher
        && let Some(step) = largest_fall(&segments)
    {
        let place = step.at * series.samples.len() / values.len();
        let mut text = format!(
            "burst credit or throttle: two plateaus, {} and {}",
            amount(step.before),
            amount(step.after)
        );
        if let Some(bytes) = moved(series, place) {
            text += &format!(", with {} moved before the step", trimmed(&human(bytes, Unit::Byte, 3)));
        }
        if let Some(celsius) = temperature(series, place, run) {
            text += &format!(", at {celsius:.0} °C");
        }
        return Some((DiagnosticKind::RateStep, text));
    }
    let apart = |a: f64, b: f64| (b / a - 1.0).abs() >= NOTABLE.max(margin);
    let jump = segments.windows(2).find(|pair| apart(pair[0].level, pair[1].level))?;
    let (before, after) = (jump[0].level, jump[1].level);
    let way = if after > before { "up" } else { "down" };
    let text = format!("the level jumps {way} from {} to {} within the run", amount(before), amount(after));
    Some((DiagnosticKind::Jump, text))
}

/// What a rate has moved before a sample: sums of rate by length of interval.
fn moved(series: &Series, until: usize) -> Option<f64> {
    let per_byte = match series.metric.unit {
        Unit::BitPerSecond => 8.0,
        Unit::BytePerSecond => 1.0,
        _ => return None,
    };
    let mut began = 0.0;
    let mut bytes = 0.0;
    for sample in series.samples.get(..until)? {
        let at = sample.time()?;
        bytes += sample.value * (at - began) / per_byte;
        began = at;
    }
    (bytes.is_finite() && bytes > 0.0).then_some(bytes)
}

/// The hottest sensor at the time of a sample, where one was read.
fn temperature(series: &Series, at: usize, run: &Run) -> Option<f64> {
    let time = series.samples.get(at)?.time()?;
    let sensors = run.series.iter().filter(|other| other.metric.name == TEMPERATURE.name);
    let nearest = |sensor: &Series| {
        let timed =
            sensor.samples.iter().filter_map(|sample| Some(((sample.time()? - time).abs(), sample.value)));
        timed.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, value)| value)
    };
    sensors.filter_map(nearest).filter(|celsius| celsius.is_finite()).max_by(f64::total_cmp)
}

fn repeats(values: &[f64]) -> Option<(DiagnosticKind, String)> {
    let found = autocorrelation(values)?;
    let worth = found.effective_samples();
    let text = format!(
        "neighbouring samples repeat each other: {} of them are worth {:.0} independent ones",
        values.len(),
        worth.max(1.0)
    );
    (worth < WORTH * values.len() as f64).then_some((DiagnosticKind::Correlated, text))
}

fn humps(series: &Series, values: &[f64]) -> Option<(DiagnosticKind, String)> {
    let found = dip::humps(&dip::spread_ties(values))?;
    let amount = |value: f64| trimmed(&human(value, series.metric.unit, 3));
    let ((low_share, low), (high_share, high)) = (found.lower, found.upper);
    // A few far values are no hump.
    let fair = low_share.min(high_share) >= 0.05;
    let spread = order::percentile(values, 0.95)? > order::percentile(values, 0.05)?;
    let text = format!(
        "two humps: {:.0} % of the samples around {}, {:.0} % around {}",
        low_share * 100.0,
        amount(low),
        high_share * 100.0,
        amount(high)
    );
    (found.two() && fair && spread).then_some((DiagnosticKind::TwoHumps, text))
}
