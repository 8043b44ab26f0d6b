//! What one line of ping's output is. Words differ by language, numbers and their order do not: lines are
//! recognised by the few marks that no translation touches.

use std::net::IpAddr;

use serde_json::Value;

/// A line that was understood.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// The first line of a run.
    Header(Header),
    /// An answer.
    Reply(Reply),
    /// A request to which there is no answer (yet). No value, no error.
    Silence,
    /// An ICMP error or an error of the own host; the text as printed.
    Refusal(String),
    /// `--- host ping statistics ---` or its Windows sister.
    Statistics {
        /// Printed by Windows.
        windows: bool,
    },
    /// Packets sent and received.
    Counts(Counts),
    /// Round trips in seconds.
    Spread(Spread),
    /// Decoration: blank lines, `^C`, dots of a flood, dumps of IP headers.
    Noise,
    /// A dump of an IP header follows in the next line.
    Dump,
}

/// Which family of pings wrote a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Linux.
    Iputils,
    /// macOS, the BSDs, BusyBox.
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

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// Seconds since 1970, with ping -D.
    pub at: Option<f64>,
    /// The round trip in seconds; `None` where the payload has no room for a timestamp.
    pub seconds: Option<f64>,
    /// The last digit printed, in seconds.
    pub digit: f64,
    /// Windows prints `time<1ms`: shorter than `seconds`, by how much is not known.
    pub below: bool,
    /// Not the first answer to its request.
    pub duplicate: bool,
    /// Time to live or hop limit.
    pub ttl: Option<u64>,
    /// With Windows' `TTL=`.
    pub windows: bool,
}

/// Packets sent and received.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Requests.
    pub sent: u64,
    /// First answers.
    pub received: u64,
    /// Requests without an answer; only Windows prints them.
    pub lost: Option<u64>,
    /// Further answers.
    pub duplicates: u64,
    /// ICMP and local errors.
    pub errors: u64,
    /// The printed share of lost packets, as a ratio.
    pub loss: Option<f64>,
    /// Wall time in seconds.
    pub duration: Option<f64>,
}

/// Figures of the round trips as printed, in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spread {
    /// The shortest.
    pub min: Option<f64>,
    /// The mean.
    pub mean: Option<f64>,
    /// The longest.
    pub max: Option<f64>,
    /// The deviation: of the population.
    pub sd: Option<f64>,
}

/// Whether only ping writes such a line.
pub fn is_ping(text: &str) -> bool {
    let text = text.trim();
    let (_, rest) = stamp(text);
    match read(text) {
        Some(Line::Header(header)) => header.dialect != Dialect::Windows || rest.starts_with("Pinging "),
        Some(Line::Reply(reply)) => reply.windows || rest.contains("icmp_") || rest.contains(" seq="),
        Some(Line::Statistics { .. }) => true,
        Some(Line::Counts(_)) => rest.starts_with('{') || rest.contains("packets transmitted"),
        Some(Line::Refusal(_)) => rest.starts_with("ping: ") || rest.contains("icmp_seq="),
        _ => false,
    }
}

/// What `text` is; `None` for anything else.
pub fn read(text: &str) -> Option<Line> {
    let (at, text) = stamp(text.trim());
    if is_noise(text) {
        return Some(Line::Noise);
    }
    if text.starts_with('{') {
        return json(text);
    }
    if text.starts_with("Vr HL TOS") {
        return Some(Line::Dump);
    }
    let silent = ["no answer yet", "Request timeout for", "Request timed out"];
    if silent.iter().any(|words| text.starts_with(words)) {
        return Some(Line::Silence);
    }
    header(text)
        .map(Line::Header)
        .or_else(|| statistics(text))
        .or_else(|| unix_reply(text, at).or_else(|| windows_reply(text)).map(Line::Reply))
        .or_else(|| refusal(text))
        .or_else(|| unix_spread(text).or_else(|| windows_spread(text)).map(Line::Spread))
        .or_else(|| windows_counts(text).or_else(|| unix_counts(text)).map(Line::Counts))
}

/// The timestamp of ping -D and what follows it.
fn stamp(text: &str) -> (Option<f64>, &str) {
    let inside = text.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    match inside.and_then(|(stamp, rest)| Some((stamp.parse().ok()?, rest))) {
        Some((at, rest)) => (Some(at), rest),
        None => (None, text),
    }
}

fn is_noise(text: &str) -> bool {
    let flood = |c: char| matches!(c, '.' | ' ' | '\u{8}' | 'E');
    text.is_empty() || text == "^C" || text.chars().all(flood) || text.starts_with("pipe ")
}

