//! Levels and single runs as OpenMetrics text, for scraping and for the node exporter's text files.
//!
//! <https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md>: one family a metric with its
//! unit in the name, labels for what tells series apart, `# EOF` at the end.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use tenbin_core::analysis::Analysis;
use tenbin_core::metric::Metric;
use tenbin_core::run::Run;
use tenbin_core::sample::Params;
use tenbin_core::unit::Unit;

/// One value with its labels.
struct Point {
    labels: Vec<(String, String)>,
    value: f64,
}

/// The median of every arm.
pub fn levels(plan: &str, analysis: &Analysis) -> String {
    let points = analysis.levels.iter().map(|level| {
        let own = [("plan", plan), ("arm", level.arm.as_str())];
        (&level.metric, Point { labels: labels(&own, &level.params), value: level.median })
    });
    text(points)
}

/// Every series of a run: the value it is compared by, else the mean of its samples.
pub fn run(run: &Run) -> String {
    let points = run.series.iter().filter_map(|series| {
        let values = series.values();
        let mean = (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
        let value = series.headline_value().or(mean)?;
        let mut own = vec![("tool", run.tool.as_str())];
        own.extend(run.benchmark.as_deref().map(|benchmark| ("benchmark", benchmark)));
        Some((&series.metric, Point { labels: labels(&own, &series.params), value }))
    });
    text(points)
}

fn labels(own: &[(&str, &str)], params: &Params) -> Vec<(String, String)> {
    let params = params.iter().map(|(name, value)| (name.clone(), value.to_string()));
    // A param may bear the name of an own label (`benchmark`): it says the same more closely.
    let own = own.iter().filter(|(name, _)| !params.clone().any(|(param, _)| param == *name));
    own.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).chain(params.clone()).collect()
}

fn text<'a>(points: impl Iterator<Item = (&'a Metric, Point)>) -> String {
    // A family's lines must stand together, whatever the order of the series.
    let mut families: BTreeMap<String, (Unit, Vec<Point>)> = BTreeMap::new();
    for (metric, point) in points {
        families.entry(name(metric)).or_insert_with(|| (metric.unit, Vec::new())).1.push(point);
    }
    let mut out = String::new();
    for (name, (unit, points)) in families {
        // Writing to a string does not fail.
        let _ = writeln!(out, "# TYPE {name} gauge");
        if let Some(suffix) = suffix(unit) {
            let _ = writeln!(out, "# UNIT {name} {suffix}");
        }
        for Point { labels, value } in points {
            let labels: Vec<String> = labels
                .iter()
                .map(|(label, value)| format!("{}=\"{}\"", word(label), escaped(value)))
                .collect();
            let _ = writeln!(out, "{name}{{{}}} {}", labels.join(","), number(value));
        }
    }
    out.push_str("# EOF\n");
    out
}

fn name(metric: &Metric) -> String {
    let name = format!("tenbin_{}", word(&metric.name));
    match suffix(metric.unit) {
        Some(suffix) => format!("{name}_{suffix}"),
        None => name,
    }
}

/// The unit as it ends a name; counts and bare numbers have none.
fn suffix(unit: Unit) -> Option<&'static str> {
    Some(match unit {
        Unit::Second => "seconds",
        Unit::Byte => "bytes",
        Unit::BytePerSecond => "bytes_per_second",
        Unit::BitPerSecond => "bits_per_second",
        Unit::OpPerSecond => "operations_per_second",
        Unit::FlopPerSecond => "flops",
        Unit::SecondPerByte => "seconds_per_byte",
        Unit::Hertz => "hertz",
        Unit::Celsius => "celsius",
        Unit::Rpm => "rpm",
        Unit::Volt => "volts",
        Unit::Ampere => "amperes",
        Unit::Watt => "watts",
        Unit::Joule => "joules",
        Unit::Ratio => "ratio",
        Unit::Count | Unit::None => return None,
    })
}

/// A name of letters, digits and underscores.
fn word(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let word: String = text.chars().map(plain).collect();
    if word.starts_with(|c: char| c.is_ascii_digit()) { format!("_{word}") } else { word }
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn number(value: f64) -> String {
    match value {
        x if x.is_nan() => "NaN".to_owned(),
        f64::INFINITY => "+Inf".to_owned(),
        f64::NEG_INFINITY => "-Inf".to_owned(),
        x => format!("{x}"),
    }
}

#[cfg(test)]
mod tests {
    use tenbin_core::metric::{LATENCY, RETRANSMITS};
    use tenbin_core::sample::{Sample, Series};

    use super::*;

    #[test]
    fn families_stand_together_and_labels_are_escaped() {
        let series = |metric: Metric, param: &str, value: f64| Series {
            metric,
            params: Params::from([("benchmark".to_owned(), param.into())]),
            headline: None,
            samples: vec![Sample::of(value)],
            reported: BTreeMap::default(),
        };
        let run = super::run(&Run {
            tool: "imb".to_owned(),
            benchmark: Some("PingPong".to_owned()),
            series: vec![
                series(LATENCY, "a\"b\\", 2.5e-6),
                series(RETRANSMITS, "x", 3.0),
                series(LATENCY, "c\nd", f64::INFINITY),
            ],
            ..Run::default()
        });
        assert_eq!(
            run,
            "# TYPE tenbin_latency_seconds gauge\n\
             # UNIT tenbin_latency_seconds seconds\n\
             tenbin_latency_seconds{tool=\"imb\",benchmark=\"a\\\"b\\\\\"} 0.0000025\n\
             tenbin_latency_seconds{tool=\"imb\",benchmark=\"c\\nd\"} +Inf\n\
             # TYPE tenbin_retransmits gauge\n\
             tenbin_retransmits{tool=\"imb\",benchmark=\"x\"} 3\n\
             # EOF\n"
        );
    }
}
