//! Settings that an arm puts in force, each with the way back.

use std::fs;
use std::io;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::lab::LinkSpec;
use crate::net::ethtool::{self, Offload};
use crate::net::{self, NetError, TokenBucket};

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
    /// The link of a lab host; its MTU is left alone.
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
    },
    /// The offloads of an interface.
    Offloads {
        /// Which.
        interface: String,
        /// Each with its switch.
        was: Vec<(Offload, bool)>,
    },
    /// The congestion control.
    Congestion {
        /// The algorithm's name.
        algorithm: String,
    },
    /// The link of a lab host.
    Link {
        /// Which.
        interface: String,
        /// Its token bucket.
        bucket: Option<TokenBucket>,
        /// Its segments in a packet.
        gso_max_segs: u32,
        /// Its offloads.
        offloads: Vec<(Offload, bool)>,
    },
}

/// Why a setting could not be put in force or back.
#[derive(Debug, thiserror::Error)]
pub enum SetError {
    /// The network refused.
    #[error(transparent)]
    Net(#[from] NetError),
    /// A file of the kernel refused.
    #[error("cannot set {what}: {source}{}", hint(.source))]
    File {
        /// What.
        what: String,
        /// The reason.
        source: io::Error,
    },
    /// The kernel does not have it.
    #[error(
        "no congestion control {wanted} in this kernel\nhint: available are {available}; others may need modprobe tcp_{wanted}"
    )]
    NoAlgorithm {
        /// What was asked for.
        wanted: String,
        /// What there is.
        available: String,
    },
    /// The link did not come back.
    #[error("interface {interface} has no carrier {seconds} s after its MTU was changed")]
    NoCarrier {
        /// Which.
        interface: String,
        /// How long was waited.
        seconds: u64,
    },
}

fn hint(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::PermissionDenied => "\nhint: run as root, or give the host sudo = true in the plan",
        _ => "",
    }
}

/// Changing the MTU of a card may take its link down: so long it may take to return.
const CARRIER_PATIENCE: Duration = Duration::from_secs(10);

const CONGESTION: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// Puts a setting in force and returns the way back. On failure nothing stays changed.
pub fn apply(setting: &Setting) -> Result<Applied, SetError> {
    match setting {
        Setting::Mtu { interface, bytes } => {
            let was = net::link(interface)?;
            let applied = Applied::Mtu { interface: interface.clone(), bytes: was.mtu };
            let result = net::set_mtu(interface, *bytes).map_err(SetError::from);
            let result = result.and_then(|()| if was.running { wait_for_carrier(interface) } else { Ok(()) });
            undo_on_failure(result, applied)
        }
        Setting::Offload { interface, on } => {
            let applied = Applied::Offloads { interface: interface.clone(), was: offloads(interface)? };
            undo_on_failure(set_offloads(interface, &Offload::ALL.map(|offload| (offload, *on))), applied)
        }
        Setting::Congestion { algorithm } => {
            let read = |path: &str| {
                let file = |source| SetError::File { what: "the congestion control".to_owned(), source };
                fs::read_to_string(path).map(|text| text.trim().to_owned()).map_err(file)
            };
            let (was, available) = (read(CONGESTION)?, read(AVAILABLE)?);
            if !available.split_whitespace().any(|name| name == algorithm) {
                return Err(SetError::NoAlgorithm { wanted: algorithm.clone(), available });
            }
            set_congestion(algorithm)?;
            Ok(Applied::Congestion { algorithm: was })
        }
        Setting::Link { interface, link } => {
            let applied = Applied::Link {
                interface: interface.clone(),
                bucket: net::queue(interface)?.1,
                gso_max_segs: net::link(interface)?.gso_max_segs,
                offloads: offloads(interface)?,
            };
            undo_on_failure(shape(interface, link), applied)
        }
    }
}

/// Puts back what was there before.
pub fn restore(applied: &Applied) -> Result<(), SetError> {
    match applied {
        Applied::Mtu { interface, bytes } => Ok(net::set_mtu(interface, *bytes)?),
        Applied::Offloads { interface, was } => set_offloads(interface, was),
        Applied::Congestion { algorithm } => set_congestion(algorithm),
        Applied::Link { interface, bucket, gso_max_segs, offloads } => {
            let queue = match bucket {
                Some(bucket) => net::set_token_bucket(interface, *bucket),
                None => net::remove_queue(interface),
            };
            let segments = net::set_gso_max_segs(interface, *gso_max_segs);
            let switches = set_offloads(interface, offloads);
            queue?;
            segments?;
            switches
        }
    }
}

/// Gives a lab host's interface what a link specification says, but for the MTU.
pub(crate) fn shape(interface: &str, link: &LinkSpec) -> Result<(), SetError> {
    match link.rate_bps {
        Some(rate) => {
            let burst = u32::try_from(link.burst_bytes).unwrap_or(u32::MAX);
            let overhead = u16::try_from(link.overhead_bytes).unwrap_or(u16::MAX);
            net::set_token_bucket(interface, TokenBucket { rate, burst, overhead })?;
        }
        None => net::remove_queue(interface)?,
    }
    net::set_gso_max_segs(interface, if link.wire_segments { 1 } else { GSO_SEGMENTS })?;
    match link.offload {
        Some(on) => set_offloads(interface, &Offload::ALL.map(|offload| (offload, on))),
        None => Ok(()),
    }
}

/// The kernel's own limit for a new interface (GSO_MAX_SEGS).
const GSO_SEGMENTS: u32 = 65535;

fn undo_on_failure(result: Result<(), SetError>, applied: Applied) -> Result<Applied, SetError> {
    match result {
        Ok(()) => Ok(applied),
        Err(e) => {
            // The first failure is the one to tell; the way back may fail for the same reason.
            let _ = restore(&applied);
            Err(e)
        }
    }
}

fn offloads(interface: &str) -> Result<Vec<(Offload, bool)>, NetError> {
    Offload::ALL.into_iter().map(|offload| Ok((offload, ethtool::offload(interface, offload)?))).collect()
}

/// Switches offloads that are not as wanted. What goes on goes on in reverse order: checksums first.
fn set_offloads(interface: &str, wanted: &[(Offload, bool)]) -> Result<(), SetError> {
    let off = wanted.iter().filter(|(_, on)| !on);
    let on = wanted.iter().rev().filter(|(_, on)| *on);
    for (offload, on) in off.chain(on) {
        if ethtool::offload(interface, *offload)? != *on {
            ethtool::set_offload(interface, *offload, *on)?;
        }
    }
    Ok(())
}

fn set_congestion(algorithm: &str) -> Result<(), SetError> {
    let what = || format!("the congestion control to {algorithm}");
    fs::write(CONGESTION, algorithm).map_err(|source| SetError::File { what: what(), source })
}

fn wait_for_carrier(interface: &str) -> Result<(), SetError> {
    let until = Instant::now() + CARRIER_PATIENCE;
    while !net::link(interface)?.running {
        if Instant::now() > until {
            let seconds = CARRIER_PATIENCE.as_secs();
            return Err(SetError::NoCarrier { interface: interface.to_owned(), seconds });
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}
