//! Lines of single answers.

use super::figures::{Pair, pairs, power_of_ten, unit};
use super::line;

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply<'a> {
    /// Who answered, as printed.
    pub from: &'a str,
    /// The number of the request, as far as it goes; Windows has none.
    pub sequence: Option<u16>,
    /// Seconds since 1970, with ping -D.
    pub at: Option<f64>,
    /// The round trip in seconds; `None` where the payload has no room for a timestamp.
    pub seconds: Option<f64>,
    /// The last digit printed, in seconds.
    pub digit: f64,
    /// Windows prints `time<1ms`: shorter than `seconds`, by how much is not known.
    pub below: bool,
    /// Marked as not the first answer to its request.
    pub duplicate: bool,
    /// Marked as damaged: not counted by ping.
    pub damaged: bool,
    /// Time to live or hop limit.
    pub ttl: Option<u64>,
    /// From Windows.
    pub windows: bool,
    /// `icmp_req=`, as iputils had it from 2010 to 2012.
    pub old: bool,
    /// Decimals stand behind a comma.
    pub comma: bool,
}

/// `64 bytes from 192.0.2.2: icmp_seq=1 ttl=64 time=0.138 ms` of iputils, macOS, the BSDs and BusyBox, at once and only in
/// this shape: nearly all lines of a long log. The others are [`read`].
pub fn fast(text: &str) -> Option<Reply<'_>> {
    let mut at = None;
    let mut text = text;
    if text.starts_with('[') {
        (at, text) = line::stamp(text);
    }
    let (rest, mantissa, decimals) = decimal_at_end(text.strip_suffix(" ms")?)?;
    let (rest, ttl) = integer_at_end(rest.strip_suffix(" time=")?)?;
    let (rest, sequence) = integer_at_end(rest.strip_suffix(" ttl=")?)?;
    let rest = rest.strip_suffix(": icmp_seq=").or_else(|| rest.strip_suffix(": seq="))?;
    let (bytes, from) = rest.split_at_checked(rest.bytes().take_while(u8::is_ascii_digit).count())?;
    let from = from.strip_prefix(" bytes from ")?;
    (!bytes.is_empty()).then_some(())?;
    let scale = power_of_ten(decimals + 3);
    Some(Reply {
        from,
        sequence: Some(sequence as u16),
        at,
        seconds: Some(mantissa as f64 / scale),
        digit: 1.0 / scale,
        below: false,
        duplicate: false,
        damaged: false,
        ttl: Some(ttl),
        windows: false,
        old: false,
        comma: false,
    })
}

/// The text before a number of at most 15 digits, the number without its point, and its decimals.
fn decimal_at_end(text: &str) -> Option<(&str, u64, usize)> {
    let (mut mantissa, mut power, mut decimals, mut length) = (0_u64, 1_u64, 0_usize, 0_usize);
    for byte in text.bytes().rev().take(16) {
        match byte {
            b'0'..=b'9' => {
                mantissa += u64::from(byte - b'0') * power;
                power *= 10;
            }
            b'.' if decimals == 0 && length > 0 => decimals = length,
            _ => break,
        }
        length += 1;
    }
    // As many digits may be cut off, and a point in front is no number.
    let (rest, number) = text.split_at_checked(text.len() - length)?;
    ((1..16).contains(&length) && !number.starts_with('.')).then_some((rest, mantissa, decimals))
}

fn integer_at_end(text: &str) -> Option<(&str, u64)> {
    decimal_at_end(text).and_then(|(rest, number, decimals)| (decimals == 0).then_some((rest, number)))
}

