//! `TCP_INFO`: what the kernel knows about a connection.
//!
//! The structure has grown with the kernel. It is read as bytes, and a field counts as known only if the kernel
//! returned as much.

use std::os::fd::{AsRawFd, BorrowedFd};

/// The fields used, in base units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TcpInfo {
    /// Payload bytes of a full segment sent.
    pub snd_mss: u32,
    /// Congestion window in bytes.
    pub cwnd_bytes: u64,
    /// Smoothed round trip time in seconds.
    pub rtt_seconds: f64,
    /// Its deviation in seconds.
    pub rtt_deviation_seconds: f64,
    /// Path MTU in bytes.
    pub path_mtu: u32,
    /// Retransmission attempts since the connection began.
    pub total_retransmits: Option<u32>,
    /// The peer's window in bytes (Linux 5.4).
    pub send_window: Option<u32>,
    /// Whether nothing is left to be sent or acknowledged (Linux 4.6).
    pub drained: Option<bool>,
    /// Whether both ends agreed on timestamps, which take 12 bytes of every segment.
    pub timestamps: bool,
}

// Offsets in bytes within the kernel's struct tcp_info (linux/tcp.h), part of its stable interface.
mod offset {
    pub const OPTIONS: usize = 5;
    pub const SND_MSS: usize = 16;
    pub const UNACKED: usize = 24;
    pub const PMTU: usize = 60;
    pub const RTT: usize = 68;
    pub const RTTVAR: usize = 72;
    pub const SND_CWND: usize = 80;
    pub const TOTAL_RETRANS: usize = 100;
    pub const NOTSENT_BYTES: usize = 144;
    pub const SND_WND: usize = 228;
}

/// The bit of `tcpi_options` for timestamps.
const TIMESTAMPS: u8 = 1;

/// Reads what the kernel returned; `None` if it is too short for the fields every kernel since 2.6 has.
pub fn parse(bytes: &[u8]) -> Option<TcpInfo> {
    let word = |at: usize| {
        let four = bytes.get(at..at + 4)?;
        Some(u32::from_ne_bytes([four[0], four[1], four[2], four[3]]))
    };
    let snd_mss = word(offset::SND_MSS)?;
    let unacked = word(offset::UNACKED)?;
    Some(TcpInfo {
        snd_mss,
        cwnd_bytes: u64::from(word(offset::SND_CWND)?) * u64::from(snd_mss),
        rtt_seconds: f64::from(word(offset::RTT)?) * 1e-6,
        rtt_deviation_seconds: f64::from(word(offset::RTTVAR)?) * 1e-6,
        path_mtu: word(offset::PMTU)?,
        total_retransmits: word(offset::TOTAL_RETRANS),
        send_window: word(offset::SND_WND),
        drained: word(offset::NOTSENT_BYTES).map(|notsent| notsent == 0 && unacked == 0),
        timestamps: bytes.get(offset::OPTIONS)? & TIMESTAMPS != 0,
    })
}

/// Asks the kernel about the connection of `socket`; `None` if it does not say.
#[allow(unsafe_code, reason = "no safe wrapper returns TCP_INFO with its length")]
pub fn read(socket: BorrowedFd<'_>) -> Option<TcpInfo> {
    let mut bytes = [0u8; 512];
    let mut length = bytes.len() as libc::socklen_t;
    // SAFETY: `bytes` is writable for the `length` bytes that the kernel is told, both outlive the call, and the
    // descriptor is borrowed for as long.
    let failed = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            bytes.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if failed != 0 {
        return None;
    }
    parse(bytes.get(..length as usize)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    #[test]
    fn short_answers_lack_the_late_fields() {
        let mut bytes = [0u8; 232];
        let mut put = |at: usize, value: u32| bytes[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        put(offset::SND_MSS, 1448);
        put(offset::SND_CWND, 10);
        put(offset::RTT, 250);
        put(offset::PMTU, 1500);
        put(offset::TOTAL_RETRANS, 7);
        put(offset::SND_WND, 65536);
        bytes[offset::OPTIONS] = TIMESTAMPS | 2;
        let whole = parse(&bytes).unwrap();
        assert_eq!((whole.snd_mss, whole.cwnd_bytes, whole.path_mtu), (1448, 14480, 1500));
        assert_eq!(
            (whole.total_retransmits, whole.send_window, whole.timestamps),
            (Some(7), Some(65536), true)
        );
        assert!((whole.rtt_seconds - 250e-6).abs() < 1e-12);
        let old = parse(&bytes[..104]).unwrap();
        assert_eq!((old.total_retransmits, old.send_window), (Some(7), None));
        assert_eq!((whole.drained, old.drained), (Some(true), None));
        assert_eq!(parse(&bytes[..100]).unwrap().total_retransmits, None);
        assert_eq!(parse(&bytes[..80]), None);
        assert_eq!(parse(&[]), None);
    }

    #[test]
    fn a_real_connection_tells() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let info = read(stream.as_fd()).unwrap();
        assert!(info.snd_mss > 0 && info.cwnd_bytes > 0);
        assert!(
            read(listener.as_fd()).is_some_and(|info| info.rtt_seconds == 0.0)
                || read(listener.as_fd()).is_none()
        );
    }
}
