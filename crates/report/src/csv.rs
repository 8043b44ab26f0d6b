//! Every sample of an experiment as comma-separated values, a row each: for spreadsheets, R and pandas.
//!
//! RFC 4180. Values are in base units, times in seconds since their run began, params as `name=value` in one column.

use std::borrow::Cow;
use std::fmt::Write as _;

use tenbin_core::experiment::Experiment;

/// The columns.
const HEAD: &str = "run,state,block,slot,arm,measure,host,metric,unit,params,at_seconds,value";

/// The samples of every run that measured something, in the order measured. Blocks and slots count from 0.
pub fn experiment(experiment: &Experiment) -> String {
    let plan = &experiment.plan;
    let mut out = format!("{HEAD}\n");
    for record in &experiment.records {
        let Some(run) = &record.run else { continue };
        let slot = record.slot;
        let arm = plan.arms.get(slot.arm as usize).map_or("", |arm| arm.name.as_str());
        let measure = plan.measures.get(slot.measure as usize);
        let (label, from) = measure.map_or(("", ""), |measure| (measure.label(), measure.from.as_str()));
        let state = format!("{:?}", record.state).to_lowercase();
        for series in &run.series {
            // Telemetry names the host it was taken on.
            let host = series.params.get("host").map_or_else(|| from.to_owned(), ToString::to_string);
            let params: Vec<String> =
                series.params.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let row = [
                record.id.to_string().as_str(),
                &state,
                &slot.block.to_string(),
                &slot.position.to_string(),
                arm,
                label,
                &host,
                &series.metric.name,
                series.metric.unit.name(),
                &params.join(";"),
            ]
            .map(|cell| quoted(cell).into_owned())
            .join(",");
            for sample in &series.samples {
                // Writing to a string does not fail.
                let _ = write!(out, "{row},");
                if let Some(at) = sample.time() {
                    let _ = write!(out, "{at}");
                }
                let _ = writeln!(out, ",{}", sample.value);
            }
        }
    }
    out
}

/// A cell; quoted where it holds what would end it.
fn quoted(cell: &str) -> Cow<'_, str> {
    match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")).into(),
        false => cell.into(),
    }
}