/// Any line of an answer. `whole`: its end was seen.
pub fn read(text: &str, at: Option<f64>, whole: bool) -> Option<Reply<'_>> {
    if text.starts_with("From ") || !text.contains(['=', '<']) {
        return None;
    }
    let mut all = pairs(text);
    let mut found: [Option<Pair<'_>>; 8] = [None; 8];
    for place in &mut found {
        *place = all.next();
    }
    let count = found.iter().flatten().count();
    let of_name = |named: &dyn Fn(&str) -> bool| found.iter().flatten().position(|pair| named(pair.name));
    let sequence = of_name(&|name| matches!(name, "icmp_seq" | "icmp_req" | "seq"));
    let ttl = of_name(&|name| name.eq_ignore_ascii_case("ttl") || name == "hlim");
    let has_unit = |pair: &Pair<'_>| {
        unit(pair.rest).is_some() || (pair.below && pair.rest.trim_start().starts_with("m "))
    };
    let time = found.iter().flatten().position(has_unit);
    let pair = |at: usize| found.get(at).copied().flatten();
    let begins_with_size = text.starts_with(|c: char| c.is_ascii_digit());

    // Not those of hping, httping and the like.
    if sequence.is_some() && !begins_with_size && !text.contains("icmp_") && !text.contains(" bytes from ") {
        return None;
    }
    let Some(time_at) = time else {
        // Too small a payload for a time: nothing else may follow.
        let (sequence, ttl) = (pair(sequence?)?, pair(ttl?)?);
        (count == 2 && is_marked(ttl.rest)).then_some(())?;
        return Some(reply(text, at, Some(sequence), Some(ttl), None));
    };
    let time = pair(time_at)?;
    let ttl_behind = ttl.is_some_and(|ttl| ttl > time_at);
    if sequence.is_none() && (ttl_behind || !begins_with_size) {
        return windows(text, time, ttl.and_then(pair), count);
    }
    // In a language with a word of its own for the number of a request it is the first of three.
    let sequence = match sequence {
        Some(at) => pair(at)?,
        None if count == 3 && time_at == 2 && begins_with_size => pair(0)?,
        None => return None,
    };
    let (_, behind) = unit(time.rest)?;
    // Marks in parentheses. Anything else is another program's.
    (is_marked(behind) || (!whole && behind.starts_with(" ("))).then_some(())?;
    Some(reply(text, at, Some(sequence), ttl.and_then(pair), Some(time)))
}

/// Nothing but marks in parentheses.
fn is_marked(text: &str) -> bool {
    let text = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim();
    text.is_empty() || (text.starts_with('(') && text.ends_with(')'))
}

fn reply<'a>(
    text: &'a str,
    at: Option<f64>,
    sequence: Option<Pair<'a>>,
    ttl: Option<Pair<'a>>,
    time: Option<Pair<'a>>,
) -> Reply<'a> {
    let marks = time.or(ttl).map_or("", |pair| pair.rest);
    let upper = marks.to_uppercase();
    let twice = ["(DUP", "(重", "(중복", "(YİNELENEN", "(ДУБЛ", "(KAKSOIS"];
    let power = time.and_then(|pair| unit(pair.rest)).map_or(3, |(power, _)| power);
    Reply {
        from: from(text),
        sequence: sequence.map(|pair| pair.number.scaled(0) as u64 as u16),
        at,
        seconds: time.map(|pair| pair.number.scaled(power)),
        digit: time.map_or(0.0, |pair| pair.number.digit(power)),
        below: time.is_some_and(|pair| pair.below),
        duplicate: twice.iter().any(|mark| upper.contains(mark)),
        damaged: upper.contains("BAD CHECKSUM"),
        ttl: ttl.map(|pair| pair.number.scaled(0) as u64),
        windows: false,
        old: sequence.is_some_and(|pair| pair.name == "icmp_req"),
        comma: time.is_some_and(|pair| pair.number.comma),
    }
}

/// Who answered: in English all that stands between `from` and the number of the request, else the address.
fn from(text: &str) -> &str {
    let english = text.split_once(" bytes from ").and_then(|(_, rest)| {
        let end = [" icmp_seq", " icmp_req", " seq"].iter().find_map(|mark| rest.find(mark))?;
        rest.get(..end)
    });
    english.map_or_else(|| line::address(text).unwrap_or(""), |from| from.trim_end_matches([':', ',']))
}

/// `Reply from 10.0.0.9: bytes=32 time=16ms TTL=64`; IPv6 has no bytes and no TTL.
fn windows<'a>(text: &'a str, time: Pair<'a>, ttl: Option<Pair<'a>>, count: usize) -> Option<Reply<'a>> {
    let address = line::address(text)?;
    if ttl.is_none() {
        // Unlike a line of statistics, which has three of them.
        (count <= 2 && text.contains([':', '：'])).then_some(())?;
        let (_, behind) = unit(time.rest)?;
        behind.trim().is_empty().then_some(())?;
    }
    let number = time.number;
    Some(Reply {
        from: address,
        sequence: None,
        at: None,
        seconds: Some(number.scaled(3)),
        digit: number.digit(3),
        below: time.below,
        duplicate: false,
        damaged: false,
        ttl: ttl.map(|pair| pair.number.scaled(0) as u64),
        windows: true,
        old: false,
        comma: number.comma,
    })
}
