//! Goodput of Ethernet links and of token buckets that stand for them.
//!
//! Start at [`for_environment`], which takes link, MTU and bucket from the sender's facts; [`goodput`] and
//! [`token_bucket`] are the formulas. A frame of MTU bytes occupies MTU + 38 bytes of an Ethernet link: 14 of
//! header, 4 of FCS, 8 of preamble and start, 12 of gap; the line code (8b/10b, 64b/66b) is already inside the
//! rate a link is sold by. Segmentation offload changes none of it: segments are cut before the wire.

use crate::ceiling::Ceiling;
use crate::env::Environment;
use crate::quantity::significant;
use crate::unit::Unit;

/// Bytes of the header that a packet gets: two addresses and a type.
const HEADER: u32 = 14;
/// Bytes per frame that only the wire sees: preamble 7, start 1, FCS 4, gap 12.
const WIRE: u32 = 24;
/// Bytes of a VLAN tag (802.1Q).
const TAG: u32 = 4;

/// A value that a ceiling rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Input<T> {
    /// It was read from the machine.
    Read(T),
    /// It is what is usual.
    Assumed(T),
    /// The user said so of a log.
    Told(T),
}

impl<T: Copy> Input<T> {
    /// The value.
    pub fn value(self) -> T {
        match self {
            Input::Read(value) | Input::Assumed(value) | Input::Told(value) => value,
        }
    }

    /// `read`, `assumed` or `given`.
    pub fn word(self) -> &'static str {
        match self {
            Input::Read(_) => "read",
            Input::Assumed(_) => "assumed",
            Input::Told(_) => "given",
        }
    }

    /// Whether it is known rather than assumed.
    pub fn is_read(self) -> bool {
        !matches!(self, Input::Assumed(_))
    }
}

/// The version of IP that carries the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ip {
    /// 20 bytes of header.
    V4,
    /// 40 bytes of header.
    V6,
}

/// What is inside IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP, 20 bytes of header and 12 of timestamps.
    Tcp {
        /// Whether the connection has them; `None`: not read, so Linux's default, on, is assumed.
        timestamps: Option<bool>,
    },
    /// UDP, 8 bytes of header.
    Udp,
}

/// A token bucket (`tbf`) on the sender's interface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenBucket {
    /// Its rate in bit/s.
    pub rate: Input<f64>,
    /// Bytes it counts on top of every packet: 24 where it stands for an Ethernet link.
    pub overhead: Input<u32>,
    /// Whether every packet it sees is one segment (`gso_max_segs 1` on the interface).
    pub wire_segments: Input<bool>,
}

/// Bytes that a full frame occupies on the wire, gap included.
pub const fn slot_bytes(mtu: u32, vlan_tags: u32) -> u32 {
    mtu.saturating_add(HEADER + WIRE).saturating_add(vlan_tags.saturating_mul(TAG))
}

/// What an Ethernet link of `rate` bit/s can deliver to a program, in bit/s of payload.
pub fn goodput(rate: Input<f64>, mtu: Input<u32>, vlan_tags: u32, ip: Ip, transport: Transport) -> Ceiling {
    let slot = slot_bytes(mtu.value(), vlan_tags);
    let tags = if vlan_tags == 0 { String::new() } else { format!(" + {} VLAN tag", vlan_tags * TAG) };
    let frame = format!(
        "frame {} (MTU, {}) + {HEADER} header{tags} + {WIRE} preamble, FCS and gap = {slot} bytes",
        mtu.value(),
        mtu.word()
    );
    derive("Ethernet goodput", "link", rate, mtu, (slot, frame), ip, transport)
}

