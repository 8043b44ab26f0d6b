//! The ICMP socket: opened the least privileged way that works, stamped by the kernel, errors by their queue.

#![allow(unsafe_code, reason = "three socket options have no safe wrapper")]

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, SockaddrIn6, SockaddrStorage, recvmsg, setsockopt, sockopt,
};
use nix::sys::time::TimeSpec;
use socket2::{Domain, Protocol, Socket, Type};

use super::packet::{self, Family, HEADER};
use super::trouble::{Trouble, reason};
use crate::RunError;

// From linux/icmp.h and linux/icmpv6.h, which the libc crate leaves out.
const ICMP_FILTER: libc::c_int = 1;
const ICMPV6_FILTER: libc::c_int = 1;

/// Which way the kernel let us send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An ICMP datagram socket: no privilege, the kernel picks the identifier.
    Datagram,
    /// A raw socket: root or CAP_NET_RAW.
    Raw,
}

/// How to open it.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Whom to ask.
    pub peer: SocketAddr,
    /// The own address to send from.
    pub bind: Option<IpAddr>,
    /// Time to live or hop limit of requests.
    pub ttl: Option<u8>,
    /// Forbid fragments: what is larger than the path's MTU is refused, not cut.
    pub dont_fragment: bool,
    /// Payload bytes of a request.
    pub size: usize,
}

/// A packet as it came in. The bytes stay in the socket's buffer.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// When the kernel got it: nanoseconds of the wall clock since 1970.
    pub kernel: Option<i64>,
    /// Its time to live or hop limit.
    pub ttl: Option<u8>,
    /// Bytes, ICMP header included.
    pub length: usize,
    start: usize,
}

/// An entry of the error queue. The quoted request stays in the socket's buffer.
#[derive(Clone, Copy, Debug)]
pub struct Complaint {
    /// What it says.
    pub trouble: Trouble,
    length: usize,
}

/// The socket with its buffers.
pub struct Link {
    /// Which sort it is.
    pub kind: Kind,
    /// The version of IP.
    pub family: Family,
    /// The identifier that requests carry.
    pub id: u16,
    socket: Socket,
    bytes: Vec<u8>,
    control: Vec<u8>,
}

impl Link {
    /// Opens it towards `setup.peer`; `id` is used where the kernel does not choose the identifier.
    pub fn open(setup: &Setup, id: u16) -> Result<Link, RunError> {
        let family = if setup.peer.is_ipv4() { Family::V4 } else { Family::V6 };
        let (socket, kind) = create(family)?;
        let configure = |socket: &Socket| -> io::Result<()> {
            socket.set_nonblocking(true)?;
            // Room for what arrives while this program does not run; smaller than asked is no failure.
            socket.set_recv_buffer_size(1 << 20)?;
            options(socket, family, kind, setup)
        };
        configure(&socket)
            .map_err(|source| RunError::Io { what: "set up an ICMP socket".to_owned(), source })?;
        if let Some(own) = setup.bind {
            let address = SocketAddr::new(own, 0);
            socket
                .bind(&address.into())
                .map_err(|source| RunError::Io { what: format!("send from {own}"), source })?;
        }
        connect(&socket, setup.peer)?;
        let id = match kind {
            Kind::Raw => id,
            Kind::Datagram => socket
                .local_addr()
                .map(|own| own.as_socket().map_or(0, |own| own.port()))
                .map_err(|source| RunError::Io { what: "read the ICMP identifier".to_owned(), source })?,
        };
        // The longest IPv4 header, and one byte more than is due so that too long a reply is seen as such.
        let bytes = vec![0; 60 + HEADER + setup.size + 1];
        let control =
            nix::cmsg_space!(TimeSpec, libc::c_int, (libc::sock_extended_err, SockaddrIn6), [libc::c_int; 8]);
        Ok(Link { kind, family, id, socket, bytes, control })
    }

    /// Sends one packet.
    pub fn send(&self, packet: &[u8]) -> Result<(), Errno> {
        let flags = MsgFlags::MSG_DONTWAIT;
        match nix::sys::socket::send(self.socket.as_raw_fd(), packet, flags) {
            Err(Errno::EINTR) => nix::sys::socket::send(self.socket.as_raw_fd(), packet, flags).map(drop),
            other => other.map(drop),
        }
    }

