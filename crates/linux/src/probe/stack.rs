//! The settings of the network stack. They belong to the namespace of the thread that asks.

use tenbin_core::env::{Class, Environment};
use tenbin_core::unit::Unit;

use super::{As, ProbeError, file};
use crate::sysroot::SysRoot;

/// Those of `/proc/sys/net/core`; some exist only outside namespaces.
const CORE: &[(&str, As)] = &[
    ("rmem_max", As::Int(Unit::Byte)),
    ("wmem_max", As::Int(Unit::Byte)),
    ("rmem_default", As::Int(Unit::Byte)),
    ("wmem_default", As::Int(Unit::Byte)),
    ("optmem_max", As::Int(Unit::Byte)),
    ("default_qdisc", As::Text),
    ("netdev_max_backlog", As::Int(Unit::Count)),
    ("netdev_budget", As::Int(Unit::Count)),
    ("busy_poll", As::Int(Unit::None)),
    ("busy_read", As::Int(Unit::None)),
    ("somaxconn", As::Int(Unit::Count)),
];

/// Those of `/proc/sys/net/ipv4` without their prefix `tcp_`.
const TCP: &[(&str, &str, As)] = &[
    ("congestion", "congestion_control", As::Text),
    ("timestamps", "timestamps", As::Int(Unit::None)),
    ("rmem", "rmem", As::Text),
    ("wmem", "wmem", As::Text),
    ("sack", "sack", As::Int(Unit::None)),
    ("ecn", "ecn", As::Int(Unit::None)),
    ("window_scaling", "window_scaling", As::Int(Unit::None)),
    ("mtu_probing", "mtu_probing", As::Int(Unit::None)),
    ("no_metrics_save", "no_metrics_save", As::Int(Unit::None)),
    ("slow_start_after_idle", "slow_start_after_idle", As::Int(Unit::None)),
    ("autocorking", "autocorking", As::Int(Unit::None)),
    ("limit_output_bytes", "limit_output_bytes", As::Int(Unit::Byte)),
    ("notsent_lowat", "notsent_lowat", As::Int(Unit::Byte)),
    ("moderate_rcvbuf", "moderate_rcvbuf", As::Int(Unit::None)),
];

pub fn probe(sys: &SysRoot, env: &mut Environment) -> Result<(), ProbeError> {
    for &(name, how) in CORE {
        let path = format!("/proc/sys/net/core/{name}");
        file(sys, env, &format!("net.core.{name}"), &path, Class::State, how);
    }
    for &(key, name, how) in TCP {
        let path = format!("/proc/sys/net/ipv4/tcp_{name}");
        file(sys, env, &format!("net.tcp.{key}"), &path, Class::State, how);
    }
    Ok(())
}
