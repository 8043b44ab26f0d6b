//! What `ethtool` knows about an interface: offload features, driver, speed. By ioctl, which every kernel answers.
//!
//! All commands share one shape: a buffer of 32 bit words that begins with the command's number, and a device name
//! beside it (linux/ethtool.h).
#![allow(unsafe_code, reason = "ioctl takes a pointer")]

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};

use super::NetError;
use super::link::check_name;
use super::netlink::text;

const ETHTOOL_GDRVINFO: u32 = 0x03;
const ETHTOOL_GSTRINGS: u32 = 0x1b;
const ETHTOOL_GSSET_INFO: u32 = 0x37;
const ETHTOOL_GFEATURES: u32 = 0x3a;
const ETHTOOL_SFEATURES: u32 = 0x3b;
const ETHTOOL_GLINKSETTINGS: u32 = 0x4c;
const ETH_SS_FEATURES: u32 = 4;
/// Words in a string of a string set.
const STRING_WORDS: usize = 8;
/// Bytes in `struct ethtool_drvinfo`.
const DRIVER_INFO: usize = 196;
/// Words in `struct ethtool_link_settings` before its bit maps.
const LINK_SETTINGS: usize = 12;

/// An offload as users know it: a group of the kernel's features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Offload {
    /// TCP segmentation by the device.
    Tso,
    /// Segmentation just before the driver.
    Gso,
    /// Merging of received segments.
    Gro,
    /// Transmit checksums by the device.
    TxChecksum,
}

impl Offload {
    /// All of them.
    pub const ALL: [Offload; 4] = [Offload::Tso, Offload::Gso, Offload::Gro, Offload::TxChecksum];

    /// Whether the kernel's feature of that name is one of its: the same that `ethtool -K` switches together. By
    /// pattern, as there, since kernels keep adding kinds of segmentation.
    pub fn has(self, feature: &str) -> bool {
        match self {
            Offload::Tso => feature.starts_with("tx-tcp") && feature.ends_with("-segmentation"),
            Offload::Gso => feature == "tx-generic-segmentation",
            Offload::Gro => feature == "rx-gro",
            Offload::TxChecksum => feature.starts_with("tx-checksum-"),
        }
    }
}

/// A feature of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feature {
    /// The kernel's name, such as `tx-tcp-segmentation`.
    pub name: String,
    /// Whether it can be switched.
    pub available: bool,
    /// Whether somebody asked for it; another feature that it needs may keep it off.
    pub requested: bool,
    /// Whether it is in effect.
    pub active: bool,
}

/// The driver of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Driver {
    /// Its name, such as `mlx5_core` or `veth`.
    pub driver: String,
    /// Its version; in-tree drivers tend to give the kernel's.
    pub version: String,
    /// Version of the firmware; empty where there is none.
    pub firmware: String,
    /// Where it sits, such as `0000:03:00.0`; empty for virtual interfaces.
    pub bus: String,
}

/// Speed and duplex, as far as the driver knows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkMode {
    /// Rate of the link in bit/s.
    pub speed_bps: Option<u64>,
    /// Whether both ends may send at once.
    pub duplex: Option<Duplex>,
}

/// Whether both ends may send at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplex {
    /// One at a time.
    Half,
    /// Both.
    Full,
}

/// The offload features of an interface.
///
/// # Errors
/// No such interface; a driver that has none.
pub fn features(name: &str) -> Result<Vec<Feature>, NetError> {
    let attempt = "read offload features";
    let names = feature_names(name)?;
    let blocks = names.len().div_ceil(32);
    let mut words = vec![0; 2 + 4 * blocks];
    (words[0], words[1]) = (ETHTOOL_GFEATURES, blocks as u32);
    ethtool(name, &mut words).map_err(|error| NetError::refused(attempt, name, error))?;
    let bit = |at: usize, column: usize| {
        words.get(2 + at / 32 * 4 + column).is_some_and(|word| word >> (at % 32) & 1 == 1)
    };
    let feature = |(at, name)| {
        let switchable = bit(at, 0) && !bit(at, 3);
        Feature { name, available: switchable, requested: bit(at, 1), active: bit(at, 2) }
    };
    Ok(names.into_iter().enumerate().map(feature).filter(|feature| !feature.name.is_empty()).collect())
}

/// Whether an offload of an interface is in effect, in any of its features.
///
/// # Errors
/// As [`features`].
pub fn offload(name: &str, offload: Offload) -> Result<bool, NetError> {
    Ok(features(name)?.iter().any(|feature| feature.active && offload.has(&feature.name)))
}

/// Asks for features to be on or off; names that the interface does not know are passed over. Whether the driver
/// complied shows in [`features`]: one feature may need another.
///
/// # Errors
/// No such interface; no privilege.
pub fn set_features(name: &str, wanted: &[(String, bool)]) -> Result<(), NetError> {
    let names = feature_names(name)?;
    let blocks = names.len().div_ceil(32);
    let mut words = vec![0; 2 + 2 * blocks];
    (words[0], words[1]) = (ETHTOOL_SFEATURES, blocks as u32);
    for (at, feature) in names.iter().enumerate() {
        if let Some((_, on)) = wanted.iter().find(|(name, _)| name == feature) {
            let bit = 1 << (at % 32);
            words[2 + at / 32 * 2] |= bit;
            words[3 + at / 32 * 2] |= if *on { bit } else { 0 };
        }
    }
    ethtool(name, &mut words).map_err(|error| NetError::refused("set offload features", name, error))
}

