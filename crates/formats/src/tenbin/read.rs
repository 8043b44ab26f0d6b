//! An entry of `runs` to a run.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tenbin_core::caveat::CaveatKind;
use tenbin_core::env::{Class, Fact, FactValue};
use tenbin_core::metric::{Better, Metric};
use tenbin_core::run::Run;
use tenbin_core::sample::{Params, Reduce, Sample, Series};
use tenbin_core::unit::Unit;

use crate::sheet::Sheet;

/// The run, if it holds anything.
pub fn run(entry: &Value) -> Option<Run> {
    let entry = entry.as_object()?;
    let text = |key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
    let tool = text("tool")?;
    let mut sheet = Sheet::new(&tool);
    let mut unread = 0;
    for value in entry.get("series").and_then(Value::as_array).into_iter().flatten() {
        match series(value) {
            // Through the sheet: two of a metric with equal params are one.
            Some(read) => {
                let series = sheet.series(&read.metric, &read.params);
                series.headline = series.headline.or(read.headline);
                series.samples.extend(read.samples);
                series.reported.extend(read.reported);
            }
            None => unread += 1,
        }
    }
    let run = &mut sheet.run;
    run.source = text("source").unwrap_or_default();
    run.tool_version = text("tool_version");
    run.benchmark = text("benchmark");
    run.events = part(entry, "events");
    run.states = part(entry, "states");
    run.hosts = part(entry, "hosts");
    run.caveats = part(entry, "caveats");
    run.taint = part(entry, "taint");
    let facts: BTreeMap<String, FactValue> = part(entry, "facts");
    let fact = |value| Fact::new(Class::State, value, format!("the log of {tool}"));
    run.facts = facts.into_iter().map(|(key, value)| (key, fact(value))).collect();
    if unread > 0 {
        sheet.caveat(
            CaveatKind::Note,
            format!("{unread} series have no metric, unit or samples that are known"),
        );
    }
    sheet.finish()
}

/// A part of the run that is written as it is kept; a later release may write it otherwise.
fn part<T: DeserializeOwned + Default>(entry: &Map<String, Value>, key: &str) -> T {
    entry.get(key).and_then(|value| serde_json::from_value(value.clone()).ok()).unwrap_or_default()
}

fn series(value: &Value) -> Option<Series> {
    let entry = value.as_object()?;
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let unit = Unit::from_name(text("unit")?)?;
    let better = match text("better") {
        Some("higher") => Better::Higher,
        Some("lower") => Better::Lower,
        _ => Better::Neither,
    };
    let headline = match text("headline") {
        Some("median") => Some(Reduce::Median),
        Some("total") => Some(Reduce::Total),
        _ => None,
    };
    let params: Params = match entry.get("params") {
        Some(params) => serde_json::from_value(params.clone()).ok()?,
        None => Params::new(),
    };
    let samples: Vec<Sample> = match entry.get("samples") {
        Some(samples) => serde_json::from_value(samples.clone()).ok()?,
        None => Vec::new(),
    };
    let reported = entry.get("reported").and_then(Value::as_object);
    let figures = reported.into_iter().flatten();
    let reported = figures.filter_map(|(name, value)| Some((name.clone(), value.as_f64()?))).collect();
    let metric = Metric { name: text("metric")?.to_owned().into(), unit, better };
    Some(Series { metric, params, headline, samples, reported })
}
