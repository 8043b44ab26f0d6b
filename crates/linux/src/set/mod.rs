//! Settings that an arm puts in force, each with the way back. Start at [`apply`] and [`restore`]; [`Undo`] keeps a
//! stack of them.
//!
//! All act on the network namespace of the calling thread. The way back is plain data ([`Applied`]), read by
//! [`way_back`] before anything is changed, so that a journal can hold it before the change is made. Restoring twice
//! is the same as restoring once, and a restore that fails in one step goes on with the others.

#[cfg(test)]
mod tests;

use std::fmt;
use std::fs;
use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::lab::LinkSpec;
use crate::net::ethtool::{self, Offload};
use crate::net::{
    self, Address, LinkInfo, NetError, OperState, RootQdisc, TokenBucket, permission_hint, why,
};

/// Something to put in force on this host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Setting {
    /// The MTU of an interface.
    Mtu {
        /// Which.
        interface: String,
        /// In bytes.
        bytes: u32,
    },
    /// tso, gso, gro and transmit checksums of an interface, all on or all off.
    Offload {
        /// Which.
        interface: String,
        /// On or off.
        on: bool,
    },
    /// The TCP congestion control of this network namespace.
    Congestion {
        /// The algorithm's name.
        algorithm: String,
    },
    /// Token bucket, segments per packet and offloads of an interface; its MTU is left alone.
    Link {
        /// Which.
        interface: String,
        /// As it should be.
        link: LinkSpec,
    },
}

/// What was there before a setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Applied {
    /// The MTU of an interface.
    Mtu {
        /// Which.
        interface: String,
        /// In bytes.
        bytes: u32,
        /// Whether it could carry packets.
        running: bool,
        /// The IPv6 addresses that the kernel takes away below an MTU of 1280.
        addresses: Vec<Address>,
    },
    /// The offloads of an interface.
    Offload {
        /// Which.
        interface: String,
        /// Each with its switch.
        flags: Flags,
    },
    /// The congestion control.
    Congestion {
        /// The algorithm's name.
        algorithm: String,
    },
    /// The link of an interface.
    Link {
        /// Which.
        interface: String,
        /// What it queued its packets in.
        queue: RootQdisc,
        /// Most segments in a packet.
        gso_max_segs: u32,
        /// Its offloads, each with its switch.
        flags: Flags,
    },
}

/// Offload flags by the kernel's name, each with its switch.
pub type Flags = Vec<(String, bool)>;

/// Why a setting could not be put in force or back.
#[derive(Debug, thiserror::Error)]
pub enum SetError {
    /// The network refused.
    #[error(transparent)]
    Net(#[from] NetError),
    /// An MTU that the device does not take.
    #[error("cannot set mtu {bytes} on {interface}: it takes {min} to {}", most(.max))]
    MtuRange {
        /// The interface.
        interface: String,
        /// What was asked for.
        bytes: u32,
        /// The least, in bytes.
        min: u32,
        /// The most, in bytes, where there is a limit.
        max: Option<u32>,
    },
    /// The link did not come back.
    #[error(
        "{interface} does not carry packets {seconds} s after it was changed: it is {state}\nhint: look at the far end and at `dmesg`"
    )]
    NotUp {
        /// The interface.
        interface: String,
        /// How long was waited, in seconds.
        seconds: u64,
        /// What it is instead.
        state: String,
    },
    /// A token bucket that cannot be, or that a packet would not fit in.
    #[error("cannot give {interface} a token bucket: {why}")]
    Bucket {
        /// The interface.
        interface: String,
        /// What is wrong with it.
        why: String,
    },
    /// There is a queueing discipline that could not be put back.
    #[error(
        "cannot give {interface} a token bucket: it has a queueing discipline {kind:?} that could not be put back\nhint: `tc qdisc del dev {interface} root`, if it is not needed"
    )]
    QueueInUse {
        /// The interface.
        interface: String,
        /// Its kind.
        kind: String,
    },
    /// None of the offloads can be switched.
    #[error("cannot switch the offloads of {interface}: its driver has none that can be switched")]
    NothingToSwitch {
        /// The interface.
        interface: String,
    },
    /// The driver did not follow.
    #[error("cannot switch {} {} on {interface}: the driver keeps it as it is", .flags.join(", "), if *.on { "on" } else { "off" })]
    Unmoved {
        /// The interface.
        interface: String,
        /// The flags that did not change.
        flags: Vec<String>,
        /// What was asked for.
        on: bool,
    },
    /// The kernel does not have that congestion control.
    #[error("this kernel has no congestion control {algorithm:?}\nhint: there are {}; another may need `modprobe tcp_{algorithm}`", .available.join(", "))]
    NoAlgorithm {
        /// What was asked for.
        algorithm: String,
        /// What there is.
        available: Vec<String>,
    },
    /// The kernel has it, but lets only some be the default of a namespace.
    #[error("cannot make {algorithm} the congestion control of a lab host: the kernel restricts it\nhint: as root: sysctl net.ipv4.tcp_allowed_congestion_control=\"{} {algorithm}\"", .allowed.join(" "))]
    RestrictedAlgorithm {
        /// What was asked for.
        algorithm: String,
        /// What is allowed.
        allowed: Vec<String>,
    },
    /// A file of the kernel refused.
    #[error("cannot {what} {path}: {}{}", why(.source), permission_hint(.source))]
    File {
        /// `read`, or `write WORD to`.
        what: String,
        /// The file.
        path: &'static str,
        /// The reason.
        source: io::Error,
    },
}

