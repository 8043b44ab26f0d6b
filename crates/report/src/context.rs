//! What went with the answer: retransmits, CPU, packets. Medians over runs, described and not tested.

use tenbin_core::experiment::{Experiment, State};
use tenbin_core::metric::{self, Better, Metric};
use tenbin_core::run::Run;
use tenbin_core::sample::{Param, Params, Series};
use tenbin_core::stats;

use crate::words;

/// A metric beside the headline ones.
pub struct Beside {
    /// The measure it came with.
    pub measure: String,
    /// The metric with what tells it from its namesakes: `cpu utilization (sender)`.
    pub title: String,
    /// What it is.
    pub metric: Metric,
    /// The median over each arm's runs, in the plan's order of arms; `None` where no run has it.
    pub medians: Vec<Option<f64>>,
}

/// Metrics that are told even though neither direction is better: they explain the others.
const EXPLAINING: [&str; 3] = ["packet_rate", "cpu_frequency", "temperature"];

/// Metrics whose zeros are news.
const ZERO_IS_NEWS: [Metric; 2] = [metric::RETRANSMITS, metric::LOSS];

/// A metric of a measure under its parameters, with one value a run by arm.
struct Row<'a> {
    measure: u32,
    series: &'a Series,
    params: Params,
    values: Vec<Vec<f64>>,
}

/// Everything worth a line, in the order of measures.
pub fn beside(experiment: &Experiment) -> Vec<Beside> {
    let plan = &experiment.plan;
    let mut rows: Vec<Row<'_>> = Vec::new();
    for record in experiment.records.iter().filter(|record| record.state == State::Done) {
        let Some(run) = &record.run else { continue };
        for series in run.series.iter().filter(|series| tells(series, run)) {
            let Some(value) = stats::median(&series.values()) else { continue };
            let mut params = series.params.clone();
            params.remove("window");
            // Streams are numbered by chance; where no total was given they are told as one.
            params.remove("stream");
            let measure = record.slot.measure;
            let same = |row: &&mut Row<'_>| {
                row.measure == measure && row.series.metric == series.metric && row.params == params
            };
            let row = match rows.iter_mut().find(same) {
                Some(row) => row,
                None => {
                    rows.push(Row { measure, series, params, values: vec![Vec::new(); plan.arms.len()] });
                    let last = rows.len() - 1;
                    &mut rows[last]
                }
            };
            if let Some(values) = row.values.get_mut(record.slot.arm as usize) {
                values.push(value);
            }
        }
    }
    rows.sort_by_key(|row| row.measure);
    rows.iter()
        .filter(|row| {
            ZERO_IS_NEWS.contains(&row.series.metric)
                || row.values.iter().flatten().any(|value| *value != 0.0)
        })
        .map(|row| {
            let params = words::params(&row.params);
            let name = match row.series.metric.name.as_ref() {
                "cpu_foreign" => "cpu used by others".to_owned(),
                name => name.replace('_', " "),
            };
            Beside {
                measure: plan
                    .measures
                    .get(row.measure as usize)
                    .map(|m| m.label().to_owned())
                    .unwrap_or_default(),
                title: if params.is_empty() { name } else { format!("{name} ({params})") },
                metric: row.series.metric.clone(),
                medians: row.values.iter().map(|values| stats::median(values)).collect(),
            }
        })
        .collect()
}

/// Whether a series of a run says something beside its headline.
fn tells(series: &Series, run: &Run) -> bool {
    let total = |series: &Series| series.params.get("window") == Some(&Param::from("total"));
    let of_metric = |other: &&Series| other.metric.name == series.metric.name;
    let mut namesakes = run.series.iter().filter(of_metric);
    let is_headline = namesakes.clone().any(|other| other.headline.is_some());
    let of_stream = |series: &Series| series.params.contains_key("stream");
    let has_sum = namesakes.clone().any(|other| total(other) && !of_stream(other));
    // Where a tool gives totals, its intervals add nothing to a median.
    let has_total = namesakes.any(total);
    let told = series.metric.better != Better::Neither || EXPLAINING.contains(&series.metric.name.as_ref());
    told && !is_headline && (total(series) || !has_total) && !(of_stream(series) && has_sum)
}
