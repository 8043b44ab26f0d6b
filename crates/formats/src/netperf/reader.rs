//! Goes through the lines of a log: banner, heading, rows, and what stands between them.

use tenbin_core::run::Run;

use super::omni;
use super::result::{Field, Outcome, Unit, number};

/// The rows that a table has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Table {
    /// Sizes, elapsed time and rate in one row.
    Stream,
    /// A row of the sender, then one of the receiver.
    Datagrams,
    /// A row, then the remote socket sizes.
    Responses,
}

/// What the next row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Next {
    /// None is expected.
    #[default]
    Nothing,
    /// The first row of a table.
    First(Table),
    /// The second.
    Second(Table),
    /// The row below `RoundTrip  Trans  Throughput` of -v 2.
    RoundTrip,
}

/// Reads lines into tests.
#[derive(Default)]
pub struct Reader {
    done: Vec<Outcome>,
    now: Outcome,
    begun: bool,
    next: Next,
    table: Option<(Table, usize)>,
    heading: Vec<String>,
    /// A comma separated heading as far as it came, and the values below it.
    names: String,
    values: String,
    /// A banner that was wrapped.
    banner: Option<String>,
    /// An interval as far as its lines came: rate, unit, length.
    keyed: (Option<f64>, Option<Unit>, Option<f64>),
    last_interim: f64,
    first_ending: Option<f64>,
    said: Option<String>,
}

impl Reader {
    /// The next line.
    pub fn line(&mut self, line: &str, whole: bool) {
        if let Some(start) = self.banner.take() {
            // The rest of a banner that a mail or a web page wrapped.
            if line.contains("AF_") {
                self.begin(&format!("{start} {line}"));
                return;
            }
            self.begin(&start);
        }
        if banner(line).is_some() {
            if line.contains(" from ") && line.matches("AF_").count() < 2 {
                self.banner = Some(line.to_owned());
            } else {
                self.begin(line);
            }
        } else if let Some((rate, unit, over, ending)) = interim(line) {
            self.interim(rate, unit, over, ending);
        } else if let Some((name, value)) = omni::interim_key(line) {
            self.interim_key(name, value, whole);
        } else if let Some((field, value)) = omni::key_value(line) {
            self.key_value(field, value, whole);
        } else if !self.confidence(line) && !self.comma_separated(line, whole) && !self.row(line, whole) {
            self.remark(line);
        }
    }

    /// Every run, and what netperf said where there is none.
    pub fn finish(mut self) -> (Vec<Run>, Option<String>) {
        if let Some(start) = self.banner.take() {
            self.begin(&start);
        }
        self.end();
        let said = self.said.or_else(|| self.done.iter().find_map(|outcome| outcome.said.clone()));
        (self.done.into_iter().filter_map(Outcome::run).collect(), said)
    }

    fn end(&mut self) {
        let now = std::mem::take(&mut self.now);
        if self.begun {
            self.done.push(now);
        }
        self.begun = false;
        self.next = Next::Nothing;
        self.table = None;
        self.heading.clear();
        self.names.clear();
        self.values.clear();
        (self.last_interim, self.first_ending) = (0.0, None);
    }

    /// A test begins with its banner.
    fn begin(&mut self, line: &str) {
        self.end();
        self.begun = true;
        self.now.test = banner(line);
        self.now.peer = line.split_once(" to ").and_then(|(_, rest)| {
            let mut words = rest.split_whitespace();
            let (name, address) = (words.next()?, words.next().unwrap_or_default());
            let address = address.trim_matches(['(', ')']);
            let known = address.contains(['.', ':']);
            Some(if known { address } else { name }.to_owned())
        });
    }

    /// A further result under the banner of the one before.
    fn again(&mut self) {
        let (test, peer, unit) = (self.now.test.clone(), self.now.peer.clone(), self.now.unit);
        let table = self.table;
        self.end();
        self.begun = true;
        (self.now.test, self.now.peer, self.now.unit) = (test, peer, unit);
        self.table = table;
    }

    fn interim(&mut self, rate: f64, unit: Unit, over: f64, ending: Option<f64>) {
        if self.now.get(Field::Rate).is_some() {
            self.again();
        }
        self.begun = true;
        let at = match (ending, self.first_ending) {
            (Some(ending), Some(first)) => ending - first,
            (Some(ending), None) => {
                self.first_ending = Some(ending - over);
                over
            }
            (None, _) => self.last_interim + over,
        };
        self.last_interim = at;
        self.now.interim.push((at, rate, unit));
    }

