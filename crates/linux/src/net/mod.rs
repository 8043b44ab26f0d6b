//! Links, addresses, queues and routes, by synchronous netlink and ethtool's ioctls. No program is started.

#![allow(
    unsafe_code,
    reason = "netlink sockets and ethtool ioctls have no safe wrapper in the standard library"
)]

pub mod ethtool;
mod netlink;

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, BorrowedFd};

use netlink::{Message, Netlink};
use serde::{Deserialize, Serialize};

/// What could not be done, on which interface, and why.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// The kernel refused.
    #[error("cannot {what}: {}{}", reason(.source), hint(.source))]
    Refused {
        /// What was attempted, on what.
        what: String,
        /// The kernel's reason.
        source: io::Error,
    },
    /// There is no such interface.
    #[error("no interface {0} here")]
    NoInterface(String),
    /// A value that the device can't have.
    #[error("cannot set {what} of {interface} to {value}: it takes {min} to {max}")]
    OutOfRange {
        /// Which property.
        what: &'static str,
        /// The interface.
        interface: String,
        /// The value asked for.
        value: u32,
        /// The least.
        min: u32,
        /// The most.
        max: u32,
    },
}

fn reason(source: &io::Error) -> String {
    match source.kind() {
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => source.to_string(),
    }
}

fn hint(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::PermissionDenied => "\nhint: run as root, or give the host sudo = true in the plan",
        _ => "",
    }
}

fn refused(what: impl Into<String>) -> impl FnOnce(io::Error) -> NetError {
    move |source| NetError::Refused { what: what.into(), source }
}

/// An interface as the kernel describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkInfo {
    /// Its number in this namespace.
    pub index: u32,
    /// Its MTU in bytes.
    pub mtu: u32,
    /// The least MTU its driver takes; 0 where it does not say.
    pub min_mtu: u32,
    /// The most.
    pub max_mtu: u32,
    /// `veth`, `bridge`, ...; empty for hardware.
    pub kind: String,
    /// Segments in a packet that goes through its queue at the most.
    pub gso_max_segs: u32,
    /// Whether frames can leave: up and with carrier.
    pub running: bool,
}

const IFLA_ADDRESS: u16 = 1;
const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
const IFLA_LINKINFO: u16 = 18;
const IFLA_NET_NS_FD: u16 = 28;
const IFLA_GSO_MAX_SEGS: u16 = 40;
const IFLA_MIN_MTU: u16 = 50;
const IFLA_MAX_MTU: u16 = 51;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const VETH_INFO_PEER: u16 = 1;

/// struct ifinfomsg.
fn ifinfo(index: u32, flags: u32, change: u32) -> Vec<u8> {
    let mut body = vec![libc::AF_UNSPEC as u8, 0, 0, 0];
    body.extend(index.to_ne_bytes());
    body.extend(flags.to_ne_bytes());
    body.extend(change.to_ne_bytes());
    body
}

/// What the kernel says about an interface of this thread's namespace.
pub fn link(name: &str) -> Result<LinkInfo, NetError> {
    let mut message = Message::new(libc::RTM_GETLINK, 0, &ifinfo(0, 0, 0));
    message.text(IFLA_IFNAME, name);
    let replies = match Netlink::open().and_then(|socket| socket.ask(message)) {
        Err(e) if e.raw_os_error() == Some(libc::ENODEV) => {
            return Err(NetError::NoInterface(name.to_owned()));
        }
        other => other.map_err(refused(format!("look at interface {name}")))?,
    };
    let body = replies.first().map(Vec::as_slice).unwrap_or_default();
    if body.len() < 16 {
        return Err(NetError::NoInterface(name.to_owned()));
    }
    let attributes = netlink::attributes(&body[16..]);
    let number = |kind| netlink::find(&attributes, kind).and_then(netlink::u32_of).unwrap_or(0);
    let flags = netlink::u32_of(&body[8..12]).unwrap_or(0);
    let kind = netlink::find(&attributes, IFLA_LINKINFO)
        .and_then(|info| netlink::find(&netlink::attributes(info), IFLA_INFO_KIND).map(netlink::text_of));
    Ok(LinkInfo {
        index: netlink::u32_of(&body[4..8]).unwrap_or(0),
        mtu: number(IFLA_MTU),
        min_mtu: number(IFLA_MIN_MTU),
        max_mtu: number(IFLA_MAX_MTU),
        kind: kind.unwrap_or_default(),
        gso_max_segs: number(IFLA_GSO_MAX_SEGS),
        running: flags & libc::IFF_RUNNING as u32 != 0 && flags & libc::IFF_UP as u32 != 0,
    })
}

