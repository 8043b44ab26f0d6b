//! Reads iperf3's text, of any version, as people paste it: quoted, cut, glued to a `^C`, several tests after each other.

use super::model::{Connection, Cpu, Direction, End, Interval, Role, Row, Side, Start, Test};
use super::reading::Reading;
use super::wrapped;

/// Every test in `text`, in its order.
pub fn read(text: &str) -> Vec<Reading> {
    let mut reader = Reader { keep: true, ..Reader::default() };
    for line in text.lines() {
        reader.line(line);
    }
    reader.finish();
    reader.tests
}

/// Whether `text` holds lines of iperf3 and of no other tool.
pub fn is_iperf3(text: &str) -> bool {
    text.lines().any(|line| {
        row(line).is_some()
            || message(line).is_some()
            || line.trim() == "iperf Done."
            || find(line, "Connecting to host ").is_some_and(|rest| rest.contains(", port "))
            || find(line, "Accepted connection from ").is_some_and(|rest| rest.contains(", port "))
            || line.contains("[ ID] Interval           Transfer     B")
    })
}

/// A last line without the word that may lack digits.
pub fn without_half_number(line: &str) -> &str {
    match line.trim_end().rsplit_once(' ') {
        Some((rest, last)) if last.ends_with(|c: char| c.is_ascii_digit() || c == '.' || c == '/') => rest,
        _ => line,
    }
}

/// Puts tests together from lines.
#[derive(Default)]
pub struct Reader {
    /// The tests that have ended, until they are taken.
    pub tests: Vec<Reading>,
    /// Intervals are kept as they are, for those who print them; else only their samples.
    keep: bool,
    current: Option<Reading>,
    /// A line that may go on in the next one.
    held: String,
    /// There was a test.
    any: bool,
    /// What was said before a test begins, which may be printed ahead of it.
    version: Option<String>,
    system: Option<String>,
    error: Option<String>,
    server: bool,
    datagrams: bool,
    summary: bool,
    embedded: bool,
    /// A message that came ahead of its test, since errors are not buffered as output is.
    ahead: Option<String>,
}

impl Reader {
    /// The next line.
    pub fn line(&mut self, line: &str) {
        let mut held = std::mem::take(&mut self.held);
        match wrapped::joined(&held, line).filter(|_| !held.is_empty()) {
            Some(joined) => held = joined,
            None => {
                self.whole(&held);
                held.clear();
                held.push_str(line);
            }
        }
        if !wrapped::may_go_on(&held) {
            self.whole(&held);
            held.clear();
        }
        self.held = held;
    }

    /// Nothing follows.
    pub fn finish(&mut self) {
        let held = std::mem::take(&mut self.held);
        self.whole(&held);
        self.end();
    }

    /// A line to its end.
    fn whole(&mut self, line: &str) {
        if let Some(row) = row(line) {
            self.row(row);
        } else if line.contains("[ ID]") && line.contains("Interval") {
            self.header(line);
        } else if let Some(rest) = find(line, "Connecting to host ") {
            self.begin(Role::Client);
            self.peer(rest);
        } else if let Some(rest) = find(line, "Accepted connection from ") {
            if !self.embedded {
                self.begin(Role::Server);
                self.peer(rest);
            }
        } else if line.contains("Server listening on ") {
            if !self.embedded {
                if self.current.is_some() {
                    self.end();
                }
                self.server = true;
            }
        } else if line.trim() == "Server output:" {
            self.embedded = true;
            if self.current.is_some() {
                self.interval();
            }
        } else if let Some(connection) = connection(line) {
            self.connected(connection);
        } else if let Some(text) = message(line) {
            self.message(text);
        } else {
            self.remark(line);
        }
    }

    fn begin(&mut self, role: Role) {
        // Between two tests it belongs to neither.
        let ahead = if !self.any && self.current.is_none() { self.error.take() } else { None };
        self.end();
        self.ahead = ahead;
        self.server = role == Role::Server;
        (self.datagrams, self.summary) = (false, false);
        let start = Start {
            role,
            version: self.version.clone(),
            system_info: self.system.clone(),
            ..Start::default()
        };
        self.current = Some(Reading { test: Test { start, ..Test::default() }, ..Reading::default() });
    }