    /// An interval that comes as four lines, of which the last tells its end.
    fn interim_key(&mut self, name: &str, value: &str, whole: bool) {
        let value_number = number(value).filter(|value| whole && *value >= 0.0);
        match name {
            "INTERIM_RESULT" => self.keyed = (value_number, None, None),
            "UNITS" => self.keyed.1 = omni::unit(value),
            "INTERVAL" => self.keyed.2 = value_number,
            _ => {
                if let ((Some(rate), Some(unit), Some(over)), Some(ending)) = (self.keyed, value_number) {
                    self.interim(rate, unit, over, Some(ending));
                }
                self.keyed = (None, None, None);
            }
        }
    }

    fn key_value(&mut self, field: Option<Field>, value: &str, whole: bool) {
        let Some(field) = field else { return };
        // A number that was cut looks like another one.
        if !whole && field != Field::RateUnit {
            return;
        }
        if self.now.get(field).is_some() {
            self.again();
        }
        self.begun = true;
        self.now.tell(field, value);
    }

    /// The block around a result that varied too much.
    fn confidence(&mut self, line: &str) -> bool {
        if !line.contains("!!! ") {
            return false;
        }
        if line.contains("Desired confidence was not achieved") {
            if self.now.get(Field::Rate).is_some() {
                self.again();
            }
            self.begun = true;
            self.now.not_converged = Some("more than was asked for".to_owned());
        } else if let Some((_, width)) =
            line.split_once("Throughput").and_then(|(_, rest)| rest.split_once(':'))
            && self.now.not_converged.is_some()
        {
            self.now.not_converged = Some(width.trim().to_owned());
        }
        true
    }

    /// The heading and values of -o, which may be wrapped.
    fn comma_separated(&mut self, line: &str, whole: bool) -> bool {
        let line = line.trim();
        if self.names.is_empty() {
            if omni::names(line).is_none() {
                return false;
            }
            self.names = line.to_owned();
            self.begun = true;
            return true;
        }
        if line.is_empty() {
            return !self.values.is_empty();
        }
        let count = |text: &str| text.split(',').count();
        let first = line.split(',').next().unwrap_or_default();
        let value = number(first).is_some()
            || matches!(first, "Stream" | "Datagram" | "TCP" | "UDP" | "Send" | "Recv");
        if self.values.is_empty() && !value {
            if line.contains(',') || line.contains("Latency") || line.contains("Throughput") {
                self.names = format!("{} {line}", self.names);
                return true;
            }
            return false;
        }
        if self.now.get(Field::Rate).is_some() && self.values.is_empty() {
            let names = std::mem::take(&mut self.names);
            self.again();
            self.names = names;
        }
        self.values =
            if self.values.is_empty() { line.to_owned() } else { format!("{} {line}", self.values) };
        if count(&self.values) >= count(&self.names) {
            let (names, values) = (self.names.clone(), std::mem::take(&mut self.values));
            for (name, value) in names.split(',').zip(values.split(',')) {
                let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
                if let Some(field) = omni::field(&name) {
                    self.now.tell(field, value.trim());
                }
            }
        } else if !whole || self.values.len() > 1 << 14 {
            self.values.clear();
        }
        true
    }

    /// Headings and rows of tables.
    fn row(&mut self, line: &str, whole: bool) -> bool {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.is_empty() {
            return false;
        }
        let numbers: Vec<f64> = words.iter().filter_map(|word| number(word)).collect();
        if numbers.len() < words.len() {
            if self.omni_row(line, &words, whole) {
                return true;
            }
            self.heading(line, &words);
            return false;
        }
        if !whole {
            return false;
        }
        self.table_row(&numbers)
    }

