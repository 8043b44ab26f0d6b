//! What one line of sockperf's output is.

/// A line that was understood. Times are in seconds.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// `== version #3.7-no.git ==`
    Version(String),
    /// The command that was typed: the kind of test and the size of its messages.
    Command { test: &'static str, size: Option<i64> },
    /// `[ 0] IP = 192.0.2.2       PORT = 11112 # UDP`
    Peer { address: String, port: Option<i64>, protocol: Option<String> },
    /// `[Total Run] RunTime=...` or, with `valid`, `[Valid Duration] ...`
    Counts { valid: bool, seconds: Option<f64>, sent: Option<f64>, received: Option<f64> },
    /// `Printing statistics for Server No: 0`
    Server(i64),
    /// `avg-latency=10.072 (std-dev=96.120)`; `round_trip`: of the whole way.
    Average { round_trip: bool, mean: f64, figures: Vec<(&'static str, f64)> },
    /// `Summary: Latency is 10.072 usec`
    Summary { round_trip: bool, mean: f64, burst: Option<i64> },
    /// `# dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0`
    Errors { dropped: f64, duplicated: f64, reordered: f64 },
    /// `Total 77491 observations`
    Observations(f64),
    /// A percentile, or `min` or `max`, by its name in `reported`.
    Percentile(String, f64),
    /// The highest or the lowest observation, whichever the place of the line tells.
    Extreme(f64),
    /// `Total of 91752 messages sent in 2.004 sec`
    Sent { messages: f64, seconds: f64 },
    /// `Message Rate is 45785 [msg/sec]`
    Rate(f64),
    /// `BandWidth is 43.664 MBps (349.312 Mbps)`, in bit/s; and the unit printed.
    BandWidth(f64, &'static str),
    /// Parameters that sockperf names itself, by their flags.
    Parameters(Vec<(&'static str, i64)>),
    /// `packet, txTime(sec), rxTime(sec), latency(usec)`
    SampleHead { round_trip: bool },
    /// Why the test ended.
    End { by_user: bool },
    /// An error.
    Error(String),
}

const MODES: [(&str, &str); 8] = [
    ("ping-pong", "ping-pong"),
    ("pp", "ping-pong"),
    ("under-load", "under-load"),
    ("ul", "under-load"),
    ("throughput", "throughput"),
    ("tp", "throughput"),
    ("playback", "playback"),
    ("pb", "playback"),
];

/// Whether only sockperf writes such a line.
pub fn is_sockperf(text: &str) -> bool {
    let own = text.trim_start().starts_with("sockperf");
    match read(text) {
        Some(Line::SampleHead { .. }) => true,
        Some(Line::Command { .. } | Line::Parameters(_) | Line::Peer { .. } | Line::End { .. }) | None => {
            false
        }
        Some(Line::Error(_)) => text.trim_start().starts_with("sockperf: ERROR"),
        Some(_) => own,
    }
}

/// What `text` is; `None` for anything else.
pub fn read(text: &str) -> Option<Line> {
    let text = text.trim();
    if let Some((_, rest)) = text.split_once("== version #") {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let version = rest.get(..end)?.trim_end_matches('.');
        return (!version.is_empty()).then(|| Line::Version(version.to_owned()));
    }
    if let Some((_, rest)) = text.split_once("IP = ")
        && text.starts_with('[')
    {
        return peer(rest);
    }
    for (mark, valid) in [("[Total Run]", false), ("[Valid Duration]", true)] {
        if let Some((_, rest)) = text.split_once(mark) {
            let of = |key| after(rest, key);
            let (seconds, sent, received) = (of("RunTime="), of("SentMessages="), of("ReceivedMessages="));
            return Some(Line::Counts { valid, seconds, sent, received });
        }
    }
    statistics(text).or_else(|| rates(text)).or_else(|| remarks(text)).or_else(|| command(text))
}

fn peer(rest: &str) -> Option<Line> {
    let mut words = rest.split_whitespace();
    let address = words.next()?.to_owned();
    let port = after(rest, "PORT =").map(|port| port as i64);
    let protocol = rest.split_once('#').map(|(_, name)| name.trim().to_owned());
    Some(Line::Peer { address, port, protocol })
}

fn statistics(text: &str) -> Option<Line> {
    if let Some((_, rest)) = text.split_once("Printing statistics for Server No:") {
        return first(rest).map(|number| Line::Server(number as i64));
    }
    if let Some((_, rest)) = text.split_once("====> avg-") {
        let (name, rest) = rest.split_once('=')?;
        let round_trip = match name.trim() {
            "rtt" => true,
            "lat" | "latency" => false,
            _ => return None,
        };
        let mean = first(rest)? / 1e6;
        // Other measures of spread follow from 3.8 on; they are no figures that comparisons know.
        let names = [("std-dev=", "sd"), ("mean-ad=", "mad"), ("median-ad=", "median_ad"), ("siqr=", "siqr")];
        let mut figures: Vec<(&'static str, f64)> =
            names.iter().filter_map(|(key, name)| Some((*name, after(rest, key)? / 1e6))).collect();
        if let Some((_, interval)) = rest.split_once("ci=[")
            && let (Some(low), Some((_, high))) = (first(interval), interval.split_once(','))
            && let Some(high) = first(high)
        {
            figures.extend([("ci_low", low / 1e6), ("ci_high", high / 1e6)]);
        }
        return Some(Line::Average { round_trip, mean, figures });
    }
    if let Some((_, rest)) = text.split_once("# dropped messages =") {
        let dropped = first(rest)?;
        let duplicated = after(rest, "# duplicated messages =")?;
        let reordered = after(rest, "# out-of-order messages =")?;
        return Some(Line::Errors { dropped, duplicated, reordered });
    }
    if let Some((before, _)) = text.split_once(" observations") {
        let count = before.split_once("Total ").map(|(_, count)| count)?;
        return first(count).map(Line::Observations);
    }
    let (_, rest) = text.split_once("---> ")?;
    let value = rest.split_once('=').and_then(|(_, value)| first(value))? / 1e6;
    // Web pages take `<MAX>` for a mark of their own: the brackets may be gone, or the word with them.
    match rest.split_once("observation").map(|(name, _)| name.trim()) {
        Some("<MAX>" | "MAX") => return Some(Line::Percentile("max".to_owned(), value)),
        Some("<MIN>" | "MIN") => return Some(Line::Percentile("min".to_owned(), value)),
        Some("") => return Some(Line::Extreme(value)),
        _ => {}
    }
    let percent = rest.strip_prefix("percentile")?.trim_start();
    // 2.x wrote 99.99 where 3.x writes 99.990.
    let percent = first(percent)?;
    let name = if percent == 50.0 { "median".to_owned() } else { format!("p{percent}") };
    Some(Line::Percentile(name, value))
}

fn rates(text: &str) -> Option<Line> {
    if let Some((_, rest)) = text.split_once("Summary: ") {
        if let Some((_, rest)) = rest.split_once("Message Rate is ") {
            return first(rest).map(Line::Rate);
        }
        if let Some((_, rest)) = rest.split_once("BandWidth is ") {
            return bandwidth(rest);
        }
        let round_trip = rest.starts_with("Round trip");
        if round_trip || rest.starts_with("Latency") {
            let burst = after(rest, "of burst of ").map(|burst| burst as i64);
            let mean = after(rest, " is ")? / 1e6;
            return rest.trim_end_matches('*').ends_with("usec").then_some(Line::Summary {
                round_trip,
                mean,
                burst,
            });
        }
        return None;
    }
    let (_, rest) = text.split_once("Total of ")?;
    let (messages, rest) = rest.split_once(" messages sent in ")?;
    Some(Line::Sent { messages: first(messages)?, seconds: first(rest)? })
}

/// Mega is 2^20 here, and giga a thousand of them.
fn bandwidth(rest: &str) -> Option<Line> {
    const MEGA: f64 = 1_048_576.0;
    let mut words = rest.split_whitespace();
    let number = words.next().and_then(first)?;
    match words.next()? {
        "MBps" => Some(Line::BandWidth(number * MEGA * 8.0, "MBps")),
        "GBps" => Some(Line::BandWidth(number * 1000.0 * MEGA * 8.0, "GBps")),
        _ => None,
    }
}

fn remarks(text: &str) -> Option<Line> {
    if let Some((_, rest)) = text.split_once("ERROR: ") {
        return text.contains("sockperf").then(|| Line::Error(rest.to_owned()));
    }
    let said = ["No messages were received from the server", "No messages were sent"];
    if let Some(at) = said.iter().find_map(|words| text.find(words)) {
        return text.get(at..).map(|words| Line::Error(words.to_owned()));
    }
    if text.contains("Test end (") || text.contains("Test end before") {
        return Some(Line::End { by_user: !text.contains("timer") && !text.contains("packet number") });
    }
    if text.contains("test was performed") {
        let keys = [
            ("msg-size=", "msg-size"),
            ("mps=", "mps"),
            ("--burst=", "burst"),
            ("reply-every=", "reply-every"),
        ];
        let found: Vec<(&'static str, i64)> =
            keys.iter().filter_map(|(key, name)| Some((*name, after(text, key)? as i64))).collect();
        return Some(Line::Parameters(found));
    }
    text.starts_with("packet, txTime(sec), rxTime(sec), ")
        .then(|| Line::SampleHead { round_trip: !text.contains("latency(usec)") })
}

/// `$ sockperf ping-pong -i 192.0.2.2 -m 64`
fn command(text: &str) -> Option<Line> {
    let mut words = text.split_whitespace().skip_while(|word| {
        let word = word.trim_start_matches(['$', '#', '>']);
        word != "sockperf" && !word.ends_with("/sockperf")
    });
    words.next()?;
    let mode = words.next()?;
    let (_, test) = MODES.into_iter().find(|(name, _)| *name == mode)?;
    let words: Vec<&str> = words.collect();
    let value = |flag: &str| {
        let at = words.iter().position(|word| *word == flag)?;
        words.get(at + 1)?.parse().ok()
    };
    let joined = words.iter().find_map(|word| {
        let size = word.strip_prefix("--msg-size=").or_else(|| word.strip_prefix("-m"))?;
        size.parse().ok()
    });
    let size = value("-m").or_else(|| value("--msg-size")).or(joined).filter(|size: &i64| *size >= 0);
    Some(Line::Command { test, size })
}

/// A row of the full log: when the message was answered, and the latency in seconds.
pub fn sample(text: &str) -> Option<(f64, f64)> {
    let mut cells = text.split(',').map(|cell| number(cell.trim()));
    let (_, _, at, micros) = (cells.next()??, cells.next()??, cells.next()??, cells.next()??);
    cells.next().is_none().then_some((at, micros / 1e6))
}

/// The number behind `key`.
fn after(text: &str, key: &str) -> Option<f64> {
    first(text.split_once(key)?.1)
}

/// The number at the start.
fn first(text: &str) -> Option<f64> {
    // Markdown's emphasis.
    let text = text.trim_start_matches([' ', '\t', '*']);
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    number(text.get(..end)?.trim_end_matches('.'))
}

fn number(word: &str) -> Option<f64> {
    word.parse().ok().filter(|value: &f64| value.is_finite())
}
