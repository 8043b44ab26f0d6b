//! Runs in a few lines of text, for tests.

use tenbin_core::run::Run;

/// What matters of a run: a line for each series and one for the caveats.
///
/// `latency[size_bytes=64] 0.000010072 | max 0.0116 mean 0.000010072`
pub fn brief(run: &Run) -> Vec<String> {
    let mut lines = Vec::new();
    for series in &run.series {
        let params: Vec<String> =
            series.params.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut line = series.metric.name.to_string();
        if !params.is_empty() {
            line += &format!("[{}]", params.join(" "));
        }
        let values = series.samples.iter().map(|sample| match sample.time() {
            Some(at) => format!(" {}@{}", number(sample.value), number(at)),
            None => format!(" {}", number(sample.value)),
        });
        line.extend(values);
        // The same number again says nothing.
        let alike = |(name, value): &(&String, &f64)| {
            name.as_str() == "mean" && series.values() == [**value] && series.reported.len() == 1
        };
        let figures: Vec<String> = series
            .reported
            .iter()
            .filter(|figure| !alike(figure))
            .map(|(name, value)| format!("{name} {}", number(*value)))
            .collect();
        if !figures.is_empty() {
            line += &format!(" | {}", figures.join(" "));
        }
        lines.push(line);
    }
    let kinds: Vec<String> = run
        .caveats
        .iter()
        .map(|caveat| serde_json::to_string(&caveat.kind).unwrap().trim_matches('"').to_owned())
        .collect();
    if !kinds.is_empty() {
        lines.push(kinds.join(" "));
    }
    lines
}

/// Reads `log` with whatever format recognises it: every run of it in lines, or the error.
pub fn briefs(log: &str) -> Vec<Vec<String>> {
    match crate::read(log.as_bytes()) {
        Some(Ok(runs)) => runs.iter().map(brief).collect(),
        Some(Err(error)) => vec![vec![error.to_string()]],
        None => Vec::new(),
    }
}

/// Nine digits, so that a unit's factor leaves no trace.
fn number(value: f64) -> String {
    let rounded: f64 = format!("{value:.8e}").parse().unwrap();
    if rounded == 0.0 || (1e-6..1e12).contains(&rounded.abs()) {
        format!("{rounded}")
    } else {
        format!("{rounded:e}")
    }
}
