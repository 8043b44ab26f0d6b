//! What the columns of a foreign table hold, by their names.

use tenbin_core::metric::Metric;
use tenbin_core::unit::Unit;

use super::units;

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Values of a metric: the figure they are (`None`: samples), what to multiply with and to divide by.
    Value { metric: &'static Metric, figure: Option<String>, factor: (f64, f64), unit_named: bool },
    /// When a value was taken: what to multiply with and to divide by.
    At((f64, f64)),
    /// Tells runs apart.
    Run,
    /// Tells configurations apart.
    Arm,
    /// Counts rows, or says when in a form that is not read.
    Ignored,
    /// Anything else: a param, if it can be one.
    Other,
}

/// What a column of that name holds.
pub fn column(name: &str) -> Column {
    let lower = name.trim().to_lowercase().replace([' ', '-'], "_");
    match lower.as_str() {
        "run" | "run_id" => return Column::Run,
        "arm" => return Column::Arm,
        "" | "#" | "index" | "iteration" | "iter" | "i" | "n" | "no" | "no." | "seq" | "repeat" | "rep"
        | "sample" | "row" | "packet" => return Column::Ignored,
        "timestamp" | "date" | "time" | "datetime" | "when" => return Column::Ignored,
        _ => {}
    }
    if let Some(at) = time(&lower) {
        return Column::At(at);
    }
    value(name.trim()).unwrap_or(Column::Other)
}

/// `at_seconds`, `time_s`, `elapsed_ms`, `t [s]`.
fn time(lower: &str) -> Option<(f64, f64)> {
    let rest = ["at", "time", "elapsed", "t"].iter().find_map(|name| {
        let rest = lower.strip_prefix(name)?;
        rest.starts_with(['_', '[', '(']).then_some(rest)
    })?;
    units::factor(Unit::Second, trimmed(rest))
}

/// `latency_us`, `Latency [us]`, `p99_latency_ms`, `latency_mean_us`, `iops`.
fn value(name: &str) -> Option<Column> {
    let lower = name.to_lowercase().replace([' ', '-'], "_");
    // Lower case may be longer in bytes: then no byte of the one stands for one of the other.
    if lower.len() != name.len() {
        return None;
    }
    let (mut figure, lower_rest) = match units::metric_at(&lower) {
        Some(_) => (None, lower.as_str()),
        None => {
            let (first, rest) = lower.split_once('_')?;
            (Some(self::figure(first)?), rest)
        }
    };
    let (metric, rest) = units::metric_at(lower_rest)?;
    // The unit's capitals matter.
    let rest = trimmed(name.get(name.len() - rest.len()..)?);
    let mut unit = rest.to_owned();
    if figure.is_none() {
        let words: Vec<&str> =
            rest.split(['_', ' ', '[', '(']).map(trimmed).filter(|word| !word.is_empty()).collect();
        let (first, last) = (words.first().copied(), words.last().copied());
        if let Some(found) = first.and_then(|word| self::figure(&word.to_lowercase())) {
            unit = trimmed(rest.get(first.map_or(0, str::len)..)?).to_owned();
            figure = Some(found);
        } else if let Some(found) = last.and_then(|word| self::figure(&word.to_lowercase())) {
            unit = trimmed(rest.get(..rest.rfind(last?)?)?).to_owned();
            figure = Some(found);
        }
    }
    let unitless = metric.name == "iops" || matches!(metric.unit, Unit::Count | Unit::None);
    let factor = match unit.as_str() {
        "" if unitless => (1.0, 1.0),
        unit => units::factor(metric.unit, unit)?,
    };
    // A bare `score` or `duplicates` is anybody's word.
    let unit_named = !unit.is_empty() || metric.name == "iops";
    Some(Column::Value { metric, figure, factor, unit_named })
}

/// The figure of that name as in `reported`.
fn figure(word: &str) -> Option<String> {
    let name = match word {
        "mean" | "avg" | "average" => "mean",
        "median" | "p50" => "median",
        "min" | "minimum" => "min",
        "max" | "maximum" => "max",
        "sd" | "std" | "stddev" | "stdev" => "sd",
        word => {
            let percent = word.strip_prefix('p')?;
            let valid = percent.starts_with(|c: char| c.is_ascii_digit())
                && percent.parse::<f64>().is_ok_and(|percent| percent <= 100.0);
            return valid.then(|| word.to_owned());
        }
    };
    Some(name.to_owned())
}

/// Without what joins words or stands around units.
fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| matches!(c, '_' | ' ' | '[' | ']' | '(' | ')' | '-'))
}
