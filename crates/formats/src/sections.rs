//! A log in which several tools speak one after another: a terminal session, a pasted report.
//!
//! A new section begins at a line that only another tool prints, and only as its first: what merely looks like it
//! does not end the section before. A word that may be anybody's is believed when what follows it is the tool's.
//! Tools without such a line are read where they stand alone.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read};

use crate::clean::Text;
use crate::{FORMATS, Format, HEAD, ParseError, RunSink, clean};

/// A part of a file that gave no run.
#[derive(Debug, thiserror::Error)]
pub enum Unread {
    /// No format recognises it.
    #[error("no known tool wrote this (first line: {0})")]
    Unknown(String),
    /// It is a tool's, and holds nothing or can't be read.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// It is another tool's than the one whose runs were read, and can't be told apart from them.
    #[error(
        "it seems to hold output of {0} as well, which was not read\nhint: put each tool's into a file of its own"
    )]
    Beside(&'static str),
}

/// The longest piece of a file's first line that is quoted.
const QUOTED: usize = 80;

/// Bytes after an opening in which its tool must be recognised.
const CONFIRMING: usize = 1 << 12;

/// Reads a log of any known tools, every run in file order. What gave no run is returned, in file order too.
pub fn read(input: &mut dyn BufRead, out: &mut dyn RunSink) -> Vec<Unread> {
    let mut head = Vec::new();
    if let Err(error) = (&mut *input).take(HEAD as u64).read_to_end(&mut head) {
        return vec![ParseError::Read(error).into()];
    }
    let text = clean::text(&head);
    let (first, opens) = first_of(&text);
    let Some(first) = first else {
        return vec![unknown(&text)];
    };
    let mut input = head.as_slice().chain(input);
    // A document is one tool's, whatever stands in its strings.
    let mut unread = Vec::new();
    if !opens {
        unread.extend(first.parse(&mut input, out).err().map(Unread::from));
        unread.extend(beside(&text, &[first.name()]));
        return unread;
    }
    let mut read = Vec::new();
    let head = text;
    let mut text = Ahead { text: Text::new(&mut input), lines: VecDeque::new(), at: 0 };
    let mut current = Some(first);
    while let Some(format) = current {
        let mut section =
            Section { text: &mut text, tool: format.name(), next: None, begun: false, doubted: None };
        let outcome = format.parse(&mut section, out);
        // A parser may stop early; the next tool is not to be lost for it.
        let rest = io::copy(&mut section, &mut io::sink());
        current = section.next;
        unread.extend(outcome.err().map(Unread::from));
        if !read.contains(&format.name()) {
            read.push(format.name());
        }
        if let Err(error) = rest {
            unread.push(ParseError::Read(error).into());
            break;
        }
    }
    unread.extend(beside(&head, &read));
    unread
}

/// Why nothing was read of a text that no format recognises.
fn unknown(text: &str) -> Unread {
    let silent = FORMATS.iter().find_map(|format| Some((format.name(), format.measured_nothing(text)?)));
    match silent {
        Some((tool, said)) => ParseError::NothingMeasured { tool, said }.into(),
        None => Unread::Unknown(first_line(text)),
    }
}

/// Tools whose output the beginning of a file holds too.
fn beside(text: &str, read: &[&str]) -> Vec<Unread> {
    let others = FORMATS.iter().filter(|format| !read.contains(&format.name()));
    others
        .filter(|format| format.sniff(text.as_bytes()))
        .map(|format| Unread::Beside(format.name()))
        .collect()
}

/// Reads a log from memory. `None` if no format recognises it.
pub fn read_slice(log: &[u8]) -> Option<Result<Vec<tenbin_core::run::Run>, ParseError>> {
    let mut runs = Vec::new();
    let mut log = log;
    match read(&mut log, &mut runs).into_iter().next() {
        Some(Unread::Unknown(_)) => None,
        Some(Unread::Parse(error)) if runs.is_empty() => Some(Err(error)),
        _ => Some(Ok(runs)),
    }
}

/// The format of what a file begins with, and whether others may follow: whether the beginning has an opening line.
fn first_of(text: &str) -> (Option<&'static dyn Format>, bool) {
    let mut before = 0;
    for line in text.split_inclusive('\n') {
        let Some(tool) = opening(line) else {
            before += line.len();
            continue;
        };
        let Some(format) = FORMATS.iter().copied().find(|format| format.name() == tool) else { break };
        let near = text.get(before..).map(|rest| rest.as_bytes()).unwrap_or_default();
        if !is_known(line) && !follows(format, near) {
            before += line.len();
            continue;
        }
        // Something without an opening line may stand ahead of it.
        let ahead = text.get(..before).filter(|text| !text.trim().is_empty()).and_then(crate::sniffed);
        return (Some(ahead.unwrap_or(format)), true);
    }
    (crate::sniffed(text), false)
}

