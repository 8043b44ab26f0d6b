//! Where an engine leaves what it measured.

use serde::{Deserialize, Serialize};

use crate::caveat::Caveat;
use crate::env::Fact;
use crate::metric::Metric;
use crate::sample::{Params, Reduce, Sample, Series};

/// How far a measurement has come, for the live line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Seconds since the measurement began.
    pub at: f64,
    /// The latest value of the headline metric, as text for people.
    pub text: String,
}

/// Collects series, facts and caveats of one measurement.
///
/// Hot loops do not call it: they fill a buffer sized beforehand and hand it over when the clock has stopped.
#[derive(Default)]
pub struct Recorder {
    /// Series in the order first recorded.
    pub series: Vec<Series>,
    /// Facts by key.
    pub facts: Vec<(String, Fact)>,
    /// Caveats in the order noted.
    pub caveats: Vec<Caveat>,
    on_progress: Option<Box<dyn FnMut(Progress) + Send>>,
}

impl Recorder {
    /// A recorder that passes progress on to `on_progress`.
    pub fn with_progress(on_progress: impl FnMut(Progress) + Send + 'static) -> Recorder {
        Recorder { on_progress: Some(Box::new(on_progress)), ..Recorder::default() }
    }

    /// Adds samples to the series of `metric` and `params`.
    pub fn extend(&mut self, metric: &Metric, params: &Params, samples: impl IntoIterator<Item = Sample>) {
        self.entry(metric, params).samples.extend(samples);
    }

    /// Adds samples to a series that verdicts are made of.
    pub fn headline(
        &mut self,
        metric: &Metric,
        params: &Params,
        reduce: Reduce,
        samples: impl IntoIterator<Item = Sample>,
    ) {
        let series = self.entry(metric, params);
        series.headline = Some(reduce);
        series.samples.extend(samples);
    }

    /// Adds a whole series; samples of equal (metric, params) are joined.
    pub fn join(&mut self, series: Series) {
        let own = self.entry(&series.metric, &series.params);
        own.headline = own.headline.or(series.headline);
        own.samples.extend(series.samples);
        own.reported.extend(series.reported);
    }

    /// Notes a fact about the measurement.
    pub fn fact(&mut self, key: impl Into<String>, fact: Fact) {
        self.facts.push((key.into(), fact));
    }

    /// Notes a caveat, once.
    pub fn caveat(&mut self, caveat: Caveat) {
        if !self.caveats.contains(&caveat) {
            self.caveats.push(caveat);
        }
    }

    /// Tells how far the measurement has come. Not for hot loops.
    pub fn progress(&mut self, at: f64, text: impl Into<String>) {
        if let Some(on_progress) = &mut self.on_progress {
            on_progress(Progress { at, text: text.into() });
        }
    }

    fn entry(&mut self, metric: &Metric, params: &Params) -> &mut Series {
        let found = self.series.iter().position(|s| s.metric == *metric && s.params == *params);
        let index = found.unwrap_or_else(|| {
            self.series.push(Series {
                metric: metric.clone(),
                params: params.clone(),
                headline: None,
                samples: Vec::new(),
                reported: Default::default(),
            });
            self.series.len() - 1
        });
        &mut self.series[index]
    }
}