fn header(text: &str) -> Option<Header> {
    if let Some(rest) = text.strip_prefix("PING6(") {
        let (sizes, rest) = rest.split_once(')')?;
        let (_, address) = rest.rsplit_once("--> ")?;
        let size = sizes.rsplit('+').next().and_then(|last| integers(last).next());
        let (host, address) = (address.to_owned(), Some(address.to_owned()));
        return Some(Header { dialect: Dialect::Bsd, host, address, size });
    }
    if let Some(rest) = text.strip_prefix("PING ") {
        let (host, rest) = rest.split_once('(')?;
        let (address, rest) = rest.split_once(')')?;
        let dialect = if rest.starts_with(": ") { Dialect::Bsd } else { Dialect::Iputils };
        let rest = rest.rsplit(": ").next().unwrap_or(rest);
        let size = integers(rest).next();
        let (host, address) = (host.trim().to_owned(), Some(address.to_owned()));
        return Some(Header { dialect, host, address, size });
    }
    // Windows: an address and a number of bytes, in words of some language, up to a colon.
    let line = text.strip_suffix(':')?;
    let size = line.split([' ', '\u{a0}']).find_map(|word| word.parse().ok())?;
    let address = address(line)?.to_owned();
    let bracketed = line.split_once('[').and_then(|(before, _)| before.split_whitespace().last());
    let host = bracketed.unwrap_or(&address).to_owned();
    Some(Header { dialect: Dialect::Windows, host, address: Some(address), size: Some(size) })
}

fn statistics(text: &str) -> Option<Line> {
    let unix = text.strip_prefix("--- ").and_then(|rest| rest.strip_suffix(" ---"));
    if unix.is_some_and(|inside| inside.contains("ping")) {
        return Some(Line::Statistics { windows: false });
    }
    let windows = text.ends_with(':') && (text.contains("Ping") || text.contains("ping"));
    (windows && !text.starts_with("ping:")).then_some(Line::Statistics { windows: true })
}

fn unix_reply(text: &str, at: Option<f64>) -> Option<Reply> {
    let marks = ["icmp_seq=", "icmp_req=", " seq="];
    let rest = marks.iter().find_map(|mark| text.split_once(mark)).map(|(_, rest)| rest)?;
    if text.starts_with("From ") {
        return None;
    }
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let after = ["ttl=", "hlim="].iter().find_map(|mark| rest.split_once(mark)).map(|(_, rest)| rest);
    let ttl = after.and_then(|rest| integers(rest).next());
    let rest = after.map_or(rest, |rest| rest.trim_start_matches(|c: char| c.is_ascii_digit())).trim();
    let marked =
        |rest: &str| rest.split_whitespace().all(|word| word.starts_with('(') || word.ends_with(')'));
    let duplicate = rest.contains("(DUP!)");
    let Some((_, time)) = rest.split_once('=') else {
        // Too small a payload for a time: nothing else may follow.
        return (after.is_some() && marked(rest)).then_some(Reply {
            at,
            seconds: None,
            digit: 0.0,
            below: false,
            duplicate,
            ttl,
            windows: false,
        });
    };
    let (number, digit, rest) = milliseconds(time)?;
    // The unit in whatever language, then marks in parentheses. Anything else is another program's.
    let unit = rest.trim_start();
    let rest = unit.trim_start_matches(|c: char| c.is_alphabetic() || c == 'ー');
    if unit.len() == rest.len() || !marked(rest) {
        return None;
    }
    Some(Reply { at, seconds: Some(number), digit, below: false, duplicate, ttl, windows: false })
}

fn windows_reply(text: &str) -> Option<Reply> {
    let (before, ttl) = match text.split_once("TTL=") {
        Some((before, ttl)) => (before, integers(ttl).next()),
        // IPv6 has no TTL= at the end.
        None => (text.contains(": ").then_some(text).filter(|text| address(text).is_some())?, None),
    };
    let (number, below) = valued(before).find_map(|(sign, number, rest)| {
        rest.trim_start().starts_with("ms").then_some((number, sign == '<'))
    })?;
    // Unlike a line of statistics, which has three of them.
    if valued(before).filter(|(_, _, rest)| rest.trim_start().starts_with("ms")).count() > 1 {
        return None;
    }
    let seconds = Some(number as f64 / 1e3);
    Some(Reply { at: None, seconds, digit: 1e-3, below, duplicate: false, ttl, windows: true })
}

fn refusal(text: &str) -> Option<Line> {
    const BSD: &[&str] = &[
        "Destination ",
        "Time to live exceeded",
        "Time exceeded",
        "frag needed",
        "Redirect ",
        "Source Quench",
        "Communication prohibited",
        "Parameter problem",
        "Packet too big",
    ];
    let own = text.starts_with("ping: ") || text.starts_with("ping6: ");
    let unix = text.starts_with("From ") && (text.contains("icmp_seq") || text.contains(": "));
    let said = text.split_once(" bytes from ").and_then(|(_, rest)| rest.split_once(": "));
    let bsd = said.is_some_and(|(_, said)| BSD.iter().any(|words| said.starts_with(words)));
    (own || unix || bsd).then(|| Line::Refusal(text.to_owned()))
}

