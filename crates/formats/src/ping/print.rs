//! The lines of Debian's iputils ping 20221126, to the letter.

use std::fmt::{self, Write};
use std::net::IpAddr;

use tenbin_core::metric::{DUPLICATES, DURATION, Metric, PACKETS_RECEIVED, PACKETS_SENT, RTT};
use tenbin_core::run::Run;
use tenbin_core::stats::order::{bears_percentile, percentile};

/// `PING host (address) 56(84) bytes of data.`; `bound` is the own address where one was asked for.
pub fn header(
    out: &mut dyn Write,
    host: &str,
    address: IpAddr,
    bound: Option<IpAddr>,
    size: usize,
) -> fmt::Result {
    let space = if address.is_ipv4() { " " } else { "" };
    write!(out, "PING {host}{space}({address}) ")?;
    if let Some(bound) = bound {
        // The place of a device's name stays empty.
        write!(out, "from {bound} : ")?;
    }
    match address {
        IpAddr::V4(_) => writeln!(out, "{size}({}) bytes of data.", size + 28),
        IpAddr::V6(_) => writeln!(out, "{size} data bytes"),
    }
}

/// A reply.
#[derive(Clone, Copy, Debug)]
pub struct Reply<'a> {
    /// Seconds since 1970, for ping -D.
    pub stamp: Option<f64>,
    /// Bytes of the packet, ICMP header included.
    pub bytes: usize,
    /// Who answered.
    pub from: &'a str,
    /// The sequence number in the packet.
    pub sequence: u16,
    /// Time to live or hop limit.
    pub ttl: Option<u8>,
    /// The round trip; ping has none where the payload is below 16 bytes.
    pub seconds: Option<f64>,
    /// Not the first reply to this request.
    pub duplicate: bool,
}

/// `64 bytes from 192.0.2.2: icmp_seq=1 ttl=64 time=0.138 ms`
pub fn reply(out: &mut dyn Write, reply: &Reply<'_>) -> fmt::Result {
    stamp(out, reply.stamp)?;
    write!(out, "{} bytes from {}: icmp_seq={}", reply.bytes, reply.from, reply.sequence)?;
    if let Some(ttl) = reply.ttl {
        write!(out, " ttl={ttl}")?;
    }
    if let Some(seconds) = reply.seconds {
        // Four significant digits at most, rounded from whole microseconds.
        match (seconds * 1e6).round() as u64 {
            // Saturates: a log may claim any time.
            us @ 99_950.. => write!(out, " time={} ms", us.saturating_add(500) / 1000)?,
            us @ 9_995.. => write!(out, " time={}.{} ms", (us + 50) / 1000, (us + 50) % 1000 / 100)?,
            us @ 1_000.. => write!(out, " time={}.{:02} ms", (us + 5) / 1000, (us + 5) % 1000 / 10)?,
            us => write!(out, " time=0.{us:03} ms")?,
        }
    }
    if reply.duplicate {
        out.write_str(" (DUP!)")?;
    }
    out.write_char('\n')
}

/// `From 192.0.2.1 icmp_seq=1 Destination Host Unreachable`; `said` as by [`icmp_error`].
pub fn refusal(out: &mut dyn Write, at: Option<f64>, from: &str, sequence: u16, said: &str) -> fmt::Result {
    stamp(out, at)?;
    writeln!(out, "From {from} icmp_seq={sequence} {said}")
}

/// `no answer yet for icmp_seq=1`, for ping -O.
pub fn silence(out: &mut dyn Write, at: Option<f64>, sequence: u16) -> fmt::Result {
    stamp(out, at)?;
    writeln!(out, "no answer yet for icmp_seq={sequence}")
}

fn stamp(out: &mut dyn Write, at: Option<f64>) -> fmt::Result {
    match at {
        Some(at) => write!(out, "[{at:.6}] "),
        None => Ok(()),
    }
}

