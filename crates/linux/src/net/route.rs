//! Which way packets to an address would take.

use std::net::IpAddr;

use super::NetError;
use super::address::{family, from_octets, octets};
use super::link::link_by_index;
use super::netlink::{Message, attribute, attribute_u32, request};

/// MTU among the metrics of a route (linux/rtnetlink.h).
const RTAX_MTU: u16 = 2;

/// The way to an address, as the kernel would choose it now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The interface that packets leave by; `lo` for an address of this host.
    pub interface: String,
    /// The source address that the kernel would give them.
    pub source: Option<IpAddr>,
    /// The router they go to first, if any.
    pub gateway: Option<IpAddr>,
    /// Largest packet in bytes: the smaller of the interface's MTU and the one in the route, if it has one.
    pub mtu: u32,
    /// Whether the address belongs to this host.
    pub local: bool,
}

/// Looks up the way to `to`. Sends nothing.
///
/// # Errors
/// [`NetError::NoRoute`], with the system's word for it, usually "network is unreachable".
pub fn route_to(to: IpAddr) -> Result<Route, NetError> {
    let octets = octets(to);
    // `struct rtmsg`
    let fixed = [family(to), octets.len() as u8 * 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let message = Message::new(libc::RTM_GETROUTE, 0, &fixed).with(libc::RTA_DST, &octets);
    let replies = request(message).map_err(|refusal| NetError::NoRoute {
        to,
        source: refusal.source,
        message: refusal.message,
    })?;
    let missing = |missing| NetError::Incomplete {
        attempt: "find a route".into(),
        interface: format!("the way to {to}"),
        missing,
    };
    let reply = replies.first().ok_or_else(|| missing("route"))?;
    let attrs = reply.get(fixed.len()..).ok_or_else(|| missing("route"))?;
    let index = attribute_u32(attrs, libc::RTA_OIF).ok_or_else(|| missing("interface"))?;
    let out = link_by_index(index)?;
    let metric = attribute(attrs, libc::RTA_METRICS).and_then(|metrics| attribute_u32(metrics, RTAX_MTU));
    Ok(Route {
        interface: out.name,
        source: attribute(attrs, libc::RTA_PREFSRC).and_then(from_octets),
        gateway: attribute(attrs, libc::RTA_GATEWAY).and_then(from_octets),
        mtu: metric.filter(|mtu| *mtu != 0).map_or(out.mtu, |mtu| mtu.min(out.mtu)),
        local: reply[7] == libc::RTN_LOCAL,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_is_reached_by_loopback() {
        let to = IpAddr::from([127, 0, 0, 1]);
        let route = route_to(to).unwrap();
        assert_eq!((route.interface.as_str(), route.source, route.local), ("lo", Some(to), true));
        assert_eq!(route.gateway, None);
    }
}
