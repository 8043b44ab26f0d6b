//! What one line of fping's output is.

use std::net::IpAddr;

use super::{json, netdata};

/// A line that was understood. Times are in seconds.
#[derive(Clone, Debug, PartialEq)]
pub enum Line<'a> {
    /// `target : [0], 64 bytes, 0.425 ms (0.425 avg, 0% loss)`
    Reply {
        /// Who was asked.
        target: &'a str,
        /// The round trip.
        seconds: f64,
        /// Bytes of the answer.
        bytes: Option<u64>,
        /// Seconds since 1970, with -D.
        at: Option<f64>,
    },
    /// `target : [0], timed out (NaN avg, 100% loss)`: fping 5 tells it, earlier ones are silent.
    Silence,
    /// `target : duplicate for [0], 64 bytes, 0.425 ms`
    Duplicate(&'a str),
    /// `target : xmt/rcv/%loss = 5/5/0%, min/avg/max = 0.049/0.125/0.425`
    Total(&'a str, Total),
    /// `target : 0.047 - 0.053`: the times of -C, `None` for what was lost.
    Times(&'a str, Vec<Option<f64>>),
    /// `[12:01:02]`: the totals of a period follow.
    Period(&'a str),
    /// `target is alive (0.425 ms)`
    Alive(&'a str, Option<f64>),
    /// `target is unreachable`
    Dead,
    /// A line of the figures over all targets.
    Overall(Overall),
    /// An ICMP error or an error of the own host.
    Refusal,
    /// Decoration.
    Noise,
}

/// Totals of one target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Total {
    /// Requests.
    pub sent: u64,
    /// Answers.
    pub received: u64,
    /// The printed share of lost packets; `None` where the share of returned ones was printed.
    pub loss: Option<f64>,
    /// The shortest, mean and longest round trip.
    pub spread: [Option<f64>; 3],
}

/// A figure over all targets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Overall {
    /// How many of something: the name of a fact and its value.
    Hosts(&'static str, u64),
    /// Requests sent.
    Sent(u64),
    /// Answers received.
    Received(u64),
    /// The shortest (0), mean (1) or longest (2) round trip.
    Spread(usize, f64),
    /// Wall time.
    Duration(f64),
}

/// Whether only fping writes such a line; `named` where the log mentions fping: a bare list of times could be
/// anybody's.
pub fn is_fping(text: &str, named: bool) -> bool {
    if let Some(lines) = json::read(text) {
        return !lines.is_empty();
    }
    if netdata::is_chart(text) {
        return true;
    }
    match read(text, true) {
        Some(Line::Reply { .. } | Line::Silence | Line::Duplicate(_) | Line::Total(..)) => true,
        Some(Line::Times(target, times)) => times.len() > 1 && (named || is_host(target)),
        Some(Line::Alive(_, seconds)) => seconds.is_some() || named,
        Some(Line::Dead) => named,
        Some(Line::Overall(Overall::Sent(_) | Overall::Spread(..))) => true,
        Some(Line::Refusal) => text.contains("for ICMP Echo sent to ") || text.starts_with("fping: "),
        _ => false,
    }
}

/// `target is alive`, `target is unreachable`: what fping prints without any option.
pub fn is_alive_or_dead(text: &str) -> bool {
    matches!(read(text, true), Some(Line::Alive(..) | Line::Dead))
}

/// Whether a line among those of other tools is fping's.
pub fn opens(text: &str) -> bool {
    netdata::is_chart(text)
        || matches!(read(text, true), Some(Line::Reply { .. } | Line::Silence | Line::Total(..)))
}

/// What `text` is; `None` for anything else. `whole`: its end was seen.
pub fn read(text: &str, whole: bool) -> Option<Line<'_>> {
    let text = text.trim();
    if text.is_empty() || text == "^C" {
        return Some(Line::Noise);
    }
    if let Some(clock) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'))
        && is_clock(clock)
    {
        return Some(Line::Period(clock));
    }
    if let Some((before, rest)) = text.split_once(" : ") {
        let (at, target) = stamp(before.trim_end());
        if !target.is_empty() {
            return of_target(target, at, rest.trim(), whole);
        }
    }
    refusal(text).or_else(|| word(text)).or_else(|| overall(text))
}

fn is_clock(text: &str) -> bool {
    let parts = || text.split(':');
    parts().count() == 3 && parts().all(|part| part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit()))
}

/// The timestamp of -D, seconds since 1970 or any date in brackets, and what follows it.
fn stamp(text: &str) -> (Option<f64>, &str) {
    match text.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        Some((at, rest)) => (at.parse().ok().filter(|at: &f64| at.is_finite()), rest.trim_start()),
        None => (None, text),
    }
}

