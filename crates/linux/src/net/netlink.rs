//! Netlink in its plainest form: build a request, send it, collect what the kernel answers. Start at [`request`].
//!
//! A socket is opened for every request, so that it belongs to the network namespace in which the calling thread is
//! at that moment; that costs some ten microseconds and spares everyone above the question whose socket this is.
//! Left out on purpose: multicast groups, notifications, anything but the route family.
#![allow(unsafe_code, reason = "nix has no setsockopt for NETLINK_EXT_ACK")]

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, send, socket,
};

/// Length of `struct nlmsghdr`.
const HEADER: usize = 16;
/// The kernel's text in an extended acknowledgement (linux/netlink.h).
const NLMSGERR_ATTR_MSG: u16 = 1;
/// One request is outstanding at a time on a socket of its own, so any number does.
const SEQUENCE: u32 = 1;

/// A netlink request under construction.
pub(super) struct Message {
    bytes: Vec<u8>,
}

impl Message {
    /// A request of type `kind` (`RTM_...`) with `flags` beside `NLM_F_REQUEST | NLM_F_ACK`, and the fixed part of
    /// that type.
    pub(super) fn new(kind: u16, flags: i32, fixed: &[u8]) -> Message {
        let flags = (flags | libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16;
        let mut bytes = vec![0; 4];
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(flags.to_ne_bytes());
        bytes.extend(SEQUENCE.to_ne_bytes());
        bytes.extend(0u32.to_ne_bytes());
        bytes.extend(fixed);
        Message { bytes }.padded()
    }

    fn padded(mut self) -> Message {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self
    }

    /// Appends one attribute.
    pub(super) fn with(mut self, kind: u16, payload: &[u8]) -> Message {
        let length = (payload.len() + 4) as u16;
        self.bytes.extend(length.to_ne_bytes());
        self.bytes.extend(kind.to_ne_bytes());
        self.bytes.extend(payload);
        self.padded()
    }

    /// Appends a text attribute, with the NUL that the kernel wants.
    pub(super) fn with_text(self, kind: u16, text: &str) -> Message {
        let mut payload = text.as_bytes().to_vec();
        payload.push(0);
        self.with(kind, &payload)
    }

    /// Appends a 32 bit attribute.
    pub(super) fn with_u32(self, kind: u16, value: u32) -> Message {
        self.with(kind, &value.to_ne_bytes())
    }

    /// Appends an attribute that consists of what `inside` appends.
    pub(super) fn with_nest(mut self, kind: u16, inside: impl FnOnce(Message) -> Message) -> Message {
        let start = self.bytes.len();
        self.bytes.extend([0, 0]);
        self.bytes.extend(kind.to_ne_bytes());
        let mut whole = inside(self);
        let length = (whole.bytes.len() - start) as u16;
        whole.bytes[start..start + 2].copy_from_slice(&length.to_ne_bytes());
        whole
    }

    /// Appends plain bytes: a fixed part inside a nest, such as the `ifinfomsg` of a veth peer.
    pub(super) fn with_fixed(mut self, fixed: &[u8]) -> Message {
        self.bytes.extend(fixed);
        self.padded()
    }

    fn finished(mut self) -> Vec<u8> {
        let length = self.bytes.len() as u32;
        self.bytes[..4].copy_from_slice(&length.to_ne_bytes());
        self.bytes
    }
}

/// The attributes in `bytes`, kind (without the nested and byte order bits) and payload. Ends at the first one that
/// does not fit.
pub(super) fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(u16_at(bytes, 0)?);
        let kind = u16_at(bytes, 2)? & 0x3fff;
        let payload = bytes.get(4..length)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or(&[]);
        Some((kind, payload))
    })
}

/// The payload of the attribute `wanted`.
pub(super) fn attribute(bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    attributes(bytes).find(|(kind, _)| *kind == wanted).map(|(_, payload)| payload)
}

/// The 32 bit number in the attribute `wanted`.
pub(super) fn attribute_u32(bytes: &[u8], wanted: u16) -> Option<u32> {
    u32_at(attribute(bytes, wanted)?, 0)
}

/// The text in the attribute `wanted`, up to its NUL.
pub(super) fn attribute_text(bytes: &[u8], wanted: u16) -> Option<String> {
    attribute(bytes, wanted).map(text)
}

