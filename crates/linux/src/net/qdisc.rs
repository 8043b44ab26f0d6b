//! Root queueing disciplines: the token bucket, and knowing what was there before it.
//!
//! The token bucket's parameters are `struct tc_tbf_qopt` of linux/pkt_sched.h: two rates of twelve bytes, then
//! limit, bucket and peak bucket. The overhead per packet sits in the first rate, rates above 2^32 byte/s go into an
//! attribute of their own, and so does the bucket in bytes (in the struct it is a time, in ticks of 64 ns).

use serde::{Deserialize, Serialize};

use super::NetError;
use super::link::{change, link};
use super::netlink::{Message, attribute, attribute_text, request, u16_at, u32_at, u64_at};

const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_RATE64: u16 = 4;
const TCA_TBF_PRATE64: u16 = 5;
const TCA_TBF_BURST: u16 = 6;
/// Parent of a root queueing discipline.
const TC_H_ROOT: u32 = u32::MAX;
/// The handle we give ours; the kernel's default ones have 0.
const HANDLE: u32 = 1 << 16;
/// Length of `struct tc_tbf_qopt`.
const PARMS: usize = 36;
/// Without a link layer named, the kernel asks for a rate table of 1 KiB.
const TC_LINKLAYER_ETHERNET: u8 = 1;
const NANOSECONDS_PER_TICK: u64 = 64;
/// How long a packet may wait in the bucket's queue, beyond a burst.
const QUEUE_SECONDS: f64 = 0.05;
/// A slow bucket's queue still takes two packets of the stack.
const LEAST_QUEUE_BYTES: f64 = 131_072.0;

/// A token bucket on the way out of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenBucket {
    /// Rate in bit/s; the kernel keeps whole bytes a second.
    pub rate: u64,
    /// Size of the bucket in bytes: so many may go at once.
    pub burst: u32,
    /// Bytes counted on top of every packet, which the kernel sees with its 14 bytes of Ethernet header.
    pub overhead: u16,
}

/// A token bucket in the kernel's own form, so that one which somebody else made is put back to the bit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawTbf {
    /// Its number in `tc qdisc`: 0x10000 is `1:`.
    pub handle: u32,
    /// `struct tc_tbf_qopt`.
    pub parameters: Vec<u8>,
    /// Rate in byte/s, where it needs 64 bits.
    pub rate: Option<u64>,
    /// Peak rate in byte/s, where it needs 64 bits.
    pub peak_rate: Option<u64>,
}

/// What an interface queues its packets in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RootQdisc {
    /// What the kernel gave it by itself: it comes back when another one is deleted.
    Default {
        /// `noqueue`, `fq_codel`, `mq`, ...
        kind: String,
    },
    /// A token bucket.
    Tbf(RawTbf),
    /// One that somebody set up, and that is not known here well enough to be put back.
    Other {
        /// `htb`, `netem`, ...
        kind: String,
    },
}

impl RawTbf {
    /// The token bucket in plain numbers. The size of the bucket is computed from a time that the kernel rounds, so it
    /// is near the one that was set, not equal to it. `None` where the bytes are too few.
    pub fn decode(&self) -> Option<TokenBucket> {
        let rate = self.rate.unwrap_or(u64::from(u32_at(&self.parameters, 8)?));
        let ticks = u64::from(u32_at(&self.parameters, 28)?);
        let overhead = u16_at(&self.parameters, 2)?;
        // The time holds one packet of the size of the bucket, with its overhead.
        let burst = u128::from(ticks * NANOSECONDS_PER_TICK) * u128::from(rate) / 1_000_000_000;
        let burst = burst.saturating_sub(overhead.into());
        Some(TokenBucket {
            rate: rate.saturating_mul(8),
            burst: u32::try_from(burst).unwrap_or(u32::MAX),
            overhead,
        })
    }
}

/// The root queueing discipline of an interface.
///
/// # Errors
/// No such interface.
pub fn root_qdisc(name: &str) -> Result<RootQdisc, NetError> {
    let index = link(name)?.index;
    let attempt = "read the queueing discipline";
    let replies = request(Message::new(libc::RTM_GETQDISC, libc::NLM_F_DUMP, &tcmsg(index, 0, 0)))
        .map_err(|refusal| NetError::refused(attempt, name, refusal))?;
    replies.iter().find_map(|reply| parse(reply, index)).ok_or_else(|| NetError::Incomplete {
        attempt: attempt.into(),
        interface: name.to_owned(),
        missing: "root queueing discipline",
    })
}

/// The kind of the root queueing discipline of an interface, and its numbers if it is a token bucket.
///
/// # Errors
/// No such interface.
pub fn queue(name: &str) -> Result<(String, Option<TokenBucket>), NetError> {
    Ok(match root_qdisc(name)? {
        RootQdisc::Default { kind } | RootQdisc::Other { kind } => (kind, None),
        RootQdisc::Tbf(tbf) => ("tbf".to_owned(), tbf.decode()),
    })
}

/// Puts a token bucket at the root of an interface, in the place of whatever is there. A token bucket that is there
/// already changes in place: nothing that waits in it is lost.
///
/// # Errors
/// No such interface; no privilege; a kernel without tbf.
pub fn set_token_bucket(name: &str, bucket: &TokenBucket) -> Result<(), NetError> {
    let TokenBucket { rate, burst, overhead } = *bucket;
    let attempt = format!("set a token bucket of {rate} bit/s, burst {burst} byte, overhead {overhead} byte");
    replace(&attempt, name, HANDLE, |m| options(m, bucket))
}

