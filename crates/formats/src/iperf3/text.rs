//! iperf3 3.12's text, line by line, so that it can be printed while a test runs.
//!
//! Transfers in 1024-based bytes, rates in 1000-based bits, four significant characters: iperf3's own habits, which
//! is why no other code should print like this.

use std::fmt::{self, Write};

use super::model::{Direction, End, Interval, Role, Row, Side, Start, Test};

/// The unit of the rate column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RateUnit {
    /// Bits, with the prefix that fits.
    #[default]
    Adaptive,
    /// Bits, 1000-based, with the prefix of that power: 1 is K.
    Bits(u8),
    /// Bytes, 1024-based, with the prefix of that power.
    Bytes(u8),
}

impl RateUnit {
    /// The letter of `-f`: k, m, g, t for bits, K, M, G, T for bytes.
    pub fn of(letter: &str) -> Option<RateUnit> {
        match letter {
            "a" | "A" => return Some(RateUnit::Adaptive),
            "b" => return Some(RateUnit::Bits(0)),
            "B" => return Some(RateUnit::Bytes(0)),
            _ => {}
        }
        let power =
            ["k", "m", "g", "t"].iter().position(|known| known.eq_ignore_ascii_case(letter))? as u8 + 1;
        let bits = letter.chars().all(char::is_lowercase);
        Some(if bits { RateUnit::Bits(power) } else { RateUnit::Bytes(power) })
    }
}

/// How to print.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    /// The unit of the rate column.
    pub rate: RateUnit,
    /// `-V`.
    pub verbose: bool,
}

const PREFIXES: [&str; 5] = ["", "K", "M", "G", "T"];
/// Between intervals of several streams, and before the totals.
const LINE: &str = "- - - - - - - - - - - - - - - - - - - - - - - - -\n";
/// Around what a waiting server says.
const LONG_LINE: &str = "-----------------------------------------------------------\n";

/// Four characters of a value in its unit.
fn digits(value: f64) -> String {
    if value < 9.995 {
        format!("{value:4.2}")
    } else if value < 99.95 {
        format!("{value:4.1}")
    } else {
        format!("{value:4.0}")
    }
}

fn scaled(value: f64, base: f64, power: Option<u8>, unit: &str) -> String {
    let (mut value, mut n) = (value, 0);
    let most = PREFIXES.len() - 1;
    while match power {
        Some(power) => n < usize::from(power).min(most),
        None => value >= base && n < most,
    } {
        value /= base;
        n += 1;
    }
    format!("{} {}{unit}", digits(value), PREFIXES[n])
}

/// `1.10 GBytes`
pub fn size(bytes: f64) -> String {
    scaled(bytes, 1024.0, None, "Bytes")
}

/// `9.47 Gbits/sec`
pub fn rate(bits_per_second: f64, unit: RateUnit) -> String {
    match unit {
        RateUnit::Adaptive => scaled(bits_per_second, 1e3, None, "bits/sec"),
        RateUnit::Bits(power) => scaled(bits_per_second, 1e3, Some(power), "bits/sec"),
        RateUnit::Bytes(power) => scaled(bits_per_second / 8.0, 1024.0, Some(power), "Bytes/sec"),
    }
}

/// What a server says before it waits for its `number`-th test, from 1.
pub fn listening(port: u16, number: u64, out: &mut dyn Write) -> fmt::Result {
    write!(out, "{LONG_LINE}Server listening on {port} (test #{number})\n{LONG_LINE}")
}

/// `Connecting to host 127.0.0.1, port 5201`
pub fn connecting(host: &str, port: u16, out: &mut dyn Write) -> fmt::Result {
    writeln!(out, "Connecting to host {host}, port {port}")
}