/// Text up to the first NUL.
pub(super) fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// The native-endian number at `offset`, if the bytes reach that far.
pub(super) fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    bytes.get(offset..offset + 2)?.try_into().ok().map(u16::from_ne_bytes)
}

/// As [`u16_at`], 32 bits.
pub(super) fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    bytes.get(offset..offset + 4)?.try_into().ok().map(u32::from_ne_bytes)
}

/// As [`u16_at`], 64 bits.
pub(super) fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    bytes.get(offset..offset + 8)?.try_into().ok().map(u64::from_ne_bytes)
}

/// Why the kernel, or the socket, refused.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) source: io::Error,
    /// The kernel's own words, where it gave some.
    pub(super) message: Option<String>,
}

impl From<io::Error> for Refusal {
    fn from(source: io::Error) -> Self {
        Refusal { source, message: None }
    }
}

impl From<nix::Error> for Refusal {
    fn from(errno: nix::Error) -> Self {
        io::Error::from(errno).into()
    }
}

/// Sends `message` in the namespace of the calling thread and returns the bodies (after the netlink header) of the
/// answers, once the kernel has acknowledged.
pub(super) fn request(message: Message) -> Result<Vec<Vec<u8>>, Refusal> {
    let bytes = message.finished();
    let mut attempts = 0;
    loop {
        let mut interrupted = false;
        let replies = request_once(&bytes, &mut interrupted)?;
        attempts += 1;
        // A dump during which the table changed may miss entries; the kernel says so and one asks again.
        if !interrupted || attempts == 8 {
            return Ok(replies);
        }
    }
}

fn request_once(bytes: &[u8], interrupted: &mut bool) -> Result<Vec<Vec<u8>>, Refusal> {
    let socket = open()?;
    send(socket.as_raw_fd(), bytes, MsgFlags::empty())?;
    let mut replies = Vec::new();
    // The kernel fills at most 32 KiB a datagram.
    let mut buffer = vec![0; 65536];
    loop {
        let received = match recv(socket.as_raw_fd(), &mut buffer, MsgFlags::empty()) {
            Err(nix::Error::EINTR) => continue,
            other => other?,
        };
        if received == 0 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        if let Progress::Complete = take(&buffer[..received], &mut replies, interrupted)? {
            return Ok(replies);
        }
    }
}

enum Progress {
    Complete,
    MoreToCome,
}

/// Sorts the messages of one datagram: bodies into `replies`, an error out, the end noticed.
fn take(
    mut datagram: &[u8],
    replies: &mut Vec<Vec<u8>>,
    interrupted: &mut bool,
) -> Result<Progress, Refusal> {
    while let (Some(length), Some(kind), Some(flags)) =
        (u32_at(datagram, 0), u16_at(datagram, 4), u16_at(datagram, 6))
    {
        let length = length as usize;
        let Some(body) = datagram.get(HEADER..length) else { break };
        *interrupted |= i32::from(flags) & libc::NLM_F_DUMP_INTR != 0;
        match i32::from(kind) {
            libc::NLMSG_ERROR | libc::NLMSG_DONE => {
                // Both carry an errno, negated; DONE may come without.
                let errno = u32_at(body, 0).map_or(0, |bits| (bits as i32).saturating_neg());
                return if errno == 0 {
                    Ok(Progress::Complete)
                } else {
                    Err(Refusal {
                        source: io::Error::from_raw_os_error(errno),
                        message: kernel_words(body, i32::from(flags)),
                    })
                };
            }
            libc::NLMSG_NOOP => {}
            _ => replies.push(body.to_vec()),
        }
        datagram = datagram.get(length.next_multiple_of(4)..).unwrap_or(&[]);
    }
    Ok(Progress::MoreToCome)
}

/// The text of an extended acknowledgement. It comes after the errno and our own header, which NETLINK_CAP_ACK keeps
/// from being followed by our own payload.
fn kernel_words(error_body: &[u8], flags: i32) -> Option<String> {
    if flags & libc::NLM_F_ACK_TLVS == 0 {
        return None;
    }
    let echoed = if flags & libc::NLM_F_CAPPED != 0 {
        HEADER
    } else {
        (u32_at(error_body, 4)? as usize).next_multiple_of(4)
    };
    attribute_text(error_body.get(4 + echoed..)?, NLMSGERR_ATTR_MSG).filter(|words| !words.is_empty())
}

