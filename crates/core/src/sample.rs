//! Samples and the series they form.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::metric::Metric;
use crate::stats;

/// One measured value, in 16 bytes: a day of pings are millions.
#[derive(Clone, Copy)]
pub struct Sample {
    /// Seconds since the run began; NaN where only the value is known.
    at: f64,
    /// The value in the series' unit.
    pub value: f64,
}

impl Sample {
    /// A value of which nobody noted the time.
    pub const fn of(value: f64) -> Sample {
        Sample { at: f64::NAN, value }
    }

    /// A value `at` seconds after the run began.
    pub const fn at(at: f64, value: f64) -> Sample {
        Sample { at, value }
    }

    /// A value with its time, if that is known.
    pub const fn new(at: Option<f64>, value: f64) -> Sample {
        match at {
            Some(at) => Sample { at, value },
            None => Sample::of(value),
        }
    }

    /// Seconds since the run began; `None` where only the value is known.
    pub const fn time(self) -> Option<f64> {
        if self.at.is_nan() { None } else { Some(self.at) }
    }
}

impl PartialEq for Sample {
    fn eq(&self, other: &Sample) -> bool {
        (self.time(), self.value) == (other.time(), other.value)
    }
}

impl fmt::Debug for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.time(), self.value).fmt(f)
    }
}

// On the wire and in documents a sample is the pair `[at_seconds_or_null, value]`.
impl Serialize for Sample {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.time(), self.value).serialize(serializer)
    }
}
impl<'de> Deserialize<'de> for Sample {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Sample, D::Error> {
        let (at, value) = Deserialize::deserialize(deserializer)?;
        Ok(Sample::new(at, value))
    }
}

/// A parameter that tells one series of a metric from another: `size_bytes`, `side`, `window`.
#[derive(Clone, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Param {
    /// A whole number.
    Int(i64),
    /// Any other number.
    Num(f64),
    /// A word.
    Text(String),
}

impl fmt::Display for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Param::Int(n) => n.fmt(f),
            Param::Num(x) => x.fmt(f),
            Param::Text(text) => text.fmt(f),
        }
    }
}

impl From<&str> for Param {
    fn from(text: &str) -> Param {
        Param::Text(text.to_owned())
    }
}
impl From<i64> for Param {
    fn from(n: i64) -> Param {
        Param::Int(n)
    }
}

/// The parameters of a series, by name. Units end the names.
pub type Params = BTreeMap<String, Param>;

/// How a series becomes the one value by which runs are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reduce {
    /// The median of the samples: latencies.
    Median,
    /// The only sample, worked out from totals: bytes over time, commands' durations.
    Total,
}

/// The values of one metric under fixed parameters, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// What was measured.
    #[serde(flatten)]
    pub metric: Metric,
    /// Under which parameters. (metric, params) is unique within a run.
    #[serde(default)]
    pub params: Params,
    /// Present on the series that verdicts are made of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headline: Option<Reduce>,
    /// The samples, in the order taken.
    pub samples: Vec<Sample>,
    /// Figures as the measuring tool itself printed them, in base units.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reported: BTreeMap<String, f64>,
}

impl Series {
    /// The values without their times.
    pub fn values(&self) -> Vec<f64> {
        self.samples.iter().map(|sample| sample.value).collect()
    }

    /// The one value by which this run is compared; `None` if the series is no headline or is empty.
    pub fn headline_value(&self) -> Option<f64> {
        match self.headline? {
            Reduce::Median => stats::order::median_of(self.values()),
            Reduce::Total => self.samples.last().map(|sample| sample.value),
        }
    }
}
