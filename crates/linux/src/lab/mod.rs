//! Two hosts on this machine: anonymous network namespaces joined by a veth pair. Start at [`Lab::up`].
//!
//! Nothing has a name outside this process: the namespaces live as long as it does, so that even `kill -9` leaves
//! nothing behind. Works as root, and as any user where user namespaces are allowed
//! ([`enter_user_namespace_if_needed`]). The sysctls of a host are the kernel's own defaults, but for
//! `ping_group_range`, which is opened.

mod namespace;
#[cfg(test)]
pub(crate) mod tests;

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread::{Builder, JoinHandle};

use nix::sched::{CloneFlags, setns};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use serde::{Deserialize, Serialize};

use crate::net::{self, Address, NetError, VethEnd, why};
use crate::set::{self, Flags, SetError};

pub use namespace::enter_user_namespace_if_needed;

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

/// A link between two lab hosts. Both directions are alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkSpec {
    /// Token bucket rate in bit/s on both ends; none: as fast as the machine.
    pub rate_bps: Option<u64>,
    /// Token bucket size in bytes.
    pub burst_bytes: u64,
    /// Bytes counted on top of every packet, which the bucket sees with its Ethernet header of 14.
    pub overhead_bytes: u32,
    /// One segment per packet, so that the bucket sees what a wire would.
    pub wire_segments: bool,
    /// Segmentation, merging and checksum offloads; `None`: as the kernel makes them.
    pub offload: Option<bool>,
    /// MTU in bytes.
    pub mtu: u32,
}

impl Default for LinkSpec {
    /// MTU 1500, no bucket (8 MB if it gets one), the kernel's offloads.
    fn default() -> LinkSpec {
        LinkSpec {
            rate_bps: None,
            burst_bytes: 8_000_000,
            overhead_bytes: 0,
            wire_segments: false,
            offload: None,
            mtu: 1500,
        }
    }
}

/// Why there is no lab.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// Namespaces are refused.
    #[error("cannot {what}: {}\nhint: {hint}", why(.source))]
    Forbidden {
        /// What was attempted.
        what: &'static str,
        /// The kernel's reason.
        source: io::Error,
        /// The cure.
        hint: String,
    },
    /// The kernel lets only processes of one thread change their user namespace.
    #[error("cannot make a user namespace: this process already has {threads} threads\nhint: run as root")]
    Threads {
        /// How many.
        threads: u64,
    },
    /// The system failed a call.
    #[error("cannot {what}: {}", why(.source))]
    Io {
        /// What was attempted.
        what: &'static str,
        /// The reason.
        source: io::Error,
    },
    /// A link or address was refused.
    #[error("cannot prepare lab host {host}: {source}")]
    Net {
        /// On which host.
        host: String,
        /// What was refused.
        source: NetError,
    },
    /// A property of the link was refused.
    #[error("cannot prepare lab host {host}: {source}")]
    Set {
        /// On which host.
        host: String,
        /// What was refused.
        source: SetError,
    },
    /// A lab has two hosts.
    #[error("a lab joins two hosts with a name each, not {}", named(.names))]
    NotTwo {
        /// The names given.
        names: Vec<String>,
    },
    /// No host of that name.
    #[error("the lab has no host {name:?}\nhint: it has {}", .hosts.join(" and "))]
    NoHost {
        /// The name asked for.
        name: String,
        /// The names there are.
        hosts: Vec<String>,
    },
}

fn io_error(what: &'static str) -> impl FnOnce(io::Error) -> LabError {
    move |source| LabError::Io { what, source }
}

fn named(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        [one] => format!("{one:?} alone"),
        several => several.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", "),
    }
}

/// Two hosts that are up. They go down when this is dropped and the last thread and program on them has ended.
pub struct Lab {
    hosts: Vec<LabHost>,
}

struct LabHost {
    name: String,
    number: u8,
    namespace: OwnedFd,
    /// The offload flags that the kernel gave the interface, which `offload: None` stands for.
    flags: Flags,
}

impl Lab {
    /// Makes the hosts and their link. The first is 10.117.0.1 and fd00:7e::1, the second 10.117.0.2 and fd00:7e::2
    /// (a kernel without IPv6, or an MTU below 1280, makes a lab without IPv6).
    ///
    /// # Errors
    /// [`LabError`]: namespaces forbidden, a kernel without veth or tbf, a link that cannot be as specified.
    pub fn up(spec: &LabSpec) -> Result<Lab, LabError> {
        match spec.names.as_slice() {
            [first, second] if first != second && !first.is_empty() && !second.is_empty() => {}
            names => return Err(LabError::NotTwo { names: names.to_vec() }),
        }
        let mut hosts = Vec::new();
        for (name, number) in spec.names.iter().zip(1..) {
            let namespace = namespace::new_network_namespace()?;
            hosts.push(LabHost { name: name.clone(), number, namespace, flags: Flags::new() });
        }
        let far = hosts[1].namespace.try_clone().map_err(io_error("keep a namespace"))?;
        hosts[0].net(move || {
            let end = |host| VethEnd { name: INTERFACE, mac: mac(host) };
            net::create_veth(end(1), end(2), far.as_fd())
        })?;
        for host in &mut hosts {
            let address = Address { ip: ipv4(host.number), prefix: 24 };
            host.flags = host.net(move || {
                namespace::allow_datagram_echo();
                net::set_up("lo", true)?;
                net::add_address(INTERFACE, address)?;
                net::set_up(INTERFACE, true)?;
                set::offload_flags(INTERFACE)
            })?;
        }
        let lab = Lab { hosts };
        lab.set_link(&spec.link)?;
        Ok(lab)
    }

