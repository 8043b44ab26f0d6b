//! IP addresses of interfaces.

use std::net::{IpAddr, Ipv6Addr};

use serde::{Deserialize, Serialize};

use super::NetError;
use super::link::{change, link};
use super::netlink::{Message, attribute, request, u32_at};

/// An address with the length of its network's prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// The address.
    pub ip: IpAddr,
    /// Bits of the network part.
    pub prefix: u8,
}

/// Adds an address. An IPv6 address skips duplicate detection, which would keep it from being used for a second or
/// two. An address that is there already is no error.
///
/// # Errors
/// No such interface; no privilege; a kernel or an interface without that IP version (also one whose MTU is below 1280
/// has no IPv6).
pub fn add_address(name: &str, address: Address) -> Result<(), NetError> {
    let Address { ip, prefix } = address;
    let flags = if ip.is_ipv6() { libc::IFA_F_NODAD as u8 } else { 0 };
    let octets = octets(ip);
    let message = Message::new(
        libc::RTM_NEWADDR,
        libc::NLM_F_CREATE | libc::NLM_F_REPLACE,
        &ifaddr(family(ip), prefix, flags, link(name)?.index),
    )
    .with(libc::IFA_LOCAL, &octets)
    .with(libc::IFA_ADDRESS, &octets);
    change(format!("add address {ip}/{prefix}"), name, message)
}

/// The addresses of an interface, IPv4 first, link-local ones (which the kernel makes by itself) left out.
///
/// # Errors
/// No such interface.
pub fn addresses(name: &str) -> Result<Vec<Address>, NetError> {
    let index = link(name)?.index;
    let mut found = Vec::new();
    for family in [libc::AF_INET, libc::AF_INET6] {
        let message = Message::new(libc::RTM_GETADDR, libc::NLM_F_DUMP, &ifaddr(family as u8, 0, 0, 0));
        let replies =
            request(message).map_err(|refusal| NetError::refused("list the addresses", name, refusal))?;
        found.extend(replies.iter().filter_map(|reply| parse(reply, index)));
    }
    Ok(found)
}

/// `AF_INET` or `AF_INET6`.
pub(super) fn family(ip: IpAddr) -> u8 {
    (if ip.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 }) as u8
}

/// The address in network order.
pub(super) fn octets(ip: IpAddr) -> Vec<u8> {
    match ip {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    }
}

/// The address in 4 or 16 bytes.
pub(super) fn from_octets(bytes: &[u8]) -> Option<IpAddr> {
    if let Ok(four) = <[u8; 4]>::try_from(bytes) {
        return Some(IpAddr::from(four));
    }
    <[u8; 16]>::try_from(bytes).ok().map(|sixteen| IpAddr::from(Ipv6Addr::from(sixteen)))
}

/// `struct ifaddrmsg`.
fn ifaddr(family: u8, prefix: u8, flags: u8, index: u32) -> [u8; 8] {
    let [a, b, c, d] = index.to_ne_bytes();
    [family, prefix, flags, libc::RT_SCOPE_UNIVERSE, a, b, c, d]
}

fn parse(reply: &[u8], index: u32) -> Option<Address> {
    let attrs = reply.get(8..)?;
    // IFA_ADDRESS is the far end on a point-to-point link, where IFA_LOCAL is ours; IPv6 has IFA_ADDRESS alone.
    let bytes = attribute(attrs, libc::IFA_LOCAL).or_else(|| attribute(attrs, libc::IFA_ADDRESS))?;
    let ours = u32_at(reply, 4)? == index && reply[3] != libc::RT_SCOPE_LINK;
    let ip = from_octets(bytes)?;
    ours.then_some(Address { ip, prefix: reply[1] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_there_and_back() {
        for text in ["10.117.0.1", "::1", "fd74:656e:6269:6e00::2"] {
            let ip: IpAddr = text.parse().unwrap();
            assert_eq!(from_octets(&octets(ip)), Some(ip));
        }
        assert_eq!(from_octets(&[1, 2, 3]), None);
    }

    #[test]
    fn other_interfaces_are_skipped() {
        let mut reply = ifaddr(libc::AF_INET as u8, 24, 0, 7).to_vec();
        reply.extend([8, 0, libc::IFA_LOCAL as u8, 0, 10, 0, 0, 1]);
        let expected = Address { ip: "10.0.0.1".parse().unwrap(), prefix: 24 };
        assert_eq!(parse(&reply, 7), Some(expected));
        assert_eq!(parse(&reply, 8), None);
        assert_eq!(parse(&reply[..4], 7), None);
    }
}
