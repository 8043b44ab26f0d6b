//! Two hosts on this machine: anonymous network namespaces joined by a veth pair.
//!
//! Nothing has a name outside this process: the namespaces live as long as it does, so that even `kill -9` leaves
//! nothing behind. Works as root, and as any user where user namespaces are allowed.

use std::fs::{self, File};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::channel;
use std::thread::{Builder, JoinHandle};

use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use serde::{Deserialize, Serialize};

use crate::net::{self, NetError};
use crate::set::{self, SetError};

/// The name of each host's interface.
pub const INTERFACE: &str = "eth0";

/// What a lab is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct LabSpec {
    /// The hosts; two.
    pub names: Vec<String>,
    /// The link between them.
    pub link: LinkSpec,
}

/// A link between two lab hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkSpec {
    /// Token bucket rate in bit/s on both ends; none: as fast as the machine.
    pub rate_bps: Option<u64>,
    /// Token bucket size in bytes.
    pub burst_bytes: u64,
    /// Bytes counted on top of every packet.
    pub overhead_bytes: u32,
    /// One segment per packet, so that the bucket sees what a wire would.
    pub wire_segments: bool,
    /// Segmentation, merging and checksum offloads; `None`: as the kernel makes them.
    pub offload: Option<bool>,
    /// MTU in bytes.
    pub mtu: u32,
}

/// Why there is no lab.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// Namespaces are refused.
    #[error("cannot make a lab host: {what}: {source}\nhint: {hint}")]
    Forbidden {
        /// What was attempted.
        what: &'static str,
        /// The kernel's reason.
        source: io::Error,
        /// The cure.
        hint: &'static str,
    },
    /// The system failed a call.
    #[error("cannot make a lab host: {what}: {source}")]
    Io {
        /// What was attempted.
        what: &'static str,
        /// The reason.
        source: io::Error,
    },
    /// A link or address was refused.
    #[error("cannot make the lab's link: {0}")]
    Net(#[from] NetError),
    /// A property of the link was refused.
    #[error("cannot make the lab's link: {0}")]
    Set(#[from] SetError),
    /// A lab has two hosts.
    #[error("a lab joins two hosts, not {0}")]
    NotTwo(usize),
    /// No host of that name.
    #[error("the lab has no host {0}")]
    NoHost(String),
}

fn io_error(what: &'static str) -> impl FnOnce(io::Error) -> LabError {
    move |source| LabError::Io { what, source }
}

/// Makes this process root in a user namespace of its own, where it lacks the right to make network namespaces.
/// Must be called before the process has a second thread.
pub fn enter_user_namespace_if_needed() -> Result<(), LabError> {
    if may_administer() {
        return Ok(());
    }
    let (user, group) = (nix::unistd::geteuid(), nix::unistd::getegid());
    unshare(CloneFlags::CLONE_NEWUSER).map_err(|e| LabError::Forbidden {
        what: "unshare a user namespace",
        source: e.into(),
        hint: user_namespace_hint(),
    })?;
    // Without the right to change groups an ordinary user may map its own group.
    fs::write("/proc/self/setgroups", "deny").map_err(io_error("write setgroups"))?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1")).map_err(io_error("write uid_map"))?;
    fs::write("/proc/self/gid_map", format!("0 {group} 1")).map_err(io_error("write gid_map"))
}

fn user_namespace_hint() -> &'static str {
    let zero = |path: &str| fs::read_to_string(path).is_ok_and(|text| text.trim() == "0");
    if zero("/proc/sys/user/max_user_namespaces") {
        "run as root, or allow user namespaces: sysctl user.max_user_namespaces=10000"
    } else if zero("/proc/sys/kernel/unprivileged_userns_clone") {
        "run as root, or allow user namespaces: sysctl kernel.unprivileged_userns_clone=1"
    } else {
        "run as root; AppArmor, seccomp or a container may forbid user namespaces here"
    }
}

/// Whether this process has CAP_SYS_ADMIN and CAP_NET_ADMIN.
fn may_administer() -> bool {
    const NET_ADMIN: u64 = 1 << 12;
    const SYS_ADMIN: u64 = 1 << 21;
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let effective = effective.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0);
    effective & (NET_ADMIN | SYS_ADMIN) == NET_ADMIN | SYS_ADMIN
}

/// Two hosts that are up.
pub struct Lab {
    hosts: Vec<LabHost>,
}

struct LabHost {
    name: String,
    namespace: OwnedFd,
    address: IpAddr,
}

