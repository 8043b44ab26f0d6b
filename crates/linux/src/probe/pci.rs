//! The PCI Express links of network interfaces: the device's own and every one on the way to the CPU.

use tenbin_core::ceiling::pcie::data_rate;
use tenbin_core::env::{Class, Environment, Fact, FactValue};
use tenbin_core::unit::Unit;

use super::{As, ProbeError, file, net, note};
use crate::sysroot::{ReadError, SysRoot};

/// The link files of a device with their keys.
const LINK: &[(&str, &str, Class)] = &[
    ("link_speed", "current_link_speed", Class::State),
    ("link_width", "current_link_width", Class::State),
    ("max_link_speed", "max_link_speed", Class::Identity),
    ("max_link_width", "max_link_width", Class::Identity),
];

const DEVICE: &[(&str, &str, As)] = &[
    ("vendor", "vendor", As::Text),
    ("device", "device", As::Text),
    ("subsystem_vendor", "subsystem_vendor", As::Text),
    ("subsystem_device", "subsystem_device", As::Text),
    ("revision", "revision", As::Text),
    ("numa_node", "numa_node", As::Int(Unit::None)),
];

/// Names of AER's counter files; their last line is the total.
pub(crate) const AER: &[&str] = &["aer_dev_correctable", "aer_dev_nonfatal", "aer_dev_fatal"];

pub fn probe(sys: &SysRoot, env: &mut Environment) -> Result<(), ProbeError> {
    let mut seen = Vec::new();
    for interface in net::interfaces(sys)? {
        let Some(path) = device_path(sys, &interface) else { continue };
        let hops = hops(&path);
        let Some((own, own_dir)) = hops.last() else { continue };
        if seen.contains(own) {
            continue; // Several ports of one function.
        }
        seen.push(own.clone());
        for &(key, name, how) in DEVICE {
            file(sys, env, &format!("pci.{own}.{key}"), &format!("{own_dir}/{name}"), Class::Identity, how);
        }
        for name in AER {
            let path = format!("{own_dir}/{name}");
            let total = sys.read(&path).and_then(|text| {
                let total = aer_total(&text).ok_or_else(|| ReadError::nonsense(&path, &text))?;
                Ok((FactValue::Int(total), Some(Unit::Count)))
            });
            note(env, &format!("pci.{own}.{name}"), Class::Counter, &path, total);
        }
        let mut slowest: Option<(f64, &str)> = None;
        for (bdf, dir) in &hops {
            for &(key, name, class) in LINK {
                let path = format!("{dir}/{name}");
                note(env, &format!("pci.{bdf}.{key}"), class, &path, link_file(sys, &path));
            }
            let number = |env: &Environment, key: &str| env.number(&format!("pci.{bdf}.{key}"));
            if let (Some(speed), Some(width)) = (number(env, "link_speed"), number(env, "link_width")) {
                let rate = data_rate(speed, width);
                if slowest.is_none_or(|(least, _)| rate < least) {
                    slowest = Some((rate, bdf));
                }
            }
        }
        if let Some((rate, bdf)) = slowest {
            let source = format!("{path} and its parents: smallest rate x lanes x line code");
            let rate = Fact::new(Class::State, rate.round() as i64, &source).in_unit(Unit::BitPerSecond);
            env.insert(format!("pci.{own}.path_rate"), rate);
            env.insert(format!("pci.{own}.path_slowest"), Fact::new(Class::State, bdf, &source));
        }
    }
    Ok(())
}

/// The device directory behind an interface, `None` for virtual ones.
pub(crate) fn device_path(sys: &SysRoot, interface: &str) -> Option<String> {
    sys.follow(&format!("/sys/class/net/{interface}/device")).ok()
}

/// The PCI functions on a device's path with their directories, from the root port to the device itself.
pub(crate) fn hops(path: &str) -> Vec<(String, String)> {
    let mut dir = String::new();
    let mut hops = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty()) {
        dir = format!("{dir}/{part}");
        if is_bdf(part) {
            hops.push((part.to_owned(), dir.clone()));
        }
    }
    hops
}