    /// Ends the test that is being read.
    fn end(&mut self) {
        self.embedded = false;
        if let Some(mut now) = self.current.take() {
            now.test.intervals.retain(|interval| !interval.streams.is_empty() || !interval.sums.is_empty());
            if let Some(ahead) = self.ahead.take()
                && !now.done
            {
                now.say(&ahead);
            }
            self.any = true;
            self.tests.push(now);
        } else if let Some(error) = self.error.take() {
            self.any = true;
            self.tests.push(Reading::failed(&error));
        }
    }

    /// Another interval begins; of the one before only the samples are kept.
    fn interval(&mut self) {
        let keep = self.keep;
        let now = self.now();
        if !keep && let Some(interval) = now.test.intervals.pop() {
            now.interval(&interval);
        }
        now.test.intervals.push(Interval::default());
    }

    /// The test that lines without an opening belong to.
    fn now(&mut self) -> &mut Reading {
        if self.current.is_none() {
            let role = if self.server { Role::Server } else { Role::Client };
            self.begin(role);
        }
        self.current.get_or_insert_default()
    }

    fn peer(&mut self, rest: &str) {
        if let Some((host, port)) = rest.split_once(", port ")
            && let Some(now) = &mut self.current
        {
            now.test.start.peer_host = host.trim().to_owned();
            now.test.start.peer_port = port.trim().parse().unwrap_or(0);
        }
    }

    fn connected(&mut self, connection: Connection) {
        if self.embedded {
            return;
        }
        if self.current.as_ref().is_some_and(|now| !now.test.intervals.is_empty() || now.test.end.is_some()) {
            let role = if self.server { Role::Server } else { Role::Client };
            self.begin(role);
        }
        self.now().test.start.connected.push(connection);
    }

    fn header(&mut self, line: &str) {
        if self.embedded {
            return;
        }
        let again = self.current.as_ref().is_some_and(|now| now.test.end.is_some());
        if again {
            let role = if self.server { Role::Server } else { Role::Client };
            self.begin(role);
        }
        self.datagrams = line.contains("Datagrams");
        let datagrams = self.datagrams;
        let started = !self.now().test.intervals.is_empty();
        self.summary = self.summary || started;
        let start = &mut self.now().test.start;
        start.protocol = if datagrams { "UDP" } else { "TCP" }.into();
        start.bidir |= line.contains("[Role]");
        // A server that counts datagrams without losses sends them.
        let sends = datagrams && !line.contains("Lost/") && !start.bidir && !started;
        start.reverse |= sends && start.role == Role::Server;
    }

    fn remark(&mut self, line: &str) {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("iperf 3") {
            self.version = Some(format!("3{}", rest.split_whitespace().next().unwrap_or_default()));
            return;
        }
        if line.starts_with("Linux ") || line.starts_with("Darwin ") || line.starts_with("FreeBSD ") {
            self.system = Some(line.to_owned());
            return;
        }
        let Some(now) = &mut self.current else { return };
        let start = &mut now.test.start;
        if line == "iperf Done." {
            now.done = true;
            self.embedded = false;
        } else if line.starts_with("Test Complete") {
            self.summary = true;
        } else if line.starts_with("Reverse mode, remote host ") {
            start.reverse = true;
        } else if let Some(cookie) = line.strip_prefix("Cookie: ") {
            start.cookie = Some(cookie.to_owned());
        } else if let Some(rest) = line.strip_prefix("TCP MSS: ") {
            start.mss_bytes = first_number(rest).map(|n| n as u64);
            start.mss_asked = !rest.contains("default");
        } else if let Some(rest) = line.strip_prefix("Starting Test: ") {
            starting(start, rest);
        } else if let Some(rest) = line.strip_prefix("CPU Utilization: ") {
            cpu(now.test.end.get_or_insert_default(), rest);
        } else if let Some(name) = line.strip_prefix("snd_tcp_congestion ") {
            now.test.end.get_or_insert_default().sender_congestion = Some(name.to_owned());
        } else if let Some(name) = line.strip_prefix("rcv_tcp_congestion ") {
            now.test.end.get_or_insert_default().receiver_congestion = Some(name.to_owned());
        }
    }

