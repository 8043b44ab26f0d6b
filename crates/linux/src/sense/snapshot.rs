//! Every signal at one moment.

use std::collections::BTreeMap;

use super::hwmon::Temperature;
use super::process::Table;
use super::stat::CpuTimes;
use super::{cgroup, faults, hwmon, link, process, stat, throttle};
use crate::probe::cpu;
use crate::sysroot::{ReadError, SysRoot};

/// Counters by signal and by what they belong to (an interface, a device; empty: the machine).
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Counters(pub BTreeMap<(&'static str, String), Result<i64, ReadError>>);

/// Things that must not change during a run, as text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct States(pub BTreeMap<String, Result<String, ReadError>>);

impl Counters {
    /// Notes a counter; one that the machine does not have is left out.
    pub fn note(&mut self, signal: &'static str, of: &str, value: Result<i64, ReadError>) {
        if !matches!(value, Err(ReadError::Absent { .. })) {
            self.0.insert((signal, of.to_owned()), value);
        }
    }
}

impl States {
    /// Notes a state; absent is a state like others once it follows another.
    pub fn note(&mut self, name: String, value: Result<String, ReadError>) {
        self.0.insert(name, value);
    }
}

/// What the machine said.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Snapshot {
    pub counters: Counters,
    pub states: States,
    pub cpu: Result<CpuTimes, ReadError>,
    pub processes: Option<Table>,
    pub hottest: Result<Option<Temperature>, ReadError>,
    /// Frequency governors in use; empty where there are none.
    pub governors: Vec<String>,
}

impl Snapshot {
    /// Reads everything: a few milliseconds.
    pub fn take(sys: &SysRoot, interfaces: &[String]) -> Snapshot {
        let (mut counters, mut states) = (Counters::default(), States::default());
        counters.note("throttle_count", "", throttle::count(sys));
        cgroup::read(sys, &mut counters);
        faults::memory(sys, &mut counters);
        link::stack(sys, &mut counters);
        for interface in interfaces {
            link::interface(sys, interface, &mut counters, &mut states);
        }
        let mut governors: Vec<String> = cpu::policies(sys)
            .iter()
            .filter_map(|dir| sys.read(&format!("{dir}/scaling_governor")).ok())
            .collect();
        governors.sort();
        governors.dedup();
        Snapshot {
            counters,
            states,
            hottest: hwmon::hottest(sys),
            governors,
            // Last, and next to each other, so that the reading itself counts least.
            processes: process::table(sys),
            cpu: stat::cpu_times(sys),
        }
    }
}
