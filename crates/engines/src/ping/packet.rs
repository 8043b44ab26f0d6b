//! Echo requests and replies as bytes. No socket, no clock.
//!
//! Whoever is on the path, or only guesses, may send us anything: what is read here is checked against the
//! length it came with and against the cookie of this run, and is otherwise [`Seen::Foreign`].

/// Bytes of the ICMP header before the payload.
pub const HEADER: usize = 8;
/// Payload bytes that identify a request: the run's cookie and the number of the request. A smaller payload
/// carries as many of them as fit.
const MARK: usize = 16;

/// The version of IP that a request travels in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// ICMP.
    V4,
    /// ICMPv6.
    V6,
}

impl Family {
    const fn request(self) -> u8 {
        match self {
            Family::V4 => 8,
            Family::V6 => 128,
        }
    }

    const fn reply(self) -> u8 {
        match self {
            Family::V4 => 0,
            Family::V6 => 129,
        }
    }
}

/// What all requests of a run have in common.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    /// The version of IP.
    pub family: Family,
    /// The identifier in the ICMP header.
    pub id: u16,
    /// Random; opens every payload.
    pub cookie: [u8; 8],
    /// Payload bytes of a request.
    pub size: usize,
}

/// What a packet turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The answer to request `index`.
    Reply {
        /// The number of the request, from 0.
        index: u64,
    },
    /// An answer to request `index` whose payload is not what was sent.
    Damaged {
        /// The number of the request, from 0.
        index: u64,
    },
    /// Not ours: another program's, a forged one, too short to tell.
    Foreign,
}

impl Mark {
    /// A request's buffer: header and payload, the part that is equal in all requests filled in.
    pub fn buffer(&self) -> Vec<u8> {
        let mut packet = vec![0; HEADER + self.size];
        for (offset, byte) in packet[HEADER..].iter_mut().enumerate() {
            *byte = pattern(offset);
        }
        packet
    }

    /// Makes `packet`, which came from [`buffer`](Mark::buffer), request `index`.
    pub fn stamp(&self, packet: &mut [u8], index: u64) {
        let (header, payload) = packet.split_at_mut(HEADER);
        header[0] = self.family.request();
        header[1] = 0;
        header[2..4].fill(0);
        header[4..6].copy_from_slice(&self.id.to_be_bytes());
        header[6..8].copy_from_slice(&sequence(index).to_be_bytes());
        let marked = self.size.min(MARK);
        payload[..marked].copy_from_slice(&self.opening(index)[..marked]);
        // ICMPv6's checksum covers addresses that only the kernel knows; it fills that in.
        if self.family == Family::V4 {
            let sum = checksum(packet);
            packet[2..4].copy_from_slice(&sum.to_be_bytes());
        }
    }

    /// Reads an ICMP packet (without its IP header) after `sent` requests.
    pub fn read(&self, packet: &[u8], sent: u64) -> Seen {
        let Some((header, payload)) = packet.split_at_checked(HEADER) else { return Seen::Foreign };
        let ours = header[0] == self.family.reply() && header[1] == 0 && self.is_id(header);
        let Some(index) = self.index(header, sent).filter(|_| ours) else { return Seen::Foreign };
        let marked = self.size.min(MARK);
        let opening = self.opening(index);
        if payload.len() < marked || payload[..marked] != opening[..marked] {
            return Seen::Foreign;
        }
        // A raw socket sees packets before the kernel has checked them.
        let whole = payload.len() == self.size && (self.family == Family::V6 || checksum(packet) == 0);
        let tail = payload.get(MARK..).unwrap_or_default();
        if whole && tail.iter().enumerate().all(|(offset, byte)| *byte == pattern(MARK + offset)) {
            Seen::Reply { index }
        } else {
            Seen::Damaged { index }
        }
    }

    /// The request that an ICMP error quotes, if it is one of the `sent` ones. Routers must quote the header
    /// only; as much of the payload as they do quote has to be ours.
    pub fn read_quote(&self, quote: &[u8], sent: u64) -> Option<u64> {
        let (header, payload) = quote.split_at_checked(HEADER)?;
        let index = self.index(header, sent)?;
        let shown = payload.len().min(self.size).min(MARK);
        let ours = header[0] == self.family.request() && self.is_id(header);
        (ours && payload[..shown] == self.opening(index)[..shown]).then_some(index)
    }

    fn is_id(&self, header: &[u8]) -> bool {
        header[4..6] == self.id.to_be_bytes()
    }

    /// The latest request with the sequence number in `header`.
    fn index(&self, header: &[u8], sent: u64) -> Option<u64> {
        let wanted = u16::from_be_bytes([header[6], header[7]]);
        let last = sent.checked_sub(1)?;
        let back = sequence(last).wrapping_sub(wanted);
        last.checked_sub(u64::from(back))
    }

