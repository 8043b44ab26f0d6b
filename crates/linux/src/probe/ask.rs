//! What only the kernel itself answers about an interface: ioctls and netlink on the live machine,
//! `tenbin/net.json` where a machine is kept as files:
//! `{"eth0": {"driver": "veth", "qdisc": "tbf", "tbf": {"rate": 25000000000, "burst": 8388608, "overhead": 24}}}`.

use std::collections::BTreeMap;

use nix::errno::Errno;
use serde::Deserialize;

use crate::net::ethtool::{self, Offload};
use crate::net::{self, LinkInfo, NetError, TokenBucket};
use crate::sysroot::{ReadError, SysRoot, of_errno};

/// The answers about one interface, each with its own absence or error.
pub(super) struct Answers {
    pub driver: Result<String, ReadError>,
    pub firmware: Result<String, ReadError>,
    /// Empty for hardware.
    pub kind: Result<String, ReadError>,
    pub gso_max_segs: Result<i64, ReadError>,
    pub qdisc: Result<String, ReadError>,
    pub tbf: Option<TokenBucket>,
    pub offloads: [(Offload, Result<bool, ReadError>); 4],
}

/// The same as it stands in a file; what is missing is absent.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Kept {
    driver: Option<String>,
    firmware: Option<String>,
    kind: Option<String>,
    gso_max_segs: Option<i64>,
    qdisc: Option<String>,
    tbf: Option<TokenBucket>,
    #[serde(default)]
    offload: BTreeMap<String, bool>,
}

/// The answers kept for a machine; none for the live one.
pub(super) fn kept(sys: &SysRoot) -> Result<BTreeMap<String, Kept>, ReadError> {
    match sys.answer("net") {
        Err(ReadError::Absent { .. }) => Ok(BTreeMap::new()),
        other => other,
    }
}

impl Answers {
    /// Asks the kernel.
    pub fn live(interface: &str) -> Answers {
        let link = net::link(interface);
        let of_link = |pick: fn(&LinkInfo) -> i64| match &link {
            Ok(link) => Ok(pick(link)),
            Err(e) => Err(sort_out("netlink RTM_GETLINK", e)),
        };
        let (qdisc, tbf) = match net::queue(interface) {
            Ok((qdisc, tbf)) => (Ok(qdisc), tbf),
            Err(e) => (Err(sort_out("netlink RTM_GETQDISC", &e)), None),
        };
        let (driver, firmware) = match ethtool::driver(interface) {
            Ok(info) => (Ok(info.driver), Ok(info.firmware)),
            Err(e) => {
                let e = sort_out("ethtool ETHTOOL_GDRVINFO", &e);
                (Err(e.clone()), Err(e))
            }
        };
        let offload =
            |offload| (offload, ethtool::offload(interface, offload).map_err(|e| sort_out("ethtool", &e)));
        Answers {
            driver,
            firmware,
            gso_max_segs: of_link(|link| i64::from(link.gso_max_segs)),
            kind: link.as_ref().map(|link| link.kind.clone()).map_err(|e| sort_out("netlink RTM_GETLINK", e)),
            qdisc,
            tbf,
            offloads: Offload::ALL.map(offload),
        }
    }

    /// What was kept.
    pub fn kept(kept: Kept) -> Answers {
        fn or_absent<T>(value: Option<T>) -> Result<T, ReadError> {
            value.ok_or_else(|| ReadError::Absent { path: "/tenbin/net.json".to_owned() })
        }
        Answers {
            driver: or_absent(kept.driver),
            firmware: or_absent(kept.firmware),
            kind: or_absent(kept.kind),
            gso_max_segs: or_absent(kept.gso_max_segs),
            qdisc: or_absent(kept.qdisc),
            tbf: kept.tbf,
            offloads: Offload::ALL.map(|o| (o, or_absent(kept.offload.get(offload_key(o)).copied()))),
        }
    }
}

/// The last part of an offload's key.
pub(super) fn offload_key(offload: Offload) -> &'static str {
    match offload {
        Offload::Tso => "tso",
        Offload::Gso => "gso",
        Offload::Gro => "gro",
        Offload::TxChecksum => "tx_checksum",
    }
}

fn sort_out(asked: &str, e: &NetError) -> ReadError {
    match e {
        NetError::Refused { source, .. } => match source.raw_os_error() {
            Some(code) => of_errno(asked, Errno::from_raw(code)),
            None => ReadError::Unreadable { path: asked.to_owned(), why: source.to_string() },
        },
        NetError::NoInterface { .. } => ReadError::Absent { path: asked.to_owned() },
        other => ReadError::Unreadable { path: asked.to_owned(), why: other.to_string() },
    }
}
