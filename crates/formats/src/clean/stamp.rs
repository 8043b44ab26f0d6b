//! What loggers put before every line: time, host and program, rank, container.
//!
//! A prefix is taken off only where most lines of a file have it, so that no tool's own stamps are touched:
//! `[1234567890.123456] ` of ping -D is no date, iperf3's --timestamps begin with a weekday, rows of a SEL with a number.

use crate::sensors::reading::quantity;

/// The sort of prefix that a file's lines have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stamp {
    /// A date or a time of day, as `ts`, docker and kubectl print it.
    Time,
    /// A date, this host, a program: syslog and journald.
    Logger(String),
    /// `[1,0]<stdout>:` of Open MPI, with its `--timestamp-output` behind a date.
    Rank,
    /// `0: ` of srun --label.
    Label,
    /// `web-1  | ` of docker compose.
    Container(String),
    /// `[OUTPUT] `, `[INFO] `: a word of who runs the tool.
    Word(String),
    /// `[pod/web-1/web] ` of kubectl logs --prefix.
    Bracket(String),
    /// `node1: ` of pdsh and clush.
    Host(String),
}

impl Stamp {
    /// The prefix that most of these lines have.
    pub(super) fn of(lines: &[String]) -> Option<Stamp> {
        let first = lines.iter().find_map(|line| Some(logger(line)?.0.to_owned()));
        let container = frequent(lines, container);
        let word = frequent(lines, word);
        // Share of lines in percent that must agree, and how many at least.
        let candidates = [
            (first.map(Stamp::Logger), 60, 1),
            (Some(Stamp::Time), 60, 2),
            (Some(Stamp::Rank), 60, 2),
            (container.map(Stamp::Container), 90, 3),
            (Some(Stamp::Label), 90, 3),
            (word.map(Stamp::Word), 90, 3),
            (frequent(lines, bracket).map(Stamp::Bracket), 90, 3),
            (frequent(lines, host).map(Stamp::Host), 90, 3),
        ];
        candidates.into_iter().find_map(|(stamp, percent, least)| {
            let stamp = stamp?;
            let agreeing = lines.iter().filter(|line| stamp.inside(line).is_some()).count();
            (agreeing >= least && agreeing * 100 >= lines.len() * percent).then_some(stamp)
        })
    }

    /// The line without the prefix.
    pub(super) fn strip<'a>(&self, line: &'a str) -> &'a str {
        self.inside(line).unwrap_or(line)
    }

    fn inside<'a>(&self, line: &'a str) -> Option<&'a str> {
        match self {
            Stamp::Time => time(line).map(|rest| levelled(separated(rest))),
            Stamp::Logger(host) => logger(line).filter(|(found, _)| found == host).map(|(_, rest)| rest),
            Stamp::Rank => rank(line),
            Stamp::Label => label(line),
            Stamp::Word(label) => word(line).filter(|(found, _)| found == label).map(|(_, rest)| rest),
            Stamp::Container(name) => {
                container(line).filter(|(found, _)| found == name).map(|(_, rest)| rest)
            }
            Stamp::Bracket(name) => bracket(line).filter(|(found, _)| found == name).map(|(_, rest)| rest),
            Stamp::Host(name) => host(line).filter(|(found, _)| found == name).map(|(_, rest)| rest),
        }
    }
}

/// The name that the first line with one has.
fn frequent(lines: &[String], named: fn(&str) -> Option<(&str, &str)>) -> Option<String> {
    lines.iter().find_map(|line| Some(named(line)?.0.to_owned()))
}

/// Host and text of `Jan  2 03:04:05 host program[123]: text`.
fn logger(line: &str) -> Option<(&str, &str)> {
    let rest = date(line).or_else(|| unix_time(line))?.strip_prefix(' ')?;
    let (host, rest) = rest.split_once(' ')?;
    // The text may be empty, and its end has been trimmed then.
    let (program, text) = rest.split_once(": ").or_else(|| Some((rest.strip_suffix(':')?, "")))?;
    let name = program.split_once('[').map_or(program, |(name, _)| name);
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_./@()".contains(c);
    let with_id = program.len() > name.len() && program.ends_with(']');
    let plausible = !name.is_empty() && name.chars().all(is_name) && !host.ends_with(':');
    (plausible && (with_id || program.len() == name.len())).then_some((host, text))
}