/// The words for an ICMP error (`v6`: ICMPv6) of that type and code; `info` is the MTU or the pointer it carries.
pub fn icmp_error(v6: bool, kind: u8, code: u8, info: u32) -> String {
    let text = match (v6, kind, code) {
        (false, 3, 0) => "Destination Net Unreachable",
        (false, 3, 1) => "Destination Host Unreachable",
        (false, 3, 2) => "Destination Protocol Unreachable",
        (false, 3, 3) => "Destination Port Unreachable",
        (false, 3, 4) => return format!("Frag needed and DF set (mtu = {info})"),
        (false, 3, 5) => "Source Route Failed",
        (false, 3, 6) => "Destination Net Unknown",
        (false, 3, 7) => "Destination Host Unknown",
        (false, 3, 8) => "Source Host Isolated",
        (false, 3, 9) => "Destination Net Prohibited",
        (false, 3, 10) => "Destination Host Prohibited",
        (false, 3, 11) => "Destination Net Unreachable for Type of Service",
        (false, 3, 12) => "Destination Host Unreachable for Type of Service",
        (false, 3, 13) => "Packet filtered",
        (false, 3, 14) => "Precedence Violation",
        (false, 3, 15) => "Precedence Cutoff",
        (false, 3, _) => return format!("Dest Unreachable, Bad Code: {code}"),
        (false, 4, _) => "Source Quench",
        (false, 11, 0) => "Time to live exceeded",
        (false, 11, 1) => "Frag reassembly time exceeded",
        (false, 11, _) => return format!("Time exceeded, Bad Code: {code}"),
        (false, 12, _) => return format!("Parameter problem: pointer = {info}"),
        (false, _, _) => return format!("Bad ICMP type: {kind}"),
        (true, 1, 0) => "Destination unreachable: No route",
        (true, 1, 1) => "Destination unreachable: Administratively prohibited",
        (true, 1, 2) => "Destination unreachable: Beyond scope of source address",
        (true, 1, 3) => "Destination unreachable: Address unreachable",
        (true, 1, 4) => "Destination unreachable: Port unreachable",
        (true, 1, _) => return format!("Destination unreachable: Unknown code {code}"),
        (true, 2, _) => return format!("Packet too big: mtu={info}"),
        (true, 3, 0) => "Time exceeded: Hop limit",
        (true, 3, 1) => "Time exceeded: Defragmentation failure",
        (true, 3, _) => return format!("Time exceeded: code {code}"),
        (true, 4, 0) => return format!("Parameter problem: Wrong header field at {info}"),
        (true, 4, 1) => return format!("Parameter problem: Unknown header at {info}"),
        (true, 4, 2) => return format!("Parameter problem: Unknown option at {info}"),
        (true, 4, _) => return format!("Parameter problem: code {code} at {info}"),
        (true, _, _) => return format!("unknown icmp type: {kind}"),
    };
    text.to_owned()
}

/// Round trips over a run, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The shortest.
    pub min: f64,
    /// The mean.
    pub mean: f64,
    /// The longest.
    pub max: f64,
    /// The deviation of the population.
    pub mdev: Option<f64>,
}

impl Spread {
    /// Of these round trips, in whole microseconds cut off as ping does; `None` of none.
    pub fn of(seconds: &[f64]) -> Option<Spread> {
        // i128: the squares of hours in microseconds, summed over millions of packets. A day is more than any echo
        // takes; a log that claims more must not overflow them.
        const DAY: f64 = 86_400e6;
        let micros = || seconds.iter().map(|seconds| (seconds * 1e6).round().clamp(-DAY, DAY) as i128);
        let n = seconds.len() as i128;
        let (min, max) = (micros().min()?, micros().max()?);
        let (sum, squares) = (micros().sum::<i128>(), micros().map(|us| us * us).sum::<i128>());
        let variance = (squares - sum * sum / n) / n;
        let second = |us: i128| us as f64 / 1e6;
        let mdev = second((variance.max(0) as f64).sqrt() as i128);
        Some(Spread { min: second(min), mean: second(sum / n), max: second(max), mdev: Some(mdev) })
    }
}

/// The end of a run.
#[derive(Clone, Debug, Default)]
pub struct Summary<'a> {
    /// The host as asked for.
    pub host: &'a str,
    /// Requests.
    pub sent: u64,
    /// First replies.
    pub received: u64,
    /// Further replies.
    pub duplicates: u64,
    /// Replies with a payload that was not sent.
    pub corrupted: u64,
    /// ICMP and local errors.
    pub errors: u64,
    /// From the first request to the last event.
    pub seconds: Option<f64>,
    /// Of the round trips.
    pub spread: Option<Spread>,
    /// The most requests that were under way at once; printed above 1.
    pub pipe: u64,
    /// For ping -A and -f: from one request to the next, and the moving average of round trips.
    pub pace: Option<(f64, f64)>,
}

/// The moving average of round trips that ping prints: each new one counts an eighth.
pub fn moving_average(seconds: &[f64]) -> Option<f64> {
    let (first, rest) = seconds.split_first()?;
    Some(rest.iter().fold(*first, |average, next| average + (next - average) / 8.0))
}

/// A line that ping does not have: percentiles, as many as the samples bear.
pub fn percentiles(out: &mut dyn Write, seconds: &[f64]) -> fmt::Result {
    let n = seconds.len();
    let borne = [50.0, 90.0, 99.0, 99.9].into_iter().filter(|p| bears_percentile(n, p / 100.0));
    let figures: Vec<String> =
        borne.filter_map(|p| Some(format!("p{p} {} ms", millis(percentile(seconds, p / 100.0)?)))).collect();
    if figures.is_empty() { Ok(()) } else { writeln!(out, "percentiles: {} (n={n})", figures.join(", ")) }
}