fn most(max: &Option<u32>) -> String {
    max.map_or_else(|| "any size".to_owned(), |max| max.to_string())
}

/// What could not be put back. Everything else was.
#[derive(Debug)]
pub struct RestoreError {
    /// Why, one for each step that failed; never empty.
    pub failures: Vec<SetError>,
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, failure) in self.failures.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{failure}")?;
        }
        Ok(())
    }
}

impl std::error::Error for RestoreError {}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Setting::Mtu { interface, bytes } => write!(f, "mtu {bytes} on {interface}"),
            Setting::Offload { interface, on } => {
                write!(f, "offloads {} on {interface}", if *on { "on" } else { "off" })
            }
            Setting::Congestion { algorithm } => write!(f, "congestion control {algorithm}"),
            Setting::Link { interface, link } => match link.rate_bps {
                Some(rate) => write!(f, "link of {rate} bit/s on {interface}"),
                None => write!(f, "link without a rate on {interface}"),
            },
        }
    }
}

/// What is there now, in the form that [`restore`] wants. Changes nothing, and refuses what is known to be impossible.
///
/// # Errors
/// [`SetError`]: no such interface, an MTU out of range, a queueing discipline that could not be put back.
pub fn way_back(setting: &Setting) -> Result<Applied, SetError> {
    match setting {
        Setting::Mtu { interface, bytes } => {
            let found = net::link(interface)?;
            check_mtu(&found, *bytes)?;
            let mut addresses = Vec::new();
            if *bytes < LEAST_IPV6_MTU {
                addresses = net::addresses(interface)?;
                addresses.retain(|address| address.ip.is_ipv6());
            }
            Ok(Applied::Mtu {
                interface: interface.clone(),
                bytes: found.mtu,
                running: runs(&found),
                addresses,
            })
        }
        Setting::Offload { interface, .. } => {
            let flags = offload_flags(interface)?;
            match flags.is_empty() {
                true => Err(SetError::NothingToSwitch { interface: interface.clone() }),
                false => Ok(Applied::Offload { interface: interface.clone(), flags }),
            }
        }
        Setting::Congestion { .. } => Ok(Applied::Congestion { algorithm: read(CONGESTION)? }),
        Setting::Link { interface, link } => {
            let found = net::link(interface)?;
            // Where both change, the MTU does so after the link.
            check_bucket(interface, link, found.mtu.min(link.mtu))?;
            let queue = net::root_qdisc(interface)?;
            if let RootQdisc::Other { kind } = queue {
                return Err(SetError::QueueInUse { interface: interface.clone(), kind });
            }
            Ok(Applied::Link {
                interface: interface.clone(),
                queue,
                gso_max_segs: found.gso_max_segs,
                flags: offload_flags(interface)?,
            })
        }
    }
}

/// Puts a setting in force and returns the way back. On failure nothing stays changed, as far as it can be undone. An
/// interface that carried packets does so again when this returns.
///
/// # Errors
/// [`SetError`], which names what, where, why and, if there is one, the cure.
pub fn apply(setting: &Setting) -> Result<Applied, SetError> {
    let applied = way_back(setting)?;
    let result = match setting {
        Setting::Mtu { interface, bytes } => mtu(interface, *bytes).and_then(|()| match applied {
            Applied::Mtu { running: true, .. } => wait_for_carrier(interface),
            _ => Ok(()),
        }),
        Setting::Offload { interface, on } => switch_offloads(interface, *on),
        Setting::Congestion { algorithm } => set_congestion(algorithm),
        Setting::Link { interface, link } => shape(interface, link),
    };
    match result {
        Ok(()) => Ok(applied),
        Err(error) => {
            // The first failure is the one to tell; the way back may fail for the same reason.
            let _ = restore(&applied);
            Err(error)
        }
    }
}