    fn message(&mut self, text: &str) {
        match &mut self.current {
            // A server is told to stop between two tests as a rule.
            Some(now) if text.contains("the server has terminated") && now.test.end.is_some() => {
                self.end();
            }
            Some(now) if !now.done => now.say(text),
            _ => {
                self.end();
                if !text.contains("has terminated") || !self.any {
                    self.error = Some(text.to_owned());
                }
            }
        }
    }

    /// Rows that say which program printed them: another one than before tells of a test of its own.
    fn tagged(&mut self, role: Role) {
        let now = self.now();
        if now.test.start.role != role {
            let begun = !now.test.intervals.is_empty() || now.test.end.is_some();
            if begun {
                self.begin(role);
            }
            self.now().test.start.role = role;
        }
    }

    fn row(&mut self, read: TextRow) {
        let (mut row, tag) = (read.row, read.tag);
        let total = read.side.is_some() || (self.summary && !self.embedded);
        let same = |have: &Row, row: &Row| {
            (have.stream, have.direction, have.side) == (row.stream, row.direction, row.side)
        };
        let datagrams = self.datagrams;
        let embedded = self.embedded;
        if let Some(tag) = tag.filter(|_| !embedded) {
            self.tagged(tag.role);
        }
        let role = if embedded { Role::Server } else { self.now().test.start.role };
        let start = &mut self.now().test.start;
        if read.count.is_some() && (datagrams || start.protocol == "UDP") {
            row.packets = row.packets.or(read.count);
        } else {
            row.retransmits = read.count;
        }
        let client_sends = match tag {
            Some(tag) => tag.sends == (tag.role == Role::Client),
            // Only who sends has these columns.
            None if role == Role::Server => {
                !(start.reverse || row.retransmits.is_some() && row.cwnd_bytes.is_some())
            }
            None => !start.reverse,
        };
        if role == Role::Server && tag.is_none() && !client_sends && !embedded {
            start.reverse = true;
        }
        start.bidir |= tag.is_some();
        row.direction = if client_sends { Direction::Forward } else { Direction::Reverse };
        let here = if client_sends == (role == Role::Client) { Side::Sender } else { Side::Receiver };
        row.side = read.side.unwrap_or(here);
        let already = |now: &Reading| {
            let rows = now.test.end.iter().flat_map(|end| end.streams.iter().chain(&end.sums));
            rows.filter(|have| same(have, &row)).count() > 0
        };
        let ended = self.current.as_ref().is_some_and(|now| now.test.end.is_some());
        let repeated = self.current.as_ref().is_some_and(already);
        if total && repeated && embedded {
            return;
        }
        if (total && repeated) || (!total && ended && !embedded) {
            let (start, datagrams) = (self.now().test.start.clone(), self.datagrams);
            self.begin(start.role);
            self.datagrams = datagrams;
            self.now().test.start.reverse = start.reverse;
        }
        let now = self.now();
        if total {
            total_row(now.test.end.get_or_insert_default(), row, read.side, role);
            return;
        }
        let last_differs = now.test.intervals.last().is_none_or(|interval| {
            interval.streams.iter().chain(&interval.sums).any(|have| same(have, &row))
        });
        if last_differs {
            // An interrupted client's server prints its last interval twice.
            let repeats = now.test.intervals.last().is_some_and(|interval| {
                let mut rows = interval.streams.iter().chain(&interval.sums);
                rows.any(|have| *have == row && row.end > row.start)
            });
            if repeats {
                return;
            }
            self.interval();
        }
        if let Some(interval) = self.now().test.intervals.last_mut() {
            let rows = if row.stream.is_some() { &mut interval.streams } else { &mut interval.sums };
            rows.push(row);
        }
    }
}

