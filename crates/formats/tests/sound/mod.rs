//! What must be true of every run that any format reads from any bytes. Shared by the tests of damaged logs and by
//! the fuzz targets (`fuzz/src/lib.rs`).

use std::collections::{BTreeMap, BTreeSet};

use tenbin_core::env::FactValue;
use tenbin_core::metric::{self, Metric};
use tenbin_core::run::Run;
use tenbin_core::sample::Param;
use tenbin_core::unit::Unit;

/// Metrics whose unit is the contract with whoever reads a document.
const UNITS: [&Metric; 32] = [
    &metric::THROUGHPUT,
    &metric::RTT,
    &metric::RETRANSMITS,
    &metric::CWND,
    &metric::TRANSFERRED,
    &metric::CPU_UTILIZATION,
    &metric::CPU_PER_BYTE,
    &metric::PACKET_RATE,
    &metric::LOSS,
    &metric::PACKETS_SENT,
    &metric::PACKETS_RECEIVED,
    &metric::DUPLICATES,
    &metric::DURATION,
    &metric::CPU_TIME,
    &metric::LATENCY,
    &metric::BANDWIDTH,
    &metric::IOPS,
    &metric::TRANSACTION_RATE,
    &metric::MESSAGE_RATE,
    &metric::FLOP_RATE,
    &metric::SCORE,
    &metric::RESIDUAL,
    &metric::OVERLAP,
    &metric::JITTER,
    &metric::PACKETS_LOST,
    &metric::REORDERED,
    &metric::TEMPERATURE,
    &metric::FAN_SPEED,
    &metric::VOLTAGE,
    &metric::CURRENT,
    &metric::POWER,
    &metric::LEVEL,
];

/// Formats for documents that name tools, metrics and units themselves.
const SELF_DESCRIBING: [&str; 2] = ["csv", "tenbin"];

/// What is wrong with a run that the format of `tool` read; empty for a sound one.
pub fn breaches(run: &Run, tool: &str) -> Vec<String> {
    let mut found = Vec::new();
    let names_itself = SELF_DESCRIBING.contains(&tool);
    if run.tool != tool && !names_itself {
        found.push(format!("the run is of {:?}", run.tool));
    }
    if run.series.is_empty() && run.events.is_empty() && run.states.is_empty() {
        found.push("it holds nothing".to_owned());
    }
    let mut keys = BTreeSet::new();
    let mut units: BTreeMap<&str, Unit> =
        UNITS.iter().map(|known| (known.name.as_ref(), known.unit)).collect();
    for series in &run.series {
        let name = series.metric.name.as_ref();
        let key = format!("{name} {:?}", series.params);
        if series.samples.is_empty() && series.reported.is_empty() {
            found.push(format!("{key} holds nothing"));
        }
        let times = series.samples.iter().filter_map(|sample| sample.time());
        let numbers = series.samples.iter().map(|sample| sample.value).chain(times);
        let params = series.params.values().filter_map(|param| match param {
            Param::Num(number) => Some(*number),
            Param::Int(_) | Param::Text(_) => None,
        });
        for number in numbers.chain(series.reported.values().copied()).chain(params) {
            if !number.is_finite() {
                found.push(format!("{key} holds {number}"));
            }
        }
        let unit = *units.entry(name).or_insert(series.metric.unit);
        if name.is_empty() || (unit != series.metric.unit && !names_itself) {
            found.push(format!("{key} is in {}, not in {}", series.metric.unit.name(), unit.name()));
        }
        if let Some(key) = keys.replace(key) {
            found.push(format!("{key} comes twice"));
        }
    }
    for (name, fact) in &run.facts {
        if let Some(FactValue::Num(number)) = fact.value
            && !number.is_finite()
        {
            found.push(format!("fact {name} is {number}"));
        }
    }
    found
}
