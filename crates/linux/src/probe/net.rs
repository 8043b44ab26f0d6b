//! Network interfaces of the calling thread's namespace.

use tenbin_core::env::{Class, Environment, Fact, FactValue};
use tenbin_core::unit::Unit;

use super::ask::{self, Answers, offload_key};
use super::{As, ProbeError, file, note, note_text, pci};
use crate::sysroot::{ReadError, SysRoot};

const NET: &str = "/sys/class/net";

const FILES: &[(&str, &str, Class, As)] = &[
    ("mtu", "mtu", Class::State, As::Int(Unit::Byte)),
    ("operstate", "operstate", Class::State, As::Text),
    ("carrier", "carrier", Class::State, As::Switch),
    ("tx_queue_len", "tx_queue_len", Class::State, As::Int(Unit::Count)),
    ("threaded_napi", "threaded", Class::State, As::Int(Unit::None)),
    ("napi_defer_hard_irqs", "napi_defer_hard_irqs", Class::State, As::Int(Unit::Count)),
    ("carrier_changes", "carrier_changes", Class::Counter, As::Int(Unit::Count)),
    ("rx_errors", "statistics/rx_errors", Class::Counter, As::Int(Unit::Count)),
    ("tx_errors", "statistics/tx_errors", Class::Counter, As::Int(Unit::Count)),
    ("rx_dropped", "statistics/rx_dropped", Class::Counter, As::Int(Unit::Count)),
    ("tx_dropped", "statistics/tx_dropped", Class::Counter, As::Int(Unit::Count)),
];

pub fn probe(sys: &SysRoot, env: &mut Environment) -> Result<(), ProbeError> {
    let mut kept = ask::kept(sys).unwrap_or_else(|e| {
        env.insert("net.answers", Fact::unreadable(Class::State, "/tenbin/net.json", e.why()));
        Default::default()
    });
    for interface in interfaces(sys)? {
        let dir = format!("{NET}/{interface}");
        let key = |name: &str| format!("net.{interface}.{name}");
        for &(name, path, class, how) in FILES {
            file(sys, env, &key(name), &format!("{dir}/{path}"), class, how);
        }
        let path = format!("{dir}/speed");
        env.insert(key("speed"), speed(sys, &path));
        let path = format!("{dir}/duplex");
        let duplex = match sys.read(&path) {
            Ok(text) if text == "unknown" => {
                Fact::absent(Class::State, format!("{path}: the driver knows none"))
            }
            Ok(text) => Fact::new(Class::State, text, &path),
            Err(e) => down_or(&e, &path),
        };
        env.insert(key("duplex"), duplex);
        note(env, &key("rx_queues"), Class::State, &format!("{dir}/queues"), queues(sys, &dir, "rx-"));
        note(env, &key("tx_queues"), Class::State, &format!("{dir}/queues"), queues(sys, &dir, "tx-"));
        let device = pci::device_path(sys, &interface);
        if let Some((bdf, _)) = device.and_then(|path| pci::hops(&path).pop()) {
            env.insert(key("pci"), Fact::new(Class::Identity, bdf, format!("{dir}/device")));
        }
        let source = format!("{dir}/device/physfn");
        if sys.exists(&source) {
            env.insert(key("virtual_function"), Fact::new(Class::Identity, true, source));
        }
        let answers = match sys.is_live() {
            true => Answers::live(&interface),
            false => Answers::kept(kept.remove(&interface).unwrap_or_default()),
        };
        answered(sys, env, &interface, answers);
    }
    Ok(())
}

/// The names of all interfaces.
pub(super) fn interfaces(sys: &SysRoot) -> Result<Vec<String>, ReadError> {
    let names = sys.list(NET)?;
    // bonding_masters is a file among the interfaces.
    Ok(names.into_iter().filter(|name| sys.exists(&format!("{NET}/{name}/ifindex"))).collect())
}