/// Adds a row of the whole test. What a UDP sender prints for jitter and loss was not measured.
fn total_row(end: &mut End, row: Row, said: Option<Side>, role: Role) {
    let mut add = |row: Row| {
        let rows = if row.stream.is_some() { &mut end.streams } else { &mut end.sums };
        rows.push(row);
    };
    let udp = row.jitter_seconds.is_some() || row.lost_packets.is_some();
    match (said, udp) {
        (Some(Side::Sender), true) => {
            add(Row { jitter_seconds: None, lost_packets: None, lost_ratio: None, ..row });
        }
        // The one line of old clients: the sender's rate beside the receiver's losses.
        (None, true) if role == Role::Client => {
            add(Row { side: Side::Receiver, bytes: None, bits_per_second: None, ..row });
            add(Row {
                side: Side::Sender,
                jitter_seconds: None,
                lost_packets: None,
                lost_ratio: None,
                packets: None,
                ..row
            });
        }
        _ => add(row),
    }
}

/// `[TX-C]` and its like.
#[derive(Clone, Copy)]
struct Tag {
    sends: bool,
    role: Role,
}

#[derive(Clone, Copy)]
struct TextRow {
    row: Row,
    tag: Option<Tag>,
    side: Option<Side>,
    /// A whole number that is retransmissions or datagrams.
    count: Option<f64>,
}

/// Whether `line` is a line of figures.
pub fn is_row(line: &str) -> bool {
    row(line).is_some()
}

/// A line of figures: `[  5]   0.00-1.00   sec  1.10 GBytes  9.47 Gbits/sec    0    767 KBytes`.
fn row(line: &str) -> Option<TextRow> {
    line.match_indices('[').find_map(|(at, _)| row_at(&line[at + 1..]))
}

fn row_at(text: &str) -> Option<TextRow> {
    let (id, rest) = text.split_once(']')?;
    let stream = match id.trim() {
        "SUM" => None,
        number => Some(number.parse::<i64>().ok()?),
    };
    let (tag, rest) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((tag, rest)) => (Some(read_tag(tag)?), rest),
        None => (None, rest),
    };
    let mut words: Vec<&str> = rest.split_whitespace().collect();
    // Old versions print times beyond their column without a blank behind.
    let (span, figures) = match words.first()?.strip_suffix("sec") {
        Some(span) => (span, 1),
        None if *words.get(1)? == "sec" => (*words.first()?, 2),
        None => return None,
    };
    let (start, end) = span.split_once('-')?;
    // Two decimals tell iperf3 from iperf 2.
    let time = |text: &str| (text.split_once('.')?.1.len() == 2).then(|| text.parse::<f64>().ok())?;
    let (start, end) = (time(start)?, time(end)?);
    words.drain(..figures);
    let mut row = Row { stream, start, end, ..Row::default() };
    row.bytes = Some(number(words.first()?)? * size(words.get(1)?)?);
    row.bits_per_second = Some(number(words.get(2)?)? * rate(words.get(3)?)?);
    let (mut side, mut count) = (None, None);
    words.drain(..4);
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let next = words.get(at + 1).copied().unwrap_or_default();
        at += 1;
        match *word {
            "(omitted)" => row.omitted = true,
            "sender" => side = Some(Side::Sender),
            "receiver" => side = Some(Side::Receiver),
            _ => {}
        }
        if let Some((lost, total)) = word.split_once('/') {
            (row.lost_packets, row.packets) = (number(lost), number(total));
        } else if let Some(percent) = word.strip_prefix('(').and_then(|word| word.strip_suffix("%)")) {
            row.lost_ratio = number(percent).map(|percent| percent / 100.0);
        } else if let Some(value) = number(word) {
            if let Some(factor) = size(next) {
                if count.is_some() && row.cwnd_bytes.is_none() {
                    row.cwnd_bytes = Some(value * factor);
                }
                at += 1;
            } else if next == "ms" {
                row.jitter_seconds = Some(value / 1e3);
                at += 1;
            } else if value.fract() == 0.0 && value >= 0.0 {
                count = count.or(Some(value));
            }
        }
    }
    Some(TextRow { row, tag, side, count })
}