fn open() -> Result<OwnedFd, Refusal> {
    let fd =
        socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkRoute)?;
    for option in [libc::NETLINK_EXT_ACK, libc::NETLINK_CAP_ACK] {
        let yes: libc::c_int = 1;
        // SAFETY: the fd is open, and the pointer and length describe one c_int that outlives the call.
        // The result is not looked at: kernels before 4.12 lack these and then merely say less.
        unsafe {
            libc::setsockopt(
                fd.as_raw_fd(),
                libc::SOL_NETLINK,
                option,
                (&raw const yes).cast(),
                size_of::<libc::c_int>() as libc::socklen_t,
            )
        };
    }
    bind(fd.as_raw_fd(), &NetlinkAddr::new(0, 0))?;
    Ok(fd)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(message: Message, expected: &[u8]) {
        assert_eq!(message.finished()[HEADER..], *expected);
    }

    #[test]
    fn attributes_are_padded_and_nested() {
        let empty = || Message::new(16, 0, &[]);
        check(empty(), &[]);
        check(Message::new(16, 0, &[7]), &[7, 0, 0, 0]);
        check(empty().with(1, &[9]), &[5, 0, 1, 0, 9, 0, 0, 0]);
        check(empty().with_text(3, "lo"), &[7, 0, 3, 0, b'l', b'o', 0, 0]);
        check(empty().with_u32(4, 0x0102_0304), &[8, 0, 4, 0, 4, 3, 2, 1]);
        check(
            empty().with_nest(18, |m| m.with_text(1, "veth").with_nest(2, |m| m.with_fixed(&[1, 2]))),
            &[24, 0, 18, 0, 9, 0, 1, 0, b'v', b'e', b't', b'h', 0, 0, 0, 0, 8, 0, 2, 0, 1, 2, 0, 0],
        );
        let bytes = Message::new(16, libc::NLM_F_DUMP, &[0; 16]).finished();
        assert_eq!(bytes[..8], [32, 0, 0, 0, 16, 0, 5, 3]);
    }

    #[test]
    fn attributes_end_where_they_do_not_fit() {
        let list =
            |bytes| attributes(bytes).map(|(kind, payload)| (kind, payload.to_vec())).collect::<Vec<_>>();
        assert_eq!(list(&[5, 0, 1, 0, 9, 0, 0, 0, 4, 0, 2, 128]), [(1, vec![9]), (2, vec![])]);
        assert_eq!(list(&[5, 0, 1, 0]), []);
        assert_eq!(list(&[3, 0, 1, 0, 0]), []);
        assert_eq!(list(&[0, 0, 0, 0]), []);
        assert_eq!(list(&[]), []);
    }

    fn error_datagram(errno: i32, flags: i32, after: &[u8]) -> Vec<u8> {
        let mut body = (-errno).to_ne_bytes().to_vec();
        body.extend([0; HEADER]);
        body.extend(after);
        let mut datagram = ((HEADER + body.len()) as u32).to_ne_bytes().to_vec();
        datagram.extend((libc::NLMSG_ERROR as u16).to_ne_bytes());
        datagram.extend((flags as u16).to_ne_bytes());
        datagram.extend([0; 8]);
        datagram.extend(body);
        datagram
    }

    #[test]
    fn answers_are_sorted() {
        let mut replies = Vec::new();
        let mut interrupted = false;
        let mut two = vec![20, 0, 0, 0, 16, 0, 0x10, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4];
        two.extend(error_datagram(0, 0, &[]));
        assert!(matches!(take(&two, &mut replies, &mut interrupted), Ok(Progress::Complete)));
        assert_eq!(replies, [[1, 2, 3, 4]]);
        assert!(interrupted);
        assert!(matches!(take(&two[..20], &mut replies, &mut interrupted), Ok(Progress::MoreToCome)));
        assert!(matches!(take(&two[..9], &mut replies, &mut interrupted), Ok(Progress::MoreToCome)));

        let words = Message::new(0, 0, &[]).with_text(NLMSGERR_ATTR_MSG, "too big").finished();
        let flags = libc::NLM_F_ACK_TLVS | libc::NLM_F_CAPPED;
        let Err(refusal) = take(&error_datagram(22, flags, &words[HEADER..]), &mut replies, &mut interrupted)
        else {
            panic!("an error passed for an answer")
        };
        assert_eq!(refusal.source.raw_os_error(), Some(22));
        assert_eq!(refusal.message.as_deref(), Some("too big"));
    }
}
