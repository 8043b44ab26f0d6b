//! The netlink protocol: messages with attributes, sent and answered one at a time.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// A request under construction.
pub(super) struct Message(Vec<u8>);

const HEADER: usize = 16;

impl Message {
    /// A request of `kind` with a fixed part.
    pub(super) fn new(kind: u16, flags: u16, fixed: &[u8]) -> Message {
        let flags = flags | libc::NLM_F_REQUEST as u16;
        let mut bytes = vec![0; 4];
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(flags.to_ne_bytes());
        // The sequence number; one request at a time is under way on a socket.
        bytes.extend(1u32.to_ne_bytes());
        bytes.extend([0; 4]);
        bytes.extend(fixed);
        Message(bytes)
    }

    pub(super) fn bytes(&mut self, kind: u16, value: &[u8]) {
        self.0.extend((value.len() as u16 + 4).to_ne_bytes());
        self.0.extend(kind.to_ne_bytes());
        self.raw(value);
    }

    /// Bytes without a head, padded to the alignment of attributes.
    pub(super) fn raw(&mut self, value: &[u8]) {
        self.0.extend(value);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }

    pub(super) fn u32(&mut self, kind: u16, value: u32) {
        self.bytes(kind, &value.to_ne_bytes());
    }

    pub(super) fn text(&mut self, kind: u16, value: &str) {
        self.bytes(kind, &[value.as_bytes(), &[0]].concat());
    }

    pub(super) fn nested(&mut self, kind: u16, fill: impl FnOnce(&mut Message)) {
        let start = self.0.len();
        self.0.extend([0, 0]);
        self.0.extend((kind | libc::NLA_F_NESTED as u16).to_ne_bytes());
        fill(self);
        let length = (self.0.len() - start) as u16;
        self.0[start..start + 2].copy_from_slice(&length.to_ne_bytes());
    }
}

/// A socket to the kernel's routing tables, in the namespace of the thread that opens it.
pub(super) struct Netlink(OwnedFd);

impl Netlink {
    pub(super) fn open() -> io::Result<Netlink> {
        // SAFETY: socket() takes no pointers; the descriptor is ours alone.
        let fd = unsafe {
            libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, libc::NETLINK_ROUTE)
        };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: fd was just opened and nobody else owns it.
        Ok(Netlink(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Sends a request that is answered by yes or no.
    pub(super) fn tell(&self, mut message: Message) -> io::Result<()> {
        set_flag(&mut message, libc::NLM_F_ACK as u16);
        self.send(message)?;
        self.receive(true).map(|_| ())
    }

    /// Sends a request and collects the bodies of what comes back: one, or all of a dump.
    pub(super) fn ask(&self, message: Message) -> io::Result<Vec<Vec<u8>>> {
        let dump = flags_of(&message) & libc::NLM_F_DUMP as u16 == libc::NLM_F_DUMP as u16;
        self.send(message)?;
        self.receive(dump)
    }

    fn send(&self, mut message: Message) -> io::Result<()> {
        let length = message.0.len() as u32;
        message.0[..4].copy_from_slice(&length.to_ne_bytes());
        let bytes = &message.0;
        // SAFETY: pointer and length describe a live buffer.
        let sent = unsafe { libc::send(self.0.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), 0) };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Reads until an acknowledgement or the end of a dump (`to_end`), or just one message.
    fn receive(&self, to_end: bool) -> io::Result<Vec<Vec<u8>>> {
        let mut bodies = Vec::new();
        let mut buffer = vec![0u8; 64 << 10];
        loop {
            // SAFETY: pointer and length describe a live buffer.
            let got = unsafe { libc::recv(self.0.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0) };
            let Ok(got) = usize::try_from(got) else { return Err(io::Error::last_os_error()) };
            let mut rest = &buffer[..got];
            while rest.len() >= HEADER {
                let length = u32_of(&rest[..4]).unwrap_or(0) as usize;
                if length < HEADER || length > rest.len() {
                    return Err(io::Error::new(
                        io::ErrorKind::InvalidData,
                        "netlink: a message is cut short",
                    ));
                }
                let kind = i32::from(u16::from_ne_bytes([rest[4], rest[5]]));
                let body = &rest[HEADER..length];
                match kind {
                    libc::NLMSG_DONE => return Ok(bodies),
                    libc::NLMSG_ERROR => {
                        let code = u32_of(body.get(..4).unwrap_or_default()).unwrap_or(0) as i32;
                        return match code {
                            0 => Ok(bodies),
                            code => Err(io::Error::from_raw_os_error(-code)),
                        };
                    }
                    _ => bodies.push(body.to_vec()),
                }
                if !to_end {
                    return Ok(bodies);
                }
                rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
            }
        }
    }
}

fn flags_of(message: &Message) -> u16 {
    u16::from_ne_bytes([message.0[6], message.0[7]])
}

fn set_flag(message: &mut Message, flag: u16) {
    let flags = flags_of(message) | flag;
    message.0[6..8].copy_from_slice(&flags.to_ne_bytes());
}

/// The attributes of a body: kind without flags, and value.
pub(super) fn attributes(mut bytes: &[u8]) -> Vec<(u16, &[u8])> {
    let mut found = Vec::new();
    while bytes.len() >= 4 {
        let length = usize::from(u16::from_ne_bytes([bytes[0], bytes[1]]));
        if length < 4 || length > bytes.len() {
            break;
        }
        let kind = u16::from_ne_bytes([bytes[2], bytes[3]]) & libc::NLA_TYPE_MASK as u16;
        found.push((kind, &bytes[4..length]));
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    found
}

/// The value of the first attribute of a kind.
pub(super) fn find<'a>(attributes: &[(u16, &'a [u8])], kind: u16) -> Option<&'a [u8]> {
    attributes.iter().find(|(k, _)| *k == kind).map(|(_, value)| *value)
}

pub(super) fn u32_of(bytes: &[u8]) -> Option<u32> {
    bytes.get(..4)?.try_into().ok().map(u32::from_ne_bytes)
}

pub(super) fn text_of(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_read_back() {
        let mut message = Message::new(1, 0, &[]);
        message.text(3, "eth0");
        message.nested(18, |inner| inner.u32(1, 77));
        let read = attributes(&message.0[HEADER..]);
        assert_eq!(text_of(find(&read, 3).unwrap()), "eth0");
        assert_eq!(find(&attributes(find(&read, 18).unwrap()), 1).and_then(u32_of), Some(77));
    }

    #[test]
    fn cut_attributes_end_the_list() {
        assert!(attributes(&[0, 0, 1, 0]).is_empty());
        assert!(attributes(&[200, 0, 1, 0, 1]).is_empty());
        assert!(attributes(&[1]).is_empty());
    }
}