/// Puts back what was there before, every step of it, also when one fails or all was done already. An interface that
/// carried packets does so again when this returns.
///
/// # Errors
/// [`RestoreError`] with all failures.
pub fn restore(applied: &Applied) -> Result<(), RestoreError> {
    let failures: Vec<SetError> = match applied {
        Applied::Mtu { interface, bytes, running, addresses } => {
            let mut steps = vec![mtu(interface, *bytes)];
            for address in addresses {
                steps.push(net::add_address(interface, *address).map_err(SetError::from));
            }
            if *running && steps[0].is_ok() {
                steps.push(wait_for_carrier(interface));
            }
            steps.into_iter().filter_map(Result::err).collect()
        }
        Applied::Offload { interface, flags } => {
            ethtool::set_features(interface, flags).err().into_iter().map(SetError::from).collect()
        }
        Applied::Congestion { algorithm } => set_congestion(algorithm).err().into_iter().collect(),
        Applied::Link { interface, queue, gso_max_segs, flags } => {
            let queue = match queue {
                RootQdisc::Tbf(tbf) => net::put_back_token_bucket(interface, tbf),
                RootQdisc::Default { .. } | RootQdisc::Other { .. } => net::delete_root_qdisc(interface),
            };
            let segments = net::set_gso_max_segs(interface, *gso_max_segs);
            let flags = ethtool::set_features(interface, flags);
            [queue, segments, flags].into_iter().filter_map(Result::err).map(SetError::from).collect()
        }
    };
    if failures.is_empty() { Ok(()) } else { Err(RestoreError { failures }) }
}

/// Settings in force, newest last. Dropping it restores what is left, without a word: call [`Undo::restore`] to hear
/// of failures. Belongs to one network namespace, hence to the thread that applied.
#[derive(Debug, Default)]
pub struct Undo {
    applied: Vec<Applied>,
}

impl Undo {
    /// Puts a setting in force and remembers the way back.
    ///
    /// # Errors
    /// As [`apply`]; what was applied before stays in force.
    pub fn apply(&mut self, setting: &Setting) -> Result<(), SetError> {
        self.applied.push(apply(setting)?);
        Ok(())
    }

    /// What is in force, oldest first: what a journal should hold.
    pub fn applied(&self) -> &[Applied] {
        &self.applied
    }

    /// Puts everything back, newest first, and goes on past failures, which it returns. What failed is not tried again.
    pub fn restore(&mut self) -> Vec<SetError> {
        let newest_first = std::mem::take(&mut self.applied).into_iter().rev();
        newest_first.filter_map(|applied| restore(&applied).err()).flat_map(|error| error.failures).collect()
    }
}

impl From<Vec<Applied>> for Undo {
    /// Takes over from a journal, oldest first.
    fn from(applied: Vec<Applied>) -> Undo {
        Undo { applied }
    }
}

impl Drop for Undo {
    fn drop(&mut self) {
        self.restore();
    }
}

/// Below this the kernel turns IPv6 off on an interface.
const LEAST_IPV6_MTU: u32 = 1280;
/// Ethernet's header, which a queueing discipline sees in front of a packet.
const ETHERNET_HEADER: u64 = 14;
/// The kernel's own limit for a new interface (GSO_MAX_SEGS).
const GSO_SEGMENTS: u32 = 65535;
/// Changing the MTU of a card may take its link down: so long it may take to return.
const CARRIER_PATIENCE: Duration = Duration::from_secs(10);

const CONGESTION: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
const ALLOWED: &str = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";

/// Sets the MTU, unless it is that already: some cards drop their link even then.
pub(crate) fn mtu(interface: &str, bytes: u32) -> Result<(), SetError> {
    if net::link(interface)?.mtu != bytes {
        net::set_mtu(interface, bytes)?;
    }
    Ok(())
}

/// Whether an interface takes an MTU, and lets packets of that size through its token bucket if it has one.
pub(crate) fn check_mtu(link: &LinkInfo, bytes: u32) -> Result<(), SetError> {
    let (interface, min, max) = (link.name.clone(), link.min_mtu, link.max_mtu);
    if bytes < min || max.is_some_and(|max| bytes > max) {
        return Err(SetError::MtuRange { interface, bytes, min, max });
    }
    if link.qdisc.as_deref() == Some("tbf")
        && let RootQdisc::Tbf(raw) = net::root_qdisc(&interface)?
        && let Some(tbf) = raw.decode()
    {
        // The bucket is known to within one tick of 64 ns at its rate.
        let most = u64::from(tbf.burst) + tbf.rate / 8 * 64 / 1_000_000_000 + 1;
        let packet = u64::from(bytes) + ETHERNET_HEADER;
        if packet > most {
            let why = format!(
                "mtu {bytes} makes packets of {packet} byte, and the one it has holds {}\nhint: raise burst",
                tbf.burst
            );
            return Err(SetError::Bucket { interface, why });
        }
    }
    Ok(())
}