    fn heading(&mut self, line: &str, words: &[&str]) {
        let has = |word: &str| words.contains(&word);
        if has("RoundTrip") || has("Latency") && has("Rate") && has("10^6bits/s") {
            self.next = Next::RoundTrip;
            return;
        }
        if has("Alignment") || has("Maximum") || has("Histogram") {
            self.next = Next::Nothing;
            self.table = None;
        }
        let table = if has("Okay") && has("Errors") {
            Some(Table::Datagrams)
        } else if (has("Request") || has("Reqs")) && has("Resp.") {
            Some(Table::Responses)
        } else if has("Message")
            && has("Elapsed")
            && words.iter().filter(|word| **word == "Socket").count() == 2
        {
            Some(Table::Stream)
        } else {
            None
        };
        if let Some(table) = table {
            if self.now.get(Field::Rate).is_some() {
                self.again();
            }
            self.begun = true;
            self.next = Next::First(table);
            self.now.unit = match table {
                Table::Responses => Some(Unit::Transactions),
                _ => self.now.unit,
            };
        }
        if matches!(self.next, Next::First(_)) {
            // `10^6bits/sec`, `MBytes  /sec`
            let unit = words.iter().find_map(|word| omni::unit(word));
            let parted = words.windows(2).find_map(|pair| omni::unit(&pair.concat()));
            if let Some(unit) = unit.or(parted) {
                self.now.unit = Some(unit);
            }
        }
        // Columns of -O: their heading is kept until the values come.
        if line.len() < 1 << 12 {
            self.heading.push(line.to_owned());
        }
        if self.heading.len() > 8 {
            self.heading.remove(0);
        }
    }

    /// The values of -O below their heading.
    fn omni_row(&mut self, line: &str, words: &[&str], whole: bool) -> bool {
        let has_unit = words.iter().any(|word| omni::unit(word).is_some());
        let first = words.first().and_then(|word| number(word));
        if !(whole && has_unit && first.is_some() && !self.heading.is_empty()) {
            return false;
        }
        // The heading begins at the line with the first words of its columns.
        for from in 0..self.heading.len() {
            let Some(heading) = self.heading.get(from..) else { break };
            let cells = omni::columns(heading, line);
            let told: Vec<_> =
                cells.iter().filter_map(|(name, value)| Some((omni::field(name)?, value))).collect();
            let rated = told.iter().any(|(field, _)| matches!(field, Field::Rate | Field::RateUnit));
            if !rated || told.len() < 2 {
                continue;
            }
            if self.now.get(Field::Rate).is_some() {
                self.again();
            }
            self.begun = true;
            for (field, value) in &told {
                self.now.tell(*field, value);
            }
            self.heading.clear();
            return true;
        }
        false
    }

    fn table_row(&mut self, row: &[f64]) -> bool {
        let first = match (self.next, self.table) {
            (Next::First(table), _) => Some(table),
            // Results of -P 0 under the table of the first.
            (Next::Nothing, Some((table, columns))) if columns == row.len() => {
                self.again();
                Some(table)
            }
            _ => None,
        };
        if let Some(table) = first {
            return self.first_row(table, row);
        }
        match (self.next, row) {
            (Next::Second(Table::Datagrams), [_, _, arrived, rate, rest @ ..])
                if row.len() == 4 || row.len() == 6 =>
            {
                self.now.set(Field::Arrived, *arrived);
                self.now.set(Field::RemoteReceived, *rate);
                if let [cpu, demand] = rest {
                    self.now.set(Field::RemoteCpu, *cpu);
                    self.now.set(Field::RemoteDemand, *demand);
                }
            }
            (Next::Second(Table::Responses), [_, _]) => {}
            (Next::RoundTrip, [_, _, _, _, round_trip, ..]) => self.now.set(Field::RoundTrip, *round_trip),
            _ => return false,
        }
        self.next = Next::Nothing;
        true
    }

    fn first_row(&mut self, table: Table, row: &[f64]) -> bool {
        let now = &mut self.now;
        match (table, row) {
            (Table::Stream, [_, _, message, elapsed, rate, rest @ ..])
                if row.len() == 5 || row.len() == 9 =>
            {
                now.set(Field::MessageBytes, *message);
                now.set(Field::Elapsed, *elapsed);
                now.set(Field::Rate, *rate);
                if let [local, remote, local_demand, remote_demand] = rest {
                    now.set(Field::LocalCpu, *local);
                    now.set(Field::RemoteCpu, *remote);
                    now.set(Field::LocalDemand, *local_demand);
                    now.set(Field::RemoteDemand, *remote_demand);
                }
                self.next = Next::Nothing;
            }
            (Table::Datagrams, [_, message, elapsed, sent, _, rate, rest @ ..])
                if row.len() == 6 || row.len() == 8 =>
            {
                now.set(Field::MessageBytes, *message);
                now.set(Field::Elapsed, *elapsed);
                now.set(Field::Sent, *sent);
                now.set(Field::LocalSent, *rate);
                if let [cpu, demand] = rest {
                    now.set(Field::LocalCpu, *cpu);
                    now.set(Field::LocalDemand, *demand);
                }
                self.next = Next::Second(table);
            }
            (Table::Responses, [_, _, request, _, elapsed, rate, rest @ ..])
                if row.len() == 6 || row.len() == 10 =>
            {
                now.set(Field::RequestBytes, *request);
                now.set(Field::Elapsed, *elapsed);
                now.set(Field::Rate, *rate);
                if let [local, remote, ..] = rest {
                    now.set(Field::LocalCpu, *local);
                    now.set(Field::RemoteCpu, *remote);
                }
                self.next = Next::Second(table);
            }
            _ => return false,
        }
        self.table = Some((table, row.len()));
        true
    }