fn unix_spread(text: &str) -> Option<Spread> {
    let (names, figures) = text.split_once(" = ")?;
    if names.matches('/').count() < 2 {
        return None;
    }
    let mut figures = figures.split('/').map(|figure| milliseconds(figure).map(|(seconds, _, _)| seconds));
    let mut next = || figures.next().flatten();
    let (min, mean, max) = (next()?, next()?, next()?);
    let sd = next();
    Some(Spread { min: Some(min), mean: Some(mean), max: Some(max), sd })
}

fn windows_spread(text: &str) -> Option<Spread> {
    let figures: Vec<f64> = valued(text)
        .filter(|(sign, _, rest)| *sign == '=' && rest.trim_start().starts_with("ms"))
        .map(|(_, number, _)| number as f64 / 1e3)
        .collect();
    let [min, max, mean] = figures[..] else { return None };
    Some(Spread { min: Some(min), mean: Some(mean), max: Some(max), sd: None })
}

fn unix_counts(text: &str) -> Option<Counts> {
    let mut parts = text.split(", ");
    let first = integers(parts.next()?).next()?;
    let mut counts = Counts { sent: first, received: integers(parts.next()?).next()?, ..Counts::default() };
    for part in parts {
        let number = integers(part).next();
        if part.contains('%') {
            counts.loss = share(part);
        } else if part.contains("dup") {
            counts.duplicates = number?;
        } else if part.contains("err") {
            counts.errors = number?;
        } else if counts.loss.is_some() && !part.starts_with('+') {
            counts.duration = number.map(|ms| ms as f64 / 1e3);
        }
    }
    counts.loss.is_some().then_some(counts)
}

fn windows_counts(text: &str) -> Option<Counts> {
    let figures: Vec<u64> =
        valued(text).filter(|(sign, _, _)| *sign == '=').map(|(_, number, _)| number).collect();
    let [sent, received, lost] = figures[..] else { return None };
    if received.checked_add(lost) != Some(sent) {
        return None;
    }
    Some(Counts { sent, received, lost: Some(lost), loss: share(text), ..Counts::default() })
}

/// The number before the first `%`, as a ratio.
fn share(text: &str) -> Option<f64> {
    let (before, _) = text.split_once('%')?;
    let other = before.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    before[other.len()..].parse::<f64>().ok().map(|percent| percent / 100.0)
}

/// The lines of ping -j.
fn json(text: &str) -> Option<Line> {
    let value: Value = serde_json::from_str(text).ok()?;
    let number = |value: &Value| match value {
        Value::String(text) => text.parse().ok(),
        other => other.as_f64(),
    };
    let count = |key: &str| value.get(key).and_then(Value::as_u64);
    if let Some(sent) = count("transmitted") {
        return Some(Line::Counts(Counts {
            sent,
            received: count("received")?,
            lost: None,
            duplicates: count("duplicates").unwrap_or(0),
            errors: count("errors").unwrap_or(0),
            loss: value.get("loss").and_then(number).map(|percent| percent / 100.0),
            duration: count("time").map(|ms| ms as f64 / 1e3),
        }));
    }
    value.get("seq")?;
    value.get("host")?;
    let seconds = value.get("time").and_then(number).map(|ms| ms / 1e3);
    let duplicate = value.get("dup").and_then(Value::as_bool).unwrap_or(false);
    let ttl = count("ttl");
    Some(Line::Reply(Reply { at: None, seconds, digit: 1e-6, below: false, duplicate, ttl, windows: false }))
}

/// The figures that a summary of ping -j has in the same line as the counts.
pub fn json_spread(text: &str) -> Option<Spread> {
    let value: Value = serde_json::from_str(text.trim()).ok()?;
    let rtt = value.get("rtt")?;
    let figure = |key: &str| match rtt.get(key)? {
        Value::String(text) => text.parse::<f64>().ok().map(|ms| ms / 1e3),
        other => other.as_f64().map(|ms| ms / 1e3),
    };
    Some(Spread { min: figure("min"), mean: figure("avg"), max: figure("max"), sd: figure("mdev") })
}

/// A number of milliseconds at the start of `text`: seconds, the last printed digit in seconds, the rest.
fn milliseconds(text: &str) -> Option<(f64, f64, &str)> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let value: f64 = number.parse().ok()?;
    Some((value / 1e3, 1e-3 * 10_f64.powi(-(decimals.min(12) as i32)), rest))
}

/// All whole numbers in `text`.
fn integers(text: &str) -> impl Iterator<Item = u64> {
    text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok())
}

/// All whole numbers after `=` or `<`, with the sign before and the text after.
fn valued(text: &str) -> impl Iterator<Item = (char, u64, &str)> {
    text.match_indices(['=', '<']).filter_map(|(at, sign)| {
        let rest = text[at + sign.len()..].trim_start();
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        Some((sign.chars().next()?, rest[..end].parse().ok()?, &rest[end..]))
    })
}

/// The first IP address in `text`.
pub fn address(text: &str) -> Option<&str> {
    let words = text.split(|c: char| !(c.is_ascii_hexdigit() || c == '.' || c == ':'));
    words.map(|word| word.strip_suffix(':').unwrap_or(word)).find(|word| word.parse::<IpAddr>().is_ok())
}