/// Whether the tool is in what follows: a word that begins a tool's output may be anybody's key.
fn follows(format: &dyn Format, near: &[u8]) -> bool {
    format.sniff(near.get(..CONFIRMING).unwrap_or(near))
}

/// The longest line that is asked for an opening: documents come in one line.
const LONGEST_OPENING: usize = 1000;

/// The tool that prints this line, as the first of its output and nowhere else.
fn opening(line: &str) -> Option<&'static str> {
    let line = line.trim_end();
    known(line).or_else(|| known_indented(line)).or_else(|| {
        let asked = line.len() <= LONGEST_OPENING && !line.starts_with([' ', '\t', '{', '}', '"', '[']);
        let format = FORMATS.iter().filter(|_| asked && !line.is_empty()).find(|format| format.opens(line));
        Some(format?.name())
    })
}

fn digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// Whether the line alone tells a tool's beginning.
fn is_known(line: &str) -> bool {
    known(line.trim_end()).or_else(|| known_indented(line)).is_some()
}

/// Pasted text is often indented as a whole.
fn known_indented(line: &str) -> Option<&'static str> {
    let text = line.trim_start_matches([' ', '\t']);
    known(text.trim_end()).filter(|_| (1..=8).contains(&(line.len() - text.len())))
}

/// Openings that are told by their first words.
fn known(line: &str) -> Option<&'static str> {
    // All but a few lines of a log end here.
    let first = *line.as_bytes().first()?;
    if !matches!(first, b'#' | b'\t' | b' ' | b'A' | b'C' | b'I' | b'M' | b'P' | b'S' | b's' | b'-') {
        return None;
    }
    let begins = |words: &str| line.starts_with(words);
    let port = |words: &str| line.strip_prefix(words).is_some_and(|rest| rest.contains(", port "));
    let number = |words: &str| line.strip_prefix(words).is_some_and(|rest| rest.starts_with(digit));
    let own = line.trim_start();
    Some(match first {
        b'P' if (begins("PING ") && line.contains('(')) || begins("PING6(") => "ping",
        b'P' if begins("Pinging ") && line.contains(" bytes of data:") => "ping",
        b'C' if port("Connecting to host ") => "iperf3",
        b'A' if port("Accepted connection from ") => "iperf3",
        b'C' if begins("Client connecting to ") && line.contains(" port ") => "iperf2",
        b'S' if number("Server listening on TCP port ") || number("Server listening on UDP port ") => {
            "iperf2"
        }
        b'S' if number("Server listening on ") && !line.contains(" port ") => "iperf3",
        b'#' if begins("# OSU ") => "osu",
        b'#' if line.contains("MPI Benchmark") && line.contains("Intel") => "imb",
        b'M' if begins("MIGRATED ") && line.contains(" TEST") => "netperf",
        b's' if begins("sockperf: == version") => "sockperf",
        b'S' if begins("STREAM version $") => "stream",
        b' ' if own.starts_with("Instantaneous power reading:") => "ipmitool",
        b'\t' | b' ' | b'I' if own.starts_with("Iozone: Performance Test of File I/O") => "iozone",
        b'C' if number("CrystalDiskMark ") => "crystaldiskmark",
        _ => return None,
    })
}

/// Text in which some lines can be looked at before they are read.
struct Ahead<'a> {
    text: Text<'a>,
    /// Looked at and not read yet.
    lines: VecDeque<Vec<u8>>,
    /// Bytes of the first of them that have been read.
    at: usize,
}

impl Ahead<'_> {
    /// Whether what comes next begins a line.
    fn at_line(&mut self) -> io::Result<bool> {
        if self.lines.is_empty() { self.text.at_line() } else { Ok(self.at == 0) }
    }

    /// The next lines, from the beginning of one on.
    fn ahead(&mut self) -> io::Result<String> {
        let mut length: usize = self.lines.iter().map(Vec::len).sum();
        while length < CONFIRMING {
            let line = self.text.fill_buf()?.to_vec();
            if line.is_empty() {
                break;
            }
            self.text.consume(line.len());
            length += line.len();
            self.lines.push_back(line);
        }
        let lines: Vec<u8> = self.lines.iter().flatten().copied().take(CONFIRMING).collect();
        Ok(String::from_utf8_lossy(&lines).into_owned())
    }
}