    fn remark(&mut self, line: &str) {
        let text = line.trim();
        if let Some(count) = text.strip_prefix("HIST_TOTAL:").and_then(number) {
            self.now.set(Field::Counted, count);
            return;
        }
        let words =
            ["establish control: ", "establish_control could not", "netperf: ", "send_", "recv_response: "];
        let failed = text.contains("error") || text.contains("could not") || text.contains("are you sure");
        if failed && words.iter().any(|word| text.starts_with(word)) {
            let said =
                if self.begun && !self.now.numbers.is_empty() { &mut self.now.said } else { &mut self.said };
            said.get_or_insert_with(|| text.to_owned());
        }
    }
}

/// The test that a banner names: `MIGRATED TCP STREAM TEST from ...` is `TCP_STREAM`.
pub fn banner(line: &str) -> Option<String> {
    let (name, rest) = line.trim().split_once(" TEST")?;
    let rest = rest.trim_start_matches([' ', ':']);
    let name = name.strip_prefix("MIGRATED ").unwrap_or(name);
    let here = rest.starts_with("from ") && (rest.contains(" port ") || rest.contains("AF_"))
        || rest.starts_with("to ");
    if !here && !rest.starts_with('(') {
        return None;
    }
    let named = TESTS.iter().find(|(title, _)| *title == name).map(|(_, test)| *test);
    // The same test over another library or protocol.
    let through = || {
        let (through, name) =
            name.split_once(' ').filter(|(through, _)| matches!(*through, "XTI" | "EXS"))?;
        let (_, test) = TESTS.iter().find(|(title, _)| *title == name)?;
        Some(format!("{through}_{test}"))
    };
    named.map(str::to_owned).or_else(through)
}

/// Titles of banners, and the names that `-t` knows the tests by.
const TESTS: &[(&str, &str)] = &[
    ("TCP STREAM", "TCP_STREAM"),
    ("TCP MAERTS", "TCP_MAERTS"),
    ("TCP SENDFILE", "TCP_SENDFILE"),
    ("TCP REQUEST/RESPONSE", "TCP_RR"),
    ("TCP Connect/Request/Response", "TCP_CRR"),
    ("TCP Connect/Close", "TCP_CC"),
    ("TCP Transactional/Request/Response", "TCP_TRR"),
    ("TCP Non-Blocking REQUEST/RESPONSE", "TCP_NBRR"),
    ("UDP STREAM", "UDP_STREAM"),
    ("UDP UNIDIRECTIONAL SEND", "UDP_STREAM"),
    ("UDP REQUEST/RESPONSE", "UDP_RR"),
    ("SCTP STREAM", "SCTP_STREAM"),
    ("SCTP REQUEST/RESPONSE", "SCTP_RR"),
    ("SCTP 1-TO-MANY STREAM", "SCTP_STREAM_MANY"),
    ("SCTP 1-TO-MANY REQUEST/RESPONSE", "SCTP_RR_MANY"),
    ("SDP STREAM", "SDP_STREAM"),
    ("SDP MAERTS", "SDP_MAERTS"),
    ("SDP REQUEST/RESPONSE", "SDP_RR"),
    ("OMNI Send", "OMNI"),
    ("OMNI Recv", "OMNI"),
    ("OMNI Send|Recv", "OMNI"),
    ("OMNI", "OMNI"),
];

/// `Interim result: 4413.25 10^6bits/s over 0.597 seconds ending at 1796099389.835`: rate, unit, length, end.
pub fn interim(line: &str) -> Option<(f64, Unit, f64, Option<f64>)> {
    let (_, rest) = line.split_once("Interim result:")?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    let [rate, unit, "over", over, "seconds" | "second" | "sec", rest @ ..] = &words[..] else { return None };
    let ending = match rest {
        ["ending", "at", ending] => Some(number(ending)?),
        _ => None,
    };
    let (rate, over) = (number(rate)?, number(over)?);
    (rate >= 0.0 && over >= 0.0).then_some((rate, omni::unit(unit)?, over, ending))
}