impl Lab {
    /// Makes the hosts and their link. The first is 10.117.0.1 and fd00:7e::1, the second 10.117.0.2 and fd00:7e::2.
    pub fn up(spec: &LabSpec) -> Result<Lab, LabError> {
        if spec.names.len() != 2 {
            return Err(LabError::NotTwo(spec.names.len()));
        }
        let mut hosts = Vec::new();
        for (index, name) in spec.names.iter().enumerate() {
            let address = IpAddr::V4(Ipv4Addr::new(10, 117, 0, index as u8 + 1));
            hosts.push(LabHost { name: name.clone(), namespace: new_namespace()?, address });
        }
        let lab = Lab { hosts };
        let [first, second] = [0, 1].map(|index| &lab.hosts[index]);
        let far = second.namespace.try_clone().map_err(io_error("keep a namespace"))?;
        first.run(move || net::make_veth(INTERFACE, far.as_fd(), [mac(1), mac(2)]))??;
        for (index, host) in lab.hosts.iter().enumerate() {
            let (address, link) = (host.address, spec.link.clone());
            host.run(move || prepare(address, index as u16 + 1, &link))??;
        }
        Ok(lab)
    }

    /// The address of a host.
    pub fn address(&self, name: &str) -> Option<IpAddr> {
        self.hosts.iter().find(|host| host.name == name).map(|host| host.address)
    }

    /// Runs `work` in a thread that lives on the host `name`. Threads and programs that it starts do so too.
    pub fn spawn(
        &self,
        name: &str,
        work: impl FnOnce() + Send + 'static,
    ) -> Result<JoinHandle<()>, LabError> {
        let host = self.hosts.iter().find(|host| host.name == name);
        host.ok_or_else(|| LabError::NoHost(name.to_owned()))?.spawn(work)
    }
}