fn change(name: &str, what: String, flags: u32, edit: impl FnOnce(&mut Message)) -> Result<(), NetError> {
    let index = link(name)?.index;
    let mut message = Message::new(libc::RTM_NEWLINK, 0, &ifinfo(index, flags, flags));
    edit(&mut message);
    Netlink::open().and_then(|socket| socket.tell(message)).map_err(refused(what))
}

/// Brings an interface up.
pub fn up(name: &str) -> Result<(), NetError> {
    change(name, format!("bring {name} up"), libc::IFF_UP as u32, |_| {})
}

/// Sets the MTU in bytes.
pub fn set_mtu(name: &str, bytes: u32) -> Result<(), NetError> {
    let found = link(name)?;
    let max = if found.max_mtu == 0 { u32::MAX } else { found.max_mtu };
    if bytes < found.min_mtu || bytes > max {
        let (interface, min) = (name.to_owned(), found.min_mtu);
        return Err(NetError::OutOfRange { what: "the MTU", interface, value: bytes, min, max });
    }
    change(name, format!("set the MTU of {name} to {bytes}"), 0, |message| message.u32(IFLA_MTU, bytes))
}

/// Sets how many segments a packet in the queue may hold.
pub fn set_gso_max_segs(name: &str, segments: u32) -> Result<(), NetError> {
    let what = format!("set the segments in a packet of {name} to {segments}");
    change(name, what, 0, |message| message.u32(IFLA_GSO_MAX_SEGS, segments))
}

/// Makes a veth pair: `name` here, an interface of the same name in the namespace `peer`. `addresses` are their
/// hardware addresses.
pub fn make_veth(name: &str, peer: BorrowedFd<'_>, addresses: [[u8; 6]; 2]) -> Result<(), NetError> {
    let flags = (libc::NLM_F_CREATE | libc::NLM_F_EXCL) as u16;
    let mut message = Message::new(libc::RTM_NEWLINK, flags, &ifinfo(0, 0, 0));
    message.text(IFLA_IFNAME, name);
    message.bytes(IFLA_ADDRESS, &addresses[0]);
    message.nested(IFLA_LINKINFO, |info| {
        info.text(IFLA_INFO_KIND, "veth");
        info.nested(IFLA_INFO_DATA, |data| {
            data.nested(VETH_INFO_PEER, |far| {
                far.raw(&ifinfo(0, 0, 0));
                far.text(IFLA_IFNAME, name);
                far.bytes(IFLA_ADDRESS, &addresses[1]);
                far.u32(IFLA_NET_NS_FD, peer.as_raw_fd() as u32);
            });
        });
    });
    Netlink::open().and_then(|socket| socket.tell(message)).map_err(refused("make a veth pair"))
}

