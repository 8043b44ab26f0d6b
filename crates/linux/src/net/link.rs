//! Interfaces: what they are, and the few things about them that one sets.

use std::os::fd::{AsRawFd, BorrowedFd};

use super::NetError;
use super::netlink::{Message, attribute, attribute_text, attribute_u32, request, u16_at, u32_at};

/// The only attribute of a veth: its other end (linux/veth.h).
const VETH_INFO_PEER: u16 = 1;

/// An interface as the kernel describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkInfo {
    /// Number in its namespace.
    pub index: u32,
    /// Name in its namespace.
    pub name: String,
    /// `ARPHRD_...`: 1 is Ethernet, 772 is loopback, 32 is InfiniBand.
    pub hardware: u16,
    /// Largest packet in bytes, from the network header on.
    pub mtu: u32,
    /// Smallest MTU the device takes; 0 where it does not say.
    pub min_mtu: u32,
    /// Largest MTU the device takes; `None` where there is no such limit.
    pub max_mtu: Option<u32>,
    /// Whether it was set up by its administrator.
    pub up: bool,
    /// Whether the medium answers.
    pub carrier: bool,
    /// What both amount to.
    pub state: OperState,
    /// `veth`, `bridge`, ...; empty for hardware.
    pub kind: String,
    /// The kind of its root queueing discipline.
    pub qdisc: Option<String>,
    /// Most segments that the stack puts into one packet for it; 0 where the kernel does not say.
    pub gso_max_segs: u32,
    /// Hardware address; empty where it has none.
    pub mac: Vec<u8>,
}

/// RFC 2863 operational state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperState {
    /// The driver does not say; loopback and many virtual devices stay here.
    Unknown,
    /// A part of it is missing.
    NotPresent,
    /// Down.
    Down,
    /// Its lower device is down.
    LowerLayerDown,
    /// Under test.
    Testing,
    /// Waits for something, such as authentication.
    Dormant,
    /// Carries packets.
    Up,
}

/// One end of a veth pair.
#[derive(Clone, Copy, Debug)]
pub struct VethEnd<'a> {
    /// Interface name.
    pub name: &'a str,
    /// Hardware address.
    pub mac: [u8; 6],
}

/// The interface of that name.
///
/// # Errors
/// [`NetError::NoInterface`], which lists those that exist.
pub fn link(name: &str) -> Result<LinkInfo, NetError> {
    check_name(name)?;
    let message = Message::new(libc::RTM_GETLINK, 0, &ifinfo(0, 0, 0)).with_text(libc::IFLA_IFNAME, name);
    match request(message) {
        Ok(replies) => one(&replies, name),
        Err(refusal) if refusal.source.raw_os_error() == Some(libc::ENODEV) => {
            let others = links().unwrap_or_default().into_iter().map(|link| link.name).collect();
            Err(NetError::NoInterface { interface: name.to_owned(), others })
        }
        Err(refusal) => Err(NetError::refused("read the interface", name, refusal)),
    }
}

/// The interface of that number.
///
/// # Errors
/// [`NetError::Refused`] where there is none.
pub fn link_by_index(index: u32) -> Result<LinkInfo, NetError> {
    let name = format!("interface {index}");
    let replies = request(Message::new(libc::RTM_GETLINK, 0, &ifinfo(index, 0, 0)))
        .map_err(|refusal| NetError::refused("read the interface", &name, refusal))?;
    one(&replies, &name)
}

/// All interfaces of this namespace, in the kernel's order.
///
/// # Errors
/// [`NetError::Refused`] where netlink itself is refused.
pub fn links() -> Result<Vec<LinkInfo>, NetError> {
    let replies = request(Message::new(libc::RTM_GETLINK, libc::NLM_F_DUMP, &ifinfo(0, 0, 0)))
        .map_err(|refusal| NetError::refused("list interfaces", "this host", refusal))?;
    Ok(replies.iter().filter_map(|reply| parse(reply)).collect())
}

/// Makes a veth pair: `here` in the namespace of the calling thread, `there` in the one that `there_ns` refers to.
///
/// # Errors
/// [`NetError::Refused`]: no privilege, a name taken, a kernel without veth.
pub fn create_veth(here: VethEnd<'_>, there: VethEnd<'_>, there_ns: BorrowedFd<'_>) -> Result<(), NetError> {
    check_name(here.name)?;
    check_name(there.name)?;
    let message = Message::new(libc::RTM_NEWLINK, libc::NLM_F_CREATE | libc::NLM_F_EXCL, &ifinfo(0, 0, 0))
        .with_text(libc::IFLA_IFNAME, here.name)
        .with(libc::IFLA_ADDRESS, &here.mac)
        .with_nest(libc::IFLA_LINKINFO, |m| {
            m.with_text(libc::IFLA_INFO_KIND, "veth").with_nest(libc::IFLA_INFO_DATA, |m| {
                m.with_nest(VETH_INFO_PEER, |m| {
                    m.with_fixed(&ifinfo(0, 0, 0))
                        .with_text(libc::IFLA_IFNAME, there.name)
                        .with(libc::IFLA_ADDRESS, &there.mac)
                        .with_u32(libc::IFLA_NET_NS_FD, there_ns.as_raw_fd() as u32)
                })
            })
        });
    change("create a veth pair", here.name, message)
}

/// Sets an interface up or down.
///
/// # Errors
/// No such interface; no privilege.
pub fn set_up(name: &str, up: bool) -> Result<(), NetError> {
    let flag = libc::IFF_UP as u32;
    let message =
        Message::new(libc::RTM_NEWLINK, 0, &ifinfo(link(name)?.index, if up { flag } else { 0 }, flag));
    change(if up { "set up" } else { "set down" }, name, message)
}

