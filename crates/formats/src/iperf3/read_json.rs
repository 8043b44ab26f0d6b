//! Reads iperf3's JSON: the document of `--json`, the lines of `--json-stream`, and what becomes of them on the way.

use serde_json::Value;

use super::flat::{Figures, FlatInterval};
use super::model::{Connection, Cpu, Direction, End, Interval, Role, Row, Side, Start, Test};
use super::read_text;
use super::reading::Reading;
use super::split::Pieces;
#[cfg(test)]
use super::split::Splitter;

/// Puts tests together from the pieces of documents and events.
#[derive(Default)]
pub struct Collector {
    /// Intervals are kept as they are, for those who print them; else only their samples.
    keep: bool,
    tests: Vec<Reading>,
    /// The test that events tell of.
    events: Option<Reading>,
    /// The document whose intervals are being read.
    current: Option<Reading>,
    /// Intervals that came ahead of what explains them.
    ahead: Vec<String>,
    foreign: bool,
    /// Mending costs time: text full of braces must not be mended for each of them.
    mended: usize,
}

/// So many broken pieces are mended.
const MENDS: usize = 4096;

impl Pieces for Collector {
    fn begin(&mut self, head: &str) {
        let value = self.value(head, false);
        let start_value = value.as_ref().and_then(|value| value.get("start"));
        self.current = start_value.map(|data| Reading {
            test: Test { start: start(data), ..Test::default() },
            ..Reading::default()
        });
        self.ahead.clear();
    }

    fn interval(&mut self, text: &str) {
        if self.current.is_none() {
            self.ahead.push(text.to_owned());
            return;
        }
        if let (false, Some(current), Some(data)) = (self.keep, &mut self.current, FlatInterval::read(text)) {
            take_flat(current, &data);
            return;
        }
        let Some(data) = self.value(text, false) else {
            self.foreign = true;
            return;
        };
        let keep = self.keep;
        if let Some(current) = &mut self.current {
            take(current, &data, keep);
        }
    }

    fn document(&mut self, text: &str, cut: bool) {
        let current = self.current.take();
        let ahead = std::mem::take(&mut self.ahead);
        let Some(value) = self.value(text, cut) else { return };
        if let Some(event) = value.get("event").and_then(Value::as_str) {
            // Of an event that was cut nothing is sure.
            if !cut {
                self.event(event, value.get("data").unwrap_or(&Value::Null));
            }
            return;
        }
        if value.get("start").is_none() && value.get("end").is_none() {
            return;
        }
        let mut read = current.unwrap_or_else(|| {
            let data = value.get("start").unwrap_or(&Value::Null);
            Reading { test: Test { start: start(data), ..Test::default() }, ..Reading::default() }
        });
        for text in ahead {
            if let Some(data) = self.value(&text, false) {
                take(&mut read, &data, self.keep);
            }
        }
        complete(&mut read, &value, self.keep);
        read.cut |= cut;
        read.foreign |= std::mem::take(&mut self.foreign);
        let same = |other: &Reading| {
            other.test.start.cookie.is_some() && other.test.start.cookie == read.test.start.cookie
        };
        // Some versions print their document twice, or the whole after its events.
        match self.tests.last_mut() {
            Some(last) if same(last) => *last = read,
            _ if self.events.as_ref().is_some_and(same) => {
                self.events = None;
                self.tests.push(read);
            }
            _ => self.tests.push(read),
        }
    }

    fn foreign(&mut self) {
        self.foreign = true;
    }
}

impl Collector {
    /// The tests, when nothing follows.
    pub fn finish(mut self) -> Vec<Reading> {
        self.tests.extend(self.events);
        self.tests
    }

    fn event(&mut self, event: &str, data: &Value) {
        if event == "start" {
            self.tests.extend(self.events.take());
        }
        on_event(self.events.get_or_insert_default(), event, data, self.keep);
    }