/// Gives an interface an address. IPv6 addresses are used at once, without looking for duplicates.
pub fn add_address(name: &str, address: IpAddr, prefix: u8) -> Result<(), NetError> {
    const IFA_ADDRESS: u16 = 1;
    const IFA_LOCAL: u16 = 2;
    const IFA_F_NODAD: u8 = 2;
    let index = link(name)?.index;
    let (family, bytes) = octets(address);
    let mut body = vec![family, prefix, IFA_F_NODAD, 0];
    body.extend(index.to_ne_bytes());
    let flags = (libc::NLM_F_CREATE | libc::NLM_F_EXCL) as u16;
    let mut message = Message::new(libc::RTM_NEWADDR, flags, &body);
    message.bytes(IFA_LOCAL, &bytes);
    message.bytes(IFA_ADDRESS, &bytes);
    let what = format!("give {name} the address {address}");
    Netlink::open().and_then(|socket| socket.tell(message)).map_err(refused(what))
}

/// The way to an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The interface that leads there.
    pub interface: String,
    /// The own address used towards it.
    pub source: Option<IpAddr>,
}

/// Which way leads to `address` from this thread's namespace.
pub fn route_to(address: IpAddr) -> Result<Route, NetError> {
    const RTA_DST: u16 = 1;
    const RTA_OIF: u16 = 4;
    const RTA_PREFSRC: u16 = 7;
    let (family, bytes) = octets(address);
    // struct rtmsg: family, lengths, and the rest as the kernel likes.
    let mut body = vec![family, (bytes.len() * 8) as u8];
    body.resize(12, 0);
    let mut message = Message::new(libc::RTM_GETROUTE, 0, &body);
    message.bytes(RTA_DST, &bytes);
    let what = || refused(format!("find a route to {address}"));
    let replies = Netlink::open().and_then(|socket| socket.ask(message)).map_err(what())?;
    let body = replies.first().map(Vec::as_slice).unwrap_or_default();
    let attributes = netlink::attributes(body.get(12..).unwrap_or_default());
    let missing = || io::Error::new(io::ErrorKind::NotFound, "the kernel names no interface");
    let index =
        netlink::find(&attributes, RTA_OIF).and_then(netlink::u32_of).ok_or_else(missing).map_err(what())?;
    let source = netlink::find(&attributes, RTA_PREFSRC).and_then(address_of);
    let interface = nix::net::if_::if_indextoname(index).map_err(io::Error::from).map_err(what())?;
    Ok(Route { interface: interface.to_string_lossy().into_owned(), source })
}

fn octets(address: IpAddr) -> (u8, Vec<u8>) {
    match address {
        IpAddr::V4(v4) => (libc::AF_INET as u8, v4.octets().to_vec()),
        IpAddr::V6(v6) => (libc::AF_INET6 as u8, v6.octets().to_vec()),
    }
}

fn address_of(bytes: &[u8]) -> Option<IpAddr> {
    match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes).ok().map(IpAddr::from),
        16 => <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from),
        _ => None,
    }
}

/// A token bucket on the way out of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenBucket {
    /// bit/s.
    pub rate: u64,
    /// Bytes that may go at once.
    pub burst: u32,
    /// Bytes counted on top of every packet.
    pub overhead: u16,
}

const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_RATE64: u16 = 4;
const TCA_TBF_BURST: u16 = 6;
const TC_H_ROOT: u32 = 0xffff_ffff;
const TC_LINKLAYER_ETHERNET: u8 = 1;
/// How long a packet may wait in the bucket's queue, beyond a burst.
const QUEUE_SECONDS: f64 = 0.05;

fn tcmsg(index: u32, handle: u32) -> Vec<u8> {
    let mut body = vec![0; 4];
    body.extend(index.to_ne_bytes());
    body.extend(handle.to_ne_bytes());
    body.extend(TC_H_ROOT.to_ne_bytes());
    body.extend(0u32.to_ne_bytes());
    body
}

