//! One measurement of one configuration: the document that is stored, shown and imported.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::caveat::Caveat;
use crate::env::{Environment, Fact};
use crate::sample::Series;
use crate::taint::Taint;

/// What was measured in one go, by tenbin or by another tool whose log was read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The file it was read from, or `engine from->to` for own runs.
    pub source: String,
    /// The tool that measured: `tenbin`, `iperf3`, `ping`.
    pub tool: String,
    /// Its version, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_version: Option<String>,
    /// The benchmark within the tool; for own runs the engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub benchmark: Option<String>,
    /// The measured series; (metric, params) is unique.
    #[serde(default)]
    pub series: Vec<Series>,
    /// What a system event log recorded, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event>,
    /// One entry for each row of a list of sensors, with or without a number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<SensorState>,
    /// Facts about this measurement itself: addresses, block size, congestion control in use.
    #[serde(default)]
    pub facts: BTreeMap<String, Fact>,
    /// The facts of each host, by the plan's host name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hosts: BTreeMap<String, Environment>,
    /// What a reader must know.
    #[serde(default)]
    pub caveats: Vec<Caveat>,
    /// The state of the machines while it ran.
    #[serde(default)]
    pub taint: Taint,
}

/// A row of a system event log, as printed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The record's number.
    pub record: Option<i64>,
    /// `YYYY-MM-DDThh:mm:ss` as printed, in no known zone unless [`zone`](Event::zone) tells.
    pub time: Option<String>,
    /// The zone as printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// The sensor's type and name.
    pub sensor: Option<String>,
    /// What happened.
    pub event: Option<String>,
    /// Whether it began or ended, where the log says so.
    pub direction: Option<Direction>,
    /// The row.
    pub raw: String,
}

/// Whether an event began or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// The condition is there.
    Asserted,
    /// The condition is gone.
    Deasserted,
}

/// A row of a list of sensors, as printed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SensorState {
    /// The sensor's name.
    pub sensor: String,
    /// The entity it belongs to, as text: `10.1` is not `10.10`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity: Option<String>,
    /// The status word: `ok`, `ns`, `cr`, `Nominal`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// What stands in the place of a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The row.
    pub raw: String,
}