/// Puts back a token bucket that [`root_qdisc`] found.
///
/// # Errors
/// As [`set_token_bucket`].
pub fn put_back_token_bucket(name: &str, tbf: &RawTbf) -> Result<(), NetError> {
    replace("put back the token bucket", name, tbf.handle, |mut m| {
        m = m.with(TCA_TBF_PARMS, &tbf.parameters);
        for (kind, rate) in [(TCA_TBF_RATE64, tbf.rate), (TCA_TBF_PRATE64, tbf.peak_rate)] {
            if let Some(rate) = rate {
                m = m.with(kind, &rate.to_ne_bytes());
            }
        }
        m
    })
}

/// Removes the root queueing discipline, so that the kernel's default returns. Not having one is no error.
///
/// # Errors
/// No such interface; no privilege.
pub fn delete_root_qdisc(name: &str) -> Result<(), NetError> {
    if let RootQdisc::Default { .. } = root_qdisc(name)? {
        return Ok(());
    }
    let message = Message::new(libc::RTM_DELQDISC, 0, &tcmsg(link(name)?.index, 0, TC_H_ROOT));
    change("remove the queueing discipline", name, message)
}

fn replace(
    attempt: &str,
    name: &str,
    handle: u32,
    inside: impl FnOnce(Message) -> Message,
) -> Result<(), NetError> {
    let index = link(name)?.index;
    let message = Message::new(
        libc::RTM_NEWQDISC,
        libc::NLM_F_CREATE | libc::NLM_F_REPLACE,
        &tcmsg(index, handle, TC_H_ROOT),
    )
    .with_text(libc::TCA_KIND, "tbf")
    .with_nest(libc::TCA_OPTIONS, inside);
    change(attempt, name, message)
}

fn options(message: Message, bucket: &TokenBucket) -> Message {
    let rate = bucket.rate / 8;
    let waiting = (rate as f64 * QUEUE_SECONDS).max(LEAST_QUEUE_BYTES);
    let limit = (waiting + f64::from(bucket.burst)) as u32;
    let mut parms = [0; PARMS];
    parms[1] = TC_LINKLAYER_ETHERNET;
    parms[2..4].copy_from_slice(&bucket.overhead.to_ne_bytes());
    // The kernel takes the 64 bit rate only beside a 32 bit one that is full.
    parms[8..12].copy_from_slice(&u32::try_from(rate).unwrap_or(u32::MAX).to_ne_bytes());
    parms[24..28].copy_from_slice(&limit.to_ne_bytes());
    let message = message.with(TCA_TBF_PARMS, &parms).with_u32(TCA_TBF_BURST, bucket.burst);
    if rate >= u64::from(u32::MAX) { message.with(TCA_TBF_RATE64, &rate.to_ne_bytes()) } else { message }
}

/// `struct tcmsg`.
fn tcmsg(index: u32, handle: u32, parent: u32) -> [u8; 20] {
    let mut fixed = [0; 20];
    fixed[4..8].copy_from_slice(&index.to_ne_bytes());
    fixed[8..12].copy_from_slice(&handle.to_ne_bytes());
    fixed[12..16].copy_from_slice(&parent.to_ne_bytes());
    fixed
}

fn parse(reply: &[u8], index: u32) -> Option<RootQdisc> {
    let attrs = reply.get(20..)?;
    if u32_at(reply, 4)? != index || u32_at(reply, 12)? != TC_H_ROOT {
        return None;
    }
    let kind = attribute_text(attrs, libc::TCA_KIND)?;
    let handle = u32_at(reply, 8)?;
    if handle == 0 {
        return Some(RootQdisc::Default { kind });
    }
    if kind != "tbf" {
        return Some(RootQdisc::Other { kind });
    }
    let options = attribute(attrs, libc::TCA_OPTIONS)?;
    let number = |wanted| attribute(options, wanted).and_then(|bytes| u64_at(bytes, 0));
    Some(RootQdisc::Tbf(RawTbf {
        handle,
        parameters: attribute(options, TCA_TBF_PARMS)?.to_vec(),
        rate: number(TCA_TBF_RATE64),
        peak_rate: number(TCA_TBF_PRATE64),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_has_the_default() {
        assert_eq!(root_qdisc("lo").unwrap(), RootQdisc::Default { kind: "noqueue".into() });
    }

    #[test]
    fn buckets_decode() {
        let check = |rate32: u32, rate64: Option<u64>, ticks: u32, expected: (u64, u32)| {
            let mut parameters = vec![0; PARMS];
            parameters[2..4].copy_from_slice(&24u16.to_ne_bytes());
            parameters[8..12].copy_from_slice(&rate32.to_ne_bytes());
            parameters[28..32].copy_from_slice(&ticks.to_ne_bytes());
            let tbf = RawTbf { handle: HANDLE, parameters, rate: rate64, peak_rate: None }.decode().unwrap();
            assert_eq!((tbf.rate, tbf.burst, tbf.overhead), (expected.0, expected.1, 24));
        };
        check(12_500_000, None, 10_000_000, (100_000_000, 7_999_976));
        check(u32::MAX, Some(12_500_000_000), 10_000, (100_000_000_000, 7_999_976));
        check(0, None, u32::MAX, (0, 0));
        assert_eq!(
            RawTbf { handle: HANDLE, parameters: vec![0; 31], rate: None, peak_rate: None }.decode(),
            None
        );
    }
}
