//! What one line of ping's output is. Words differ by language, numbers and their order do not: lines are
//! recognised by the few marks that no translation touches.

use std::net::IpAddr;

use super::figures::{self, Counts, Spread};
use super::json;
use super::reply::{self, Reply};

/// A line that was understood.
#[derive(Clone, Debug, PartialEq)]
pub enum Line<'a> {
    /// The first line of a run.
    Header(Header),
    /// An answer.
    Reply(Reply<'a>),
    /// A request to which there is no answer (yet). No value, no error.
    Silence,
    /// An ICMP error or an error of the own host; the text as printed.
    Refusal(&'a str),
    /// `--- host ping statistics ---` or its Windows sister.
    Statistics {
        /// Printed by Windows.
        windows: bool,
    },
    /// Packets sent and received.
    Counts(Counts),
    /// Round trips in seconds.
    Spread(Spread),
    /// Windows breaks the line before the share of lost packets in some languages.
    Share(f64),
    /// Likewise, within the counts: one or two of the three.
    Part(Vec<u64>),
    /// What `ping -V` prints.
    Version(&'a str),
    /// Decoration: blank lines, `^C`, dots of a flood, dumps of IP headers, recorded routes.
    Noise,
    /// A dump of an IP header follows in the next line.
    Dump,
}

/// Which family of pings wrote a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Linux.
    Iputils,
    /// macOS, the BSDs, BusyBox, GNU inetutils.
    Bsd,
    /// Windows.
    Windows,
}

/// The first line of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// Who wrote it.
    pub dialect: Dialect,
    /// The host as asked for.
    pub host: String,
    /// Its address, where printed.
    pub address: Option<String>,
    /// Payload bytes.
    pub size: Option<u64>,
}

/// Whether only ping writes such a line.
pub fn is_ping(text: &str) -> bool {
    let text = text.trim();
    let (_, rest) = stamp(text);
    match read(text, true) {
        Some(Line::Header(header)) => header.dialect != Dialect::Windows || rest.starts_with("Pinging "),
        Some(Line::Reply(reply)) if reply.windows => reply.ttl.is_some() || rest.starts_with("Reply from "),
        Some(Line::Reply(_)) => rest.starts_with(|c: char| c.is_alphanumeric() || c == '{'),
        Some(Line::Statistics { .. } | Line::Version(_)) => true,
        Some(Line::Counts(_)) => rest.starts_with('{') || rest.contains("packets transmitted"),
        Some(Line::Spread(_)) => rest.starts_with("rtt ") || rest.starts_with("round-trip "),
        Some(Line::Refusal(_)) => {
            rest.starts_with("ping: ")
                || rest.starts_with("Ping request could not find host ")
                || rest.contains("icmp_seq=")
        }
        _ => false,
    }
}

/// What `text` is; `None` for anything else. `whole`: its end was seen.
pub fn read(text: &str, whole: bool) -> Option<Line<'_>> {
    // Recorded routes stand behind a tabulator.
    if text.starts_with('\t') {
        return Some(Line::Noise);
    }
    read_plain(text, whole).or_else(|| {
        // Behind something of the user's own, such as the output of `date`.
        const BEGINNINGS: &[&str] = &[
            "PING ",
            "--- ",
            "rtt min/",
            "round-trip min/",
            "no answer yet",
            "Request timeout for",
            "From ",
        ];
        let at = BEGINNINGS.iter().find_map(|beginning| text.find(beginning)).or_else(|| {
            let (before, _) = text.split_once(" packets transmitted, ")?;
            Some(before.trim_end_matches(|c: char| c.is_ascii_digit()).len())
        })?;
        (at > 0).then(|| read_plain(text.get(at..)?, whole)).flatten()
    })
}

