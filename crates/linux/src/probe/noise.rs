//! How busy the machine is at this moment: what would disturb a measurement now.

use tenbin_core::env::{Class, Environment, Fact, FactValue};
use tenbin_core::unit::Unit;

use super::{ProbeError, note};
use crate::sense::{hwmon, stat, throttle};
use crate::sysroot::{ReadError, SysRoot};

const STAT: &str = "/proc/stat";

pub fn probe(sys: &SysRoot, env: &mut Environment) -> Result<(), ProbeError> {
    for what in ["cpu", "io", "memory"] {
        let path = format!("/proc/pressure/{what}");
        let share = sys.read(&path).and_then(|text| {
            let share = avg10(&text).ok_or_else(|| ReadError::nonsense(&path, &text))?;
            Ok((FactValue::Num(share), Some(Unit::Ratio)))
        });
        note(env, &format!("noise.psi_{what}"), Class::Counter, &format!("{path} some avg10"), share);
    }
    let path = "/proc/loadavg";
    let load = sys.read(path).and_then(|text| {
        let load = text.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
        Ok((FactValue::Num(load.ok_or_else(|| ReadError::nonsense(path, &text))?), Some(Unit::Count)))
    });
    note(env, "noise.load", Class::Counter, path, load);
    let times = stat::cpu_times(sys);
    for (key, pick) in [
        ("noise.steal", (|times| times.steal_share()) as fn(&stat::CpuTimes) -> f64),
        ("noise.busy", |times| times.busy_share()),
    ] {
        let share = times.clone().map(|times| (FactValue::Num(pick(&times)), Some(Unit::Ratio)));
        note(env, key, Class::Counter, &format!("{STAT}, since boot"), share);
    }
    let running = times.map(|times| (FactValue::Int(times.running), Some(Unit::Count)));
    note(env, "noise.procs_running", Class::Counter, &format!("{STAT} procs_running"), running);
    note_sum(env, "noise.throttle_count", "thermal_throttle/*_throttle_count", throttle::count(sys));
    match hwmon::hottest(sys) {
        Ok(Some(hot)) => {
            let fact = Fact::new(Class::Counter, hot.celsius, &hot.source).in_unit(Unit::Celsius);
            env.insert("noise.temperature", fact);
            if let Some(room) = hot.headroom() {
                let fact = Fact::new(Class::Counter, room, &hot.source).in_unit(Unit::Celsius);
                env.insert("noise.headroom", fact);
            }
        }
        Ok(None) => env.insert("noise.temperature", Fact::absent(Class::Counter, hwmon::HWMON)),
        Err(e) => env.insert("noise.temperature", Fact::unreadable(Class::Counter, hwmon::HWMON, e.why())),
    }
    Ok(())
}

fn note_sum(env: &mut Environment, key: &str, source: &str, read: Result<i64, ReadError>) {
    note(env, key, Class::Counter, source, read.map(|n| (FactValue::Int(n), Some(Unit::Count))));
}

/// The share of the last ten seconds in which some task waited.
fn avg10(text: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.starts_with("some "))?;
    let percent: f64 = line.split(' ').find_map(|word| word.strip_prefix("avg10="))?.parse().ok()?;
    // Printed with two decimals; the division would add digits of its own.
    percent.is_finite().then(|| (percent * 100.0).round() / 1e4)
}