/// What passes a token bucket, in bit/s of payload.
///
/// TCP hands big segments to the bucket even with segmentation offload off (they are cut behind it). The kernel
/// counts the headers of every packet inside, but the bucket's overhead only once for all of it, so that it does
/// not matter unless packets come one by one.
pub fn token_bucket(bucket: &TokenBucket, mtu: Input<u32>, ip: Ip, transport: Transport) -> Ceiling {
    let overhead = bucket.overhead.value();
    let one_by_one = bucket.wire_segments.value() || transport == Transport::Udp;
    let counted = if one_by_one { overhead } else { 0 };
    let frame_bytes = mtu.value().saturating_add(HEADER).saturating_add(counted);
    let mtu_text = format!("frame {} (MTU, {}) + {HEADER} header", mtu.value(), mtu.word());
    let frame = if one_by_one {
        format!("{mtu_text} + {overhead} overhead ({}) = {frame_bytes} bytes", bucket.overhead.word())
    } else {
        format!("{mtu_text} = {frame_bytes} bytes")
    };
    let mut ceiling =
        derive("token bucket goodput", "token bucket", bucket.rate, mtu, (frame_bytes, frame), ip, transport);
    if !one_by_one && overhead > 0 {
        let why = format!(
            "overhead {overhead} ({}) counts once per big segment ({}), not per frame",
            bucket.overhead.word(),
            bucket.wire_segments.word()
        );
        ceiling.steps.insert(1, why);
    }
    // Without an overhead it is all the same how packets come.
    let same = overhead == 0 && bucket.overhead.is_read();
    let how_read = same || transport == Transport::Udp || bucket.wire_segments.is_read();
    ceiling.all_read &= how_read && (!one_by_one || bucket.overhead.is_read());
    ceiling
}

fn derive(
    name: &str,
    kind: &str,
    rate: Input<f64>,
    mtu: Input<u32>,
    (frame_bytes, frame): (u32, String),
    ip: Ip,
    transport: Transport,
) -> Ceiling {
    let (ip_bytes, ip_name) = match ip {
        Ip::V4 => (20, "IPv4"),
        Ip::V6 => (40, "IPv6"),
    };
    let (transport_bytes, transport_name, transport_read) = match transport {
        Transport::Tcp { timestamps: Some(true) } => (32, "TCP with timestamps (read)", true),
        Transport::Tcp { timestamps: Some(false) } => (20, "TCP without timestamps (read)", true),
        Transport::Tcp { timestamps: None } => (32, "TCP with timestamps (assumed)", false),
        Transport::Udp => (8, "UDP", true),
    };
    let payload = mtu.value().saturating_sub(ip_bytes + transport_bytes);
    let limit = rate.value() * f64::from(payload) / f64::from(frame_bytes);
    Ceiling {
        name: name.to_owned(),
        limit,
        unit: Unit::BitPerSecond,
        steps: vec![
            format!("{} {kind} ({})", plain_rate(rate.value()), rate.word()),
            frame,
            format!(
                "payload {} - {ip_bytes} {ip_name} - {transport_bytes} {transport_name} = {payload} bytes",
                mtu.value()
            ),
            format!("{} x {payload}/{frame_bytes} = {}", plain_rate(rate.value()), plain_rate(limit)),
        ],
        all_read: rate.is_read() && mtu.is_read() && transport_read,
    }
}

/// A rate with up to four digits and no zeros that say nothing: `25 Gbit/s`, `94.15 Mbit/s`.
fn plain_rate(rate: f64) -> String {
    let scale = crate::quantity::Scale::of(rate, Unit::BitPerSecond);
    let number = significant(rate / scale.factor, 4);
    let number = if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number.as_str()
    };
    format!("{number} {}", scale.symbol)
}

/// Why there is nothing to compare a throughput with. As text it is a sentence for the report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoCeiling {
    /// Memory and CPU carry it, whatever speed it claims.
    #[error("virtual link ({driver}): no physical ceiling")]
    Virtual {
        /// The interface's driver.
        driver: String,
    },
    /// The link has a speed that could not be read.
    #[error("the speed of {interface} is not known ({why}): no ceiling")]
    UnknownSpeed {
        /// The interface.
        interface: String,
        /// Why it is not.
        why: String,
    },
}