impl LabHost {
    fn spawn(&self, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, LabError> {
        let namespace = self.namespace.try_clone().map_err(io_error("keep a namespace"))?;
        let (sender, entered) = channel();
        let thread = Builder::new().name(format!("lab {}", self.name)).spawn(move || {
            let result = setns(namespace, CloneFlags::CLONE_NEWNET);
            // The other end waits for this very message.
            let _ = sender.send(result);
            if result.is_ok() {
                show_own_interfaces();
                work();
            }
        });
        let thread = thread.map_err(io_error("start a thread"))?;
        match entered.recv() {
            Ok(Ok(())) => Ok(thread),
            Ok(Err(e)) => Err(LabError::Io { what: "enter a namespace", source: e.into() }),
            Err(_) => Err(LabError::Io { what: "enter a namespace", source: thread_ended() }),
        }
    }

    /// Runs `work` on the host and waits for what it gives.
    fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, LabError> {
        let (sender, given) = channel();
        self.spawn(move || {
            // Whoever waits for it is the caller of this function.
            let _ = sender.send(work());
        })?;
        given.recv().map_err(|_| LabError::Io { what: "work on a lab host", source: thread_ended() })
    }
}

fn thread_ended() -> io::Error {
    io::Error::other("its thread ended early")
}

/// A new network namespace, kept by its descriptor.
fn new_namespace() -> Result<OwnedFd, LabError> {
    let thread = Builder::new().spawn(|| {
        unshare(CloneFlags::CLONE_NEWNET)?;
        let file = File::open("/proc/thread-self/ns/net")
            .map_err(|e| Errno::from_raw(e.raw_os_error().unwrap_or(0)))?;
        Ok(OwnedFd::from(file))
    });
    let thread = thread.map_err(io_error("start a thread"))?;
    let made: Result<OwnedFd, Errno> =
        thread.join().map_err(|_| LabError::Io { what: "make a namespace", source: thread_ended() })?;
    made.map_err(|e| match e {
        Errno::EPERM | Errno::ENOSPC => LabError::Forbidden {
            what: "unshare a network namespace",
            source: e.into(),
            hint: user_namespace_hint(),
        },
        other => LabError::Io { what: "make a namespace", source: other.into() },
    })
}

/// What a new host needs before it can be used; runs on the host.
fn prepare(address: IpAddr, number: u16, link: &LinkSpec) -> Result<(), LabError> {
    net::up("lo")?;
    net::add_address(INTERFACE, address, 24)?;
    net::set_mtu(INTERFACE, link.mtu)?;
    net::up(INTERFACE)?;
    // A kernel without IPv6 makes a lab without IPv6.
    let _ = net::add_address(INTERFACE, IpAddr::V6(Ipv6Addr::new(0xfd00, 0x7e, 0, 0, 0, 0, 0, number)), 64);
    set::shape(INTERFACE, link)?;
    allow_datagram_echo();
    Ok(())
}

/// Lets echo requests go through datagram sockets. Raw ones serve where this is refused.
fn allow_datagram_echo() {
    const RANGE: &str = "/proc/sys/net/ipv4/ping_group_range";
    // In a user namespace only the groups that are mapped can be named: the one of the user.
    let _ = fs::write(RANGE, "0 2147483647").or_else(|_| fs::write(RANGE, "0 0"));
}

/// Mounts a /sys in which this thread sees the interfaces of its own namespace. Where that is refused /sys goes on
/// showing the first namespace's, and facts are read by netlink.
fn show_own_interfaces() {
    let nothing: Option<&str> = None;
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    let _ = unshare(CloneFlags::CLONE_NEWNS)
        .and_then(|()| mount(nothing, "/", nothing, private, nothing))
        .and_then(|()| mount(Some("sysfs"), "/sys", Some("sysfs"), MsFlags::empty(), nothing));
}

/// The same hardware addresses in every lab, so that captures of two runs compare.
const fn mac(host: u8) -> [u8; 6] {
    [0x02, 0x74, 0x65, 0x6e, 0x00, host]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::set::{Setting, apply, restore};
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    fn lab(link: LinkSpec) -> Option<Lab> {
        if !may_administer() {
            assert!(std::env::var_os("CI").is_none(), "CI is root");
            println!("skipped: needs root");
            return None;
        }
        Some(Lab::up(&LabSpec { names: vec!["left".to_owned(), "right".to_owned()], link }).unwrap())
    }

    fn plain() -> LinkSpec {
        LinkSpec {
            rate_bps: None,
            burst_bytes: 8_000_000,
            overhead_bytes: 0,
            wire_segments: false,
            offload: None,
            mtu: 1500,
        }
    }

    #[test]
    fn hosts_reach_each_other_and_see_their_own_interfaces() {
        let Some(lab) = lab(plain()) else { return };
        let (sender, listening) = channel();
        let server = lab
            .spawn("right", move || {
                let listener = TcpListener::bind("10.117.0.2:0").unwrap();
                sender.send(listener.local_addr().unwrap()).unwrap();
                listener.accept().unwrap().0.write_all(b"hello").unwrap();
            })
            .unwrap();
        let address = listening.recv().unwrap();
        let text = lab.hosts[0].run(move || {
            let mut text = String::new();
            TcpStream::connect(address).unwrap().read_to_string(&mut text).unwrap();
            text
        });
        assert_eq!(text.unwrap(), "hello");
        server.join().unwrap();
        let seen = lab.hosts[0].run(|| {
            let mut names: Vec<_> =
                fs::read_dir("/sys/class/net").unwrap().map(|e| e.unwrap().file_name()).collect();
            names.sort();
            names
        });
        assert!(seen.unwrap().iter().any(|name| name == INTERFACE));
        let route = lab.hosts[0].run(move || net::route_to(address.ip())).unwrap().unwrap();
        assert_eq!((route.interface.as_str(), route.source), (INTERFACE, lab.address("left")));
    }

    #[test]
    fn settings_are_read_back_and_restored() {
        let Some(lab) = lab(plain()) else { return };
        let interface = || INTERFACE.to_owned();
        lab.hosts[0]
            .run(move || {
                let before = (net::link(INTERFACE).unwrap(), net::queue(INTERFACE).unwrap());
                let shaped = LinkSpec {
                    rate_bps: Some(100_000_000),
                    burst_bytes: 200_000,
                    overhead_bytes: 24,
                    wire_segments: true,
                    offload: Some(false),
                    mtu: 1500,
                };
                let settings = [
                    Setting::Mtu { interface: interface(), bytes: 9000 },
                    Setting::Link { interface: interface(), link: shaped },
                    Setting::Congestion { algorithm: "reno".to_owned() },
                ];
                let applied: Vec<_> = settings.iter().map(|setting| apply(setting).unwrap()).collect();
                let bucket = net::queue(INTERFACE).unwrap().1.unwrap();
                assert_eq!((bucket.rate, bucket.overhead), (100_000_000, 24));
                assert!((f64::from(bucket.burst) / 200_000.0 - 1.0).abs() < 0.01, "{bucket:?}");
                let link = net::link(INTERFACE).unwrap();
                assert_eq!((link.mtu, link.gso_max_segs), (9000, 1));
                assert!(!net::ethtool::offload(INTERFACE, net::ethtool::Offload::Tso).unwrap());
                for done in applied.iter().rev() {
                    restore(done).unwrap();
                }
                assert_eq!(before, (net::link(INTERFACE).unwrap(), net::queue(INTERFACE).unwrap()));
                assert!(net::ethtool::offload(INTERFACE, net::ethtool::Offload::Tso).unwrap());
            })
            .unwrap();
    }

    #[test]
    fn impossible_settings_say_what_is_possible() {
        let Some(lab) = lab(plain()) else { return };
        let check = |setting: Setting, fragment: &str| {
            let error = lab.hosts[0].run(move || apply(&setting).unwrap_err().to_string()).unwrap();
            assert!(error.contains(fragment), "{error}");
        };
        check(Setting::Mtu { interface: INTERFACE.to_owned(), bytes: 70_000 }, "65535");
        check(Setting::Mtu { interface: "eth7".to_owned(), bytes: 1500 }, "no interface eth7");
        check(Setting::Congestion { algorithm: "none such".to_owned() }, "available are");
    }
}