fn read_plain(text: &str, whole: bool) -> Option<Line<'_>> {
    // A bell stands behind the replies of ping -a.
    let (at, text) = stamp(text.trim_matches(|c: char| c.is_whitespace() || c == '\u{7}'));
    if is_noise(text) {
        return Some(Line::Noise);
    }
    let text_of_json = text.strip_prefix("(DUP!)").unwrap_or(text).trim_start();
    if text_of_json.starts_with('{') {
        return json::read(text_of_json, at, text.starts_with('('));
    }
    if text.starts_with("Vr HL TOS") || text == "IP Hdr Dump:" {
        return Some(Line::Dump);
    }
    if text.starts_with("Request timed out") {
        return Some(Line::Silence);
    }
    // The most frequent first.
    reply::read(text, at, whole)
        .map(Line::Reply)
        .or_else(|| header(text).map(Line::Header))
        .or_else(|| statistics(text))
        .or_else(|| refusal(text))
        .or_else(|| version(text))
        .or_else(|| {
            figures::unix_spread(text, whole).or_else(|| figures::windows_spread(text)).map(Line::Spread)
        })
        .or_else(|| figures::windows_counts(text).or_else(|| figures::unix_counts(text)).map(Line::Counts))
        .or_else(|| figures::lone_share(text).map(Line::Share))
        .or_else(|| figures::windows_part(text).map(Line::Part))
}

/// The timestamp of ping -D and what follows it.
pub fn stamp(text: &str) -> (Option<f64>, &str) {
    let inside = text.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    match inside.and_then(|(stamp, rest)| Some((stamp.parse().ok().filter(|at: &f64| at.is_finite())?, rest)))
    {
        Some((at, rest)) => (Some(at), rest),
        None => (None, text),
    }
}

fn is_noise(text: &str) -> bool {
    const BEGINNINGS: &[&str] = &[
        "pipe ",
        "ipg/ewma ",
        "PATTERN: ",
        "RR: ",
        "TS: ",
        "NOP",
        "icmp_otime = ",
        "icmp_rtime = ",
        "icmp_ttime = ",
        "ICMP: type ",
        "ping: sock4.fd: ",
        "ai->ai_family: ",
    ];
    let flood = |c: char| matches!(c, '.' | ' ' | '\u{8}' | 'E');
    text == "^C"
        || text == "Control-C"
        || text.chars().all(flood)
        || BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
        // The bytes of a reply stand on a line of their own in Japanese.
        || text.ends_with("データ長(byte)")
        || text.strip_prefix('#').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        || is_status(text)
        || is_date(text)
}

/// `2/2 packets, 0% loss, min/avg/ewma/max = ...`, on SIGQUIT: figures on the way.
fn is_status(text: &str) -> bool {
    let (counts, rest) = text.split_once(' ').unwrap_or((text, ""));
    let number = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    counts.split_once('/').is_some_and(|(a, b)| number(a) && number(b)) && rest.contains('%')
}

/// `Tue Jan  2 03:04:05 CET 2024`, as `date` prints it, with or without a colon.
fn is_date(text: &str) -> bool {
    let is_day = |day: &&str| text.starts_with(*day);
    let clock = |word: &str| word.len() == 8 && word.matches(':').count() == 2;
    text.len() < 40
        && ["Mon ", "Tue ", "Wed ", "Thu ", "Fri ", "Sat ", "Sun "].iter().any(is_day)
        && text.split(' ').any(clock)
}

fn header(text: &str) -> Option<Header> {
    if let Some(rest) = text.strip_prefix("PING6(") {
        let (sizes, rest) = rest.split_once(')')?;
        let (_, address) = rest.rsplit_once("--> ")?;
        let size = sizes.rsplit('+').next().and_then(|last| figures::integers(last).next());
        let (host, address) = (address.to_owned(), Some(address.to_owned()));
        return Some(Header { dialect: Dialect::Bsd, host, address, size });
    }
    let unix = ["PING ", "ПІНГ ", "Ping "].iter().find_map(|word| text.strip_prefix(word));
    if let Some(header) = unix.and_then(unix_header) {
        return Some(header);
    }
    // Windows: an address and a number of bytes, in words of some language, up to a colon.
    let line = text.strip_suffix([':', '：'])?;
    let size = line.split(|c: char| c.is_whitespace() || c == '(').find_map(|word| word.parse().ok());
    // Chinese has no blanks around the number.
    let size = size.or_else(|| {
        let (_, behind) = line.rsplit_once(address(line)?)?;
        figures::integers(behind).next()
    })?;
    let address = address(line)?.to_owned();
    let bracketed = line.split_once('[').and_then(|(before, _)| before.split_whitespace().last());
    let host = bracketed.unwrap_or(&address).to_owned();
    Some(Header { dialect: Dialect::Windows, host, address: Some(address), size: Some(size) })
}