/// `0000:3b:00.0`: domain, bus, device, function.
fn is_bdf(text: &str) -> bool {
    let hex = |part: &str, digits: usize| {
        part.len() >= digits && part.len() <= 8 && part.chars().all(|c| c.is_ascii_hexdigit())
    };
    let parts: Vec<&str> = text.split([':', '.']).collect();
    matches!(parts[..], [domain, bus, device, function]
        if text.matches(':').count() == 2
            && hex(domain, 4) && hex(bus, 2) && hex(device, 2) && hex(function, 1))
}

/// A link file as a number: the signalling rate of a lane in bit/s, or a count of lanes.
pub(crate) fn link_file(sys: &SysRoot, path: &str) -> Result<(FactValue, Option<Unit>), ReadError> {
    let text = sys.read(path)?;
    let (value, unit) = if path.ends_with("_width") {
        (parse_width(&text), Unit::Count)
    } else {
        (parse_speed(&text), Unit::BitPerSecond)
    };
    match value {
        Ok(Some(value)) => Ok((FactValue::Int(value), Some(unit))),
        // A port without a card behind it has no link.
        Ok(None) => Err(ReadError::Absent { path: path.to_owned() }),
        Err(()) => Err(ReadError::nonsense(path, &text)),
    }
}

/// `8.0 GT/s PCIe` (older kernels: `8 GT/s`) as bit/s on a lane before line coding; `Unknown` is `None`.
fn parse_speed(text: &str) -> Result<Option<i64>, ()> {
    let text = text.trim();
    if text.starts_with("Unknown") {
        return Ok(None);
    }
    let number = text.split_once(" GT/s").ok_or(())?.0.trim().parse::<f64>().map_err(|_| ())?;
    if (0.1..=1000.0).contains(&number) { Ok(Some((number * 1e9).round() as i64)) } else { Err(()) }
}

/// A number of lanes; 0 and 255 are what unconnected ports print.
fn parse_width(text: &str) -> Result<Option<i64>, ()> {
    match text.trim().trim_start_matches('x').parse::<i64>() {
        Ok(0 | 255) => Ok(None),
        Ok(lanes @ 1..=32) => Ok(Some(lanes)),
        _ => Err(()),
    }
}

/// The total of an AER counter file, whose last line is `TOTAL_ERR_COR 0`.
pub(crate) fn aer_total(text: &str) -> Option<i64> {
    let line = text.lines().find(|line| line.starts_with("TOTAL_"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<Option<i64>, ()>) {
        assert_eq!(parse_speed(text), expected, "{text}");
    }

    #[test]
    fn speeds() {
        check("2.5 GT/s PCIe", Ok(Some(2_500_000_000)));
        check("5.0 GT/s PCIe", Ok(Some(5_000_000_000)));
        check("8 GT/s", Ok(Some(8_000_000_000)));
        check("64.0 GT/s PCIe", Ok(Some(64_000_000_000)));
        check("Unknown", Ok(None));
        check("Unknown speed", Ok(None));
        check("fast", Err(()));
        check("-8.0 GT/s PCIe", Err(()));
        check("NaN GT/s PCIe", Err(()));
        check("1e300 GT/s PCIe", Err(()));
        check("", Err(()));
    }

    #[test]
    fn widths() {
        for (text, expected) in [
            ("8", Ok(Some(8))),
            ("x16", Ok(Some(16))),
            ("0", Ok(None)),
            ("255", Ok(None)),
            ("-1", Err(())),
            ("", Err(())),
        ] {
            assert_eq!(parse_width(text), expected, "{text}");
        }
    }

    #[test]
    fn paths() {
        let names = |path: &str| hops(path).into_iter().map(|(bdf, _)| bdf).collect::<Vec<_>>();
        assert_eq!(names("/sys/devices/pci0000:00/0000:00:03.0/virtio2"), ["0000:00:03.0"]);
        assert_eq!(
            names("/sys/devices/pci0000:3a/0000:3a:00.0/10000:3b:00.1/net/eth0"),
            ["0000:3a:00.0", "10000:3b:00.1"]
        );
        assert!(names("/sys/devices/virtual/net/veth0").is_empty());
        let hops = hops("/sys/devices/pci0000:00/0000:00:03.0/virtio2");
        assert_eq!(hops[0].1, "/sys/devices/pci0000:00/0000:00:03.0");
    }

    #[test]
    fn aer() {
        assert_eq!(aer_total("RxErr 1\nBadTLP 2\nTOTAL_ERR_COR 3"), Some(3));
        assert_eq!(aer_total("RxErr 1"), None);
    }
}