fn of_target<'a>(target: &'a str, at: Option<f64>, rest: &'a str, whole: bool) -> Option<Line<'a>> {
    if let Some(rest) = rest.strip_prefix('[') {
        let (sequence, rest) = rest.split_once("], ")?;
        sequence.parse::<u64>().ok()?;
        if rest.starts_with("timed out") {
            return Some(Line::Silence);
        }
        let (bytes, rest) = rest.split_once(" bytes, ")?;
        // The running average that follows is of no use here.
        let (time, _) = rest.split_once(" ms")?;
        return Some(Line::Reply { target, seconds: milliseconds(time)?, bytes: bytes.parse().ok(), at });
    }
    if rest.starts_with("duplicate for [") {
        return Some(Line::Duplicate(target));
    }
    for (mark, is_loss) in [("xmt/rcv/%loss = ", true), ("xmt/rcv/%return = ", false)] {
        if let Some(figures) = rest.strip_prefix(mark) {
            return Some(Line::Total(target, total(figures, is_loss, whole)?));
        }
    }
    times(rest, whole).map(|times| Line::Times(target, times))
}

/// `5/5/0%, outage(ms) = 0, min/avg/max = 0.049/0.125/0.425`
fn total(text: &str, is_loss: bool, whole: bool) -> Option<Total> {
    let (counts, rest) = text.split_once('%')?;
    let mut counts = counts.splitn(3, '/').map(|count| count.trim().parse::<u64>().ok());
    let mut next = || counts.next().flatten();
    let (sent, received, percent) = (next()?, next()?, next()?);
    let loss = is_loss.then_some(percent as f64 / 100.0);
    let mut spread = [None; 3];
    if let Some((_, figures)) = rest.split_once("min/avg/max = ") {
        let figures: Vec<&str> = figures.split('/').map(str::trim).collect();
        let [min, mean, max] = figures[..] else {
            return (!whole).then_some(Total { sent, received, loss, spread });
        };
        spread = [milliseconds(min), milliseconds(mean), milliseconds(max)];
        if !whole && !is_complete(max, min) {
            spread[2] = None;
        }
    }
    Some(Total { sent, received, loss, spread })
}

/// `0.047 - 0.053`, nothing else.
fn times(text: &str, whole: bool) -> Option<Vec<Option<f64>>> {
    let words: Vec<&str> = text.split_whitespace().collect();
    // What may have been cut is no example.
    let examples = words.get(..words.len().saturating_sub(usize::from(!whole))).unwrap_or_default();
    let other = examples.iter().find(|word| word.starts_with("0.")).copied().unwrap_or_default();
    let mut times = Vec::with_capacity(words.len());
    for (at, word) in words.iter().enumerate() {
        let last = at + 1 == words.len();
        if *word != "-"
            && !is_complete(word, other)
            && !(word.len() > 2 && word.bytes().all(|b| b.is_ascii_digit()))
        {
            // The beginning of a time, or not fping's.
            return if last && !whole { (!times.is_empty()).then_some(times) } else { None };
        }
        times.push(if *word == "-" { None } else { Some(milliseconds(word)?) });
    }
    if !whole && words.last().is_some_and(|last| *last != "-" && !is_complete(last, other)) {
        times.pop();
    }
    (!times.is_empty()).then_some(times)
}