/// `host (address) 56(84) bytes of data.` after the first word.
fn unix_header(text: &str) -> Option<Header> {
    let size_of = |rest: &str| {
        let rest = rest.rsplit(": ").next().unwrap_or(rest);
        rest.split_whitespace().find_map(|word| word.split('(').next()?.parse().ok())
    };
    let Some((host, rest)) = text.split_once('(') else {
        // Solaris: `host: 56 data bytes`.
        let (host, rest) = text.split_once(": ")?;
        let size = rest.strip_suffix(" data bytes")?.parse().ok();
        return Some(Header { dialect: Dialect::Bsd, host: host.to_owned(), address: None, size });
    };
    let (address, rest) = rest.split_once(')')?;
    address.split('%').next()?.parse::<IpAddr>().ok()?;
    let dialect = if rest.starts_with(':') { Dialect::Bsd } else { Dialect::Iputils };
    let host = host.trim().trim_end_matches(':').to_owned();
    Some(Header { dialect, host, address: Some(address.to_owned()), size: size_of(rest) })
}

fn statistics(text: &str) -> Option<Line<'_>> {
    // Dots of a flood may stand before it.
    let text = text.trim_start_matches(['.', ' ', '\u{8}']);
    let ping = |text: &str| ["ping", "пінг", "პინგ"].iter().any(|word| text.to_lowercase().contains(word));
    let dashes = |text: &str| text.starts_with("--") && text.ends_with("--");
    if dashes(text) && ping(text) {
        return Some(Line::Statistics { windows: false });
    }
    let windows = text.ends_with([':', '：']) && text.len() < 200 && ping(text) && address(text).is_some();
    (windows && !text.starts_with("ping:")).then_some(Line::Statistics { windows: true })
}

/// `ping utility, iputils-s20180629`, `ping from iputils 20221126`, `ping (GNU inetutils) 2.4`
fn version(text: &str) -> Option<Line<'_>> {
    let version = ["ping utility, iputils-", "ping6 utility, iputils-", "ping from iputils "]
        .iter()
        .find_map(|words| text.strip_prefix(words));
    let inetutils = text.strip_prefix("ping (GNU inetutils) ").map(|_| text);
    version.or(inetutils).map(|version| Line::Version(version.trim()))
}

fn refusal(text: &str) -> Option<Line<'_>> {
    const BSD: &[&str] = &[
        "Destination ",
        "Dest Unreachable",
        "Time to live exceeded",
        "Time exceeded",
        "frag needed",
        "Frag",
        "Redirect",
        "Source Quench",
        "Communication prohibited",
        "Parameter problem",
        "Packet too big",
    ];
    const OWN: &[&str] = &[
        "ping: ",
        "ping6: ",
        "connect: ",
        "PING: transmit failed",
        "General failure",
        "Ping request could not find host ",
        "Warning: time of day goes back",
        "wrong data byte ",
        "wrong total length ",
    ];
    let own = OWN.iter().any(|words| text.starts_with(words));
    let from = text.starts_with("From ") && (text.contains("icmp_seq") || text.contains(": "));
    let said = text.split_once(" bytes from ").and_then(|(_, rest)| rest.split_once(": "));
    let bsd = said.is_some_and(|(_, said)| BSD.iter().any(|words| said.starts_with(words)));
    if own || from || bsd {
        return Some(Line::Refusal(text));
    }
    // In other languages: a request's number with a host before it and a reason behind, or just the number of one
    // that is still without an answer.
    let at = text.find("icmp_s").or_else(|| text.find("pořadí="))?;
    let (before, _) = text.split_at_checked(at)?;
    // An answer begins with its size.
    if text.split(' ').next().is_some_and(|word| word.parse::<u64>().is_ok()) {
        return None;
    }
    let is_reply = text.matches('=').count() > 1;
    match address(before) {
        _ if is_reply => None,
        Some(_) => Some(Line::Refusal(text)),
        None => Some(Line::Silence),
    }
}

/// The first IP address in `text`.
pub fn address(text: &str) -> Option<&str> {
    let words = text.split(|c: char| !(c.is_ascii_hexdigit() || c == '.' || c == ':'));
    let mut candidates = words.filter(|word| word.len() > 1 && word.contains(['.', ':']));
    candidates.find_map(|word| {
        let word = word.strip_suffix(':').filter(|shorter| !shorter.ends_with(':')).unwrap_or(word);
        word.parse::<IpAddr>().is_ok().then_some(word)
    })
}