/// What follows a date, a bracketed date or a time of day.
fn time(line: &str) -> Option<&str> {
    if let Some(inner) = line.strip_prefix('[') {
        return date(inner).or_else(|| clock(inner))?.strip_prefix(']');
    }
    date(line).or_else(|| clock(line)).or_else(|| {
        // `job<TAB>step<TAB>2024-01-02T03:04:05Z text` of `gh run view --log`.
        let mut cells = line.splitn(3, '\t');
        date(cells.nth(2)?)
    })
}

/// Without what stands between a time and the text.
fn separated(rest: &str) -> &str {
    let marks = [" - ", " | ", ": ", " ", "\t"];
    let rest = marks.iter().find_map(|mark| rest.strip_prefix(mark)).unwrap_or(rest);
    // Files of containerd and CRI-O name the stream and whether the line is a full one or partial.
    let stream = rest.strip_prefix("stdout ").or_else(|| rest.strip_prefix("stderr "));
    let text = stream.and_then(|rest| rest.strip_prefix(['F', 'P']));
    text.and_then(|text| text.strip_prefix(' ').or_else(|| text.is_empty().then_some(text))).unwrap_or(rest)
}

/// Without the place and the level that Python's logging prints: `{bench.py:32} INFO - text`, `root - INFO - text`.
fn levelled(text: &str) -> &str {
    const LEVELS: [&str; 5] = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"];
    let at_level = |text: &str| LEVELS.iter().find_map(|level| text.strip_prefix(level)).map(str::len);
    let place = |text: &str| -> Option<usize> {
        let (place, rest) = text.strip_prefix('{').and_then(|rest| rest.split_once("} "))?;
        place.contains(".py:").then_some(rest.len())
    };
    let name = |text: &str| -> Option<usize> {
        let (name, rest) = text.split_once(" - ")?;
        (!name.is_empty() && !name.contains(char::is_whitespace)).then_some(rest.len())
    };
    let after = |left: usize| text.get(text.len() - left..).unwrap_or_default();
    let begin = place(text).or_else(|| name(text)).map_or(text, after);
    let rest = at_level(begin).map(after);
    rest.and_then(|rest| rest.strip_prefix(" - ").or_else(|| rest.strip_prefix(": "))).unwrap_or(text)
}

/// What follows a date with its time of day.
fn date(line: &str) -> Option<&str> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    if let Some(rest) = MONTHS.iter().find_map(|month| line.strip_prefix(month)) {
        let rest = digits(rest.strip_prefix(' ')?.trim_start(), 1, 2)?;
        return clock(rest.strip_prefix(' ')?);
    }
    let day = digits(line, 4, 4)
        .and_then(|rest| digits(rest.strip_prefix(['-', '/'])?, 2, 2))
        .and_then(|rest| digits(rest.strip_prefix(['-', '/'])?, 2, 2));
    let day = day.or_else(|| {
        let rest = digits(line, 1, 2)?.strip_prefix(['/', '.'])?;
        digits(digits(rest, 1, 2)?.strip_prefix(['/', '.'])?, 4, 4)
    });
    clock(day?.strip_prefix(['T', 't', ' ', '_'])?)
}

/// What follows a time of day: `03:04:05.678+01:00`, `3:04:05 PM`.
fn clock(text: &str) -> Option<&str> {
    let rest = digits(text, 1, 2)?.strip_prefix(':')?;
    let rest = digits(rest, 2, 2)?.strip_prefix(':')?;
    let rest = digits(rest, 2, 2)?;
    let rest = rest.strip_prefix(['.', ',']).and_then(|rest| digits(rest, 1, 9)).unwrap_or(rest);
    let rest = rest.strip_prefix(" AM").or_else(|| rest.strip_prefix(" PM")).unwrap_or(rest);
    let zone = rest
        .strip_prefix(['+', '-'])
        .and_then(|rest| digits(rest, 4, 4).or_else(|| digits(digits(rest, 2, 2)?.strip_prefix(':')?, 2, 2)));
    let rest = zone.or_else(|| rest.strip_prefix('Z')).unwrap_or(rest);
    let ends = rest.is_empty() || rest.starts_with([' ', '\t', ']', ':']);
    ends.then_some(rest)
}

/// What follows `1234567890.123456`.
fn unix_time(line: &str) -> Option<&str> {
    digits(digits(line, 9, 11)?.strip_prefix('.')?, 3, 9)
}