/// Whether a time at the very end of a log can't be the beginning of a longer one, by the digits fping prints: three
/// decimals below 1 ms (two before fping 5, as `other` shows), two below 10, one below 100.
fn is_complete(text: &str, other: &str) -> bool {
    let decimals = |text: &str| text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    match text.parse::<f64>() {
        Ok(ms) if ms < 1.0 => {
            decimals(text) == 3 || (decimals(text) == 2 && other.starts_with("0.") && decimals(other) == 2)
        }
        Ok(ms) if ms < 10.0 => decimals(text) == 2,
        Ok(ms) if ms < 100.0 => decimals(text) == 1,
        _ => text == "-",
    }
}

/// A time as fping prints it, in seconds.
pub fn milliseconds(text: &str) -> Option<f64> {
    let text = text.trim();
    // f64 also reads `inf`, `NaN` and signs.
    text.starts_with(|c: char| c.is_ascii_digit()).then_some(())?;
    // Read with its exponent, so that it is the nearest to what was printed.
    let seconds = match text.contains(['e', 'E']) {
        true => text.parse::<f64>().ok()? / 1e3,
        false => format!("{text}e-3").parse::<f64>().ok()?,
    };
    seconds.is_finite().then_some(seconds)
}

fn refusal(text: &str) -> Option<Line<'_>> {
    let icmp = text.starts_with("ICMP") && text.contains(" for ICMP Echo sent to ");
    let own = text.starts_with("fping: ") || text.starts_with("fping6: ");
    const NAMES: &[&str] = &[
        ": Name or service not known",
        ": Temporary failure in name resolution",
        ": No address associated with hostname",
        ": nodename nor servname provided, or not known",
        ": error while sending ping: ",
        " address not found",
        " has no address data",
    ];
    let unknown = |said: &&str| text.split_once(*said).is_some_and(|(name, _)| !name.contains(' '));
    (icmp || own || NAMES.iter().any(unknown)).then_some(Line::Refusal)
}

/// `target is alive (0.425 ms)`, `target is unreachable`
fn word(text: &str) -> Option<Line<'_>> {
    if let Some((target, rest)) = text.split_once(" is alive") {
        let inside = rest.trim_start().strip_prefix('(').and_then(|rest| rest.split_once(" ms"));
        let seconds = inside.and_then(|(time, _)| milliseconds(time));
        return (!target.contains(' ') || target.ends_with(')')).then_some(Line::Alive(target, seconds));
    }
    let target = text.strip_suffix(" is unreachable")?;
    (!target.contains(' ') || target.ends_with(')')).then_some(Line::Dead)
}

/// A line of -s: a number and what it counts.
fn overall(text: &str) -> Option<Line<'_>> {
    let (number, what) = text.split_once(' ')?;
    let count = || number.parse::<u64>().ok();
    Some(Line::Overall(match what.trim() {
        "targets" => Overall::Hosts("fping.targets", count()?),
        "alive" => Overall::Hosts("fping.alive", count()?),
        "unreachable" => Overall::Hosts("fping.unreachable", count()?),
        "unknown addresses" => Overall::Hosts("fping.unknown", count()?),
        "timeouts (waiting for response)" => Overall::Hosts("fping.timeouts", count()?),
        "other ICMP received" => Overall::Hosts("fping.other", count()?),
        "ICMP Echos sent" => Overall::Sent(count()?),
        "ICMP Echo Replies received" => Overall::Received(count()?),
        "ms (min round trip time)" => Overall::Spread(0, milliseconds(number)?),
        "ms (avg round trip time)" => Overall::Spread(1, milliseconds(number)?),
        "ms (max round trip time)" => Overall::Spread(2, milliseconds(number)?),
        "sec (elapsed real time)" => Overall::Duration(milliseconds(number)? * 1e3),
        _ => return None,
    }))
}

/// An address, or a name with a domain.
fn is_host(text: &str) -> bool {
    let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    text.parse::<IpAddr>().is_ok()
        || (text.contains('.') && text.chars().all(name) && text.contains(|c: char| c.is_ascii_alphabetic()))
}
