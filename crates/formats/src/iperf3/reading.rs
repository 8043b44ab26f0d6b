//! From a test that was read to the run it becomes, with what a reader must know beside it.

use tenbin_core::caveat::{Caveat, CaveatKind};
use tenbin_core::env::{Class, Fact, FactValue};
use tenbin_core::run::Run;
use tenbin_core::unit::Unit;

use super::model::{End, Interval, Role, Row, Side, Test};
use super::series;

/// A test as far as a log tells it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// The test.
    pub test: Test,
    /// It says that it came to its end.
    pub done: bool,
    /// It says that it was stopped.
    pub interrupted: bool,
    /// The log ends in the middle of it.
    pub cut: bool,
    /// Lines of other programs stood in it.
    pub foreign: bool,
    /// Series of intervals that are not kept in the test.
    pub intervals: series::Builder,
    /// Datagrams sent in those intervals.
    pub sent: f64,
}

impl Reading {
    /// A test of which nothing but an error is known.
    pub fn failed(error: &str) -> Reading {
        let mut reading = Reading::default();
        reading.say(error);
        reading
    }

    /// Takes an interval and keeps only its samples.
    pub fn interval(&mut self, interval: &Interval) {
        self.sent += sent(interval);
        self.intervals.interval(&self.test.start, interval);
    }

    /// iperf3 said so about this test.
    pub fn say(&mut self, text: &str) {
        if text.contains("interrupt - ") || text.contains("has terminated") {
            self.interrupted = true;
        }
        self.test.error.get_or_insert_with(|| text.to_owned());
    }

    /// The run; `None` if there is no value in it.
    pub fn run(mut self) -> Option<Run> {
        self.test.end = self.test.end.take().map(|end| self.known(end));
        let mut builder = std::mem::take(&mut self.intervals);
        builder.test(&self.test);
        let test = &self.test;
        let series = builder.series;
        if series.is_empty() {
            return None;
        }
        let mut run = Run {
            tool: "iperf3".into(),
            tool_version: test.start.version.clone(),
            series,
            caveats: self.caveats(),
            ..Run::default()
        };
        let source = "log";
        let mut fact = |key: &str, value: Option<FactValue>, unit: Option<Unit>| {
            if let Some(value) = value {
                let fact = Fact::new(Class::State, value, source);
                run.facts.insert(key.into(), if let Some(unit) = unit { fact.in_unit(unit) } else { fact });
            }
        };
        let start = &test.start;
        let bytes = |n: Option<u64>| n.filter(|n| *n > 0).map(|n| FactValue::Int(n as i64));
        let congestion =
            |end: &End| end.sender_congestion.clone().or_else(|| end.receiver_congestion.clone());
        fact("tcp.mss", bytes(start.mss_bytes), Some(Unit::Byte));
        fact("tcp.congestion", test.end.as_ref().and_then(congestion).map(FactValue::from), None);
        fact("tcp.block", bytes(Some(start.block_bytes)), Some(Unit::Byte));
        fact(
            "iperf3.protocol",
            Some(start.protocol.clone()).filter(|p| !p.is_empty()).map(FactValue::from),
            None,
        );
        fact("iperf3.streams", bytes(Some(start.streams.into())), None);
        fact("iperf3.system", start.system_info.clone().map(FactValue::from), None);
        if let Some(connection) = start.connected.first() {
            fact("tcp.local", Some(connection.local_host.clone().into()), None);
            fact("tcp.remote", Some(connection.remote_host.clone().into()), None);
        }
        // Of a test that was cut short there is no total to compare by.
        if !self.interrupted && !self.cut && test.error.is_none() {
            crate::iperf2::headline(&mut run);
        }
        Some(run)
    }

    /// The totals without zeroes that stand for "unknown": of the far side in a server's report, and in the report
    /// of a test that was cut short.
    fn known(&self, mut end: End) -> End {
        let blind = self.test.start.role == Role::Server || self.interrupted || self.test.error.is_some();
        let near = series::local_side(&self.test.start);
        let bidir = self.test.start.bidir;
        let told = |row: &Row| {
            let here = if bidir { row.direction == super::model::Direction::Forward } else { true };
            let near = if here { near } else { near.other() };
            !(blind && row.side != near && row.bytes == Some(0.0))
        };
        end.streams.retain(told);
        end.sums.retain(told);
        if self.test.start.role == Role::Server && end.cpu_remote.is_some_and(|cpu| cpu.total == 0.0) {
            end.cpu_remote = None;
        }
        // Datagrams lost at the tail leave no gap: what was sent and is in no counter may be lost too.
        let sent = self.sent + self.test.intervals.iter().map(sent).sum::<f64>();
        let received = |row: &&Row| row.side == Side::Receiver && row.lost_packets.is_some();
        let totals = if end.streams.iter().any(|row| received(&row)) { &end.streams } else { &end.sums };
        let counted: f64 = totals.iter().filter(received).filter_map(|row| row.packets).sum();
        if sent > 0.0 && counted < sent * 0.9 && !bidir {
            for row in end.streams.iter_mut().chain(&mut end.sums).filter(|row| row.side == Side::Receiver) {
                (row.packets, row.lost_ratio) = (None, None);
            }
        }
        end
    }

    fn caveats(&self) -> Vec<Caveat> {
        let mut caveats = Vec::new();
        let mut note = |kind, text: String| caveats.push(Caveat::new(kind, text));
        let said = self.test.error.as_deref();
        let totals = |end: &End| !end.streams.is_empty() || !end.sums.is_empty();
        let ended = self.test.end.as_ref().is_some_and(totals);
        if self.interrupted {
            note(
                CaveatKind::Interrupted,
                format!("the test was stopped before its end: {}", said.unwrap_or("")),
            );
        } else if let Some(said) = said {
            note(CaveatKind::ErrorReported, format!("iperf3 says: {said}"));
        }
        if self.cut || (!ended && !self.interrupted && said.is_none()) {
            note(CaveatKind::Truncated, "the log ends before the totals of the test".into());
        }
        if self.foreign {
            note(CaveatKind::ForeignLines, "lines of other programs stood within the document".into());
        }
        let Some(end) = self.test.end.as_ref().filter(|_| ended) else { return caveats };
        let all = if end.sums.is_empty() { &end.streams } else { &end.sums };
        let rows = |side: Side| all.iter().filter(move |row| row.side == side);
        let complete = !self.interrupted && said.is_none();
        if complete && rows(Side::Receiver).any(|row| row.bytes == Some(0.0)) {
            note(
                CaveatKind::NothingDelivered,
                "the receiver got nothing although the test came to its end".into(),
            );
        }
        let received = rows(Side::Receiver).any(|row| row.bits_per_second.is_some());
        if complete && !received && self.test.start.role == Role::Client {
            let text = "only the sender's rate is known, which is what was offered and not what arrived";
            note(CaveatKind::SenderOnly, text.into());
        }
        let more = rows(Side::Receiver).any(|got| {
            let sent =
                rows(Side::Sender).find(|sent| sent.direction == got.direction).and_then(|sent| sent.bytes);
            // Printed figures have three digits, and after a warm-up data in flight is counted by one side only.
            matches!((got.bytes, sent), (Some(got), Some(sent)) if got > sent * 1.02 + 1e6)
        });
        if more {
            note(CaveatKind::Inconsistent, "more was received than sent".into());
        }
        caveats
    }
}

/// Datagrams that left in an interval.
fn sent(interval: &Interval) -> f64 {
    let rows = interval.streams.iter().filter(|row| row.side == Side::Sender && !row.omitted);
    rows.filter_map(|row| row.packets).sum()
}
