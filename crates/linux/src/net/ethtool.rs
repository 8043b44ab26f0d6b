//! ethtool's ioctls: driver, and the offloads that decide how large a packet the stack handles.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::{NetError, refused};

/// An offload that can be switched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Offload {
    /// TCP segmentation by the device.
    Tso,
    /// Segmentation just before the driver.
    Gso,
    /// Merging of received segments.
    Gro,
    /// Transmit checksums by the device.
    TxChecksum,
}

impl Offload {
    /// All of them, in the order in which they can be switched off: the device's checksums carry its segmentation.
    pub const ALL: [Offload; 4] = [Offload::Tso, Offload::Gso, Offload::Gro, Offload::TxChecksum];

    /// The commands that get and set it (linux/ethtool.h).
    const fn commands(self) -> (u32, u32) {
        match self {
            Offload::Tso => (0x1e, 0x1f),
            Offload::Gso => (0x23, 0x24),
            Offload::Gro => (0x2b, 0x2c),
            Offload::TxChecksum => (0x16, 0x17),
        }
    }
}

/// struct ethtool_value.
#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

/// Whether an offload of an interface is on.
pub fn offload(interface: &str, offload: Offload) -> Result<bool, NetError> {
    let mut value = Value { command: offload.commands().0, data: 0 };
    ioctl(interface, (&raw mut value).cast()).map_err(refused(format!("read {offload:?} of {interface}")))?;
    Ok(value.data != 0)
}

/// Switches an offload of an interface.
pub fn set_offload(interface: &str, offload: Offload, on: bool) -> Result<(), NetError> {
    let mut value = Value { command: offload.commands().1, data: u32::from(on) };
    let what = format!("switch {offload:?} of {interface} {}", if on { "on" } else { "off" });
    ioctl(interface, (&raw mut value).cast()).map_err(refused(what))
}

/// What drives an interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Driver {
    /// The driver's name: `mlx5_core`, `veth`.
    pub driver: String,
    /// The version of the device's firmware; empty where there is none.
    pub firmware: String,
}

/// The driver of an interface.
pub fn driver(interface: &str) -> Result<Driver, NetError> {
    /// struct ethtool_drvinfo.
    #[repr(C)]
    struct Info {
        command: u32,
        driver: [u8; 32],
        version: [u8; 32],
        firmware: [u8; 32],
        rest: [u8; 96],
    }
    let mut info = Info { command: 3, driver: [0; 32], version: [0; 32], firmware: [0; 32], rest: [0; 96] };
    ioctl(interface, (&raw mut info).cast()).map_err(refused(format!("read the driver of {interface}")))?;
    // These are there for their size only.
    let _ = (info.version, info.rest);
    let text = |bytes: &[u8]| {
        let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
        String::from_utf8_lossy(&bytes[..end]).trim().to_owned()
    };
    Ok(Driver { driver: text(&info.driver), firmware: text(&info.firmware) })
}

/// SIOCETHTOOL on `interface` with a command structure, which must be as large as its command demands.
fn ioctl(interface: &str, command: *mut libc::c_void) -> io::Result<()> {
    const SIOCETHTOOL: libc::Ioctl = 0x8946;
    // SAFETY: socket() takes no pointers; the descriptor is ours alone.
    let fd = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: fd was just opened and nobody else owns it.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    // SAFETY: an ifreq of zeros is valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if interface.len() >= request.ifr_name.len() {
        return Err(io::Error::from_raw_os_error(libc::ENODEV));
    }
    for (to, from) in request.ifr_name.iter_mut().zip(interface.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_data = command.cast();
    // SAFETY: request and what it points to outlive the call; the callers give structures of the kernel's layout.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL, &raw mut request) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