    /// The next packet that has come in; `None` if there is none. An `Err` is the socket's pending error.
    pub fn receive(&mut self) -> Result<Option<Arrival>, Errno> {
        loop {
            let mut parts = [IoSliceMut::new(&mut self.bytes)];
            let message = recvmsg::<SockaddrStorage>(
                self.socket.as_raw_fd(),
                &mut parts,
                Some(&mut self.control),
                MsgFlags::MSG_DONTWAIT,
            );
            let message = match message {
                Ok(message) => message,
                Err(Errno::EAGAIN) => return Ok(None),
                Err(Errno::EINTR) => continue,
                Err(errno) => return Err(errno),
            };
            let (mut kernel, mut ttl) = (None, None);
            for control in message.cmsgs().into_iter().flatten() {
                match control {
                    ControlMessageOwned::ScmTimestampns(at) => {
                        kernel = Some(at.tv_sec() * 1_000_000_000 + at.tv_nsec());
                    }
                    ControlMessageOwned::Ipv4Ttl(hops) | ControlMessageOwned::Ipv6HopLimit(hops) => {
                        ttl = u8::try_from(hops).ok();
                    }
                    _ => {}
                }
            }
            let length = message.bytes;
            if (self.family, self.kind) != (Family::V4, Kind::Raw) {
                return Ok(Some(Arrival { kernel, ttl, length, start: 0 }));
            }
            if let Some((hops, icmp)) = packet::strip_ipv4(&self.bytes[..length]) {
                // The stripped packet is a part of the buffer: its place is found from its end.
                let start = usize::from(self.bytes[0] & 0x0f) * 4;
                return Ok(Some(Arrival { kernel, ttl: Some(hops), length: icmp.len(), start }));
            }
        }
    }

    /// The bytes of an arrival, from the ICMP header on. Valid until the next call of [`receive`](Link::receive).
    pub fn packet(&self, arrival: Arrival) -> &[u8] {
        self.bytes.get(arrival.start..arrival.start + arrival.length).unwrap_or_default()
    }

    /// The next entry of the error queue; `None` if it is empty.
    pub fn complaint(&mut self) -> Option<Complaint> {
        loop {
            let mut parts = [IoSliceMut::new(&mut self.bytes)];
            let message = recvmsg::<SockaddrStorage>(
                self.socket.as_raw_fd(),
                &mut parts,
                Some(&mut self.control),
                MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_ERRQUEUE,
            );
            let message = match message {
                Ok(message) => message,
                Err(Errno::EINTR) => continue,
                Err(_) => return None,
            };
            let trouble = message.cmsgs().into_iter().flatten().find_map(|control| match control {
                ControlMessageOwned::Ipv4RecvErr(error, from) => {
                    let from =
                        from.map(|from| IpAddr::from(u32::from_be(from.sin_addr.s_addr).to_be_bytes()));
                    trouble(Family::V4, &error, from)
                }
                ControlMessageOwned::Ipv6RecvErr(error, from) => {
                    trouble(Family::V6, &error, from.map(|from| IpAddr::from(from.sin6_addr.s6_addr)))
                }
                _ => None,
            });
            if let Some(trouble) = trouble {
                return Some(Complaint { trouble, length: message.bytes });
            }
        }
    }

    /// The request that a complaint quotes, from its ICMP header on; empty for those of the own host. Valid
    /// until the next call.
    pub fn quote(&self, complaint: Complaint) -> &[u8] {
        self.bytes.get(..complaint.length).unwrap_or_default()
    }

    /// Sleeps until something has come in, `longest` has passed or a signal arrives.
    pub fn wait(&self, longest: Duration) -> Result<(), RunError> {
        let mut watched = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        match ppoll(&mut watched, Some(TimeSpec::from_duration(longest)), None) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(errno) => {
                Err(RunError::Io { what: "wait for echo replies".to_owned(), source: errno.into() })
            }
        }
    }
}