/// Everything between the connection and the first interval.
pub fn start(start: &Start, style: Style, out: &mut dyn Write) -> fmt::Result {
    if start.role == Role::Server {
        writeln!(out, "Accepted connection from {}, port {}", start.peer_host, start.peer_port)?;
    }
    if style.verbose {
        if let Some(cookie) = &start.cookie {
            writeln!(out, "      Cookie: {cookie}")?;
        }
        if let Some(mss) = start.mss_bytes {
            writeln!(out, "      TCP MSS: {mss}{}", if start.mss_asked { "" } else { " (default)" })?;
        }
    }
    if start.reverse && start.role == Role::Client {
        writeln!(out, "Reverse mode, remote host {} is sending", start.peer_host)?;
    }
    // Of a run that was put together again the addresses may not be known.
    for connection in start.connected.iter().filter(|connection| !connection.local_host.is_empty()) {
        writeln!(
            out,
            "[{:3}] local {} port {} connected to {} port {}",
            connection.socket,
            connection.local_host,
            connection.local_port,
            connection.remote_host,
            connection.remote_port
        )?;
    }
    if style.verbose {
        let ends = match (start.limit_bytes, start.limit_blocks) {
            (0, 0) => format!("{} second test", start.duration_seconds),
            (0, blocks) => format!("{blocks} blocks to send"),
            (bytes, _) => format!("{bytes} bytes to send"),
        };
        writeln!(
            out,
            "Starting Test: protocol: {}, {} streams, {} byte blocks, omitting {} seconds, {ends}, tos {}",
            start.protocol, start.streams, start.block_bytes, start.omit_seconds, start.tos
        )?;
    }
    let sends = start.bidir || super::series::local_side(start) == Side::Sender;
    let more = match (is_udp(start), sends) {
        (false, true) => "Retr  Cwnd",
        (true, true) => "Total Datagrams",
        (true, false) => JITTER,
        (false, false) => "",
    };
    header(start, more, out)
}

const JITTER: &str = "Jitter    Lost/Total Datagrams";

fn is_udp(start: &Start) -> bool {
    start.protocol == "UDP"
}

fn header(start: &Start, more: &str, out: &mut dyn Write) -> fmt::Result {
    let role = if start.bidir { "[Role]" } else { "" };
    let line = format!("[ ID]{role} Interval           Transfer     Bitrate         {more}");
    writeln!(out, "{}", line.trim_end())
}

/// An interval report.
pub fn interval(test: &Start, interval: &Interval, style: Style, out: &mut dyn Write) -> fmt::Result {
    let several = test.connected.len() > 1;
    let tail = |row: &Row| if row.omitted { "(omitted)" } else { "" };
    for row in in_order(test, &interval.streams, &interval.sums) {
        line(test, row, tail(row), style, out)?;
    }
    if several { out.write_str(LINE) } else { Ok(()) }
}

/// Streams and, where there are several of a direction, their sums; of both directions one after the other.
fn in_order<'a>(test: &Start, streams: &'a [Row], sums: &'a [Row]) -> Vec<&'a Row> {
    let ways = if test.bidir { vec![Direction::Forward, Direction::Reverse] } else { Vec::new() };
    let of = |way: Option<Direction>| {
        let streams: Vec<&Row> =
            streams.iter().filter(|row| way.is_none_or(|way| row.direction == way)).collect();
        let several = streams.iter().any(|row| row.stream != streams[0].stream);
        // A log of sums alone has them for all.
        let shown = several || streams.is_empty();
        let sums = sums.iter().filter(move |row| shown && way.is_none_or(|way| row.direction == way));
        streams.into_iter().chain(sums).collect::<Vec<&Row>>()
    };
    match ways.is_empty() {
        true => of(None),
        false => ways.into_iter().flat_map(|way| of(Some(way))).collect(),
    }
}