/// Whether a link can be given to an interface of that MTU, as far as numbers tell.
pub(crate) fn check_bucket(interface: &str, link: &LinkSpec, mtu: u32) -> Result<(), SetError> {
    let Some(rate) = link.rate_bps else { return Ok(()) };
    let packet = u64::from(mtu) + ETHERNET_HEADER;
    let why = if rate < 8 {
        format!("a rate of {rate} bit/s is less than a byte a second")
    } else if link.burst_bytes < packet {
        let burst = link.burst_bytes;
        format!(
            "a burst of {burst} byte lets no packet of {packet} byte pass\nhint: raise burst, or lower the mtu"
        )
    } else if u32::try_from(link.burst_bytes).is_err() {
        format!("a burst of {} byte does not fit in 32 bits", link.burst_bytes)
    } else if u16::try_from(link.overhead_bytes).is_err() {
        format!("an overhead of {} byte does not fit in 16 bits", link.overhead_bytes)
    } else {
        return Ok(());
    };
    Err(SetError::Bucket { interface: interface.to_owned(), why })
}

/// Gives an interface what a link specification says, but for the MTU. The numbers have been checked.
pub(crate) fn shape(interface: &str, link: &LinkSpec) -> Result<(), SetError> {
    match link.rate_bps {
        Some(rate) => {
            let (burst, overhead) = (link.burst_bytes as u32, link.overhead_bytes as u16);
            net::set_token_bucket(interface, &TokenBucket { rate, burst, overhead })?;
        }
        None => net::delete_root_qdisc(interface)?,
    }
    net::set_gso_max_segs(interface, if link.wire_segments { 1 } else { GSO_SEGMENTS })?;
    link.offload.map_or(Ok(()), |on| switch_offloads(interface, on))
}

/// The offloads that can be switched, as somebody asked for them; what is in effect may be less, since one flag may
/// need another.
pub(crate) fn offload_flags(interface: &str) -> Result<Flags, NetError> {
    let known = ethtool::features(interface)?.into_iter();
    let ours =
        known.filter(|flag| flag.available && Offload::ALL.iter().any(|offload| offload.has(&flag.name)));
    Ok(ours.map(|flag| (flag.name, flag.requested)).collect())
}

fn switch_offloads(interface: &str, on: bool) -> Result<(), SetError> {
    let mut wanted = offload_flags(interface)?;
    for (_, flag) in &mut wanted {
        *flag = on;
    }
    ethtool::set_features(interface, &wanted)?;
    let after = ethtool::features(interface)?.into_iter();
    let unmoved = after.filter(|flag| flag.active != on && wanted.iter().any(|(name, _)| *name == flag.name));
    let flags: Vec<String> = unmoved.map(|flag| flag.name).collect();
    match flags.is_empty() {
        true => Ok(()),
        false => Err(SetError::Unmoved { interface: interface.to_owned(), flags, on }),
    }
}

fn set_congestion(algorithm: &str) -> Result<(), SetError> {
    // Tried, not looked up first: the kernel may load what it does not list.
    let Err(source) = fs::write(CONGESTION, algorithm) else { return Ok(()) };
    let words =
        |path| Ok::<_, SetError>(read(path)?.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    let available = words(AVAILABLE)?;
    if source.raw_os_error() == Some(libc::ENOENT) || !available.iter().any(|name| name == algorithm) {
        return Err(SetError::NoAlgorithm { algorithm: algorithm.to_owned(), available });
    }
    if source.raw_os_error() == Some(libc::EPERM)
        && let Ok(allowed) = words(ALLOWED)
        && !allowed.iter().any(|name| name == algorithm)
    {
        return Err(SetError::RestrictedAlgorithm { algorithm: algorithm.to_owned(), allowed });
    }
    Err(SetError::File { what: format!("write {algorithm} to"), path: CONGESTION, source })
}

fn read(path: &'static str) -> Result<String, SetError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(text.trim().to_owned()),
        Err(source) => Err(SetError::File { what: "read".to_owned(), path, source }),
    }
}

/// Loopback and some virtual devices never say more than "unknown".
fn runs(link: &LinkInfo) -> bool {
    link.up && link.carrier && matches!(link.state, OperState::Up | OperState::Unknown)
}

pub(crate) fn wait_for_carrier(interface: &str) -> Result<(), SetError> {
    let until = Instant::now() + CARRIER_PATIENCE;
    loop {
        let link = net::link(interface)?;
        if runs(&link) {
            return Ok(());
        }
        if Instant::now() > until {
            return Err(SetError::NotUp {
                interface: interface.to_owned(),
                seconds: CARRIER_PATIENCE.as_secs(),
                state: if link.up { format!("{:?}", link.state) } else { "set down".to_owned() },
            });
        }
        sleep(Duration::from_millis(10));
    }
}