/// A blank line and the statistics.
pub fn summary(out: &mut dyn Write, summary: &Summary<'_>) -> fmt::Result {
    writeln!(out, "\n--- {} ping statistics ---", summary.host)?;
    write!(out, "{} packets transmitted, {} received", summary.sent, summary.received)?;
    for (count, word) in
        [(summary.duplicates, "duplicates"), (summary.corrupted, "corrupted"), (summary.errors, "errors")]
    {
        if count > 0 {
            write!(out, ", +{count} {word}")?;
        }
    }
    if summary.sent > 0 {
        let lost = summary.sent.saturating_sub(summary.received) as f64 * 100.0 / summary.sent as f64;
        write!(out, ", {}% packet loss", six_digits(lost))?;
        if let Some(seconds) = summary.seconds {
            write!(out, ", time {}ms", (seconds * 1e3).round() as u64)?;
        }
    }
    out.write_char('\n')?;
    let mut comma = "";
    if let Some(spread) = &summary.spread {
        let [min, mean, max] = [spread.min, spread.mean, spread.max].map(millis);
        match spread.mdev.map(millis) {
            Some(mdev) => write!(out, "rtt min/avg/max/mdev = {min}/{mean}/{max}/{mdev} ms")?,
            // As BusyBox prints it, which knows none.
            None => write!(out, "round-trip min/avg/max = {min}/{mean}/{max} ms")?,
        }
        comma = ", ";
    }
    if summary.pipe > 1 {
        write!(out, "{comma}pipe {}", summary.pipe)?;
        comma = ", ";
    }
    if let Some((apart, average)) = summary.pace {
        write!(out, "{comma}ipg/ewma {}/{} ms", millis(apart), millis(average))?;
    }
    out.write_char('\n')
}

/// Milliseconds to three decimals, rounded from microseconds.
fn millis(seconds: f64) -> String {
    let us = (seconds * 1e6).round() as u64;
    format!("{}.{:03}", us / 1000, us % 1000)
}

/// A percentage with six significant digits and no closing zeros, like C's `%g`.
fn six_digits(percent: f64) -> String {
    if percent == 0.0 {
        return "0".to_owned();
    }
    let power = percent.log10().floor() as i32;
    let digits = (5 - power).clamp(0, 12) as usize;
    if power < -4 {
        let scientific = format!("{percent:.5e}");
        let (number, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
        let number = number.trim_end_matches('0').trim_end_matches('.');
        let exponent = exponent.trim_start_matches('-');
        return format!("{number}e-{exponent:0>2}");
    }
    let text = format!("{percent:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A whole run. What a [`Run`] does not keep is numbered anew: replies have consecutive sequence numbers.
pub fn run(run: &Run, out: &mut dyn Write) -> fmt::Result {
    let text =
        |key: &str| run.facts.get(key).and_then(|fact| fact.value.as_ref()).map(|value| value.to_string());
    let address = text("ping.address");
    let host = text("ping.host").or_else(|| address.clone()).unwrap_or_else(|| "unknown".to_owned());
    let size = text("ping.size").and_then(|size| size.parse::<usize>().ok());
    let ttl = text("ping.ttl").and_then(|ttl| ttl.parse::<u8>().ok());
    if let Some(address) = address.as_ref().and_then(|address| address.parse().ok()) {
        header(out, &host, address, None, size.unwrap_or(56))?;
    }
    let series = |metric: &Metric| run.series.iter().find(|series| series.metric.name == metric.name);
    let one = |metric: &Metric| series(metric)?.samples.first().map(|sample| sample.value);
    let rtt = series(&RTT);
    let samples = rtt.map_or(&[][..], |series| &series.samples);
    for (index, sample) in samples.iter().enumerate() {
        let line = Reply {
            stamp: sample.time(),
            bytes: size.unwrap_or(56) + 8,
            from: address.as_deref().unwrap_or(&host),
            sequence: (index as u16).wrapping_add(1),
            ttl,
            seconds: Some(sample.value),
            duplicate: false,
        };
        reply(out, &line)?;
    }
    let Some(sent) = one(&PACKETS_SENT) else { return Ok(()) };
    let reported = rtt.map(|series| &series.reported);
    let figure = |key: &str| reported?.get(key).copied();
    let printed = || {
        Some(Spread { min: figure("min")?, mean: figure("mean")?, max: figure("max")?, mdev: figure("sd") })
    };
    let values: Vec<f64> = samples.iter().map(|sample| sample.value).collect();
    let end = Summary {
        host: &host,
        sent: sent as u64,
        received: one(&PACKETS_RECEIVED).unwrap_or_default() as u64,
        duplicates: one(&DUPLICATES).unwrap_or_default() as u64,
        seconds: one(&DURATION),
        spread: printed().or_else(|| Spread::of(&values)),
        ..Summary::default()
    };
    summary(out, &end)
}
