//! A run while a parser puts it together.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use tenbin_core::caveat::{Caveat, CaveatKind};
use tenbin_core::env::{Class, Fact, FactValue};
use tenbin_core::metric::Metric;
use tenbin_core::run::Run;
use tenbin_core::sample::{Param, Params, Reduce, Sample, Series};
use tenbin_core::unit::Unit;

/// Params from pairs: `params([("size_bytes", 4096.into()), ("op", "read".into())])`.
pub fn params<const N: usize>(pairs: [(&str, Param); N]) -> Params {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Collects what a log says about one run. Equal (metric, params) meet in one series, at a cost that does not grow
/// with the number of series.
#[derive(Debug, Default)]
pub struct Sheet {
    /// The run so far; its series are reached through [`Sheet::series`].
    pub run: Run,
    index: HashMap<String, usize>,
}

impl Sheet {
    /// An empty run of `tool`.
    pub fn new(tool: &str) -> Sheet {
        Sheet { run: Run { tool: tool.to_owned(), ..Run::default() }, ..Sheet::default() }
    }

    /// The series of `metric` under `params`, made if it is not there.
    pub fn series(&mut self, metric: &Metric, params: &Params) -> &mut Series {
        let mut key = metric.name.to_string();
        for (name, value) in params {
            let _ = write!(key, "\u{1f}{name}\u{1f}{value}");
        }
        let all = &mut self.run.series;
        let at = *self.index.entry(key).or_insert_with(|| {
            all.push(Series {
                metric: metric.clone(),
                params: params.clone(),
                headline: None,
                samples: Vec::new(),
                reported: BTreeMap::new(),
            });
            all.len() - 1
        });
        &mut all[at]
    }

    /// One printed number (a counter, a cell of a table, the rate of an end line): a sample, and the figure as
    /// printed.
    pub fn printed(&mut self, metric: &Metric, params: &Params, value: f64) -> &mut Series {
        let series = self.series(metric, params);
        series.samples.push(Sample::of(value));
        series.reported.insert("mean".to_owned(), value);
        series
    }

    /// The same for a series that verdicts are made of.
    pub fn headline(&mut self, metric: &Metric, params: &Params, reduce: Reduce, value: f64) -> &mut Series {
        let series = self.printed(metric, params, value);
        series.headline = Some(reduce);
        series
    }

    /// A further figure of a series as printed: `min`, `max`, `sd`, `p99`.
    pub fn reported(&mut self, metric: &Metric, params: &Params, figure: &str, value: f64) {
        self.series(metric, params).reported.insert(figure.to_owned(), value);
    }

    /// A fact that the log states about its run.
    pub fn fact(&mut self, key: &str, value: impl Into<FactValue>) {
        let fact = Fact::new(Class::State, value, format!("the log of {}", self.run.tool));
        self.run.facts.insert(key.to_owned(), fact);
    }

    /// A fact with a unit.
    pub fn fact_in(&mut self, key: &str, value: impl Into<FactValue>, unit: Unit) {
        let fact = Fact::new(Class::State, value, format!("the log of {}", self.run.tool)).in_unit(unit);
        self.run.facts.insert(key.to_owned(), fact);
    }

    /// Notes a caveat, once.
    pub fn caveat(&mut self, kind: CaveatKind, text: impl Into<String>) {
        let caveat = Caveat::new(kind, text);
        if !self.run.caveats.contains(&caveat) {
            self.run.caveats.push(caveat);
        }
    }

    /// Whether the run holds a value, an event or a state: what has none is no run.
    pub fn holds_something(&self) -> bool {
        let valued = |series: &Series| !series.samples.is_empty() || !series.reported.is_empty();
        self.run.series.iter().any(valued) || !self.run.events.is_empty() || !self.run.states.is_empty()
    }

    /// The run, if it holds anything.
    pub fn finish(self) -> Option<Run> {
        self.holds_something().then_some(self.run)
    }
}

#[cfg(test)]
mod tests {
    use tenbin_core::metric::{BANDWIDTH, LATENCY};

    use super::*;

    #[test]
    fn equal_params_meet_in_one_series() {
        let mut sheet = Sheet::new("imb");
        assert!(!sheet.holds_something());
        let at = |size: i64| params([("size_bytes", size.into())]);
        for (size, value) in [(1, 2e-6), (2, 3e-6), (1, 4e-6)] {
            sheet.printed(&LATENCY, &at(size), value);
        }
        sheet.printed(&BANDWIDTH, &at(1), 5.0);
        let run = sheet.finish().unwrap();
        let values: Vec<_> = run.series.iter().map(|series| series.values()).collect();
        assert_eq!(values, [vec![2e-6, 4e-6], vec![3e-6], vec![5.0]]);
    }
}