/// Puts a token bucket at the root of an interface, in place of what was there.
pub fn set_token_bucket(name: &str, bucket: TokenBucket) -> Result<(), NetError> {
    let index = link(name)?.index;
    let bytes_per_second = bucket.rate / 8;
    let rate32 = u32::try_from(bytes_per_second).unwrap_or(u32::MAX);
    let limit = bytes_per_second as f64 * QUEUE_SECONDS + f64::from(bucket.burst);
    // struct tc_tbf_qopt: two struct tc_ratespec (rate, no peak rate), limit, buffer, mtu.
    let mut parameters = vec![0, TC_LINKLAYER_ETHERNET];
    parameters.extend(bucket.overhead.to_ne_bytes());
    parameters.extend([0; 4]);
    parameters.extend(rate32.to_ne_bytes());
    parameters.extend([0; 12]);
    parameters.extend((limit.min(f64::from(u32::MAX)) as u32).to_ne_bytes());
    parameters.extend([0; 8]);
    let flags = (libc::NLM_F_CREATE | libc::NLM_F_REPLACE) as u16;
    let mut message = Message::new(libc::RTM_NEWQDISC, flags, &tcmsg(index, 1 << 16));
    message.text(TCA_KIND, "tbf");
    message.nested(TCA_OPTIONS, |options| {
        options.bytes(TCA_TBF_PARMS, &parameters);
        options.u32(TCA_TBF_BURST, bucket.burst);
        options.bytes(TCA_TBF_RATE64, &bytes_per_second.to_ne_bytes());
    });
    let what = format!("put a token bucket on {name}");
    Netlink::open().and_then(|socket| socket.tell(message)).map_err(refused(what))
}

/// Takes the queue at the root of an interface away, so that the kernel's default returns.
pub fn remove_queue(name: &str) -> Result<(), NetError> {
    let index = link(name)?.index;
    let message = Message::new(libc::RTM_DELQDISC, 0, &tcmsg(index, 0));
    match Netlink::open().and_then(|socket| socket.tell(message)) {
        // There was none: that is what was wanted.
        Err(e) if matches!(e.raw_os_error(), Some(libc::ENOENT | libc::EINVAL)) => Ok(()),
        other => other.map_err(refused(format!("take the queue of {name} away"))),
    }
}

/// The kind of the queue at the root of an interface, and its parameters if it is a token bucket.
pub fn queue(name: &str) -> Result<(String, Option<TokenBucket>), NetError> {
    let index = link(name)?.index;
    let message = Message::new(libc::RTM_GETQDISC, libc::NLM_F_DUMP as u16, &tcmsg(index, 0));
    let replies = Netlink::open()
        .and_then(|socket| socket.ask(message))
        .map_err(refused(format!("look at the queue of {name}")))?;
    let mine = replies.iter().filter(|body| body.len() >= 20).find(|body| {
        netlink::u32_of(&body[4..8]) == Some(index) && netlink::u32_of(&body[12..16]) == Some(TC_H_ROOT)
    });
    let Some(body) = mine else { return Ok(("none".to_owned(), None)) };
    let attributes = netlink::attributes(&body[20..]);
    let kind = netlink::find(&attributes, TCA_KIND).map(netlink::text_of).unwrap_or_default();
    if kind != "tbf" {
        return Ok((kind, None));
    }
    let options = netlink::find(&attributes, TCA_OPTIONS).map(netlink::attributes).unwrap_or_default();
    let parameters = netlink::find(&options, TCA_TBF_PARMS).filter(|bytes| bytes.len() >= 36);
    let bucket = parameters.and_then(|bytes| {
        let wide =
            netlink::find(&options, TCA_TBF_RATE64).and_then(|b| b.try_into().ok()).map(u64::from_ne_bytes);
        let rate = wide.or_else(|| netlink::u32_of(&bytes[8..12]).map(u64::from))? * 8;
        let overhead = u16::from_ne_bytes([bytes[2], bytes[3]]);
        // The kernel gives the burst as time at the rate, in ticks of 64 ns.
        let ticks = netlink::u32_of(&bytes[28..32])?;
        let burst = (f64::from(ticks) * 64e-9 * rate as f64 / 8.0).round() as u32;
        Some(TokenBucket { rate, burst, overhead })
    });
    Ok((kind, bucket))
}