/// The driver of an interface.
///
/// # Errors
/// No such interface; a driver that does not say (loopback on some kernels).
pub fn driver(name: &str) -> Result<Driver, NetError> {
    let mut words = vec![0; DRIVER_INFO / 4];
    words[0] = ETHTOOL_GDRVINFO;
    ethtool(name, &mut words).map_err(|error| NetError::refused("read the driver", name, error))?;
    let bytes = bytes(&words);
    Ok(Driver {
        driver: text(&bytes[4..36]),
        version: text(&bytes[36..68]),
        firmware: text(&bytes[68..100]),
        bus: text(&bytes[100..132]),
    })
}

/// Speed and duplex of an interface; both unknown where the driver does not say or the link is down.
///
/// # Errors
/// No such interface.
pub fn link_mode(name: &str) -> Result<LinkMode, NetError> {
    let unknown = LinkMode { speed_bps: None, duplex: None };
    let mut words = vec![0; LINK_SETTINGS];
    words[0] = ETHTOOL_GLINKSETTINGS;
    // The first call only tells how many words each bit map has, as a negative number.
    for round in 0..2 {
        match ethtool(name, &mut words) {
            Ok(()) => {}
            Err(error) if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::EINVAL)) => {
                return Ok(unknown);
            }
            Err(error) => return Err(NetError::refused("read the speed", name, error)),
        }
        if round == 0 {
            let maps = (bytes(&words)[15] as i8).unsigned_abs();
            words = vec![0; LINK_SETTINGS + 3 * usize::from(maps)];
            words[0] = ETHTOOL_GLINKSETTINGS;
            // `link_mode_masks_nwords` is byte 15.
            words[3] = u32::from_ne_bytes([0, 0, 0, maps]);
        }
    }
    // Megabits a second; 0 and all ones both stand for unknown.
    let megabits = Some(words[1]).filter(|speed| !matches!(*speed, 0 | 65535 | u32::MAX));
    Ok(LinkMode {
        speed_bps: megabits.map(|speed| u64::from(speed) * 1_000_000),
        duplex: match bytes(&words)[8] {
            0 => Some(Duplex::Half),
            1 => Some(Duplex::Full),
            _ => None,
        },
    })
}

/// The names of all features, by their number.
fn feature_names(name: &str) -> Result<Vec<String>, NetError> {
    let refused = |error| NetError::refused("list offload features", name, error);
    let mut words = vec![ETHTOOL_GSSET_INFO, 0, 1 << ETH_SS_FEATURES, 0, 0];
    // The mask is 64 bits wide in native order.
    if cfg!(target_endian = "big") {
        words.swap(2, 3);
    }
    ethtool(name, &mut words).map_err(refused)?;
    let count = words[4] as usize;
    let mut words = vec![0; 3 + STRING_WORDS * count];
    words[..3].copy_from_slice(&[ETHTOOL_GSTRINGS, ETH_SS_FEATURES, count as u32]);
    ethtool(name, &mut words).map_err(refused)?;
    Ok(words[3..].chunks(STRING_WORDS).map(|string| text(&bytes(string))).collect())
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// Runs one command; the answer overwrites `words`.
fn ethtool(name: &str, words: &mut [u32]) -> Result<(), io::Error> {
    check_name(name).map_err(|_| io::Error::from_raw_os_error(libc::ENODEV))?;
    let fd: OwnedFd = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)
        .or_else(|_| socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, None))?;
    let mut ifr_name = [0; libc::IFNAMSIZ];
    for (to, from) in ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    let mut request = libc::ifreq {
        ifr_name,
        ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_data: words.as_mut_ptr().cast() },
    };
    // SAFETY: the request lives across the call; its name ends in NUL, and its data points to `words`, which every
    // command above sized for what the kernel writes (each command carries its count, which the kernel honours).
    let result = unsafe { libc::ioctl(fd.as_raw_fd(), libc::SIOCETHTOOL as _, &raw mut request) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_has_features() {
        let names: Vec<String> = features("lo").unwrap().into_iter().map(|feature| feature.name).collect();
        for wanted in ["tx-tcp-segmentation", "tx-generic-segmentation", "rx-gro"] {
            assert!(names.iter().any(|name| name == wanted), "{wanted} not among {names:?}");
        }
    }

    #[test]
    fn loopback_has_no_speed() {
        assert_eq!(link_mode("lo").unwrap().speed_bps, None);
    }

    #[test]
    fn missing_interfaces_are_named() {
        let check = |error: NetError, expected: &str| assert_eq!(error.to_string(), expected);
        check(features("eth99").unwrap_err(), "cannot list offload features on eth99: no such device");
        check(driver("eth99").unwrap_err(), "cannot read the driver on eth99: no such device");
        check(link_mode("eth99").unwrap_err(), "cannot read the speed on eth99: no such device");
    }
}