/// What follows a number of so many digits.
fn digits(text: &str, least: usize, most: usize) -> Option<&str> {
    let n = text.bytes().take_while(u8::is_ascii_digit).count();
    (least..=most).contains(&n).then(|| text.get(n..)).flatten()
}

fn rank(line: &str) -> Option<&str> {
    let line = calendar(line).unwrap_or(line);
    let rest = digits(line.strip_prefix('[')?, 1, 9)?.strip_prefix(',')?;
    let rest = digits(rest, 1, 9)?.strip_prefix("]<std")?;
    ["out>:", "err>:", "diag>:"].iter().find_map(|end| rest.strip_prefix(end))
}

/// What follows `Sun Dec 24 09:52:05 2017`.
fn calendar(line: &str) -> Option<&str> {
    const DAYS: [&str; 7] = ["Mon ", "Tue ", "Wed ", "Thu ", "Fri ", "Sat ", "Sun "];
    let rest = DAYS.iter().find_map(|day| line.strip_prefix(day))?;
    digits(date(rest)?.strip_prefix(' ')?, 4, 4)
}

fn label(line: &str) -> Option<&str> {
    let rest = digits(line.trim_start(), 1, 6)?;
    // Of an empty line the blank has been trimmed.
    rest.strip_prefix(": ").or_else(|| (rest == ":").then_some(""))
}

/// Word and text of `[OUTPUT] text`. Other words in brackets are tools' own: `[SUM]`.
fn word(line: &str) -> Option<(&str, &str)> {
    const WORDS: [&str; 6] = ["OUTPUT", "OUT", "STDOUT", "INFO", "DEBUG", "LOG"];
    let (word, rest) = line.strip_prefix('[')?.split_once(']')?;
    let text = rest.strip_prefix(' ').or_else(|| rest.is_empty().then_some(""))?;
    WORDS.iter().any(|known| known.eq_ignore_ascii_case(word)).then_some((word, text))
}

/// Name and text of `web-1  | text`.
fn container(line: &str) -> Option<(&str, &str)> {
    let (name, text) = line.split_once(" | ").or_else(|| Some((line.strip_suffix(" |")?, "")))?;
    let name = name.trim_end();
    let number = name.rsplit(['-', '_']).next()?;
    let numbered = number.len() < name.len() && !number.is_empty() && digits(number, 1, 6) == Some("");
    (numbered && !name.contains(char::is_whitespace) && !is_row(text)).then_some((name, text))
}

/// Name and text of `[pod/web-1/web] text`.
fn bracket(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.strip_prefix('[')?.split_once(']')?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let named = name.contains(['/', '-']) && name.starts_with(|c: char| c.is_ascii_alphabetic());
    let text = rest.strip_prefix(' ').or_else(|| rest.is_empty().then_some(rest))?;
    (named && name.chars().all(plain)).then_some((name, text))
}

/// Name and text of `node1: text`. Tools begin their own messages so, too: a host's name has a number or a dot.
fn host(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.split_once(':')?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let numbered = name.contains(|c: char| c.is_ascii_digit() || c == '.');
    let tool = ["iperf", "ping", "fping", "ib_", "ipmi"].iter().any(|tool| name.starts_with(tool));
    // Lists of sensors keep it: theirs come from many hosts at a time.
    let text = rest
        .strip_prefix(' ')
        .or_else(|| rest.is_empty().then_some(rest))
        .filter(|text| !text.contains('|'))?;
    (begins && numbered && !tool && name.chars().all(plain)).then_some((name, text))
}

/// Whether what follows a name and a bar are the further cells of a sensor's row: `3600 RPM | ok`, `41h | ok | 29.1`.
fn is_row(text: &str) -> bool {
    let Some((cell, rest)) = text.split_once('|') else { return false };
    let cell = cell.trim().to_ascii_lowercase();
    let valued = cell.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    let absent = ["na", "no reading", "disabled", "not readable"].contains(&cell.as_str());
    // Behind a value stands its unit or the sensor's status; behind a name that begins with a number, as of a
    // row that this container printed whole, its value.
    let next = rest.split('|').next().unwrap_or_default().trim();
    let status = ["ok", "ns", "na", "us"].contains(&next) || (next.len() <= 3 && next.ends_with(['c', 'r']));
    let unit = next == "discrete" || quantity(&format!("1 {next}")).is_some();
    absent || (valued && (status || unit))
}