fn read_tag(text: &str) -> Option<Tag> {
    let (way, role) = text.split_once('-')?;
    let sends = match way {
        "TX" => true,
        "RX" => false,
        _ => return None,
    };
    let role = match role {
        "C" => Role::Client,
        "S" => Role::Server,
        _ => return None,
    };
    Some(Tag { sends, role })
}

fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|value| value.is_finite())
}

fn first_number(text: &str) -> Option<f64> {
    number(text.split_whitespace().next()?.trim_end_matches(','))
}

/// Bytes of a unit: 1024-based.
fn size(unit: &str) -> Option<f64> {
    let prefix = unit.strip_suffix("Bytes")?;
    ["", "K", "M", "G", "T", "P"].iter().position(|known| *known == prefix).map(|n| 1024f64.powi(n as i32))
}

/// bit/s of a unit: 1000-based for bits, 1024-based for bytes.
fn rate(unit: &str) -> Option<f64> {
    let unit = unit.strip_suffix("/sec")?;
    match unit.strip_suffix("bits") {
        Some(prefix) => ["", "K", "M", "G", "T", "P"]
            .iter()
            .position(|known| *known == prefix)
            .map(|n| 1e3f64.powi(n as i32)),
        None => size(unit).map(|bytes| bytes * 8.0),
    }
}

/// `[  5] local 127.0.0.1 port 51724 connected to 127.0.0.1 port 5999`
fn connection(line: &str) -> Option<Connection> {
    let (head, rest) = line.split_once("] local ")?;
    let socket = head.rsplit('[').next()?.trim().parse().ok()?;
    let (local, remote) = rest.split_once(" connected to ")?;
    let end = |text: &str| {
        let (host, port) = text.trim().split_once(" port ")?;
        Some((host.to_owned(), port.trim().parse::<u16>().ok()?))
    };
    let ((local_host, local_port), (remote_host, remote_port)) = (end(local)?, end(remote)?);
    Some(Connection { socket, local_host, local_port, remote_host, remote_port })
}

/// What iperf3 says to the terminal: `iperf3: error - unable to connect to server`.
fn message(line: &str) -> Option<&str> {
    let text = find(line, "iperf3: ")?;
    let text = text.strip_prefix("error - ").unwrap_or(text).trim();
    (!text.is_empty() && !text.starts_with("warning")).then_some(text)
}

fn find<'a>(line: &'a str, words: &str) -> Option<&'a str> {
    line.find(words).map(|at| &line[at + words.len()..])
}

/// `protocol: TCP, 1 streams, 131072 byte blocks, omitting 0 seconds, 10 second test, tos 0`
fn starting(start: &mut Start, text: &str) {
    for part in text.split(", ") {
        let value = part.split_whitespace().find_map(number).unwrap_or(0.0);
        if let Some(protocol) = part.strip_prefix("protocol: ") {
            start.protocol = protocol.to_owned();
        } else if part.ends_with(" streams") {
            start.streams = value as u32;
        } else if part.ends_with(" byte blocks") {
            start.block_bytes = value as u64;
        } else if part.starts_with("omitting ") {
            start.omit_seconds = value as u64;
        } else if part.ends_with(" second test") {
            start.duration_seconds = value;
        } else if part.ends_with(" bytes to send") {
            start.limit_bytes = value as u64;
        } else if part.ends_with(" blocks to send") {
            start.limit_blocks = value as u64;
        } else if part.starts_with("tos ") {
            start.tos = value as u8;
        }
    }
}

/// `local/sender 98.1% (0.9%u/97.2%s), remote/receiver 41.1% (2.7%u/38.4%s)`
fn cpu(end: &mut End, text: &str) {
    for part in text.split("), ") {
        let shares: Vec<f64> = part
            .split(|c: char| !(c.is_ascii_digit() || c == '.'))
            .filter_map(number)
            .map(|percent| percent / 100.0)
            .collect();
        if let [total, user, system] = shares[..] {
            let share = Some(Cpu { total, user: Some(user), system: Some(system) });
            let side = if part.starts_with("local") { &mut end.cpu_local } else { &mut end.cpu_remote };
            *side = side.or(share);
        }
    }
}