    /// The value of a piece; of one that is cut as far as it goes.
    fn value(&mut self, text: &str, cut: bool) -> Option<Value> {
        if let (false, Ok(value)) = (cut, serde_json::from_str(text)) {
            return Some(value);
        }
        self.mended += 1;
        if self.mended > MENDS {
            return None;
        }
        // A number that is none, or an end that is missing.
        let mended = without_nan(text);
        if !cut {
            return serde_json::from_str(&mended).ok();
        }
        closed(&mended).and_then(|text| serde_json::from_str(&text).ok())
    }
}

/// Every test in `text`, with its intervals.
#[cfg(test)]
pub fn read(text: &str) -> Vec<Reading> {
    let mut collector = Collector { keep: true, ..Collector::default() };
    let mut splitter = Splitter::default();
    for line in text.split_inclusive('\n') {
        splitter.line(line.trim_end_matches(['\r', '\n']), line.ends_with('\n'), &mut collector);
    }
    splitter.finish(&mut collector);
    collector.finish()
}

/// Adds an interval. Before 3.13 only it tells that data goes both ways.
fn take(reading: &mut Reading, data: &Value, keep: bool) {
    reading.test.start.bidir |= both_ways(data);
    let interval = interval(&reading.test.start, data);
    add(reading, interval, keep);
}

/// The same of an interval that is no tree.
fn take_flat(reading: &mut Reading, data: &FlatInterval<'_>) {
    reading.test.start.bidir |= data.sums.iter().any(|(key, _)| key.ends_with("_bidir_reverse"));
    let start = &reading.test.start;
    let sum = |key: &str| data.sums.iter().find(|(name, _)| *name == key).map(|(_, sum)| placed(start, sum));
    let sums = [sum("sum"), sum("sum_bidir_reverse")].into_iter().flatten().collect();
    let interval = Interval { streams: data.streams.iter().map(|row| placed(start, row)).collect(), sums };
    reading.interval(&interval);
}

/// Whether `text` begins like iperf3's JSON.
pub fn is_iperf3(text: &str) -> bool {
    let has = |words: &str| text.contains(words);
    let quoted = ["\"connected\"", "\"test_start\"", "\"sum_sent\"", "\"iperf 3"];
    // All that `--json-stream` prints of a test that never began.
    let failed = text.lines().any(|line| line.starts_with("{\"event\":\"error\",\"data\":\""));
    failed || has("{") && (has("\"start\"") || has("\"event\"")) && quoted.iter().any(|words| has(words))
}

