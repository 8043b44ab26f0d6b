//! What iperf3 says about a test, whether it stood in text or in JSON or was measured by tenbin itself.
//!
//! Base units throughout. A figure that was not told is `None`, never 0.

/// Which program of the two tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// `iperf3 -c`.
    #[default]
    Client,
    /// `iperf3 -s`.
    Server,
}

/// Which end of a stream a figure was taken at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The end that sends.
    #[default]
    Sender,
    /// The end that receives.
    Receiver,
}

impl Side {
    /// The word of iperf3 and of the param `side`.
    pub fn word(self) -> &'static str {
        match self {
            Side::Sender => "sender",
            Side::Receiver => "receiver",
        }
    }

    /// The far end.
    pub fn other(self) -> Side {
        match self {
            Side::Sender => Side::Receiver,
            Side::Receiver => Side::Sender,
        }
    }
}

/// The way the data of a stream takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// Client to server.
    #[default]
    Forward,
    /// Server to client.
    Reverse,
}

impl Direction {
    /// The word of the param `direction`.
    pub fn word(self) -> &'static str {
        match self {
            Direction::Forward => "forward",
            Direction::Reverse => "reverse",
        }
    }
}

/// A data stream's addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Connection {
    /// The number iperf3 shows for it.
    pub socket: i64,
    /// Own address.
    pub local_host: String,
    /// Own port.
    pub local_port: u16,
    /// The peer's address.
    pub remote_host: String,
    /// The peer's port.
    pub remote_port: u16,
}

/// What is known before data flows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Start {
    /// Which program tells.
    pub role: Role,
    /// `3.12`; of other programs their own name and version.
    pub version: Option<String>,
    /// `uname -a` without the name of the operating system's vendor.
    pub system_info: Option<String>,
    /// Unix time in seconds.
    pub time_unix_seconds: Option<i64>,
    /// The host connected to or accepted from, as told.
    pub peer_host: String,
    /// Its port.
    pub peer_port: u16,
    /// The test's cookie.
    pub cookie: Option<String>,
    /// `TCP` or `UDP`.
    pub protocol: String,
    /// Streams in each direction.
    pub streams: u32,
    /// Bytes of a write or datagram.
    pub block_bytes: u64,
    /// Warm-up.
    pub omit_seconds: u64,
    /// Length without the warm-up; 0 = until the bytes or blocks are reached.
    pub duration_seconds: f64,
    /// Limit in bytes; 0 = none.
    pub limit_bytes: u64,
    /// Limit in blocks; 0 = none.
    pub limit_blocks: u64,
    /// Server to client.
    pub reverse: bool,
    /// Both directions at once.
    pub bidir: bool,
    /// Type of service byte.
    pub tos: u8,
    /// Asked-for rate of each stream in bit/s; 0 = unlimited.
    pub target_bitrate: u64,
    /// Maximum segment size of the control connection.
    pub mss_bytes: Option<u64>,
    /// Whether that size was asked for.
    pub mss_asked: bool,
    /// Socket buffer asked for; 0 = the system's own.
    pub window_bytes: u64,
    /// Send buffer in use.
    pub send_buffer_bytes: Option<u64>,
    /// Receive buffer in use.
    pub receive_buffer_bytes: Option<u64>,
    /// The data streams.
    pub connected: Vec<Connection>,
}

/// One row of figures: of an interval or of the whole test, of one stream or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Row {
    /// The stream's number; `None` for the sum of all.
    pub stream: Option<i64>,
    /// The end it was taken at.
    pub side: Side,
    /// The way of the data.
    pub direction: Direction,
    /// Begin, in seconds of the test.
    pub start: f64,
    /// End, in seconds of the test.
    pub end: f64,
    /// Payload in bytes.
    pub bytes: Option<f64>,
    /// Payload rate in bit/s.
    pub bits_per_second: Option<f64>,
    /// Retransmission attempts.
    pub retransmits: Option<f64>,
    /// Congestion window in bytes at the end; of a total the largest.
    pub cwnd_bytes: Option<f64>,
    /// The peer's window in bytes at the end; of a total the largest.
    pub send_window_bytes: Option<f64>,
    /// Smoothed round trip time in seconds at the end; of a total the mean.
    pub rtt_seconds: Option<f64>,
    /// Smallest of the intervals' round trip times in seconds, of a total only.
    pub rtt_min_seconds: Option<f64>,
    /// Largest of the intervals' round trip times in seconds, of a total only.
    pub rtt_max_seconds: Option<f64>,
    /// Deviation of the round trip time in seconds.
    pub rtt_deviation_seconds: Option<f64>,
    /// Path MTU in bytes.
    pub path_mtu_bytes: Option<f64>,
    /// UDP: jitter in seconds.
    pub jitter_seconds: Option<f64>,
    /// UDP: datagrams lost.
    pub lost_packets: Option<f64>,
    /// UDP: datagrams sent, or highest number received.
    pub packets: Option<f64>,
    /// UDP: the printed share of lost datagrams, as a ratio.
    pub lost_ratio: Option<f64>,
    /// UDP: datagrams that came late.
    pub out_of_order: Option<f64>,
    /// Part of the warm-up.
    pub omitted: bool,
}

/// An interval report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interval {
    /// One row a stream.
    pub streams: Vec<Row>,
    /// All streams together; one row a direction.
    pub sums: Vec<Row>,
}

/// CPU time over wall time; above 1 when several CPUs are used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cpu {
    /// User and system.
    pub total: f64,
    /// User, where it was told.
    pub user: Option<f64>,
    /// System, where it was told.
    pub system: Option<f64>,
}

/// The figures of the whole test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct End {
    /// Rows of single streams, the sender's before the receiver's.
    pub streams: Vec<Row>,
    /// Rows of all streams together, the sender's before the receiver's.
    pub sums: Vec<Row>,
    /// CPU of the host that tells.
    pub cpu_local: Option<Cpu>,
    /// CPU of its peer.
    pub cpu_remote: Option<Cpu>,
    /// Congestion control of the sender.
    pub sender_congestion: Option<String>,
    /// Congestion control of the receiver.
    pub receiver_congestion: Option<String>,
}

/// A test from start to end, as far as it came.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Test {
    /// What is known before data flows.
    pub start: Start,
    /// The interval reports.
    pub intervals: Vec<Interval>,
    /// The totals; `None` of a test that did not come to its end.
    pub end: Option<End>,
    /// iperf3's own words where it failed.
    pub error: Option<String>,
}
