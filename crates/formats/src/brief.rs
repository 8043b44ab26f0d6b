//! Runs in a few lines of text, for tests.

use std::collections::BTreeSet;

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

/// Cuts `log` at every fifth byte: nothing panics, and no number comes out that the whole log does not give.
pub fn cut_anywhere(log: &str) {
    let values = |log: &[u8]| -> BTreeSet<String> {
        let Some(Ok(runs)) = crate::read(log) else { return BTreeSet::new() };
        let all = runs.iter().flat_map(|run| &run.series).flat_map(|series| {
            let reported = series.reported.values().copied();
            let name = &series.metric.name;
            series.values().into_iter().chain(reported).map(move |value| format!("{name} {}", number(value)))
        });
        all.collect()
    };
    let whole = values(log.as_bytes());
    assert!(!whole.is_empty(), "not recognised: {log}");
    for end in (0..log.len()).step_by(5) {
        let cut = values(&log.as_bytes()[..end]);
        let invented: Vec<&String> = cut.difference(&whole).collect();
        assert!(invented.is_empty(), "{invented:?} of {}", String::from_utf8_lossy(&log.as_bytes()[..end]));
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