impl BufRead for Ahead<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self.lines.front() {
            Some(line) => Ok(line.get(self.at..).unwrap_or_default()),
            None => self.text.fill_buf(),
        }
    }

    fn consume(&mut self, amount: usize) {
        let Some(line) = self.lines.front() else { return self.text.consume(amount) };
        self.at += amount;
        if self.at >= line.len() {
            self.at = 0;
            self.lines.pop_front();
        }
    }
}

impl Read for Ahead<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        clean::read_buffered(self, into)
    }
}

/// The lines up to the opening of another tool.
struct Section<'a, 'b> {
    text: &'a mut Ahead<'b>,
    tool: &'static str,
    next: Option<&'static dyn Format>,
    /// Whether its first line has been given.
    begun: bool,
    /// A tool that does not follow its opening, and so many lines further on it need not be asked again.
    doubted: Option<(&'static str, usize)>,
}

impl Section<'_, '_> {
    /// The format whose output begins with the current line, and is not this section's.
    fn opened(&mut self) -> io::Result<Option<&'static dyn Format>> {
        let Ok(line) = std::str::from_utf8(self.text.fill_buf()?) else { return Ok(None) };
        let doubted = self.doubted.take().filter(|(_, lines)| *lines > 0);
        self.doubted = doubted.map(|(tool, lines)| (tool, lines - 1));
        let Some(tool) = opening(line).filter(|tool| *tool != self.tool) else { return Ok(None) };
        let format = FORMATS.iter().copied().find(|format| format.name() == tool);
        if is_known(line) {
            return Ok(format);
        }
        if self.doubted.is_some_and(|(doubted, _)| doubted == tool) {
            return Ok(None);
        }
        let near = self.text.ahead()?;
        let format = format.filter(|format| follows(*format, near.as_bytes()));
        if format.is_none() {
            // Half of what was looked at, so that what begins at its end is seen too.
            let lines = near.lines().count() / 2;
            self.doubted = Some((tool, lines));
        }
        Ok(format)
    }
}

impl BufRead for Section<'_, '_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.next.is_some() {
            return Ok(&[]);
        }
        if self.text.at_line()? && self.begun {
            self.next = self.opened()?;
            if self.next.is_some() {
                return Ok(&[]);
            }
        }
        self.begun = true;
        self.text.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.text.consume(amount);
    }
}

impl Read for Section<'_, '_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        clean::read_buffered(self, into)
    }
}

