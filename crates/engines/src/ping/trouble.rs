//! Why a request has no reply, where somebody says so: an ICMP error on the way or the own host.

use std::fmt;
use std::net::IpAddr;

use nix::errno::Errno;

use super::packet::Family;

/// A refusal of one request, told apart from loss: lost requests say nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// A router or the far host answered with an ICMP error.
    Icmp {
        /// ICMP or ICMPv6.
        family: Family,
        /// The type in the ICMP header.
        kind: u8,
        /// The code in the ICMP header.
        code: u8,
        /// The MTU of "fragmentation needed" and "packet too big", in bytes; 0 where none was given.
        mtu: u32,
        /// Who said so.
        from: Option<IpAddr>,
    },
    /// The own host did not send it: larger than the link's or the path's MTU while fragments are forbidden.
    TooLong {
        /// The MTU in bytes; 0 where the system does not say.
        mtu: u32,
    },
    /// The own host did not send it, for any other reason.
    Local {
        /// The system's error number.
        errno: i32,
    },
}

impl Trouble {
    /// What happened, without who said so.
    fn what(self) -> String {
        let (family, kind, code, mtu) = match self {
            Trouble::Icmp { family, kind, code, mtu, .. } => (family, kind, code, mtu),
            Trouble::TooLong { mtu: 0 } => return "the packet is larger than the MTU".to_owned(),
            Trouble::TooLong { mtu } => return format!("the packet is larger than the MTU of {mtu} bytes"),
            Trouble::Local { errno } => return reason(Errno::from_raw(errno)),
        };
        let text = match (family, kind, code) {
            (Family::V4, 3, 0 | 6 | 11) => "network unreachable",
            (Family::V4, 3, 1 | 7 | 12) => "host unreachable",
            (Family::V4, 3, 2) => "protocol unreachable",
            (Family::V4, 3, 3) | (Family::V6, 1, 4) => "port unreachable",
            (Family::V4, 3, 4) => return format!("fragmentation needed: the path takes {mtu} bytes"),
            (Family::V6, 2, _) => return format!("packet too big: the path takes {mtu} bytes"),
            (Family::V4, 3, 9 | 10 | 13) | (Family::V6, 1, 1 | 5 | 6) => "prohibited by a filter",
            (Family::V4, 11, 0) | (Family::V6, 3, 0) => "time to live exceeded",
            (Family::V4, 11, 1) | (Family::V6, 3, 1) => "a fragment was lost",
            (Family::V4, 12, _) | (Family::V6, 4, _) => "a router did not understand the packet",
            (Family::V6, 1, 0) => "no route",
            (Family::V6, 1, 3) => "host unreachable",
            _ => return format!("ICMP type {kind} code {code}"),
        };
        text.to_owned()
    }

    /// Whether the request ever left this host.
    pub fn left_this_host(self) -> bool {
        matches!(self, Trouble::Icmp { .. })
    }
}

/// One clause for people: `time to live exceeded (from 10.0.0.1)`.
impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Icmp { from: Some(from), .. } => write!(f, "{} (from {from})", self.what()),
            _ => f.write_str(&self.what()),
        }
    }
}

/// The system's words for an error, as the end of a sentence.
pub(super) fn reason(errno: Errno) -> String {
    let text = errno.desc();
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_lowercase().chain(letters).collect(),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        let check = |family, kind, code, mtu, text: &str| {
            let from = Some(IpAddr::from([10, 0, 0, 1]));
            assert_eq!(Trouble::Icmp { family, kind, code, mtu, from }.to_string(), text);
        };
        check(Family::V4, 3, 1, 0, "host unreachable (from 10.0.0.1)");
        check(Family::V4, 3, 4, 1400, "fragmentation needed: the path takes 1400 bytes (from 10.0.0.1)");
        check(Family::V4, 11, 0, 0, "time to live exceeded (from 10.0.0.1)");
        check(Family::V6, 2, 0, 1280, "packet too big: the path takes 1280 bytes (from 10.0.0.1)");
        check(Family::V6, 1, 3, 0, "host unreachable (from 10.0.0.1)");
        check(Family::V4, 77, 5, 0, "ICMP type 77 code 5 (from 10.0.0.1)");
        let long = Trouble::TooLong { mtu: 1500 };
        assert_eq!(long.to_string(), "the packet is larger than the MTU of 1500 bytes");
    }
}
