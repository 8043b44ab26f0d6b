//! The growing table of many machines: one metric, runs of all times put together by what they have in common.
//!
//! A description, not a comparison: runs of different days are not interleaved, so no row is said to beat another.

use std::collections::BTreeMap;

use crate::metric::{Better, Metric};
use crate::run::Run;
use crate::sample::{Param, Params};
use crate::stats::order::{median_interval, median_of};
use crate::verdict::LEVEL;

/// One run's value, with the words by which it is put into a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// A word for each column; `None` where the run does not tell.
    pub labels: Vec<Option<String>>,
    /// What was measured.
    pub metric: Metric,
    /// Under which parameters.
    pub params: Params,
    /// The value by which the run is compared.
    pub value: f64,
}

/// A row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// A word for each column.
    pub labels: Vec<Option<String>>,
    /// Runs.
    pub n: usize,
    /// Their median.
    pub median: f64,
    /// The 95 % interval of the median by exact ranks; absent below six runs.
    pub interval: Option<(f64, f64)>,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

/// The entries of a run: its series of `metric` with the parameters asked for. Where some of them are what verdicts are
/// made of, the others are left out. `arm` is the configuration that the run belongs to, where that is known.
pub fn entries(run: &Run, arm: Option<&str>, metric: &str, by: &[String], only: &Params) -> Vec<Entry> {
    let fits = |params: &Params| {
        only.iter().all(|(name, wanted)| params.get(name).is_some_and(|param| same(param, wanted)))
    };
    let found: Vec<_> =
        run.series.iter().filter(|series| series.metric.name == metric && fits(&series.params)).collect();
    let any = found.iter().any(|series| series.headline.is_some());
    found
        .into_iter()
        .filter(|series| series.headline.is_some() || !any)
        .filter_map(|series| {
            let value = series.headline_value().or_else(|| median_of(series.values()))?;
            let labels = by.iter().map(|name| label(name, run, arm, &series.params)).collect();
            Some(Entry { labels, metric: series.metric.clone(), params: series.params.clone(), value })
        })
        .filter(|entry| entry.value.is_finite())
        .collect()
}

/// `4096` as it was typed is the number 4096.
fn same(param: &Param, wanted: &Param) -> bool {
    param.to_string() == wanted.to_string()
}

/// The word of a run for a column: its arm, tool, benchmark or source, a parameter, a fact of its own or of its hosts
/// (the whole key, or its end: `cpu.model` or `model`).
fn label(name: &str, run: &Run, arm: Option<&str>, params: &Params) -> Option<String> {
    match name {
        "arm" if arm.is_some() => return arm.map(str::to_owned),
        "tool" => return Some(run.tool.clone()),
        "tool_version" => return run.tool_version.clone(),
        "benchmark" if run.benchmark.is_some() => return run.benchmark.clone(),
        "source" => return Some(run.source.clone()),
        _ => {}
    }
    if let Some(param) = params.get(name) {
        return Some(param.to_string());
    }
    let ends = |key: &str| key == name || key.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'));
    let own = run.facts.iter().find(|(key, _)| ends(key)).and_then(|(_, fact)| fact.value.as_ref());
    if let Some(value) = own {
        return Some(value.to_string());
    }
    let mut words: Vec<String> = Vec::new();
    for host in run.hosts.values() {
        let facts = host.facts.iter().filter(|(key, _)| ends(key));
        for word in facts.filter_map(|(_, fact)| fact.value.as_ref()).map(ToString::to_string) {
            if !words.contains(&word) {
                words.push(word);
            }
        }
    }
    (!words.is_empty()).then(|| words.join(", "))
}

/// Parameters that differ within a row: its values would be of different things.
pub fn mixed(entries: &[Entry]) -> Vec<String> {
    let mut first: BTreeMap<&[Option<String>], &Params> = BTreeMap::new();
    let mut mixed: Vec<String> = Vec::new();
    for entry in entries {
        let other = *first.entry(&entry.labels).or_insert(&entry.params);
        let names = entry.params.keys().chain(other.keys());
        for name in names.filter(|name| entry.params.get(*name) != other.get(*name)) {
            if !mixed.contains(name) {
                mixed.push(name.clone());
            }
        }
    }
    mixed
}

/// The rows, best first; of a metric that is neither better high nor low the largest first.
pub fn rows(entries: &[Entry], better: Better) -> Vec<Row> {
    let mut groups: BTreeMap<&[Option<String>], Vec<f64>> = BTreeMap::new();
    for entry in entries {
        groups.entry(&entry.labels).or_default().push(entry.value);
    }
    let mut rows: Vec<Row> = groups
        .into_iter()
        .filter_map(|(labels, values)| {
            Some(Row {
                labels: labels.to_vec(),
                n: values.len(),
                interval: median_interval(&values, LEVEL),
                min: values.iter().copied().fold(f64::INFINITY, f64::min),
                max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                median: median_of(values)?,
            })
        })
        .collect();
    rows.sort_by(|a, b| match better {
        Better::Lower => a.median.total_cmp(&b.median),
        Better::Higher | Better::Neither => b.median.total_cmp(&a.median),
    });
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::{Class, Environment, Fact};
    use crate::metric::LATENCY;
    use crate::sample::{Reduce, Sample, Series};

    fn run(cpu: &str, size: i64, value: f64) -> Run {
        let series = |size: i64, headline, value| Series {
            metric: LATENCY,
            params: Params::from([("size_bytes".to_owned(), size.into())]),
            headline,
            samples: vec![Sample::of(value)],
            reported: BTreeMap::default(),
        };
        let mut host = Environment::default();
        host.insert("cpu.model", Fact::new(Class::Identity, cpu, "test"));
        Run {
            tool: "imb".to_owned(),
            series: vec![series(size, Some(Reduce::Total), value), series(size + 1, None, 99.0)],
            hosts: [("client".to_owned(), host.clone()), ("server".to_owned(), host)].into(),
            ..Run::default()
        }
    }

    fn by(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn rows_by_facts_and_params() {
        let runs = [run("old", 8, 3.0), run("new", 8, 1.0), run("old", 8, 5.0), run("new", 64, 2.0)];
        let all = |names: &[&str], only: &Params| -> Vec<Entry> {
            runs.iter().flat_map(|run| entries(run, None, "latency", &by(names), only)).collect()
        };
        let told = |entries: &[Entry]| -> Vec<String> {
            let word = |label: &Option<String>| label.clone().unwrap_or_else(|| "-".to_owned());
            let row = |row: &Row| {
                let labels: Vec<String> = row.labels.iter().map(word).collect();
                format!("{} n={} {} {}..{}", labels.join(" "), row.n, row.median, row.min, row.max)
            };
            rows(entries, Better::Lower).iter().map(row).collect()
        };
        let wide = all(&["cpu.model", "size_bytes"], &Params::new());
        assert!(mixed(&wide).is_empty());
        assert_eq!(told(&wide), ["new 8 n=1 1 1..1", "new 64 n=1 2 2..2", "old 8 n=2 4 3..5"]);
        // What is asked for by a number as typed.
        let small = all(&["model", "moon"], &Params::from([("size_bytes".to_owned(), "8".into())]));
        assert_eq!(told(&small), ["new - n=1 1 1..1", "old - n=2 4 3..5"]);
        assert_eq!(mixed(&all(&["cpu.model"], &Params::new())), ["size_bytes"]);
        // A series that is no headline speaks where it is asked for by its parameters.
        let other = all(&["tool"], &Params::from([("size_bytes".to_owned(), "9".into())]));
        assert_eq!(told(&other), ["imb n=3 99 99..99"]);
    }
}