/// The first line that says anything, shortened.
fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("none");
    match line.char_indices().nth(QUOTED) {
        Some((at, _)) => format!("{}...", line.get(..at).unwrap_or_default()),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PING: &str = "PING a (192.0.2.1) 56(84) bytes of data.\n64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=0.5 ms\n\n\
                        --- a ping statistics ---\n1 packets transmitted, 1 received, 0% packet loss, time 0ms\n";
    const IPERF: &str = "Connecting to host a, port 5201\n[  5] local 192.0.2.2 port 1 connected to 192.0.2.1 port 5201\n\
                         [ ID] Interval           Transfer     Bitrate\n\
                         [  5]   0.00-1.00   sec   119 MBytes  1.00 Gbits/sec                  \n";
    const SENSORS: &str =
        "CPU Temp         | 45 degrees C      | ok\nFAN 1            | 3600 RPM          | ok\n";

    /// Tools of the runs in their order, then what was not read.
    #[track_caller]
    fn check(log: &str, tools: &[&str], unread: &[&str]) {
        let mut runs: Vec<tenbin_core::run::Run> = Vec::new();
        let mut input = log.as_bytes();
        let left: Vec<String> = read(&mut input, &mut runs).iter().map(Unread::to_string).collect();
        assert_eq!(runs.iter().map(|run| run.tool.as_str()).collect::<Vec<_>>(), tools, "{log}");
        assert_eq!(left.len(), unread.len(), "{left:?}");
        for (left, part) in left.iter().zip(unread) {
            assert!(left.contains(part), "{left}");
        }
    }

    #[test]
    fn several_tools() {
        check(PING, &["ping"], &[]);
        check(&format!("{PING}$ iperf3\n{IPERF}"), &["ping", "iperf3"], &[]);
        check(&format!("{IPERF}{PING}{PING}{IPERF}"), &["iperf3", "ping", "ping", "iperf3"], &[]);
        check(&format!("> {}", PING.trim_end().replace('\n', "\n> ")), &["ping"], &[]);
        check("Dear diary,\n", &[], &["no known tool wrote this (first line: Dear diary,)"]);
        check(&format!("{PING}Connecting to host a, port 5201\n"), &["ping"], &["iperf3 measured nothing"]);
    }

    #[test]
    fn what_looks_like_an_opening() {
        check(&format!("{PING}results:\ntcp_bw:\n  todo: true\nudp_lat:\n"), &["ping"], &[]);
        check(&format!("{PING}Server listening on 8080 port http\nSTREAM was not run\n"), &["ping"], &[]);
        check(&format!("{PING}CrystalDiskMark was not run\nRecord ID: 4\nname: x\n"), &["ping"], &[]);
        let qperf = "tcp_bw:\n    bw  =  3.4 GB/sec\n";
        let keys = "tcp_bw:\n  todo: true\n".repeat(400);
        check(&format!("{PING}{keys}{qperf}{PING}"), &["ping", "qperf", "ping"], &[]);
    }

    #[test]
    fn indented_as_a_whole() {
        let indented = |log: &str| format!("    {}\n", log.trim_end().replace('\n', "\n    "));
        let log = format!("Text\n\n{}\nMore\n\n{}", indented(PING), indented(IPERF));
        check(&log, &["ping", "iperf3"], &[]);
    }

    #[test]
    fn known_tools_that_measured_nothing() {
        let said = "`chassis status` prints no reading, event or state (\"System Power         : on\")";
        check("System Power         : on\nPower Overload       : false\n", &[], &[said]);
        check(
            "Device ID                 : 32\nDevice Revision           : 1\n",
            &[],
            &["`mc info` prints no"],
        );
        check(
            "Device ID             : 32\nDevice SDRs           : unsupported\n",
            &[],
            &["freeipmi measured nothing"],
        );
        check(&format!("System Power         : on\n\n{PING}"), &["ping"], &[]);
    }

    #[test]
    fn tools_without_a_title() {
        let qperf = "tcp_bw:\n    bw  =  3.4 GB/sec\n";
        check(&format!("{PING}# settings\ntcp_bw:\n  enabled: true\n{PING}"), &["ping", "ping"], &[]);
        let chip = "coretemp-isa-0000\nAdapter: ISA adapter\nCore 0:        +45.0°C  (high = +80.0°C)\n\n";
        let event = "   1 | 10/19/2020 | 14:50:29 | Fan FAN1 | Lower Critical going low | Asserted\n";
        let fio = "job: (g=0): rw=read, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=null, iodepth=1\n\
                   fio-3.33\nStarting 1 process\n\njob: (groupid=0, jobs=1): err= 0: pid=7: Tue Jan  2 03:04:05 2024\n  \
                   read: IOPS=1000, BW=4000KiB/s (4096kB/s)(3.91MiB/1000msec)\n";
        let job = fio.split_once("\n\n").map_or("", |(_, job)| job);
        let rows = "Sequential Read : 612.500 MB/s\nSequential Write : 588.250 MB/s\n";
        check(&format!("{rows}and with fio:\n{job}{PING}"), &["crystaldiskmark", "fio", "ping"], &[]);
        check(&format!("{{}}\n{job}{job}"), &["fio"], &[]);
        check(&format!("{PING}$ ipmitool sdr\n{SENSORS}"), &["ping", "ipmitool"], &[]);
        let sel = "ID | Date        | Time     | Name | Type | Event\n\
                   1  | Oct-19-2020 | 14:50:29 | FAN1 | Fan  | Lower Critical - going low\n";
        check(&format!("{SENSORS}$ ipmi-sel\n{sel}{PING}"), &["ipmitool", "freeipmi", "ping"], &[]);
        check(&format!("{chip}$ ipmitool sdr\n{SENSORS}"), &["hwmon", "ipmitool"], &[]);
        check(&format!("{SENSORS}$ sensors\n{chip}{PING}"), &["ipmitool", "hwmon", "ping"], &[]);
        let fping = "a : [0], 64 bytes, 0.051 ms (0.051 avg, 0% loss)\n\n\
                     a : xmt/rcv/%loss = 1/1/0%, min/avg/max = 0.051/0.051/0.051\n";
        let power = "\n    Instantaneous power reading:                   166 Watts\n";
        let sensor = "Sensor ID              : CPU Temp (0x1)\n Entity ID             : 3.1\n \
                      Sensor Reading        : 43 (+/- 0) degrees C\n";
        check(
            &format!("{PING}{fping}{PING}{power}{fping}"),
            &["ping", "fping", "ping", "ipmitool", "fping"],
            &[],
        );
        check(&format!("{PING}{sensor}{PING}"), &["ping", "ipmitool", "ping"], &[]);
        check(
            &format!("{}{fio}{qperf}{IPERF}", event.trim_start()),
            &["ipmitool", "fio", "qperf", "iperf3"],
            &[],
        );
    }
}
