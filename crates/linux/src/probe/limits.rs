//! What this process may use: CPU quota and CPU set of its control group, affinity, resource limits.

use tenbin_core::env::{Class, Environment, Fact, FactValue};
use tenbin_core::unit::Unit;

use super::{ProbeError, note, note_text};
use crate::sysroot::{ReadError, SysRoot};

const CGROUP: &str = "/proc/self/cgroup";
const STATUS: &str = "/proc/thread-self/status";
const LIMITS: &str = "/proc/self/limits";

pub fn probe(sys: &SysRoot, env: &mut Environment) -> Result<(), ProbeError> {
    quota(sys, env);
    let affinity = sys.read(STATUS).and_then(|text| {
        super::cpu::field(&text, "Cpus_allowed_list")
            .ok_or_else(|| ReadError::Absent { path: STATUS.to_owned() })
    });
    note_text(env, "limits.affinity", Class::State, &format!("{STATUS} Cpus_allowed_list"), affinity);
    let limits = sys.read(LIMITS);
    for (key, name, unit) in [
        ("limits.memlock", "Max locked memory", Unit::Byte),
        ("limits.nofile", "Max open files", Unit::Count),
        ("limits.stack", "Max stack size", Unit::Byte),
    ] {
        let value = limits.clone().and_then(|text| soft_limit(&text, name, unit));
        note(env, key, Class::State, &format!("{LIMITS} {name}"), value);
    }
    Ok(())
}

fn soft_limit(text: &str, name: &str, unit: Unit) -> Result<(FactValue, Option<Unit>), ReadError> {
    let absent = || ReadError::Absent { path: LIMITS.to_owned() };
    let rest = text.lines().find_map(|line| line.strip_prefix(name)).ok_or_else(absent)?;
    let word = rest.split_whitespace().next().ok_or_else(absent)?;
    match word.parse::<i64>() {
        Ok(n) => Ok((FactValue::Int(n), Some(unit))),
        Err(_) if word == "unlimited" => Ok((FactValue::from(word), None)),
        Err(_) => Err(ReadError::nonsense(LIMITS, word)),
    }
}

/// The smallest quota on the way from our control group to the root, in CPUs.
fn quota(sys: &SysRoot, env: &mut Environment) {
    let key = "limits.cpu_quota";
    let mut smallest: Option<(f64, String)> = None;
    for dir in cpu_groups(sys) {
        for (quota, source) in [quota_v2(sys, &dir), quota_v1(sys, &dir)].into_iter().flatten() {
            if smallest.as_ref().is_none_or(|(least, _)| quota < *least) {
                smallest = Some((quota, source));
            }
        }
    }
    let fact = match smallest {
        Some((quota, source)) => Fact::new(Class::State, quota, source).in_unit(Unit::Count),
        None => Fact::absent(Class::State, format!("{CGROUP}: no group limits the CPU")),
    };
    env.insert(key, fact);
}

/// `cpu.max` is `QUOTA PERIOD` or `max PERIOD`, in microseconds.
fn quota_v2(sys: &SysRoot, dir: &str) -> Option<(f64, String)> {
    let path = format!("{dir}/cpu.max");
    let text = sys.read(&path).ok()?;
    let (quota, period) = text.split_once(' ')?;
    in_cpus(quota, period).map(|cpus| (cpus, path))
}

/// Version 1 has a file for each; a quota of -1 is none.
fn quota_v1(sys: &SysRoot, dir: &str) -> Option<(f64, String)> {
    let path = format!("{dir}/cpu.cfs_quota_us");
    let quota = sys.read(&path).ok()?;
    let period = sys.read(&format!("{dir}/cpu.cfs_period_us")).ok()?;
    in_cpus(&quota, &period).map(|cpus| (cpus, path))
}

fn in_cpus(quota: &str, period: &str) -> Option<f64> {
    let (quota, period) = (quota.trim().parse::<f64>().ok()?, period.trim().parse::<f64>().ok()?);
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

/// The directories of our CPU control group and of its parents, of version 2 and of version 1.
pub(crate) fn cpu_groups(sys: &SysRoot) -> Vec<String> {
    let (Ok(groups), Ok(mounts)) = (sys.read(CGROUP), sys.read("/proc/self/mountinfo")) else {
        return Vec::new();
    };
    let mut dirs = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let unified = controllers.is_empty();
        if !unified && !controllers.split(',').any(|name| name == "cpu") {
            continue;
        }
        let Some((root, mount)) = mounts.lines().find_map(|line| mount_of(line, unified)) else { continue };
        // A container sees its own group as the mount's root.
        let below = path.strip_prefix(root.trim_end_matches('/')).unwrap_or(path).trim_matches('/');
        let mut dir = mount.to_owned();
        dirs.push(dir.clone());
        for part in below.split('/').filter(|part| !part.is_empty() && *part != "..") {
            dir = format!("{dir}/{part}");
            dirs.push(dir.clone());
        }
    }
    dirs
}

/// Root and mount point of a line of mountinfo if it is the wanted control group hierarchy.
fn mount_of(line: &str, unified: bool) -> Option<(&str, &str)> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ');
    let (root, mount) = (left.nth(3)?, left.next()?);
    let mut right = right.split(' ');
    let (kind, options) = (right.next()?, right.nth(1)?);
    let wanted = if unified {
        kind == "cgroup2"
    } else {
        kind == "cgroup" && options.split(',').any(|option| option == "cpu")
    };
    wanted.then_some((root, mount))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts() {
        let v1 = "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct";
        let v2 = "41 31 0:38 /a /sys/fs/cgroup rw,relatime shared:3 - cgroup2 cgroup2 rw,nsdelegate";
        assert_eq!(mount_of(v1, false), Some(("/", "/sys/fs/cgroup/cpu")));
        assert_eq!(mount_of(v1, true), None);
        assert_eq!(mount_of(v2, true), Some(("/a", "/sys/fs/cgroup")));
        assert_eq!(mount_of(v2, false), None);
        assert_eq!(mount_of("junk", true), None);
    }

    #[test]
    fn quotas() {
        for (quota, period, expected) in [
            ("150000", "100000", Some(1.5)),
            ("max", "100000", None),
            ("-1", "100000", None),
            ("100", "0", None),
            ("x", "y", None),
        ] {
            assert_eq!(in_cpus(quota, period), expected, "{quota} {period}");
        }
    }
}
