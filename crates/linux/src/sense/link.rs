//! Network interfaces and the stack above them: drops, errors, flaps, retransmits, and what must not change.

use super::snapshot::{Counters, States};
use super::{faults, number};
use crate::probe::pci;
use crate::sysroot::{ReadError, SysRoot};

/// Counters of an interface, with their files.
const INTERFACE: &[(&str, &str)] = &[
    ("carrier_changes", "carrier_changes"),
    ("rx_packets", "statistics/rx_packets"),
    ("tx_packets", "statistics/tx_packets"),
    ("rx_errors", "statistics/rx_errors"),
    ("tx_errors", "statistics/tx_errors"),
    ("rx_missed", "statistics/rx_missed_errors"),
    ("rx_dropped", "statistics/rx_dropped"),
    ("tx_dropped", "statistics/tx_dropped"),
];

/// Counters of `/proc/net/snmp` and `/proc/net/netstat`: our name, file, protocol, column.
const STACK: &[(&str, &str, &str, &str)] = &[
    ("tcp_segments_sent", "snmp", "Tcp", "OutSegs"),
    ("tcp_retransmits", "snmp", "Tcp", "RetransSegs"),
    ("udp_receive_errors", "snmp", "Udp", "InErrors"),
    ("udp_buffer_errors", "snmp", "Udp", "RcvbufErrors"),
    ("ip_reassembly_failures", "snmp", "Ip", "ReasmFails"),
    ("tcp_timeouts", "netstat", "TcpExt", "TCPTimeouts"),
    ("tcp_lost_retransmits", "netstat", "TcpExt", "TCPLostRetransmit"),
    ("tcp_listen_drops", "netstat", "TcpExt", "ListenDrops"),
    ("tcp_pruned", "netstat", "TcpExt", "PruneCalled"),
];

/// Notes what `interface` counts and what must stay as it is.
pub(super) fn interface(sys: &SysRoot, interface: &str, counters: &mut Counters, states: &mut States) {
    let dir = format!("/sys/class/net/{interface}");
    for &(signal, file) in INTERFACE {
        counters.note(signal, interface, number(sys, &format!("{dir}/{file}")));
    }
    states.note(format!("{interface} mtu"), sys.read(&format!("{dir}/mtu")));
    // A down interface and one without the notion answer alike; a fall to that is a change.
    let speed = match sys.read(&format!("{dir}/speed")) {
        Err(ReadError::Unreadable { path, .. }) => Err(ReadError::Absent { path }),
        other => other,
    };
    states.note(format!("{interface} speed"), speed);
    let Some(path) = pci::device_path(sys, interface) else { return };
    let hops = pci::hops(&path);
    for (bdf, dir) in &hops {
        for file in ["current_link_speed", "current_link_width"] {
            states.note(format!("{bdf} {file}"), sys.read(&format!("{dir}/{file}")));
        }
    }
    if let Some((bdf, dir)) = hops.last() {
        faults::pci_express(sys, bdf, dir, counters);
    }
}

/// Notes what the stack of the calling thread's namespace counts.
pub(super) fn stack(sys: &SysRoot, counters: &mut Counters) {
    for file in ["snmp", "netstat"] {
        let path = sys.net(file);
        let text = sys.read(&path);
        for &(signal, _, protocol, column) in STACK.iter().filter(|row| row.1 == file) {
            let value = match &text {
                Ok(text) => column_of(&path, text, protocol, column),
                Err(e) => Err(e.clone()),
            };
            counters.note(signal, "", value);
        }
    }
    let path = sys.net("softnet_stat");
    let text = sys.read(&path);
    for (index, signal) in ["softnet_packets", "softnet_dropped", "softnet_squeezed"].into_iter().enumerate()
    {
        let value = match &text {
            Ok(text) => softnet(&path, text, index),
            Err(e) => Err(e.clone()),
        };
        counters.note(signal, "", value);
    }
}

/// The value under `column` in the pair of lines `Tcp: A B` and `Tcp: 1 2`.
fn column_of(path: &str, text: &str, protocol: &str, column: &str) -> Result<i64, ReadError> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(protocol)?.strip_prefix(':'));
    let absent = || ReadError::Absent { path: path.to_owned() };
    let names = lines.next().ok_or_else(absent)?;
    let values = lines.next().ok_or_else(|| ReadError::nonsense(path, text))?;
    // Older kernels lack columns.
    let index = names.split_whitespace().position(|name| name == column).ok_or_else(absent)?;
    let word = values.split_whitespace().nth(index).unwrap_or_default();
    word.parse().map_err(|_| ReadError::nonsense(path, values))
}

/// The sum of a column over all CPUs; the numbers are hexadecimal.
fn softnet(path: &str, text: &str, column: usize) -> Result<i64, ReadError> {
    let nonsense = || ReadError::nonsense(path, text);
    text.lines().try_fold(0i64, |sum, line| {
        let word = line.split_whitespace().nth(column).ok_or_else(nonsense)?;
        Ok(sum.saturating_add(i64::from_str_radix(word, 16).map_err(|_| nonsense())?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns() {
        let text = "Ip: A B\nIp: 1 2\nTcp: A RetransSegs\nTcp: -1 7\nUdp: X\n";
        let check = |protocol, column, expected: Option<i64>| {
            assert_eq!(column_of("snmp", text, protocol, column).ok(), expected, "{protocol} {column}");
        };
        check("Tcp", "RetransSegs", Some(7));
        check("Tcp", "A", Some(-1));
        check("Ip", "B", Some(2));
        check("Tcp", "None", None);
        check("Udp", "X", None);
        check("Sctp", "X", None);
    }

    #[test]
    fn softnet_is_hexadecimal() {
        let text = "00000010 00000000 00000001\n0000000a 00000002 00000000";
        assert_eq!(softnet("s", text, 0), Ok(26));
        assert_eq!(softnet("s", text, 1), Ok(2));
        assert_eq!(softnet("s", text, 2), Ok(1));
        assert!(softnet("s", text, 3).is_err());
        assert!(softnet("s", "zz", 0).is_err());
    }
}