/// The totals; `done` if the test came to its end.
pub fn end(test: &Start, end: &End, done: bool, style: Style, out: &mut dyn Write) -> fmt::Result {
    let several = test.connected.len() > 1;
    if !several {
        out.write_str(LINE)?;
    }
    if style.verbose && test.role == Role::Client {
        out.write_str("Test Complete. Summary Results:\n")?;
    }
    let counted = end.streams.iter().any(|row| row.retransmits.is_some());
    let more = if is_udp(test) {
        JITTER
    } else if counted {
        "Retr"
    } else {
        ""
    };
    header(test, more, out)?;
    // The receiver's counters without its rate stand in the sender's row.
    let rows =
        in_order(test, &end.streams, &end.sums).into_iter().filter(|row| row.bits_per_second.is_some());
    for row in rows {
        line(test, row, row.side.word(), style, out)?;
    }
    if style.verbose {
        if let (Some(local), Some(remote)) = (end.cpu_local, end.cpu_remote) {
            let near = super::series::local_side(test);
            let share = |cpu: super::model::Cpu| {
                let [user, system] = [cpu.user, cpu.system].map(|share| share.unwrap_or(0.0) * 100.0);
                format!("{:.1}% ({user:.1}%u/{system:.1}%s)", cpu.total * 100.0)
            };
            writeln!(
                out,
                "CPU Utilization: local/{} {}, remote/{} {}",
                near.word(),
                share(local),
                near.other().word(),
                share(remote)
            )?;
        }
        for (word, name) in [("snd", &end.sender_congestion), ("rcv", &end.receiver_congestion)] {
            if let Some(name) = name {
                writeln!(out, "{word}_tcp_congestion {name}")?;
            }
        }
    }
    if test.role == Role::Client && done { out.write_str("\niperf Done.\n") } else { Ok(()) }
}

/// A row of figures.
fn line(test: &Start, row: &Row, tail: &str, style: Style, out: &mut dyn Write) -> fmt::Result {
    match row.stream {
        Some(stream) => write!(out, "[{stream:3}]")?,
        None => write!(out, "[SUM]")?,
    }
    if test.bidir {
        let client = test.role == Role::Client;
        let way = if (row.direction == Direction::Forward) == client { "TX" } else { "RX" };
        write!(out, "[{way}-{}]", if client { "C" } else { "S" })?;
    }
    let (bytes, bits) =
        (size(row.bytes.unwrap_or(0.0)), rate(row.bits_per_second.unwrap_or(0.0), style.rate));
    write!(out, " {:6.2}-{:<6.2} sec  {bytes}  {bits}", row.start, row.end)?;
    let total = tail == Side::Sender.word() || tail == Side::Receiver.word();
    if is_udp(test) {
        return datagrams(row, tail, total, out);
    }
    // Of a total the window is the largest, which iperf3 does not print.
    match (row.retransmits, row.cwnd_bytes.filter(|_| !total)) {
        (Some(retransmits), Some(cwnd)) => writeln!(out, "  {retransmits:3.0}   {}       {tail}", size(cwnd)),
        (Some(retransmits), None) => writeln!(out, "  {retransmits:3.0}             {tail}"),
        (None, _) => writeln!(out, "                  {tail}"),
    }
}

/// The end of a row of a UDP test: how many were sent, or jitter and losses. What is not known is left out.
fn datagrams(row: &Row, tail: &str, total: bool, out: &mut dyn Write) -> fmt::Result {
    let sent = row.side == Side::Sender;
    match (row.packets, row.lost_packets) {
        (Some(packets), _) if sent && !total => write!(out, "  {packets:.0}")?,
        // A sender's own are zeroes.
        (Some(packets), None) if sent => write!(out, "  0.000 ms  0/{packets:.0} (0%)")?,
        (packets, lost) => {
            if let Some(jitter) = row.jitter_seconds {
                write!(out, "  {:5.3} ms", jitter * 1e3)?;
            }
            if let (Some(lost), Some(packets)) = (lost, packets) {
                let percent =
                    row.lost_ratio.unwrap_or(if packets > 0.0 { lost / packets } else { 0.0 }) * 100.0;
                write!(out, "  {lost:.0}/{packets:.0} ({}%)", percent_of(percent))?;
            }
        }
    }
    writeln!(out, "  {tail}")
}

/// Two significant digits, as C's `%.2g`.
fn percent_of(percent: f64) -> String {
    if percent >= 99.5 {
        return "1e+02".to_owned();
    }
    let text = tenbin_core::quantity::significant(percent, 2);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A whole test.
pub fn test(test: &Test, style: Style, out: &mut dyn Write) -> fmt::Result {
    if test.start.role == Role::Client {
        connecting(&test.start.peer_host, test.start.peer_port, out)?;
    }
    start(&test.start, style, out)?;
    for report in &test.intervals {
        interval(&test.start, report, style, out)?;
    }
    match &test.end {
        Some(totals) => end(&test.start, totals, test.error.is_none(), style, out),
        None => Ok(()),
    }
}