/// Sets the MTU in bytes.
///
/// # Errors
/// No such interface; no privilege; more or less than the device takes.
pub fn set_mtu(name: &str, bytes: u32) -> Result<(), NetError> {
    let message =
        Message::new(libc::RTM_NEWLINK, 0, &ifinfo(link(name)?.index, 0, 0)).with_u32(libc::IFLA_MTU, bytes);
    change(format!("set mtu {bytes}"), name, message)
}

/// Sets how many segments the stack may put into one packet for this interface. With 1, a queueing discipline sees
/// packets as a wire would carry them.
///
/// # Errors
/// No such interface; no privilege; more than the device takes.
pub fn set_gso_max_segs(name: &str, segments: u32) -> Result<(), NetError> {
    let message = Message::new(libc::RTM_NEWLINK, 0, &ifinfo(link(name)?.index, 0, 0))
        .with_u32(libc::IFLA_GSO_MAX_SEGS, segments);
    change(format!("set gso_max_segs {segments}"), name, message)
}

/// Refuses what cannot be an interface name before the kernel says no more than "invalid argument".
pub(super) fn check_name(name: &str) -> Result<(), NetError> {
    let fits = (1..libc::IFNAMSIZ).contains(&name.len());
    let clean = !name.bytes().any(|byte| byte == 0 || byte == b'/' || byte.is_ascii_whitespace());
    if fits && clean { Ok(()) } else { Err(NetError::BadName { interface: name.to_owned() }) }
}

/// Sends a request whose only answer is yes or no.
pub(super) fn change(attempt: impl Into<String>, interface: &str, message: Message) -> Result<(), NetError> {
    match request(message) {
        Ok(_) => Ok(()),
        Err(refusal) => Err(NetError::refused(attempt, interface, refusal)),
    }
}

/// `struct ifinfomsg`.
fn ifinfo(index: u32, flags: u32, mask: u32) -> [u8; 16] {
    let mut fixed = [0; 16];
    fixed[4..8].copy_from_slice(&index.to_ne_bytes());
    fixed[8..12].copy_from_slice(&flags.to_ne_bytes());
    fixed[12..16].copy_from_slice(&mask.to_ne_bytes());
    fixed
}

fn one(replies: &[Vec<u8>], name: &str) -> Result<LinkInfo, NetError> {
    replies.iter().find_map(|reply| parse(reply)).ok_or_else(|| NetError::Incomplete {
        attempt: "read the interface".into(),
        interface: name.to_owned(),
        missing: "name or mtu",
    })
}

fn parse(reply: &[u8]) -> Option<LinkInfo> {
    let attrs = reply.get(16..)?;
    let flags = u32_at(reply, 8)?;
    let info = attribute(attrs, libc::IFLA_LINKINFO).unwrap_or(&[]);
    Some(LinkInfo {
        index: u32_at(reply, 4)?,
        name: attribute_text(attrs, libc::IFLA_IFNAME)?,
        hardware: u16_at(reply, 2)?,
        mtu: attribute_u32(attrs, libc::IFLA_MTU)?,
        min_mtu: attribute_u32(attrs, libc::IFLA_MIN_MTU).unwrap_or(0),
        max_mtu: attribute_u32(attrs, libc::IFLA_MAX_MTU).filter(|max| *max != 0),
        up: flags & libc::IFF_UP as u32 != 0,
        carrier: attribute(attrs, libc::IFLA_CARRIER).is_some_and(|payload| payload.first() == Some(&1)),
        state: match attribute(attrs, libc::IFLA_OPERSTATE).and_then(|payload| payload.first()) {
            Some(1) => OperState::NotPresent,
            Some(2) => OperState::Down,
            Some(3) => OperState::LowerLayerDown,
            Some(4) => OperState::Testing,
            Some(5) => OperState::Dormant,
            Some(6) => OperState::Up,
            _ => OperState::Unknown,
        },
        kind: attribute_text(info, libc::IFLA_INFO_KIND).unwrap_or_default(),
        qdisc: attribute_text(attrs, libc::IFLA_QDISC),
        gso_max_segs: attribute_u32(attrs, libc::IFLA_GSO_MAX_SEGS).unwrap_or(0),
        mac: attribute(attrs, libc::IFLA_ADDRESS).unwrap_or(&[]).to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_always_there() {
        let lo = link("lo").unwrap();
        assert_eq!((lo.hardware, lo.kind.as_str(), lo.mac.len()), (libc::ARPHRD_LOOPBACK, "", 6));
        assert_eq!(link_by_index(lo.index).unwrap().name, "lo");
        assert!(links().unwrap().contains(&lo));
    }

    #[test]
    fn names_are_checked() {
        let check = |name: &str, expected: &str| {
            let text = link(name).unwrap_err().to_string();
            assert!(text.starts_with(expected), "{name:?}: {text}");
        };
        check("eth99", "no network interface \"eth99\" here\nhint: there are ");
        check("", "no network interface can be named");
        check("sixteen-letters-", "no network interface can be named");
        check("a/b", "no network interface can be named");
        check("a b", "no network interface can be named");
    }

    #[test]
    fn short_answers_are_no_links() {
        assert_eq!(parse(&[]), None);
        assert_eq!(parse(&[0; 16]), None);
        assert_eq!(parse(&[0; 15]), None);
    }
}
