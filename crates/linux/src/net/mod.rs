//! Interfaces, addresses, routes, queueing disciplines and offloads of the network namespace in which the calling
//! thread is, read and set without calling `ip`, `tc` or `ethtool`.
//!
//! Start at [`link`], [`route_to`], [`root_qdisc`] and [`ethtool::features`]. Interfaces go by name, since that is what users
//! write and what survives in a journal. Everything here is one question or one change; undoing is the business of
//! [`crate::set`].

mod address;
pub mod ethtool;
mod link;
mod netlink;
mod qdisc;
mod route;

use std::io;

pub use address::{Address, add_address, addresses};
pub use link::{
    LinkInfo, OperState, VethEnd, create_veth, link, link_by_index, links, set_gso_max_segs, set_mtu, set_up,
};
pub use qdisc::{
    RawTbf, RootQdisc, TokenBucket, delete_root_qdisc, put_back_token_bucket, queue, root_qdisc,
    set_token_bucket,
};
pub use route::{Route, route_to};

use netlink::Refusal;

/// Why something about the network could not be read or set.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// There is no interface of that name in this namespace.
    #[error("no network interface {interface:?} here{}", known(.others))]
    NoInterface {
        /// The name asked for.
        interface: String,
        /// The names that do exist.
        others: Vec<String>,
    },
    /// A name that no interface can have.
    #[error("no network interface can be named {interface:?}\nhint: 1 to 15 bytes, no slash, no space")]
    BadName {
        /// The name asked for.
        interface: String,
    },
    /// The kernel refused.
    #[error("cannot {attempt} on {interface}: {}{}{}", why(.source), said(.message), permission_hint(.source))]
    Refused {
        /// What was attempted, such as `set mtu 9000`.
        attempt: String,
        /// On which interface.
        interface: String,
        /// The system's error.
        source: io::Error,
        /// The kernel's own words, where it gave some.
        message: Option<String>,
    },
    /// The kernel knows no way to an address.
    #[error("cannot find a route to {to}: {}{}", why(.source), said(.message))]
    NoRoute {
        /// The address.
        to: std::net::IpAddr,
        /// The system's error.
        source: io::Error,
        /// The kernel's own words, where it gave some.
        message: Option<String>,
    },
    /// The kernel's answer lacks something that it always has.
    #[error("cannot {attempt} on {interface}: the kernel's answer has no {missing}")]
    Incomplete {
        /// What was attempted.
        attempt: String,
        /// On which interface.
        interface: String,
        /// What the answer lacks.
        missing: &'static str,
    },
}

impl NetError {
    fn refused(attempt: impl Into<String>, interface: &str, refusal: impl Into<Refusal>) -> NetError {
        let Refusal { source, message } = refusal.into();
        NetError::Refused { attempt: attempt.into(), interface: interface.to_owned(), source, message }
    }

    /// The system's error, where it was the system that refused.
    pub fn system(&self) -> Option<&io::Error> {
        match self {
            NetError::Refused { source, .. } | NetError::NoRoute { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// The system's words for an error, without the number that `io::Error` appends.
pub(crate) fn why(error: &io::Error) -> String {
    let text = match error.raw_os_error() {
        Some(number) => nix::errno::Errno::from_raw(number).desc().to_owned(),
        None => error.to_string(),
    };
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// The cure for a lack of privilege, on a line of its own; empty for any other error.
pub(crate) fn permission_hint(error: &io::Error) -> &'static str {
    if matches!(error.raw_os_error(), Some(libc::EPERM | libc::EACCES)) {
        "\nhint: run as root, or give the host sudo = true in the plan"
    } else {
        ""
    }
}

fn said(message: &Option<String>) -> String {
    message.as_ref().map_or_else(String::new, |words| format!(" ({})", words.trim_end_matches('.')))
}

fn known(others: &[String]) -> String {
    if others.is_empty() { String::new() } else { format!("\nhint: there are {}", others.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(error: &NetError, expected: &str) {
        assert_eq!(error.to_string(), expected);
    }

    fn refused(errno: i32, message: Option<&str>) -> NetError {
        NetError::Refused {
            attempt: "set mtu 9000".into(),
            interface: "eth0".into(),
            source: io::Error::from_raw_os_error(errno),
            message: message.map(str::to_owned),
        }
    }

    #[test]
    fn errors_say_what_where_why() {
        check(
            &refused(libc::EPERM, None),
            "cannot set mtu 9000 on eth0: operation not permitted\nhint: run as root, or give the \
             host sudo = true in the plan",
        );
        check(
            &refused(libc::EINVAL, Some("mtu greater than device maximum")),
            "cannot set mtu 9000 on eth0: invalid argument (mtu greater than device maximum)",
        );
        check(
            &NetError::NoInterface { interface: "eth9".into(), others: vec!["lo".into(), "eth0".into()] },
            "no network interface \"eth9\" here\nhint: there are lo, eth0",
        );
    }
}
