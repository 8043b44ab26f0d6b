//! The CPUs: what they are, how many answer, what slows or speeds them.

use tenbin_core::env::{Class, Environment, FactValue};
use tenbin_core::unit::Unit;

use super::{As, ProbeError, Row, count_of_list, interpret, note, note_text, rows};
use crate::sysroot::{ReadError, SysRoot};

const CPUS: &str = "/sys/devices/system/cpu";
/// CPUs repeat themselves: the first few blocks of this list tell all.
pub(super) const CPUINFO: &str = "/proc/cpuinfo";
const CPUINFO_HEAD: u64 = 64 * 1024;

const ROWS: &[Row] = &[
    ("cpu.smt", "/sys/devices/system/cpu/smt/control", Class::Identity, As::Text),
    ("cpu.smt_active", "/sys/devices/system/cpu/smt/active", Class::Identity, As::Switch),
    ("cpu.isolated", "/sys/devices/system/cpu/isolated", Class::Identity, As::Text),
    ("cpu.nohz_full", "/sys/devices/system/cpu/nohz_full", Class::Identity, As::Text),
    ("cpu.idle_driver", "/sys/devices/system/cpu/cpuidle/current_driver", Class::State, As::Text),
    ("cpu.idle_governor", "/sys/devices/system/cpu/cpuidle/current_governor", Class::State, As::Text),
    (
        "cpu.clocksource",
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        Class::State,
        As::Text,
    ),
];

/// Files of each cpufreq policy; policies that differ are listed in one value.
const POLICY: &[(&str, &str, As)] = &[
    ("cpu.driver", "scaling_driver", As::Text),
    ("cpu.governor", "scaling_governor", As::Text),
    ("cpu.min_frequency", "scaling_min_freq", As::Kilo(Unit::Hertz)),
    ("cpu.max_frequency", "scaling_max_freq", As::Kilo(Unit::Hertz)),
    ("cpu.energy_preference", "energy_performance_preference", As::Text),
];

pub fn probe(sys: &SysRoot, env: &mut Environment) -> Result<(), ProbeError> {
    rows(sys, env, ROWS);
    let info = sys.head(CPUINFO, CPUINFO_HEAD);
    for (key, find) in [
        ("cpu.model", model as fn(&str) -> Option<String>),
        ("cpu.vendor", |text| field(text, "vendor_id")),
        ("cpu.microcode", |text| field(text, "microcode")),
        ("cpu.cores_per_socket", |text| field(text, "cpu cores")),
    ] {
        let value = info.clone().and_then(|text| {
            // Other architectures leave lines out: that is no error.
            find(&text).ok_or_else(|| ReadError::Absent { path: CPUINFO.to_owned() })
        });
        note_text(env, key, Class::Identity, CPUINFO, value);
    }
    let path = format!("{CPUS}/online");
    let online = sys.read(&path).and_then(|text| {
        let count = count_of_list(&text).ok_or_else(|| ReadError::nonsense(&path, &text))?;
        Ok((FactValue::Int(count), Some(Unit::Count)))
    });
    note(env, "cpu.online", Class::Identity, &path, online);
    vulnerabilities(sys, env);
    frequency(sys, env);
    turbo(sys, env);
    Ok(())
}

/// The value of the first line `name : value`.
pub(super) fn field(text: &str, name: &str) -> Option<String> {
    let value = text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    })?;
    (!value.is_empty()).then_some(value)
}

/// The name that x86, POWER and MIPS print, or the numbers that Arm prints.
fn model(text: &str) -> Option<String> {
    ["model name", "cpu model", "cpu", "Processor"].iter().find_map(|name| field(text, name)).or_else(|| {
        Some(format!(
            "implementer {} part {} revision {}",
            field(text, "CPU implementer")?,
            field(text, "CPU part")?,
            field(text, "CPU revision")?
        ))
    })
}

/// Each mitigation as a fact, and one line that sums them up.
fn vulnerabilities(sys: &SysRoot, env: &mut Environment) {
    let dir = format!("{CPUS}/vulnerabilities");
    let names = match sys.list(&dir) {
        Ok(names) => names,
        Err(e) => return note(env, "cpu.mitigations", Class::Identity, &dir, Err(e)),
    };
    let (mut vulnerable, mut mitigated) = (Vec::new(), Vec::new());
    for name in &names {
        let path = format!("{dir}/{name}");
        let read = sys.read(&path);
        if let Ok(text) = &read {
            if text.starts_with("Vulnerable") {
                vulnerable.push(name.as_str());
            } else if text.contains("Mitigation") {
                mitigated.push(name.as_str());
            }
        }
        note_text(env, &format!("cpu.vulnerability.{name}"), Class::Identity, &path, read);
    }
    let list = |names: &[&str]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let summary = format!("mitigated: {}; vulnerable: {}", list(&mitigated), list(&vulnerable));
    note_text(env, "cpu.mitigations", Class::Identity, &dir, Ok(summary));
}

/// The cpufreq policies, `None` where there are none. VMs often have the directory but no policy.
pub(crate) fn policies(sys: &SysRoot) -> Vec<String> {
    let dir = format!("{CPUS}/cpufreq");
    let names = sys.list(&dir).unwrap_or_default();
    let mut policies: Vec<String> = names.into_iter().filter(|name| name.starts_with("policy")).collect();
    policies.sort_by_key(|name| (name.len(), name.clone()));
    policies.into_iter().map(|name| format!("{dir}/{name}")).collect()
}

fn frequency(sys: &SysRoot, env: &mut Environment) {
    let policies = policies(sys);
    for &(key, name, how) in POLICY {
        let source = format!("{CPUS}/cpufreq/policy*/{name}");
        let mut distinct = Vec::new();
        let mut failed = None;
        for policy in &policies {
            let path = format!("{policy}/{name}");
            match sys.read(&path).and_then(|text| interpret(&path, &text, how)) {
                Ok(value) if distinct.contains(&value) => {}
                Ok(value) => distinct.push(value),
                Err(ReadError::Absent { .. }) => {}
                Err(e) => failed = Some(e),
            }
        }
        let value = match (failed, distinct.len()) {
            (Some(e), _) => Err(e),
            (None, 0) => Err(ReadError::Absent { path: source.clone() }),
            (None, 1) => Ok(distinct.swap_remove(0)),
            (None, _) => {
                let words: Vec<String> = distinct.iter().map(|(value, _)| value.to_string()).collect();
                Ok((FactValue::Text(words.join(", ")), None))
            }
        };
        note(env, key, Class::State, &source, value);
    }
}

/// Whether clocks above the base are allowed. Intel's driver says when not, the others when.
fn turbo(sys: &SysRoot, env: &mut Environment) {
    let key = "cpu.turbo";
    for (path, means_off) in
        [(format!("{CPUS}/intel_pstate/no_turbo"), true), (format!("{CPUS}/cpufreq/boost"), false)]
    {
        match sys.read(&path) {
            Err(ReadError::Absent { .. }) => {}
            read => {
                let value =
                    read.and_then(|text| interpret(&path, &text, As::Switch)).map(|value| match value {
                        (FactValue::Bool(set), unit) => (FactValue::Bool(set != means_off), unit),
                        other => other,
                    });
                return note(env, key, Class::State, &path, value);
            }
        }
    }
    let path = format!("{CPUS}/cpufreq/boost");
    note(env, key, Class::State, &path, Err(ReadError::Absent { path: path.clone() }));
}