    fn opening(&self, index: u64) -> [u8; MARK] {
        let mut opening = [0; MARK];
        opening[..8].copy_from_slice(&self.cookie);
        opening[8..].copy_from_slice(&index.to_be_bytes());
        opening
    }
}

/// The sequence number of request `index`: people count from 1.
pub fn sequence(index: u64) -> u16 {
    (index as u16).wrapping_add(1)
}

fn pattern(offset: usize) -> u8 {
    offset as u8
}

/// The Internet checksum (RFC 1071). Zero over a packet whose checksum field is right.
pub fn checksum(bytes: &[u8]) -> u16 {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let mut sum: u64 = pairs.iter().map(|pair| u64::from(u16::from_be_bytes(*pair))).sum();
    if let [last] = rest {
        sum += u64::from(u16::from_be_bytes([*last, 0]));
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// Splits what a raw IPv4 socket gives into the time to live and the ICMP packet. `None` if the header is cut
/// short or lies about its length.
pub fn strip_ipv4(packet: &[u8]) -> Option<(u8, &[u8])> {
    let first = *packet.first()?;
    let length = usize::from(first & 0x0f) * 4;
    let total = usize::from(u16::from_be_bytes([*packet.get(2)?, *packet.get(3)?]));
    let ttl = *packet.get(8)?;
    let icmp = *packet.get(9)? == 1;
    if first >> 4 != 4 || length < 20 || !icmp {
        return None;
    }
    // The link may have padded a short frame.
    packet.get(length..total.min(packet.len())).map(|rest| (ttl, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COOKIE: [u8; 8] = *b"\xde\xad\xbe\xef\x01\x02\x03\x04";

    fn mark(family: Family, size: usize) -> Mark {
        Mark { family, id: 0x1234, cookie: COOKIE, size }
    }

    /// The reply that an honest host gives to request `index`.
    fn reply(mark: &Mark, index: u64) -> Vec<u8> {
        let mut packet = mark.buffer();
        mark.stamp(&mut packet, index);
        packet[0] = mark.family.reply();
        resum(&mut packet);
        packet
    }

    fn resum(packet: &mut [u8]) {
        packet[2..4].fill(0);
        let sum = checksum(packet);
        packet[2..4].copy_from_slice(&sum.to_be_bytes());
    }

    #[test]
    fn mangled_packets_are_survived() {
        let mut rng = tenbin_core::rng::Rng::new(7);
        for round in 0..50_000_u64 {
            let family = if round % 2 == 0 { Family::V4 } else { Family::V6 };
            let mark = mark(family, rng.below(80) as usize);
            let mut packet = vec![0x45; 20 * (round as usize % 3)];
            packet.extend(reply(&mark, rng.below(1 << 17)));
            packet.truncate(rng.below(packet.len() as u64 + 1) as usize);
            for _ in 0..rng.below(6) {
                let at = rng.below(packet.len() as u64) as usize;
                if let Some(byte) = packet.get_mut(at) {
                    *byte = rng.next_u64() as u8;
                }
            }
            let sent = [0, 1, 70_000, u64::MAX][rng.below(4) as usize];
            let icmp = strip_ipv4(&packet).map_or(packet.as_slice(), |(_, icmp)| icmp);
            for seen in [mark.read(icmp, sent), mark.read(&packet, sent)] {
                if let Seen::Reply { index } | Seen::Damaged { index } = seen {
                    assert!(index < sent);
                }
            }
            assert!(mark.read_quote(&packet, sent).is_none_or(|index| index < sent));
        }
    }

    #[test]
    fn checksums() {
        // The example of RFC 1071, section 3.
        assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
        assert_eq!(checksum(&[]), 0xffff);
        assert_eq!(checksum(&[0xff]), 0x00ff);
        let mut packet = mark(Family::V4, 57).buffer();
        mark(Family::V4, 57).stamp(&mut packet, 3);
        assert_eq!(checksum(&packet), 0);
    }

    #[test]
    fn a_request_on_the_wire() {
        let mark = mark(Family::V4, 18);
        let mut packet = mark.buffer();
        mark.stamp(&mut packet, 0x1_0001);
        assert_eq!(packet[..2], [8, 0]);
        assert_eq!(packet[4..8], [0x12, 0x34, 0x00, 0x02]);
        assert_eq!(packet[8..16], COOKIE);
        assert_eq!(packet[16..24], [0, 0, 0, 0, 0, 1, 0, 1]);
        assert_eq!(packet[24..], [16, 17]);
    }

    #[test]
    fn replies_are_read_back() {
        let check = |family, size, index, sent, seen| {
            let mark = mark(family, size);
            assert_eq!(mark.read(&reply(&mark, index), sent), seen, "{family:?} {size} {index} {sent}");
        };
        for family in [Family::V4, Family::V6] {
            for size in [0, 1, 7, 8, 15, 16, 17, 56, 65507] {
                check(family, size, 0, 1, Seen::Reply { index: 0 });
                check(family, size, 41, 100, Seen::Reply { index: 41 });
                check(family, size, 70_000, 70_001, Seen::Reply { index: 70_000 });
            }
            // Answers to what was never sent, or so long ago that the sequence number has come round.
            check(family, 56, 1, 1, Seen::Foreign);
            check(family, 56, 0, 0, Seen::Foreign);
            check(family, 56, 5, 70_000, Seen::Foreign);
        }
    }

    #[test]
    fn hostile_replies() {
        let check = |what: &str, twist: &dyn Fn(&mut Vec<u8>), seen| {
            let mark = mark(Family::V4, 56);
            let mut packet = reply(&mark, 4);
            twist(&mut packet);
            assert_eq!(mark.read(&packet, 10), seen, "{what}");
        };
        let damaged = Seen::Damaged { index: 4 };
        check("as it came", &|_| {}, Seen::Reply { index: 4 });
        check("empty", &|p| p.clear(), Seen::Foreign);
        check("header cut", &|p| p.truncate(7), Seen::Foreign);
        check("header only", &|p| p.truncate(8), Seen::Foreign);
        check("cookie cut", &|p| p.truncate(15), Seen::Foreign);
        check("mark cut", &|p| p.truncate(23), Seen::Foreign);
        check("payload cut", &|p| p.truncate(30), damaged);
        check("payload longer", &|p| p.push(0), damaged);
        check("a request", &|p| p[0] = 8, Seen::Foreign);
        check("an ICMPv6 reply", &|p| p[0] = 129, Seen::Foreign);
        check("a code", &|p| p[1] = 1, Seen::Foreign);
        check("wrong id", &|p| p[5] ^= 1, Seen::Foreign);
        check("wrong sequence", &|p| p[7] ^= 1, Seen::Foreign);
        check("wrong cookie", &|p| p[8] ^= 1, Seen::Foreign);
        check("wrong number", &|p| p[23] ^= 1, Seen::Foreign);
        check("wrong checksum", &|p| p[2] ^= 1, damaged);
        let twisted = |p: &mut Vec<u8>| {
            p[63] ^= 1;
            resum(p);
        };
        check("wrong tail, right checksum", &twisted, damaged);
    }

    #[test]
    fn quotes_in_errors() {
        let check = |what: &str, twist: &dyn Fn(&mut Vec<u8>), index| {
            let mark = mark(Family::V4, 56);
            let mut packet = mark.buffer();
            mark.stamp(&mut packet, 4);
            twist(&mut packet);
            assert_eq!(mark.read_quote(&packet, 10), index, "{what}");
        };
        check("all of it", &|_| {}, Some(4));
        check("eight bytes, as RFC 792 wants", &|p| p.truncate(8), Some(4));
        check("half a cookie", &|p| p.truncate(12), Some(4));
        check("padded by the router", &|p| p.resize(200, 0), Some(4));
        check("nothing", &|p| p.clear(), None);
        check("seven bytes", &|p| p.truncate(7), None);
        check("a reply", &|p| p[0] = 0, None);
        check("wrong id", &|p| p[4] ^= 1, None);
        check("wrong cookie", &|p| p[9] ^= 1, None);
        check("not yet sent", &|p| p[7] = 200, None);
    }

    #[test]
    fn ip_headers() {
        let check = |header: &[u8], stripped: Option<(u8, &[u8])>| {
            assert_eq!(strip_ipv4(header), stripped, "{header:?}");
        };
        let plain = [0x45, 0, 0, 22, 0, 0, 0, 0, 64, 1, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1, 7, 8];
        check(&plain, Some((64, &[7, 8])));
        check(&[plain.as_slice(), &[0; 20]].concat(), Some((64, &[7, 8])));
        check(&plain[..20], Some((64, &[])));
        check(&plain[..19], None);
        check(&plain[..1], None);
        check(&[], None);
        let with = |at: usize, byte: u8| {
            let mut header = plain;
            header[at] = byte;
            header
        };
        check(&with(0, 0x65), None);
        check(&with(0, 0x44), None);
        check(&with(0, 0x4f), None);
        check(&with(3, 3), None);
        check(&with(9, 17), None);
        check(&with(3, 255), Some((64, &[7, 8])));
    }
}