fn trouble(family: Family, error: &libc::sock_extended_err, from: Option<IpAddr>) -> Option<Trouble> {
    match error.ee_origin {
        libc::SO_EE_ORIGIN_LOCAL if error.ee_errno == libc::EMSGSIZE as u32 => {
            Some(Trouble::TooLong { mtu: error.ee_info })
        }
        libc::SO_EE_ORIGIN_LOCAL => Some(Trouble::Local { errno: error.ee_errno as i32 }),
        libc::SO_EE_ORIGIN_ICMP | libc::SO_EE_ORIGIN_ICMP6 => {
            Some(Trouble::Icmp { family, kind: error.ee_type, code: error.ee_code, mtu: error.ee_info, from })
        }
        _ => None,
    }
}

/// A datagram socket where the group may, else a raw one.
fn create(family: Family) -> Result<(Socket, Kind), RunError> {
    let (domain, protocol) = match family {
        Family::V4 => (Domain::IPV4, Protocol::ICMPV4),
        Family::V6 => (Domain::IPV6, Protocol::ICMPV6),
    };
    if let Ok(socket) = Socket::new(domain, Type::DGRAM, Some(protocol)) {
        return Ok((socket, Kind::Datagram));
    }
    match Socket::new(domain, Type::RAW, Some(protocol)) {
        Ok(socket) => Ok((socket, Kind::Raw)),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(RunError::Permission {
            what: "open an ICMP socket".to_owned(),
            hint: "allow it to everyone with: sysctl -w net.ipv4.ping_group_range=\"0 2147483647\"; or run as root"
                .to_owned(),
        }),
        Err(source) => Err(RunError::Io { what: "open an ICMP socket".to_owned(), source }),
    }
}

fn options(socket: &Socket, family: Family, kind: Kind, setup: &Setup) -> io::Result<()> {
    // Without kernel timestamps the time of reading stands in, and the run says so.
    let _ = setsockopt(socket, sockopt::ReceiveTimestampns, &true);
    match family {
        Family::V4 => {
            setsockopt(socket, sockopt::Ipv4RecvErr, &true)?;
            setsockopt(socket, sockopt::Ipv4RecvTtl, &true)?;
            if let Some(ttl) = setup.ttl {
                socket.set_ttl_v4(u32::from(ttl))?;
            }
            if setup.dont_fragment {
                set(socket, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, &libc::IP_PMTUDISC_DO)?;
            }
            if kind == Kind::Raw {
                // A set bit blocks a type: only echo replies (type 0) pass.
                set(socket, libc::SOL_RAW, ICMP_FILTER, &!1_u32)?;
            }
        }
        Family::V6 => {
            setsockopt(socket, sockopt::Ipv6RecvErr, &true)?;
            setsockopt(socket, sockopt::Ipv6RecvHopLimit, &true)?;
            if let Some(ttl) = setup.ttl {
                socket.set_unicast_hops_v6(u32::from(ttl))?;
            }
            if setup.dont_fragment {
                set(socket, libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, &libc::IPV6_PMTUDISC_DO)?;
            }
            if kind == Kind::Raw {
                // Echo reply is type 129: bit 1 of the fifth word.
                let mut blocked = [u32::MAX; 8];
                blocked[4] &= !(1 << 1);
                set(socket, libc::IPPROTO_ICMPV6, ICMPV6_FILTER, &blocked)?;
            }
        }
    }
    Ok(())
}

/// Towards one peer only: the kernel then drops what others send, and routing errors come at once.
fn connect(socket: &Socket, peer: SocketAddr) -> Result<(), RunError> {
    let mut target = peer;
    // The port means nothing to ICMP, and to a raw IPv6 socket it would be the protocol.
    target.set_port(0);
    socket.connect(&target.into()).map_err(|error| match error.raw_os_error().map(Errno::from_raw) {
        Some(Errno::EACCES) => {
            RunError::Unsupported { what: format!("cannot ping {}: it is a broadcast address", peer.ip()) }
        }
        Some(errno @ (Errno::ENETUNREACH | Errno::EHOSTUNREACH | Errno::EADDRNOTAVAIL)) => {
            RunError::Unreachable { peer: peer.ip().to_string(), why: reason(errno) }
        }
        _ => RunError::Io { what: format!("reach {}", peer.ip()), source: error },
    })
}

/// Sets a socket option whose value is plain numbers.
fn set<T: Copy>(socket: &Socket, level: libc::c_int, name: libc::c_int, value: &T) -> io::Result<()> {
    // SAFETY: the descriptor is open for the call, and the pointer and length describe `value`, which outlives it.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            std::ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