/// `text` with null in place of the `nan` and `inf` that old versions print.
fn without_nan(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['n', 'i', '-', '"']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with('"') {
            let end = string_end(rest);
            out.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        match ["-nan", "nan", "-inf", "inf"].iter().find(|word| rest.starts_with(**word)) {
            Some(word) => {
                out.push_str("null");
                rest = &rest[word.len()..];
            }
            None => {
                out.push_str(&rest[..1]);
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// The length of the string literal that `text` begins with.
fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// A document that ends early, cut behind the last interval or total that is whole, and closed.
fn closed(text: &str) -> Option<String> {
    let mut open = Vec::new();
    let mut safe: Option<(usize, Vec<char>)> = None;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if c == '"' {
            at += string_end(&text[at..]);
            continue;
        }
        at += c.len_utf8();
        match c {
            '{' => open.push('}'),
            '[' => open.push(']'),
            '}' | ']' => {
                if open.pop() != Some(c) {
                    return None;
                }
                // An interval of which some streams are missing is none.
                if open.len() <= 2 {
                    safe = Some((at, open.clone()));
                }
            }
            _ => {}
        }
        // Far deeper than any document of iperf3.
        if open.len() > 64 {
            return None;
        }
    }
    let (end, open) = safe?;
    Some(text[..end].chars().chain(open.into_iter().rev()).collect())
}

/// Before 3.13 the parameters do not say so, only the sums do.
fn both_ways(data: &Value) -> bool {
    data.as_object().is_some_and(|map| map.keys().any(|key| key.ends_with("_bidir_reverse")))
}

fn on_event(reading: &mut Reading, event: &str, data: &Value, keep: bool) {
    reading.test.start.bidir |= both_ways(data);
    match event {
        "start" => reading.test.start = start(data),
        "interval" => take(reading, data, keep),
        "end" => {
            reading.test.end = end(&reading.test.start, data);
            reading.done = reading.test.end.is_some();
        }
        "error" => {
            if let Some(text) = data.as_str() {
                reading.say(text);
            }
        }
        "server_output_json" => embedded(reading, data, keep),
        "server_output_text" => embedded_text(reading, data, keep),
        _ => {}
    }
}

/// Adds what stands outside of the intervals.
fn complete(reading: &mut Reading, value: &Value, keep: bool) {
    reading.test.start.bidir |= value.get("end").is_some_and(both_ways);
    reading.test.end = value.get("end").and_then(|data| end(&reading.test.start, data));
    reading.done = reading.test.end.is_some();
    if let Some(text) = value.get("error").and_then(Value::as_str) {
        reading.done = false;
        reading.say(text);
    }
    if let Some(data) = value.get("server_output_json") {
        embedded(reading, data, keep);
    }
    if let Some(data) = value.get("server_output_text") {
        embedded_text(reading, data, keep);
    }
}

/// The server's own report of the same test: its intervals are further series of this run.
fn embedded(reading: &mut Reading, data: &Value, keep: bool) {
    let mut start = start(data.get("start").unwrap_or(&Value::Null));
    start.bidir |= reading.test.start.bidir;
    for data in list(data.get("intervals")) {
        add(reading, interval(&start, data), keep);
    }
}

fn embedded_text(reading: &mut Reading, data: &Value, keep: bool) {
    let Some(text) = data.as_str() else { return };
    for other in read_text::read(text) {
        for interval in other.test.intervals {
            add(reading, interval, keep);
        }
    }
}

fn add(reading: &mut Reading, interval: Interval, keep: bool) {
    if keep {
        reading.test.intervals.push(interval);
    } else {
        reading.interval(&interval);
    }
}

fn list(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(|text| text.trim().to_owned())
}

fn num(figures: &impl Figures, key: &str) -> Option<f64> {
    figures.number(key)
}

fn whole(value: &Value, key: &str) -> Option<u64> {
    num(value, key).filter(|n| *n >= 0.0).map(|n| n as u64)
}

fn start(data: &Value) -> Start {
    let none = &Value::Null;
    let (client, server) = (data.get("connecting_to"), data.get("accepted_connection"));
    let peer = client.or(server).unwrap_or(none);
    let test = data.get("test_start").unwrap_or(none);
    let stamp = data.get("timestamp").unwrap_or(none);
    let connection = |data: &Value| Connection {
        socket: num(data, "socket").unwrap_or(0.0) as i64,
        local_host: text(data, "local_host").unwrap_or_default(),
        local_port: whole(data, "local_port").unwrap_or(0) as u16,
        remote_host: text(data, "remote_host").unwrap_or_default(),
        remote_port: whole(data, "remote_port").unwrap_or(0) as u16,
    };
    let yes = |key: &str| num(test, key).is_some_and(|n| n != 0.0);
    Start {
        role: if client.is_none() && server.is_some() { Role::Server } else { Role::Client },
        version: text(data, "version").map(|version| version.trim_start_matches("iperf ").to_owned()),
        system_info: text(data, "system_info"),
        time_unix_seconds: num(stamp, "timesecs").map(|seconds| seconds as i64),
        peer_host: text(peer, "host").unwrap_or_default(),
        peer_port: whole(peer, "port").unwrap_or(0) as u16,
        cookie: text(data, "cookie"),
        protocol: text(test, "protocol").unwrap_or_default(),
        streams: whole(test, "num_streams").unwrap_or(0) as u32,
        block_bytes: whole(test, "blksize").unwrap_or(0),
        omit_seconds: whole(test, "omit").unwrap_or(0),
        duration_seconds: num(test, "duration").unwrap_or(0.0),
        limit_bytes: whole(test, "bytes").unwrap_or(0),
        limit_blocks: whole(test, "blocks").unwrap_or(0),
        reverse: yes("reverse"),
        bidir: yes("bidir"),
        tos: whole(test, "tos").unwrap_or(0) as u8,
        target_bitrate: whole(data, "target_bitrate").unwrap_or(0),
        mss_bytes: whole(data, "tcp_mss").or_else(|| whole(data, "tcp_mss_default")),
        mss_asked: data.get("tcp_mss").is_some(),
        window_bytes: whole(data, "sock_bufsize").unwrap_or(0),
        send_buffer_bytes: whole(data, "sndbuf_actual"),
        receive_buffer_bytes: whole(data, "rcvbuf_actual"),
        connected: list(data.get("connected")).map(connection).collect(),
    }
}

/// Whose figures and which way, from the flag `sender`: whether the side that tells sends.
fn place(start: &Start, data: &impl Figures) -> (Side, Direction) {
    let client = start.role == Role::Client;
    let sends = match data.switch("sender") {
        Some(sends) => sends,
        None => client != start.reverse,
    };
    let side = if sends { Side::Sender } else { Side::Receiver };
    (side, if sends == client { Direction::Forward } else { Direction::Reverse })
}

/// The figures of a row, without its place.
fn row(data: &impl Figures) -> Row {
    let us = |key: &str| num(data, key).map(|us| us * 1e-6);
    Row {
        stream: num(data, "socket").map(|socket| socket as i64),
        start: num(data, "start").unwrap_or(0.0),
        end: num(data, "end").unwrap_or(0.0),
        bytes: num(data, "bytes"),
        bits_per_second: num(data, "bits_per_second"),
        // Unsigned minus one: not counted.
        retransmits: num(data, "retransmits").filter(|n| (0.0..9e18).contains(n)),
        cwnd_bytes: num(data, "snd_cwnd").or_else(|| num(data, "max_snd_cwnd")),
        send_window_bytes: num(data, "snd_wnd").or_else(|| num(data, "max_snd_wnd")),
        rtt_seconds: us("rtt").or_else(|| us("mean_rtt")),
        rtt_min_seconds: us("min_rtt"),
        rtt_max_seconds: us("max_rtt"),
        rtt_deviation_seconds: us("rttvar"),
        path_mtu_bytes: num(data, "pmtu"),
        jitter_seconds: num(data, "jitter_ms").map(|ms| ms / 1e3),
        lost_packets: num(data, "lost_packets"),
        packets: num(data, "packets"),
        lost_ratio: num(data, "lost_percent").map(|percent| percent / 100.0),
        out_of_order: num(data, "out_of_order"),
        omitted: data.switch("omitted").unwrap_or(false),
        ..Row::default()
    }
}

/// The figures of a row, with its place.
fn placed(start: &Start, data: &impl Figures) -> Row {
    let (side, direction) = place(start, data);
    Row { side, direction, ..row(data) }
}

fn interval(start: &Start, data: &Value) -> Interval {
    let placed = |data: &Value| placed(start, data);
    let sums = ["sum", "sum_bidir_reverse"].iter().filter_map(|key| data.get(*key)).map(placed);
    Interval { streams: list(data.get("streams")).map(placed).collect(), sums: sums.collect() }
}

fn end(start: &Start, data: &Value) -> Option<End> {
    let mut end = End::default();
    // Streams of both directions say by their flag which way they go, those of older documents by the test.
    let way = |data: &Value| place(start, data).1;
    for stream in list(data.get("streams")) {
        // A run that holds one side is printed with one.
        for side in [Side::Sender, Side::Receiver] {
            if let Some(data) = stream.get(side.word()) {
                let direction = way(stream.get("sender").unwrap_or(data));
                end.streams.push(Row { side, direction, ..row(data) });
            }
        }
        if let Some(udp) = stream.get("udp") {
            datagrams(&mut end.streams, row(udp), way(udp), start);
        }
    }
    let forward = if start.reverse { Direction::Reverse } else { Direction::Forward };
    for (suffix, direction) in [("", forward), ("_bidir_reverse", Direction::Reverse)] {
        let get = |name: &str| data.get(format!("{name}{suffix}"));
        let (sent, received) = (get("sum_sent"), get("sum_received"));
        let udp = start.protocol == "UDP";
        if let Some(sent) = sent {
            let row = Row { side: Side::Sender, direction, ..row(sent) };
            // A sender's own jitter and losses are zeroes that nobody measured.
            let unknown = Row { jitter_seconds: None, lost_packets: None, lost_ratio: None, ..row };
            end.sums.push(if udp { unknown } else { row });
        }
        if let Some(received) = received {
            end.sums.push(Row { side: Side::Receiver, direction, ..row(received) });
        }
        if let (None, None, Some(sum)) = (sent, received, get("sum")) {
            datagrams(&mut end.sums, row(sum), direction, start);
        }
    }
    merge_lone_streams(&mut end);
    if let Some(cpu) = data.get("cpu_utilization_percent") {
        let of = |host: &str| {
            let share = |part: &str| num(cpu, &format!("{host}_{part}")).map(|percent| percent / 100.0);
            Some(Cpu { total: share("total")?, user: share("user"), system: share("system") })
        };
        (end.cpu_local, end.cpu_remote) = (of("host"), of("remote"));
    }
    end.sender_congestion = text(data, "sender_tcp_congestion");
    end.receiver_congestion = text(data, "receiver_tcp_congestion");
    (!end.streams.is_empty() || !end.sums.is_empty()).then_some(end)
}

/// Where sums tell each side by itself, the mixed row of a lone UDP stream adds only what they lack.
fn merge_lone_streams(end: &mut End) {
    for direction in [Direction::Forward, Direction::Reverse] {
        let here = |row: &Row, side: Side| row.direction == direction && row.side == side;
        let mut receivers = end.streams.iter().filter(|row| here(row, Side::Receiver));
        let (Some(lone), None) = (receivers.next().copied(), receivers.next()) else { continue };
        let whole = |row: &&mut Row| here(row, Side::Receiver) && row.bits_per_second.is_some();
        let Some(sum) = end.sums.iter_mut().find(whole).filter(|_| lone.bits_per_second.is_none()) else {
            continue;
        };
        sum.out_of_order = sum.out_of_order.or(lone.out_of_order);
        let summed = end.sums.iter().any(|row| here(row, Side::Sender));
        let kept = |row: &Row| row.direction != direction || row.side == Side::Sender && !summed;
        end.streams.retain(kept);
    }
}

/// A row of a UDP test that mixes the two sides: a client gives the sender's rate beside the receiver's losses.
fn datagrams(rows: &mut Vec<Row>, row: Row, direction: Direction, start: &Start) {
    let receiver = Row { side: Side::Receiver, direction, ..row };
    if start.role == Role::Server {
        let sends = direction == Direction::Reverse;
        let side = if sends { Side::Sender } else { Side::Receiver };
        // What came in is counted elsewhere by some versions: datagrams arrived, yet these say 0 bytes.
        let arrived = row.packets.unwrap_or(0.0) > row.lost_packets.unwrap_or(0.0);
        let unknown = side == Side::Receiver && row.bytes == Some(0.0) && arrived;
        let rate = if unknown { (None, None) } else { (row.bytes, row.bits_per_second) };
        rows.push(Row { side, bytes: rate.0, bits_per_second: rate.1, ..receiver });
        return;
    }
    rows.push(Row {
        side: Side::Sender,
        jitter_seconds: None,
        lost_packets: None,
        lost_ratio: None,
        packets: None,
        out_of_order: None,
        ..receiver
    });
    rows.push(Row { bytes: None, bits_per_second: None, ..receiver });
}