fn speed(sys: &SysRoot, path: &str) -> Fact {
    let text = match sys.read(path) {
        Ok(text) => text,
        Err(e) => return down_or(&e, path),
    };
    match text.parse::<i64>() {
        // Virtual drivers and links without carrier print -1, in old kernels as an unsigned number.
        Ok(-1 | 0 | 0xffff_ffff) => {
            Fact::absent(Class::State, format!("{path}: {text}, the driver knows no speed"))
        }
        Ok(mbit @ 1..=100_000_000) => {
            Fact::new(Class::State, mbit * 1_000_000, path).in_unit(Unit::BitPerSecond)
        }
        _ => Fact::unreadable(Class::State, path, ReadError::nonsense(path, &text).why()),
    }
}

/// Speed and duplex of an interface that is down are an error of their own, not an absence.
fn down_or(e: &ReadError, path: &str) -> Fact {
    match e {
        ReadError::Absent { .. } => Fact::absent(Class::State, path),
        ReadError::Unreadable { why, .. } if why.starts_with("invalid argument") => {
            Fact::unreadable(Class::State, path, format!("{why}: down, or a link without it"))
        }
        e => Fact::unreadable(Class::State, path, e.why()),
    }
}

fn queues(sys: &SysRoot, dir: &str, prefix: &str) -> Result<(FactValue, Option<Unit>), ReadError> {
    let names = sys.list(&format!("{dir}/queues"))?;
    let count = names.iter().filter(|name| name.starts_with(prefix)).count();
    Ok((FactValue::Int(i64::try_from(count).unwrap_or(i64::MAX)), Some(Unit::Count)))
}

/// Notes what the kernel answered.
fn answered(sys: &SysRoot, env: &mut Environment, interface: &str, answers: Answers) {
    let dir = format!("{NET}/{interface}");
    let key = |name: &str| format!("net.{interface}.{name}");
    let path = format!("{dir}/device/driver");
    let (source, driver) = match sys.link_name(&path) {
        Ok(name) => (path.as_str(), Ok(name)),
        // Virtual interfaces have no device; ethtool names their driver.
        Err(_) => ("ethtool ETHTOOL_GDRVINFO", answers.driver),
    };
    note_text(env, &key("driver"), Class::Identity, source, driver);
    let firmware = answers.firmware.and_then(|text| match text.as_str() {
        "" | "N/A" => Err(ReadError::Absent { path: "firmware".to_owned() }),
        _ => Ok(text),
    });
    note_text(env, &key("firmware"), Class::Identity, "ethtool ETHTOOL_GDRVINFO", firmware);
    let (source, kind) = match answers.kind {
        Ok(kind) if kind.is_empty() => devtype(sys, &dir),
        other => ("netlink IFLA_INFO_KIND".to_owned(), other),
    };
    note_text(env, &key("kind"), Class::Identity, &source, kind);
    let segments = answers.gso_max_segs.map(|n| (FactValue::Int(n), Some(Unit::Count)));
    note(env, &key("gso_max_segs"), Class::State, "netlink IFLA_GSO_MAX_SEGS", segments);
    note_text(env, &key("qdisc"), Class::State, "netlink RTM_GETQDISC", answers.qdisc);
    if let Some(bucket) = answers.tbf {
        let rate = i64::try_from(bucket.rate).unwrap_or(i64::MAX);
        for (name, value, unit) in [
            ("tbf.rate", rate, Unit::BitPerSecond),
            ("tbf.burst", i64::from(bucket.burst), Unit::Byte),
            ("tbf.overhead", i64::from(bucket.overhead), Unit::Byte),
        ] {
            env.insert(key(name), Fact::new(Class::State, value, "netlink RTM_GETQDISC").in_unit(unit));
        }
    }
    for (offload, on) in answers.offloads {
        let on = on.map(|on| (FactValue::Bool(on), None));
        note(env, &key(&format!("offload.{}", offload_key(offload))), Class::State, "ethtool", on);
    }
}

/// What sort of interface it is as far as files tell: `bridge`, `vlan`, `wlan`. Plain hardware has none.
fn devtype(sys: &SysRoot, dir: &str) -> (String, Result<String, ReadError>) {
    let source = format!("{dir}/uevent");
    let kind = sys.read(&source).and_then(|text| {
        let kind = text.lines().find_map(|line| line.strip_prefix("DEVTYPE="));
        kind.map(str::to_owned).ok_or_else(|| ReadError::Absent { path: source.clone() })
    });
    (source, kind)
}