/// Drivers whose links are software on one side at least: what they claim as speed is a fiction.
const VIRTUAL: &[&str] = &[
    "veth",
    "virtio_net",
    "virtio",
    "lo",
    "loopback",
    "tun",
    "tap",
    "bridge",
    "dummy",
    "ifb",
    "macvlan",
    "macvtap",
    "ipvlan",
    "vxlan",
    "geneve",
    "wireguard",
    "vmxnet3",
    "xen_netfront",
    "vif",
    "hv_netvsc",
];

/// The ceiling of what `env`'s host sends through `interface`: that of its token bucket or of its link, whichever
/// is lower. Facts used: `net.IF.speed` and `net.IF.tbf.rate` (bit/s), `net.IF.mtu` and `net.IF.tbf.overhead`
/// (byte), `net.IF.gso_max_segs`, `net.IF.driver`.
pub fn for_environment(
    env: &Environment,
    interface: &str,
    ip: Ip,
    transport: Transport,
) -> Result<Ceiling, NoCeiling> {
    let key = |fact: &str| format!("net.{interface}.{fact}");
    let whole = |fact: &str| env.number(&key(fact)).filter(|x| (0.0..=4e9).contains(x)).map(|x| x as u32);
    let rate = |fact: &str| env.number(&key(fact)).filter(|rate| rate.is_finite() && *rate > 0.0);
    let mtu = whole("mtu").map_or(Input::Assumed(1500), Input::Read);

    let bucket = rate("tbf.rate").map(|rate| {
        let bucket = TokenBucket {
            rate: Input::Read(rate),
            overhead: whole("tbf.overhead").map_or(Input::Assumed(0), Input::Read),
            wire_segments: whole("gso_max_segs").map_or(Input::Assumed(false), |n| Input::Read(n == 1)),
        };
        token_bucket(&bucket, mtu, ip, transport)
    });
    let link = link_ceiling(env, interface, rate("speed"), mtu, ip, transport);
    match (bucket, link) {
        (Some(mut bucket), Ok(link)) if bucket.limit <= link.limit => {
            bucket.steps.push(format!("the link itself would give {}", plain_rate(link.limit)));
            Ok(bucket)
        }
        (Some(bucket), Ok(mut link)) => {
            link.steps.push(format!("the token bucket on it would give {}", plain_rate(bucket.limit)));
            Ok(link)
        }
        (Some(bucket), Err(_)) => Ok(bucket),
        (None, link) => link,
    }
}

/// The ceiling of what `env`'s host receives through `interface`: that of its link, since a token bucket delays only
/// what is sent. Facts used: `net.IF.speed` (bit/s), `net.IF.mtu` (byte), `net.IF.driver`.
pub fn for_receiver(
    env: &Environment,
    interface: &str,
    ip: Ip,
    transport: Transport,
) -> Result<Ceiling, NoCeiling> {
    let number = |fact: &str| env.number(&format!("net.{interface}.{fact}"));
    let mtu = number("mtu").filter(|mtu| (0.0..=4e9).contains(mtu));
    let mtu = mtu.map_or(Input::Assumed(1500), |mtu| Input::Read(mtu as u32));
    let speed = number("speed").filter(|speed| speed.is_finite() && *speed > 0.0);
    link_ceiling(env, interface, speed, mtu, ip, transport)
}