    /// Makes the link as specified, while the lab runs. Both ends change, the first one a moment earlier. What
    /// `link` leaves to the kernel is as it was when the lab came up.
    ///
    /// # Errors
    /// [`LabError::Set`]: a value that the kernel does not take. The link may then be partly changed.
    pub fn set_link(&self, link: &LinkSpec) -> Result<(), LabError> {
        for host in &self.hosts {
            let (link, flags) = (link.clone(), host.flags.clone());
            let address = Address { ip: ipv6(host.number), prefix: 64 };
            let set = host.run(move || {
                set::check_bucket(INTERFACE, &link, link.mtu)?;
                set::shape(INTERFACE, &link)?;
                set::check_mtu(&net::link(INTERFACE)?, link.mtu)?;
                set::mtu(INTERFACE, link.mtu)?;
                if link.offload.is_none() {
                    net::ethtool::set_features(INTERFACE, &flags)?;
                }
                // Not every kernel has IPv6, and the kernel takes it away below an MTU of 1280.
                let _ = net::add_address(INTERFACE, address);
                Ok(())
            })?;
            set.map_err(|source| LabError::Set { host: host.name.clone(), source })?;
        }
        for host in &self.hosts {
            let up = host.run(|| set::wait_for_carrier(INTERFACE))?;
            up.map_err(|source| LabError::Set { host: host.name.clone(), source })?;
        }
        Ok(())
    }

    /// The names of the hosts, in the order of the specification.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.hosts.iter().map(|host| host.name.as_str())
    }

    /// The IPv4 address of a host.
    pub fn address(&self, name: &str) -> Option<IpAddr> {
        self.host(name).ok().map(|host| ipv4(host.number))
    }

    /// The IPv6 address of a host, which it has unless the kernel lacks IPv6 or the MTU is below 1280.
    pub fn address_v6(&self, name: &str) -> Option<IpAddr> {
        self.host(name).ok().map(|host| ipv6(host.number))
    }

    /// Runs `work` in a thread that lives on the host `name`. Threads and programs that it starts do so too; they see
    /// the host's own interfaces in /sys.
    ///
    /// # Errors
    /// No such host; the system refuses a thread or the way into the namespace. `work` has not run then.
    pub fn spawn<T: Send + 'static>(
        &self,
        name: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<JoinHandle<T>, LabError> {
        self.host(name)?.spawn(work)
    }

    /// Runs `work` on the host `name` and waits for what it gives.
    ///
    /// # Errors
    /// As [`Lab::spawn`]; also where `work` panics.
    pub fn run<T: Send + 'static>(
        &self,
        name: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, LabError> {
        self.host(name)?.run(work)
    }

    fn host(&self, name: &str) -> Result<&LabHost, LabError> {
        self.hosts.iter().find(|host| host.name == name).ok_or_else(|| LabError::NoHost {
            name: name.to_owned(),
            hosts: self.names().map(str::to_owned).collect(),
        })
    }
}

impl LabHost {
    fn spawn<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<JoinHandle<T>, LabError> {
        let namespace = self.namespace.try_clone().map_err(io_error("keep a namespace"))?;
        let name = format!("lab {}", self.name);
        // One thread goes there and starts the other, which is born there: so `work` runs only where it should.
        let door = Builder::new().name("lab door".to_owned()).spawn(move || {
            setns(namespace, CloneFlags::CLONE_NEWNET).map_err(|e| io_error("enter a lab host")(e.into()))?;
            namespace::show_own_interfaces();
            Builder::new().name(name).spawn(work).map_err(io_error("start a thread"))
        });
        let door = door.map_err(io_error("start a thread"))?;
        door.join().unwrap_or_else(|_| Err(io_error("enter a lab host")(thread_ended())))
    }

    fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, LabError> {
        self.spawn(work)?.join().map_err(|_| io_error("work on a lab host")(thread_ended()))
    }

    /// Runs what the network may refuse.
    fn net<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, NetError> + Send + 'static,
    ) -> Result<T, LabError> {
        self.run(work)?.map_err(|source| LabError::Net { host: self.name.clone(), source })
    }
}

/// Makes a program die when the thread that starts it ends, as all do when this process is killed. For programs on
/// lab hosts, which would otherwise keep their namespace alive. `sudo` and other programs that change their user
/// undo it.
pub fn die_with_parent(command: &mut Command) -> &mut Command {
    let parent = nix::unistd::getpid();
    let arrange = move || {
        prctl::set_pdeathsig(Signal::SIGKILL)?;
        // It may have died before it was arranged.
        if nix::unistd::getppid() == parent { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
    };
    #[allow(unsafe_code, reason = "pre_exec runs in a forked child")]
    // SAFETY: between fork and exec it makes two system calls and allocates nothing.
    unsafe {
        command.pre_exec(arrange)
    }
}

fn thread_ended() -> io::Error {
    io::Error::other("its thread ended early")
}

fn ipv4(number: u8) -> IpAddr {
    Ipv4Addr::new(10, 117, 0, number).into()
}

fn ipv6(number: u8) -> IpAddr {
    Ipv6Addr::new(0xfd00, 0x7e, 0, 0, 0, 0, 0, number.into()).into()
}

/// The same hardware addresses in every lab, so that captures of two runs compare.
const fn mac(number: u8) -> [u8; 6] {
    [0x02, 0x74, 0x65, 0x6e, 0x00, number]
}
