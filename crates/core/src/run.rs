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