fn link_ceiling(
    env: &Environment,
    interface: &str,
    speed: Option<f64>,
    mtu: Input<u32>,
    ip: Ip,
    transport: Transport,
) -> Result<Ceiling, NoCeiling> {
    let driver =
        env.text(&format!("net.{interface}.driver")).unwrap_or(if interface == "lo" { "lo" } else { "" });
    if VIRTUAL.contains(&driver.replace('-', "_").as_str()) {
        return Err(NoCeiling::Virtual { driver: driver.to_owned() });
    }
    // What ETHTOOL_GDRVINFO calls an interface that adds a tag to its parent's frames.
    let vlan_tags = u32::from(driver == "802.1Q VLAN Support");
    match speed {
        Some(speed) => Ok(goodput(Input::Read(speed), mtu, vlan_tags, ip, transport)),
        None => {
            let fact = env.facts.get(&format!("net.{interface}.speed"));
            let why = match fact {
                None => "it was not read".to_owned(),
                Some(fact) => fact.error.clone().unwrap_or_else(|| "its driver does not say".to_owned()),
            };
            Err(NoCeiling::UnknownSpeed { interface: interface.to_owned(), why })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::{Class, Fact, FactValue};

    const TCP: Transport = Transport::Tcp { timestamps: Some(true) };
    const TCP_PLAIN: Transport = Transport::Tcp { timestamps: Some(false) };
    const TCP_UNREAD: Transport = Transport::Tcp { timestamps: None };

    fn share(mtu: u32, tags: u32, ip: Ip, transport: Transport) -> f64 {
        goodput(Input::Read(1.0), Input::Read(mtu), tags, ip, transport).limit
    }

    #[test]
    fn shares_by_mtu() {
        // TCP with timestamps, TCP without, UDP; TCP over IPv6, TCP with a VLAN tag; frames/s per Gbit/s.
        let check = |mtu: u32, shares: [f64; 5], frames: f64| {
            let ours = [
                share(mtu, 0, Ip::V4, TCP),
                share(mtu, 0, Ip::V4, TCP_PLAIN),
                share(mtu, 0, Ip::V4, Transport::Udp),
                share(mtu, 0, Ip::V6, TCP),
                share(mtu, 1, Ip::V4, TCP),
            ];
            for (ours, theirs) in ours.iter().zip(shares) {
                assert!((ours - theirs).abs() <= 0.5001e-5, "MTU {mtu}: {ours} {theirs}");
            }
            let ours = 1e9 / 8.0 / f64::from(slot_bytes(mtu, 0));
            assert!((ours - frames).abs() <= 0.5001, "MTU {mtu}: {ours} frames/s");
        };
        check(1280, [0.93171, 0.94082, 0.94992, 0.91654, 0.92890], 94_841.0);
        check(1492, [0.94118, 0.94902, 0.95686, 0.92810, 0.93872], 81_699.0);
        check(1500, [0.94148, 0.94928, 0.95709, 0.92848, 0.93904], 81_274.0);
        check(4096, [0.97823, 0.98113, 0.98403, 0.97339, 0.97728], 30_237.0);
        check(9000, [0.99004, 0.99137, 0.99270, 0.98783, 0.98960], 13_830.0);
        check(9216, [0.99027, 0.99157, 0.99287, 0.98811, 0.98985], 13_508.0);
        check(16000, [0.99439, 0.99514, 0.99588, 0.99314, 0.99414], 7_794.0);
    }

    #[test]
    fn goodput_by_link() {
        // In Gbit/s and with the digits shown: TCP with timestamps, without, UDP at MTU 1500, then at 9000.
        let check = |link: f64, shown: [&str; 6]| {
            let at = |mtu, transport| {
                goodput(Input::Read(link * 1e9), Input::Read(mtu), 0, Ip::V4, transport).limit / 1e9
            };
            let ours = [
                at(1500, TCP),
                at(1500, TCP_PLAIN),
                at(1500, Transport::Udp),
                at(9000, TCP),
                at(9000, TCP_PLAIN),
                at(9000, Transport::Udp),
            ];
            for (ours, shown) in ours.iter().zip(shown) {
                let digits = shown.split_once('.').unwrap().1.len();
                let half = 0.5001 * 10f64.powi(-(digits as i32));
                let theirs: f64 = shown.parse().unwrap();
                assert!((ours - theirs).abs() <= half, "{link} Gbit/s: {ours}, not {shown}");
            }
        };
        check(1.0, ["0.941", "0.949", "0.957", "0.990", "0.991", "0.993"]);
        check(2.5, ["2.354", "2.373", "2.393", "2.475", "2.478", "2.482"]);
        check(10.0, ["9.415", "9.493", "9.571", "9.900", "9.914", "9.927"]);
        check(25.0, ["23.537", "23.732", "23.927", "24.751", "24.784", "24.817"]);
        check(40.0, ["37.659", "37.971", "38.283", "39.602", "39.655", "39.708"]);
        check(100.0, ["94.148", "94.928", "95.709", "99.004", "99.137", "99.270"]);
        check(200.0, ["188.30", "189.86", "191.42", "198.01", "198.27", "198.54"]);
        check(400.0, ["376.59", "379.71", "382.83", "396.02", "396.55", "397.08"]);
    }

    #[test]
    fn buckets() {
        let check = |mtu: u32, overhead: u32, wire: bool, transport: Transport, share: f64| {
            let bucket = TokenBucket {
                rate: Input::Read(1.0),
                overhead: Input::Read(overhead),
                wire_segments: Input::Read(wire),
            };
            let ours = token_bucket(&bucket, Input::Read(mtu), Ip::V4, transport).limit;
            assert!(
                (ours - share).abs() <= 0.51e-4,
                "MTU {mtu}, overhead {overhead}, {wire}: {ours} {share}"
            );
        };
        check(1500, 0, true, TCP, 0.9564);
        check(1500, 24, true, TCP, 0.9415);
        check(1500, 0, false, TCP, 0.9564);
        check(1500, 24, false, TCP, 0.9564);
        check(9000, 0, true, TCP, 0.9927);
        check(9000, 24, true, TCP, 0.9900);
        check(9000, 24, false, TCP, 0.9927);
        // Datagrams come one by one anyway.
        check(1500, 24, false, Transport::Udp, 0.9571);
    }

    #[test]
    fn steps() {
        let link = goodput(Input::Read(25e9), Input::Assumed(1500), 1, Ip::V6, TCP_UNREAD);
        assert_eq!(
            link.steps,
            [
                "25 Gbit/s link (read)",
                "frame 1500 (MTU, assumed) + 14 header + 4 VLAN tag + 24 preamble, FCS and gap = 1542 bytes",
                "payload 1500 - 40 IPv6 - 32 TCP with timestamps (assumed) = 1428 bytes",
                "25 Gbit/s x 1428/1542 = 23.15 Gbit/s",
            ]
        );
        let mut bucket = TokenBucket {
            rate: Input::Read(1e8),
            overhead: Input::Read(24),
            wire_segments: Input::Read(true),
        };
        let wire = token_bucket(&bucket, Input::Read(1500), Ip::V4, TCP);
        assert_eq!(
            wire.steps,
            [
                "100 Mbit/s token bucket (read)",
                "frame 1500 (MTU, read) + 14 header + 24 overhead (read) = 1538 bytes",
                "payload 1500 - 20 IPv4 - 32 TCP with timestamps (read) = 1448 bytes",
                "100 Mbit/s x 1448/1538 = 94.15 Mbit/s",
            ]
        );
        bucket.wire_segments = Input::Assumed(false);
        let big = token_bucket(&bucket, Input::Read(1500), Ip::V4, TCP_PLAIN);
        assert_eq!(
            big.steps,
            [
                "100 Mbit/s token bucket (read)",
                "overhead 24 (read) counts once per big segment (assumed), not per frame",
                "frame 1500 (MTU, read) + 14 header = 1514 bytes",
                "payload 1500 - 20 IPv4 - 20 TCP without timestamps (read) = 1460 bytes",
                "100 Mbit/s x 1460/1514 = 96.43 Mbit/s",
            ]
        );
        assert_eq!((link.all_read, wire.all_read, big.all_read), (false, true, false));
        // Headers that leave no room for a payload leave no goodput either.
        assert_eq!(share(68, 0, Ip::V6, TCP), 0.0);
    }

    fn env(facts: &[(&str, FactValue)]) -> Environment {
        let mut env = Environment::default();
        for (key, value) in facts {
            env.insert(format!("net.eth0.{key}"), Fact::new(Class::State, value.clone(), "test"));
        }
        env
    }

    #[test]
    fn from_facts() {
        // The limit in Mbit/s and whether all was read, or why there is none.
        let check = |facts: &[(&str, FactValue)], transport: Transport, expected: &str| {
            let found = match for_environment(&env(facts), "eth0", Ip::V4, transport) {
                Ok(c) => {
                    format!("{:.1} {} {}", c.limit / 1e6, c.name, if c.all_read { "read" } else { "assumed" })
                }
                Err(none) => none.to_string(),
            };
            assert_eq!(found, expected);
        };
        let speed = || ("speed", FactValue::Int(10_000_000_000));
        let mtu = || ("mtu", FactValue::Int(1500));
        let driver = |name: &str| ("driver", FactValue::from(name));
        let rate = || ("tbf.rate", FactValue::Int(100_000_000));
        let overhead = || ("tbf.overhead", FactValue::Int(24));
        let single = || ("gso_max_segs", FactValue::Int(1));
        let many = || ("gso_max_segs", FactValue::Int(65535));

        check(&[speed(), mtu(), driver("mlx5_core")], TCP, "9414.8 Ethernet goodput read");
        check(&[speed(), mtu(), driver("802.1Q VLAN Support")], TCP, "9390.4 Ethernet goodput read");
        check(&[speed(), mtu(), driver("mlx5_core")], TCP_UNREAD, "9414.8 Ethernet goodput assumed");
        check(&[speed(), driver("mlx5_core")], TCP, "9414.8 Ethernet goodput assumed");
        check(&[speed(), mtu(), driver("veth")], TCP, "virtual link (veth): no physical ceiling");
        check(&[speed(), mtu(), driver("virtio_net")], TCP, "virtual link (virtio_net): no physical ceiling");
        check(
            &[mtu(), driver("e1000e")],
            TCP,
            "the speed of eth0 is not known (it was not read): no ceiling",
        );
        let unknown = ("speed", FactValue::Int(-1));
        check(&[unknown], TCP, "the speed of eth0 is not known (its driver does not say): no ceiling");

        let shaped =
            |more: &[(&'static str, FactValue)]| [&[speed(), mtu(), driver("veth"), rate()], more].concat();
        check(&shaped(&[overhead(), single()]), TCP, "94.1 token bucket goodput read");
        check(&shaped(&[overhead(), many()]), TCP, "95.6 token bucket goodput read");
        check(&shaped(&[overhead()]), TCP, "95.6 token bucket goodput assumed");
        check(&shaped(&[]), TCP, "95.6 token bucket goodput assumed");
        check(&shaped(&[("tbf.overhead", FactValue::Int(0))]), TCP, "95.6 token bucket goodput read");
        // On a real link the lower of the two counts.
        check(&[speed(), mtu(), rate(), overhead(), single()], TCP, "94.1 token bucket goodput read");
        let fast = ("tbf.rate", FactValue::Int(40_000_000_000));
        check(&[speed(), mtu(), fast, overhead(), single()], TCP, "9414.8 Ethernet goodput read");
    }

    #[test]
    fn without_a_link() {
        let mut env = Environment::default();
        let none = |env: &Environment, interface: &str| {
            for_environment(env, interface, Ip::V4, TCP).unwrap_err().to_string()
        };
        assert_eq!(none(&env, "lo"), "virtual link (lo): no physical ceiling");
        env.insert("net.eth0.speed", Fact::unreadable(Class::State, "sysfs", "the link is down"));
        assert_eq!(none(&env, "eth0"), "the speed of eth0 is not known (the link is down): no ceiling");
    }
}
